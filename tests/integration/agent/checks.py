# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the checks of the agent share: the JVMs they start, what holds after each session, how much chance may do."""

import argparse
import math
import os
import signal
import subprocess
import sys
import time

from driver import PATIENCE_S, Jvm, Session
from process import caught_signals, names_of_threads
from region import OUTCOMES
from tracer import Tracer

CHECKS = []
ARMED, SIGNAL_BLOCKED, NEVER_ARMED, SANDBOXED = 2, 4, 8, 16  # ThreadFlag of lib/wire/region.h


def check(function):
    CHECKS.append(function)
    return function


class Context:
    def __init__(self, arguments):
        self.java = [arguments.java]
        self.classes = arguments.classes
        self.library = arguments.library
        self.seconds = arguments.seconds
        self.jvms = []
        self.tracers = []

    def jvm(self, *arguments, options=(), environment=None, launcher=()):
        self.jvms.append(Jvm([*launcher, *self.java], self.classes, arguments, options, environment))
        return self.jvms[-1]

    def feature(self):
        """8, 11, 17, ..."""
        text = subprocess.run([*self.java, "-version"], capture_output=True, text=True, check=True).stderr.split('"')[1]
        return int(text.split(".")[1] if text.startswith("1.") else text.split(".")[0])

    def trace(self, tid):
        self.tracers.append(Tracer(tid))
        return self.tracers[-1]

    def end(self):
        for jvm in self.jvms if self.tracers else ():
            jvm.process.kill()
        while self.tracers:
            self.tracers.pop().bury()
        while self.jvms:
            self.jvms.pop().kill()


def balanced(region, some=True):
    """Every signal has exactly one end, and every sample that was counted is there; and there are `some`."""
    counters = region.counters
    assert counters["entered"] == sum(counters[name] for name in OUTCOMES), counters
    assert counters["entered"] > 0 or not some, counters
    assert region.ring_head == counters["stack"] + counters["error"], (region.ring_head, counters)


def sampled(context, jvm, samples, **options):
    """A session that has taken so many samples, has been stopped, and is in balance; and its region."""
    session = Session(jvm, context.library, **options)
    session.run_until(samples)
    region = session.stop()
    balanced(region)
    return session, region


def no_residue(pid):
    """No handler of ours, no timer, no agent thread is left."""
    with open(f"/proc/{pid}/timers") as timers:
        assert timers.read() == ""
    assert "jprof" not in names_of_threads(pid), "the agent's thread is still there"
    if "/qemu-" in os.readlink(f"/proc/{pid}/exe"):
        return  # the emulator keeps a handler of its own for each signal that was ever handled
    assert not caught_signals(pid) >> (signal.SIGPROF - 1) & 1, "SIGPROF is still handled"


def wait_until_gone(pid):
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return no_residue(pid)
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def poisson_bound(mean, doubt=1e-5):
    """The number that chance exceeds once in 100 000 runs."""
    number, term = 0, math.exp(-mean)
    below = term
    while 1 - below > doubt:
        number += 1
        term *= mean / number
        below += term
    return number


def part(name):
    root = os.path.dirname(os.path.abspath(__file__)) + "/../../.."
    found = subprocess.run([f"{root}/scripts/parts", "--where", name], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        print(f"skipped: {found.stderr.strip()}")
        sys.exit(77)
    return found.stdout.strip() + "/run-java"


def main():
    """Runs the checks that the arguments name, or all of them; exits 77 (skip) where the JDK is not on this machine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jdk", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--classes", required=True)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    arguments.java = arguments.jdk if "/" in arguments.jdk else part(arguments.jdk)
    context = Context(arguments)
    failed = 0
    for function in CHECKS:
        if arguments.tests and function.__name__ not in arguments.tests:
            continue
        began = time.monotonic()
        try:
            print(function.__name__, flush=True)
            function(context)
            print(f"  ok ({time.monotonic() - began:.1f} s)", flush=True)
        except (AssertionError, OSError, KeyError) as error:
            failed += 1
            print(f"  FAILED: {type(error).__name__}: {error}", flush=True)
        finally:
            context.end()
    sys.exit(1 if failed else 0)

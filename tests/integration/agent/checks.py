# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the checks of the agent share: the JVMs they start, what holds after each session, how much chance may do."""

import math
import os
import signal
import subprocess
import time

from driver import PATIENCE_S, Jvm, Session
from region import OUTCOMES

CHECKS = []
SIGNAL_BLOCKED = 4  # ThreadFlag of lib/wire/region.h


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

    def jvm(self, *arguments, options=()):
        self.jvms.append(Jvm(self.java, self.classes, arguments, options))
        return self.jvms[-1]

    def feature(self):
        """8, 11, 17, ..."""
        text = subprocess.run([*self.java, "-version"], capture_output=True, text=True, check=True).stderr.split('"')[1]
        return int(text.split(".")[1] if text.startswith("1.") else text.split(".")[0])

    def end(self):
        while self.jvms:
            self.jvms.pop().kill()


def balanced(region):
    """Every signal has exactly one end, and every sample that was counted is there."""
    counters = region.counters
    assert counters["entered"] == sum(counters[name] for name in OUTCOMES), counters
    assert counters["entered"] > 0, counters
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
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm") as name:
                assert name.read().strip() != "jprof", "the agent's thread is still there"
        except (FileNotFoundError, ProcessLookupError):
            pass  # it ended while we looked
    if "/qemu-" in os.readlink(f"/proc/{pid}/exe"):
        return  # the emulator keeps a handler of its own for each signal that was ever handled
    with open(f"/proc/{pid}/status") as status:
        caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
    assert not caught >> (signal.SIGPROF - 1) & 1, "SIGPROF is still handled"


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

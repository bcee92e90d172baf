#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""No impossible stack: real applications, sampled, and each call on each stack looked up in the bytecode (impossible.py).

Usage: stacks_test.py --library libjprof.so [--stacks N] [--impossible X] [--failed X] [--interval MS] APPLICATION:JDK[,OPTION...] ...
X is a share; more than chance allows above it fails. The line that is printed says what
share such a capture would have shown with a probability of 95 %. Exits 77 (skip) where a part is not on this machine."""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "workloads/applications"), str(HERE.parent / "agent")]
import driver  # noqa: E402
from applications import APPLICATIONS, Missing, part  # noqa: E402
from checks import balanced, poisson_bound  # noqa: E402
from impossible import JAVA, Classes, Frame, judge, sharpness  # noqa: E402
from region import ERRORS, KINDS, STACK_IS_ERROR, Recording, name_at, stack_at  # noqa: E402

WARM_UNITS = 300
PATIENCE_S = 3600


class Stacks(Recording):
    """Keeps each different stack once, with the bcis of its frames."""

    def __init__(self):
        super().__init__()
        self.counts = collections.Counter()
        self.places = {}  # (generation, offset of the stack) -> stack
        self.frames = {}

    def drain(self, region, last=False):
        super().drain(region, last)
        for _, stack in self.samples:
            self.counts[stack] += 1
        self.samples.clear()

    def resolve(self, sample):
        if sample["stack"] & STACK_IS_ERROR:
            return (Frame("error", "", ERRORS[sample["stack"] & 0xFF], "", 0),)
        place = sample["generation"], sample["stack"]
        if place not in self.places:
            stacks, names = self.kept[place[0]]
            self.places[place] = tuple(self.framed(place[0], frame, names) for frame in stack_at(stacks, place[1])[0])
        return self.places[place]

    def framed(self, generation, frame, names):
        if (generation, frame) not in self.frames:
            kind = KINDS[frame >> 60]
            if kind in ("native", "kernel", "error"):
                made = Frame(kind, "", self.frame(frame, names)[1], "", 0)
            elif not frame & 0xFFFFFFFF:
                made = Frame(kind, "", "[no name]", "", 0)
            else:
                _, holder, name, signature = name_at(names, frame & 0xFFFFFFFF)
                made = Frame(kind, holder if kind in JAVA else "", name, signature, frame >> 32 & 0xFFFF)
            self.frames[generation, frame] = made
        return self.frames[generation, frame]


class Attached(driver.Jvm):
    """The driver's view of a JVM that somebody else has started."""

    def __init__(self, application):
        self.process, self.pid, self.own_pid = application.process.process, application.pid, application.pid


def sampled(application, arguments):
    """(counts of stacks, the agent's counters)"""
    session = driver.Session(Attached(application), arguments.library, interval_ms=arguments.interval, engine="perf-clock")
    assert session.failure is None, session.failure
    session.recording = Stacks()
    end = time.monotonic() + PATIENCE_S
    while sum(session.recording.counts.values()) < arguments.stacks and time.monotonic() < end:
        assert session.run(0.2), "the agent ended the session"
        application.units()  # it is alive
    region = session.stop()
    session.close()
    balanced(region)
    return session.recording.counts, region.counters


def compiled(folder):
    subprocess.run(["javac", "--release", "8", "-Xlint:-options", "-d", folder, HERE / "Bytecode.java"], check=True)
    return folder


def upper_bound(number):
    """The mean of which so few or fewer are seen in 5 of 100 captures."""
    return next(mean / 100 for mean in range(0, 10**7) if poisson_bound(mean / 100, 0.95) > number)


def report(name, verdict, most):
    print(f"{name}: {verdict}; {1e6 * verdict.impossible / verdict.stacks:.0f} impossible in a million, with 95 % less than "
          f"{1e6 * upper_bound(verdict.impossible) / verdict.stacks:.0f}", flush=True)  # fmt: skip
    for (fault, frames), count in verdict.examples.most_common(most):
        print(f"  {count} times: {fault}")
        for line in frames:
            print(f"    {line}")
    print("  their leaves: " + (", ".join(f"{leaf} {count}" for leaf, count in verdict.leaves.most_common()) or "none"))
    print("  not looked at, calls by: " + ", ".join(f"{holder} {count}" for holder, count in verdict.unknown.most_common(most)))


def checked(wanted, arguments, classes):
    """Whether the application keeps the bars."""
    wanted, *options = wanted.split(",")
    name, jdk = wanted.split(":")
    options = ["-" + option for option in options]
    with APPLICATIONS[name](jdk, options) as application:
        application.run_until(WARM_UNITS)
        counts, counters = sampled(application, arguments)
        command = [part(jdk) / "run-java", "-Xshare:auto", "-cp", f"{application.class_path}:{classes}", "applications.Bytecode"]
        bytecode, rooted = Classes([str(word) for word in command]), "musl" not in jdk
        verdict, sharp = judge(counts, bytecode, rooted), sharpness(counts, bytecode, rooted)
    report(",".join([wanted, *options]), verdict, arguments.examples)
    print(f"  of whole stacks from which one frame was taken {100 * sharp:.0f} % are called impossible")
    assert sharp > 0.7, sharp  # the rest: callers without bytes, and methods that call others of their own name and type
    assert verdict.stacks >= arguments.stacks and verdict.calls > verdict.stacks and verdict.blind < 0.3 * verdict.calls
    failed = counters["error"]
    for what, number, share in (("impossible", verdict.impossible, arguments.impossible), ("failed", failed, arguments.failed)):
        bound = poisson_bound(share * verdict.stacks)
        if number > bound:
            print(f"  FAILED: {number} of {verdict.stacks} stacks are {what}; {bound} may be by chance at a share of {share}")
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--stacks", type=int, default=60_000)
    parser.add_argument("--interval", type=float, default=1, help="of CPU time, in ms")
    parser.add_argument("--impossible", type=float, default=1 / 20_000)
    parser.add_argument("--failed", type=float, default=1 / 1000)
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("applications", nargs="+")
    arguments = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="jprof-test-") as folder:
        for wanted in arguments.applications:
            try:
                good = checked(wanted, arguments, compiled(folder)) and good
            except Missing as missing:
                print(f"skipped: {missing}")
                sys.exit(77)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

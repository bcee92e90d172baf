#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The cache of frames never says anything else than the JVM's own tables: each stack of real applications walked with it and without.

Usage: cache_test.py --library libjprof.so [--samples N] [--seconds S] [--interval MS] APPLICATION:JDK[,OPTION...] ...
Each application for so many samples or so long, whichever comes first. Exits 77 (skip) where a part is not on this machine."""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "workloads/applications"), str(HERE.parent / "agent")]
import driver  # noqa: E402
from applications import APPLICATIONS, Missing  # noqa: E402
from checks import balanced  # noqa: E402
from stacks_test import Attached  # noqa: E402

WARM_UNITS = 100
STEP_S = 0.2


class Counted:
    """Reads no stacks: only what a session must know to go on."""

    def __init__(self):
        self.next = 0

    def drain(self, region, last=False):
        self.next = max([self.next, *(sample["number"] + 1 for sample in region.samples(self.next, last))])


def differences(wanted, arguments):
    wanted, *options = wanted.split(",")
    name, jdk = wanted.split(":")
    with APPLICATIONS[name](jdk, ["-" + option for option in options]) as application:
        application.run_until(WARM_UNITS)
        session = driver.Session(Attached(application), arguments.library, interval_ms=arguments.interval, check_cache=True)
        assert session.failure is None, session.failure
        session.recording = Counted()
        end = time.monotonic() + arguments.seconds
        while session.recording.next < arguments.samples and time.monotonic() < end:
            assert session.run(STEP_S), "the agent ended the session"
            application.units()  # it is alive
        region = session.stop()
        session.close()
    balanced(region)
    counters = region.counters
    known = counters["cache_hits"] / max(1, counters["cache_hits"] + counters["cache_misses"])
    print(f"{','.join([wanted, *options])}: {counters['cache_checks']} stacks walked both ways, {counters['cache_differences']} differ;"
          f" {100 * known:.1f} % of {counters['cache_hits'] + counters['cache_misses']} compiled callers from the cache,"
          f" {counters['cache_evictions']} evictions, {counters['flips']} flips", flush=True)  # fmt: skip
    assert counters["cache_checks"] > 0 and known > 0.5, counters
    return counters["cache_differences"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--interval", type=float, default=1, help="of CPU time, in ms")
    parser.add_argument("applications", nargs="+")
    arguments = parser.parse_args()
    try:
        found = [differences(wanted, arguments) for wanted in arguments.applications]
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    sys.exit(0 if sum(found) == 0 else 1)


if __name__ == "__main__":
    main()

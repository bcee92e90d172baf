#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Threads that begin are found by the ids that the kernel gives out: what if these begin anew, or are given to others.

Usage: wrap_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
PART is a name of scripts/parts; exits 77 (skip) where that part, or a PID namespace of one's own, is not on this machine.
"""

import os
import subprocess
import sys

from checks import balanced, check, main, wait_until_gone
from driver import Session

NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]
LAST = "/proc/sys/kernel/ns_last_pid"  # of the writer's namespace


class Births:
    """Threads one after the other, beside many that make scans dear, in a JVM that is alone in its PID namespace; and a session."""

    def __init__(self, context, before="", idle=600, life_ms=100):
        java, context.java = context.java, [*NAMESPACE, *context.java]
        try:
            self.jvm = context.jvm("Births", str(idle), str(life_ms), options=("-Xss256k", "-XX:-UsePerfData"))
        finally:
            context.java = java
        self.jvm.find_in_own_namespace()
        self.namespace = ["nsenter", "--target", str(self.jvm.pid), "--pid", "sh", "-ec"]
        self.inside(before)
        self.session = Session(self.jvm, context.library)
        assert self.session.failure is None, self.session.failure

    def inside(self, script):
        """Runs a shell in that namespace, which takes an id itself; what it reads of /proc is of its own namespace."""
        return subprocess.run([*self.namespace, script], capture_output=True, text=True, check=True).stdout

    def found(self):
        """Number -> id, of those that the program has numbered and the agent has found. They keep their slots: there are enough."""
        born = (thread for thread in self.session.region().threads().values() if thread["name"].startswith("born "))
        return {int(thread["name"].split()[1]): thread["tid"] for thread in born if thread["cpu_arm"] == 0}

    def next_ones(self, number, most_missed=3):
        """Until so many more have begun; the ids of those that were found among them. The agent's thread may have to wait for a
        processor for as long as one of them lives."""
        self.session.run_while(lambda: not self.found())  # those before may have been there when the session began
        first = max(self.found(), default=0) + 1
        self.session.run_while(lambda: max(self.found(), default=0) < first + number)
        ids = {n: tid for n, tid in self.found().items() if first <= n < first + number}
        print(f"  found {len(ids)} of {number}, ids {min(ids.values(), default=0)} to {max(ids.values(), default=0)}", flush=True)
        assert len(ids) >= number - most_missed, ids
        return set(ids.values())

    def stop(self):
        region = self.session.stop()
        balanced(region)
        agent, length = region.counters["agent_cpu_between"], region.stop_ns - region.start_ns
        print(f"  the agent's thread took {agent / length:.2%} of a CPU")
        assert agent < 0.05 * length, (agent, length)  # the delivery of signals is measured in it, once
        self.session.close()
        wait_until_gone(self.jvm.pid)


@check
def ids_that_begin_anew_every_dozen_lose_no_thread(context):
    """The highest id of the namespace is lowered, where it has one of its own: else it is the machine's. Those below have threads."""
    if tuple(int(part) for part in os.uname().release.split(".")[:2]) < (6, 14):
        print("  not checked: before Linux 6.14 pid_max is of the whole machine")
        return
    births = Births(context, before="read a b c d last < /proc/loadavg; echo $((last + 15)) > /proc/sys/kernel/pid_max", idle=2500, life_ms=60)
    ids = births.next_ones(75)
    assert len(ids) < 20, ids
    births.stop()


@check
def ids_that_begin_anew_lose_no_thread(context):
    """As on a machine that has given out all of its ids: also when they have gone round."""
    births = Births(context)
    end = int(births.inside("cat /proc/sys/kernel/pid_max"))
    first = min(births.next_ones(10))
    for last in (end - 5, end - 5, first + 1000, first - 5):
        births.inside(f"echo {last} > {LAST}")
        births.next_ones(12, most_missed=1)  # an id that comes by a leap, and not by counting, is found by scans
    births.stop()


@check
def ids_of_others_lose_no_thread(context):
    """Processes beside the JVM, in its namespace, take nearly all of the ids."""
    births = Births(context)
    before = max(births.next_ones(5))
    others = subprocess.Popen([*births.namespace, "while :; do true & wait; done"])
    try:
        ids = births.next_ones(25)
    finally:
        others.kill()
        others.wait()
    assert max(ids) > before + 100, ids
    births.stop()


if __name__ == "__main__":
    if subprocess.run([*NAMESPACE, "sh", "-c", f"echo 100 > {LAST}"], capture_output=True, check=False).returncode != 0:
        print("skipped: no PID namespace of one's own, or its last id cannot be set")
        sys.exit(77)
    main()

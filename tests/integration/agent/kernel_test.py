#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Time in the kernel, as libjprof.so finds it in a real JVM, beside the kernel's own accounts of the thread.

Usage: kernel_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
"""

import math
import os

from checks import balanced, check, main
from driver import Session, wait_for
from process import thread_named

SYSTEM_CALL, PAGE_FAULT = "0x0", "0x1"  # wire::KernelFrame
TICKS = 1500  # of the kernel's own count, for the truth


def times(pid, tid):
    """The thread's time in user mode and in the kernel, in ticks of the C library (10 ms)."""
    with open(f"/proc/{pid}/task/{tid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]), int(fields[12])


class Worker:
    def __init__(self, context):
        folder = "/dev/shm" if os.path.isdir("/dev/shm") else "/tmp"
        self.jvm = context.jvm("Kernel", folder)
        self.do("all")  # compiled
        self.tid = thread_named(self.jvm.pid, "kernel")

    def do(self, what):
        self.jvm.process.stdin.write(what.encode() + b"\n")
        self.jvm.process.stdin.flush()
        assert self.jvm.process.stdout.readline().decode().strip() == what

    def truth(self, what):
        """The kernel's share of the time while the thread does only that."""
        self.do(what)
        user, kernel = times(self.jvm.pid, self.tid)
        now = (user, kernel)

        def counted():
            nonlocal now
            now = times(self.jvm.pid, self.tid)
            return sum(now) - user - kernel >= TICKS * 4 // 10

        wait_for(counted)
        return (now[1] - kernel) / (sum(now) - user - kernel)


def shares(session):
    """Method -> (samples, share of its weight in the kernel, causes), by the first method of this workload on the stack."""
    found = {}
    for sample, stack in session.recording.samples:
        method = next((text for kind, text in stack if text.startswith("Kernel.")), None)
        if method:
            count, weight, kernel, causes = found.get(method, (0, 0, 0, set()))
            in_kernel = stack[0][0] == "kernel"
            causes |= {stack[0][1]} if in_kernel else set()
            found[method] = (count + 1, weight + sample["weight"], kernel + in_kernel * sample["weight"], causes)
    return {method: (count, kernel / weight, causes) for method, (count, weight, kernel, causes) in found.items()}


@check
def time_in_the_kernel_is_told_from_the_methods_own(context):
    """Each method's share within 3 points + 3 SE of the kernel's own, and of one that only computes at most 1 %."""
    worker = Worker(context)
    truth = {f"Kernel.{what}": worker.truth(what) for what in ("fault", "call")}
    worker.do("all")
    session = Session(worker.jvm, context.library)
    session.run_while(lambda: len(session.recording.samples) < 2500)
    balanced(session.stop())
    found = shares(session)
    for method, (count, share, causes) in sorted(found.items()):
        print(f"  {method}: {100 * share:.1f} % of {count} samples in the kernel, by its accounts {100 * truth.get(method, 0):.1f}, {causes or ''}")
    count, share, _ = found["Kernel.compute"]
    assert share <= 0.01 + 3 * math.sqrt(0.01 / count), found
    for method, cause in (("Kernel.fault", PAGE_FAULT), ("Kernel.call", SYSTEM_CALL)):
        count, share, causes = found[method]
        error = math.sqrt(truth[method] * (1 - truth[method]) * (1 / count + 1 / TICKS))
        assert abs(share - truth[method]) <= 0.03 + 3 * error, (method, truth, found)
        assert cause in causes, (method, found)
    session.close()


if __name__ == "__main__":
    main()

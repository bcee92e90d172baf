# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the stacks of tests/workloads/known/Waits.java must look like, whatever the JVM does with their frames meanwhile."""

from collections import Counter

JAVA = ("interpreted", "c1", "c2", "inlined", "javanative")
# Where a thread of the pool that carries virtual threads begins.
OUTERMOST = ("java/util/concurrent/ForkJoinWorkerThread.run", "java/util/concurrent/DelayScheduler.run", "java/lang/Thread.run")
ONCE = ("Waits.run", "java/lang/VirtualThread.run", "jdk/internal/vm/Continuation.enterSpecial")
INSIDE = ("Waits.waits", "Waits.after", "Waits.work")


def fault_of(stack):
    """None for a stack (leaf first, kinds and texts) that is whole; else "error: ...", as it says itself, or what it hides."""
    java = [text for kind, text in stack if kind in JAVA]
    errors = [text for kind, text in stack if kind == "error"]
    if errors:
        return "error: " + errors[0]
    if not java or java[-1] not in OUTERMOST:
        return "silent: no way to the carrier's first frame" if java or any(kind == "stub" for kind, _ in stack) else None
    levels = [text for text in java if text.startswith("Waits.f")]
    if levels != ["Waits.f%02d" % level for level in reversed(range(len(levels)))]:
        return "silent: frames are missing, or there twice"
    if levels and any(java.count(name) != 1 for name in ONCE):
        return "silent: the virtual thread's first frames are missing, or there twice"
    return "silent: work without who asked for it" if not levels and any(name in java for name in INSIDE) else None


def judge(session, region):
    """Of the pool's threads: how many samples there are, and how many of each fault, with one stack of each."""
    names = {slot: thread["name"] for slot, thread in region.threads().items()}
    samples, faults, stacks = 0, Counter(), {}
    for sample, stack in session.recording.samples:
        if not names.get(sample["thread"], "").startswith("ForkJoinPool"):
            continue
        samples += 1
        if fault := fault_of(stack):
            faults[fault] += 1
            stacks[fault] = stack
    return samples, faults, stacks

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What tests/workloads/known/Frozen.java must look like: each stack in work() whole, or by [frozen_frames] without some."""

# Where a method is compiled into itself, HotSpot's tables cannot tell for each instruction which of the copies it is in: they list
# calls and polls only, and what lies between counts to the next of these. The frames are counted, so there must be one copy.
JVM_OPTIONS = ("-XX:MaxRecursiveInlineLevel=0",)
ONCE = ("Frozen.waits", "java.lang.VirtualThread.run", "jdk.internal.vm.Continuation.enterSpecial")
CARRIER = "java.util.concurrent.ForkJoinWorkerThread.run"


def is_whole(frames):
    """All frames down to the carrier's, and those of one virtual thread alone."""
    depths = [(depth, count) for depth in (10, 60, 300) if (count := frames.count("Frozen.down%d" % depth))]
    return len(depths) == 1 and depths[0][1] == depths[0][0] + 1 and all(frames.count(name) == 1 for name in (*ONCE, CARRIER))


def judge(collapsed):
    """Of collapsed stacks: samples that are whole, samples without their frozen frames, and the stacks that never were."""
    whole, missing, wrong = 0, 0, []
    for line in collapsed.splitlines():
        stack, _, weight = line.rpartition(" ")
        frames = stack.split(";")
        if "Frozen.work" not in frames or "[cut]" in frames:
            continue
        if "[frozen_frames]" in frames and CARRIER in frames:
            missing += int(weight)
        elif is_whole(frames):
            whole += int(weight)
        else:
            wrong.append(stack)
    return whole, missing, wrong

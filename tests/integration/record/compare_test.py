#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The JVM's own walkers beside ours: what `jprof compare` shows of their bias, and that none of them hurts a JVM.

Usage: compare_test.py --jdk PART --jprof PROGRAM --library libjprof.so --classes DIR [CHECK...]
"""

import collections
import json
import math
import re
import signal
import subprocess
import sys
import time

import rig

CHECKS = []
OTHERS = ["asgct", "jvmti", "jmx"]


def check(function):
    CHECKS.append(function)
    return function


def threads_named(pid, name):
    listing = subprocess.run(["grep", "-lsx", name, "-r", "--include=comm", f"/proc/{pid}/task"], stdout=subprocess.PIPE,
                             check=False)  # fmt: skip
    return listing.stdout.split()


def share_of(result, method, walker):
    return next((row["shares"][walker]["share"] for row in result["methods"] if row["name"] == method), 0)


def compare(context, pid):
    """What compare says, measured again for longer where a crowded machine gave the program too little CPU time, or the
    compiler too little to have replaced the interpreter, which polls."""
    for seconds in (12, 40, 120):
        command = [context.arguments.jprof, "compare", str(pid), "--agent", context.arguments.library, "--json", "-i", "4ms",
                   "--rounds", "2", "-d", f"{seconds}s", "--leave-behind"]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        result = json.loads(done.stdout)
        assert done.returncode == 0, result
        rig.schemas.check("compare", result)
        enough = min(walker["samples"] for walker in result["walkers"]) > 150
        if enough and share_of(result, "Known.hot", "jvmti") < 0.1:
            break
    assert enough, f"too few samples: {result}"
    return result


@check
def a_loop_without_a_safepoint_poll_shows_the_bias(context):
    """The loops of Known, which ParallelGC's compiler leaves without a poll: 75 % of the time for who may look anywhere,
    none for who must wait for the JVM."""
    jvm = context.jvm("-XX:+UseParallelGC", "Known", "shares", "3600")
    result = compare(context, jvm.pid)
    walkers = {walker["name"]: walker for walker in result["walkers"]}
    hot = next(method for method in result["methods"] if method["name"] == "Known.hot")["shares"]
    assert abs(hot["vmstructs"]["share"] - 0.75) < 0.05 + 4 * hot["vmstructs"]["standardError"], result
    apart = abs(hot["asgct"]["share"] - hot["vmstructs"]["share"])
    assert apart < 0.05 + 4 * math.hypot(hot["asgct"]["standardError"], hot["vmstructs"]["standardError"]), result
    for biased in ("jvmti", "jmx"):
        assert hot[biased]["share"] < 0.1, result
        assert hot[biased]["differs"], result
        assert walkers[biased]["misplacedShare"] > 0.5, result
    assert jvm.poll() is None, "the JVM died"
    end = time.monotonic() + 60
    while threads_named(jvm.pid, "jprof"):
        assert time.monotonic() < end, "the agent's thread stayed"
        time.sleep(0.05)


def folded(context, name):
    for line in context.read(name).decode(errors="replace").splitlines():
        stack, _, count = line.rpartition(" ")
        yield stack.split(";"), int(count)


@check
def no_walker_hurts_a_jvm_or_tells_a_wrong_name(context):
    """Classes that come and go, and a service's mixture: every signal is accounted for, and Made7 works in work7."""
    for workload in (["Churn"], ["Mixed", "2"]):
        jvm = context.jvm(*workload)
        for walker in OTHERS:
            process = context.start(jvm.pid, "--json", "-d", "100s", "-i", "1ms", "--max-overhead", "0", "--walker", walker,
                                    "--leave-behind", "-o", "walked.collapsed")  # fmt: skip
            rig.wait_until_sampled(jvm.pid, 2)
            process.send_signal(signal.SIGINT)
            code, result = context.finish(process)
            assert code == 0, result
            assert result["accounted"], result
            assert jvm.poll() is None, f"the JVM died of {walker}"
            assert result["samples"] > 100, result
            leaves = collections.Counter()
            for frames, count in folded(context, "walked.collapsed"):
                leaves[frames[-1]] += count
                for frame in frames:
                    if made := re.match(r"Made(\d+)\.(\w+)", frame):
                        assert made[2] == f"work{made[1]}", frame
            gone = leaves["[no_method]"] + leaves["[damaged]"] + leaves["[fault]"]
            assert gone <= 0.05 * result["weightNs"], (walker, workload, leaves.most_common(10))
        context.kill_jvms()


@check
def a_jvm_that_ends_is_not_held_up(context):
    """It ends as it would have, whatever the agent's thread waits for at that time, and its profile is kept."""
    for walker in OTHERS:
        jvm = context.jvm("Known", "shares", "3600")
        process = context.start(jvm.pid, "--json", "-d", "100s", "-i", "1ms", "--walker", walker, "--leave-behind", "-o",
                                "ended.jprof")  # fmt: skip
        rig.wait_until_sampled(jvm.pid)
        jvm.terminate()
        code = jvm.wait(timeout=100)
        assert code == 128 + signal.SIGTERM, f"{walker}: the JVM ended by {code}"  # its own orderly exit
        code, result = context.finish(process)
        assert (code, result["partial"]) == (6, True), result
        assert result["samples"] > 0, result


def mounts_are_told(pid):
    """The JVM's own flag, None where this release has none: whether it tells JVMTI of each mount of a virtual thread."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        line = next(line for line in maps if "/libjvm.so" in line)
    library = f"/proc/{pid}/root{line.split()[-1]}"  # its path is that of its own mount namespace
    symbols = subprocess.run(["nm", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.search(r"^([0-9a-f]+) \S _ZN27JvmtiVTMSTransitionDisabler25_VTMS_notify_jvmti_eventsE$", symbols, re.M)
    if not found:
        return None
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        memory.seek(int(line.split("-")[0], 16) + int(found[1], 16))
        return memory.read(1) == b"\1"


@check
def what_stays_in_the_jvm_is_agreed_to_before_and_told(context):
    """Our own walker turns nothing on. The JVM's own, where they turn on what stays, only if that was agreed to, or is so already."""
    jvm = context.jvm("Known", "shares", "3600")
    since_21 = int(re.search(r"\d+", context.arguments.jdk).group()) >= 21
    assert mounts_are_told(jvm.pid) == (False if since_21 else None)
    code, result = context.record(jvm.pid, "-d", "300ms", "-o", "own.jprof")
    assert (code, result["residue"]) == (0, []), result
    assert not mounts_are_told(jvm.pid)
    if since_21:
        for walker in OTHERS:
            code, result = context.record(jvm.pid, "-d", "100s", "--walker", walker, "-o", "refused.jprof")
            assert (code, result["reason"]) == (2, "Usage") and "--leave-behind" in result["cure"], result
        command = [context.arguments.jprof, "compare", str(jvm.pid), "--agent", context.arguments.library, "-d", "1h"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, check=False)
        assert done.returncode == 2 and b"--leave-behind" in done.stderr, done  # at once, not after our own walker's share
        assert mounts_are_told(jvm.pid) is False
        process = context.start(jvm.pid, "--json", "-d", "300ms", "--walker", "jvmti", "--leave-behind", "-o", "agreed.jprof")
        out, told = process.communicate(timeout=120)
        result = json.loads(out)
        assert process.returncode == 0 and len(result["residue"]) == 1, result
        assert b"until the JVM ends" in told, told
        assert mounts_are_told(jvm.pid) is True
    code, result = context.record(jvm.pid, "-d", "300ms", "--walker", "jvmti", "-o", "again.jprof")
    assert (code, result["residue"]) == (0, []), result  # nothing more stays than before


if __name__ == "__main__":
    rig.CHECKS = CHECKS
    sys.exit(rig.main())

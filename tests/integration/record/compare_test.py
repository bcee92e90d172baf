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
import subprocess
import sys
import time

import record_test

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
                   "--rounds", "2", "-d", f"{seconds}s"]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        result = json.loads(done.stdout)
        assert done.returncode == 0, result
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
                                    "-o", "walked.collapsed")  # fmt: skip
            record_test.wait_until_sampled(jvm.pid, 2)
            process.send_signal(record_test.signal.SIGINT)
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
            assert gone <= 0.05 * result["samples"], (walker, workload, leaves.most_common(10))
        context.kill_jvms()


@check
def a_jvm_that_ends_is_not_held_up(context):
    """It ends as it would have, whatever the agent's thread waits for at that time, and its profile is kept."""
    for walker in OTHERS:
        jvm = context.jvm("Known", "shares", "3600")
        process = context.start(jvm.pid, "--json", "-d", "100s", "-i", "1ms", "--walker", walker, "-o", "ended.jprof")
        record_test.wait_until_sampled(jvm.pid)
        jvm.terminate()
        code = jvm.wait(timeout=100)
        assert code == 128 + record_test.signal.SIGTERM, f"{walker}: the JVM ended by {code}"  # its own orderly exit
        code, result = context.finish(process)
        assert (code, result["partial"]) == (6, True), result
        assert result["samples"] > 0, result


if __name__ == "__main__":
    record_test.CHECKS = CHECKS
    sys.exit(record_test.main())

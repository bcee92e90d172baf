# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""One window of time of an application under one tool, or under none: what was done in it, and what the kernel's clocks say."""

import json
import os
import subprocess
import sys
import time

from comparison import TimerWatch, failed_of_asprof, stacks

TICKS = os.sysconf("SC_CLK_TCK")
FEWEST_BIRTHS = 50  # of fewer a share says nothing
SPARE_S = 2  # a capture is longer than its window: it is armed before and ends behind
PATIENCE_S = 60


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited in vain for {what}")
        time.sleep(TimerWatch.PERIOD_S)


class Clocks:
    """Of a process, from the kernel: CPU time to the nanosecond, and its two parts in ticks. And how many Java threads began."""

    def __init__(self, application):
        self.cpu_ns = application.cpu_ns()
        with open(f"/proc/{application.pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        self.started, self.threads = application.threads_started(), len(os.listdir(f"/proc/{application.pid}/task"))
        self.user, self.system = int(fields[11]) / TICKS, int(fields[12]) / TICKS

    def cpu_since(self, earlier):
        return self.cpu_ns - earlier.cpu_ns

    def system_share_since(self, earlier):
        user, system = self.user - earlier.user, self.system - earlier.system
        return system / (user + system) if user + system > 0 else 0


def speed(application, seconds):
    """Units of work done with a second of CPU time."""
    units, cpu = application.units(), application.cpu_ns()
    time.sleep(seconds)
    done, used = application.units() - units, application.cpu_ns() - cpu
    return done / (used / 1e9)


class Tools:
    """`jvm` attaches to the application; `args` has bin, interval and seconds."""

    def __init__(self, application, jvm, work, args, floor, asprof):
        self.application, self.jvm, self.work, self.args, self.floor_library, self.asprof_program = application, jvm, work, args, floor, asprof

    def none(self):
        return {"speed": speed(self.application, self.args.seconds)}

    def floor(self):
        self.jvm.attach("load", str(self.floor_library), "true", f"cpu-timer={int(self.args.interval * 1e6)}")
        found = {"speed": speed(self.application, self.args.seconds)}
        self.jvm.attach("load", str(self.floor_library), "true", "end")
        return found

    def jprof(self):
        out = self.work / "jprof.collapsed"
        command = [self.args.bin / "jprof", "record", self.application.pid, "-d", f"{self.args.seconds + SPARE_S}s", "-i",
                   f"{self.args.interval}ms", "--max-overhead", "0", "--json", "-o", out]  # fmt: skip
        found, text = self.captured(command)
        summary = json.loads(text[text.index("{"):])
        cost, coverage = summary["agentCost"], summary["coverage"]
        births = {"births": 100 * (summary["threads"] - found["threads"]) / found["births"]} if found["births"] >= FEWEST_BIRTHS else {}
        weights = list(stacks(out))
        rests = sum(weight for stack, weight in weights if stack.endswith(("[after last sample]", "[not sampled]", "[ended unseen]")))
        weight = sum(weight for _, weight in weights)
        kernel = sum(weight for stack, weight in weights if stack.rpartition(";")[2].startswith("[kernel"))
        return {
            **self.without_clocks(found), **births, "failed": 100 * summary["errorSamples"] / summary["samples"],
            "samples": summary["samples"], "weight": 100 * weight / found["cpu"], "placed": 100 * (weight - rests) / found["cpu"],
            "kernel": 100 * (kernel / weight - found["system"]), "unseen": 100 * coverage["endedUnseenNs"] / coverage["processNs"],
            "handler": cost["handlersNs"] / 1000 / max(summary["signals"], 1),
            "account": 100 * (cost["handlersNs"] + cost["deliveryNs"] + coverage["agentNs"]) / coverage["processNs"],
        }  # fmt: skip

    def asprof(self):
        out = self.work / "asprof.collapsed"
        command = [self.asprof_program, "-d", self.args.seconds + SPARE_S, "-e", "ctimer", "--signal", 41, "-i", f"{self.args.interval}ms",
                   "-a", "-o", "collapsed", "-f", out, self.application.pid]  # fmt: skip
        found, _ = self.captured(command)
        samples, failed, cut = failed_of_asprof(out)
        kernel = sum(weight for stack, weight in stacks(out) if stack.endswith("_[k]"))
        weight = 100 * samples * self.args.interval * 1e6 / found["cpu"]
        return {
            **self.without_clocks(found), "failed": 100 * (failed + cut) / samples, "samples": samples, "weight": weight, "placed": weight,
            "kernel": 100 * (kernel / samples - found["system"]),
        }  # fmt: skip

    @staticmethod
    def without_clocks(found):
        return {key: found[key] for key in ("speed", "armed")}

    def captured(self, command):
        """(what the clocks say from the first timer to the last one's end, what the command says)"""
        timers = TimerWatch(self.application.pid)
        wait_for(lambda: not timers.armed(), "the end of earlier timers")
        begin = time.monotonic()
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            wait_for(lambda: timers.armed() or process.poll() is not None, "the first timer")
            armed, before = time.monotonic() - begin, Clocks(self.application)
            done = speed(self.application, self.args.seconds)
            wait_for(lambda: not timers.armed(), "the end of the timers")
            after = Clocks(self.application)
            text = process.communicate()[0]
        timers.close()
        if process.returncode != 0:
            sys.exit(f"{command[0]} failed ({process.returncode}): {text}")
        return {"speed": done, "armed": 1000 * armed, "cpu": after.cpu_since(before), "system": after.system_share_since(before),
                "threads": before.threads, "births": after.started - before.started}, text  # fmt: skip

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what became of the captures with what the callers were told and what the programs say that they did."""

import collections
import json
import math
import os
import subprocess
import sys

from told import METHODS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../agent"))
from process import caught_signals, names_of_threads  # noqa: E402

FRAMES = {f"Told.{name}": name for name in METHODS}
SURE_S = 2  # what was recorded for so long is there whatever was killed: a drain is a quarter of a second
ENOUGH_SAMPLES = 200
SAMPLE_NS = 10_000_000  # no sample stands for more


def method_of(stack):
    """The outermost of the program's methods."""
    return next((FRAMES[frame] for frame in stack.split(";") if frame in FRAMES), "other")


def shares(times):
    whole = sum(times[name] for name in METHODS) or 1
    return ", ".join(f"{name} {100 * times[name] / whole:.1f} %" for name in METHODS)


class Oracle:
    def __init__(self, pod, requests):
        self.pod = pod
        self.requests = {request.id: request for request in requests}
        self.wrong = []

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def jprof(self, *arguments):
        return subprocess.run([self.pod.jprof, *arguments], env=self.pod.env, capture_output=True, text=True, check=False)

    def stored(self):
        """The captures in the store by id, each of them checked byte by byte."""
        found = {}
        for path in self.pod.store.manifests():
            manifest = json.loads(path.read_text())
            self.expect(manifest["id"] not in found, f"{manifest['id']} is stored twice")
            self.expect(manifest["id"] in self.requests, f"{manifest['id']} was never asked for")
            verified = self.jprof("verify", str(path.parent))
            self.expect(verified.returncode == 0, f"{path.parent}: {verified.stderr}")
            found[manifest["id"]] = (path.parent, manifest)
        return found

    def judge_counts(self, stored):
        counts = json.loads(self.jprof("spool", "--json").stdout)["counts"]
        self.expect(counts["balanced"], f"the ledger does not balance: {counts}")
        for name in ("recording", "pending", "quarantined", "expired", "abandoned"):
            self.expect(counts[name] == 0, f"{name}: {counts}")
        self.expect(counts["delivered"] == len(stored), f"{len(stored)} captures are stored: {counts}")
        self.expect(counts["accepted"] <= len(self.requests), f"{len(self.requests)} captures were asked for: {counts}")
        return counts

    def judge_requests(self, stored):
        for request in self.requests.values():
            if request.outcome == "stored":
                there = stored.get(request.id)
                self.expect(there is not None, f"lost: {request}")
                if there and request.manifest:
                    same = all(there[1].get(key) == value for key, value in request.manifest.items())
                    self.expect(same, f"another manifest is stored: {request}")
            elif not request.outcome and request.recorded_s > SURE_S and not request.discarded:
                self.expect(request.id in stored, f"lost: {request}")

    def judge_profiles(self, stored):
        """Of whole captures, all together: the shares of CPU time beside what the programs say of all their lives."""
        seen, samples, used, process = collections.Counter(), 0, 0, 0
        for folder, manifest in stored.values():
            measured = manifest["measured"]
            if manifest["partial"]:
                continue
            self.expect(measured["accounted"], f"{manifest['id']}: {measured}")
            lines = self.jprof("convert", str(folder / "profile.jprof")).stdout.splitlines()
            used, samples, process = used + 1, samples + measured["samples"], process + measured["processCpuNs"]
            for line in lines:
                stack, weight = line.rsplit(" ", 1)
                seen[method_of(stack)] += int(weight)
        programs = [told.totals for told in [*self.pod.targets, *self.pod.ended]]
        told = {name: sum(total[i] for total in programs) for i, name in enumerate(METHODS)}
        print(f"  {used} whole captures, {samples} samples; told {shares(told)}, seen {shares(seen)}")
        if samples < ENOUGH_SAMPLES:
            self.expect(False, f"only {samples} samples were taken")
            return
        # The first is known by construction. The others' shares are not the same in all seconds: it depends on how crowded the
        # machine is, and a null check costs many times more while it is interpreted, or a tracer hears of each fault.
        for name, margin in (("warm", 0.03), ("throwing", 0.75), ("shortLived", 0.3)):
            truth, value = told[name] / told["hot"], seen[name] / max(1, seen["hot"])
            doubt = 3 * value * math.sqrt(SAMPLE_NS / max(1, seen[name]) + SAMPLE_NS / max(1, seen["hot"]))
            self.expect(abs(value - truth) <= margin * truth + doubt, f"{name} / hot: told {truth:.3f}, seen {value:.3f}")

    def judge_jvms(self):
        for told in self.pod.targets:
            if told.is_alive():
                remains = self.remains(told)
                self.expect(not remains, f"{told.jdk}: left behind: {remains}")
            harm = told.end()
            self.expect(not harm, f"harmed: {harm}")
        for told in self.pod.ended:
            self.expect(told.killed, f"harmed: {told.jdk}")

    def remains(self, told):
        with open(f"/proc/{told.pid}/timers", encoding="ascii") as timers:
            found = ["timers"] if timers.read() else []
        with open(f"/proc/{told.pid}/maps", encoding="utf-8", errors="replace") as maps:
            found += ["a region"] if "memfd:jprof" in maps.read() else []
        found += ["the agent's thread"] if "jprof" in names_of_threads(told.pid) else []
        handled = caught_signals(told.pid) >> 26 & 1  # SIGPROF; async-profiler keeps its handler
        return found + (["a handler"] if handled and not told.had_other_profiler else [])

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what became of the captures with what the callers were told and what the programs say that they did."""

import collections
import json
import math
import os
import subprocess
import sys

from recording import start_s as recording_start_s
from told import METHODS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../agent"))
from process import caught_signals, names_of_threads  # noqa: E402

FRAMES = {f"Told.{name}": name for name in METHODS}
SURE_S = 2  # what was recorded for so long is there whatever was killed: a drain is a quarter of a second
ENOUGH_SAMPLES = 200
SECOND_NS = 1_000_000_000
MEASURING = 0.03  # the programs read their clocks just outside the methods
LIFE_NS = 30_000_000  # the least that a thread of shortLived uses: "some 50 ms", on a fast machine
THREADS = {"hot": 3, "warm": 3, "throwing": 1}  # each of shortLived has its own
# Half of what is added at once when a piece of work is done: a turn of the loop, the whole life of a thread.
UNTOLD_NS = {"hot": 3_000_000, "warm": 1_000_000, "throwing": 2_000_000, "shortLived": 30_000_000}
RESTS = ("[after last sample]", "[not sampled]", "[ended unseen]")


def method_of(stack):
    """The outermost of the program's methods."""
    return next((FRAMES[frame] for frame in stack.split(";") if frame in FRAMES), "other")


class Times:
    """The CPU time of one method in all captures together, in nanoseconds, and how far the two may be apart."""

    def __init__(self):
        self.told = self.seen = 0
        self.sampling = 0  # variance: each sample stands for an interval, and how many there are is a matter of chance
        self.edges = 0  # variance: what was used just before or after the capture
        self.rests = 0  # what threads may have used that no sample stands for: an interval each

    def add(self, name, truth, seen, interval):
        told, step = truth
        self.told += told
        self.seen += seen
        self.sampling += interval * max(told, seen)
        self.edges += step**2 / 4 + 2 * UNTOLD_NS[name] ** 2
        self.rests += interval * (THREADS[name] if name in THREADS else told / LIFE_NS)

    def agree(self):
        doubt = 3 * math.sqrt(self.sampling + self.edges)
        return self.told - self.rests - doubt <= self.seen * (1 + MEASURING) and self.seen <= self.told * (1 + MEASURING) + doubt

    def __str__(self):
        return ", ".join(f"{name} {value / SECOND_NS:.3f} s" for name, value in (
            ("told", self.told), ("seen", self.seen), ("rests", self.rests), ("3 SE", 3 * math.sqrt(self.sampling + self.edges))))  # fmt: skip


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
        """Of whole captures, all together: the CPU time in each method beside what the programs say of the same seconds."""
        times = {name: Times() for name in METHODS}
        rests, samples, used = 0, 0, 0
        programs = {told.pid: told for told in [*self.pod.ended, *self.pod.targets]}
        for folder, manifest in stored.values():
            measured = manifest["measured"]
            if manifest["partial"]:
                continue
            self.expect(measured["accounted"], f"{manifest['id']}: {measured}")
            seen = self.seen_in(folder / "profile.jprof")
            begin = recording_start_s(folder / "profile.jprof")
            program = programs[self.requests[manifest["id"]].pid]
            told = program.between(begin, begin + measured["durationNs"] / SECOND_NS)
            for name, truth in zip(METHODS, told):
                times[name].add(name, truth, seen[name], measured["intervalNs"])
            rests += seen["rest"]
            used, samples = used + 1, samples + measured["samples"]
        said = ", ".join(f"{name} {one.told / SECOND_NS:.2f} {one.seen / SECOND_NS:.2f}" for name, one in times.items())
        print(f"  {used} whole captures, {samples} samples; CPU seconds told and seen: {said}; of no method {rests / SECOND_NS:.2f}")
        if samples < ENOUGH_SAMPLES:
            self.expect(False, f"only {samples} samples were taken")
            return
        for name, one in times.items():
            self.expect(one.agree(), f"{name}: {one}")
        # Where a method's threads have rests is not known, but how long they are together is.
        told, seen = (sum(getattr(one, what) for one in times.values()) for what in ("told", "seen"))
        doubt = MEASURING * told + 3 * math.sqrt(sum(one.sampling + one.edges for one in times.values()))
        self.expect(told - doubt <= seen + rests and seen <= told + doubt, f"all: told {told}, seen {seen}, rests {rests} ns")
        warm, hot = times["warm"].seen, max(1, times["hot"].seen)
        doubt = 3 * warm / hot * math.sqrt(times["warm"].sampling / max(1, warm) ** 2 + times["hot"].sampling / hot**2)
        self.expect(abs(warm / hot - 1 / 3) <= 0.01 + doubt, f"warm / hot: a third by construction, seen {warm / hot:.3f}")

    def seen_in(self, recording):
        seen = collections.Counter()
        for line in self.jprof("convert", str(recording)).stdout.splitlines():
            stack, weight = line.rsplit(" ", 1)
            seen[method_of(stack)] += int(weight)
            if stack.rsplit(";", 1)[-1] in RESTS:
                seen["rest"] += int(weight)
        return seen

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

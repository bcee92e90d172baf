# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a recording region (lib/wire/region.h, docs/formats/region.md) independently of the product's reader."""

import struct
from collections import Counter as Tally

HEADER = struct.Struct("<QIIQ2QIIIIQQQQQQQIIIIQQ")
HEADER_FIELDS = (
    "magic version min_reader bytes session0 session1 state stop_reason engine walker interval_ns tick_ns start_ns"
    " start_realtime_ns deadline_ns stop_ns heartbeat_ns pid section_count counter_count max_depth ring_head ring_tail"
).split()
SECTION = struct.Struct("<IIQQ")
GENERATION = struct.Struct("<IIQQQ")
SAMPLE = struct.Struct("<QQQQIIIIIHBBQ")
STACK = struct.Struct("<IHHQ")
NAME = struct.Struct("<IIHHHHHHIQ")
THREAD = struct.Struct("<IIQQQQQQQIHH96sQ16x")
MODULE = struct.Struct("<IIQQQQQ32sII256s")
MAX_SECTIONS, MAX_COUNTERS = 16, 96

COUNTERS = {
    "entered": 0, "stack": 1, "error": 2, "ring_full": 3, "foreign": 4, "stale": 5, "nested": 6, "weight": 16,
    "lost_weight": 17, "overruns": 18, "handler_ns": 19, "handler_max_ns": 20, "truncated": 21, "stack_full": 22,
    "name_full": 23, "no_scratch": 24, "faults": 25, "flips": 26, "armed": 27, "never_armed": 28, "timer_limit": 29,
    "slots_full": 30, "timers_moved": 31, "cpu_start": 32, "cpu_stop": 33, "agent_cpu": 34, "delivery_ns": 35, "start_ns": 36,
    "in_flight_at_stop": 37, "detail_lost": 39, "interval_now": 40, "other_signal": 43, "agent_cpu_between": 44, "left_behind": 48,
    "timers_left": 52, "timers_running": 53, "stop_refused": 54, "cache_hits": 56, "cache_misses": 57,
    "cache_evictions": 58, "cache_checks": 59, "cache_differences": 60, "inlining_detail": 61, "old_code_ns": 62,
}  # fmt: skip
OUTCOMES = ("stack", "error", "ring_full", "foreign", "stale", "nested")
KINDS = "none interpreted c1 c2 inlined native stub kernel error javanative java".split()
ERRORS = (
    "none not_walkable broken_stack fault unknown_blob no_method stack_store_full no_scratch gc_active thread_exiting"
    " in_deopt unsafe_state name_store_full no_java_frames frozen_frames jumped_out"
).split()
STACK_IS_ERROR = 0x80000000


class Region:
    """One look at a region: `read(offset, bytes)` gives its bytes."""

    def __init__(self, read):
        self.read = read
        raw = read(0, 4096)
        self.__dict__.update(zip(HEADER_FIELDS, HEADER.unpack_from(raw)))
        at = HEADER.size
        self.sections = {}
        for _ in range(MAX_SECTIONS):
            kind, record, offset, size = SECTION.unpack_from(raw, at)
            at += SECTION.size
            if kind:
                self.sections[kind] = (record, offset, size)
        self.generations = [GENERATION.unpack_from(raw, at + i * GENERATION.size) for i in range(2)]
        at += 2 * GENERATION.size
        values = struct.unpack_from(f"<{MAX_COUNTERS}Q", raw, at)
        self.counters = {name: values[index] for name, index in COUNTERS.items()}

    def records(self, kind, layout):
        record, offset, size = self.sections[kind]
        raw = self.read(offset, size)
        for at in range(0, size - record + 1, record):
            yield layout.unpack_from(raw, at)

    def threads(self):
        result = {}
        for index, row in enumerate(self.records(2, THREAD)):
            if row[1]:
                name = row[12][: row[10]].decode("utf-8", "replace")
                result[index] = dict(tid=row[1], name=name, java_id=row[2], cpu_arm=row[5 + 1], cpu_disarm=row[7], signals=row[8], rest=row[13],
                                     flags=row[11], armed_ns=row[4], disarmed_ns=row[5])  # fmt: skip
        return result

    def modules(self):
        return [dict(base=r[2], end=r[3], bias=r[4], unloaded=r[6], build_id=r[7][: r[8]].hex(),
                     path=r[10][: r[1]].decode()) for r in self.records(3, MODULE) if r[1]]  # fmt: skip

    def samples(self, first, last=False):
        """Complete samples from number `first` on; one that is being written ends them, unless nobody writes any more."""
        record, offset, size = self.sections[1]
        capacity = size // record
        result = []
        for number in range(first, self.ring_head):
            row = SAMPLE.unpack(self.read(offset + number % capacity * record, record))
            if row[0] != number + 1:
                if last:
                    continue  # its writer died with its process
                break
            result.append(dict(number=number, time=row[1], weight=row[2], thread=row[4], tid=row[5], generation=row[6],
                               stack=row[7]))  # fmt: skip
        return result

    def arenas(self, slot):
        """(number, stacks, names) of a generation slot, as bytes: records are found by their offset."""
        number, _, stacks_bytes, names_bytes, _ = self.generations[slot]
        return number, self.read(self.sections[4 + slot][1], stacks_bytes), self.read(self.sections[6 + slot][1], names_bytes)


def stack_at(arena, offset):
    """(frames, flags) of a stack record, None if it is not in these bytes yet."""
    at = offset * 8
    if at + STACK.size > len(arena):
        return None
    ready, depth, flags, _ = STACK.unpack_from(arena, at)
    return (struct.unpack_from(f"<{depth}Q", arena, at + STACK.size), flags) if ready else None


def name_at(arena, offset):
    """(kind, class, name, signature) of a name record."""
    at = offset * 8
    ready, _, kind, _, holder, name, signature, _, _, _ = NAME.unpack_from(arena, at)
    assert ready, "a committed sample names a record that is not complete"
    text = arena[at + NAME.size : at + NAME.size + holder + name + signature]
    return kind, text[:holder].decode(), text[holder : holder + name].decode(), text[holder + name :].decode()


class Recording:
    """What has been drained: resolved stacks with their weights."""

    def __init__(self):
        self.next = 0
        self.samples = []  # (sample, stack as a tuple of (kind, text), leaf first)
        self.kept = {}  # generation number -> (stacks, names)

    def drain(self, region, last=False):
        """The order matters: first the samples, then the header again and with it the arenas that they name."""
        samples = region.samples(self.next, last)
        later = Region(region.read)
        for slot in range(2):
            number, stacks, names = later.arenas(slot)
            if number:
                self.kept[number] = (stacks, names)
        for sample in samples:
            self.samples.append((sample, self.resolve(sample)))
            self.next = sample["number"] + 1

    def resolve(self, sample):
        if sample["stack"] & STACK_IS_ERROR:
            return (("error", ERRORS[sample["stack"] & 0xFF]),)
        stacks, names = self.kept[sample["generation"]]
        found = stack_at(stacks, sample["stack"])
        assert found, f"a committed sample names a stack that is not complete: {sample}"
        return tuple(self.frame(frame, names) for frame in found[0])

    @staticmethod
    def frame(frame, names):
        kind = KINDS[frame >> 60]
        if kind in ("native", "kernel"):
            return kind, hex(frame & (1 << 60) - 1)
        if kind == "error":
            return kind, ERRORS[frame & 0xFF]
        if frame & 0xFFFFFFFF == 0:
            return kind, "[no name]"
        name = name_at(names, frame & 0xFFFFFFFF)
        return kind, f"{name[1]}.{name[2]}" if name[1] else name[2]

    def leaves(self):
        """Weight by the first Java method of each stack."""
        tally = Tally()
        for sample, stack in self.samples:
            java = [text for kind, text in stack if kind in ("interpreted", "c1", "c2", "inlined", "javanative")]
            tally[java[0] if java else "[none]"] += sample["weight"]
        return tally

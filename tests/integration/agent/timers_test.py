#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Where there are fewer timers than threads: who has them, and that no time is lost.

Usage: timers_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
PART is a name of scripts/parts; exits 77 (skip) where that part is not on this machine.
"""

import resource
import signal
import subprocess
from collections import Counter as Tally

from checks import ARMED, NEVER_ARMED, balanced, check, main, wait_until_gone
from driver import Session
from process import counts_ticks

IDLE, GROUPS, WORKERS = 120, 3, 6
# All would wait for a thread that is held: JDK 8 has safepoints for locks that change hands, and for code that it no longer needs.
NO_SAFEPOINTS = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=0",
                 "-XX:-UseBiasedLocking", "-XX:-MethodFlushing")  # fmt: skip
LIMIT = 25  # signals that the kernel queues for the user: half of them are timers of ours, 12


def limited(context, *arguments):
    """A JVM whose user may have LIMIT signals queued. They are counted by user and namespace: where that is allowed, it has one
    of its own, and nothing else on the machine takes part."""
    alone = ["unshare", "--user", "--map-root-user"]
    java = context.java
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0:
        context.java = [*alone, *java]
    try:
        jvm = context.jvm(*arguments, options=("-Xss256k", *NO_SAFEPOINTS))
    finally:
        context.java = java
    resource.prlimit(jvm.pid, resource.RLIMIT_SIGPENDING, (LIMIT, LIMIT))
    return jvm


class Turns:
    """The workload, and which of its threads have samples since its last turn began."""

    def __init__(self, jvm, session):
        self.jvm, self.session = jvm, session
        self.first = self.turn = 0

    def begin(self, group):
        self.jvm.process.stdin.write(f"{group}\n".encode())
        self.jvm.process.stdin.flush()
        assert self.jvm.process.stdout.readline().startswith(b"turn ")
        self.session.drain()  # what is in it by now may still be of the turn before
        self.first = len(self.session.recording.samples)
        self.turn += 1

    def sampled(self):
        names = {thread["tid"]: thread["name"] for thread in self.session.region().threads().values()}
        working = (sample["tid"] for sample, stack in self.session.recording.samples[self.first :]
                   if any(text == "Turns.workWhile" for _, text in stack))  # fmt: skip
        return Tally(names[tid] for tid in working if tid in names)

    def run_until(self, threads, samples):
        """Until each of these has so many samples."""
        self.session.run_while(lambda: any(self.sampled()[name] < samples for name in threads))
        few = {name: self.sampled()[name] for name in threads if self.sampled()[name] < samples}
        assert not few, f"turn {self.turn}: too few samples of {few}"


def told_to_the_nanosecond(session, region):
    """Of each thread, whether it had a timer or not, and of the process but for what began and ended unseen."""
    sums = Tally()
    for sample, _ in session.recording.samples:
        sums[sample["thread"]] += sample["weight"]
    counters = region.counters
    assert counters["ring_full"] == 0, counters
    for index, thread in region.threads().items():
        assert sums[index] + thread["rest"] == thread["cpu_disarm"] - thread["cpu_arm"], (sums[index], thread)
    told = counters["weight"] + sum(thread["rest"] for thread in region.threads().values())
    process = counters["cpu_stop"] - counters["cpu_start"] - counters["agent_cpu_between"]
    print(f"  {told / 1e6:.1f} of {process / 1e6:.1f} ms told; armed {counters['armed']}, never {counters['never_armed']},"
          f" refused {counters['timer_limit']}, moved {counters['timers_moved']}")  # fmt: skip
    assert abs(process - told) <= 0.02 * process, (told, process)


def without_timer(region):
    return [thread for thread in region.threads().values() if thread["flags"] & NEVER_ARMED]


@check
def timers_go_to_the_threads_that_work(context):
    """Whoever came first, and also when others work later, or one that has only begun."""
    jvm = limited(context, "Turns", str(IDLE), str(GROUPS), str(WORKERS))
    session = Session(jvm, context.library)
    assert session.failure is None and session.armed <= LIMIT // 2 < session.not_armed, (session.failure, session.armed)
    turns = Turns(jvm, session)
    for group in (0, 1, 2, 0, 2):
        turns.begin(group)
        turns.run_until([f"turn {group}-{i}" for i in range(WORKERS)] + [f"born {turns.turn}"], 5)
    with open(f"/proc/{jvm.pid}/timers") as timers:
        assert sum(line.startswith("ID:") for line in timers) <= LIMIT // 2
    region = session.stop()
    balanced(region)
    told_to_the_nanosecond(session, region)
    counters = region.counters
    assert counters["timers_moved"] >= GROUPS * WORKERS, counters
    assert counters["armed"] + counters["never_armed"] >= IDLE + GROUPS * WORKERS, counters
    assert counters["never_armed"] == len(without_timer(region)) <= counters["timer_limit"], counters
    assert sum(thread["cpu_disarm"] - thread["cpu_arm"] for thread in without_timer(region)) < 10e6, without_timer(region)
    session.close()
    wait_until_gone(jvm.pid)


@check
def threads_share_timers_where_all_work(context):
    """More of them than timers: each is sampled again and again, and its weight is its CPU time."""
    jvm = limited(context, "Turns", str(IDLE), str(GROUPS), str(WORKERS))
    session = Session(jvm, context.library)
    turns = Turns(jvm, session)
    turns.begin("all")
    turns.run_until([f"turn {group}-{i}" for group in range(GROUPS) for i in range(WORKERS)], 4)
    region = session.stop()
    balanced(region)
    told_to_the_nanosecond(session, region)
    session.close()
    wait_until_gone(jvm.pid)


def held(context, steps):
    """A session in which a thread was stopped as it was about to take its timer's signal, or so many steps behind that, and all work
    since then but this one; its tracer, and what tells its slot."""
    jvm = limited(context, "Turns", str(IDLE), str(GROUPS), str(WORKERS))
    session = Session(jvm, context.library)
    turns = Turns(jvm, session)
    turns.begin(0)
    turns.run_until(["turn 0-0"], 1)

    def slot():
        return next(thread for thread in session.region().threads().values() if thread["name"] == "turn 0-0")

    session.run_while(lambda: not counts_ticks(jvm.pid, slot()["tid"]))  # the first timer's signal would be stale
    tracer = context.trace(slot()["tid"])
    tracer.hold(signal.SIGPROF)
    before = slot()["signals"]
    while steps and slot()["signals"] == before:
        tracer.step(1)
    tracer.step(steps)
    turns.begin("all")
    return turns, tracer, slot


def released(turns, tracer):
    """It goes on, and is sampled again; the session is over."""
    tracer.close()
    turns.begin("all")
    turns.run_until(["turn 0-0"], 2)
    region = turns.session.stop()
    balanced(region)
    told_to_the_nanosecond(turns.session, region)
    thread = next(thread for thread in region.threads().values() if thread["name"] == "turn 0-0")
    samples = sum(sample["tid"] == thread["tid"] for sample, _ in turns.session.recording.samples)
    assert samples == thread["signals"], (samples, thread)
    turns.session.close()
    assert turns.jvm.process.poll() is None
    wait_until_gone(turns.jvm.pid)
    return region


@check
def a_signal_of_a_timer_that_is_gone_is_no_sample(context):
    """The thread loses its timer while it is about to take its signal."""
    turns, tracer, slot = held(context, steps=0)
    turns.session.run_while(lambda: slot()["flags"] & ARMED)
    assert not slot()["flags"] & ARMED, slot()
    region = released(turns, tracer)
    assert region.counters["stale"] >= 1, region.counters


@check
def no_timer_is_taken_from_a_thread_in_its_handler(context):
    turns, tracer, slot = held(context, steps=200)
    moved = turns.session.region().counters["timers_moved"]
    turns.session.run_while(lambda: turns.session.region().counters["timers_moved"] < moved + 20)
    assert turns.session.region().counters["timers_moved"] >= moved + 20, turns.session.region().counters
    assert slot()["flags"] & ARMED, slot()
    released(turns, tracer)  # signals of others may be stale


if __name__ == "__main__":
    main()

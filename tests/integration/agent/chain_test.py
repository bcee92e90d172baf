#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of libjprof.so and others who handle faults, in all orders, while the JVM itself lives on faults.

Usage: chain_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]

From the environment: JPROF_CHAIN_SESSIONS, the number of sessions that two parties share out in all orders (2),
JPROF_CHAIN_ORDERS, the number of random orders of four sessions of all parties (4), and JPROF_CHAIN_SEED.
"""

import os
import random

from checks import balanced, check, main, part, wait_until_gone
from driver import Session, wait_for
from process import counted, names_of_threads

FAULTS_MORE = 2  # thousands
MOST_SESSIONS = int(os.environ.get("JPROF_CHAIN_SESSIONS", "2"))
IS_LONG = MOST_SESSIONS > 2  # tests/full/chains
RANDOM_ORDERS = int(os.environ.get("JPROF_CHAIN_ORDERS", "4"))
SEED = int(os.environ.get("JPROF_CHAIN_SEED") or random.SystemRandom().randrange(1 << 32))


def jvm_of_faults(context, **more):
    """Null pointers are found by faults in compiled code only, and C2 would compile them away."""
    jvm = context.jvm("Neighbours", "faults", options=["-XX:TieredStopAtLevel=1", "-Xss512k"], **more)
    lives(jvm)
    return jvm


def lives(jvm):
    """Faults reach the JVM: each thread gets on, and none spins."""
    caught, overflowed = counted(jvm.pid, "caught"), counted(jvm.pid, "overflow")
    wait_for(lambda: jvm.process.poll() is not None or (counted(jvm.pid, "caught") >= caught + FAULTS_MORE
                                                        and counted(jvm.pid, "overflow") > overflowed))  # fmt: skip
    assert jvm.process.poll() is None, f"the JVM ended with {jvm.process.poll()}"


class Ours:
    """Our sessions, one after another."""

    name, keeps_sigprof = "ours", False

    def __init__(self, context, jvm, may_be_replaced=False):
        self.context, self.jvm, self.session, self.may_be_replaced = context, jvm, None, may_be_replaced

    def begin(self):
        self.session = Session(self.jvm, self.context.library, interval_ms=1)
        assert self.session.failure is None, self.session.failure
        self.session.run_until(3)

    def end(self):
        session, self.session = self.session, None
        region = session.stop() if session.run(0.05) else session.stopped()
        # async-profiler 3 takes SIGPROF from who has it, which ends the session within a tick.
        reasons = ("asked", "handler_replaced") if self.may_be_replaced else ("asked",)
        assert session.reason in reasons and session.in_flight == 0, (session.reason, session.in_flight)
        balanced(region)
        session.close()


class Other:
    """An agent that is started and stopped by loading it."""

    name = "theirs"

    def __init__(self, jvm, library, begin, end, keeps_sigprof=False):
        self.jvm, self.library, self.words, self.keeps_sigprof = jvm, library, (begin, end), keeps_sigprof

    def begin(self):
        assert self.jvm.load(self.library, self.words[0]) == 0

    def end(self):
        assert self.jvm.load(self.library, self.words[1]) == 0


class AsyncProfiler(Other):
    """Comes to stay once it is loaded. Two of its releases do not share a signal: the older one has no word for another."""

    def __init__(self, jvm, release):
        library = os.path.join(os.path.dirname(part(release)), "lib/libasyncProfiler.so")
        super().__init__(jvm, library, "start,event=ctimer,interval=1ms", "stop", keeps_sigprof=True)
        self.name = release


class FlightRecorder:
    """JFR; since 25 with its sampler of CPU time, which takes SIGPROF for good."""

    name, keeps_sigprof = "jfr", True

    def __init__(self, jvm, feature):
        self.jvm = jvm
        self.start = "JFR.start name=chain settings=profile" + (" jdk.CPUTimeSample#enabled=true" if feature >= 25 else "")

    def begin(self):
        answer = self.jvm.attach("jcmd", self.start)
        assert answer.startswith("0\n"), answer

    def end(self):
        answer = self.jvm.attach("jcmd", "JFR.stop name=chain")
        assert answer.startswith("0\n"), answer


def steps(parties, running, left):
    """What may come next: who runs may end; who does not may begin, if a session is left."""
    return [(who, "end" if running[who] else "begin") for who in range(parties) if running[who] or left > 0]


def after(running, left, step):
    who, what = step
    return [r if w != who else what == "begin" for w, r in enumerate(running)], left - (what == "begin")


def orders(parties, most_sessions):
    """Begin and end of so many sessions of all parties together, in every order: one of a party is over before its next."""
    def go(running, left, order):
        if left == 0 and not any(running):
            yield order
            return
        for step in steps(parties, running, left):
            yield from go(*after(running, left, step), [*order, step])

    return go([False] * parties, most_sessions, [])


def random_order(parties, most_sessions, chance):
    running, left, order = [False] * parties, most_sessions, []
    while left > 0 or any(running):
        order.append(chance.choice(steps(parties, running, left)))
        running, left = after(running, left, order[-1])
    return order


def walk(jvm, parties, order):
    print("  " + " ".join(parties[who].name + ("+" if what == "begin" else "-") for who, what in order), flush=True)
    for who, what in order:
        getattr(parties[who], what)()
        lives(jvm)
    wait_for(lambda: "jprof" not in names_of_threads(jvm.pid))
    if not any(party.keeps_sigprof for party in parties):
        wait_until_gone(jvm.pid)


@check
def a_chain_does_not_become_a_loop(context):
    """Theirs saves ours, our session ends, and ours is put before theirs: and it stays so for the sessions to come."""
    jvm = jvm_of_faults(context)
    ours = Ours(context, jvm)
    other = Other(jvm, os.path.join(context.classes, "libchaining.so"), "on", "off")
    ours.begin()
    other.begin()
    ours.end()
    for _ in range(3):
        ours.begin()
        lives(jvm)
        ours.end()
        lives(jvm)


@check
def who_forgets_what_was_first_is_helped(context):
    """Theirs is put on top again while ours is before it, and knows ours alone from then on."""
    for word in ("on", "far"):
        jvm = jvm_of_faults(context)
        ours = Ours(context, jvm)
        other = Other(jvm, os.path.join(context.classes, "libchaining.so"), word, "off")
        other.begin()
        ours.begin()
        other.begin()
        lives(jvm)
        ours.end()
        lives(jvm)
        ours.begin()
        lives(jvm)
        ours.end()
        lives(jvm)


def chaining(context, jvm):
    return Other(jvm, os.path.join(context.classes, "libchaining.so"), "on", "off")


def async_profiler(_, jvm):
    return AsyncProfiler(jvm, "async-profiler")


def async_profiler_3(_, jvm):
    return AsyncProfiler(jvm, "async-profiler-3")


def flight_recorder(context, jvm):
    return FlightRecorder(jvm, context.feature())


def all_orders_with(context, jvm, other):
    parties = [Ours(context, jvm, may_be_replaced=other is async_profiler_3), other(context, jvm)]
    for order in orders(len(parties), MOST_SESSIONS):
        walk(jvm, parties, order)


@check
def all_orders_with_an_agent_that_chains(context):
    all_orders_with(context, jvm_of_faults(context), chaining)


@check
def the_published_profiler_may_come_and_go(context):
    """Each start of it finds our handler, or its own."""
    all_orders_with(context, jvm_of_faults(context), async_profiler)


@check
def its_release_before_may_come_and_go(context):
    all_orders_with(context, jvm_of_faults(context), async_profiler_3)


@check
def the_flight_recorder_may_come_and_go(context):
    all_orders_with(context, jvm_of_faults(context), flight_recorder)


@check
def a_library_that_interposes_sigaction(context):
    """libjsig, preloaded, keeps the actions of others from the kernel; ours and theirs pass by it or through it."""
    for other in (chaining, async_profiler, async_profiler_3, flight_recorder) if IS_LONG else (chaining,):
        jvm = jvm_of_faults(context, environment={"LD_PRELOAD": "libjsig.so"})
        with open(f"/proc/{jvm.pid}/maps") as maps:
            assert "/libjsig.so" in maps.read()
        all_orders_with(context, jvm, other)


@check
def random_orders_of_all(context):
    """Four sessions of ours, two releases of async-profiler and JFR, on one JVM after another and on the same one again."""
    print(f"  seed {SEED}", flush=True)
    chance = random.Random(SEED)
    for number in range(RANDOM_ORDERS):
        if number % 2 == 0:
            jvm = jvm_of_faults(context)
            parties = [Ours(context, jvm, may_be_replaced=True), AsyncProfiler(jvm, "async-profiler"),
                       AsyncProfiler(jvm, "async-profiler-3"), FlightRecorder(jvm, context.feature())]  # fmt: skip
        walk(jvm, parties, random_order(len(parties), 4, chance))


if __name__ == "__main__":
    main()

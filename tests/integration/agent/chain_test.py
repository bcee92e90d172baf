#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of libjprof.so and others who handle faults, in all orders, while the JVM itself lives on faults.

Usage: chain_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
"""

import os

from checks import balanced, check, main, part, wait_until_gone
from driver import Session, wait_for
from process import counted, names_of_threads

FAULTS_MORE = 2  # thousands
MOST_SESSIONS = int(os.environ.get("JPROF_CHAIN_SESSIONS", "2"))  # of both together; 4 take a quarter of an hour


def jvm_of_faults(context, *options):
    """Null pointers are found by faults in compiled code only, and C2 would compile them away."""
    jvm = context.jvm("Neighbours", "faults", options=["-XX:TieredStopAtLevel=1", "-Xss512k", *options])
    lives(jvm)
    return jvm


def lives(jvm):
    """Faults reach the JVM: each thread gets on, and none spins."""
    caught, overflowed = counted(jvm.pid, "caught"), counted(jvm.pid, "overflowed")
    wait_for(lambda: jvm.process.poll() is not None or (counted(jvm.pid, "caught") >= caught + FAULTS_MORE
                                                        and counted(jvm.pid, "overflowed") > overflowed))  # fmt: skip
    assert jvm.process.poll() is None, f"the JVM ended with {jvm.process.poll()}"


class Ours:
    """Our sessions, one after another."""

    def __init__(self, context, jvm):
        self.context, self.jvm, self.session = context, jvm, None

    def begin(self):
        self.session = Session(self.jvm, self.context.library, interval_ms=1)
        assert self.session.failure is None, self.session.failure
        self.session.run_until(3)

    def end(self):
        session, self.session = self.session, None
        session.run(0.05)
        region = session.stop()
        assert (session.reason, session.in_flight) == ("asked", 0), (session.reason, session.in_flight)
        balanced(region)
        session.close()


class Other:
    """An agent that is started and stopped by loading it."""

    def __init__(self, jvm, library, begin, end, keeps_sigprof=False):
        self.jvm, self.library, self.words, self.keeps_sigprof = jvm, library, (begin, end), keeps_sigprof

    def begin(self):
        assert self.jvm.load(self.library, self.words[0]) == 0

    def end(self):
        assert self.jvm.load(self.library, self.words[1]) == 0


def orders(most_sessions):
    """Begin and end of a session of ours (0) and of another's (1), in every order: each is over before its next begins."""
    def go(running, left, order):
        if left == 0 and not any(running):
            yield order
            return
        for who in (0, 1):
            if running[who]:
                yield from go([r and w != who for w, r in enumerate(running)], left, [*order, (who, "end")])
            elif left > 0:
                yield from go([r or w == who for w, r in enumerate(running)], left - 1, [*order, (who, "begin")])

    return go([False, False], most_sessions, [])


def walk(jvm, ours, other, order):
    print("  " + " ".join(("ours", "theirs")[who] + ("+" if what == "begin" else "-") for who, what in order), flush=True)
    for who, what in order:
        getattr((ours, other)[who], what)()
        lives(jvm)
    wait_for(lambda: "jprof" not in names_of_threads(jvm.pid))
    if not other.keeps_sigprof:
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


@check
def all_orders_with_an_agent_that_chains(context):
    jvm = jvm_of_faults(context)
    ours = Ours(context, jvm)
    other = Other(jvm, os.path.join(context.classes, "libchaining.so"), "on", "off")
    for order in orders(MOST_SESSIONS):
        walk(jvm, ours, other, order)


@check
def the_published_profiler_may_come_and_go(context):
    """async-profiler, which has come to stay once it is loaded: each start of it finds ours, or its own."""
    jvm = jvm_of_faults(context)
    ours = Ours(context, jvm)
    library = os.path.join(os.path.dirname(part("async-profiler")), "lib/libasyncProfiler.so")
    other = Other(jvm, library, "start,event=ctimer,interval=1ms,cstack=vm", "stop", keeps_sigprof=True)
    for order in orders(MOST_SESSIONS):
        walk(jvm, ours, other, order)


if __name__ == "__main__":
    main()

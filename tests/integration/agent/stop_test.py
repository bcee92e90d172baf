#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""How a session of libjprof.so ends where threads of the JVM are held: by a tracer, as strace and gdb hold them.

Usage: stop_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
"""

import os
import select
import shutil
import signal
import tempfile
import time

from checks import balanced, check, main, wait_until_gone
from driver import STOP, Session, wait_for
from process import caught_signals, children, counted, counts_ticks, ignored_signals, state_of, thread_named

WORKED_NS = 50_000_000


def cpu_ns(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/schedstat") as text:
        return int(text.read().split()[0])


def jvm_with_worker(context):
    """A JVM, and a thread in it that works outside of Java: held, it keeps nobody from a safepoint."""
    jvm = context.jvm("Native", os.path.join(context.classes, "libspin.so"))
    tids = {int(tid): cpu_ns(jvm.pid, tid) for tid in os.listdir(f"/proc/{jvm.pid}/task")}

    def workers():
        return [tid for tid, before in tids.items() if cpu_ns(jvm.pid, tid) > before + 4 * WORKED_NS]

    wait_for(workers)
    return jvm, workers()[0]


def works_on(jvm, tid):
    """It was not killed by what it was given."""
    before = cpu_ns(jvm.pid, tid)
    wait_for(lambda: jvm.process.poll() is not None or cpu_ns(jvm.pid, tid) > before + WORKED_NS)
    assert jvm.process.poll() is None, f"the JVM ended with {jvm.process.poll()}"


def has_handler(jvm):
    return caught_signals(jvm.pid) >> (signal.SIGPROF - 1) & 1


def is_mapped(jvm):
    with open(f"/proc/{jvm.pid}/maps") as maps:
        return "memfd:jprof-test" in maps.read()


def held_at_the_stop(context, engine="cpu-timer"):
    """A session is over, and a thread has not yet got the signal that was sent to it."""
    jvm, tid = jvm_with_worker(context)
    tracer = context.trace(tid)
    session = Session(jvm, context.library, interval_ms=1, engine=engine)
    tracer.hold(signal.SIGPROF)
    region = session.stop()
    assert (session.reason, session.in_flight) == ("asked", 0), (session.reason, session.in_flight)
    threads, held, tracer_pid, state = session.handler_left
    assert threads >= 1 and has_handler(jvm), session.handler_left
    if threads == 1:
        assert (held, tracer_pid, chr(state)) == (tid, os.getpid(), "t"), session.handler_left
    balanced(region, some=False)
    session.close()
    return jvm, tid, tracer


@check
def a_signal_in_a_tracers_hand_kills_nobody(context):
    """It has left the thread's queue, so nothing can take it back: a handler stays until the tracer has let go."""
    for engine in ("cpu-timer", "perf-clock"):
        jvm, tid, tracer = held_at_the_stop(context, engine)
        tracer.close()
        works_on(jvm, tid)
        wait_until_gone(jvm.pid)
        assert not is_mapped(jvm)


def call_of(pid, tid):
    """The system call that it is in, and its arguments."""
    with open(f"/proc/{pid}/task/{tid}/syscall") as text:
        return text.read().split()[:7]


def stop_for_a_moment(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: state_of(pid, pid) == "T", 0.0002)
    os.kill(pid, signal.SIGCONT)


def stopped_at_each_call(context, jvm, tid, let_go_at):
    """A session that ends while the worker is held at its signal, and the process is stopped, and goes on, wherever the agent's
    thread enters or leaves the kernel until it says that the session is over. The worker's tracer lets go at that call, or else
    once that is said. Returns the number of calls."""
    worker = context.trace(tid)
    session = Session(jvm, context.library, interval_ms=1)
    worker.hold(signal.SIGPROF)
    agent = context.trace(thread_named(jvm.pid, "jprof"))
    agent.interrupt()
    session.channel.send(bytes((STOP, 0, 0, 0, 8, 0, 0, 0)))
    calls = 0
    last = ()
    while not select.select([session.channel], [], [], 0)[0]:
        assert agent.to_system_call(), "the agent's thread has ended without a word"
        calls += 1
        # A sleep that is interrupted begins anew with what is left of its time: stopped each time, it would never end.
        this = call_of(jvm.pid, agent.tid)
        last = (*last[-2:], this)
        if last != (this, this, this):
            stop_for_a_moment(jvm.pid)
        if calls == let_go_at:
            worker.close()
        assert jvm.process.poll() is None, f"the JVM ended with {jvm.process.poll()} at call {calls}"
    # Not beyond: the agent's thread now looks whether threads run undisturbed, for up to a minute as long as they do not.
    agent.close()
    region = session.stopped()
    assert (session.reason, session.in_flight) == ("asked", 0), (session.reason, session.in_flight)
    assert worker.closed or session.handler_left[0] >= 1, session.handler_left
    balanced(region, some=False)
    session.close()
    if not worker.closed:
        worker.close()
    return calls


@check
def the_process_may_be_stopped_at_each_step_of_the_stop(context):
    """SIGSTOP and SIGCONT between any two steps, while a signal is in a tracer's hand, who lets go before, in between or after."""
    jvm, tid = jvm_with_worker(context)
    whole = stopped_at_each_call(context, jvm, tid, None)
    for part in (1, 2, 3):
        works_on(jvm, tid)
        wait_until_gone(jvm.pid)
        assert not is_mapped(jvm)
        let_go_at = whole * part // 4
        print(f"  of {whole} calls: let go at {let_go_at}, over after", stopped_at_each_call(context, jvm, tid, let_go_at))
    works_on(jvm, tid)
    wait_until_gone(jvm.pid)
    assert not is_mapped(jvm)


@check
def what_the_start_takes_is_not_taken_from_the_duration(context):
    """A JVM's thread that gets ready late, as on a crowded machine, samples as long as it was asked to."""
    jvm, _ = jvm_with_worker(context)
    began = []

    def before_start(session):
        agent = context.trace(thread_named(jvm.pid, "jprof"))
        agent.interrupt()

        def after_start():
            while session.region().state == 0:
                assert agent.to_system_call()
            time.sleep(0.7)
            began.append(time.monotonic())
            agent.close()

        return after_start

    session = Session(jvm, context.library, duration_s=1, before_start=before_start)
    balanced(session.stopped(), some=False)
    lasted = time.monotonic() - began[0]
    assert session.reason == "deadline" and lasted >= 1, (session.reason, lasted)
    session.close()
    wait_until_gone(jvm.pid)


@check
def jfr_may_have_the_signal_once_the_tracer_is_gone(context):
    """A handler left for good would keep its sampler of CPU time from starting: it refuses where there is one."""
    if context.feature() < 25:
        return
    jvm, tid, tracer = held_at_the_stop(context)
    tracer.close()
    works_on(jvm, tid)
    wait_until_gone(jvm.pid)
    answer = jvm.attach("jcmd", "JFR.start name=after jdk.CPUTimeSample#enabled=true jdk.CPUTimeSample#throttle=10ms")
    assert "Started recording" in answer, answer
    wait_for(lambda: has_handler(jvm))
    with tempfile.TemporaryDirectory() as folder:
        answer = jvm.attach("jcmd", f"JFR.stop name=after filename={folder}/after.jfr")
        assert os.path.getsize(f"{folder}/after.jfr") > 1000, answer


@check
def the_next_session_takes_the_handler_over(context):
    """Also one that another copy of the library is loaded for; and lets go of it when the last signal has arrived."""
    jvm, tid, tracer = held_at_the_stop(context)
    with tempfile.TemporaryDirectory() as folder:
        another = shutil.copy(context.library, f"{folder}/another.so")
        for library in (context.library, another):
            session = Session(jvm, library, interval_ms=1)
            assert session.failure is None, session.failure
            assert session.region().counters["other_signal"] == 0
            session.stop()
            assert session.handler_left[0] >= 1 and has_handler(jvm), session.handler_left
            session.close()
        session = Session(jvm, another, interval_ms=1)
    tracer.close()
    session.run_until(20)
    region = session.stop()
    balanced(region)
    # Its address is that of an entry of this region only where that has been mapped at the same place.
    assert region.counters["stale"] + region.counters["foreign"] == 1, region.counters
    session.close()
    works_on(jvm, tid)
    wait_until_gone(jvm.pid)


@check
def a_straggler_is_waited_for(context):
    """A thread that is held inside the handler: nothing is taken from under it, and nobody begins anew, until it has left."""
    jvm, tid = jvm_with_worker(context)
    tracer = context.trace(tid)
    session = Session(jvm, context.library, interval_ms=1)
    session.run_while(lambda: not counts_ticks(jvm.pid, tid))  # the first timer's signal would be stale

    def signals():
        return next(thread["signals"] for thread in session.region().threads().values() if thread["tid"] == tid)

    tracer.hold(signal.SIGPROF)
    before = signals()
    while signals() == before:
        tracer.step(1)
    tracer.step(200)
    session.stop()
    assert (session.reason, session.in_flight) == ("asked", 1), (session.reason, session.in_flight)
    session.close()
    refused = Session(jvm, context.library, interval_ms=1)
    assert refused.failure and refused.failure[0] == "handler_busy", refused.failure
    assert f"thread {tid} (" in refused.failure[2], refused.failure
    refused.close()
    assert is_mapped(jvm) and has_handler(jvm)
    jvm.process.stdin.write(b"\n")
    jvm.process.stdin.flush()
    wait_for(lambda: children(jvm.pid))
    (child,) = children(jvm.pid)
    assert not ignored_signals(child) >> (signal.SIGPROF - 1) & 1, "what the JVM starts meanwhile ignores SIGPROF"
    tracer.close()
    works_on(jvm, tid)
    wait_until_gone(jvm.pid)
    wait_for(lambda: not is_mapped(jvm))
    session = Session(jvm, context.library, interval_ms=1)
    session.run_until(20)
    balanced(session.stop())
    session.close()
    wait_until_gone(jvm.pid)


@check
def timers_that_cannot_be_deleted_end_nobody(context):
    """The program refuses that, for itself, while we sample: a handler that does nothing stays, and nobody begins anew."""
    jvm = context.jvm("Native", os.path.join(context.classes, "librefusing.so"))
    session = Session(jvm, context.library, interval_ms=5)
    session.run_while(lambda: counted(jvm.pid, "refusing") == 0 or len(session.recording.samples) < 40)
    assert counted(jvm.pid, "refusing") == 1
    region = session.stop()
    assert session.reason == "asked", session.reason
    balanced(region)
    assert region.counters["timers_left"] >= region.counters["timers_running"] > 0, region.counters
    session.close()
    wait_for(lambda: not is_mapped(jvm))
    assert has_handler(jvm)
    worker = max((int(tid) for tid in os.listdir(f"/proc/{jvm.pid}/task")), key=lambda tid: cpu_ns(jvm.pid, tid))
    works_on(jvm, worker)
    refused = Session(jvm, context.library, interval_ms=5)
    statuses = ("call_forbidden", "no_timers")  # before Linux 5.16 no call is tried
    assert refused.failure and refused.failure[0] in statuses and "timer_delete" in refused.failure[2], refused.failure
    refused.close()
    works_on(jvm, worker)
    assert has_handler(jvm)


@check
def handlers_may_be_left_by_a_jump(context):
    """The program's own handler for faults, in front of ours, takes a load of ours for its own and jumps out of our handler."""
    jvm = context.jvm("Native", os.path.join(context.classes, "libjumping.so"))
    session = Session(jvm, context.library, interval_ms=1)

    def is_done():
        return counted(jvm.pid, "jumps") >= 60 and all(counted(jvm.pid, what) for what in ("deep", "sleep", "masked"))

    session.run_while(lambda: not is_done())
    assert is_done(), counted(jvm.pid, "jumps")
    region = session.stop()
    assert (session.reason, session.in_flight) == ("asked", 0), (session.reason, session.in_flight)
    balanced(region)
    ends = [stack[-1] for _, stack in session.recording.samples]
    left = ends.count(("error", "jumped_out"))
    print(f"  {left} of {len(ends)} samples were left by a jump")
    assert left >= 60 and len(ends) == region.ring_head, (left, len(ends), region.counters)
    assert region.counters["no_scratch"] == 0, region.counters
    session.close()
    wait_for(lambda: not is_mapped(jvm))
    session = Session(jvm, context.library, interval_ms=1)  # in front of the program's handler now
    assert session.failure is None, session.failure
    session.run_until(100)
    region = session.stop()
    assert (session.reason, session.in_flight) == ("asked", 0), (session.reason, session.in_flight)
    balanced(region)
    assert region.counters["faults"] > 0, region.counters
    session.close()
    works_on(jvm, max((int(tid) for tid in os.listdir(f"/proc/{jvm.pid}/task")), key=lambda tid: cpu_ns(jvm.pid, tid)))
    wait_until_gone(jvm.pid)


if __name__ == "__main__":
    main()

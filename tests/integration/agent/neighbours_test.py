#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""libjprof.so beside what else lives in a JVM: other profilers, processes, sandboxes, stacks and descriptors at their end.

Usage: neighbours_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
PART is a name of scripts/parts; exits 77 (skip) where that part is not on this machine.
"""

import json
import math
import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
import zipfile

from checks import SANDBOXED, SIGNAL_BLOCKED, balanced, check, main, part, sampled, wait_until_gone
from driver import Session, wait_for
from process import caught_signals, counted, names_of_threads

JAVA = ("interpreted", "c1", "c2", "inlined", "javanative")
PATIENCE = 40  # sessions of a second, until the neighbour has done what it is for


def end_well(jvm, session):
    """The session is over, nothing of it is left, and the JVM is well."""
    session.close()
    wait_until_gone(jvm.pid)
    assert jvm.process.poll() is None, f"the JVM ended with {jvm.process.poll()}"


def finds_the_work(session):
    """Of Known, in whole stacks; not a handler of somebody else's, who gets the signal of the same tick, on top of it."""
    stacks = [stack for _, stack in session.recording.samples]
    known = [stack for stack in stacks if any(text.startswith("Known.") for _, text in stack)]
    broken = sum(1 for stack in stacks if stack[-1][0] == "error")
    on_top = sum(1 for stack in known if stack[0][0] == "native")
    assert len(known) > 30, session.recording.leaves()
    assert broken < 0.1 * len(stacks) and on_top < 0.1 * len(known), (len(stacks), broken, len(known), on_top)


def sampled_while(context, jvm, what, times):
    """Sessions one after another, each stopped amid the work, until it has been done so many more times; all samples."""
    samples = []
    wait_for(lambda: counted(jvm.pid, what) > 0)
    done = counted(jvm.pid, what)
    for _ in range(PATIENCE):
        session = Session(jvm, context.library, interval_ms=1)
        assert session.failure is None, session.failure
        session.run(1)
        region = session.stop()
        assert session.in_flight == 0
        balanced(region, some=False)  # starting processes is little work
        samples += session.recording.samples
        end_well(jvm, session)
        if counted(jvm.pid, what) - done >= times:
            break
    print(f"  {what} {counted(jvm.pid, what) - done} times, {len(samples)} samples")
    assert counted(jvm.pid, what) - done >= times
    return samples


def kernel_is_at_least(*release):
    return tuple(int(number) for number in os.uname().release.split("-")[0].split(".")[:2]) >= release


def native_jvm(context, library):
    """A JVM with a library of ours that brings threads of its own; None where the library is not of this JVM's libc."""
    if "musl" in context.java[0]:
        print("  skipped: the library is not for musl")
        return None
    return context.jvm("Native", os.path.join(context.classes, library))


@check
def threads_in_a_sandbox_are_left_alone(context):
    """A system call of ours in a thread whose filters do not have it would end the JVM."""
    jvm = native_jvm(context, "libsandboxed.so")
    if jvm is None:
        return
    short = counted(jvm.pid, "short")
    session = Session(jvm, context.library, interval_ms=0.5)

    def sandboxed():
        return {thread["name"] for thread in session.region().threads().values() if thread["flags"] & SANDBOXED}

    session.run_while(lambda: not {"strict", "filtered"} <= sandboxed() or counted(jvm.pid, "short") < short + 40)
    region = session.stop()
    print(f"  {len(sandboxed())} left alone; {counted(jvm.pid, 'short') - short} lived shortly")
    assert {"strict", "filtered"} <= sandboxed(), sandboxed()
    assert {"strict", "filtered"} <= set(names_of_threads(jvm.pid))
    assert all(thread["cpu_disarm"] > thread["cpu_arm"] for thread in region.threads().values() if thread["flags"] & SANDBOXED)
    balanced(region)
    end_well(jvm, session)


@check
def a_filter_may_kill_for_what_we_call(context):
    """A seccomp filter over the whole JVM: what it would kill for is tried elsewhere, and refused by name; the JVM hears nothing."""
    if not kernel_is_at_least(5, 16):
        print("  skipped: before 5.16 nothing can be tried")
        return
    forbidding = os.path.join(context.classes, "forbidding")
    for call, action in (("timer_create", "kill"), ("timer_settime", "thread"), ("rt_sigtimedwait", "trap"),
                         ("timer_create", "refuse"), ("recvmsg", "kill"), ("recvmsg", "refuse")):  # fmt: skip
        jvm = context.jvm("Known", "shares", launcher=[forbidding, call, action])
        refused = Session(jvm, context.library)
        assert refused.failure and refused.failure[0] == "call_forbidden", (call, action, refused.failure)
        assert refused.failure[2].endswith(" " + call), refused.failure
        refused.close()
        wait_until_gone(jvm.pid)
        for tid in os.listdir(f"/proc/{jvm.pid}/task"):
            with contextlib.suppress(FileNotFoundError):  # a thread that has ended since
                with open(f"/proc/{jvm.pid}/task/{tid}/children") as children:
                    assert children.read() == "", "the child has not been buried"
        assert jvm.attach("jcmd", "VM.version").startswith("0\n")
        jvm.kill()
    jvm = context.jvm("Known", "shares", launcher=[forbidding, "rt_sigtimedwait", "refuse"])
    session, _ = sampled(context, jvm, 100, interval_ms=2)
    finds_the_work(session)
    end_well(jvm, session)


@check
def threads_may_block_the_signals_of_faults(context):
    """A load of ours that fails there would end the JVM, whatever handler there is; its time counts all the same."""
    jvm = native_jvm(context, "libblocking.so")
    if jvm is None:
        return
    for walker in ("vmstructs", "asgct"):
        session = Session(jvm, context.library, interval_ms=1, walker=walker)
        assert session.failure is None, session.failure

        def signals(name, session=session):
            return max((thread["signals"] for thread in session.region().threads().values() if thread["name"] == name), default=0)

        session.run_while(lambda: jvm.process.poll() is None and min(signals("deaf"), signals("deaf-all")) < 40)
        region = session.stop()
        balanced(region)
        assert min(signals("deaf"), signals("deaf-all")) >= 40, region.threads()
        assert region.counters["faults"] > 0 or walker == "asgct", region.counters
        end_well(jvm, session)


@check
def threads_that_wait_for_signals_are_not_sent_ours(context):
    """Once it is known that a thread blocks ours; it is sampled when it blocks it no more, and its time is not lost."""
    jvm = native_jvm(context, "libwaiting.so")
    if jvm is None:
        return
    session = Session(jvm, context.library, interval_ms=5)

    def blocked():
        return [thread for thread in session.region().threads().values() if thread["flags"] & SIGNAL_BLOCKED]

    session.run_while(lambda: not blocked())
    tid = blocked()[0]["tid"]

    def signals():
        return max(thread["signals"] for thread in session.region().threads().values() if thread["tid"] == tid)

    before = counted(jvm.pid, "handed")
    session.run_while(lambda: signals() == 0)
    handed = counted(jvm.pid, "handed") - before
    session.run_while(lambda: signals() < 20)
    region = session.stop()
    print(f"  handed {before} signals before it was known, {handed} since")
    assert handed <= 2 and signals() >= 20 and not blocked(), (before, handed)
    balanced(region)
    assert region.counters["weight"] > 2e9, region.counters
    end_well(jvm, session)


@check
def children_are_not_sampled(context):
    """Forked children work on with our handler, or become another program: they end as they would, and hold nothing of ours."""
    jvm = native_jvm(context, "libforking.so")
    if jvm is not None:
        sampled_while(context, jvm, "forked", 30)


@check
def processes_can_be_started(context):
    sampled_while(context, context.jvm("Neighbours", "processes"), "spawned", 10)


@check
def stacks_may_overflow(context):
    samples = sampled_while(context, context.jvm("Neighbours", "overflow"), "overflow", 30)
    assert any(text == "Neighbours.down" for _, stack in samples for _, text in stack)


@check
def classes_may_be_redefined(context):
    """While their methods run. Old and new versions have the same names."""
    with tempfile.TemporaryDirectory() as folder:
        jar = f"{folder}/agent.jar"
        with zipfile.ZipFile(jar, "w") as out:
            out.writestr("META-INF/MANIFEST.MF", "Premain-Class: Neighbours\nCan-Redefine-Classes: true\n")
        jvm = context.jvm("Neighbours", "redefine", options=[f"-javaagent:{jar}"])
        samples = sampled_while(context, jvm, "redefined", 30)
    names = {text for _, stack in samples for kind, text in stack if kind in JAVA and text.startswith("Neighbours$Target")}
    wrong = [stack for _, stack in samples if any(text == "Neighbours$Target.turn" for _, text in stack)
             and not any(text == "Neighbours$Target.spin" for _, text in stack)]  # fmt: skip
    assert names == {"Neighbours$Target.turn", "Neighbours$Target.spin"}, names
    whole = [stack for stack in wrong if stack[-1][0] != "error"]
    assert not whole, whole[0]
    assert len(wrong) <= 0.01 * len(samples), f"{len(wrong)} of {len(samples)}: {wrong[0]}"


@check
def parked_threads_have_no_samples(context):
    """K5: fifty are parked, one works."""
    jvm = context.jvm("Neighbours", "parked", "50")
    session, region = sampled(context, jvm, 300, interval_ms=2)
    of = {thread["name"]: thread["signals"] for thread in region.threads().values()}
    assert len([name for name in of if name.startswith("parked-")]) == 50, sorted(of)
    assert not [name for name, signals in of.items() if name.startswith("parked-") and signals], of
    assert of["working"] > 200, of
    end_well(jvm, session)


@check
def a_storm_is_in_balance(context):
    """K6: collections, deoptimisation, threads that come and go, exceptions, locks, native code: each signal has one end."""
    jvm = context.jvm("Storm", "1000000", "2", options=["-Xmx96m"])
    for interval in (0.2, 1, 10):
        session, _ = sampled(context, jvm, 100, interval_ms=interval)
        end_well(jvm, session)


@check
def the_last_descriptors_are_enough(context):
    """With as few left as the sidecar asks for (sidecar/jvm/descriptor_room.cpp), by each engine."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        jvm = context.jvm("Neighbours", "files", "8", options=["-XX:-MaxFDLimit"])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    jvm.attach("jcmd", "VM.version")  # opens the listener, which stays
    for engine in ("cpu-timer", "perf-clock"):
        open_files = len(os.listdir(f"/proc/{jvm.pid}/fd"))
        session = Session(jvm, context.library, interval_ms=1, engine=engine)
        assert session.failure is None, session.failure
        session.run(0.5)
        session.stop()
        end_well(jvm, session)
        wait_for(lambda: len(os.listdir(f"/proc/{jvm.pid}/fd")) <= open_files)


@check
def a_jvm_that_ends_is_not_held_up(context):
    jvm = context.jvm("Known", "threads", "2")
    session = Session(jvm, context.library, interval_ms=1)
    session.run_while(lambda: jvm.process.poll() is None)
    assert jvm.process.wait(timeout=60) == 0
    region = session.drain_last()
    assert region.counters["entered"] > 0, region.counters
    session.close()


def jfr(jvm, command):
    return jvm.attach("jcmd", command)


def start_jfr(context, jvm, settings=""):
    """False where this JVM has no flight recorder."""
    answer = jfr(jvm, f"JFR.start name=neighbour {settings}".strip())
    if context.feature() == 8 and "Unknown" in answer:
        print("  skipped: this JVM has no flight recorder")
        return False
    assert "Started recording" in answer, answer
    return True


def stop_jfr(jvm, file):
    answer = jfr(jvm, f"JFR.stop name=neighbour filename={file}")
    assert os.path.getsize(file) > 1000, answer


@check
def jfr_records_beside_us(context):
    """JFR's own sampler needs no signal: both work, whichever came first."""
    jvm = context.jvm("Known", "shares")
    with tempfile.TemporaryDirectory() as folder:
        if not start_jfr(context, jvm, "settings=profile"):
            return
        first, _ = sampled(context, jvm, 200, interval_ms=2)
        end_well(jvm, first)
        second = Session(jvm, context.library, interval_ms=2)
        stop_jfr(jvm, f"{folder}/1.jfr")
        start_jfr(context, jvm, "settings=profile")
        second.run_until(200)
        stop_jfr(jvm, f"{folder}/2.jfr")
        region = second.stop()
    assert second.reason == "asked", second.reason
    balanced(region)
    finds_the_work(first)
    finds_the_work(second)
    end_well(jvm, second)


def comes_first(context, jvm, owner):
    """Somebody else has the signal: asked for it we refuse and say who has it, else we take another, and both work."""
    before = caught_signals(jvm.pid)
    refused = Session(jvm, context.library, interval_ms=1, signal_number=signal.SIGPROF)
    assert refused.failure and refused.failure[0] == "signal_taken", refused.failure
    assert owner in refused.failure[2], refused.failure
    refused.close()
    session = Session(jvm, context.library, interval_ms=1, engine="perf-clock")
    session.run_until(300)
    region = session.stop()
    balanced(region)
    assert region.counters["other_signal"] > 32 and region.counters["foreign"] == 0, region.counters
    finds_the_work(session)
    session.close()
    wait_for(lambda: caught_signals(jvm.pid) == before)
    assert jvm.process.poll() is None


def comes_later(context, jvm, start):
    """Somebody else begins while we sample: we go on. Returns what `start` does."""
    session = Session(jvm, context.library, interval_ms=1)
    session.run_until(50)
    result = start()
    samples = len(session.recording.samples)
    session.run_until(samples + 300)
    region = session.stop()
    assert session.reason == "asked", session.reason
    balanced(region)
    assert region.counters["other_signal"] == 0, region.counters
    session.close()
    assert jvm.process.poll() is None
    return result


@check
def a_signal_may_be_taken_away(context):
    """The session ends before who took it can give it back to the kernel, which would end the JVM; what it has is kept."""
    jvm = native_jvm(context, "libtaking.so")
    if jvm is None:
        return
    for times in (1, 2, 3):
        session = Session(jvm, context.library, interval_ms=0.5)
        session.run(60)
        region = session.stopped()
        assert session.reason == "handler_replaced", session.reason
        assert region.counters["stack"] > 0 and session.in_flight == 0, region.counters
        wait_for(lambda times=times: counted(jvm.pid, "taken") >= times)
        end_well(jvm, session)


@check
def the_handler_of_faults_may_be_taken_away_at_the_start(context):
    """What the agent looks for in the JVM it looks for without faults, of which one without our handler ends the JVM."""
    for _ in range(2):
        jvm = native_jvm(context, "librestoring.so")
        if jvm is None:
            return
        session = Session(jvm, context.library)
        wait_for(lambda jvm=jvm: counted(jvm.pid, "restored") or jvm.process.poll() is not None)
        balanced(session.stop(), some=False)
        end_well(jvm, session)


CPU_TIME = "jdk.CPUTimeSample#enabled=true jdk.CPUTimeSample#throttle=10ms"


def cpu_time_samples(context, file):
    """The Java methods on top, as JFR saw them."""
    printed = subprocess.run([*context.java, "-m", "jdk.jfr/jdk.jfr.internal.tool.Main", "print", "--json", "--stack-depth",
                              "1", "--events", "jdk.CPUTimeSample", file], check=True, capture_output=True)  # fmt: skip
    for event in json.loads(printed.stdout)["recording"]["events"]:
        stack = event["values"]["stackTrace"]
        if stack:
            yield stack["frames"][0]["method"]["name"]


@check
def jfr_may_have_the_signal(context):
    """JFR's CPU-time sampler (JEP 509) uses the same one. It refuses to begin after us, and leaves its handler behind."""
    if context.feature() < 25:
        return
    with tempfile.TemporaryDirectory() as folder:
        jvm = context.jvm("Known", "shares")
        comes_later(context, jvm, lambda: start_jfr(context, jvm, CPU_TIME))
        stop_jfr(jvm, f"{folder}/1.jfr")
        start_jfr(context, jvm, CPU_TIME)
        comes_first(context, jvm, "JFR")
        stop_jfr(jvm, f"{folder}/2.jfr")
        assert sum(1 for _ in cpu_time_samples(context, f"{folder}/2.jfr")) > 0
        comes_first(context, jvm, "JFR")


@check
def jfr_and_we_agree(context):
    """K29: the same program under JFR's CPU-time sampler and under us."""
    if context.feature() < 25:
        return
    theirs = context.jvm("Known", "shares")
    with tempfile.TemporaryDirectory() as folder:
        start_jfr(context, theirs, CPU_TIME)
        time.sleep(12)
        stop_jfr(theirs, f"{folder}/1.jfr")
        methods = list(cpu_time_samples(context, f"{folder}/1.jfr"))
    theirs.kill()
    hot, warm = methods.count("hot"), methods.count("warm")
    assert hot + warm > 200, f"{len(methods)} samples"
    session, _ = sampled(context, context.jvm("Known", "shares"), hot + warm, interval_ms=10)
    leaves = session.recording.leaves()
    ours = leaves["Known.hot"] / (leaves["Known.hot"] + leaves["Known.warm"])
    share = hot / (hot + warm)
    doubt = math.sqrt(2 * 0.75 * 0.25 / (hot + warm))
    print(f"  hot: {100 * share:.1f} % by JFR, {100 * ours:.1f} % by us, SE {100 * doubt:.1f}")
    assert abs(share - ours) <= 0.03 + 3 * doubt
    session.close()


@check
def another_profiler_may_have_the_signal(context):
    """The published async-profiler, after us, when it takes another signal, and before us."""
    other = os.path.join(os.path.dirname(part("async-profiler")), "lib/libasyncProfiler.so")
    with tempfile.TemporaryDirectory() as folder:

        def start():
            assert jvm.load(other, "start,event=ctimer,interval=1ms") == 0

        def stop():
            assert jvm.load(other, f"stop,collapsed,file={folder}/other.collapsed") == 0
            with open(f"{folder}/other.collapsed") as text:
                assert "Known.hot" in text.read()

        jvm = context.jvm("Known", "shares")
        comes_later(context, jvm, start)
        stop()
        jvm = context.jvm("Known", "shares")
        start()
        comes_first(context, jvm, "libasyncProfiler.so")
        stop()
        comes_first(context, jvm, "libasyncProfiler.so")


@check
def a_jvm_may_check_its_handlers(context):
    """With -Xcheck:jni it looks for strangers' handlers twice a second, and complains in the program's own output."""
    jvm = context.jvm("Known", "shares", options=["-Xcheck:jni"])
    before = caught_signals(jvm.pid)
    session = Session(jvm, context.library, interval_ms=2)
    assert session.failure is None, session.failure
    began = time.monotonic_ns()
    assert caught_signals(jvm.pid) == before | 1 << (signal.SIGPROF - 1)
    samples = session.recording.samples
    session.run(3)
    session.run_while(lambda: len(samples) < 300)
    region = session.stop()
    balanced(region)
    there = {slot for slot, thread in region.threads().items() if thread["cpu_arm"] != 0}
    unseen = [sample["time"] - began for sample, stack in samples
              if stack[-1] == ("error", "unsafe_state") and sample["thread"] in there and sample["time"] > began]  # fmt: skip
    assert not unseen, "nobody had looked at the seccomp filters of threads that were there when the session began"
    finds_the_work(session)
    session.close()
    refused = Session(jvm, context.library, walker="asgct")
    assert refused.failure and refused.failure[0] == "handlers_checked", refused.failure
    refused.close()
    wait_until_gone(jvm.pid)
    jvm.process.kill()
    printed = jvm.process.stdout.read().decode()
    assert "handler modified" not in printed, printed[:300]


if __name__ == "__main__":
    main()

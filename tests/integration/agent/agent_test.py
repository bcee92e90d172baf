#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of libjprof.so in a real JVM, with this script as the sidecar: how they begin and end, and which threads they find.

Usage: agent_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
PART is a name of scripts/parts; exits 77 (skip) where that part is not on this machine.
"""

import os
import shutil
import signal
import subprocess
import tempfile

from checks import SIGNAL_BLOCKED, balanced, check, main, sampled, wait_until_gone
from driver import Session, wait_for
from process import blocked_signals
from region import OUTCOMES


def births(region):
    return [thread for thread in region.threads().values() if thread["cpu_arm"] == 0]


def accounted_to_the_nanosecond(context, jvm):
    """Weights and the rest are what the thread's clock has advanced, of threads that stay and of those that come and go."""
    session = Session(jvm, context.library)
    session.run_while(lambda: len(births(session.region())) < 10)
    region = session.stop()
    balanced(region)
    assert region.counters["ring_full"] == 0, region.counters
    sums = {}
    for sample, _ in session.recording.samples:
        sums[sample["thread"]] = sums.get(sample["thread"], 0) + sample["weight"]
    assert len(births(region)) >= 10, region.threads()
    for index, thread in region.threads().items():
        assert sums.get(index, 0) + thread["rest"] == thread["cpu_disarm"] - thread["cpu_arm"], (sums.get(index), thread)
    session.close()


@check
def every_nanosecond_of_a_thread_is_told_once(context):
    accounted_to_the_nanosecond(context, context.jvm("Births", "50", "25", options=("-Xss256k",)))


@check
def threads_are_found_where_loadavg_is_masked(context):
    """Without the kernel's last id, as some container runtimes leave it, by scans."""
    masked = ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null /proc/loadavg && exec "$@"', "sh"]
    if subprocess.run([*masked, "true"], capture_output=True, check=False).returncode != 0:
        print("  not checked: nothing may be mounted here")
        return
    java, context.java = context.java, [*masked, *context.java]
    try:
        accounted_to_the_nanosecond(context, context.jvm("Births", "50", "25", options=("-Xss256k",)))
    finally:
        context.java = java


@check
def thousands_of_threads_have_slots(context):
    jvm = context.jvm("Births", "3000", "1000000", options=("-Xss256k",))
    session, region = sampled(context, jvm, 20, region_bytes=16 << 20)
    assert region.counters["armed"] > 3000 and region.counters["slots_full"] == 0, region.counters
    assert session.recording.leaves()["Births.work"] > 0, session.recording.leaves()
    session.close()


def sampled_by_name(session, region, renamed):
    """Threads of Named that were sampled, by the names that Java has for them; of one renamed beside a collector the kernel's."""
    threads = region.threads()
    sampled = {sample["thread"] for sample, _ in session.recording.samples}
    found = [threads[index] for index in sampled if index in threads]
    return {thread["name"]: thread for thread in found if (" #" in thread["name"] or thread["name"][:7] == "endless")
            and (thread["java_id"] != 0 or (not renamed and thread["name"][:8] == "renamed "))}  # fmt: skip


def named_threads(context, options, renamed):
    """Until each of the five was sampled and named, one by its later name: a crowded machine may let one wait for seconds."""
    jvm = context.jvm("Named", options=options)
    session = Session(jvm, context.library, interval_ms=5)
    session.run_while(
        lambda: len(named := sampled_by_name(session, session.region(), renamed)) < 5 or (renamed and "renamed 0" in str(named))
    )
    region = session.stop()
    balanced(region)
    named = sampled_by_name(session, region, renamed)
    session.close()
    assert jvm.process.poll() is None
    jvm.kill()
    return named


@check
def java_names_of_threads(context):
    """Whole names and Java's ids, whatever the collector and the shape of a reference."""
    feature = context.feature()
    heaps = [("-XX:+UseSerialGC",), ("-XX:+UseSerialGC", "-XX:-UseCompressedOops"), ("-XX:+UseParallelGC", "-Xmx48g"),
             ("-XX:+UseG1GC",)]  # fmt: skip
    if feature < 25:
        heaps += [("-XX:+UseSerialGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers")]
    else:
        heaps += [("-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders")]
    if feature >= 17:
        heaps += [("-XX:+UseZGC",)]
    if feature == 21:
        heaps += [("-XX:+UseZGC", "-XX:+ZGenerational")]
    for heap in heaps:
        moves_beside = "-XX:+UseZGC" in heap
        options = ("-Xmx128m", *heap) if moves_beside else ("-Xmn4m", "-Xms64m", "-Xmx64m", *heap)
        named = named_threads(context, options, renamed=not moves_beside)
        assert len(named) == 5, (heap, list(named))
        renamed = next(name for name in named if name.startswith("renamed "))
        for name, thread in named.items():
            # A collector that moves objects beside the program: only what the kernel knows too is believed.
            if name == renamed and moves_beside:
                continue
            assert name.endswith(f"#{thread['java_id']}") or name.startswith("endless "), (heap, name, thread["java_id"])
        for start in ("order-processing-worker-of-the-second-pool", "Zähler für Straßen", "订单处理 🚀",
                      "endless ü订ü订ü订ü订ü订ü订ü订ü订ü订"):  # fmt: skip
            assert any(name.startswith(start) for name in named), (heap, list(named))
        print(f"  {' '.join(heap)}: {renamed!r}")
        assert int(renamed.split()[1]) >= 1 or moves_beside, (heap, renamed)


@check
def the_first_thread_is_main_whatever_the_collector(context):
    """The kernel has the launcher's name for it ("java"), so that cannot confirm the JVM's."""
    collectors = ["UseSerialGC", "UseG1GC"]
    if context.feature() >= 17:
        collectors += ["UseZGC", "UseShenandoahGC"]
    for collector in collectors:
        jvm = context.jvm("Known", "shares", options=("-Xmx64m", f"-XX:+{collector}"))
        session = Session(jvm, context.library)
        session.run_while(lambda: "Known.hot" not in session.recording.leaves())  # all of it in that thread
        region = session.stop()
        named = [(thread["java_id"], thread["name"]) for thread in region.threads().values()]
        session.close()
        jvm.kill()
        assert (3 if context.feature() >= 24 else 1, "main") in named, (collector, named)


@check
def two_sessions_in_a_row_and_busy(context):
    """The resident agent serves again; a second session meanwhile is refused."""
    jvm = context.jvm("Known", "shares")
    for _ in range(2):
        session = Session(jvm, context.library)
        assert session.failure is None
        refused = Session(jvm, context.library)
        assert refused.failure and refused.failure[0] == "busy", refused.failure
        refused.close()
        session.run_until(10)
        balanced(session.stop())
        session.close()
        wait_until_gone(jvm.pid)


@check
def later_copy_hands_over(context):
    """Another file with the same agent finds the resident one, which answers for it."""
    jvm = context.jvm("Known", "shares")
    first = Session(jvm, context.library)
    assert first.load_result == 0 and first.hello[36:40] == b"\0\0\0\0"
    first.run_until(10)
    first.stop()
    first.close()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(context.library, f"{folder}/another.so")
        second = Session(jvm, copy)
    assert second.failure is None and second.hello[36:40] == b"\1\0\0\0"
    assert second.load_result == 110, second.load_result
    second.run_until(10)
    balanced(second.stop())
    second.close()
    with open(f"/proc/{jvm.pid}/maps") as maps:
        print(f"  the other copy is {'still' if 'another.so' in maps.read() else 'not'} mapped")


@check
def hang_up_stops_it(context):
    """A sidecar that dies ends the sampling at once, and nothing waits for another: no region, no descriptor, no thread."""
    jvm = context.jvm("Known", "shares")

    def regions():
        descriptors = f"/proc/{jvm.pid}/fd"
        with open(f"/proc/{jvm.pid}/maps") as maps:
            mapped = maps.read().count("memfd:jprof-test")
        return mapped + sum("memfd:jprof-test" in os.readlink(f"{descriptors}/{fd}") for fd in os.listdir(descriptors))

    for _ in range(5):
        session = Session(jvm, context.library)
        session.run_until(10)
        session.channel.close()
        wait_for(lambda session=session: session.region().state == 3)
        region = session.region()
        assert region.stop_reason == 3, region.stop_reason
        balanced(region)
    wait_until_gone(jvm.pid)
    wait_for(lambda: regions() == 0)


@check
def deadline_stops_it(context):
    jvm = context.jvm("Known", "shares")
    session = Session(jvm, context.library, duration_s=2)
    region = session.stopped()
    assert session.reason == "deadline"
    balanced(region)
    session.close()
    wait_until_gone(jvm.pid)


@check
def killed_jvm_leaves_the_region(context):
    """After SIGKILL everything committed is readable; at most the signals in flight are missing."""
    jvm = context.jvm("Known", "threads")
    session = Session(jvm, context.library, interval_ms=2)
    session.run_until(50)
    jvm.kill()
    region = session.drain_last()
    counters = region.counters
    ended = sum(counters[name] for name in OUTCOMES)
    assert 0 <= counters["entered"] - ended <= 32, counters
    samples = len(session.recording.samples)
    assert ended > 20 and counters["stack"] + counters["error"] <= samples <= region.ring_head, (samples, counters)
    session.close()


def blocks_signal(pid):
    """True if every thread of the process does."""
    return all(mask >> (signal.SIGPROF - 1) & 1 for mask in blocked_signals(pid))


@check
def blocked_signals_are_counted(context):
    """Threads that block the signal (here all: a JVM inherits its parent's mask) are named, with their CPU time."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    try:
        jvm = context.jvm("Known", "shares")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if not blocks_signal(jvm.pid):
        print("  skipped: this JVM was not started with the mask")
        return
    session = Session(jvm, context.library, interval_ms=5)

    def blocked():
        return [thread for thread in session.region().threads().values() if thread["flags"] & SIGNAL_BLOCKED]

    session.run_while(lambda: not blocked())
    region = session.stop()
    cpu = sum(thread["cpu_disarm"] - thread["cpu_arm"] for thread in blocked())
    print(f"  {len(blocked())} threads with {cpu / 1e6:.0f} ms of CPU time")
    assert region.counters["entered"] == 0, region.counters
    assert blocked() and cpu > 15e6
    session.close()
    wait_until_gone(jvm.pid)
    assert jvm.process.poll() is None


@check
def foreign_handler_is_respected(context):
    """Whoever has SIGPROF keeps it."""
    jvm = context.jvm("Known", "shares")
    first = Session(jvm, context.library, signal_number=0)
    # While our own session runs the signal is ours; another one on another number may not start either.
    second = Session(jvm, context.library, signal_number=signal.SIGUSR1)
    assert second.failure and second.failure[0] == "busy"
    os.kill(jvm.pid, signal.SIGPROF)
    first.run_while(lambda: first.region().counters["foreign"] == 0)
    region = first.stop()
    balanced(region)
    assert region.counters["foreign"] == 1, region.counters
    first.close()
    second.close()
    # SIGTERM is handled by the JVM: asked for that number, the agent refuses and says by whom.
    taken = Session(jvm, context.library, signal_number=signal.SIGTERM)
    assert taken.failure and taken.failure[0] == "signal_taken" and "JVM" in taken.failure[2], taken.failure
    taken.close()
    wait_until_gone(jvm.pid)


if __name__ == "__main__":
    main()

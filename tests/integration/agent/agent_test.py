#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Known answers for libjprof.so in a real JVM, with this script as the sidecar.

Usage: agent_test.py --jdk PART --library libjprof.so --classes DIR [--seconds N] [TEST...]
PART is a name of scripts/parts; exits 77 (skip) where that part is not on this machine.
"""

import math
import os
import shutil
import signal
import subprocess
import tempfile
import time

import stack_checks  # noqa: F401 (its checks run, too)
from checks import SIGNAL_BLOCKED, balanced, check, main, sampled, wait_until_gone
from driver import Session, wait_for
from process import blocked_signals
from region import OUTCOMES


@check
def known_shares_and_weights(context):
    """K1: 75 % hot, 25 % warm within 2 points + 3 SE; K3: weights are CPU time within 2 %."""
    jvm = context.jvm("Known", "shares")
    session = Session(jvm, context.library)
    assert session.failure is None and session.load_result == 0, (session.failure, session.load_result)
    session.run_until(600)
    region = session.stop()
    assert (session.reason, session.in_flight) == ("asked", 0)
    balanced(region)
    leaves = session.recording.leaves()
    hot, warm = leaves["Known.hot"], leaves["Known.warm"]
    share = 100 * hot / (hot + warm)
    error = 100 * math.sqrt(0.75 * 0.25 / len(session.recording.samples))
    print(f"  hot {share:.2f} % of {len(session.recording.samples)} samples, SE {error:.2f}")
    assert abs(share - 75) <= 2 + 3 * error, leaves.most_common(5)
    weights = {}
    for sample, _ in session.recording.samples:
        weights[sample["thread"]] = weights.get(sample["thread"], 0) + sample["weight"]
    index, weight = max(weights.items(), key=lambda item: item[1])
    # The thread does nothing else; the JVM's other threads compile and collect as long as they like.
    assert hot + warm >= 0.97 * weight, (weight, leaves.most_common(5))
    thread = region.threads()[index]
    cpu = thread["cpu_disarm"] - thread["cpu_arm"]
    print(f"  weight {weight / 1e6:.0f} ms of {cpu / 1e6:.0f} ms CPU time in thread {thread['name']!r}")
    assert abs(weight - cpu) <= 0.02 * cpu + 10e6, (weight, cpu)
    assert region.counters["weight"] == sum(sample["weight"] for sample, _ in session.recording.samples)
    stack = next(stack for _, stack in session.recording.samples if stack[0][1] == "Known.hot")
    names = [text for _, text in stack]
    assert names.index("Known.hot") < names.index("Known.shares") < names.index("Known.main"), stack
    session.close()
    wait_until_gone(jvm.pid)


@check
def thread_split(context):
    """K4: four threads burning 1 : 2 : 3 : 4 are told apart, and each one's weight is its CPU time."""
    jvm = context.jvm("Known", "threads")
    session, region = sampled(context, jvm, 1000, interval_ms=5)
    weights = {}
    for sample, _ in session.recording.samples:
        weights[sample["thread"]] = weights.get(sample["thread"], 0) + sample["weight"]
    threads = region.threads()
    cpu = {index: threads[index]["cpu_disarm"] - threads[index]["cpu_arm"] for index in weights}
    total, total_cpu = sum(weights.values()), sum(cpu.values())
    burners = sorted((i for i in weights), key=lambda i: -cpu[i])[:4]
    for index in burners:
        got, truth = 100 * weights[index] / total, 100 * cpu[index] / total_cpu
        error = 100 * math.sqrt(truth / 100 * (1 - truth / 100) / len(session.recording.samples))
        print(f"  {threads[index]['name']}: {got:.1f} % of the weight, {truth:.1f} % of the CPU time")
        assert abs(got - truth) <= 2 + 3 * error
    session.close()


@check
def threads_that_begin_are_found_with_all_of_their_time(context):
    """Threads of 40 ms, one after the other, beside hundreds that wait and make each scan of them dear."""
    jvm = context.jvm("Births", "500", "40", options=("-Xss256k",))
    session = Session(jvm, context.library)

    def born():
        return {index: thread for index, thread in session.region().threads().items() if thread["cpu_arm"] == 0}

    def weights():
        sums = {}
        for sample, _ in session.recording.samples:
            sums[sample["thread"]] = sums.get(sample["thread"], 0) + sample["weight"]
        return sums

    session.run_while(lambda: len(set(weights()) & set(born())) < 10)
    region = session.stop()
    balanced(region)
    found, sums = born(), weights()
    sampled_ones = set(sums) & set(found)
    assert len(sampled_ones) >= 10, found
    for index in sampled_ones:  # from its first nanosecond, and never more than it has used
        assert 0 < sums[index] <= found[index]["cpu_disarm"], (sums[index], found[index])
    counters = region.counters
    process = counters["cpu_stop"] - counters["cpu_start"] - counters["agent_cpu_between"]
    known = sum(thread["cpu_disarm"] - thread["cpu_arm"] for thread in region.threads().values())
    print(f"  {len(found)} births found, {len(sampled_ones)} sampled; of {process / 1e6:.0f} ms {sum(sums.values()) / 1e6:.0f} in samples,"
          f" {known / 1e6:.0f} in threads that were found")  # fmt: skip
    # A thread lives 40 ms and more between two looks. Were none found there would be the JVM's own threads.
    assert known >= 0.6 * process, (known, process, region.counters)
    assert sum(sums.values()) >= 0.4 * process, (sums, process, region.counters)
    session.close()


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


@check
def costs_are_counted_and_limited(context):
    """Delivery costs more than a system call; a limit that cannot be kept takes the steps in order, and time stays right."""
    jvm = context.jvm("Known", "shares")
    session = Session(jvm, context.library, interval_ms=1, overhead=1)
    session.run_while(lambda: session.region().counters["detail_lost"] < 5)
    region = session.stop()
    balanced(region)
    counters = region.counters
    signals = counters["stack"] + counters["error"]
    print(f"  delivery {counters['delivery_ns']} ns, handler {counters['handler_ns'] / signals:.0f} ns,"
          f" {counters['detail_lost']} steps, interval {counters['interval_now'] / 1e6} ms, depth {region.max_depth}")  # fmt: skip
    assert 1000 < counters["delivery_ns"] < 1_000_000, counters
    assert 0 < counters["handler_ns"] < 1_000_000 * signals, counters
    assert counters["detail_lost"] >= 5, counters
    assert counters["interval_now"] == 1_000_000 * 2 ** min(4, counters["detail_lost"]), counters
    assert region.max_depth == {5: 256, 6: 64}.get(counters["detail_lost"], 64)
    weight = sum(sample["weight"] for sample, _ in session.recording.samples)
    used = [thread["cpu_disarm"] - thread["cpu_arm"] for thread in region.threads().values()]
    cpu = sum(used)
    print(f"  weight {weight / 1e6:.0f} ms of {cpu / 1e6:.0f} ms CPU time")
    # Of each thread the last interval has no signal yet, 16 ms and a tick of up to 10: the changes before lose nothing.
    assert abs(weight - cpu) <= 0.03 * cpu + sum(min(each, 26e6) for each in used), (weight, cpu)
    session.close()
    assert jvm.process.poll() is None


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


def rounds_per_second(jvm, seconds):
    """Of CPU time, as the program counts them."""

    def now():
        jvm.process.stdin.write(b"\n")
        jvm.process.stdin.flush()
        return [int(word) for word in jvm.process.stdout.readline().split()]

    before = now()
    time.sleep(seconds)
    after = now()
    return (after[0] - before[0]) / (after[1] - before[1])


@check
def a_sample_each_10_ms_costs_less_than_a_percent(context):
    """K31, by windows with and without us in turn. bench/overhead measures it finely, beside async-profiler."""
    jvm = context.jvm("Cost", "work", "1")
    ratios = []
    for _ in range(12):
        alone = rounds_per_second(jvm, 0.4)
        session = Session(jvm, context.library, interval_ms=10)
        session.run(0.2)  # the start is over
        ratios.append(rounds_per_second(jvm, 0.4) / alone)
        session.stop()
        session.close()
        wait_until_gone(jvm.pid)
    kept = sum(ratios) / len(ratios)
    error = math.sqrt(sum((ratio - kept) ** 2 for ratio in ratios) / (len(ratios) - 1) / len(ratios))
    print(f"  kept {kept:.4f}, SE {error:.4f}")
    assert kept >= 0.99 - 3 * error


if __name__ == "__main__":
    main()

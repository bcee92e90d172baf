#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Known shares, weights and costs of libjprof.so in a real JVM: what other work on the machine would distort.

Usage: shares_test.py --jdk PART --library libjprof.so --classes DIR [TEST...]
"""

import math
import time

from checks import balanced, check, main, sampled, wait_until_gone
from driver import Session


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


def halves(jvm):
    jvm.process.stdin.write(b"\n")
    jvm.process.stdin.flush()
    return [int(word) for word in jvm.process.stdout.readline().split()]


@check
def both_halves_of_a_burst_are_found(context):
    """Behind a pause, bursts of little more than a tick: timers find their ends too often, by how much is bounded."""
    tick = time.clock_getres(6)  # CLOCK_MONOTONIC_COARSE advances by it
    jvm = context.jvm("Bursts", "3", str(int(1.15 * tick * 1e6)))
    session = Session(jvm, context.library, interval_ms=2.5e3 * tick)
    session.run_until(150)  # its timers have settled
    first, before = len(session.recording.samples), halves(jvm)
    session.run_while(lambda: len(session.recording.samples) < first + 1500)
    after = halves(jvm)
    balanced(session.stop())
    weight, count = {"Bursts.early": 0, "Bursts.late": 0}, 0
    for sample, stack in session.recording.samples[first:]:
        method = next((text for _, text in stack if text in weight), None)
        if method:
            weight[method] += sample["weight"]
            count += 1
    truth = (after[1] - before[1]) / (after[0] - before[0])
    ratio, error = weight["Bursts.late"] / weight["Bursts.early"] / truth, 2 / math.sqrt(count)
    print(f"  late has {ratio:.3f} of what it should have beside early, SE {error:.3f}, of {count} samples")
    assert 0.9 - 3 * error < ratio < 1.15 + 3 * error, (weight, truth)
    session.close()


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

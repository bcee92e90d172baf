#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the stacks say that libjprof.so records in a real JVM, whatever the JVM does.

Usage: stacks_test.py --jdk PART --library libjprof.so --classes DIR [--seconds N] [TEST...]
"""

import collections
import math

from checks import balanced, check, main, poisson_bound, sampled
from driver import Session, wait_for
from virtual_stacks import judge


def stacks_of_main(session, workload):
    """The stacks of the thread in which the workload's methods are, whole or not."""
    samples = session.recording.samples
    threads = [sample["thread"] for sample, stack in samples if any(text.startswith(workload + ".") for _, text in stack)]
    main = max(set(threads), key=threads.count)
    return [stack for sample, stack in samples if sample["thread"] == main]


def one_of(jvm):
    """One stack of so many may fail."""
    with open(f"/proc/{jvm.pid}/maps") as maps:
        # Who called what musl calls by pointers cannot be known. The loader's file has another name than its path: libc.so.
        return 100 if "musl" in maps.read() else 1000


@check
def names_survive_class_churn(context):
    """K7 in seconds: classes come and go under the sampler; no crash and no wrong name."""
    jvm = context.jvm("Churn")
    session = Session(jvm, context.library, interval_ms=1)
    session.run(context.seconds)
    session.run_until(300)
    region = session.stop()
    balanced(region)
    # Generated classes are named Made<n>; their method work<n> calls nothing of another number.
    wrong, seen = [], set()
    for _, stack in session.recording.samples:
        for _, text in stack:
            if text.startswith("Made"):
                holder, method = text.split(".")
                seen.add(holder)
                if holder[4:] != method[4:]:
                    wrong.append(text)
    print(f"  {len(seen)} generated classes seen in {len(session.recording.samples)} samples")
    assert not wrong and len(seen) >= 10, (wrong[:5], len(seen))
    session.close()
    assert jvm.process.poll() is None


def made_callers(session):
    """The numbers of the generated classes whose methods have called Churn.burn, in the order of the samples, and how each was compiled."""
    for _, stack in session.recording.samples:
        for (_, callee), (kind, text) in zip(stack, stack[1:]):
            if callee == "Churn.burn" and text.startswith("Made"):
                yield int(text.split(".")[0][4:]), kind


@check
def compiled_callers_that_come_and_go_are_told_apart(context):
    """Their code and metadata lie where those of others were a moment ago: each stack is walked with the cache of frames and without."""
    options = "-Xbatch", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=5m", "-Xmx64m", "-XX:CompileCommand=quiet", \
        "-XX:CompileCommand=dontinline,Churn::burn"  # fmt: skip
    jvm = context.jvm("Churn", "callers", options=options)
    session = Session(jvm, context.library, interval_ms=1, check_cache=True)
    # Each 50 are collected together; then their code is given away.
    session.run_while(lambda: max((number for number, kind in made_callers(session) if kind != "interpreted"), default=0) < 500)
    region = session.stop()
    balanced(region)
    counters, made = region.counters, list(made_callers(session))
    # Up to JDK 17 they are inlined into what reflection generates for each of them.
    compiled = {number for number, kind in made if kind != "interpreted"}
    print(f"  {len(compiled)} compiled callers in {counters['cache_checks']} samples, {counters['cache_hits']} frames from the cache,"
          f" {counters['cache_misses']} not, {counters['cache_differences']} stacks differ")  # fmt: skip
    assert counters["cache_differences"] == 0 and counters["cache_checks"] >= len(session.recording.samples), counters
    assert len(compiled) >= 20 and counters["cache_hits"] > counters["cache_misses"], (len(compiled), counters)
    # They live one after the other.
    numbers = [number for number, _ in made]
    assert numbers == sorted(numbers), numbers
    session.close()


# Who calls what in tests/workloads/known/Mixed.java.
MIXED_CALLERS = {
    **{method: {"work"} for method in "exceptions expressions collections compression copies reflection locked shapes".split()},
    "area": {"shapes"},
    "fail": {"fail", "exceptions"},
    "fibonacci": {"fibonacci", "work"},
    "reflected": {"reflection"},
}


def never_was(stack):
    """True if a method of Mixed stands on one that does not call it."""
    methods = [text.split(".")[-1] for _, text in stack if text.startswith("Mixed")]
    return any(a in MIXED_CALLERS and b not in MIXED_CALLERS[a] for a, b in zip(methods, methods[1:] + [""]))


@check
def mixed_work_has_whole_stacks(context):
    """At most one stack in a thousand fails or is wrong, give or take chance: bench/accuracy/run measures it with enough samples."""
    jvm = context.jvm("Mixed")
    session, region = sampled(context, jvm, 500, interval_ms=1)
    hits, misses = region.counters["cache_hits"], region.counters["cache_misses"]
    print(f"  {hits} compiled callers from the cache, {misses} not")
    assert hits > misses, region.counters
    samples, failed = len(session.recording.samples), region.counters["error"]
    errors, whole = [], []
    for _, stack in session.recording.samples:
        (errors if any(kind == "error" for kind, _ in stack) else whole).append(stack)
    wrong = [stack for stack in whole if never_was(stack)]
    print(f"  {failed} of {samples} samples failed, {len(wrong)} stacks never were")
    assert len(wrong) <= poisson_bound(samples / 1000), wrong
    assert failed <= poisson_bound(samples / one_of(jvm)) and samples >= 100, errors
    session.close()


@check
def mathematics_has_whole_stacks(context):
    """Interpreted and compiled by either compiler: from each leaf that it calls the way leads to main."""
    for option in "-Xint", "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation":
        jvm = context.jvm("Mathematics", options=[option])
        session, _ = sampled(context, jvm, 400, interval_ms=1)
        stacks = [[text for _, text in stack] for stack in stacks_of_main(session, "Mathematics")]
        lost = [stack for stack in stacks if "Mathematics.main" not in stack]
        print(f"  {option}: {len(lost)} of {len(stacks)} stacks without main")
        assert len(lost) <= poisson_bound(len(stacks) / 1000) and len(stacks) > 300, lost[:5]
        session.close()
        jvm.kill()


@check
def intrinsics_have_whole_stacks(context):
    """Stub routines and what compiled code does in place of a method: from each the way leads to main, by what called it."""
    jvm = context.jvm("Intrinsics")
    session, _ = sampled(context, jvm, 800, interval_ms=1)
    stacks = stacks_of_main(session, "Intrinsics")
    own = [[text for _, text in stack if text.startswith("Intrinsics.")] for stack in stacks]
    lost = [stack for stack, names in zip(stacks, own)
            if names[-1:] != ["Intrinsics.main"] or len(names) > 2 or any(kind == "error" for kind, _ in stack)]  # fmt: skip
    print(f"  {len(lost)} of {len(stacks)} stacks are wrong or not whole")
    assert len(lost) <= poisson_bound(len(stacks) / one_of(jvm)) and len(stacks) > 100, lost[:5]
    assert len({name for names in own for name in names}) > 6, own[:5]
    session.close()


@check
def stubs_have_their_own_names(context):
    """Not those of the few pieces of code that hold them all; also where libjvm has no symbols."""
    jvm = context.jvm("Intrinsics")
    names = collections.Counter()
    while sum(names.values()) < 100:
        session, _ = sampled(context, jvm, 400, interval_ms=1)
        names.update(text for stack in stacks_of_main(session, "Intrinsics") for kind, text in stack if kind == "stub")
        session.close()
    print(f"  {dict(names)}")
    assert not any(name.startswith("StubRoutines") for name in names), names
    assert len([name for name in names if "arraycopy" in name or "_impl" in name or "crypt" in name]) > 2, names


@check
def dispatch_stubs_say_which_they_are(context):
    """Calls by a class and by an interface, each in a stub of its kind."""
    kinds = {"Dispatch.byClass": "vtable stub", "Dispatch.byInterface": "itable stub"}
    jvm = context.jvm("Dispatch")
    seen = collections.Counter()
    while any(sum(seen[caller, kind] for kind in (*kinds.values(), "vtable chunks")) < 20 for caller in kinds):
        session, _ = sampled(context, jvm, 400, interval_ms=1)
        for stack in stacks_of_main(session, "Dispatch"):
            callers = [text for _, text in stack if text in kinds]
            if callers and stack[0][0] == "stub":
                seen[callers[0], stack[0][1]] += 1
        session.close()
    print(f"  {dict(seen)}")
    assert not seen["Dispatch.byClass", "itable stub"] and not seen["Dispatch.byInterface", "vtable stub"], seen
    assert not any(stub == "vtable chunks" for _, stub in seen), seen


@check
def exceptions_have_whole_stacks(context):
    """Where the JVM looks for the handler, the method that it looks in is its caller, in whatever instruction it is."""
    apart = [f"-XX:CompileCommand=dontinline,Thrown.{method}" for method in ("fail", "pass", "guard", "work")]
    for option in "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation":
        jvm = context.jvm("Thrown", options=["-XX:CompileCommand=quiet", *apart, option])
        session, _ = sampled(context, jvm, 600, interval_ms=1)
        stacks = stacks_of_main(session, "Thrown")
        methods = [[text for _, text in stack if text.startswith("Thrown.")] for stack in stacks]
        way = ["Thrown.main", "Thrown.work", "Thrown.guard", "Thrown.pass", "Thrown.fail"]
        lost = [stack for stack, names in zip(stacks, methods) if not names or names[::-1] != way[: len(names)]]
        stubs = sum("ExceptionBlob" in text for stack in stacks for _, text in stack)
        print(f"  {option}: {len(lost)} of {len(stacks)} stacks are wrong or not whole; {stubs} in C2's exception stub")
        assert len(lost) <= poisson_bound(len(stacks) / 1000) and len(stacks) > 300, lost[:5]
        assert stubs > 20 or option != "-XX:-TieredCompilation", stubs
        session.close()
        jvm.kill()


@check
def virtual_threads_that_wait_have_whole_stacks(context):
    """At most one stack in a thousand is not whole, and each of these says so; with ZGC, whose references may be stale, one in a
    hundred. tests/full/frozen has the proof for each collector."""
    if context.feature() < 21:
        return
    for collector, most in ("-XX:+UseG1GC", 1 / 1000), ("-XX:+UseZGC", 1 / 100):
        jvm = context.jvm("Waits", options=[collector, "-Xmx256m"])
        session, region = sampled(context, jvm, 3000, interval_ms=1, engine="perf-clock")
        samples, faults, stacks = judge(session, region)
        print(f"  {collector}: {sum(faults.values())} of {samples} stacks are not whole: {dict(faults)}")
        silent = {fault: stack for fault, stack in stacks.items() if fault.startswith("silent")}
        assert sum(faults[fault] for fault in silent) <= poisson_bound(samples / 10000), silent
        assert samples > 1000 and sum(faults.values()) <= poisson_bound(samples * most), stacks
        session.close()
        jvm.kill()


@check
def nothing_is_left_behind_that_was_not_agreed_to(context):
    """Where JVMTI would turn on for good what makes virtual threads dearer, it is opened only if that was agreed to, or is so."""
    jvm = context.jvm("Known", "shares", "3600")
    leaves = 1 if context.feature() >= 21 else 0
    session, region = sampled(context, jvm, 1, leave_behind=False)
    assert region.counters["left_behind"] == 0
    session.close()
    if leaves:
        session = Session(jvm, context.library, walker="jvmti", leave_behind=False)
        assert session.failure and session.failure[0] == "leaves_behind", session.failure
        session.close()
    for agreed, left in (True, leaves), (False, 0):
        session, region = sampled(context, jvm, 1, walker="jvmti", leave_behind=agreed)
        assert region.counters["left_behind"] == left, (agreed, region.counters)
        session.close()


def is_old(region):
    """The share of the samples' time in code that was compiled before the session."""
    assert region.counters["inlining_detail"] == 2, region.counters
    return region.counters["old_code_ns"] / max(region.counters["weight"], 1)


@check
def inlined_loops_are_named(context):
    """What the JVM compiles while it is sampled names the methods that it has inlined, also where it polls in none of
    them; the flag of the JVM's that this takes is as before afterwards."""
    jvm = context.jvm("Known", "inlined", options=["-XX:+UnlockDiagnosticVMOptions", "-XX:+UseParallelGC"])
    for old in (1, 0.02):  # of the second session's code all was compiled in the first, with the flag
        assert "-XX:-DebugNonSafepoints" in jvm.attach("printflag", "DebugNonSafepoints")
        session = Session(jvm, context.library)
        wait_for(lambda: "-XX:+DebugNonSafepoints" in jvm.attach("printflag", "DebugNonSafepoints"))
        jvm.process.stdin.write(b"\n")
        jvm.process.stdin.flush()
        session.run_until(500)
        region = session.stop()
        balanced(region)
        print(f"  {is_old(region):.2%} in code compiled before")
        assert is_old(region) <= old, region.counters
        assert "-XX:-DebugNonSafepoints" in jvm.attach("printflag", "DebugNonSafepoints")
        stacks = [[text for _, text in stack] for _, stack in session.recording.samples]
        inside = [stack[0] for stack in stacks if "Known.inlined" in stack]
        hot, warm = inside.count("Known.hot"), inside.count("Known.warm")
        print(f"  {len(inside)} samples: hot {hot}, warm {warm}")
        assert hot + warm > 0.9 * len(inside) > 300, inside[:20]
        assert abs(hot / (hot + warm) - 0.75) < 0.05 + 3 * math.sqrt(0.75 * 0.25 / (hot + warm)), (hot, warm)
        session.close()


@check
def code_that_was_compiled_before_is_counted(context):
    """What was hot and compiled when the capture began names inlined methods by their callers: its share of the time is told. There is
    none where the JVM began with the option."""
    option = "-XX:+UnlockDiagnosticVMOptions"
    jvm = context.jvm("Known", "shares", "3600", options=[option])
    for _ in range(20):  # until the last compilation that the warming up has asked for is done
        session = Session(jvm, context.library)
        session.run_until(30)
        old = is_old(session.stop())
        session.close()
        if old > 0.95:
            break
    print(f"  {old:.1%} in code compiled before")
    assert old > 0.95
    session = Session(jvm, context.library, walker="asgct", leave_behind=True)
    session.run_until(10)
    assert session.stop().counters["inlining_detail"] == 0  # not known, which is not none
    session.close()
    jvm.kill()
    jvm = context.jvm("Known", "shares", "3600", options=[option, "-XX:+DebugNonSafepoints"])
    session, region = sampled(context, jvm, 30)
    assert region.counters["inlining_detail"] == 1, region.counters
    assert "-XX:+DebugNonSafepoints" in jvm.attach("printflag", "DebugNonSafepoints")
    session.close()
    jvm.kill()
    jvm = context.jvm("Known", "shares", "3600", options=["-Xint"])
    session, region = sampled(context, jvm, 30)
    assert is_old(region) == 0 and region.counters["faults"] < 256, region.counters  # looks only where something is
    session.close()


@check
def deep_stacks_are_marked(context):
    jvm = context.jvm("Known", "deep")
    session, region = sampled(context, jvm, 20, depth=256)
    assert region.counters["truncated"] > 0 and max(len(s) for _, s in session.recording.samples) == 256
    session.close()
    session, _ = sampled(context, jvm, 20)
    deepest = max((stack for _, stack in session.recording.samples), key=len)
    assert len([1 for _, text in deepest if text == "Known.recurse"]) == 1001, len(deepest)
    session.close()


@check
def flips_generations_when_small(context):
    """A region of 512 KiB holds what a big one does, by flipping; a reader that is late costs single stacks, counted."""
    jvm = context.jvm("Known", "spread")
    session = Session(jvm, context.library, interval_ms=1, region_bytes=512 * 1024)
    # Drained often, since a crowded machine lets readers wait: what comes too late costs stacks, and each is counted.
    session.run_while(lambda: len(session.recording.samples) < 300 or session.region().counters["flips"] < 2, step_s=0.02)
    region = session.stop()
    balanced(region)
    depths = {sum(text == "Known.recurse" for _, text in stack) for _, stack in session.recording.samples}
    print(f"  {region.counters['flips']} flips, {len(depths)} depths, {region.counters['truncated']} stacks cut")
    assert region.ring_head == len(session.recording.samples)
    assert region.counters["flips"] >= 2 and len(depths) > 50, region.counters
    assert region.counters["stack_full"] * 2 <= region.counters["entered"], region.counters
    session.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof record` against a real JVM: known shares, equal totals in every format, and each way to end.

Usage: record_test.py --jdk PART --jprof PROGRAM --library libjprof.so --classes DIR [CHECK...]
PART is a name of scripts/parts; exits 77 (skip) where that part is not on this machine.
"""

import glob
import json
import math
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import frozen_stacks
import limits_of_ours
import several_outputs
from rig import check, folded_total, is_armed, main, page_data, wait_until_sampled


@check
def known_shares_and_equal_totals(context):
    """75/25 in one thread; the same totals in the recording and what is derived from it."""
    jvm = context.jvm("Known", "shares", "300")
    outputs = ["-o", "a.jprof", "-o", "a.collapsed", "-o", "a.html"]
    code, result = context.record_for(jvm.pid, 4, *outputs)

    assert code == 0, result
    assert result["accounted"], result
    assert not result["partial"], result
    stays = [note for note in result["notes"] if "the agent's file remains at /" in note]
    assert len(stays) == (1 if "musl" in context.arguments.jdk else 0), result  # what is left is told
    assert not [note for note in result["notes"] if "not the one in memory" in note], result  # nothing was replaced
    samples = result["samples"]
    assert samples > 200, result
    weights = {method["name"]: method["weightNs"] for method in result["hottest"]}
    both = weights["Known.hot"] + weights["Known.warm"]
    share = 100 * weights["Known.hot"] / both
    error = 3 * 100 * math.sqrt(0.75 * 0.25 / samples)
    assert abs(share - 75) <= 2 + error, (share, error, result)
    assert both > 0.7 * result["weightNs"], result  # beside it the JVM compiles
    assert folded_total(context.read("a.collapsed")) == result["weightNs"]
    assert b"Known.main;Known.shares;Known.hot " in context.read("a.collapsed")
    assert len(context.read("a.html")) > 10_000
    context.convert("a.jprof", "b.collapsed")
    assert context.read("b.collapsed") == context.read("a.collapsed")


@check
def weight_is_the_time_of_the_process(context):
    jvm = context.jvm("Known", "threads", "300")
    outputs = ["-o", "t.jprof", "-o", "t.json", "-o", "t.html"]
    code, result = context.record(jvm.pid, "-d", "4s", *outputs)

    assert code == 0, result
    accounts_for_all_of_the_time(result)
    # Rests are time, and no samples.
    tree = json.loads(context.read("t.json"))
    assert result["rests"] > 0 and tree["samples"] == result["samples"] == samples_in(tree["tree"]), (result, tree["samples"])
    assert tree["tree"]["total"] == result["weightNs"], result
    assert f'["samples","{result["samples"]}"]'.encode() in page_data(context.read("t.html")), result


def samples_in(node):
    return node["samples"] + sum(samples_in(child) for child in node["children"])


def accounts_for_all_of_the_time(result):
    """Weights are what the process has used, but for the agent's thread: within 2 %, and the clocks' own steps."""
    coverage = result["coverage"]
    cpu = coverage["processNs"] - coverage["agentNs"]
    rests = sum(coverage[part] for part in ["afterLastSampleNs", "notSampledNs", "endedUnseenNs"])
    assert result["weightNs"] == coverage["samplesNs"] + rests, result
    assert abs(result["weightNs"] - cpu) <= 0.02 * cpu + 5e6, (result["weightNs"], cpu, result)


@check
def code_compiled_before_the_capture_is_told(context):
    """With its share and the cure, in the summary and in the page; there is none where the JVM began with the option."""
    option = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
    jvm = context.jvm("Known", "shares", "300")
    for _ in range(10):  # until what the warming up has asked for is compiled
        code, result = context.record_for(jvm.pid, 0.5, "-o", "o.html")
        assert code == 0, result
        if result["oldCodeNs"] > 0.95 * result["coverage"]["samplesNs"]:
            break
    assert 0.95 * result["coverage"]["samplesNs"] < result["oldCodeNs"] <= result["coverage"]["samplesNs"], result
    said = b"of the samples' time is in code compiled before the capture"
    assert said in page_data(context.read("o.html")), page_data(context.read("o.html"))[:2000]
    assert context.doctor(jvm.pid)["inlining"]["detail"].startswith("DebugNonSafepoints is off")
    jvm = context.jvm(*option, "Known", "shares", "300")
    code, result = context.record_for(jvm.pid, 0.5, "-o", "p.html")
    assert code == 0 and result["oldCodeNs"] == 0, result
    assert said not in page_data(context.read("p.html"))
    assert context.doctor(jvm.pid)["inlining"]["detail"].startswith("DebugNonSafepoints is on")


def weight_of(folded, frame):
    return sum(int(line.rsplit(b" ", 1)[1]) for line in folded.splitlines() if frame in line)


@check
def a_thousand_threads_of_three_milliseconds_are_accounted_for(context):
    """Shorter than the interval: most have no sample, and no time of theirs may be missing or counted twice."""
    jvm = context.jvm("Births", "0", "3")
    outputs = ["s.jprof", "s.collapsed"]
    code, result = context.record_for(jvm.pid, 3.5, *[word for name in outputs for word in ("-o", name)])

    assert code == 0 and result["accounted"], result
    assert result["threads"] > 100, result  # those that were found; a crowded machine runs many between two looks
    accounts_for_all_of_the_time(result)
    folded = context.read("s.collapsed")
    assert folded_total(folded) == result["weightNs"]
    coverage = result["coverage"]
    for frame, part in [(b"[after last sample]", "afterLastSampleNs"), (b"[not sampled]", "notSampledNs"),
                        (b"[ended unseen]", "endedUnseenNs")]:  # fmt: skip
        assert weight_of(folded, frame) == coverage[part], (frame, coverage)
    assert coverage["notSampledNs"] > 0 and coverage["afterLastSampleNs"] > 0, result


@check
def busy_threads_beside_thousands_that_wait_are_found(context):
    """With the region that record itself chooses. Time of threads that nobody finds is a rest, and the sums would agree."""
    for idle in ("1000", "3000"):
        jvm = context.jvm("Births", idle, "1000")
        code, result = context.record_for(jvm.pid, 3, "--max-overhead", "0", "-o", "b.jprof")
        context.kill_jvms()

        assert code == 0 and result["accounted"], result
        coverage = result["coverage"]
        cpu = coverage["processNs"] - coverage["agentNs"]
        print(f"  {idle}: samples {coverage['samplesNs'] / cpu:.3f}, ended unseen {coverage['endedUnseenNs'] / cpu:.4f}")
        assert coverage["complete"] and not result["losses"], result
        assert result["threads"] > int(idle), result
        # Of each thread's second an interval or a tick at its end is in no sample: 1 to 2 %. Of a thread not found it is all.
        assert coverage["samplesNs"] >= 0.93 * cpu, result
        assert coverage["endedUnseenNs"] <= 0.03 * cpu, result


@check
def a_jvm_in_a_time_namespace_is_not_called_damaged(context):
    """Its CLOCK_MONOTONIC is days ahead of ours."""
    ahead = [shutil.which("unshare"), "--time", "--fork", "--kill-child", "--monotonic", "1000000", "--boottime", "1000000"]
    if not ahead[0] or subprocess.run([*ahead, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("  not tested: this machine lets us make no time namespace")
        return
    jvm = context.jvm("Known", "shares", "300", under=ahead)
    with open(f"/proc/{jvm.pid}/task/{jvm.pid}/children") as children:
        pid = int(children.read().split()[0])
    code, result = context.record_for(pid, 2, "-o", "t.jprof")

    assert code == 0 and result["accounted"] and result["samples"] > 50, result
    assert not any("are invalid" in note for note in result["notes"]), result


@check
def time_that_nobody_sampled_is_said(context):
    """Threads too short to be sampled, a thousand a second: their time is in the profile, and said to be unknown."""
    jvm = context.jvm("Births", "0", "1")
    code, result = context.record_for(jvm.pid, 2, "-o", "u.jprof", "-o", "u.html")

    assert code == 0 and result["accounted"], result
    coverage = result["coverage"]
    assert not coverage["complete"], result
    accounts_for_all_of_the_time(result)
    # A look for births finds those that live just then, a dozenth of them where the agent's thread gets its turn late.
    print(f"  {result['threads']} threads found, {coverage['notSampledNs'] / coverage['processNs']:.3f} of the time in those without a sample")
    assert result["threads"] > 80, result
    assert coverage["notSampledNs"] >= 0.02 * coverage["processNs"], result
    assert any("% of the CPU time that the JVM used" in warning for warning in result["warnings"]), result
    context.convert("u.jprof", "w.html")
    for page in (page_data(context.read(name)) for name in ("u.html", "w.html")):
        assert b'"warnings":["' in page, result
        row = re.search(rb'\["CPU time","([0-9.]+ m?s) used by the JVM: ([^"]*)"\]', page)
        assert row and b" in samples (" in row[2] and b" in threads that ended unseen, " in row[2], row


@check
def intervals_below_the_tick_are_kept_or_the_real_ones_told(context):
    jvm = context.jvm("Known", "shares", "300")
    code, result = context.record_for(jvm.pid, 2, "-i", "1ms", "--max-overhead", "0", "-o", "i.jprof")

    assert code == 0 and result["accounted"], result
    if result["engine"] == "perf-clock":
        assert 900_000 <= result["intervalGotNs"] <= 1_500_000, result
        assert result["tickNs"] == 0, result
    else:
        assert any("perf's clock" in note for note in result["notes"]), result
        assert result["tickNs"] > 0, result
    assert not is_armed(jvm.pid), "a timer or an event is left"
    # The same with timers, which the tick holds back.
    code, result = context.record_for(jvm.pid, 1, "-i", "1ms", "--engine", "cpu-timer", "-o", "t.jprof")
    assert code == 0 and result["engine"] == "cpu-timer" and result["tickNs"] > 0, result


@check
def lines_and_threads_are_told_where_they_are_asked_for(context):
    jvm = context.jvm("Known", "shares", "300")
    code, result = context.record_for(jvm.pid, 2, "--threads", "-o", "l.jprof", "-o", "t.collapsed")
    context.convert("l.jprof", "l.collapsed")
    context.convert("l.jprof", "m.collapsed", "--lines")
    context.convert("l.jprof", "p.collapsed", "--threads=pool")
    for name in ("t.collapsed", "p.collapsed"):
        assert folded_total(context.read(name)) == result["weightNs"], name
        assert weight_of(context.read(name), b"[main];") > 0.5 * result["weightNs"], context.read(name)

    assert code == 0, result
    with open(os.path.join(os.path.dirname(__file__), "../../workloads/known/Known.java")) as source:
        lines = source.read().splitlines()
    plain = context.read("l.collapsed").decode()
    told = context.read("m.collapsed").decode()
    assert "Known.hot:" not in plain and folded_total(plain.encode()) == folded_total(told.encode())
    for method in ["hot", "warm", "shares", "main"]:
        begin = next(i for i, line in enumerate(lines, 1) if f" {method}(" in line and line.rstrip().endswith("{"))
        end = next(i for i, line in enumerate(lines, 1) if i > begin and line == "  }")
        found = {int(line) for line in re.findall(rf"Known\.{method}:(\d+)", told)}
        assert all(begin <= line <= end for line in found), (method, begin, end, found)
        # Of a loop without a safepoint poll compiled code keeps no bytecode (JDK 8).
        assert found or method in ("hot", "warm"), (method, told)


@check
def a_library_without_a_file_has_names(context):
    library = context.path("libgone.so")
    shutil.copy(os.path.join(context.arguments.classes, "libspin.so"), library)
    jvm = context.jvm("Native", library)
    os.unlink(library)
    code, result = context.record_for(jvm.pid, 2, "-o", "n.collapsed")

    assert code == 0, result
    assert result["hottest"][0]["name"] == "jprof_test_spin", result
    assert any("from the JVM's memory" in note for note in result["notes"]), result
    # Its other function is exported to nobody: all addresses of it are put together.
    assert len(set(re.findall(rb"libgone[.]so[+]0x[0-9a-f]+", context.read("n.collapsed")))) == 1


@check
def virtual_threads_are_told_from_their_carriers(context):
    if int(re.search(r"\d+", context.arguments.jdk).group()) < 21:
        return
    jvm = context.jvm("Virtual")
    code, result = context.record_for(jvm.pid, 2, "-o", "v.jprof")
    context.convert("v.jprof", "v.html")
    context.convert("v.jprof", "v.collapsed")
    stacks = [line for line in context.read("v.collapsed").splitlines() if b"Virtual.work" in line]
    lost = [line for line in stacks if frozen_stacks.CARRIER.encode() not in line]

    assert stacks and not lost, lost[:3]  # through what the carrier has called, however its frames were thawed
    assert code == 0, result
    assert result["hottest"][0]["name"].startswith("Virtual."), result
    assert b"(virtual threads)" in page_data(context.read("v.html")), result


@check
def frames_that_wait_in_the_heap_are_found(context):
    if int(re.search(r"\d+", context.arguments.jdk).group()) < 21:
        return
    jvm = context.jvm(*frozen_stacks.JVM_OPTIONS, "Frozen")
    code, result = context.record_for(jvm.pid, 4, "-o", "f.jprof")
    context.convert("f.jprof", "f.collapsed")

    assert code == 0, result
    # Missing are those of the time until the agent has learned where they are, and while the collector moves them.
    whole, missing, wrong = frozen_stacks.judge(context.read("f.collapsed").decode())
    assert not wrong, wrong[:3]
    assert missing <= 0.05 * (whole + missing), (whole, missing, result)


@check
def ctrl_c_keeps_what_there_is(context):
    jvm = context.jvm("Known", "shares", "300")
    code, result = context.record_for(jvm.pid, 0.5, "-o", "c.collapsed")

    assert code == 0, result
    assert result["interrupted"] and not result["partial"], result
    assert result["samples"] > 0 and result["accounted"], result
    assert folded_total(context.read("c.collapsed")) == result["weightNs"]
    # The JVM is free for the next capture at once.
    code, result = context.record(jvm.pid, "-d", "3s", "-o", "d.jprof")
    assert code == 0, result


@check
def a_killed_jvm_leaves_its_profile(context):
    jvm = context.jvm("Known", "shares", "300")
    process = context.start(jvm.pid, "--json", "-d", "100s", "-o", "k.collapsed", "-o", "k.jprof")
    wait_until_sampled(jvm.pid)
    jvm.kill()
    code, result = context.finish(process)

    assert code == 6, result
    assert result["partial"] and result["reason"] == "PartialCapture", result
    assert "JVM ended" in result["partialReason"], result
    assert result["samples"] > 0 and result["accounted"], result
    # Not what the agent saw last, up to half a second before: the kernel still knew it (nobody has waited for it), or it was less.
    assert result["coverage"]["missingNs"] >= 0, result
    assert folded_total(context.read("k.collapsed")) == result["weightNs"]


@check
def a_jvm_killed_at_any_moment_is_named_with_a_cure(context):
    """However far the capture has come, from the first look at the process to the first samples."""
    seed = random.randrange(1 << 32)
    print(f"  seed {seed}", flush=True)
    dice = random.Random(seed)
    for reaped in [True, False] * 4:
        jvm = context.jvm("Known", "shares", "300")
        process = context.start(jvm.pid, "-d", "2s", "-o", "never.collapsed")
        time.sleep(dice.uniform(0.02, 0.6))
        jvm.kill()
        if reaped:
            jvm.wait()
        out, errors = (stream.decode() for stream in process.communicate(timeout=120))
        if process.returncode == 3:
            assert f"process {jvm.pid} has ended" in errors or f"no process {jvm.pid}" in errors, errors
            assert len(errors.splitlines()) > 1, errors  # the cure
        else:
            assert process.returncode == 6 and "JVM ended" in out, (process.returncode, out, errors)


@check
def a_success_that_nobody_could_read_is_none(context):
    """Standard output that is full, closed, or a pipe without a reader: exit 7, said on standard error."""
    jvm = context.jvm("Known", "shares", "300")
    pid, out = str(jvm.pid), context.path("o.jprof")
    commands = [["list"], ["list", "--json"], ["list", "-o", "yaml"], ["doctor", "--json", pid], ["attach", pid, "threaddump"],
                ["attach", "--json", pid, "jcmd", "VM.version"], ["--help"], ["attach", "--help"],
                ["record", pid, "--agent", context.arguments.library, "-d", "200ms", "--json", "-o", out]]  # fmt: skip

    def run(command, stdout, **more):
        return subprocess.run([context.arguments.jprof, *command], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, **more)

    for command in commands:
        reader, pipe = os.pipe()
        os.close(reader)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = [run(command, full), run(command, pipe), run(command, None, preexec_fn=lambda: os.close(1))]
        os.close(pipe)
        for one in done:
            assert one.returncode == 7 and "cannot write standard output" in one.stderr, (command, one)
        assert run(command, subprocess.PIPE).returncode == 0, command
    # What is printed does not go into a file that got the number of a closed descriptor.
    context.convert("o.jprof", "o.collapsed")


@check
def a_request_that_the_jvm_has_not_read_is_withdrawn(context):
    """Another client keeps the JVM's attach listener: Ctrl-C is heard, and what gets the copy's name afterwards is never loaded."""
    jvm = context.jvm("Idle")

    def attach(*command):
        subprocess.run([context.arguments.jprof, "attach", str(jvm.pid), *command], check=True, stdout=subprocess.DEVNULL)

    attach("threaddump")  # now it has its socket
    before = set(glob.glob("/tmp/.jprof-*"))
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(f"/tmp/.java_pid{jvm.pid}")
        silent.send(b"1\0")
        recorder = context.start(jvm.pid, "--json", "-d", "1s", "-o", "x.jprof")
        while recorder.poll() is None and not (copies := set(glob.glob("/tmp/.jprof-*.so")) - before):
            time.sleep(0.01)
        recorder.send_signal(signal.SIGINT)
        code, result = context.finish(recorder)
        assert (code, result["reason"]) == (130, "Interrupted"), (code, result)
        (copy,) = copies
        assert not os.path.exists(copy), result
        shutil.copyfile(context.arguments.library, copy)
    attach("threaddump")  # after all that waited
    with open(f"/proc/{jvm.pid}/maps", encoding="utf-8") as maps:
        assert os.path.basename(copy) not in maps.read()
    os.remove(copy)


@check
def a_second_capture_is_told_to_wait(context):
    jvm = context.jvm("Known", "shares", "300")
    first = context.start(jvm.pid, "--json", "-d", "100s", "-o", "1.jprof")
    wait_until_sampled(jvm.pid)
    code, result = context.record(jvm.pid, "-d", "1s", "-o", "2.jprof")
    first.send_signal(signal.SIGINT)
    first_code, _ = context.finish(first)

    assert code == 9, result
    assert result["reason"] == "Busy" and result["cure"], result
    assert first_code == 0
    assert not os.path.exists(context.path("2.jprof"))


@check
def failures_name_cause_and_exit_code(context):
    jvm = context.jvm("Idle")
    for expected, options in [
        (2, ["-d", "10", "-o", "x.html"]),
        (2, ["-d", "1s", "-o", "x.docx"]),
        (2, ["-d", "1s", "-o", "html"]),
        (2, ["-d", "1s", "-e", "lunch", "-o", "x.html"]),
    ]:
        code, result = context.record(jvm.pid, *options)
        assert code == expected and result["message"], (options, result)
    code, result = context.record(os.getpid(), "-d", "1s", "-o", "x.html")
    assert code == 3 and result["reason"] == "NotAJvm", result
    # Before a second is spent on it, whichever of the files it is.
    for outputs in (["missing/x.html"], ["y.jprof", "missing/x.html"]):
        begun = context.start(jvm.pid, "--json", "-d", "100s", *[word for output in outputs for word in ("-o", output)])
        code, result = context.finish(begun)
        assert code == 2 and result["message"] == "there is no folder missing", result
        assert not os.path.exists(context.path("y.jprof"))


@check
def a_killed_recorder_is_told_of_by_the_next_one(context):
    """What it had is named with the command that reads it; that of one which still records is not."""
    jvm, other = context.jvm("Known", "shares", "300"), context.jvm("Known", "shares", "300")
    killed = context.start(jvm.pid, "-d", "100s", "-i", "1ms", "--max-overhead", "0", "-o", "killed.html")
    end = time.monotonic() + 100
    while not any(os.path.getsize(file) > 4096 for file in glob.glob(context.path(".jprof-*/profile.jprof"))):
        assert time.monotonic() < end and killed.poll() is None, "no recording was begun"
        time.sleep(0.05)
    kept = glob.glob(context.path(".jprof-*/profile.jprof"))[0]

    def errors_of_another():
        done = context.start(other.pid, "-d", "200ms", "-o", "next.jprof")
        return done.communicate(timeout=120)[1].decode()

    assert "killed" not in errors_of_another()
    killed.kill()
    killed.communicate()
    errors = errors_of_another()
    command = re.search(r"jprof convert (\S+/profile\.jprof) -o FILE", errors)
    assert command and os.path.samefile(context.path(command[1]), kept), errors
    convert = [context.arguments.jprof, "convert", command[1], "-o", "kept.collapsed"]
    assert subprocess.run(convert, cwd=context.directory, capture_output=True, check=False).returncode in (0, 6)
    assert folded_total(context.read("kept.collapsed")) > 0
    shutil.rmtree(os.path.dirname(kept))


@check
def what_is_not_sampled_as_asked_is_said(context):
    """Threads in a sandbox of their own, and another signal than SIGPROF."""
    jvm = context.jvm("Native", os.path.join(context.arguments.classes, "libsandboxed.so"))
    code, result = context.record_for(jvm.pid, 2, "-o", "x.jprof")
    assert code == 0, result
    assert any("seccomp filters of their own" in note and "CPU time" in note for note in result["notes"]), result
    assert not any("SIGPROF" in note for note in result["notes"]), result

    profiler = subprocess.run(["scripts/parts", "--where", "async-profiler"], capture_output=True, text=True, check=True)
    agent = f"-agentpath:{profiler.stdout.strip()}/lib/libasyncProfiler.so=start,event=ctimer,log=/dev/null"
    jvm = context.jvm(agent, "Known", "shares", "300")
    code, result = context.record_for(jvm.pid, 2, "-o", "y.jprof")
    assert code == 0, result
    assert any("uses SIGPROF, so jprof used signal 64" in note for note in result["notes"]), result


@check
def a_jvm_without_descriptors_is_left_alone(context):
    """An attach that it cannot accept would be its last one (HotSpot): refused before, and it works once there is room."""
    jvm = context.jvm("Neighbours", "files", "3", open_files=512)
    code, result = context.record(jvm.pid, "-d", "1s", "-o", "x.html")
    assert (code, result["reason"]) == (5, "AttachFailed"), result
    assert "512 file descriptors" in result["message"] and "open files" in result["cure"], result
    jvm.stdin.write(b"\n")
    jvm.stdin.flush()
    assert jvm.stdout.readline().strip() == b"closed"
    code, result = context.record(jvm.pid, "-d", "1s", "-o", "x.html")
    assert code == 0, result


if __name__ == "__main__":
    assert limits_of_ours.CHECKS and several_outputs.CHECKS  # with those checks
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof serve` and `record` beside a JVM that means harm: each capture ends in one of its ways, takes no more than its share, and serve goes on.

usage: hostile_test.py PROGRAM HOSTILE_JVM [unittest arguments]
"""
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import JPROF, SECOND, ServeRig, Target, new_id, wait_until  # noqa: E402
from session_client import Refused  # noqa: E402

HOSTILE = os.path.abspath(sys.argv[2])
REASONS = {"AgentFailed", "AttachFailed", "Busy", "InvalidData", "JvmUnsupported", "LimitReached", "PartialCapture", "ProtocolError",
           "TargetGone", "Timeout"}
ATTACKS = ("random_bytes", "insane_header", "strange_samples", "ever_new", "strange_modules", "strange_names", "strange_messages", "flood",
           "refuse", "vanish", "deaf", "overlap")
MIB = 1 << 20
# Not read by ourselves: a child's peak of memory begins with what its parent had.
SANITIZED = subprocess.run(["grep", "-qe", "__asan_init", "-e", "__tsan_init", JPROF], check=False).returncode == 0


def libjvm():
    home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("java"))))
    return next(os.path.join(at, "libjvm.so") for at, _, names in os.walk(home) if "libjvm.so" in names)


class HostileJvm(Target):
    def __init__(self, *attack):
        self.seed = random.randrange(1 << 30)
        super().__init__([HOSTILE, libjvm(), str(self.seed), *attack])

    def close(self):
        super().close()
        for path in ["/tmp/.java_pid%d" % self.pid, *glob.glob("/tmp/hostile_jvm-%d-*" % self.pid)]:
            pathlib.Path(path).unlink(missing_ok=True)  # other tests sweep up sockets of dead JVMs too


class HostileTest(ServeRig):
    @classmethod
    def setUpClass(cls):
        cls.jvm = HostileJvm()
        cls.addClassCleanup(cls.jvm.close)

    def test_whatever_the_jvm_writes_serve_goes_on(self):
        self.start("limits: {capturesPerHour: 1000}\n")
        outcomes = {}
        for number in range(25):
            body = {"type": "record", "id": new_id(), "requester": "ann", "pid": self.jvm.pid, "durationNs": SECOND // 20,
                    "formats": ["html", "collapsed", "jprof"]}
            try:
                result, files = self.ask(body)
                outcome = result["exitCode"]
                self.assertIn(outcome, (0, 6), result)
                self.assertTrue(outcome == 6 or files)
            except Refused as refused:
                outcome = refused.body["reason"]
                self.assertIn(outcome, REASONS, (self.jvm.seed, number, refused.body))
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            self.assertIsNone(self.serve.poll(), (self.jvm.seed, number))
            self.assertIsNone(self.jvm.process.poll(), (self.jvm.seed, number))
        print("seed %d: %s" % (self.jvm.seed, outcomes), file=sys.stderr)
        self.counts()


class Finished:
    """How a program of ours ended, and what it took: by its own CPU clock, which a crowded machine does not move."""

    def __init__(self, process, text):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024
        text.seek(0)
        self.text = text.read()


def cpu_of(pid):
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class AloneTest(ServeRig):
    """`jprof record` beside one attack at a time."""

    # It grows with the samples that the attacker manages to write, some 100 bytes each: 200 MiB were seen, 3.2 GB before samples
    # were bounded. A longer capture meets RLIMIT_DATA.
    MAX_MEMORY = 384 * MIB

    @classmethod
    def setUpClass(cls):
        """Each test has a JVM of its own."""

    def attacked_by(self, attack):
        jvm = HostileJvm(attack)
        self.addCleanup(jvm.close)
        return jvm

    def start_record(self, jvm, duration, output):
        text = open(self.folder / (output + ".text"), "w+")
        self.addCleanup(text.close)
        process = subprocess.Popen([JPROF, "record", str(jvm.pid), "--duration", duration, "--json", "-o", str(self.folder / output)],
                                   env=self.env, stdout=text, stderr=text)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, text

    def assert_modest(self, finished, cpu, what):
        if not SANITIZED:
            self.assertLess(finished.cpu, cpu, what)
            self.assertLess(finished.peak, self.MAX_MEMORY, what)

    def test_no_attack_costs_more_than_its_share(self):
        for attack in ATTACKS:
            with self.subTest(attack=attack):
                jvm = self.attacked_by(attack)
                finished = Finished(*self.start_record(jvm, "500ms", attack + ".jprof"))
                print("%-16s exit %d, %.2f s of CPU, %d MiB" % (attack, finished.code, finished.cpu, finished.peak // MIB), file=sys.stderr)
                self.assertIn(finished.code, (0, 3, 5, 6, 8, 9), finished.text)
                self.assert_modest(finished, 16, (attack, jvm.seed, finished.text))
                self.assertIsNone(jvm.process.poll())
                jvm.process.kill()

    def test_stacks_that_overlap_are_paid_for_once(self):
        """8,192 slots that refer to stacks nearly 60,000 deep, or as deep as was asked, all of them of the same bytes."""
        jvm = self.attacked_by("overlap")
        finished = Finished(*self.start_record(jvm, "3s", "a.jprof"))
        self.assertEqual(finished.code, 6, finished.text)
        self.assert_modest(finished, 20, finished.text)  # 51 s once, and 3.2 GB
        told = json.loads(finished.text)
        self.assertIn("stacks", json.dumps(told))
        self.assertTrue(told["partial"], told)
        for ending in ("collapsed", "html"):
            made = open(self.folder / "converted", "w+")
            self.addCleanup(made.close)
            convert = Finished(subprocess.Popen([JPROF, "convert", str(self.folder / "a.jprof"), "-o", str(self.folder / ("a." + ending))],
                                                stdout=made, stderr=made), made)
            self.assertIn(convert.code, (0, 6), convert.text)
            self.assert_modest(convert, 20, convert.text)
            self.assertTrue((self.folder / ("a." + ending)).exists())

    def test_ctrl_c_is_heard_in_the_middle_of_an_attack(self):
        jvm = self.attacked_by("overlap")
        process, text = self.start_record(jvm, "600s", "a.jprof")
        recording = wait_until(lambda: list(self.folder.glob(".jprof-*/profile.jprof")), what="a recording")[0]
        opening = wait_until(lambda: recording.stat().st_size, what="the opening")
        wait_until(lambda: recording.stat().st_size > opening, what="samples in the file")
        before = cpu_of(process.pid)
        process.send_signal(signal.SIGINT)
        finished = Finished(process, text)
        self.assertIn(finished.code, (0, 6), finished.text)
        if not SANITIZED:
            self.assertLess(finished.cpu - before, 10, finished.text)  # it was deaf for 38 s; it now waits 5 s for the agent's answer

    def test_serve_does_not_call_an_attack_a_bug(self):
        jvm = self.attacked_by("overlap")
        self.start()
        self.jvm = jvm
        body = {**self.record(3), "formats": ["html", "jprof"]}
        try:
            result, files = self.ask(body)
            self.assertEqual(result["reason"], "PartialCapture", result)
            self.assertTrue(files["profile.jprof"])
        except Refused as refused:
            self.fail(refused.body)
        self.assertEqual(self.counts()["accepted"], 1)


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

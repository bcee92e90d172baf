#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever reads what a target wrote has shut itself in before (docs/design/readers.md): each reader is looked at while it waits.

usage: readers_test.py PROGRAM CLASSES [unittest arguments]
"""
import ctypes
import fcntl
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import CLASSES, JPROF, ServeRig, Target, wait_until  # noqa: E402

SANITIZED = any(mark in pathlib.Path(JPROF).read_bytes() for mark in (b"__asan_init", b"__tsan_init"))


def status(pid):
    try:
        lines = pathlib.Path("/proc/%s/status" % pid).read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def filters(pid):
    """How many seccomp filters a process has (kernel 5.9 and later)."""
    return int(status(pid).get("Seccomp_filters", "0"))


def refuse_seccomp():
    """seccomp(2) fails with EPERM from now on, as some containers have it; prctl(2) does what it does not."""
    number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
    program = b"".join(struct.pack("<HBBI", *line) for line in (
        (0x20, 0, 0, 0),            # the call's number
        (0x15, 0, 1, number),
        (0x06, 0, 0, 0x00050001),   # EPERM
        (0x06, 0, 0, 0x7FFF0000)))  # allowed
    filled = ctypes.create_string_buffer(program, len(program))
    libc = ctypes.CDLL(None, use_errno=True)
    head = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(filled)))
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, ctypes.byref(head), 0, 0) == 0  # PR_SET_SECCOMP


OURS = filters(os.getpid())  # inherited by all that we start


def full_pipe():
    """A pipe that takes no byte more: who writes to it waits."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)
    return reader, writer


def holds(pid, words):
    """Which of the words are in what a process can reach without opening anything: its memory, its environment, its files."""
    process = pathlib.Path("/proc/%d" % pid)
    pieces = [(process / "environ").read_bytes()]
    with open(process / "mem", "rb", buffering=0) as memory:
        for line in (process / "maps").read_text().splitlines():
            area, rights = line.split()[:2]
            first, end = (int(number, 16) for number in area.split("-"))
            if rights.startswith("r") and end < 1 << 63:
                try:
                    pieces.append(os.pread(memory.fileno(), end - first, first))
                except OSError:
                    pass  # of a device, or behind the end of its file
    for descriptor in (process / "fd").iterdir():
        if os.readlink(descriptor).startswith("/") and descriptor.is_file():
            pieces.append(descriptor.read_bytes())
    return {word for word in words if any(word.encode() in piece for piece in pieces)}


@unittest.skipIf(SANITIZED, "a sanitizer's build has none")
class ReadersTest(ServeRig):
    def start_command(self, *arguments, **options):
        command = subprocess.Popen([JPROF, *arguments], env=self.env, stderr=subprocess.DEVNULL, **options)
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        return command

    def assert_shut_in(self, pid, by):
        wait_until(lambda: filters(pid) >= OURS + by, timeout=20, what="a filter")
        self.assertEqual(status(pid)["NoNewPrivs"], "1")

    def test_who_looks_for_jvms_is_behind_the_fence(self):
        for command in (["list"], ["doctor"], ["list", "--json"]):
            with self.subTest(command=command):
                reader, writer = full_pipe()
                self.addCleanup(os.close, reader)
                # All has been read by the time that it writes.
                looking = self.start_command(*command, stdout=writer)
                os.close(writer)
                self.assert_shut_in(looking.pid, 1)

    def sandbox_row(self, **options):
        told = subprocess.run([JPROF, "doctor", str(self.jvm.pid), "--json"], env=self.env, stdout=subprocess.PIPE, check=False, **options)
        rows = [row for row in json.loads(told.stdout)["jvms"][0]["checks"] if row["check"] == "sandbox"]
        self.assertEqual(len(rows), 1, told.stdout)
        return rows[0]

    def test_doctor_says_what_holds(self):
        row = self.sandbox_row()
        self.assertEqual(row["verdict"], "pass", row)
        self.assertIn("seccomp", row["detail"])
        row = self.sandbox_row(preexec_fn=refuse_seccomp)
        self.assertEqual(row["verdict"], "warn", row)
        self.assertIn("no system call is forbidden to it (seccomp)", row["detail"])
        self.assertIn("allow the jprof container seccomp(2)", row["cure"])

    def test_who_attaches_is_behind_the_fence_before_the_jvm_answers(self):
        os.kill(self.jvm.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.jvm.pid, signal.SIGCONT)
        for arguments in (["attach", str(self.jvm.pid), "threaddump"],
                          ["record", str(self.jvm.pid), "-d", "1s", "-o", str(self.folder / "x.jprof")]):
            with self.subTest(command=arguments[0]):
                self.assert_shut_in(self.start_command(*arguments, stdout=subprocess.DEVNULL).pid, 1)

    def test_who_converts_is_in_the_sandbox_before_the_first_byte(self):
        fifo = self.folder / "slow.collapsed"
        os.mkfifo(fifo)
        other = self.folder / "other.collapsed"
        other.write_text("a;b 1\n")
        for arguments in (["convert", fifo, "-o", self.folder / "x.html"], ["diff", fifo, other, "-o", self.folder / "x.svg"],
                          ["flame", fifo], ["convert", fifo]):
            with self.subTest(command=arguments[0]):
                with open(self.folder / "out", "wb") as out:
                    command = self.start_command(*arguments, stdout=out)
                self.assert_shut_in(command.pid, 1)  # it waits for somebody who writes
                fifo.write_text("main;work 5\n")
                self.assertEqual(command.wait(60), 0)
        self.assertIn("main;work 5", (self.folder / "out").read_text())
        sealed = self.folder / "sealed"
        sealed.mkdir()
        os.mkfifo(sealed / "manifest.json")
        self.assert_shut_in(self.start_command("verify", sealed, stdout=subprocess.DEVNULL).pid, 1)

    def test_what_serves_a_caller_is_behind_the_fence_and_serve_is_not(self):
        self.start()
        self.session()
        children = wait_until(lambda: [pid for pid in os.listdir("/proc") if pid.isdigit() and
                                       status(pid).get("PPid") == str(self.serve.pid) and filters(pid) > OURS], what="a connection")
        self.assert_shut_in(children[0], 1)
        self.assertEqual(filters(self.serve.pid), OURS, "the supervisor starts uploads, which need the network")

    def test_who_reads_what_a_jvm_wrote_holds_no_key_of_the_store(self):
        keys = self.folder / "credentials"
        key, secret = "AKIA" + os.urandom(8).hex().upper(), os.urandom(20).hex()
        keys.write_text("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n" % (key, secret))
        self.env = {k: v for k, v in self.env.items() if not k.startswith("AWS")}
        self.start("store: {url: \"s3://bucket/team\", endpoint: \"http://127.0.0.1:1\", pathStyle: true, region: us-east-1,"
                   " credentials: \"%s\"}\n" % keys)
        self.ask(self.record())
        wait_until(lambda: "cannot store it" in self.log(), what="an upload, which has read the keys")
        body = self.record(60)
        session = self.begin(body)
        self.addCleanup(session.cut)
        reading = self.children_of_capture(body)
        self.assertTrue(reading)
        for pid in reading:
            self.assertEqual(holds(pid, {key, secret, body["id"]}), {body["id"]}, pid)
        self.assertEqual(holds(self.serve.pid, {key, secret}), set())

    def leave_a_capture(self, size):
        """What a killed sidecar leaves, its recording made so long by copies of its last chunk."""
        self.start()
        body = self.record(60)
        session = self.begin(body)
        recording = self.spool / "incoming" / body["id"] / "profile.jprof"
        opening = wait_until(lambda: recording.stat().st_size, what="the opening")
        wait_until(lambda: recording.stat().st_size > opening + 500, what="samples in the file")
        self.kill_serve()
        session.cut()
        data = recording.read_bytes()
        last = data[data.rfind(b"JCHK"):]
        with open(recording, "ab") as out:
            for _ in range(size // (1000 * len(last)) + 1):
                out.write(last * 1000)
        return body

    def reader_of_a_salvage(self):
        """The grandchild of serve that is shut in twice: by the fence of its parent, and by itself."""
        def is_it(pid):
            now = status(pid)
            return filters(pid) >= OURS + 2 and now["State"][0] not in "ZX" and status(now["PPid"]).get("PPid") == str(self.serve.pid)

        def look():
            return next((pid for pid in os.listdir("/proc") if pid.isdigit() and is_it(pid)), None)
        return wait_until(look, what="a reader")

    def test_what_a_killed_recorder_left_is_read_in_a_sandbox_and_sealed_when_its_reader_dies(self):
        body = self.leave_a_capture(256 << 20)
        self.start()
        os.kill(int(self.reader_of_a_salvage()), signal.SIGKILL)
        sealed = self.spool / "sealed" / body["id"] / "manifest.json"
        wait_until(sealed.exists, what="the seal")
        measured = json.loads(sealed.read_text())["measured"]
        self.assertTrue(measured["salvaged"])
        self.assertIn("died of it", " ".join(measured["notes"]))
        self.assertEqual(subprocess.run([JPROF, "verify", str(sealed.parent)], stdout=subprocess.DEVNULL, check=False).returncode, 0)

    def test_a_reader_that_has_no_memory_left_loses_nothing(self):
        bucket = self.folder / "bucket"
        bucket.mkdir()
        self.start("store: {url: \"file://%s\"}\n" % bucket)
        # Threads without end, each with a name that the recorder has to keep.
        births = Target([shutil.which("java"), "-XX:+UseSerialGC", "-Xmx64m", "-cp", CLASSES, "Births", "0", "2"])
        self.addCleanup(births.close)
        body = {**self.record(60), "pid": births.pid}
        session = self.begin(body)
        recording = self.spool / "incoming" / body["id"] / "profile.jprof"
        opening = wait_until(lambda: recording.stat().st_size, what="the opening")
        wait_until(lambda: recording.stat().st_size > opening + 500, what="samples in the file")
        reader = self.children_of_capture(body)[0]
        resource.prlimit(reader, resource.RLIMIT_DATA, (1, 1))  # not a byte more
        result, files = session.answer()
        self.assertEqual((result["exitCode"], result["reason"]), (6, "PartialCapture"), result)
        self.assertIn("memory limit", result["message"])
        self.assertGreater(result["manifest"]["measured"]["samples"], 0)
        self.assertIn("it has used all the memory that its limit allows", self.log())
        wait_until(lambda: list(bucket.rglob("manifest.json")), what="the delivery")
        self.assertEqual(len(list(bucket.rglob("profile.jprof"))), 1)

    def limit_of(self, pid):
        """What may be its memory (RLIMIT_DATA), once it has said so."""
        wait_until(lambda: resource.prlimit(pid, resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY, timeout=20, what="a limit")
        return resource.prlimit(pid, resource.RLIMIT_DATA)[0]

    def test_a_command_that_records_has_a_limit_of_memory_and_keeps_what_it_had(self):
        births = Target([shutil.which("java"), "-XX:+UseSerialGC", "-Xmx64m", "-cp", CLASSES, "Births", "0", "2"])
        self.addCleanup(births.close)
        command = subprocess.Popen([JPROF, "record", str(births.pid), "-d", "60s", "--json", "-o", str(self.folder / "a.jprof")],
                                   env=self.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(command.kill)
        self.assertLessEqual(self.limit_of(command.pid), 1 << 30)
        recording = wait_until(lambda: next(self.folder.glob(".jprof-*/profile.jprof"), None), what="a recording")
        opening = wait_until(lambda: recording.stat().st_size, what="the opening")
        wait_until(lambda: recording.stat().st_size > opening + 500, what="samples in the file")
        resource.prlimit(command.pid, resource.RLIMIT_DATA, (1, 1))  # not a byte more
        told = json.loads(command.communicate(timeout=100)[0])
        self.assertEqual((command.returncode, told["reason"]), (7, "NotStored"), told)
        self.assertIn("not enough memory", told["message"])
        self.assertIn("kept in " + str(recording.parent), told["cure"])
        out = subprocess.run([JPROF, "convert", str(recording), "--to", "collapsed"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(out.returncode, 6, out)
        self.assertIn(";", out.stdout)

    def test_each_round_of_compare_is_recorded_and_read_in_a_sandbox_of_its_own(self):
        begin = [JPROF, "compare", str(self.jvm.pid), "--walker", "vmstructs", "--walker", "jvmti", "--json"]
        command = subprocess.Popen([*begin, "-d", "200s", "--rounds", "1"], env=self.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(command.kill)
        self.assertLessEqual(self.limit_of(command.pid), 1 << 30)

        def reader():
            return next((pid for pid in os.listdir("/proc") if pid.isdigit() and status(pid).get("PPid") == str(command.pid) and
                         filters(pid) >= OURS + 2), None)
        self.assertLessEqual(self.limit_of(int(wait_until(reader, what="a round in the sandbox"))), 1 << 30)
        self.assertEqual(filters(command.pid), OURS + 1)  # else it could not attach for the next round
        command.send_signal(signal.SIGINT)  # to it alone: the round is told
        told = json.loads(command.communicate(timeout=100)[0])
        self.assertEqual((command.returncode, told["reason"]), (130, "Interrupted"), told)
        self.assertIsNone(reader())
        done = subprocess.run([*begin, "-d", "2s", "--rounds", "2"], env=self.env, stdout=subprocess.PIPE, text=True, check=True)
        told = json.loads(done.stdout)
        self.assertGreater(min(walker["samples"] for walker in told["walkers"]), 0, told)
        self.assertEqual(told["pid"], self.jvm.pid)
        self.assertTrue(told["javaVersion"] and told["methods"], told)


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

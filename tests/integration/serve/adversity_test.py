#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof serve` where its surroundings fail it: no processes, no descriptors, no room, a parent that is not its own.

usage: adversity_test.py PROGRAM CLASSES [unittest arguments]
"""
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import JPROF, Jvm, NOBODY, ServeRig, new_id, wait_until  # noqa: E402
from session_client import CANCEL, HELLO, Refused, Session  # noqa: E402

# Becomes the parent of its children's orphans, notes SIGTERM, and ends with the last of them.
BYSTANDER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
told = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
signal.signal(signal.SIGTERM, lambda *_: os.write(told, b"SIGTERM"))
os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
"""


class AdversityTest(ServeRig):
    def become_somebody(self):
        """serve as a user that nobody else is, with its files where that user may write; returns its id."""
        user = random.randrange(100_000, 2_000_000_000)
        self.prefix = [word.replace("64123", str(user)) for word in NOBODY]
        os.chmod(self.folder, 0o755)
        var = self.folder / "var"
        var.mkdir()
        os.chown(var, user, user)
        self.env.update(JPROF_SPOOL=str(var / "spool"), JPROF_SOCKET=str(var / "serve.sock"))
        self.spool = var / "spool"
        (self.folder / "config.yaml").touch()
        return user

    def leave_a_capture(self):
        """What a serve that was killed leaves: an accepted capture that nobody records."""
        left = self.spool / "incoming" / new_id()
        left.mkdir(parents=True)
        (left / "profile.jprof").write_bytes(b"r" * 1000)
        return left

    def remains(self):
        """What a capture has in the JVM while it runs: its region, mapped or open, its socket, its thread."""
        process = pathlib.Path("/proc/%d" % self.jvm.pid)
        found = ["mapped: " + line for line in (process / "maps").read_text().splitlines() if "memfd:" in line]
        for entry in (process / "fd").iterdir():
            try:
                link = os.readlink(entry)
            except OSError:
                continue
            found += [link] if link.startswith(("/memfd:", "anon_inode:[timerfd]", "anon_inode:[perf")) else []
        for task in (process / "task").iterdir():
            try:
                name = (task / "comm").read_text().strip()
            except OSError:
                continue
            found += [name] if name.startswith("jprof") else []
        return found

    def test_forty_killed_captures_leave_nothing_in_the_jvm_nor_in_serve(self):
        """Each one's region stayed 120 s in the JVM: 39 of them, 156 MiB, and the container was out of memory after 35."""
        self.start("limits: {capturesPerHour: 1000}\n")

        def private_memory():
            lines = pathlib.Path("/proc/%d/status" % self.serve.pid).read_text().splitlines()
            return int(dict(line.split(":\t") for line in lines)["RssAnon"].split()[0])

        for number in range(40):
            body = self.record(60)
            session = self.begin(body)
            self.assertTrue(self.remains())
            os.kill(self.children_of_capture(body)[0], signal.SIGKILL)
            try:
                self.assertEqual(session.answer()[0]["exitCode"], 6)
            except Refused as refused:  # it had written nothing yet
                self.assertEqual(refused.body["reason"], "LimitReached", refused.body)
            session.cut()
            wait_until(lambda: not self.remains(), what="an empty JVM (%s)" % self.remains())
            if number == 4:
                early = private_memory()
        self.assertLess(private_memory(), early + 512)  # KiB
        self.assertEqual(self.ask(self.record(1))[0]["exitCode"], 0)
        self.counts()

    def test_a_success_that_nobody_could_read_is_none(self):
        """Standard output that is full, closed, or a pipe without a reader: exit 7, said on standard error."""
        self.start()
        body = self.record(1)
        self.ask(body)
        sealed = str(self.spool / "sealed" / body["id"])

        def run(command, stdout, **more):
            return subprocess.run([JPROF, *command], env=self.env, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, **more)

        for command in (["spool"], ["spool", "--json"], ["verify", sealed], ["verify", "--json", sealed],
                        ["convert", sealed + "/profile.jprof", "-o", "-", "--to", "collapsed"]):
            reader, pipe = os.pipe()
            os.close(reader)
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = [run(command, full), run(command, pipe), run(command, None, preexec_fn=lambda: os.close(1))]
            os.close(pipe)
            for one in done:
                self.assertEqual(one.returncode, 7, (command, one.stderr))
                self.assertIn("cannot write", one.stderr, command)
            told = run(command, subprocess.PIPE)
            self.assertEqual(told.returncode, 0, (command, told))
            self.assertTrue(told.stdout, command)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_a_start_without_processes_recovers_later(self):
        user = self.become_somebody()
        left = self.leave_a_capture()
        for path in (self.spool, left.parent, left, left / "profile.jprof"):
            os.chown(path, user, user)
        self.start(prefix=["prlimit", "--nproc=1:10000", *self.prefix])
        wait_until(lambda: "cannot start a process" in self.log(), what="a failed fork")
        refused = self.refusal({"type": "list"})
        self.assertEqual((refused["reason"], refused["exitCode"]), ("Unavailable", 8))
        self.assertIn("cannot start a process", refused["message"])
        self.assertTrue(left.exists())
        subprocess.run([*self.prefix, "prlimit", "--pid", str(self.serve.pid), "--nproc=10000:10000"], check=True)
        wait_until(lambda: not left.exists(), what="recovery")
        # It had no draft. Its directory is moved away first, and counted then.
        wait_until(lambda: self.counts()["failedBeforeSeal"] == 1, what="its end in the ledger")
        self.ask({"type": "list"})

    def cpu_seconds(self):
        fields = pathlib.Path("/proc/%d/stat" % self.serve.pid).read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_a_serve_without_descriptors_says_so_and_rests(self):
        self.start()
        self.ask({"type": "list"})
        wait_until(lambda: not self.children(), what="the caller's end")
        usual = resource.prlimit(self.serve.pid, resource.RLIMIT_NOFILE)
        used = [int(fd) for fd in os.listdir("/proc/%d/fd" % self.serve.pid)]
        resource.prlimit(self.serve.pid, resource.RLIMIT_NOFILE, (max(used) + 1, usual[1]))
        for _ in range(3):
            refused = self.refusal({"type": "list"})
            self.assertEqual((refused["reason"], refused["exitCode"]), ("Unavailable", 8))
            self.assertIn("descriptor", refused["message"])
        # Not even the one that is kept back is of use now: nobody can be told, but nothing spins.
        resource.prlimit(self.serve.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
        waiting = self.session(hello=False)
        before = self.cpu_seconds()
        time.sleep(2)  # of a processor, a serve that spins takes nearly all
        self.assertLess(self.cpu_seconds() - before, 0.5)
        self.assertEqual(self.log().count("cannot accept a caller"), 1)
        resource.prlimit(self.serve.pid, resource.RLIMIT_NOFILE, usual)
        self.assertEqual(waiting.receive()[0], HELLO)
        waiting.cut()
        self.ask({"type": "list"})

    def children(self):
        return pathlib.Path("/proc/%d/task/%d/children" % (self.serve.pid, self.serve.pid)).read_text().split()

    def test_quit_ends_serve_and_nobody_else(self):
        # As in a shared process namespace, where whatever is above becomes the parent of our orphans: the JVM, say.
        told = self.folder / "told"
        self.start(arguments=("--idle-exit", "1h"), prefix=[sys.executable, "-c", BYSTANDER, str(told)])
        bystander = self.serve
        self.addCleanup(bystander.kill)
        session = self.session()
        session.request({"type": "quit"})
        serve, = self.children()
        os.kill(int(serve), signal.SIGKILL)
        wait_until(lambda: serve not in self.children(), what="serve's end")
        session.cut()
        self.assertEqual(bystander.wait(20), 0)
        self.assertEqual(told.read_text(), "")
        self.start(arguments=("--idle-exit", "1h"))
        self.ask({"type": "quit"})
        self.assertEqual(self.serve.wait(20), 0)

    def start_another(self, **env):
        log = open(self.folder / "other.log", "ab")
        other = subprocess.Popen([JPROF, "serve", "--config", str(self.folder / "config.yaml")], env={**self.env, **env},
                                 stderr=log)
        log.close()
        self.addCleanup(lambda: (other.kill(), other.wait()))
        return other

    def test_two_spools_in_one_folder_have_a_socket_each(self):
        self.start()
        body = self.record()
        self.ask(body)
        other = {"JPROF_SPOOL": str(self.folder / "other")}
        self.start_another(**other)
        wait_until((self.folder / "other" / "serve.sock").exists, what="listening")
        with Session([JPROF], {**self.env, **other}) as session:
            self.assertEqual(session.request({"type": "list"})[0]["captures"], [])
        self.assertEqual([c["id"] for c in self.ask({"type": "list"})[0]["captures"]], [body["id"]])

    def test_a_socket_is_not_taken_away_from_who_listens(self):
        self.env["JPROF_SOCKET"] = str(self.folder / "both.sock")
        self.start()
        self.ask({"type": "list"})
        other = self.start_another(JPROF_SPOOL=str(self.folder / "other"))
        self.assertEqual(other.wait(30), 9)
        self.assertIn("give each its own 'socket'", (self.folder / "other.log").read_text())
        self.ask({"type": "list"})

    def bytes_of(self, body):
        return sum(path.stat().st_size for path in (self.spool / "sealed" / body["id"]).iterdir())

    def test_a_capture_takes_no_more_than_its_limit_with_all_its_files(self):
        # Beyond the volume's limit the kubelet evicts the pod, the JVM with it.
        self.start("limits: {captureBytes: 120KiB}\n")
        body = self.record(2, formats=["html", "svg", "collapsed", "txt", "json", "jprof"])
        result, files = self.ask(body)
        self.assertEqual((result["exitCode"], result["reason"]), (7, "NotStored"), result)
        self.assertIn("limits.captureBytes", " ".join(result["manifest"]["measured"]["fileErrors"]))
        self.assertIn("profile.jprof", files)
        self.assertLessEqual(self.bytes_of(body), 120 << 10)

    def test_a_recording_that_comes_near_the_limit_ends_early_and_whole(self):
        self.start("limits: {captureBytes: 40KiB}\n")
        body = self.record(300, intervalNs=1_000_000, formats=["jprof", "collapsed"])
        result, files = self.ask(body)
        self.assertEqual((result["exitCode"], result["reason"]), (6, "PartialCapture"), result)
        self.assertIn("size limit", result["message"])
        self.assertTrue(result["manifest"]["measured"]["accounted"])
        self.assertIn(b"Known", files["profile.collapsed"])
        self.assertLessEqual(self.bytes_of(body), 40 << 10)

    def checks(self):
        result, _ = self.ask({"type": "targets"})
        rows = [target["checks"] for target in result["targets"] if target["pid"] == self.jvm.pid]
        return {row["check"]: row for target in result["targets"] for row in target["checks"]
                if row["check"] not in ("free",)} | {row["check"]: row for row in rows[0] if row["check"] == "free"}

    def test_doctor_foretells_what_a_caller_would_be_told(self):
        self.start("limits: {capturesPerHour: 2}\n")
        checks = self.checks()
        self.assertEqual([checks[row]["verdict"] for row in ("free", "room", "limits")], ["pass"] * 3, checks)
        session = self.begin(self.record(60))
        told, refused = self.checks()["free"], self.refusal(self.record())
        self.assertEqual((told["verdict"], told["reason"], told["detail"]), ("fail", "Busy", refused["message"]))
        session.send(CANCEL, {"mode": "keep"})
        session.answer()
        self.ask(self.record(0.5))
        told, refused = self.checks()["room"], self.refusal(self.record())
        self.assertEqual((told["verdict"], told["reason"], told["detail"]), ("fail", "LimitReached", refused["message"]))
        self.assertIn("capturesPerHour", told["cure"])

    def test_doctor_foretells_a_full_spool(self):
        self.start("spool: {quota: 2MiB}\nlimits: {captureBytes: 2MiB}\n")
        self.ask(self.record(0.5))
        told, refused = self.checks()["room"], self.refusal(self.record())
        self.assertEqual((told["verdict"], told["reason"], told["detail"], told["cure"]),
                         ("fail", "LimitReached", refused["message"], refused["cure"]))

    def test_limits_that_another_process_lowers_are_noticed_and_told(self):
        self.start()
        usual = resource.prlimit(self.serve.pid, resource.RLIMIT_NPROC)
        resource.prlimit(self.serve.pid, resource.RLIMIT_NPROC, (1234, usual[1]))
        told = self.checks()["limits"]
        self.assertEqual(told["verdict"], "warn")
        self.assertRegex(told["detail"], "changed the limits of jprof serve: processes from .* to 1234")
        self.assertIn(told["detail"], self.log())
        self.assertIn(told["detail"], self.refusal(self.record(id="../../x"))["cure"])
        resource.prlimit(self.serve.pid, resource.RLIMIT_NPROC, usual)
        self.assertEqual(self.checks()["limits"]["verdict"], "pass")
        self.assertEqual(self.log().count("changed the limits of jprof serve"), 1)
        # One that no write is possible under must fail the write, not end serve. (Our log is a file, too.)
        resource.prlimit(self.serve.pid, resource.RLIMIT_FSIZE, (0, 0))
        self.assertIn("file size", self.refusal(self.record())["cure"])
        self.assertIsNone(self.serve.poll())

    def test_limits_that_change_during_a_capture_are_a_note_of_it(self):
        self.start()
        session = self.begin(self.record(60))
        for child in self.descendants():
            resource.prlimit(child, resource.RLIMIT_NPROC, (1234, 1234))
        session.send(CANCEL, {"mode": "keep"})
        notes = session.answer()[0]["manifest"]["measured"]["notes"]
        self.assertTrue(any("processes from" in note and "to 1234" in note for note in notes), notes)

    def descendants(self):
        found, left = [], [self.serve.pid]
        while left:
            pid = left.pop()
            for child in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split():
                found.append(int(child))
                left.append(int(child))
        return found

    def test_a_salvaged_capture_is_described_by_its_recording(self):
        self.start()
        body = self.record(60)
        session = self.begin(body)
        recording = self.spool / "incoming" / body["id"] / "profile.jprof"
        opening = wait_until(lambda: recording.stat().st_size, what="the opening")
        wait_until(lambda: recording.stat().st_size > opening + 500, what="samples in the file")
        os.kill(self.children_of_capture(body)[0], signal.SIGKILL)
        result, _ = session.answer()
        manifest = result["manifest"]
        measured = manifest["measured"]
        sealed = self.spool / "sealed" / body["id"]
        out = self.folder / "out.collapsed"
        converted = subprocess.run([JPROF, "convert", str(sealed / "profile.jprof"), "-o", str(out)], check=False)
        self.assertEqual(converted.returncode, 6)  # what was there is written, and it was cut off
        weight = sum(int(line.rsplit(" ", 1)[1]) for line in out.read_text().splitlines())
        self.assertGreater(measured["samples"], 0)
        self.assertIn(weight, (measured["samples"], measured["weightNs"]))
        self.assertTrue(measured["salvaged"])
        self.assertGreater(measured["durationNs"], 0)
        self.assertEqual((measured["pid"], measured["event"], measured["intervalNs"]), (self.jvm.pid, "cpu", 10_000_000))
        self.assertGreater(measured["threads"], 0)
        self.assertTrue(measured["javaVersion"])
        self.assertRegex(manifest["startTime"], r"^20\d\d-")

    def lines_of(self, body):
        return [line for line in self.log().splitlines() if body["id"] in line]

    def test_each_capture_that_begins_has_a_last_line_in_the_log(self):
        self.start()
        body = self.record(60)
        session = self.begin(body)
        session.send(CANCEL, {"mode": "discard"})
        with self.assertRaises(Refused):
            session.answer()
        self.assertIn("ended, nothing of it is kept: the capture was discarded", self.lines_of(body)[-1])
        jvm = Jvm()
        self.addCleanup(jvm.close)
        body = self.record(1, pid=jvm.pid, walker="moon")
        self.assertEqual(self.refusal(body)["reason"], "Usage")
        self.assertEqual(len(self.lines_of(body)), 2)
        self.assertIn("there is no walker 'moon'", self.lines_of(body)[-1])
        body = self.record(60)
        session = self.begin(body)
        refused = self.record()
        self.refusal(refused)
        self.assertIn("is refused", self.lines_of(refused)[-1])
        os.kill(self.children_of_capture(body)[0], signal.SIGKILL)
        try:
            session.answer()
        except Refused:
            pass
        self.assertRegex(self.lines_of(body)[-1], "is sealed, partial|before it held a sample")


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""JVMs that cannot answer, and file systems of theirs that do not: every step of ours has its end.

usage: hung_test.py PROGRAM CLASSES [unittest arguments]
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "agent"))
from serve_rig import JPROF, Jvm, ServeRig, wait_until  # noqa: E402
from session_client import Refused  # noqa: E402
from tracer import Tracer  # noqa: E402


class Frozen:
    """A file system that can be frozen (fsfreeze(8)) as the /tmp of a JVM in a mount namespace of its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.image = self.folder + "/image"
        subprocess.run(["truncate", "-s", "16M", self.image], check=True)
        subprocess.run(["mkfs.ext4", "-q", self.image], check=True)
        self.jvm = Jvm(prefix=["unshare", "--mount", "sh", "-c", 'mount -o loop "$0" /tmp && chmod 1777 /tmp && exec "$@"', self.image])
        self.tmp = "/proc/%d/root/tmp" % self.jvm.pid

    def freeze(self):
        subprocess.run(["fsfreeze", "-f", self.tmp], check=True)

    def thaw(self):
        subprocess.run(["fsfreeze", "-u", self.tmp], stderr=subprocess.DEVNULL)

    def close(self):
        self.thaw()
        self.jvm.close()
        shutil.rmtree(self.folder)


def can_freeze():
    try:
        rig = Frozen()
    except (AssertionError, OSError, subprocess.CalledProcessError):
        return False
    rig.close()
    return True


class HungTest(ServeRig):
    def test_a_stopped_jvm_is_told_and_not_waited_for(self):
        output = self.folder / "a.jprof"
        os.kill(self.jvm.pid, signal.SIGCONT)
        recording = subprocess.Popen([JPROF, "record", str(self.jvm.pid), "--duration", "2s", "-o", str(output)],
                                     stdout=subprocess.PIPE, text=True)
        self.addCleanup(os.kill, self.jvm.pid, signal.SIGCONT)
        # It has its first bytes once the agent samples.
        wait_until(lambda: any(path.stat().st_size > 0 for path in self.folder.glob(".jprof-*/profile.jprof")), what="recording")
        os.kill(self.jvm.pid, signal.SIGSTOP)
        text, _ = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 6, text)
        self.assertIn("is stopped (SIGSTOP)", text)
        self.assertTrue(output.exists())

    def test_a_jvm_that_is_stopped_while_it_is_asked_to_attach_is_told(self):
        jvm = Jvm()
        self.addCleanup(jvm.close)
        self.addCleanup(os.kill, jvm.pid, signal.SIGCONT)
        tasks = pathlib.Path("/proc/%d/task" % jvm.pid)
        dispatcher = next(task.name for task in tasks.iterdir() if (task / "comm").read_text().startswith("Signal Dispatch"))
        # The one that would answer; the JVM as a whole runs, so it is asked.
        tracer = Tracer(int(dispatcher))
        tracer.interrupt()
        try:
            for arguments in (["attach", "--timeout", "3s", str(jvm.pid), "threaddump"],
                              ["attach", "--timeout", "3s", "--json", str(jvm.pid), "threaddump"]):
                os.kill(jvm.pid, signal.SIGCONT)
                command = subprocess.Popen([JPROF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                trigger = ".attach_pid%d" % jvm.pid
                wait_until(lambda: any(os.path.exists("/proc/%d/%s/%s" % (jvm.pid, where, trigger)) for where in ("cwd", "root/tmp")),
                           what="the request to attach")
                os.kill(jvm.pid, signal.SIGSTOP)
                said, _ = command.communicate(timeout=60)
                self.assertEqual(command.returncode, 8, said)
                self.assertIn("did not answer the request to attach: it is stopped (SIGSTOP)", said)
                self.assertIn("kill -CONT", said)
        finally:
            tracer.close()

    @unittest.skipIf(any(mark in pathlib.Path(JPROF).read_bytes() for mark in (b"__asan_init", b"__tsan_init")), "a sanitizer's build has none")
    def test_the_reader_of_a_jvm_is_in_a_sandbox(self):
        self.start()
        session = self.begin(self.record(3))
        self.addCleanup(session.cut)

        def status(pid):
            try:
                return dict(line.split(":\t", 1) for line in pathlib.Path("/proc/%s/status" % pid).read_text().splitlines() if ":\t" in line)
            except OSError:
                return {}

        ours = [pid for pid in os.listdir("/proc") if pid.isdigit() and status(pid).get("Name") == "jprof"]
        tree = {pid: status(pid)["PPid"] for pid in ours if status(pid)}
        connection = [pid for pid, parent in tree.items() if parent == str(self.serve.pid)]
        capture = [pid for pid, parent in tree.items() if parent in connection]
        self.assertEqual(len(capture), 1, tree)
        for thread in os.listdir("/proc/%s/task" % capture[0]):
            self.assertEqual(status("%s/task/%s" % (capture[0], thread))["Seccomp"], "2", thread)
        self.assertEqual(status(self.serve.pid)["Seccomp"], status(os.getpid())["Seccomp"], "the supervisor needs the network")


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("fsfreeze") and can_freeze(), "needs root and loop devices")
class FrozenTest(ServeRig):
    def setUp(self):
        super().setUp()
        self.frozen = Frozen()
        self.addCleanup(self.frozen.close)

    def test_a_command_ends_at_its_deadline(self):
        self.frozen.freeze()
        command = subprocess.Popen([JPROF, "attach", "--timeout", "2s", str(self.frozen.jvm.pid), "threaddump"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(command.kill)
        self.addCleanup(self.frozen.thaw)  # first: nothing ends a process that waits in there
        _, said = command.communicate(timeout=60)
        self.assertNotEqual(command.returncode, 0)
        self.assertIn("did not answer in time", said)
        self.assertIn("frozen", said)

    def test_a_capture_ends_and_its_slot_is_free(self):
        self.start("limits: {concurrentCaptures: 1}\n")
        self.addCleanup(self.frozen.thaw)  # before serve is waited for
        self.frozen.freeze()
        with self.assertRaises(Refused) as refused:
            self.ask({**self.record(1), "pid": self.frozen.jvm.pid})
        self.assertEqual(refused.exception.body["reason"], "Timeout", refused.exception.body)
        # What waits in the frozen file system holds nothing of ours.
        result, _ = self.ask(self.record(1))
        self.assertEqual(result["exitCode"], 0, result)
        self.frozen.thaw()
        result, _ = self.ask({**self.record(1), "pid": self.frozen.jvm.pid})
        self.assertEqual(result["exitCode"], 0, result)


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

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
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "agent"))
from serve_rig import JPROF, Jvm, ServeRig, wait_until  # noqa: E402
from session_client import REQUEST, Refused  # noqa: E402
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


class Freezer:
    """A cgroup whose processes can be frozen, as `docker pause` does; of version 2 or 1, whichever there is."""

    def __init__(self):
        second = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        self.group = pathlib.Path("/sys/fs/cgroup" if second else "/sys/fs/cgroup/freezer") / ("jprof-hung-%d" % os.getpid())
        self.state, self.words = ("cgroup.freeze", ("1", "0")) if second else ("freezer.state", ("FROZEN", "THAWED"))
        self.group.mkdir()
        if not (self.group / self.state).exists():
            self.group.rmdir()
            raise OSError("no freezer")

    def take(self, pid):
        (self.group / "cgroup.procs").write_text(str(pid))

    def freeze(self):
        (self.group / self.state).write_text(self.words[0])

    def close(self):
        (self.group / self.state).write_text(self.words[1])
        for pid in (self.group / "cgroup.procs").read_text().split():
            (self.group.parent / "cgroup.procs").write_text(pid)
        wait_until(self.removed, what="an empty group")

    def removed(self):
        try:
            self.group.rmdir()
        except OSError:
            return False
        return True


def can_freeze_groups():
    try:
        Freezer().close()
    except OSError:
        return False
    return True


def can_freeze():
    try:
        rig = Frozen()
    except (AssertionError, OSError, subprocess.CalledProcessError):
        return False
    rig.close()
    return True


class HungTest(ServeRig):
    def start_record(self, jvm, output):
        command = subprocess.Popen([JPROF, "record", str(jvm.pid), "--duration", "3s", "-o", str(output)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(command.stdout.close)
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        return command

    def await_samples(self, folder):
        # It has its first bytes once the agent samples.
        wait_until(lambda: any(path.stat().st_size > 0 for path in folder.glob(".jprof-*/profile.jprof")), what="recording")

    def end_of_a_jvm_that_stands_still(self, halt, go_on):
        """What a capture says whose JVM cannot answer at the end. It has what a capture of another JVM takes, and no more than MARGIN
        besides: both run on the same machine at the same time, however crowded that is."""
        margin = 6  # 2.5 s is the longest that a JVM is watched, and ten more were waited for its farewell
        other = Jvm()
        self.addCleanup(other.close)
        folders = [self.folder / name for name in ("live", "still")]
        for folder in folders:
            folder.mkdir()
        self.addCleanup(go_on)
        still = self.start_record(self.jvm, folders[1] / "a.jprof")
        live = self.start_record(other, folders[0] / "a.jprof")
        self.await_samples(folders[1])
        halt()
        took = {}

        def finish(name, command):
            text, _ = command.communicate(timeout=120)
            took[name] = (time.monotonic(), text)

        waiting = [threading.Thread(target=finish, args=args) for args in (("live", live), ("still", still))]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join()
        text = took["still"][1]
        self.assertEqual((live.returncode, still.returncode), (0, 6), took)
        self.assertTrue((folders[1] / "a.jprof").exists())
        self.assertLess(took["still"][0] - took["live"][0], margin, text)
        return text

    def test_a_stopped_jvm_is_told_and_not_waited_for(self):
        text = self.end_of_a_jvm_that_stands_still(lambda: os.kill(self.jvm.pid, signal.SIGSTOP), lambda: os.kill(self.jvm.pid, signal.SIGCONT))
        self.assertIn("is stopped (SIGSTOP)", text)

    @unittest.skipUnless(os.geteuid() == 0 and can_freeze_groups(), "needs root and the freezer of cgroups")
    def test_a_frozen_jvm_is_told_and_not_waited_for(self):
        freezer = Freezer()
        self.addCleanup(freezer.close)
        freezer.take(self.jvm.pid)
        text = self.end_of_a_jvm_that_stands_still(freezer.freeze, lambda: None)
        self.assertIn("no thread of the JVM is running any more (a frozen container", text)

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

    def test_a_process_that_the_kernel_killed_for_memory_is_a_limit_and_no_bug(self):
        """Ours are meant to die first. Killed here while the JVM is asked to attach, when nothing has been recorded."""
        self.start("allow: [record, threaddump]\n")
        jvm = Jvm()
        self.addCleanup(jvm.close)
        tasks = pathlib.Path("/proc/%d/task" % jvm.pid)
        dispatcher = next(task.name for task in tasks.iterdir() if (task / "comm").read_text().startswith("Signal Dispatch"))
        tracer = Tracer(int(dispatcher))
        tracer.interrupt()  # the thread that would answer
        self.addCleanup(tracer.close)
        for number, reason in ((signal.SIGKILL, "LimitReached"), (signal.SIGSEGV, "Internal")):
            for body in ({**self.record(5), "pid": jvm.pid},
                         {"type": "attach", "requester": "ann", "pid": jvm.pid, "command": "threaddump", "arguments": []}):
                with self.subTest(request=body["type"], reason=reason):
                    session = self.session()
                    session.send(REQUEST, body)
                    os.kill(wait_until(lambda: self.grandchild(), what="a process that asks the JVM"), number)
                    with self.assertRaises(Refused) as refused:
                        while True:
                            session.answer()
                    told = refused.exception.body
                    self.assertEqual(told["reason"], reason, told)
                    self.assertIn("killed by signal %d" % number, told["message"])
                    if number == signal.SIGKILL:
                        self.assertEqual(told["exitCode"], 9)
                        self.assertIn("raise the memory limit", told["cure"])
                        self.assertNotIn("bug", told["cure"])
                    session.cut()
                    wait_until(lambda: not self.grandchild(), what="the end of the session")

    def grandchild(self):
        """The process that works for a caller: the child of a child of serve."""
        parent = {}
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and pathlib.Path("/proc/%s/comm" % entry).read_text() == "jprof\n":
                    parent[int(entry)] = int(pathlib.Path("/proc/%s/stat" % entry).read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
        return next((pid for pid, above in parent.items() if parent.get(above) == self.serve.pid), None)

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

    def ended(self, *arguments):
        """How a command ended, and what it said."""
        command = subprocess.Popen([JPROF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)
        self.addCleanup(command.kill)
        self.addCleanup(self.frozen.thaw)
        text, _ = command.communicate(timeout=100)
        return command.returncode, text

    def test_every_command_ends(self):
        pid = str(self.frozen.jvm.pid)
        self.frozen.freeze()
        code, text = self.ended("record", pid, "--duration", "1s", "-o", "a.jprof")
        self.assertEqual(code, 8, text)
        self.assertIn("did not answer in time", text)
        self.assertEqual([name for name in os.listdir(self.folder) if "jprof-" in name or name == "a.jprof"], [])
        code, text = self.ended("list")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"(?m)^ *%s\b" % pid)
        code, text = self.ended("doctor", pid)
        self.assertNotEqual(code, 0, text)
        self.assertIn("did not answer in time", text)
        self.frozen.thaw()
        code, text = self.ended("record", pid, "--duration", "1s", "-o", "a.jprof")
        self.assertEqual(code, 0, text)

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

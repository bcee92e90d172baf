#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""A real JVM in a real memory cgroup that is nearly full: captures are refused, give their memory back, or are ended; it lives.

usage: memory_test.py PROGRAM LIBRARY CLASSES [unittest arguments]
Exits 77 (skip) where no memory cgroup can be made.
"""
import ctypes
import json
import mmap
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

JPROF, LIBRARY, CLASSES = (os.path.abspath(path) for path in sys.argv[1:4])
MEBIBYTE = 1 << 20
PLAIN = not any(mark in pathlib.Path(JPROF).read_bytes() for mark in (b"__asan_init", b"__tsan_init"))


def wait_until(condition, timeout=60, what="it"):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("%s did not happen in %d s" % (what, timeout))


def cached_pages(path):
    """How many pages of a file the kernel holds (mincore(2))."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        pages = -(-len(mapped) // mmap.PAGESIZE)
        held = (ctypes.c_ubyte * pages)()
        at = ctypes.c_char.from_buffer(mapped)
        libc = ctypes.CDLL(None, use_errno=True)
        failed = libc.mincore(ctypes.c_void_p(ctypes.addressof(at)), ctypes.c_size_t(len(mapped)), held)
        del at
        assert failed == 0, ctypes.get_errno()
        return sum(page & 1 for page in held)


class Group:
    """A memory cgroup of version 2 or 1, whichever counts memory here."""

    V2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    MOUNT = pathlib.Path("/sys/fs/cgroup" if V2 else "/sys/fs/cgroup/memory")

    def __init__(self, name, parent=None):
        self.path = (parent.path if parent else self.MOUNT) / name
        if self.V2:
            (self.path.parent / "cgroup.subtree_control").write_text("+memory")
        self.path.mkdir()

    def _file(self, v2, v1):
        return self.path / (v2 if self.V2 else v1)

    def limit(self, size):
        limit = self._file("memory.max", "memory.limit_in_bytes")
        swap = self._file("memory.swap.max", "memory.memsw.limit_in_bytes")
        try:
            limit.write_text(str(size))
        except OSError:  # version 1: that with swap is never the smaller one
            swap.write_text(str(size))
            limit.write_text(str(size))
        if swap.exists():
            swap.write_text("0" if self.V2 else str(size))

    def used(self):
        """Without the file cache that nobody has mapped: the kernel gives that up first."""
        stat = dict(line.split() for line in (self.path / "memory.stat").read_text().splitlines())
        prefix = "" if self.V2 else "total_"
        files = int(stat[prefix + "active_file"]) + int(stat[prefix + "inactive_file"])
        mapped = int(stat["file_mapped" if self.V2 else "total_mapped_file"]) - int(stat[prefix + "shmem"])
        whole = int(self._file("memory.current", "memory.usage_in_bytes").read_text())
        return whole - max(files - max(mapped, 0), int(stat[prefix + "inactive_file"]))

    def kills(self):
        text = self._file("memory.events", "memory.oom_control").read_text()
        return int(dict(line.split() for line in text.splitlines())["oom_kill"])

    def enter(self, command):
        return ["sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', str(self.path), *command]

    def remove(self):
        wait_until(lambda: not self.path.exists() or self._removed(), what="an empty cgroup")

    def _removed(self):
        try:
            self.path.rmdir()
            return True
        except OSError:
            return False


def can_make_groups():
    try:
        group = Group("jprof-probe-%d" % os.getpid())
        found = any(group.path.glob("memory.*"))
        group.remove()
        return found
    except OSError:
        return False


class MemoryTest(unittest.TestCase):
    """The pod: a group with a limit; in it one for the JVM's container and one for ours."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        name = "jprof-memory-%d-%s" % (os.getpid(), self.id().rsplit(".", 1)[1][-20:])
        self.pod = Group(name)
        self.addCleanup(self.pod.remove)
        self.app, self.ours = (Group(part, self.pod) for part in ("app", "ours"))
        self.addCleanup(self.app.remove)
        self.addCleanup(self.ours.remove)
        java = [shutil.which("java"), "-XX:+UseSerialGC", "-Xms48m", "-Xmx48m", "-XX:+AlwaysPreTouch", "-cp", CLASSES]
        self.jvm = subprocess.Popen(self.app.enter([*java, "Known", "shares", "900"]), stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.jvm.stdout.close)
        self.addCleanup(self.jvm.wait)
        self.addCleanup(self.jvm.kill)
        self.assertIn("ready", self.jvm.stdout.readline())
        self.settle()

    def settle(self):
        """Until compiling takes no more memory."""
        last = [0, 0]

        def calm():
            time.sleep(0.5)
            last.append(self.app.used())
            return max(last[-4:]) - min(last[-4:]) < MEBIBYTE // 4

        wait_until(calm, what="a calm JVM")

    def start(self, *arguments, group=None, under=()):
        command = [*under, JPROF, "record", str(self.jvm.pid), "--agent", LIBRARY, "--json", "-o", str(self.folder / "a.jprof"), *arguments]
        return subprocess.Popen((group or self.ours).enter(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def record(self, *arguments, group=None):
        code, out, err = self.finish(self.start("--duration", "1s", *arguments, group=group))
        return code, json.loads(out or err)

    def is_recording(self):
        return any(path.stat().st_size > 0 for path in self.folder.glob(".jprof-*/profile.jprof"))

    @staticmethod
    def stopped_child(process):
        for child in pathlib.Path("/proc/{0}/task/{0}/children".format(process.pid)).read_text().split():
            if pathlib.Path("/proc/%s/stat" % child).read_text().rpartition(")")[2].split()[0] in "Tt":
                return int(child)
        return None

    def neighbour(self, group, adjustment=-900):
        """A process that the kernel spares, and that takes as much memory as it is told."""
        takes = "import sys\nopen('/proc/self/oom_score_adj', 'w').write('%d')\nheld = []\nprint('ready', flush=True)\n" % adjustment
        takes += "for line in sys.stdin:\n    held.append(b'x' * int(line))\n    print('ready', flush=True)\n"
        process = subprocess.Popen(group.enter([sys.executable, "-c", takes]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn("ready", process.stdout.readline())
        return process

    def take_until(self, neighbour, done):
        """In steps: what of mapped files the kernel can give up is not known before."""
        for _ in range(1000):
            if done():
                return
            neighbour.stdin.write("%d\n" % (MEBIBYTE // 4))
            neighbour.stdin.flush()
            self.assertIn("ready", neighbour.stdout.readline())
        self.fail("250 MiB were taken, and the kernel has ended nobody")

    def doctor(self):
        out = subprocess.run(self.ours.enter([JPROF, "doctor", str(self.jvm.pid), "-o", "json"]), capture_output=True, text=True).stdout
        return {row["check"]: row for row in json.loads(out)["jvms"][0]["checks"]}["memory"]

    def assert_untouched(self):
        self.assertIsNone(self.jvm.poll())
        self.assertNotIn("jprof", pathlib.Path("/proc/%d/maps" % self.jvm.pid).read_text())

    def assert_refused(self, said, *words):
        code, body = said
        self.assertEqual((code, body.get("reason")), (9, "LimitReached"), body)
        foretold = self.doctor()
        self.assertEqual(foretold["verdict"], "fail", foretold)
        for word in words:
            self.assertIn(word, body["message"])
            self.assertIn(word, foretold["detail"])
        self.assertIn("raise the memory limit by", body["cure"])
        self.assertIn("--force", body["cure"])
        self.assert_untouched()

    def test_with_room_it_is_taken(self):
        self.pod.limit(512 * MEBIBYTE)
        self.app.limit(256 * MEBIBYTE)
        foretold = self.doctor()
        self.assertEqual(foretold["verdict"], "pass", foretold)
        self.assertIn("of its limit of 256 MiB", foretold["detail"])
        self.assertIn("of its limit of 512 MiB", foretold["detail"])
        code, body = self.record()
        self.assertEqual(code, 0, body)

    def test_in_the_group_of_the_jvm_no_file_of_ours_stays_in_memory(self):
        made = [self.folder / name for name in ("a.jprof", "a.html", "a.collapsed")]
        more = [word for file in made[1:] for word in ("-o", str(file))]
        for group, held in ((self.ours, True), (self.app, False)):
            code, body = self.record(*more, group=group)
            self.assertEqual(code, 0, body)
            for file in made:
                self.assertEqual(cached_pages(file) > 0, held, (file.name, file.stat().st_size))
                file.unlink()

    def test_a_full_container_of_the_jvm_is_refused(self):
        limit = self.app.used() + 2 * MEBIBYTE
        self.app.limit(limit)
        self.assert_refused(self.record(), "the JVM's container uses", "of its limit of %d MiB" % -(-limit // MEBIBYTE))

    def test_a_full_pod_is_refused(self):
        self.pod.limit(self.pod.used() + 10 * MEBIBYTE)
        self.assert_refused(self.record(), "what holds the JVM's container uses", "the kernel would end the JVM")

    def test_a_full_container_of_ours_is_refused(self):
        self.ours.limit(7 * MEBIBYTE)
        self.assert_refused(self.record(), "jprof's container uses", "the kernel would end it")

    @unittest.skipUnless(PLAIN, "a sanitizer's build takes more memory than this")
    def test_out_of_memory_the_kernel_ends_ours_and_not_the_jvm(self):
        neighbour = self.neighbour(self.pod)
        # What ours gave up, 2 MiB, is soon gone, too. The next one is this, until the limit is raised.
        self.neighbour(self.pod, 900)
        recording = self.start("--force", "--interval", "1ms", "--duration", "100s")
        wait_until(self.is_recording, what="recording")
        # The JVM is by far the largest: by what they hold it would be the one.
        self.pod.limit(self.pod.used() + 8 * MEBIBYTE)
        self.take_until(neighbour, lambda: sum(group.kills() for group in (self.pod, self.app, self.ours)))
        self.pod.limit(512 * MEBIBYTE)
        code, out, err = self.finish(recording)
        self.assertIsNone(self.jvm.poll(), (code, out, err))
        self.assertEqual(code, -signal.SIGKILL, (out, err))
        # And it can still be profiled, once the agent knows that its recorder has gone.
        ended = wait_until(lambda: next((each for each in [self.record()] if each[1].get("reason") != "Busy"), None))
        self.assertEqual(ended[0], 0, ended[1])

    def test_a_jvm_that_the_kernel_ends_is_said_to_lack_memory(self):
        neighbour = self.neighbour(self.app)
        recording = self.start("--force", "--duration", "100s")
        wait_until(self.is_recording, what="recording")
        self.app.limit(self.app.used() + 8 * MEBIBYTE)
        self.take_until(neighbour, self.app.kills)
        code, out, err = self.finish(recording)
        body = json.loads(out or err)
        self.assertEqual(code, 6, body)
        self.assertRegex(body["partialReason"], r"the kernel ended it for lack of memory \(\d+ OOM kills? in its cgroup during the capture\)")
        self.assertIn("raise the memory limit of the JVM's container", body["cure"])
        self.assertIn("--force", body["cure"])
        self.assertEqual(self.jvm.wait(), -signal.SIGKILL)

    def test_a_jvm_that_the_kernel_ends_while_it_is_looked_at_is_said_to_lack_memory(self):
        neighbour = self.neighbour(self.app)
        stops = ["strace", "-f", "-q", "-o", "/dev/null", "-P", "maps", "-e", "trace=openat", "-e", "inject=openat:signal=SIGSTOP:when=1"]
        recording = self.start("--force", "--duration", "100s", under=stops)
        finder = wait_until(lambda: self.stopped_child(recording), what="a stopped jprof")
        self.app.limit(self.app.used() + 8 * MEBIBYTE)
        self.take_until(neighbour, self.app.kills)
        os.kill(finder, signal.SIGCONT)
        code, out, err = self.finish(recording)
        body = json.loads(out or err)
        self.assertEqual((code, body["reason"]), (3, "TargetGone"), body)
        self.assertRegex(body["message"], r"the kernel ended it for lack of memory \(\d+ OOM kills? in its cgroup during the capture\)")
        self.assertIn("raise the memory limit of the JVM's container", body["cure"])

    def test_what_is_common_is_given_back_when_it_becomes_short(self):
        self.pod.limit(self.pod.used() + 128 * MEBIBYTE)
        recording = self.start("--duration", "100s")
        wait_until(self.is_recording, what="recording")
        # A neighbour in the pod takes more and more, as long as we record.
        neighbour = Group("neighbour", self.pod)
        self.addCleanup(neighbour.remove)
        takes = "import time\nheld = []\nwhile True:\n    held.append(b'x' * (1 << 20))\n    time.sleep(0.1)\n"
        hungry = subprocess.Popen(neighbour.enter([sys.executable, "-c", takes]))
        self.addCleanup(hungry.wait)
        self.addCleanup(hungry.kill)
        code, out, err = self.finish(recording)
        hungry.kill()
        body = json.loads(out or err)
        self.assertEqual(code, 6, body)
        self.assertIn("memory ran short", body["partialReason"])
        self.assertGreater(body["samples"], 0)
        self.assertEqual(self.pod.kills() + self.app.kills() + self.ours.kills(), 0)
        self.assertIsNone(self.jvm.poll())


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("java") or not can_make_groups():
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Commands for a JVM through `jprof serve`: by frames, and by kubectl-jprof over a server that execs a real session.

usage: attach_test.py PROGRAM CLASSES KUBECTL_JPROF [unittest arguments]
"""
import glob
import json
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "plugin")]
PLUGIN = os.path.abspath(sys.argv.pop(3))
from exec_server import ExecServer, pod  # noqa: E402
from serve_rig import CLASSES, JPROF, Jvm, SECOND, ServeRig, wait_until  # noqa: E402
from session_client import CANCEL, REQUEST, Refused  # noqa: E402

def java_of(part):
    """The `java` of a JVM that scripts/parts has made; None if it has not."""
    where = subprocess.run([os.path.join(HERE, "../../../scripts/parts"), "--where", part], capture_output=True, text=True, check=False)
    found = glob.glob(where.stdout.strip() + "/**/bin/java", recursive=True) if where.stdout.strip() else []
    return min(found, key=len, default=None)


JDK_21 = java_of("jdk-21")
ALL = "allow: [properties, agentProperties, threaddump, inspectheap, dumpheap, printflag, setflag, jcmd, load]\n"


class AttachRig(ServeRig):
    def attach(self, command, *arguments, **more):
        return {"type": "attach", "requester": "ann", "pid": self.jvm.pid, "command": command, "arguments": arguments, **more}

    def dumps_in_target(self):
        return glob.glob("/proc/%d/root/tmp/.jprof-heap-*" % self.jvm.pid) + glob.glob(
            "/proc/%d/root/var/tmp/.jprof-heap-*" % self.jvm.pid)


class AttachTest(AttachRig):
    def test_what_is_not_allowed_is_refused(self):
        self.start()
        refused = self.refusal(self.attach("threaddump"))
        self.assertEqual((refused["reason"], refused["exitCode"]), ("NotAllowed", 4))
        self.assertIn("'threaddump'", refused["message"])
        self.assertIn("allow", refused["cure"])
        self.assertIn("is refused", self.log())

    def test_only_what_is_named_is_allowed(self):
        self.start("allow: [threaddump]\n")
        _, files = self.ask(self.attach("threaddump"))
        self.assertIn(b"Full thread dump", files["answer.txt"])
        self.assertEqual(self.refusal(self.attach("jcmd", "VM.version"))["reason"], "NotAllowed")
        self.assertEqual(self.refusal(self.record())["reason"], "NotAllowed")
        self.assertEqual(self.refusal(self.attach("nonsense"))["reason"], "Usage")
        self.assertIn("requested by 'ann'", self.log())

    def test_the_jvms_refusal_comes_back(self):
        self.start(ALL)
        refused = self.refusal(self.attach("setflag", "UseG1GC", "1"))
        self.assertEqual((refused["reason"], refused["exitCode"]), ("AttachFailed", 5))
        self.assertIn("cannot be changed", refused["message"])

    def test_a_heap_dump_is_fetched_and_leaves_nothing(self):
        self.start(ALL)
        _, files = self.ask(self.attach("dumpheap", "-live"))
        self.assertTrue(files["heap.hprof"].startswith(b"JAVA PROFILE 1.0."))
        self.assertEqual(self.dumps_in_target(), [])
        self.assertEqual([name for name in os.listdir(self.spool) if "heap" in name or "answer" in name], [])

    def test_a_heap_dump_has_a_limit(self):
        self.start(ALL + "limits: {dumpBytes: 1KiB}\n")
        refused = self.refusal(self.attach("dumpheap", "-all"))
        self.assertEqual((refused["reason"], refused["exitCode"]), ("LimitReached", 9))
        self.assertIn("dumpBytes", refused["cure"])
        self.assertEqual(self.dumps_in_target(), [])

    def test_a_caller_that_goes_away_leaves_no_dump(self):
        self.start(ALL)
        for delay in (0.01, 0.02, 0.05, 0.1, 0.2):
            session = self.session()
            session.send(REQUEST, self.attach("dumpheap", "-live"))
            time.sleep(delay)
            session.cut()
        # Four callers at most: the one that gets an answer comes after those that went away.
        wait_until(lambda: b"Known" in self.ask(self.attach("jcmd", "VM.command_line"))[1]["answer.txt"], what="an answer")
        wait_until(lambda: not self.dumps_in_target(), what="the removal")

    def test_cancel_ends_the_waiting(self):
        """A JVM that is stopped while it is asked answers nobody."""
        self.start(ALL)
        jvm = Jvm()
        self.addCleanup(jvm.close)
        body = self.attach("jcmd", "Thread.print", timeoutNs=60 * SECOND, pid=jvm.pid)
        self.ask(body)  # its listener is up
        subprocess.run(["kill", "-STOP", str(jvm.pid)], check=True)
        try:
            self.assertIn("stopped", self.refusal(body)["message"])
        finally:
            subprocess.run(["kill", "-CONT", str(jvm.pid)], check=True)
        session = self.session()
        began = time.monotonic()
        session.send(REQUEST, self.attach("dumpheap", "-live", timeoutNs=60 * SECOND, pid=jvm.pid))
        time.sleep(0.05)
        session.send(CANCEL, {"mode": "keep"})
        try:
            session.answer()  # it may have been done in time
        except Refused as refused:
            self.assertEqual(refused.body["exitCode"], 130)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(glob.glob("/proc/%d/root/tmp/.jprof-heap-*" % jvm.pid), [])


class KubectlTest(AttachRig):
    """The same sidecar, asked by the plugin."""

    def kubectl(self, *arguments, code=0, faults=(), command="attach"):
        server = ExecServer([pod("demo")], ["env", "-i", *("%s=%s" % item for item in self.env.items()), JPROF, "session"],
                            faults=faults)
        self.addCleanup(server.close)
        config = str(self.folder / "kubeconfig")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({"current-context": "c", "contexts": [
                {"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "shop"}}],
                "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:%d" % server.port}}],
                "users": [{"name": "u", "user": {}}]}, out)
        done = subprocess.run([PLUGIN, command, "--pid", str(self.jvm.pid), *arguments], cwd=self.folder, timeout=120,
                              env={"KUBECONFIG": config, "USER": "ann", "HOME": str(self.folder)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_text_goes_to_stdout(self):
        self.start(ALL)
        out, err = self.kubectl("demo", "threaddump", "-l")
        self.assertIn("Full thread dump", out)
        self.assertIn("Locked ownable synchronizers", out)
        self.assertEqual(err, "")
        out, _ = self.kubectl("--json", "demo", "printflag", "MaxHeapFreeRatio")
        self.assertEqual(json.loads(out), {"ok": True, "text": "-XX:MaxHeapFreeRatio=70\n"})
        self.assertIn("requested by 'ann'", self.log())

    def test_refusals_have_exit_code_and_cure(self):
        self.start("allow: [record]\n")
        out, err = self.kubectl("demo", "threaddump", code=4)
        self.assertEqual(out, "")
        self.assertIn("does not allow 'threaddump'", err)
        self.assertIn("allow", err.splitlines()[1])
        self.kubectl("demo", "nonsense", code=2)

    @unittest.skipUnless(JDK_21, "scripts/parts jdk-21 was not run")
    def test_what_stays_in_the_jvm_is_said_before_and_refused_unless_agreed_to(self):
        self.jvm = Jvm(java=JDK_21)
        self.addCleanup(self.jvm.close)
        walk = ["demo", "--walker", "jvmti", "--duration", "300ms", "-o", "a.jprof"]
        note = "note: this walker opens JVMTI"
        self.start("allow: [record]\n")
        _, err = self.kubectl(*walk, command="record", code=2)
        self.assertIn("--leave-behind", err.splitlines()[-1])
        self.assertNotIn(note, err)
        _, err = self.kubectl(*walk, "--leave-behind", command="record", code=4)
        self.assertIn("does not allow 'leaveBehind'", err)
        self.assertEqual(list(self.folder.glob("a.jprof")), [])
        self.kill_serve()
        self.start("allow: [record, leaveBehind]\n")
        _, err = self.kubectl(*walk, "--leave-behind", command="record")
        self.assertTrue(err.startswith(note), err)
        self.assertIn("20 to 30 % more until the JVM ends", " ".join(err.split()))
        self.assertTrue((self.folder / "a.jprof").exists())

    def test_a_heap_dump_lands_here(self):
        self.start(ALL)
        out, _ = self.kubectl("demo", "dumpheap", "app.hprof", "-live")
        path = self.folder / "app.hprof"
        self.assertIn("app.hprof", out)
        self.assertTrue(path.read_bytes().startswith(b"JAVA PROFILE"))
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.dumps_in_target(), [])
        _, err = self.kubectl("demo", "dumpheap", "app.hprof", code=2)
        self.assertIn("already exists", err)

    def test_a_cut_dump_is_kept_and_named(self):
        self.start(ALL)
        _, err = self.kubectl("demo", "dumpheap", "app.hprof", "-all", code=6, faults=[{"cut": 600_000}])
        self.assertIn("app.hprof.partial", err)
        self.assertFalse((self.folder / "app.hprof").exists())
        self.assertGreater((self.folder / "app.hprof.partial").stat().st_size, 100_000)
        wait_until(lambda: not self.dumps_in_target(), what="the removal")


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit(77)
    sys.argv[1:3] = []
    unittest.main()

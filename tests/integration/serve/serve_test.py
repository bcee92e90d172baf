#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof serve` and `jprof session` as a container runs them, against a real JVM.

usage: serve_test.py PROGRAM CLASSES [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import CLASSES, JPROF, Jvm, NOBODY, SECOND, ServeRig, schemas, wait_until  # noqa: E402
from session_client import CANCEL, ERROR, Refused  # noqa: E402


class ServeTest(ServeRig):
    def test_a_capture_comes_back_whole(self):
        self.start()
        seen = []
        body = self.record(2, formats=["html", "collapsed", "jprof", "manifest"],
                           pod={"cluster": "c1", "pod": "claimed", "workloadKind": "Deployment", "workload": "checkout"})
        result, files = self.ask(body, on_progress=lambda p: seen.append(p["phase"]))
        self.assertEqual(result["exitCode"], 0, result)
        self.assertEqual(seen[0], "accepted")
        self.assertIn("recording", seen)
        self.assertEqual(sorted(files), ["flamegraph.html", "manifest.json", "profile.collapsed", "profile.jprof"])
        self.assertIn(b"Known.hot", files["profile.collapsed"])
        manifest = json.loads(files["manifest.json"])
        self.assertEqual(manifest["source"]["pod"], "checkout-1")  # what the sidecar knows wins over what is claimed
        self.assertEqual(manifest["source"]["cluster"], "c1")
        self.assertEqual(manifest["requester"], "ann")
        measured = manifest["measured"]
        self.assertGreater(measured["samples"], 0)
        self.assertTrue(measured["accounted"])
        total = sum(int(line.rsplit(b" ", 1)[1]) for line in files["profile.collapsed"].splitlines())
        self.assertEqual(total, measured["weightNs"])
        self.assertEqual(self.counts()["pending"], 1)

    def test_only_asked_files_are_sent_and_release_ends_a_capture(self):
        self.start()
        session = self.session()
        body = self.record()
        result, files = session.request(body)
        self.assertEqual(list(files), ["profile.collapsed"])
        session.request({"type": "release", "id": body["id"]})
        counts = self.counts()
        self.assertEqual((counts["delivered"], counts["pending"]), (1, 0))
        listed, _ = session.request({"type": "list"})
        self.assertEqual([c["state"] for c in listed["captures"]], ["done"])

    def test_a_capture_goes_on_without_its_caller(self):
        self.start()
        body = self.record(2)
        self.begin(body).cut()
        result, files = self.ask({"type": "fetch", "id": body["id"]})
        self.assertEqual(result["exitCode"], 0, result)
        self.assertGreaterEqual(result["manifest"]["measured"]["durationNs"], 1.9 * SECOND)
        self.assertEqual(sorted(files), ["profile.collapsed", "profile.jprof"])

    def test_a_fetch_goes_on_at_its_offset(self):
        self.start()
        body = self.record(formats=["html"])
        _, files = self.ask(body)
        whole = files["flamegraph.html"]
        for offset in (0, 1, len(whole) // 2, len(whole)):
            result, part = self.ask(
                {"type": "fetch", "id": body["id"], "names": ["flamegraph.html"], "offsets": [offset]})
            self.assertEqual(part["flamegraph.html"], whole[offset:])
        body = {"type": "fetch", "id": body["id"], "names": ["flamegraph.html"], "offsets": [len(whole) + 1]}
        self.assertEqual(self.refusal(body)["reason"], "NotFound")
        body.update(names=["../../lock"], offsets=[0])
        self.assertEqual(self.refusal(body)["reason"], "NotFound")

    def test_a_second_caller_is_told_who_and_until_when(self):
        self.start()
        body = self.record(4)
        first = self.begin(body)
        refused = self.refusal(self.record(requester="bob"))
        self.assertEqual((refused["reason"], refused["exitCode"]), ("Busy", 9))
        self.assertEqual(refused["busy"]["requester"], "ann")
        self.assertEqual(refused["busy"]["id"], body["id"])
        self.assertRegex(refused["busy"]["until"], r"^20\d\d-.*Z$")
        joined, files = self.ask(self.record(requester="bob", join=True))
        self.assertEqual(joined["id"], body["id"])
        self.assertIn(b"Known", files["profile.collapsed"])
        self.assertEqual(first.answer()[0]["id"], body["id"])
        self.assertEqual(self.counts()["accepted"], 1)

    def test_a_repeated_request_is_the_same_capture(self):
        self.start()
        body = self.record(2)
        self.begin(body).cut()
        during, _ = self.ask(body)
        after, files = self.ask(body)
        self.assertEqual(during["manifest"], after["manifest"])
        self.assertIn(b"Known", files["profile.collapsed"])
        self.assertEqual(self.counts()["accepted"], 1)

    def test_cancel_keeps_or_discards(self):
        self.start()
        kept = self.record(60)
        session = self.begin(kept)
        begin = time.monotonic()
        session.send(CANCEL, {"mode": "keep"})
        result, files = session.answer()
        self.assertLess(time.monotonic() - begin, 30)  # the capture's own time is longer
        self.assertEqual(result["exitCode"], 0)
        self.assertIn(b"Known", files["profile.collapsed"])
        session = self.begin(self.record(60))
        session.send(CANCEL, {"mode": "discard"})
        with self.assertRaises(Refused) as caught:
            session.answer()
        self.assertEqual(caught.exception.body["exitCode"], 130)
        counts = self.counts()
        self.assertEqual((counts["accepted"], counts["failedBeforeSeal"], counts["pending"]), (2, 1, 1))

    def test_limits_name_themselves(self):
        self.start("limits: {longestDuration: 5s, shortestInterval: 5ms, capturesPerHour: 1}\n")
        self.assertIn("limits.longestDuration", self.refusal(self.record(6))["cure"])
        self.assertIn("limits.shortestInterval", self.refusal(self.record(intervalNs=1_000_000))["cure"])
        self.assertEqual(self.refusal(self.record(id="../../x"))["reason"], "Usage")
        self.ask(self.record())
        refused = self.refusal(self.record())
        self.assertEqual((refused["reason"], refused["exitCode"]), ("LimitReached", 9))
        self.assertIn("capturesPerHour", refused["cure"])

    def test_a_sidecar_that_allows_nothing_records_nothing(self):
        self.start("allow: []\n")
        refused = self.refusal(self.record())
        self.assertEqual((refused["reason"], refused["exitCode"]), ("NotAllowed", 4))

    def test_a_full_spool_refuses_until_somebody_has_fetched(self):
        self.start("spool: {quota: 2MiB}\nlimits: {captureBytes: 2MiB}\n")
        waiting = self.record(sendFiles=False)
        self.ask(waiting)
        refused = self.refusal(self.record())
        self.assertEqual((refused["reason"], refused["exitCode"]), ("LimitReached", 9))
        self.assertIn("spool.quota", refused["cure"])
        self.ask({"type": "fetch", "id": waiting["id"]})
        self.assertEqual(self.refusal(self.record())["reason"], "LimitReached")  # sent is not arrived
        self.ask({"type": "release", "id": waiting["id"]})
        self.ask(self.record())
        self.assertEqual((self.counts()["delivered"], self.counts()["expired"]), (1, 0))

    def test_sigterm_seals_and_ends_soon(self):
        self.start()
        body = self.record(60)
        session = self.begin(body)
        begin = time.monotonic()
        self.serve.send_signal(signal.SIGTERM)
        result, files = session.answer()  # the caller still gets it
        self.assertEqual(self.serve.wait(60), 0)
        self.assertLess(time.monotonic() - begin, 30)  # the capture's own time is longer
        self.assertEqual((result["exitCode"], result["manifest"]["partial"]), (6, True))  # nobody asked for less
        self.assertIn("SIGTERM", result["manifest"]["partialReason"])
        self.assertIn(b"Known", files["profile.collapsed"])
        self.assertFalse((self.spool / "serve.sock").exists())
        self.start()
        again, _ = self.ask({"type": "fetch", "id": body["id"]})
        self.assertEqual(again["manifest"], result["manifest"])

    def test_sigterm_seals_a_capture_whose_caller_is_gone(self):
        self.start()
        body = self.record(60)
        self.begin(body).cut()
        self.serve.send_signal(signal.SIGTERM)
        self.assertEqual(self.serve.wait(60), 0)
        self.assertEqual(self.counts()["pending"], 1)

    def test_a_recorder_that_is_killed_leaves_a_partial_capture(self):
        self.start()
        body = self.record(60)
        session = self.begin(body)
        wait_until(lambda: (self.spool / "incoming" / body["id"] / "profile.jprof").stat().st_size > 64, 40, "a chunk")
        pids = self.children_of_capture(body)
        self.assertEqual(len(pids), 1)
        os.kill(pids[0], signal.SIGKILL)
        result, _ = session.answer()
        self.assertEqual((result["exitCode"], result["reason"]), (6, "PartialCapture"))
        self.assertIn("signal 9", result["message"])
        result, files = self.ask({"type": "fetch", "id": body["id"]})
        self.assertGreater(len(files["profile.jprof"]), 64)
        self.assertIsNone(self.serve.poll())
        self.ask(self.record())  # and the JVM can be profiled again

    def test_a_container_that_is_killed_keeps_what_was_recorded(self):
        self.start()
        sealed = self.record()
        self.ask(sealed)
        body = self.record(60)
        self.begin(body)
        wait_until(lambda: (self.spool / "incoming" / body["id"] / "profile.jprof").stat().st_size > 64, 40, "a chunk")
        self.kill_serve()
        self.start()
        result, files = self.ask({"type": "fetch", "id": body["id"]})
        self.assertEqual(result["exitCode"], 6)
        self.assertIn("profile.jprof", files)
        result, _ = self.ask({"type": "fetch", "id": sealed["id"]})
        self.assertEqual(result["exitCode"], 0)
        counts = self.counts()
        self.assertEqual((counts["accepted"], counts["pending"]), (2, 2))

    def test_a_jvm_that_is_killed_leaves_a_partial_capture(self):
        self.start()
        jvm = Jvm()
        self.addCleanup(jvm.close)
        session = self.begin(self.record(60, pid=jvm.pid))
        jvm.close()
        result, files = session.answer()
        self.assertEqual(result["exitCode"], 6, result)
        self.assertIn(b"Known", files["profile.collapsed"])

    def test_one_spool_has_one_serve(self):
        self.start()
        second = subprocess.run([JPROF, "serve", "--config", str(self.folder / "config.yaml")], env=self.env,
                                capture_output=True, text=True, timeout=20)
        self.assertEqual(second.returncode, 9, second.stderr)
        self.ask({"type": "list"})  # the first still listens

    def test_a_serve_killed_alone_is_followed_at_once_and_its_capture_goes_on(self):
        self.start()
        body = self.record(60)
        session = self.begin(body)
        orphans = self.serve.pid
        self.addCleanup(lambda: subprocess.run(["pkill", "-9", "-g", str(orphans)]))
        os.kill(self.serve.pid, signal.SIGKILL)
        self.serve.wait()
        self.start()
        self.ask({"type": "list"})
        self.assertIsNone(self.serve.poll())
        refused = self.refusal(self.record())  # the JVM is taken, and the slot
        self.assertEqual((refused["reason"], refused["busy"]["id"]), ("Busy", body["id"]))
        session.send(CANCEL, {"mode": "keep"})
        result, files = session.answer()
        self.assertEqual(result["exitCode"], 0, result)
        self.assertIn(b"Known", files["profile.collapsed"])
        result, _ = self.ask({"type": "fetch", "id": body["id"]})
        self.assertEqual(result["exitCode"], 0, result)
        counts = self.counts()
        self.assertEqual((counts["accepted"], counts["pending"], counts["failedBeforeSeal"]), (1, 1, 0))

    def test_what_a_killed_serve_left_running_is_stored_without_anybody_asking(self):
        bucket = self.folder / "bucket"
        bucket.mkdir()
        store = "store: {url: \"file://%s\"}\n" % bucket
        self.start(store)
        session = self.begin(self.record(60))
        orphans = self.serve.pid
        self.addCleanup(lambda: subprocess.run(["pkill", "-9", "-g", str(orphans)]))
        os.kill(self.serve.pid, signal.SIGKILL)
        self.serve.wait()
        self.start(store)
        self.ask({"type": "list"})
        session.send(CANCEL, {"mode": "keep"})
        session.answer()
        wait_until(lambda: self.counts()["delivered"] == 1, 60, "delivery")

    def test_what_a_killed_serve_left_is_salvaged_when_it_is_killed_too(self):
        self.start()
        body = self.record(60)
        session = self.begin(body)
        wait_until(lambda: (self.spool / "incoming" / body["id"] / "profile.jprof").stat().st_size > 64, 40, "a chunk")
        orphans = self.serve.pid
        os.kill(self.serve.pid, signal.SIGKILL)
        self.serve.wait()
        self.start()
        self.ask({"type": "list"})
        self.assertEqual(self.counts()["recording"], 1)
        os.killpg(orphans, signal.SIGKILL)
        session.cut()
        wait_until(lambda: self.counts()["pending"] == 1, what="the salvage")  # without anybody asking for it
        self.assertEqual(self.ask({"type": "fetch", "id": body["id"]})[0]["exitCode"], 6)

    def test_a_store_gets_each_capture_once(self):
        bucket = self.folder / "bucket"
        bucket.mkdir()
        self.start("store: {url: \"file://%s\"}\nsource: {cluster: c1}\n" % bucket)
        body = self.record(requestTime="2026-11-21T07:08:09Z")
        self.ask(body)
        wait_until(lambda: self.counts()["delivered"] == 1, what="delivery")
        [directory] = [path.parent for path in bucket.rglob("manifest.json")]
        self.assertEqual(str(directory.relative_to(bucket)),
                         "v1/c1/shop/pod.checkout-1/2026/11/21/070809Z-checkout-1-unknown-" + body["id"])
        schemas.check("manifest", (directory / "manifest.json").read_text())
        verify = subprocess.run([JPROF, "verify", "--json", str(directory)], capture_output=True, text=True)
        self.assertEqual(verify.returncode, 0, verify.stdout)
        schemas.check("verify", verify.stdout)
        os.truncate(directory / "profile.jprof", 64)
        verify = subprocess.run([JPROF, "verify", str(directory)], capture_output=True, text=True)
        self.assertEqual(verify.returncode, 2, verify.stdout)
        self.assertRegex(verify.stdout, r"damaged: .*\n  copy the capture again from where it is whole")

    def test_a_store_that_is_away_gets_its_captures_later(self):
        bucket = self.folder / "bucket"
        bucket.write_text("not a directory")
        self.start("store: {url: \"file://%s\"}\n" % bucket)
        self.ask(self.record())
        wait_until(lambda: "cannot store it" in self.log(), what="a refusal")
        self.assertEqual(self.counts()["pending"], 1)
        bucket.unlink()
        bucket.mkdir()
        self.ask(self.record())  # wakes the delivery
        wait_until(lambda: self.counts()["delivered"] == 2, 40, "delivery")

    def test_sigterm_delivers_what_it_has_just_sealed(self):
        bucket = self.folder / "bucket"
        bucket.mkdir()
        self.start("store: {url: \"file://%s\"}\n" % bucket)
        self.begin(self.record(60)).cut()
        self.serve.send_signal(signal.SIGTERM)
        self.assertEqual(self.serve.wait(60), 0)
        self.assertEqual(len(list(bucket.rglob("manifest.json"))), 1)
        self.assertEqual(self.counts()["delivered"], 1)

    def test_damage_is_found_before_anybody_gets_it(self):
        self.start()
        body = self.record()
        self.ask(body)
        path = self.spool / "sealed" / body["id"] / "profile.jprof"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        self.assertEqual(self.refusal({"type": "fetch", "id": body["id"]})["reason"], "InvalidData")
        counts = self.counts()
        self.assertEqual((counts["quarantined"], counts["pending"]), (1, 0))
        self.assertTrue((self.spool / "quarantine" / body["id"] / "profile.jprof").exists())

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_a_process_of_the_same_user_sees_nothing_of_it(self):
        # As in the image: root owns the program, and nobody may read it.
        os.chmod(self.folder, 0o755)
        for name, mode in (("jprof", 0o711), ("libjprof.so", 0o444)):
            shutil.copy(os.path.join(os.path.dirname(JPROF), name), self.folder / name)
            os.chmod(self.folder / name, mode)
        classes = self.folder / "classes"
        shutil.copytree(CLASSES, classes)
        var = self.folder / "var"
        var.mkdir()
        os.chown(var, 64123, 64123)
        self.env.update(JPROF_SPOOL=str(var / "spool"), JPROF_SOCKET=str(self.folder / "var" / "serve.sock"))
        self.jprof, self.prefix = str(self.folder / "jprof"), NOBODY
        jvm = Jvm(NOBODY, str(classes))
        self.addCleanup(jvm.close)
        config = self.folder / "config.yaml"
        config.touch()
        self.start(prefix=NOBODY)
        session = self.begin(self.record(3, pid=jvm.pid))
        pids = subprocess.run(["pgrep", "-U", "64123", "-x", "jprof"], capture_output=True, text=True).stdout.split()
        shut = 0
        for pid in pids:
            looks = [(what, subprocess.run([*NOBODY, "cat", "/proc/%s/%s" % (pid, what)], capture_output=True, text=True))
                     for what in ("environ", "fd/0", "root/etc/hostname", "maps", "mem")]
            self.assertTrue(all(look.returncode != 0 for _, look in looks), (pid, looks))
            if os.path.exists("/proc/" + pid):  # else it has only asked something
                self.assertTrue(all("Permission denied" in look.stderr for _, look in looks), (pid, looks))
                shut += 1
        self.assertGreaterEqual(shut, 4)  # serve, connection, capture, session
        result, _ = session.answer()
        self.assertEqual(result["exitCode"], 0, result)
        for path in (var / "spool", var / "spool" / "sealed"):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        self.assertEqual((var / "serve.sock").stat().st_mode & 0o177, 0)

    def test_it_works_within_the_memory_of_a_small_container(self):
        # 56 MiB is what a capture gets of a container of 128 MiB (MemoryPlan).
        self.start(prefix=["prlimit", "--data=%d" % (56 << 20)])
        result, files = self.ask(self.record(2, formats=["html", "collapsed", "jprof"]))
        self.assertEqual(result["exitCode"], 0, result)
        self.assertGreater(len(files["flamegraph.html"]), 10_000)

    def test_a_connection_needs_little_memory(self):
        self.start()
        body = self.record(formats=["html"])
        self.ask(body)
        self.serve.send_signal(signal.SIGTERM)
        self.serve.wait(10)
        self.start(prefix=["prlimit", "--data=%d" % (6 << 20)])
        self.ask({"type": "fetch", "id": body["id"]})
        self.ask({"type": "list"})
        result, _ = self.ask({"type": "targets"})
        self.assertTrue(result["targets"])

    @unittest.skipUnless("JPROF_TEST_S3_TLS" in os.environ, "needs with_s3_gateway.py")
    def test_an_s3_store_gets_captures_with_keys_from_a_file(self):
        keys = self.folder / "credentials"
        keys.write_text("[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n")
        self.env = {k: v for k, v in self.env.items() if not k.startswith("AWS")}
        self.start("store: {url: \"s3://%s/team\", endpoint: \"%s\", pathStyle: true, region: us-east-1,"
                   " credentials: \"%s\", caFile: \"%s\"}\n" % (
                       os.environ["JPROF_TEST_S3_BUCKET"], os.environ["JPROF_TEST_S3_TLS"], keys,
                       os.environ["JPROF_TEST_S3_CA"]))
        self.ask(self.record())
        wait_until(lambda: "cannot store it" in self.log(), what="a refusal")
        self.assertEqual(self.counts()["pending"], 1)
        # The Secret is corrected; the next capture wakes the delivery of both.
        keys.write_text("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n" % (
            os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]))
        self.ask(self.record())
        wait_until(lambda: self.counts()["delivered"] == 2, 60, "delivery")
        self.assertIn("/team/v1/", self.log())
        self.assertNotIn(os.environ["AWS_SECRET_ACCESS_KEY"], self.log())

    def test_without_serve_a_session_says_so_in_a_frame(self):
        session = self.session(hello=False)
        kinds = [session.receive() for _ in range(2)]
        self.assertEqual([kind for kind, _ in kinds], [1, ERROR])
        self.assertEqual(kinds[1][1]["reason"], "Unavailable")
        self.assertEqual(session.process.wait(10), 8)

    def test_targets_names_the_jvm(self):
        self.start()
        result, _ = self.ask({"type": "targets"})
        self.assertIn(self.jvm.pid, [target["pid"] for target in result["targets"]])

    def test_nothing_of_a_capture_stays_in_the_jvm(self):
        self.start()
        self.ask(self.record())
        fds, threads = self.footprint()
        for _ in range(5):
            self.ask(self.record(0.3))

        def nothing_more():
            now_fds, now_threads = self.footprint()
            return now_fds <= fds and now_threads <= threads

        wait_until(nothing_more, what="as few descriptors and threads as before")  # the JVM's own come and go

    def footprint(self):
        proc = pathlib.Path("/proc/%d" % self.jvm.pid)
        return len(list((proc / "fd").iterdir())), len(list((proc / "task").iterdir()))

    def test_it_ends_by_itself_when_nobody_calls(self):
        self.start(arguments=("--idle-exit", "1s"))
        with self.session() as session:
            session.request(self.record(2))
            self.assertIsNone(self.serve.poll())  # a caller is there
        self.assertEqual(self.serve.wait(60), 0)

    def test_a_wrong_configuration_does_not_end_the_container(self):
        # An ended container takes its pod out of the Service: serve stays, and tells whoever asks.
        self.start("stroe: {}\n")
        self.assertIn("line 3: unknown key 'stroe'", self.log())
        refused = self.refusal(self.record())
        self.assertEqual((refused["reason"], refused["exitCode"]), ("ConfigInvalid", 2))
        self.assertIn("line 3: unknown key 'stroe'", refused["message"])
        self.ask({"type": "list"})
        checked = subprocess.run([JPROF, "serve", "--check", "--config", str(self.folder / "config.yaml")], env=self.env,
                                 capture_output=True, text=True, timeout=20)
        self.assertEqual(checked.returncode, 2)

    def test_a_missing_volume_or_store_does_not_end_the_container(self):
        self.start("store: {url: \"s3://bucket/p\", region: r, credentials: \"/nonexistent/keys\"}\n")
        self.ask(self.record())
        self.assertIn("/nonexistent/keys", self.log())
        self.kill_serve()
        self.env["JPROF_SPOOL"] = "/proc/nowhere/spool"
        self.env["JPROF_SOCKET"] = str(self.folder / "other.sock")
        log = open(self.log_path, "ab")
        self.serve = subprocess.Popen([JPROF, "serve"], env=self.env, stderr=log)
        log.close()
        wait_until(lambda: "mount a writable emptyDir" in self.log(), what="the cure")
        self.assertIsNone(self.serve.poll())
        self.serve.send_signal(signal.SIGTERM)
        self.assertEqual(self.serve.wait(5), 0)

    def test_many_callers_at_once_balance(self):
        self.start("limits: {concurrentCaptures: 1, capturesPerHour: 100}\n")
        outcomes = []

        def call():
            try:
                result, _ = self.ask(self.record(0.3))
                outcomes.append(result["exitCode"])
            except Refused as refused:
                outcomes.append(refused.body["exitCode"])
            except (EOFError, BrokenPipeError):
                outcomes.append(-1)

        threads = [threading.Thread(target=call) for _ in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(outcomes) - {0, 9}, set(), outcomes)
        self.assertIn(0, outcomes)
        self.assertEqual(self.counts()["accepted"], outcomes.count(0))


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Where kubectl-jprof leaves what a pod gave it: files and stores, those that hang, refuse or are none, and pods that send more.

usage: delivery_test.py PROGRAM SCRIPTED_SESSION [unittest arguments]
"""
import glob
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from plugin_rig import PluginRig, main  # noqa: E402

FAULT_SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/fault_server.py")


class DeliveryTest(PluginRig):
    def test_a_store_gets_every_file_and_the_manifest(self):
        self.serve()
        store = os.path.join(self.folder.name, "store")
        os.mkdir(store)
        out, _ = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", "--store", "file://" + store)
        names = {os.path.basename(f) for f in glob.glob(store + "/**", recursive=True) if os.path.isfile(f)}
        self.assertEqual(names, {"flamegraph.html", "profile.jprof", "manifest.json"})
        self.assertEqual(self.files(), ["x.html"])
        self.assertIn(store + "/v1/", out)

    def test_what_cannot_be_stored_is_kept(self):
        self.serve()
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", "--store", self.blocked(), code=7)
        self.assertIn("captured, but not stored", err)
        self.assertRegex(err, r"kubectl jprof fetch -n shop demo [0-9A-Z]{26} --store 'file://")
        self.assertEqual([f.rsplit(".", 1)[1] for f in self.files()], ["jprof", "html"])

    def blocked(self):
        """The URL of a store that passes as one before the capture and takes nothing after it."""
        folder = os.path.join(self.folder.name, "blocked")
        os.mkdir(folder)
        with open(os.path.join(folder, "v1"), "w", encoding="utf-8"):
            pass
        return "file://" + folder

    def test_one_copy_is_kept_of_what_is_neither_read_nor_stored(self):
        broken = os.path.join(self.folder.name, "broken.jprof")
        with open(broken, "wb") as out:
            out.write(b"not a recording \xff\x00")
        self.serve(mode="salvaged:" + broken)
        _, err = self.run_plugin("demo", "--duration", "50ms", "--store", self.blocked(), code=7)
        [kept] = self.files()
        self.assertIn("captured, but not stored", err)
        self.assertIn("the recording is kept as " + kept, err)

    def test_what_was_wrong_before_is_told_beside_the_store(self):
        self.serve(mode="partial")
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", "--store", self.blocked(), code=7)
        self.assertIn("captured, but not stored", err)
        self.assertIn("the JVM ended after 3 s", err)

    def test_a_file_that_cannot_be_kept_is_told_beside_a_partial_capture(self):
        self.serve(mode="partial")
        os.mkdir(os.path.join(self.work, "x.html"))
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", code=7)
        self.assertIn("cannot create x.html", err)
        self.assertIn("the JVM ended after 3 s", err)

    def s3(self, steps, tls=()):
        """A scripted store and the URL of a bucket in it; `tls` are the files of its certificate and key."""
        server = subprocess.Popen([sys.executable, FAULT_SERVER, *tls], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        server.stdin.write(json.dumps(steps) + "\n")
        server.stdin.flush()
        self.addCleanup(lambda: (server.stdin.close(), server.wait(), server.stdout.close()))
        self.extra.update(AWS_ACCESS_KEY_ID="AK", AWS_SECRET_ACCESS_KEY="SK", AWS_REGION="us-east-1", HOME=self.folder.name)
        return f"s3://bucket/x?endpoint={'https' if tls else 'http'}://127.0.0.1:{int(server.stdout.readline())}&addressing=path"

    def certificate(self):
        """Of 127.0.0.1, signed by itself: the files of it and of its key."""
        files = [os.path.join(self.folder.name, name) for name in ("store.crt", "store.key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=store", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
                       check=True, stderr=subprocess.DEVNULL)  # fmt: skip
        return files

    @staticmethod
    def refusal(status, code):
        return {"status": status, "body": f"<Error><Code>{code}</Code></Error>"}

    def test_a_store_is_tried_before_a_minute_is_spent(self):
        server = self.serve()
        blocked = os.path.join(self.folder.name, "blocked")
        with open(blocked, "w", encoding="utf-8"):
            pass
        portal = {"headers": {"Content-Type": "text/html"}, "body": "<html>log in"}
        cases = [(self.s3([self.refusal(403, "SignatureDoesNotMatch")]), "SignatureDoesNotMatch"),
                 (self.s3([self.refusal(403, "InvalidAccessKeyId")]), "InvalidAccessKeyId"),
                 (self.s3([self.refusal(404, "NoSuchBucket")]), "create the bucket"),
                 (self.s3([portal]), "a portal or a proxy"),
                 (self.s3([{"status": 404, "body": "<html>not found"}]), "404"),
                 ("file://" + blocked, "is not a directory")]
        for url, words in cases:
            process = self.start("demo", "--duration", "50ms", "--store", url)
            out, err = process.communicate(timeout=60)
            self.assertNotIn(process.returncode, (0, 6, 7), (url, out, err))
            self.assertIn(words, err)
        self.assertEqual(server.execs, [], "nothing was captured")
        self.assertEqual(self.files(), [])

    def test_an_authority_that_is_not_trusted_ends_it_before_the_capture(self):
        server = self.serve()
        files = self.certificate()
        denied = [self.refusal(403, "AccessDenied"), {"do": "store"}]
        _, err = self.run_plugin("demo", "--duration", "50ms", "--store", self.s3(denied, files), code=8)
        self.assertIn("certificate", err)
        self.assertIn("name its certificate authority", err)
        self.assertEqual((server.execs, self.files()), ([], []))
        self.extra["SSL_CERT_FILE"] = files[0]
        self.run_plugin("demo", "--duration", "50ms", "--store", self.s3(denied, files))

    def test_a_store_that_answers_no_question_takes_captures(self):
        self.serve()
        for denied in (self.refusal(403, "AccessDenied"), self.refusal(404, "NoSuchKey")):
            self.run_plugin("demo", "--duration", "50ms", "--store", self.s3([denied, {"do": "store"}]))

    def test_a_store_that_hangs_is_told_and_given_up(self):
        self.serve()
        url = self.s3([self.refusal(403, "AccessDenied"), {"do": "stall"}])
        begin = time.monotonic()
        _, err = self.run_plugin("demo", "--duration", "50ms", "--store", url, "--store-timeout", "7s", code=7)
        self.assertLess(time.monotonic() - begin, 45)
        self.assertIn("the store is silent for", err)
        self.assertIn("given up after 7 s", err)
        self.assertRegex(err, r"kubectl jprof fetch -n shop demo [0-9A-Z]{26} --store 's3://bucket/x")
        self.assertEqual(sorted(f.rsplit(".", 1)[1] for f in self.files()), ["html", "jprof"])

    def test_what_a_store_did_not_take_is_stored_by_the_command_that_was_named(self):
        server = self.serve()
        hangs = self.s3([self.refusal(403, "AccessDenied"), {"do": "stall"}])
        _, err = self.run_plugin("demo", "--duration", "50ms", "--store", hangs, "--store-timeout", "1s", code=7)
        program, named, *options = shlex.split(re.search(r"kubectl (jprof fetch -n shop demo [0-9A-Z]{26} --store \S+)", err).group(1))
        self.assertEqual((program, named, options[-1]), ("jprof", "fetch", hangs))
        [kept] = [name for name in self.files() if name.endswith(".jprof")]
        with open(os.path.join(self.work, kept), "rb") as file:
            recording = file.read()
        sessions = len(server.execs)
        good = os.path.join(self.folder.name, "good")
        os.mkdir(good)
        self.run_plugin(named, *options[:-1], "file://" + good)
        self.assertGreater(len(server.execs), sessions, "it comes from the pod")
        [manifest] = glob.glob(good + "/**/manifest.json", recursive=True)
        bundle = os.path.dirname(manifest)
        with open(os.path.join(bundle, "profile.jprof"), "rb") as file:
            self.assertEqual(file.read(), recording)
        with open(manifest, "rb") as file:
            stored = json.load(file)
        self.assertEqual(stored["id"], options[3])
        self.assertEqual(sorted(os.listdir(bundle)), sorted(["manifest.json", *(file["name"] for file in stored["files"])]))
        for file in stored["files"]:
            with open(os.path.join(bundle, file["name"]), "rb") as content:
                self.assertEqual(hashlib.sha256(content.read()).hexdigest(), file["sha256"], file["name"])

    def test_a_store_that_hangs_when_it_is_tried_is_told_and_given_up(self):
        server = self.serve()
        _, err = self.run_plugin("demo", "--duration", "50ms", "--store", self.s3([{"do": "stall"}]), "--store-timeout", "7s", code=8)
        self.assertRegex(err, r"the store is silent for \d+ s, given up after 7 s \(--store-timeout\)")
        self.assertIn("without --store the capture stays on the laptop", err)
        self.assertEqual(server.execs, [])

    def test_ctrl_c_ends_the_wait_for_a_store(self):
        self.serve()
        url = self.s3([self.refusal(403, "AccessDenied"), {"do": "stall"}])
        process = self.start("demo", "--duration", "50ms", "--store", url)
        while "the store is silent" not in (line := process.stderr.readline()):
            self.assertTrue(line, "it ended before the store was waited for")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 7, err)
        self.assertIn("captured, but not stored", err)

    def test_nothing_that_runs_or_is_shown_comes_from_the_pod_as_it_stands(self):
        """Asked or not, a pod may send a page and a text of its own: what is kept and stored is made of the recording."""
        self.serve(mode="own-page")
        store = os.path.join(self.folder.name, "store")
        for more in ([], ["--store", "file://" + store]):
            self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", "-o", "x.collapsed", *more)
            self.assertEqual(self.files(), ["x.collapsed", "x.html"])
            self.assertEqual(self.read("x.collapsed"), "main;of.the.Recording 1\n")
            page = self.read("x.html")
            self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))
            self.assertIn("of.the.Recording", page)
        [stored] = glob.glob(store + "/**/flamegraph.html", recursive=True)
        with open(stored, encoding="utf-8") as text:
            self.assertEqual(text.read(), page)
        with open(os.path.join(os.path.dirname(stored), "manifest.json"), "rb") as text:
            named = {file["name"]: file for file in json.load(text)["files"]}
        self.assertEqual(sorted(named), sorted(set(os.listdir(os.path.dirname(stored))) - {"manifest.json"}))
        for name, file in named.items():
            with open(os.path.join(os.path.dirname(stored), name), "rb") as content:
                self.assertEqual(hashlib.sha256(content.read()).hexdigest(), file["sha256"], name)

    def test_nor_does_it_by_fetch(self):
        self.serve(mode="own-page")
        name = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        self.run_plugin("fetch", "demo", name, "-o", "x.html", "-o", "x.collapsed")
        self.assertEqual(self.read("x.collapsed"), "main;of.the.Recording 1\n")
        self.assertTrue(self.read("x.html").startswith("<!doctype html>"))
        self.assertIn("of.the.Recording", self.read("x.html"))
        self.serve(mode="only-a-page")
        for file in ("x.html", "x.collapsed"):
            os.unlink(os.path.join(self.work, file))
        self.run_plugin("fetch", "demo", name, "-o", "x.html", "-o", "x.collapsed", code=8)
        self.assertEqual(self.files(), [])

    def test_a_page_without_a_recording_is_neither_kept_nor_stored(self):
        self.serve(mode="only-a-page")
        store = os.path.join(self.folder.name, "store")
        os.mkdir(store)
        for more in ([], ["--store", "file://" + store]):
            _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", "-o", "x.collapsed", *more, code=8)
            self.assertIn("nor the recording", err)
            self.assertEqual((self.files(), os.listdir(store)), ([], []))


if __name__ == "__main__":
    main()

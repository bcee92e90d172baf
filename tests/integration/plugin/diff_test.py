#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""kubectl jprof diff on captures in a directory and in a real S3 server (with_s3_gateway.py gives its endpoint).

usage: diff_test.py KUBECTL_JPROF JPROF [unittest arguments]
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

import botocore.config
import botocore.session

PLUGIN, JPROF = (os.path.abspath(path) for path in sys.argv[1:3])
OLD, NEW = "01JD6Z5T6V9GZ0P4X6N8Q2R7ST", "01JD9AXK4M7Y2B0D5H8Q3W6E1R"
STACKS = {OLD: "main;a 10\nmain;gone 5\n", NEW: "main;a 10\nmain;new 30\n"}
DIFF = "main;a 10 10\nmain;gone 5 0\nmain;new 0 30\n"


def manifest(name, recording):
    """As docs/formats/capture.md has it: the checksum is of the text with zeros in the digits' place."""
    body = {"apiVersion": "jprof.dev/v1alpha1", "kind": "Capture", "id": name, "trigger": "manual", "requester": "me",
            "cause": "", "requestTime": "2026-11-21T10:00:00Z", "startTime": "2026-11-21T10:00:01Z",
            "source": {"cluster": "c", "namespace": "shop", "pod": "demo", "container": "app"}, "partial": False,
            "measured": {}, "files": [{"name": "profile.jprof", "format": "jprof", "bytes": len(recording),
                                       "sha256": hashlib.sha256(recording).hexdigest()}],
            "checksum": "sha256:" + "0" * 64}
    text = json.dumps(body)
    return text.replace("0" * 64, hashlib.sha256(text.encode()).hexdigest()).encode()


def directory_of(name):
    return "v1/c/shop/pod.demo/2026/11/21/100000Z-demo-app-" + name


class DiffTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = folder.name
        self.store = os.path.join(self.work, "store")
        for name in (OLD, NEW):
            path = os.path.join(self.store, directory_of(name))
            os.makedirs(path)
            with open(self.path("in"), "w", encoding="utf-8") as file:
                file.write(STACKS[name])
            subprocess.run([JPROF, "convert", self.path("in"), "-o", path + "/profile.jprof"], check=True, stdout=subprocess.DEVNULL)
            with open(path + "/profile.jprof", "rb") as file:
                recording = file.read()
            with open(path + "/manifest.json", "wb") as file:
                file.write(manifest(name, recording))
            subprocess.run([JPROF, "verify", path], check=True, stdout=subprocess.DEVNULL)

    def path(self, name):
        return os.path.join(self.work, name)

    def diff(self, *arguments, code=0):
        done = subprocess.run([PLUGIN, "diff", *arguments], cwd=self.work, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def upload(self):
        endpoint, bucket = os.environ["JPROF_TEST_S3"], os.environ["JPROF_TEST_S3_BUCKET"]
        client = botocore.session.get_session().create_client(
            "s3", endpoint_url=endpoint, region_name="us-east-1", config=botocore.config.Config(s3={"addressing_style": "path"}))
        for folder, _, names in os.walk(self.store):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    client.put_object(Bucket=bucket, Key="team/" + os.path.relpath(path, self.store), Body=file.read())
        return f"s3://{bucket}/team", f"?region=us-east-1&endpoint={endpoint}&addressing=path"

    def test_ids_in_a_directory(self):
        self.assertEqual(self.diff("--store", "file://" + self.store, OLD, NEW), DIFF)

    def test_urls_keys_folders_and_files(self):
        old, new = (os.path.join(self.store, directory_of(name)) for name in (OLD, NEW))
        self.assertEqual(self.diff("file://" + old, "file://" + new + "/manifest.json"), DIFF)
        self.assertEqual(self.diff("--store", "file://" + self.store, directory_of(OLD), directory_of(NEW) + "/"), DIFF)
        self.assertEqual(self.diff(old, new + "/profile.jprof"), DIFF)

    def test_ids_and_urls_in_a_bucket(self):
        store, query = self.upload()
        self.assertEqual(self.diff("--store", store + query, OLD, NEW), DIFF)
        self.assertEqual(self.diff(f"{store}/{directory_of(OLD)}{query}", f"{store}/{directory_of(NEW)}/profile.jprof{query}"), DIFF)
        self.assertIn("no capture", self.diff("--store", store + query, OLD, OLD[:-1] + "0", code=8))

    def test_every_format_and_the_flags(self):
        store = ["--store", "file://" + self.store]
        out = json.loads(self.diff(*store, OLD, NEW, "--json", "-o", "d.html", "-o", "d.collapsed", "-o", "d.svg"))
        self.assertEqual([file["path"] for file in out["files"]], ["d.html", "d.collapsed", "d.svg"])
        with open(self.path("d.html"), encoding="utf-8") as file:
            self.assertTrue(file.read().lower().startswith("<!doctype html>"))
        with open(self.path("d.collapsed"), encoding="utf-8") as file:
            self.assertEqual(file.read(), DIFF)
        self.assertEqual(self.diff(*store, "-n", OLD, NEW), "main;a 26 10\nmain;gone 13 0\nmain;new 0 30\n")

    def test_failures_name_cause_and_cure(self):
        self.assertIn("--store", self.diff(OLD, NEW, code=2))
        self.assertIn("no capture", self.diff("--store", "file://" + self.store, OLD, OLD[:-1] + "0", code=8))
        self.assertIn("cannot open", self.diff("missing.jprof", "missing.jprof", code=2))
        self.assertIn(".collapsed", self.diff("a", "b", "-o", "d.jprof", code=2))
        damaged = os.path.join(self.store, directory_of(NEW), "profile.jprof")
        with open(damaged, "r+b") as file:
            file.seek(30)
            file.write(b"\xff\xff")
        self.assertIn("damaged", self.diff("--store", "file://" + self.store, OLD, NEW, "-o", "d.html", code=2))
        self.assertFalse(os.path.exists(self.path("d.html")))
        os.unlink(os.path.join(self.store, directory_of(NEW), "manifest.json"))
        self.assertIn("no capture", self.diff("--store", "file://" + self.store, OLD, NEW, code=8))

    def test_help_has_examples(self):
        self.assertIn("--store s3://", self.diff("--help"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

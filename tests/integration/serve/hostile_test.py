#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof serve` beside a JVM that means harm: each capture ends in one of its ways, and serve goes on.

usage: hostile_test.py PROGRAM HOSTILE_JVM [unittest arguments]
"""
import glob
import os
import random
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import SECOND, ServeRig, Target, new_id  # noqa: E402
from session_client import Refused  # noqa: E402

HOSTILE = os.path.abspath(sys.argv[2])
REASONS = {"AgentFailed", "AttachFailed", "Busy", "InvalidData", "JvmUnsupported", "LimitReached", "PartialCapture", "ProtocolError",
           "TargetGone", "Timeout"}


def libjvm():
    home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("java"))))
    return next(os.path.join(at, "libjvm.so") for at, _, names in os.walk(home) if "libjvm.so" in names)


class HostileJvm(Target):
    def __init__(self):
        self.seed = random.randrange(1 << 30)
        super().__init__([HOSTILE, libjvm(), str(self.seed)])

    def close(self):
        super().close()
        for path in ["/tmp/.java_pid%d" % self.pid, *glob.glob("/tmp/hostile_jvm-%d-*" % self.pid)]:
            os.unlink(path)


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


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

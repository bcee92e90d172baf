#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""How long a caller of `jprof serve` may stall before its place is given to the next: four are all there are.

usage: stalls.py PROGRAM CLASSES [unittest arguments]
"""
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import ServeRig  # noqa: E402
from session_client import HELLO  # noqa: E402

HALF_A_FRAME = b"JP\x02\x00\x40\x00\x00\x00{\"type\":"


class StallsTest(ServeRig):
    def test_a_caller_that_stalls_loses_its_place_in_time(self):
        self.start()
        took = {}

        def stall(name, hello, asks, half):
            session = self.session(hello=False)
            self.assertEqual(session.receive()[0], HELLO)
            if hello:
                session.send(HELLO, {"protocol": 1, "min": 1, "version": "test", "features": []})
            if asks:
                session.request({"type": "list"})
            if half:
                session.send_bytes(HALF_A_FRAME)
            begin = time.monotonic()
            while session.receive()[0] is not None:
                pass
            took[name] = time.monotonic() - begin

        callers = [threading.Thread(target=stall, args=args) for args in (
            ("silent", False, False, False), ("half a first request", True, False, True),
            ("half a second request", True, True, True), ("idle", True, True, False))]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        print(took)
        # 15 s and 30, and what a busy machine adds; half a frame was waited for twice as long once.
        self.assertLess(took.pop("silent"), 28)
        for name, seconds in took.items():
            self.assertGreater(seconds, 29, name)
            self.assertLess(seconds, 55, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

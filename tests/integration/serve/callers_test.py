#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What callers of `jprof serve` may ask for, and what becomes of those that do not keep to the conversation.

usage: callers_test.py PROGRAM CLASSES [unittest arguments]
"""
import os
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_rig import ServeRig, wait_until  # noqa: E402
from session_client import CANCEL, ERROR, PING, PONG, PROGRESS, REQUEST, Refused  # noqa: E402


class CallersTest(ServeRig):
    def can_call(self):
        try:
            self.ask({"type": "list"})
            return True
        except (Refused, EOFError, BrokenPipeError):
            return False

    def test_a_caller_that_talks_nonsense_is_told_how_to_get_its_capture(self):
        self.start()
        body = self.record(2)
        session = self.begin(body)
        session.send(77, {})
        while (answer := session.receive())[0] != ERROR:
            pass
        self.assertEqual((answer[1]["reason"], answer[1]["id"]), ("ProtocolError", body["id"]))
        self.assertEqual(self.ask({"type": "fetch", "id": body["id"]})[0]["exitCode"], 0)

    def test_engine_and_walker_are_the_callers(self):
        self.start()
        result, _ = self.ask(self.record(engine="cpu-timer", walker="jvmti", intervalNs=1_000_000))
        measured = result["manifest"]["measured"]
        self.assertEqual((measured["engine"], measured["walker"]), ("cpu-timer", "jvmti"))
        for wrong in ({"engine": "steam"}, {"walker": "moon"}):
            self.assertEqual(self.refusal(self.record(**wrong))["reason"], "Usage")

    def test_strange_callers_are_answered_and_harm_nobody(self):
        self.start()
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"JP\x02\x00\xff\xff\xff\xff", b"\x00" * 100_000):
            session = self.session(hello=False)
            session.receive()
            try:
                session.send_bytes(garbage)
            except BrokenPipeError:
                pass
            kind, body = session.receive()
            self.assertEqual((kind, body["reason"]), (ERROR, "ProtocolError"))
        session = self.session(hello=False)
        session.receive()
        session.send(1, {"protocol": 9, "min": 7})
        self.assertIn("upgrade", session.receive()[1]["cure"])
        self.assertEqual(self.refusal({"type": "teleport"})["reason"], "ProtocolError")
        session = self.session()
        session.send(PING, {"n": 7})
        self.assertEqual(session.receive(), (PONG, {"n": 7}))
        session.send(77, {})
        self.assertEqual(session.receive()[0], ERROR)
        self.assertIsNone(self.serve.poll())

    def test_a_caller_too_many_is_told_while_each_has_something_in_progress(self):
        self.start()
        body = self.record(100)
        held = [self.begin(body)]
        for _ in range(3):  # they wait for the same capture
            held.append(self.session())
            held[-1].send(REQUEST, body)
            self.assertEqual(held[-1].receive()[0], PROGRESS)
        extra = self.session()
        self.assertEqual(extra.receive()[1]["reason"], "Busy")
        self.assertIn("a caller is refused: something is in progress for each of the 4", self.log())
        held[1].cut()
        wait_until(lambda: self.can_call(), what="a free place")
        self.assertTrue(any(kind == PROGRESS for kind, _ in (held[0].receive() for _ in range(3))))
        held[0].send(CANCEL, {"mode": "keep"})
        self.assertEqual(held[0].answer()[0]["exitCode"], 0)

    def test_callers_with_nothing_in_progress_hold_up_nobody(self):
        self.start()
        children = pathlib.Path(f"/proc/{self.serve.pid}/task/{self.serve.pid}/children")

        def all_wait():
            stats = (pathlib.Path(f"/proc/{pid}/stat").read_text() for pid in children.read_text().split())
            return all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)

        idle = [self.session() for _ in range(4)]
        for number in (0, 2, 1):  # from now on these are idle since their answers, and know it once they wait
            wait_until(all_wait, what="idle callers")
            self.assertEqual(idle[number].request({"type": "list"})[0]["exitCode"], 0)
        wait_until(all_wait, what="idle callers")
        begun = time.monotonic()
        for number in (3, 0, 2, 1):  # who has been idle for longest goes first
            wait_until(lambda: self.can_call(), what="a place")  # Busy where its owner takes more than 2 s to leave
            kind, told = idle[number].receive()
            self.assertEqual((kind, told["reason"]), (ERROR, "Busy"))
            self.assertIn("nothing is in progress for this one", told["message"])
            wait_until(lambda: len(children.read_text().split()) == 3, what="the end of the one that had asked")
            idle.append(self.session())
        self.assertLess(time.monotonic() - begun, 25, "they were not waited for: they have 30 s")
        self.assertEqual(self.log().count("loses its place, because another caller would find none"), 4)

    def test_a_caller_that_does_not_read_holds_up_nobody(self):
        self.start()
        body = self.record(formats=["html"])
        self.ask(body)
        stuck = self.session()
        for _ in range(3):
            stuck.send(REQUEST, {"type": "fetch", "id": body["id"]})
        _, files = self.ask({"type": "fetch", "id": body["id"]})
        self.assertIn("flamegraph.html", files)


if __name__ == "__main__":
    if not shutil.which("java"):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

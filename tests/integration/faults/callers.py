# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Who asks for captures: some wait, some lose their connection, some change their mind."""

import dataclasses
import random
import threading
import time

from session_client import CANCEL, END, ERROR, PROGRESS, REQUEST, RESULT, Session

SECOND = 1_000_000_000


@dataclasses.dataclass
class Request:
    """What one caller was told."""

    id: str
    pid: int
    accepted: bool = False
    recorded_s: float = 0  # of which it heard that samples were taken
    outcome: str = ""  # "stored" (sealed, whole or in part), an error's reason, or empty: it never heard
    discarded: bool = False
    exit_code: int = -1
    manifest: dict = dataclasses.field(default_factory=dict)


class Caller(threading.Thread):
    def __init__(self, pod, seed):
        super().__init__()
        self.pod = pod
        self.random = random.Random(seed)
        self.requests = []
        self.ends = threading.Event()
        self.broken = ""

    def run(self):
        while not self.ends.is_set():
            try:
                self.ask()
            except (EOFError, BrokenPipeError, AssertionError):
                pass  # the sidecar has been killed under it
            except Exception as error:  # noqa: BLE001 a caller that is gone would make the test pass
                self.broken = repr(error)
                return
            time.sleep(self.random.uniform(0, 0.5))

    def ask(self):
        told = self.random.choice(self.pod.targets)
        request = Request("".join(self.random.choice("0123456789abcdef") for _ in range(64)), told.pid)
        body = {"type": "record", "id": request.id, "requester": "caller", "pid": told.pid,
                "durationNs": int(self.random.uniform(0.3, 4) * SECOND), "intervalNs": self.random.choice([1, 4, 10]) * 1_000_000,
                "formats": self.random.sample(["collapsed", "html", "txt"], self.random.randint(1, 3))}  # fmt: skip
        session = Session([self.pod.jprof], self.pod.env)
        self.requests.append(request)
        try:
            session.send(REQUEST, body)
            self.listen(session, request, self.random.choice([None, None, None, "cut", "keep", "discard"]))
        finally:
            session.cut()

    def listen(self, session, request, whim):
        whim_at = time.monotonic() + self.random.uniform(0, 4)
        while True:
            kind, body = session.receive()
            if kind is None:
                return
            if kind == PROGRESS:
                request.accepted = True
                if body["phase"] == "recording" and body.get("samples", 0) > 0:
                    request.recorded_s = body["elapsedNs"] / SECOND
            elif kind == ERROR:
                request.outcome, request.exit_code = body["reason"], body["exitCode"]
                return
            elif kind == RESULT:
                request.outcome, request.exit_code, request.manifest = "stored", body["exitCode"], body["manifest"]
            elif kind == END:
                return
            if whim and time.monotonic() >= whim_at and kind == PROGRESS:
                if whim == "cut":
                    return
                request.discarded = whim == "discard"
                session.send(CANCEL, {"mode": whim})
                whim = None

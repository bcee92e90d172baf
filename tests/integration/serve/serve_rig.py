# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of `jprof serve` stand on: a JVM, a serve of its own folder, callers. Takes PROGRAM and CLASSES from argv."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../support")]
import schemas  # noqa: E402
from session_client import REQUEST, Refused, Session  # noqa: E402

JPROF, CLASSES = (os.path.abspath(path) for path in sys.argv[1:3])
SECOND = 1_000_000_000


def new_id():
    return "".join(random.choice("0123456789abcdef") for _ in range(64))


def wait_until(condition, timeout=60, what="it"):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("%s did not happen in %d s" % (what, timeout))


NOBODY = ["setpriv", "--reuid", "64123", "--regid", "64123", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]


class Target:
    """A process to be profiled; it says when it is ready."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert "ready" in self.process.stdout.readline()
        self.pid = self.process.pid

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Jvm(Target):
    def __init__(self, prefix=(), classes=CLASSES, java=shutil.which("java")):
        super().__init__([*prefix, java, "-XX:+UseSerialGC", "-Xmx64m", "-cp", classes, "Known", "shares", "900"])


class ServeRig(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.jvm = Jvm()
        cls.addClassCleanup(cls.jvm.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.spool = self.folder / "spool"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("JPROF")}
        self.env.update(JPROF_SPOOL=str(self.spool), JPROF_POD="checkout-1", JPROF_NAMESPACE="shop")
        self.log_path = self.folder / "log"
        self.serve = None
        self.jprof = JPROF
        self.prefix = ()

    def start(self, config="", arguments=(), prefix=()):
        path = self.folder / "config.yaml"
        path.write_text("apiVersion: jprof.dev/v1alpha1\nkind: SidecarConfig\n" + config)
        log = open(self.log_path, "ab")
        self.serve = subprocess.Popen([*prefix, self.jprof, "serve", "--config", str(path), *arguments], env=self.env,
                                      stderr=log)
        log.close()
        self.addCleanup(self.kill_serve)
        socket = pathlib.Path(self.env.get("JPROF_SOCKET", self.spool / "serve.sock"))
        wait_until(lambda: socket.exists() or self.serve.poll() is not None, what="listening")

    def kill_serve(self):
        """As the kernel kills a container: every process at once."""
        try:
            os.killpg(self.serve.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.serve.wait()

    def session(self, **options):
        session = Session([*self.prefix, self.jprof], self.env, **options)
        self.addCleanup(session.cut)
        return session

    def ask(self, body, on_progress=None):
        with self.session() as session:
            return session.request(body, on_progress)

    def record(self, seconds=1, **more):
        return {"type": "record", "id": new_id(), "requester": "ann", "pid": self.jvm.pid,
                "durationNs": int(seconds * SECOND), "formats": ["collapsed"], **more}

    def begin(self, body):
        """Sends a record request and returns when samples flow."""
        session = self.session()
        session.send(REQUEST, body)
        while True:
            kind, progress = session.receive()
            self.assertEqual(kind, 3, progress)
            if progress["phase"] == "recording" and progress["samples"] > 0:
                return session

    def refusal(self, body):
        with self.assertRaises(Refused) as caught:
            self.ask(body)
        return caught.exception.body

    def counts(self):
        out = subprocess.run([JPROF, "spool", "--json"], env=self.env, capture_output=True, check=True).stdout
        answer = json.loads(out)
        schemas.check("spool", answer)
        counts = answer["counts"]
        self.assertTrue(counts["balanced"], counts)
        return counts

    def log(self):
        return self.log_path.read_text()

    def children_of_capture(self, body):
        """Pids of the process that holds the capture's lock."""
        path = str(self.spool / "locks" / ("capture-" + body["id"]))
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if any(os.readlink(fd) == path for fd in (entry / "fd").iterdir()):
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found

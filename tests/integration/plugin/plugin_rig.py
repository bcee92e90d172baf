# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of kubectl-jprof share: a server, a folder to work in, the program run in it.

usage of each: ..._test.py PROGRAM SCRIPTED_SESSION [unittest arguments]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from exec_server import ExecServer, pod

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import schemas  # noqa: E402 pylint: disable=wrong-import-position

PROGRAM, SESSION = (os.path.abspath(path) for path in sys.argv[1:3])


def schema_of(arguments, answer):
    """Which of docs/schemas describes what a command with these arguments has printed."""
    if arguments[0] in ("attach", "diff", "doctor", "gc", "list") and "reason" not in answer:
        return {"list": "pods" if "pods" in answer else "pod"}.get(arguments[0], arguments[0])
    kinds = {"plan": "plan", "captures": "captures", "pod": "capture"}
    return next((kind for member, kind in kinds.items() if member in answer), "error")


class PluginRig(unittest.TestCase):
    def setUp(self):
        self.extra = {}
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.work = os.path.join(self.folder.name, "work")
        os.mkdir(self.work)

    def serve(self, size=1000, mode="ok", pods=None, **options):
        server = ExecServer(pods or [pod("demo")], [SESSION, str(size), mode], **options)
        self.addCleanup(server.close)
        self.config = os.path.join(self.folder.name, "config")
        with open(self.config, "w", encoding="utf-8") as out:
            json.dump({"current-context": "c", "contexts": [
                {"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "shop"}}],
                "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:%d" % server.port}}],
                "users": [{"name": "u", "user": {}}]}, out)
        return server

    def start(self, *arguments, **streams):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "JPROF", "http", "HTTP"))}
        environment.update({"KUBECONFIG": self.config, "NO_COLOR": "1", "JPROF_IMAGE": "registry.example/jprof:1", **self.extra})
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.work, env=environment, stdin=subprocess.DEVNULL, text=True,
                                **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams})

    def run_plugin(self, *arguments, code=0, timeout=60):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, code, out + err)
        self.assertNotIn("\x1b", out + err)
        if "--json" in arguments and out.startswith("{"):
            answer = json.loads(out)
            schemas.check(schema_of(arguments, answer), answer)
        return out, err

    def files(self):
        return sorted(os.listdir(self.work))

    def read(self, name):
        with open(os.path.join(self.work, name), encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def pod_without_sidecar():
        out = pod("demo", ("app",))
        out["spec"]["securityContext"] = {"runAsUser": 1000, "runAsGroup": 0}
        return out


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, warnings="ignore")

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Random cuts between kubectl-jprof and the pod: of the connection at any byte, by close codes and by refusals, and signals to
the plugin at any time. Whatever happens: a whole file and 0, or no file and the code of what happened; and a capture that
began can be fetched.

usage: cuts.py PROGRAM SCRIPTED_SESSION [COUNT] [SEED]
"""
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exec_server import ExecServer, pod  # noqa: E402

PROGRAM, SESSION = (os.path.abspath(path) for path in sys.argv[1:3])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 200
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1


class Round:
    """One capture that something happens to."""

    def __init__(self, rng, folder):
        self.random, self.folder = rng, folder
        self.bytes = rng.choice([4000, 4001, 65536, 65537, rng.randrange(4000, 1_000_000)])  # at least the recording
        self.work = os.path.join(folder, "work")
        os.mkdir(self.work)
        self.faults = [self.fault() for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        self.signal = rng.choice([None, None, None, signal.SIGINT, signal.SIGKILL])
        self.pause = rng.random() * 0.6
        self.server = ExecServer([pod("demo")], [SESSION, str(self.bytes), "ok"], faults=list(self.faults))
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "KUBECONFIG": os.path.join(folder, "config"), "NO_COLOR": "1"}
        with open(self.environment["KUBECONFIG"], "w", encoding="utf-8") as out:
            json.dump({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "shop"}}],
                       "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:%d" % self.server.port}}],
                       "users": [{"name": "u", "user": {}}]}, out)

    def fault(self):
        rng = self.random
        return rng.choice([{"cut": rng.randrange(600)}, {"cut": rng.randrange(self.bytes + 3000)}, {"cut": rng.randrange(self.bytes + 3000)},
                           {"close": rng.choice([1000, 1001, 1003, 1011])}, {"refuse": [500, "InternalError", "etcd"]},
                           {"refuse": [503, "ServiceUnavailable", "restarting"]}, {"raw": rng.randbytes(rng.randrange(1, 40))}])

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def visible(self):
        return sorted(name for name in os.listdir(self.work) if not name.startswith("."))

    def hidden(self):
        return [name for name in os.listdir(self.work) if name.startswith(".")]

    def whole(self):
        return self.visible() == ["x.jprof"] and os.path.getsize(os.path.join(self.work, "x.jprof")) == self.bytes

    def run(self):
        """What was wrong, or nothing; and the exit code."""
        process = self.start("demo", "--duration", "200ms", "-o", "x.jprof")
        if self.signal:
            time.sleep(self.pause)
            process.send_signal(self.signal)
        out, err = process.communicate(timeout=120)
        code = process.returncode
        return code, self.judge(code, out + err)

    def judge(self, code, text):
        if "\x1b" in text:
            return "an escape sequence reached the terminal"
        if sorted(os.listdir(self.folder)) != ["config", "work"]:
            return "a file outside the working directory"
        if code == -signal.SIGKILL:
            return None if self.visible() in ([], ["x.jprof"]) and (not self.visible() or self.whole()) else "half a file after SIGKILL"
        if self.hidden():
            return "a temporary file is left"
        if code == 0:
            return None if self.whole() else "0 without the whole file"
        allowed = {8, 130} if self.signal == signal.SIGINT else {8}
        if code not in allowed or self.visible():
            return "exit code %d, files %s" % (code, self.visible())
        named = re.search(r"fetch -n shop demo ([0-9A-Z]{26})", text)
        if named and not self.fetched(named.group(1)):
            return "the capture that it named cannot be fetched"
        return None

    def fetched(self, name):
        self.server.faults.clear()
        return self.start("fetch", "-n", "shop", "demo", name, "-o", "x.jprof").wait(120) == 0 and self.whole()


def main():
    rng = random.Random(SEED)
    codes, bad = collections.Counter(), 0
    for number in range(COUNT):
        with tempfile.TemporaryDirectory() as folder:
            one = Round(rng, folder)
            code, wrong = one.run()
            one.server.close()
            codes[code] += 1
            if wrong:
                bad += 1
                print("round %d of seed %d: %s; faults %s, signal %s after %.2f s" % (number, SEED, wrong, one.faults, one.signal, one.pause))
    print("exit codes:", dict(sorted(codes.items())))
    print("%d passed, %d failed" % (COUNT - bad, bad))
    sys.exit(1 if bad or codes[0] == 0 or codes[8] == 0 else 0)


if __name__ == "__main__":
    main()

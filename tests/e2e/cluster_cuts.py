#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Random cuts of captures on the real cluster, for tests/full/cluster_cuts: cluster_cuts.py WORK KUBECONFIG COUNT SEED

Each case starts a capture of the Deployment `cut`, does one thing to it at a random moment, and judges: the exit code is one that
the thing allows, a page is whole or not there, a capture that began is kept, and nothing is left behind.
"""
import collections
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from node import DEADLINE, has_timers, kubectl, page_is_whole, ready_pod, run, runs_jvm, task_of, until

WORK, KUBECONFIG, COUNT, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
API = ("10.250.0.1", 6443)
# What may happen to a capture that is cut so, as exit codes. 3: it had not begun.
ALLOWED = {
    "api server restarts": {0, 8},
    "connection is reset": {0, 8},
    "connection stalls": {0, 8},
    "plugin is killed": {-9, 0},
    "plugin is interrupted": {0, 6, 130},
    "sidecar is killed": {0, 3, 6, 8},
    "pod is deleted": {0, 3, 6, 8},
    "JVM is killed": {0, 3, 5, 6},
    "disk is full": {7},
}
NEW_POD_AFTER = {"sidecar is killed", "JVM is killed", "pod is deleted"}  # its back-off would slow the next


class Door:
    """A TCP proxy before the API server whose connections can be reset or stalled."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = threading.Event()
        self.open.set()
        self.pairs = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            inner, _ = self.listener.accept()
            try:
                outer = socket.create_connection(API)
            except OSError:
                inner.close()
                continue
            self.pairs.append((inner, outer))
            for source, sink in ((inner, outer), (outer, inner)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                self.open.wait()
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def reset(self):
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for one in pair:
                try:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.close()
                except OSError:
                    pass

    def stall(self, seconds):
        self.open.clear()
        time.sleep(seconds)
        self.open.set()


def pod_to_cut():
    return ready_pod("shop", "app=cut")


def restart_api_server(pause):
    for name in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{name}/cmdline", "rb") as file:
            command = file.read().decode().split("\0")[:-1]
        if command and os.path.basename(command[0]) == "kube-apiserver":
            os.kill(int(name), signal.SIGKILL)
            time.sleep(pause)
            with open(os.path.join(WORK, "apiserver.log"), "ab") as log:
                subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            return
    sys.exit("no API server runs")


def read_or_nothing(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


class Case:
    def __init__(self, rng, door, folder):
        self.random, self.door, self.folder = rng, door, folder
        self.kind = rng.choice(list(ALLOWED))
        self.pod = pod_to_cut()
        self.name = self.pod["metadata"]["name"]
        self.serve, self.jvm = task_of(self.pod, "jprof"), task_of(self.pod, "shop")
        until("a JVM", lambda: runs_jvm(self.jvm))
        self.duration = rng.uniform(1, 4)
        self.moment = rng.uniform(0.05, self.duration + 0.5)

    def plugin(self, *arguments):
        environment = {**os.environ, "KUBECONFIG": KUBECONFIG, "NO_COLOR": "1"}
        return subprocess.Popen(["kubectl-jprof", *arguments, "-n", "shop"], cwd=self.folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def strike(self, process):
        rng = self.random
        if self.kind == "api server restarts":
            restart_api_server(rng.uniform(0, 2))
        elif self.kind == "connection is reset":
            for _ in range(rng.choice([1, 1, 3])):
                self.door.reset()
                time.sleep(rng.uniform(0, 0.3))
        elif self.kind == "connection stalls":
            self.door.stall(rng.choice([0.5, 5, 40]))
        elif self.kind == "plugin is killed":
            process.send_signal(signal.SIGKILL)
        elif self.kind == "plugin is interrupted":
            process.send_signal(signal.SIGINT)
        elif self.kind == "sidecar is killed":
            os.kill(self.serve, signal.SIGKILL)
        elif self.kind == "JVM is killed":  # as the kernel does it for memory
            os.kill(self.jvm, signal.SIGKILL)
        elif self.kind == "pod is deleted":
            kubectl("shop", "delete", "pod", self.name, "--wait=false")

    def play(self):
        """What was wrong, or None; and the exit code."""
        full = self.kind == "disk is full"
        if full:
            run("mount", "-t", "tmpfs", "-o", "size=16k", "none", self.folder)
        process = self.plugin(self.name, "--duration", "%dms" % (self.duration * 1000), "-o", "x.html")
        if not full:
            time.sleep(self.moment)  # the random moment is the case
            self.strike(process)
        text = process.communicate(timeout=DEADLINE)[0]
        left = sorted(os.listdir(self.folder))
        if full:
            run("umount", self.folder)
        return self.judge(process.returncode, text, left), process.returncode

    def judge(self, code, text, left):
        # An API server that has just started knows no role yet. Whoever calls it first is told so.
        early = self.kind == "api server restarts" and code == 4 and "accepted" not in text
        if code not in ALLOWED[self.kind] and not early:
            return "exit code %d: %s" % (code, text[-600:])
        if "\x1b" in text:
            return "an escape sequence reached the terminal"
        if code in (0, 6) and left != ["x.html"] or code not in (0, 6, -9) and left:
            return "exit code %d, and files %s" % (code, left)
        if left not in ([], ["x.html"]) or left and not page_is_whole(os.path.join(self.folder, "x.html")):
            return "files %s, or the page is not whole" % left
        named = re.search(r"kubectl jprof fetch .*?\b([0-9A-HJKMNP-TV-Z]{26})\b", text)
        if code == 8 and self.kind != "pod is deleted" and named:
            return self.fetched(named.group(1))
        if code == 8 and "recording" in text and self.kind != "pod is deleted" and not named:
            return "it began, and nothing says how to fetch it: " + text[-600:]
        return None

    def fetched(self, capture):
        def attempt():
            process = self.plugin("fetch", pod_to_cut()["metadata"]["name"], capture, "-o", "fetched.html")
            self.said = process.communicate(timeout=DEADLINE)[0]
            return process.returncode in (0, 6) or (process.returncode == 3 and "recording" not in self.said)
        until("capture %s can be fetched" % capture, attempt)
        return None

    def clean_up(self):
        """What is left behind, or None."""
        until("the API server answers", lambda: kubectl("shop", "get", "--raw", "/readyz", check=False) == "ok")
        if self.kind in NEW_POD_AFTER:
            kubectl("shop", "delete", "pod", "-l", "app=cut", "--grace-period=1", "--wait=true", check=False)
            return None

        def quiet():
            with open(f"/proc/{self.serve}/task/{self.serve}/children", encoding="ascii") as children:
                return not children.read().strip()
        until("the sidecar is idle", quiet)
        tmp = [name for name in os.listdir(f"/proc/{self.jvm}/root/tmp") if "jprof" in name]
        restarts = [one["restartCount"] for one in pod_to_cut()["status"]["containerStatuses"]]
        armed = has_timers(self.jvm)
        if not tmp and not armed and restarts == [0]:
            return None
        return "left: %s, timers: %s, restarts: %s\n%s" % (tmp, armed, restarts, self.evidence())

    def evidence(self):
        """What tells why the agent is still there: what its threads do, for how long it stays, and what the sidecar did."""
        said, begin = [], time.monotonic()
        for task in os.listdir(f"/proc/{self.jvm}/task"):
            place = f"/proc/{self.jvm}/task/{task}/"
            if read_or_nothing(place + "comm").strip() == "jprof":
                said += [f"thread {task}: " + read_or_nothing(place + name).strip() for name in ("syscall", "stack", "stat")]
        while has_timers(self.jvm) and time.monotonic() < begin + 20:
            time.sleep(0.05)
        said.append("timers %s after %.2f s" % ("are there" if has_timers(self.jvm) else "are gone", time.monotonic() - begin))
        said.append(kubectl("shop", "logs", self.name, "-c", "jprof", "--tail=12", check=False))
        return "\n".join(said)


def main():
    door = Door()
    with open(KUBECONFIG, encoding="utf-8") as file:
        text = file.read().replace("%s:%d" % API, "127.0.0.1:%d" % door.port)
    with open(KUBECONFIG, "w", encoding="utf-8") as file:
        file.write(text)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # one that is ended early says what it has seen
    outcomes, bad = collections.Counter(), 0
    try:
        for number in range(COUNT):
            with tempfile.TemporaryDirectory(dir=WORK) as folder:
                case = Case(random.Random(SEED * 100_000 + number), door, folder)
                wrong, code = case.play()
                left = case.clean_up()
                wrong = wrong or left
            outcomes[case.kind, code] += 1
            if wrong:
                bad += 1
                print("case %d, %s after %.2f s of %.2f: %s" % (number, case.kind, case.moment, case.duration, wrong), flush=True)
    finally:
        for (kind, code), count in sorted(outcomes.items()):
            print("%-24s exit code %3d: %d" % (kind, code, count))
        done = sum(outcomes.values())
        print("%d passed, %d failed, of %d" % (done - bad, bad, COUNT), flush=True)
    sys.exit(1 if bad else 0)


main()

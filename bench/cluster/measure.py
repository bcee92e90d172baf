#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Measures for bench/cluster/run, inside the node: measure.py WORK HELM SHOP_CHART PLAIN_SPEC RUNS IDLE_SECONDS CPU

  armed    command started -> the JVM's first POSIX timer (/proc/PID/timers), which is its first sample but for 10 ms of CPU
  page     end of the asked duration -> the command has ended and its page is on disk
  deleted  kubectl delete -> the pod is gone
  idle     memory and CPU time of the sidecar's process after its capture, over IDLE_SECONDS

Each round makes a new pod of each kind, one after the other, and compares what it measured of them.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import raw_exec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/e2e"))
from node import has_timers, task_of  # noqa: E402

WORK, HELM, CHART, PLAIN_SPEC = sys.argv[1:5]
RUNS, IDLE_SECONDS, CPU = int(sys.argv[5]), float(sys.argv[6]), sys.argv[7]
DURATION = 2
# What is aimed at, as medians.
AIMS = {
    "sidecar: armed, ms": 150, "ephemeral container: armed, ms": 1000, "sidecar: page, ms": 300, "ephemeral container: page, ms": 300,
    "idle sidecar: resident, MB": 10, "idle sidecar: CPU, per mille of a core": 1,
    "added at deletion by the sidecar, ms": 5000, "added at deletion by an ephemeral container, ms": 5000,
}


def run(*command, text=None):
    return subprocess.run(command, check=True, input=text, text=True, stdout=subprocess.PIPE).stdout


def kubectl(*words, text=None):
    return run("kubectl", "-n", "bench", *words, text=text)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as schedstat:
        return int(schedstat.read().split()[0]) / 1e9


class Pod:
    """A new pod whose JVM has started: all its threads have had a second of CPU."""

    def __init__(self, name, sidecar):
        self.name = name
        if sidecar:
            run(HELM, "install", "-n", "bench", name, CHART, "--set", "cpu=" + CPU)
        else:
            with open(PLAIN_SPEC, encoding="utf-8") as spec:
                kubectl("apply", "-f", "-", text="apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n%s" % (name, spec.read()))
        kubectl("wait", "--for=condition=Ready", "pod/" + name, "--timeout=60s")
        self.jvm = self.task("shop")
        while self.jvm_cpu() < 1:
            time.sleep(0.05)

    def task(self, container):
        return task_of(json.loads(kubectl("get", "pod", self.name, "-o", "json")), container)

    def jvm_cpu(self):
        with open(f"/proc/{self.jvm}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def arm(self, *command):
        """Starts a profiler; the process, when it began and how long it took until a timer was armed."""
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not has_timers(self.jvm):
            if process.poll() is not None or time.monotonic() - start > 60:
                sys.exit("no timer was armed: " + process.communicate()[0])
            time.sleep(0.0005)
        return process, start, time.monotonic() - start

    def capture(self):
        """Milliseconds until armed, and from the end of the duration to the page."""
        page = os.path.join(WORK, self.name + ".html")
        process, start, armed = self.arm("kubectl-jprof", self.name, "-n", "bench", "--duration", f"{DURATION}s", "-o", page)
        output = process.communicate()[0]
        end = time.monotonic()
        if process.returncode != 0 or not os.path.exists(page):
            sys.exit(output)
        return armed * 1e3, (end - start - armed - DURATION) * 1e3

    def by_hand(self):
        """Milliseconds until async-profiler is armed by kubectl exec."""
        process, _, armed = self.arm("kubectl", "-n", "bench", "exec", self.name, "-c", "shop", "--", "/asprof/bin/asprof", "start", "-e",
                                     "ctimer", "-i", "10ms", "1")
        output = process.communicate()[0]
        if process.returncode != 0:
            sys.exit(output)
        return armed * 1e3

    def idle(self):
        """Resident memory in MB, share of a core in per mille: of the whole container, which is one process when idle."""
        pid = self.task("jprof")
        before = cpu_seconds(pid)
        time.sleep(IDLE_SECONDS)
        after = cpu_seconds(pid)
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            if children.read().strip():
                sys.exit("the idle sidecar has child processes")
        return resident * 1024 / 1e6, (after - before) / IDLE_SECONDS * 1e3

    def delete(self):
        start = time.monotonic()
        kubectl("delete", "pod", self.name, "--grace-period=30", "--wait=true")
        return (time.monotonic() - start) * 1e3


def kubectl_exec(pod):
    start = time.monotonic()
    kubectl("exec", pod, "-c", "jprof", "--", "/jprof", "--version")
    return (time.monotonic() - start) * 1e3


def one_round(number, api, last):
    """All figures of one new pod of each kind, by name."""
    out = {}
    pod = Pod("sidecar%d" % number, sidecar=True)
    out["sidecar: armed, ms"], out["sidecar: page, ms"] = pod.capture()
    out["floor: first byte of an exec, ms"] = api.first_byte("bench", pod.name, "jprof", "/jprof", "--version") * 1e3
    out["floor: kubectl exec, ms"] = kubectl_exec(pod.name)
    if last:
        out["idle sidecar: resident, MB"], out["idle sidecar: CPU, per mille of a core"] = pod.idle()
    with_sidecar = pod.delete()
    pod = Pod("ephemeral%d" % number, sidecar=False)
    out["ephemeral container: armed, ms"], out["ephemeral container: page, ms"] = pod.capture()
    with_ephemeral = pod.delete()
    pod = Pod("bare%d" % number, sidecar=False)
    by_hand = out["by hand, kubectl exec and async-profiler: armed, ms"] = pod.by_hand()
    bare = out["pod with nothing of ours: deleted, ms"] = pod.delete()
    out["sidecar / by hand, armed"] = out["sidecar: armed, ms"] / by_hand
    out["ephemeral container / by hand, armed"] = out["ephemeral container: armed, ms"] / by_hand
    out["added at deletion by the sidecar, ms"] = with_sidecar - bare
    out["added at deletion by an ephemeral container, ms"] = with_ephemeral - bare
    return out


def main():
    api = raw_exec.Api(os.environ["KUBECONFIG"])
    figures = {}
    for number in range(RUNS + 1):
        measured = one_round(number, api, number == RUNS)
        for name, value in measured.items() if number > 0 else ():  # the first warms caches
            figures.setdefault(name, []).append(value)
    print(f"{RUNS} rounds of new pods; a busy application of one thread with a CPU limit of {CPU}; median (range)")
    for name in sorted(figures, key=lambda name: (name not in AIMS, name)):
        values = figures[name]
        aim = f"   wanted: at most {AIMS[name]}" if name in AIMS else ""
        print(f"{name:52}{statistics.median(values):9.2f} ({min(values):.2f} to {max(values):.2f}){aim}")


if __name__ == "__main__":
    main()

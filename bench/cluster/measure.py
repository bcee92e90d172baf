#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Measures for bench/cluster/run, inside the node: measure.py WORK HELM SHOP_CHART PLAIN_SPEC RUNS IDLE_SECONDS

  armed    command started -> the JVM's first POSIX timer (/proc/PID/timers), which is its first sample but for 10 ms of CPU
  page     end of the asked duration -> the command has ended and its page is on disk
  deleted  kubectl delete -> the pod is gone
  idle     memory and CPU time of the sidecar's process after its capture, over IDLE_SECONDS
"""
import json
import os
import statistics
import subprocess
import sys
import time

WORK, HELM, CHART, PLAIN_SPEC = sys.argv[1:5]
RUNS, IDLE_SECONDS = int(sys.argv[5]), float(sys.argv[6])
DURATION = 2


def run(*command, text=None):
    return subprocess.run(command, check=True, input=text, text=True, stdout=subprocess.PIPE).stdout


def kubectl(*words, text=None):
    return run("kubectl", "-n", "bench", *words, text=text)


def sidecar_pod(name):
    run(HELM, "install", "-n", "bench", name, CHART)


def bare_pod(name):
    with open(PLAIN_SPEC, encoding="utf-8") as spec:
        kubectl("apply", "-f", "-", text="apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n%s" % (name, spec.read()))


def process_of(pod, container):
    status = json.loads(kubectl("get", "pod", pod, "-o", "json"))["status"]
    known = status["containerStatuses"] + status.get("initContainerStatuses", [])
    wanted = next(one["containerID"] for one in known if one["name"] == container).removeprefix("containerd://")
    for line in run("ctr", "tasks", "ls").splitlines():
        if line.startswith(wanted):
            return int(line.split()[1])
    sys.exit("no task of %s in %s" % (container, pod))


def has_timer(pid):
    with open(f"/proc/{pid}/timers", encoding="ascii") as timers:
        return bool(timers.read(16))


def wait_until_started(pid):
    """The JVM's own start is over: all its threads have had a second of CPU."""
    def cpu():
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    while cpu() < 1:
        time.sleep(0.05)


def capture(pod, pid, *options):
    page = os.path.join(WORK, pod + ".html")
    start = time.monotonic()
    process = subprocess.Popen(["kubectl-jprof", pod, "-n", "bench", "--duration", f"{DURATION}s", "-o", page, *options],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not has_timer(pid):
        if process.poll() is not None or time.monotonic() - start > 60:
            sys.exit("no timer was armed: " + process.communicate()[0])
        time.sleep(0.0005)
    armed = time.monotonic() - start
    output = process.communicate()[0]
    end = time.monotonic()
    if process.returncode != 0 or not os.path.exists(page):
        sys.exit(output)
    return armed * 1e3, (end - start - armed - DURATION) * 1e3


def floor(pod):
    start = time.monotonic()
    kubectl("exec", pod, "-c", "jprof", "--", "/jprof", "--version")
    return (time.monotonic() - start) * 1e3


def cpu_seconds(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as schedstat:
        return int(schedstat.read().split()[0]) / 1e9


def idle(pod):
    """Resident memory in MB, share of a core in per mille: of the whole container, which is one process when idle."""
    pid = process_of(pod, "jprof")
    before = cpu_seconds(pid)
    time.sleep(IDLE_SECONDS)
    after = cpu_seconds(pid)
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        if children.read().strip():
            sys.exit("the idle sidecar has child processes")
    return resident * 1024 / 1e6, (after - before) / IDLE_SECONDS * 1e3


def deleted(pod):
    start = time.monotonic()
    kubectl("delete", "pod", pod, "--grace-period=30", "--wait=true")
    return (time.monotonic() - start) * 1e3


def main():
    figures = {}

    def note(name, value):
        figures.setdefault(name, []).append(value)

    for number in range(RUNS + 1):
        for kind, make in (("sidecar", sidecar_pod), ("ephemeral container", bare_pod)):
            name = "%s%d" % (kind.split()[0], number)
            make(name)
            kubectl("wait", "--for=condition=Ready", "pod/" + name, "--timeout=60s")
            pid = process_of(name, "shop")
            wait_until_started(pid)
            armed, page = capture(name, pid)
            spare = floor(name) if kind == "sidecar" else None
            quiet = idle(name) if kind == "sidecar" and number == RUNS else None
            gone = deleted(name)
            if number == 0:
                continue  # warms caches
            note(kind + ": armed, ms", armed)
            note(kind + ": page, ms", page)
            note(("pod with the sidecar" if kind == "sidecar" else "pod with an ephemeral container") + ": deleted, ms", gone)
            if spare is not None:
                note("floor: kubectl exec of a program that ends at once, ms", spare)
            if quiet is not None:
                note("idle sidecar: resident, MB", quiet[0])
                note("idle sidecar: CPU, per mille of a core", quiet[1])
    bare = []
    for number in range(RUNS):
        name = "bare%d" % number
        bare_pod(name)
        kubectl("wait", "--for=condition=Ready", "pod/" + name, "--timeout=60s")
        wait_until_started(process_of(name, "shop"))
        bare.append(deleted(name))
    figures["pod with nothing of ours: deleted, ms"] = bare
    print(f"{RUNS} new pods each; median (range)")
    for name, values in figures.items():
        print(f"{name:58}{statistics.median(values):8.1f} ({min(values):.1f} to {max(values):.1f})")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Measures for bench/cluster/run, inside the node: measure.py WORK HELM SHOP_CHART RUNS

  armed   command started -> the JVM's first POSIX timer (/proc/PID/timers), which is its first sample but for 10 ms of CPU
  page    end of the asked duration -> the command has ended and its page is on disk
"""
import json
import os
import statistics
import subprocess
import sys
import time

WORK, HELM, CHART, RUNS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
DURATION = 2
BARE = """
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: shop
      image: localhost/shop-jdk-17:1
      imagePullPolicy: Never
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      resources: {requests: {cpu: 500m, memory: 192Mi}, limits: {cpu: 500m, memory: 192Mi}}
      volumeMounts: [{name: tmp, mountPath: /tmp}]
  volumes: [{name: tmp, emptyDir: {sizeLimit: 64Mi}}]
"""


def run(*command, text=None):
    return subprocess.run(command, check=True, input=text, text=True, stdout=subprocess.PIPE).stdout


def kubectl(*words, text=None):
    return run("kubectl", "-n", "bench", *words, text=text)


def sidecar_pod(name):
    run(HELM, "install", "-n", "bench", name, CHART)


def bare_pod(name):
    kubectl("apply", "-f", "-", text=BARE % name)


def jvm_of(name):
    status = json.loads(kubectl("get", "pod", name, "-o", "json"))["status"]["containerStatuses"]
    wanted = next(one["containerID"] for one in status if one["name"] == "shop").removeprefix("containerd://")
    for line in run("ctr", "tasks", "ls").splitlines():
        if line.startswith(wanted):
            return int(line.split()[1])
    sys.exit("no task of " + name)


def has_timer(pid):
    with open(f"/proc/{pid}/timers") as timers:
        return bool(timers.read(16))


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


def main():
    figures = {"sidecar: armed": [], "sidecar: page": [], "ephemeral container: armed": [], "ephemeral container: page": [],
               "floor: kubectl exec of a program that ends at once": []}
    for number in range(RUNS + 1):
        for kind, make in (("sidecar", sidecar_pod), ("ephemeral container", bare_pod)):
            name = "%s%d" % (kind.split()[0], number)
            make(name)
            kubectl("wait", "--for=condition=Ready", "pod/" + name, "--timeout=60s")
            pid = jvm_of(name)
            time.sleep(2)  # the JVM's own start is over
            armed, page = capture(name, pid)
            spare = floor(name) if kind == "sidecar" else None
            kubectl("delete", "pod", name, "--grace-period=1", "--wait=true")
            if number == 0:
                continue  # warms caches
            figures[kind + ": armed"].append(armed)
            figures[kind + ": page"].append(page)
            if spare is not None:
                figures["floor: kubectl exec of a program that ends at once"].append(spare)
    print(f"{RUNS} new pods each; milliseconds, median (range)")
    for name, values in figures.items():
        print(f"{name:52}{statistics.median(values):8.0f} ({min(values):.0f} to {max(values):.0f})")


if __name__ == "__main__":
    main()

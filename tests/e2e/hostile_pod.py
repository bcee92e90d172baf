#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Captures of a pod whose "JVM" means harm, for tests/full/hostile_pod: hostile_pod.py WORK COUNT SEED

What it does in each capture is in tests/integration/serve/hostile_jvm.cpp. Here is judged what the caller and the pod get of it.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from node import DEADLINE, kubectl, page_is_whole, ready_pod, run, runs_jvm, task_of, until

WORK, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
# Done, the target ended or is none, refused by the JVM, partial, not to be written, protocol or timeout, a limit.
ALLOWED = {0, 3, 5, 6, 7, 8, 9}
# Then nobody meant harm: the pod should stand, whatever it did.
NOBODY_THERE = re.compile("has ended:|is waiting:|no JVM is visible")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def standing():
    """All of the pod that must not change: endpoints (by version: it is written only when they change), class, containers."""
    pod = json.loads(kubectl("shop", "get", "pod", "hostile", "-o", "json"))
    slices = json.loads(kubectl("shop", "get", "endpointslices", "-l", "kubernetes.io/service-name=hostile", "-o", "json"))["items"]
    status = pod["status"]
    return {
        "endpoints": [(one["metadata"]["resourceVersion"], [end["conditions"].get("ready") for end in one["endpoints"] or []]) for one in slices],
        "class": status["qosClass"],
        "uid": pod["metadata"]["uid"],
        "ready": next(c["status"] for c in status["conditions"] if c["type"] == "Ready"),
        "restarts": [one["restartCount"] for one in status["containerStatuses"] + status["initContainerStatuses"]],
    }


def capture(rng, folder):
    """What the caller got that nobody should, or None; the exit code and what was said."""
    outputs = rng.choice([["x.html"], ["x.html", "x.jprof"], ["x.collapsed", "x.html"]])
    command = ["kubectl-jprof", "hostile", "-n", "shop", "--duration", rng.choice(["50ms", "200ms", "500ms"])]
    for name in outputs:
        command += ["-o", name]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "NO_COLOR": "1"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=DEADLINE)
    text = done.stdout.decode(errors="surrogateescape")
    left = sorted(os.listdir(folder))
    wrong = None
    if done.returncode not in ALLOWED:
        wrong = "exit code %d" % done.returncode
    elif NOBODY_THERE.search(text):
        wrong = "no agent was met"
    elif CONTROL.search(text):
        wrong = "control characters reached the terminal"
    elif not set(left) <= {*outputs, "x.jprof"}:
        wrong = "files %s" % left
    elif done.returncode in (0, 6) and left != sorted(outputs):
        wrong = "exit code %d, and files %s of %s" % (done.returncode, left, outputs)
    elif "x.html" in left and not page_is_whole(os.path.join(folder, "x.html")):
        wrong = "the page is not whole"
    kept = re.search(r"kubectl jprof fetch -n shop hostile (\S+)", text)
    if not wrong and kept:
        fetch = subprocess.run(["kubectl-jprof", "fetch", "hostile", kept.group(1), "-n", "shop", "-o", "kept.html"], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE)
        if fetch.returncode not in (0, 6):
            wrong = "it is kept, it says, and is not: %r" % fetch.stdout[-300:]
    return wrong and "%s: %r" % (wrong, text[-600:]), done.returncode, text


def main():
    pod = ready_pod("shop", "app=hostile")
    jvm = task_of(pod, "shop")
    until("what looks like a JVM", lambda: runs_jvm(jvm))
    until("a place in the Service", lambda: [ready for _, ready in standing()["endpoints"]] == [[True]])
    before = standing()
    rng = random.Random(SEED)
    codes, reasons, bad = collections.Counter(), collections.Counter(), 0
    for number in range(COUNT):
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            wrong, code, text = capture(rng, folder)
        codes[code] += 1
        if code not in (0, 6):
            said = re.findall(r"^kubectl-jprof: (.*)$", text, re.M) or [text]
            reasons["exit code %d, %s" % (code, re.sub(r"\d+", "N", said[-1])[:100])] += 1
        if not wrong and (number % 20 == 19 or number == COUNT - 1):
            now = standing()
            wrong = None if now == before else "the pod was %s and is %s" % (before, now)
            before = now
        if wrong:
            bad += 1
            print("capture %d: %s" % (number, wrong), flush=True)
    evicted = run("kubectl", "get", "events", "-A", "--field-selector", "reason=Evicted", "-o", "name").split()
    if evicted:
        bad += 1
        print("evicted: %s" % evicted)
    for reason, count in reasons.most_common(30):
        print("%5d  %s" % (count, ascii(reason)))
    print("exit codes: %s" % dict(sorted(codes.items())))
    print("%d passed, %d failed; endpoints, class and restarts: %s" % (COUNT - bad, bad, before))
    sys.exit(1 if bad or codes[6] == 0 else 0)


main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""A pod in trouble: callers record JVMs through `jprof serve` while processes are killed, the disk is full, the store is
dead, hangs or is a portal, JVMs are stopped, frozen, traced, killed, or profiled by somebody else. At the end an oracle that knows what was asked,
what was answered and what the programs did looks for captures that are lost, damaged or stored twice, and for JVMs that were
harmed.

usage: faults_test.py PROGRAM CLASSES [--seconds N] [--seed N] [--trouble NAME]... [JDK...]     needs root
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent / "serve"), str(HERE.parent / "agent")]
# pylint: disable=wrong-import-position
from callers import Caller  # noqa: E402
from oracle import Oracle  # noqa: E402
from pod import Pod, wait_until  # noqa: E402
from troubles import TROUBLES  # noqa: E402

CALLERS = 3
PAUSE_S = 3  # at most, between troubles


def part(name):
    found = subprocess.run([ROOT / "scripts/parts", "--where", name], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        print(f"skipped: {found.stderr.strip()}")
        sys.exit(77)
    return found.stdout.strip()


def make_trouble(pod, chance, arguments):
    """Until the time is over; how often each befell the pod."""
    wanted = [one for one in TROUBLES if not arguments.trouble or one.__name__ in arguments.trouble]
    befell = collections.Counter()
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        one = chance.choice(wanted)
        one(pod, chance)
        befell[one.__name__] += 1
        time.sleep(chance.uniform(0, PAUSE_S))
    return befell


def pending(pod):
    out = subprocess.run([pod.jprof, "spool", "--json"], env=pod.env, capture_output=True, text=True, check=True).stdout
    return json.loads(out)["counts"]["pending"]


def settle(pod, callers):
    """No more troubles and no more callers: what waits is delivered, and the sidecar ends."""
    for caller in callers:
        caller.join(300)
        assert not caller.is_alive(), "a caller waits for ever"
        assert not caller.broken, caller.broken
    pod.end_serve()  # a new one delivers at once
    pod.start_serve()
    # A capture leaves the folder a moment before it is counted.
    wait_until(lambda: not list((pod.spool / "sealed").iterdir()) and not pending(pod), "the delivery of what waits")
    pod.end_serve()


def trial(pod, arguments):
    chance = random.Random(arguments.seed)
    pod.start_serve()
    callers = [Caller(pod, f"{arguments.seed}-{i}") for i in range(CALLERS)]
    for caller in callers:
        caller.start()
    try:
        befell = make_trouble(pod, chance, arguments)
    finally:
        for caller in callers:
            caller.ends.set()
    settle(pod, callers)
    requests = [request for caller in callers for request in caller.requests]
    oracle = Oracle(pod, requests)
    stored = oracle.stored()
    counts = oracle.judge_counts(stored)
    oracle.judge_requests(stored)
    oracle.judge_profiles(stored)
    oracle.judge_jvms()
    partial = sum(1 for _, manifest in stored.values() if manifest["partial"])
    said = collections.Counter(request.outcome or "never heard" for request in requests)
    print(f"  befell {dict(befell)}; the portal answered {pod.store.portal_answers} requests\n  {len(requests)} asked, {dict(said)}\n  {counts}\n  {len(stored)} stored, {partial} in part")
    return oracle.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("classes")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--trouble", action="append", choices=[one.__name__ for one in TROUBLES])
    parser.add_argument("--keep", action="store_true", help="leave the folder with the log where something is wrong")
    parser.add_argument("jdk", nargs="*", default=["jdk-8", "jdk-17", "jdk-21", "jdk-25"])
    arguments = parser.parse_intermixed_args()
    print(f"faults: seed {arguments.seed}, {arguments.seconds:.0f} s, {' '.join(arguments.jdk)}", flush=True)
    javas = [(jdk, part(jdk) + "/run-java") for jdk in arguments.jdk]
    store, profiler = part("versitygw") + "/versitygw", part("async-profiler") + "/bin/asprof"
    folder = tempfile.mkdtemp(prefix="jprof-faults-")
    os.chmod(folder, 0o755)
    pod = Pod(os.path.abspath(arguments.program), folder, arguments.classes, javas, store, profiler, part("jdk-17") + "/jdk/bin/jcmd")
    try:
        wrong = trial(pod, arguments)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        wrong = [str(error)]
    finally:
        pod.close()
    for line in wrong:
        print(f"FAILED {line}")
    if wrong:
        lines = (pod.folder / "log").read_text().splitlines()
        print("\n".join([line for line in lines if '"level":"info"' not in line][-40:]))
    if not (wrong and arguments.keep):
        subprocess.run(["rm", "-rf", folder], check=False)
    print(f"{0 if wrong else 1} passed, {1 if wrong else 0} failed")
    sys.exit(1 if wrong else 0)


main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Applications start, work, and leave nothing behind once whoever started them is gone.

Usage: smoke_test.py APPLICATION JDK... ; exits 77 (skip) where a part is not on this machine."""

import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "workloads/applications"))
from applications import APPLICATIONS, PATIENCE_S, Missing  # noqa: E402

STARTER = f"""
import sys
sys.path.insert(0, {str(HERE.parents[1] / 'workloads/applications')!r})
from applications import APPLICATIONS
application = APPLICATIONS[sys.argv[1]](sys.argv[2])
print(application.pid, application.load.pid if application.load else 0, application.work, flush=True)
sys.stdin.read()
"""


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def works_and_ends(name, jdk):
    application = APPLICATIONS[name](jdk)
    try:
        before = application.cpu_ns()
        application.run_until(50)
        assert application.cpu_ns() > before
    finally:
        ended = application.end()
    assert ended, "it did not end by itself"
    assert not application.work.exists() and not runs(application.pid)


def ends_with_its_starter(name, jdk):
    """Which is killed, so that it cannot end anything."""
    with subprocess.Popen([sys.executable, "-B", "-c", STARTER, name, jdk], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        server, load, work = starter.stdout.readline().split()
        starter.kill()
    end = time.monotonic() + PATIENCE_S
    while runs(server) or (load != "0" and runs(load)):
        assert time.monotonic() < end, "it outlives its starter"
        time.sleep(0.05)
    subprocess.run(["rm", "-rf", work], check=True)


def main():
    name, jdks = sys.argv[1], sys.argv[2:]
    for jdk in jdks:
        for check in works_and_ends, ends_with_its_starter:
            began = time.monotonic()
            try:
                check(name, jdk)
            except Missing as missing:
                print(f"skipped: {missing}")
                sys.exit(77)
            print(f"{check.__name__} {name} {jdk}: ok ({time.monotonic() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    os.umask(0o022)
    main()

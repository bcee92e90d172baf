#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof list` of JVMs under every launcher: what it says of each, in each of its forms.

usage: list.py JPROF LIBJPROF CLASSES     exit 77: skipped
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LOADER = "/lib64/ld-linux-x86-64.so.2"


@dataclass
class Kind:
    name: str
    part: str
    arch: str = "x86_64"
    libc: str = "glibc"
    loader: bool = False  # java is an argument of the loader: /proc/PID/exe is the loader
    options: list = field(default_factory=list)


KINDS = [
    Kind("JDK 8", "jdk-8"),
    Kind("no hsperfdata", "jdk-17", options=["-XX:-UsePerfData"]),
    Kind("explicit loader", "jdk-17", loader=True),
    Kind("musl", "jdk-17-musl", libc="musl"),
    Kind("qemu", "jdk-21-aarch64", arch="aarch64"),
]


def where(part):
    done = subprocess.run([REPO + "/scripts/parts", "--where", part], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def start(kind, classes):
    part = where(kind.part)
    if part is None or kind.loader and not os.path.exists(LOADER):
        return None
    launcher = [LOADER, part + "/jdk/bin/java"] if kind.loader else [part + "/run-java"]
    process = subprocess.Popen([*launcher, "-Xmx32m", *kind.options, "-cp", classes, "Idle"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while (line := process.stdout.readline()) and line != "ready\n":
        pass
    return process


def jprof(program, form):
    done = subprocess.run([program, "list", "-o", form], capture_output=True, text=True, timeout=120)
    return done.stdout if done.returncode == 0 else sys.exit("jprof list -o %s: exit %d: %s" % (form, done.returncode, done.stderr))


def problems_of(kind, pid, jvm, texts):
    """What differs from what we know of this JVM."""
    release = "1.8" if kind.part == "jdk-8" else kind.part.split("-")[1]
    wanted = {"namespacePids": [pid], "uid": os.geteuid(), "gid": os.getegid(), "vm": "HotSpot", "libc": kind.libc, "arch": kind.arch,
              "main": "Idle", "ready": kind.arch == os.uname().machine}
    if jvm is None:
        return ["not in the list"]
    found = ["%s: %r, not %r" % (key, jvm.get(key), value) for key, value in wanted.items() if jvm.get(key) != value]
    if not jvm.get("javaVersion", "").removeprefix("1.").startswith(release.removeprefix("1.")):
        found.append("javaVersion: %r" % jvm.get("javaVersion"))
    if not jvm.get("vendor") or not 0 <= jvm.get("uptimeSeconds", -1) < 600:
        found.append("vendor %r, up-time %r" % (jvm.get("vendor"), jvm.get("uptimeSeconds")))
    if not wanted["ready"] and not any(check["verdict"] == "fail" and check.get("cure") for check in jvm["checks"]):
        found.append("not ready, and no check names a cure")
    if not re.search(r"^%d .*\b%s\b.*\bIdle$" % (pid, kind.arch), texts["wide"], re.M):
        found.append("not in the wide table")
    if not re.search(r"^%d .*\bIdle$" % pid, texts["table"], re.M):
        found.append("not in the table")
    if not re.search(r"pid: %d$" % pid, texts["yaml"], re.M):
        found.append("not in the YAML")
    return found


def problems_of_another_machine(program, agent, pid, jvm):
    """Recording it ends as foretold; commands reach it all the same."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = subprocess.run([program, "record", "--json", str(pid), "--duration", "100ms", "--agent", agent, "-o", folder + "/x.html"],
                                  capture_output=True, text=True, timeout=120)
    reason = json.loads(recorded.stdout or "{}").get("reason")
    found = [] if reason == jvm.get("reason") == "JvmUnsupported" else ["record: %r, foretold %r" % (reason, jvm.get("reason"))]
    asked = subprocess.run([program, "attach", str(pid), "jcmd", "VM.version"], capture_output=True, text=True, timeout=120)
    return found + ([] if "JDK 21" in asked.stdout else ["attach: exit %d: %s" % (asked.returncode, asked.stderr)])


def main():
    program, agent, classes = sys.argv[1:4]
    running = {kind.name: process for kind in KINDS if (process := start(kind, classes))}
    try:
        if not running:
            print("list: no JVM: scripts/parts jdk-17 has not been run")
            return 77
        texts = {form: jprof(program, form) for form in ("table", "wide", "yaml", "json")}
        listed = {jvm["pid"]: jvm for jvm in json.loads(texts["json"])["jvms"]}
        failed = 0
        for kind in KINDS:
            if kind.name not in running:
                print("not run: %s: no scripts/parts %s" % (kind.name, kind.part))
                continue
            pid = running[kind.name].pid
            problems = problems_of(kind, pid, listed.get(pid), texts)
            if kind.arch != os.uname().machine and not problems:
                problems = problems_of_another_machine(program, agent, pid, listed[pid])
            failed += bool(problems)
            jvm = listed.get(pid, {})
            print("%s %-16s %s, %s, %s %s" % ("FAIL" if problems else "ok  ", kind.name, jvm.get("javaVersion"), jvm.get("vendor"),
                                             jvm.get("arch"), problems or ""))
        return 1 if failed else 0
    finally:
        for process in running.values():
            process.kill()
            process.wait()
            if os.path.lexists(path := "/tmp/.java_pid%d" % process.pid):  # of one that was killed: it would be in another's way
                os.unlink(path)


if __name__ == "__main__":
    sys.exit(main())

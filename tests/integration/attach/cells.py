#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Where attaching works, and what it says where not: one real JVM per cell, one jprof per cell.

Each cell has the outcome that attaching and recording must end with; `jprof doctor`, asked first, must have foretold
the same reason. Needs root, for namespaces, other users and mounts.

usage: cells.py JPROF LIBJPROF PROBE_AGENT CLASSES [CELL...]     exit 77: skipped
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
NOBODY = "65534:65534"
OK = "ok"


def mounted(*commands):
    """A launcher that makes mounts of its own, then becomes the JVM."""
    return ["unshare", "--mount", "sh", "-c", " && ".join(commands) + ' && exec "$@"', "sh"]


def in_pid_namespace(levels):
    """The JVM is pid 1 of the innermost of so many PID namespaces below ours, each with its own /proc."""
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] * levels


PRIVATE_TMP = "mount -t tmpfs -o mode=1777 tmpfs /tmp"
NOEXEC_TMP = "mount -t tmpfs -o mode=1777,noexec tmpfs /tmp"
READ_ONLY_TMP = "mount -t tmpfs -o ro tmpfs /tmp"
# As a container with readOnlyRootFilesystem has it: all but an emptyDir at /tmp.
READ_ONLY_ROOT = "mount --make-rprivate / && mount -o remount,bind,ro / && " + PRIVATE_TMP
NOEXEC_REST = " && ".join(f"mount -t tmpfs -o mode=1777,noexec tmpfs {place}" for place in ("/var/tmp", "/dev/shm", "/run"))


@dataclass
class Cell:
    name: str
    attach: str = OK  # the reason word of `jprof attach`
    record: str = OK  # ... of `jprof record`
    jvm: str = NOBODY
    jprof: str = NOBODY
    launcher: list = field(default_factory=list)
    options: list = field(default_factory=list)
    as_jprof: list = field(default_factory=list)  # setpriv options instead of plain uid and gid
    as_jvm: list = field(default_factory=list)
    prepare: str = ""  # a signal for the JVM before we come
    until: str = ""  # the line that it says then
    timeout: str = "20s"
    leaves_running: bool = True


CELLS = [
    Cell("same ids, same file system"),
    Cell("same ids, other mount namespace", launcher=mounted(PRIVATE_TMP)),
    Cell("root, JVM of another user", jprof="0:0"),
    Cell("root, JVM two PID namespaces down", jprof="0:0", launcher=in_pid_namespace(2)),
    Cell("root, JVM three PID namespaces down", jprof="0:0", launcher=in_pid_namespace(3)),
    Cell("same ids, JVM is pid 1 of its namespace", launcher=in_pid_namespace(1)),
    Cell("other uid", "IdentityMismatch", "IdentityMismatch", jprof="65533:65534"),
    Cell("other gid", "IdentityMismatch", "IdentityMismatch", jprof="65534:65533"),
    Cell("JVM holds a capability", "IdentityMismatch", "IdentityMismatch",
         as_jvm=["--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"]),
    Cell("root without capabilities, root JVM with them", "IdentityMismatch", "IdentityMismatch", jvm="0:0", jprof="0:0",
         as_jprof=["--inh-caps=-all", "--bounding-set=-all"]),
    Cell("root with SETUID and SETGID alone", jprof="0:0",
         as_jprof=["--inh-caps=-all,+setuid,+setgid", "--bounding-set=-all,+setuid,+setgid"]),
    Cell("other uid with SYS_PTRACE alone", "IdentityMismatch", "IdentityMismatch", jprof="65533:65533",
         as_jprof=["--inh-caps=+sys_ptrace", "--ambient-caps=+sys_ptrace"]),
    Cell("JVM not dumpable", "IdentityMismatch", "IdentityMismatch", options=["-agentpath:{probe}=nondumpable"]),
    Cell("JVM not dumpable, root", jprof="0:0", options=["-agentpath:{probe}=nondumpable"]),
    Cell("read-only root, /tmp writable", launcher=mounted(READ_ONLY_ROOT)),
    Cell("no writable /tmp", "AttachFailed", "AttachFailed", launcher=mounted(READ_ONLY_TMP)),
    Cell("noexec /tmp", launcher=mounted(NOEXEC_TMP)),
    Cell("noexec everywhere", OK, "NoPlaceForAgent", launcher=mounted(NOEXEC_TMP, NOEXEC_REST)),
    Cell("-Xrs", options=["-Xrs"]),
    Cell("attaching disabled", "AttachDisabled", "AttachDisabled", options=["-XX:+DisableAttachMechanism"]),
    Cell("agent loading disabled", OK, "AgentLoadingDisabled", options=["-XX:-EnableDynamicAgentLoading"]),
    Cell("starting", "AttachFailed", "AttachFailed", timeout="2s",
         options=["-XX:+UnlockDiagnosticVMOptions", "-XX:+PauseAtStartup", "-XX:PauseAtStartupFile={paused}"]),
    Cell("stopping, its shutdown hooks run", options=["-Dlong.stop=true"], prepare="TERM", until="stopping\n"),
    Cell("stopped", "AttachFailed", "AttachFailed", prepare="STOP"),
    Cell("zombie", "TargetGone", "TargetGone", prepare="KILL", leaves_running=False),
]


class Table:
    def __init__(self, jprof, agent, probe, classes):
        # Other users must reach the programs; and jprof is what its image makes it: not readable, so not dumpable.
        self.place = tempfile.mkdtemp(prefix="jprof-cells-", dir="/var/lib")
        os.chmod(self.place, 0o755)
        self.jprof = shutil.copy(jprof, self.place + "/jprof")
        os.chmod(self.jprof, 0o711)
        self.agent = shutil.copy(agent, self.place + "/libjprof.so")
        self.probe = shutil.copy(probe, self.place + "/probe.so")
        self.classes = shutil.copytree(classes, self.place + "/classes")
        subprocess.run(["chmod", "-R", "a+rX", self.agent, self.probe, self.classes], check=True)  # built under whatever umask
        os.mkdir(self.place + "/paused")
        os.chmod(self.place + "/paused", 0o777)
        self.java = subprocess.run([REPO + "/scripts/parts", "--where", "jdk-17"], capture_output=True, text=True)

    def close(self):
        shutil.rmtree(self.place)

    def start(self, cell):
        mark = "-Dcell=" + uuid.uuid4().hex
        uid, gid = cell.jvm.split(":")
        paused = os.path.join(self.place, "paused", "here")
        options = [option.format(probe=self.probe, paused=paused) for option in cell.options]
        command = cell.launcher + ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups"] + cell.as_jvm
        command += [self.java.stdout.strip() + "/jdk/bin/java", mark, "-Xmx32m", *options, "-cp", self.classes, "Idle"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if cell.name == "starting":
            while not os.path.exists(paused):  # made by the JVM, before it has a handler for SIGQUIT
                time.sleep(0.01)
        else:
            wait_for_line(process, "ready\n")
        return process, find(mark)

    def ask(self, cell, *arguments):
        uid, gid = cell.jprof.split(":")
        command = ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups"] + cell.as_jprof
        command += [self.jprof, *arguments, "--json"] if arguments[0] != "attach" else [self.jprof, "attach", "--json", *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd="/")
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = {"reason": "no JSON: " + done.stdout + done.stderr}
        return done.returncode, answer

    def check(self, cell):
        process, pid = self.start(cell)
        problems = []
        try:
            if cell.prepare:
                os.kill(pid, getattr(signal, "SIG" + cell.prepare))
                if cell.until:
                    wait_for_line(process, cell.until)
                while {"STOP": "T", "KILL": "ZX?"}.get(cell.prepare, state(pid)).find(state(pid)) < 0:
                    time.sleep(0.01)
            _, told = self.ask(cell, "doctor", str(pid))
            foretold = told["jvms"][0].get("reason", OK) if "jvms" in told else told.get("reason")
            code, attached = self.ask(cell, "attach", "--timeout", cell.timeout, str(pid), "properties")
            _, recorded = self.ask(cell, "record", str(pid), "--duration", "300ms", "--agent", self.agent, "-o", self.output(cell))
            results = {"attach": attached.get("reason", OK), "record": recorded.get("reason", OK), "doctor": foretold}
            wanted = {"attach": cell.attach, "record": cell.record, "doctor": cell.record}
            results["doctor on attach"], wanted["doctor on attach"] = foretold_attach(told), cell.attach
            problems += [f"{name}: {results[name]!r}, not {wanted[name]!r}" for name in wanted if results[name] != wanted[name]]
            for name, answer in (("attach", attached), ("record", recorded)):
                if answer.get("reason") and cell.prepare != "KILL" and not answer.get("cure"):
                    problems.append(f"{name} names no cure: {answer}")
            if cell.name == "starting":
                os.remove(os.path.join(self.place, "paused", "here"))
                if not wait_for_line(process, "ready\n"):
                    problems.append("the JVM did not start after all")
            if cell.leaves_running and state(pid) in "ZX?":
                problems.append("the JVM is dead")
            problems += [f"left behind: {name}" for name in leftovers(pid)]
            cause = attached.get("message") or recorded.get("message") or ""
            return problems, results, cause, code
        finally:
            if cell.prepare == "STOP":
                os.kill(pid, signal.SIGCONT)
            process.kill()
            process.wait()
            if os.path.exists(f"/proc/{pid}") and pid != process.pid:
                os.kill(pid, signal.SIGKILL)

    def output(self, cell):
        folder = tempfile.mkdtemp(dir=self.place)
        uid, gid = map(int, cell.jprof.split(":"))
        os.chown(folder, uid, gid)
        return folder + "/out.collapsed"


def wait_for_line(process, wanted):
    while (line := process.stdout.readline()) and line != wanted:
        pass
    return line == wanted


def foretold_attach(told):
    """The reason of the first failed check among those that attaching depends on."""
    for check in told["jvms"][0]["checks"] if "jvms" in told else [{"check": "process", "verdict": "fail", **told}]:
        if check["verdict"] == "fail" and check["check"] in ("process", "jvm", "access", "attach", "tmp"):
            return check["reason"]
    return OK


def find(mark):
    for _ in range(100):
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = open(f"/proc/{name}/cmdline", "rb").read().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words and words[0].endswith(b"/java"):
                return int(name)
        time.sleep(0.05)
    sys.exit("the JVM did not start")


def state(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "?"


def leftovers(pid):
    try:
        inner = next(line for line in open(f"/proc/{pid}/status") if line.startswith("NSpid")).split()[-1]
        names = os.listdir(f"/proc/{pid}/root/tmp")
    except OSError:
        return []
    return [name for name in names if name == ".attach_pid" + inner]


def main():
    if os.geteuid() != 0:
        print("cells: needs root")
        return 77
    table = Table(*sys.argv[1:5])
    failed = 0
    try:
        if not table.java.stdout.strip() or table.java.returncode != 0:
            print("cells: scripts/parts jdk-17 has not been run")
            return 77
        for cell in CELLS:
            if sys.argv[5:] and cell.name not in sys.argv[5:]:
                continue
            problems, results, cause, _ = table.check(cell)
            failed += bool(problems)
            print(f"{'FAIL' if problems else 'ok  '} {cell.name:46} attach {results['attach']:17} record {results['record']:21}"
                  f" {cause[:150]}")
            for problem in problems:
                print("     " + problem)
    finally:
        table.close()
    return 1 if failed else 0


sys.exit(main())

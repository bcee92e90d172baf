# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the checks of `jprof record` and `jprof compare` share: the JVMs and recorders that they start, and how they are run."""

import argparse
import base64
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import schemas  # noqa: E402 pylint: disable=wrong-import-position

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Context:
    def __init__(self, arguments, java):
        self.arguments = arguments
        self.java = java
        self.directory = tempfile.mkdtemp(prefix="jprof-record-")
        self.jvms = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def jvm(self, *workload, open_files=None, under=()):
        """With a soft limit on open files, if one is given, that stays as it is; a child of the command `under`, if there is one."""
        command = [*under, self.java, "-Xmx64m", *(["-XX:-MaxFDLimit"] if open_files else []), "-cp", self.arguments.classes, *workload]
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files or before[0], before[1]))
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        self.jvms.append(process)
        assert process.stdout.readline().strip() == b"ready"
        return process

    def start(self, pid, *options):
        """jprof record, not waited for."""
        command = [self.arguments.jprof, "record", str(pid), "--agent", self.arguments.library, *options]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory)

    def record(self, pid, *options):
        """Exit code and what --json says."""
        return self.finish(self.start(pid, "--json", *options))

    def record_for(self, pid, work_s, *options):
        """The same, stopped by the user once the JVM has worked so long under its timers."""
        process = self.start(pid, "--json", "-d", "100s", *options)
        wait_until_sampled(pid, work_s)
        process.send_signal(signal.SIGINT)
        return self.finish(process)

    @staticmethod
    def finish(process):
        out, errors = process.communicate(timeout=120)
        assert out, errors
        result = json.loads(out)
        schemas.check("record" if "samples" in result else "error", result)
        return process.returncode, result

    def doctor(self, pid):
        """What `jprof doctor` says of a JVM, by the check's word."""
        out = subprocess.run([self.arguments.jprof, "doctor", str(pid), "-o", "json"], capture_output=True, text=True).stdout
        result = json.loads(out)
        schemas.check("jvms", result)
        return {row["check"]: row for row in result["jvms"][0]["checks"]}

    def convert(self, source, target, *options):
        command = [self.arguments.jprof, "convert", self.path(source), "-o", self.path(target), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def kill_jvms(self):
        while self.jvms:
            process = self.jvms.pop()
            process.kill()
            process.wait()

    def end(self):
        self.kill_jvms()
        for name in os.listdir(self.directory):
            assert not name.startswith(".jprof-"), f"left behind: {name}"
            os.unlink(self.path(name))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_armed(pid):
    """True if the JVM has a timer, or an event of perf's clock."""
    with open(f"/proc/{pid}/timers") as timers:
        if timers.read(1):
            return True
    directory = f"/proc/{pid}/fd"
    for name in os.listdir(directory):
        try:
            if "perf_event" in os.readlink(os.path.join(directory, name)):
                return True
        except FileNotFoundError:
            pass  # closed since
    return False


def wait_until_sampled(pid, work_s=0.5):
    """Until the JVM has a timer and has worked so long since: on a crowded machine either may take its time."""
    end = time.monotonic() + 100
    began = None
    while began is None or cpu_seconds(pid) - began < work_s:
        assert time.monotonic() < end, "no capture began"
        if began is None:
            began = cpu_seconds(pid) if is_armed(pid) else None
        time.sleep(0.02)


def page_data(page):
    """What a page shows: behind a header of 24 bytes, deflated."""
    packed = re.search(rb'id="jprof-data">([^<]*)', page)[1]
    return zlib.decompress(base64.b64decode(packed)[24:], -15)


def folded_total(text):
    return sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jdk", required=True)
    parser.add_argument("--jprof", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--classes", required=True)
    parser.add_argument("checks", nargs="*")
    arguments = parser.parse_args()
    where = subprocess.run(["scripts/parts", "--where", arguments.jdk], capture_output=True, text=True, check=True)
    java = os.path.join(where.stdout.strip(), "run-java")
    if not os.access(java, os.X_OK):
        print(f"scripts/parts {arguments.jdk} has not been run")
        return 77
    context = Context(arguments, java)
    failed = 0
    for function in CHECKS:
        if arguments.checks and function.__name__ not in arguments.checks:
            continue
        began = time.monotonic()
        try:
            function(context)
            context.end()
            verdict = "ok"
        except AssertionError as error:
            verdict = f"FAILED: {error}"
            failed += 1
        finally:
            context.kill_jvms()  # one that is left keeps our output open, and whoever reads it waiting
        print(f"{function.__name__}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if failed else 0

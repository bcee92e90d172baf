#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What `jprof attach` prints beside the JDK's own jcmd, jstack, jmap and jinfo, of one JVM of each release.

Equal after times, processor times and the tools' own first lines are taken out; nothing else is.

usage: same_as_jdk.py JPROF CLASSES [RELEASE...]     exit 77: skipped
"""
import os
import re
import subprocess
import sys

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
JPROF, CLASSES = (os.path.abspath(path) for path in sys.argv[1:3])
RELEASES = sys.argv[3:] or ["8", "11", "17", "21", "25"]

# The tool's words, ours.
PAIRS = [
    # First: each of the others leaves caches in the JVM that it drops when it likes.
    (["jmap", "-histo:live", "PID"], ["inspectheap", "-live"]),
    (["jcmd", "PID", "VM.version"], ["jcmd", "VM.version"]),
    (["jcmd", "PID", "help"], ["jcmd", "help"]),
    (["jcmd", "PID", "help", "GC.heap_dump"], ["jcmd", "help", "GC.heap_dump"]),
    (["jcmd", "PID", "VM.flags", "-all"], ["jcmd", "VM.flags", "-all"]),
    (["jcmd", "PID", "VM.command_line"], ["jcmd", "VM.command_line"]),
    (["jcmd", "PID", "VM.system_properties"], ["jcmd", "VM.system_properties"]),
    (["jcmd", "PID", "VM.system_properties"], ["properties"]),
    (["jcmd", "PID", "Thread.print", "-l"], ["jcmd", "Thread.print", "-l"]),
    (["jstack", "PID"], ["threaddump"]),
    (["jstack", "-l", "PID"], ["threaddump", "-l"]),
    (["jinfo", "-flag", "MaxHeapFreeRatio", "PID"], ["printflag", "MaxHeapFreeRatio"]),
    (["jinfo", "-flag", "UseSerialGC", "PID"], ["printflag", "UseSerialGC"]),
]


def where(part):
    done = subprocess.run([REPO + "/scripts/parts", "--where", part], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def normal(text, pid):
    text = re.sub(r"^#.*\n", "", text, flags=re.M)  # the date that java.util.Properties writes
    text = re.sub(r"^%d:\n" % pid, "", text)  # jcmd's first line
    text = re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", "TIME", text, flags=re.M)
    text = re.sub(r"cpu=[\d.]+ms elapsed=[\d.]+s", "SPENT", text)
    # Where the thread that prints stands depends on the moment; so does the number of its references to classes.
    text = re.sub(r"(JNI global ref\w*: ).*", r"\1N", text)
    text = re.sub(r'("Attach Listener".*?)(runnable|waiting on condition).*', r"\1STATE", text)
    return text.strip().splitlines()


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else "exit %d: %s%s" % (done.returncode, done.stdout, done.stderr)


def tool_in_jvms_place(pid, name):
    """The JDK's tool beside the JVM, run where it runs: JDK 8 has a file system of its own."""
    home = os.path.dirname(os.readlink("/proc/%d/exe" % pid))
    for place in (home, os.path.normpath(home + "/../../bin")):
        if os.path.exists("/proc/%d/root%s/%s" % (pid, place, name)):
            return ["nsenter", "--target", str(pid), "--mount", place + "/" + name]
    sys.exit("no %s beside %s" % (name, home))


def first_difference(tool, ours):
    for number, (a, b) in enumerate(zip(tool, ours), 1):
        if a != b:
            return "line %d: %r, ours %r" % (number, a, b)
    return "%d lines, ours %d" % (len(tool), len(ours))


def compare(release, part):
    jvm = subprocess.Popen([part + "/run-java", "-Xmx32m", "-XX:+UseSerialGC", "-Dquoted=a b:c=d\\e", "-cp", CLASSES, "Idle"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    failed = 0
    try:
        while (line := jvm.stdout.readline()) and line != "ready\n":
            pass
        subprocess.run([JPROF, "attach", str(jvm.pid), "properties"], stdout=subprocess.DEVNULL, check=True)
        for tool, ours in PAIRS:
            command = [*tool_in_jvms_place(jvm.pid, tool[0]), *(str(jvm.pid) if word == "PID" else word for word in tool[1:])]
            for _ in range(3):  # a JVM's own threads may move between the two looks
                theirs = normal(run(command), jvm.pid)
                mine = normal(run([JPROF, "attach", str(jvm.pid), *ours]), jvm.pid)
                if theirs == mine and len(theirs) > 0:
                    break
            else:
                failed += 1
                print("FAIL java %s: %s: %s" % (release, " ".join(tool), first_difference(theirs, mine)))
                continue
            print("ok   java %-2s %-34s = %-24s %5d lines" % (release, " ".join(tool), " ".join(ours), len(mine)))
    finally:
        jvm.kill()
        jvm.wait()
    return failed


def main():
    if os.geteuid() != 0:
        print("same_as_jdk: needs root")
        return 77
    failed = compared = 0
    for release in RELEASES:
        part = where("jdk-" + release)
        if part is None:
            print("java %s: scripts/parts jdk-%s has not been run" % (release, release))
            continue
        compared += 1
        failed += compare(release, part)
    return 77 if compared == 0 else 1 if failed else 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Thread dumps as real JVMs print them (what jstack shows), read by `jprof convert`: every thread with a stack is a sample,
no frame is lost.

usage: thread_dumps.py JPROF CLASSES
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
JPROF, CLASSES = (os.path.abspath(path) for path in sys.argv[1:3])
PARTS = ["jdk-8", "jdk-11", "jdk-17", "jdk-21", "jdk-25"]


def stacks_in(dump):
    """The frames of each thread that has any, leaf first: an independent reading of the text."""
    stacks = []
    for paragraph in re.split(r"\n(?=\"|\n)", dump):
        frames = re.findall(r"^\tat (\S+)\(", paragraph, re.M)
        if paragraph.lstrip().startswith('"') and frames:
            stacks.append(frames)
    return stacks


def folded(jprof_input):
    out = subprocess.run([JPROF, "convert", "-", "--to", "collapsed"], input=jprof_input, capture_output=True, check=True, text=True)
    return [line.rpartition(" ") for line in out.stdout.splitlines()]


def compare(name, dumps):
    expected = stacks_in("\n".join(dumps))
    lines = folded("\n".join(dumps))
    assert sum(int(count) for _, _, count in lines) == len(expected), (name, len(expected), lines)
    assert sum(int(count) * (stack.count(";") + 1) for stack, _, count in lines) == sum(len(frames) for frames in expected), name
    # The methods are the same, apart from modules and the addresses of hidden classes.
    ours = {frame.rpartition(".")[2] for stack, _, _ in lines for frame in stack.split(";")}
    assert ours == {frame.rpartition(".")[2] for frames in expected for frame in frames}, name
    assert not any("/" in stack for stack, _, _ in lines), lines
    assert any("Known.main" in stack for stack, _, _ in lines), lines
    return len(expected)


def dumps_of(part):
    """Two dumps of one JVM, whole: after the threads it prints the number of its JNI references."""
    run_java = os.path.join(part, "run-java")
    process = subprocess.Popen([run_java, "-Xmx64m", "-cp", CLASSES, "Known", "spread", "600"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    dumps = []
    try:
        assert process.stdout.readline().strip() == "ready"
        while len(dumps) < 2:
            process.send_signal(signal.SIGQUIT)
            lines = []
            while not lines or not lines[-1].startswith("JNI global ref"):
                lines.append(process.stdout.readline())
                assert lines[-1], "the JVM ended: " + "".join(lines)
            dumps.append("".join(lines))
    finally:
        process.kill()
        process.communicate()
    # What follows the references (the heap) came before the next dump: it belongs to neither.
    return [dump[re.search(r"^\d{4}-\d\d-\d\d ", dump, re.M).start():] for dump in dumps]


def main():
    seen = 0
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            where = subprocess.run([os.path.join(ROOT, "scripts/parts"), "--where", part], capture_output=True, text=True, check=False)
            if where.returncode:
                continue
            dumps = dumps_of(where.stdout.strip())
            count = compare(part, dumps)
            text, page = os.path.join(folder, "dumps"), os.path.join(folder, "page.html")
            with open(text, "w", encoding="utf-8") as file:
                file.write("\n".join(dumps))
            out = subprocess.run([JPROF, "convert", text, "-o", page, "--json"], capture_output=True, check=True, text=True)
            assert json.loads(out.stdout)["samples"] == count, out.stdout
            print(f"{part}: {count} stacks in {len(dumps)} dumps")
            seen += 1
    if not seen:
        print("no JVM is here: scripts/parts jdk-17")
        sys.exit(77)


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What every benchmark here needs: the programs that are compared, where they run, and figures with their spread."""
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# async-profiler's names for a walk that failed. "[unknown]" is native code without a symbol, and no failure; but as the outermost
# frame it is where a walk lost its way: the thread's first frames are missing, main and all.
FAILED = re.compile(r"\[(?:unknown_(?:Java|not_Java|state|nmethod)|not_walkable_\w+|break_\w+|deoptimization|skipped|GC_active"
                    r"|safepoint|stale_jmethodID)\]")  # fmt: skip


def part(name):
    """The folder of a test part, which is installed first if it is missing."""
    done = subprocess.run([ROOT / "scripts/parts", name], check=True, text=True, stdout=subprocess.PIPE)
    return pathlib.Path(done.stdout.split()[0])


def add_bin_option(parser):
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/image",
                        help="of the programs; by default those that are shipped: scripts/build --static")  # fmt: skip


def programs(args):
    """The folder that --bin names; without jprof in it this is the end."""
    folder = args.bin.resolve()
    if not (folder / "jprof").exists():
        sys.exit(f"{folder / 'jprof'} is missing: run scripts/build --static")
    return folder


def copy_of_asprof(work):
    """asprof of an async-profiler in `work`: it finds its library beside itself, where an unprivileged JVM can read it."""
    shutil.copytree(part("async-profiler"), work / "ap")
    return work / "ap/bin/asprof"


def stacks(path):
    """(frames, weight) of a collapsed file."""
    for line in path.read_text(errors="replace").splitlines():
        stack, _, weight = line.rpartition(" ")
        yield stack, int(weight)


def failed_of_asprof(path):
    """(samples, those that name an error, those that have none but no root either) of its collapsed output."""
    samples = failed = cut = 0
    for stack, weight in stacks(path):
        samples += weight
        if FAILED.search(stack):
            failed += weight
        elif stack.startswith("[unknown];"):
            cut += weight
    return samples, failed, cut


def compile_java(folder, *sources):
    subprocess.run(["javac", "-nowarn", "-Xlint:-options", "--release", "8", "-d", folder,
                    *(ROOT / "tests/workloads" / source for source in sources)], check=True)  # fmt: skip


def compile_floor(folder):
    """The agent that arms timers and does nothing else."""
    library = folder / "floor.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "bench/overhead/floor.c"], check=True)
    return library


def spread(values, digits):
    """Median and range."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def ratios(ours, theirs):
    """Of the rounds, one by one: median and range; "-" where there is nothing to divide by."""
    found = [a / b for a, b in zip(ours, theirs) if b > 0]
    return spread(found, 2) if found else "-"


def error_of(values):
    """The standard error of their mean; one value alone says nothing of it."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else math.inf


class TimerWatch:
    """A process's POSIX timers: looked at in a way that costs what is measured next to nothing."""

    PERIOD_S = 0.001

    def __init__(self, pid):
        self.file = os.open(f"/proc/{pid}/timers", os.O_RDONLY)

    def armed(self):
        return os.pread(self.file, 16, 0) != b""

    def count(self):
        os.lseek(self.file, 0, os.SEEK_SET)
        text = b""
        while piece := os.read(self.file, 65536):
            text += piece
        return text.count(b"ID:")

    def close(self):
        os.close(self.file)

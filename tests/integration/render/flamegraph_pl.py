#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Our pictures against the original flamegraph.pl: equal sets of frames, equal places and widths.

Random stacks with known counts, plain and differential, with the options that move or drop frames.
usage: flamegraph_pl.py [SEED]
"""
import html
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
JPROF = os.path.join(os.environ.get("JPROF_BUILD_DIR", os.path.join(ROOT, "build/dev")), "bin/jprof")
GROUP = re.compile(
    r'<g class="[^>]*>\s*<title>(.*?)</title>.*?<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', re.S)


def boxes(svg):
    """(title, x, width) of every frame; rows are compared by their order from the root."""
    found = [(html.unescape(t), float(x), float(y), float(w)) for t, x, y, w in GROUP.findall(svg)]
    rows = {y: i for i, y in enumerate(sorted({y for _, _, y, _ in found}))}
    # Later versions of the original show names without their suffix of kind, as we do; Debian's does not yet.
    return sorted((re.sub(r"_\[[kwij]\] \(", " (", t), rows[y], x, w) for t, x, y, w in found)


def stacks(rng, count, differential):
    names = [f"com/acme/C{i}.m{i % 7}" for i in range(30)] + ["a b", "std::vector<int>::at", "x_[k]", "operator&", "é", "f(int, \"s\")"]
    lines = []
    for _ in range(count):
        stack = ";".join(rng.choice(names) for _ in range(rng.randint(1, 14)))
        value = rng.choice([str(rng.randint(1, 2000)), str(rng.randint(1, 9)), f"{rng.random() * 50 + 1:.2f}"])
        lines.append(f"{stack} {rng.randint(0, 2000)} {value}" if differential else f"{stack} {value}")
    return "\n".join(lines + ["not a stack", ""]) if not differential else "\n".join(lines) + "\n"


def run(command, text):
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.decode()


def compare(original, text, flags):
    theirs = boxes(run(["perl", original, *flags], text))
    ours = boxes(run([JPROF, "flame", *flags], text))
    if len(theirs) != len(ours):
        missing = set(t for t, *_ in theirs) ^ set(t for t, *_ in ours)
        sys.exit(f"{flags}: {len(theirs)} frames there, {len(ours)} here: {sorted(missing)[:5]}")
    for a, b in zip(theirs, ours):
        if a[0] != b[0] or a[1] != b[1] or abs(a[2] - b[2]) > 0.101 or abs(a[3] - b[3]) > 0.101:
            sys.exit(f"{flags}: there {a}, here {b}")
    return len(theirs)


def main():
    part = subprocess.run([os.path.join(ROOT, "scripts/parts"), "flamegraph-pl"], capture_output=True, text=True, check=False)
    if part.returncode:
        print("flamegraph.pl cannot be had:", part.stderr.strip())
        sys.exit(77)
    original = os.path.join(part.stdout.strip().splitlines()[-1], "flamegraph.pl")
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    flag_sets = [[], ["--inverted"], ["--reverse"], ["--width", "800", "--height", "20"], ["--minwidth", "3"],
                 ["--total", "900000"], ["--factor", "2.5", "--countname", "ms"], ["--fontsize", "9", "--fontwidth", "0.6"]]
    frames = 0
    for differential in (False, True):
        for count in (1, 3, 200, 2000):
            text = stacks(rng, count, differential)
            for flags in flag_sets + ([["--negate"]] if differential else []):
                frames += compare(original, text, flags)
    print(f"{frames} frames equal")
    convert_sums(original, rng)


def convert_sums(original, rng):
    """K10: what convert writes has the totals of what it read, there and here."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.collapsed"), os.path.join(folder, "out")
        truth = {}
        with open(source, "w", encoding="utf-8") as file:
            for _ in range(3000):
                stack = ";".join(f"f{rng.randint(0, 40)}" for _ in range(rng.randint(1, 12)))
                count = rng.randint(1, 1000)
                truth[stack] = truth.get(stack, 0) + count
                file.write(f"{stack} {count}\n")
        subprocess.run([JPROF, "convert", source, *[x for e in ("collapsed", "svg", "txt", "json", "html", "jprof")
                                                    for x in ("-o", f"{out}.{e}")]], check=True, capture_output=True)
        subprocess.run([JPROF, "convert", out + ".jprof", "-o", out + "2.collapsed"], check=True, capture_output=True)
        for name in (out + ".collapsed", out + "2.collapsed"):
            with open(name, encoding="utf-8") as file:
                back = {stack: int(count) for stack, _, count in (line.rstrip("\n").rpartition(" ") for line in file)}
            assert back == truth, name
        total = f"all ({sum(truth.values()):,} samples, 100%)"
        with open(out + ".collapsed", encoding="utf-8") as file:
            svg = subprocess.run(["perl", original], stdin=file, capture_output=True, check=True)
        assert not svg.stderr, svg.stderr
        assert total in svg.stdout.decode()
        with open(out + ".svg", encoding="utf-8") as file:
            assert total in file.read()
    print(f"{len(truth)} stacks, sums equal in every format")


if __name__ == "__main__":
    main()

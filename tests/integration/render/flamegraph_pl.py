#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Our pictures and differences against the originals: the same frames, places, widths, sums and, where the original's
follow from the name, colours.

Random stacks with known counts, plain and differential, under every option of flamegraph.pl. The part `flamegraph-pl` is
the version that Debian ships; with JPROF_FLAMEGRAPH naming a checkout of the original repository, the newest version, its
newer options and difffolded.pl are compared as well. The part `inferno` is a port of difffolded.pl to whole counts; where it
can be had, it is the second reference for differences.
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
CHECKOUT = os.environ.get("JPROF_FLAMEGRAPH", "")
GROUP = re.compile(r'<g [^>]*>\s*<title>(.*?)</title>.*?<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.-]+)" height="([\d.]+)" '
                   r'fill="([^"]+)"', re.S)
WIDTH = re.compile(r'<svg [^>]*?width="([\d.]+)"', re.S)

# Options of every version, and those that Debian's does not have yet.
EVERYWHERE = [[], ["--inverted"], ["--reverse"], ["--width", "800", "--height", "20"], ["--minwidth", "3"], ["--minwidth=0.5"],
              ["--total", "900000"], ["--total", "5"], ["--factor", "2.5", "--countname", "ms"], ["--factor", "-1"], ["--width", "1"],
              ["--fontsize", "9", "--fontwidth", "0.6"], ["--fonttype", "Courier", "--nametype", "Frame:", "--title", "A & B"],
              ["--encoding", "UTF-8"], ["--hash"], ["--hash", "--colors", "mem"], ["--hash", "--colors=io"], ["--colors", "red"]]
NEWER = [["--flamechart"], ["--flamechart", "--reverse"], ["--minwidth", "0.5%"], ["--subtitle", "s", "--notes", "n"], ["--random"],
         ["--bgcolors", "blue"], ["--bgcolors", "#112233"]]
PALETTES = ["hot", "mem", "io", "wakeup", "chain", "java", "js", "perl", "red", "green", "blue", "aqua", "yellow", "purple", "orange"]


def boxes(svg, is_old, with_colours):
    """(title, row, x, width, height, colour) of every frame; rows are counted from the root's side."""
    found = [(html.unescape(t), float(x), float(y), w, h, c) for t, x, y, w, h, c in GROUP.findall(svg)]
    rows = {y: i for i, y in enumerate(sorted({f[2] for f in found}))}
    out = []
    for title, x, y, width, height, colour in found:
        if is_old:  # it shows suffixes of kinds, and <> as ()
            title = re.sub(r"_\[[kwij]\] \(", " (", title)
        out.append((title.replace("<", "(").replace(">", ")") if is_old else title, rows[y], x, width, height, colour if with_colours else ""))
    return sorted(out)


def stacks(rng, count, differential, is_old):
    # Old versions make <> to () before they merge, so there these names would meet others.
    names = [f"com/acme/C{i}.m{i % 7}" for i in range(30)]
    names += ["a b", "x_[k]", "operator&", "é", 'f(int, "s")', "--", "-", "Perl_x", "a.pl", "io/x_[j]", "y_[i]", ":::z", "p::q", " ", "m`f"]
    names = [n for n in names if not is_old or n not in ("-", "--", "é")]  # other greys there, and no UTF-8
    names += [] if is_old else ["std::vector<int>::at", "node/x.js", "two  blanks"]
    lines = []
    for _ in range(count):
        stack = ";".join(rng.choice(names) for _ in range(rng.randint(1, 14)))
        value = rng.choice([str(rng.randint(1, 2000)), str(rng.randint(1, 9)), f"{rng.random() * 50 + 1:.2f}"])
        lines.append(f"{stack} {rng.randint(0, 2000)} {value}" if differential and rng.random() < 0.9 else f"{stack} {value}")
    return "\n".join(lines + ["not a stack", ""]) if not differential else "\n".join(lines) + "\n"


def run(command, text, cwd=None):
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False, cwd=cwd)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.decode()}")
    return done.stdout.decode()


def compare(original, text, flags, is_old, with_colours):
    there, here = run(["perl", original, *flags], text), run([JPROF, "flame", *flags], text)
    theirs, ours = boxes(there, is_old, with_colours), boxes(here, is_old, with_colours)
    if len(theirs) != len(ours):
        missing = {b[0] for b in theirs} ^ {b[0] for b in ours}
        sys.exit(f"{flags}: {len(theirs)} frames there, {len(ours)} here: {sorted(missing)[:5]}")
    for a, b in zip(theirs, ours):
        if a != b:
            sys.exit(f"{flags}: there {a}, here {b}")
    if WIDTH.search(there).group(1) != WIDTH.search(here).group(1):
        sys.exit(f"{flags}: pictures of different width")
    return len(theirs)


def compare_pictures(original, rng, is_old):
    frames = 0
    sets = EVERYWHERE + ([] if is_old else NEWER + [["--colors", palette] for palette in PALETTES])
    for differential in (False, True):
        for count in (1, 3, 200, 1500):
            text = stacks(rng, count, differential, is_old)
            for flags in sets + ([["--negate"]] if differential else []):
                # Debian's gives every box a colour by chance, unless --hash; the newest only with --random.
                by_name = "--hash" in flags if is_old else "--random" not in flags
                frames += compare(original, text, flags, is_old, by_name)
    print(f"{frames} frames equal to those of {original}")


def kept_palette(original, text):
    """--cp: the same palette.map is read and written; --nameattr: titles and links."""
    with tempfile.TemporaryDirectory() as there, tempfile.TemporaryDirectory() as here:
        for folder in (there, here):
            with open(os.path.join(folder, "palette.map"), "w", encoding="utf-8") as file:
                file.write("com/acme/C1.m1->rgb(1,2,3)\n")
            with open(os.path.join(folder, "names"), "w", encoding="utf-8") as file:
                file.write("com/acme/C2.m2\ttitle=own title\thref=https://x.example/?a&b\n")
        flags = ["--cp", "--nameattr", "names"]
        theirs, ours = run(["perl", original, *flags], text, there), run([JPROF, "flame", *flags], text, here)
        for svg in (theirs, ours):
            assert "<title>own title</title>" in svg and 'fill="rgb(1,2,3)"' in svg
        assert 'href="https://x.example/?a&amp;b"' in ours
        maps = []
        for folder in (there, here):
            with open(os.path.join(folder, "palette.map"), encoding="utf-8") as file:
                maps.append(sorted(file))
        # Its old version takes no part in what it draws by chance.
        assert [line.split("->")[0] for line in maps[0]] == [line.split("->")[0] for line in maps[1]], maps
        refused = subprocess.run([JPROF, "flame", "--nameattr", "/dev/stdin", "/dev/null"], input=b"f\thref=javascript:alert(1)\n",
                                 capture_output=True, check=False)
        assert refused.returncode == 2, refused
    print("palette.map and attributes of names are kept as there")


def folded(rng, count, whole):
    """Random folded text; of whole counts or with decimals too."""
    lines = []
    for _ in range(count):
        stack = ";".join(f"f{rng.randint(0, 9)}" + rng.choice(["", " 0x7f" + "%x" % rng.randint(0, 9), " b", "_[j]"])
                         for _ in range(rng.randint(1, 5)))
        number = str(rng.randint(0, rng.choice([9, 999, 10**9])))
        lines.append(stack + " " + (number if whole else rng.choice([number, f"{rng.random() * 9:.3f}", "7."])))
    return "\n".join(lines) + "\n"


def reference_diff(texts, normalize, strip_hex):
    """What difffolded.pl documents, written down a second time."""
    sums, totals = {}, [0, 0]
    for side, text in enumerate(texts):
        for line in text.splitlines():
            stack, _, count = line.rpartition(" ")
            stack = re.sub("0x[0-9a-fA-F]+", "0x...", stack) if strip_hex else stack
            sums.setdefault(stack, [0, 0])[side] += float(count)
            totals[side] += float(count)
    lines = []
    for stack, (base, changed) in sums.items():
        if normalize and totals[0] != totals[1]:
            base = int(base * totals[1] / totals[0])
        lines.append(f"{stack} {base:.15g} {changed:.15g}\n")
    return sorted(lines)


def other_diffs():
    """Programs that make differences, and whether only of whole counts."""
    found = [(["perl", os.path.join(CHECKOUT, "difffolded.pl")], False)] if CHECKOUT else []
    part = subprocess.run([os.path.join(ROOT, "scripts/parts"), "inferno"], capture_output=True, text=True, check=False)
    if part.returncode:
        print("inferno cannot be had:", part.stderr.strip().splitlines()[-1])
        return found
    return found + [([os.path.join(part.stdout.strip().splitlines()[-1], "bin/inferno-diff-folded"), "-q"], True)]


def compare_differences(rng):
    """K11, byte for byte. The originals leave the order of lines to chance."""
    others = other_diffs()
    lines = {"the documented sums": 0}
    with tempfile.TemporaryDirectory() as folder:
        for size, whole in [(size, whole) for size in (1, 10, 300, 2000) for whole in (True, False)]:
            texts = [folded(rng, size, whole), folded(rng, size + size // 3, whole)]
            paths = [os.path.join(folder, name) for name in "ab"]
            for path, text in zip(paths, texts):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            for flags in ([], ["-n"], ["-s"], ["-n", "-s"]):
                ours = run([JPROF, "diff", *flags, *paths], "").splitlines(keepends=True)
                stacks_in_order = [line.rsplit(" ", 2)[0] for line in ours]
                assert stacks_in_order == sorted(stacks_in_order)
                expected = reference_diff(texts, "-n" in flags, "-s" in flags)
                assert sorted(ours) == expected, (flags, size, set(ours) ^ set(expected))
                lines["the documented sums"] += len(ours)
                for command, only_whole in others:
                    if whole or not only_whole:
                        theirs = sorted(run([*command, *flags, *paths], "").splitlines(keepends=True))
                        assert sorted(ours) == theirs, (command, flags, size, set(ours) ^ set(theirs))
                        name = os.path.basename(command[-1] if command[0] == "perl" else command[0])
                        lines[name] = lines.get(name, 0) + len(ours)
    for name, count in lines.items():
        print(f"{count} lines of differences equal to those of {name}")


def one_more_and_one_gone():
    """K11 as the issue has it: +1000 in one stack, one vanished."""
    with tempfile.TemporaryDirectory() as folder:
        a, b = os.path.join(folder, "a.collapsed"), os.path.join(folder, "b.collapsed")
        with open(a, "w", encoding="utf-8") as file:
            file.write("main;run;hot 500\nmain;run;gone 70\nmain;run 5\n")
        with open(b, "w", encoding="utf-8") as file:
            file.write("main;run;hot 1500\nmain;run 5\n")
        assert run([JPROF, "diff", a, b], "") == "main;run 5 5\nmain;run;gone 70 0\nmain;run;hot 500 1500\n"
        for suffix in ("svg", "html"):
            run([JPROF, "diff", a, b, "-o", os.path.join(folder, "d." + suffix)], "")


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
        endings = ["collapsed", "svg", "txt", "json", "html", "jprof"]
        subprocess.run([JPROF, "convert", source, *[x for e in endings for x in ("-o", f"{out}.{e}")]], check=True, capture_output=True)
        subprocess.run([JPROF, "convert", out + ".jprof", "-o", out + "2.collapsed", "-o", out + "2.html", "-o", out + "2.json"],
                       check=True, capture_output=True)
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


def main():
    part = subprocess.run([os.path.join(ROOT, "scripts/parts"), "flamegraph-pl"], capture_output=True, text=True, check=False)
    if part.returncode:
        print("flamegraph.pl cannot be had:", part.stderr.strip())
        sys.exit(77)
    original = os.path.join(part.stdout.strip().splitlines()[-1], "flamegraph.pl")
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    compare_pictures(original, rng, True)
    kept_palette(original, stacks(rng, 2000, False, True))
    if CHECKOUT:
        newest = os.path.join(CHECKOUT, "flamegraph.pl")
        compare_pictures(newest, rng, False)
        kept_palette(newest, stacks(rng, 2000, False, False))
    compare_differences(rng)
    one_more_and_one_gone()
    convert_sums(original, rng)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""`jprof convert`, `diff` and `flame` as programs: every input into every format and back, standard input and output, what
each mistake says and exits with, and that a file is written whole or not at all.

usage: convert_test.py JPROF
"""
import gzip
import json
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import schemas  # noqa: E402 pylint: disable=wrong-import-position

JPROF = os.path.abspath(sys.argv[1])
ENDINGS = ["html", "collapsed", "svg", "txt", "json", "jprof"]

FOLDED = "GC Thread#0 5\njava.lang.Thread.run;shop.Cart.total_[j] 70\njava.lang.Thread.run;shop.Cart.total_[j];shop.Price.of_[i] 25\n"
# As `perf script` prints: with pids and periods, without pids, with a header; names with blanks; a stack of the kernel.
PERF = """# ========
# captured on    : Sat Nov 21 15:08:00 2026
# ========
#
http-nio-8080-e 4242/4250 [003] 19545.909118:   10000000 cpu-clock:u:
\t    7f3b2c0123aa Lshop/Cart;::total+0x4a (/tmp/perf-4242.map)
\t    7f3b2c000908 call_stub (/tmp/perf-4242.map)
\t    7f3b44a1b2c3 JavaCalls::call_helper(JavaValue*, methodHandle const&, JavaCallArguments*, JavaThread*)+0x2ab (/usr/lib/jvm/lib/server/libjvm.so)

C2 CompilerThre 4242/4247 [000] 19545.919200:   10000000 cpu-clock:u:
\t    7f3b44b00000 PhaseChaitin::Split(unsigned int, ResourceArea*)+0x10 (/usr/lib/jvm/lib/server/libjvm.so)

http-nio-8080-e 4242/4250 [003] 19545.929300:   10000000 cpu-clock:u:
\tffffffff81c00000 entry_SYSCALL_64_after_hwframe+0x72 ([kernel.kallsyms])
\t    7f3b45000000 __read+0x10 (/usr/lib/x86_64-linux-gnu/libc.so.6)

"""
DUMP = """2026-11-21 10:00:00
Full thread dump OpenJDK 64-Bit Server VM (21.0.8+9-LTS mixed mode, sharing):

"main" #1 [4242] prio=5 os_prio=0 cpu=71.22ms elapsed=9.93s tid=0x00007f1a04016a00 nid=4242 runnable  [0x00007f1a0a9fe000]
   java.lang.Thread.State: RUNNABLE
\tat java.io.FileInputStream.readBytes(java.base@21.0.8/Native Method)
\tat shop.Main.main(Main.java:12)

"pool-1-thread-1" #22 [4260] prio=5 os_prio=0 cpu=1.2ms elapsed=9.1s tid=0x00007f1a041f nid=4260 waiting on condition  [0x00007f19e8]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@21.0.8/Native Method)
\t- parking to wait for  <0x000000071a8> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)
\tat shop.Pool$$Lambda/0x00007f19a0001000.run(Unknown Source)

"VM Thread" os_prio=0 cpu=3.55ms elapsed=9.92s tid=0x00007f1a041 nid=4250 runnable
"""
SPEEDSCOPE = json.dumps({
    "$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "speedscope@1.25.0", "name": "shop", "activeProfileIndex": 0,
    "shared": {"frames": [{"name": "main"}, {"name": "total", "file": "Cart.java", "line": 12}, {"name": "price"}]},
    "profiles": [
        {"type": "sampled", "name": "worker", "unit": "milliseconds", "startValue": 0, "endValue": 30, "samples": [[0, 1], [0, 1, 2], [0]],
         "weights": [10, 15, 5]},
        {"type": "evented", "name": "main", "unit": "milliseconds", "startValue": 0, "endValue": 20,
         "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 2, "at": 5}, {"type": "C", "frame": 2, "at": 12},
                    {"type": "C", "frame": 0, "at": 20}]}]})
MS = 1_000_000
INPUTS = {  # text, samples, weight, folded
    "folded": (FOLDED, 100, 100, FOLDED.replace("_[j]", "").replace("_[i]", "")),
    "perf script": (PERF, 3, 30 * MS, None),
    "thread dump": (DUMP, 2, 2, "shop.Main.main;java.io.FileInputStream.readBytes 1\nshop.Pool$$Lambda.run;jdk.internal.misc.Unsafe.park 1\n"),
    "speedscope": (SPEEDSCOPE, 6, 50 * MS,
                   f"main {18 * MS}\nmain;price {7 * MS}\nmain;total {10 * MS}\nmain;total;price {15 * MS}\n"),
    "nothing": ("", 0, 0, ""),
}


def jprof(*arguments, text="", **options):
    return subprocess.run([JPROF, *arguments], input=text, capture_output=True, text=True, check=False, **options)


def good(*arguments, text=""):
    done = jprof(*arguments, text=text)
    assert done.returncode == 0, (arguments, done)
    return done.stdout


def total(folded):
    return sum(int(line.rpartition(" ")[2]) for line in folded.splitlines())


def leaves(node):
    return node["samples"] + sum(leaves(child) for child in node["children"])


def every_input_into_every_format(folder):
    for name, (text, samples, weight, folded) in INPUTS.items():
        base = os.path.join(folder, name)
        files = [f"{base}.{ending}" for ending in ENDINGS]
        result = json.loads(good("convert", "-", "--json", *[word for file in files for word in ("-o", file)], text=text))
        assert result["ok"] and result["samples"] == samples, (name, result)
        schemas.check("convert", result)
        assert [file["bytes"] for file in result["files"]] == [os.path.getsize(file) for file in files], name
        content = {}
        for ending, file in zip(ENDINGS, files):
            with open(file, "rb") as stream:
                content[ending] = stream.read()
        there = content["collapsed"].decode()
        assert total(there) == weight and folded in (None, there), (name, there)
        assert leaves(json.loads(content["json"])["tree"]) == samples, name
        # What standard output gets is the same, and so is what the recording becomes.
        for ending in ENDINGS:
            if ending != "jprof":  # which is not text
                assert good("convert", "-", "--to", ending, text=text).encode() == content[ending], (name, ending)
            again = f"{base}.again.{ending}"
            good("convert", base + ".jprof", "-o", again, "--title", "t")
            good("convert", f"{base}.again.jprof" if ending == "jprof" else base + ".jprof", "-o", f"{base}.third.{ending}", "--title", "t")
            with open(again, "rb") as one, open(f"{base}.third.{ending}", "rb") as two:
                first = one.read()
                assert first == two.read(), (name, ending)
                assert ending not in ("collapsed", "txt") or first == content[ending], (name, ending)
        if samples:
            assert good("flame", text=text).count("<rect") == good("flame", base + ".jprof").count("<rect"), name
    print(f"{len(INPUTS)} kinds of input became {len(ENDINGS)} formats and came back")


def page_tree(text):
    """(name, self weight, total weight) of the rows of the table that stands in a page as HTML: shares in percent."""
    rows = re.findall(r'<td class="n">([0-9.]+) %</td><td class="n">([0-9.]+) %</td><td><bdi>([^<]*)</bdi>', text)
    return {name: (float(own), float(whole)) for own, whole, name in rows}


def shares_agree_everywhere(folder):
    """One recording whose samples do not weigh the same, in every format: each method has one share, and there is one sum."""
    rng = [(i * 7919 + 13) % 97 + 1 for i in range(60)]
    source = json.dumps({"shared": {"frames": [{"name": f"m.f{i}"} for i in range(6)]}, "profiles": [
        {"type": "sampled", "name": "t", "unit": "milliseconds", "startValue": 0, "endValue": sum(rng),
         "samples": [[0, 1 + i % 5] for i in range(60)], "weights": rng}]})
    truth = {f"m.f{1 + i}": 100 * sum(rng[i::5]) / sum(rng) for i in range(5)}
    even = {f"m.f{1 + i}": 20.0 for i in range(5)}
    assert max(abs(truth[name] - even[name]) for name in truth) > 3, "samples and weights must differ for this to tell anything"
    base = os.path.join(folder, "shares")
    good("convert", "-", "-o", base + ".jprof", text=source)
    read = {ending: good("convert", base + ".jprof", "--to", ending) for ending in ENDINGS if ending != "jprof"}
    read["jprof"] = good("convert", base + ".jprof", "-o", base + "2.jprof") and good("convert", base + "2.jprof", "--to", "txt")
    weights = {line.rpartition(" ")[0].split(";")[-1]: int(line.rpartition(" ")[2]) for line in read["collapsed"].splitlines()}
    tree = json.loads(read["json"])["tree"]
    found = {
        "collapsed": {name: 100 * weight / sum(weights.values()) for name, weight in weights.items()},
        "json": {node["name"]: 100 * node["self"] / tree["total"] for node in tree["children"][0]["children"]},
        "txt": {line.split()[-1]: float(line.split()[0][:-1]) for line in read["txt"].splitlines()[1:]},
        "jprof": {line.split()[-1]: float(line.split()[0][:-1]) for line in read["jprof"].splitlines()[1:]},
        "svg": {name: float(share) for name, share in re.findall(r"<title>(m\.f\d) \([^,]*, ([0-9.]+)%\)", read["svg"])},
        "html": {name: own for name, (own, _) in page_tree(read["html"]).items()},
        "flame": {name: float(share) for name, share in re.findall(r"<title>(m\.f\d) \([^,]*, ([0-9.]+)%\)", good("flame", base + ".jprof"))},
    }
    for ending, shares in found.items():
        for name, share in truth.items():
            assert abs(shares[name] - share) <= 0.006, (ending, name, shares.get(name), share)
    whole = sum(rng)
    assert sum(weights.values()) == tree["total"] == whole * MS, (weights, tree["total"])
    assert f"all ({whole:,} ms, 100%)" in read["svg"] and f"all ({whole:,} ms, 100%)" in good("flame", base + ".jprof")
    decimals = good("convert", "-", "--to", "txt", text="main;a 0.42\nmain;b 0.58\n")
    assert " 42.00%" in decimals and " 58.00%" in decimals, decimals
    print(f"{len(found)} outputs agree on the shares of samples that weigh {min(rng)} to {max(rng)} ms")


def packed_input(folder):
    for name, packed in (("a.gz", gzip.compress(FOLDED.encode())), ("b.gz", gzip.compress(SPEEDSCOPE.encode()))):
        path = os.path.join(folder, name)
        with open(path, "wb") as stream:
            stream.write(packed)
        plain = FOLDED if name == "a.gz" else SPEEDSCOPE
        assert good("convert", path) == good("convert", "-", text=plain)
        done = subprocess.run([JPROF, "convert", "-"], input=packed, capture_output=True, check=True)
        assert done.stdout.decode() == good("convert", "-", text=plain)
        assert good("flame", path).count("<rect") == good("flame", text=plain).count("<rect")
    with open(os.path.join(folder, "bomb.gz"), "wb") as stream:
        stream.write(gzip.compress(bytes(300 << 20), 9))
    done = jprof("convert", os.path.join(folder, "bomb.gz"))
    assert done.returncode == 2 and "not text" in done.stderr, done


def what_is_left_out_is_said(folder):
    """On standard error and in the result: how many, the first, and why."""
    bad = "main;a 10\nmain;b 99999999999999999999\n\nnonsense\n"
    words = "standard input: ignored lines: 2, the first is line 2: its count is above 9e15"
    path = os.path.join(folder, "bad")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(bad)
    for arguments in (["convert", "-"], ["flame", "-"], ["diff", "-", path], ["diff", "-", path, "--to", "html"]):
        done = jprof(*arguments, text=bad)
        assert done.returncode == 0 and f"jprof: warning: {words}" in done.stderr, (arguments, done.stderr)
    result = json.loads(good("convert", "-", "--json", "-o", os.path.join(folder, "bad.html"), text=bad))
    assert result["leftOut"] == [words.partition(": ")[2]], result
    result = json.loads(good("diff", "-", path, "--json", "-o", os.path.join(folder, "bad.svg"), text=bad))
    schemas.check("diff", result)
    assert words in result["leftOut"] and len(result["leftOut"]) == 2, result
    nothing = "jprof: warning: standard input: it contains no samples"
    for text in ("", "main;a 0\n"):
        done = jprof("convert", "-", text=text)
        assert done.returncode == 0 and nothing in done.stderr, done
    events = PERF + "java 1/1 [000] 1.000000: 1 sched:x:\n\tff f (m)\n\nrubbish\n"
    assert "samples of other events: 1" in jprof("convert", "-", text=events).stderr
    assert not jprof("convert", "-", text=FOLDED).stderr


def units_that_differ_are_refused(folder):
    recording, text = os.path.join(folder, "u.jprof"), os.path.join(folder, "u.collapsed")
    good("convert", "-", "-o", recording, text=SPEEDSCOPE)
    with open(text, "w", encoding="utf-8") as stream:
        stream.write("main 3\n")
    done = jprof("diff", text, recording)
    assert done.returncode == 2 and "counts ms" in done.stderr and "-n" in done.stderr, done
    good("diff", "-n", text, recording)
    good("diff", text, recording, "-o", os.path.join(folder, "u.html"))


def differences(folder):
    older, newer = os.path.join(folder, "older"), os.path.join(folder, "newer")
    for file, text in ((older, FOLDED), (newer, FOLDED.replace(" 70", " 170").replace("GC Thread#0 5\n", ""))):
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
    assert "total_[j] 70 170\n" in good("diff", older, newer) and "GC Thread#0 5 0\n" in good("diff", older, newer)
    files = [os.path.join(folder, "d." + ending) for ending in ("html", "svg", "collapsed")]
    good("diff", older, newer, *[word for file in files for word in ("-o", file)])
    assert good("diff", older, newer, "-o", "-") == good("diff", older, "-", text=FOLDED.replace(" 70", " 170").replace("GC Thread#0 5\n", ""))
    assert good("diff", older, newer, "--to", "svg").startswith("<?xml")


def mistakes(folder):
    def expect(code, words, *arguments, **more):
        done = jprof(*arguments, **more)
        assert done.returncode == code, (arguments, done.returncode, done.stderr)
        assert re.search(words, done.stdout + done.stderr), (arguments, done)

    out = os.path.join(folder, "out.html")
    there = os.path.join(folder, "there.collapsed")
    with open(there, "w", encoding="utf-8") as stream:
        stream.write("as it was 1\n")
    expect(2, r"IN", "convert")
    expect(2, r"cannot tell the format of 'x\.pdf'", "convert", "-", "-o", "x.pdf", text=FOLDED)
    expect(2, r"no/such/file", "convert", "no/such/file", "-o", out)
    expect(2, r"there is no folder", "convert", "-", "-o", os.path.join(folder, "none/x.html"), text=FOLDED)
    expect(2, r"asked for twice", "convert", "-", "-o", "-", "-o", "-", text=FOLDED)
    expect(2, r"asked for twice", "convert", "-", "--json", text=FOLDED)
    expect(2, r"known endings are", "diff", there, there, "-o", "d.jprof")
    expect(2, r"standard input: line 2", "convert", "-", "-o", out, text="\nno count here\n")
    expect(2, r"ends early", "convert", "-", "-o", out, text="\x1f\x8b".encode("latin-1").decode("utf-8", "surrogateescape"), errors="surrogateescape")
    expect(2, r"speedscope", "convert", "-", "-o", out, text='{"traceEvents": []}')
    expect(2, r"profile 1: sample 2", "convert", "-", "-o", out, text=SPEEDSCOPE.replace("[0, 1, 2]", "[0, 9]"))
    assert not os.path.exists(out)
    # A file that cannot grow, as on a full disk (SIGXFSZ is ignored here): the old one stays, nothing is left beside it.
    before = sorted(os.listdir(folder))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))  # noqa: E731
    expect(7, r"there\.collapsed", "convert", "-", "-o", there, text=FOLDED, preexec_fn=limit, restore_signals=False)
    with open(there, encoding="utf-8") as stream:
        assert stream.read() == "as it was 1\n"
    assert sorted(os.listdir(folder)) == before
    # What a link leads to is replaced, and what is no file is written into: both stay what they are.
    link, pipe = os.path.join(folder, "link.collapsed"), os.path.join(folder, "pipe.collapsed")
    os.symlink("there.collapsed", link)
    expect(0, "link.collapsed", "convert", "-", "-o", link, text=FOLDED)
    with open(there, encoding="utf-8") as stream:
        assert os.path.islink(link) and stream.read().startswith("GC Thread#0 5")
    os.mkfifo(pipe)
    with subprocess.Popen([JPROF, "convert", there, "-o", pipe], stdout=subprocess.DEVNULL) as command:
        with open(pipe, encoding="utf-8") as stream:
            assert stream.read().startswith("GC Thread#0 5")
    assert command.returncode == 0 and stat.S_ISFIFO(os.stat(pipe).st_mode)
    os.remove(there)
    expect(2, "leads nowhere", "convert", "-", "-o", link, text=FOLDED)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([JPROF, "convert", "-"], input=FOLDED, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 7 and "standard output" in done.stderr, done
    print("mistakes are told apart, files are whole or as they were")


def main():
    with tempfile.TemporaryDirectory() as folder:
        every_input_into_every_format(folder)
        differences(folder)
        shares_agree_everywhere(folder)
        packed_input(folder)
        what_is_left_out_is_said(folder)
        units_that_differ_are_refused(folder)
        mistakes(folder)


if __name__ == "__main__":
    main()

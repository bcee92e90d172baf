#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Pods that mean harm: garbage, frames that contradict themselves, escape sequences and hostile names, sizes without end. The
plugin ends with one of its exit codes, keeps the terminal clean, writes nothing outside the working directory and stays small.

usage: malice.py PROGRAM SCRIPTED_SESSION [COUNT] [SEED]
       malice.py --session CASE BYTES SCRIPTED_SESSION     what runs in place of `/jprof session`
"""
import collections
import json
import multiprocessing
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exec_server import ExecServer, pod  # noqa: E402

EVIL = ["\x1b[2J\x1b]0;owned\x07", "../../../../tmp/evil", "/etc/passwd", "a\0b", "%s%n%x", "\u202egnp.exe", "x" * 5000, "..", ".", "",
        "jprof-demo.html\n", "\r\x1b[31mroot#", "\x9b2J"]
MEGABYTES_AT_MOST = 200
AT_ONCE = 4  # most of the time a plugin waits: for a pod that is silent, or between two tries
# A pod is tried for two minutes, and a silence in the last of the tries is heard out for one (plugin/capture/capture_run.h,
# plugin/conversation/conversation.h); the rest is for a crowded machine.
SECONDS_AT_MOST = 300
EXIT_CODES = {0, 2, 3, 4, 5, 6, 7, 8, 9}
HEADER = struct.Struct("<2sHI")  # magic, type, bytes of the payload: docs/formats/protocol.md
CHUNK, RESULT, PROGRESS = 4, 5, 3


def hostile(value, rng, depth=0):
    """The same JSON, spoilt in places."""
    if rng.random() < 0.15:
        return rng.choice(EVIL + [None, True, -1, 2**63, 1e308, [], {}, [[[[]]]]])
    if isinstance(value, dict):
        return {(rng.choice(EVIL) if rng.random() < 0.03 else key): hostile(one, rng, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [hostile(one, rng, depth + 1) for one in value] * rng.choice([1, 1, 1, 3])
    return value


def spoil(header, payload, rng):
    """A frame of a well-behaved session, as this pod sends it."""
    magic, kind, _ = HEADER.unpack(header)
    choice = rng.random()
    if choice < 0.5 and kind != CHUNK:
        payload = json.dumps(hostile(json.loads(payload), rng), ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
    elif choice < 0.6 and payload:
        spoilt = bytearray(payload)
        for _ in range(rng.choice([1, 1, 10])):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        payload = bytes(spoilt)
    elif choice < 0.7:
        kind = rng.randrange(14)
    size = rng.choice([len(payload)] * 12 + [0, 2**20, 2**20 + 1, 2**32 - 1])
    return HEADER.pack(magic, kind, size) + payload


def endless(rng, write):
    """Gigabytes, or as much as the caller takes."""
    block = rng.choice([rng.randbytes(65536), b"\x1b[2J" * 16384, b"\0" * 65536])
    head = rng.choice([b"", HEADER.pack(b"JP", CHUNK, 2**20), HEADER.pack(b"JP", PROGRESS, 2**20)])
    for _ in range(30_000):
        write(head + block)


def play(case, size):
    """In place of `/jprof session`: a real one, spoilt."""
    rng = random.Random(case)
    out = sys.stdout.buffer

    def write(data):
        out.write(data)
        out.flush()

    try:
        if case % 10 == 0:
            endless(rng, write)
            return
        if case % 10 == 1:
            sys.stderr.write("\x1b]0;owned\x07" * 100_000)
            write(rng.randbytes(rng.randrange(200_000)))
            return
        session = subprocess.Popen([SESSION, str(size), "ok"], stdin=sys.stdin, stdout=subprocess.PIPE)
        frames = []
        while len(header := session.stdout.read(HEADER.size)) == HEADER.size:
            payload = session.stdout.read(HEADER.unpack(header)[2])
            spoilt = spoil(header, payload, rng) if rng.random() < 0.4 else header + payload
            frames.append(spoilt)
            for _ in range(rng.choice([0] + [1] * 20 + [3, 200])):
                write(spoilt)
            if rng.random() < 0.05:
                write(rng.choice(frames))
        session.wait()
    except (OSError, ValueError):
        pass  # the caller has had enough


def hostile_pod(rng):
    """A pod whose every text is the attacker's, as far as an API server lets it through."""
    out = pod("demo")
    evil = rng.choice(EVIL)
    out["status"]["message"] = out["status"]["reason"] = evil
    out["status"]["containerStatuses"][0]["state"] = rng.choice([{"running": {}}, {"waiting": {"reason": evil, "message": evil}}])
    out["metadata"]["labels"] = {evil: evil}
    out["metadata"]["ownerReferences"] = [{"kind": evil, "name": evil, "controller": True}]
    out["spec"]["nodeName"] = evil
    out["spec"]["containers"][0]["image"] = evil
    return out


def snapshot(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if at != os.path.join(folder, "work"))


def attack(case, rng, folder):
    """What the plugin did wrong, or nothing; and its exit code."""
    work = os.path.join(folder, "work")
    os.mkdir(work)
    config = os.path.join(folder, "config")
    server = ExecServer([hostile_pod(rng) if rng.random() < 0.5 else pod("demo")],
                        [sys.executable, os.path.abspath(__file__), "--session", str(case), str(rng.randrange(200_000)), SESSION])
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "shop"}}],
                   "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:%d" % server.port}}],
                   "users": [{"name": "u", "user": {}}]}, out)
    before = snapshot(folder)
    arguments = rng.choice([["demo", "--duration", "50ms"], ["demo", "--duration", "50ms", "-o", "x.html"], ["list", "demo"], ["doctor", "demo"],
                            ["fetch", "demo", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]])
    limit = MEGABYTES_AT_MOST * 1024 * 1024
    process = subprocess.Popen([PROGRAM, *arguments], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={"PATH": os.environ["PATH"], "HOME": folder, "KUBECONFIG": config, "NO_COLOR": "1"},
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    try:
        out, err = process.communicate(timeout=SECONDS_AT_MOST)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += b" (killed: it did not end)"
    server.close()
    text = out + err
    if process.returncode not in EXIT_CODES:
        return "exit code %d: %s" % (process.returncode, text[-300:]), process.returncode
    if any(byte in text for byte in (b"\x1b", b"\x07", b"\x9b2J", b"\r", b"\0")):
        return "control characters reached the terminal: %r" % text[-300:], process.returncode
    if snapshot(folder) != before:
        return "a file outside the working directory: %s" % (set(snapshot(folder)) - set(before)), process.returncode
    strange = [name for name in os.listdir(work) if name not in ("x.html", "x.jprof") and not name.startswith("jprof-demo-")]
    return ("files %s" % strange if strange else None), process.returncode


def attacked(case):
    with tempfile.TemporaryDirectory() as folder:
        return case, *attack(case, random.Random(case), folder)


def main():
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    codes, bad = collections.Counter(), 0
    with multiprocessing.Pool(AT_ONCE) as pool:
        for case, wrong, code in pool.imap_unordered(attacked, range(seed * 100_000, seed * 100_000 + count)):
            codes[code] += 1
            if wrong:
                bad += 1
                print("case %d: %s" % (case, wrong), flush=True)
    print("exit codes:", dict(sorted(codes.items())))
    print("%d passed, %d failed" % (count - bad, bad))
    sys.exit(1 if bad or codes[8] == 0 else 0)


if sys.argv[1] == "--session":
    SESSION = sys.argv[4]
    play(int(sys.argv[2]), int(sys.argv[3]))
else:
    PROGRAM, SESSION = (os.path.abspath(path) for path in sys.argv[1:3])
    main()

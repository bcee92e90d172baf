#!/usr/bin/env bash
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Proves two things about the code that runs in signal handlers: it calls nothing outside itself but what
# allowed_symbols.txt names, and no path through it uses more than 4 KiB of stack.
#
#   check_signal_safety.sh ALLOWED OBJECT[;OBJECT...]
#
# The stack bound is the sum over the deepest call chain of what -fstack-usage reports: the call graph is read from the
# relocations of each function's own section (-ffunction-sections). Recursion and frames of unknown size are refused.
set -euo pipefail

allowed=${1:?usage: check_signal_safety.sh ALLOWED OBJECTS}
IFS=';' read -r -a objects <<<"${2:?}"
max_stack=4096

used=$(nm -u "${objects[@]}" | awk '$1 == "U" {print $2}' | sort -u)
defined=$(nm --defined-only "${objects[@]}" | awk 'NF == 3 {print $3}' | sort -u)
known=$(sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$allowed" | sort -u)
strange=$(comm -23 <(comm -23 <(echo "$used") <(echo "$defined")) <(echo "$known"))
if [[ -n $strange ]]; then
  echo "check_signal_safety: signal handlers may not call:" >&2
  c++filt <<<"$strange" >&2
  exit 1
fi

python3 -B - "$max_stack" "${objects[@]}" <<'PYTHON'
import collections
import re
import subprocess
import sys

limit, objects = int(sys.argv[1]), sys.argv[2:]
frames, calls, indirect = {}, collections.defaultdict(set), set()
for path in objects:
    demangled = {}
    listing = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    function = None
    for line in listing.stdout.splitlines():
        if header := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            function = header[1]
            calls[function]
        elif reference := re.search(r"R_(?:X86_64_(?:PLT32|PC32|GOTPCRELX|REX_GOTPCRELX)|AARCH64_(?:CALL26|JUMP26))\s+(\S+?)([+-]0x[0-9a-f]+)?$", line):
            name = reference[1]
            if name.startswith(".text."):
                name = name[len(".text."):]
            calls[function].add(name)
    usage = path[:-2] + ".su"
    # foo.cpp:12:3:signature<TAB>bytes<TAB>static; sizes are matched to functions by the order of definition.
    names = [line.split("\t") for line in open(usage)]
    symbols = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout.split("\n")
    mangled = [row.split()[2] for row in symbols if row and row.split()[1] in "tTwW" and not row.split()[2].startswith("jprof_")]
    plain = subprocess.run(["c++filt", *mangled], capture_output=True, text=True, check=True).stdout.split("\n") if mangled else []
    for where, size, kind in names:
        if kind.strip() not in ("static", "dynamic,bounded"):
            sys.exit(f"check_signal_safety: {where} has a frame of unknown size")
        name = re.sub(r"^[^:]+:\d+:\d+:", "", where)
        base = re.search(r"([\w~]+)\(", name)
        for symbol, text in zip(mangled, plain):
            if base and re.search(rf"\b{re.escape(base[1])}\(", re.sub(r"\(anonymous namespace\)", "anonymous", text)):
                frames[symbol] = max(frames.get(symbol, 0), int(size))

def depth(function, chain=()):
    if function in chain:
        sys.exit("check_signal_safety: recursion: " + " -> ".join((*chain, function)))
    below = max(((depth(callee, (*chain, function))) for callee in calls.get(function, ()) if callee in calls), default=(0, ()))
    return frames.get(function, 0) + 8 + below[0], (function, *below[1])

worst = max(depth(function) for function in list(calls) if "on_sampling_signal" in function or "on_fault" in function)
names = subprocess.run(["c++filt", *worst[1]], capture_output=True, text=True, check=True).stdout.split("\n")
print(f"check_signal_safety: at most {worst[0]} bytes of stack: " + " > ".join(re.sub(r"\(.*", "", n).split("::")[-1] for n in names if n))
if worst[0] > limit:
    sys.exit(f"check_signal_safety: more than {limit} bytes")
PYTHON

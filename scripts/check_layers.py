#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Checks which folder includes what, and which of the page's modules import what: ARCHITECTURE.md's table of folders as a test.

usage: scripts/check_layers.py [ROOT]

Prints one line for each violation and ends with 1 if there is any.
"""
import os
import pathlib
import re
import subprocess
import sys

LIB_OF_SIDECAR = ["lib/base", "lib/capture", "lib/checks", "lib/cli", "lib/config", "lib/protocol", "lib/delivery",
                  "lib/elf", "lib/formats", "lib/http", "lib/log", "lib/page", "lib/profile", "lib/render", "lib/store",
                  "lib/wire"]
# The plugin must compile for macOS: it must not use what reads ELF files or /proc.
LIB_OF_PLUGIN = [folder for folder in LIB_OF_SIDECAR if folder != "lib/elf"] + ["lib/kube"]

# Folder: folders whose headers it may include, besides itself. The longest matching row counts; a folder without a
# row is an error, so that a new one gets a place on purpose. No row may be reached from itself.
MAY_INCLUDE = {
    "lib/wire": [],
    "lib/base": [],
    "lib/log": ["lib/base"],
    "lib/cli": ["lib/base"],
    "lib/config": ["lib/base"],
    "lib/checks": ["lib/base"],
    "lib/elf": ["lib/base"],
    "lib/protocol": ["lib/base"],
    "lib/capture": ["lib/base"],
    "lib/profile": ["lib/base", "lib/wire"],
    "lib/render": ["lib/base", "lib/profile"],
    "lib/page": ["lib/base", "lib/profile", "lib/render"],
    # The page's script: data knows nothing of a browser's elements; views show it, controls change what they show.
    "lib/page/src/data": [],
    "lib/page/src/dom": [],
    "lib/page/src/graph": ["lib/page/src/data", "lib/page/src/dom"],
    "lib/page/src/views": ["lib/page/src/data", "lib/page/src/dom", "lib/page/src/graph"],
    "lib/page/src/controls": ["lib/page/src/data", "lib/page/src/dom", "lib/page/src/graph", "lib/page/src/views"],
    "lib/page/src/intake": ["lib/page/src/data"],
    "lib/page/src": ["lib/page/src/intake", "lib/page/src/data", "lib/page/src/dom", "lib/page/src/graph", "lib/page/src/views", "lib/page/src/controls"],
    "lib/formats": ["lib/base", "lib/profile", "lib/render", "lib/page"],
    "lib/http": ["lib/base"],
    "lib/store": ["lib/base", "lib/http"],
    "lib/delivery": ["lib/base", "lib/capture", "lib/store"],
    "lib/kube": ["lib/base", "lib/http", "lib/config"],
    # The agent. What a signal handler reaches (sampling) sees nothing of the rest.
    "agent/arch": [],
    "agent/os": ["agent/arch"],
    "agent/sampling": ["lib/wire", "agent/arch", "agent/os"],
    "agent/control": ["lib/wire", "agent/os"],
    "agent/engines": ["lib/wire", "agent/os", "agent/sampling"],
    "agent/jvm": ["agent/arch", "agent/os", "agent/sampling"],
    "agent/recording": ["lib/wire", "agent/arch", "agent/os", "agent/sampling", "agent/control", "agent/engines", "agent/jvm"],
    "agent/signals": ["lib/wire", "agent/arch", "agent/os", "agent/sampling", "agent/control", "agent/engines", "agent/jvm"],
    "agent/session": ["lib/wire", "agent/os", "agent/sampling", "agent/control", "agent/engines", "agent/jvm", "agent/recording",
                      "agent/signals"],
    "agent/loading": ["lib/wire", "agent/os", "agent/session"],
    # The sidecar: what is known of a pod and its JVMs, one capture, and what serves, keeps and asks for captures.
    "sidecar/container": ["lib/base"],
    "sidecar/sandbox": ["lib/base"],
    "sidecar/symbols": ["lib/base", "lib/elf", "lib/wire"],
    "sidecar/jvm": ["lib/base", "lib/elf", "sidecar/container"],
    "sidecar/inject": ["lib/base", "lib/wire", "sidecar/container", "sidecar/jvm"],
    "sidecar/record": ["lib/base", "lib/capture", "lib/formats", "lib/profile", "lib/wire", "sidecar/container", "sidecar/inject",
                       "sidecar/jvm", "sidecar/sandbox", "sidecar/symbols"],
    "sidecar/doctor": ["lib/base", "lib/checks", "sidecar/container", "sidecar/inject", "sidecar/jvm", "sidecar/record",
                       "sidecar/sandbox"],
    "sidecar/spool": ["lib/base", "lib/capture", "lib/config", "lib/profile", "sidecar/container", "sidecar/sandbox"],
    "sidecar/serve": ["lib/base", "lib/capture", "lib/checks", "lib/config", "lib/protocol", "lib/delivery", "lib/log", "lib/store",
                      "sidecar/container", "sidecar/doctor", "sidecar/jvm", "sidecar/record", "sidecar/sandbox", "sidecar/spool"],
    "sidecar/relay": ["lib/base", "lib/protocol", "sidecar/serve"],
    "sidecar/commands": [*LIB_OF_SIDECAR, "sidecar/doctor", "sidecar/inject", "sidecar/jvm", "sidecar/record", "sidecar/sandbox",
                         "sidecar/serve", "sidecar/relay", "sidecar/spool"],
    "sidecar": ["lib/cli", "sidecar/commands", "sidecar/container"],
    # The plugin: what is said, what talks to pods, one capture, the commands.
    "plugin/terminal": ["lib/base"],
    "plugin/cluster": ["lib/base", "lib/cli", "lib/kube"],
    "plugin/conversation": ["lib/base", "lib/protocol", "lib/kube", "plugin/terminal"],
    "plugin/capture": ["lib/base", "lib/capture", "lib/protocol", "lib/formats", "lib/kube", "lib/profile", "lib/store",
                       "plugin/cluster", "plugin/conversation", "plugin/terminal"],
    "plugin/commands": [*LIB_OF_PLUGIN, "plugin/capture", "plugin/cluster", "plugin/conversation", "plugin/terminal"],
    "plugin": ["lib/cli", "plugin/commands"],
    "image": ["sidecar", "plugin"],
    "bench": ["lib", "agent", "sidecar", "plugin"],
    "tests": ["lib", "agent", "sidecar", "plugin", "bench"],
}

# Third-party headers and where each may appear. A file name, or a folder with a final '/'. A dependency
# that leaks out of its place is one that can no longer be replaced.
FOREIGN = {
    r"CLI/": ["lib/cli/"],
    r"nlohmann/": ["lib/base/json.h", "lib/base/json.cpp"],
    r"tl/": ["lib/base/result.h"],
    # RFC 6455 asks for SHA-1, which nothing else of ours may use.
    r"openssl/": ["lib/base/digest.cpp", "lib/base/encoding.cpp", "lib/base/md5.cpp", "lib/http/websocket_handshake.cpp"],
    r"(spdlog|fmt)/": ["lib/log/log.cpp"],
    r"yaml-cpp/": ["lib/config/yaml_reader.cpp"],
    r"curl/": [r"lib/http/*.cpp"],
    r"wslay/": [r"lib/http/*.cpp"],
    r"expat\.h": ["lib/store/xml.cpp"],
    r"zstd\.h": ["lib/profile/*.cpp", "lib/formats/unpack.cpp", "tests/unit/lib/formats/"],
    r"zlib\.h": ["lib/page/*.cpp", "lib/render/*.cpp", "lib/formats/unpack.cpp", "tests/unit/lib/formats/"],
    r"protozero/": ["lib/render/"],
    r"re2/": ["lib/render/"],
    r"seccomp\.h": ["sidecar/"],
    r"(jni|jvmti)\.h": ["agent/", "tests/"],
    r"(gtest|gmock|rapidcheck)[/.]": ["tests/"],
    r"benchmark/": ["bench/"],
}

# Not on macOS, where the plugin must compile (plugin/ and the parts of lib/ that it uses).
LINUX_ONLY = re.compile(r"linux/|asm/|elf\.h|link\.h|ucontext\.h|"
                        r"sys/(epoll|eventfd|inotify|memfd|prctl|ptrace|sendfile|signalfd|syscall|sysinfo|timerfd|user)\.h")
WIRE_HEADERS = {"cstddef", "cstdint", "type_traits"}  # shared with an agent that has no C++ library

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
# import { a } from './b.js'; the last line of a longer one; export { a } from; import './b.js'; import('./b.js')
IMPORT = re.compile(r"""^\s*(?:import\b|export\b|\}).*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]""")


def row_of(folder, table):
    while folder:
        if folder in table:
            return folder
        folder = folder.rpartition("/")[0]
    return None


def is_below(path, folder):
    return path == folder or path.startswith(folder + "/")


def quoted(root, path, header):
    """Why `path` may not include "header"; None if it may."""
    if not (root / header).is_file():
        return 'no such file: includes are written from the root of the tree'
    return layered(path, header)


def layered(path, header):
    folder, target = str(pathlib.PurePosixPath(path).parent), header.rpartition("/")[0]
    row = row_of(folder, MAY_INCLUDE)
    if row is None:
        return f"{folder} has no row in scripts/check_layers.py"
    target_row = row_of(target, MAY_INCLUDE)
    # Inside one row all is allowed, and a parent's row does not open the stricter rows below it.
    if target_row == row:
        return None
    if any(is_below(target, allowed) for allowed in MAY_INCLUDE[row]):
        return None
    return f"{row} may not use {target}"


def imported(root, path, module):
    """The file that `path` imports as `module`, and why it may not."""
    if not module.startswith("."):
        return module, "the page imports nothing but its own modules"
    target = os.path.normpath(os.path.join(os.path.dirname(path), module))
    if not (root / target).is_file():
        return target, "no such file"
    return target, layered(path, target)


def cycles(table):
    """Rows (or modules) that may use each other, through whichever others: then there is no order among them."""
    done = set()

    def visit(row, path):
        if row in path:
            yield " -> ".join([*path[path.index(row):], row])
        elif row not in done:
            for allowed in table[row]:
                for below in (other for other in table if is_below(other, allowed)):
                    yield from visit(below, [*path, row])
            done.add(row)

    for row in table:
        yield from visit(row, [])


def angled(path, header):
    if path.startswith("lib/wire/"):
        return None if header in WIRE_HEADERS else "lib/wire is freestanding"
    for pattern, places in FOREIGN.items():
        if re.match(pattern, header) and not any(
                path.startswith(place) if place.endswith("/") else pathlib.PurePosixPath(path).match(place)
                for place in places):
            return "only in " + ", ".join(places)
    portable = path.startswith("plugin/") or (
        path.startswith("lib/") and not path.startswith(("lib/elf/", "lib/wire/")))
    if portable and LINUX_ONLY.match(header):
        return "Linux only; the plugin must compile for macOS"
    return None


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True,
                            text=True, stdout=subprocess.PIPE).stdout.splitlines()
    return [path for path in listed if (root / path).is_file()]


def module_violations(root, paths):
    modules = {}
    for path in paths:
        modules[path] = []
        folder = os.path.dirname(path)
        if folder not in MAY_INCLUDE:
            yield f"{path}: {folder} has no row in scripts/check_layers.py"
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            for match in IMPORT.finditer(line):
                target, why = imported(root, path, match[1] or match[2] or match[3])
                modules[path].append(target)
                if why:
                    yield f"{path}:{number}: {target}: {why}"
    yield from (f"in a circle: {cycle}" for cycle in cycles(modules))


def violations(root):
    paths = tracked(root)
    yield from module_violations(root, [path for path in paths if path.startswith("lib/page/src/") and path.endswith(".js")])
    for path in paths:
        if not path.endswith((".h", ".cpp", ".c")):
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            opening, header = match.groups()
            why = quoted(root, path, header) if opening == '"' else angled(path, header)
            if why:
                yield f"{path}:{number}: {header}: {why}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    root = root.resolve() if len(sys.argv) > 1 else root.resolve().parents[1]
    found = [f"scripts/check_layers.py: in a circle: {cycle}" for cycle in cycles(MAY_INCLUDE)] + list(violations(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/lint and scripts/check_layers.py find what they are there to find, and nothing in a clean tree."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPDX = "// SPDX-FileCopyrightText: The jprof authors\n// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"
CLEAN = {
    "cmake/Version.cmake": "set(JPROF_VERSION 1.2.3)\n",
    "charts/jprof/Chart.yaml": 'version: 1.2.3\nappVersion: "1.2.3"\n',
    "lib/base/a.h": HEADER + "#include <string>\n",
    "lib/http/b.cpp": SPDX + '#include "lib/base/a.h"\n#include <curl/curl.h>\n',
    "lib/http/CMakeLists.txt": "jprof_library(http SOURCES b.cpp)\n",
    "README.md": "see [the version](cmake/Version.cmake)\n",
}


def run(script, files):
    with tempfile.TemporaryDirectory(prefix="jprof-house-") as name:
        root = pathlib.Path(name)
        subprocess.run(["git", "init", "-q", name], check=True)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        arguments = ["--no-tools"] if script == "lint" else []
        done = subprocess.run([ROOT / "scripts" / script, *arguments, name], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


class HouseTest(unittest.TestCase):
    def found(self, script, path, text, expected):
        code, output = run(script, {**CLEAN, path: text})
        self.assertEqual(code, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertIn(expected, output)

    def test_a_clean_tree_passes(self):
        for script in ("lint", "check_layers.py"):
            self.assertEqual(run(script, CLEAN), (0, ""))

    def test_layers(self):
        def layer(path, include, expected):
            self.found("check_layers.py", path, HEADER + f"#include {include}\n", expected)

        layer("lib/base/c.h", '"lib/http/d.h"', "no such file")
        layer("lib/http/c.h", '"b.h"', "written from the root")
        layer("lib/base/c.h", "<curl/curl.h>", "only in lib/http/*.cpp")
        layer("lib/http/c.h", "<curl/curl.h>", "only in lib/http/*.cpp")
        layer("lib/store/c.h", "<openssl/evp.h>", "only in lib/base/digest.cpp")
        layer("lib/wire/c.h", "<string>", "freestanding")
        layer("plugin/c.h", "<sys/epoll.h>", "macOS")
        layer("lib/kube/c.h", "<linux/openat2.h>", "macOS")
        layer("lib/new/c.h", '"lib/base/a.h"', "no row")
        layer("agent/os/c.h", '"lib/base/a.h"', "agent/os may not use lib/base")
        for path, include in (("lib/base/c.cpp", "lib/http/h.h"), ("lib/store/c.cpp", "lib/kube/h.h"),
                              ("sidecar/commands/c.cpp", "lib/kube/h.h"), ("sidecar/commands/c.cpp", "plugin/conversation/h.h"),
                              ("plugin/commands/c.cpp", "sidecar/serve/h.h"), ("lib/base/c.cpp", "tests/support/h.h"),
                              ("agent/sampling/c.cpp", "agent/jvm/h.h"), ("agent/engines/c.cpp", "agent/recording/h.h"),
                              ("agent/recording/c.cpp", "agent/session/h.h"), ("agent/session/c.cpp", "agent/loading/h.h"),
                              ("sidecar/container/c.cpp", "sidecar/jvm/h.h"), ("sidecar/inject/c.cpp", "sidecar/record/h.h"),
                              ("sidecar/record/c.cpp", "sidecar/serve/h.h"), ("sidecar/spool/c.cpp", "sidecar/serve/h.h"),
                              ("sidecar/serve/c.cpp", "sidecar/commands/h.h"), ("plugin/terminal/c.cpp", "plugin/conversation/h.h"),
                              ("plugin/conversation/c.cpp", "plugin/capture/h.h"), ("plugin/capture/c.cpp", "plugin/commands/h.h")):
            code, output = run("check_layers.py",
                               {**CLEAN, include: HEADER, path: SPDX + f'#include "{include}"\n'})
            self.assertEqual((code, "may not use" in output), (1, True), f"{path} {include}: {output}")

    def test_layers_of_the_page(self):
        def page(path, line, other="lib/page/src/data/b.js"):
            return run("check_layers.py", {**CLEAN, other: SPDX, path: SPDX + line + "\n"})

        for path, line in (("lib/page/src/views/a.js", "import { b } from '../data/b.js';"), ("lib/page/src/main.js", "import './data/b.js';"),
                           ("lib/page/src/data/a.js", "export { b } from './b.js';"), ("lib/page/src/data/a.js", "// from '../views/b.js'")):
            self.assertEqual(page(path, line), (0, ""), f"{path} {line}")
        order = ("data", "graph", "views", "controls")
        upwards = [(below, above) for i, below in enumerate(order) for above in order[i + 1:]] + [("data", "dom"), ("dom", "data")]
        for below, above in upwards:
            for line in (f"import {{ b }} from '../{above}/b.js';", f"import {{\n  b,\n}} from '../{above}/b.js';", f"import '../{above}/b.js';",
                         f"const b = await import('../{above}/b.js');", f"export {{ b }} from '../{above}/b.js';"):
                code, output = page(f"lib/page/src/{below}/a.js", line, f"lib/page/src/{above}/b.js")
                self.assertEqual((code, len(output.splitlines())), (1, 1), f"{below} {line}: {output}")
                self.assertIn(f"lib/page/src/{below} may not use lib/page/src/{above}", output)
        for path, line, expected in (("lib/page/src/data/a.js", "import { main } from '../b.js';", "may not use lib/page/src"),
                                     ("lib/page/src/data/a.js", "import { b } from 'b';", "its own modules"),
                                     ("lib/page/src/data/a.js", "import { b } from './c.js';", "no such file"),
                                     ("lib/page/src/new/a.js", "", "lib/page/src/new has no row")):
            code, output = page(path, line, "lib/page/src/b.js" if "main" in line else "lib/page/src/data/b.js")
            self.assertEqual(code, 1, output)
            self.assertIn(expected, output)
        circle = {"lib/page/src/data/b.js": SPDX + "import { a } from './a.js';\n", "lib/page/src/data/a.js": SPDX + "import { b } from './b.js';\n"}
        code, output = run("check_layers.py", {**CLEAN, **circle})
        self.assertEqual((code, "in a circle: lib/page/src/data/a.js -> lib/page/src/data/b.js" in output), (1, True), output)

    def test_layers_have_an_order(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import check_layers  # pylint: disable=import-outside-toplevel
        self.assertEqual(list(check_layers.cycles(check_layers.MAY_INCLUDE)), [])
        table = {"a": ["b"], "b": ["c/d"], "c/d": ["a"], "e": ["a"]}
        self.assertEqual(list(check_layers.cycles(table)), ["a -> b -> c/d -> a"])
        self.assertEqual(list(check_layers.cycles({"a/b": ["c"], "c": ["a"]})), ["a/b -> c -> a/b"])

    def test_lint(self):
        body = "x\n"
        self.found("lint", "lib/base/c.h", "#pragma once\n", "two SPDX lines")
        self.found("lint", "tool", "#!/bin/sh\ntrue\n", "two SPDX lines")
        self.found("lint", "lib/base/c.h", SPDX, "no #pragma once")
        self.found("lint", "lib/base/c.h", HEADER + body * 498, "501 lines")
        self.found("lint", "docs/c.md", "text", "no line end")
        self.found("lint", "docs/c.md", "text \n", "white space")
        self.found("lint", "lib/base/c.h", HEADER + "\tint x;\n", "a tab")
        self.found("lint", "lib/utils/c.h", HEADER, "named utils")
        self.found("lint", "lib/base/c.cpp", SPDX, "no CMakeLists.txt names it")
        self.found("lint", "lib/base/c.h", HEADER + 'auto p = "/proc/1/root/tmp";\n', "target's root")
        self.found("lint", "docs/c.md", "TO" + "DO later\n", "loose end")
        self.found("lint", "lib/base/c.h", HEADER + "int x; // NO" + "LINT\n", "must name the check")
        self.found("lint", "docs/c.md", "see /ho" + "me/jane/notes\n", "folder of one machine")
        self.found("lint", "docs/c.md", "[x](missing.md)\n", "not there")
        self.found("lint", "docs/c.md", "It looks\n\nso. It looks each 20\nms.\n", "docs/c.md:3: 'each 20 ms': \"every 20 ms\"")
        self.assertEqual(run("lint", {**CLEAN, "docs/c.md": "`each 20 ms`\n\n    each 20 ms\n\n```\neach 20 ms\n```\n"}), (0, ""))
        self.found("lint", "charts/jprof/Chart.yaml", "version: 1.2.3\nappVersion: 1.2.4\n", "1.2.4")


if __name__ == "__main__":
    unittest.main()

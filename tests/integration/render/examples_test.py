#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The worked examples of docs/formats: commands print what is printed there, bytes are what is said of them.

A block ```console is run in an empty folder: what stands between two lines that begin with "$ " is the output (or the text up to END) of the
first. A block ```frame is the hexadecimal dump of one control frame, whose parts are checked by the independent reader of the serve tests."""

import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("JPROF_BUILD_DIR", ROOT / "build/dev"))
sys.path.insert(0, str(ROOT / "tests/integration/serve"))
from session_client import CHUNK, crc32c  # noqa: E402

DOCUMENTS = sorted((ROOT / "docs/formats").glob("*.md"))


def blocks(kind):
    for document in DOCUMENTS:
        for number, match in enumerate(re.finditer(rf"^```{kind}\n(.*?)^```$", document.read_text(), re.M | re.S), 1):
            yield f"{document.name}, {kind} {number}", match.group(1)


def steps(text):
    """[(command, output)]; a command with <<'END' takes its text from the lines up to END."""
    found, lines = [], iter(text.splitlines(keepends=True))
    for line in lines:
        if not line.startswith("$ "):
            found[-1][1] += line
            continue
        command = line[2:]
        if "<<'END'" in command:
            for more in lines:
                command += more
                if more == "END\n":
                    break
        found.append([command, ""])
    return found


class Examples(unittest.TestCase):
    def test_commands_print_what_the_document_says(self):
        count = 0
        path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
        for name, text in blocks("console"):
            with tempfile.TemporaryDirectory(prefix="jprof-examples-") as folder, self.subTest(name):
                for command, output in steps(text):
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)  # fmt: skip
                    self.assertEqual(done.stdout, output, command)
                    count += 1
        self.assertGreater(count, 12)

    def test_frames_are_what_the_document_says(self):
        count = 0
        for name, text in blocks("frame"):
            with self.subTest(name):
                data = b"".join(bytes.fromhex(line[6:53]) for line in text.splitlines())
                shown = "".join(line[55:] for line in text.splitlines())
                self.assertEqual(shown, "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data))
                magic, kind, length = struct.unpack_from("<2sHI", data)
                self.assertEqual((magic, length), (b"JP", len(data) - 8))
                if kind == CHUNK:
                    self.assertEqual(struct.unpack_from("<I", data, 12)[0], crc32c(data[24:]))
                count += 1
        self.assertGreaterEqual(count, 2)


if __name__ == "__main__":
    unittest.main()

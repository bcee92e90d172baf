#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the documents print: the worked examples of docs/formats give what is printed there, and every jprof command line in any document
names a command and options that exist.

A block ```console is run in an empty folder: what stands between two lines that begin with "$ " is the output (or the text up to END) of the
first. A block ```frame is the hexadecimal dump of one frame of the protocol, whose parts are checked by the independent reader of the serve tests."""

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


def command_lines():
    """(document, line, program, words) of each command of ours in a code block or between backticks."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    for name in listed:
        text = (ROOT / name).read_text()
        for code in re.findall(r"^    +(.+)$|^\$ (.+)$|`([^`\n]+)`", text, re.M):
            for part in re.split(r"[;|]|&&| # |\$\(", "".join(code)):
                match = re.match(r"\s*(?:\w+=\S+ )*(kubectl[- ]jprof|jprof) (?=\S)(.*)", part)
                if match:
                    yield name, part.strip(), match.group(1).replace(" ", "-"), match.group(2).split(" -- ")[0].split()


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

    def test_commands_and_options_exist(self):
        helps, count = {}, 0

        def help_of(*command):
            if command not in helps:
                helps[command] = subprocess.run([str(BUILD / "bin" / command[0]), *command[1:], "--help"], check=True, capture_output=True, text=True).stdout
            return helps[command]

        for document, line, program, words in command_lines():
            # What an attached JVM is told is its own.
            words = words[: words.index("attach") + 2] if "attach" in words else words
            known = re.findall(r"^  (\w+)\s{2,}", help_of(program).partition("Subcommands:")[2], re.M)
            command = next((word for word in words if word in known), "record" if program == "kubectl-jprof" else None)
            with self.subTest(f"{document}: {line}"):
                options = {word.partition("=")[0] for word in words if re.fullmatch(r"--[a-z][a-z-]+(=.*)?", word)}
                if command is None:
                    self.assertTrue(options <= {"--help", "--man", "--version"} and words[0].startswith("-") or not words[0].islower(), "no such command")
                    continue
                shown = help_of(program, command) + "--man --version"
                self.assertEqual([option for option in sorted(options) if not re.search(rf"{option}\b(?!-)", shown)], [])
                count += 1
        self.assertGreater(count, 60)

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

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The man pages: what --help says and README's exit codes, in a form that a strict formatter takes.

usage: manual_test.py PROGRAM...     exits 77 (skip) without mandoc
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = [str(pathlib.Path(program).resolve()) for program in sys.argv[1:]]


def output(*command, given=None):
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def shown(page):
    """As a terminal shows it, without bold, and each run of blanks as one."""
    return re.sub(r"\s+", " ", re.sub(".\b", "", output("mandoc", "-Tutf8", "-Owidth=200", given=page)))


def commands_of(program):
    listed = output(program, "--help").split("Subcommands:")[1]
    return re.findall(r"^  (\w+)  ", listed, re.MULTILINE)


class Manual(unittest.TestCase):
    def each(self):
        return [(program, output(program, "--man")) for program in PROGRAMS]

    def test_a_strict_formatter_has_nothing_to_say(self):
        for program, page in self.each():
            lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=page, capture_output=True, text=True, check=False)
            # A date would differ from build to build, and releases are reproducible.
            told = [line for line in (lint.stdout + lint.stderr).splitlines() if "missing date" not in line]
            self.assertEqual(told, [], program)

    def test_it_has_every_command_with_its_options_and_examples(self):
        for program, page in self.each():
            text = shown(page)
            commands = commands_of(program)
            self.assertGreater(len(commands), 5)
            for command in commands:
                told = output(program, command, "--help")
                options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", told, re.MULTILINE))
                self.assertIn("--json", options)
                part = re.search(rf" {command} \[options\](.*?)(?= \w+ \[options\]| OPTIONS OF THE PROGRAM)", text)
                self.assertIsNotNone(part, command)
                for option in options:
                    self.assertIn(option, part[1], command)
                for example in told.partition("Examples:")[2].strip().splitlines():
                    self.assertIn(re.sub(r"\s+", " ", example.strip()), part[1], command)

    def test_its_exit_codes_are_those_of_the_readme(self):
        table = (ROOT / "README.md").read_text().split("| code | meaning |")[1].split("\n\n")[0]
        codes = set(re.findall(r"\| (\d+) \|", table))
        self.assertGreater(len(codes), 8)
        for _, page in self.each():
            self.assertEqual(set(re.findall(r" (\d+) [A-Z]", " " + shown(page).split(" EXIT STATUS ")[1])), codes)

    def test_it_is_the_same_in_every_environment(self):
        for program, page in self.each():
            self.assertEqual(subprocess.run([program, "--man"], env={"HOME": "/x", "LANG": "de_DE.UTF-8", "JPROF_IMAGE": "x"}, cwd="/",
                                            capture_output=True, text=True, check=True).stdout, page)  # fmt: skip


if __name__ == "__main__":
    if not shutil.which("mandoc"):
        print("skipped: no mandoc (scripts/install test)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

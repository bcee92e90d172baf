#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The table of values at the end of a chart's README, made from the comments `# -- ...` in its values.yaml.

values_table.py CHART            fails where the README has another table
values_table.py --write CHART    puts it there
"""
import json
import pathlib
import re
import sys

import yaml

HEADING = "\n## Values\n"


def comments(text):
    """What the comment above each key says, by the key's path."""
    out, path, said = {}, [], []
    for line in text.splitlines():
        if said and (more := re.match(r" *# (?!-- )(?! *- )(.*)", line)):
            said.append(more.group(1).strip())
        elif begun := re.match(r" *# -- (.*)", line):
            said = [begun.group(1).strip()]
        elif key := re.match(r"( *)(\w+):", line):
            del path[len(key.group(1)) // 2:]
            path.append(key.group(2))
            if said:
                out[".".join(path)] = " ".join(said)
            said = []
        else:
            said = []
    return out


def rows(values, said, at=""):
    for key, value in values.items():
        path = at + key
        nested = isinstance(value, dict) and value and path not in LEAVES
        if nested and path in said:
            yield path, "", said[path]
        if nested:
            yield from rows(value, said, path + ".")
        else:
            yield path, json.dumps(value), said.get(path, "")


LEAVES = {"injection.podLabels", "injection.resources", "resources.requests", "resources.limits"}


def table(chart):
    text = (chart / "values.yaml").read_text(encoding="utf-8")
    lines = ["| value | default | what it is |", "|---|---|---|"]
    for path, default, what in rows(yaml.safe_load(text), comments(text)):
        what = what.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| `{path}` | {f'`{default}`' if default else ''} | {what} |")
    return HEADING + "\nMade from the comments of [values.yaml](values.yaml).\n\n" + "\n".join(lines) + "\n"


def main():
    write, chart = sys.argv[1] == "--write", pathlib.Path(sys.argv[-1])
    readme = chart / "README.md"
    text = readme.read_text(encoding="utf-8")
    wanted = text.split(HEADING)[0].rstrip("\n") + "\n" + table(chart)
    if write:
        readme.write_text(wanted, encoding="utf-8")
    elif text != wanted:
        sys.exit(f"{readme} has another table than values.yaml's comments: tests/charts/run --update writes it")


if __name__ == "__main__":
    main()

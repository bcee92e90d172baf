# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The script as tokens: read, walked through and written again. Knows as much JavaScript as the page uses."""

import re

TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
  | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_$][\w$]*)
  | (?P<punct>\?\.(?!\d)|=>|\.\.\.|===|!==|==|!=|<=|>=|&&=|\|\|=|\?\?=|&&|\|\||\?\?|\+\+|--|\*\*=|\*\*|<<=|>>>=|>>=|<<|>>>|>>|
      \+=|-=|\*=|/=|%=|&=|\|=|\^=|[{}()\[\];,<>+\-*/%&|^!~?:=.])
""",
    re.X | re.S,
)
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
KEYWORDS = set(
    "async await break case catch class const constructor continue default delete do else export extends finally for "
    "from function get if import in instanceof let new null of return set static super switch this throw true false "
    "try typeof undefined var void while with yield arguments eval".split()
)
# A slash after one of these begins a regular expression.
BEFORE_REGEX = set("( , = : [ ! & | ? { } ; + - * % ~ ^ < > => && || ?? === !== == != <= >= ...".split()) | {
    "return", "typeof", "case", "in", "of", "await"}


def tokenize(source):
    """(kind, text) without space and comments; template texts become several tokens."""
    tokens = []
    at = 0
    depth_of_templates = []
    depth = 0
    while at < len(source):
        char = source[at]
        if char == "`" or (char == "}" and depth_of_templates and depth_of_templates[-1] == depth):
            if char == "}":
                depth_of_templates.pop()
            end = at + 1
            while source[end] != "`" and source[end : end + 2] != "${":
                end += 2 if source[end] == "\\" else 1
            closed = source[end] == "`"
            end += 1 if closed else 2
            if not closed:
                depth_of_templates.append(depth)
            tokens.append(("template", source[at:end]))
            at = end
            continue
        if char == "/" and source[at : at + 2] not in ("//", "/*"):
            if not tokens or tokens[-1][1] in BEFORE_REGEX or tokens[-1][0] == "template" and tokens[-1][1].endswith("${"):
                match = REGEX.match(source, at)
                tokens.append(("regex", match.group()))
                at = match.end()
                continue
        match = TOKEN.match(source, at)
        if not match:
            raise ValueError(f"cannot read the script at: {source[at:at + 40]!r}")
        kind, text = match.lastgroup, match.group()
        if kind == "punct":
            depth += {"{": 1, "}": -1}.get(text, 0)
        if kind not in ("space", "comment"):
            tokens.append((kind, text))
        at = match.end()
    return tokens


def bracket_pairs(tokens):
    pairs, stack = {}, []
    for i, (kind, text) in enumerate(tokens):
        if kind == "punct" and text in "([{":
            stack.append(i)
        elif kind == "punct" and text in ")]}":
            pairs[stack.pop()] = i
    return pairs


def closing(tokens, at):
    """Where the bracket at `at` closes."""
    depth = 0
    while True:
        if tokens[at][0] == "punct":
            depth += (tokens[at][1] in "([{") - (tokens[at][1] in ")]}")
            if depth == 0:
                return at
        at += 1


def end_of_expression(tokens, at, end=None):
    """Where the statement that begins at `at` ends, and what it holds outside of brackets."""
    outside, depth = set(), 0
    while at != end:
        kind, text = tokens[at]
        if kind == "template":
            depth += text.endswith("${") - text.startswith("}")
        elif depth == 0:
            if kind == "punct" and text in (";", "}"):
                break
            outside.add(text)
        at = closing(tokens, at) + 1 if kind == "punct" and text in ("(", "[", "{") else at + 1
    return at, outside


def join(tokens):
    out = []
    last_kind, last = "", ""
    column = 0
    for kind, text in tokens:
        word = kind in ("name", "number") and last_kind in ("name", "number", "regex")
        clash = (last, text) in (("+", "+"), ("-", "-"), ("+", "++"), ("-", "--"), ("++", "+"), ("--", "-"))
        if word or clash or (last_kind == "number" and text == "."):
            out.append(" ")
        if last == ";" and text == "}":
            out.pop()
        out.append(text)
        column += len(text)
        if column > 2000 and kind == "punct" and text == ";":
            out.append("\n")
            column = 0
            last_kind, last = "", ""
            continue
        last_kind, last = kind, text
    return "".join(out)

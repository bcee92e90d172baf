# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundled script small: no comments, no needless white space, short names.

Every name of ours has one short form everywhere, so scopes need not be understood. Properties that a
browser has must keep their names: they are listed in reserved_names.txt, which
tests/page/reserved_names.mjs compares with a real browser, and so must those that are also reached by
a text (state[field]), listed there by hand. A variable may be shortened whatever its name, as long
as no module uses the global of that name.
"""

import hashlib
import re
import sys

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


def short_names(taken):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"
    for first in ["", *letters]:
        for second in letters:
            if first + second not in taken:
                yield first + second


def bracket_pairs(tokens):
    pairs, stack = {}, []
    for i, (kind, text) in enumerate(tokens):
        if kind == "punct" and text in "([{":
            stack.append(i)
        elif kind == "punct" and text in ")]}":
            pairs[stack.pop()] = i
    return pairs


# A brace after one of these opens an object or a pattern, not a block.
BEFORE_OBJECT = {"(", ",", "=", ":", "[", "return", "?", "&&", "||", "??", "...", "const", "let"}


def enclosing_objects(tokens):
    """For each token whether the nearest open bracket is the brace of an object or a pattern."""
    inside, stack = [], []
    for i, (kind, text) in enumerate(tokens):
        inside.append(bool(stack) and stack[-1])
        if kind == "template":
            if text.startswith("}"):
                stack.pop()
            if text.endswith("${"):
                stack.append(False)
        elif kind == "punct" and text in "([{":
            stack.append(text == "{" and tokens[i - 1][1] in BEFORE_OBJECT)
        elif kind == "punct" and text in ")]}":
            stack.pop()
    return inside


def roles(tokens):
    """What each name is: variable, property, or shorthand for both."""
    pairs, inside = bracket_pairs(tokens), enclosing_objects(tokens)
    found = []
    for i, (kind, text) in enumerate(tokens):
        before = tokens[i - 1][1] if i else ""
        after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        if kind != "name":
            found.append("")
        elif before in (".", "?."):
            found.append("property")
        elif inside[i] and before in ("{", ",") and after == ":":
            found.append("property")
        elif inside[i] and before in ("{", ",") and after in (",", "}", "="):
            found.append("shorthand")
        elif after == "(" and before != "function" and text not in KEYWORDS and tokens[pairs[i + 1] + 1][1] == "{":
            found.append("property")
        else:
            found.append("variable")
    return found


def declared_names(tokens, role):
    """Names after const, let, function, class and catch, in parameter lists and in their patterns."""
    found, pairs = set(), bracket_pairs(tokens)

    def pattern(begin, end):
        found.update(tokens[k][1] for k in range(begin, end) if role[k] in ("variable", "shorthand"))

    for i, (kind, text) in enumerate(tokens):
        if kind == "name" and text in ("const", "let"):
            pattern(i + 1, pairs[i + 1] if tokens[i + 1][1] in "[{" else i + 2)
        elif kind == "name" and text in ("function", "class"):
            pattern(i + 1, i + 2)
        elif text == "=>" and tokens[i - 1][0] == "name":
            found.add(tokens[i - 1][1])
        elif kind == "punct" and text == "(" and tokens[pairs[i] + 1][1] in ("=>", "{"):
            if tokens[i - 1][1] not in ("if", "for", "while", "switch"):
                pattern(i + 1, pairs[i])
    return found - KEYWORDS


# Globals that every browser has and that cost nothing to name: others may be missing, or throw.
SAFE_GLOBALS = set("Math Float64Array Int32Array Uint32Array Uint8Array Map Set Number String Array Object Boolean "
                   "JSON document performance requestAnimationFrame ResizeObserver".split())


def alias_globals(tokens, role, declared):
    """Gives globals that are used often a variable of their own, at the start of the bundle's function."""
    counts = {}
    for i, (kind, text) in enumerate(tokens):
        if role[i] == "variable" and text in SAFE_GLOBALS - declared:
            counts[text] = counts.get(text, 0) + 1
    often = sorted(name for name, count in counts.items() if count * (len(name) - 2) > len(name) + 6)
    start = next(i for i, token in enumerate(tokens) if token[1] == "'use strict'") + 2
    prelude, fresh = [], {}
    for name in often:
        fresh[name] = name + "_"
        prelude += [("name", "const"), ("name", fresh[name]), ("punct", "="), ("name", name), ("punct", ";")]
    declared.update(fresh.values())
    body = [(kind, fresh[text]) if role[i] == "variable" and text in fresh else (kind, text)
            for i, (kind, text) in enumerate(tokens)]
    tokens = body[:start] + prelude + body[start:]
    new_role = ["variable" if kind == "name" and text not in KEYWORDS else "" for kind, text in prelude]
    return tokens, role[:start] + new_role + role[start:]


def rename(tokens, reserved):
    names = {text for kind, text in tokens if kind == "name"}
    role = roles(tokens)
    kept = reserved | KEYWORDS
    declared = declared_names(tokens, role)
    tokens, role = alias_globals(tokens, role, declared)
    tokens, role = alias_this(tokens, role)
    declared.add("self_")
    counts = {}
    for i, (kind, text) in enumerate(tokens):
        if kind == "name" and (text not in kept or (text in declared and role[i] == "variable")):
            counts[text] = counts.get(text, 0) + 1
    ours = sorted(counts, key=lambda n: (-counts[n] * len(n), n))
    short = {n: s for n, s in zip(ours, short_names(names | kept)) if len(s) < len(n)}
    out = []
    for i, (kind, text) in enumerate(tokens):
        if kind != "name" or text not in short:
            out.append((kind, text))
        elif text not in kept:
            out.append((kind, short[text]))
        elif role[i] == "shorthand" and text in declared:
            out += [(kind, text), ("punct", ":"), (kind, short[text])]
        elif role[i] == "variable" and text in declared:
            out.append((kind, short[text]))
        else:
            out.append((kind, text))
    return out


def alias_this(tokens, role):
    """In methods that say `this` often, a variable for it. Arrow functions inside see the same."""
    pairs, out, new_role, ends = bracket_pairs(tokens), [], [], []
    for i, (kind, text) in enumerate(tokens):
        while ends and i > ends[-1]:
            ends.pop()
        out.append((kind, "self_" if kind == "name" and text == "this" and ends else text))
        new_role.append("variable" if kind == "name" and text == "this" and ends else role[i])
        if text != "{" or kind != "punct" or tokens[i - 1][1] != ")" or ends:
            continue
        opening = next(k for k in range(i - 1, 0, -1) if pairs.get(k) == i - 1)
        body = [token[1] for token in tokens[i : pairs[i]]]
        if role[opening - 1] == "property" or tokens[opening - 1][1] == "constructor":
            if body.count("this") > 4 and not {"super", "function", "class"} & set(body):
                ends.append(pairs[i])
                out += [("name", "const"), ("name", "self_"), ("punct", "="), ("name", "this"), ("punct", ";")]
                new_role += ["", "variable", "", "", ""]
    return out, new_role


# Nothing relies on an assignment to a constant failing.
SHORTER = {"const": "let", "true": "!0", "false": "!1"}


def simplify(tokens):
    """Shorter forms: let for const, no comma before a closing bracket, one let for several in a row."""
    out, starts = [], [""]
    for i, (kind, text) in enumerate(tokens):
        text = SHORTER.get(text, text) if kind == "name" and tokens[i - 1][1] != "." else text
        if kind == "punct" and text in ")]}" and out[-1][1] == ",":
            out.pop()
        if text == "let" and out and out[-1][1] == ";" and starts[-1] == "let":
            out[-1] = ("punct", ",")
            continue
        if kind == "punct" and text in "([{":
            starts.append("")
        elif kind == "punct" and text in ")]}":
            starts.pop()
            if text == "}" and starts and starts[-1] != "let":
                starts[-1] = ""
        elif starts[-1] == "":
            starts[-1] = text
        if kind == "punct" and text == ";":
            starts[-1] = "let" if starts[-1] == "let" and i + 1 < len(tokens) and SHORTER.get(tokens[i + 1][1], tokens[i + 1][1]) == "let" else ""
        out.append((kind, text))
    return out


def join(tokens):
    out = []
    last_kind, last = "", ""
    column = 0
    for kind, text in tokens:
        word = kind in ("name", "number") and last_kind in ("name", "number", "regex")
        clash = (last, text) in (("+", "+"), ("-", "-"), ("+", "++"), ("-", "--"), ("++", "+"), ("--", "-"))
        dot = last_kind == "number" and text == "."
        if word or clash or dot:
            out.append(" ")
        if last == ";" and text == "}":
            out.pop()
        out.append(text)
        column += len(text)
        if column > 500 and text in (";", "}") and kind == "punct" and text == ";":
            out.append("\n")
            column = 0
            last_kind, last = "", ""
            continue
        last_kind, last = kind, text
    return "".join(out)


def read_reserved(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name for line in lines if not line.startswith("#") for name in line.split()}


def source_digest(source_dir):
    """Names the set of words in the source: a list made for another set may lack one of the browser's."""
    words = set()
    for path in source_dir.glob("*.js"):
        words |= set(re.findall(r"[A-Za-z_$][\w$]*", path.read_text(encoding="utf-8")))
    return hashlib.sha256("\n".join(sorted(words)).encode()).hexdigest()[:16]


def shrink(source, source_dir, list_path):
    """With a list that is not up to date no name is shortened: larger, but right."""
    tokens = tokenize(source)
    if f"# For words {source_digest(source_dir)}" in list_path.read_text(encoding="utf-8"):
        tokens = rename(tokens, read_reserved(list_path))
    else:
        print(f"{list_path.name} is out of date: run tests/page/run --reserved", file=sys.stderr)
    return join(simplify(tokens))

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundled script small: no comments, no needless white space, short names.

A property of ours has one short form everywhere. Those that a browser has must keep their names: they
are listed in reserved_names.txt, which tests/page/reserved_names.mjs compares with a real browser, and
so must those that are also reached by a text (state[field]), listed there by hand. A variable has one
short form in each method and each statement of the bundle, so that scopes inside need not be
understood; it may be shortened whatever its name, as long as nothing there uses the global of that
name. Globals and texts that stand often get a variable.
"""

import hashlib
import re
import sys

from script_tokens import KEYWORDS, bracket_pairs, closing, end_of_expression, join, tokenize


def short_names(taken):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"
    for first in ["", *letters]:
        for second in letters:
            if first + second not in taken:
                yield first + second


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


def declared_names(tokens, role, pairs, begin=0, end=None):
    """Names after const, let, function, class and catch, in parameter lists and in their patterns."""
    found = set()

    def pattern(first, last):
        found.update(tokens[k][1] for k in range(first, last) if role[k] in ("variable", "shorthand"))

    for i in range(begin, len(tokens) if end is None else end):
        kind, text = tokens[i]
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


def join_math(tokens, role):
    """Math.max becomes one name, so that it can have a variable of its own."""
    out, new_role = [], []
    for i, token in enumerate(tokens):
        if token[1] == "." and out and out[-1] == ("name", "Math") and new_role[-1] == "variable":
            continue
        if tokens[i - 1][1] == "." and out and out[-1] == ("name", "Math"):
            out[-1] = ("name", "Math." + token[1])
            continue
        out.append(token)
        new_role.append(role[i])
    return out, new_role


def alias_often(tokens, role, declared):
    """Gives globals and texts that are used often a variable of their own, at the start of the bundle's function."""
    tokens, role = join_math(tokens, role)
    inside = enclosing_objects(tokens)
    start = next(i for i, token in enumerate(tokens) if token[1] == "'use strict'") + 2

    def may_have_one(i):
        kind, text = tokens[i]
        if kind == "string":
            return i >= start and not (inside[i] and tokens[i - 1][1] in ("{", ",") and tokens[i + 1][1] == ":")
        return role[i] == "variable" and text.split(".")[0] in SAFE_GLOBALS - declared

    places = [i for i in range(len(tokens)) if may_have_one(i)]
    counts = {}
    for i in places:
        counts[tokens[i]] = counts.get(tokens[i], 0) + 1
    often = sorted(token for token, count in counts.items() if count * (len(token[1]) - 2) > len(token[1]) + 6)
    fresh = {token: ("name", f"alias_{n}_") for n, token in enumerate(often)}
    declared.update(name for _, name in fresh.values())
    prelude, new_role = [], []
    for token in often:
        prelude += [("name", "const"), fresh[token], ("punct", "="), token, ("punct", ";")]
        new_role += ["", "variable", "", "variable" if token[0] == "name" else "", ""]
    tokens, role = list(tokens), list(role)
    for i in places:
        if tokens[i] in fresh:
            tokens[i], role[i] = fresh[tokens[i]], "variable"
    return tokens[:start] + prelude + tokens[start:], role[:start] + new_role + role[start:]


def units_of(tokens, pairs):
    """Ranges of tokens whose local names are their own: the methods of each class, and the other statements of the
    bundle's function."""
    start = next(i for i, token in enumerate(tokens) if token[1] == "'use strict'") + 2
    end = next(i for i in range(len(tokens) - 1, 0, -1) if tokens[i][1] == "}")
    begins, i = [0], start
    while i < end:
        text = tokens[i][1]
        if text == "class" and tokens[i - 1][1] in (";", "}"):
            i = next(k for k in range(i, end) if tokens[k][1] == "{")
            closing, i = pairs[i], i + 1
            while i < closing:
                begins.append(i)
                while tokens[i][1] != "(":
                    i += 1
                i = pairs[pairs[i] + 1] + 1
        elif tokens[i - 1][1] in (";", "}") and text in ("function", "const", "let", "async"):
            begins.append(i)
        i = pairs[i] + 1 if tokens[i][1] in ("(", "[", "{") else i + 1
    return list(zip(begins, begins[1:] + [len(tokens)]))


def count_names(tokens, role, begin, end, wanted):
    counts = {}
    for i in range(begin, end):
        if role[i] in wanted:
            counts[tokens[i][1]] = counts.get(tokens[i][1], 0) + 1
    return counts


def by_use(counts):
    return sorted(counts, key=lambda name: (-counts[name], name))


def name_locals(tokens, role, pairs, unit, outer, properties):
    """Short names for the variables of a unit; `outer` has those of the bundle's function."""
    used = count_names(tokens, role, *unit, ("variable", "shorthand"))
    pairs_of_names = count_names(tokens, role, *unit, ("shorthand",))
    own = declared_names(tokens, role, pairs, *unit) - outer.keys()
    short = {name: outer[name] for name in used if name in outer}
    taken = {short.get(name, name) for name in used if name not in own} | KEYWORDS
    left = []
    for name in by_use({name: used[name] for name in used if name in own}):
        also = properties.get(name, name) if name in pairs_of_names else ""
        # { width } with a short name for the variable alone is longer than with the long one.
        keep = also == name and (len(name) - 1) * (used[name] - pairs_of_names[name]) <= 2 * pairs_of_names[name]
        if also and also not in taken and (keep or len(also) == 1):
            short[name] = also
            taken.add(also)
        else:
            left.append(name)
    for name, letters in zip(left, short_names(taken)):
        short[name] = letters
    return short


# A text that is no number: only itself is equal to it, among texts and what is missing.
WORD = re.compile(r"'[A-Za-z][\w-]*'")


def loosen(tokens):
    """== where it compares like ===."""
    return [(kind, text[:2] if text in ("===", "!==") and kind == "punct" and WORD.fullmatch(tokens[i + 1][1]) else text)
            for i, (kind, text) in enumerate(tokens)]


def rename(tokens, reserved):
    tokens = loosen(tokens)
    role = roles(tokens)
    declared = declared_names(tokens, role, bracket_pairs(tokens))
    tokens, role = alias_often(tokens, role, declared)
    tokens, role = alias_this(tokens, role)
    role = ["" if text in KEYWORDS else role[i] for i, (kind, text) in enumerate(tokens)]
    pairs = bracket_pairs(tokens)
    units = units_of(tokens, pairs)

    named = count_names(tokens, role, 0, len(tokens), ("property", "shorthand"))
    kept = reserved & named.keys()
    free = {name: count for name, count in named.items() if name not in kept}
    properties = {name: s for name, s in zip(by_use(free), short_names(kept | KEYWORDS)) if len(s) < len(name)}

    used = count_names(tokens, role, 0, len(tokens), ("variable", "shorthand"))
    globals_used = used.keys() - declared_names(tokens, role, pairs)
    tops = top_names(tokens, role, units)
    outer = dict(zip(by_use({name: used.get(name, 1) for name in tops}), short_names(globals_used | KEYWORDS)))

    out = []
    for unit in units:
        short = name_locals(tokens, role, pairs, unit, outer, properties)
        for i in range(*unit):
            kind, text = tokens[i]
            as_property, as_variable = properties.get(text, text), short.get(text, text)
            if role[i] == "property":
                out.append((kind, as_property))
            elif role[i] == "variable":
                out.append((kind, as_variable))
            elif role[i] == "shorthand" and as_property != as_variable:
                out += [(kind, as_property), ("punct", ":"), (kind, as_variable)]
            elif role[i] == "shorthand":
                out.append((kind, as_property))
            else:
                out.append((kind, text))
    return out


def top_names(tokens, role, units):
    """Names that the bundle's function declares itself."""
    names = set()
    for begin, _ in units[1:]:
        words = [text for kind, text in tokens[begin : begin + 3]]
        if words[0] == "async":
            words = words[1:]
        if words[0] in ("function", "const", "let", "class"):
            names.add(words[1])
    for i, (kind, text) in enumerate(tokens):
        if text == "class" and kind == "name" and role[i] == "" and tokens[i - 1][1] in (";", "}"):
            names.add(tokens[i + 1][1])
    return names


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
            if body.count("this") > 3 and not {"super", "function", "class"} & set(body):
                ends.append(pairs[i])
                out += [("name", "const"), ("name", "self_"), ("punct", "="), ("name", "this"), ("punct", ";")]
                new_role += ["", "variable", "", "", ""]
    return out, new_role


# What an operand of && and the condition of ?: must not hold outside of brackets.
LOOSE = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "**=", "<<=", ">>=", ">>>=", "&&=", "||=", "??=", "=>", ",", "...", "yield"}
STATEMENTS = {"if", "for", "while", "do", "switch", "try", "return", "throw", "continue", "break", "const", "let", "function", "class", "{", ";"}


def fold_condition(tokens, i):
    """if (a) return b; return c;  becomes  return a ? b : c;  and  if (a) b();  becomes  a && b();
    The tokens instead of those from i on, and where these end; or nothing."""
    close = closing(tokens, i + 1)
    condition = tokens[i + 2 : close]
    inside = end_of_expression(tokens, i + 2, close)[1]
    first = tokens[close + 1][1]
    if inside & (LOOSE | {"?"}):
        return None
    if first == "return" and tokens[close + 2][1] != ";":
        # As the body of a loop or of another condition it is not what the second return follows.
        if tokens[i - 1][1] not in (";", "{", "}"):
            return None
        end, left = end_of_expression(tokens, close + 2)
        if tokens[end][1] != ";" or tokens[end + 1][1] != "return" or tokens[end + 2][1] in (";", "}"):
            return None
        last, right = end_of_expression(tokens, end + 2)
        if "," in left | right:
            return None
        rest = [("punct", "?"), *tokens[close + 2 : end], ("punct", ":"), *tokens[end + 2 : last]]
        return [("name", "return"), *condition, *rest], last
    if first in STATEMENTS:
        return None
    end, outside = end_of_expression(tokens, close + 1)
    followed = tokens[end][1] == ";" and tokens[end + 1][1] == "else"
    if followed or outside & (LOOSE | {"?", "||", "??"}) or inside & {"||", "??"}:
        return None
    return [*condition, ("punct", "&&"), *tokens[close + 1 : end]], end


def fold_conditions(tokens):
    """From the end, so that a chain of returns becomes one."""
    for i in range(len(tokens) - 1, -1, -1):
        folded = fold_condition(tokens, i) if tokens[i] == ("name", "if") else None
        if folded:
            tokens[i : folded[1]] = folded[0]
    return tokens


def arrow_functions(tokens):
    """function f(a) { return b; }  of the bundle's function becomes  let f = (a) => b;  to stand before what calls it at once."""
    start = next(i for i, token in enumerate(tokens) if token[1] == "'use strict'") + 2
    out, i = tokens[:start], start
    while i < len(tokens):
        kind, text = tokens[i]
        last = closing(tokens, i) if kind == "punct" and text in ("(", "[", "{") else i
        if (kind, text) == ("name", "function") and tokens[i - 1][1] in (";", "}"):
            body = closing(tokens, i + 2) + 1
            last = closing(tokens, body)
            end, outside = end_of_expression(tokens, body + 2)
            single = tokens[body + 1][1] == "return" and end + (tokens[end][1] == ";") == last and "," not in outside
            made = tokens[body + 2 : end] if single and tokens[body + 2][1] not in ("{", ";") else tokens[body : last + 1]
            out += [("name", "let"), tokens[i + 1], ("punct", "="), *tokens[i + 2 : body], ("punct", "=>"), *made, ("punct", ";")]
        else:
            out += tokens[i : last + 1]
        i = last + 1
    return out


# Nothing relies on an assignment to a constant failing.
SHORTER = {"const": "let", "true": "!0", "false": "!1", "undefined": "void 0", "Infinity": "1/0"}


def simplify(tokens):
    """Shorter forms: let for const, no comma before a closing bracket, one let for several in a row."""
    out, starts = [], [""]
    for i, (kind, text) in enumerate(tokens):
        text = SHORTER.get(text, text) if kind == "name" and tokens[i - 1][1] != "." else text
        text = text[1:] if kind == "number" and text.startswith("0.") else text
        if kind == "punct" and text in ")]}" and out[-1][1] == ",":
            out.pop()
        if text == "=>" and out[-1][1] == ")" and out[-3][1] == "(" and out[-2][0] == "name":
            out[-3:] = [out[-2]]
        if text == ")" and len(out) > 2 and out[-1][1] == "(" and out[-3][1] == "new" and tokens[i + 1][1] not in {".", "[", "("}:
            out.pop()
            starts.pop()
            continue
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
        tokens = arrow_functions(fold_conditions(rename(tokens, read_reserved(list_path))))
    else:
        print(f"{list_path.name} is out of date: run tests/page/run --reserved", file=sys.stderr)
    return join(simplify(tokens))

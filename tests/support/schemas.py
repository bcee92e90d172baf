# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what programs print with --json with docs/schemas."""
import json
import pathlib

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
SUFFIX = ".schema.json"


def closed(schema, is_root=True):
    """The same schema, without the permission to have members that it does not describe: output has none, although readers
    must accept them. What `$defs` names `members` stays open, because other schemas extend it."""
    if isinstance(schema, list):
        return [closed(item, False) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key == "$defs":
            out[key] = {name: closed(one, False) for name, one in value.items()}
            if "members" in out[key]:
                out[key]["members"].pop("unevaluatedProperties")
        elif key == "properties":
            out[key] = {name: closed(one, False) for name, one in value.items()}
        else:
            out[key] = closed(value, False)
    if "properties" in schema or is_root and "$ref" in schema:
        out["unevaluatedProperties"] = False
    return out


def bundled(schema, file):
    """The same schema with references into one document that has all files below `$defs`."""
    if isinstance(schema, list):
        return [bundled(item, file) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: bundled(value, file) for key, value in schema.items() if key not in ("$id", "$schema")}
    if isinstance(schema.get("$ref"), str):
        target, _, place = schema["$ref"].partition("#")
        out["$ref"] = f"#/$defs/{target or file}{place}"
    return out


def load():
    schemas = {}
    for path in sorted(FOLDER.glob("*" + SUFFIX)):
        schema = json.loads(path.read_text())
        assert schema["$id"] == path.name, path
        jsonschema.Draft202012Validator.check_schema(schema)
        schemas[path.name] = bundled(closed(schema), path.name)
    return schemas


SCHEMAS = load()


def check(name, output):
    """Fails with the place of the first difference from docs/schemas/NAME.schema.json. `output` is text or what it holds."""
    if isinstance(output, str):
        output = json.loads(output)
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}{SUFFIX}", "$defs": SCHEMAS})
    for error in sorted(validator.iter_errors(output), key=lambda one: list(map(str, one.absolute_path))):
        place = "/".join(map(str, error.absolute_path))
        raise AssertionError(f"{name}{SUFFIX}: /{place}: {error.message[:1000]}")

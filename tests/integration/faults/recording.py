# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""When a recording began: the manifest says it in whole seconds only. Layout: docs/formats/recording.md."""

import struct
import subprocess

CHUNK = struct.Struct("<4sHHIIIIII")  # magic, kind, flags, sequence, stored, raw, samples, two checksums
FILE_HEAD = 16
INFO, ZSTD, START = 1, 1, 3


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(payload):
    at = 0
    while at < len(payload):
        tag, at = _varint(payload, at)
        size, at = _varint(payload, at)
        yield tag, payload[at : at + size]
        at += size


def start_s(path):
    """Seconds since 1970, by the last info chunk; None: no such chunk says it."""
    data = path.read_bytes()
    at, found = FILE_HEAD, None
    while at + CHUNK.size <= len(data):
        magic, kind, flags, _, stored, *_ = CHUNK.unpack_from(data, at)
        assert magic == b"JCHK", f"{path}: no chunk at {at}"
        payload = data[at + CHUNK.size : at + CHUNK.size + stored]
        at += CHUNK.size + stored
        if kind == INFO:
            if flags & ZSTD:
                payload = subprocess.run(["zstd", "-dcq"], input=payload, capture_output=True, check=True).stdout
            for tag, content in _fields(payload):
                if tag == START:
                    zigzag, _ = _varint(content, 0)
                    found = ((zigzag >> 1) ^ -(zigzag & 1)) / 1e9
    return found

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The caller's end of docs/formats/protocol.md, over the pipes of a `jprof session`.

Written from the document alone, so that it checks lib/protocol and not itself.
"""

import hashlib
import json
import struct
import subprocess

HELLO, REQUEST, PROGRESS, CHUNK, RESULT, ERROR, CANCEL, PING, PONG, END = range(1, 11)


def crc32c(data):
    table = crc32c.__dict__.setdefault("table", [])
    if not table:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
            table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Refused(Exception):
    """An error frame: .body is its payload."""

    def __init__(self, body):
        super().__init__(body)
        self.body = body


class Session:
    def __init__(self, program, env, hello=True):
        self.process = subprocess.Popen([*program, "session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=env)
        if hello:
            self.send(HELLO, {"protocol": 1, "min": 1, "version": "test", "features": []})
            kind, self.peer = self.receive()
            assert kind == HELLO, (kind, self.peer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()

    def cut(self):
        """The connection dies: what a laptop that is shut leaves."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, kind, body):
        payload = json.dumps(body).encode()
        self.send_bytes(b"JP" + struct.pack("<HI", kind, len(payload)) + payload)

    def receive(self):
        head = self.process.stdout.read(8)
        if len(head) < 8:
            return None, None
        assert head[:2] == b"JP", head
        kind, size = struct.unpack("<HI", head[2:])
        assert size <= 1 << 20
        payload = self.process.stdout.read(size)
        return kind, payload if kind == CHUNK else json.loads(payload)

    def request(self, body, on_progress=None):
        """Sends a request; returns its result and its files by name, each verified."""
        try:
            self.send(REQUEST, body)
        except BrokenPipeError:
            pass  # the answer may have been given before the question: too many callers
        return self.answer(on_progress)

    def answer(self, on_progress=None):
        result, files = None, {}
        while True:
            kind, body = self.receive()
            if kind is None:
                raise EOFError("the session ended")
            if kind == PROGRESS and on_progress:
                on_progress(body)
            elif kind == ERROR:
                raise Refused(body)
            elif kind == RESULT:
                result = body
                files = {file["name"]: bytearray() for file in result["files"]}
            elif kind == CHUNK:
                index, crc, offset = struct.unpack("<IIQ", body[:16])
                file, data = result["files"][index], body[16:]
                assert len(data) <= 1 << 18
                assert crc32c(data) == crc
                assert offset == file["offset"] + len(files[file["name"]])
                files[file["name"]] += data
            elif kind == END:
                break
        for file in result["files"]:
            assert len(files[file["name"]]) == file["bytes"] - file["offset"], file
            if file["offset"] == 0:
                assert hashlib.sha256(files[file["name"]]).hexdigest() == file["sha256"], file
        return result, {name: bytes(data) for name, data in files.items()}

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that misbehaves by a script.

usage: fault_server.py [CERTIFICATE KEY [CLIENT_AUTHORITY]]

The first line of standard input is a JSON list of steps; request n is treated by step n, later ones
by the last step. The port is the first line of standard output; each request follows as one line of
JSON. Ends with standard input. A step is an object with "do":
  answer         status, headers, body (default 200, none, ""); "length" overrides Content-Length
  cut            like answer, but "length" says more than there is, and the connection is closed
  reset          RST after the request was read
  reset_early    RST after the request's head was read
  close          an orderly close without an answer
  stall          silence
  endless        a body without an end
  endless_head   headers without an end
  garbage        bytes that are no HTTP
  echo           the request's body comes back
  store          as S3 answers a PUT of an object or a part: the ETag is the MD5 of its body
  complete       as S3 answers when the parts that were stored are put together
"""
import hashlib
import json
import re
import socket
import ssl
import struct
import sys
import threading
import time

script = json.loads(sys.stdin.readline())
lock = threading.Lock()
seen = 0
parts = {}  # number: MD5


def next_step(record):
    global seen
    with lock:
        step = script[min(seen, len(script) - 1)]
        seen += 1
        print(json.dumps(record), flush=True)
    return step


def peek_step():
    with lock:
        return script[min(seen, len(script) - 1)]


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def read_head(stream):
    lines = []
    while True:
        line = stream.readline(65536)
        if not line:
            return None
        if line in (b"\r\n", b"\n"):
            return lines
        lines.append(line.decode("latin-1").rstrip("\r\n"))


def answer(connection, step, body=None):
    body = step.get("body", "").encode("latin-1") if body is None else body
    head = ["HTTP/1.1 %d %s" % (step.get("status", 200), step.get("phrase", "Scripted"))]
    head += ["%s: %s" % pair for pair in step.get("headers", {}).items()]
    if step.get("status", 200) not in (204, 304):
        head.append("Content-Length: %d" % step.get("length", len(body)))
    connection.sendall("\r\n".join(head + ["", ""]).encode("latin-1") + body)


def endless(connection, first, piece):
    connection.sendall(first)
    while True:
        connection.sendall(piece)


def perform(connection, step, method, target, body):
    """Returns whether the connection stays usable."""
    do = step.get("do", "answer")
    time.sleep(step.get("delay", 0))
    if do == "answer":
        answer(connection, step, b"" if method == "HEAD" and "length" in step else None)
        return True
    if do == "store":
        digest = hashlib.md5(body)
        if number := re.search(r"partNumber=(\d+)", target):
            parts[int(number[1])] = digest.digest()
        answer(connection, {"headers": {"ETag": '"%s"' % digest.hexdigest()}})
        return True
    if do == "complete":
        digest = hashlib.md5(b"".join(parts[number] for number in sorted(parts))).hexdigest()
        text = '<CompleteMultipartUploadResult><ETag>"%s-%d"</ETag></CompleteMultipartUploadResult>' % (digest, len(parts))
        answer(connection, {"body": text})
        return True
    if do == "echo":
        answer(connection, step, body)
        return True
    if do == "cut":
        answer(connection, step)
    elif do in ("reset", "reset_early"):
        reset(connection)
    elif do == "stall":
        time.sleep(3600)
    elif do == "endless":
        endless(connection, b"HTTP/1.1 %d X\r\n\r\n" % step.get("status", 200), b"x" * 65536)
    elif do == "endless_head":
        endless(connection, b"HTTP/1.1 200 X\r\n", b"X-Padding: " + b"y" * 4096 + b"\r\n")
    elif do == "garbage":
        connection.sendall(b"\x00\xff\x17 this is not HTTP\r\n\r\n" * 8)
    return False


def serve(connection):
    stream = connection.makefile("rb")
    while True:
        head = read_head(stream)
        if head is None:
            break
        method, target, _ = head[0].split(" ", 2)
        headers = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = b""
        if peek_step().get("do") != "reset_early":
            if headers.get("expect", "").lower() == "100-continue":
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = stream.read(int(headers.get("content-length", "0")))
        record = {"method": method, "target": target, "headers": headers,
                  "body": body[:4096].decode("latin-1"), "body_bytes": len(body),
                  "port": connection.getpeername()[1]}
        if not perform(connection, next_step(record), method, target, body):
            break
    connection.close()


def guarded(connection):
    try:
        serve(connection)
    except (OSError, ValueError):
        pass  # the client went away, as clients may
    finally:
        connection.close()


def accept_forever(listener, context):
    def prepare_and_serve(connection):
        try:
            guarded(context.wrap_socket(connection, server_side=True) if context else connection)
        except OSError:
            connection.close()

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=prepare_and_serve, args=(connection,), daemon=True).start()


def main():
    context = None
    if len(sys.argv) > 1:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        if len(sys.argv) > 3:
            context.load_verify_locations(sys.argv[3])
            context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=accept_forever, args=(listener, context), daemon=True).start()
    sys.stdin.read()


main()

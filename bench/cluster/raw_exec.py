# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""exec as the API server offers it and without kubectl: what any way into a pod costs at least."""
import base64
import os
import re
import socket
import ssl
import struct
import tempfile
import time
import urllib.parse


class Api:
    """The API server of a kubeconfig with one user who has a certificate."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            text = file.read()
        self.host, port = re.search(r'server: "https://([^:]+):(\d+)"', text).groups()
        self.port = int(port)
        self.tls = ssl.create_default_context(cadata=self._pem(text, "certificate-authority-data").decode())
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, name) for name in ("crt", "key")]
            for name, field in zip(names, ("client-certificate-data", "client-key-data")):
                with open(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                    file.write(self._pem(text, field))
            self.tls.load_cert_chain(*names)

    @staticmethod
    def _pem(text, field):
        return base64.b64decode(re.search(field + r": ([\w+/=]+)", text).group(1))

    def first_byte(self, namespace, pod, container, *command):
        """Seconds from the connection's begin to the first byte that the command writes."""
        start = time.monotonic()
        query = urllib.parse.urlencode([("container", container), ("stdout", "true"), *(("command", word) for word in command)])
        request = (f"GET /api/v1/namespaces/{namespace}/pods/{pod}/exec?{query} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
                   "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n")
        with socket.create_connection((self.host, self.port)) as plain, self.tls.wrap_socket(plain, server_hostname=self.host) as stream:
            stream.sendall(request.encode())
            received = stream.makefile("rb")
            if b" 101 " not in received.readline():
                raise OSError("exec was refused")
            while received.readline() != b"\r\n":
                pass
            while True:
                size = received.read(2)[1]
                if size >= 126:
                    size = int.from_bytes(received.read(2 if size == 126 else 8), "big")
                payload = received.read(size)
                if payload[:1] == b"\1" and len(payload) > 1:
                    elapsed = time.monotonic() - start
                    stream.sendall(struct.pack(">BBI", 0x88, 0x80, 0))
                    return elapsed
                if payload[:1] == b"\3":
                    raise OSError(payload.decode())

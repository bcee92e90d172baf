# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of the Kubernetes API that the plugin makes, with faults by order: GET of pods, access reviews, new ephemeral
containers, and exec over WebSocket into a local program instead of a container."""
import base64
import hashlib
import json
import socket
import struct
import subprocess
import threading
import urllib.parse

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def pod(name, containers=("app", "jprof"), **status):
    """A running pod as the API server describes it."""
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": "uid-" + name},
        "spec": {"nodeName": "node1", "shareProcessNamespace": True, "containers": [{"name": c, "image": c + ":1"} for c in containers]},
        "status": {"phase": "Running", "containerStatuses": [
            {"name": c, "state": {"running": {}}, "containerID": "containerd://" + c} for c in containers], **status},
    }


def refusal(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code}


class ExecServer:
    """Serves until close(). `faults` is taken one entry per exec: {} or {"cut": BYTES} (the connection ends after so many bytes
    of output), {"refuse": [CODE, REASON, MESSAGE]}, {"raw": BYTES} (sent instead of frames), {"close": CODE},
    {"freeze": BYTES} (silence from there on), {"status": JSON} (how it ends). A new ephemeral container can be called after
    `slow` refused attempts; `stuck` is the reason why it waits for ever, or the state that it is in; `deny` has the "VERB RESOURCE"s
    of no right; `metrics` is what each container uses; `pressure` is the node's; `dead` are containers that are shown as running and are not; one
    that was told to quit is shown as ended `lag` looks later; `dying` is the status that the first container has `lag` looks
    after a session has begun."""

    def __init__(self, pods, command, faults=(), protocol="v5.channel.k8s.io", slow=0, stuck="", deny=(), metrics=None,
                 pressure=False, dead=(), lag=3, dying=None):
        self.slow, self.stuck, self.deny, self.metrics, self.pressure = slow, stuck, deny, metrics, pressure
        self.dead, self.lag, self.dying, self.ending = set(dead), lag, dying, {}
        self.patches = []
        self.pods = {p["metadata"]["name"]: p for p in pods}
        self.command = command
        self.faults = list(faults)
        self.protocol = protocol
        self.execs = []
        self.requests = []
        self.lock = threading.Lock()
        self.open = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()
        for connection in self.open:
            connection.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile("rb")
        try:
            while True:
                line = stream.readline().decode()
                if not line:
                    return
                headers = {}
                while (field := stream.readline().decode().strip()):
                    name, _, value = field.partition(":")
                    headers[name.lower()] = value.strip()
                method, target = line.split(" ")[:2]
                body = stream.read(int(headers.get("content-length", 0)))
                with self.lock:
                    self.requests.append((target, headers))
                if headers.get("upgrade", "").lower() == "websocket":
                    self.exec(connection, stream, target, headers)
                    return
                self.answer(connection, *{"GET": self.get, "POST": self.review, "PATCH": self.patch}[method](target, body))
        except OSError:
            pass

    @staticmethod
    def answer(connection, code, body):
        text = json.dumps(body).encode()
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" %
                           (code, len(text), text))

    def review(self, target, body):
        asked = json.loads(body)["spec"]["resourceAttributes"]
        resource = asked["resource"] + ("/" + asked["subresource"] if asked.get("subresource") else "")
        return 201, {"status": {"allowed": "%s %s" % (asked["verb"], resource) not in self.deny}}

    def patch(self, target, body):
        path, _, query = target.partition("?")
        name = path.rsplit("/", 2)[1]
        if "patch pods/ephemeralcontainers" in self.deny:
            return 403, refusal(403, "Forbidden", 'pods "%s" is forbidden: User "x" cannot patch resource '
                                '"pods/ephemeralcontainers" in API group "" in the namespace "shop"' % name)
        patch = json.loads(body)
        if patch["metadata"]["uid"] != self.pods[name]["metadata"]["uid"]:
            return 409, refusal(409, "Conflict", "Precondition failed: UID in precondition")
        if query != "dryRun=All":
            one = patch["spec"]["ephemeralContainers"][0]
            with self.lock:
                self.patches.append(one)
                self.pods[name]["spec"].setdefault("ephemeralContainers", []).append(one)
                self.pods[name]["status"].setdefault("ephemeralContainerStatuses", []).append(
                    {"name": one["name"], "state": self.stuck if isinstance(self.stuck, dict) else
                     {"waiting": {"reason": self.stuck or "ContainerCreating"}}})
        return 200, self.pods[name]

    def get(self, target, _body):
        path, _, query = target.partition("?")
        name = path.rsplit("/", 1)[1]
        if "/metrics.k8s.io/" in path:
            if self.metrics is None:
                return 404, refusal(404, "NotFound", "the server could not find the requested resource")
            return 200, {"containers": [{"name": n, "usage": {"cpu": "1m", "memory": m}} for n, m in self.metrics.items()]}
        if "/nodes/" in path:
            return 200, {"status": {"conditions": [{"type": "MemoryPressure", "status": str(self.pressure)}]}}
        self.show_endings()
        if path.endswith("/pods"):
            selector = urllib.parse.parse_qs(query).get("labelSelector", [""])[0]
            matching = [p for p in self.pods.values() if selector in ("", "app=" + p["metadata"].get("app", "x"))]
            return 200, {"kind": "PodList", "metadata": {}, "items": matching}
        if name in self.pods:
            return 200, self.pods[name]
        return 404, refusal(404, "NotFound", 'pods "%s" not found' % name)

    def show_endings(self):
        """What has ended is shown some looks later, as a kubelet's relist has it."""
        with self.lock:
            for name in list(self.ending):
                self.ending[name] -= 1
                if self.ending[name] > 0:
                    continue
                if name == "first" and self.dying:
                    next(iter(self.pods.values()))["status"]["containerStatuses"][0].update(self.dying)
                for one in self.pods.values():
                    for status in one["status"].get("ephemeralContainerStatuses", []):
                        if status["name"] == name:
                            status["state"] = {"terminated": {"reason": "Completed", "exitCode": 0}}

    def exec(self, connection, stream, target, headers):
        with self.lock:
            name = urllib.parse.parse_qs(target.partition("?")[2]).get("container", [""])[0]
            if name.startswith("jprof-") and (self.stuck or self.slow > 0 or name in self.dead):
                self.slow -= 1
                # As a real server: accepted first.
                fault = {"absent": 'Internal error occurred: unable to upgrade connection: container not found ("%s")' % name}
            else:
                fault = self.faults.pop(0) if self.faults else {}
                self.execs.append(target)
        if "refuse" in fault:
            code, reason, message = fault["refuse"]
            self.answer(connection, code, refusal(code, reason, message))
            return
        accept = base64.b64encode(hashlib.sha1(headers["sec-websocket-key"].encode() + GUID).digest())
        upgrade = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   b"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n" % (accept, self.protocol.encode()))
        if "absent" in fault:  # in one piece with the upgrade, as a quick server's does arrive
            status = json.dumps({"status": "Failure", "reason": "InternalError", "code": 500, "message": fault["absent"]}).encode()
            connection.sendall(upgrade + b"\x82\x7e" + struct.pack(">H", len(status) + 1) + b"\3" + status + b"\x88\x02\x03\xe8")
            return
        connection.sendall(upgrade)
        if "raw" in fault:
            connection.sendall(fault["raw"])
            return
        if "close" in fault:
            connection.sendall(b"\x88\x02" + struct.pack(">H", fault["close"]))
            return
        with self.lock:
            self.ending["first"] = self.lag
        self.relay(connection, stream, fault, name)

    def relay(self, connection, stream, fault, name):
        child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        sending = threading.Lock()

        def send(channel, data):
            payload = bytes([channel]) + data
            length = len(payload)
            head = b"\x82" + (bytes([length]) if length < 126 else b"\x7e" + struct.pack(">H", length)
                              if length < 65536 else b"\x7f" + struct.pack(">Q", length))
            with sending:
                connection.sendall(head + payload)

        def errors():
            try:
                for data in iter(lambda: child.stderr.read1(4096), b""):
                    send(2, data)
            except OSError:
                child.kill()  # whom nobody hears any more

        def inputs():
            try:
                while (message := self.read_frame(stream)) is not None:
                    opcode, data = message
                    if opcode == 9:
                        with sending:
                            connection.sendall(b"\x8a" + bytes([len(data)]) + data)
                    elif opcode == 2 and data[:1] == b"\0":
                        if b'"type":"quit"' in data:
                            self.ending[name] = self.lag
                            self.dead.add(name)
                        child.stdin.write(data[1:])
                        child.stdin.flush()
                    elif opcode == 8:
                        break
            except (OSError, ValueError):
                pass
            try:
                child.stdin.close()
            except OSError:
                pass  # what it held was for a program that has ended

        threading.Thread(target=inputs, daemon=True).start()
        error_reader = threading.Thread(target=errors, daemon=True)
        error_reader.start()
        sent = 0
        try:
            for channel in (0, 1, 2, 3):
                send(channel, b"")
            for data in iter(lambda: child.stdout.read1(16384), b""):
                if "cut" in fault and sent + len(data) >= fault["cut"]:
                    send(1, data[:fault["cut"] - sent])
                    connection.shutdown(socket.SHUT_RDWR)
                    child.kill()
                    child.wait()
                    return
                if "freeze" in fault and sent >= fault["freeze"]:
                    child.wait()
                    return
                send(1, data)
                sent += len(data)
            error_reader.join()
            code = child.wait()
            status = fault.get("status") or ({"status": "Success"} if code == 0 else {
                "status": "Failure", "reason": "NonZeroExitCode",
                "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}})
            send(3, json.dumps(status).encode())
            with sending:
                connection.sendall(b"\x88\x02\x03\xe8")
        except OSError:
            child.kill()
            child.wait()
        finally:
            child.stdout.close()
            error_reader.join()
            child.stderr.close()

    @staticmethod
    def read_frame(stream):
        head = stream.read(2)
        if len(head) < 2:
            return None
        length = head[1] & 0x7f
        if length == 126:
            length = struct.unpack(">H", stream.read(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", stream.read(8))[0]
        if not head[1] & 0x80:
            raise ValueError("a client must mask its frames")
        mask = stream.read(4)
        data = stream.read(length)
        return head[0] & 0xf, bytes(b ^ mask[i % 4] for i, b in enumerate(data))

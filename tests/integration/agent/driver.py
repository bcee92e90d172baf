# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Plays the sidecar for the agent: starts a JVM, attaches, sends Start with a region, drains, stops."""

import ctypes
import fcntl
import mmap
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import time

from region import Recording, Region

REGION_BYTES = 16 << 20
ENGINES = {"cpu-timer": 1, "perf-clock": 2}  # an agent that may not use the second takes the first
WALKERS = {"vmstructs": 1, "asgct": 2, "jvmti": 3, "jmx": 4}
HELLO, START, STARTED, FAILED, DRAINED, STOP, STOPPED = range(1, 8)
STATUS = (
    "ok bad_message version_mismatch no_vm_structs unsupported_jvm busy map_failed signal_taken no_timers"
    " walker_unavailable engine_unavailable no_thread other_pid_namespace vm_exiting region_too_small handler_busy"
    " handlers_checked leaves_behind call_forbidden"
).split()
REASONS = "none asked deadline peer_gone overhead vm_exit handler_replaced agent_error".split()
F_ADD_SEALS, SEALS = 1033, 1 | 2 | 4  # SEAL, SHRINK, GROW
PATIENCE_S = 60  # no test is about speed: on a crowded machine anything may wait


def wait_for(condition, step_s=0.01):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(step_s)


class Jvm:
    """A workload in a JVM of its own, which has a process group for what it may start."""

    def __init__(self, run_java, classes, arguments, options=(), environment=None):
        self.process = subprocess.Popen([*run_java, *options, "-cp", classes, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True,
                                        env={**os.environ, **(environment or {})})  # fmt: skip
        self.pid = self.own_pid = self.process.pid
        line = self.process.stdout.readline()
        while line.startswith((b"WARNING", b"\t")):  # what -Xcheck:jni of JDK 8 says of its own launcher
            line = self.process.stdout.readline()
        if line.strip() != b"ready":
            self.kill()
            raise AssertionError(f"the JVM said {line!r}")

    def find_in_own_namespace(self):
        """Of a JVM that was started by `unshare --pid --fork`, whose child it is."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as children:
            self.pid = int(children.read())
        with open(f"/proc/{self.pid}/status") as status:
            self.own_pid = next(int(line.split()[-1]) for line in status if line.startswith("NSpid:"))

    def attach(self, *command):
        """The attach protocol, version 1: returns what the JVM answers."""
        path = f"/proc/{self.pid}/root/tmp/.java_pid{self.own_pid}"
        if not os.path.exists(path):
            trigger = f"/proc/{self.pid}/root/tmp/.attach_pid{self.own_pid}"
            with open(trigger, "w"):
                os.kill(self.pid, signal.SIGQUIT)
                wait_for(lambda: os.path.exists(path))
            os.unlink(trigger)
        with socket.socket(socket.AF_UNIX) as channel:
            channel.connect(path)
            words = [*command, "", "", ""][:4]
            channel.sendall(b"1\0" + b"".join(word.encode() + b"\0" for word in words))
            answer = b""
            while part := channel.recv(4096):
                answer += part
        return answer.decode()

    def load(self, library, options):
        """Loads the agent; returns what Agent_OnAttach returned (8 to 25 say it in three ways)."""
        answer = self.attach("load", library, "true", options)
        lines = answer.split("\n")
        code = lines[1] if len(lines) > 1 and lines[1] else lines[0]
        return int(code.split(":")[-1]) if code.split(":")[-1].strip().lstrip("-").isdigit() else answer

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended, and all that it had started
        self.process.wait()


class Session:
    """One recording, from the sidecar's side."""

    def __init__(self, jvm, library, interval_ms=10, duration_s=3600, region_bytes=REGION_BYTES, depth=2048,
                 signal_number=0, overhead=0, walker="vmstructs", engine="cpu-timer", leave_behind=True, check_cache=False,
                 before_start=None):  # fmt: skip
        """`before_start` is called with the session before the start message is sent, and what it returns once that is sent."""
        self.recording = Recording()
        self.nonce = secrets.token_bytes(16)
        self.region_bytes = region_bytes
        self.memory = os.memfd_create("jprof-test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.posix_fallocate(self.memory, 0, region_bytes)
        fcntl.fcntl(self.memory, F_ADD_SEALS, SEALS)
        name = f".jprof-{secrets.token_hex(6)}"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(f"/proc/{jvm.pid}/root/tmp/{name}")
        listener.listen(1)
        began = time.monotonic()
        self.load_result = jvm.load(library, f"v=1,socket=/tmp/{name},nonce={self.nonce.hex()}")
        self.load_ms = (time.monotonic() - began) * 1000
        listener.settimeout(PATIENCE_S)
        self.channel, _ = listener.accept()
        listener.close()
        os.unlink(f"/proc/{jvm.pid}/root/tmp/{name}")
        self.hello = self.receive(HELLO)
        assert self.hello[16:32] == self.nonce
        start = struct.pack("<IIIIIIQ2QQQIIQ32x", START, 112, 1, ENGINES[engine], WALKERS[walker], depth, region_bytes, 1, 2,
                            int(interval_ms * 1e6), int(duration_s * 1e9), overhead, signal_number,
                            int(leave_behind) | int(check_cache) << 1)  # fmt: skip
        after_start = before_start(self) if before_start else None
        socket.send_fds(self.channel, [start], [self.memory])
        if after_start:
            after_start()
        kind, message = self.any_message()
        self.failure = None
        if kind == FAILED:
            status, errno = struct.unpack_from("<Ii", message, 8)
            self.failure = STATUS[status], errno, message[16:].split(b"\0")[0].decode()
        else:
            assert kind == STARTED, kind
            self.armed, self.not_armed, self.start_ns, self.start_nanos = struct.unpack_from("<IIQQ", message, 8)

    def any_message(self, timeout=PATIENCE_S):
        self.channel.settimeout(timeout)
        message = self.channel.recv(512)
        return (struct.unpack_from("<I", message)[0], message) if message else (0, b"")

    def receive(self, kind, timeout=PATIENCE_S):
        got, message = self.any_message(timeout)
        assert got == kind, f"expected message {kind}, got {got}"
        return message

    def region(self):
        return Region(lambda offset, size: os.pread(self.memory, size, offset))

    def drain(self):
        region = self.region()
        closed = [number for number, state, *_ in region.generations if state == 2]
        self.recording.drain(region)
        self.channel.send(struct.pack("<IIQII", DRAINED, 24, self.recording.next, max(closed, default=0), 0))
        return region

    def run(self, seconds):
        """False if the agent has ended it before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            readable, _, _ = select.select([self.channel], [], [], min(0.2, max(0, end - time.monotonic())))
            if readable:
                return False
            self.drain()
        return True

    def run_until(self, samples):
        """Until there are so many samples: a crowded machine gives less CPU time in a second."""
        self.run_while(lambda: len(self.recording.samples) < samples)

    def run_while(self, condition, step_s=0.2):
        """As long as the condition holds and patience lasts; what it was for is asserted afterwards. Drains once a step."""
        end = time.monotonic() + PATIENCE_S
        while condition() and time.monotonic() < end and self.run(step_s):
            pass

    def stop(self):
        self.channel.send(struct.pack("<II", STOP, 8))
        return self.stopped()

    def stopped(self, timeout=PATIENCE_S):
        message = self.receive(STOPPED, timeout)
        self.reason, self.in_flight = struct.unpack_from("<II", message, 8)
        self.reason = REASONS[self.reason]
        # Threads that might still be handed a signal, one of them, its tracer, its state.
        self.handler_left = struct.unpack_from("<IIII", message.ljust(40, b"\0"), 24)
        return self.drain_last()

    def drain_last(self):
        """When nobody writes any more."""
        region = self.region()
        self.recording.drain(region, last=True)
        return region

    def close(self):
        self.channel.close()
        os.close(self.memory)

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""strace and gdb, which come and go while something else is done."""

import contextlib
import os
import signal
import subprocess
import threading
import time


@contextlib.contextmanager
def ignores_interrupts():
    """For a JVM that is started here: gdb stops threads by SIGINT, and may leave one behind, which would end it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Tracing:
    """A tracer that attaches to all threads, and ends: asked to, as a person would, or killed. once() says whether it was there."""

    # What a shell starts in the background ignores SIGINT, and so would these.
    HEARS = ("env", "--default-signal=INT")
    COMMANDS = {"strace": (*HEARS, "strace", "-f", "-q", "-e", "trace=none", "-o", "/dev/null", "-p"),
                "gdb": (*HEARS, "gdb", "-batch", "-iex", "set debuginfod enabled off", "-ex", "info threads", "-ex", "continue", "-p")}  # fmt: skip

    def __init__(self, who, pid, chance):
        self.command, self.pid, self.chance = [*self.COMMANDS[who], str(pid)], pid, chance
        self.ask = signal.SIGINT if who == "strace" else signal.SIGTERM  # of gdb SIGINT means the JVM

    def once(self):
        with subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracer:
            time.sleep(self.chance.uniform(0.2, 3))
            was_there = self.is_there()
            self.end(tracer, self.pid, self.chance.choice((self.ask, signal.SIGKILL)))
        time.sleep(self.chance.uniform(0, 0.5))
        return was_there

    @staticmethod
    def end(tracer, pid, how):
        """Sends this signal; a tracer that is busy with threads which come and go may never hear it, and is killed then."""
        tracer.send_signal(how)
        try:
            tracer.wait(20)
        except subprocess.TimeoutExpired:
            tracer.kill()
            tracer.wait()
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)  # gdb attaches by SIGSTOP: killed before it took that back, it leaves the process stopped

    def is_there(self):
        with open(f"/proc/{self.pid}/status", encoding="utf-8", errors="replace") as status:
            return "\nTracerPid:\t0\n" not in status.read()


class Meanwhile:
    """Has `other` do its once() again and again on a thread of its own; counts the times that it says to have been there."""

    def __init__(self, other):
        self.other, self.times, self.over, self.error = other, 0, threading.Event(), None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.over.is_set():
                self.times += self.other.once()
        except OSError as error:
            self.error = error

    def begin(self):
        self.thread.start()

    def has_come(self):
        return self.times > 0 or not self.thread.is_alive()

    def stop(self):
        self.over.set()
        if self.thread.ident:
            self.thread.join()

    def end(self):
        """Stops it, and says how often it was there; fails if it could not go on."""
        self.stop()
        assert self.error is None, self.error
        return self.times

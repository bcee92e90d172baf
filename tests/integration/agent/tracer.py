# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""ptrace(2), for tests that hold a thread of a JVM where a debugger or strace would."""

import ctypes
import os
import signal

CONT, SINGLESTEP, DETACH, SYSCALL, SETOPTIONS, SEIZE, INTERRUPT = 7, 9, 17, 24, 0x4200, 0x4206, 0x4207
TRACESYSGOOD, AT_SYSTEM_CALL = 1, signal.SIGTRAP | 0x80
WALL = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request, tid, data=0):
    if _libc.ptrace(request, tid, None, data) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace {request:#x} of {tid}: {os.strerror(number)}")


class Tracer:
    """Of one thread. All calls by one thread of ours; the tracee is let go when the object is closed."""

    def __init__(self, tid):
        self.tid = tid
        self.held = 0  # the signal that it was about to take
        self.stopped = False
        self.closed = False
        _ptrace(SEIZE, tid)

    def wait(self):
        """For its next stop; the signal that it is about to take, or SIGTRAP."""
        _, status = os.waitpid(self.tid, WALL)
        assert os.WIFSTOPPED(status), f"thread {self.tid} ended: {status:#x}"
        self.stopped = True
        self.held = 0 if status >> 16 else os.WSTOPSIG(status)
        return os.WSTOPSIG(status)

    def resume(self, request=CONT):
        """Gives it the signal that it was about to take, if there is one; SIGTRAP is the tracer's own."""
        _ptrace(request, self.tid, self.held if self.held != signal.SIGTRAP else 0)
        self.stopped = False

    def interrupt(self):
        """Stops it where it is."""
        _ptrace(INTERRUPT, self.tid)
        self.wait()

    def hold(self, number):
        """Lets it run until it is about to take this signal."""
        while self.wait() != number:
            self.resume()

    def step(self, times):
        for _ in range(times):
            self.resume(SINGLESTEP)
            self.wait()

    def to_system_call(self):
        """On to where it enters or leaves its next one, from a stop; False if it ends instead."""
        _ptrace(SETOPTIONS, self.tid, TRACESYSGOOD)
        while True:
            self.resume(SYSCALL)
            _, status = os.waitpid(self.tid, WALL)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                self.closed = True
                return False
            self.stopped = True
            self.held = 0 if status >> 16 or os.WSTOPSIG(status) == AT_SYSTEM_CALL else os.WSTOPSIG(status)
            if os.WSTOPSIG(status) == AT_SYSTEM_CALL:
                return True

    def close(self):
        """The signal that it was about to take is its own affair now, as after the end of strace."""
        self.closed = True
        if not self.stopped:
            _ptrace(INTERRUPT, self.tid)
            self.wait()
        _ptrace(DETACH, self.tid, self.held if self.held != signal.SIGTRAP else 0)

    def bury(self):
        """Of a thread that was killed while it was traced: its process has not ended before we have heard of it."""
        while not self.closed:
            try:
                _, status = os.waitpid(self.tid, WALL)
                self.closed = os.WIFEXITED(status) or os.WIFSIGNALED(status)
            except ChildProcessError:
                self.closed = True

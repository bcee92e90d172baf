# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The JVMs that are profiled: each tells what it does (tests/workloads/told), and must live until it is asked to end."""

import bisect
import collections
import math
import subprocess
import threading
import time

METHODS = ("hot", "warm", "throwing", "shortLived")
# The JVM names the method that works, however it compiles it.
OPTIONS = ["-Xmx64m", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Told.*"]


class Told:
    """One JVM. `jdk` says which; `harmed` why it is not well, or is empty."""

    def __init__(self, jdk, java, classes):
        self.jdk = jdk
        self.process = subprocess.Popen([java, *OPTIONS, "-cp", classes, "Told"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid
        self.lines = 0  # so many have been heard
        self.totals = [0] * len(METHODS)  # the CPU nanoseconds that each method has had in all
        self.history = []  # the same at (seconds since 1970), ten times a second
        self.more = collections.deque(maxlen=20)
        self.killed = False
        self.done = False
        self.had_other_profiler = False
        self.readers = [threading.Thread(target=self._listen), threading.Thread(target=self._hear_errors)]
        for reader in self.readers:
            reader.start()

    def _listen(self):
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["told"]:
                *self.totals, at_ms = (int(word) for word in words[1:])
                self.history.append((at_ms / 1000, self.totals))
                self.lines += 1
            elif words == ["done"]:
                self.done = True

    def _hear_errors(self):
        for line in self.process.stderr:
            self.more.append(line)

    def kill(self):
        """From outside, as the kernel does when memory is short: no harm of ours."""
        self.killed = True
        self.process.kill()
        self._wait()

    def _wait(self):
        self.process.wait()
        for reader in self.readers:
            reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def between(self, begin_s, end_s):
        """For each method the CPU nanoseconds that it has had from one moment to the other, and how wrong that may be: between
        two lines the time is taken to pass evenly."""
        (first, doubt_1), (last, doubt_2) = self._totals_at(begin_s), self._totals_at(end_s)
        return [(b - a, math.hypot(c, d)) for a, b, c, d in zip(first, last, doubt_1, doubt_2)]

    def _totals_at(self, when_s):
        after = bisect.bisect(self.history, when_s, key=lambda told: told[0])
        if after in (0, len(self.history)):
            return self.history[max(0, after - 1)][1], [0] * len(METHODS)
        (t0, first), (t1, second) = self.history[after - 1 : after + 1]
        share = (when_s - t0) / (t1 - t0)
        return [a + share * (b - a) for a, b in zip(first, second)], [b - a for a, b in zip(first, second)]

    def is_alive(self):
        return self.process.poll() is None

    def works(self):
        """It has told something new; waits for it."""
        before = self.lines
        end = time.monotonic() + 60
        while self.is_alive() and self.lines == before and time.monotonic() < end:
            time.sleep(0.05)
        return self.lines > before

    def end(self):
        """Asks it to end; says what is wrong, or nothing."""
        if self.killed:
            return ""
        if not self.is_alive():
            code = self.process.returncode
            self._wait()
            return f"{self.jdk} ended by itself with {code}: {''.join(self.more)}"
        wrong = "" if self.works() else f"{self.jdk} does not work any more"
        if wrong:
            self.process.kill()
        else:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        self._wait()
        if not wrong and (self.process.returncode != 0 or not self.done):
            wrong = f"{self.jdk} ended with {self.process.returncode}: {''.join(self.more)}"
        return wrong

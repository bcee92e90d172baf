# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Starts applications that nobody here wrote, as a test or benchmark wants them, and ends them without a trace.

Each is a folder here: a lock file (the part app-NAME of scripts/parts) and one Java class, compiled when it is first asked for. The
class says "ready" when it is, answers each line on its standard input with the units of work done so far (requests, documents,
compilations), and ends when its standard input ends, as it does when whoever started it dies."""

import glob
import hashlib
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PATIENCE_S = 180  # on a crowded machine a JVM takes its time


class Missing(Exception):
    """A part that nobody made."""


def part(name):
    found = subprocess.run([ROOT / "scripts/parts", "--where", name], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise Missing(found.stderr.strip())
    return pathlib.Path(found.stdout.strip())


def jars(name):
    return sorted(path for path in glob.glob(f"{part('app-' + name)}/lib/*.jar") if not path.endswith("-sources.jar"))


def compiled(name, release):
    """The folder with the classes of ours, made once for each text of their sources."""
    sources = sorted([*HERE.glob("*.java"), *(HERE / name).glob("*.java")])
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources) + str(part("app-" + name)).encode())
    folder = ROOT / f"build/workloads/app-{name}-{digest.hexdigest()[:12]}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        javac = "/usr/lib/jvm/java-17-openjdk-amd64/bin/javac"
        work = tempfile.mkdtemp(dir=folder.parent)
        subprocess.run([javac if os.path.exists(javac) else "javac", "--release", str(release), "-Xlint:-options", "-proc:none",
                        "-parameters", "-g", "-cp", ":".join(jars(name)), "-d", work, *sources], check=True)  # fmt: skip
        os.chmod(work, 0o755)
        try:
            os.rename(work, folder)
        except OSError:  # another run was first
            shutil.rmtree(work)
    return folder


class Process:
    """One JVM that says "ready" and answers."""

    def __init__(self, argv, log):
        self.log = log
        with open(log, "ab") as errors:
            # A process group of its own, and the end of its input as its end.
            self.process = subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=errors, start_new_session=True)  # fmt: skip
        self.pid = self.process.pid
        said = []
        while (line := self.process.stdout.readline()).strip() != b"ready":
            said.append(line)
            if not line:
                self.end()
                told = b"".join(said).decode(errors="replace") + log.read_text(errors="replace")
                raise AssertionError(f"{argv[-1]} ended: {told[-3000:]}")

    def line(self):
        return self.process.stdout.readline().decode().strip()

    def units(self):
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
            return int(self.line())
        except (BrokenPipeError, ValueError) as error:
            raise AssertionError(f"the application ended: {self.log.read_text(errors='replace')[-3000:]}") from error

    def end(self):
        """True if it ended by itself once its input had."""
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        finally:
            self.process.stdout.close()
        return self.process.returncode == 0


class Application:
    """`units()` done so far and the `cpu_ns()` that the kernel says its process has used for them."""

    RELEASE = 8
    JDKS = ("jdk-8", "jdk-11", "jdk-17", "jdk-21", "jdk-25", "jdk-17-musl")
    OPTIONS = ("-Xmx384m",)
    CLIENTS = 0  # of HTTP, if there are any
    PATHS = ()

    def __init__(self, jdk, options=(), arguments=(), clients=None, rate=0):
        self.jdk = jdk
        self.folder = tempfile.TemporaryDirectory(prefix="jprof-app-", dir="/tmp")
        self.work = pathlib.Path(self.folder.name)
        self.classes = compiled(self.NAME, self.RELEASE)
        self.load = None
        java = part(jdk) / "run-java"
        self.class_path = ":".join([str(self.classes), *jars(self.NAME)])
        try:
            self.process = Process([java, f"-Djava.io.tmpdir={self.work}", *self.OPTIONS, *self.options_of(jdk), *options, "-cp", self.class_path,
                                    self.MAIN, *self.arguments(), *arguments], self.work / "log")  # fmt: skip
            if self.PATHS:
                port = self.process.line()
                loader = part("jdk-17") / "run-java"
                self.load = Process([loader, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", self.classes, "applications.Load", port,
                                     clients or self.CLIENTS, rate, *self.PATHS], self.work / "load.log")  # fmt: skip
        except BaseException:
            self.folder.cleanup()
            raise
        self.pid = self.process.pid

    def options_of(self, jdk):
        del jdk
        return ()

    def arguments(self):
        return ()

    def units(self):
        return (self.load or self.process).units()

    def cpu_ns(self):
        """The process's CPU clock (include/linux/posix-timers_types.h)."""
        return time.clock_gettime_ns(~self.pid << 3 | 2)

    def threads_started(self):
        """Java threads since the JVM began, as its file of performance counters has it (perfMemory.hpp)."""
        data = pathlib.Path(f"/proc/{self.pid}/root/tmp/hsperfdata_{pathlib.Path(f'/proc/{self.pid}').owner()}/{self.pid}").read_bytes()
        at, entries = struct.unpack_from("<II", data, 24)
        for _ in range(entries):
            length, name, _, _, _, _, _, value = struct.unpack_from("<IIIBBBBI", data, at)
            if data[at + name :].startswith(b"java.threads.started\0"):
                return struct.unpack_from("<q", data, at + value)[0]
            at += length
        raise AssertionError("the JVM counts no threads")

    def run_until(self, units):
        """Until so much more is done than is now: what is measured is warm, whatever else the machine does."""
        begin, end = self.units(), time.monotonic() + PATIENCE_S
        while self.units() < begin + units:
            if time.monotonic() > end:
                raise AssertionError(f"{self.NAME} does next to nothing: {self.units() - begin} in {PATIENCE_S} s")
            time.sleep(0.1)

    def end(self):
        """True if its JVMs ended by themselves."""
        ended = [process.end() for process in (self.load, self.process) if process]
        self.folder.cleanup()
        return all(ended)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Spring(Application):
    NAME, MAIN, RELEASE = "spring", "applications.Spring", 17
    JDKS = ("jdk-17", "jdk-21", "jdk-25", "jdk-17-musl")
    CLIENTS = 4
    PATHS = ("/orders/*", "/customers/*/best", "/orders/*/again", "/orders/*")


class SpringVirtual(Spring):
    JDKS = ("jdk-21", "jdk-25")

    def arguments(self):
        return ("virtual",)


class SpringThreads(Spring):
    """Half of the requests have a thread of their own."""

    PATHS = ("/orders/*/aside", "/customers/*/best", "/orders/*/aside", "/orders/*")


class Lucene(Application):
    NAME, MAIN = "lucene", "applications.Lucene"

    def arguments(self):
        return sources(self.NAME), self.work


class Javac(Application):
    NAME, MAIN = "javac", "applications.Compiler"

    def options_of(self, jdk):
        """JDK 8 has an older javax.tools of its own, which would hide the jar's."""
        return (f"-Xbootclasspath/p:{jars(self.NAME)[0]}",) if jdk == "jdk-8" else ()

    def arguments(self):
        return sources(self.NAME), part("jdk-8") / "root/usr/lib/jvm/java-8-openjdk-amd64/jre/lib/rt.jar"


class Netty(Application):
    NAME, MAIN = "netty", "applications.Netty"
    CLIENTS = 8
    PATHS = ("/catalogue?n=*", "/basket?n=*")


class Clojure(Application):
    NAME, MAIN = "clojure", "applications.Lisp"


class Kafka(Application):
    NAME, MAIN, RELEASE = "kafka", "applications.Kafka", 17
    JDKS = ("jdk-17", "jdk-21", "jdk-25")
    OPTIONS = ("-Xmx512m",)

    def arguments(self):
        return (self.work,)


def sources(name):
    return glob.glob(f"{part('app-' + name)}/lib/*-sources.jar")[0]


APPLICATIONS = {
    "spring": Spring, "spring-virtual": SpringVirtual, "spring-threads": SpringThreads, "lucene": Lucene, "javac": Javac, "netty": Netty,
    "clojure": Clojure, "kafka": Kafka,
}  # fmt: skip

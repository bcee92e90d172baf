# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What befalls a pod: one trouble at a time, chosen at random, each ended before the next."""

import os
import pathlib
import signal
import subprocess
import time

from freezer import frozen
from portal import Portal
from tracing import Tracing

TROUBLES = []


def trouble(function):
    TROUBLES.append(function)
    return function


def holders_of(path):
    """Pids of processes that hold this file open."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if any(os.readlink(fd) == str(path) for fd in (entry / "fd").iterdir()):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


@trouble
def a_capture_is_killed(pod, random):
    locks = sorted((pod.spool / "locks").glob("capture-*"), key=lambda path: random.random())
    for pid in [pid for lock in locks for pid in holders_of(lock)][:1]:
        send(pid, signal.SIGKILL)


@trouble
def the_sidecar_is_killed(pod, random):
    pod.kill_serve()
    pod.start_serve()


@trouble
def the_sidecar_is_ended(pod, random):
    pod.end_serve()
    pod.start_serve()


@trouble
def the_disk_is_full(pod, random):
    filler = pod.disk / "filler"
    try:
        with open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << random.choice([12, 16, 18])))
    except OSError:
        pass
    time.sleep(random.uniform(0.5, 3))
    filler.unlink()


@trouble
def the_store_is_killed(pod, random):
    pod.store.kill()
    time.sleep(random.uniform(0.2, 4))
    pod.store.start()


@trouble
def the_store_hangs(pod, random):
    send(pod.store.process.pid, signal.SIGSTOP)
    time.sleep(random.uniform(0.2, 4))
    send(pod.store.process.pid, signal.SIGCONT)


@trouble
def the_store_is_a_portal(pod, random):
    """Everything gets a 200 and nothing is stored: who believes it loses the capture."""
    pod.store.kill()
    portal = Portal(pod.store.port)
    time.sleep(random.uniform(1, 5))
    portal.close()
    pod.store.portal_answers += portal.answered
    pod.store.start()


def trace(who, told, ends, random):
    """Holds the JVM's threads for a while; ends as told to, or is killed."""
    with subprocess.Popen([*Tracing.COMMANDS[who], str(told.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as tracer:  # fmt: skip
        time.sleep(random.uniform(0.5, 4))
        Tracing.end(tracer, told.pid, random.choice(ends))


@trouble
def a_tracer_comes_and_goes(pod, random):
    trace("strace", random.choice(pod.targets), [signal.SIGINT], random)


@trouble
def a_debugger_comes_and_goes(pod, random):
    trace("gdb", random.choice(pod.targets), [signal.SIGINT, signal.SIGKILL], random)


@trouble
def another_profiler_comes_and_goes(pod, random):
    told = random.choice(pod.targets)
    told.had_other_profiler = True
    command = [str(pod.async_profiler), "-e", random.choice(["ctimer", "itimer"]), "-i", "1ms"]
    for action in ("start", "stop"):
        subprocess.run([*command, *(["-o", "collapsed", "-f", "/dev/null"] if action == "stop" else []), action, str(told.pid)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)  # fmt: skip
        time.sleep(random.uniform(0.2, 2))


@trouble
def a_flight_recording_comes_and_goes(pod, random):
    told = random.choice(pod.targets)
    start = ["JFR.start", "name=jprof-test", "settings=profile"]
    if told.jdk == "jdk-25":  # whose sampler of CPU time wants the signal that ours takes
        told.had_other_profiler = True
        start.append("jdk.CPUTimeSample#enabled=true")
    for command in (["JFR.configure", f"repositorypath={pod.folder}/jfr"], start, ["JFR.stop", "name=jprof-test"]):
        subprocess.run([str(pod.jcmd), str(told.pid), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=300, check=False)  # fmt: skip; on a crowded machine JFR takes half a minute to start
        time.sleep(random.uniform(0.2, 2))


@trouble
def a_jvm_is_frozen(pod, random):
    with frozen(random.choice(pod.targets).pid):
        time.sleep(random.uniform(0.1, 1.5))


@trouble
def a_jvm_stands_still(pod, random):
    told = random.choice(pod.targets)
    send(told.pid, signal.SIGSTOP)
    time.sleep(random.uniform(0.1, 1.5))
    send(told.pid, signal.SIGCONT)


@trouble
def a_jvm_is_killed(pod, random):
    pod.replace(random.choice(pod.targets))

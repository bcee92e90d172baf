# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What a program inside the node of tests/e2e/cluster sees of pods and their processes."""
import json
import subprocess
import sys
import time

DEADLINE = 300  # for anything to come to pass


def run(*command, check=True):
    return subprocess.run(command, check=check, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def kubectl(namespace, *words, check=True):
    return run("kubectl", "-n", namespace, *words, check=check)


def until(what, condition):
    end = time.monotonic() + DEADLINE
    while not (found := condition()):
        if time.monotonic() > end:
            sys.exit("never: " + what)
        time.sleep(0.2)
    return found


def ready_pod(namespace, label):
    """The one pod with that label that is not being deleted, as the API shows it, once all of it runs."""
    def find():
        try:
            pods = json.loads(kubectl(namespace, "get", "pods", "-l", label, "-o", "json"))["items"]
        except (subprocess.CalledProcessError, ValueError):
            return None
        pods = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        conditions = pods[0]["status"].get("conditions", []) if len(pods) == 1 else []
        return pods[0] if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions) else None
    return until("a ready pod", find)


def task_of(pod, container):
    """Pid of the first process of a container, given the pod as the API shows it; None while there is none."""
    status = pod["status"]
    known = [one for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses") for one in status.get(kind, [])]
    wanted = next((one.get("containerID", "") for one in known if one["name"] == container), "").removeprefix("containerd://")
    tasks = run("ctr", "tasks", "ls").splitlines()
    return next((int(line.split()[1]) for line in tasks if wanted and line.startswith(wanted)), None)


def runs_jvm(pid):
    """A container is ready as soon as its program is started: the JVM in it comes a little later."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        return "libjvm.so" in maps.read()


def page_is_whole(path):
    with open(path, "rb") as page:
        text = page.read()
    return text[:15].lower() == b"<!doctype html>" and b"</html>" in text


def has_timers(pid):
    """A profiler that samples by POSIX timers is armed in this process."""
    with open(f"/proc/{pid}/timers", encoding="ascii") as timers:
        return bool(timers.read(16))

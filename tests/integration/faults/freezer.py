# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Freezes a process as a container runtime pauses a container: by its cgroup, of version 1 or 2. Needs root."""

import contextlib
import os
import pathlib

CGROUPS = pathlib.Path("/sys/fs/cgroup")
IS_V2 = (CGROUPS / "cgroup.controllers").exists()


def _group_of(pid):
    """The group that counts for the freezer."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if IS_V2 and not controllers or "freezer" in controllers.split(","):
            return (CGROUPS if IS_V2 else CGROUPS / "freezer") / path.lstrip("/")
    raise OSError("no cgroup can freeze here")


@contextlib.contextmanager
def frozen(pid):
    """The process stands still inside the `with`, and is in its own group again afterwards."""
    home = _group_of(pid)
    group = home / f"jprof-test-{os.getpid()}-{pid}"
    file, words = ("cgroup.freeze", ("1", "0")) if IS_V2 else ("freezer.state", ("FROZEN", "THAWED"))
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / file).write_text(words[0])
        yield
    finally:
        (group / file).write_text(words[1])
        with contextlib.suppress(ProcessLookupError):
            (home / "cgroup.procs").write_text(str(pid))
        group.rmdir()

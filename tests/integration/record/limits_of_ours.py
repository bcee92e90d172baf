# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of `jprof record` where it may have little: files, room on the disk, system calls."""

import ctypes
import errno
import glob
import hashlib
import os
import platform
import re
import resource
import shutil
import struct
import subprocess

from rig import CHECKS, check, folded_total

__all__ = ["CHECKS"]


def record_under(context, jvm, limit, hard, soft=None):
    """Exit code and all that is said, with limits on what jprof may have."""
    command = [context.arguments.jprof, "record", str(jvm.pid), "--agent", context.arguments.library, "-d", "1s", "-o", "limited.jprof"]
    done = subprocess.run(command, cwd=context.directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False, preexec_fn=lambda: resource.setrlimit(limit, (soft or hard, hard)))  # fmt: skip
    return done.returncode, done.stdout


@check
def a_file_above_the_limit_on_sizes_ends_the_capture_with_a_cure(context):
    """SIGXFSZ would end jprof without a word."""
    jvm = context.jvm("Known", "shares", "300")
    code, said = record_under(context, jvm, resource.RLIMIT_FSIZE, 1024)  # the agent's file is larger
    assert code == 9 and "may write 1024 into a file" in said and "ulimit -f" in said and "emptyDir" not in said, (code, said)
    foreseen = subprocess.run([context.arguments.jprof, "doctor", str(jvm.pid)], stdout=subprocess.PIPE, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))).stdout  # fmt: skip
    assert "ulimit -f" in foreseen, foreseen
    code, result = context.record(jvm.pid, "-d", "200ms", "-o", "unlimited.jprof")
    assert code == 0, result  # the agent, a larger file, is resident from now on
    code, said = record_under(context, jvm, resource.RLIMIT_FSIZE, 1024)
    assert code == 7 and "File too large" in said and "ulimit -f" in said, (code, said)
    assert not glob.glob(context.path(".jprof-*")), said


# Fills a disk of its own once the recording has a chunk of samples, and gives the caller what is there at the end.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=256k tmpfs "$1"; small=$1; shift
"$@" & recorder=$!
until [ -n "$(find "$small" -name profile.jprof -size +2)" ] || ! kill -0 $recorder; do sleep 0.1; done
cat /dev/zero > "$small/filler" 2>/dev/null
wait $recorder; code=$?
ls -A "$small" > left.txt
rm "$small/filler"; cp "$small"/*.jprof .
exit $code
"""


@check
def a_disk_that_fills_during_the_capture_leaves_a_whole_recording_of_the_time_before(context):
    if os.geteuid() != 0:
        print("  not checked: only root mounts a disk")
        return
    jvm = context.jvm("Known", "shares", "300")
    os.mkdir(context.path("small"))
    try:
        command = [context.arguments.jprof, "record", str(jvm.pid), "--agent", context.arguments.library, "--json", "-d", "100s"]
        command = ["unshare", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", "small", *command, "-o", "small/full.jprof"]
        code, result = context.finish(subprocess.Popen(command, cwd=context.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    finally:
        os.rmdir(context.path("small"))
    assert code == 6 and result["partial"], (code, result)
    assert re.search(r"could not be written: cannot write \S+profile.jprof: No space left on device", result["partialReason"]), result
    assert "make room" in result["cure"], result
    losses = {loss["reason"]: loss for loss in result["losses"]}
    assert losses["could not be written"]["samples"] > 0, result
    assert result["samples"] > 0 and result["accounted"], result  # the agent ended in order
    coverage = result["coverage"]
    total = result["weightNs"] + losses["could not be written"]["weightNs"]
    cpu = coverage["processNs"] - coverage["agentNs"]
    assert abs(total - cpu) <= 0.02 * cpu + 5e6, (total, cpu, result)
    assert context.read("left.txt").split() == [b"filler", b"full.jprof"], context.read("left.txt")
    assert hashlib.sha256(context.read("full.jprof")).hexdigest() == result["files"][0]["sha256"]
    # It is not cut off: it says itself why it ends early.
    said = subprocess.run([context.arguments.jprof, "convert", context.path("full.jprof"), "-o", context.path("full.collapsed")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # fmt: skip
    assert said.returncode == 0, said
    assert folded_total(context.read("full.collapsed")) == result["weightNs"]


@check
def too_few_descriptors_are_named_once(context):
    jvm = context.jvm("Known", "shares", "300")
    for soft, hard in ((4, 4), (8, 8), (16, 16), (32, 32), (33, 33), (48, 48), (63, 63), (4, 63)):
        code, said = record_under(context, jvm, resource.RLIMIT_NOFILE, hard, soft)
        assert code == 9 and "too many open files" in said and f"may have {soft})" in said, (soft, hard, code, said)
        assert "(ulimit -n) to at least 64" in said, said
    for soft, hard in ((64, 64), (4, 64)):  # what the cure says is enough
        code, said = record_under(context, jvm, resource.RLIMIT_NOFILE, hard, soft)
        assert code == 0, (soft, hard, said)


SOCKET = {"x86_64": 41, "aarch64": 198}[platform.machine()]
SOCKETPAIR = {"x86_64": 53, "aarch64": 199}[platform.machine()]


def refuse(number):
    """As a container's seccomp profile would, for this process and its children."""
    allow, refused = 0x7FFF0000, 0x00050000 | errno.EPERM
    filters = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, refused), (0x06, 0, 0, allow)]  # BPF: load, jump if equal, return
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in filters))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(filters), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


@check
def a_seccomp_profile_without_sockets_is_named(context):
    jvm = context.jvm("Idle")
    record = ["record", str(jvm.pid), "--agent", context.arguments.library, "-d", "1s", "-o", "x.jprof"]
    attach = ["attach", str(jvm.pid), "properties"]
    for call, number, command in (("socket", SOCKET, record), ("socket", SOCKET, attach),
                                  ("socketpair", SOCKETPAIR, record), ("socketpair", SOCKETPAIR, attach)):  # fmt: skip
        done = subprocess.run([context.arguments.jprof, *command], cwd=context.directory, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, preexec_fn=lambda: refuse(number))  # fmt: skip
        assert done.returncode == 4, (command, done)
        assert f"the seccomp profile of this container refuses {call}()" in done.stdout and "RuntimeDefault" in done.stdout, done


@check
def serve_tells_of_a_seccomp_profile_without_sockets_and_stays(context):
    places = {"JPROF_SPOOL": context.path("spool"), "JPROF_SOCKET": context.path("serve.sock")}
    serve = subprocess.Popen([context.arguments.jprof, "serve"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, **places}, preexec_fn=lambda: refuse(SOCKET))  # fmt: skip
    try:
        said = next((line for line in serve.stdout if "cannot serve, trying again" in line), "")
        assert "the seccomp profile of this container refuses socket()" in said and "RuntimeDefault" in said, said
        assert serve.poll() is None
        serve.terminate()
        assert serve.wait(timeout=60) == 0
    finally:
        serve.kill()
        serve.communicate()
        shutil.rmtree(context.path("spool"), ignore_errors=True)

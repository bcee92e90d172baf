# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of `jprof record -o A -o B ...` where some of the files cannot be written: the others are, and the recording is somewhere."""

import glob
import os
import re
import shutil
import subprocess

from rig import CHECKS, check, folded_total, wait_until_sampled

__all__ = ["CHECKS"]

# A disk of its own that has no room for a page, and what is in it at the end.
ON_A_TINY_DISK = """
mount -t tmpfs -o size=64k tmpfs tiny
"$@"; code=$?
ls -A tiny > left.txt; cp tiny/.jprof-*/profile.jprof kept.jprof 2>/dev/null
exit $code
"""


def record_on_tiny_disk(context, *outputs):
    jvm = context.jvm("Known", "shares", "300")
    os.mkdir(context.path("tiny"))
    named = [word for output in outputs for word in ("-o", output)]
    command = [context.arguments.jprof, "record", str(jvm.pid), "--agent", context.arguments.library, "--json", "-d", "300ms", *named]
    try:
        return context.finish(subprocess.Popen(["unshare", "--mount", "sh", "-c", ON_A_TINY_DISK, "sh", *command], cwd=context.directory,
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE))  # fmt: skip
    finally:
        os.rmdir(context.path("tiny"))


def paths(result):
    return [file["path"] for file in result.get("files", [])]


@check
def one_file_that_cannot_be_written_keeps_no_other_from_it(context):
    if os.geteuid() != 0:
        print("  not checked: only root mounts a disk")
        return
    code, result = record_on_tiny_disk(context, "ok.jprof", "tiny/a.html", "ok.collapsed", "tiny/b.html")
    assert code == 7 and result["reason"] == "NotStored" and not result["ok"], (code, result)
    assert paths(result) == ["ok.jprof", "ok.collapsed"], result
    for name in ("a", "b"):
        assert f"cannot write tiny/{name}.html: No space left on device" in result["message"], result
    assert "the recording is ok.jprof: jprof convert ok.jprof -o FILE" in result["cure"], result
    assert context.read("left.txt") == b"" and not glob.glob(context.path(".jprof-*")), context.read("left.txt")
    context.convert("ok.jprof", "again.collapsed")
    assert folded_total(context.read("again.collapsed")) == folded_total(context.read("ok.collapsed")) == result["weightNs"]


@check
def a_recording_whose_page_has_no_room_is_kept_without_anything_else(context):
    if os.geteuid() != 0:
        print("  not checked: only root mounts a disk")
        return
    code, result = record_on_tiny_disk(context, "tiny/a.html", "ok.collapsed")
    assert code == 7 and paths(result) == ["ok.collapsed"], (code, result)
    kept = re.search(r"kept in (tiny/\.jprof-\w+)/profile.jprof: jprof convert \1/profile.jprof -o FILE", result["cure"])
    assert kept, result
    assert context.read("left.txt").decode().split() == [os.path.basename(kept[1])]
    context.convert("kept.jprof", "again.collapsed")
    assert folded_total(context.read("again.collapsed")) == folded_total(context.read("ok.collapsed")) == result["weightNs"]


@check
def a_recording_whose_folder_goes_away_is_kept_beside_another_output_or_named_as_lost(context):
    jvm = context.jvm("Known", "shares", "300")
    for others, cure in ((["-o", "ok.collapsed"], r"the recording is kept in (\./\.jprof-\w+/profile\.jprof)"), ([], "the recording is lost")):
        os.mkdir(context.path("gone"))
        process = context.start(jvm.pid, "--json", "-d", "100s", "-o", "gone/x.html", *others)
        wait_until_sampled(jvm.pid)
        shutil.rmtree(context.path("gone"))
        process.send_signal(2)
        code, result = context.finish(process)
        assert code == 7 and paths(result) == others[1:], (code, result)
        assert "cannot write gone/x.html: No such file or directory" in result["message"], result
        kept = re.search(cure, result["cure"])
        assert kept, result
        if others:
            context.convert(kept[1], "again.collapsed")
            assert folded_total(context.read("again.collapsed")) == folded_total(context.read("ok.collapsed")) == result["weightNs"]
            shutil.rmtree(os.path.dirname(context.path(kept[1])))
    assert not glob.glob(context.path(".jprof-*"))

# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of a process and its threads. In a mask of signals bit n - 1 is signal n."""

import os
import re


def _of_threads(pid, read):
    """read(directory of the thread) of each thread but those that end while we look."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            yield read(f"/proc/{pid}/task/{tid}")
        except (FileNotFoundError, ProcessLookupError):
            continue


def _mask(directory, field):
    with open(directory + "/status", encoding="utf-8", errors="replace") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith(field))


def _name(directory):
    with open(directory + "/comm", encoding="utf-8", errors="replace") as name:
        return name.read().strip()


def names_of_threads(pid):
    return _of_threads(pid, _name)


def thread_named(pid, name):
    """The id of the only thread of that name."""
    (tid,) = (int(os.path.basename(directory)) for directory in _of_threads(pid, str) if _name(directory) == name)
    return tid


def state_of(pid, tid):
    """The letter that the kernel has for it."""
    with open(f"/proc/{pid}/task/{tid}/stat") as text:
        return text.read().rpartition(")")[2].split()[0]


def counts_ticks(pid, tid):
    """True if the thread's timer is on the clock that it is to stay on (engines::count_ticks), and no other follows."""
    with open(f"/proc/{pid}/timers") as timers:
        clocks = re.findall(rf"tid\.{tid}\nClockID: (-?\d+)", timers.read())
    return len(clocks) == 1 and int(clocks[0]) & 3 == 0


def children(pid):
    """Processes that its threads have started."""
    def read(directory):
        with open(directory + "/children") as text:
            return [int(child) for child in text.read().split()]

    return [child for found in _of_threads(pid, read) for child in found]


def counted(pid, what):
    """N of the thread named "what-N"."""
    found = (re.fullmatch(rf"{what}-(\d+)", name) for name in names_of_threads(pid))
    return next((int(match[1]) for match in found if match), 0)


def caught_signals(pid):
    """The mask of those that have a handler."""
    return _mask(f"/proc/{pid}", "SigCgt")


def ignored_signals(pid):
    """The mask of those that a program that it starts will ignore, too."""
    return _mask(f"/proc/{pid}", "SigIgn")


def blocked_signals(pid):
    """Each thread's mask."""
    return _of_threads(pid, lambda directory: _mask(directory, "SigBlk"))

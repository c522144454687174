# SPDX-License-Identifier: MIT
"""What this machine and this user allow. A case that needs more raises tap.Skip with the reason."""
import functools
import os
import pty
import shutil
import subprocess
import tempfile
import time

import tap

PATIENCE = 120  # seconds; only a failure takes them

def is_root():
    return os.geteuid() == 0


def children(pid):
    """Processes that @pid has started and that are there."""
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def state(pid):
    """The letter of /proc: R runs or wants to, S sleeps, Z is dead; "": it is gone."""
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def threads(pid):
    """The letters of its threads."""
    return [state("%d/task/%s" % (pid, thread)) for thread in os.listdir("/proc/%d/task" % pid)]


def cpu_seconds(pid):
    """What it has run so far."""
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def peak_mebibytes(pid):
    """The most memory that it had."""
    with open("/proc/%d/status" % pid, encoding="utf-8", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) >> 10


def wait_until(reached, what):
    """@return what @reached() gives, once it is true. The limit is only for failures."""
    end = time.monotonic() + PATIENCE
    while True:
        found = reached()
        if found:
            return found
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.01)


@functools.lru_cache(maxsize=None)
def without_terminals():
    """Why there is no pseudo terminal; "": there is one."""
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError as error:
        return "no pseudo terminal: %s" % error
    return ""


@functools.lru_cache(maxsize=None)
def without_mounts():
    """Why no namespace of mounts can be made and mounted in; "": it can."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", folder], capture_output=True, text=True)
        except OSError as error:
            return str(error)
    return "no right to mount: %s" % done.stderr.strip() if done.returncode else ""


def need_terminal():
    if without_terminals():
        raise tap.Skip(without_terminals())


def need_program(name):
    if not shutil.which(name):
        raise tap.Skip("no " + name)


def need_mounts():
    if without_mounts():
        raise tap.Skip(without_mounts())

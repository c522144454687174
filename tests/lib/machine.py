# SPDX-License-Identifier: MIT
"""What this machine and this user allow. A case that needs more raises tap.Skip with the reason."""
import errno
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


def has_open(pid, path):
    """Whether a descriptor of the process is that file."""
    folder = "/proc/%d/fd" % pid
    try:
        return any(os.path.realpath(os.path.join(folder, name)) == os.path.realpath(path) for name in os.listdir(folder))
    except OSError:
        return False


def is_gone(pid):
    return state(pid) in ("", "Z")


def has_taken(process, number):
    """Whether the process has taken the signals that it was sent, and sleeps again, or is gone."""
    with open("/proc/%d/status" % process.pid, encoding="ascii", errors="replace") as file:
        pending = [int(line.split()[1], 16) for line in file if line.startswith(("SigPnd:", "ShdPnd:"))]
    return not any(bits >> number - 1 & 1 for bits in pending) and state(process.pid) in ("S", "Z")


def first_child(process):
    """The process that it has started, as soon as there is one; 0: it ends before that."""
    def look():
        return [0] if process.poll() is not None else children(process.pid)
    return wait_until(look, "no process is started")[0]


def open_writer(fifo):
    """The writing end of a FIFO, as soon as it is read."""
    def try_it():
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return 0
    return wait_until(try_it, "%s is not read" % fifo)


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


def need_root():
    if not is_root():
        raise tap.Skip("only root changes owners")


def need_mounts():
    if without_mounts():
        raise tap.Skip(without_mounts())

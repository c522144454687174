# SPDX-License-Identifier: MIT
"""What this machine and this user allow. A case that needs more raises tap.Skip with the reason."""
import functools
import os
import pty
import subprocess
import tempfile

import tap


def is_root():
    return os.geteuid() == 0


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


def need_mounts():
    if without_mounts():
        raise tap.Skip(without_mounts())

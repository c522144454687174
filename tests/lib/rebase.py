# SPDX-License-Identifier: MIT
"""When a test may write what it compares with anew: never by itself. Without REBASE, and with REBASE=1, a difference is
shown and fails. REBASE=confirmed writes what differs, REBASE="NAME NAME" only what has one of these names."""
import difflib
import os


def confirmed(name):
    """Whether the user has said that the golden @name is to be written."""
    words = os.environ.get("REBASE", "").split()
    return words == ["confirmed"] or name in words


def difference(name, old, new, hint=True):
    """The difference as text, with how to confirm it; empty if there is none."""
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), name, "now", lineterm=""))
    if lines and hint:
        lines.append('If the new text is right, and why is known: REBASE="%s" writes it, REBASE=confirmed all that differ.' % name)
    return "\n".join(lines)

# SPDX-License-Identifier: MIT
"""Runs the command that the first argument of a script names, in a folder that goes away with it."""
import os
import subprocess
import sys
import tempfile

CPSCOPE = os.path.abspath(sys.argv[1])
FOLDER = tempfile.TemporaryDirectory()


def path(name, content=None):
    """A file of the folder, with @content if there is one."""
    full = os.path.join(FOLDER.name, name)
    if content is not None:
        with open(full, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    return full


def cpscope(*args, status=0, text=None):
    done = subprocess.run([CPSCOPE, *args], capture_output=True, text=True, input=text, timeout=60)
    assert done.returncode == status, "%s: status %d\n%s%s" % (args, done.returncode, done.stdout, done.stderr)
    return done


def keeps_every_form(golden):
    """A trace comes back the same after each form that can be read."""
    before = golden
    for form in (".cpt", ".jsonl", ".trace"):
        cpscope("convert", before, "-o", path("again" + form))
        before = path("again" + form)
    assert open(before).read() == open(golden).read()

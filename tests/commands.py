# SPDX-License-Identifier: MIT
"""Runs the command that the first argument of a script names, in a folder that goes away with it."""
import os
import subprocess
import sys
import tempfile

import tap

CPSCOPE = os.path.abspath(sys.argv[1])
FOLDER = tempfile.TemporaryDirectory()
CORPUS = os.environ.get("CPSCOPE_CORPUS")
HERE = os.path.dirname(os.path.abspath(__file__))
# Real firmware on a real capture, as arguments; of the corpus where a word has no folder.
REAL = {"a6xx": ["--fw", "a630_sqe-190.fw", "fd-clouds.rd.gz"], "a5xx": ["--fw", "a530_pfp.fw", "--fw", "a530_pm4.fw",
        "compute-a540.rd.gz"], "a7xx": ["--fw", "a740_sqe.fw", os.path.join(HERE, "streams", "a7xx.pm4")]}


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


def real(check, name):
    """A case that gives @check the arguments of a row of REAL; it is skipped without a corpus."""
    def case():
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        return check(*[word if word.startswith(("-", "/")) else
                       os.path.join(CORPUS, "firmware" if word.endswith(".fw") else "captures", word) for word in REAL[name]])
    return case

# SPDX-License-Identifier: MIT
"""docs/example-revision.md is true: its commands are run, and what it shows of their output is in it, in order.
Usage: example_revision.py CPSCOPE"""
import os
import re
import subprocess
import tempfile

import tap
from tree import ROOT, STREAMS
from scene import CPSCOPE

CORPUS = os.environ.get("CPSCOPE_CORPUS")
SCRATCH = tempfile.TemporaryDirectory()


def steps():
    """(command, lines that are shown of its output)"""
    text = open(os.path.join(ROOT, "docs", "example-revision.md"), encoding="utf-8").read()
    for block in re.findall(r"(?:^    [^\n]*\n)+", text, re.M):
        lines = [line[4:] for line in block.splitlines()]
        for at, line in enumerate(lines):
            if line.startswith("$ "):
                shown = []
                for follow in lines[at + 1:]:
                    if follow.startswith("$ "):
                        break
                    shown.append(follow)
                yield line[2:], shown


def execute(command):
    command = re.sub(r"\bcpscope\b", CPSCOPE, command)
    command = re.sub(r"(?<=--fw )(\S+)", lambda name: os.path.join(CORPUS, "firmware", name[1]), command)
    command = command.replace("tests/corpus/streams", STREAMS)
    return subprocess.run(command, shell=True, capture_output=True, text=True, cwd=SCRATCH.name, timeout=120)


def check(command, shown):
    def case():
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        done = execute(command)
        assert done.returncode in (0, 1) and (not shown or done.stdout), done
        at = 0
        for line in shown:
            found = done.stdout.find(line.rstrip(), at)
            assert found >= 0, "not printed: %s\n%s" % (line, done.stdout[:2000])
            at = found
        if "181.fw privilege" in command and " run " in command:
            assert "0x30008" not in done.stdout, "the new revision writes the page table"
        return "%d lines" % len(shown)
    return case


tap.run([("'%s'" % command, check(command, shown)) for command, shown in steps()])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the command refuses, what it says then, to the letter, and what it takes right beside: limits at and one above. It runs
in an empty folder, and leaves nothing there but what a refusal names. tests/lib/claimtext.py says how the files read. Keys and sections:

    file NAME       a text                          bytes NAME     32-bit words and bytes in hexadecimal, "text" with \\n for the
    firmware NAME   NAME.fw, assembled from this    end of a line; TOKEN*N is N of them
    demo            demo.fw, demo.afuc and demo.pm4: the built-in open firmware and its capture
    command         what runs, a word list as a shell has it        leaves NAME...  files that are there afterwards
    status N        3, bad input, if nothing is said
    stderr          all that is said; without this section of what is taken nothing is asked

Usage: refusals.py CPSCOPE FILE.txt [NAME...]"""
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import claimtext
import make
import rebase
import tap
from tree import ROOT
from scene import CPSCOPE

DEMO = os.path.join(ROOT, "fw", "demo")
KEYS = ("why", "use", "file", "bytes", "firmware", "demo", "command", "leaves", "status", "stderr")


def token(word):
    times = re.match(r"(.*)\*(\d+)$", word, re.S)
    if times:
        return token(times.group(1)) * int(times.group(2))
    if re.fullmatch("[0-9a-f]{8}", word):
        return struct.pack("<I", int(word, 16))
    if re.fullmatch("[0-9a-f]{2}", word):
        return bytes([int(word, 16)])
    return word.replace("\\n", "\n").encode()


def contents(section):
    """Bytes of a file."""
    lines = section.of("")
    if section.words[0] == "file":
        return "".join(line + "\n" for line in lines).encode()
    return b"".join(token(word) for line in lines for word in shlex.split(line))


def write_files(refusal, folder):
    for section in refusal.sections:
        name = os.path.join(folder, section.words[-1])
        if section.words[0] in ("file", "bytes"):
            with open(name, "wb") as file:
                file.write(contents(section))
        elif section.words[0] == "firmware":
            make.firmware(CPSCOPE, name, contents(section).decode() if section.words[0] == "file" else "\n".join(section.of("")) + "\n")
            os.unlink(name + ".afuc")
        elif section.words[0] == "demo":
            for copy in ("demo_sqe.afuc", "demo.pm4"):
                shutil.copy(os.path.join(DEMO, copy), os.path.join(folder, copy.replace("_sqe", "")))
            subprocess.run([CPSCOPE, "asm", "demo.afuc", "-o", "demo.fw"], cwd=folder, check=True)


def listing(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


class Result:
    """@difference: of stderr, whose lines are @said then; @problem: anything else."""

    def __init__(self, refusal):
        self.claim, self.problem, self.difference, self.said = refusal, "", "", None
        try:
            with tempfile.TemporaryDirectory() as scratch:
                os.mkdir(os.path.join(scratch, "here"))
                self.check(os.path.join(scratch, "here"), os.path.join(scratch, "cache"))
        except Exception as error:  # pylint: disable=broad-except
            self.problem = str(error) or repr(error)

    def check(self, folder, cache):
        refusal = self.claim
        write_files(refusal, folder)
        before = listing(folder)
        words = shlex.split(" ".join(refusal.lines("command", "")) or refusal.text("command"))
        done = subprocess.run([CPSCOPE, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, "XDG_CACHE_HOME": cache})
        wanted = int(refusal.text("status", "3"))
        if done.returncode != wanted:
            self.problem = "status %d, expected %d\n%s" % (done.returncode, wanted, done.stderr)
        expected = "\n".join(refusal.lines("stderr", ""))
        if (refusal.all("stderr") or wanted) and done.stderr.rstrip("\n") != expected:
            self.said = done.stderr.rstrip("\n").split("\n")
            self.difference = rebase.difference(refusal.name, expected, done.stderr)
        left = sorted(before + refusal.text("leaves").split())
        if listing(folder) != left:
            self.problem += "\nfiles afterwards: %s, expected: %s" % (listing(folder), left)


def write_confirmed(results):
    """Writes messages that the user has confirmed. Returns of which refusals."""
    written = set()
    for result in sorted(results, key=lambda one: -one.claim.number):
        if result.said is not None and rebase.confirmed(result.claim.name) and result.claim.all("stderr"):
            claimtext.rewrite(result.claim.path, result.claim.all("stderr")[0], result.said)
            written.add(result.claim)
    return written


def main():
    refusals = claimtext.named(claimtext.read(sys.argv[2], KEYS), sys.argv[3:])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(Result, refusals))
    tap.finish(results, write_confirmed(results), lambda result: result.claim.name)


if __name__ == "__main__":
    main()

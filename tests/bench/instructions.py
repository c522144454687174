# SPDX-License-Identifier: MIT
"""Counts the instructions of our own code under callgrind and compares them with those on record:
more than 5 % above fails. REBASE=confirmed, or REBASE=instructions, writes the record anew.

Counts are those of release builds by the compiler that the record names; libraries are not counted,
because they choose their code by the processor. Usage: instructions.py CPSCOPE DEMO.afuc RECORD COMPILER"""
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

import make
import rebase
import tap

CPSCOPE, DEMO, RECORD, COMPILER = sys.argv[1:]
MOST = 1.05


def capture(path, submissions):
    """Register writes of several lengths, and a buffer that nobody reads."""
    rng = random.Random(1)
    with open(path, "wb") as out:
        out.write(make.chip(630))
        for _ in range(submissions):
            stream = []
            for count in (1, 2, 3, 5, 13, 60) * 10:
                stream += make.type4(0x8800, *[rng.getrandbits(32) for _ in range(count)])
            for iova, words in ((0x200000, [7] * 4096), (0x100000, stream)):
                out.write(make.buffer(iova, make.dwords(words)))
            out.write(make.submit(0x100000, len(stream)))


def matrix(folder, captures):
    """MANIFEST: two revisions of the demo firmware over small captures."""
    rng = random.Random(2)
    make.revisions(CPSCOPE, DEMO, folder, *make.EVENT_CMD)
    for i in range(captures):
        words = []
        for length in (1, 2, 3, 1, 13):
            words += make.type4(0x8800, *[rng.getrandbits(32) for _ in range(length)])
        with open(os.path.join(folder, "%02d.rd" % i), "wb") as out:
            out.write(make.capture(words))
    with open(os.path.join(folder, "MANIFEST"), "w", encoding="utf-8") as out:
        out.write("# cpscope-manifest 1\nfirmware old old.fw\nfirmware new new.fw\nbaseline old\ncapture *.rd\n")


def count(path):
    """Instructions that a callgrind file counts in the program itself."""
    names, here, skip, total = {}, None, False, 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("ob=", "cob=")):
                number, _, name = line.partition("=")[2].strip().partition(" ")
                names.setdefault(number, name)  # the file names each object once
                here = os.path.basename(names[number]) if line[0] == "o" else here
            elif line.startswith("calls="):
                skip = True  # the next line is the cost of the callee
            elif line[:1] in "+-*0123456789" and here == os.path.basename(CPSCOPE):
                total += 0 if skip else int(line.split()[1])
                skip = False
            elif line[:1] in "+-*0123456789":
                skip = False
    return total


def measure(scratch, *arguments):
    out = os.path.join(scratch, "callgrind")
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out + ".%p", CPSCOPE,
                           *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return sum(count(path) for path in glob.glob(out + ".*"))  # of each process that it forked, too


CASES = [
    ("run without events", ["run", "--json", "--demo", "CAPTURE"]),
    ("run into a .cpt trace", ["run", "--demo", "CAPTURE", "-o", "OUT.cpt"]),
    ("run into a text trace", ["run", "--demo", "CAPTURE", "-o", "OUT.txt"]),
    ("run with single steps", ["run", "--demo", "-e", "all", "-o", "OUT.cpt"]),
    ("regress of small captures", ["regress", "MANIFEST", "--no-cache", "--jobs", "1"]),
    ("assemble", ["asm", DEMO, "-o", "OUT.fw"]),
]


def read_record():
    with open(RECORD, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return dict(rows)


def case(name, arguments, found):
    def body():
        if not shutil.which("valgrind"):
            raise tap.Skip("no valgrind")
        with tempfile.TemporaryDirectory() as scratch:
            capture(os.path.join(scratch, "CAPTURE"), 20)
            if "MANIFEST" in arguments:
                matrix(scratch, 32)
            words = [os.path.join(scratch, word) if word.isupper() or word.startswith("OUT") else word
                     for word in arguments]
            found[name] = measure(scratch, *words)
        if rebase.confirmed("instructions"):
            return "%d" % found[name]
        record = read_record()
        if record["compiler"] != COMPILER:
            raise tap.Skip("the record is for " + record["compiler"])
        ratio = found[name] / int(record[name])
        assert ratio <= MOST, "%d instructions, %s on record: %.1f %% more" % (
            found[name], record[name], 100 * ratio - 100)
        return "%d instructions, %+.1f %%" % (found[name], 100 * ratio - 100)
    return body


def main():
    found = {}
    try:
        tap.run([(name, case(name, arguments, found)) for name, arguments in CASES])
    finally:
        if rebase.confirmed("instructions"):
            with open(RECORD, "w", encoding="utf-8") as file:
                file.write("# Instructions of our own code under callgrind: tests/bench/instructions.py\n")
                file.write("compiler\t%s\n" % COMPILER)
                file.writelines("%s\t%d\n" % row for row in found.items())


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are cut to half their size while a command reads them: it says what is missing, or the result
is that of the whole file, or that of the half.

Usage: changing.py CPSCOPE INJECT.so [--long] [--only TEXT]"""
import gzip
import os
import shutil
import subprocess
import sys

import make
import suite
from faults import Case, Tally, instants
from judge import lines_of_error
from tree import GROW

FIRST, SAMPLE = 12, 12
# The file that is cut, and the command that reads it.
COMMANDS = (
    ("large.rd", ["run", "--demo", "large.rd", "-o", "o.cpt"]),
    ("large.rd", ["info", "--json", "large.rd"]),
    ("large.rd.gz", ["run", "--demo", "large.rd.gz", "-o", "o.trace"]),
    ("large.cpt", ["convert", "large.cpt", "-o", "o.trace"]),
    ("large.trace", ["convert", "large.trace", "-o", "o.cpt"]),
    ("large.trace", ["diff", "large.trace", "large.cpt"]),
    ("large.jsonl", ["info", "large.jsonl"]),
    ("old.afuc", ["asm", "old.afuc", "-o", "o.fw"]),
    ("old.elf", ["disasm", "old.elf"]),
    ("old.fw", ["run", "--fw", "old.fw", "a.pm4", "-o", "o.cpt"]),
    ("a.pm4", ["run", "--demo", "a.pm4", "-o", "o.cpt"]),
    ("old.fw", ["regress", "manifest.txt", "-o", "report", "--no-cache", "--jobs", "1"]),
    ("manifest.txt", ["regress", "manifest.txt", "-o", "report", "--no-cache", "--jobs", "1"]),
)


def inputs(runner):
    def path(name):
        return os.path.join(runner.scene, name)
    subprocess.run([sys.executable, GROW, "--make", "2", path("large.rd")], check=True)
    with open(path("large.rd"), "rb") as file, gzip.open(path("large.rd.gz"), "wb") as out:
        out.write(file.read())
    for form in make.FORMS:
        subprocess.run([runner.cpscope, "run", "--demo", path("large.rd"), "-o", path("large." + form)], check=True,
                       stderr=subprocess.DEVNULL)


def outcome(result, given):
    """Status and all that was made."""
    return result.status, result.out, {name: data for name, data in result.files.items() if name not in given}


def one(runner, name, arguments, args):
    given = sorted({word for _, words in COMMANDS for word in words
                    if os.path.isfile(os.path.join(runner.scene, word))} | {"old.fw", "new.fw", "a.pm4", "b.pm4"})
    case = Case(name, arguments, copies=tuple(given))
    whole = outcome(runner.run(case), given)
    room = runner.room(case)
    os.truncate(os.path.join(room, name), os.path.getsize(os.path.join(room, name)) // 2)
    half = outcome(runner.run(case, room=room), given)
    count = runner.run(case, {"CALL": "read", "AT": 0}).calls
    wrong, numbers = [], range(1, count + 1) if args.long else instants(count, FIRST, SAMPLE, 1)
    for number in numbers:
        room = runner.room(case)
        got = runner.run(case, {"CALL": "read", "AT": number, "CUT": os.path.join(room, name)}, room=room)
        now = outcome(got, given)
        what = "in front of read %d of %d" % (number, count)
        if got.status < 0:
            wrong.append((what, "status", "signal %d" % -got.status))
        elif any(part.endswith(".tmp") for part in now[2]):
            wrong.append((what, "leftover", str(list(now[2]))))
        elif now not in (whole, half) and not (got.status in (3, 4) and ("regress" in arguments or len(lines_of_error(got.err)) == 1)):
            wrong.append((what, "lost", "status %d %s" % (got.status, got.err[-200:])))
    return len(numbers), wrong


def main():
    args = suite.arguments()
    tally = Tally("changing files")

    def body(runner):
        inputs(runner)
        for name, arguments in COMMANDS:
            title = "%s, cut for %s" % (name, arguments[0])
            if args.only in title:
                tally.case(title, *one(runner, name, arguments, args))
        shutil.rmtree(runner.scene)

    suite.open_scene(args, body)
    tally.end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No room of the product has more lines than its row of tests/budget.tsv, and no row allows more than 2 % above what is there.
A room is a folder of the first or second level. Usage: budget.py [--write]; --write lowers rows, adds those of new rooms and
removes those of rooms that are gone. Only a person raises a row, in the commit that needs the lines and says for whom."""
import collections
import os
import sys

import tap
from tree import ROOT, TESTS

FILE = os.path.join(TESTS, "budget.tsv")
TOPS = ("isa", "fw", "trace", "emu", "tools")
SOURCES = (".c", ".h", ".def", ".js", ".css")
SLACK = 1.02
HEAD = "# Most lines (.c .h .def .js .css) of each room: tests/house/budget.py\n"


def count():
    """{room: lines}"""
    lines = collections.Counter()
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            room = "/".join(os.path.relpath(folder, ROOT).split(os.sep)[:2])
            for name in names:
                if name.endswith(SOURCES):
                    with open(os.path.join(folder, name), "rb") as file:
                        lines[room] += file.read().count(b"\n")
    return lines


def read():
    if not os.path.exists(FILE):
        return {}
    with open(FILE, encoding="utf-8") as file:
        return {room: int(most) for room, most in (line.split("\t") for line in file if not line.startswith("#"))}


def write(lines, rows):
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join("%s\t%d\n" % (room, min(lines[room], rows.get(room, lines[room]))) for room in sorted(lines)))


def main():
    lines, rows = count(), read()
    if "--write" in sys.argv:
        write(lines, rows)
        print("%d lines in %d rooms" % (sum(lines.values()), len(lines)))
        return
    for room in sorted(lines.keys() | rows.keys()):
        there, most = lines.get(room, 0), rows.get(room)
        problem = "a new room: --write adds its row" if most is None else "no such room: --write removes its row" if not there else \
            "%d lines, at most %d" % (there, most) if there > most else \
            "%d lines, the row allows %d: --write lowers it" % (there, most) if most > there * SLACK else ""
        tap.report("%s has the lines that its row allows" % room, not problem, problem)
    tap.plan()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tests' walker covers, as docs/testing.md has it: pm4table.py prints the tables."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pm4ops
import pm4random

MEANINGS = {pm4ops.WALK: "what is executed", pm4ops.DATA: "each write", pm4ops.DRAW: "which groups", pm4ops.OPEN: "open"}


def spans(generations):
    return "a%sxx" % generations if len(generations) == 1 else "a%sxx to a%sxx" % (generations[0], generations[-1])


def generated(name, generations):
    found = [one for one in generations if name in pm4random.GENERATED and not
             (one == "5" and name in pm4random.NOT_ON_A5XX)]
    return spans("".join(found)) if found else "-"


def packet_table():
    lines = ["| packet | predicted on | predicted | random streams |", "| --- | --- | --- | --- |",
             "| type 4 | a5xx to a8xx | each write | a5xx to a8xx |"]
    for name, _, meaning, generations, _ in pm4ops.ROWS:
        if meaning in MEANINGS and meaning != pm4ops.OPEN:
            lines.append("| %s | %s | %s | %s |" % (name, spans(generations), MEANINGS[meaning], generated(name, generations)))
    return "\n".join(lines)


def open_table():
    lines = ["| packet | why what it writes stays open |", "| --- | --- |"]
    return "\n".join(lines + ["| %s | %s |" % (row[0], row[4]) for row in pm4ops.ROWS if row[2] == pm4ops.OPEN])


def firmware_table():
    lines = ["| packet | document | firmware | its code |", "| --- | --- | --- | --- |"]
    return "\n".join(lines + ["| %s, %s | %s | %s | %s |" % (name, spans(generations), document, firmware, code)
                              for name, generations, document, firmware, code in pm4ops.FIRMWARE])


if __name__ == "__main__":
    print("\n\n".join((packet_table(), open_table(), firmware_table())))

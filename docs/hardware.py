#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Expands the behaviour tables of emu/ into docs/hardware.md, between its markers.

Usage: hardware.py ROOT [--check]; with --check it only says whether the page is up to date.
"""
import csv
import os
import re
import sys

TABLES = {
    "control": ("afuc/ctrl.def", "CTRL", ["register", "PFP", "ME", "a6xx", "a7xx", "a750", "count",
                                          "read", "write", "evidence"]),
    "pipe": ("afuc/pipe.def", "PIPE_REG", ["register", "a5xx", "a6xx", "a7xx", "no payload", "write",
                                           "evidence"]),
    "gpu": ("afuc/gpu.def", "GPU_REG", ["register", "generation", "first", "last", "read",
                                       "write", "evidence"]),
    "nvidia": ("nv/reg.def", "NV_REG", ["whose", "chips", "first", "last", "read", "write",
                                        "evidence"]),
    "flags": ("nv/hwsq_flag.def", "HWSQ_FLAG", ["flag", "chips", "doubtful on", "register", "second",
                                             "bit", "evidence"]),
    "policies": ("policy.def", "POLICY", ["engines", "field", "name", "words", "default", "meaning"]),
    "pfifo": ("nv/pfifo.def", "PFIFO_REG", ["chips", "first", "count", "stride", "name", "member", "written",
                                         "read as", "read", "effect", "evidence"]),
    "pushes": ("nv/pfifo.def", "PFIFO_PUSH", ["line", "result", "reason", "condition", "meaning"]),
    "vp1": ("nv/vp1/sr.def", "VP1_SR", ["first", "last", "chips", "`mov`", "host", "mask", "at first", "read",
                                     "write", "known", "evidence"]),
    "unknown": ("../trace/event.def", "UNKNOWN", ["row", "word", "what it is, and what happens"]),
}


def rows(path, macro):
    for line in open(path):
        match = re.match(r"%s\((.*)\)\s*$" % macro, line)
        if match and '"' in match.group(1):
            cells = next(csv.reader([match.group(1)], skipinitialspace=True))
            yield [c.strip().replace("NA", "-").replace("|", "\\|") if c.strip() == "NA"
                   else c.strip().replace("|", "\\|") for c in cells]


GENERATIONS = {"G6U": "a6xx a7xx a8xx", "G5": "a5xx", "G6": "a6xx",
               "GHWSQ": "nv17 nv41 g80 g92", "GSEQ": "seq", "G41": "nv41 g80 g92 seq", "GANY": "all",
               "GPRE": "nv17 nv41", "GPFIFO": "pfifo", "G1": "nv1", "G3": "nv3 nv3t",
               "G3T": "nv3t", "G13": "nv1 nv3", "GALL": "all", "GVP1": "vp1", "GTIMED": "hwsq seq vp1", "GG80": "vp1 g80", "GOLD": "vp1 nv41 nv44",
               "GNV1": "nv1", "G3O": "nv3", "GNV17": "nv17", "GNV41": "nv41", "G92": "g92"}


def table(root, name):
    file, macro, head = TABLES[name]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for cells in rows(os.path.join(root, "emu", file), macro):
        cells = [GENERATIONS.get(cell, cell) for cell in cells]
        if name == "policies":
            cells[0] = cells[0].lower().replace(" \\|", "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    root = sys.argv[1]
    page = os.path.join(root, "docs", "hardware.md")
    old = open(page).read()
    new = re.sub(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)",
                 lambda m: m.group(1) + table(root, m.group(2)) + m.group(3), old, flags=re.S)
    if "--check" in sys.argv:
        sys.exit("docs/hardware.md is not what the tables say: run docs/hardware.py ." if new != old
                 else 0)
    open(page, "w").write(new)


main()

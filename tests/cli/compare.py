#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`compare` of the debugger finds what `diff` finds between the firmware and a file that has the same instruction changed.
Usage: compare.py CPSCOPE"""
import json
import os
import re
import struct
import subprocess

import tap
from scene import CORPUS, CPSCOPE, REAL, cpscope, path, run
from tree import DEMO, DEMO_STREAM

KINDS = "reg,pipe,memw,exit,method"  # what compare compares; its runs have no END


def session(args, *commands, status=0):
    out = cpscope("step", *args, text="\n".join(commands) + "\n", status=status)
    return [(part + "\n").split("\n", 1)[1].strip("\n") for part in ("\n" + out.stdout).split("\n> ")[1:]], out.stderr


def changed_file(firmware, address, word):
    """The instruction at @address, in dwords of the image, is another one; a word stands in front of the image."""
    data = bytearray(open(firmware, "rb").read())
    struct.pack_into("<I", data, 4 + 4 * address, word)
    return path("changed.fw", bytes(data))


def by_diff(args, firmware, changed, capture):
    done = run("diff", "--fw", firmware, *args, "--fw", changed, *args, capture, "--json", "-e", KINDS)
    rows = json.loads(done.stdout)
    rows = rows if isinstance(rows, list) else rows.get("captures", rows.get("comparisons", [rows]))
    return sum(row["differences"] for row in rows)


def same_as_diff(firmware, capture, place, instruction, more=()):
    """@more: firmware behind the one that is patched."""
    start, _ = session(["--fw", firmware, *more, capture], "patch %s: %s" % (place, instruction), "x/1i " + place, "compare 9999",
                       "compare 9999")
    address, word = re.search(r"^=?>?[ *]*([0-9a-f]{4}) ([0-9a-f]{8}) ", start[1], re.M).groups()
    said = re.search(r"^(?:no write differs|(\d+) differences?, unchanged)", start[2], re.M)
    assert said and start[2] == start[3], start[2]
    other = by_diff(more, firmware, changed_file(firmware, int(address, 16), int(word, 16)), capture)
    assert int(said.group(1) or 0) == other, "diff says %d\n%s" % (other, start[2])
    return start[2]


def demo():
    return cpscope("asm", DEMO, "-o", path("demo.fw")) and path("demo.fw")


def writes():
    for instruction in ("xor $data, $02, 0x13", "nop", "xor $data, $02, 0x3"):
        out = same_as_diff(demo(), DEMO_STREAM, "CP_MEM_WRITE+2", instruction)
    assert "no write differs" in out, out
    assert "CP_MEM_WRITE: " in same_as_diff(demo(), DEMO_STREAM, "CP_MEM_WRITE+2", "mov $data, 0x40")


def nothing_changed():
    _, err = session(["--demo"], "compare", "si", "compare x", "compare 0", status=3)
    assert err.count("nothing has been changed") == 1 and err.count("expected a number from 1") == 2, err


def stands():
    """The session itself stays where it is, and may stand behind the change or in front of others."""
    out, _ = session(["--demo"], "tb CP_MEM_WRITE", "c", "set $02 = 7", "p step", "compare", "p step",
                     "si 3", "compare", "rs 2", "p $02", "compare")
    assert out[3] == out[5], out
    assert all("unchanged: " in out[i] and "changed: " in out[i] for i in (4, 7, 10)), out


def stuck():
    out, _ = session(["--demo"], "patch CP_NOP: jump #CP_NOP", "patch CP_NOP+1: nop", "compare")
    assert re.search(r"^unchanged: \d+ events, reaches the end\nchanged: \d+ events, deadlocks at sqe ", out[2], re.M), out[2]
    assert re.search(r"^\d+ differences, unchanged -> changed:", out[2], re.M), out[2]


def endless():
    """Firmware that neither stops nor stands still is ended by the limit."""
    done = subprocess.run([CPSCOPE, "step", "--demo", "-l", "100k"], capture_output=True, text=True, timeout=60,
                          input="patch CP_NOP: add $02, $02, 0x1\npatch CP_NOP+1: jump #CP_NOP\npatch CP_NOP+2: nop\ncompare\n")
    assert done.returncode == 4 and "was interrupted" in done.stdout, (done.returncode, done.stdout, done.stderr)


def real(name):
    def case():
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        words = [word if word.startswith(("-", "/")) else os.path.join(CORPUS, "firmware" if word.endswith(".fw") else "captures", word)
                 for word in REAL[name]]
        firmware, capture, more = words[1], words[-1], words[2:-1]
        same_as_diff(firmware, capture, "CP_EVENT_WRITE", "mov $02, 0x4", more)
    return case


tap.run([
    ("the same differences as of a changed file", writes),
    ("without a change it says so", nothing_changed),
    ("the session stays where it is", stands),
    ("a deadlock of one side is said", stuck),
    ("the limit ends what does not end", endless),
    ("real firmware, a6xx", real("a6xx")),
    ("real firmware, a5xx", real("a5xx")),
    ("real firmware, a7xx", real("a7xx")),
])

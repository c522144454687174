#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A debugging session on real firmware: to CP_SET_DRAW_STATE, into the draw state, back, who wrote what; and
one on the demo with its source. Usage: corpus_step.py CPSCOPE"""
import os
import re
import subprocess
import tempfile

import make
import tap
from scene import CORPUS, CPSCOPE, run
from tree import DEMO

DRAW = "captures/dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"


def session(args, *commands):
    """What each command printed."""
    done = subprocess.run([CPSCOPE, "step", *args], input="\n".join(commands) + "\n", text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [(part + "\n").split("\n", 1)[1].strip("\n") for part in ("\n" + done.stdout).split("\n> ")[1:]]


def real():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    args = ["--fw", os.path.join(CORPUS, "firmware/a680_sqe.fw"), os.path.join(CORPUS, DRAW)]
    out = session(args, "b CP_SET_DRAW_STATE", "c", "info packet", "info registers", "disable 1",
                  "b pkt:@sds", "c", "bt", "info packet", "goto 0", "enable 1", "c", "info registers",
                  "rstep", "step", "info registers", "delete", "w PC_DRAWCALL_CNTL", "c", "p PC_DRAWCALL_CNTL", "who PC_DRAWCALL_CNTL", "step",
                  "who PC_DRAWCALL_CNTL")
    assert "breakpoint 1, CP_SET_DRAW_STATE" in out[1] and "=>*" in out[1], out[1]
    assert re.match(r"7043\w+ CP_SET_DRAW_STATE, opcode 0x43, \d+ dwords, ib\d 0x", out[2]), out[2]
    assert "PKT sds " in out[6], out[6]
    assert re.search(r"^sds +0x", out[7], re.M) and re.search(r"^ib1 +0x", out[7], re.M), out[7]
    assert ", sds 0x" in out[8], out[8]
    assert "breakpoint 1" in out[11], out[11]

    def plain(text):
        return text.replace("*", " ")
    assert plain(out[12]) == plain(out[3]) == plain(out[15]), (out[3], out[12], out[15])
    value = re.match(r"0x(\w+)", out[19]).group(1)
    assert "REG 0x9e0b 0x%s" % value in out[18] and "REG 0x9e0b 0x%s" % value in out[20], out[20]
    assert re.search(r"^  in PKT ib\d 0x", out[20], re.M), out[20]
    assert out[22] == out[20], (out[20], out[22])


def source():
    with tempfile.TemporaryDirectory() as folder:
        elf = os.path.join(folder, "demo.elf")
        done = run("asm", "-g", DEMO, "-o", elf)
        if "without" in done.stderr:
            return
        lines = open(DEMO).read().split("\n")
        number = next(i for i, line in enumerate(lines, 1) if "one below:" in line)
        out = session(["--fw", elf, "--demo"], "b demo_sqe.afuc:%d" % number, "c", "l drop_packet 2")
        assert "demo_sqe.afuc:%d" % number in out[1], out[1]
        assert "%d\t%s" % (number, lines[number - 1]) in out[1], out[1]
        assert "drop_packet" in out[2] or "CP_" in out[2], out[2]


def shared():
    """What several packets' handler is called: as the one that runs."""
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "stream.pm4")
        with open(capture, "w") as file:
            file.write(make.pm4("CP_SET_MODE 1", "CP_NOP 0", "reg 0x830 1"))
        firmware = os.path.join(folder, "demo")
        make.firmware(CPSCOPE, firmware, open(DEMO).read())
        out = session(["--fw", firmware + ".fw", capture], "b CP_SET_MODE", "b PKT4", "c", "step", "c", "c")
    for text, name in ((out[2], "CP_SET_MODE"), (out[3], "CP_SET_MODE+0x1"), (out[4], "CP_NOP"), (out[5], "PKT4")):
        assert re.search(r"^step .* sqe [0-9a-f]{4} %s$" % re.escape(name), text, re.M), (name, text)


tap.run([("a shared handler is called as the packet that runs", shared),
         ("to CP_SET_DRAW_STATE, into the draw state and back, who wrote a register", real),
         ("lines of source with their comments", source)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command calls a place of code by the same name, the best one (fw/image/place.h): PKT4 is not UNKN2, a shared
handler is the packet's that runs, and what is refused is in `error_handler`. Usage: places.py CPSCOPE"""
import json
import os
import re

import make
import tap
from scene import CPSCOPE, cpscope, path
from tree import DEMO

REFUSED, MODE = 0xdeadd00d, "CP_SET_MODE 1"  # no header; a packet that shares a handler with CP_NOP


def said(*args, status=0, text=""):
    done = cpscope(*args, status=status, text=text)
    return done.stdout + done.stderr


def put(name, *lines):
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(make.pm4(*lines))
    return path(name)


def has(text, pattern):
    assert re.search(pattern, text, re.M), "no %s in %s" % (pattern, text)


def ends():
    for command in (["run", "-o", os.devnull], ["profile"], ["reduce", "--no-cache", "-o", path("small.pm4")]):
        text = said(*command, "--fw", FW, BAD, status=0 if command[0] == "reduce" else 4)
        has(text, r"at 0x[0-9a-f]{4} \(error_handler\+0x\w\): the firmware reported error")
    why = json.loads(said("run", "--json", "-o", os.devnull, "--fw", FW, BAD, status=4))["why"]
    has(why, r"^at 0x[0-9a-f]{4} \(error_handler\+0x\w\): ")


def session():
    text = said("step", "--fw", FW, BAD, text="c\nbt\nb error_handler+1\nb UNKN3\nb PKT4\nb CP_SET_MODE\nc\n")
    has(text, r"sqe [0-9a-f]{4} error_handler\+0x")
    has(text, r"^breakpoint 1, error_handler\+1: [0-9a-f]{4} error_handler\+0x1$")
    assert len(set(re.findall(r"^breakpoint [23], \w+: ([0-9a-f]{4} PKT4)$", text, re.M))) == 1, text


def listing():
    text = said("disasm", FW)
    has(text, r"\n\nPKT4:\nUNKN2:\nUNKN3:\n")
    has(text, r"\n\nCP_NOP:\nCP_SKIP")
    has(text, r"\n\nerror_handler:\nUNKN0:\nUNKN1:\n")
    assert not re.search(r"#UNKN|#CP_S", text) and "#error_handler" in text, text


def covered():
    text = said("cover", "--unreached", "--fw", FW, GOOD)
    has(text, r" [0-9a-f]{4} PKT4, UNKN2, \.\.\.$")
    has(text, r" [0-9a-f]{4} CP_NOP, CP_S\w+, \.\.\.$")
    has(text, r" [0-9a-f]{4} error_handler, CP_\w+, \.\.\.$")
    has(text, r"^sqe [0-9a-f]{4}\.\.[0-9a-f]{4} error_handler: the packet did not come$")
    said("cover", "--fw", FW, GOOD, "-o", path("cover.info"))
    functions = re.findall(r"^FNDA:(\d+),(\S+)$", open(path("cover.info")).read(), re.M)
    assert ("1", "PKT4") in functions and ("0", "error_handler") in functions and ("4", "CP_NOP") in functions, functions


def origins():
    has(said("why", "--fw", FW, GOOD, "0x8810"), r"written to 0x8810 \S+ by sqe at pc 0x[0-9a-f]{4} PKT4\+0x1 `")
    chain = json.loads(said("why", "--json", "--fw", FW, GOOD, "0x8810"))
    assert "PKT4+0x1" in json.dumps(chain), chain


def proofs():
    text = said("prove", "--no-cache", "--all", "--fw", FW, "--fw", FW, "PKT4", "error_handler", "CP_SET_MODE", "-o", path("proofs"))
    for pattern in (r"^sqe:PKT4 and 2 more: same code$", r"^sqe:error_handler of \d+ packets: same code$", r"^sqe:CP_NOP and \d+ more: same code$"):
        has(text, pattern)
    rows = json.load(open(path("proofs/results.json")))["handlers"]
    assert [row.get("name") for row in rows].count("error_handler") == 1 and len(rows) == 3, rows


def changed():
    source = open(DEMO, encoding="utf-8").read()
    for name, old, new in (("PKT4", "ushr $usraddr, $01, 0x8\n        (rep)", "ushr $usraddr, $01, 0x9\n        (rep)"),
                           ("CP_NOP", "drop_packet:\n        (rep)(xmov3)", "drop_packet:\n        (rep)(xmov2)")):
        assert source.count(old) == 1, old
        make.firmware(CPSCOPE, path("new"), source.replace(old, new))
        text = said("diff", "--all", "--fw", FW, "--fw", path("new.fw"), GOOD, status=(0, 1))
        has(text, r"^  %s: changed, " % name)


def labels():
    """A label of the source comes before all but the packet that runs."""
    make.firmware(CPSCOPE, path("named"), open(DEMO, encoding="utf-8").read())
    with open(path("names.txt"), "w") as file:
        at = re.search(r"^ +0x10 (0x\w+) CP_NOP$", said("info", FW), re.M)[1]
        file.write("%s drop\n" % at)
    text = said("step", "--symbols", path("names.txt"), "--fw", FW, GOOD, text="b drop\nc\nc\nc\n")
    has(text, r"^breakpoint 1, drop: \w+ drop$")
    has(text, r"^step .* sqe [0-9a-f]{4} CP_SET_MODE$")
    has(text, r"^step .* sqe [0-9a-f]{4} CP_NOP$")
    has(said("disasm", "--symbols", path("names.txt"), FW), r"#drop\b")


make.firmware(CPSCOPE, path("demo"), open(DEMO, encoding="utf-8").read())
FW = path("demo.fw")
GOOD = put("good.pm4", MODE, "CP_NOP 0", "reg 0x8810 1")
BAD = put("bad.pm4", MODE, "reg 0x8810 1", ".word 0x%x 0" % REFUSED)
tap.run([("a run says in which handler it ended", ends), ("the debugger shows names, and takes what it shows", session),
         ("the listing has the best name first", listing), ("coverage is by handler", covered),
         ("where a value comes from", origins), ("proofs", proofs), ("places that a revision changed", changed),
         ("labels of the source", labels)])

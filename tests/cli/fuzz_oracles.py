#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fuzz`: each oracle finds the handler that has its flaw, once, and nothing in the one next to it. The demo firmware gets handlers
with flaws of known kinds. Usage: fuzz_oracles.py CPSCOPE"""
import json
import os

import claimfw
import make
import tap
from scene import CPSCOPE, path, run
from tree import DEMO

END = "        waitin\n        mov $01, $data\n"
SKIP = "        (rep)mov $00, $data\n" + END
# The driver's third word, 0x20000000, switches the protected mode on.
ME_INIT = "\nCP_ME_INIT:\n        mov $14, $data\n"
# Returns to a dword far behind the image.
LOST = " mov $02, 0x1\n swrite $02, [$00 + %SP]\n mov $02, 0x7000\n swrite $02, [$00 + 0x008]\n ret\n nop\n"
# Goes on in another stream on the same level: the mark at the end of this one is taken as data.
CHAIN = " mov $02, $data\n mov $03, $data\n mov $04, $data\n cwrite $02, [$00 + @IB1_BASE]\n cwrite $03, [$00 + @IB1_BASE+0x1]\n" \
    " cwrite $04, [$00 + @IB1_DWORDS]\n mov $00, $data\n" + END

# packet, code, its payload, what is found
FLAWS = (
    (0x60, "again:\n mov $02, 0x1\n jump #again\n mov $03, 0x2\n", "", ["hang"]),
    (0x61, "stop:\n jump #stop\n nop\n", "", ["halt"]),
    (0x62, " cwrite $00, [$00 + @WFI_PEND_INCR]\nwait:\n cread $02, [$00 + @WFI_PEND_CTR]\n nop\n jump #wait\n nop\n", "", ["waits"]),
    (0x76, " mov $05, 0x1\ncount:\n add $05, $05, 0x1\n jump #count\n nop\n", "", ["endless"]),
    (0x78, " mov $02, 0x1\n cwrite $02, [$00 + 0x064]\nreported:\n jump #reported\n nop\n", "", []),
    (0x79, " [fc000000]\n nop\n", "", ["illegal"]),
    (0x66, " mov $02, 0x5\n cwrite $02, [$00 + 0x064]\n [fc000000]\n nop\n", "", []),
    (0x67, " ret\n nop\n", "", ["stack-underflow"]),
    (0x68, " mov $05, 0x9\n call #deep\n nop\n" + SKIP + "deep:\n breq $05, 0x0, #up\n sub $05, $05, 0x1\n call #deep\n nop\nup:\n ret\n nop\n", "",
     ["stack-overflow", "endless"]),
    (0x69, " mov $05, 0x6\n call #flat\n nop\n" + SKIP + "flat:\n breq $05, 0x0, #back\n sub $05, $05, 0x1\n call #flat\n nop\nback:\n ret\n nop\n", "", []),
    (0x6a, " mov $addr, $data\n mov $data, $data\n" + SKIP, "0x900 0x1", ["protected"]),
    (0x6b, " mov $usraddr, $data\n mov $data, $data\n" + SKIP, "0x900 0x1", []),
    (0x6c, " mov $addr, $data\n mov $data, $data\n" + SKIP, "0x10 0x1", ["read-only"]),
    (0x6d, " mov $addr, 0x900\n mov $data, $data\n" + SKIP, "0x1", ["exposed"]),
    (0x6e, " mov $addr, 0x900\n mov $data, 0x1\n" + SKIP, "0x1", []),
    (0x6f, " mov $02, 0x1 << 16\n or $addr, $02, 0x2008\n mov $data, $data\n" + SKIP, "0x1", ["page-table"]),
    (0x70, " mov $addr, 0xf400\n mov $data, $data\n" + SKIP, "0x1", ["secure-mode"]),
    (0x71, " mov $addr, 0x860\n mov $data, $data\n" + SKIP, "0x1", ["privileged"]),
    (0x72, " mov $addr, 0x860\n mov $data, 0x1\n" + SKIP, "0x1", []),
    (0x73, " mov $02, $data\n mov $02, $data\n" + SKIP, "", ["starved"]),
    (0x74, LOST, "", ["jump"]),
    (0x75, " mov $02, 0x1\n cwrite $02, [$00 + 0x064]\n" + LOST, "", []),
    (0x77, " mov $02, 0x1\n setsecure $02, #secure\n nop\n nop\nsecure:\n" + SKIP, "", ["secure-mode"]),
    (0x7a, " mov $02, 0x2\n setsecure $02, #insecure\n nop\n nop\ninsecure:\n" + SKIP, "", []),
    (0x7b, " cwrite $00, [$00 + 0x05a]\n" + SKIP, "", ["unprotected"]),
    (0x7c, " mov $02, 0xa000 << 16\n cwrite $02, [$00 + 0x05a]\n" + SKIP, "", []),
    (0x7d, CHAIN, "0x100000 0x0 0x5", ["circle"]),
    (0x0f, SKIP, "", ["internal"]),
)
# What the next ones do depends on where they are, or on what was before.
WRITE = " mov $addr, 0x900\n mov $data, $data\n" + SKIP
LEVELS = (
    (0x20, " breq $12, 0x1, #drop_packet\n nop\n" + WRITE),                                  # not on level 1
    (0x24, " cread $03, [$00 + 0x101]\n nop\n breq $03, 0x0, #drop_packet\n nop\n" + WRITE),  # not without 0x25
    (0x25, " mov $02, 0x1\n cwrite $02, [$00 + 0x101]\n" + SKIP),
    (0x7f, " cwrite $00, [$00 + 0x101]\n" + SKIP),                                           # takes that back
    (0x29, " mov $02, 0x900\n add $addr, $02, $12\n mov $data, $data\n" + SKIP),               # another register on each level
)
# Packets of a stream that is called, and what is found there. The first writes whatever was before; what "protected" says is that another level is refused.
CALLED = (
    ("a packet for every level", [(0x6d, "0x1")], ["exposed"]),
    ("a packet that level 1 is refused", [(0x20, "0x1")], ["protected"]),
    ("a packet that follows another", [(0x25, ""), (0x24, "0x1")], ["exposed"]),
    ("a packet between two others", [(0x25, ""), (0x24, "0x1"), (0x7f, "")], ["exposed"]),
    ("a packet that writes another register on level 1", [(0x29, "0x1")], ["protected"]),
    ("a packet that writes a constant", [(0x6e, "0x1")], []),
)


def firmware():
    if not os.path.exists(path("flaws.fw")):
        with open(DEMO, encoding="utf-8") as file:
            source = file.read()
        source = source.replace(ME_INIT, ME_INIT + "        mov $02, $data\n        mov $02, $data\n        cwrite $02, [$00 + 0x05a]\n")
        place = "\nCP_INDIRECT_BUFFER:\n"
        assert source.count(place) == 1
        code = "".join("\nUNKN%d:\n%s" % (packet, text) for packet, text, *_ in FLAWS + LEVELS if packet != 0x0f)
        make.firmware(CPSCOPE, path("flaws"), source.replace(place, code + place))
    return path("flaws.fw")


def found(name, text, *more, fw=None):
    with open(path(name + ".pm4"), "w", encoding="utf-8") as file:
        file.write(text)
    done = run("fuzz", "--fw", fw or firmware(), "--execs", "1", "--json", *more, path(name + ".pm4"))
    assert done.returncode in (0, 1), done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if findings else 0)
    return findings


def oracles(findings):
    return [f["oracle"] for f in findings]


def header(packet, words):
    count = len(words.split())
    parity = [bin(x).count("1") % 2 == 0 for x in (packet, count)]
    return ".word 0x%08x %s" % (7 << 28 | parity[0] << 23 | packet << 16 | parity[1] << 15 | count, words)


def each(packet, payload, wanted):
    def case():
        said = found("flaw-%02x" % packet, make.pm4("CP_NOP", header(packet, payload)), "--oracles", "all")
        named = [f["packet"] for f in said if f["oracle"] != "circle"]    # which is no single packet's
        assert oracles(said) == wanted and set(named) <= {packet} and all(f["level"] == "ib1" for f in said), said
    return case


def called(packets, wanted):
    def case():
        lines = ["CP_NOP", "CP_INDIRECT_BUFFER @inner #inner", "CP_NOP", "buffer 0x00110000 inner"]
        said = found("called", make.pm4(*lines, *(header(*packet) for packet in packets)), "--oracles", "all")
        assert oracles(said) == wanted and all(f["level"] == "ib2" for f in said), said
    return case


USUAL = {"hang", "illegal", "jump", "unprotected", "stack-underflow", "stack-overflow", "protected", "read-only", "page-table", "secure-mode", "privileged"}


def usual():
    """Without a name only rows that say a flaw are asked."""
    for packet, _, payload, wanted in FLAWS:
        said = oracles(found("usual", make.pm4(header(packet, payload))))
        assert said == [name for name in wanted if name in USUAL], (hex(packet), said)


def elevated():
    """Control register 0aa of a7xx has a bit for each level that is privileged: bit 1 is IB1's, bit 2 that of IB2, which nobody enters."""
    enter = ["mov $02, $data", "mov $03, $data", "mov $04, $data", "cwrite $02, [$00 + IB1_BASE_LO]",
             "cwrite $03, [$00 + IB1_BASE_HI]", "cwrite $04, [$00 + IB1_DWORDS]", "mov $12, 0x1", "cwrite $12, [$00 + IB_LEVEL]"]
    leave = ["mov $12, 0x0", "cwrite $00, [$00 + IB_LEVEL]"]
    raised = [["mov $02, 0x%x" % levels, "cwrite $02, [$00 + 0x0aa]"] for levels in (3, 5)]
    make.firmware(CPSCOPE, path("levels"), claimfw.skeleton([], {0x3f: enter, 0x0a: leave, 0x61: raised[0], 0x62: raised[1]}, "a7xx"))
    for packet, wanted in ((0x61, ["elevated"]), (0x62, [])):
        text = make.pm4("CP_NOP", header(packet, ""), "CP_NOP").replace("gpu 630", "chip 0x43050a01")
        said = found("levels", text, "--oracles", "all", fw=path("levels.fw"))
        assert oracles(said) == wanted and all(f["packet"] == packet and f["level"] == "ib1" for f in said), (packet, said)


def type4():
    """A type 4 packet has no id: its finding says so."""
    with open(DEMO, encoding="utf-8") as file:
        source = file.read()
    line = "        ushr $usraddr, $01, 0x8\n"
    assert source.count(line) == 1
    make.firmware(CPSCOPE, path("type4"), source.replace(line, line.replace("usraddr", "addr")))
    said = found("type4", make.pm4("reg 0x900 0x1"), "--oracles", "all", fw=path("type4.fw"))
    assert oracles(said) == ["exposed"] and said[0]["name"].startswith("exposed-type4-"), said
    assert found("type4", make.pm4("reg 0x8810 0x1"), "--oracles", "all", fw=path("type4.fw")) == []


def people():
    """What people read: a line for each finding, and how many there are."""
    with open(path("people.pm4"), "w", encoding="utf-8") as file:
        file.write(make.pm4("CP_NOP", header(0x67, ""), "CP_NOP", header(0x67, "")))
    done = run("fuzz", "--fw", firmware(), "--execs", "1", path("people.pm4"))
    last = done.stdout.splitlines()[-2:]
    assert done.returncode == 1 and last[0].startswith("stack-underflow: packet-67 at level ib1 of sqe, at 0x"), last
    assert last[0].endswith(" (1 packets, 1 words)") and last[1] == "1 finding", last


tap.run([("packet %02x: %s" % (packet, ", ".join(wanted) or "nothing"), each(packet, payload, wanted))
         for packet, _, payload, wanted in FLAWS] + [("only flaws are asked without a name", usual), ("a level that becomes privileged: elevated", elevated),
                                              ("a finding of a type 4 packet", type4), ("findings as people read them", people)] +
        [("on level 2, %s: %s" % (name, ", ".join(wanted) or "nothing"), called(packets, wanted)) for name, packets, wanted in CALLED])

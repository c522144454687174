#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fuzz`: each oracle finds the handler that has its flaw, once, and nothing in the one next to it. The demo firmware gets handlers
with flaws of known kinds. Usage: fuzz_oracles.py CPSCOPE DEMO.afuc"""
import json
import os
import subprocess
import sys

import make
import tap
from commands import CPSCOPE, path

DEMO = os.path.abspath(sys.argv[2])
END = "        waitin\n        mov $01, $data\n"
SKIP = "        (rep)mov $00, $data\n" + END

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
    (0x0f, SKIP, "", ["internal"]),
)


def firmware():
    if not os.path.exists(path("flaws.fw")):
        with open(DEMO, encoding="utf-8") as file:
            source = file.read()
        place = "\nCP_INDIRECT_BUFFER:\n"
        assert source.count(place) == 1
        code = "".join("\nUNKN%d:\n%s" % (packet, text) for packet, text, _, _ in FLAWS if packet != 0x0f)
        make.firmware(CPSCOPE, path("flaws"), source.replace(place, code + place))
    return path("flaws.fw")


def found(name, lines, *more):
    with open(path(name + ".pm4"), "w", encoding="utf-8") as file:
        file.write(make.pm4(*lines))
    done = subprocess.run([CPSCOPE, "fuzz", "--fw", firmware(), "--execs", "1", "--json", *more, path(name + ".pm4")],
                          capture_output=True, text=True, timeout=100)
    assert done.returncode in (0, 1), done.stderr
    said = [f["oracle"] for f in json.loads(done.stdout)["findings"]]
    assert done.returncode == (1 if said else 0)
    return said


def header(packet, words):
    count = len(words.split())
    parity = [bin(x).count("1") % 2 == 0 for x in (packet, count)]
    return ".word 0x%08x %s" % (7 << 28 | parity[0] << 23 | packet << 16 | parity[1] << 15 | count, words)


def each(packet, payload, wanted):
    def case():
        said = found("flaw-%02x" % packet, ["CP_NOP", header(packet, payload)], "--oracles", "all")
        assert said == wanted, said
    return case


USUAL = {"hang", "illegal", "stack-underflow", "stack-overflow", "protected", "read-only", "page-table", "secure-mode", "privileged"}


def usual():
    """Without a name only rows that say a flaw are asked."""
    for packet, _, payload, wanted in FLAWS:
        said = found("usual", [header(packet, payload)])
        assert said == [name for name in wanted if name in USUAL], (hex(packet), said)


tap.run([("packet %02x: %s" % (packet, ", ".join(wanted) or "nothing"), each(packet, payload, wanted))
         for packet, _, payload, wanted in FLAWS] + [("only flaws are asked without a name", usual)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ELF form of firmware, as binutils sees it and on its way back to a raw file.

Addresses, names and lines are taken from the source by a reader of this file's own, not from what
the assembler says. Usage: elf_tools.py CPSCOPE
"""
import os
import re
import shutil
import subprocess
import tempfile
import scene
from scene import CPSCOPE
from tree import DEMO

PARTS = """; a7xx microcode
.lead 0x12345678
[01740168]
[01000000]
[01740139]
[#jumptbl]
start: mov $02, 0x1
jump #start
nop
CP_NOP: waitin
mov $01, $data
.align 32
jumptbl: .jumptbl
.section BV
[01740139]
[#jumptbl]
call #helper
nop
helper: ret
nop
jumptbl: .jumptbl #helper
.section LPAC
[01740055]
[#jumptbl]
idle: waitin
mov $01, $data
jumptbl: .jumptbl #idle
[30383037]
"""
# name, byte address with the processor in bits 31:24, line
PLACES = [("start", 0x10, 7), ("CP_NOP", 0x1c, 10), ("helper", 0x01000010, 19),
          ("idle", 0x02000008, 25)]

count = 0


def report(name, good, detail=""):
    global count
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, name))
    if not good:
        print("# " + detail.replace("\n", "\n# "))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def cpscope(*args):
    done = scene.cpscope(*args)
    assert not done.stderr, done.stderr
    return done.stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


def demo_places(source):
    """Labels of the demo with their address and the line of the first word behind them."""
    places, waiting, dword = [], [], 0
    for number, text in enumerate(open(source), 1):
        text = text.split(";")[0].strip()
        while match := re.match(r"(\w+):\s*", text):
            waiting.append(match[1])
            text = text[match.end():]
        if text.startswith("."):
            break
        if text:
            places += [(name, 4 * dword, number) for name in waiting]
            waiting, dword = [], dword + 1
    return places


def tool(name, *args):
    """Runs a tool of binutils if there is one; it must not say anything on stderr."""
    if not shutil.which(name):
        return None
    done = run(name, *args)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "arning" not in done.stdout, done.stdout
    return done.stdout


def check_readelf(elf, places):
    said = tool("readelf", "-aW", elf)
    if said is not None:
        for name, address, _ in places:
            kind = "FUNC" if re.match("CP_|PKT|UNKN|IN_", name) else "NOTYPE"
            assert re.search(r" %08x +0 %s .* %s$" % (address, kind, name), said, re.M), name
    return said


def check_lines(elf, places):
    said = tool("readelf", "--debug-dump=decodedline", elf)
    if said is not None:
        for name, address, line in places:
            assert re.search(r" %d +%s +x$" % (line, "0x%x" % address), said, re.M), name
    return said


def check_elflint(elf, places):
    for mode in ((), ("--gnu-ld",)):
        said = tool("eu-elflint", *mode, elf)
        assert said in (None, "No errors\n"), said
    return said


def check_nm(elf, places):
    said = tool("nm", elf)
    for name, address, _ in places if said is not None else []:
        assert "%08x t %s\n" % (address, name) in said, name
    return said


def check_objdump(elf, places):
    said = tool("objdump", "-h", elf)
    if said is not None:
        for section in {0: ".text", 1: ".text.bv", 2: ".text.lpac"}[places[-1][1] >> 24], ".jumptbl":
            assert re.search(r" %s +[0-9a-f]{8} " % re.escape(section), said), said
    return said


def check_addr2line(elf, places):
    if not shutil.which("addr2line"):
        return None
    source = places_source[elf]
    said = tool("addr2line", "-e", elf, *("0x%x" % address for _, address, _ in places))
    assert said.splitlines() == ["%s:%d" % (source, line) for _, _, line in places], said
    return said


def check_round_trip(elf, source, folder):
    direct, back, listing = (os.path.join(folder, name) for name in ("a.fw", "b.fw", "l.afuc"))
    cpscope("asm", source, "-o", direct)
    cpscope("asm", elf, "-o", back)
    assert read(direct) == read(back), "asm SOURCE and asm ELF differ"
    cpscope("disasm", elf, "-o", listing)
    cpscope("asm", listing, "-o", back)
    assert read(direct) == read(back), "the listing of the ELF file assembles to another file"
    beside = cpscope("disasm", direct, "--symbols", elf)
    assert beside == open(listing).read(), "--symbols ELF and disasm ELF differ"
    strip_name = lambda text: text.split("\n", 1)[1]
    assert strip_name(cpscope("info", elf)) == strip_name(cpscope("info", direct))


def check_run(elf):
    events = lambda *args: [line for line in run(CPSCOPE, "run", "--demo", *args).stdout.splitlines()
                            if not line.startswith("#")]
    built_in = events()
    assert len(built_in) > 100 and events("--fw", elf) == built_in


def check(name, function, *args):
    try:
        if function(*args) is None and function not in (check_round_trip, check_run):
            name += " # SKIP no such tool"
        report(name, True)
    except AssertionError as problem:
        report(name, False, str(problem))


places_source = {}
with tempfile.TemporaryDirectory() as scratch:
    parts = os.path.join(scratch, "parts.afuc")
    with open(parts, "w") as out:
        out.write(PARTS)
    for title, source, places in (("demo", DEMO, demo_places(DEMO)), ("a7xx", parts, PLACES)):
        elf = os.path.join(scratch, title + ".elf")
        places_source[elf] = source
        cpscope("asm", "-g", source, "-o", elf)
        assert len(places) > 3
        check("%s: source, ELF and raw file are the same words" % title, check_round_trip, elf,
              source, scratch)
        for function in (check_readelf, check_elflint, check_lines, check_nm, check_objdump, check_addr2line):
            check("%s: %s" % (title, function.__name__[6:]), function, elf, places)
    demo = os.path.join(scratch, "demo.elf")
    check("the ELF form runs as the built-in firmware does", check_run, demo)
    for size in (4, 52, 200, os.path.getsize(demo) - 1):
        cut = os.path.join(scratch, "cut.elf")
        with open(cut, "wb") as out:
            out.write(read(demo)[:size])
        done = run(CPSCOPE, "disasm", cut)
        report("cut after %d bytes" % size, done.returncode == 3 and done.stderr.count("\n") == 1 and
               "cut.elf: offset 0x" in done.stderr, done.stderr)
print("1..%d" % count)

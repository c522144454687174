#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`disasm --style mesa`: what it prints of a small image of our own, that every image of the corpus comes back from
it, and what Mesa's own tests say, where they are.

CPSCOPE_MESA_TESTS is Mesa's src/freedreno/tests: each traces/*_test*.asm must assemble to reference/NAME.fw (or,
without that file, to what the reference listing assembles to), and be listed as reference/NAME.asm has it.
Usage: mesa_style.py CPSCOPE"""
import collections
import difflib
import glob
import os
import re
import tempfile

import tap
from tree import TESTS as OURS
from scene import cpscope, run

CORPUS, TESTS = os.environ.get("CPSCOPE_CORPUS"), os.environ.get("CPSCOPE_MESA_TESTS")
PACKETS = "".join("UNKN%d:\n" % packet for packet in range(1, 128))

HEAD = """; a7xx microcode
[01730001]
[#jumptbl]
add $sp, $lr, 0x0005
mov $02, #away
swrite $02, [$00 + %PREEMPT_INSTR]
mov $addr, 0x00a2 << 24
mov $addr, 0x0ff4 << 16
mov $usraddr, 0x0830
and $03, $03, 0x01c0
not $03, 0x0830
shl $03, $03, 0x00c
cwrite $03, [$01 + 0xfff]
(rep)cwrite $03, [$01 + @MEM_READ_ADDR+1]!
loadp $03, [$01 + 0x010]
bl #away
call #away
brne $03, 0x02, #again
again:
mov $03, $04
jumpa #again
jump 0x8
breq $02, b3, 0x0fff
ret
[abcdef01]
away:
jump $lr
sret
mov $02, 0x441
add $03, $01, #BV::start * 4 - #jumptbl * 2
"""
TAIL = "waitin\nmov $01, $data\n.align 32\njumptbl:\n.jumptbl\n"
JUNK = "[00000830]\n"
SECTION = ".section BV\nstart: [01000001]\n[#jumptbl]\nload $02, [$03 + 0x004]\nswrite $02, [$00 + %PREEMPT_INSTR]\n"

EXPECTED = """; a7xx microcode
; Version: 01730001

UNKN0:
[01730001]
[#jumptbl]
add $sp, $lr, 0x5
mov $02, 0x17
swrite $02, [$00 + %PREEMPT_INSTR]
mov $addr, 0xa2 << 24\t; |NRT_DATA
mov $addr, 0xff4 << 16
mov $usraddr, 0x830\t; CP_SQE_INSTR_BASE
l8:
and $03, $03, 0x1c0\t; CP_RB_BASE
not $03, 0x830
shl $03, $03, 0xc
cwrite $03, [$01 + 0xfff]
(rep)cwrite $03, [$01 + 0x1d]!
[b0238010]
bl #fxn23
call #fxn23
brne $03, 0x2, #l17
l17:
mov $03, $04
jumpa #l17
jump #l8
[cc430feb]
ret
[abcdef01]

preempt:
fxn23:
jump $lr
sret
mov $02, 0x441\t; RBBM_PERFCTR2_SP[0xb]+0x1
add $03, $01, 0x240

"""

# As afuc-disasm wrote it until 2023 and its assembler took it, and as it is written now.
OLDER = """[016ee001]
        [01000002]  ; nop
fxn00:
 l001:  cwrite $02, [$00 + @REG_WRITE_ADDR], 0x0
        (rep)cwrite $data, [$02 + 0x001], 0x4
        load $07, [$02 + 0x004], 0x4
        store $07, [$04 + 0x004], 0x0
        cread $02, [$00 + @MEM_READ_ADDR+1], 0x0
        breq $06, 0, #l001
        preemptleave #fxn00
        setsecure $02, #l000
        jump #l001
        nop
 l000:  mov $02, #l001
"""
NOW = """[016ee001]
[01000002]
first :
cwrite $02, [$00 + @REG_WRITE_ADDR]
(rep)cwrite $data, [$02 + 0x1]!
load $07, [$02 + 0x4]!
store $07, [$04 + 0x4]
cread $02, [$00 + @MEM_READ_ADDR+0x1]
breq $06, 0x0, #first
bl #first
setsecure $02, #third + 0
jump #first
nop
third :
mov $02, #first
"""


def listing(firmware):
    return cpscope("disasm", "--style", "mesa", firmware).stdout


def assembled(source, folder, name):
    path = os.path.join(folder, name)
    cpscope("asm", source, "-o", path)
    return path


def equal(ours, theirs):
    assert ours == theirs, "".join(difflib.unified_diff(theirs.splitlines(True), ours.splitlines(True), "expected", "printed"))


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def made(folder):
    source = os.path.join(folder, "own.asm")
    with open(source, "w") as file:
        file.write(HEAD + PACKETS + TAIL + SECTION + PACKETS + TAIL + JUNK)
    return assembled(source, folder, "own.fw")


def own():
    with tempfile.TemporaryDirectory() as folder:
        text = listing(made(folder))
    first, second = text.split("\n.section BV\n;\n; BV microcode:\n;\n")
    equal(first[:first.index("CP_BLIT:")], EXPECTED)
    assert first.endswith(TAIL[TAIL.index("."):]) and second.endswith(".jumptbl\n" + JUNK), text
    assert "swrite $02, [$00 + %PREEMPT_INSTR]\n\nCP_" in second and "UNKN97:\npreempt:\nwaitin\n" in second, second


# What stands behind the table is none of its entries; a displacement that is not of whole words leads to none.
LOADED = """; a7xx microcode
[01730001]
[#jumptbl]
load $02, [$03 + 0x%x]
swrite $02, [$00 + %%PREEMPT_INSTR]
shl $04, $05, 0x1c0
waitin
mov $01, $data
"""


def loaded():
    with tempfile.TemporaryDirectory() as folder:
        nowhere = "UNKN0:\npreempt:\n[01730001]"
        for offset, place in ((0x1f8, "preempt:\nmov $06, 0x1"), (0x1fc, "preempt:\nwaitin"), (0x1fe, nowhere), (0x200, nowhere),
                              (0x204, nowhere)):
            source = os.path.join(folder, "loaded.asm")
            with open(source, "w") as file:
                file.write(LOADED % offset + PACKETS.replace("UNKN127:", "mov $06, 0x1\nUNKN127:") + TAIL + "[00000004]\n" * 2)
            text = listing(assembled(source, folder, "loaded.fw"))
            assert "\n%s\n" % place in text and text.count("preempt:") == 1, (offset, text)
            # A constant of 12 bits has the name of a register as well.
            assert "\nshl $04, $05, 0x1c0\t; CP_RB_BASE\n" in text, text


def refused():
    with tempfile.TemporaryDirectory() as folder:
        firmware = made(folder)
        wrong = cpscope("disasm", "--style", "theirs", firmware, status=2).stderr
        assert "expected own, mesa or envytools" in wrong, wrong
        wrong = cpscope("disasm", "--style", "mesa", "--symbols", firmware, firmware, status=2).stderr
        assert "without --from and --symbols" in wrong, wrong
        equal(cpscope("disasm", "--style", "own", firmware).stdout, cpscope("disasm", firmware).stdout)


def old_registers():
    """Numbers of registers that only a2xx to a4xx had, whose names Mesa's disassembler has for constants of that size. A generation
    that has a register of its own there shows that; each name is shown on one at least."""
    with open(os.path.join(OURS, "facts", "axxx.tsv")) as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    assert len(rows) == 69
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for gen, version in (("a5xx", "01300123"), ("a6xx", "016ee001"), ("a7xx", "01730001"), ("a8xx", "01800001")):
            source = os.path.join(folder, gen)
            with open(source, "w") as file:
                file.write("; %s microcode\n[%s]\n[01000000]\n" % (gen, version) +
                           "".join("mov $02, 0x%s\n" % number.lstrip("0") for number, _ in rows) + "mov $02, 0x1fb\n")
            cpscope("asm", source, "-o", source + ".fw")
            text = cpscope("disasm", "--gen", gen, "--style", "mesa", source + ".fw").stdout
            shown = [row.split("\t; ") for row in re.findall(r"mov \$02, 0x(.*)", text)]
            none = shown.pop()
            assert none[0] == "1fb" and len(none) == 1 + (gen == "a8xx") and len(shown) == len(rows), shown
            for (number, name), row in zip(rows, shown):
                assert row[0] == number.lstrip("0") and len(row) == 2, (gen, row)
                seen[number] += row[1] == name
    assert all(seen[number] for number, _ in rows) and sum(seen.values()) == 30 * 3 + 18 + 9 * 2 + 8 * 4 + 3 + 2, seen


def older():
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for name, text in (("older", OLDER), ("now", NOW)):
            with open(os.path.join(folder, name), "w") as file:
                file.write("; a6xx microcode\n" + text)
            made.append(contents(assembled(os.path.join(folder, name), folder, name + ".fw")))
    assert made[0] == made[1] and len(made[0]) == 4 * (1 + 13), made


def preemption(text):
    """The dword of the first part that is labelled so; None: there is none."""
    dword = 0
    for line in text.split("\n.section ")[0].splitlines():
        if line == "preempt:":
            return dword
        dword += bool(line) and line[0] != ";" and line[-1] != ":"
    return None


def booted(firmware):
    """What the boot leaves in the register, by running it."""
    done = run("step", "--fw", firmware, text="c\np %PREEMPT_INSTR\nq\n")
    return int(re.search(r"^> p .*\n0x(\w+)", done.stdout, re.M)[1], 16)


def comes_back(firmware):
    def case():
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "there.asm")
            cpscope("disasm", "--style", "mesa", firmware, "-o", source)
            assert contents(assembled(source, folder, "back.fw")) == contents(firmware)
        dword = preemption(listing(firmware))
        assert dword is None or dword == booted(firmware), "preempt: 0x%04x, not 0x%04x" % (dword, booted(firmware))
        return "no preemption" if dword is None else "preemption at 0x%04x" % dword
    return "comes back: " + os.path.basename(firmware), case


def theirs(source):
    name = os.path.basename(source)[:-len(".asm")]
    reference = os.path.join(TESTS, "reference", name)

    def case():
        with tempfile.TemporaryDirectory() as folder:
            firmware = assembled(source, folder, "ours.fw")
            has_bytes = os.path.exists(reference + ".fw")
            other = reference + ".fw" if has_bytes else assembled(reference + ".asm", folder, "theirs.fw")
            assert contents(firmware) == contents(other), "assembles to other bytes"
            with open(reference + ".asm") as file:
                expected = file.read()
            equal(listing(firmware), expected)
        return "%d lines, bytes of the %s" % (expected.count("\n"), "file" if has_bytes else "listing")
    return "Mesa's " + name, case


def without(variable):
    def case():
        raise tap.Skip(variable + " is not set, or has none")
    return case


IMAGES = sorted(glob.glob(os.path.join(CORPUS, "firmware", "*.fw"))) if CORPUS else []
SOURCES = [path for path in sorted(glob.glob(os.path.join(TESTS, "traces", "*.asm")))
           if re.search(r"_test\w*\.asm$", path)] if TESTS else []
tap.run([("an image of our own", own), ("preemption by the entry that was loaded", loaded),
         ("registers of older generations", old_registers), ("what older ones wrote assembles", older),
         ("other styles are refused", refused)] +
        ([comes_back(path) for path in IMAGES] or [("images of the corpus", without("CPSCOPE_CORPUS"))]) +
        ([theirs(path) for path in SOURCES] or [("Mesa's tests", without("CPSCOPE_MESA_TESTS"))]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--style envytools: listings as envydis prints them, sources as envyas reads them. The lines here were made by hand from
envytools' tables and printing (envydis/hwsq.c, vp1.c, core-dis.c, easm/). Usage: envy.py CPSCOPE"""
import os
import random
import re
import struct

import tap
from scene import cpscope, path
from tree import ROOT



def listing(engine, chip, data):
    return cpscope("disasm", "--engine", engine, "--chip", chip, "--style", "envytools", path("code.bin", data)).stdout


def assemble(engine, chip, text, status=0):
    out = path("out.bin")
    if os.path.exists(out):
        os.remove(out)
    done = cpscope("asm", "--engine", engine, "--chip", chip, "--style", "envytools", path("source.s", text), "-o", out, status=status)
    if status:
        assert not os.path.exists(out)
        return done.stderr
    with open(out, "rb") as file:
        return file.read()


def equal(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def hwsq():
    code = bytes.fromhex("5f0100 e200330000 06 b0 41 5f2003 00 3f 84 bb 40cd02 42ffff c8 ff e012")
    equal(listing("hwsq", "nv41", code).split("\n"), [
        "00000000: 5f 01 00           ewait #HEAD0_VBLANK 0x0",
        "00000003: e2 00 33 00 00     data 0x3300",
        "00000008: 06                 wait 0x2 shl 0x2",
        "00000009: b0                 set1 #FB_PAUSE",
        "0000000a: 41                 ??? [unknown: 41] [unknown instruction]",
        "0000000b: 5f 20 03           ewait 0x0 0x1 [unknown: 00 20 02]",
        "0000000e: 00                 nop",
        "0000000f: 3f                 wait 0x3 shl 0x1e",
        "00000010: 84                 unset #PRAMDAC0_UNK880_28",
        "00000011: bb                 set1 #PWM_0_ENABLE",
        "00000012: 40 cd 02           addrlo 0x2cd",
        "00000015: 42 ff ff           datalo 0xffff",
        "00000018: c8                 set0 0x8",
        "00000019: ff                 ??? [unknown: ff] [unknown instruction]",
        "0000001a: e0 12 ?? ?? ??     addr 0x12 [incomplete]", ""])


def chips():
    """Names of flags and operations by the chip, as envydis' variants have them."""
    for chip, want in (("nv17", ["unset #GPIO_2_OUT", "set1 0x10", "set1 0x19", "set1 #PWM_0_ENABLE", "??? [unknown: e0] [unknown instruction]"]),
                       ("nv41", ["unset #GPIO_2_OUT", "set1 #FB_PAUSE", "set1 #PWM_2_ENABLE", "set1 #PWM_0_ENABLE", "addr 0x7f7f7f7f"]),
                       ("g80", ["unset 0x0", "set1 #FB_PAUSE", "set1 0x19", "set1 0x1b", "addr 0x7f7f7f7f"]),
                       ("g92", ["unset 0x0", "set1 #FB_PAUSE", "set1 0x19", "set1 0x1b", "addr 0x7f7f7f7f"])):
        lines = listing("hwsq", chip, bytes.fromhex("80b0b9bbe07f7f7f7f")).split("\n")
        equal((chip, [line[29:] for line in lines[:5]]), (chip, want))


# Words and what they are, from the fields of envydis' tables: dst 19:5, src1 14:5, src2 9:5, immediates 3:11.
VP1 = (
    (0x65080005, "mov $r1 0x5"), (0x6507ffff, "mov $r0 -0x1"), (0x65f80001, "mov 0x0 0x1"), (0x4c0841c0, "add $r1 $c0 $r1 $r0"),
    (0x4c0841c4, "add $r1 $r1 $r0"), (0x4c084028, "add $r1 $c0 $r1 (slct $c1 zf $r0d)"), (0x4c084080, "add $r1 $c0 $r1 (slct $c0 b20 $r0q)"),
    (0x6c08403c, "add $r1 $r1 0x7"), (0x6c087ffc, "add $r1 $r1 -0x1"), (0x65000103, "mov $r0 0x103"),
    (0xa1084601, "vmul s rd fract 0x0 hi $v1 u $v1 u 0x8c"), (0x24000206, "vec -0xfd 0x0 $vc0 sf 0x0"), (0x420fc434, "xor $r1 0x0 $r2"),
    (0xb6084c00, "vlrp4b u rd 0x1 $v1 $v1q $c0 $c0 sf $vc0 sf [unknown: 00000400]"), (0xb3085a00, "vlrp2 s va rd 0x0 $v1 s $v1q $c0 $vc0 sf"),
    (0x42084434, "xor $r1 $r1 $r2"), (0x42084414, "and $r1 not $r1 $r2"), (0x42084464, "bitop 0xc $r1 $r1 $r2"), (0x75081234, "sethi $r1 0x12340000"),
    (0x6a0a8060, "mov $a1 $r10"), (0x6a0a8040, "mov $sr1 $r10"), (0x6af28040, "mov $tick $r10"), (0x6afa8040, "mov $csreq $r10"),
    (0x6a828050, "mov $uccfg $r10"), (0x6a0a80a8, "mov $m33 $r10"), (0x6b518010, "mov $r10 $v6 0x2"), (0x6b50c068, "mov $r10 $c3"),
    (0x6b57c068, "mov $r10 $c3 [unknown: 00070000]"),
    (0x81084c00, "vmul s rd fract 0x0 hi $v1 u $v1 u $v6"), (0x910849fe, "vmul u rn int -0x1 lo $v1 s $v1 s $v4"), (0x80004600, "vmul s rd fract 0x0 hi # u $v1 u $v3"),
    (0x90084620, "vlrp rd 0x1 $v1 $v1d $v3"), (0xbb080000, "mov $v1 $vc"), (0xad0807f8, "vmov $v1 $vc0 0xff"), (0x8f184420, "vcmpad 0x3 $vc0 $v1d (slct $c0 zf $v2d)"),
    (0xc00841c4, "ldavh $v1 $a1 $a0"), (0xd0087ffc, "ldavh $v1 $a1 -0x1"), (0xd8087ffc, "ldvh $v1 $a1 0x7ff"), (0xc6084000, "stas $r1 $c0 $a1 (slct $c0 sf $a0d)"),
    (0xcc081234, "setlo $a1 0x1234"), (0xc3084012, "xdld $a1 $a1d 0x12"), (0xc3086000, "xdld $a1 $a1d"), (0xce180008, "xdbar ld 0x1 0x1"),
    (0xcf110018, "xdwait st $a2 0x3"), (0xd7084601, "star $v1 $a1 (slct $c0 sf $a3d)"), (0xd7084600, "ldr $v1 $a1 $v3"), (0xe80ffff8, "ret $c0"), (0xe8000004, "ret"),
    (0xff010007, "exit intr 0x7"), (0xff000007, "exit 0x7"), (0xea000004, "abra 0x10"), (0xf0081234, "mov $l1 $c1 0x1234"), (0x4fffffff, "snop"), (0xefffffff, "bnop"),
    (0x30000000, "??? [unknown: 30000000] [unknown instruction]"), (0x00000000, "??? [unknown instruction]"), (0x45084000, "vecms $r1 $vc1 sf 0x0"),
    (0x4c084164, "add $r1 $r1 (slct $c0 unk11 $r0d) [unknown operand]"), (0x9b084418, "vswz $v1 $v1 $v2 hi $v1"), (0x7a084004, "abs $r1 $r1"), (0x4a084004, "abs $r1 $r1"),
    (0x4a08400c, "abs $r1 $r1 [unknown: 00000008]"),
    # Register 0 is one as any other: the number 0 is written for $r31 alone.
    (0x6a028060, "mov $a0 $r10"), (0x6a028040, "mov $sr0 $r10"), (0x6a0280a8, "mov $m32 $r10"), (0xbb000000, "mov $v0 $vc"),
    (0xd0007ffc, "ldavh $v0 $a1 -0x1"), (0xc3000012, "xdld $a0 $a0d 0x12"), (0x6a000060, "mov $a0 $r0"), (0x65000005, "mov $r0 0x5"), (0x65fbc005, "mov 0x0 0x3c005"),
    (0x6a07c060, "mov $a0 0x0"), (0x6afc0060, "mov $a31 $r16"),
)


def vp1():
    rows = [row for row in VP1 if row[1]]
    assert len(rows) > 45
    lines = listing("vp1", "g80", struct.pack("<%dI" % len(rows), *[row[0] for row in rows])).split("\n")
    equal([line[:22] for line in lines if line[21:22] == "B"], ["00000010: %08x   B" % rows[16][0]])  # what abra leads to
    for at, (line, (word, text)) in enumerate(zip(lines, rows)):
        equal(line.replace(" B ", "   ", 1), "%08x: %08x     %s" % (at, word, text))


def vp1_rows():
    """Each row of the tables of VP1, from the list of facts."""
    with open(os.path.join(ROOT, "tests", "facts", "envy_vp1.tsv")) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    assert len(rows) > 450
    lines = listing("vp1", "g80", b"".join(struct.pack("<I", int(word, 16)) for word, _ in rows)).split("\n")
    for (word, text), line in zip(rows, [line for line in lines if line], strict=True):
        equal((line[10:18], line[23:]), (word, text))


# tabslct of envydis/vp1.c, by bits 8 to 5 of the word.
SLCT = ("sf", "zf", "b19", "b20d", "b20", "b21", "b19a", "b18", "asf", "azf", "aef", "unk11", "unk12", "lzf", None, "true")


def slct():
    """All of them, in all words that have them: bits 4 and 3 are the register, and those below are not looked at."""
    for code, register in ((0x4c084400, "r"), (0x8f084400, "v")):
        words = [code | number << 5 | low for number in range(16) for low in range(32)]
        lines = listing("vp1", "g80", struct.pack("<512I", *words)).split("\n")
        for word, line in zip(words, lines):
            name = SLCT[word >> 5 & 15]
            want = " $%s2" % register
            if name:
                want = "(slct $c%d %s $%s2%s)" % (word >> 3 & 3, name, register, "q" if name == "b20" else "d")
            assert want in line + " " and ("slct" in line) == bool(name), (line, want)


# Names of flags, from envydis/hwsq.c: what has none is a number.
OLD_FLAGS = {0x00: "#GPIO_2_OUT", 0x01: "#GPIO_2_OE", 0x02: "#GPIO_3_OUT", 0x03: "#GPIO_3_OE", 0x04: "#PRAMDAC0_UNK880_28", 0x05: "#PRAMDAC1_UNK880_28",
             0x06: "#PRAMDAC0_UNK880_29", 0x07: "#PRAMDAC1_UNK880_29", 0x0e: "#GPIO_9_OUT", 0x0f: "#GPIO_9_OE", 0x1b: "#PWM_0_ENABLE",
             0x1c: "#PBUS_DEBUG_1_UNK22", 0x1d: "#PBUS_DEBUG_1_UNK24", 0x1e: "#PBUS_DEBUG_1_UNK26", 0x1f: "#PBUS_DEBUG_1_UNK27"}
FLAGS = {"nv17": OLD_FLAGS, "nv41": {**OLD_FLAGS, 0x10: "#FB_PAUSE", 0x19: "#PWM_2_ENABLE", 0x1a: "#PWM_1_ENABLE"},
         "g80": {0x10: "#FB_PAUSE"}, "g92": {0x10: "#FB_PAUSE"}}
EVENTS = ("#FB_PAUSED", "#HEAD0_VBLANK", "#HEAD0_HBLANK", "#HEAD1_VBLANK", "#HEAD1_HBLANK", "0x5", "0x1f")


def hwsq_rows():
    """All flags of all chips, all waits, all events, both ways."""
    for chip, names in FLAGS.items():
        code, want = b"", []
        for base, verb in ((0x80, "unset"), (0xa0, "set1"), (0xc0, "set0")):
            code += bytes(range(base, base + 32))
            want += ["%s %s" % (verb, names.get(number, hex(number) if number else "0x0")) for number in range(32)]
        code += bytes(range(1, 64)) + b"\x7f"
        want += ["wait 0x%x shl 0x%x" % (byte & 3, byte >> 2 << 1) for byte in range(1, 64)] + ["exit"]
        if chip != "nv17":
            code += b"".join(bytes((0x5f, 0x1f if name == "0x1f" else index, index & 1)) for index, name in enumerate(EVENTS))
            want += ["ewait %s 0x%x" % (name, index & 1) for index, name in enumerate(EVENTS)]
            code += bytes.fromhex("403412 427856 e078563412 e2f0debc9a")
            want += ["addrlo 0x1234", "datalo 0x5678", "addr 0x12345678", "data 0x9abcdef0"]
        equal([line[29:] for line in listing("hwsq", chip, code).split("\n") if line], want)
        equal(assemble("hwsq", chip, "\n".join(want) + "\n").hex(), code.hex())


def branches():
    """Targets are groups of four words, counted from the branch's; calls have an empty line in front, places in front of the code all bits."""
    code = struct.pack("<10I", 0xefffffff, 0xe00003e4, 0xe40003e4, 0xe0fffe24, 0xefffffff, 0xe0000020, 0xe10001e1, 0xe2000220, 0xe0fffe24, 0xefffffff)
    equal(listing("vp1", "g80", code).split("\n"), [
        "00000000: efffffff     bnop", "00000001: e00003e4     bra 0x4", "00000002: e40003e4     call 0x4",
        "00000003: e0fffe24     bra $c0 zf 0xfffffffffffffffc", "", "00000004: efffffff  CB bnop", "00000005: e0000020     bra $c0 $c0 zf 0x4",
        "00000006: e10001e1     bra loop $l1 $c1 $l0 0x4", "00000007: e2000220     bra $c0 not $c0 zf 0x8",
        "00000008: e0fffe24   B bra $c0 zf 0x4", "00000009: efffffff     bnop", ""])


SOURCE = """
/* a script */ // of two parts
.equ #limit 0x10
start: nop; wait 0x2 shl 2	// 8 us
  ewait #HEAD0_VBLANK 1
/+ all of /+ this +/ is not there +/
_more: data (#limit << 4 | 3)
  datalo #limit+0x2
  addr #end
  set1 #FB_PAUSE
  set0 010
  addrlo 12
.b8 0x41 -1
.u16 65535
.s16 -2
.align 4
.skip 2
.section #other 0x100
end: exit
  addrlo #end
  addrlo #_more
.size 9
"""


def sources():
    code = (bytes.fromhex("00 06 5f0101 e2 03010000 421200 e000010000 b0 c8 400c00 41ff ffff feff") + b"\0\0\0" + b"\0\0" + bytes.fromhex("7f 400001 400500") + b"\0\0")
    assert len(code) == 43, len(code)
    equal(assemble("hwsq", "nv41", SOURCE).hex(), code.hex())
    equal(assemble("hwsq", "nv41", ".section #a\nnop\n.section #b\nexit\n.section #a\nwait 1 shl 0\n").hex(), "00017f")
    equal(assemble("vp1", "g80", "start: bnop\nbra #there\n.align 16\nthere: exit 7\n.b32 #there 1\n").hex(),
          struct.pack("<7I", 0xef000000, 0xe00003e4, 0, 0, 0xff000007, 4, 1).hex())
    equal(assemble("vp1", "g80", ".skip 16\nx: bra #x\ncall #y\n.skip 4\n.b32 7\ny: bnop\n").hex(),
          struct.pack("<9I", 0, 0, 0, 0, 0xe00001e4, 0xe40003e4, 0, 7, 0xef000000).hex())
    equal(assemble("vp1", "g80", "mov $r1 -5\nvmov $v1 0xff\nadd $r1 $r1 0x0\nmov 0x0 $a1\n").hex(), struct.pack("<4I", 0x650ffffb, 0xad0807fc, 0x4c087fc4, 0x6bf84060).hex())


def expressions():
    """Operators of C, loosest first: | ^ & shifts sums products; a division by 0 is none."""
    for text, value in (("(1 | 6 ^ 3 & 5)", 7), ("(6 ^ 3 | 8)", 13), ("(0x100 >> 4)", 0x10), ("(1 >> 64)", 0), ("(3 * 5 + 1)", 16), ("(17 % 5)", 2),
                        ("(2 + 3 * 4 << 1)", 28), ("(7 & 2 + 4)", 6), ("(40 / 7 * 7)", 35), ("(1 << 3 ^ 1)", 9), ("(20 - 3 - 4)", 13)):
        equal((text, assemble("hwsq", "nv41", ".u32 %s\n" % text).hex()), (text, struct.pack("<I", value).hex()))
    for text in ("(5 % 0)", "(5 / 0)"):
        done = cpscope("asm", "--style", "envytools", "--engine", "hwsq", "--chip", "nv41", path("zero.s", ".u32 %s\n" % text), "-o", path("zero.bin"), status=3)
        assert done.stderr.count("\n") == 1 and ":1: " in done.stderr, done.stderr


def text_alone():
    """What a listing says without its columns is what its words mean, but for bits that nothing looks at, and second codes."""
    rows = [row for row in VP1 if row[1] and "[" not in row[1] and "unk" not in row[1] and row[1] not in ("snop", "bnop", "ret $c0", "ret")]
    for word, text in rows:
        if word not in (0x7a084004,):
            equal((text, assemble("vp1", "g80", text + "\n").hex()), (text, struct.pack("<I", word).hex()))


def round_trips():
    """Random code, listed and assembled again, is the same; and what was changed in a line counts."""
    chance = random.Random(21)
    for chip in ("nv17", "nv41", "g80", "g92"):
        code = bytes(chance.choice((chance.randrange(256), 0x5f, 0xe0, 0xe2, 0x40, 0x42)) for _ in range(1500))
        equal(assemble("hwsq", chip, listing("hwsq", chip, code)), code)
    code = struct.pack("<4000I", *[chance.randrange(1 << 32) for _ in range(4000)])
    text = listing("vp1", "g80", code)
    equal(assemble("vp1", "g80", text), code)
    good = "".join(line[23:] + "\n" for line in text.split("\n") if line and "[" not in line and "unk" not in line and " 0xffff" not in line and "bra " not in line and "call " not in line)
    again = listing("vp1", "g80", assemble("vp1", "g80", good))
    equal([line[23:] for line in again.split("\n") if line and "abra" not in line], [line for line in good.split("\n") if line and "abra" not in line])
    changed = listing("hwsq", "g80", bytes.fromhex("5f0101e2000000007f")).replace("data 0x0", "data 0x12345678")
    equal(assemble("hwsq", "g80", changed).hex(), "5f0101e2785634127f")


BAD = (
    ("nop\nfrob 1\n", "source.s:2: found 'frob 1', expected an instruction of envytools' hwsq that fits"), ("nop 1\n", "found 'nop 1'"),
    ("wait 4 shl 0\n", "found 'wait 4 shl 0'"), ("wait 1 shl 1\n", "found"), ("wait 1 shl 32\n", "found"), ("addrlo 0x10000\n", "found"), ("ewait 32 0\n", "found"),
    ("addr #nowhere\n", "source.s:1: 'nowhere' is not defined"), ("a: nop\na: nop\n", "source.s:2: 'a' is there twice"), ("/* nop\n", "source.s:2: the file ends inside a comment"),
    ("/+ nop\n", "ends inside"), (".frob 1\n", "found '.frob', expected .section"), (".b7 1\n", "found '.b7'"), (".b72 1\n", "found '.b72'"), (".u8 256\n", "0x100 does not fit into .u8"),
    (".s8 128\n", "does not fit into .s8"), (".s8 -129\n", "does not fit"), (".b8 256\n", "does not fit"), (".b8 -129\n", "does not fit"), (".align 0\n", "alignment to 0"),
    (".skip 0x40001\n", "more than 262144 bytes"), ("nop\nnop\n.size 1\n", "the section has 2 bytes, more than 1"), (".equ 5\n", "expected a name"), (".equ #a\n", "expected a number"),
    (".b8 (1\n", "expected a number"), (".b8 1/0\n", "expected a number"), (".b8 " + "(" * 70 + "\n", "expected a number"), (".b8 " + "(" * 40 + "1" + ")" * 20 + "\n", "expected a number"),
    ("nop \x00\n", "found 'nop ?'"), (".b8 09\n", "expected a number"), (".align 0x40000\nnop\n.align 0x40000\nnop\n", "more than 262144"), ("nop nop\n", "found 'nop nop'"),
    (".b64 0x10000000000000000\n", "found '0x10000000000000000', expected a number"), (".b64 18446744073709551616\n", "expected a number"),
    ("addr 0x100000000000000ff\n", "found 'addr 0x100000000000000ff'"),
)


def bad():
    for text, want in BAD:
        error = assemble("hwsq", "nv41", text, status=3)
        assert want in error and error.count("\n") == 1, (text, want, error)
    for text in ("mov $r32 1\n", "mov $r01 1\n", "mov $r1 0x40000\n", "mov $r1 -0x40001\n", "add $r1 $r1 (slct $c0 zf $r0)\n", "bra 0x2\n", "vmov $v1 -1\n", "mov $m64 $r1\n", "add $r1 $r1 unk11\n"):
        assert "expected an instruction of envytools' vp1" in assemble("vp1", "g80", text, status=3), text


def options():
    for args, want in ((["disasm", "--engine", "seq", "--seq-abi", "new", "--style", "envytools", "x"], "has no meaning for --engine seq"),
                       (["disasm", "--engine", "hwsq", "--chip", "g80", "--style", "envytools", "--rnn", "y", "x"], "--rnn has no meaning"),
                       (["disasm", "--style", "envytools", "x"], "expected --engine"), (["disasm", "--engine", "hwsq", "--chip", "g80", "--style", "mesa", "x"], "--style mesa"),
                       (["asm", "--engine", "hwsq", "--chip", "g80", "--style", "mesa", "x", "-o", "y"], "--style mesa"),
                       (["asm", "--engine", "hwsq", "--style", "envytools", "x", "-o", "y"], "expected --chip"), (["asm", "--style", "envytools", "x", "-o", "y"], "no meaning")):
        done = cpscope(*args, status=2)
        assert want in done.stderr, (args, done.stderr)


def tables():
    """Every operand that a text names is there, tables do not hold themselves, and rows' values lie in their masks."""
    text = {name: open(os.path.join(ROOT, "fw", "nv", "envy", name + ".def")).read() for name in ("atom", "hwsq", "vp1")}
    atoms = dict((name, kind) for kind, name in re.findall(r"^(NUM|TARGET|REG|TABLE|CHOICE|NOTHING|DISCARD)\((\w+)", text["atom"], re.M))
    rows = re.findall(r'^(?:ROW|VP1)\((\w+),(?: \w+,)? +(\w+), +(\w+), +(\d), +"([^"]*)"\)', text["hwsq"] + text["vp1"], re.M)
    assert len(rows) == len(re.findall(r"^(?:ROW|VP1)\(", text["hwsq"] + text["vp1"], re.M)) > 200
    for name, bit, zero, one in re.findall(r'^CHOICE\((\w+), +(\d+), +"([^"]*)", +"([^"]*)"\)', text["atom"], re.M):
        atoms[name] = "TABLE"  # of two rows
        rows += [(name, value, str(1 << int(bit)), "0", shown) for value, shown in (("0", zero), (str(1 << int(bit)), one))]
    assert "CHOICE" not in atoms.values()
    held = {}
    for table, value, mask, size, shown in rows:
        assert int(value, 0) & ~int(mask, 0) == 0, (table, value, mask)
        names = re.findall(r"\{(\w+)\}", shown)
        assert all(name in atoms for name in names), (table, shown)
        held.setdefault(table, set()).update(name for name in names if atoms[name] == "TABLE")
        assert bool(int(size)) == (table in ("HWSQ", "VP1")), (table, size)
    for table in held:
        seen, todo = set(), set(held[table])
        while todo:
            name = todo.pop()
            assert name != table
            seen.add(name)
            todo |= held.get(name, set()) - seen
    used = set().union(*held.values())
    assert used | {"HWSQ", "VP1"} == set(held), used ^ set(held)


tap.run([
    ("HWSQ as envydis prints it", hwsq),
    ("names by chip", chips),
    ("VP1 as envydis prints it", vp1),
    ("each row of VP1", vp1_rows),
    ("all of slct", slct),
    ("each row of HWSQ, listed and assembled", hwsq_rows),
    ("branches and calls", branches),
    ("sources of envyas", sources),
    ("expressions of envyas", expressions),
    ("texts of VP1 are its words", text_alone),
    ("random code, listed and assembled", round_trips),
    ("bad sources", bad),
    ("options", options),
    ("the tables", tables),
])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""VBIOS images made by hand (mkrom.py), as info and disasm read them. Usage: rom.py CPSCOPE"""
import json
import os
import struct

import mkrom
import tap
from mkrom import DONE, Rom, call, info, init_pointers, jump, macro, nv_reg, sub, zm_reg, zm_reg_sequence
from tree import TESTS
from scene import FOLDER, cpscope

FACTS = os.path.join(TESTS, "facts", "init.tsv")

# What nouveau's init.c steps on by, with two items where an operation has any; two groups of straps. (op, bytes, place of
# the count, place of the value that must not lead away).
LENGTHS = {
    0x32: (11 + 2 * 4, 6), 0x33: 2, 0x34: (12 + 2 * 2, 7), 0x36: 1, 0x37: 11, 0x38: 1, 0x39: 2, 0x3a: 3, 0x3b: 2, 0x3c: 2,
    0x47: 9, 0x48: 9, 0x49: (18 + 2 * 2, 17), 0x4a: (11 + 2 * 4, 6), 0x4b: 9, 0x4c: (4 + 2 * 3, 3), 0x4d: (4 + 2 * 2, 3),
    0x4e: (4 + 2, 3), 0x4f: 5, 0x50: (3 + 2 * 2, 2), 0x51: (5 + 2, 4), 0x52: 4, 0x53: 3, 0x54: (2 + 2 * 2, 1), 0x56: 3,
    0x57: 3, 0x58: (6 + 2 * 4, 5), 0x59: 7, 0x5a: 7, 0x5b: 3, 0x5c: 3, 0x5e: 6, 0x5f: 22, 0x62: 5, 0x63: 1, 0x65: 13,
    0x66: 1, 0x67: 1, 0x68: 1, 0x69: 5, 0x6b: 2, 0x6d: 3, 0x6e: 13, 0x6f: 2, 0x72: 1, 0x73: 9, 0x74: 3, 0x75: 2, 0x76: 2,
    0x77: 7, 0x78: 6, 0x79: 7, 0x7a: 9, 0x87: 2 + 2 * 4, 0x8c: 1, 0x8d: 1, 0x8e: 1, 0x8f: (7 + 2 * 2 * 4, 6), 0x90: 9,
    0x91: (6 + 2 * 4, 5), 0x92: 1, 0x96: 17, 0x97: 13, 0x98: (6 + 2 * 2, 5), 0x99: (6 + 2, 5), 0x9a: 7, 0xa9: (2 + 2, 1), 0xaa: 4,
}


def write(data, name="vbios.rom"):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def run(*args, status=0):
    done = cpscope(*args, status=status)
    return done.stderr if status else done.stdout


def described(data):
    return json.loads(run("info", "--json", write(data)))["files"][0]


def equal(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def board(*scripts, chip=0x43, extra=(), pointers=()):
    """A board whose init scripts are these; @pointers are those behind the table of scripts."""
    rom = Rom()
    places = [rom.put(script) for script in scripts]
    table = rom.init_table(places)
    rom.bit([("i", 2, info(chip=chip)), ("I", 1, init_pointers(table, *pointers)), *extra])
    return rom, places


def shapes(data):
    return [(s["origin"], s["number"], s["offset"], s["size"], s["operations"], s["end"]) for s in described(data)["init_scripts"]]


def bit_board():
    data, places = mkrom.nv43()
    found = described(data)
    equal([found[key] for key in ("kind", "version", "chip", "hwsq", "table", "table_offset", "table_version", "notes")],
          ["vbios", "05.43.02.11.07", "NV43", "nv41", "BIT", places["bit"], 1, []])
    equal(found["images"], [{"offset": 0, "size": 4096, "vendor": 0x10de, "device": 0x140, "code_type": 0, "sum": "good"}])
    equal([chr(e["id"]) for e in found["entries"]], list("iIPM"))
    equal(shapes(data), [("init", 0, places["first"], 12, 3, "done"), ("init", 1, places["upload"], 27, 4, "done"),
                         ("memory", 0, places["memory"], 13, 3, "done"), ("call", 1, places["subroutine"], 14, 2, "done")])


def in_words():
    """What is said for people of the version and of the chip; of a board that has no version, that it was not found."""
    data, _ = mkrom.nv43()
    lines = run("info", write(data)).splitlines()
    assert "  version     05.43.02.11.07" in lines and "  chip        NV43 (NV43), HWSQ nv41" in lines, lines
    rom = Rom(device=0xffff)
    rom.bit([])
    lines = run("info", write(rom.file())).splitlines()
    assert "  version     not found" in lines and "  chip        not known by the version or the PCI id" in lines, lines


def written_script():
    data, places = mkrom.nv43()
    start = places["upload"] + 9  # behind the write of ENTRY_POINT
    equal(described(data)["hwsq_scripts"], [{"origin": "written", "number": 1, "offset": start, "end": start + 6 + 8, "size": 8,
                                            "register": 0x1400, "entry_point": 0}])
    text = run("disasm", write(data))
    equal([line for line in text.splitlines() if line.startswith("; HWSQ")], [
        "; HWSQ script that init script 1 writes, at 0x%x to 0x%x, for register 0x001400, ENTRY_POINT 0x00000000" % (start, start + 14)])
    code = text[text.index("; HWSQ script"):text.index("; init script")]
    back = os.path.join(FOLDER, "back.bin")
    run("asm", "--engine", "hwsq", "--chip", "nv41", write(code.encode(), "back.s"), "-o", back)
    with open(back, "rb") as file:
        equal(file.read(), bytes.fromhex("b05f000102d07f7f"))


def bmp_board():
    data, places = mkrom.nv17()
    found = described(data)
    equal([found[key] for key in ("version", "chip", "hwsq", "table", "table_version")], ["04.17.11.22.00", "NV17", "nv17", "BMP", 0x516])
    first = places["hwsq"] + 6 + 4
    equal([(h["origin"], h["number"], h["offset"], h["size"], h["entry_point"]) for h in found["hwsq_scripts"]],
          [("table", 0, first, 32, 0x7f341000), ("table", 1, first + 36, 32, 0)])
    text = run("disasm", "--chip", "nv17", "--engine", "hwsq", write(data)).splitlines()
    equal([line for line in text if line.startswith("; HWSQ")], [
        "; HWSQ script %d, at 0x%x to 0x%x, for register 0x001400, ENTRY_POINT 0x%08x" % (i, first + 36 * i, first + 36 * i + 32, entry)
        for i, entry in ((0, 0x7f341000), (1, 0))])
    lines = [line.split(";")[0].split() for line in text if line.startswith("    ")]
    equal([line[0] for line in lines[:5]], ["set1", "set1", "set0", "unset", "exit"])


def letters_in_a_text():
    """nouveau takes entries of 36 bytes alone (nouveau_bios.c, load_nv17_hw_sequencer_ucode): what else follows the letters is none
    of them. Without such a table the first letters count, with a note."""
    rom = Rom(device=0x0174)
    text = rom.put(b"the HWSQ text, \x01\x24")
    empty = rom.put(b"HWSQ\x00\x24")
    table = rom.hwsq([(0x10, b"\xa0\x7f".ljust(32, b"\x7f"))])
    rom.put(b"HWSQ\x01\x24")
    found = described(rom.file())
    equal([(h["offset"], h["size"], h["entry_point"]) for h in found["hwsq_scripts"]], [(table + 10, 32, 0x10)])
    assert empty > text
    assert "HWSQ at 0x%x: no entries of 36 bytes as at 0x%x, taken for a text like 1 others" % (text + 4, table) in found["notes"], found["notes"]
    rom = Rom(device=0x0174)
    table = rom.hwsq([(0, b"\x02\x7f\x7f\x7f")])
    found = described(rom.file())
    equal([(h["offset"], h["size"]) for h in found["hwsq_scripts"]], [(table + 10, 4)])
    assert "HWSQ at 0x%x: entries of 8 bytes, where drivers take only those of 36" % table in found["notes"], found["notes"]


def old_bmp():
    """Before 5.10 the pointers of two scripts stand in BMP itself, at 14 and, from 2.0 on, at 18."""
    for version, at in ((b"\x01\x00", 14), (b"\x01\x99", 14), (b"\x02\x00", 18), (b"\x05\x09", 18)):
        rom = Rom(device=0x0150)
        places = [rom.put(sub(2) + DONE) for number in range(3)]
        bmp = bytearray((b"\xff\x7fNV\0" + version).ljust(100, b"\0"))
        struct.pack_into("<3H", bmp, at, *places)
        rom.put(bytes(bmp))
        equal([(s[0], s[1], s[2]) for s in shapes(rom.file())], [("init", 0, places[0]), ("init", 1, places[1])])
        equal(described(rom.file()).get("hwsq"), None)  # NV15 has none
    rom = Rom(device=0x0150)
    place = rom.put(zm_reg(0x200, 1) + DONE)
    bmp = bytearray(b"\xff\x7fNV\0\x05\x10".ljust(100, b"\0"))
    struct.pack_into("<H", bmp, 75, rom.init_table([place]))
    rom.put(bytes(bmp))
    equal(shapes(rom.file())[0][2], place)


def lengths():
    pieces = []
    for op, length in LENGTHS.items():
        length, count = length if isinstance(length, tuple) else (length, None)
        pieces.append(bytearray([op]) + bytearray(length - 1))
        if count:
            pieces[-1][count] = 2
    rom, places = board(*[bytes(piece) + DONE for piece in pieces], extra=[("M", 1, b"\0\0\2\0\0")])
    found = [s for s in shapes(rom.file()) if s[0] == "init"]
    equal(found, [("init", number, places[number], len(piece) + 1, 2, "done") for number, piece in enumerate(pieces)])
    unknown = sorted(set(range(256)) - set(LENGTHS) - {0x71})
    rom, places = board(*[b"\x72" + bytes([op]) + DONE for op in unknown])
    equal(shapes(rom.file()), [("init", number, place, 1, 1, "unknown") for number, place in enumerate(places)])


def texts():
    """Each operation's operands lie where nouveau reads them. Those that lead elsewhere have 0 for an operand."""
    pieces = []
    for op, length in LENGTHS.items():
        length, count = length if isinstance(length, tuple) else (length, None)
        pieces.append(bytearray([op]) + bytearray((0x11 * at + 3) & 0xff for at in range(1, length)))
        if op in (0x5b, 0x5c, 0x6b, 0x6f):
            pieces[-1][1:] = bytes(length - 1)
        if count:
            pieces[-1][count] = 2
    rom, _ = board(*[bytes(piece) + DONE for piece in pieces], extra=[("M", 1, b"\0\0\2\0\0")])
    scripts = run("disasm", write(rom.file())).split("; init script ")[1:]
    with open(FACTS) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    assert len(rows) == len(LENGTHS)
    for (op, *want), piece, script in zip(rows, pieces, scripts):
        lines = [line[34:] for line in script.split("\n\n")[0].split("\n")[1:] if line[7:9] != "71"]
        equal(("%02x" % piece[0], [line.strip() for line in lines]), (op, want))


def groups():
    """How many values the straps choose from: byte 2 of table 'M' 1, byte 0 of 'M' 2."""
    for version, table, count in ((1, b"\7\7\3\0\0", 3), (2, b"\4\0\0", 4), (1, b"\7\7\3\0", 0), (2, b"\4\0", 0), (3, b"\4\0\0\0\0", 0)):
        rom, places = board(b"\x87\x01" + bytes(4 * count) + DONE, extra=[("M", version, table)])
        equal(shapes(rom.file())[0], ("init", 0, places[0], 3 + 4 * count, 2, "done"))


def unknown_op():
    rom, places = board(zm_reg(0x200, 1) + b"\x01\x02" + DONE)
    text = run("info", write(rom.file()))
    assert "stops at 0x%04x: no source knows operation 0x01" % (places[0] + 9) in text, text
    assert "; %04x 01: no source knows" % (places[0] + 9) in run("disasm", write(rom.file()))


def ways():
    """Jumps, calls, and scripts by number lead on once each; loops end."""
    rom = Rom()
    loop = rom.at
    rom.put(jump(loop) + call(loop + 3) + sub(1) + DONE)
    second = rom.put(sub(0) + sub(1) + sub(77) + DONE)
    after = rom.put(jump(second + 4) + DONE)
    table = rom.init_table([loop, second])
    rom.bit([("i", 2, info()), ("I", 1, init_pointers(table, 0, 0, 0, 0, 0, 0, after))])
    equal(shapes(rom.file()), [("init", 0, loop, 9, 4, "done"), ("init", 1, second, 7, 4, "done"), ("after", 0, after, 4, 2, "done"),
                               ("call", 0, loop + 3, 0, 0, "joined"), ("jump", 2, second + 4, 0, 0, "joined")])


def subroutines():
    """The table ends at its first hole; a script behind it is there if another one calls it by its number."""
    rom = Rom()
    first = rom.put(sub(5) + sub(4) + sub(6) + DONE)
    fifth = rom.put(zm_reg(0x200, 1) + DONE)
    table = rom.init_table([first, 0, 0, 0, 0, fifth])
    rom.bit([("i", 2, info()), ("I", 1, init_pointers(table))])
    equal(shapes(rom.file()), [("init", 0, first, 7, 4, "done"), ("sub", 5, fifth, 10, 2, "done")])


def macros():
    """A macro is a first pair of register and value, and how many."""
    rom = Rom()
    pairs = rom.put(struct.pack("<6I", 0x200, 1, 0x1400, 0x7f02b05f, 0x1404, 0x7f7f7f7f))
    index = rom.put(bytes([0, 1, 1, 2]))
    script = rom.put(macro(1) + macro(0) + DONE)
    table = rom.init_table([script])
    rom.bit([("i", 2, info()), ("I", 1, init_pointers(table, index, pairs))])
    found = described(rom.file())["hwsq_scripts"]
    equal([(h["offset"], h["end"], h["size"], h["register"]) for h in found], [(script, script + 2, 8, 0x1400)])


def uploads():
    """What a script writes to the code RAM: runs of words, a new script behind TRIGGER, or over the old one; both windows."""
    pieces = (zm_reg(0x1304, 0x44332211) + zm_reg(0x1400, 0x7f) + nv_reg(0x1404, 0, 0x7f) + nv_reg(0x1408, 1, 0x7f) + zm_reg(0x140c, 0x7f) +
              zm_reg(0x130c, 3) + zm_reg(0x1400, 0x7f01) + zm_reg(0x1400, 0x7f02) + zm_reg_sequence(0x80000, *[0] * 4) +
              zm_reg(0x1500, 1) + zm_reg(0x80200, 1) + zm_reg(0x1402, 1) + DONE)
    rom, _ = board(pieces, chip=0x92)
    found = described(rom.file())["hwsq_scripts"]
    equal([(h["register"], h["size"], h.get("entry_point")) for h in found],
          [(0x1400, 8, 0x44332211), (0x140c, 4, 0x44332211), (0x1400, 4, None), (0x1400, 4, None), (0x80000, 16, None)])


def edges():
    """The windows of the code RAM, 0x1400 to 0x14ff and 0x80000 to 0x801ff: first and last words are code, those beside not."""
    for reg, size in ((0x13fc, None), (0x1400, 4), (0x14fc, 4), (0x1500, None), (0x7fffc, None), (0x80000, 4), (0x80198, 4),
                      (0x801fc, 4), (0x80200, None)):
        rom, _ = board(zm_reg(reg, 0x7f7f7f7f) + DONE, chip=0x92)
        equal([(h["register"], h["size"]) for h in described(rom.file())["hwsq_scripts"]], [(reg, size)] if size else [])
    rom, _ = board(zm_reg_sequence(0x80000, *[0x7f7f7f7f] * 128) + DONE, chip=0x92)
    equal([(h["register"], h["size"]) for h in described(rom.file())["hwsq_scripts"]], [(0x80000, 512)])


def marks():
    """nouveau looks for ff b8 B I T and for ff 7f N V 0: what begins so and goes on otherwise is something else."""
    rom = Rom()
    rom.put(b"\xff\xb8BIN\0" + bytes([0, 1, 12, 6, 0, 0]))
    places = [rom.put(sub(7) + DONE)]
    rom.bit([("i", 2, info()), ("I", 1, init_pointers(rom.init_table(places)))])
    equal([s[2] for s in shapes(rom.file())], places)
    rom = Rom(device=0x0150)
    rom.put(b"\xff\x7fNVIDIA".ljust(100, b"\1"))
    places = [rom.put(sub(7) + DONE)]
    bmp = bytearray(b"\xff\x7fNV\0\x02\x00".ljust(100, b"\0"))
    struct.pack_into("<H", bmp, 18, *places)
    at = rom.put(bytes(bmp))
    equal([s[2] for s in shapes(rom.file())], places)
    equal(described(rom.file())["table_offset"], at)


def strapped():
    """Code that straps choose is not shown, and that is said."""
    piece = struct.pack("<BIBB", 0x8f, 0x13fc, 4, 2) + bytes(16)
    rom, places = board(piece + DONE, extra=[("M", 1, b"\0\0\2\0\0")])
    found = described(rom.file())
    equal(found["hwsq_scripts"], [])
    equal(len(found["notes"]), 1)
    assert "0x%x: writes code of HWSQ by the straps" % places[0] in found["notes"][0], found["notes"]
    rom, places = board(struct.pack("<BIBB", 0x8f, 0x13f8, 4, 2) + bytes(16) + DONE, extra=[("M", 1, b"\0\0\2\0\0")])
    equal(described(rom.file())["notes"], [])


def levels():
    """Scripts of memory reclocking: table versions 3.0 and 3.5, each level with its extra bytes."""
    for version, count in ((0x30, 2), (0x35, 2), (0x25, 0), (0x40, 0)):
        rom = Rom()
        scripts = [rom.put(zm_reg(0x200, number) + DONE) for number in range(2)]
        rows = b"".join(struct.pack("<BBH", number, 0, script) + bytes(4 + 2 * 3) for number, script in enumerate(scripts))
        perf = rom.put(bytes([version, 6, 2, 8, 2, 3]) + rows)
        rom.bit([("P", 1, struct.pack("<H", perf))])
        equal([(s[0], s[1], s[2]) for s in shapes(rom.file())], [("memory", number, scripts[number]) for number in range(count)])


def chips():
    """By the version; by the PCI id where it says more, or where there is no version; neither."""
    for version, device, chip, hwsq in (((5, 0x41), 0x00c0, "NV41", "nv41"), ((5, 0x73), 0x07e0, "NV63", "nv41"), ((5, 0x73), 0x0390, "NV4B", "nv41"),
                                        ((0x60, 0x80), 0x0190, "NV50", "g80"), ((0x62, 0), 0x05e1, "NVA0", "g92"), ((0x70, 0x16), 0x00f0, "NVA5", "g92"),
                                        ((5, 0x40), 0x00f0, "NV40", "nv17"), ((0x62, 0x94), 0x0640, "NV96", "g92"), ((9, 9), 0x0400, "NV84", "g80"),
                                        ((9, 9), 0x0200, "NV20", None), ((9, 9), 0xffff, None, None)):
        rom = Rom(device=device)
        rom.bit([("i", 2, info(*version))])
        found = described(rom.file())
        equal((version, device, found.get("chip"), found.get("hwsq")), (version, device, chip, hwsq))


def images():
    """A second image follows the first; where it does not, that is said."""
    second = Rom(vendor=0x10de, code_type=3).file()
    first = Rom(last=False).file()
    equal([(i["offset"], i["code_type"], i["sum"]) for i in described(first + second)["images"]], [(0, 0, "good"), (4096, 3, "none")])
    assert any("image 1 at 0x1000" in note for note in described(first)["notes"])
    broken = bytearray(first + second)
    broken[100] ^= 1
    found = described(bytes(broken))
    equal(found["images"][0]["sum"], "bad")
    assert any("sum of its bytes" in note for note in found["notes"])


def refused():
    good, _ = mkrom.nv43()
    for name, data, text in (("pointer out of the file", good[:0x18] + b"\xff\xff" + good[0x1a:], "offset 0x18: pointer 0xffff leads out"),
                             ("no PCIR", good[:0x40] + b"RICP" + good[0x44:], "offset 0x40: found 52 49 43 50"),
                             ("26 bytes", good[:26], "leads out of the file"), ("header alone", good[:0x57], "leads out of the file"),
                             ("another vendor", good[:0x44] + b"\x02\x10" + good[0x46:], "vendor 0x1002")):
        for command in ("info", "disasm"):
            error = run(command, write(data), status=3)
            assert error.count("\n") == 1 and text in error, (name, command, error)
    rom = Rom(device=0x0200)
    assert "NV20 has no HWSQ" in run("disasm", write(rom.file()), status=3)
    run("disasm", "--engine", "hwsq", "--chip", "nv17", write(rom.file()))
    for option in (("--style", "mesa"), ("--gen", "a6xx"), ("--symbols", write(good))):
        run("disasm", *option, write(good), status=2)


def damaged():
    """Tables that lead out of the file become notes."""
    good, places = mkrom.nv43()
    at = places["bit"]

    def noted(edits, text):
        data = bytearray(good)
        for offset, piece in edits:
            data[offset:offset + len(piece)] = piece
        notes = described(bytes(data))["notes"]
        assert any(text in note for note in notes), (text, notes)

    noted([(at + 7, b"\2")], "version 2")
    noted([(at + 8, b"\13")], "header of 11")
    noted([(at + 9, b"\5")], "entries of 5")
    noted([(at + 12 + 4, b"\xff\xff")], "BIT entry 0")
    noted([(at + 11, b"\0")], "sum of its header")
    last = good[:at] + good[at:at + 30].ljust(4096 - at, b"\0")
    assert any("of which 3 are in the file" in note for note in described(last[:at + 12 + 3 * 6 + 2])["notes"])
    assert any("BIT at 0x%x: is cut off" % at in note for note in described(good[:at + 11])["notes"])
    data, places = mkrom.nv17()
    at = places["hwsq"]
    assert any("cut off" in note for note in described(data[:at + 5])["notes"])
    assert any("has 2 entries, of which 1 are" in note for note in described(data[:at + 6 + 36 + 35])["notes"])
    equal(len(described(data[:at + 6 + 72])["hwsq_scripts"]), 2)
    empty = bytearray(data)
    empty[at + 5] = 4
    assert any("entries of 4 bytes" in note for note in described(bytes(empty))["notes"])
    rom, _ = board(DONE)
    rom.put(struct.pack("<H", 0xfff0), rom.data.index(struct.pack("<HH", 0x80, 0), 0x80))
    equal([s[5] for s in shapes(rom.file())], ["outside"])


def cut_anywhere():
    """Every length of file ends in status 0 or 3, with at most a line of error."""
    for data, _ in (mkrom.nv43(), mkrom.nv17()):
        for size in list(range(0x10, 0x160, 7)) + [0x57, 0x58, 4095]:
            done = cpscope("disasm", "--engine", "hwsq", "--chip", "nv41", write(data[:size]), status=(0, 3))
            assert done.stderr.count("\n") == (done.returncode == 3), (size, done)


def stdin():
    data, _ = mkrom.nv43()
    assert b"set1 FB_PAUSE" in cpscope("disasm", "-", text=data).stdout


tap.run([
    ("a board with BIT: chip, version, tables, init and memory scripts", bit_board),
    ("version and chip in words", in_words),
    ("a script that init writes to the code RAM is found and assembles again", written_script),
    ("a board with BMP: entries behind HWSQ", bmp_board),
    ("the letters HWSQ in a text are no table", letters_in_a_text),
    ("old BMP has its two scripts in itself", old_bmp),
    ("every operation of init scripts has nouveau's length", lengths),
    ("every operation's operands lie where nouveau reads them", texts),
    ("how many values straps choose from", groups),
    ("an unknown operation ends the walk, and is said", unknown_op),
    ("calls, jumps, numbers and loops", ways),
    ("scripts called by their number", subroutines),
    ("macros write code, too", macros),
    ("runs of writes are scripts; TRIGGER and rewriting end them", uploads),
    ("the ends of the windows of the code RAM", edges),
    ("the marks of tables count as a whole", marks),
    ("code chosen by straps is noted, not shown", strapped),
    ("memory scripts of levels of performance", levels),
    ("the chip by version and PCI id", chips),
    ("images behind each other, and their sums", images),
    ("what is no VBIOS of NVIDIA's is refused", refused),
    ("tables that lead out of the file are noted", damaged),
    ("a file cut anywhere", cut_anywhere),
    ("from stdin", stdin),
])

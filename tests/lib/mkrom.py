#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""VBIOS images by hand, from what envytools' nvbios and nouveau say of them: headers, BIT or BMP, init scripts, HWSQ.

No board's ROM is part of the project, so that this writer and the product's reader share nothing but those sources."""
import struct

DONE = b"\x71"


def zm_reg(reg, value):
    return struct.pack("<BII", 0x7a, reg, value)


def zm_reg_sequence(reg, *values):
    return struct.pack("<BIB%dI" % len(values), 0x58, reg, len(values), *values)


def nv_reg(reg, mask, value):
    return struct.pack("<BIII", 0x6e, reg, mask, value)


def sub(number):
    return bytes([0x6b, number])


def call(offset):
    return struct.pack("<BH", 0x5b, offset)


def jump(offset):
    return struct.pack("<BH", 0x5c, offset)


def macro(number):
    return bytes([0x6f, number])


def words(code):
    """Bytes of code as the words that the code RAM takes; the rest of the last one is `exit`."""
    code += b"\x7f" * (-len(code) % 4)
    return struct.unpack("<%dI" % (len(code) // 4), code)


def summed(image, at):
    """Byte @at such that all sum up to 0."""
    image = bytearray(image)
    image[at] = 0
    image[at] = -sum(image) & 0xff
    return bytes(image)


class Rom:
    """A file that is filled piece by piece; pieces() go behind each other."""

    def __init__(self, vendor=0x10de, device=0x0140, blocks=8, last=True, code_type=0):
        self.data = bytearray(blocks * 512)
        self.data[0:3] = b"\x55\xaa" + bytes([blocks])
        struct.pack_into("<H", self.data, 0x18, 0x40)
        struct.pack_into("<4sHHHHB3sHHBB", self.data, 0x40, b"PCIR", vendor, device, 0, 0x18, 0, b"\0\0\3", blocks, 1,
                         code_type, 0x80 if last else 0)
        self.at = 0x80

    def put(self, piece, at=None):
        """Where the piece is: at @at, or behind all others."""
        at = self.at if at is None else at
        self.data[at:at + len(piece)] = piece
        self.at = max(self.at, at + len(piece))
        return at

    def bit(self, entries, version=1, size=12, stride=6):
        """BIT with @entries (letter, version, bytes of its table)."""
        placed = [(ord(letter), number, len(table), self.put(table)) for letter, number, table in entries]
        header = b"\xff\xb8BIT\0" + struct.pack("<BBBBB", 0, version, size, stride, len(placed)) + b"\0"
        header = summed(header + bytes(size - len(header)), 11)
        rows = b"".join(struct.pack("<BBHH", *row) + bytes(stride - 6) for row in placed)
        return self.put(header + rows)

    def init_table(self, scripts):
        """The table of init scripts, from their offsets."""
        return self.put(struct.pack("<%dH" % (len(scripts) + 1), *scripts, 0))

    def hwsq(self, entries, length=None, count=None):
        """"HWSQ" and its entries (ENTRY_POINT, code)."""
        length = length if length is not None else 4 + max(len(code) for _, code in entries)
        rows = b"".join((struct.pack("<I", entry) + code).ljust(length, b"\x7f") for entry, code in entries)
        return self.put(b"HWSQ" + bytes([len(entries) if count is None else count, length]) + rows)

    def file(self):
        return summed(bytes(self.data), 5)


def info(major=5, chip=0x43):
    """BIT's table 'i': the version, least significant byte first, and one more."""
    return struct.pack("<BBBBB", 0x11, 0x02, chip, major, 0x07).ljust(0x19, b"\0")


def init_pointers(*pointers):
    return struct.pack("<%dH" % len(pointers), *pointers)


def nv43():
    """A board of NV43 with BIT: an init script that uploads HWSQ, a subroutine, a memory script. Returns (file, places)."""
    rom = Rom()
    places = {}
    code = bytes.fromhex("b05f000102d07f")
    places["subroutine"] = rom.put(nv_reg(0x100210, 0, 1) + DONE)
    places["upload"] = rom.put(zm_reg(0x1304, 0) + zm_reg_sequence(0x1400, *words(code)) + call(places["subroutine"]) + DONE)
    places["memory"] = rom.put(b"\x74\x0a\x00" + zm_reg(0x1002d4, 1) + DONE)
    places["first"] = rom.put(sub(1) + zm_reg(0x200, 0xffffffff) + DONE)
    table = rom.init_table([places["first"], places["upload"]])
    level = bytes([0x0f, 0]) + struct.pack("<H", places["memory"]) + bytes(12)
    perf = rom.put(bytes([0x30, 6, 1, len(level), 0, 0]) + level)
    places["bit"] = rom.bit([("i", 2, info()), ("I", 1, init_pointers(table, 0, 0, 0, 0, 0, 0)),
                             ("P", 1, struct.pack("<HH", perf, 0)), ("M", 1, b"\0\0\2\0\0")])
    return rom.file(), places


def nv17():
    """A board of NV17 with BMP 5.16: two HWSQ entries. Returns (file, places)."""
    rom = Rom(device=0x0174)
    places = {"script": rom.put(zm_reg(0x200, 1) + DONE)}
    table = rom.init_table([places["script"]])
    bmp = bytearray(b"\xff\x7fNV\0\x05\x16".ljust(100, b"\0"))
    bmp[10:14] = b"\x22\x11\x17\x04"
    struct.pack_into("<7H", bmp, 75, table, 0, 0, 0, 0, 0, 0)
    places["bmp"] = rom.put(bytes(bmp))
    places["hwsq"] = rom.hwsq([(0x7f341000, bytes.fromhex("a0a4c3847f").ljust(32, b"\x7f")), (0, b"\x02\x7f".ljust(32, b"\x7f"))])
    return rom.file(), places

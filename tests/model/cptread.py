#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of `.cpt`, versions 1 and 2, written from docs/formats.md: prints what the text form would hold, without
commentary. Usage: cptread.py FILE"""
import ctypes
import ctypes.util
import struct
import sys
import zlib

# keyword, columns (n value decimal, a addr, o addr as register, v value, s sub, p pc decimal, q addr
# decimal, c pc, r changed registers), words of sub
LEVEL = ("rb", "ib1", "ib2", "ib3", "sds", "int")
PATH = ("data", "user", "ctrl", "poke", "host", "flag", "byte", "half")
VIA = ("nrt", "store", "event", "load", "memdata", "ramin", "dma")
WHAT = ("wait", "visibility", "ack", "clock", "secure", "counter", "unknown")
PLACE = ("gpu", "ctrl", "sqe", "pipe", "mem", "insn", "stream", "unknown")
REASON = ("done", "limit", "deadlock", "fault", "bad-packet")
EXIT = ("end", "code", "out-missing", "out-range", "branch-range", "bad-op", "bad-len", "abort")
KINDS = (("SUBMIT", "nap", ()), ("PKT", "sav", LEVEL), ("REG", "ovs", PATH), ("REGR", "ov", ()),
         ("PIPE", "ov", ()), ("CTRL", "ov", ()), ("MEMW", "avs", VIA), ("MEMR", "avs", VIA),
         ("PROT", "ov", ()), ("IRQ", "n", ()), ("STEP", "cr", ()), ("STEPX", "cr", ()),
         ("ASSUME", "sav", WHAT), ("UNMODELLED", "sa", PLACE), ("END", "snq", REASON),
         ("TICK", "q", ()), ("EXIT", "sv", EXIT), ("METHOD", "ov", ()), ("SQE", "ov", ()),
         ("WORD", "ov", ()))
CPUS = ("pfp", "me", "sqe", "bv", "lpac", "", "host", "hwsq", "hwsqb", "seq", "pfifo", "vp1")
REG, STEP_OF_1 = 2, (2, 3, 4, 5, 19)
M64 = (1 << 64) - 1


def unzstd(data, size):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = (ctypes.c_char_p, ctypes.c_size_t) * 2
    room = ctypes.create_string_buffer(size)
    got = lib.ZSTD_decompress(room, size, data, len(data))
    assert got == size, "zstd says %d, the frame %d" % (got, size)
    return room.raw


def odd_parity(value):
    return bin(value).count("1") & 1 ^ 1


class Frame:
    def __init__(self, data, version):
        self.data, self.at, self.version = data, 0, version
        self.who = self.pc = self.tag = 0
        self.addr = [0] * 256
        self.places = [(0, 0, 0, 0)] * 1024
        self.values = [0] * 4096

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def distance(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def value(self, form):
        if form == 28:
            opcode, count = self.byte(), self.number()
            return 7 << 28 | odd_parity(opcode) << 23 | opcode << 16 | odd_parity(count) << 15 | count
        if form == 29:
            reg, count = self.distance() + self.addr[REG] & M64, self.number()
            return 4 << 28 | odd_parity(reg) << 27 | reg << 8 | odd_parity(count) << 7 | count
        return self.number()

    def form_and_sub(self, flags):
        if flags & 32:
            form, sub = self.number(), self.number()
            assert form > 31 or sub > 7
            return form, sub
        tag = self.byte()
        return tag & 31, tag >> 5

    def event(self):
        flags = self.byte()
        assert not flags & (96 if self.version == 1 else 64) and flags & 33 != 33 and flags & 12 != 12
        if flags & 128:
            self.who = self.byte() if self.version == 1 else self.number()
        mix = (self.pc * 2654435761 ^ self.tag * 40503 ^ self.who * 7919) & 0xffffffff
        slot = (mix ^ mix >> 15) % 1024
        form, sub, pc, addr = self.places[slot]
        if not flags & 1:
            form, sub = self.form_and_sub(flags)
        kind = 1 if form in (28, 29) else form - 2 * (form > 29)
        if not flags & 2:
            pc = self.pc + self.distance() & M64
            assert pc < 1 << (20 if self.version == 1 else 32)
        if not flags & 12:
            addr = self.addr[kind] + self.distance() & M64
        elif not flags & 4:
            addr = self.addr[kind] + (1 if kind in STEP_OF_1 else 4) & M64
        where = ((addr ^ kind << 40) * 0x9e3779b97f4a7c15 & M64) >> 40
        value = self.values[where % 4096] if flags & 16 else self.value(form)
        self.places[slot] = form, sub, pc, addr
        self.values[where % 4096] = value
        self.addr[kind] = addr
        self.pc, self.tag = pc, form + 32 * sub
        return kind, sub, self.who, pc, addr, value


def columns(kind, sub, pc, addr, value):
    keyword, order, words = KINDS[kind]
    out = [keyword]
    for letter in order:
        if letter == "r":
            regs = [i for i in range(32) if value >> i & 1]
            out += ["$%02x=0x%08x" % (reg, addr >> 32 * i & 0xffffffff)
                    for i, reg in enumerate(regs)] or ["-"]
            continue
        out.append({"n": "%d" % value, "a": "0x%016x" % addr, "o": "0x%04x" % (addr & 0xffffffff),
                    "v": "0x%08x" % value, "s": words[sub] if words else "", "p": "%d" % pc,
                    "q": "%d" % addr, "c": "0x%04x" % pc}[letter])
    return " ".join(out)


def read(data):
    """Yields the head's text, then a line an event."""
    assert data[:8] in (b"CPTRACE1", b"CPTRACE2")
    version = data[7] - ord("0")
    size, = struct.unpack_from("<I", data, 8)
    head, at = data[16:16 + size], 16 + size
    assert struct.unpack_from("<I", data, 12) == (zlib.crc32(head),), "checksum of the head"
    yield head.decode()
    many = "# processors yes\n" in head.decode()
    index, total = [], 0
    while True:
        magic, events = struct.unpack_from("<II", data, at)
        if magic == 0x58444943:
            break
        raw_size, packed = struct.unpack_from("<II", data, at + 8)
        assert magic == 0x4d524643
        index += [at, total]
        frame = Frame(unzstd(data[at + 16:at + 16 + packed], raw_size), version)
        for _ in range(events):
            kind, sub, who, pc, addr, value = frame.event()
            name = CPUS[who] + " " if many and CPUS[who] else ""
            yield name + columns(kind, sub, pc, addr, value) + "\n"
        assert frame.at == raw_size
        at, total = at + 16 + packed, total + events
    assert list(struct.unpack_from("<%dQ" % len(index), data, at + 8)) == index and events * 2 == len(index)
    tail = at + 8 + 16 * events
    assert struct.unpack_from("<QQ", data, tail) == (total, at) and data[tail + 16:] == b"CPTEND1\n"


if __name__ == "__main__":
    sys.stdout.writelines(read(open(sys.argv[1], "rb").read()))

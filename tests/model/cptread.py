#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of `.cpt`, versions 1 to 3, written from docs/formats.md: prints what the text form would hold, without
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
PKT, REG, STEP_OF_1, STEP_OF_0 = 1, 2, (2, 3, 4, 5, 19), (10, 11)
M64 = (1 << 64) - 1
MIX = 0x9e3779b97f4a7c15


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


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

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


class OldFrame(Bytes):
    """Of versions 1 and 2."""

    def __init__(self, data, version):
        super().__init__(data)
        self.version = version
        self.who = self.pc = self.tag = 0
        self.addr = [0] * 256
        self.places = [(0, 0, 0, 0)] * 1024
        self.values = [0] * 4096

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


class Frame(Bytes):
    """Of version 3."""

    def __init__(self, data):
        super().__init__(data)
        self.who = 0
        self.places, self.pcs, self.headers = {}, {}, {}  # by processor: number of the place, pc, header
        self.place = [((0, 0, 0, 0), 0)] * 1024  # (kind, sub, processor, pc), addr
        self.next, self.runs, self.registers, self.values = {}, {}, {}, {}
        self.opened = None  # (run, register) of a type-4 packet without registers before this event
        self.ready = []

    def header(self):
        first = self.byte()
        if first == 127:
            return self.number()
        if first & 128:
            opcode, count = first & 127, self.number()
            return 7 << 28 | odd_parity(opcode) << 23 | opcode << 16 | odd_parity(count) << 15 | count
        reg = self.distance() + self.next.get(REG, 0) & M64
        assert reg < 1 << 18
        return 4 << 28 | odd_parity(reg) << 27 | reg << 8 | odd_parity(first) << 7 | first

    def value(self, kind, who, addr):
        """The table and the key in it that has the last value."""
        if kind == REG:
            return self.registers, ((addr & 0xffffffff) + (addr >> 32) * 0x9e37) % 16384
        what = self.headers.get(who, 0) if kind == PKT else addr
        return self.values, ((what ^ kind << 40) * MIX & M64) >> 40 & 4095

    def behind(self, kind, sub, who, pc, value):
        """What the next event of the processor finds."""
        opcode = 128 | value >> 16 & 127 if kind == PKT and value >> 28 == 7 else 0
        tag = kind | sub << 8 | who << 16 | opcode << 24
        self.places[who] = pc + ((tag * 0x9e3779b1 & 0xffffffff) >> 22) & 1023
        self.pcs[who], self.who = pc, who

    def learn(self, kind, sub, who, pc, addr, value):
        step = 1 if kind in STEP_OF_1 else 0 if kind in STEP_OF_0 else 4
        if kind == PKT:
            step = 4 + 4 * (value & 0x7f if value >> 28 == 4 else value & 0x3fff if value >> 28 == 7 else 0)
        self.next[(PKT, sub % 8) if kind == PKT else kind] = addr + step & M64
        if kind == REG and self.opened and self.who == who:
            run, reg = self.opened
            self.runs[run] = (kind, sub, who, pc), addr - reg & M64
        self.opened = None
        if kind == PKT:
            self.headers[who] = value
            if value >> 28 == 4 and value & 127:
                self.opened = (who * 8 + sub % 8) % 128, value >> 8 & 0x3ffff
        self.behind(kind, sub, who, pc, value)

    def run_behind(self, sub, who, header):
        """The registers of a packet, as events."""
        count = header & 127
        assert header >> 28 == 4 and count
        head, base = self.runs[(who * 8 + sub % 8) % 128]
        codes = [self.byte() for _ in range((count + 3) // 4)]
        codes = [byte >> 2 * i & 3 for byte in codes for i in range(4)]
        assert not any(codes[count:])
        for i in range(count):
            addr = base + (header >> 8 & 0x3ffff) + i & M64
            table, key = self.value(REG, head[2], addr)
            size = (0, 1, 2, 4)[codes[i]]
            if size:
                table[key] = sum(self.byte() << 8 * k for k in range(size))
            self.ready.append(head + (addr, table.get(key, 0)))
        self.next[REG] = addr + 1 & M64
        self.opened = None
        self.behind(*head, 0)

    def event(self):
        if self.ready:
            return self.ready.pop(0)
        flags = self.byte()
        assert flags & 33 != 33 and flags & 12 != 12
        who = self.number() if flags & 128 else self.who
        place = self.places.get(who, 0)
        (kind, sub, _, pc), addr = self.place[place]
        if flags & 32:
            kind, sub = self.number(), self.number()
            assert kind > 31 or sub > 7
        elif not flags & 1:
            tag = self.byte()
            kind, sub = tag & 31, tag >> 5
        if not flags & 2:
            pc = self.pcs.get(who, 0) + self.distance() & M64
            assert pc < 1 << 32
        if not flags & 4:
            addr = self.next.get((PKT, sub % 8) if kind == PKT else kind, 0)
            addr = addr + (0 if flags & 8 else self.distance()) & M64
        table, key = self.value(kind, who, addr)
        if not flags & 16:
            table[key] = self.header() if kind == PKT else self.number()
        value = table.get(key, 0)
        self.place[place] = (kind, sub, who, pc), addr
        self.learn(kind, sub, who, pc, addr, value)
        if flags & 64:
            self.run_behind(sub, who, value)
        return kind, sub, who, pc, addr, value


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
    assert data[:8] in (b"CPTRACE1", b"CPTRACE2", b"CPTRACE3")
    version = data[7] - ord("0")
    size, = struct.unpack_from("<I", data, 8)
    head, at = data[16:16 + size], 16 + size
    assert struct.unpack_from("<I", data, 12) == (zlib.crc32(head, zlib.crc32(data[:8]) if version > 2 else 0),), "checksum of the head"
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
        raw = unzstd(data[at + 16:at + 16 + packed], raw_size)
        frame = Frame(raw) if version > 2 else OldFrame(raw, version)
        for _ in range(events):
            kind, sub, who, pc, addr, value = frame.event()
            name = CPUS[who] + " " if many and CPUS[who] else ""
            yield name + columns(kind, sub, pc, addr, value) + "\n"
        assert frame.at == raw_size and (version < 3 or not frame.ready)
        at, total = at + 16 + packed, total + events
    assert list(struct.unpack_from("<%dQ" % len(index), data, at + 8)) == index and events * 2 == len(index)
    tail = at + 8 + 16 * events
    assert struct.unpack_from("<QQ", data, tail) == (total, at) and data[tail + 16:] == b"CPTEND1\n"


if __name__ == "__main__":
    sys.stdout.writelines(read(open(sys.argv[1], "rb").read()))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of `.cpt`, version 3, written from docs/formats.md: prints what the text form would hold, without
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
LAUNCH = ("draw", "indexed", "feedback", "dispatch", "blit", "resolve", "skipped")
WAIT = ("memory", "register", "control", "on-chip", "stream", "queue", "loop", "bad-packet", "fault")
KINDS = (("SUBMIT", "nap", ()), ("PKT", "sav", LEVEL), ("REG", "ovs", PATH), ("REGR", "ov", ()),
         ("PIPE", "ov", ()), ("CTRL", "ov", ()), ("MEMW", "avs", VIA), ("MEMR", "avs", VIA),
         ("PROT", "ov", ()), ("IRQ", "n", ()), ("STEP", "cr", ()), ("STEPX", "cr", ()),
         ("ASSUME", "sav", WHAT), ("UNMODELLED", "sa", PLACE), ("END", "snq", REASON),
         ("TICK", "q", ()), ("EXIT", "sv", EXIT), ("METHOD", "ov", ()), ("SQE", "ov", ()),
         ("WORD", "ov", ()), ("WAIT", "sav", WAIT),
         ("LAUNCH", "sov", LAUNCH), ("RECOVER", "snq", REASON))
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


def zstd(data):
    """One zstd frame with its checksum."""
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_createCCtx.restype = ctypes.c_void_p
    lib.ZSTD_freeCCtx.argtypes = (ctypes.c_void_p,)
    lib.ZSTD_CCtx_setParameter.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    lib.ZSTD_compressBound.restype, lib.ZSTD_compressBound.argtypes = ctypes.c_size_t, (ctypes.c_size_t,)
    lib.ZSTD_compress2.restype = ctypes.c_size_t
    lib.ZSTD_compress2.argtypes = (ctypes.c_void_p,) + (ctypes.c_char_p, ctypes.c_size_t) * 2
    context = lib.ZSTD_createCCtx()
    lib.ZSTD_CCtx_setParameter(context, 100, 3)  # level
    lib.ZSTD_CCtx_setParameter(context, 201, 1)  # checksum
    room = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(data)))
    size = lib.ZSTD_compress2(context, room, len(room), data, len(data))
    lib.ZSTD_freeCCtx(context)
    assert size <= len(room), "zstd failed"
    return room.raw[:size]


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


def dwords(header):
    """How many a packet has behind its header, whatever the parity."""
    return header & 0x7f if header >> 28 == 4 else header & 0x3fff if header >> 28 == 7 else 0


class Frame(Bytes):
    def __init__(self, data):
        super().__init__(data)
        self.events = [(0, 0, 0, 0, 0, 0)]  # kind, sub, processor, pc, addr, value
        self.expected = self.run = 0
        self.last, self.shift, self.next, self.same, self.behind = {}, {}, {}, {}, {}

    @staticmethod
    def stream(event):
        return (event[2] * 8 + event[1] % 8) % 128

    @staticmethod
    def about(event):
        return event[5] if event[0] == PKT else event[4]

    @staticmethod
    def mixed(event):
        return event[0] | event[1] << 8 | event[2] << 16 | event[3] << 32

    def number_of_same(self, event):
        return ((self.about(event) ^ self.mixed(event) * MIX) * MIX & M64) >> 40 & 8191

    def number_of_behind(self, event):
        kind, _, _, pc, _, value = event
        opcode = 128 | value >> 16 & 127 if kind == PKT and value >> 28 == 7 else 0
        tag = self.mixed(event) & 0xffffffff | opcode << 24
        return pc + ((tag * 0x9e3779b1 & 0xffffffff) >> 22) & 1023

    def alike(self, event):
        """The number of the event that this one repeats, or 0."""
        for number in self.expected, self.same.get(self.number_of_same(event), 0):
            other = self.events[number]
            if other[:4] == event[:4] and self.about(other) == self.about(event):
                return number
        return 0

    def shifted(self, event):
        """The addr of what is like this event."""
        return event[4] + (self.shift.get(self.stream(event), 0) if event[0] == PKT else 0) & M64

    def last_packet(self, event):
        return self.events[self.last.get(self.stream(event), 0)]

    def next_addr(self, event):
        if event[0] != PKT:
            return self.next.get(event[0], 0)
        return self.last_packet(event)[4] + 4 + 4 * dwords(self.last_packet(event)[5]) & M64

    def header(self, event):
        first = self.byte()
        if first == 127:
            return self.number()
        if first & 128:
            opcode, count = first & 127, self.number()
            return 7 << 28 | odd_parity(opcode) << 23 | opcode << 16 | odd_parity(count) << 15 | count
        before = self.last_packet(event)[5]
        reg = self.distance() + (before >> 8 & 0x3ffff) + (before & 127)
        assert 0 <= reg < 1 << 18
        return 4 << 28 | odd_parity(reg) << 27 | reg << 8 | odd_parity(first) << 7 | first

    def pass_one(self, event):
        self.events.append(event)
        self.expected += 1

    def take_expected(self):
        event = self.events[self.expected]
        if event[0] == PKT:
            event = event[:4] + (self.shifted(event),) + event[5:]
            self.last[self.stream(event)] = len(self.events)
        self.run -= 1
        self.pass_one(event)

    def learn_packet(self, event, alike):
        stream = self.stream(event)
        self.last[stream] = len(self.events)
        if alike:
            self.shift[stream] = event[4] - self.events[alike][4] & M64
        if event[5] >> 28 == 4:
            self.next[REG] = self.next.get(REG, 0) & ~0x3ffff | event[5] >> 8 & 0x3ffff

    def learn(self, event):
        """What another event than the expected one says."""
        kind = event[0]
        alike = self.alike(event)
        if kind == PKT:
            self.learn_packet(event, alike)
        else:
            self.next[kind] = event[4] + (1 if kind in STEP_OF_1 else 0 if kind in STEP_OF_0 else 4) & M64
        behind = self.number_of_behind(event)
        self.expected = (alike or self.behind.get(behind, 0) or len(self.events) - 1) + 1
        self.same[self.number_of_same(event)] = self.behind[behind] = len(self.events)
        self.events.append(event)

    def value(self, flags, event):
        expected = self.events[self.expected]
        packet = event[0] == PKT
        value = (expected[5] if expected[0] == PKT else 0) if packet else self.events[self.alike(event)][5]
        if flags & 16:
            return value
        return self.header(event) if packet else value + self.distance() & 0xffffffff

    def one(self, flags):
        assert flags & 33 != 33 and flags & 12 != 12
        expected = self.events[self.expected]
        kind, sub, who, pc = expected[:4]
        if flags & 128:
            who = self.number()
        if flags & 32:
            kind, sub = self.number(), self.number()
            assert kind > 31 or sub > 7
        elif not flags & 1:
            tag = self.byte()
            kind, sub = tag & 31, tag >> 5
        if not flags & 2:
            pc = self.events[-1][3] + self.distance()
            assert 0 <= pc < 1 << 32
        event = kind, sub, who, pc, 0, 0
        addr = self.shifted(expected) if flags & 4 or flags & 9 == 1 else self.next_addr(event)
        addr = addr + (0 if flags & 12 else self.distance()) & M64
        event = kind, sub, who, pc, addr, 0
        event = kind, sub, who, pc, addr, self.value(flags, event)
        if event[:5] == expected[:5] and kind != PKT:
            self.pass_one(event)
        else:
            self.learn(event)

    def event(self):
        flags = 64 if self.run else self.byte()
        if flags & 64 and not self.run:
            assert flags < 128
            self.run = flags & 63 or 64 + self.number()
        if flags & 64:
            self.take_expected()
        else:
            self.one(flags)
        return self.events[-1]


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
    assert data[:8] == b"CPTRACE3"
    size, = struct.unpack_from("<I", data, 8)
    head, at = data[16:16 + size], 16 + size
    assert struct.unpack_from("<I", data, 12) == (zlib.crc32(head, zlib.crc32(data[:8])),), "checksum of the head"
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
        frame = Frame(raw)
        for _ in range(events):
            kind, sub, who, pc, addr, value = frame.event()
            name = CPUS[who] + " " if many and CPUS[who] else ""
            yield name + columns(kind, sub, pc, addr, value) + "\n"
        assert frame.at == raw_size and not frame.run
        at, total = at + 16 + packed, total + events
    assert list(struct.unpack_from("<%dQ" % len(index), data, at + 8)) == index and events * 2 == len(index)
    tail = at + 8 + 16 * events
    assert struct.unpack_from("<QQ", data, tail) == (total, at) and data[tail + 16:] == b"CPTEND1\n"


if __name__ == "__main__":
    sys.stdout.writelines(read(open(sys.argv[1], "rb").read()))

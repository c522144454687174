# SPDX-License-Identifier: MIT
"""A writer of `.cpt` versions 1 and 2, from docs/formats.md as it described them: nothing else writes such
files any more. An event is (kind, sub, processor, pc, addr, value)."""
import ctypes
import ctypes.util
import struct
import zlib

PKT, REG, STEP_OF_1 = 1, 2, (2, 3, 4, 5, 19)
M64 = (1 << 64) - 1
FRAME_EVENTS = 65536


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


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def distance(value):
    value &= M64
    return number((value << 1 & M64) ^ (M64 if value >> 63 else 0))


def odd_parity(value):
    return bin(value).count("1") & 1 ^ 1


def type7(opcode, count):
    return 7 << 28 | odd_parity(opcode) << 23 | opcode << 16 | odd_parity(count) << 15 | count


def type4(reg, count):
    return 4 << 28 | odd_parity(reg) << 27 | reg << 8 | odd_parity(count) << 7 | count


class Frame:
    def __init__(self, version):
        self.version = version
        self.out = bytearray()
        self.who = self.pc = self.tag = 0
        self.addr = [0] * 32
        self.places = [(0, 0, 0)] * 1024
        self.values = [0] * 4096

    def form(self, kind, value):
        """Of the value, and the value in that form."""
        if kind == PKT and value == type7(value >> 16 & 0x7f, value & 0x3fff):
            return 28, bytes([value >> 16 & 0x7f]) + number(value & 0x3fff)
        if kind == PKT and value == type4(value >> 8 & 0x3ffff, value & 0x7f):
            return 29, distance((value >> 8 & 0x3ffff) - self.addr[REG]) + number(value & 0x7f)
        return kind, number(value)

    def event(self, kind, sub, who, pc, addr, value):
        assert kind < 28 and sub < 8 and who < 128 and pc < 1 << (20 if self.version == 1 else 32)
        form, coded = self.form(kind, value)
        tag = form | sub << 5
        mix = (self.pc * 2654435761 ^ self.tag * 40503 ^ who * 7919) & 0xffffffff
        slot = (mix ^ mix >> 15) % 1024
        where = (((addr ^ kind << 40) * 0x9e3779b97f4a7c15 & M64) >> 40) % 4096
        known = self.places[slot]
        step = self.addr[kind] + (1 if kind in STEP_OF_1 else 4) & M64
        flags = (1 * (known[0] == tag) + 2 * (known[1] == pc) + 16 * (self.values[where] == value)
                 + (4 if known[2] == addr else 8 if step == addr else 0) + 128 * (who != self.who))
        self.out += bytes([flags])
        self.out += bytes([who]) if flags & 128 else b""
        self.out += b"" if flags & 1 else bytes([tag])
        self.out += b"" if flags & 2 else distance(pc - self.pc)
        self.out += b"" if flags & 12 else distance(addr - self.addr[kind])
        self.out += b"" if flags & 16 else coded
        self.places[slot], self.values[where], self.addr[kind] = (tag, pc, addr), value, addr
        self.who, self.pc, self.tag = who, pc, tag


def write(head, events, version):
    """The bytes of the file."""
    head = head.encode()
    out = bytearray(b"CPTRACE%d" % version + struct.pack("<II", len(head), zlib.crc32(head)) + head)
    index = b""
    for first in range(0, len(events), FRAME_EVENTS):
        frame = Frame(version)
        some = events[first:first + FRAME_EVENTS]
        for event in some:
            frame.event(*event)
        packed = zstd(bytes(frame.out))
        index += struct.pack("<QQ", len(out), first)
        out += struct.pack("<IIII", 0x4d524643, len(some), len(frame.out), len(packed)) + packed
    at = len(out)
    out += struct.pack("<II", 0x58444943, len(index) // 16) + index
    return bytes(out + struct.pack("<QQ", len(events), at) + b"CPTEND1\n")

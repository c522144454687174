# SPDX-License-Identifier: MIT
"""Checks an answer of `cpscope why --json` with nothing but the capture: each node against its inputs, by
arithmetic of its own, and each word that is said to stand in the capture against the capture's bytes."""
import gzip
import struct

import pm4text

GPUADDR, CONTENTS, CMDSTREAM = 3, 12, 6
MASK = 0xffffffff


def sections(data):
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        at += 8
        if (kind, size) == (MASK, MASK):
            continue
        yield kind, at, size
        at += size


class Rd:
    """An .rd capture: which byte of the file is which address."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        if self.data[:2] == b"\x1f\x8b":
            self.data = gzip.decompress(self.data)
        self.blocks, iova = [], 0
        for kind, at, size in sections(self.data):
            if kind == GPUADDR:
                words = struct.unpack_from("<%dI" % (size // 4), self.data, at)
                iova = words[0] | (words[2] << 32 if len(words) > 2 else 0)
            elif kind == CONTENTS:
                self.blocks.append((at, at + size, iova))

    def word(self, node):
        """The word that the capture has where the node says; None: it says no place."""
        if "byte" not in node:
            return None
        byte, place = node["byte"], int(node["place"], 16)
        for first, end, iova in self.blocks:
            if first <= byte < end:
                assert iova + byte - first == place, "byte 0x%x is at 0x%x, not 0x%x" % (
                    byte, iova + byte - first, place)
                return struct.unpack_from("<I", self.data, byte)[0]
        raise AssertionError("byte 0x%x is in no contents" % byte)


class Text:
    """PM4 text: what memory holds in each submission, by a second reader of that form."""

    def __init__(self, path):
        self.memory = [submission.memory for submission in pm4text.read(open(path).read())[1]]

    def word(self, node):
        if "line" not in node:
            return None
        place = int(node["place"], 16)
        found = {memory[place] for memory in self.memory if place in memory}
        assert len(found) == 1, "the text has %s at 0x%x" % (found, place)
        return found.pop()


def capture(path):
    return Text(path) if path.endswith(".pm4") else Rd(path)


def field(b):
    low, high = b & 31, b >> 5 & 31
    return low, (2 << (high - low & 31)) - 1


def bfi(a, b, d, _):
    low, mask = field(b)
    return d & ~(mask << low) | (a & mask) << low


def setbit(a, b, _, __):
    bit = b >> 1 & 31
    return a & ~(1 << bit) | (b & 1) << bit


def signed(a):
    return a - (1 << 32) if a >> 31 else a


OPS = {
    "add": lambda a, b, d, c: a + b, "addhi": lambda a, b, d, c: a + b + c,
    "sub": lambda a, b, d, c: a - b, "subhi": lambda a, b, d, c: a - b + signed(c),
    "and": lambda a, b, d, c: a & b, "or": lambda a, b, d, c: a | b, "xor": lambda a, b, d, c: a ^ b,
    "not": lambda a, b, d, c: ~b, "bic": lambda a, b, d, c: a & ~b,
    "shl": lambda a, b, d, c: a << b if b < 32 else 0, "ushr": lambda a, b, d, c: a >> b if b < 32 else 0,
    "ishr": lambda a, b, d, c: signed(a) >> (b & 31),
    "rot": lambda a, b, d, c: a << (b & 31) | a >> (-b & 31),
    "mul8": lambda a, b, d, c: (a & 255) * (b & 255), "mul16": lambda a, b, d, c: (a & 65535) * (b & 65535),
    "min": lambda a, b, d, c: min(a, b), "max": lambda a, b, d, c: max(a, b),
    "cmp": lambda a, b, d, c: 0 if a > b else 0x2b if a == b else 0x1e,
    "msb": lambda a, b, d, c: max(b.bit_length() - 1, 0), "popcount": lambda a, b, d, c: bin(b).count("1"),
    "clrbit": lambda a, b, d, c: a & ~(1 << (b & 31)),
    "ubfx": lambda a, b, d, c: a >> field(b)[0] & field(b)[1], "bfi": bfi, "mov": lambda a, b, d, c: b,
}
COPIES = ("reg", "ctrl", "sqe", "memw", "word", "memory", "passed", "read", "cread", "sread")
CARRY = 33


class Chain:
    def __init__(self, answer, source):
        self.nodes, self.source = answer["nodes"], source
        self.leaves, self.computes = set(), False
        self.seen = set()

    def value(self, at):
        return 0 if at is None else int(self.nodes[at]["value"], 16)

    def compute(self, node):
        a, b, third = (self.value(at) for at in node["in"])
        b = int(node["imm"], 16) if "imm" in node else b
        if node["op"] == "setbit":
            return a | 1 << (b & 31) if node["bit"] else setbit(a, b, 0, 0)
        if node["dst"] == CARRY:
            return OPS[node["op"]](a, b, 0, 0) >> 32 & MASK
        return OPS[node["op"]](a, b, third, third) & MASK

    def leaf(self, kind):
        self.leaves.add(kind)

    def check_insn(self, node):
        if node["in"] == [None] * 3:
            self.leaf("constant")
            if "imm" not in node:             # $00, or where a call returns to
                return None
        self.computes |= not (node["op"] == "or" and node["in"][0] is None and "imm" not in node)
        return self.compute(node)

    def check_hardware(self, node, value):
        """What only hardware can say; the rest of its inputs is followed all the same."""
        self.leaf(node["kind"])
        return value

    def expected(self, node, value):
        kind, first = node["kind"], node["in"][0] if node.get("in") else None
        if -1 in node.get("in", []):          # what is left out of a long chain cannot be checked
            self.leaf("cut")
            return value
        if kind == "insn":
            found = self.check_insn(node)
            return value if found is None else found
        if kind == "offset":
            return self.value(first) + int(node["place"], 16) & MASK
        if kind == "header":
            header = self.value(first)
            return (header & (0x7f if header >> 28 == 4 else 0x7fff)) + 1
        if kind == "remains":
            return value if value <= self.value(first) else -1
        if kind == "pipe" and self.value(first) & 0xffffff == value:
            return value
        word = self.source.word(node) if kind in ("word", "memory", "packet") else None
        if kind in COPIES + ("pipe",) and (first is not None or kind in ("reg", "ctrl", "pipe", "memw", "sqe")):
            return self.value(first)
        if word is not None:
            self.leaf("capture")
            return word
        return self.check_hardware(node, value)

    def check_node(self, at):
        node, value = self.nodes[at], self.value(at)
        expected = self.expected(node, value)
        assert expected == value, "0x%x expected of %s" % (expected, node)
        return [] if node["kind"] == "cut" else [inner for inner in node["in"] if inner is not None and inner >= 0]

    def walk(self, root):
        """All that the value is made of; packets and streams only say where that was."""
        waiting = [root]
        while waiting:
            at = waiting.pop()
            if at not in self.seen:
                self.seen.add(at)
                waiting += self.check_node(at)

    def check(self):
        """Checks all, and says what the value is: where it ends, and whether it was computed."""
        self.walk(0)
        ends = self.leaves - {"constant"} or {"constant"}
        return ("computed of " if self.computes else "") + "+".join(sorted(ends))

# SPDX-License-Identifier: MIT
"""A second reader of PM4 text, written from docs/pm4-text.md. It knows the names of the opcodes in
pm4ops.py and those names of registers that texts of the project use; else numbers only."""
import re

import pm4ops

FIRST = "# cpscope-pm4 1"
# rnndb's a6xx.xml
REGISTERS = {"GRAS_CL_CNTL": 0x8000, "GRAS_CL_VIEWPORT[0].XOFFSET": 0x8010, "RB_MRT[0].CONTROL": 0x8820, "RB_BLEND_CNTL": 0x8865,
             "RB_STENCIL_REF_CNTL": 0x8887, "PC_RESTART_INDEX": 0x9803, "CP_SCRATCH[2].REG": 0x885}


class TextError(Exception):
    pass


class Submission:
    """Memory as it was at a `submit`, and the stream: address and size in dwords."""

    def __init__(self, memory, iova, dwords):
        self.memory, self.iova, self.dwords = memory, iova, dwords


class Buffer:
    def __init__(self, iova, name):
        self.iova, self.name, self.packets = iova, name, []    # lists of tokens, each with its line

    def dwords(self):
        return sum(size(words) for _, words in self.packets)


def size(words):
    """Dwords of a line's packet: @name is two, everything else one; .word makes no header."""
    payload = sum(2 if word.startswith("@") else 1 for word in words[1:])
    if words[0] == "reg":
        return payload                        # the register's number goes into the header
    return payload + (words[0] != ".word")


def number(line, word):
    if not re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", word):
        raise TextError("line %d: a number was expected, not '%s'" % (line, word))
    return int(word, 16 if word[:2].lower() == "0x" else 10)


class Reader:
    def __init__(self):
        self.generation, self.buffers, self.submissions, self.pending = None, {}, [], []
        self.order = []

    def chip(self, line, words):
        value = number(line, words[1])
        if words[0] == "gpu":
            self.generation = value // 100
        else:
            family = value >> 24 & 0xff       # 0x43...: a7xx, 0x44...: a8xx, older ones say it directly
            self.generation = {0x43: 7, 0x44: 8}.get(family, family)

    def line(self, line, words):
        if words[0] in ("gpu", "chip"):
            self.chip(line, words)
        elif words[0] == "buffer":
            name = words[2] if len(words) > 2 else words[1]
            self.order.append(Buffer(number(line, words[1]), name))
        elif words[0] == "submit":
            self.submit(line, words[1])
        elif words[0] == "reset":
            self.order = []
        elif not self.order:
            raise TextError("line %d: '%s' before the first buffer" % (line, words[0]))
        else:
            self.order[-1].packets.append((line, words))

    def submit(self, line, name):
        found = [buffer for buffer in self.order if buffer.name == name]
        if not found:
            raise TextError("line %d: no buffer '%s'" % (line, name))
        self.submissions.append((list(self.order), found[-1]))

    def value(self, names, line, word):
        """The dwords that a word stands for."""
        if word[0] not in "@#":
            return [number(line, word) & 0xffffffff]
        if word[1:] not in names:
            raise TextError("line %d: no buffer '%s'" % (line, word[1:]))
        buffer = names[word[1:]]
        if word[0] == "#":
            return [buffer.dwords()]
        return [buffer.iova & 0xffffffff, buffer.iova >> 32]

    def packet(self, names, line, words):
        first, rest = words[0], words[1:]
        if first == "reg":
            register, rest = REGISTERS.get(rest[0]) or number(line, rest[0]), rest[1:]
        payload = [dword for word in rest for dword in self.value(names, line, word)]
        if first == ".word":
            return payload
        if first == "reg":
            return [pm4ops.header4(register, len(payload))] + payload
        if first not in pm4ops.NUMBERS:
            raise TextError("line %d: the walker knows no packet '%s'" % (line, first))
        return [pm4ops.header7(pm4ops.NUMBERS[first], len(payload))] + payload

    def memory(self, buffers):
        names, memory = {buffer.name: buffer for buffer in buffers}, {}
        for buffer in buffers:
            at = buffer.iova
            for line, words in buffer.packets:
                for dword in self.packet(names, line, words):
                    memory[at] = dword
                    at += 4
        return memory


def read(text):
    """The generation, and the submissions in order."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != FIRST:
        raise TextError("line 1: '%s' was expected" % FIRST)
    reader = Reader()
    for at, full in enumerate(lines[1:], 2):
        words = full.split(";")[0].split()
        if words:
            reader.line(at, words)
    return reader.generation, [Submission(reader.memory(buffers), stream.iova, stream.dwords())
                               for buffers, stream in reader.submissions]


def put_in_front(text, front):
    """The text with packets in front of the stream that it submits. The buffer begins earlier, so
    that every dword that was there keeps its address."""
    lines, packets = text.splitlines(), [line.split(";")[0].split() for line in front.splitlines()]
    packets = [words for words in packets if words]
    names = [line.split(";")[0].split()[1] for line in lines if line.startswith("submit ")]
    if len(set(names)) != 1:
        raise TextError("packets go in front of one submission, not of %d" % len(set(names)))
    room = 4 * sum(size(words) for words in packets)
    for at, line in enumerate(lines):
        words = line.split(";")[0].split()
        if words[:1] == ["buffer"] and words[-1] == names[0]:
            lines[at:at + 1] = ["buffer 0x%x %s" % (number(at + 1, words[1]) - room, names[0])] + \
                ["    " + " ".join(words) for words in packets]
            break
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: MIT
"""Reads what Mesa's cffdump prints of a capture: packets with their fields, and the registers at each launch."""
import re

HEAD = re.compile(r"(\t+)draw\[(\d+)\] register values$")
ROW = re.compile(r"([! ])([+ ])[? ]\t([0-9a-f]{8,16})\t+([^ :]+): ([^\t]*)")
WORDS = re.compile(r"([0-9a-f]{16}):(\t+)0000: ([0-9a-f]{8})")
OPCODE = re.compile(r"(\t+)opcode: (\w+) ")
FIELDS = re.compile(r"(\t+)\{ (.*) \}$")
NOP = 0x10


def name_of(text):
    return re.sub(r"\[0x([0-9a-f]+)\]", lambda found: "[%d]" % int(found[1], 16), text)


def fields_of(text):
    """Of "{ A = B | FLAG | 0x4 }": [("A", "B"), ("FLAG", True), ("no-name", "0x4")]."""
    found = []
    for item in text.strip("{} ").split(" | "):
        name, _, value = item.partition(" = ")
        if value:
            found.append((name, value))
        elif re.match(r"0x[0-9a-f]+$", name):
            found.append(("no-name", name))
        elif name != "0":
            found.append((name, True))
    return found


class Log:
    """
    draws    [{number, address or None, rows: {name: (changed, written, value, text)}}]
    packets  {address: (name, header, fields)}, each once
    nops     where payload is skipped, [(address of the header, of the last word)]
    """

    def __init__(self, path):
        self.draws, self.packets, self.nops, self.depth, self.open = [], {}, [], None, {}
        with open(path, errors="replace") as lines:
            for line in lines:
                self.take(line)
        assert self.draws, "%s: no register values of a draw" % path

    def take(self, line):
        head, row, opcode, fields, words = (what.match(line) for what in (HEAD, ROW, OPCODE, FIELDS, WORDS))
        if head:
            self.depth = len(head[1])
            self.draws.append({"number": int(head[2]), "address": None, "rows": {}})
        elif row and self.depth:
            self.draws[-1]["rows"][name_of(row[4])] = (row[1] == "!", row[2] == "+", int(row[3], 16), row[5].strip())
        elif opcode:   # its words come behind its fields, and behind those of what it calls
            self.open[len(opcode[1])] = (opcode[2], [])
        elif fields and len(fields[1]) - 1 in self.open:
            self.open[len(fields[1]) - 1][1].extend(fields_of(fields[2]))
        elif words:
            self.take_words(int(words[1], 16), len(words[2]), int(words[3], 16))

    def take_words(self, address, depth, header):
        if header >> 28 == 7 and header >> 16 & 0x7f == NOP:
            self.nops.append((address, address + (header & 0x3fff) * 4))
        if header >> 28 == 7 and depth in self.open:
            name, fields = self.open.pop(depth)
            self.packets.setdefault(address, (name, header, fields))
        if depth == self.depth:   # the words of the packet that drew, behind its block
            self.draws[-1]["address"], self.depth = address, None

    def skips(self, address):
        """Mesa puts the other branch of a condition into a CP_NOP, of which the condition skips the header."""
        return any(first < address <= last for first, last in self.nops)

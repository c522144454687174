#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names, built in and with --rnn, against a second reader of rnndb's XML: every number of every layout with
its bit fields. Usage: corpus_names.py DUMP TABLE..., where DUMP [DIR] prints all names."""
import collections
import math
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree

import tap

DUMP, TABLES = sys.argv[1], sys.argv[2:]
CORPUS = os.environ.get("CPSCOPE_CORPUS")
ALL = frozenset(range(2, 10))
PACKET, EVENT = "adreno_pm4_type3_packets", "vgt_event_type"
FIRST = {5: "a5xx.xml", 6: "a6xx.xml", 7: "a6xx.xml", 8: "a6xx.xml"}
# The generation of each layout, and the domain or enum that holds its names of each space.
LAYOUTS = {
    "A5XX_PFP": (5, {"gpu": "A5XX", "control": "A5XX_CONTROL_REG", "pipe": "A5XX_PIPE_REG"}),
    "A5XX_ME": (5, {"gpu": "A5XX", "control": "A5XX_CONTROL_REG", "pipe": "A5XX_PIPE_REG"}),
    "A6XX": (6, {"gpu": "A6XX", "control": "A6XX_CONTROL_REG", "sqe": "A6XX_SQE_REG", "pipe": "A6XX_PIPE_REG"}),
    "A660": (6, {"gpu": "A6XX", "control": "A6XX_CONTROL_REG", "sqe": "A6XX_SQE_REG", "pipe": "A6XX_PIPE_REG"}),
    "A7XX": (7, {"gpu": "A6XX", "control": "A7XX_CONTROL_REG", "sqe": "A6XX_SQE_REG", "pipe": "A7XX_PIPE_REG"}),
    "A7XX_GEN3": (7, {"gpu": "A6XX", "control": "A7XX_GEN3_CONTROL_REG", "sqe": "A6XX_SQE_REG", "pipe": "A7XX_PIPE_REG"}),
    "A8XX": (8, {"gpu": "A6XX", "control": "A7XX_GEN3_CONTROL_REG", "sqe": "A6XX_SQE_REG", "pipe": "A7XX_PIPE_REG"}),
}
WORDS = {"uint", "int", "float", "fixed", "ufixed", "address", "waddress", "a3xx_regid"}
# Of every generation in the tree, and of a2xx alone in Mesa's later one.
NARROWED = {"CP_EVENT_WRITE_SHD", "CP_EVENT_WRITE_CFL", "CP_EVENT_WRITE_ZPD", "CP_IM_LOAD", "CP_IM_LOAD_IMMEDIATE"}
SECOND_NAMES = {"CP_MEM_TO_OC_MEM", "CP_CONTEXT_REG_BUNCH2"}  # found by name only

Row = collections.namedtuple("Row", "name chips wide gmu type fields")


Field = collections.namedtuple("Field", "name low high chips type radix shift")


def real(value):
    """As few digits as give the same float back."""
    for count in (6, 9):
        text = "%.*g" % (count, value)
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            break
    return text if not math.isfinite(value) or "." in text or "e" in text else text + ".0"


def digits(text):
    """The generations that a `variants` means."""
    found = set()
    for first, dash, last in re.findall(r"A(\d)XX(-?)(?:A(\d)XX)?", text or ""):
        found |= set(range(int(first), int(last or (9 if dash else first)) + 1))
    return frozenset(found) or ALL


class Tree:
    """Rows by domain and number, as a file says them together with what it imports."""

    def __init__(self, folder, *files):
        self.folder, self.seen, self.rows, self.bitsets = folder, set(), {}, {}
        for file in files:
            self.load(file)

    def load(self, file):
        path = os.path.join(self.folder, file)
        if file in self.seen or not os.path.exists(path):
            return
        self.seen.add(file)
        self.read(xml.etree.ElementTree.parse(path).getroot(), None, ALL, True, [("", 0)], file == "a6xx_gmu.xml")

    def fields(self, element, chips, by_chip):
        found = []
        for field in element.findall("{*}bitfield"):
            low = int(field.get("low", field.get("pos", "0")), 0)
            varset = field.get("varset", "chip" if by_chip else "")
            own = digits(field.get("variants")) if varset == "chip" else ALL
            found.append(self.field(field, field.get("name"), low, int(field.get("high", str(low)), 0), chips & own))
        return found

    def field(self, e, name, low, high, chips):
        return Field(name, low, high, chips, e.get("type"), int(e.get("radix", "0")), int(e.get("shr", "0")))

    def whole(self, e, chips, wide):
        """A register that is one value, which its type says."""
        if e.get("type") is None and e.get("high") is None and e.get("pos") is None:
            return []
        low = int(e.get("low", e.get("pos", "0")), 0)
        last = low if e.get("pos") else 63 if wide else 31
        return [self.field(e, "", low, int(e.get("high", str(last)), 0), chips)]

    def value(self, field, bits, width, generation):
        """As the type says; @bits of @width bits."""
        row = self.best(field.type, bits, generation)
        if row:
            return row.name
        signed = bits - (1 << width) if bits >> (width - 1) else bits
        if field.type in ("uint", "int"):
            return "%d" % ((bits if field.type == "uint" else signed) << field.shift)
        if field.type in ("fixed", "ufixed"):
            return real((signed if field.type == "fixed" else bits) / (1 << field.radix))
        if field.type == "float" and width in (16, 32):
            packed = bits.to_bytes(width // 8, "little")
            return real(struct.unpack("<e" if width == 16 else "<f", packed)[0])
        return "r%d.%s" % (bits >> 2, "xyzw"[bits & 3]) if field.type == "a3xx_regid" else "0x%x" % (bits << field.shift)

    def shown(self, fields, half, word, generation):
        words, left = [], 0xffffffff
        for f in fields:
            low, high = max(f.low, half * 32), min(f.high, half * 32 + 31)
            if generation not in f.chips or low > high:
                continue
            width, is_whole = high - low + 1, (low, high) == (f.low, f.high)
            bits = word >> (low - half * 32) & ((1 << width) - 1)
            left &= ~(((1 << width) - 1) << (low - half * 32)) if f.name else 0
            text = self.value(f if is_whole else f._replace(type=None, shift=0), bits, width, generation)
            if not f.name:
                is_plain = not f.shift and f.type in (None, "hex", "boolean", "void", "a6xx_reg_xy")
                if is_whole and not (is_plain or (text == "0x%x" % bits and f.type not in WORDS and not f.shift)):
                    words.append(text)
            elif is_whole and width == 1 and f.type in (None, "boolean"):
                words += [f.name] if bits else []
            else:
                words.append("%s=%s" % (f.name, text))
        return words + (["no-name=0x%x" % (left & word)] if left & word and any(f.name for f in fields) else [])

    def put(self, domain, number, row):
        self.rows.setdefault((domain, number), []).append(row)

    def read(self, parent, domain, chips, by_chip, places, gmu):
        """@places: prefix and base of each element of the arrays around @parent."""
        for e in parent:
            kind = e.tag.split("}")[1] if isinstance(e.tag, str) else ""
            is_by_chip = e.get("varset") == "chip" if e.get("varset") else by_chip
            own = chips & digits(e.get("variants")) if is_by_chip else chips
            if kind == "import":
                self.load(os.path.basename(e.get("file")))
            elif kind in ("domain", "stripe", "database"):
                self.read(e, e.get("name") if kind == "domain" else domain, own, is_by_chip, places, gmu)
            elif kind == "bitset":
                self.bitsets.setdefault(e.get("name"), self.fields(e, own, is_by_chip))
                self.read(e, None, own, is_by_chip, [("", 0)], gmu)
            elif kind == "enum":
                for value in e.findall("{*}value[@value]"):
                    own_value = own & digits(value.get("variants")) if is_by_chip else own
                    self.put(e.get("name"), int(value.get("value"), 0), Row(value.get("name"), own_value, False, gmu, None, []))
            elif kind in ("array", "reg32", "reg64"):
                self.place(e, kind, domain, own, is_by_chip, places, gmu)

    def place(self, e, kind, domain, chips, by_chip, places, gmu):
        offset, stride, length = (int(e.get(a, d), 0) for a, d in (("offset", "0"), ("stride", "1"), ("length", "1")))
        has_index = kind == "array" or length > 1
        here = [(prefix + e.get("name", "") + ("[%d]" % i if has_index else ""), base + offset + i * stride)
                for prefix, base in places for i in range(length)]
        if kind == "array" and (e.find(".//{*}reg32") is not None or e.find(".//{*}reg64") is not None):
            return self.read(e, domain, chips, by_chip, [(name + ".", base) for name, base in here], gmu)
        wide = kind == "reg64" or (kind == "array" and stride == 2)
        fields = self.fields(e, chips, by_chip)
        for name, number in here:
            self.put(domain, number, Row(name, chips, wide, gmu, e, fields))
        return self.read(e, None, chips, by_chip, [("", 0)], gmu)

    def best(self, domain, number, generation):
        """The GPU's before the GMU's, the one that came last, the one of fewest generations, the first."""
        rows = [row for row in self.rows.get((domain, number), []) if generation in row.chips]
        return min(rows, key=lambda row: (row.gmu, -min(row.chips), len(row.chips)), default=None)

    def text(self, domain, number, generation):
        row, half = self.best(domain, number, generation), 0
        if not row:
            row, half = self.best(domain, number - 1, generation), 1
            if not row or not row.wide:
                return None
        fields = row.fields
        if row.type is not None:
            fields = fields + self.bitsets.get(row.type.get("type"), []) or self.whole(row.type, row.chips, row.wide)
        zero, ones = (" ".join(self.shown(fields, half, word, generation)) for word in (0, 0xffffffff))
        return "%s\t%d\t%s | %s" % (row.name, half, zero, ones)


def expected(folder):
    """What a tree says: by layout, space and number."""
    found = {}
    trees = {first: Tree(folder, first, "adreno_common.xml", "adreno_pm4.xml", "a6xx_gmu.xml", "adreno_control_regs.xml",
                         "adreno_pipe_regs.xml") for first in set(FIRST.values())}
    for layout, (generation, domains) in LAYOUTS.items():
        tree = trees[FIRST[generation]]
        for space, wanted in {**domains, "packet": PACKET, "event": EVENT}.items():
            for number in {n + half for domain, n in tree.rows if domain == wanted for half in (0, 1)}:
                text = tree.text(wanted, number, generation)
                if text and (layout, space) == ("A5XX_ME", "control") and not text.startswith("STORE_HI\t"):
                    continue  # nobody has documented the ME's
                if text:
                    found[layout, space, number] = text
    return found


def dump(*folder):
    done = subprocess.run([DUMP, *folder], text=True, capture_output=True, timeout=100)
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        layout, space, number, text = line.split("\t", 3)
        found[layout, space, int(number)] = text
    return found


def cells(line):
    """Columns of a row of a .tsv, or the same ones of a row of pm4.def whose evidence is later than the tree."""
    packet = re.match(r'PACKET\((\w+), *(\w+), *(\w+),.*"L"\)', line)
    if packet and packet[3] not in NARROWED:
        return [PACKET, packet[1], "", packet[2].replace("_ON", "XX-"), packet[3]]
    return line.rstrip("\n").split("\t") + [""] * 7


def added():
    """Rows later than the tree (in a .tsv below "# added"): of which layout, space and number, and the names."""
    found = {}
    for table in TABLES:
        is_added = table.endswith(".def")
        for line in open(table):
            is_added |= line.startswith("# added")
            cell = cells(line)
            for layout, (generation, domains) in LAYOUTS.items() if is_added and line[0] != "#" else ():
                for space, domain in {**domains, "packet": PACKET, "event": EVENT}.items():
                    if domain == cell[0] and generation in digits(cell[3]):
                        for half in range(2 if cell[2] == "64" else 1):
                            found.setdefault((layout, space, int(cell[1], 0) + half), set()).add(cell[4])
    return found


def compare(left, right):
    lines = ["%s %s 0x%x: %r, the tree has %r" % (*key, left.get(key), right.get(key))
             for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)]
    assert not lines, "%d differ\n%s" % (len(lines), "\n".join(lines[:40]))
    assert len(left) > 10000, "only %d names" % len(left)
    return "%d names" % len(left)


def corpus(*parts):
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    return os.path.join(CORPUS, *parts)


def with_tree(files, *parts):
    """A tree's names, and where it has none the built-in ones."""
    folder = corpus(*parts)
    return compare(dump(folder), {**dump(), **expected(os.path.join(folder, files))})


def built_in():
    tree = expected(corpus("rnndb-2025-11/registers/adreno"))
    have, more, other = dump(), added(), 0
    same = {key: text for key, text in tree.items() if text.split("\t")[0] not in NARROWED}
    assert {text.split("\t")[0] for text in tree.values()} >= NARROWED, "the tree has narrowed them, too"
    for key, names in more.items():
        name = have.get(key, "").split("\t")[0]
        assert name in names or names <= SECOND_NAMES, "%s is not shown as %s" % (key, names)
        assert tree.get(key, "").split("\t")[0] not in names, "%s: the tree has %s now" % (key, names)
        if name in names:
            same[key] = have[key]
            if key in tree:
                other += 1
                print("# %s %s 0x%x: built-in %s, tree %s" % (*key, name, tree[key].split("\t")[0]))
    return "%s, %d later than the tree, %d of these in place of its names" % (compare(have, same), len(more), other)


def several_variants():
    """How many numbers have another name in another generation."""
    folder, have, counts = corpus("rnndb-2025-11/registers/adreno"), dump(), []
    tree = Tree(folder, "a6xx.xml", "a6xx_gmu.xml")
    for left, right in (("A6XX", "A7XX"), ("A7XX", "A8XX")):
        of, to = LAYOUTS[left][0], LAYOUTS[right][0]
        different = gone = 0
        for number in sorted(n for domain, n in tree.rows if domain == "A6XX"):
            a, b = tree.best("A6XX", number, of), tree.best("A6XX", number, to)
            shown = have.get((right, "gpu", number), "").split("\t")[0]
            different += bool(a and b and a.name != b.name and shown == b.name)
            gone += bool(a and not b and shown != a.name)
            assert not b or shown == b.name, "0x%x is %s, not %s" % (number, shown, b.name)
        assert different > 20 and gone > 20, (left, right, different, gone)
        counts.append("%s to %s: %d renamed, %d gone" % (left, right, different, gone))
    return ", ".join(counts)


tap.run([("built-in names are those of the newest tree", built_in),
         ("numbers with several variants have each generation's name", several_variants),
         ("--rnn with the newest tree", lambda: with_tree("adreno", "rnndb-2025-11/registers")),
         ("--rnn one directory deeper", lambda: with_tree("", "rnndb-2025-11/registers/adreno")),
         ("--rnn with an old tree in one directory", lambda: with_tree("", "rnndb"))])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real firmware over real captures, checked against the captures themselves.

Reads .rd files with a reader of its own and walks the packets by rule. Every type-4 write and every
CP_MEM_WRITE of a packet that ran must be in the trace, in order, with the same values; every packet
that did not run must stand behind a packet that may skip it. Usage: corpus_run.py CPSCOPE
"""
import gzip
import os
import re
import struct
import subprocess
import sys
import tempfile
from tree import STREAMS

CONDITIONAL = {0x44, 0x47}  # CP_COND_EXEC, CP_COND_REG_EXEC skip what follows them
IB, SET_DRAW_STATE, MEM_WRITE = 0x3f, 0x43, 0x3d

# Figures of two models that were built separately: packets, register writes, streams not captured.
CASES = [
    ("dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz", 355, 660, 0),
    ("fd-clouds.rd.gz", 2647, 4840, 3),
]


def read_rd(path):
    """Yields (memory, iova, dwords) per command stream; memory maps dword address to value."""
    data = gzip.open(path).read()
    memory, fresh, address, at = {}, False, None, 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        at += 8
        if kind == size == 0xffffffff:
            continue
        body = data[at:at + size]
        at += size
        if kind == 3:
            if fresh:
                memory, fresh = {}, False
            low, _, high = struct.unpack_from("<III", body)
            address = high << 32 | low
        elif kind == 12:
            for i in range(0, len(body) - 3, 4):
                memory[address + i] = struct.unpack_from("<I", body, i)[0]
        elif kind == 6:
            fresh = True
            low, dwords, high = struct.unpack_from("<III", body)
            yield memory, high << 32 | low, dwords


class Region:
    def __init__(self, start, dwords):
        self.next, self.end, self.last = start, start + 4 * dwords, None


class Checker:
    def __init__(self, path):
        self.streams = read_rd(path)
        self.memory, self.levels, self.groups = {}, {}, {}
        self.skipped = self.type4 = self.mem_writes = 0
        self.want = []

    def submit(self, line):
        self.memory, iova, dwords = next(self.streams)
        assert int(line[2], 16) == iova and int(line[3]) == dwords, line
        self.levels = {"ib1": [Region(iova, dwords)], "ib2": [], "sds": []}

    def enter(self, level, iova):
        """The region that the packet at iova belongs to, with gaps explained."""
        queue = self.levels[level]
        while queue and not queue[0].next <= iova < queue[0].end:
            self.leave(queue)
        if level == "sds" and not queue:
            assert iova in self.groups, "group at 0x%x was never set" % iova
            queue.append(Region(iova, self.groups[iova]))
        assert queue, "packet at 0x%x lies in no stream that was called" % iova
        region = queue[0]
        if iova != region.next:
            assert region.last in CONDITIONAL, "0x%x was skipped behind 0x%x" % (region.next, iova)
            self.skipped += 1
        return region

    def leave(self, queue):
        region = queue.pop(0)
        assert region.next == region.end or region.last in CONDITIONAL, hex(region.next)

    def packet(self, level, iova, header):
        assert not self.want, "missing: %r" % self.want[:3]
        if level in ("rb", "int"):
            return
        region = self.enter(level, iova)
        word = lambda i: self.memory[iova + 4 + 4 * i]
        assert self.memory[iova] == header, hex(iova)
        if header >> 28 == 4:
            reg, count, region.last = header >> 8 & 0x3ffff, header & 0x7f, None
            self.want = [("REG", reg + i, word(i)) for i in range(count)]
            self.type4 += 1
        else:
            op, count = header >> 16 & 0x7f, header & 0x3fff
            region.last = op
            if op == IB:
                target = word(1) << 32 | word(0)
                self.levels["ib2"].append(Region(target, word(2) & 0xfffff))
            elif op == SET_DRAW_STATE:
                for i in range(0, count, 3):
                    self.groups[word(i + 2) << 32 | word(i + 1)] = word(i) & 0xffff
            elif op == MEM_WRITE:
                base = word(1) << 32 | word(0) & ~3
                self.want = [("MEMW", base + 4 * i, word(2 + i)) for i in range(count - 2)]
                self.mem_writes += 1
        region.next = iova + 4 * (count + 1)

    def line(self, text):
        line = text.split(";")[0].split()
        if line[0] == "SUBMIT":
            self.submit(line)
        elif line[0] == "PKT":
            self.packet(line[1], int(line[2], 16), int(line[3], 16))
        elif self.want and (line[0], line[-1]) in (("REG", "user"), ("MEMW", "nrt")):
            found = (line[0], int(line[1], 16), int(line[2], 16))
            assert found == self.want[0], "found %r, expected %r" % (found, self.want[0])
            self.want.pop(0)


class PairChecker(Checker):
    """a5xx: the PFP walks the streams, the ME writes what it was sent, later."""

    def __init__(self, path):
        super().__init__(path)
        self.expected, self.written, self.me_type4 = [], [], False
        self.switches, self.last = 0, None

    def packet(self, level, iova, header):
        super().packet(level, iova, header)
        if header >> 28 == 4:
            self.expected += self.want
        self.want = []

    def line(self, text):
        line = text.split(";")[0].split()
        self.switches += line[0] in ("pfp", "me") and line[0] != self.last
        self.last = line[0]
        if line[0] == "SUBMIT":
            self.submit(line)
        elif line[:2] == ["pfp", "PKT"]:
            self.packet(line[2], int(line[3], 16), int(line[4], 16))
        elif line[:2] == ["me", "PKT"]:
            self.me_type4 = int(line[4], 16) >> 28 == 4 and line[2] != "int"
        elif line[:2] == ["me", "REG"] and line[4] == "user" and self.me_type4:
            self.written.append(("REG", int(line[2], 16), int(line[3], 16)))


def check_a5xx(cpscope, corpus, scratch):
    firmware = [os.path.join(corpus, "firmware", name) for name in ("a530_pfp.fw", "a530_pm4.fw")]
    capture = os.path.join(corpus, "captures", "compute-a540.rd.gz")
    trace, _ = run(cpscope, firmware, capture, os.path.join(scratch, "a"))
    swapped, _ = run(cpscope, firmware[::-1], capture, os.path.join(scratch, "b"))
    assert trace == swapped, "the order of --fw matters"
    checker = PairChecker(capture)
    for text in trace.splitlines():
        if not text.startswith("#"):
            checker.line(text)
    assert checker.written == checker.expected
    count = lambda pattern: len(re.findall(pattern, trace, re.M))
    # The figures of two models that were built separately.
    assert count(r"^pfp PKT") == 125 and count(r"^me PKT") == 104, "packets"
    assert len(checker.written) == 128, len(checker.written)
    # 6 of the ME's boot: two reads of address and length.
    assert count(r"^me REG ") == 352 + 6 and count(r"^pfp REG ") == 8, "register writes"
    assert checker.switches > 20, "the processors ran one after the other"
    assert re.search(r"^END done 229 \d+$", trace, re.M)
    return "128 type-4 writes through the MEQ, %d turns" % checker.switches


def check_a7xx(cpscope, corpus, scratch):
    """The stream of tests/corpus/streams/a7xx.pm4: what must happen, in order, by processor."""
    firmware = os.path.join(corpus, "firmware", "a740_sqe.fw")
    stream = os.path.join(STREAMS, "a7xx.pm4")
    trace, _ = run(cpscope, firmware, stream, os.path.join(scratch, "a"))
    ahead, _ = run(cpscope, firmware, stream, os.path.join(scratch, "b"), "--prefetch", "on")
    wanted = {
        "sqe": [(0x8e07, 0x10000000), (0x8820, 1), (0x8821, 2), (0x8824, 4), (0x8822, 3),
                (0x8810, 0x11), (0x8812, 0x11), (0x8813, 0x22), (0x8818, 0xa0), (0x8819, 0xa1),
                (0x8814, 0x44)],
        "bv": [(0x8811, 0x22)],
    }
    memory = [(0x200100, 0x1234), (0x200108, 0x55), (0x20010c, 0x66), (0x200110, 0x10000000), (0x200000, 0x11), (0x200004, 0x22),
              (0x200008, 0x33), (0x200200, 0x11)]
    pairs = lambda text, pattern: [(int(a, 16), int(b, 16)) for a, b in
                                   re.findall(pattern, text, re.M)]
    for text in (trace, ahead):
        for who, writes in wanted.items():
            assert pairs(text, r"^%s REG (\S+) (\S+) user" % who) == writes, who
        assert pairs(text, r"^sqe MEMW (\S+) (\S+)") == memory
    levels = re.findall(r"^sqe PKT (ib\d|sds) 0x00000000001[123]0000", trace, re.M)
    assert levels == ["ib2", "ib3", "sds"], levels
    # All three processors load their packet table: 128 words each from their own image.
    for who in ("sqe", "bv", "lpac"):
        assert len(re.findall(r"^%s MEMR \S+ \S+ memdata" % who, trace, re.M)) >= 130, who
    return "boot handshake of three processors, thread control, IB3, draw state"


def check_interrupts(cpscope, corpus, scratch):
    """Hardware interrupts the stream; the firmware saves, serves, restores, and goes on."""
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    capture = os.path.join(corpus, "captures", CASES[0][0])
    plain, _ = run(cpscope, firmware, capture, os.path.join(scratch, "a"), "-e", "default,ctrl")
    places = ["0:0", "0:7", "0:20", "0:21", "0:100", "1:3", "1:80"]
    what = ",".join("preempt@" + place for place in places)
    cut, _ = run(cpscope, firmware, capture, os.path.join(scratch, "b"), "-e", "default,ctrl",
                 "--inject", what)
    strip = lambda text: [line.split(";")[0] for line in text.splitlines()
                          if re.match(r"(PKT|REG|REGR|PIPE|MEMW|MEMR) ", line)]
    rest = [line for line in strip(cut) if "0x708f8000" not in line]
    assert cut.count("0x708f8000") == len(places), "not every request was served"
    # Registers used by the routine are kept in scratch 0x120 to 0x123.
    assert len(re.findall(r"^CTRL 0x0120 ", cut, re.M)) >= len(places)
    assert rest == strip(plain), "the rest of the trace differs"
    gmu, _ = run(cpscope, firmware, capture, os.path.join(scratch, "c"), "--inject", "gmu@0:30")
    assert "0x0000000000000000" not in re.findall(r"PKT int (\S+) 0x700b8000", gmu)
    writes = [line for line in writes_of(gmu) if "0x0908" not in line]
    assert writes == writes_of(plain), "IN_GMU_INTERRUPT disturbs the stream"
    return "%d preemptions" % len(places)


def run(cpscope, firmware, capture, out, *options):
    files = [firmware] if isinstance(firmware, str) else firmware
    flags = [word for name in files for word in ("--fw", name)]
    done = subprocess.run([cpscope, "run", *flags, capture, "-o", out, *options],
                          stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return open(out).read(), done.stderr


def writes_of(trace):
    return [text.split(";")[0] for text in trace.splitlines()
            if text.startswith(("REG ", "PIPE ", "MEMW "))]


def check_case(cpscope, corpus, case, scratch):
    name, packets, writes, missing = case
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    capture = os.path.join(corpus, "captures", name)
    trace, summary = run(cpscope, firmware, capture, os.path.join(scratch, "a"))
    assert trace == run(cpscope, firmware, capture, os.path.join(scratch, "b"))[0], "two runs differ"
    ahead = run(cpscope, firmware, capture, os.path.join(scratch, "c"), "--prefetch", "on")[0]
    assert writes_of(ahead) == writes_of(trace), "look-ahead changes what is written"
    checker = Checker(capture)
    for text in trace.splitlines():
        if not text.startswith("#"):
            checker.line(text)
    assert not checker.want
    assert re.search(r"^END done %d \d+$" % packets, trace, re.M), trace.splitlines()[-1]
    assert len(re.findall(r"^REG ", trace, re.M)) == writes
    assert " %d not captured" % missing in summary
    return "%d type-4 packets, %d memory writes, %d conditional skips" % (
        checker.type4, checker.mem_writes, checker.skipped)


def main():
    corpus = os.environ.get("CPSCOPE_CORPUS")
    tests = [("every captured write is traced: " + case[0],
              lambda scratch, case=case: check_case(sys.argv[1], corpus, case, scratch))
             for case in CASES]
    tests += [("a5xx: PFP and ME together give every captured write",
               lambda scratch: check_a5xx(sys.argv[1], corpus, scratch)),
              ("interrupts leave the rest of the trace as it was",
               lambda scratch: check_interrupts(sys.argv[1], corpus, scratch)),
              ("a7xx: BR, BV and LPAC run a stream to level 3",
               lambda scratch: check_a7xx(sys.argv[1], corpus, scratch))]
    print("1..%d" % len(tests))
    for number, (claim, check) in enumerate(tests, 1):
        if not corpus:
            print("ok %d - %s # SKIP CPSCOPE_CORPUS is not set" % (number, claim))
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                print("# " + check(scratch))
                print("ok %d - %s" % (number, claim))
            except AssertionError as problem:
                print("# %s\nnot ok %d - %s" % (problem, number, claim))


main()

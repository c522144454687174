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

CONDITIONAL = {0x44, 0x47}  # CP_COND_EXEC, CP_COND_REG_EXEC skip what follows them
IB, SET_DRAW_STATE, MEM_WRITE = 0x3f, 0x43, 0x3d

# Figures of two models that were built separately: packets, register writes, streams not captured.
CASES = [
    ("dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz", 355, 666, 0),
    ("fd-clouds.rd.gz", 2647, 4844, 3),
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


def run(cpscope, firmware, capture, out, *options):
    done = subprocess.run([cpscope, "run", "--fw", firmware, capture, "-o", out, *options],
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
    print("1..%d" % len(CASES))
    for number, case in enumerate(CASES, 1):
        if not corpus:
            print("ok %d - %s # SKIP CPSCOPE_CORPUS is not set" % (number, case[0]))
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                print("# " + check_case(sys.argv[1], corpus, case, scratch))
                print("ok %d - every captured write is traced: %s" % (number, case[0]))
            except AssertionError as problem:
                print("# %s\nnot ok %d - %s" % (problem, number, case[0]))


main()

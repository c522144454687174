#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A capture of 1, 10 and 100 times the size gives exactly 1, 10 and 100 times the events, whose peak
of memory stays where it was, and the same bytes whatever the number of threads.

Usage: grow.py CPSCOPE runs the test; grow.py --make TIMES FILE writes the capture of that size, as .rd
or, where the name ends so, .rd.gz."""
import gzip
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import make as maker
import tap
from make import buffer, type4, type7
from scene import CPSCOPE

SUBMISSIONS = 20
STREAM, MEMORY, TEXTURE = 0x100000, 0x200000, 0x1_0000_0000
SLACK_KIB = 4096  # how much more 100 times the size may take than 10 times


def commands(rng):
    """About 1,000 dwords, as drivers mix them: most of it short writes of registers."""
    words = []
    while len(words) < 1000:
        kind = rng.randrange(20)
        if kind < 15:
            count = rng.choice((1, 1, 1, 2, 2, 3, 4, 8, 24))
            words += type4(rng.randrange(0x8800, 0x8e00), *[rng.getrandbits(rng.choice((4, 12, 32)))
                                                           for _ in range(count)])
        elif kind < 17:
            words += type7(0x10, *[rng.getrandbits(32) for _ in range(rng.randrange(4))])  # CP_NOP
        elif kind < 19:  # CP_MEM_WRITE
            words += type7(0x3d, MEMORY + 4 * rng.randrange(1024), 0, rng.getrandbits(32))
        else:
            words += type7(0x26)  # CP_WAIT_FOR_IDLE
    return words


def submission(rng):
    """A command stream of 4 KB, and 12 KB that only lie in memory, an eighth of them noise."""
    words = commands(rng)
    texture = b"".join(rng.randbytes(2) * 6 + bytes(4) for _ in range(768))
    return buffer(TEXTURE + 0x10000 * rng.randrange(16), texture) + \
        buffer(STREAM, maker.dwords(words)) + maker.submit(STREAM, len(words))


def make(path, times):
    rng = random.Random(6)
    piece = b"".join(submission(rng) for _ in range(SUBMISSIONS))
    with gzip.GzipFile(path, "wb", 6, mtime=0) if path.endswith(".gz") else open(path, "wb") as out:
        out.write(maker.section(maker.TEST, b"grow"))
        out.write(maker.chip(630))
        for _ in range(times):
            out.write(piece)


if __name__ == "__main__" and sys.argv[1] == "--make":
    make(sys.argv[3], int(sys.argv[2]))
    sys.exit()

TIMES = (1, 10, 100)


class Run:
    """One run over a capture: its summary, its trace, and the most memory it had (KiB; Linux counts what
    Python had when it forked, too, which is less than the capture of 100 times the size)."""
    def __init__(self, capture, trace=None, threads=None):
        args = [CPSCOPE, "run", "--demo", capture, "--json"]
        args += ["-o", trace] if trace else []
        args += ["--threads", str(threads)] if threads is not None else []
        # Sanitizers keep what was freed; a little of it is enough.
        env = dict(os.environ)
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        with subprocess.Popen(args, stdout=subprocess.PIPE, env=env) as child:
            self.summary = json.loads(child.stdout.read())
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, child.returncode
        self.memory = usage.ru_maxrss
        if trace:
            self.bytes = open(trace, "rb").read()
            self.events = struct.unpack("<Q", self.bytes[-24:-16])[0]
            os.unlink(trace)


def linear(numbers):
    """What one more piece adds is always the same."""
    one, ten, hundred = numbers
    return ten > one and hundred - ten == 10 * (ten - one)


def grows_linearly(runs):
    events = [run.events for run in runs]
    assert linear(events), events
    for key in ("packets", "instructions", "ticks", "register_writes", "memory_writes"):
        counts = [run.summary[key] for run in runs]
        assert linear(counts), (key, counts)
    return "%d events" % events[-1]


def memory_stays(runs):
    memory = [run.memory for run in runs]
    assert memory[2] <= memory[1] + SLACK_KIB, "%d KiB, 10 times the size %d KiB" % (memory[2], memory[1])
    return "%d KiB" % memory[2]


def same_bytes(folder, capture, expected):
    for threads in (0, 1, 2, 3, 8):
        assert Run(capture, os.path.join(folder, "again.cpt"), threads).bytes == expected, threads


def test(folder):
    captures = [os.path.join(folder, "grow.%d.rd.gz" % times) for times in TIMES]
    for times, capture in zip(TIMES, captures):
        make(capture, times)
    traced = [Run(capture, os.path.join(folder, "grow.cpt")) for capture in captures]
    tap.run([
        ("events and instructions grow as the capture does", lambda: grows_linearly(traced)),
        ("peak memory of a traced run stays", lambda: memory_stays(traced)),
        ("peak memory without a trace stays", lambda: memory_stays([Run(c) for c in captures])),
        ("the trace is the same with any number of threads",
         lambda: same_bytes(folder, captures[1], traced[1].bytes)),
    ])


with tempfile.TemporaryDirectory() as temporary:
    test(temporary)

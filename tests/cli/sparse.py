#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A large capture whose buffers are mostly holes of its file: every submission brings a buffer of 16 MiB somewhere
in 48 bits of addresses, and runs the commands at its end. What was written is right, memory stays where it was, the
digest is the file's, and threads change nothing.

Usage: sparse.py CPSCOPE [MIB], 256 MiB unless said (.ci/long: 10 GiB)."""
import hashlib
import os
import random
import struct
import subprocess
import sys
import tempfile

import make as maker
import tap
from scene import CPSCOPE

BUFFER = 16 << 20
COUNT = int(sys.argv[2] if len(sys.argv) > 2 else 256) * (1 << 20) // BUFFER
FEW = 4
SLACK_KIB = 4096
REG = 0x8800


def commands(i):
    return maker.type4(REG + i % 16, i, ~i & 0xffffffff) + maker.type7(0x26)  # CP_WAIT_FOR_IDLE


def submission(out, rng, i):
    """The hole is what was never written; a file's end needs its last byte."""
    words = maker.dwords(commands(i))
    iova = rng.randrange(1 << 27) << 21
    out.write(maker.section(maker.GPUADDR, maker.dwords([iova & 0xffffffff, BUFFER, iova >> 32])))
    out.write(struct.pack("<II", maker.CONTENTS, BUFFER))
    out.seek(BUFFER - len(words), os.SEEK_CUR)
    out.write(words)
    out.write(maker.submit(iova + BUFFER - len(words), len(words) // 4))


def make(path, count):
    rng = random.Random(19)
    with open(path, "wb") as out:
        out.write(maker.section(maker.TEST, b"sparse") + maker.chip(630))
        for i in range(count):
            submission(out, rng, i)
    if os.stat(path).st_blocks * 512 > count * BUFFER // 4:
        raise tap.Skip("the file system has no sparse files")


def digest(path):
    with open(path, "rb") as file:
        hashed = hashlib.sha256()
        while block := file.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()


class Run:
    """A trace of register writes, and the most memory that the run had, in KiB."""
    def __init__(self, folder, capture, *args):
        trace = os.path.join(folder, "sparse.trace")
        args = [CPSCOPE, "run", "--demo", capture, "--events", "reg", "--json", "-o", trace, *args]
        env = dict(os.environ)  # sanitizers keep what was freed; a little of it is enough
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        with subprocess.Popen(args, stdout=subprocess.DEVNULL, env=env) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, child.returncode
        self.memory = usage.ru_maxrss
        self.text = open(trace).read()
        os.unlink(trace)

    def writes(self):
        rows = [line.split() for line in self.text.split("\n") if line.startswith("REG ")]
        rows = [(int(row[1], 16), int(row[2], 16)) for row in rows]
        return [row for row in rows if REG <= row[0] <= REG + 16]


def writes_are_right(run):
    expected = [(REG + i % 16 + n, i if not n else ~i & 0xffffffff) for i in range(COUNT) for n in range(2)]
    assert run.writes() == expected, run.writes()[:20]
    return "%d writes" % len(expected)


def memory_stays(run, few):
    assert run.memory <= few.memory + SLACK_KIB, "%d KiB, of %d submissions %d KiB" % (run.memory, FEW, few.memory)
    return "%d KiB" % run.memory


def digest_is_right(run, path):
    assert "sha256:" + digest(path) in run.text, run.text[:400]


def threads_change_nothing(folder, path, run):
    alone = Run(folder, path, "--threads", "0")
    assert alone.text == run.text
    return "%d KiB" % alone.memory


def test(folder):
    path = os.path.join(folder, "sparse.rd")
    few = os.path.join(folder, "few.rd")
    try:
        make(few, FEW)
        make(path, COUNT)
    except tap.Skip as why:
        tap.skip("a sparse capture", str(why))
        tap.plan()
        return
    run, small = Run(folder, path), Run(folder, few)
    tap.run([
        ("%d MiB: what submissions write is right" % (COUNT * BUFFER >> 20), lambda: writes_are_right(run)),
        ("memory stays as with %d submissions" % FEW, lambda: memory_stays(run, small)),
        ("the head has the file's digest", lambda: digest_is_right(run, path)),
        ("one thread writes the same", lambda: threads_change_nothing(folder, path, run)),
    ])


with tempfile.TemporaryDirectory() as temporary:
    test(temporary)

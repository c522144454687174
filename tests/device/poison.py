#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""device --poison: each bug that a client of KGSL makes on purpose is found with its origin, and a client without bugs has none.
Usage: poison.py CPSCOPE (the test), poison.py bug NAME (the client)"""
import os
import re
import subprocess
import sys

from kgsl_bench import Bench, packet, put, write

MEM_TO_MEM, INDIRECT_BUFFER = 0x73, 0x3f
MIB = 1 << 20
# What has to be printed of each.
FOUND = {
    "rewritten stream": r"CP_MEM_WRITE at 0x\w+: fetches 0x\w+ = 0x00000002, which was 0x00000001 when the submission came",
    "rewritten data": r"CP_MEM_TO_MEM at 0x\w+: reads 0x\w+ = 0x00000006, which was 0x00000005 when the submission came",
    "freed stream": r"reads memory 0x\w+, which is not mapped: GPUOBJ_FREE freed 0x\w+ \(\d+ bytes\) after the submission came",
    "unwritten stream": r"packet at 0x\w+: fetches 0x\w+, which nothing had written when it came",
    "stream that rewrites itself": r"CP_MEM_WRITE at 0x\w+: writes 0x\w+, 7 dwords ahead in the stream that is being fetched",
}


def halves(address):
    return address & 0xffffffff, address >> 32


def make_bug(name):
    b = Bench()
    if name == "rewritten stream":
        timestamp = b.d.submit(b.context, put(b.stream, write(b.data, 1)))
        put(b.stream, write(b.data, 2))
    elif name == "rewritten data":
        put(b.data, [5])
        timestamp = b.d.submit(b.context, put(b.stream, packet(MEM_TO_MEM, 0, *halves(b.data + 64), *halves(b.data))))
        put(b.data, [6])
    elif name == "freed stream":
        number = b.d.alloc()
        cpu, gpu = b.d.map(number), b.d.address(number)
        put(cpu, write(b.data, 1))
        timestamp = b.d.submit(b.context, (gpu, 16))
        b.d.call("GPUMEM_FREE_ID", number, 0)
    elif name == "unwritten stream":
        gpu = b.d.address(b.d.alloc(MIB))
        timestamp = b.d.submit(b.context, put(b.stream, packet(INDIRECT_BUFFER, *halves(gpu), 1)))
    elif name == "stream that rewrites itself":
        timestamp = b.d.submit(b.context, put(b.stream, write(b.stream + 28, 9), write(b.data, 1)))
    else:
        for value in range(20):
            b.run(write(b.data, value))
        return
    try:
        b.d.wait(b.context, timestamp)
    except OSError:
        pass  # a fault or a hang ends the context


def test(cpscope):
    import tap
    client = [sys.executable, os.path.abspath(__file__), "bug"]
    corpus = os.environ.get("CPSCOPE_CORPUS")
    for name in (*FOUND, "none"):
        firmware = ["--demo"]
        if name == "rewritten data":  # the demo has no packet for it
            firmware = ["--chip", "a630", "--fw", os.path.join(corpus or "", "firmware/a630_sqe-207.fw")]
            if not corpus:
                tap.skip("found: " + name, "no CPSCOPE_CORPUS")
                continue
        done = subprocess.run([cpscope, "device", "--kgsl", "--poison", *firmware, "--", *client, name], capture_output=True, text=True,
                              timeout=60, check=False)
        text = done.stderr
        if name == "none":
            tap.report("a client without bugs: no finding", done.returncode == 0 and "poison:" not in text and ", 0 findings of poison" in text, text)
        else:
            tap.report("found: " + name, done.returncode == 4 and re.search(FOUND[name], text), f"{done.returncode} {text}")
    tap.plan()


if sys.argv[1] == "bug":
    make_bug(sys.argv[2])
else:
    test(os.path.abspath(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Addresses with the buffer of the capture that they lie in, as every command says it: over captures that are made
here, and over real ones against a reader of their sections of its own. Usage: buffers.py CPSCOPE"""
import gzip
import json
import os
import re
import struct

import make
import tap
from scene import CORPUS, cpscope, path, run
from tree import DEMO

DRAW, MEM_WRITE, SET_DRAW_STATE = 0x38, 0x3d, 0x43
BASE, UNKNOWN_BASE, HALF = 0x8825, 0x8875, 0xa81c  # RB_MRT[0].BASE, RB_DEPTH_BUFFER_BASE, SP_VS_BASE


def firmware():
    if not os.path.exists(path("demo.fw")):
        cpscope("asm", DEMO, "-o", path("demo.fw"))
    return "--fw", path("demo.fw")


def halves(address):
    return address & 0xffffffff, address >> 32


def stream(base):
    return (make.type4(BASE, *halves(base + 0x40)) + make.type4(UNKNOWN_BASE, *halves(base + 0x1000)) + make.type4(HALF, base & 0xffffffff) +
            make.type7(MEM_WRITE, *halves(base + 0xfc), 7) + make.type7(SET_DRAW_STATE, 0x00040000, 0, 0) + make.type7(DRAW, 0x84, 1, 3))


def capture():
    """Two submissions, each with buffers of its own; a part of one of them is a buffer, too."""
    old, new = stream(0x500001000), stream(0x500003000)
    return path("c.rd", make.chip(630) + make.buffer(0x100000, make.dwords(old)) + make.buffer(0x500001000, bytes(0x1000)) +
                make.submit(0x100000, len(old)) +
                make.buffer(0x500003000, bytes(0x1000)) + make.buffer(0x500003020, bytes(0x40)) + make.buffer(0x100000, make.dwords(new)) +
                make.submit(0x100000, len(new)))


def state(draw, *more):
    rows = json.loads(cpscope("state", "--demo", capture(), "--draw", str(draw), "--json", *more).stdout)["registers"]
    return {row["offset"]: row for row in rows}


def step(*commands):
    """What each command printed."""
    text = cpscope("step", "--demo", capture(), text="\n".join(commands) + "\n").stdout
    return [(part + "\n").split("\n", 1)[1].strip("\n") for part in ("\n" + text).split("\n> ")[1:]]


def state_says_which_buffer_it_is_then():
    first, second = state(0), state(1)
    assert first[BASE]["buffer"] == {"kind": "buf", "number": 1, "iova": "0x500001000", "size": "0x1000", "offset": "0x40"}, first[BASE]
    assert second[BASE]["buffer"] == {"kind": "buf", "number": 1, "iova": "0x500003020", "size": "0x40", "offset": "0x20"}, second[BASE]
    assert first[UNKNOWN_BASE]["buffer"] is None and "buffer" not in first[HALF], (first[UNKNOWN_BASE], first[HALF])
    text = cpscope("state", "--demo", capture(), "--draw", "0").stdout
    assert "RB_MRT[0].BASE 0x0000000500001040 [buf 1 +0x40]" in text and "RB_DEPTH_BUFFER_BASE 0x0000000500002000 [no buf]" in text, text
    assert re.search(r"SP_VS_BASE 0x00001000 +ib1", text), text


def names_are_said_and_escaped():
    text = make.pm4("reg RB_MRT[0].BASE @target", "CP_DRAW_INDX_OFFSET 0x84 1 3").replace("submit", "buffer 0x200000 target\n    .word 0 0\nsubmit")
    out = cpscope("state", "--demo", path("n.pm4", text), "--draw", "0").stdout
    assert 'RB_MRT[0].BASE 0x0000000000200000 [buf 1 "target" +0x0]' in out, out


def why_says_the_buffers_of_memory_and_of_whole_addresses():
    said = [json.loads(line) for line in cpscope("why", *firmware(), "--json", capture(), "RB_MRT[0].BASE", "mem:0x5000030fc").stdout.splitlines()]
    assert said[0]["whole"] == "0x0000000500003040" and said[0]["buffer"]["offset"] == "0x20", said[0]
    word = next(node for node in said[0]["nodes"] if node["kind"] == "word")
    assert word["buffer"]["kind"] == "ib1" and word["buffer"]["offset"] == "0x4", word
    assert said[1]["nodes"][0]["buffer"] == {"kind": "buf", "number": 0, "iova": "0x500003000", "size": "0x1000", "offset": "0xfc"}, said[1]
    text = cpscope("why", *firmware(), capture(), "0x8826", "mem:0x5000030fc").stdout
    assert text.startswith("0x8826 = 0x00000005, upper half of 0x0000000500003040 [buf 1 +0x20]\n"), text
    assert "written to memory at 0x5000030fc [buf 0 +0xfc]" in text, text
    half = cpscope("why", *firmware(), capture(), "SP_VS_BASE").stdout.splitlines()[0]
    assert half == "SP_VS_BASE = 0x00003000", half


def the_debugger_says_them():
    out = step("b pkt:CP_MEM_WRITE", "c", "info packet", "p RB_MRT[0].BASE", "p SP_VS_BASE", "x/8 0x500001ff0", "w [0x5000010fc]", "c", "log 1",
               "c", "info packet", "p RB_MRT[0].BASE", "rc", "rc", "p RB_MRT[0].BASE")
    assert "ADDR=0x5000010fc [buf 1 +0xfc]" in out[2] and ", ib1 0x0000000000100020 [ib1 0 +0x20]" in out[2], out[2]
    assert out[3].endswith(" = 0x0000000500001040 [buf 1 +0x40]"), out[3]
    assert "0x0000000" not in out[4].split("=", 1)[1] and "[" not in out[4], out[4]
    assert [line[17:].split("[")[-1] for line in out[5].splitlines()] == ["buf 1 +0xff0]", "no buf]"], out[5]
    assert "MEMW 0x00000005000010fc 0x00000007" in out[8] and out[8].endswith("[buf 1 +0xfc]"), out[8]
    assert "ADDR=0x5000030fc [buf 0 +0xfc]" in out[10], out[10]
    assert out[11].endswith(" = 0x0000000500003040 [buf 1 +0x20]"), out[11]
    assert out[14].endswith(" = 0x0000000500001040 [buf 1 +0x40]"), out[14]


def a_dump_names_its_buffers():
    """The ring of a kernel's dump, and a buffer that it has a name for."""
    inner = make.type4(BASE, *halves(0x300010)) + make.type7(DRAW, 0x84, 1, 3)
    ring = make.type7(0x3f, 0x200000, 0, len(inner))
    text = ("---\nkernel: 6.1\nrevision: 630 (6.3.0.2)\nringbuffer:\n  - id: 0\n    iova: 0x1000000\n    last-fence: 2\n    retired-fence: 1\n"
            "    rptr: 0\n    wptr: %d\n    size: 32768\n    data: !!ascii85 |\n     %s\nbos:\n  - iova: 0x200000\n    size: 4096\n"
            "    flags: 0x3\n    name: %-32s\n    data: !!ascii85 |\n     %s\n  - iova: 0x300000\n    size: 4096\n    name: a\x1b[2J \"b\"\n" %
            (len(ring), make.encode85(ring), "gpu cmd", make.encode85(inner)))
    out = run("state", *firmware(), path("hang.devcore", text), "--draw", "0")
    assert 'RB_MRT[0].BASE 0x0000000000300010 [buf 2 "a\\x1b[2J "b"" +0x10]' in out.stdout, (out.stdout[:2000], out.stderr)
    out = run("why", *firmware(), path("hang.devcore"), "RB_MRT[0].BASE")
    assert 'word of the stream at 0x200004 [buf 1 "gpu cmd" +0x4]' in out.stdout, (out.stdout, out.stderr)


def sections(name):
    """(submission from, submission until, first, last) of each GPUADDR, and how many submissions there are."""
    data = gzip.open(os.path.join(CORPUS, "captures", name)).read()
    at, found, begun, submissions, fresh = 0, [], 0, 0, False
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if (kind, size) == (0xffffffff, 0xffffffff):
            at += 8
            continue
        if kind in (make.GPUADDR, make.CMDSTREAM):
            low, length = struct.unpack_from("<II", data, at + 8)
            high = struct.unpack_from("<I", data, at + 16)[0] if size >= 12 else 0
        if kind == make.GPUADDR:
            if fresh:
                found = [one[:1] + (one[1] if one[1] is not None else submissions,) + one[2:] for one in found]
            fresh = False
            found.append((submissions, None, high << 32 | low, (high << 32 | low) + length - 1))
        if kind == make.CMDSTREAM:
            submissions += 1
            fresh = True
        at += 8 + size
    return found


def real_registers_lie_where_the_sections_say():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    counted = [0, 0]
    for fw, name in ((["a680_sqe.fw"], "fd-clouds.rd.gz"), (["a530_pfp.fw", "a530_pm4.fw"], "compute-a540.rd.gz"),
                     (["a680_sqe.fw"], "dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz")):
        buffers = sections(name)
        args = [arg for one in fw for arg in ("--fw", os.path.join(CORPUS, "firmware", one))] + [os.path.join(CORPUS, "captures", name)]
        draws = json.loads(cpscope("state", *args, "--json").stdout)["draws"]
        for draw in draws:
            said = json.loads(cpscope("state", *args, "--draw", str(draw["draw"]), "--json").stdout)
            for row in (row for row in said["registers"] if "buffer" in row):
                value, valid = int(row["value"], 16), [one for one in buffers if one[0] <= draw["submission"] and
                                                       (one[1] is None or draw["submission"] < one[1])]
                lies = [one for one in valid if one[2] <= value <= one[3]]
                assert bool(lies) == bool(row["buffer"]), (name, row, lies)
                counted[bool(lies)] += 1
                if lies:
                    assert int(row["buffer"]["iova"], 16) == lies[-1][2] == value - int(row["buffer"]["offset"], 16), (row, lies)
    assert min(counted) > 10, counted
    return "%d addresses in buffers, %d in none" % (counted[1], counted[0])


tap.run([(case.__name__.replace("_", " "), case) for case in (
    state_says_which_buffer_it_is_then, names_are_said_and_escaped, why_says_the_buffers_of_memory_and_of_whole_addresses,
    the_debugger_says_them, a_dump_names_its_buffers, real_registers_lie_where_the_sections_say)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What info says of captures, firmware and traces, and what convert and diff make of them, against what was put in: files
are written and read here by code of our own (make.py, this file). Usage: info.py CPSCOPE [zstd]"""
import collections
import gzip
import json
import os
import random
import re
import struct
import sys

import make
import mkcorpus
import tap
from scene import CPSCOPE, cpscope, path
from tree import DEMO, FRAME

ZSTD = "zstd" in sys.argv
MAIN, CALLED, EMPTY, GONE = 0x100000, 0x5_0000_2000, 0x300000, 0x400000
TEXT, NOBODY, CHIP_ID = 2, 40, 14  # sections of .rd


def walked():
    """A capture with each kind of section, of which everything is known; the words of its stream."""
    called = make.type4(0x8800, 1, 2, 3) + make.type7(0x10, 9)
    words = make.type7(0x10) + make.type4(0x8c00, 5) + make.type7(0x3f, CALLED & 0xffffffff, CALLED >> 32, len(called)) + \
        make.type7(0x26) + [0x12345678] + make.type7(0x7c, 1)
    data = make.section(make.TEST, b"a test\0") + make.section(TEXT, b"cmd\x1b[m\0") + make.section(NOBODY, b"abcd") + make.chip(630) + \
        make.section(CHIP_ID, struct.pack("<Q", 0x06030002)) + \
        make.buffer(MAIN, make.dwords(words)) + make.buffer(CALLED, make.dwords(called)) + \
        make.section(make.GPUADDR, make.dwords([EMPTY, 64, 0])) + make.submit(MAIN, len(words)) + make.submit(GONE, 16)
    return data, words, called


def captures_are_described():
    """Buffers in their order, with and without contents, submissions that are there and one that is not, sections by number, and
    the packets of the stream and of what it calls; what is no packet is counted, too."""
    data, words, called = walked()
    out = cpscope("info", path("c.rd", data)).stdout
    said = re.sub(r" +", " ", out)
    assert said.startswith(path("c.rd") + ": capture, rd\n"), said
    for line in ("text a test", "text cmd?[m", "buffer 0x%016x %d bytes, with contents" % (MAIN, 4 * len(words)),
                 "buffer 0x%016x %d bytes, with contents" % (CALLED, 4 * len(called)), "buffer 0x%016x 64 bytes, no contents" % EMPTY,
                 "submit 0x%016x %d dwords, captured" % (MAIN, len(words)), "submit 0x%016x 16 dwords, not captured" % GONE,
                 "gpu id 630, chip id 0x6030002", "3 buffers, 2 with contents, 2 submissions", "TEST 1 7 bytes", "CMD 1 7 bytes",
                 "(unknown) 1 4 bytes", "GPU_ID 1 4 bytes", "CHIP_ID 1 8 bytes", "GPUADDR 3 36 bytes",
                 "BUFFER_CONTENTS 2 %d bytes" % (4 * len(words + called)), "CMDSTREAM_ADDR 2 24 bytes", "type4 2 (4 registers)",
                 "CP_NOP 2", "CP_INDIRECT_BUFFER 1", "CP_WAIT_FOR_IDLE 1", "malformed 1"):
        assert said.count("\n %s\n" % line) == 1, (line, out)
    assert out.index("0x%016x" % MAIN) < out.index("0x%016x" % CALLED) < out.index("0x%016x" % EMPTY) < out.index("0x%016x" % GONE)


def captures_are_described_for_programs():
    data, words, called = walked()
    row, = json.loads(cpscope("info", "--json", path("c.rd", data)).stdout)["files"]
    assert (row["name"], row["format"], row["kind"], row["gpu_id"], row["chip_id"]) == (path("c.rd"), "rd", "capture", 630, 0x06030002), row
    assert row["buffers"] == [{"iova": MAIN, "size": 4 * len(words), "contents": 4 * len(words)},
                              {"iova": CALLED, "size": 4 * len(called), "contents": 4 * len(called)},
                              {"iova": EMPTY, "size": 64, "contents": 0}], row["buffers"]
    assert row["submits"] == [{"iova": MAIN, "dwords": len(words), "captured": True}, {"iova": GONE, "dwords": 16, "captured": False}]
    assert row["sections"] == {"TEST": {"count": 1, "bytes": 7}, "CMD": {"count": 1, "bytes": 7}, "type 40": {"count": 1, "bytes": 4},
                               "GPU_ID": {"count": 1, "bytes": 4}, "CHIP_ID": {"count": 1, "bytes": 8},
                               "GPUADDR": {"count": 3, "bytes": 36}, "BUFFER_CONTENTS": {"count": 2, "bytes": 4 * len(words + called)},
                               "CMDSTREAM_ADDR": {"count": 2, "bytes": 24}}, row["sections"]
    assert row["packets"].items() >= {"type4": 2, "CP_NOP": 2, "CP_INDIRECT_BUFFER": 1, "CP_WAIT_FOR_IDLE": 1, "malformed": 1}.items(), \
        row["packets"]
    assert sum(row["packets"].values()) == 8, row["packets"]
    both = json.loads(cpscope("info", "--json", path("c.rd"), FRAME).stdout)["files"]
    assert [file["format"] for file in both] == ["rd", "pm4 text"], both


def cut_captures_are_described_as_far_as_they_go():
    data, words, _ = walked()
    done = cpscope("info", path("cut.rd", data[:-6]), status=3)
    assert "3 buffers, 2 with contents, 1 submission" in done.stdout and "cut.rd" in done.stderr, done
    assert done.stderr.count("\n") == 1 and "0x%x" % (len(data) - 20) in done.stderr, done.stderr


def sections(data):
    at, found = 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        found.append((kind, data[at + 8:at + 8 + size]))
        at += 8 + size
    assert at == len(data)
    return found


def captures_become_rd():
    """PM4 text as the .rd that make.py writes of the same packets; compressed as the name says; and .rd of .rd is the same."""
    text = make.pm4("CP_NOP 0x1", "reg 0x8c00 0x5", "CP_WAIT_FOR_IDLE")
    words = make.type7(0x10, 1) + make.type4(0x8c00, 5) + make.type7(0x26)
    want = sections(make.capture(words))
    out, again = path("out.rd"), path("again.rd")
    cpscope("convert", path("in.pm4", text), "-o", out)
    have = sections(open(out, "rb").read())
    assert [row for row in have if row[0] != make.TEST] == want, (have, want)
    cpscope("convert", out, "-o", again)
    assert open(again, "rb").read() == open(out, "rb").read()
    cpscope("convert", out, "-o", path("out.rd.gz"))
    assert gzip.open(path("out.rd.gz")).read() == open(out, "rb").read()
    data, _, _ = walked()
    cpscope("convert", path("c.rd", data), "-o", again)
    first, second = (json.loads(cpscope("info", "--json", name).stdout)["files"][0] for name in (path("c.rd"), again))
    for key in ("buffers", "submits", "packets", "gpu_id", "chip_id"):
        assert first[key] == second[key], (key, first[key], second[key])
    for name, content, said in (
            ("orphan.rd", make.chip(630) + make.section(make.CONTENTS, b"1234") + data, "contents without a buffer before them are ignored"),
            ("cut.devcore", b"kernel: 6.1\nmodule: msm\nrevision: 630 (6.3.0.2)\nringbuffer:\n  - id: 0\n    iova: 0x00010", "truncated at line 6, in ringbuffer")):
        done = cpscope("convert", path(name, content), "-o", path("left.rd"), status=3)
        assert name in done.stderr and said in done.stderr and not os.path.exists(path("left.rd")), done.stderr
    assert "truncated at line 6, in ringbuffer" in cpscope("info", path("cut.devcore"), status=4).stdout
    assert "truncated" in json.loads(cpscope("info", "--json", path("cut.devcore"), status=4).stdout)["files"][0]["text"]
    done = cpscope("convert", path("cut.rd", data[:-6]), "-o", path("left.rd"), status=3)
    assert "cut.rd" in done.stderr and not os.path.exists(path("left.rd")), done.stderr
    done = cpscope("convert", path("c.rd"), "-o", path("x.cpt"), status=3)
    assert "is a capture, expected an output called NAME.rd" in done.stderr, done.stderr
    done = cpscope("convert", path("c.rd"), "-o", path("x.snapshot"), status=3)
    assert "snapshots are only read, expected another name" in done.stderr and not os.path.exists(path("x.snapshot")), done.stderr
    done = cpscope("convert", path("c.rd"), "--to", "jsonl", "-o", path("x.rd"), status=3)
    assert "is a capture, expected an output called NAME.rd" in done.stderr and not os.path.exists(path("x.rd")), done.stderr


def large_captures():
    """More contents than is gathered before it is written, in every packing: the same sections, and nothing else."""
    rng = random.Random(1)
    big = [rng.randbytes(size) for size in (5 << 20, 3, (4 << 20) - 1, 1 << 20)]
    words = make.type7(0x10, 1)
    data = make.chip(630) + b"".join(make.buffer(0x1000000 * (i + 1), block) for i, block in enumerate(big))
    data += make.buffer(0x100000, make.dwords(words)) + make.submit(0x100000, len(words))
    cpscope("convert", path("large.rd", data), "-o", path("large2.rd"))
    have = open(path("large2.rd"), "rb").read()
    assert [row for row in sections(have) if row[0] != make.TEST] == sections(data)
    cpscope("convert", path("large.rd"), "-o", path("large2.rd.gz"))
    assert gzip.open(path("large2.rd.gz")).read() == have
    if ZSTD:
        cpscope("convert", path("large.rd"), "-o", path("large2.rd.zst"))
        cpscope("convert", path("large2.rd.zst"), "-o", path("large3.rd"))
        assert open(path("large3.rd"), "rb").read() == have


def firmware_is_described():
    """Each row of the packet table, as the image has it."""
    make.firmware(CPSCOPE, path("demo"), open(DEMO).read())
    words = [word for word, in struct.iter_unpack("<I", open(path("demo.fw"), "rb").read())][1:]
    table = words[1] & 0xffffff
    out = cpscope("info", path("demo.fw")).stdout
    rows = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"^    0x([0-9a-f]{2}) 0x([0-9a-f]{4}) \S+$", out, re.M)]
    assert rows == list(enumerate(words[table:table + 128])), out
    assert "\n  size        %d dwords\n" % len(words) in out and "\n  version     0x001\n" in out and "0x6ee (a630 family)" in out, out
    assert ", packet table at 0x%04x\n" % table in out and "    0x10 0x%04x CP_NOP\n" % words[table + 0x10] in out, out
    row, = json.loads(cpscope("info", "--json", path("demo.fw")).stdout)["files"]
    part, = row["processors"]
    assert (row["kind"], row["id"], row["generation"], row["version"], row["dwords"]) == ("firmware", 0x6ee, "a6xx", 1, len(words)), row
    assert (part["name"], part["start"], part["size"], part["table"]) == ("sqe", 0, len(words), table), part
    assert [(entry["id"], entry["handler"]) for entry in part["packet_table"]] == list(enumerate(words[table:table + 128]))
    assert {entry["id"]: entry["name"] for entry in part["packet_table"]}.items() >= {0x10: "CP_NOP", 0x3f: "CP_INDIRECT_BUFFER"}.items()
    assert "assumed" not in row and "assumed" not in out
    other = words[:]
    other[0] = words[0] & ~0xfff000 | 0x364 << 12
    path("other.fw", make.dwords([0] + other))
    row, = json.loads(cpscope("info", "--json", path("other.fw")).stdout)["files"]
    assert row["id"] == 0x364 and "firmware id 0x364 is not known, taken for a6xx from its contents" in row["assumed"], row


def a_part_of_a_file_is_firmware():
    """Firmware inside of another file, from the dword on that the kernel drops."""
    image = open(path("demo.fw"), "rb").read()
    path("flash.bin", bytes(0x124) + image + b"\xff" * 33)
    part = ["--offset", "0x124", "--length", str(len(image))]
    assert cpscope("disasm", path("flash.bin"), *part).stdout == cpscope("disasm", path("demo.fw")).stdout
    out = cpscope("info", path("flash.bin"), *part).stdout
    assert out.split("\n", 1)[1] == cpscope("info", path("demo.fw")).stdout.split("\n", 1)[1], out
    assert out.startswith(path("flash.bin") + "+0x124: firmware\n"), out
    done = cpscope("info", path("flash.bin"), status=3)
    assert "offset" in done.stderr and not done.stdout, done
    done = cpscope("info", path("flash.bin"), "--offset", "0x125", "--length", "0x100", status=3)
    assert "flash.bin+0x125: offset 0x4: not firmware: the first word" in done.stderr and "expected firmware" in done.stderr, done.stderr
    done = cpscope("info", path("flash.bin"), "--offset", "0x124", status=3)
    assert "flash.bin+0x124: offset 0x%x: 1 bytes at the end, expected whole dwords" % (len(image) + 32) in done.stderr, done.stderr


def what_is_no_firmware_is_not_described():
    """A VBIOS, a file of zeros, of small numbers: an error, whatever the command; but info and disasm take a VBIOS for what it is."""
    rom = b"\x55\xaa\x08\xeb\x4b\x19\0\0" + bytes(16) + struct.pack("<H", 0x40) + bytes(38) + b"PCIR\xde\x10\x11\x06" + bytes(184)
    for name, content in (("rom", rom * 16), ("zeros", bytes(4096)), ("small", make.dwords(range(1000, 3000))), ("text", b"a text\n" * 600)):
        for command in (["info"], ["info", "--json"], ["disasm"], ["run", "-o", os.devnull, FRAME, "--fw"]):
            if name == "rom" and command[0] != "run":
                out = cpscope(*command, path(name, content)).stdout
                assert out and not re.search("firmware|a5xx", out), (command, out)
                continue
            done = cpscope(*command, path(name, content), status=3)
            assert done.stderr.count("\n") == 1 and path(name) in done.stderr and not done.stdout, done


def trace(name="t.trace", *more):
    cpscope("convert", FRAME, "-o", path("frame.rd"))
    cpscope("run", "--fw", path("demo.fw"), path("frame.rd"), *more, "-o", path(name))
    return path(name)


def traces_are_described():
    """As many events of each kind as lines in the text."""
    text = open(trace("t.trace", "--events", "all")).read()
    kinds = collections.Counter(line.split()[0] for line in text.split("\n") if line and line[0] != "#")
    head = [line[2:] for line in text.split("\n") if line.startswith("# ")]
    end = re.search(r"^END (\S+) (\d+) (\d+)", text, re.M)
    out = cpscope("info", path("t.trace")).stdout
    assert re.findall(r"^  ([A-Z]+) +(\d+)$", out, re.M) == [(kind, str(kinds[kind])) for kind, _ in re.findall(
        r"^  ([A-Z]+) +(\d+)$", out, re.M)] and len(kinds) == len(re.findall(r"^  [A-Z]+ +\d+$", out, re.M)), out
    assert all("\n  %s\n" % line in out for line in head[1:]) and head[0] not in out, out
    assert out.endswith("ended: %s, %s packets, %s instructions\n" % end.groups()), out
    forms = ["t.trace", "t.jsonl"] + (["t.cpt"] if ZSTD else [])
    for name in forms:
        if name != "t.trace":
            cpscope("convert", path("t.trace"), "-o", path(name))
        row, = json.loads(cpscope("info", "--json", path(name)).stdout)["files"]
        assert row["events"] == dict(kinds) and (row["kind"], row["gen"], row["end"]) == ("trace", "a6xx", end[1]), row
        assert (row["packets"], row["instructions"]) == (int(end[2]), int(end[3])), row
        assert row["firmware"][0]["name"] == "demo.fw" and row["capture"]["name"] == "frame.rd" and len(row["capture"]["sha256"]) == 64
        assert "policy " + row["policy"] in head, row
    short = text[:text.index("\nEND ") + 1]
    path("endless.trace", short.replace("\n# events all\n", "\n# events reg,pkt\n", 1))
    assert cpscope("info", path("endless.trace")).stdout.endswith("\nthe end is not recorded\n")
    row, = json.loads(cpscope("info", "--json", path("endless.trace")).stdout)["files"]
    assert "end" not in row and "END" not in row["events"], row


def a_trace_cut_between_two_lines_is_cut():
    """Its head promises END. What a full disk or a killed copy left is an error wherever a trace is read, in each format."""
    text = open(trace("whole.trace"), encoding="utf-8").read()
    path("cut.trace", text[:text.index("\nEND ") + 1])
    path("head.trace", text[:text.index("\nREG") + 1])
    cpscope("convert", path("whole.trace"), "-o", path("whole.jsonl"))
    path("cut.jsonl", "".join(open(path("whole.jsonl"), encoding="utf-8").read().splitlines(True)[:-1]))
    for name in ("cut.trace", "head.trace", "cut.jsonl"):
        said = name + ": offset 0x%x: the trace is cut short here: event END, which its head promises, is missing" % os.path.getsize(path(name))
        for command in (["info"], ["convert", "-o", path("part.trace")], ["diff", path("whole.trace")], ["check"]):
            done = cpscope(*command, path(name), status=3)
            assert said in done.stderr + done.stdout, (command, done)
        os.remove(path("part.trace"))


def forms_are_named():
    """--to says the form as the name's end does, for run and for convert; the order of both is the same."""
    ends = {"text": "trace", "cpt": "cpt", "jsonl": "jsonl", "perfetto": "json", "vcd": "vcd"}
    words = [word for word in cpscope("help", "values", "convert", "to").stdout.split() if word != "sqlite" and (word != "cpt" or ZSTD)]
    assert set(ends) - {"cpt"} <= set(words) <= set(ends), words
    base = trace("base.trace")
    for word in words:
        cpscope("convert", base, "-o", path("byname." + ends[word]))
        cpscope("convert", base, "--to", word, "-o", path("byword"))
        want = open(path("byname." + ends[word]), "rb").read()
        assert want == open(path("byword"), "rb").read(), word
        cpscope("run", "--fw", path("demo.fw"), path("frame.rd"), "--to", word, "-o", path("byrun"))
        assert want == open(path("byrun"), "rb").read(), word
        cpscope("convert", base, "--to", word, "-o", path("byname.jsonl"))
        assert want == open(path("byname.jsonl"), "rb").read(), "--to wins over the name"
        os.unlink(path("byname.jsonl"))
    assert len({open(path("byname." + ends[word]), "rb").read() for word in words if word != "jsonl"}) == len(words) - 1
    for command in (["convert", base], ["run", "--fw", path("demo.fw"), path("frame.rd")]):
        assert "--to xml: expected" in cpscope(*command, "--to", "xml", "-o", path("none"), status=2).stderr
        assert not os.path.exists(path("none"))


def traces_are_compared():
    """Two values, a write that is missing, one more submission: what is first, how many, by packet and by register; and the same for
    programs. What the GPU does not see is compared only when it is asked for."""
    text = open(trace("a.trace", "--events", "all")).read()
    assert cpscope("diff", path("a.trace"), path("a.trace")).stdout == path("a.trace") + ": no differences\n"
    same = json.loads(cpscope("diff", "--json", path("a.trace"), path("a.trace")).stdout)
    row, = same["comparisons"]
    assert (same["status"], same["differences"], row["status"], row["differences"], row["by_packet"]) == (0, 0, 0, 0, {}), same
    assert row["compared"] > 50 and [run["end"] for run in row["runs"]] == ["done", "done"] and row["name"] == path("a.trace"), same
    writes = [match for match in re.finditer(r"^REG (0x\w+) (0x\w+) user.*\n", text, re.M)]
    first, second = writes[3], writes[7]
    value = "0x%08x" % (int(first[2], 16) ^ 0x40000000)
    changed = text[:first.start(2)] + value + text[first.end(2):second.start()] + text[second.end():]
    packets = [match for match in re.finditer(r"^PKT \S+ (0x\w+) (0x\w+)", text, re.M)]
    before = [match for match in packets if match.start() < first.start()][-1]
    out = cpscope("diff", path("a.trace"), path("b.trace", changed), status=1).stdout
    lines = out.split("\n")
    assert lines[0] == path("b.trace") + ": first difference, in submission 0:", out
    assert re.match(r"  packet +sqe PKT \S+ %s %s " % before.groups(), lines[1]), out
    assert lines[2].startswith("  a        sqe REG %s %s user" % (first[1], first[2])), out
    assert lines[3].startswith("  b        sqe REG %s %s user" % (first[1], value)), out
    assert "\n2 differences, by packet:\n" in out and re.search(r"^ +1  REG %s" % second[1], out, re.M), out
    missing = path("m.trace", text[:second.start()] + text[second.end():])
    for pair, there, gone in (((path("a.trace"), missing), "a", "b"), ((missing, path("a.trace")), "b", "a")):
        at = json.loads(cpscope("diff", "--json", *pair, status=1).stdout)["comparisons"][0]["first"]
        assert at[gone] is None and (at[there]["event"], at[there]["addr"], at[there]["value"]) == ("REG", int(second[1], 16), int(second[2], 16)), at
    row = json.loads(cpscope("diff", "--json", path("a.trace"), path("b.trace"), status=1).stdout)
    one, = row["comparisons"]
    assert row["differences"] == one["differences"] == sum(one["by_packet"].values()) == 2 and one["name"] == path("b.trace"), row
    assert (one["first"]["submission"], one["first"]["packet"]["addr"], one["first"]["packet"]["value"]) == \
        (0, int(before[1], 16), int(before[2], 16)), one
    for side, want in (("a", first[2]), ("b", value)):
        event = one["first"][side]
        assert (event["event"], event["addr"], event["value"]) == ("REG", int(first[1], 16), int(want, 16)), event
    place, value = re.search(r"^MEMW (0x\w+) (0x\w+)", text, re.M).groups()
    for name, other in (("e.trace", value), ("f.trace", "0x%08x" % (int(value, 16) ^ 1))):
        path(name, text.replace("MEMW %s %s" % (place, value), "MEMW 0x0000000000008820 %s" % other, 1))
    out = cpscope("diff", path("e.trace"), path("f.trace"), status=1).stdout
    assert re.search(r"^ +1  MEMW 0x0000000000008820 *$", out, re.M), "an address has no register's name: " + out
    hidden = re.sub(r"^CTRL 0x0026 0x00000002", "CTRL 0x0026 0x00000003", text, count=1, flags=re.M)
    assert hidden != text
    assert "no differences" in cpscope("diff", path("a.trace"), path("c.trace", hidden)).stdout
    assert "1 difference" in cpscope("diff", "--events", "ctrl", path("a.trace"), path("c.trace"), status=1).stdout
    assert "no differences" in cpscope("diff", "--events", "pipe", path("a.trace"), path("b.trace")).stdout
    cut = text[:first.start()] + text[text.index("\nEND") + 1:]
    assert "first difference" in cpscope("diff", path("a.trace"), path("d.trace", cut), status=1).stdout


def submissions_are_told_apart():
    """The same packets in another submission are no difference inside of one: they are of the second."""
    words = make.type4(0x8c00, 5) + make.type7(0x10)
    data = make.chip(630) + make.buffer(MAIN, make.dwords(words)) + make.submit(MAIN, len(words)) * 2
    other = make.chip(630) + make.buffer(MAIN, make.dwords(words)) + make.submit(MAIN, len(words)) + \
        make.buffer(MAIN, make.dwords(make.type4(0x8c00, 6) + make.type7(0x10))) + make.submit(MAIN, len(words))
    for name, content in (("one", data), ("two", other)):
        cpscope("run", "--fw", path("demo.fw"), path(name + ".rd", content), "-o", path(name + ".trace"))
    out = cpscope("diff", path("one.trace"), path("two.trace"), status=1).stdout
    assert "first difference, in submission 1:" in out and "\n1 difference" in out, out
    row = json.loads(cpscope("diff", "--json", path("one.trace"), path("two.trace"), status=1).stdout)
    assert row["comparisons"][0]["first"]["submission"] == 1, row
    make.firmware(CPSCOPE, path("near"), mkcorpus.revision(open(DEMO).read()))
    words = make.type7(0x4c, 0x00200000, 0xbb) + make.type7(0x4d, 0x01208a00)  # CP_SCRATCH_WRITE, CP_SCRATCH_TO_REG
    path("two.rd", other + make.buffer(MAIN, make.dwords(words)) + make.submit(MAIN, len(words)))
    for fw in ("demo.fw", "near.fw"):
        cpscope("run", "--fw", path(fw), path("two.rd"), "-o", path(fw + ".trace"))
    for both in (["--fw", path("demo.fw"), "--fw", path("near.fw"), path("two.rd")], [path("demo.fw.trace"), path("near.fw.trace")]):
        assert "first difference, in submission 2:" in cpscope("diff", *both, status=1).stdout, both
        row = json.loads(cpscope("diff", "--json", *both, status=1).stdout)
        assert row["comparisons"][0]["first"]["submission"] == 2, row


def nothing_is_left_behind():
    """A run of which nothing executed leaves no file, neither the one that was asked for nor another; nor does a conversion that
    ends in an error."""
    folder = path("empty")
    os.mkdir(folder)
    out = os.path.join(folder, "out.trace")
    data, _, _ = walked()
    path("nothing.rd", data[:20])
    for args in (["run", "--fw", path("demo.fw"), path("nothing.rd"), "-o", out], ["convert", path("nothing.rd"), "-o", out[:-5] + "rd"],
                 ["run", "--fw", path("nothing.rd"), path("frame.rd"), "-o", out], ["disasm", path("nothing.rd"), "-o", out]):
        assert cpscope(*args, status=3).stderr.count("\n") == 1, args
        assert os.listdir(folder) == [], (args, os.listdir(folder))


tap.run([(case.__name__.replace("_", " "), case) for case in (
    captures_are_described, captures_are_described_for_programs, cut_captures_are_described_as_far_as_they_go, captures_become_rd,
    large_captures,
    firmware_is_described, a_part_of_a_file_is_firmware, what_is_no_firmware_is_not_described, traces_are_described, a_trace_cut_between_two_lines_is_cut,
    forms_are_named,
    traces_are_compared, submissions_are_told_apart, nothing_is_left_behind)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Firmware is opened in one way: raw or ELF, plain, gzip, zstd or xz, here or in --fw-path, by every command that takes any.
Python and libzstd compress here, so that our reader is not tried with a writer of our own.

Usage: opening.py CPSCOPE [zstd] [xz]"""
import gzip
import json
import lzma
import os
import random
import struct
import subprocess
import sys
import zlib

import cptread
import make
import tap
from scene import CPSCOPE, FOLDER, cpscope, path
from tree import DEMO

# In the order in which --fw-path tries them.
PACKINGS = {"": bytes, ".xz": lzma.compress, ".zst": cptread.zstd, ".gz": gzip.compress}
if "zstd" not in sys.argv:
    del PACKINGS[".zst"]
if "xz" not in sys.argv:
    del PACKINGS[".xz"]
STATUS = {}  # of each command with the plain file
STREAM = make.capture(make.type4(0x8c00, 5) + make.type7(0x10))


def demo(name="demo.fw"):
    if not os.path.exists(path(name)):
        make.firmware(CPSCOPE, path(name[:-3]), open(DEMO, encoding="utf-8").read())
    return open(path(name), "rb").read()


def other():
    """A revision that does something else, as a file."""
    if not os.path.exists(path("new.fw")):
        make.revisions(CPSCOPE, DEMO, FOLDER, *make.EVENT_CMD)
    return path("new.fw")


def commands(fw):
    """The words of each command that takes firmware."""
    rd, out = path("c.rd", STREAM), path("out")
    return [["run", "--fw", fw, rd, "-q", "-o", out], ["disasm", fw, "-o", out], ["info", "--json", fw], ["audit", "--json", fw],
            ["step", "--fw", fw, rd, "--batch", "-x", path("script", "step\n")], ["cover", "--fw", fw, rd], ["profile", "--fw", fw, rd],
            ["state", "--fw", fw, rd], ["decode", "--fw", fw, rd, "-o", out], ["view", "--fw", fw, rd, "-o", path("out.html")],
            ["why", "--fw", fw, rd, "0x8c00"], ["diff", "--fw", fw, "--fw", fw, rd],
            ["reduce", "--fw", fw, "--fw", other(), path("e.pm4", make.pm4(make.EVENT)), "-o", path("out.pm4"), "--no-cache"],
            ["fuzz", "--fw", fw, "--execs", "20"]]


def every_command_reads_every_packing():
    demo()
    plain = commands(path("demo.fw"))
    for words in plain:
        STATUS[words[0]] = subprocess.run([CPSCOPE, *words], capture_output=True, timeout=60).returncode
    assert STATUS == {**dict.fromkeys(STATUS, 0), "audit": 4}, STATUS  # the demo has not the packets of all cases
    want = [cpscope(*words, status=STATUS[words[0]]).stdout for words in plain]
    for suffix, pack in PACKINGS.items():
        fw = path("demo.fw" + suffix, pack(demo()))
        for words, out in zip(commands(fw), want):
            have = cpscope(*words, status=STATUS[words[0]]).stdout
            if words[0] not in ("info", "audit", "fuzz"):  # those name the file, or time
                assert have.replace(fw, path("demo.fw")) == out, (words, have, out)
    return ", ".join(suffix or "plain" for suffix in PACKINGS)


def elf_in_every_packing():
    cpscope("asm", "-g", path("demo.afuc"), "-o", path("demo.elf"))
    want = cpscope("disasm", path("demo.elf")).stdout
    data = open(path("demo.elf"), "rb").read()
    for suffix, pack in PACKINGS.items():
        fw = path("demo.elf" + suffix, pack(data))
        assert cpscope("disasm", fw).stdout == want
        cpscope("run", "--fw", fw, path("c.rd", STREAM), "-o", path("out"))
        cpscope("asm", fw, "-o", path("raw.fw"))
        assert open(path("raw.fw"), "rb").read() == demo()


def captures_in_every_packing():
    cpscope("run", "--fw", path("demo.fw"), path("c.rd", STREAM), "-o", path("want"))
    want = [line for line in open(path("want")) if line[0] != "#"]
    for suffix, pack in PACKINGS.items():
        cpscope("run", "--fw", path("demo.fw"), path("c.rd" + suffix, pack(STREAM)), "-o", path("have"))
        assert [line for line in open(path("have")) if line[0] != "#"] == want, suffix


def firmware_is_found_in_fw_path():
    """Named without a folder: in the folders in their order, in each plain, then compressed. What is here comes first."""
    data = demo()
    for suffix, pack in PACKINGS.items():
        folder = path("in" + suffix)
        os.mkdir(folder)
        path("in%s/found.fw%s" % (suffix, suffix), pack(data))
        for words in commands("found.fw"):
            cpscope(*words, "--fw-path", path("."), "--fw-path", folder, status=STATUS[words[0]])
        done = cpscope("run", "--fw", "found.fw", "--fw-path", folder, path("c.rd"), "-o", path("out"))
        assert "# firmware found.fw%s sha256:" % suffix in open(path("out")).read(), done
        manifest = path("m-path", "# cpscope-manifest 1\nfirmware a found.fw\nfirmware b found.fw\nbaseline a\ncapture c.rd\n")
        cpscope("regress", manifest, "--no-cache", "--fw-path", folder)
    path("in/sub/found.fw", data)
    done = cpscope("run", "--fw", "sub/found.fw", "--fw-path", path("in"), path("c.rd"), status=3)
    assert done.stderr == "cpscope: sub/found.fw: cannot open: No such file or directory\n", done.stderr
    path("cache/cpscope/firmware/cached.fw.gz", gzip.compress(data))  # where tools/firmware.sh puts it
    cpscope("run", "--fw", "cached.fw", path("c.rd"), "-o", path("out"))
    assert "# firmware cached.fw.gz sha256:" in open(path("out")).read()
    done = cpscope("run", "--fw", "nowhere.fw", "--fw-path", path("."), path("c.rd"), status=3)
    assert done.stderr == "cpscope: nowhere.fw: cannot open: No such file or directory\n", done.stderr


def damaged_packings_are_one_line():
    """Cut anywhere, or one byte changed: an error with file and offset, status 3. A changed byte may also be none of the contents."""
    data, rng, refused = demo(), random.Random(34), 0
    for suffix, pack in list(PACKINGS.items())[1:]:
        packed = pack(data)
        for cut in (5, 20, len(packed) // 2, len(packed) - 1):
            fw = path("cut.fw" + suffix, packed[:cut])
            done = cpscope("run", "--fw", fw, path("c.rd", STREAM), status=3)
            assert done.stderr.startswith("cpscope: %s: offset 0x" % fw) and done.stderr.count("\n") == 1, done.stderr
            assert "ends in the middle" in done.stderr or "corrupt" in done.stderr, done.stderr
        for _ in range(10):
            at = rng.randrange(12, len(packed) - 12)
            fw = path("bad.fw" + suffix, packed[:at] + bytes([packed[at] ^ 1 << rng.randrange(8)]) + packed[at + 1:])
            done = cpscope("disasm", fw, "-o", path("out"), status=3)
            assert done.stderr.startswith("cpscope: %s: offset 0x" % fw) and done.stderr.count("\n") == 1, done.stderr
            refused += 1
    return "%d refused" % refused


def hostile_sizes_end():
    """A gibibyte of zeros in a few bytes, and an xz file that asks for a dictionary of 1.5 GiB: neither is read whole."""
    zeros = bytes(1 << 20)
    for suffix, pack in list(PACKINGS.items())[1:]:
        fw = path("bomb.fw" + suffix, pack(zeros) * 1024)
        done = cpscope("run", "--fw", fw, path("c.rd", STREAM), status=3)
        assert done.stderr == "cpscope: %s: offset 0x4000000: file goes on, expected at most 67108864 bytes\n" % fw, done.stderr
    if ".xz" not in PACKINGS:
        return "without xz"
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 4096, "preset": 0}]
    packed = bytearray(lzma.compress(demo(), filters=filters))
    head = packed[12:12 + (packed[12] + 1) * 4]
    at = head.index(b"\x21\x01") + 2  # LZMA2's properties: the size of the dictionary
    head[at] = 39
    head[-4:] = struct.pack("<I", zlib.crc32(bytes(head[:-4])))
    packed[12:12 + len(head)] = head
    done = cpscope("run", "--fw", path("dict.fw.xz", bytes(packed)), path("c.rd"), status=3)
    assert "dict.fw.xz: offset 0x" in done.stderr and "more than 128 MiB" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    return ""


def cut_images_are_not_run():
    """The demo, cut: info says where it ends, disasm lists what is there, nothing runs it, and no pair of regress passes."""
    data = demo()
    words = len(data) // 4 - 1
    for end in (16, len(data) // 3 // 4 * 4, len(data) - 4 * 200, len(data) - 4):
        fw = path("cut.fw", data[:end])
        place = "the image ends at dword 0x%x, expected 0x%x dwords: " % (end // 4 - 1, words)
        assert "\n  warning     " + place in cpscope("info", fw).stdout
        assert json.loads(cpscope("info", "--json", fw).stdout)["files"][0]["incomplete"].startswith(place)
        cpscope("disasm", fw, "-o", path("out"))
        for command in commands(fw):
            if command[0] in ("info", "disasm"):
                continue
            done = cpscope(*command, status=3)
            assert "cpscope: %s: offset 0x%x: %s" % (fw, end, place) in done.stderr and done.stderr.count("\n") == 1, (command, done.stderr)
        done = cpscope("diff", "--fw", path("demo.fw"), "--fw", fw, path("c.rd"), status=3)
        assert "\ncode that differs, " in "\n" + done.stdout and place in done.stderr, (done.stdout, done.stderr)
        manifest = path("m-cut", "# cpscope-manifest 1\nfirmware a cut.fw\nfirmware b cut.fw\nbaseline a\ncapture c.rd\n")
        assert "\n0 pass, 0 differ, 2 stopped" in cpscope("regress", manifest, "--no-cache", status=4).stdout
    assert "warning" not in cpscope("info", path("demo.fw")).stdout


tap.run([(case.__name__.replace("_", " "), case) for case in (
    every_command_reads_every_packing, elf_in_every_packing, captures_in_every_packing, firmware_is_found_in_fw_path,
    damaged_packings_are_one_line, hostile_sizes_end, cut_images_are_not_run)])

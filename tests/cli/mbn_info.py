#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cpscope info on Qualcomm's split images, written here. Usage: mbn_info.py CPSCOPE"""
import json
import os
import struct
import tempfile
from scene import run

# flags, offset, size in the file, size in memory
SEGMENTS = [(0x07000000, 0, 52 + 5 * 32, 0), (0x02200000, 0x1000, 0x40, 0x1000),
            (0x08000007, 0x2000, 0x20, 0x2000), (6, 0x3000, 0x10, 0x10), (6, 0x4000, 8, 8)]


def image():
    head = b"\x7fELF\1\1\1" + bytes(9)
    head += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0x8f400000, 52, 0, 0x5000000, 52, 32,
                        len(SEGMENTS), 0, 0, 0)
    for flags, offset, size, memory in SEGMENTS:
        head += struct.pack("<8I", 1, offset, 0, 0x8f400000 + offset, size, memory, flags, 4)
    return head


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


def info(*args):
    return run("info", *args)


with tempfile.TemporaryDirectory() as scratch:
    path = write(scratch, "zap.mdt", image() + bytes(0x40))
    write(scratch, "zap.b02", bytes(0x20))
    write(scratch, "zap.b03", bytes(0x0f))
    text, data = info(path), info("--json", path)
    print("1..3")
    places = ["in this file", "in this file", "in its own file", "in its own file of a wrong size",
              "missing"]
    lines = [line for line in text.stdout.splitlines() if line.startswith("  segment")]
    good = text.returncode == 0 and len(lines) == 5 and all(
        (", %s" % place) in line for place, line in zip(places, lines)) and (
        "does not fit" in lines[3] and " relocatable" in lines[2] and "hash" in lines[1])
    print("%sok 1 - text: where every segment's bytes are" % ("" if good else "not "))
    segments = json.loads(data.stdout)["files"][0]["segments"]
    good = [s["place"] for s in segments] == places and [
        (s["flags"], s["offset"], s["file_size"], s["memory_size"]) for s in segments] == SEGMENTS and [
        (s.get("split_size"), s.get("split_fits")) for s in segments] == [
            (None, None), (None, None), (0x20, True), (0x0f, False), (None, None)]
    print("%sok 2 - JSON: the same, and the headers' fields" % ("" if good else "not "))
    done = info(write(scratch, "cut.mdt", image()[:80]))
    good = done.returncode == 3 and done.stderr.count("\n") == 1 and "offset 0x" in done.stderr
    print("%sok 3 - headers cut short" % ("" if good else "not "))

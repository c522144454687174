#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Words of packets as events: all of them, of each level, as they stand in the capture; what forms say of
them. Usage: payload.py CPSCOPE"""
import json
import os
import re

import make
import tap
from scene import CORPUS, cpscope, path

NOP, MEM_WRITE, INDIRECT_BUFFER, SET_DRAW_STATE = 0x10, 0x3d, 0x3f, 0x43
INNER = make.type4(0x8810, 1, 2, 3) + make.type7(NOP, 5)
OUTER = (make.type7(NOP) + make.type7(MEM_WRITE, 0x200000, 0, 7, 8) + make.type7(INDIRECT_BUFFER, 0x110000, 0, len(INNER)) +
         make.type4(0x8820, 0x7e7, 0x10001))


def run(*args):
    return cpscope("run", *args, status=(0, 4)).stdout


def capture():
    with open(path("c.rd"), "wb") as out:
        out.write(make.chip(630) + make.buffer(0x100000, make.dwords(OUTER)) + make.buffer(0x110000, make.dwords(INNER)) +
                  make.submit(0x100000, len(OUTER)))
    return path("c.rd")


def packets(text):
    """[header, level, words] of each packet of a trace."""
    found = []
    for line in text.splitlines():
        if " PKT " in " " + line:
            found.append([int(re.search(r"PKT \w+ \w+ (0x\w+)", line)[1], 16), line.split("PKT ")[1].split()[0], []])
        elif line.startswith("WORD "):
            number, value = (int(word, 16) for word in line.split()[1:3])
            assert number == len(found[-1][2]), line
            found[-1][2].append(value)
    return found


def every_word_of_every_level():
    found = packets(run("--demo", capture(), "-e", "pkt,payload"))
    stream = [[header, *words] for header, level, words in found if level == "ib1"]
    assert sum(stream, []) == OUTER, stream
    inner = [[header, *words] for header, level, words in found if level == "ib2"]
    assert sum(inner, []) == INNER, inner
    assert [words for header, level, words in found if level == "int"] == [[], []], found


def a_packet_that_is_cut_short_has_what_is_there():
    words = make.type7(NOP) + make.type7(MEM_WRITE, 1, 2, 3, 4)[:3]
    open(path("cut.rd"), "wb").write(make.capture(words))
    found = [p for p in packets(run("--demo", path("cut.rd"), "-e", "pkt,payload")) if p[1] == "ib1"]
    assert found[1][2] == [1, 2], found


def not_by_default():
    assert "WORD" not in run("--demo", capture())


def text_names_fields():
    text = run("--demo", capture(), "-e", "pkt,payload,reg")
    for line in ("WORD 0x0000 0x00200000 ; ADDR=0x200000 pc=", "WORD 0x0002 0x00000007 ; [2]=0x7 pc=",
                 "WORD 0x0000 0x00110000 ; IB_BASE=0x110000 pc=", "WORD 0x0001 0x00000000 ; pc=",
                 "WORD 0x0002 0x00000006 ; IB_SIZE=6 pc=",
                 "WORD 0x0000 0x000007e7 ; RB_MRT[0].CONTROL=0x7e7 BLEND BLEND2 ROP_ENABLE ROP_CODE=ROP_COPY "
                 "COMPONENT_ENABLE=0xf pc="):
        assert "\n" + line in text, (line, text)


def json_lines_have_names_and_fields():
    run("--demo", capture(), "-e", "pkt,payload,reg", "-o", path("c.jsonl"))
    lines = [json.loads(line) for line in open(path("c.jsonl"))][1:]
    write = next(i for i, line in enumerate(lines) if line.get("name") == "CP_MEM_WRITE")
    assert lines[write]["count"] == 4 and lines[write + 1]["fields"] == {"ADDR": "0x200000"}, lines[write:write + 2]
    mrt = next(line for line in lines if line["event"] == "REG" and line.get("name") == "RB_MRT[0].CONTROL")
    assert mrt["fields"] == {"BLEND": True, "BLEND2": True, "ROP_ENABLE": True, "ROP_CODE": "ROP_COPY",
                             "COMPONENT_ENABLE": "0xf"}, mrt
    zero = next(line for line in lines if line["event"] == "PKT" and line.get("reg") == 0x8820)
    assert zero["name"] == "RB_MRT[0].CONTROL" and zero["count"] == 2, zero


def every_form_holds_them():
    run("--demo", capture(), "-e", "all", "-o", path("a.txt"))
    for form in ("cpt", "jsonl", "txt"):
        cpscope("convert", path("a.txt"), "-o", path("b." + form))
        cpscope("convert", path("b." + form), "-o", path("c.txt"))
        assert open(path("c.txt")).read() == open(path("a.txt")).read(), form


def corpus_packets_have_the_words_that_headers_say():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    count = 0
    for name, *firmware in (("fd-clouds.rd.gz", "a680_sqe.fw"), ("compute-a540.rd.gz", "a530_pfp.fw", "a530_pm4.fw")):
        args = sum((["--fw", os.path.join(CORPUS, "firmware", fw)] for fw in firmware), [])
        text = run(*args, os.path.join(CORPUS, "captures", name), "-e", "pkt,payload")
        text = "".join(line.replace("pfp ", "", 1) for line in text.splitlines(True) if not line.startswith("me "))
        for header, level, words in packets(text):
            expected = header & (0x7f if header >> 28 == 4 else 0x3fff)
            assert len(words) == (0 if level == "int" else expected), (name, hex(header), len(words))
            count += 1
    return "%d packets" % count


tap.run([(case.__name__.replace("_", " "), case) for case in (
    every_word_of_every_level, a_packet_that_is_cut_short_has_what_is_there, not_by_default, text_names_fields,
    json_lines_have_names_and_fields, every_form_holds_them, corpus_packets_have_the_words_that_headers_say)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hangs made on purpose with real firmware of each generation: `run --dump` writes a devcoredump, which a reader of the
format's facts parses, `info` explains and `run` replays with all values equal. Usage: made_hangs.py CPSCOPE"""
import json
import os
import re
import subprocess
import sys
import tempfile

import tap

CORPUS = os.environ.get("CPSCOPE_CORPUS", "")
CPSCOPE = os.path.abspath(sys.argv[1])
CHIPS = {"a5xx": ("gpu 530", ["a530_pfp.fw", "a530_pm4.fw"]), "a6xx": ("gpu 630", ["a630_sqe-190.fw"]),
         "a7xx": ("chip 0x43050a01", ["a740_sqe-181.fw"]), "a8xx": ("chip 0x44050a01", ["gen80000_sqe-077.fw"])}
WAIT = "CP_WAIT_REG_MEM 0x13 %s 0x0 0x5 0xffffffff 0x10"
# What hangs in the IB2, its header, and what info says of it.
HANGS = {"a bad packet": (".word 0x70f48001 0x0", 0x70f48001), "a poll that nobody answers": (WAIT % "0x200200", 0x70bc8006),
         "a poll of memory that is missing": (WAIT % "0x900200", 0x70bc8006),
         "a stream that chains to itself": ("CP_INDIRECT_BUFFER_CHAIN @inner #inner", None)}
FRAME = """# cpscope-pm4 1
%s
buffer 0x300000 first
    CP_NOP 0x1
%sbuffer 0x100000 frame
    CP_NOP 0x1
    CP_MEM_WRITE 0x00200000 0x0 0x11 0x22 0x33
    CP_INDIRECT_BUFFER @inner #inner
    CP_NOP 0x9 0x9
buffer 0x110000 inner
    CP_NOP 0x3 0x4
    %s
    CP_NOP 0x8
buffer 0x200000 data
    .word 0 0 0 0
buffer 0x200200 word
    .word 0 0
submit frame
"""
PLACE = 0x11000c  # of the packet that hangs
ORDER = ["ringbuffer:", "bos:", "registers:", "registers-gmu:", "indexed-registers:", "shader-blocks:", "clusters:", "debugbus:"]


def decode85(text):
    words, at = [], 0
    while at < len(text):
        if text[at] == "z":
            words.append(0)
            at += 1
            continue
        value = 0
        for char in text[at:at + 5]:
            value = value * 85 + ord(char) - 33
        words.append(value)
        at += 5
    return words


def parse(path):
    """As strict as crashdec: fixed prefixes, bodies are indented, contents fit the size that is stated."""
    lines = open(path, encoding="ascii").read().split("\n")
    assert lines[0] == "---" and re.match(r"kernel: \d+\.\d+", lines[1]) and lines[2] == "module: msm"
    assert re.match(r"time: \d+\.\d{9}$", lines[3]), lines[3]
    assert any(re.match(r"revision: \d+ \(\d+\.\d+\.\d+\.\d+\)$", line) for line in lines)
    assert [line for line in lines if line in ORDER] == ORDER
    body = lines[lines.index("ringbuffer:"):-1]
    assert all(line.startswith(" ") or line in ORDER for line in body), [x for x in body if x[:1] != " " and x not in ORDER]
    blocks, size, name = {}, None, None
    for i, line in enumerate(body):
        kind = re.match(r" +(?:- )?(size|dwords|regs-name): (\S+)", line)
        if kind and kind[1] == "regs-name":
            name = kind[2]
        elif kind:
            size = int(kind[2]) // 4 if kind[1] == "size" else int(kind[2])
        if line.endswith("data: !!ascii85 |"):
            words = decode85(body[i + 1].strip())
            assert len(words) <= size, (name, len(words), size)
            if name:
                blocks[name] = words
        if "{" in line:
            assert re.match(r" +- \{ offset: 0x[0-9a-f]{6}, value: 0x[0-9a-f]{8} \}$", line), line
    return blocks


def run(*arguments, status=None):
    done = subprocess.run([CPSCOPE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          check=False)
    assert status is None or done.returncode == status, (arguments, done.returncode, done.stdout[-3000:], done.stderr[-2000:])
    return done.stdout


def hang(folder, chip, before, what):
    head, names = CHIPS[chip]
    firmware = [word for name in names for word in ("--fw", os.path.join(CORPUS, "firmware", name))]
    stream, dump = os.path.join(folder, "t.pm4"), os.path.join(folder, "t.devcore")
    with open(stream, "w", encoding="ascii") as out:
        out.write(FRAME % (head, "submit first\nsubmit first\n" if before else "", HANGS[what][0]))
    run("run", "--waits", "stop", *firmware, stream, "--dump", dump, "-o", os.devnull, status=4)
    return firmware, dump


def made(chip, what, before=False):
    header = HANGS[what][1]
    with tempfile.TemporaryDirectory() as folder:
        firmware, dump = hang(folder, chip, before, what)
        blocks = parse(dump)
        text = run("run", *firmware, dump, "-o", os.devnull, status=0)
        assert "queues and program counter; 1 match\n" in text and re.search(r"^# in all: \d+ equal, 0 different", text, re.M), text
        if chip != "a5xx" and header:  # of a5xx the ME hangs, and the block is the PFP's
            told = json.loads(run("info", "--json", dump, status=0))["files"][0]["hang"]
            assert (told["header"], told["location"], told["level"]) == (header, PLACE, 2), told
            assert blocks["CP_SQE_STAT"][0] == told["pc"] and blocks["CP_SQE_STAT"][0x24] == header
            assert told["waits_for"] == ("nothing" if what == "a bad packet" else "function"), told
        if before:
            assert "fence 2 retired, 3 submitted" in text, text
        for words in (("decode",), ("state",)):
            run(*words, *firmware, dump, status=0 if words[0] == "decode" else None)
        run("step", "--batch", *firmware, dump, status=0)


def complete():
    """A run that ends by itself leaves no dump; a dump is not dumped again."""
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "none")
        run("run", "--demo", "--dump", dump, "-o", os.devnull, status=0)
        assert not os.path.exists(dump)
        firmware, dump = hang(folder, "a6xx", False, "a bad packet")
        run("run", *firmware, dump, "--dump", dump + "2", "-o", os.devnull, status=2)


def needs_corpus():
    raise tap.Skip("CPSCOPE_CORPUS is not set")


TESTS = [("%s of %s is explained, and all values of its replay are equal" % (what, chip), lambda a=chip, b=what: made(a, b))
         for chip in CHIPS for what in HANGS]
TESTS += [("%s of a6xx after other submissions is replayed from a fence" % what, lambda b=what: made("a6xx", b, True)) for what in HANGS]
TESTS += [("only a run that stops early leaves a dump", complete)]
tap.run(TESTS if CORPUS else [(name, needs_corpus) for name, _ in TESTS])

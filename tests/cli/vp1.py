#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of VP1 through every command. Usage: vp1.py CPSCOPE"""
import json
import os
import random
import struct

import tap
from scene import cpscope, keeps_every_form, path
from tree import GOLDEN, SCRIPTS

RUN = os.path.join(SCRIPTS, "vp1.run")
VP1 = ["--engine", "vp1"]
CHIPS = ("nv41", "nv44", "g80")
LOOP = struct.pack("<4I", 0x65080005, 0xffffffff & 0xefffffff, 0x4fffffff, 0xff001234)


def run_gives_the_golden():
    out = cpscope("run", *VP1, RUN, "-e", "all").stdout
    assert out == open(os.path.join(GOLDEN, "vp1.trace")).read()
    # A copy of the run file on the command line's chip: $c has no bits 6 and 7 before G80.
    missed = cpscope("run", *VP1, "--chip", "nv44", RUN, "-o", path("nv44.trace"), status=1).stderr
    assert "0x00f680 reads 0x0000803c, expected 0x000080fc" in missed, missed


def registers_read_as_the_scan_saw_them():
    out = cpscope("run", *VP1, os.path.join(os.path.dirname(RUN), "vp1-scan.run"), "-o", path("scan.trace")).stderr
    assert "expected" not in out and "vp1-register" in out and "vp1-control" in out, out


def check_and_convert_take_the_golden():
    golden = os.path.join(GOLDEN, "vp1.trace")
    assert ": pass" in cpscope("check", "--search", os.path.dirname(RUN), golden).stdout
    keeps_every_form(golden)


def diff_compares_chips():
    same = cpscope("diff", "--fw", "vp1:nv41", "--fw", "vp1:nv44", "-e", "regr", RUN)
    other = cpscope("diff", "--fw", "vp1:nv44", "--fw", "vp1:g80", "-e", "regr", RUN, status=1)
    assert "0x0000803c" in other.stdout and "0x000080fc" in other.stdout, other.stdout
    assert "0x0000803c" not in same.stdout


def regress_takes_chips():
    path("manifest", "# cpscope-manifest 1\nfirmware old vp1:nv44\nfirmware new vp1:g80\nbaseline old\nevents regr,exit\ncapture %s\n" % RUN)
    cpscope("regress", path("manifest"), "-o", path("report"), "--no-cache", status=1)
    pairs = json.load(open(os.path.join(path("report"), "results.json")))["pairs"]
    assert {p["firmware"]: p["status"] for p in pairs} == {"old": "differs", "new": "differs"}, pairs
    assert "1 read is not what the run file expects" in pairs[1]["reason"] and "vp1.run:13:" in pairs[1]["reason"], pairs


def a_bundle_costs_what_the_policy_says():
    ticks = {}
    for cost in (0, 4):
        out = cpscope("run", *VP1, "--policy", "cost=%d" % cost, RUN, "-e", "all").stdout
        assert "# policy cost=%d " % cost in out
        ticks[cost] = [int(line.split()[1]) for line in out.split("\n") if line.startswith("TICK")]
        assert out.count("vp1 STEP") == ticks[cost][-1] / (1 + cost), out
    assert ticks[4] == [5 * tick for tick in ticks[0]] and len(ticks[0]) > 20, ticks


def viewers_see_the_unit():
    cpscope("convert", os.path.join(GOLDEN, "vp1.trace"), "-o", path("view.vcd"))
    lines = open(path("view.vcd")).read().splitlines()
    scopes = [line.split()[2] for line in lines if line.startswith("$scope module")]
    assert scopes == ["host", "vp1"], scopes


def any_word_assembles_again():
    random.seed(1)
    words = [random.getrandbits(24) | opcode << 24 for opcode in range(256) for _ in range(3)]
    random.shuffle(words)
    code = struct.pack("<%dI" % len(words), *words)
    for chip in CHIPS:
        for names in ("measured", "envytools"):
            listing = cpscope("disasm", *VP1, "--chip", chip, "--names", names, path("code", code)).stdout
            assert "[" not in listing
            cpscope("asm", *VP1, path("code.s", listing), "-o", path("code2"))
            assert open(path("code2"), "rb").read() == code


def bundles_are_shown_and_checked():
    listing = cpscope("disasm", *VP1, "--chip", "g80", path("code", LOOP)).stdout.split("\n")
    assert [line[:8] for line in listing[1:5]] == ["        ", "      + ", "        ", "      + "], listing
    cases = [("  snop\n  vnop\n", ":2:3: expected '+', because"), ("  vnop\n+ snop\n", ":2:1: expected a word that joins"),
             ("  snop\n  .names mine\n", ":2:10: expected measured or envytools"),
             ("  add $a1 $r2 $a3\n", ":1:11: expected a register of this operand's file"),
             ("  sub $a1 $a2 (slct $c4 zf $a3d)\n", ":1:21: expected a condition"),
             ("  sub $a1 $a2 (slct $c1 zf $a3q)\n", ":1:31: expected 'd)'"),
             ("  bra $c0 true 5\n", ":1:16: expected a word address that is a multiple of 4"),
             ("  sar $a1 $a2 0x400\n", "expected a value from -1024 to 1023"),
             ("  mov $l1 $c2 5\n", "expected the condition register of the same number")]
    for source, message in cases:
        said = cpscope("asm", *VP1, path("bad.s", "; vp1-g80 vp1\n" + source), "-o", path("none"), status=3).stderr
        place = message if message[0] != ":" else ":%d%s" % (int(message[1]) + 1, message[2:])
        assert place in said, said


def names_are_chosen():
    seed = cpscope("disasm", *VP1, RUN).stdout
    other = cpscope("disasm", *VP1, "--names", "envytools", RUN).stdout
    assert "mov $x5 $a3" in seed and "mov $m5 $r3" in other and ".names envytools" in other
    assert "expected measured or envytools" in cpscope("disasm", *VP1, "--names", "mine", RUN, status=2).stderr


def step_goes_both_ways():
    out = cpscope("step", *VP1, RUN, text="g 20\nb 8\nc\np a2\nrs\ng 20\nl 4 2\nw a2 if a2 > 40\nc\np a2\nrc\n").stdout
    assert "0x0000002d = 45" in out and "0006 6d08400f  sub $a1 $a1 0x1" in out, out
    assert "0005 e30001a0  bra loop not $l0 $l0 $c0 lzf 0x0004" in out, out
    assert "delay slot of a branch to 0004" in out and "watchpoint 2, a2" in out, out
    out = cpscope("step", *VP1, "--names", "envytools", RUN, text="g 20\nl 4 2\n").stdout
    assert "$r" in out, out


def info_counts_bundles():
    facts = json.loads(cpscope("info", *VP1, "--json", RUN).stdout)
    facts = facts[0] if isinstance(facts, list) else facts
    facts = facts.get("files", [facts])[0]
    assert facts["engine"] == "vp1" and facts["bundles"] == 9 and facts["operations"]["bra"] == 1, facts
    assert "9 bundles" in cpscope("info", *VP1, RUN).stdout


def the_unknown_has_a_place():
    for words, place in (((0xefffffff, 0xdb000000), "vp1 at 0x0001: vp1-opcode"), ((0xc3000000,), "vp1 at 0x0000: vp1-dma"),
                         ((0xefffffff,), "vp1 at 0x0001: vp1-fetch")):
        code = struct.pack("<%dI" % len(words), *words)
        said = cpscope("run", *VP1, "--chip", "g80", path("code", code), "-o", path("t"), status=4).stderr
        assert "ended: fault " + place in said, said
    jobs = json.loads(cpscope("run", *VP1, "--chip", "g80", "--json", path("code", LOOP)).stdout)
    assert jobs["end"] == "done" and jobs["unknown"] == {"vp1-exit": 1} and jobs["registers"]["a1"] == 5, jobs


def wrong_usage_is_said():
    assert "expected nv41, nv44 or g80" in cpscope("run", *VP1, "--chip", "nv17", RUN, status=2).stderr
    assert "--seq-abi has no meaning" in cpscope("run", *VP1, "--seq-abi", "new", RUN, status=2).stderr
    said = cpscope("run", *VP1, path("bad.run", "# cpscope-script 1\nchip g92\n"), status=3).stderr
    assert ":2:6: expected a chip (nv41, nv44 or g80" in said, said


tap.run([(case.__name__.replace("_", " "), case) for case in (
    run_gives_the_golden, registers_read_as_the_scan_saw_them, check_and_convert_take_the_golden, a_bundle_costs_what_the_policy_says, viewers_see_the_unit, diff_compares_chips, regress_takes_chips,
    any_word_assembles_again, bundles_are_shown_and_checked, names_are_chosen, step_goes_both_ways,
    info_counts_bundles, the_unknown_has_a_place, wrong_usage_is_said)])

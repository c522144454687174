#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The state at draws, against what the streams write: captures are made here, and every register is
followed by hand. Usage: state.py CPSCOPE; with CPSCOPE_CORPUS also real captures."""
import json
import os

import make
import tap
from scene import CORPUS, cpscope, path

DRAW, SET_DRAW_STATE, INDIRECT_BUFFER, NOP = 0x38, 0x43, 0x3f, 0x10
TRIANGLES = (0x84, 1, 3)


def state(*args, status=0):
    done = cpscope("state", *args, status=status)
    return done.stdout if status < 2 else done.stderr


def capture(name, third=7):
    """Three draws: registers, then a draw-state group in front of the second, then one changed."""
    group = make.type4(0x8818, 5)
    stream = (make.type4(0x8820, 0x7e7, 0x10001) + make.type7(DRAW, *TRIANGLES) +
              make.type7(SET_DRAW_STATE, 0x00700000 | len(group), 0x120000, 0) +
              make.type4(0x8820, 0x7e7) + make.type7(DRAW, *TRIANGLES) +
              make.type4(0x8821, third) + make.type7(DRAW, 0x84, 2, 6))
    with open(path(name), "wb") as out:
        out.write(make.chip(630) + make.buffer(0x100000, make.dwords(stream)) + make.buffer(0x120000, make.dwords(group)) +
                  make.submit(0x100000, len(stream)))
    return path(name)


def rows(*args, status=0):
    said = json.loads(state(*args, "--json", status=status))
    return said["draws"], {row["offset"]: row for row in said["registers"]}


def draws_are_listed():
    lines = state("--demo", capture("c.rd")).splitlines()
    assert [line.split()[:2] for line in lines] == [["0", "draw"], ["1", "draw"], ["2", "draw"]], lines
    assert "CP_DRAW_INDX_OFFSET DI_PT_TRILIST NUM_INSTANCES=1 NUM_INDICES=3" in lines[0], lines
    assert "NUM_INSTANCES=2 NUM_INDICES=6" in lines[2], lines
    said = json.loads(state("--demo", "--json", capture("c.rd")))
    assert [d["draw"] for d in said["draws"]] == [0, 1, 2] and said["draws"][0]["kind"] == "draw", said


def values_and_marks():
    _, first = rows("--demo", capture("c.rd"), "--draw", "0")
    assert (first[0x8820]["value"], first[0x8820]["mark"]) == ("0x7e7", "new"), first[0x8820]
    assert first[0x8820]["fields"]["ROP_CODE"] == "ROP_COPY" and first[0x8820]["fields"]["BLEND"] is True
    assert 0x8818 not in first
    _, second = rows("--demo", capture("c.rd"), "--draw", "1")
    assert second[0x8820]["mark"] == "again" and second[0x8821]["mark"] == "kept", second[0x8820]
    assert (second[0x8818]["value"], second[0x8818]["writer"]["level"]) == ("0x5", "sds"), second[0x8818]
    _, third = rows("--demo", capture("c.rd"), "--draw", "2")
    assert (third[0x8821]["mark"], third[0x8821]["before"], third[0x8821]["value"]) == ("changed", "0x10001", "0x7"), third[0x8821]
    assert third[0x8820]["mark"] == "kept", third[0x8820]


def two_draws_and_two_captures():
    draws, between = rows("--demo", capture("c.rd"), "--draw", "0", "--against", "2", status=1)
    assert [d["draw"] for d in draws] == [0, 2]
    assert between[0x8821]["mark"] == "changed" and between[0x8818]["mark"] == "new"
    assert between[0x8820]["mark"] == "kept"
    _, same = rows("--demo", capture("c.rd"), "--draw", "2", "--against", "2")
    assert {row["mark"] for row in same.values()} == {"kept"}
    _, other = rows("--demo", capture("c.rd"), capture("d.rd", third=8), "--draw", "2", status=1)
    assert [offset for offset, row in other.items() if row["mark"] != "kept"] == [0x8821], other


def text_has_blocks_and_only_what_changed():
    text = state("--demo", capture("c.rd"), "--draw", "2", "--changed")
    assert "* 0x8821 RB_MRT[0].BLEND_CONTROL 0x00000007" in text and "was 0x00010001" in text, text
    assert "0x8820" not in text and text.startswith("# draw 2 of sqe: CP_DRAW_INDX_OFFSET"), text


def mistakes_are_told():
    assert "no draw 3: " in state("--demo", capture("c.rd"), "--draw", "3", status=3)
    assert "expected --draw" in state("--demo", capture("c.rd"), capture("d.rd"), status=2)
    assert "--processor bv" in state("--demo", capture("c.rd"), "--draw", "0", "--processor", "bv", status=2)
    assert "--processor x" in state("--demo", capture("c.rd"), "--processor", "x", status=2)
    assert "takes --fw" in state(capture("c.rd"), status=2)


def a_real_capture_folds_its_bins():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    args = ["--fw", os.path.join(CORPUS, "firmware/a680_sqe.fw"), os.path.join(CORPUS, "captures/fd-clouds.rd.gz")]
    lines = state(*args).splitlines()
    assert len(lines) == 9 and lines[0].endswith("again as 2 5 8"), lines
    assert [line.split()[1] for line in lines] == 3 * ["draw", "resolve", "resolve"], lines
    _, found = rows(*args, "--draw", "0")
    return "%d registers at the first draw" % len(found)


def compute_of_a5xx():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    fw = [arg for name in ("a530_pfp.fw", "a530_pm4.fw") for arg in ("--fw", os.path.join(CORPUS, "firmware", name))]
    said = json.loads(state(*fw, os.path.join(CORPUS, "captures/compute-a540.rd.gz"), "--json"))
    assert [(d["kind"], d["processor"], d["packet"]) for d in said["draws"]] == [("dispatch", "me", "CP_EXEC_CS")], said


def switched_off_draws_are_skipped():
    """The client draws 12 of 24 in its conditional part, whatever way the firmware leaves them out."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    for chip, fw in (("a630", "a630_sqe-207"), ("a650", "a650_sqe-112"), ("a730", "a730_sqe-142"),
                     ("a750", "gen70900_sqe-181")):
        stream = os.path.join(CORPUS, "captures/mesa-26.2/vkt-draw-%s.rd.gz" % chip)
        fw = os.path.join(CORPUS, "firmware/%s.fw" % fw)
        kinds = [d["kind"] for d in json.loads(state("--fw", fw, stream, "--json"))["draws"]]
        assert [kinds.count(k) for k in ("draw", "dispatch", "skipped")] == [27, 1, 13], (chip, kinds)
        said = json.loads(cpscope("decode", "--fw", fw, "--summary", "--json", stream).stdout)
        assert [said[k] for k in ("draw", "dispatch", "skipped")] == [27, 1, 13], (chip, said)


tap.run([(case.__name__.replace("_", " "), case) for case in (
    draws_are_listed, values_and_marks, two_draws_and_two_captures, text_has_blocks_and_only_what_changed,
    mistakes_are_told, a_real_capture_folds_its_bins, compute_of_a5xx,
    switched_off_draws_are_skipped)])

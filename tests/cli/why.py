#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where values come from, with the demo's firmware over captures that are made here: each chain ends in the byte
that was put there. Usage: why.py CPSCOPE"""
import json
import os
import re
import subprocess

import claimfw
import make
import provenance
import tap
import scene
from scene import CPSCOPE, FOLDER, cpscope, path
from tree import DEMO

MEM_WRITE, INDIRECT_BUFFER, SET_DRAW_STATE, DRAW = 0x3d, 0x3f, 0x43, 0x38
GROUP = make.type4(0x8820, 0x70, 0x71)
INNER = make.type4(0x8810, 1, 2, 3) + make.type7(DRAW, 0, 1, 3)
OUTER = (make.type7(MEM_WRITE, 0x200000, 0, 7, 8) + make.type7(SET_DRAW_STATE, 5 << 24 | 7 << 20 | len(GROUP), 0x120000, 0) +
         make.type7(INDIRECT_BUFFER, 0x110000, 0, len(INNER)) + make.type4(0x8810, 0x55) + make.type7(DRAW, 0, 1, 3))


def capture():
    """The name of an .rd with a stream, one that it calls, and a draw-state group."""
    with open(path("c.rd"), "wb") as out:
        out.write(make.chip(630) + make.buffer(0x100000, make.dwords(OUTER)) + make.buffer(0x110000, make.dwords(INNER)) +
                  make.buffer(0x120000, make.dwords(GROUP)) + make.submit(0x100000, len(OUTER)))
    return path("c.rd")


def firmware():
    return path("demo.fw") if os.path.exists(path("demo.fw")) else scene.firmware("demo")


def run(command, *args, status=0, stdin=None):
    return cpscope(command, "--fw", firmware(), capture(), *args, status=status, text=stdin)


def answers(*what, **more):
    return [json.loads(line) for line in run("why", "--json", *what, **more).stdout.splitlines()]


def nodes(answer, kind):
    return [node for node in answer["nodes"] if node["kind"] == kind]


def checked(answer, value):
    """The chain holds, and the value is that."""
    assert int(answer["value"], 16) == value, answer["value"]
    return provenance.Chain(answer, provenance.capture(capture())).check()


def a_register_is_a_word_of_the_capture():
    second, = answers("0x8811")
    assert checked(second, 2) == "capture"
    word = second["nodes"][second["nodes"][0]["in"][0]]
    assert word["place"] == "0x110008" and word["byte"] > 0, word


def a_stream_is_called():
    second, = answers("0x8811")
    stream, = (node for node in nodes(second, "stream") if node["level"] == "ib2")
    caller = second["nodes"][stream["packet"]]
    assert int(caller["place"], 16) == 0x100000 + 4 * OUTER.index(make.type7(INDIRECT_BUFFER, 0, 0, 0)[0]), caller
    ring = second["nodes"][second["nodes"][caller["packet"]]["packet"]]
    assert ring["level"] == "rb" and ring["submission"] == 0, ring


def what_the_driver_sends_first_is_of_no_submission():
    """CP_ME_INIT stands in front of submission 0: its second word after the header, 3, goes to a register here."""
    source = claimfw.skeleton([], {0x48: ["mov $addr, 0x8900", "mov $02, $data", "mov $data, $data", "(rep)mov $00, $data"]}, "a6xx")
    make.firmware(CPSCOPE, path("init"), source)
    command = [CPSCOPE, "why", "--fw", path("init.fw"), capture(), "0x8900", "-q"]
    text, found = (subprocess.run(command + more, text=True, capture_output=True, timeout=200, check=True).stdout
                   for more in ([], ["--json"]))
    packets = nodes(json.loads(found), "packet")
    assert text.startswith("0x8900 = 0x00000003") and "in CP_ME_INIT at 0x" in text, text
    assert "(rb), before the first submission\n" in text and ", submission" not in text, text
    assert packets and not any("submission" in packet for packet in packets), packets


def a_group_is_set():
    first, = answers("0x8820")
    assert checked(first, 0x70) == "capture"
    group, = nodes(first, "group")
    setter = first["nodes"][group["packet"]]
    assert group["group"] == 5 and int(setter["value"], 16) >> 16 & 0x7f == SET_DRAW_STATE, group
    text = run("why", "0x8820").stdout
    assert "draw-state group 5" in text and "group set by CP_SET_DRAW_STATE at 0x" in text, text
    assert re.search(r"run by CP_DRAW_INDX_OFFSET at 0x1100", text), text


def memory_has_an_origin():
    second, = answers("mem:0x200004")
    assert checked(second, 8) == "capture"


def values_have_a_time():
    found = answers("0x8810@draw:0", "0x8810@draw:1", "0x8810")
    assert [int(answer["value"], 16) for answer in found] == [1, 0x55, 0x55], found
    lines = [line for line in run("run").stdout.splitlines() if not line.startswith("#")]
    writes = [at for at, line in enumerate(lines) if line.startswith("REG 0x8810 ")]
    found = answers(*("0x8810@event:%d" % at for at in writes), *("event:%d" % at for at in writes))
    assert [int(answer["value"], 16) for answer in found] == [1, 0x55] * 2, found


def all_writes_hold():
    lines = [line.split() for line in run("run").stdout.splitlines() if not line.startswith("#")]
    wanted = [(at, int(words[2], 16)) for at, words in enumerate(lines) if words[0] in ("REG", "MEMW", "MEMR", "REGR")]
    found = answers("-", stdin="".join("event:%d\n" % at for at, _ in wanted))
    assert len(found) == len(wanted) > 15
    ends = [checked(answer, value) for answer, (_, value) in zip(found, wanted)]
    return "%d values, %d of the capture" % (len(ends), ends.count("capture"))


def a_list_is_as_arguments():
    what = ["0x8811", "event:30", "mem:0x200000"]
    assert run("why", *what).stdout == run("why", "-", stdin="\n".join(what)).stdout


def end_of_run():
    """The number of END, which is no value."""
    return len([line for line in run("run").stdout.splitlines() if not line.startswith("#")]) - 1


def what_is_not_there():
    done = run("why", "0x8811", "0x9999", status=1)
    assert "0x8811 = 0x00000002" in done.stdout and "0x9999: the firmware never writes it" in done.stderr, done
    assert ": no draw 9: " in run("why", "0x8811@draw:9", status=3).stderr
    assert "has no event 99999999" in run("why", "event:99999999", status=3).stderr
    assert "not a value" in run("why", "event:%d" % end_of_run(), status=1).stderr


def a_difference_has_two_sides():
    """The constant of the firmware that differs, and the capture's word that was kept."""
    make.revisions(CPSCOPE, DEMO, FOLDER, *make.EVENT_CMD)
    with open(path("d.pm4"), "w") as out:
        out.write(make.pm4(make.EVENT))
    command = [CPSCOPE, "diff", "--fw", path("old.fw"), "--fw", path("new.fw"), path("d.pm4")]
    done = subprocess.run(command, capture_output=True, text=True)
    text = done.stdout
    assert done.returncode == 1, done
    for side, constant in ("old", 5), ("new", 6):
        assert re.search(r"where the %s value comes from:\n    0x0000000%d written to pipe register 0x\w+ EVENT_CMD" % (side, constant), text), text
    found = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True).stdout)["comparisons"][0]
    for side, constant in ("why_old", 5), ("why_new", 6):
        assert int(found[side]["value"], 16) == constant, found
        assert checked(found[side], constant) == "computed of constant"


def what_is_no_question():
    for what in ("RB_NOPE", "0x40000", "mem:x", "event:", "event:x", "0x8811@", "0x8811@draw:-1", "@draw:1", "0x8811@draw:1x"):
        done = run("why", what, status=2)
        assert len(done.stderr.splitlines()) == 1 and not done.stdout, done


tap.run([
    ("a register's value is a word of the capture", a_register_is_a_word_of_the_capture),
    ("a stream is called by a packet, up to the submission", a_stream_is_called),
    ("what the driver sends first is of no submission", what_the_driver_sends_first_is_of_no_submission),
    ("a draw-state group is set by a packet, and run by another", a_group_is_set),
    ("memory that firmware wrote has an origin", memory_has_an_origin),
    ("values are those of their draw, and of their event", values_have_a_time),
    ("all values of the run hold", all_writes_hold),
    ("a list on stdin is as arguments", a_list_is_as_arguments),
    ("what was never written is said, with status 1", what_is_not_there),
    ("the first difference of two revisions has two chains", a_difference_has_two_sides),
    ("what is no question is said, with status 2", what_is_no_question),
])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A capture as annotated text, against streams that are made here word by word, and what is read without
firmware against what firmware does. Usage: decode.py CPSCOPE; with CPSCOPE_CORPUS also real captures."""
import collections
import glob
import json
import os
import pty
import re
import signal
import subprocess

import machine
import make
import tap
from tree import DEMO
from scene import CORPUS, CPSCOPE, cpscope, firmware, path, run

MEM_WRITE, REG_TO_MEM = 0x3d, 0x3e
NOP, REG_RMW, DRAW, IB, SET_DRAW_STATE, EXEC_CS = 0x10, 0x21, 0x38, 0x3f, 0x43, 0x33
START_BIN, AMBLE, IB_CHAIN, BUNCH, MARKER, REG_WRITE, BLIT, TABLE = 0x50, 0x55, 0x57, 0x5c, 0x65, 0x6d, 0x2c, 0x7f
TRIANGLES = (0x84, 1, 3)
BINNING, GMEM, SYSMEM = 1 << 20, 1 << 21, 1 << 22
BASE = 0x100000


def decode(*args, status=0, stderr=False, env=None):
    done = cpscope("decode", *args, status=status, env=env)
    return done.stderr if stderr else done.stdout


def packets(*args, status=0):
    """Without the last line of each capture, which has the account that the status follows from."""
    lines = [json.loads(line) for line in decode("--json", *args, status=status).splitlines()]
    runs = [line["run"] for line in lines if "run" in line]
    assert "run" in lines[-1] and max(run["status"] for run in runs) == status, (args, runs)
    return [line for line in lines if "run" not in line]


def capture(name, *streams, gpu=630):
    """The first stream is submitted; each lies at BASE and so many times 0x10000 behind it."""
    data = make.chip(gpu)
    for i, words in enumerate(streams):
        data += make.buffer(BASE + 0x10000 * i, make.dwords(words))
    with open(path(name), "wb") as out:
        out.write(data + make.submit(BASE, len(streams[0])))
    return path(name)


def where(i):
    return (BASE + 0x10000 * i, 0)


def told(got):
    """(level, depth, name) of packets."""
    return [(p["level"], p["depth"], p.get("name")) for p in got]


def streams_nest():
    leaf = make.type4(0x8810, 1)
    middle = make.type7(IB, *where(2), len(leaf)) + make.type7(NOP)
    chained = make.type7(NOP, 7)
    top = make.type7(IB, *where(1), len(middle)) + make.type7(IB_CHAIN, *where(3), len(chained)) + make.type4(0x8810, 9)
    got = packets(capture("nest.rd", top, middle, leaf, chained))
    assert told(got) == [("ib1", 1, "CP_INDIRECT_BUFFER"), ("ib2", 2, "CP_INDIRECT_BUFFER"), ("ib3", 3, got[2]["name"]),
                         ("ib2", 2, "CP_NOP"), ("ib1", 1, "CP_INDIRECT_BUFFER_CHAIN"), ("ib1", 1, "CP_NOP")], told(got)
    assert [int(p["addr"], 16) for p in got] == [BASE, BASE + 0x10000, BASE + 0x20000, BASE + 0x10010, BASE + 0x10, BASE + 0x30000], got
    assert [e["value"] for p in got for e in p["events"]] == [1], "what stands behind a chain does not run"
    return "the words behind a chain are not among them"


def groups_run_in_front_of_draws():
    """By the mode and the mask, once, in the order of their numbers; a disabled one does not."""
    def group(i, n):
        return make.type4(0x8810, n), i
    g = [make.type4(0x8810, n) for n in range(4)]

    def head(i, mask, flags=0):
        return (i << 24 | mask | flags | len(g[i]), *where(1 + i))
    stream = (make.type7(MARKER, 2) +                                   # binning
              make.type7(SET_DRAW_STATE, *head(3, BINNING), *head(1, GMEM), *head(0, BINNING | SYSMEM), *head(2, BINNING)) +
              make.type7(SET_DRAW_STATE, *head(2, 0, 1 << 17)) +        # disabled again
              make.type7(DRAW, *TRIANGLES) + make.type7(DRAW, *TRIANGLES) +
              make.type7(SET_DRAW_STATE, *head(2, BINNING, 1 << 19)) +  # at once
              make.type7(SET_DRAW_STATE, *head(1, BINNING)) + make.type7(SET_DRAW_STATE, 1 << 18, 0, 0) + # all disabled
              make.type7(BLIT, 0) + make.type7(EXEC_CS, 0, 1, 1, 1))
    got = packets(capture("groups.rd", stream, *g))
    runs = [(p["group"], p["draw"], p["events"][0]["value"]) for p in got if p["level"] == "sds"]
    assert runs == [(0, 0, 0), (3, 0, 3), (2, 2, 2)], runs
    assert [p["starts"] for p in got if "starts" in p] == ["draw", "draw", "blit", "dispatch"], got
    assert {p["depth"] for p in got if p["level"] == "sds"} == {2}
    text = decode(capture("groups.rd", stream, *g))
    assert text.index("draw 0:") < text.index("draw-state group 0:") < text.index("draw-state group 3:") < text.index("draw 1:"), text


def a_group_that_another_replaced_has_no_number():
    """Of two that one packet runs at once as the same group, only the second one is known by its number, wherever the
    first lies."""
    words = make.type4(0x8810, 1)
    for first in (BASE + 0x10000, 1 << 32, 2 << 32, 4 << 32):
        heads = [(5 << 24 | SYSMEM | 1 << 19 | len(words), iova & 0xffffffff, iova >> 32) for iova in (first, BASE + 0x20000)]
        stream = make.type7(SET_DRAW_STATE, *heads[0], *heads[1])
        with open(path("replaced.rd"), "wb") as out:
            out.write(make.chip(630) + make.buffer(BASE, make.dwords(stream)) + make.buffer(first, make.dwords(words)) +
                      make.buffer(BASE + 0x20000, make.dwords(words)) + make.submit(BASE, len(stream)))
        got = [p.get("group") for p in packets(path("replaced.rd")) if p["level"] == "sds"]
        assert got == [None, 5], (first, got)


def packets_that_call_in_their_own_way():
    prefix = make.type4(0x8810, 1) + make.type4(0x8810, 2)
    table = make.type4(0x8811, 3) * 3
    amble = make.type4(0x8812, 4)
    stream = (make.type7(START_BIN, 2, *where(1), 2, 0) + make.type7(AMBLE, *where(3), len(amble)) +
              make.type7(TABLE, *where(2), 2 << 20 | 6, 3))
    got = packets(capture("own.rd", stream, prefix, table, amble, gpu=0x43050a01))
    values = [(p["level"], p["events"][0]["value"]) for p in got if p["events"]]
    assert values == [("ib2", 1), ("ib2", 2)] + [("ib2", 3)] * 3, values
    assert told(got)[4][0] == "ib2" and not got[4]["events"], "an amble is shown, and writes nothing yet"


def what_an_amble_sets_is_not_set():
    """It runs at another time: neither its mode nor its groups are those of the draw behind the packet that names it."""
    group = make.type4(0x8810, 1)
    amble = make.type7(MARKER, 2) + make.type7(SET_DRAW_STATE, 1 << 18, 0, 0)
    stream = (make.type7(SET_DRAW_STATE, SYSMEM | len(group), *where(1)) + make.type7(AMBLE, *where(2), len(amble)) +
              make.type7(DRAW, *TRIANGLES))
    got = packets(capture("kept.rd", stream, group, amble, gpu=0x43050a01))
    assert [p["name"] for p in got][2:4] == ["CP_SET_MARKER", "CP_SET_DRAW_STATE"], got
    assert [p["events"][0]["value"] for p in got if p["level"] == "sds"] == [1], got


def registers_beside_type4():
    stream = (make.type7(REG_WRITE, 2, 0x8801, 0x90) + make.type7(BUNCH, 0x8810, 5, 0x8811, 6) +
              make.type7(REG_RMW, 0x8812, 0, 1))
    got = packets(capture("writes.rd", stream))
    writes = [[(int(e["addr"], 16), e["value"]) for e in p["events"]] for p in got]
    assert writes == [[(0x8801, 0x90)], [(0x8810, 5), (0x8811, 6)], []], writes
    assert len(packets("--register", "0x8812", path("writes.rd"))) == 1, "its value is not known, that it is written is"
    assert not packets("--register", "0x8812=1", path("writes.rd"))


def damaged_streams():
    bad = capture("bad.rd", [0x12345678] + make.type4(0x8810, 1))
    text = decode(bad, status=4)
    assert "12345678 not a valid packet header" in text and "00000001" in text, text
    assert "invalid packet headers: 1" in decode(bad, status=4, stderr=True)
    short = capture("short.rd", make.type7(NOP, 1, 2, 3)[:2])
    assert "CP_NOP  (1 of 3 words)" in decode(short), decode(short)
    missing = capture("missing.rd", make.type7(IB, 0xdead0000, 0, 4) + make.type7(NOP))
    assert "> missing from the capture: 0xdead0000" in decode(missing) and decode(missing).count("CP_NOP") == 1
    assert "missing from the capture: 1" in decode(missing, stderr=True)
    circle = capture("circle.rd", make.type7(IB, *where(0), 4) * 3)
    assert [p["level"] for p in packets(circle)] == ["ib1", "ib2", "ib3"] * 3
    assert decode(circle).count("indirect buffers are nested too deep at 0x100000") == 3
    chain = capture("chain.rd", make.type7(IB_CHAIN, *where(0), 4))
    assert len(packets("--limit", "1000", chain, status=4)) == 1000
    for packet in (make.type7(START_BIN, 0xffffffff, 0xdead0000, 0, 2, 0), make.type7(TABLE, *where(1), 1 << 20 | 6, 0xffffffff)):
        times = capture("times.rd", packet, make.type7(NOP), gpu=0x43050a01)
        assert "missing from the capture: 1\n" in decode(times, stderr=True), "2^32 times cost no 2^32 turns"
        assert decode(times).count("missing from the capture:") == 1
    deep = make.type7(SET_DRAW_STATE, SYSMEM | 1 << 19 | 4, *where(1))  # a group that sets itself
    assert decode(capture("deep.rd", deep, deep)).count("indirect buffers are nested too deep at 0x110000") == 1
    assert "limit of 1000 packets" in decode("--limit", "1k", chain, status=4, stderr=True)


def filters():
    group = make.type4(0x8820, 0x7e7)
    stream = (make.type4(0x8810, 0x10) + make.type7(SET_DRAW_STATE, SYSMEM | len(group), *where(1)) +
              make.type7(DRAW, *TRIANGLES) + make.type4(0x8810, 0x20) + make.type7(DRAW, 0x84, 2, 6) + make.type7(NOP))
    file = capture("filter.rd", stream, group)
    every = packets(file)
    assert len(every) == 7
    draws = [packets("--draw", text, file) for text in ("0", "1", "0..1", "..0", "1..")]
    assert [len(d) for d in draws] == [4, 2, 6, 4, 3], [len(d) for d in draws]
    assert [p["addr"] for p in draws[0] + draws[4]] == [p["addr"] for p in every], "they share nothing and leave nothing out"
    levels = [packets("--level", text, file) for text in ("ib1", "sds", "ib1,sds")]
    assert [len(x) for x in levels] == [6, 1, 7]
    for what, count in (("cp_draw*", 2), ("type4", 3), ("CP_NOP,CP_DRAW_INDX_OFFSET", 3), ("0x10", 1), ("CP_?OP", 1), ("CP_DRAW_INDX", 0)):
        assert len(packets("--packet", what, file)) == count, what
    name = every[0]["name"]
    for what, count in ((name, 2), ("0x8810", 2), ("0x8800..0x881f", 2), ("0x8810=0x20", 1), ("0x8820,0x8810", 3), (name.lower(), 2),
                        ("RB_MRT[0].BLEND_CONTROL", 0)):
        assert len(packets("--register", what, file)) == count, what
    group_name = packets("--register", "0x8820", file)[0]
    field = next(f for f, v in group_name["events"][0]["fields"].items() if isinstance(v, (int, str)) and v not in (0, False))
    value = group_name["events"][0]["fields"][field]
    value = 1 if value is True else value
    for what, count in (("%s.%s=%s" % (group_name["name"], field, value), 1), ("0x8820:%s=%s" % (field, value), 1),
                        ("%s:%s=0x7ff" % (group_name["name"], field), 0)):
        assert len(packets("--register", what, file)) == count, (what, count, group_name)
    assert len(packets("--register", "0x8810", "--draw", "1", "--packet", "type4", file)) == 1
    assert len(packets("--submit", "0", file)) == 7
    assert "no submission 1: %s has 1 submission (numbered from 0)" % file in decode("--submit", "1", file, status=3, stderr=True)
    assert "no submission 1: demo.pm4 has 1 submission (numbered from 0)" in decode("--demo", "--submit", "1", status=3, stderr=True)
    assert "no draw 2: %s has 2 draws (numbered from 0)" % file in decode("--draw", "2..", file, status=3, stderr=True)
    return "field %s.%s" % (group_name["name"], field)


def values():
    """What a register must get, as a number, by the name of an enumeration's value, or as it is shown. Mesa's a3xx_rop_code has
    ROP_AND_INVERTED as 2, RB_MRT[0].CONTROL ROP_CODE in bits 6:3; 3f800000 is 1.0."""
    file = capture("values.rd", make.type4(0x8010, 0x3f800000) + make.type4(0x8820, 2 << 3) + make.type7(NOP))
    for what, count in (("0x8820:ROP_CODE=rop_and_inverted", 1), ("RB_MRT[?].CONTROL*:ROP_CODE=2", 1), ("0x8820:ROP_CODE=ROP_COPY", 0),
                        ("0x8820:ROP_CODE=3", 0), ("0x8010=1.0", 1), ("0x8010=0x3f800000", 1), ("0x8010=2.0", 0), ("0x8010=1.00", 0)):
        assert len(packets("--register", what, file)) == count, what


def names_of_the_user():
    """PM4 text takes names of packets and registers from --rnn, in each command that reads it, and none of them without."""
    tree = path("tree")
    os.makedirs(tree, exist_ok=True)
    with open(os.path.join(tree, "a6xx.xml"), "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?>\n<database>\n<domain name="A6XX" width="32" prefix="variant" varset="chip">\n'
                   '<reg32 offset="0x9801" name="OF_THE_USER"/>\n</domain>\n</database>\n')
    with open(os.path.join(tree, "adreno_pm4.xml"), "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?>\n<database>\n<enum name="adreno_pm4_type3_packets">\n'
                   '<value name="CP_OF_THE_USER" value="0x10"/>\n</enum>\n</database>\n')
    text = path("named.pm4")
    with open(text, "w", encoding="utf-8") as file:
        file.write("# cpscope-pm4 1\ngpu 630\nbuffer 0x100000 frame\nreg OF_THE_USER 0x7\nCP_OF_THE_USER 0x1\nsubmit frame\n")
    with open(DEMO, encoding="utf-8") as file:
        make.firmware(CPSCOPE, path("demo"), file.read())
    out, fw = path("named.trace"), ["--fw", path("demo.fw")]
    for command in (["run", *fw, text, "-o", out], ["decode", text], ["convert", text, "-o", path("named.rd")],
                    ["state", *fw, text], ["profile", *fw, text], ["cover", *fw, text], ["why", *fw, text, "0x9801"],
                    ["diff", *fw, *fw, text], ["fuzz", *fw, "--execs", "1", text]):
        named, plain = [run(*command, *more) for more in (["--rnn", tree], [])]
        assert plain.returncode == 3 and "named.pm4:4:" in plain.stderr, (command, plain)
        assert ":4:" not in named.stderr and ":5:" not in named.stderr, (command, named.stderr)
    assert "REG 0x9801 0x00000007" in open(out, encoding="utf-8").read()
    assert [p["level"] for p in packets(path("named.rd"))] == ["ib1", "ib1"]


def addresses():
    """Packets that name an address: fields, and registers that hold one. With firmware also where it reads and writes: the second
    word of CP_MEM_WRITE, the stream itself for nobody."""
    file = capture("addresses.rd", make.type7(MEM_WRITE, 0x200000, 0, 1, 2) + make.type7(REG_TO_MEM, 0x8810, 0x300000, 0) +
                   make.type4(0x8825, 0x400000, 1) + make.type7(NOP, 0x200000) + make.type4(0x8810, 0x200000))
    demo = firmware("demo")
    base = "RB_MRT[0].BASE"
    for what, named, run in (("0x200000", ["CP_MEM_WRITE"], []), ("0x1fffff", [], []), ("0x200001..0x200003", [], []),
                             ("0x200004", [], ["CP_MEM_WRITE"]), ("0x200008..0x2fffff", [], []), ("0x300000", ["CP_REG_TO_MEM"], []),
                             ("0x100400000", [base], []), ("0x400000", [], []), ("0x300001..", [base], []),
                             ("0x200005..0x100400000", ["CP_REG_TO_MEM", base], []), ("..0x200000", ["CP_MEM_WRITE"], ["CP_INDIRECT_BUFFER"])):
        assert [p["name"] for p in packets("--address", what, file)] == named, what
        assert sorted(p["name"] for p in packets("--fw", demo, "--address", what, file)) == sorted(named + run), what


def wrong_options():
    file = capture("o.rd", make.type7(NOP))
    for args in (("--draw", "x"), ("--draw", "3..1"), ("--register", ""), ("--register", "a=" + "b" * 80), ("--level", "ib4"), ("--packet", "A" * 64), ("--packet", "CP_NOP,"), ("--register", "RB_X=0x100000000"),
                 ("--color", "blue"), ("--all",), ("--waits", "stop"), ("--inject", "1"), ("--policy", "waits=stop"), ("--register", ",".join(["A"] * 40))):
        said = decode(*args, file, status=2, stderr=True)
        assert said.startswith("cpscope: ") and said.count("\n") == 1, (args, said)
    assert "takes captures" in decode(status=2, stderr=True)
    assert "no draw 1: %s has 0 draws (numbered from 0)" % file in decode("--draw", "1", file, status=3, stderr=True)


def unknown_names():
    """Neither firmware nor form matters: a name that no packet, register or field of the GPU has is wrong usage."""
    file = capture("n.rd", make.type7(NOP) + make.type4(0x8810, 1))
    for text, said in (("--packet CP_DRAW_INDEX", "--packet CP_DRAW_INDEX: this GPU has no such name; did you mean CP_DRAW_INDX?"),
                       ("--packet CP_NOP,cp_nopp", "--packet cp_nopp: this GPU has no such name; did you mean CP_NOP?"),
                       ("--packet CP_NO", "did you mean CP_NOP?"), ("--packet x*", "--packet x*: this GPU has no such name"), ("--packet 0x99", "--packet 0x99: this GPU has no such name"),
                       ("--register NOSUCH", "--register NOSUCH: this GPU has no such name"),
                       ("--register RB_CNT", "did you mean RB_CNTL?"), ("--register RB_CNTL:BINV", "--register RB_CNTL:BINV: this GPU has no such name; did you mean BINW?"),
                       ("--register RB_CNTL.NOSUCH", "--register RB_CNTL.NOSUCH: this GPU has no such name")):
        for more in ([], ["--json"], ["--summary"], ["--demo"], ["--demo", "--summary", "--json"]):
            assert decode(*more, *text.split(" "), file, status=2) == "", (text, more)
            assert said in decode(*more, *text.split(" "), file, status=2, stderr=True), (text, more)
    for text in ("--packet type4", "--packet 0x10", "--packet CP_*", "--register RB_CNTL", "--register rb_cntl:binw", "--register RB_CNTL.BINW"):
        decode(*text.split(" "), file)


def nothing_decoded():
    """Without a packet of a submission there is no result; what is missing beside others is counted."""
    nothing = (("bare.rd", make.chip(630) + make.submit(BASE, 4) + make.submit(2 * BASE, 4), "the capture has no packets of its 2 submissions"),
               ("lone.rd", make.chip(630) + make.buffer(BASE, make.dwords(make.type7(NOP))), "the capture has no packets of its 0 submissions"))
    for name, data, said in nothing:
        with open(path(name), "wb") as out:
            out.write(data)
        assert said in decode(path(name), status=4, stderr=True)
        assert packets(path(name), status=4) == []
        said = decode("--draw", "3", path(name), status=4, stderr=True)
        assert "no draw 3: " in said and " has 0 draws (numbered from 0)" in said and "nothing decoded" in said, said
        assert "nothing executed: " in decode("--demo", path(name), status=4, stderr=True)
    with open(path("some.rd"), "wb") as out:
        out.write(make.capture(make.type7(NOP)) + make.submit(0x900000, 4))
    last = json.loads(decode("--json", path("some.rd")).splitlines()[-1])
    assert last == {"run": {"status": 0, "submissions": 2, "packets": 1, "missing_streams": 1, "bad_headers": 0, "limit": False}}, last
    last = json.loads(decode("--demo", "--json", path("some.rd")).splitlines()[-1])
    assert last == {"run": {"status": 0, "end": "done", "submissions": 2, "executed": 1, "not_captured": 1}}, last
    assert "1 of 2 submissions is not in the capture" in decode("--demo", path("some.rd"), stderr=True)


def another_gpu():
    """Of several captures, one of another GPU than the firmware's is skipped by name; if all are, nothing was decoded."""
    a, b = capture("a.rd", make.type7(NOP)), capture("other.rd", make.type7(NOP), gpu=740)
    said = decode("--demo", b, a, status=4, stderr=True)
    assert "other.rd: skipped: " in said and "1 of 2 captures are skipped" in said, said
    assert "all 2 captures are skipped" in decode("--demo", b, b, status=3, stderr=True)
    decode("--demo", b, status=3)


def summary_is_the_sum():
    file = capture("sum.rd", make.type4(0x8810, 1, 2) + make.type4(0x8810, 1) + make.type4(0x8810, 3) + make.type7(NOP, 1) +
                   make.type7(DRAW, *TRIANGLES))
    said = json.loads(decode("--summary", "--json", file))
    assert (said["packets"], said["dwords"], said["type4"], said["draw"], said["dispatch"]) == (5, 3 + 2 + 2 + 2 + 4, 3, 1, 0), said
    regs = {r["reg"]: (r["writes"], r["changes"], r["first"], r["last"]) for r in said["registers"]}
    assert regs == {0x8810: (3, 1, 1, 3), 0x8811: (1, 0, 2, 2)}, regs
    assert {t["name"]: t["count"] for t in said["type7"]} == {"CP_NOP": 1, "CP_DRAW_INDX_OFFSET": 1}
    text = decode("--summary", "--register", "0x8811", file)
    assert text.startswith("1 packet, 3 dwords, 0 draws, 0 dispatches, 0 blits, 0 resolves\n") and "0x8810" not in text, text
    text = decode("--summary", capture("odd.rd", [0x12345678] + make.type4(0x8810, 1)), status=4)
    assert "\n         1  not a valid packet header\n" in text and "\n         1  type4\n" in text, text


def not_as_the_stream_says():
    """What CP_PROTECT forbids (CP_PROTECT_REG of 0x8810 alone, then CP_PROTECT_CNTL) is not written: of two registers the second one is."""
    file = capture("forbidden.rd", make.type4(0x850, 0x8810) + make.type4(0x84f, 3) + make.type4(0x8810, 7, 6) + make.type4(0x8811, 5))
    text = decode("--demo", file)
    assert text.count("not written with the stream's values") == 1, text
    assert re.search(r"\n +> PROT 0x8810 0x00000007 .*\n(.*\n)* +> 1 of 2 not written with the stream's values\n", text), text
    assert "not written" not in decode(file), "nobody executed it"


def summary_of_nothing():
    """No packet is shown, so that nobody's names are known: the capture has none, a filter leaves none, or the file is bad."""
    empty = path("empty.rd")
    with open(empty, "wb") as out:
        out.write(make.chip(630))
    file = capture("some.rd", make.type7(NOP))
    for args, status in (([empty], 4), ([file, "--packet", "CP_DRAW_INDX"], 0), (["--demo", "--packet", "CP_DRAW_INDX"], 0)):
        assert decode("--summary", *args, status=status).startswith("0 packets, 0 dwords, 0 draws"), args
        said = json.loads(decode("--summary", "--json", *args, status=status))
        assert (said["registers"], said["run"]["status"]) == ([], status), (args, said)
    with open(path("bad.bin"), "wb") as out:
        out.write(b"no capture")
    for form in ([], ["--json"]):
        assert "bad.bin" in decode("--summary", *form, path("bad.bin"), status=3, stderr=True)


def at_a_terminal(args, env):
    """A command whose stdout and stderr are a terminal, and the other end of that."""
    machine.need_terminal()
    parent, child = pty.openpty()
    done = subprocess.Popen([CPSCOPE, "decode", *args], stdout=child, stderr=child, stdin=subprocess.DEVNULL,
                            env=dict(os.environ, TERM="xterm", **env))
    os.close(child)
    return done, parent


def on_a_terminal(args, env, status=0):
    """What a terminal shows."""
    done, parent = at_a_terminal(args, env)
    shown = b""
    while True:
        try:
            data = os.read(parent, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    assert done.wait(60) == status
    return shown.decode().replace("\r\n", "\n")


def colours_and_pager():
    file = capture("colour.rd", make.type4(0x8820, 0x7e7) + make.type7(DRAW, *TRIANGLES))
    plain = decode(file)
    painted = decode("--color", "always", file)
    assert "\033[" in painted and re.sub(r"\033\[\d*m", "", painted) == plain
    assert decode("--color", "auto", file) == plain, "no terminal, no colours"
    shown = on_a_terminal([file, "--no-pager"], {})
    assert "\033[" in shown and re.sub(r"\033\[\d*m", "", shown) == plain
    assert on_a_terminal([file, "--no-pager"], {"NO_COLOR": "1"}) == plain
    paged = on_a_terminal([file, "--color", "never"], {"PAGER": "sed s/^/PAGED./"})
    assert paged == re.sub("^", "PAGED.", plain, flags=re.M)[:len(paged)] and paged.startswith("PAGED."), paged
    assert on_a_terminal([file, "--color", "never"], {"PAGER": "false", "CPSCOPE_PAGER": "cat"}) == plain
    assert on_a_terminal([file], {"PAGER": "sed s/^/P./"}) == re.sub("^(?!$)", "P.", painted, flags=re.M), "colours also through a pager"
    assert on_a_terminal([path("none.rd")], {"PAGER": "sed s/^/P./"}, status=3).startswith("P.cpscope: "), "errors are on its screen"
    decode("--color", "always", "-o", path("out.txt"), file)
    with open(path("out.txt")) as out:
        assert out.read() == plain, "files have no colours"


def a_signal_waits_for_the_pager():
    """It still reads the terminal: the shell is not to go on before."""
    file = capture("long.rd", make.type7(NOP) * 4000)
    os.mkfifo(path("fifo"))
    done, parent = at_a_terminal([file], {"PAGER": "head -c 100; read line < %s; cat > /dev/null" % path("fifo")})
    shown = b""
    while len(shown) < 100:
        shown += os.read(parent, 65536)
    done.send_signal(signal.SIGINT)
    machine.wait_until(lambda: machine.has_taken(done, signal.SIGINT), "the signal is not taken")
    assert done.poll() is None, "it waits"
    with open(path("fifo"), "w", encoding="utf-8") as fifo:
        fifo.write("go on\n")
    assert done.wait(60) == -signal.SIGINT
    os.close(parent)


def a_cut_capture_into_a_full_output():
    """Of two things that are wrong the capture's is said, in one line; with the output alone that."""
    words = make.type4(0x8810, 1) * 2000
    whole = make.capture(words)
    cut = whole + make.buffer(0x200000, make.dwords(words))[:-5]
    for name, data, said in (("whole.rd", whole, "No space left on device"), ("cut.rd", cut, "cut short")):
        with open(path(name), "wb") as out:
            out.write(data)
        with open("/dev/full", "wb") as full:
            done = cpscope("decode", path(name), stdout=full, status=3)
        assert said in done.stderr and done.stderr.count("\n") == 1, (name, done)


def several_captures():
    a, b = capture("a.rd", make.type7(NOP)), capture("b.rd", make.type4(0x8810, 1))
    assert decode(a, b) == "%s:\n%s%s:\n%s" % (a, decode(a), b, decode(b))
    assert [p["capture"] for p in packets(a, b)] == [a, b] and "capture" not in packets(a)[0]
    assert ['"capture":"%s"' % f in decode("--summary", "--json", a, b) for f in (a, b)] == [True, True]


def firmware_says_what_became_of_it():
    text = decode("--demo")
    assert "> " in text and "pc=0x" in text
    both = packets("--demo")
    assert {p["level"] for p in both} >= {"rb", "ib1"}, {p["level"] for p in both}
    everything = decode("--demo", "--all")
    assert everything.count("\n") > text.count("\n"), "--all also has what the packets say themselves"


def registers_of(events):
    return [(int(e["addr"], 16) & 0xfffffffff, e["value"]) for e in events if e["event"] == "REG"]


PAIRS = [("a680_sqe.fw", "fd-clouds.rd.gz"), ("a680_sqe.fw", "dEQP-VK*.rd.gz"), ("gen70900_sqe-177.fw", "a750-ycbcr.pm4")]


def same_as_firmware():
    """Each packet that both saw, by its place: firmware wrote what the stream said, or more, in that order. What
    only one of them saw: firmware leaves out what conditions exclude, and runs a group again that it kept."""
    told_of, compared = [], 0
    for fw, pattern in PAIRS:
        file, = glob.glob(os.path.join(CORPUS, "captures", pattern))
        read = collections.defaultdict(list)
        for p in packets(file):
            read[p["submission"], p["addr"], p["header"]].append(p)
        ran = [p for p in packets("--fw", os.path.join(CORPUS, "firmware", fw), file, status=0) if p["processor"] == "sqe"]
        both = 0
        for p in ran:
            same = read.get((p["submission"], p["addr"], p["header"]))
            if not same or p["level"] == "int":
                continue
            both += 1
            wanted, got = registers_of(same[0]["events"]), registers_of(p["events"])
            assert [w["value"] for w in same[0]["words"]] == [w["value"] for w in p["words"]] or len(p["words"]) < len(same[0]["words"]), p
            rest = iter(got)
            assert all(w in rest for w in wanted), (file, p["addr"], p.get("name"), wanted[:4], got[:8])
            compared += len(wanted)
        assert both > 100, (file, both)
        told_of.append("%s: %d packets" % (os.path.basename(file)[:12], both))
    return ", ".join(told_of) + "; %d registers" % compared


def what_processors_hand_each_other():
    """Of a5xx: its words are the firmware's own, and the fields of the packet of that opcode are not theirs."""
    fw = [x for name in ("a530_pfp.fw", "a530_pm4.fw") for x in ("--fw", os.path.join(CORPUS, "firmware", name))]
    args = fw + [os.path.join(CORPUS, "captures", "compute-a540.rd.gz"), "--level", "int"]
    got = [p for p in packets(*args) if p["words"]]
    calls = [p for p in got if p.get("name", "").startswith("CP_INDIRECT_BUFFER")]
    assert calls and all(w["fields"] == {} and "buffer" not in w for p in calls for w in p["words"]), calls
    assert any(p["reg"] for p in got if p["header"] >> 28 == 4), "type 4 is one in any case"
    assert "no header" not in decode(*args) and "no header" not in decode("--summary", *args)


def hang_dump():
    text = decode(os.path.join(CORPUS, "captures", "crash.devcore"), status=4)
    assert re.search(r"^rb  [0-9a-f]{12,16}: [0-9a-f]{8} CP_INDIRECT_BUFFER", text, re.M), text[:300]
    assert re.search(r"^  ib1 ", text, re.M)


TESTS = [("streams that call each other, and one that goes on elsewhere", streams_nest),
         ("draw-state groups run in front of draws, as mode and mask say", groups_run_in_front_of_draws),
         ("a group that another one replaced has no number", a_group_that_another_replaced_has_no_number),
         ("bin prefixes, draw tables, ambles", packets_that_call_in_their_own_way),
         ("an amble changes nothing where it is set", what_an_amble_sets_is_not_set),
         ("registers that other packets than type 4 write", registers_beside_type4),
         ("headers that are none, streams that end early, are missing, or have no end", damaged_streams),
         ("filters, alone and together", filters),
         ("registers by what they get", values),
         ("packets by address, named or accessed", addresses),
         ("PM4 text takes names of --rnn", names_of_the_user),
         ("options that are wrong are said in a line", wrong_options),
         ("the summary is the sum", summary_is_the_sum),
         ("what is not written with the stream's values", not_as_the_stream_says),
         ("a name that no packet or register has is wrong usage", unknown_names),
         ("a capture without a packet of a submission is no result", nothing_decoded),
         ("a capture of another GPU is skipped by name", another_gpu),
         ("the summary of nothing", summary_of_nothing),
         ("colours and pager on a terminal, and nowhere else", colours_and_pager),
         ("a signal waits for the pager", a_signal_waits_for_the_pager),
         ("a cut capture into a full output", a_cut_capture_into_a_full_output),
         ("several captures", several_captures),
         ("with firmware: what became of each packet", firmware_says_what_became_of_it)]
if CORPUS:
    TESTS += [("what streams say is what firmware writes", same_as_firmware),
              ("packets between processors", what_processors_hand_each_other),
              ("the ring of a hang dump", hang_dump)]
else:
    def no_corpus():
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    TESTS += [("real captures", no_corpus)]
tap.run(TESTS)

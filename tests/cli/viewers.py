#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The forms for viewers: Perfetto's JSON by the rules of its format, VCD by a reader of its own, both against the text
form of the same run. Usage: view.py CPSCOPE; with CPSCOPE_CORPUS also real runs."""
import json
import os
import shutil
import subprocess
import sys

import chrometrace
import make
import tap
import vcdread
from scene import REAL, cpscope, path, real
from tree import DEMO, GOLDEN

SILENT = ("PKT", "STEP", "STEPX", "WORD", "SUBMIT", "TICK")


def parse(line):
    """(processor or None, keyword, columns, commentary)."""
    text, _, more = line.partition(";")
    words = text.split()
    who = words.pop(0) if words[0].islower() else None
    return who, words[0], words[1:], more.split(" pc=")[0].strip()


def run(name, *args, events="all"):
    """(contents of that form, lines of the text)."""
    for form in (name, "both.trace"):
        cpscope("run", *args, "--events", events, "-o", path(form))
    return open(path(name)).read(), [line for line in open(path("both.trace")).read().splitlines() if line[0] != "#"]


def perfetto(*args, events="all"):
    text, lines = run("view.json", *args, events=events)
    return chrometrace.Trace(text), lines


def shows_everything(*args):
    view, lines = perfetto(*args)
    events = [parse(line) for line in lines]
    instants = sorted((ts, name, cat) for track in view.instants.values() for ts, name, cat, _, _ in track)
    wanted = [(number, kind, more) for number, (_, kind, _, more) in enumerate(events) if kind not in SILENT]
    assert [(ts, cat) for ts, _, cat in instants] == [(number, kind) for number, kind, _ in wanted]
    for (_, name, cat), (_, _, more) in zip(instants, wanted):
        named = more and not more.startswith(("bank=", "pipe="))
        assert cat not in ("REG", "CTRL", "PIPE") or name == (more.split()[0].split("+")[0] if named else cat), (name, more)
    packets = [one for track in view.slices.values() for one in track if "header" in one.args]
    assert len(packets) == sum(kind == "PKT" for _, kind, _, _ in events)
    assert len([one for one in view.slices[view.named("submissions")]]) == sum(kind == "SUBMIT" for _, kind, _, _ in events)
    who = {who or "sqe" for who, kind, _, _ in events if kind not in ("SUBMIT", "END") and not (kind == "UNMODELLED" and not who)}
    assert set(view.tracks.values()) - {"submissions"} == who, (view.tracks, who)
    return "%d events" % len(events)


def paths(view, track="sqe"):
    return ["/".join(one.path) for one in view.slices[view.named(track)]]


def streams_are_nested():
    view, _ = perfetto("--demo", events="default")
    found = paths(view)
    for wanted in ("boot", "ring/CP_ME_INIT", "ring/IB1/CP_NOP", "ring/IB1/IB2/type4 RB_PS_SAMPLEFREQ_CNTL",
                   "ring/IB1/draw state/type4 RB_UNKNOWN_8818", "ring/IB1/CP_DRAW_INDX_OFFSET", "ring/IB1/type4 CP_SCRATCH[2].REG"):
        assert wanted in found, (wanted, found)
    assert found.count("ring/IB1/draw state") == 2 and found.count("ring") == found.count("ring/IB1") == 1, found
    assert not any("call" in one for one in found)


def calls_are_slices():
    view, _ = perfetto("--demo", events="default,step")
    found = [one.path[-1][5:] for one in view.slices[view.named("sqe")] if one.path[-1].startswith("call ")]
    functions = json.loads(cpscope("profile", "--demo", "--json").stdout)["functions"]
    assert sorted(set(found)) == sorted("0x%04x" % one["pc"] for one in functions)
    assert len(found) == sum(one["calls"] for one in functions)
    assert any("CP_DRAW_INDX_OFFSET/call 0x" in one and one.endswith("draw state/type4 RB_UNKNOWN_8818") for one in paths(view))
    cpscope("convert", path("both.trace"), "-o", path("again.json"))
    again = chrometrace.Trace(open(path("again.json")).read())
    assert not any("call" in one for one in paths(again)), "without the code no call is known"
    return "%d calls" % len(found)


def calls_have_names():
    """Labels name what is called; without them it is a number, as above."""
    if "without" in cpscope("asm", "-g", DEMO, "-o", path("demo.elf")).stderr:
        raise tap.Skip("built without libelf")
    cpscope("run", "--fw", path("demo.elf"), "--demo", "--events", "default,step", "-o", path("named.json"))
    found = paths(chrometrace.Trace(open(path("named.json")).read()))
    assert any(one.endswith("/call run_draw_state") for one in found) and not any("call 0x" in one for one in found), found


def instants_have_fields():
    view, _ = perfetto("--demo", events="default")
    _, name, _, args, where = next(one for one in view.instants[view.named("sqe")] if one[1] == "RB_CCU_CNTL")
    assert args["register"] == "0x8e07" and args["fields"]["COLOR_OFFSET"] == "0x20000" and args["how"] == "user", args
    assert where == ["ring", "IB1", "type4 RB_CCU_CNTL"], where
    assert name == "RB_CCU_CNTL"


def packets_have_words():
    view, _ = perfetto("--demo", events="default,payload")
    draw = next(one for one in view.slices[view.named("sqe")] if one.name == "CP_DRAW_INDX_OFFSET")
    assert draw.args["words"]["0"]["PRIM_TYPE"] == "DI_PT_TRILIST" and draw.args["count"] == len(draw.args["words"]) == 3, draw.args
    write = next(one for one in view.slices[view.named("sqe")] if one.name == "CP_MEM_WRITE")
    assert sorted(write.args["words"], key=int) == ["0", "1", "2", "3", "4"] or len(write.args["words"]) == 5, write.args


def counters_add_up():
    view, lines = perfetto("--demo")
    kinds = [parse(line)[1] for line in lines]
    for name, kind in (("sqe: registers written", "REG"), ("sqe: memory written", "MEMW")):
        values = [args["total"] for _, args in view.counters[1, name]]
        times = [ts for ts, _ in view.counters[1, name]]
        assert values == sorted(values) and values[-1] == kinds.count(kind) and times == sorted(times), (name, values)


RNN = """<?xml version="1.0" encoding="UTF-8"?>
<database xmlns="http://nouveau.freedesktop.org/"><domain name="A6XX" width="32">
  <reg32 offset="0x8e07" name="EVIL&quot;,{}\\xé"><bitfield name="F&quot;\\" low="0" high="7"/></reg32></domain></database>"""


def names_are_escaped():
    os.makedirs(path("rnn"), exist_ok=True)
    open(os.path.join(path("rnn"), "a6xx.xml"), "w", encoding="utf-8").write(RNN)
    done = subprocess.run([sys.argv[1], "run", "--demo", "--rnn", path("rnn"), "-o", path("evil.json")], capture_output=True, text=True)
    if done.returncode == 3:
        raise tap.Skip(done.stderr.strip())
    view = chrometrace.Trace(open(path("evil.json")).read())
    assert any(one[1].startswith("EVIL") for one in view.instants[view.named("sqe")]), done.stderr
    cpscope("run", "--demo", "--rnn", path("rnn"), "-o", path("evil.vcd"))
    text = open(path("evil.vcd")).read()
    assert all(c == "\n" or " " <= c <= "~" for c in text)
    names = {value.encode("latin-1").decode() for _, value in vcdread.Dump(text).changes["sqe", "packet"] if value}
    assert 'type4:EVIL",{}\\xé' in names, names


def vcd(*args, events="all", more=()):
    text, lines = run("view.vcd", *args, events=events)
    if more:
        cpscope("convert", path("both.trace"), "-o", path("view.vcd"), *more)
        text = open(path("view.vcd")).read()
    return vcdread.Dump(text), lines


def squeeze(values):
    return [value for i, value in enumerate(values) if not i or values[i - 1] != value]


def waves_are_the_trace(*args):
    dump, lines = vcd(*args)
    events = [parse(line) for line in lines]
    there = {who or "sqe" for who, kind, _, _ in events if kind not in ("SUBMIT", "END") and not (kind == "UNMODELLED" and not who)}
    assert {scope for scope, _ in dump.changes} == there == {v.scope for v in dump.variables.values()}, there
    for who in there:
        mine = [one for one in events if (one[0] or "sqe") == who and one[1] not in ("SUBMIT", "END")]
        got = [value for _, value in dump.changes[who, "header"]][1:]
        assert got == squeeze([int(columns[2], 16) for _, kind, columns, _ in mine if kind == "PKT"])
        stored = [int(columns[1], 16) for _, kind, columns, _ in mine if kind == "REG"]
        assert [value for _, value in dump.changes[who, "value"]][1:] == squeeze(stored), who
        names = [("type4:" + more.split()[1] if more.startswith("type4") else more.split()[0]) if more else columns[2]
                 for _, kind, columns, more in mine if kind == "PKT"]
        headers = [columns[2] for _, kind, columns, _ in mine if kind == "PKT"]
        wanted = [name for i, name in enumerate(names) if not i or headers[i - 1] != headers[i]]
        shown = [value for _, value in dump.changes[who, "packet"]]
        wrong = [(a, b) for a, b in zip(shown, wanted) if a != b.split("+")[0] and not b.startswith(("0x", "type4:x", "bad", "malformed"))]
        assert len(shown) == len(wanted) and not wrong, (len(shown), len(wanted), wrong[:5])
    return "%d processors" % len(there)


def chosen_registers():
    dump, lines = vcd("--demo", more=["--signals", "RB_CCU_CNTL,RB_MRT[0].CONTROL,0x8818"])
    events = [parse(line) for line in lines]
    for shown, number in (("RB_CCU_CNTL", 0x8e07), ("RB_MRT_0_CONTROL", 0x8820), ("0x8818", 0x8818)):
        wanted = [int(columns[1], 16) for _, kind, columns, _ in events if kind == "REG" and int(columns[0], 16) == number]
        assert [value for _, value in dump.changes["registers", shown]][1:] == wanted and wanted, (shown, wanted)
    for bad in ("NOTHING", "", "RB_CCU_CNTL,", "0x40000", "0x8818x"):
        cpscope("run", "--demo", "-o", path("no.vcd"), "--signals", bad, status=2)
    cpscope("run", "--demo", "-o", path("no.cpt"), "--signals", "RB_CCU_CNTL", status=2)
    assert not os.path.exists(path("no.vcd")) and not os.path.exists(path("no.cpt"))


def vcd2fst():
    if not shutil.which("vcd2fst"):
        raise tap.Skip("no vcd2fst (gtkwave)")
    vcd("--demo")
    subprocess.run(["vcd2fst", path("view.vcd"), path("view.fst")], check=True, capture_output=True)
    back = subprocess.run(["fst2vcd", path("view.fst")], check=True, capture_output=True, text=True).stdout
    assert vcdread.Dump(back).changes["sqe", "packet"][0][1] == "CP_ME_INIT"


def scripts():
    for name in ("reclock", "pause", "vp1", "pfifo-nv1"):
        for form in ("json", "vcd"):
            cpscope("convert", os.path.join(GOLDEN, name + ".trace"), "-o", path("script." + form))
        view = chrometrace.Trace(open(path("script.json")).read())
        dump = vcdread.Dump(open(path("script.vcd")).read())
        assert view.instants and dump.changes, name


def same_by_threads():
    open(path("some.pm4"), "w").write(make.pm4(*["reg 0x8a00 0x%x" % i for i in range(4000)], "CP_WAIT_FOR_IDLE"))
    for form in ("json", "vcd"):
        for threads in ("0", "3"):
            cpscope("run", "--demo", path("some.pm4"), "-e", "all", "--threads", threads, "-o", path("t%s.%s" % (threads, form)))
        one, two = (open(path("t%s.%s" % (threads, form)), "rb").read() for threads in "03")
        assert one == two and len(one) > 100000


def headers_are_packets():
    """JSON lines say what a header is of packets alone: the value of a register may look like one (0x70268000 is CP_WAIT_FOR_IDLE's)."""
    with open(path("looks.pm4"), "w", encoding="utf-8") as file:
        file.write("# cpscope-pm4 1\ngpu 630\nbuffer 0x00100000 frame\n    reg 0x8810 0x70268000\n    CP_WAIT_FOR_IDLE\nsubmit frame\n")
    cpscope("run", "--demo", path("looks.pm4"), "-o", path("looks.jsonl"))
    rows = [json.loads(line) for line in open(path("looks.jsonl"), encoding="utf-8")][1:]
    looks, = [row for row in rows if row.get("event") == "REG" and row["value"] == 0x70268000]
    assert "count" not in looks and looks["name"] == "RB_PS_SAMPLEFREQ_CNTL", looks
    assert [row["count"] for row in rows if row.get("name") == "CP_WAIT_FOR_IDLE"] == [0], rows
    assert all(("count" in row) == (row["event"] == "PKT") for row in rows), rows


tap.run([("Perfetto: every event is where the trace has it", lambda: shows_everything("--demo")),
         ("Perfetto: streams, draw state and packets are nested", streams_are_nested),
         ("Perfetto: calls are slices where steps are recorded", calls_are_slices),
         ("Perfetto: what is called has its label", calls_have_names),
         ("Perfetto: register writes are instants with fields", instants_have_fields),
         ("Perfetto: packets have their words", packets_have_words),
         ("Perfetto: counters end with the sums", counters_add_up),
         ("names out of files are escaped", names_are_escaped), ("JSON lines: headers are of packets", headers_are_packets),
         ("VCD: the values are those of the trace", lambda: waves_are_the_trace("--demo")),
         ("VCD: chosen registers are signals", chosen_registers), ("VCD: GTKWave's converter reads it", vcd2fst),
         ("traces of scripts", scripts), ("any number of threads gives the same bytes", same_by_threads)] +
        [("Perfetto, real firmware, %s" % name, real(shows_everything, name)) for name in REAL] +
        [("VCD, real firmware, %s" % name, real(waves_are_the_trace, name)) for name in REAL])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PFIFO's host accesses through every command. Usage: pfifo.py CPSCOPE"""
import json
import os

import tap
from scene import cpscope, keeps_every_form, path
from tree import GOLDEN, SCRIPTS

NV1, NV3 = os.path.join(SCRIPTS, "pfifo-nv1.run"), os.path.join(SCRIPTS, "pfifo-nv3.run")
PFIFO = ["--engine", "pfifo"]
HEAD = "# cpscope-script 1\nengine pfifo\n"
OPEN = "write PFIFO_CACHE1_PUSH_ACCESS 1\nwrite PFIFO_CACHE1_PULL_CTRL 1\n"


def run_gives_the_golden():
    for script, name in ((NV1, "pfifo-nv1"), (NV3, "pfifo-nv3")):
        out = cpscope("run", *PFIFO, script, "-e", "all").stdout
        assert out == open(os.path.join(GOLDEN, name + ".trace")).read(), name


def every_form_holds_it():
    golden = os.path.join(GOLDEN, "pfifo-nv1.trace")
    keeps_every_form(golden)
    for form in ("vcd", "json"):
        cpscope("convert", golden, "-o", path("view." + form))


def changed_accesses_are_found():
    golden = open(os.path.join(GOLDEN, "pfifo-nv3.trace")).read()
    changed = path("changed.trace", golden.replace("METHOD 0x2304 0x00000012", "METHOD 0x2304 0x00000013"))
    out = cpscope("check", "--search", os.path.dirname(NV3), changed, status=1).stdout
    assert "first difference" in out and "METHOD" in out, out


def expected_values_are_compared():
    text = open(NV3).read().replace("read PFIFO_CACHE1_CHID 1", "read PFIFO_CACHE1_CHID 2")
    text = text.replace("read ramin 0x2204 0x00d00345", "read ramin 0x2204 0x00d00346 0xff")
    done = cpscope("run", *PFIFO, path("miss.run", text), "-o", os.devnull, status=1)
    assert "miss.run:25: 0x003204 reads 0x00000001, expected 0x00000002" in done.stderr, done.stderr
    assert "miss.run:30: ramin 0x002204 reads 0x00d00345, expected 0x00d00346 in the bits 0x000000ff" in done.stderr
    row = json.loads(cpscope("run", *PFIFO, path("miss.run"), "-j", status=1).stdout)
    assert row["misses"] == 2 and row["engine"] == "pfifo" and row["registers"]["cache1.chid"] == 1, row


def the_debugger_tells_them_at_the_end():
    """Also where it came there a second time; not before, and not where all is as expected."""
    expected_values_are_compared()
    out = cpscope("step", *PFIFO, path("miss.run"), text="b line:26\nc\nc\nrs 3\nc\n").stdout
    told = ("the end: the host is done\n2 reads are not what the run file expects, the first: %s:25: 0x003204 reads 0x00000001, "
            "expected 0x00000002 in the bits 0xffffffff\n" % path("miss.run"))
    assert out.count("expects") == out.count(told) == 2 and out.index("line 26") < out.index(told), out
    text = open(path("miss.run")).read().replace("read ramin 0x2204 0x00d00346", "read ramin 0x2204 0x00d00345")
    out = cpscope("step", *PFIFO, path("one.run", text), text="c\n").stdout
    assert out.count("\n1 read is not what the run file expects: %s:25: 0x003204 reads" % path("one.run")) == 1, out
    out = cpscope("step", *PFIFO, NV3, text="c\n").stdout
    assert "the end: the host is done\nstep" in out and "expects" not in out, out


def bad_input_is_one_line():
    chip = HEAD + "chip nv1\n"
    cases = [
        (b"\x00\x01\x02\x03", "pfifo runs no script, expected a run file"),
        ("write 0x800000 1\n", "pfifo runs no script, expected a run file"),
        (HEAD, "expected a line \"chip CHIP\""),
        (HEAD + "chip nv4\n", ":3:6: expected a chip (nv1, nv3 or nv3t; NV1 up to NV4 have this PFIFO)"),
        (HEAD + "write PFIFO_INTR 1\nchip nv1\n", ":3:7: expected a chip first"),
        ("# cpscope-script 1\nengine hwsq\n", ":2:8: expected pfifo, the engine that is asked for"),
        (chip + "write PFIFO_RAMHT 1\n", ":4:7: expected a register's name"),
        (chip + "write 0x800001 1\n", "a multiple of 4"),
        (chip + "write 0x800000\n", "expected a value of 32 bits"),
        (chip + "write8 0x800000 256\n", ":4:17: expected a value of 8 bits"),
        (chip + "write16 0x800000 0x10000\n", "expected a value of 16 bits"),
        (chip + "write ramin 2 1\n", "a multiple of 4"),
        (chip + "write ramin 0xffffc 1 2\n", ":4:23: expected words in the first 1 MiB"),
        (chip + "read ramin 0x100000 0\n", "expected words in the first 1 MiB"),
        (HEAD + "write8 0x800000 1\nchip nv1\n", ":3:8: expected a chip first"),
        (HEAD + "at 5 reg PFIFO_INTR 1\nchip nv1\n", ":3:10: expected a chip first"),
        (chip + "object 128 1 2\n", ":4:8: expected a channel below 128"),
        (chip + "object 0 1 2\n" * 257, ":260:8: expected at most 256 objects"),
        (chip + "upload\n", ":4:1: expected engine, chip, policy, at, reg, write, write8"),
        (chip + "code\n", ":4:1: expected engine, chip"),
        (chip + "policy graph=maybe\n", "expected follow wait"),
        (chip + "policy colour=red\n", "expected pull, graph, software-bind, nv3t-pointer or dma-header"),
    ]
    for content, message in cases:
        done = cpscope("run", *PFIFO, path("bad.run", content), "-o", path("none"), status=3)
        assert message in done.stderr and done.stderr.startswith("cpscope: "), done.stderr
        assert not os.path.exists(path("none")), message
    for option in ("memory", "ramin"):
        text = "# cpscope-script 1\nchip g80\nwrite %s 0 1\ncode\n  exit\n" % option
        done = cpscope("run", "--engine", "hwsq", path("bad.run", text), status=3)
        assert ":3:" in done.stderr and "has no such memory" in done.stderr, done.stderr


def wrong_usage_is_status_2():
    for args, message in ((["asm", *PFIFO, NV1, "-o", path("none")], "pfifo has no code to assemble"),
                          (["disasm", *PFIFO, NV1], "pfifo has no code to disassemble"),
                          (["run", *PFIFO, "--chip", "nv4", NV1], "--chip nv4: expected nv1, nv3 or nv3t"),
                          (["run", *PFIFO, "--chip", "g80", NV1], "expected nv1, nv3 or nv3t"),
                          (["run", *PFIFO, "--seq-abi", "old", NV1], "--seq-abi has no meaning for --engine pfifo"),
                          (["run", "--engine", "pfifi", NV1], "expected afuc, hwsq, seq, pfifo or vp1"),
                          (["step", *PFIFO, "--symbols", "x", NV1], "no meaning"),
                          (["run", *PFIFO], "one script")):
        assert message in cpscope(*args, status=2).stderr, args
    assert not os.path.exists(path("none"))


def stops_have_a_reason():
    bind = path("bind.run", HEAD + "chip nv1\n" + OPEN + "write 0x800000 7\nwrite 0x800100 1\n")
    done = cpscope("run", *PFIFO, bind, status=4)
    assert "pfifo UNMODELLED unknown" in done.stdout and "nv1-ramht" in done.stdout, done.stdout
    assert "ended: fault pfifo at line 6: nv1-ramht" in done.stderr, done.stderr
    assert "0x800100" not in done.stdout, "nothing comes behind a stop"
    wait = path("wait.run", HEAD + "chip nv3\npolicy graph=wait\nwrite GRAPH_CHANNEL 5\n"
                "write PFIFO_CACHE1_CTX[0] 0x00c20341\n" + OPEN + "write 0x800100 1\nread PFIFO_DEVICE 5\n")
    done = cpscope("run", *PFIFO, wait, status=4)
    assert "END deadlock" in done.stdout and "waits for PGRAPH" in done.stderr, done.stderr
    text = open(wait).read() + "write GRAPH_CHANNEL 0\nread PFIFO_CACHE1_STATUS 0x10\n"
    assert "METHOD 0x0100" in cpscope("run", *PFIFO, path("go.run", text)).stdout
    text = open(wait).read() + "at 50 reg GRAPH_CHANNEL 0\nwait 49\nread PFIFO_CACHE1_STATUS 0\nwait 2\n"
    out = cpscope("run", *PFIFO, path("later.run", text + "read PFIFO_CACHE1_STATUS 0x10\n")).stdout
    assert out.index("TICK 49") < out.index("TICK 50") < out.index("METHOD 0x0100") < out.index("TICK 51"), out


def a_malformed_stream_interrupts_the_card():
    """Bit 12 of INTR (DMA_PUSHER) and, through PFIFO's line, bit 8 of PMC's; envytools has both numbers."""
    text = (HEAD + "chip nv3\n%swrite memory 0x1000 0x80040100 0x11\nwrite ramin 0x4000 0x1001\n"
            "write PFIFO_CACHE1_DMA_PT 0x4000\nwrite PFIFO_CACHE1_DMA_TLB_TAG 0xfff000\nwrite PMC_INTR_ENABLE_HOST 1\n"
            "write PFIFO_INTR_ENABLE 0x1000\nwrite PFIFO_CACHE1_PUSH_ACCESS 1\nwrite PFIFO_CACHE1_DMA_CTRL 1\n"
            "read PMC_INTR_HOST 0\nread PMC_INTR_LINE_HOST 1\nwrite PFIFO_CACHE1_DMA_COUNT 8\n%s")
    raised = ("read PFIFO_INTR 0x1000\nread 0x100 0x100\nread 0x160 0\nread PFIFO_CACHE1_DMA_STATE 0x40000000 0x40000000\n"
              "write PFIFO_INTR 0x1000\nread 0x100 0\nread 0x160 1\n")
    out = cpscope("run", *PFIFO, path("bad-stream.run", text % ("", raised))).stdout
    assert out.count("pfifo IRQ 12") == 1 and "pfifo METHOD" not in out, out
    out = cpscope("run", *PFIFO, path("drop.run", text % ("policy dma-header=drop\n", "read PFIFO_INTR 0\nread 0x100 0\n"))).stdout
    assert "IRQ" not in out, out


def policies_are_in_the_header():
    out = cpscope("run", *PFIFO, NV3, "--policy", "pull=run", status=1).stdout
    assert "# policy pull=run graph=follow software-bind=keep nv3t-pointer=seven dma-header=error\n" in out, out
    script = path("late.run", HEAD + "chip nv3\npolicy pull=run\nwrite PFIFO_CACHE1_CTX[0] 0x00c20341\n" + OPEN +
                  "write 0x800100 1\nread PFIFO_CACHE1_STATUS 0\nrun\nread PFIFO_CACHE1_STATUS 0x10\n")
    golden = path("late.trace", cpscope("run", *PFIFO, script).stdout)
    assert ": pass" in cpscope("check", golden).stdout


def chips_are_compared():
    both = path("both.run", HEAD + "chip nv3\n" + OPEN + "write 0x800040 1\nwrite 0x810100 1\n")
    assert "no differences" in cpscope("diff", "--fw", "pfifo:nv3", "--fw", "pfifo:nv3t", both).stdout
    plain = path("plain.run", HEAD + "chip nv3\nwrite 0x2200 3\nwrite 0x3200 1\nwrite 0x800040 1\n")
    out = cpscope("diff", "--fw", "pfifo:nv1", "--fw", "pfifo:nv3", plain, status=1).stdout
    assert "first difference" in out and "MEMW" in out, out
    cpscope("diff", "--fw", "pfifo:nv1", "--fw", "hwsq:g80", plain, status=3)


def regress_runs_a_matrix():
    folder = path("matrix")
    os.mkdir(folder)
    path("matrix/a.run", HEAD + "chip nv3\nwrite PFIFO_INTR_ENABLE 0x11\nread PFIFO_INTR_ENABLE 0x11\n")
    path("matrix/b.run", HEAD + "chip nv3\nwrite 0x3200 1\nwrite 0x800040 1\n")
    manifest = path("matrix/manifest", "# cpscope-manifest 1\nfirmware nv3 pfifo:nv3\nfirmware nv3t pfifo:nv3t\n"
                    "firmware nv1 pfifo:nv1\nbaseline nv3\ncapture a.run b.run\n")
    cpscope("regress", manifest, "-o", path("matrix/out"), "--jobs", "2", status=1)
    pairs = json.load(open(path("matrix/out/results.json")))["pairs"]
    status = {(p["firmware"], p["capture"]): p["status"] for p in pairs}
    assert len(pairs) == 6 and status["nv1", "b.run"] == "differs", status
    assert all(v == "pass" for k, v in status.items() if k != ("nv1", "b.run")), status


def info_tells_what_is_in_it():
    out = cpscope("info", *PFIFO, NV1).stdout
    assert "host accesses for pfifo, nv1" in out and "1 objects" in out, out
    row = json.loads(cpscope("info", "-j", *PFIFO, NV3).stdout)["files"][0]
    assert row["chip"] == "nv3" and row["memory_words"] == 10 and row["checks"] == row["reads"] == 16, row


def step_goes_both_ways():
    lines = ("s 3\nb line:17\nc\nrs 2\nc\nrc\nd\ng 13\np PFIFO_CACHE1_STATUS\nw graph_channel if line > 20\nc\n"
             "p graph_channel\nc\nrc\np graph_channel\nd\nc\n")
    out = cpscope("step", *PFIFO, NV3, text=lines).stdout
    stops = [line for line in out.split("\n") if line.startswith("step ")]
    values = [line for line in out.split("\n") if line.startswith("0x")]
    assert stops[0] == "step 0, event 0, start: pfifo is idle", out
    assert stops[2] == stops[4] and "line 17:" in stops[2] and stops[5].startswith("step 0,"), out
    assert stops[-1].endswith("after the host: pfifo is idle") and "the end: the host is done" in out, out
    assert values[0] == "0x00000010 = 16  EMPTY" and values[1] == values[2], out


tap.run([(case.__name__.replace("_", " "), case) for case in (
    run_gives_the_golden, every_form_holds_it, changed_accesses_are_found, expected_values_are_compared,
    the_debugger_tells_them_at_the_end,
    bad_input_is_one_line, wrong_usage_is_status_2, stops_have_a_reason, a_malformed_stream_interrupts_the_card, policies_are_in_the_header,
    chips_are_compared, regress_runs_a_matrix, info_tells_what_is_in_it, step_goes_both_ways)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cpscope profile against the STEP and PKT lines of a trace of the same run, and its forms against each other and
against callgrind_annotate. Usage: profile.py CPSCOPE; with CPSCOPE_CORPUS also real runs."""
import collections
import json
import os
import re
import shutil
import subprocess

import make
import tap
from scene import CORPUS, cpscope, path
from tree import DEMO, STREAMS

A7XX = os.path.join(STREAMS, "a7xx.pm4")
REAL = {"a6xx": ["--fw", "a630_sqe-190.fw", "fd-clouds.rd.gz"], "a5xx": ["--fw", "a530_pfp.fw", "--fw", "a530_pm4.fw",
        "compute-a540.rd.gz"], "a7xx": ["--fw", "a740_sqe.fw", A7XX]}


def profile(*args, status=0):
    return json.loads(cpscope("profile", "--json", *args, status=status).stdout)


def trace(*args):
    cpscope("run", *args, "--events", "step,pkt", "-o", path("steps.trace"))
    return open(path("steps.trace")).read().splitlines()


def recount(lines):
    """Steps of each processor, and behind each header of a PKT."""
    total, packet, of = collections.Counter(), collections.Counter(), {}
    for line in lines:
        found = re.match(r"(?:(\w+) )?(STEP|PKT) (.*)", line)
        if not found:
            continue
        who = found[1] or "sqe"
        if found[2] == "PKT":
            level, _, header = found[3].split()[:3]
            of[who] = (who, level, re.search(r"; (\w+)", line)[1] if ";" in line else header)
        else:
            total[who] += 1
            packet[of.get(who)] += 1
    return total, packet


def counts_every_step(*args):
    def case():
        total, packet = recount(trace(*args))
        got = profile(*args)
        assert got["instructions"] == sum(total.values()), (got["instructions"], total)
        assert {p["processor"]: p["instructions"] for p in got["processors"]} == total
        assert sum(p["instructions"] for p in got["packets"]) == got["instructions"]
        return "%d instructions" % got["instructions"]
    return case


def packets_are_those_of_the_trace():
    """But for what a draw does behind its draw state, which the trace shows behind IN_IB_END."""
    _, packet = recount(trace("--demo"))
    got = {p["packet"]: p["instructions"] for p in profile("--demo")["packets"] if p.get("level") == "ib1"}
    for (_, level, name), steps in ((k, v) for k, v in packet.items() if k):
        if level == "ib1" and not name.startswith("CP_DRAW"):
            assert got[name] == steps, (name, got[name], steps)


def folded(*args):
    stacks = {}
    for line in cpscope("profile", *args, "--to", "folded").stdout.splitlines():
        stack, count = line.rsplit(" ", 1)
        assert stack not in stacks and " " not in stack, line
        stacks[stack] = int(count)
    return stacks


def stacks_are_nested():
    stacks = folded("--demo")
    assert sum(stacks.values()) == profile("--demo")["instructions"]
    assert any(re.match(r"sqe;rb;ib1;CP_DRAW_INDX_OFFSET;\w+;sds;type4$", stack) for stack in stacks), list(stacks)
    assert "sqe;rb;ib1;ib2;type4" in stacks and "sqe;boot" in stacks


def named_functions():
    """Labels of the source are names of functions; the draw's call is where the source has it."""
    cpscope("asm", "-g", DEMO, "-o", path("named.elf"))
    names = {f["function"] for f in profile("--fw", path("named.elf"), "--demo")["functions"]}
    assert names and not any(name.startswith("fn_") for name in names), names
    numbers = profile("--demo")["functions"]
    assert len(numbers) == len(names)
    said = cpscope("profile", "--fw", path("named.elf"), "--demo", "--to", "callgrind").stdout
    lines = {int(line.split()[1]) for line in said.splitlines() if re.match(r"0x\w+ \d+ \d+$", line)}
    assert max(lines) > 20, lines


def callgrind(text):
    """({function: {pc: cost}}, {(caller, callee): (calls, cost)}) of the format, read as its specification says."""
    own, arcs, function, callee = collections.defaultdict(collections.Counter), {}, None, None
    for line in text.splitlines():
        if line.startswith("fn="):
            function = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif re.match(r"0x[0-9a-f]+ \d+ \d+$", line):
            pc, _, cost = line.split()
            if callee:
                before = arcs.get((function, callee), (0, 0))
                arcs[function, callee] = (before[0] + calls, before[1] + int(cost))
                callee = None
            else:
                own[function][pc] += int(cost)
    return own, arcs


def arcs_add_up():
    text = cpscope("profile", "--demo", "--to", "callgrind").stdout
    own, arcs = callgrind(text)
    total = profile("--demo")["instructions"]
    assert sum(sum(pcs.values()) for pcs in own.values()) == total
    assert "\nsummary: %d\n" % total in text and "\ntotals: %d\n" % total in text
    entered = collections.Counter()
    for (_, callee), (calls, cost) in arcs.items():
        assert calls > 0
        entered[callee] += cost
    for function, cost in entered.items():
        left = sum(arc[1] for (caller, _), arc in arcs.items() if caller == function)
        assert cost == sum(own[function].values()) + left, function
    return "%d functions, %d arcs" % (len(own), len(arcs))


def annotate():
    if not shutil.which("callgrind_annotate"):
        raise tap.Skip("no callgrind_annotate")
    cpscope("profile", "--demo", "--to", "callgrind", "-o", path("callgrind.out.1"))
    for more in ([], ["--inclusive=yes", "--tree=both"]):
        done = subprocess.run(["callgrind_annotate", *more, path("callgrind.out.1")], capture_output=True, text=True, check=True)
        assert not done.stderr, done.stderr
        assert "%d (100.0%%)  PROGRAM TOTALS" % profile("--demo")["instructions"] in done.stdout, done.stdout


def waits_are_told():
    got = profile("--demo")["waits"]
    assert [w["packet"] for w in got if w["assumed"]] == ["CP_WAIT_REG_MEM"], got
    stopped = json.loads(cpscope("profile", "--demo", "--waits", "stop", "--json", status=4).stdout)
    assert stopped["ended"] == "deadlock"
    spins = [w for w in stopped["waits"] if not w["assumed"]]
    assert spins and spins[0]["packet"] == "CP_WAIT_REG_MEM" and spins[0]["times"] > 10, stopped["waits"]
    assert spins[0]["instructions"] < stopped["instructions"]


def draws_are_counted():
    open(path("two.pm4"), "w").write(make.pm4("CP_DRAW_INDX_OFFSET 0x84 0x1 0x3", "CP_NOP", "CP_EVENT_WRITE 0x1e", "CP_DRAW_INDX_OFFSET 0x84 0x1 0x3"))
    draws, dispatches, _, resolves, _ = profile(path("two.pm4"), "--demo")["draws"]
    assert (draws["kind"], draws["count"], resolves["kind"], resolves["count"], dispatches["count"]) == ("draw", 2, "resolve", 1, 0)
    assert draws["least"] < draws["most"] and draws["least"] + draws["most"] == draws["instructions"], draws
    assert 0 < resolves["instructions"] < draws["most"], resolves


def draws_are_those_of_state():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    args = ["--fw", os.path.join(CORPUS, "firmware", "a630_sqe-190.fw"), os.path.join(CORPUS, "captures", "fd-clouds.rd.gz")]
    kinds = collections.Counter(one["kind"] for one in json.loads(cpscope("state", *args, "--json").stdout)["draws"])
    assert {one["kind"]: one["count"] for one in profile(*args)["draws"] if one["count"]} == kinds and len(kinds) == 2, kinds


def interrupts_are_frames():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    args = [os.path.join(CORPUS, "firmware", "a630_sqe-190.fw"), os.path.join(CORPUS, "captures", "fd-clouds.rd.gz")]
    assert not any("interrupt" in stack for stack in folded("--fw", *args))
    stacks = folded("--fw", *args, "--inject", "preempt@0:40")
    assert any(re.search(r"interrupt:", stack) for stack in stacks), sorted(stacks)


def real(name):
    def case():
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        args = [word if word.startswith(("-", "/")) else
                os.path.join(CORPUS, "firmware" if word.endswith(".fw") else "captures", word) for word in REAL[name]]
        more = counts_every_step(*args)()
        assert sum(folded(*args).values()) == profile(*args)["instructions"]
        return more
    return case


def hangs_are_replayed():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    got = profile("--fw", os.path.join(CORPUS, "firmware", "a630_sqe-190.fw"), os.path.join(CORPUS, "captures", "crash.devcore"))
    assert got["ended"] == "bad-packet" and got["packets"][0]["packet"] == "bad", got["packets"][0]


def whole_or_nothing():
    cpscope("profile", "--demo", "-o", path("table.txt"))
    assert open(path("table.txt")).read() == cpscope("profile", "--demo").stdout
    before = set(os.listdir(os.path.dirname(path("x"))))
    for args in (["--to", "nothing"], ["--json", "--to", "folded"], ["a", "b"]):
        cpscope("profile", "--demo", *args, "-o", path("none.txt"), status=2)
    cpscope("profile", "--demo", path("missing.rd"), "-o", path("none.txt"), status=3)
    assert set(os.listdir(os.path.dirname(path("x")))) == before
    assert cpscope("profile", "--demo").stdout == cpscope("profile", "--demo").stdout


tap.run([("every step of the demo is counted once", counts_every_step("--demo")),
         ("packets have the steps that the trace shows behind them", packets_are_those_of_the_trace),
         ("stacks are ring, buffer, packet, call, draw state", stacks_are_nested),
         ("functions have the labels of the source, and callgrind its lines", named_functions),
         ("callgrind: what a function costs is what its callers pay", arcs_add_up),
         ("callgrind_annotate reads it", annotate),
         ("waits that are given and waits that spin", waits_are_told),
         ("draws are counted from one to the next", draws_are_counted),
         ("and are those of state", draws_are_those_of_state),
         ("a preemption is a frame of its own", interrupts_are_frames),
         ("a hang dump is replayed", hangs_are_replayed),
         ("outputs are whole or absent", whole_or_nothing)] + [("real firmware, %s" % name, real(name)) for name in REAL])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that execute or compare nothing, or not all: the account of a run decides the status of every command, and JSON
repeats it. Usage: accounts.py CPSCOPE"""
import json

import scene
import make

NOP = make.type7(0x10, 1)
FRAME = 0x100000
# Inputs of which nothing can be executed, and the reason.
EMPTY = {"bare.rd": (make.chip(630) + make.submit(FRAME, 4) + make.submit(2 * FRAME, 4), "2 of 2 submissions are not in the capture"),
         "lone.rd": (make.chip(630) + make.buffer(FRAME, make.dwords(NOP)), "the input has no submission"),
         "hollow.rd": (make.chip(630) + make.buffer(FRAME, make.dwords(NOP)) + make.submit(FRAME, 0), "its submissions are empty"),
         "lone.pm4": ("# cpscope-pm4 1\ngpu 630\nbuffer 0x00100000 frame\n    CP_NOP 0x1\n", "the input has no submission")}
RUNS = ["run -o o.cpt", "run --json", "cover", "profile", "profile --json", "state", "state --json", "state --draw 0",
        "decode", "decode --json", "decode --summary --json", "view -o v.html", "why 0x8800", "why --json 0x8800", "step --batch"]


def accounts(text):
    """Accounts of runs wherever they are in JSON or JSON Lines."""
    found = []

    def look(value):
        if isinstance(value, dict) and {"status", "not_captured"} <= set(value):
            found.append(value)
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(each)
    try:
        look(json.loads(text))
    except ValueError:
        look([json.loads(line) for line in text.splitlines()])
    return found


def nothing_executed(s):
    """a run that executes nothing is never status 0, whichever command makes it"""
    s.matrix(0)
    for name, (data, reason) in EMPTY.items():
        s.path(name, data)
        for command in RUNS:
            verb, *options = command.split()
            ask = [options.pop()] if verb == "why" else []
            done = s.ok(verb, "--fw", "a.fw", name, *ask, *options, status=4)
            assert "nothing executed: " + reason in done.stderr or "--json" in options, (name, command, done.stderr)
            if "--json" in options:
                account, = accounts(done.stdout)
                assert account["status"] == 4 and account["why"] == "nothing executed: " + reason and account["executed"] == 0, account
        done = s.ok("diff", "--fw", "a.fw", "--fw", "b.fw", name, status=4)
        assert "undecided: nothing executed: " + reason in done.stdout and "no differences" not in done.stdout, done.stdout
        said = json.loads(s.ok("diff", "--json", "--fw", "a.fw", "--fw", "b.fw", name, status=4).stdout)
        assert (said["status"], said["comparisons"][0]["status"]) == (4, 4), said
        s.ok("reduce", "--fw", "a.fw", name, "-o", "r.pm4", status=3)
        s.ok("run", "--fw", "a.fw", name, "-o", "golden.cpt", status=4)
        for cache in ([], ["--cache", "kept"], ["--cache", "kept"]):
            done = s.ok("check", "golden.cpt", *cache, status=4)
            assert "undecided: now: nothing executed: " + reason in done.stdout, done.stdout
    s.ok("run", "--fw", "a.fw", "-o", "boot.cpt")  # the boot is all that is asked for
    s.ok("check", "boot.cpt")
    s.path("r.run", "# cpscope-script 1\nengine pfifo\nchip nv1\n")
    done = s.ok("run", "--engine", "pfifo", "r.run", status=4)
    assert "ended: done, nothing executed: no step of the script ran" in done.stderr, done.stderr
    assert json.loads(s.ok("run", "--json", "--engine", "pfifo", "r.run", status=4).stdout)["status"] == 4
    s.path("r.run", "# cpscope-script 1\nengine pfifo\nchip nv1\nread PFIFO_INTR 0x0\n")
    s.ok("run", "--engine", "pfifo", "r.run")
    s.path("empty.run", "# cpscope-script 1\nengine seq\nabi new\ncode\n")
    for verb in ("run", "cover"):
        assert "nothing executed: no step of the script ran" in s.ok(verb, "--engine", "seq", "empty.run", status=4).stderr
    s.path("stuck.run", "# cpscope-script 1\nengine hwsq\nchip g92\npolicy waits=stop\ncode\n    ewait HEAD0_VBLANK 1\n    exit\n")
    assert "nothing lets it go on" in s.ok("cover", "--engine", "hwsq", "stuck.run", status=4).stderr


def missing_submission(s):
    """a submission that is not captured is counted and shown beside those that are executed"""
    s.matrix(0)
    s.path("some.rd", make.capture(NOP) + make.submit(0x900000, 4))
    said = "1 of 2 submissions is not in the capture"
    for command in RUNS:
        verb, *options = command.split()
        ask = [options.pop()] if verb == "why" else []
        done = s.run(verb, "--fw", "a.fw", "some.rd", *ask, *options)
        assert done.returncode == {"why": 1}.get(verb, 3 if "--draw" in options else 0), (command, done.stderr)
        assert said in done.stderr or "1 of 2 submissions executed, 1 not captured" in done.stderr or "--json" in options \
            or verb == "step", (command, done.stderr)
        if "--json" in options:
            account, = accounts(done.stdout)
            assert (account["submissions"], account["executed"], account["not_captured"]) == (2, 1, 1), account
    assert "no differences; " + said in s.ok("diff", "--fw", "a.fw", "--fw", "b.fw", "some.rd").stdout
    said_json = json.loads(s.ok("diff", "--json", "--fw", "a.fw", "--fw", "b.fw", "some.rd").stdout)
    assert [run["not_captured"] for run in accounts(json.dumps(said_json))] == [1, 1], said_json
    s.ok("run", "--fw", "a.fw", "some.rd", "-o", "golden.cpt")
    for cache in ([], ["--cache", "kept"], ["--cache", "kept"]):
        assert s.ok("check", "golden.cpt", *cache).stdout == "golden.cpt: pass; %s\n" % said


def both_end_early(s):
    """two runs that end early in the same way are undecided, not equal"""
    s.matrix(1)
    s.path("bad.rd", make.capture([0xdeadd00d]))
    for args, said in ((["bad.rd"], "undecided: both stop at 0x"), (["c0.pm4", "--limit", "20"], "the instruction limit is reached")):
        done = s.ok("diff", "--fw", "a.fw", "--fw", "b.fw", *args, status=4)
        assert said in done.stdout and "undecided: both stop" in done.stdout and "no differences" not in done.stdout, done.stdout
        found = json.loads(s.ok("diff", "--json", "--fw", "a.fw", "--fw", "b.fw", *args, status=4).stdout)
        assert found["status"] == 4 and found["differences"] == 0, found
        assert [run["status"] for run in found["comparisons"][0]["runs"]] == [4, 4] and "both stop" in found["comparisons"][0]["why"], found
    for name in "ab":
        s.ok("run", "--fw", name + ".fw", "bad.rd", "-o", name + ".cpt", status=4)
        s.ok("run", "--fw", name + ".fw", "c0.pm4", "--events", "reg", "-o", name + ".trace")
    done = s.ok("diff", "a.cpt", "b.cpt", status=4)
    assert done.stdout == "b.cpt: undecided: both stop bad-packet\n", done.stdout
    found = json.loads(s.ok("diff", "--json", "a.cpt", "b.cpt", status=4).stdout)
    assert (found["status"], [run["end"] for run in found["comparisons"][0]["runs"]]) == (4, ["bad-packet"] * 2), found
    done = s.ok("diff", "a.trace", "b.trace")
    assert done.stdout == "b.trace: no differences; neither trace records how its run ended\n", done.stdout
    done = s.ok("diff", "--events", "reg", "--fw", "a.fw", "--fw", "b.fw", "bad.rd", "c0.pm4", status=4)
    assert "bad.rd: undecided: both stop" in done.stdout and "c0.pm4: no differences\n" in done.stdout, done.stdout


def golden_without_an_end(s):
    """check of a golden that lacks how its run ended is undecided where the run stops early"""
    s.matrix(0)
    s.path("bad.rd", make.capture(NOP + make.type4(0x8810, 1) + [0xdeadd00d]))
    s.ok("run", "--fw", "a.fw", "bad.rd", "--events", "reg", "-o", "reg.trace", status=4)
    for cache in ([], ["--cache", "kept"], ["--cache", "kept"]):
        done = s.ok("check", "reg.trace", *cache, status=4)
        assert "reg.trace: " in done.stdout and "undecided: now stops: at 0x" in done.stdout, done.stdout
        row, = json.loads(s.ok("check", "--json", "reg.trace", *cache, status=4).stdout)
        assert row["status"] == 4 and "now stops" in row["why"], row
    s.ok("check", "--update", "reg.trace", status=4)
    s.ok("run", "--fw", "a.fw", "bad.rd", "-o", "whole.trace", status=4)
    s.ok("check", "whole.trace")  # which expects that end, and gets it
    s.path("whole.trace", s.read("whole.trace").replace(b"REG 0x8810 0x00000001", b"REG 0x8810 0x00000002"))
    s.ok("check", "whole.trace", status=1)
    s.ok("check", "--update", "whole.trace")


def nothing_compared(s):
    """a comparison of no event is no pass"""
    s.matrix(1)
    done = s.ok("diff", "--events", "irq", "--fw", "a.fw", "--fw", "b.fw", "c0.pm4", status=4)
    assert "c0.pm4: undecided: 0 events compared\n" in done.stdout, done.stdout
    found = json.loads(s.ok("diff", "--json", "--events", "irq", "--fw", "a.fw", "--fw", "b.fw", "c0.pm4", status=4).stdout)
    assert found["comparisons"][0]["compared"] == 0 and found["comparisons"][0]["why"] == "0 events compared", found
    s.ok("run", "--fw", "a.fw", "c0.pm4", "--events", "irq", "-o", "a.trace")
    assert s.ok("check", "a.trace", status=4).stdout == "a.trace: undecided: 0 events compared\n"
    assert "0 events compared" in s.ok("diff", "a.trace", "a.trace", status=4).stdout


def other_gpus(s):
    """of several captures, one of another GPU than the firmware's is skipped by name, with status 4, and all of them are an error"""
    s.matrix(1)
    s.path("other.pm4", make.pm4("CP_NOP 0x1", gpu=740))
    for verb in (["cover", "--fw", "a.fw"], ["diff", "--fw", "a.fw", "--fw", "b.fw"]):
        done = s.ok(*verb, "other.pm4", "c0.pm4", status=4)
        assert "other.pm4: skipped: the capture is from a GPU of generation a7xx" in done.stderr, done.stderr
        assert done.stderr.endswith("1 of 2 captures are skipped\n"), done.stderr
        assert s.ok(*verb, "c0.pm4").stdout == done.stdout
        assert "all 2 captures are skipped" in s.ok(*verb, "other.pm4", "other.pm4", status=3).stderr
        s.refused(*verb, "other.pm4", said="generation a7xx")
    said = json.loads(s.ok("diff", "--json", "--fw", "a.fw", "--fw", "b.fw", "other.pm4", "c0.pm4", status=4).stdout)
    assert (said["skipped"], said["status"]) == (1, 4), said


def interrupt_that_did_not_come(s):
    """an interrupt of --inject that did not come is said, and is no pass"""
    s.matrix(1)
    for verb in (["run", "-o", "o.cpt"], ["cover"], ["profile"]):
        assert "1 of 1 interrupts of --inject were not raised" in s.ok(verb[0], "--fw", "a.fw", "c0.pm4", *verb[1:], "--inject", "preempt@9:0", status=4).stderr
    found = json.loads(s.ok("run", "--json", "--fw", "a.fw", "c0.pm4", "--inject", "preempt@9:0", status=4).stdout)
    assert (found["status"], found["not_injected"]) == (4, 1), found


def one_revision(s):
    """an oracle that compares two revisions is no question about one firmware"""
    s.firmware("a")
    for oracle in ("difference", "ending", "hang,difference"):
        s.refused("fuzz", "--fw", "a.fw", "--oracles", oracle, "--execs", "10", said="compares two revisions, expected --fw OLD --fw NEW", status=2)
    s.ok("fuzz", "--fw", "a.fw", "--fw", "a.fw", "--oracles", "difference", "--execs", "10")


def no_recover(s):
    """--no-recover where no input is a hang dump is refused, whichever command reads it"""
    s.matrix(2)
    for command in ("run a.fw c0.pm4", "cover a.fw c0.pm4", "reduce a.fw c0.pm4 -o r.pm4", "decode a.fw c0.pm4 c1.pm4"):
        verb, fw, *rest = command.split()
        s.refused(verb, "--no-recover", "--fw", fw, *rest, said="--no-recover: c0.pm4 is no hang dump", status=2)
    s.refused("decode", "--no-recover", "c0.pm4", said="--no-recover is about a run", status=2)
    s.refused("cover", "--no-recover", "--fw", "a.fw", "c0.pm4", "c1.pm4", "-o", "o.info", said="--no-recover: expected a hang dump, found none", status=2)
    assert not {"r.pm4", "o.info"} & set(s.names()), s.names()


scene.each_in_its_scene([nothing_executed, missing_submission, both_end_early, golden_without_an_end, nothing_compared, other_gpus,
           interrupt_that_did_not_come, no_recover, one_revision])

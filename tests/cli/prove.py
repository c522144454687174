#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `prove` says of firmware revisions: made from the demo by changing one place of its listing. Every witness is run
here once more, by `diff --fw`. Usage: prove.py CPSCOPE; with CPSCOPE_CORPUS also real firmware."""
import json
import os
import re
import signal
import subprocess
import time

import claimfw
import make
import tap
from proving import changed, check_witness, prove, source, verdict
from scene import CORPUS, CPSCOPE, FOLDER, firmware, path, run


def the_same():
    text = source()
    results = prove(firmware("same", text), status=0)
    assert results["counts"]["different"] == 0 and results["counts"]["undecided"] == 0
    assert results["counts"]["same code"] == sum(results["counts"].values()) > 10


def moved():
    text = changed(source(), "CP_NOP", r"waitin\n[^\n]*\n", r"waitin\nmov $01, $data\nnop\nnop\n")
    results = prove(firmware("moved", text), status=0)
    assert sum(results["counts"].values()) == results["counts"]["same code"] + results["counts"]["equal"]


def independent_swap():
    """Two instructions that do not touch each other's registers."""
    text, where = source(), r"mov \$02, \$data\n"
    firmware("old", changed(text, "CP_EVENT_WRITE", where, r"mov $02, $data\n add $08, $02, 0x1\n add $09, $02, 0x2\n"))
    other = changed(text, "CP_EVENT_WRITE", where, r"mov $02, $data\n add $09, $02, 0x2\n add $08, $02, 0x1\n")
    results = prove(firmware("swapped", other), "CP_EVENT_WRITE", status=0)
    assert verdict(results, "CP_EVENT_WRITE")["verdict"] == "equal", results


def dependent_swap():
    text, where = source(), r"and \$03, \$02, 0x0*3f\n"
    firmware("old", changed(text, "CP_EVENT_WRITE", where, r"and $03, $02, 0x3f\n add $03, $03, 0x1\n shl $03, $03, 0x1\n"))
    new = firmware("swapped", changed(text, "CP_EVENT_WRITE", where,
                                      r"and $03, $02, 0x3f\n shl $03, $03, 0x1\n add $03, $03, 0x1\n"))
    handler = verdict(prove(new, "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
    assert handler["verdict"] == "different"
    check_witness(handler, new)


def other_words():
    """Another way to compute the same."""
    text = source()
    firmware("old", changed(text, "CP_SCRATCH_WRITE", r":\n", r":\n and $02, $01, 0xff\n"))
    other = changed(text, "CP_SCRATCH_WRITE", r":\n", r":\n shl $02, $01, 0x18\n ushr $02, $02, 0x18\n")
    results = prove(firmware("other", other), "CP_SCRATCH_WRITE", status=0)
    assert verdict(results, "CP_SCRATCH_WRITE")["verdict"] in ("equal", "same code"), results


def put_in():
    """An instruction more: in a row, where only a branch leads, and in front of where one leads."""
    text = source()
    firmware("old", text)
    for where, to in ((r"mov \$02, \$data\n", r"mov $02, $data\n add $02, $02, 0x1\n"),
                      (r"( *mov \$data, 0x0*1\n)", r" add $03, $03, 0x1\n\1"),
                      (r"( *mov \$addr, 0xd600)", r" or $03, $03, 0x20\n\1")):
        new = firmware("put", changed(text, "CP_EVENT_WRITE", where, to))
        handler = verdict(prove(new, "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
        assert handler["verdict"] == "different", (to, handler)
        check_witness(handler, new)


def a_mask():
    """A bit of a value that is written."""
    text = source()
    firmware("old", text)
    found = re.search(r"\nCP_EVENT_WRITE:(.*?)and (\$\w+, \$\w+), (0x[0-9a-f]+)", text, re.S)
    assert found, "the demo's CP_EVENT_WRITE has no mask"
    new = firmware("mask", changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3"))
    handler = verdict(prove(new, "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
    assert handler["verdict"] == "different"
    check_witness(handler, new)


def a_register():
    text = source()
    new = firmware("register", changed(text, "CP_SET_MARKER", r"mov \$addr, 0x9880", r"mov $addr, 0x9881"))
    handler = verdict(prove(new, "CP_SET_MARKER", status=1), "CP_SET_MARKER")
    assert handler["verdict"] == "different"
    check_witness(handler, new)


def taken_out():
    text = re.sub(r"\nCP_SCRATCH_WRITE:\n", "\n", source())
    new = firmware("without", text)
    handler = verdict(prove(new, "CP_SCRATCH_WRITE", status=1), "CP_SCRATCH_WRITE")
    assert handler["verdict"] == "different" and handler["handler"] == "removed"
    check_witness(handler, new)


def any_number_of_jobs():
    new = path("mask.fw")
    outs = [run("prove", "--no-cache", "--json", "--jobs", jobs, "--fw", path("old.fw"), "--fw", new).stdout
            for jobs in ("1", "2", "5")]
    assert outs[0] and len(set(outs)) == 1


def kept():
    command = ["prove", "--cache", path("cache"), "--fw", path("old.fw"), "--fw", path("mask.fw"), "-o", path("pages")]
    first = run(*command)
    again = run(*command)
    entries = [name for _, _, names in os.walk(path("cache")) for name in names]
    assert first.returncode == again.returncode == 1 and first.stdout == again.stdout, first.stderr + again.stderr
    assert entries and all(name.endswith(".prove") for name in entries), entries
    for folder, _, names in os.walk(path("cache")):
        for name in names:
            data = open(os.path.join(folder, name)).read()
            open(os.path.join(folder, name), "w").write(data[:len(data) // 2])
    assert run(*command).stdout == first.stdout
    names = os.listdir(path("pages"))
    assert "index.html" in names and "results.json" in names and any(n.endswith(".pm4") for n in names), names
    goldens = [os.path.join(path("pages"), name) for name in names if re.search(r"\.(old|new)\.txt$", name)]
    done = run("check", *goldens, "--search", FOLDER)
    assert len(goldens) >= 2 and done.returncode == 0, done.stdout + done.stderr
    page = open(path("pages/index.html")).read()
    assert "CP_EVENT_WRITE" in page and "<script" not in page
    page = open(path("pages/" + re.search(r'<a href="([^"]*\.html)">different<', page)[1])).read()
    codes = re.findall(r"<h3>Code of the (old|new) revision, from where it begins</h3>\n<pre>(.*?)</pre>", page, re.S)
    assert [side for side, _ in codes] == ["old", "new"], page
    for (_, text), mark, mask in zip(codes, "-+", ("3f", "3")):
        assert re.findall(r"^(.) [0-9a-f]{4}  and \$03, \$02, 0x0*%s$" % mask, text, re.M) == [mark], text
        assert re.match(r"  [0-9a-f]{4}  mov \$02, \$data$", text, re.M), text


def entries(cache):
    return {name for _, _, names in os.walk(cache) for name in names if name.endswith(".prove")}


def shared_by_revisions():
    """A third revision has most handlers of the second one: only what is another one is compared."""
    text = source()
    firmware("old", text)
    second = changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3")
    third = changed(second, "CP_SET_MARKER", r"mov \$addr, 0x9880", r"nop\n mov $addr, 0x9881")
    cache = path("shared")
    command = ["prove", "--json", "--cache", cache, "--fw", path("old.fw"), "--fw"]
    first = json.loads(run(*command, firmware("second", second)).stdout)
    before = entries(cache)
    assert len(before) == len(first["handlers"])
    again = run(*command, firmware("third", third)).stdout
    assert 1 <= len(entries(cache) - before) <= 3, (len(before), len(entries(cache)))
    assert again == run("prove", "--json", "--no-cache", "--fw", path("old.fw"), "--fw", path("third.fw")).stdout
    event = verdict(json.loads(again), "CP_EVENT_WRITE")
    assert event["new"] == verdict(first, "CP_EVENT_WRITE")["new"] and event["confirmed"]
    check_witness(event, path("third.fw"))


def interrupted():
    """Ctrl-C: what is known is kept and told, and the next run goes on from there."""
    for attempt in range(8):
        cache = path("interrupted%d" % attempt)
        command = [CPSCOPE, "prove", "--json", "--all", "--cache", cache, "--fw", path("old.fw"), "--fw", path("second.fw")]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while child.poll() is None and not entries(cache):
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        if child.returncode == 130:
            break
    else:
        raise tap.Skip("it was over before it could be interrupted")
    part = json.loads(out)
    kept = entries(cache)
    whole = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert part["interrupted"] and 0 < len(kept) < len(whole["handlers"]), (len(kept), len(whole["handlers"]))
    assert "interrupted" not in whole and kept < entries(cache)
    assert all(h in whole["handlers"] for h in part["handlers"])
    assert whole == json.loads(run("prove", "--json", "--no-cache", "--fw", path("old.fw"), "--fw", path("second.fw")).stdout)


def contradicted():
    """A verdict that is wrong: here a cache that promises too much. Runs of both revisions contradict it, with any number of jobs."""
    text = source()
    firmware("old", text)
    new = firmware("mask", changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3"))
    outs = []
    for jobs in ("1", "3"):
        cache = path("wrong" + jobs)
        command = ["prove", "--json", "--cache", cache, "--jobs", jobs, "--fw", path("old.fw"), "--fw", new]
        assert run(*command, "--cross-check", "0", "CP_EVENT_WRITE").returncode == 1
        place, = [os.path.join(folder, name) for folder, _, names in os.walk(cache) for name in names if name.endswith(".prove")]
        entry = json.load(open(place))
        entry["result"] = {key: entry["result"][key] for key in ("processor", "packets", "old", "new")} | {"verdict": "equal"}
        json.dump(entry, open(place, "w"))
        unchecked = run(*command, "--cross-check", "0", "CP_EVENT_WRITE")
        assert unchecked.returncode == 0 and "runs" not in unchecked.stdout.replace('"runs":0', ""), unchecked.stdout
        done = run(*command, "-o", path("wrong-pages" + jobs), "CP_EVENT_WRITE", "CP_NOP")
        assert done.returncode == 5, (done.returncode, done.stdout, done.stderr)
        outs.append(done.stdout)
        assert run(*command, "CP_EVENT_WRITE", "CP_NOP").stdout == done.stdout, "it was cached"
    assert outs[0] == outs[1]
    results = json.loads(outs[0])
    found = verdict(results, "CP_EVENT_WRITE")["cross_check"]
    assert found["contradiction"]["event"] and found["runs"] == found["contradiction"]["run"] + 1, found
    assert "contradiction" not in verdict(results, "CP_NOP")["cross_check"] and results["cross_check"]["contradictions"] == 1
    stream, = [name for name in os.listdir(path("wrong-pages1")) if name.endswith(".cross-check.pm4")]
    assert open(os.path.join(path("wrong-pages1"), stream)).read() == found["contradiction"]["text"]
    text = run("prove", "--cache", cache, "--fw", path("old.fw"), "--fw", new, "CP_EVENT_WRITE").stdout
    assert "contradicted by run %d: " % found["contradiction"]["run"] in text and "1 CONTRADICTED" in text, text


def runs_are_counted():
    """As many as were asked for, each handler; a handler of an LPAC that nothing starts is listed as not reached."""
    program = claimfw.skeleton([], {0x61: ["mov $05, 0x9", "out $05"]}, "a7xx")
    three = firmware("three", program + "".join(".section %s\n%s" % (role, program) for role in ("BV", "LPAC")))
    done = run("prove", "--no-cache", "--all", "--cross-check", "20", "--fw", three, "--fw", three, "sqe:0x61", "lpac:0x61")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 0 and "cross-check: 20 runs, not reached" in lines, done.stdout
    assert re.search(r"cross-check: 20 runs, [1-9]\d* reached the handler", done.stdout), done.stdout
    assert lines[-1].endswith("; cross-check: 40 runs, 1 handlers not reached"), done.stdout


def mistakes():
    make.firmware(CPSCOPE, path("a660"), claimfw.skeleton([], {0x61: []}, "a6xx-a660"))
    for args, status, text in (
            (["--fw", path("old.fw")], 2, "--fw OLD --fw NEW"),
            (["--fw", path("old.fw"), "--fw", path("old.fw"), "CP_NO_SUCH"], 2, "CP_NO_SUCH"),
            (["--fw", path("old.fw"), "--fw", path("a660.fw")], 3, "number their control registers differently"),
            (["--fw", path("old.fw"), "--fw", path("nothing.fw")], 3, "nothing.fw")):
        done = run("prove", "--no-cache", *args)
        assert done.returncode == status and text in done.stderr and done.stderr.count("\n") == 1, done.stderr


def real_firmware(name):
    return os.path.join(CORPUS, "firmware", name + ".fw")


def the_level_fix():
    """The known fix of 177 -> 181: a draw-state group reaches what only the ring may."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    done = run("prove", "--no-cache", "--json", "--fw", real_firmware("gen70900_sqe-177"), "--fw",
               real_firmware("gen70900_sqe-181"), "sqe:CP_SMMU_TABLE_UPDATE", "sqe:CP_NOP", "sqe:CP_WAIT_FOR_IDLE")
    results = json.loads(done.stdout)
    update = verdict(results, "CP_SMMU_TABLE_UPDATE")
    assert update["verdict"] == "different" and update["witness"]["place"] == "a draw-state group", update
    assert verdict(results, "CP_NOP")["verdict"] in ("equal", "same code")
    open(path("level.pm4"), "w").write(update["witness"]["text"])
    done = run("diff", "--fw", real_firmware("gen70900_sqe-177"), "--fw", real_firmware("gen70900_sqe-181"), path("level.pm4"))
    assert done.returncode == 1 and "CP_SMMU_TABLE_UPDATE" in done.stdout, done.stdout[:2000]


def nothing_to_compare():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    done = run("prove", "--no-cache", "--fw", real_firmware("gen70900_aqe-023"), "--fw", real_firmware("gen70900_aqe-023"))
    assert done.returncode == 3 and "no packet table" in done.stderr, done.stderr


def no_fix():
    """a740 158 -> 168 masks the level as before; what it calls waits once more."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    done = run("prove", "--no-cache", "--json", "--fw", real_firmware("a740_sqe-158"), "--fw", real_firmware("a740_sqe"),
               "sqe:CP_SMMU_TABLE_UPDATE")
    found = verdict(json.loads(done.stdout), "CP_SMMU_TABLE_UPDATE")
    assert found["verdict"] == "equal except for waits" and "0x069" in found["why"], found
    assert done.returncode == 4, done.returncode


POLL = r" spin%s:\n cread $05, [$00 + 0x069]\n and $05, $05, %s\n brne $05, 0x0, #spin%s\n nop\n"
ON_THE_SPOT = " cread $05, [$00 + 0x069]\\n spin:\\n brne $05, %s, #spin\\n cread $05, [$00 + 0x069]\\n"


def waits(old, new, verdict_of, why=""):
    """Both are put behind the second instruction of CP_EVENT_WRITE."""
    text, where = source(), r"(and \$03, \$02, 0x0*3f\n)"
    firmware("old", changed(text, "CP_EVENT_WRITE", where, r"\1" + old))
    results = prove(firmware("waits", changed(text, "CP_EVENT_WRITE", where, r"\1" + new)), "CP_EVENT_WRITE")
    found = verdict(results, "CP_EVENT_WRITE")
    assert found["verdict"] == verdict_of and why in found.get("why", ""), found


def a_poll_only_takes_time():
    waits("", POLL % ("", "0x1", ""), "equal except for waits", "only the new revision waits for control register 0x069")
    waits(POLL % ("", "0x1", ""), "", "equal except for waits", "only the old revision")
    waits("", ON_THE_SPOT % "0x0", "equal except for waits", "only the new revision")


def the_same_poll_is_no_wait_more():
    for poll in (POLL % ("", "0x1", ""), ON_THE_SPOT % "0x0"):
        waits(poll + " add $04, $02, 0x2\\n", poll + " add $04, $02, 0x1\\n add $04, $04, 0x1\\n", "equal")


def a_poll_for_another_bit_is_another_wait():
    waits(POLL % ("", "0x1", ""), POLL % ("", "0x2", ""), "equal except for waits", "only the old revision")
    waits(ON_THE_SPOT % "0x0", ON_THE_SPOT % "0x1", "equal except for waits", "revision waits for control register 0x069")
    for other in ("$02, $05",):
        masks = [(POLL % ("", "$02", "")).replace("$05, $05, $02", "$05, " + operands) for operands in ("$05, $02", other)]
        waits(*masks, "equal except for waits", "revision waits for control register 0x069")


def what_else_a_loop_does_counts():
    """A loop that writes, or that leaves what code behind it reads, is no poll."""
    writes = (POLL % ("", "0x1", "")).replace(" nop", " cwrite $05, [$00 + 0x110]")
    counts = (POLL % ("", "0x1", "")).replace(" nop", " add $03, $03, 0x1")
    for loop in (writes, counts):
        text, where = source(), r"(and \$03, \$02, 0x0*3f\n)"
        firmware("old", text)
        new = firmware("loop", changed(text, "CP_EVENT_WRITE", where, r"\1" + loop))
        found = verdict(prove(new, "CP_EVENT_WRITE"), "CP_EVENT_WRITE")
        assert found["verdict"] in ("different", "undecided"), (loop, found)
    # A (rep) does not do the same in every turn: $rem is 0 in the second one.
    less = r" mov $rem, 0x1\n" + (POLL % ("", "0x1", "")).replace("and", "(rep)and")
    clear = r":\n mov $05, 0x0\n mov $rem, 0x0\n"
    old, new = (changed(source(), "CP_WAIT_MEM_WRITES", r":\n", clear + loop) for loop in ("", less))
    firmware("old", old)
    found = verdict(prove(firmware("rep", new), "CP_WAIT_MEM_WRITES"), "CP_WAIT_MEM_WRITES")
    assert found["verdict"] in ("different", "undecided"), found
    # The value that ended the poll goes into a register that is written: bits that nobody waited for.
    used = (POLL % ("", "0x1", "")).replace("and $05, $05", "and $06, $05").replace("brne $05", "brne $06") + r" or $03, $03, $05\n"
    text = source()
    firmware("old", text)
    new = firmware("used", changed(text, "CP_EVENT_WRITE", where, r"\1" + used))
    found = verdict(prove(new, "CP_EVENT_WRITE"), "CP_EVENT_WRITE")
    assert found["verdict"] == "different", found


def words_around_a_bulk():
    """What is read in front of a (rep) is not what is read behind it."""
    code = (r":\n cread $08, [$00 + 0x1f0]\n (rep)add $0b, $0b, $data\n cread $09, [$00 + 0x1f0]\n"
            r" mov $addr, 0x8810\n mov $data, %s\n")
    old, new = (changed(source(), "CP_WAIT_MEM_WRITES", r":\n", code % register) for register in ("$08", "$09"))
    firmware("old", old)
    assert verdict(prove(firmware("behind", new), "CP_WAIT_MEM_WRITES"), "CP_WAIT_MEM_WRITES")["verdict"] == "different"


tap.run([
    ("what is read around a bulk is not the same", words_around_a_bulk),
    ("a revision and itself: the same code everywhere", the_same),
    ("code that only moved is equal", moved),
    ("instructions that change places and do not touch each other", independent_swap),
    ("instructions that change places and do: a stream shows it", dependent_swap),
    ("another way to compute the same word", other_words),
    ("an instruction that is put in: a stream shows it", put_in),
    ("a poll that one revision has only takes time", a_poll_only_takes_time),
    ("the same poll in both is no wait more", the_same_poll_is_no_wait_more),
    ("a poll for another bit is another wait", a_poll_for_another_bit_is_another_wait),
    ("a loop that does more than wait is a difference", what_else_a_loop_does_counts),
    ("a mask: a stream shows what it changes", a_mask),
    ("another register: a stream shows it", a_register),
    ("a handler that is taken out", taken_out),
    ("results do not depend on the number of jobs", any_number_of_jobs),
    ("results are kept, and what is damaged is found out again", kept),
    ("a third revision takes the verdicts of handlers that it shares", shared_by_revisions),
    ("an interrupted run goes on where it was", interrupted),
    ("a verdict that execution contradicts is a defect, status 5", contradicted),
    ("the runs of a cross-check are counted, and handlers that none reached", runs_are_counted),
    ("mistakes are told in one line", mistakes),
    ("gen70900 177 -> 181: CP_SMMU_TABLE_UPDATE in a draw-state group", the_level_fix),
    ("firmware without packet handlers is an error", nothing_to_compare),
    ("a740 158 -> 168: CP_SMMU_TABLE_UPDATE is not flagged", no_fix)])

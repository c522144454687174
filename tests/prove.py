#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `prove` says of firmware revisions: made from the demo by changing one place of its listing. Every witness is run
here once more, by `diff --fw`. Usage: prove.py CPSCOPE DEMO.afuc; with CPSCOPE_CORPUS also real firmware."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import claimfw
import make
import tap

CPSCOPE, DEMO = (os.path.abspath(path) for path in sys.argv[1:3])
CORPUS = os.environ.get("CPSCOPE_CORPUS")
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def run(*args):
    return subprocess.run([CPSCOPE, *args], capture_output=True, text=True, timeout=600)


def assemble(name, text):
    open(path(name + ".afuc"), "w").write(text)
    done = run("asm", path(name + ".afuc"), "-o", path(name + ".fw"))
    assert done.returncode == 0, done.stderr
    return path(name + ".fw")


def source():
    old = assemble("old", open(DEMO).read())
    text = run("disasm", old).stdout
    return re.sub(r" +; [0-9a-f]{4} [0-9a-f]{8}.*$", "", text, flags=re.M)


def changed(text, handler, old, new):
    at = text.index("\n%s:" % handler)
    found = re.search(old, text[at:])
    assert found, "%s has no %s" % (handler, old)
    at += found.start()
    return text[:at] + found.expand(new) + text[at + len(found.group()):]


def prove(new, *args, status=None):
    done = run("prove", "--no-cache", "--json", "--fw", path("old.fw"), "--fw", new, *args)
    assert status is None or done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr)
    return json.loads(done.stdout) if done.stdout else None


def verdict(results, packet):
    found = [h for h in results["handlers"] if packet in h["packets"]]
    assert len(found) == 1, (packet, len(found))
    return found[0]


def check_witness(handler, new):
    """A stream that is shown makes both revisions differ, as another command sees it."""
    assert handler["confirmed"], handler
    open(path("witness.pm4"), "w").write(handler["witness"]["text"])
    done = run("diff", "--state", "--fw", path("old.fw"), "--fw", new, path("witness.pm4"))
    assert done.returncode == 1, done.stdout + done.stderr


def the_same():
    text = source()
    results = prove(assemble("same", text), status=0)
    assert results["counts"]["different"] == 0 and results["counts"]["undecided"] == 0
    assert results["counts"]["same code"] == sum(results["counts"].values()) > 10


def moved():
    text = changed(source(), "CP_NOP", r"waitin\n[^\n]*\n", r"waitin\nmov $01, $data\nnop\nnop\n")
    results = prove(assemble("moved", text), status=0)
    assert sum(results["counts"].values()) == results["counts"]["same code"] + results["counts"]["equal"]


def independent_swap():
    """Two instructions that do not touch each other's registers."""
    text, where = source(), r"mov \$02, \$data\n"
    assemble("old", changed(text, "CP_EVENT_WRITE", where, r"mov $02, $data\n add $08, $02, 0x1\n add $09, $02, 0x2\n"))
    other = changed(text, "CP_EVENT_WRITE", where, r"mov $02, $data\n add $09, $02, 0x2\n add $08, $02, 0x1\n")
    results = prove(assemble("swapped", other), "CP_EVENT_WRITE", status=0)
    assert verdict(results, "CP_EVENT_WRITE")["verdict"] == "equal", results


def dependent_swap():
    text, where = source(), r"and \$03, \$02, 0x0*3f\n"
    assemble("old", changed(text, "CP_EVENT_WRITE", where, r"and $03, $02, 0x3f\n add $03, $03, 0x1\n shl $03, $03, 0x1\n"))
    new = assemble("swapped", changed(text, "CP_EVENT_WRITE", where,
                                      r"and $03, $02, 0x3f\n shl $03, $03, 0x1\n add $03, $03, 0x1\n"))
    handler = verdict(prove(new, "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
    assert handler["verdict"] == "different"
    check_witness(handler, new)


def other_words():
    """Another way to compute the same."""
    text = source()
    assemble("old", changed(text, "CP_SCRATCH_WRITE", r":\n", r":\n and $02, $01, 0xff\n"))
    other = changed(text, "CP_SCRATCH_WRITE", r":\n", r":\n shl $02, $01, 0x18\n ushr $02, $02, 0x18\n")
    results = prove(assemble("other", other), "CP_SCRATCH_WRITE", status=0)
    assert verdict(results, "CP_SCRATCH_WRITE")["verdict"] in ("equal", "same code"), results


def put_in():
    """An instruction more: in a row, where only a branch leads, and in front of where one leads."""
    text = source()
    assemble("old", text)
    for where, to in ((r"mov \$02, \$data\n", r"mov $02, $data\n add $02, $02, 0x1\n"),
                      (r"( *mov \$data, 0x0*1\n)", r" add $03, $03, 0x1\n\1"),
                      (r"( *mov \$addr, 0xd600)", r" or $03, $03, 0x20\n\1")):
        new = assemble("put", changed(text, "CP_EVENT_WRITE", where, to))
        handler = verdict(prove(new, "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
        assert handler["verdict"] == "different", (to, handler)
        check_witness(handler, new)


def a_mask():
    """A bit of a value that is written."""
    text = source()
    assemble("old", text)
    found = re.search(r"\nCP_EVENT_WRITE:(.*?)and (\$\w+, \$\w+), (0x[0-9a-f]+)", text, re.S)
    assert found, "the demo's CP_EVENT_WRITE has no mask"
    new = assemble("mask", changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3"))
    handler = verdict(prove(new, "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
    assert handler["verdict"] == "different"
    check_witness(handler, new)


def a_register():
    text = source()
    new = assemble("register", changed(text, "CP_SET_MARKER", r"mov \$addr, 0x9880", r"mov $addr, 0x9881"))
    handler = verdict(prove(new, "CP_SET_MARKER", status=1), "CP_SET_MARKER")
    assert handler["verdict"] == "different"
    check_witness(handler, new)


def taken_out():
    text = re.sub(r"\nCP_SCRATCH_WRITE:\n", "\n", source())
    new = assemble("without", text)
    handler = verdict(prove(new, "CP_SCRATCH_WRITE", status=1), "CP_SCRATCH_WRITE")
    assert handler["verdict"] == "different" and handler["handler"] == "taken out"
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
    done = run("check", *goldens, "--search", FOLDER.name)
    assert len(goldens) >= 2 and done.returncode == 0, done.stdout + done.stderr
    page = open(path("pages/index.html")).read()
    assert "CP_EVENT_WRITE" in page and "<script" not in page
    page = open(path("pages/" + re.search(r'<a href="([^"]*\.html)">different<', page)[1])).read()
    codes = re.findall(r"<h3>Code of the (old|new) revision, from where it begins</h3>\n<pre>(.*?)</pre>", page, re.S)
    assert [side for side, _ in codes] == ["old", "new"], page
    for (_, text), mark, mask in zip(codes, "-+", ("3f", "3")):
        assert re.findall(r"^(.) [0-9a-f]{4}  and \$03, \$02, 0x0*%s$" % mask, text, re.M) == [mark], text
        assert re.match(r"  [0-9a-f]{4}  mov \$02, \$data$", text, re.M), text


def where_it_reads(read, value):
    """Both write a register if what is read is 0x15, each another value."""
    code = read + " brne $0b, 0x15, #elsewhere\\n nop\\n mov $addr, 0x8810\\n mov $data, %s\\nelsewhere:\\n" % value
    return changed(source(), "CP_EVENT_WRITE", r"mov \$02, \$data\n", r"mov $02, $data\n" + code)


def sets_up():
    """A path that hangs on a register, or on memory: the stream sets it in front of the packet."""
    for read, line in (
            (r" mov $0b, 0x8a00\n cwrite $0b, [$00 + @REG_READ_ADDR]\n mov $0b, $regdata\n", "reg 0x8a00 0x00000015"),
            (r" mov $0b, 0x01\n shl $0b, $0b, 0x18\n cwrite $0b, [$00 + @MEM_READ_ADDR]\n"
             r" cwrite $00, [$00 + @MEM_READ_ADDR+0x1]\n mov $0b, 0x1\n cwrite $0b, [$00 + @MEM_READ_DWORDS]\n"
             r" mov $0b, $memdata\n", ".word 0x00000015")):
        old, new = where_it_reads(read, "0x1"), where_it_reads(read, "0x2")
        assemble("old", old)
        handler = verdict(prove(assemble("read", new), "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
        assert handler["verdict"] == "different" and line in handler["witness"]["text"], handler
        check_witness(handler, path("read.fw"))


def left_for_another():
    """What a handler leaves shows in one that reads it."""
    text = changed(source(), "CP_EVENT_WRITE", r"mov \$02, \$data\n",
                   r"mov $02, $data\n mov $addr, 0x8810\n mov $data, $0c\n")
    old, new = (changed(text, "CP_SCRATCH_WRITE", r":\n", r":\n mov $0c, %s\n" % value) for value in ("0x5", "0x6"))
    assemble("old", old)
    handler = verdict(prove(assemble("left", new), "CP_SCRATCH_WRITE", status=1), "CP_SCRATCH_WRITE")
    assert handler["why"] == "what it leaves in register $0c" and "CP_EVENT_WRITE" in handler["read_by"], handler
    assert not handler["witness"]["control_registers_only"] and "0x8810" in handler["witness"]["event"], handler
    check_witness(handler, path("left.fw"))


def unconfirmed():
    """What hangs on a control register that nobody can write from a stream is a difference, and no stream shows it: it is said
    which value that takes. Every value but 0 will do."""
    guard = r":\n cread $02, [$00 + 0x1f0]\n nop\n breq $02, 0x0, #CP_NOP\n nop\n mov $addr, 0x8810\n mov $data, %s\n"
    old, new = (changed(source(), "CP_WAIT_MEM_WRITES", r":\n", guard % value) for value in ("0x5", "0x6"))
    assemble("old", old)
    fw = assemble("hidden", new)
    handler = verdict(prove(fw, "CP_WAIT_MEM_WRITES"), "CP_WAIT_MEM_WRITES")
    state = handler["state"]
    assert handler["reached"] and not handler["confirmed"] and state["control_numbers"] == [0x1f0], handler
    done = run("prove", "--no-cache", "--fw", path("old.fw"), "--fw", fw, "CP_WAIT_MEM_WRITES")
    lines = [line.strip() for line in done.stdout.splitlines()]
    at = lines.index("unconfirmed: no stream that was run shows it")
    found = re.fullmatch("it differs where control registers read 0x1f0 = 0x([0-9a-f]+)", lines[at + 1])
    assert found and int(found.group(1), 16) != 0, lines


def bootstrap():
    """What runs before the first packet is compared as a handler is, and shown by the boots themselves."""
    text = source()
    assemble("old", text)
    assert verdict(prove(path("old.fw"), "bootstrap", status=0), "bootstrap")["verdict"] == "same code"
    found = re.search(r"cwrite \$\w+, \[\$00 \+ @?\w+\]", text)
    new = assemble("boot", text.replace(found.group(), "%s\n mov $02, 0x7\n cwrite $02, [$00 + 0x130]" % found.group(), 1))
    handler = verdict(prove(new, "bootstrap", status=1), "bootstrap")
    assert handler["verdict"] == "different" and handler["witness"]["place"] == "the boot", handler
    check_witness(handler, new)


def entries(cache):
    return {name for _, _, names in os.walk(cache) for name in names if name.endswith(".prove")}


def shared_by_revisions():
    """A third revision has most handlers of the second one: only what is another one is compared."""
    text = source()
    assemble("old", text)
    second = changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3")
    third = changed(second, "CP_SET_MARKER", r"mov \$addr, 0x9880", r"nop\n mov $addr, 0x9881")
    cache = path("shared")
    command = ["prove", "--json", "--cache", cache, "--fw", path("old.fw"), "--fw"]
    first = json.loads(run(*command, assemble("second", second)).stdout)
    before = entries(cache)
    assert len(before) == len(first["handlers"])
    again = run(*command, assemble("third", third)).stdout
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


def mistakes():
    make.firmware(CPSCOPE, path("a660"), claimfw.skeleton([], {0x61: []}, "a6xx-a660"))
    for args, status, text in (
            (["--fw", path("old.fw")], 2, "--fw OLD --fw NEW"),
            (["--fw", path("old.fw"), "--fw", path("old.fw"), "CP_NO_SUCH"], 2, "CP_NO_SUCH"),
            (["--fw", path("old.fw"), "--fw", path("a660.fw")], 3, "number their control registers otherwise"),
            (["--fw", path("old.fw"), "--fw", path("nothing.fw")], 3, "nothing.fw")):
        done = run("prove", "--no-cache", *args)
        assert done.returncode == status and text in done.stderr and done.stderr.count("\n") == 1, done.stderr


def firmware(name):
    return os.path.join(CORPUS, "firmware", name + ".fw")


def the_level_fix():
    """The known fix of 177 -> 181: a draw-state group reaches what only the ring may."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    done = run("prove", "--no-cache", "--json", "--fw", firmware("gen70900_sqe-177"), "--fw",
               firmware("gen70900_sqe-181"), "sqe:CP_SMMU_TABLE_UPDATE", "sqe:CP_NOP", "sqe:CP_WAIT_FOR_IDLE")
    results = json.loads(done.stdout)
    update = verdict(results, "CP_SMMU_TABLE_UPDATE")
    assert update["verdict"] == "different" and update["witness"]["place"] == "a draw-state group", update
    assert verdict(results, "CP_NOP")["verdict"] in ("equal", "same code")
    open(path("level.pm4"), "w").write(update["witness"]["text"])
    done = run("diff", "--fw", firmware("gen70900_sqe-177"), "--fw", firmware("gen70900_sqe-181"), path("level.pm4"))
    assert done.returncode == 1 and "CP_SMMU_TABLE_UPDATE" in done.stdout, done.stdout[:2000]


def nothing_to_compare():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    done = run("prove", "--no-cache", "--fw", firmware("gen70900_aqe-023"), "--fw", firmware("gen70900_aqe-023"))
    assert done.returncode == 3 and "no packet table" in done.stderr, done.stderr


def no_fix():
    """a740 158 -> 168 masks the level as before; what it calls waits once more."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    done = run("prove", "--no-cache", "--json", "--fw", firmware("a740_sqe-158"), "--fw", firmware("a740_sqe"),
               "sqe:CP_SMMU_TABLE_UPDATE")
    found = verdict(json.loads(done.stdout), "CP_SMMU_TABLE_UPDATE")
    assert found["verdict"] == "equal but for waits" and "0x069" in found["why"], found
    assert done.returncode == 4, done.returncode


POLL = r" spin%s:\n cread $05, [$00 + 0x069]\n and $05, $05, %s\n brne $05, 0x0, #spin%s\n nop\n"
ON_THE_SPOT = " cread $05, [$00 + 0x069]\\n spin:\\n brne $05, %s, #spin\\n cread $05, [$00 + 0x069]\\n"


def waits(old, new, verdict_of, why=""):
    """Both are put behind the second instruction of CP_EVENT_WRITE."""
    text, where = source(), r"(and \$03, \$02, 0x0*3f\n)"
    assemble("old", changed(text, "CP_EVENT_WRITE", where, r"\1" + old))
    results = prove(assemble("waits", changed(text, "CP_EVENT_WRITE", where, r"\1" + new)), "CP_EVENT_WRITE")
    found = verdict(results, "CP_EVENT_WRITE")
    assert found["verdict"] == verdict_of and why in found.get("why", ""), found


def a_poll_only_takes_time():
    waits("", POLL % ("", "0x1", ""), "equal but for waits", "only the new revision waits for control register 0x069")
    waits(POLL % ("", "0x1", ""), "", "equal but for waits", "only the old revision")
    waits("", ON_THE_SPOT % "0x0", "equal but for waits", "only the new revision")


def the_same_poll_is_no_wait_more():
    for poll in (POLL % ("", "0x1", ""), ON_THE_SPOT % "0x0"):
        waits(poll + " add $04, $02, 0x2\\n", poll + " add $04, $02, 0x1\\n add $04, $04, 0x1\\n", "equal")


def a_poll_for_another_bit_is_another_wait():
    waits(POLL % ("", "0x1", ""), POLL % ("", "0x2", ""), "equal but for waits", "only the old revision")
    waits(ON_THE_SPOT % "0x0", ON_THE_SPOT % "0x1", "equal but for waits", "revision waits for control register 0x069")
    for other in ("$03, $02", "$02, $05"):
        masks = [(POLL % ("", "$02", "")).replace("$05, $05, $02", "$05, " + operands) for operands in ("$05, $02", other)]
        waits(*masks, "equal but for waits", "revision waits for control register 0x069")


def what_else_a_loop_does_counts():
    """A loop that writes, or that leaves what code behind it reads, is no poll."""
    writes = (POLL % ("", "0x1", "")).replace(" nop", " cwrite $05, [$00 + 0x110]")
    counts = (POLL % ("", "0x1", "")).replace(" nop", " add $03, $03, 0x1")
    for loop in (writes, counts):
        text, where = source(), r"(and \$03, \$02, 0x0*3f\n)"
        assemble("old", text)
        new = assemble("loop", changed(text, "CP_EVENT_WRITE", where, r"\1" + loop))
        found = verdict(prove(new, "CP_EVENT_WRITE"), "CP_EVENT_WRITE")
        assert found["verdict"] in ("different", "undecided"), (loop, found)
    # A (rep) does not do the same in every turn: $rem is 0 in the second one.
    less = r" mov $rem, 0x1\n" + (POLL % ("", "0x1", "")).replace("and", "(rep)and")
    clear = r":\n mov $05, 0x0\n mov $rem, 0x0\n"
    old, new = (changed(source(), "CP_WAIT_MEM_WRITES", r":\n", clear + loop) for loop in ("", less))
    assemble("old", old)
    found = verdict(prove(assemble("rep", new), "CP_WAIT_MEM_WRITES"), "CP_WAIT_MEM_WRITES")
    assert found["verdict"] in ("different", "undecided"), found
    # The value that ended the poll goes into a register that is written: bits that nobody waited for.
    used = (POLL % ("", "0x1", "")).replace("and $05, $05", "and $06, $05").replace("brne $05", "brne $06") + r" or $03, $03, $05\n"
    text = source()
    assemble("old", text)
    new = assemble("used", changed(text, "CP_EVENT_WRITE", where, r"\1" + used))
    found = verdict(prove(new, "CP_EVENT_WRITE"), "CP_EVENT_WRITE")
    assert found["verdict"] == "different", found


def words_around_a_bulk():
    """What is read in front of a (rep) is not what is read behind it."""
    code = (r":\n cread $08, [$00 + 0x1f0]\n (rep)add $0b, $0b, $data\n cread $09, [$00 + 0x1f0]\n"
            r" mov $addr, 0x8810\n mov $data, %s\n")
    old, new = (changed(source(), "CP_WAIT_MEM_WRITES", r":\n", code % register) for register in ("$08", "$09"))
    assemble("old", old)
    assert verdict(prove(assemble("behind", new), "CP_WAIT_MEM_WRITES"), "CP_WAIT_MEM_WRITES")["verdict"] == "different"


def addresses():
    """A constant that is an address moves with the code, whose place and values are said; no other constant does."""
    text = changed(source(), "CP_EVENT_WRITE", r"mov \$02, \$data\n",
                   r"mov $02, $data\n mov $08, #CP_SET_MARKER\n mov $08, 0x0\n")
    old = assemble("old", text)
    new = assemble("moved", changed(text, "CP_NOP", r"waitin\n[^\n]*\n", r"waitin\nmov $01, $data\nnop\nnop\n"))
    listing = run("disasm", old).stdout
    label, at = (int(re.search(r"\n%s:\n(?:\w+:\n)*[^\n]*; ([0-9a-f]{4}) " % name, listing)[1], 16)
                 for name in ("CP_SET_MARKER", "CP_EVENT_WRITE"))
    results = prove(new, status=0)
    assert results["addresses"] == [{"processor": "sqe", "old": at + 1, "new": at + 3, "old_value": label,
                                     "new_value": label + 2}], (results["addresses"], at, label)


def private_registers():
    """Scratch registers with other numbers are the same ones if all code has them so; they are listed. One access that stays as
    it was is a difference."""
    text = source()
    assemble("old", text)
    moved = re.sub(r"\[\$00 \+ 0x10([0-2])\]", r"[$00 + 0x10\g<1>]".replace("0x10", "0x11"), text)
    assert moved.count("0x11") >= 6 and "0x100]" not in moved, moved
    results = prove(assemble("registers", moved), "CP_DRAW_INDX_OFFSET", status=0)
    assert results["private_registers"] == [{"processor": "sqe", "old": 0x100 + i, "new": 0x110 + i} for i in range(3)], results
    assert verdict(results, "CP_DRAW_INDX_OFFSET")["verdict"] in ("equal", "same code"), results
    other = moved.replace("cread $03, [$00 + 0x111]", "cread $03, [$00 + 0x112]")
    assert other != moved
    handler = verdict(prove(assemble("registers", other), "CP_DRAW_INDX_OFFSET", status=1), "CP_DRAW_INDX_OFFSET")
    assert handler["verdict"] == "different", handler


def calls_from_what_was_put_in():
    """A call that only the new revision has, with code behind it that only that has: it returns there."""
    routine = "\nCP_SET_DRAW_STATE:\n", "\nroutine:\n or $0a, $0a, 0x1\n ret\n nop\n\nCP_SET_DRAW_STATE:\n"
    text = source().replace(*routine)
    assemble("old", text)
    where = r"and \$03, \$02, 0x0*3f\n"
    for behind, said in (("0x1", "equal"), ("0x3", "different")):
        code = r"and $03, $02, 0x3f\n mov $0a, 0x0\n call #routine\n nop\n xor $0a, $0a, %s\n or $03, $03, $0a\n mov $0a, 0x0\n"
        assemble("old", changed(text, "CP_EVENT_WRITE", where, r"and $03, $02, 0x3f\n mov $0a, 0x0\n"))
        new = assemble("call", changed(text, "CP_EVENT_WRITE", where, code % behind))
        handler = verdict(prove(new, "CP_EVENT_WRITE"), "CP_EVENT_WRITE")
        assert handler["verdict"] == said, (behind, handler)
    check_witness(handler, new)


def of_code(name, old, new, place="CP_EVENT_WRITE"):
    """The result for a handler that begins with @old, or with @new."""
    text = source()
    assemble("old", changed(text, place, r"mov \$02, \$data\n", r"mov $02, $data\n" + old))
    return verdict(prove(assemble(name, changed(text, place, r"mov \$02, \$data\n", r"mov $02, $data\n" + new)), place), place)


def at_each_level():
    """What differs only in the ring, only in IB2, or only in a draw-state group, is shown there."""
    code = r" brne $12, 0x%x, #elsewhere\n nop\n mov $addr, 0x8810\n mov $data, 0x%x\nelsewhere:\n"
    for level, place in ((0, "the ring"), (2, "IB2"), (3, "a draw-state group")):
        handler = of_code("level", code % (level, 1), code % (level, 2))
        assert handler["verdict"] == "different" and handler["confirmed"], (level, handler)
        assert handler["witness"]["place"] == place, (level, handler["witness"])
        check_witness(handler, path("level.fw"))


def two_registers():
    """A path that hangs on two registers, each asked for by itself: the stream sets both."""
    ask = r" mov $0b, 0x%x\n cwrite $0b, [$00 + @REG_READ_ADDR]\n mov $0%s, $regdata\n"
    code = ask % (0x8a00, "a") + ask % (0x8a40, "b") + (
        r" brne $0a, 0x15, #elsewhere\n nop\n brne $0b, 0x0b, #elsewhere\n nop\n"
        r" mov $addr, 0x8810\n mov $data, 0x%x\nelsewhere:\n")
    handler = of_code("two", code % 1, code % 2)
    lines = [line.strip() for line in handler["witness"]["text"].splitlines()]
    assert handler["confirmed"] and "reg 0x8a00 0x00000015" in lines and "reg 0x8a40 0x0000000b" in lines, handler
    check_witness(handler, path("two.fw"))


def another_value():
    """Two differences, of which each asks for another value of the same register; one of them no stream can show, because
    it takes a value of register 0. What that one took is not left over when the other one is shown."""
    ask = r" mov $0b, 0x%x\n cwrite $0b, [$00 + @REG_READ_ADDR]\n mov $0%s, $regdata\n"
    read = ask % (0, "c") + ask % (0x8a00, "b")
    case = (r" brne $0b, 0x%x, #other%d\n nop\n breq $0c, 0x0, #other%d\n nop\n mov $addr, 0x8810\n mov $data, 0x%x\nother%d:\n")
    shown = (r" brne $0b, 0x%x, #other%d\n nop\n mov $addr, 0x8811\n mov $data, 0x%x\nother%d:\n")
    for hidden_first in (True, False):
        def code(value):
            parts = [case % (0x15, 1, 1, value, 1), shown % (0x16, 2, value, 2)]
            return read + "".join(parts if hidden_first else parts[::-1])
        handler = of_code("values", code(1), code(2))
        text = handler["witness"]["text"]
        assert handler["confirmed"] and re.findall(r"^ *(reg 0x8a00 .*)", text, re.M) == ["reg 0x8a00 0x00000016"], handler
        check_witness(handler, path("values.fw"))


def three_processors(name, words, constant):
    """An image of a7xx whose BV has @words instructions; the SQE's packet 0x61 writes @constant."""
    bv, lpac = (claimfw.skeleton([], {0x61: ["mov $05, 0x9"] * n}, "a7xx") for n in (words, 1))
    text = claimfw.skeleton([], {0x61: ["mov $05, 0x%x" % constant, "out $05"]}, "a7xx")
    for role, code in (("BV", bv), ("LPAC", lpac)):
        text += ".section %s\n%s" % (role, code)
    return assemble(name, text)


def other_images():
    """Where the image of another processor begins is an address in bytes, and so is its size; a word behind it is none."""
    names = {"old": 1, "new": 20}
    starts = {}
    for name, words in names.items():
        three_processors(name, words, 0)
        row, = json.loads(run("info", "--json", path(name + ".fw")).stdout)["files"]
        starts[name] = [part["start"] for part in row["processors"]]
    (_, bv, old), (_, same, new) = starts["old"], starts["new"]
    assert bv == same and old < new, starts
    for values, expected in (((old, new), True), ((old - bv, new - bv), True), ((old + 1, new + 1), False),
                             ((old, new + 8), False)):
        values = [4 * value for value in values]
        for (name, words), value in zip(names.items(), values):
            three_processors(name, words, value)
        results = prove(path("new.fw"))
        listed = [(row["processor"], row["old_value"], row["new_value"]) for row in results["addresses"]]
        assert listed == ([("sqe", *values)] if expected else []), (values, listed)
        assert (results["counts"]["different"] == 0) == expected, (values, results["counts"])


def much_less():
    """The new revision is shorter by far: what is said of places of the old one has room."""
    filler, text = " nop\n" * 30000, source()
    assemble("old", text.replace("\nCP_NOP:\n", "\n" + filler + "\nCP_NOP:\n"))
    new = assemble("short", changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3"))
    results = prove(new, "CP_EVENT_WRITE", "CP_SET_MARKER", status=1)
    assert verdict(results, "CP_EVENT_WRITE")["confirmed"]
    assert verdict(results, "CP_SET_MARKER")["verdict"] in ("equal", "same code")


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
    ("a stream sets the register or the memory that its packet reads", sets_up),
    ("a stream has a packet behind that reads what its packet leaves", left_for_another),
    ("what hangs on a register that no stream reaches is said", unconfirmed),
    ("the bootstrap is compared, too", bootstrap),
    ("a third revision takes the verdicts of handlers that it shares", shared_by_revisions),
    ("an interrupted run goes on where it was", interrupted),
    ("constants that are addresses are listed", addresses),
    ("private registers that have moved are found", private_registers),
    ("a call that was put in returns to code that was put in", calls_from_what_was_put_in),
    ("what differs only at one level is shown there", at_each_level),
    ("a stream sets both registers that its packet reads", two_registers),
    ("a stream sets the value of its own difference", another_value),
    ("where other processors' images begin", other_images),
    ("a revision that is shorter by far", much_less),
    ("mistakes are told in one line", mistakes),
    ("gen70900 177 -> 181: CP_SMMU_TABLE_UPDATE in a draw-state group", the_level_fix),
    ("firmware without packet handlers is an error", nothing_to_compare),
    ("a740 158 -> 168: CP_SMMU_TABLE_UPDATE is not flagged", no_fix)])

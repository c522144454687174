#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which streams `prove` finds for differences that hang on registers, levels or what stands behind, and what it knows of
addresses and registers that moved. Usage: prove_streams.py CPSCOPE"""
import json
import os
import re

import claimfw
import tap
from proving import changed, check_witness, prove, source, verdict
from scene import CORPUS, firmware, path, run


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
        firmware("old", old)
        handler = verdict(prove(firmware("read", new), "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
        assert handler["verdict"] == "different" and line in handler["witness"]["text"], handler
        check_witness(handler, path("read.fw"))


def left_for_another():
    """What a handler leaves shows in one that reads it."""
    text = changed(source(), "CP_EVENT_WRITE", r"mov \$02, \$data\n",
                   r"mov $02, $data\n mov $addr, 0x8810\n mov $data, $0c\n")
    old, new = (changed(text, "CP_SCRATCH_WRITE", r":\n", r":\n mov $0c, %s\n" % value) for value in ("0x5", "0x6"))
    firmware("old", old)
    handler = verdict(prove(firmware("left", new), "CP_SCRATCH_WRITE", status=1), "CP_SCRATCH_WRITE")
    assert handler["why"] == "what it leaves in register $0c" and "CP_EVENT_WRITE" in handler["read_by"], handler
    assert not handler["witness"]["control_registers_only"] and "0x8810" in handler["witness"]["event"], handler
    check_witness(handler, path("left.fw"))


def unconfirmed():
    """What hangs on a control register that nobody can write from a stream is a difference, and no stream shows it: it is said
    which value that takes. Every value but 0 will do."""
    guard = r":\n cread $02, [$00 + 0x1f0]\n nop\n breq $02, 0x0, #CP_NOP\n nop\n mov $addr, 0x8810\n mov $data, %s\n"
    old, new = (changed(source(), "CP_WAIT_MEM_WRITES", r":\n", guard % value) for value in ("0x5", "0x6"))
    firmware("old", old)
    fw = firmware("hidden", new)
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
    firmware("old", text)
    assert verdict(prove(path("old.fw"), "bootstrap", status=0), "bootstrap")["verdict"] == "same code"
    found = re.search(r"cwrite \$\w+, \[\$00 \+ @?\w+\]", text)
    new = firmware("boot", text.replace(found.group(), "%s\n mov $02, 0x7\n cwrite $02, [$00 + 0x130]" % found.group(), 1))
    handler = verdict(prove(new, "bootstrap", status=1), "bootstrap")
    assert handler["verdict"] == "different" and handler["witness"]["place"] == "the boot", handler
    check_witness(handler, new)


def addresses():
    """A constant that is an address moves with the code, whose place and values are said; no other constant does."""
    text = changed(source(), "CP_EVENT_WRITE", r"mov \$02, \$data\n",
                   r"mov $02, $data\n mov $08, #CP_SET_MARKER\n mov $08, 0x0\n")
    old = firmware("old", text)
    new = firmware("moved", changed(text, "CP_NOP", r"waitin\n[^\n]*\n", r"waitin\nmov $01, $data\nnop\nnop\n"))
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
    firmware("old", text)
    moved = re.sub(r"\[\$00 \+ 0x10([0-2])\]", r"[$00 + 0x10\g<1>]".replace("0x10", "0x11"), text)
    assert moved.count("0x11") >= 6 and "0x100]" not in moved, moved
    results = prove(firmware("registers", moved), "CP_DRAW_INDX_OFFSET", status=0)
    assert results["private_registers"] == [{"processor": "sqe", "old": 0x100 + i, "new": 0x110 + i} for i in range(3)], results
    assert verdict(results, "CP_DRAW_INDX_OFFSET")["verdict"] in ("equal", "same code"), results
    other = moved.replace("cread $03, [$00 + 0x111]", "cread $03, [$00 + 0x112]")
    assert other != moved
    handler = verdict(prove(firmware("registers", other), "CP_DRAW_INDX_OFFSET", status=1), "CP_DRAW_INDX_OFFSET")
    assert handler["verdict"] == "different", handler


def calls_from_what_was_put_in():
    """A call that only the new revision has, with code behind it that only that has: it returns there."""
    routine = "\nCP_SET_DRAW_STATE:\n", "\nroutine:\n or $0a, $0a, 0x1\n ret\n nop\n\nCP_SET_DRAW_STATE:\n"
    text = source().replace(*routine)
    firmware("old", text)
    where = r"and \$03, \$02, 0x0*3f\n"
    for behind, said in (("0x1", "equal"), ("0x3", "different")):
        code = r"and $03, $02, 0x3f\n mov $0a, 0x0\n call #routine\n nop\n xor $0a, $0a, %s\n or $03, $03, $0a\n mov $0a, 0x0\n"
        firmware("old", changed(text, "CP_EVENT_WRITE", where, r"and $03, $02, 0x3f\n mov $0a, 0x0\n"))
        new = firmware("call", changed(text, "CP_EVENT_WRITE", where, code % behind))
        handler = verdict(prove(new, "CP_EVENT_WRITE"), "CP_EVENT_WRITE")
        assert handler["verdict"] == said, (behind, handler)
    check_witness(handler, new)


def of_code(name, old, new, place="CP_EVENT_WRITE"):
    """The result for a handler that begins with @old, or with @new."""
    text = source()
    firmware("old", changed(text, place, r"mov \$02, \$data\n", r"mov $02, $data\n" + old))
    return verdict(prove(firmware(name, changed(text, place, r"mov \$02, \$data\n", r"mov $02, $data\n" + new)), place), place)


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
    return firmware(name, text)


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


def found_at_random():
    """A control register that another packet writes: no stream of the solver's has that packet in front, a random one does."""
    keep = changed(source(), "CP_SCRATCH_WRITE", r":\n", r":\n mov $02, $data\n cwrite $02, [$00 + 0x1f0]\n")
    guard = r":\n cread $02, [$00 + 0x1f0]\n nop\n breq $02, 0x0, #CP_NOP\n nop\n mov $addr, 0x8810\n mov $data, %s\n"
    old, new = (changed(keep, "CP_WAIT_MEM_WRITES", r":\n", guard % value) for value in ("0x5", "0x6"))
    firmware("old", old)
    first, again = (verdict(prove(firmware("random", new), "CP_WAIT_MEM_WRITES", status=1), "CP_WAIT_MEM_WRITES") for _ in range(2))
    assert first == again and first["confirmed"] and first["witness"]["difference"] == "a random stream", first
    text = first["witness"]["text"]
    assert text.index("CP_SCRATCH_WRITE") < text.index("CP_WAIT_MEM_WRITES") and "start" not in text, text
    assert len(re.findall("^ ", text, re.M)) == 2, text  # no packet more than it takes
    check_witness(first, path("random.fw"))


def of_this_handler_only():
    """Two handlers differ where a third one has written a control register. A stream of the one has no packet of the other."""
    keep = changed(source(), "CP_SCRATCH_WRITE", r":\n", r":\n mov $02, $data\n cwrite $02, [$00 + 0x1f0]\n")
    guard = r":\n cread $02, [$00 + 0x1f0]\n nop\n breq $02, 0x0, #CP_NOP\n nop\n mov $addr, 0x%x\n mov $data, %s\n"
    packets = {"CP_WAIT_MEM_WRITES": 0x8810, "CP_WAIT_FOR_IDLE": 0x8811}
    texts = [keep, keep]
    for packet, register in packets.items():
        texts = [changed(text, packet, r":\n", guard % (register, value)) for text, value in zip(texts, ("0x5", "0x6"))]
    firmware("old", texts[0])
    results = prove(firmware("two", texts[1]), *packets, status=1)
    for packet in packets:
        handler = verdict(results, packet)
        other, = set(packets) - {packet}
        assert handler["confirmed"] and other not in handler["witness"]["text"], handler
        check_witness(handler, path("two.fw"))


def of_the_clock():
    """Longer code makes the clock that is read behind it another one, which is no difference. What it leaves is one."""
    clock = (r" mov $0b, 0x1\n cwrite $0b, [$00 + @REG_READ_DWORDS]\n mov $0b, 0x980\n cwrite $0b, [$00 + @REG_READ_ADDR]\n"
             r" mov $addr, 0x8810\n mov $data, $regdata\n")
    text = changed(source(), "CP_SCRATCH_WRITE", r":\n", r":\n cwrite $0c, [$00 + 0x1f0]\n")
    old, new = (changed(text, "CP_EVENT_WRITE", r"mov \$02, \$data\n", r"mov $02, $data\n%s mov $0c, %s\n" % (front + clock, value))
                for front, value in (("", "0x5"), (r" nop\n nop\n", "0x6")))
    firmware("old", old)
    handler = verdict(prove(firmware("clock", new), "CP_EVENT_WRITE", status=1), "CP_EVENT_WRITE")
    assert handler["confirmed"] and handler["witness"]["control_registers_only"], handler
    assert handler["witness"]["event"].startswith("CTRL 0x01f0 "), handler
    check_witness(handler, path("clock.fw"))


def lpac():
    """LPAC has a ring of its own, which a stream says it is for."""
    start = ["mov $05, 0x2", "cwrite $05, [$00 + REG_READ_DWORDS]", "mov $05, 0x830", "cwrite $05, [$00 + REG_READ_ADDR]",
             "mov $03, $regdata", "mov $04, $regdata", "mov $05, #LPAC::start", "shl $05, $05, 0x2", "add $03, $03, $05",
             "cwrite $03, [$00 + 0x0d9]", "cwrite $04, [$00 + 0x0da]", "mov $05, 0x1", "cwrite $05, [$00 + 0x0db]"]
    call = ["cwrite $data, [$00 + IB1_BASE_LO]", "cwrite $data, [$00 + IB1_BASE_HI]", "cwrite $data, [$00 + IB1_DWORDS]",
            "mov $05, 0x1", "cwrite $05, [$00 + IB_LEVEL]"]
    end = ["cwrite $00, [$00 + IB_LEVEL]"]
    for name, value in (("old", 5), ("lpac", 6)):
        text = claimfw.skeleton(start, {}, "a7xx")
        handlers = {0x3f: call, 0x0a: end, 0x61: ["mov $05, $data", "brne $05, 0x7, #other", "nop", "mov $05, 0x%x" % value,
                                                  "other:", "out $05"]}
        for role, own in (("BV", {}), ("LPAC", handlers)):
            text += ".section %s\nstart:\n%s" % (role, claimfw.skeleton([], own, "a7xx"))
        firmware(name, text)
    handler, = [h for h in prove(path("lpac.fw"), "lpac:0x61", status=1)["handlers"]]
    assert handler["verdict"] == "different" and handler["witness"]["text"].endswith("\nsubmit frame lpac\n"), handler
    check_witness(handler, path("lpac.fw"))


def pair_of_a5xx():
    """PFP and ME run together: the other file is the third one, or lies beside."""
    own = ["jump #is_pfp", "nop", claimfw.IS_PFP, "is_pfp:"]
    handler = ["mov $05, $data", "brne $05, 0x7, #other", "nop", "mov $05, 0x%x", "other:", "out $05"]
    for name, value in (("old", 5), ("new", 6)):
        lines = [line % value if "%" in line else line for line in handler]
        firmware(name, claimfw.skeleton(own, {0x61: lines}, "a5xx"))
    firmware("me", claimfw.skeleton([], {}, "me", first=()))
    alone = verdict(prove(path("new.fw"), "0x61", status=1), "UNKN97")
    assert not alone["confirmed"] and "a third --fw" in alone["not_reached"], alone
    found = verdict(prove(path("new.fw"), "--fw", path("me.fw"), "0x61", status=1), "UNKN97")
    assert found["confirmed"], found
    for old, new in (("new", "a_pfp"), ("me", "a_pm4")):
        os.rename(path(old + ".fw"), path(new + ".fw"))
    assert verdict(prove(path("a_pfp.fw"), "0x61", status=1), "UNKN97") == found
    open(path("witness.pm4"), "w").write(found["witness"]["text"])
    done = run("diff", "--fw", path("old.fw"), "--fw", path("a_pm4.fw"), "--fw", path("a_pfp.fw"), "--fw", path("a_pm4.fw"),
               path("witness.pm4"))
    assert done.returncode == 1, done.stdout + done.stderr
    demo = firmware("demo", source())
    done = run("prove", "--fw", demo, "--fw", demo, "--fw", path("a_pm4.fw"))
    assert done.returncode == 2 and "a third --fw is for a5xx" in done.stderr, done.stderr


def a_switch():
    """A bit that is left in a register shows in a packet that reads it, or where the routine of a switch saves the register."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    fw = os.path.join(CORPUS, "firmware", "a630_sqe-190.fw")
    text = re.sub(r" +; [0-9a-f]{4} [0-9a-f]{8}.*$", "", run("disasm", fw).stdout, flags=re.M)
    firmware("old", text)
    new = firmware("switch", changed(text, "CP_SET_MODE", r"(mov \$\w+), 0x0001 << 29", r"\1, 0x0005 << 29"))
    handler = verdict(prove(new, "CP_SET_MODE", status=1), "CP_SET_MODE")
    inject = handler["witness"].get("inject")
    assert handler["confirmed"] and handler["witness"]["difference"] == "a random stream", handler
    open(path("witness.pm4"), "w").write(handler["witness"]["text"])
    command = ["diff", "--fw", path("old.fw"), "--fw", new, path("witness.pm4")]
    assert run(*command, *(["--inject", inject] if inject else [])).returncode == 1, handler


def much_less():
    """The new revision is shorter by far: what is said of places of the old one has room."""
    filler, text = " nop\n" * 30000, source()
    firmware("old", text.replace("\nCP_NOP:\n", "\n" + filler + "\nCP_NOP:\n"))
    new = firmware("short", changed(text, "CP_EVENT_WRITE", r"and (\$\w+, \$\w+), 0x[0-9a-f]+", r"and \1, 0x3"))
    results = prove(new, "CP_EVENT_WRITE", "CP_SET_MARKER", status=1)
    assert verdict(results, "CP_EVENT_WRITE")["confirmed"]
    assert verdict(results, "CP_SET_MARKER")["verdict"] in ("equal", "same code")


tap.run([
    ("a stream sets the register or the memory that its packet reads", sets_up),
    ("a stream has a packet behind that reads what its packet leaves", left_for_another),
    ("what hangs on a register that no stream reaches is said", unconfirmed),
    ("the bootstrap is compared, too", bootstrap),
    ("constants that are addresses are listed", addresses),
    ("private registers that have moved are found", private_registers),
    ("a call that was put in returns to code that was put in", calls_from_what_was_put_in),
    ("what differs only at one level is shown there", at_each_level),
    ("a stream sets both registers that its packet reads", two_registers),
    ("a stream sets the value of its own difference", another_value),
    ("where other processors' images begin", other_images),
    ("a revision that is shorter by far", much_less),
    ("a random stream shows what hangs on a control register that a packet writes", found_at_random),
    ("a random stream shows the difference of its own handler", of_this_handler_only),
    ("the clock behind longer code is no difference", of_the_clock),
    ("a stream for LPAC goes into its own ring", lpac),
    ("a stream for a5xx runs PFP and ME together", pair_of_a5xx),
    ("a random stream shows a bit that is left in a register of real firmware", a_switch)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values that come only from the assumed clock, in `diff`, `check` and `regress`: firmware is the demo's with another end of
CP_REG_TO_MEM, which stores the clock or what it makes of it. Usage: clock.py CPSCOPE; with CPSCOPE_CORPUS also real firmware."""
import json
import os
import re

import make
import tap
from scene import CORPUS, CPSCOPE, FOLDER, MANIFEST, cpscope, firmware, path, read, run
from tree import DEMO

CLOCK, GMU_CLOCK, PLAIN = 0x980, 0x1f888, 0x8810
FREE = ["--policy", "clock=instructions"]
MEMW = ["--events", "memw"]
WAIT = "        call #wait_pipe                 ; the register must have its last value\n"
STORE = "        (rep)mov $data, $regdata\n"
# A nop, which costs a tick of the clock and does nothing.
LATER = WAIT + "        nop\n        nop\n"
# The register of the packet is read, and once more.
FIRST = ["mov $06, $regdata", "cwrite $05, [$00 + @REG_READ_DWORDS]"]
SECOND = ["shl $07, $02, 0xe", "ushr $07, $07, 0xe", "cwrite $07, [$00 + @REG_READ_ADDR]", "mov $08, $regdata"]
SENTENCE = r"(\d+) values? differs? only by the clock"


def stream(*registers):
    """Stores each register; then an event stores the clock, too."""
    lines = ["reg 0x%x 0x55" % PLAIN]
    lines += ["CP_REG_TO_MEM 0x%08x 0x%08x 0" % (1 << 18 | register, 0x300000 + 16 * i) for i, register in enumerate(registers)]
    return make.pm4(*lines, "CP_EVENT_WRITE 0x40000004 0x00310000 0 0")


path("stamps.pm4", stream(CLOCK, CLOCK))
path("event.pm4", stream())


def demo(name, *store, wait=WAIT, **more):
    """Demo firmware that ends CP_REG_TO_MEM with @store; @more: old text to new."""
    source = open(DEMO, encoding="utf-8").read()
    assert WAIT in source and STORE in source
    source = source.replace(WAIT, wait, 1)
    if store:
        source = source.replace(STORE, "".join("        %s\n" % line for line in store), 1)
    for old, new in more.items():
        source = source.replace(old, new)
    return firmware(name, source)


def diff(old, new, capture="stamps.pm4", options=(), status=(0, 1)):
    """(status, differences, values that differ only by the clock), which text and JSON report alike."""
    done = cpscope("diff", "--fw", old, "--fw", new, capture, *MEMW, *(options or FREE), status=status)
    root = json.loads(cpscope("diff", "--json", "--fw", old, "--fw", new, capture, *MEMW, *(options or FREE), status=status).stdout)
    found = re.search(SENTENCE, done.stdout)
    count = int(found[1]) if found else 0
    assert count == root.get("clock", 0) == root["comparisons"][0].get("clock", 0), (done.stdout, root)
    assert root["status"] == done.returncode and (root["differences"] == 0) == ("no differences" in done.stdout), done.stdout
    return done.returncode, root["differences"], count


def pair(*store, late=None):
    """Compares a firmware with one that is some ticks later, and stores @late instead."""
    return diff(demo("old", *store), demo("new", *(late or store), wait=LATER))


def a_clock_that_is_stored():
    assert pair() == (0, 0, 3)
    assert diff("old.fw", "new.fw", "event.pm4") == (0, 0, 0)


def both_words():
    """The upper word of a stamp, by firmware and by an event, where the lower one wraps."""
    path("wide.pm4", stream(CLOCK).replace("0x%08x" % (1 << 18 | CLOCK), "0x%08x" % (2 << 18 | CLOCK)))
    demo("old"), demo("new", wait=LATER)
    stamps = set()
    for start in range(0xfffffec0, 0x100000000, 0x10):
        options = ["--policy", "clock=instructions clock-start=0x%x" % start]
        status, differences, count = diff("old.fw", "new.fw", "wide.pm4", options)
        assert (status, differences) == (0, 0), start
        stamps.add(count)
        if len(stamps) > 1:
            return
    raise AssertionError("no start lets the stamps of both wrap apart: %s" % stamps)


def why_names_the_clock():
    demo("old")
    for place in (0x300000, 0x310000, 0x310004):
        done = cpscope("why", "--fw", "old.fw", "stamps.pm4", "mem:0x%x" % place)
        assert "assumed: clock" in done.stdout, done.stdout


def packets_are_compared():
    old, new = demo("old"), demo("new", wait=LATER)
    for options in ((), ["--policy", "clock=packets"]):
        done = cpscope("diff", "--fw", old, "--fw", new, "stamps.pm4", *options)
        assert "no differences\n" in done.stdout and "clock" not in done.stdout.splitlines()[0], done.stdout
    # One more read of the clock is one more tick, and that is a difference.
    again = demo("again", *FIRST, *SECOND, "mov $data, $08")
    done = cpscope("diff", "--fw", old, "--fw", again, "stamps.pm4", status=1)
    assert not re.search(SENTENCE, done.stdout), done.stdout


def made_of_the_clock():
    for store in (["mov $06, $regdata", "ushr $06, $06, 0x1", "and $data, $06, 0xff"],
                  ["add $data, $regdata, 0x123"],
                  ["mov $06, $regdata", "cwrite $06, [$00 + 0x110]", "cread $data, [$00 + 0x110]"],
                  ["mov $06, $regdata", "shl $06, $06, 0x8", "not $data, $06"]):
        status, differences, count = pair(*store)
        assert (status, differences) == (0, 0) and count >= 2, (store, status, differences, count)
    # Another way to the same value.
    assert pair("add $data, $regdata, 0x10", late=["add $06, $regdata, 0x9", "add $data, $06, 0x7"]) == (0, 0, 3)


def a_difference_of_two_stamps():
    late = [*FIRST, "nop", "nop", "nop", *SECOND, "sub $data, $08, $06"]
    assert diff(demo("old", *FIRST, *SECOND, "sub $data, $08, $06"), demo("new", *late)) == (0, 0, 3)
    status, differences, count = pair(*late, late=[*late[:-1], "sub $data, $06, $08"])
    assert (status, differences, count) == (1, 2, 1), (status, differences, count)


def other_values_stay_differences():
    clock = ["mov $06, $regdata"]
    for old, late in ((["add $data, $regdata, 0x10"], ["add $data, $regdata, 0x11"]),
                      ([*clock, "ushr $data, $06, 0x1"], [*clock, "ushr $data, $06, 0x2"]),
                      ([*clock, "mov $data, $06"], [*clock, "mov $data, 0x77"]),
                      # A stamp that is old: the one of the packet before.
                      ([*clock, "mov $data, $06", "mov $15, $06"], [*clock, "mov $data, $15", "mov $15, $06"]),
                      # With a word of the stream it is more than the clock.
                      ([*clock, "add $data, $06, $03"], None),
                      # A branch by the clock, and an address made of it.
                      ([*clock, "and $07, $06, 0x2", "breq $07, 0x0, #even", "mov $06, 0x1", "mov $06, 0x2", "even:", "mov $data, $06"],
                       [*clock, "and $07, $06, 0x2", "brne $07, 0x0, #even", "mov $06, 0x1", "mov $06, 0x2", "even:", "mov $data, $06"])):
        status, differences, _ = pair(*old, late=late)
        assert status == 1 and differences >= 1, (old, late, differences)


def another_place_stays_a_difference():
    status, differences, count = pair(late=["mov $06, $regdata", "mov $addr, 0xa0 << 24", "add $data, $03, 0x4", "mov $data, $04",
                                            "mov $addr, 0xa204 << 16", "mov $data, $06"])
    assert status == 1 and differences >= 2 and count == 1, (differences, count)


def another_counter_stays_a_difference():
    """The other one ticks alike; the packet asks for the first, which the new firmware does not read."""
    other = LATER + "        mov $02, 0x1 << 16\n        or $02, $02, 0xf888\n"
    assert 0x1f888 == GMU_CLOCK
    status, differences, count = diff(demo("old"), demo("new", wait=other))
    assert status == 1 and differences == 2 and count == 1, (differences, count)
    plain = LATER + "        mov $02, 0x%x\n" % PLAIN
    status, differences, count = diff(demo("old"), demo("new", wait=plain))
    assert status == 1 and differences == 2 and count == 1, (differences, count)


def a_golden():
    demo("my"), cpscope("run", "--fw", "my.fw", "stamps.pm4", *FREE, "-o", "clock.trace")
    assert "pass" in cpscope("check", "clock.trace").stdout
    golden = read("clock.trace").decode()
    assert golden.count("MEMW") == 4, golden

    def changed(pattern, by, name):
        text, count = re.subn(pattern, lambda m: "%s0x%08x" % (m[1], int(m[2], 16) + by), golden, count=1, flags=re.M)
        assert count == 1, golden
        path(name, text)
        return name
    name = changed(r"^(.*MEMW\s+0x0*300000 )(0x\w{8})", 5, "early.trace")
    done = cpscope("check", name)
    assert "pass; 1 value differs only by the clock" in done.stdout, done.stdout
    row = json.loads(cpscope("check", "--json", name).stdout)[0]
    assert (row["status"], row["differences"], row["clock"]) == (0, 0, 1), row
    done = cpscope("check", changed(r"^(.*REG\s+0x%04x )(0x\w{8})" % PLAIN, 1, "other.trace"), status=1)
    assert not re.search(SENTENCE, done.stdout), done.stdout
    # What packets count is what the golden has, or it differs.
    cpscope("run", "--fw", "my.fw", "stamps.pm4", "-o", "packets.trace")
    golden = read("packets.trace").decode()
    cpscope("check", changed(r"^(.*MEMW\s+0x0*300000 )(0x\w{8})", 5, "tick.trace"), status=1)


def regress(*extra, status=0, out="out"):
    path("manifest", MANIFEST + "firmware old old.fw\nfirmware new new.fw\ncapture stamps.pm4\nevents memw\npolicy clock=instructions\n" +
         "".join(line + "\n" for line in extra))
    done = cpscope("regress", "manifest", "-o", out, status=status)
    pairs = json.loads(read(out + "/results.json"))["pairs"]
    return done, {pair["firmware"]: pair for pair in pairs}


def a_matrix():
    demo("old"), demo("new", wait=LATER)
    files = ["out/results.xml", "out/results.tap", "out/index.html", "out/results.json"]
    done, pairs = regress("baseline old")
    first = [read(name) for name in files]
    assert (pairs["new"]["status"], pairs["new"]["differences"], pairs["new"]["clock"]) == ("pass", 0, 3), pairs
    assert "clock" not in pairs["old"] and all(re.search(SENTENCE.encode(), text) for text in first), pairs
    assert re.search(SENTENCE, done.stdout + done.stderr), done
    regress("baseline old")  # from the cache
    assert first == [read(name) for name in files]
    cpscope("regress", "--no-cache", "manifest", "-o", "out")
    assert first == [read(name) for name in files]
    demo("new", "add $data, $regdata, 0x1", wait=LATER)
    _, pairs = regress("baseline old", status=1)
    assert (pairs["new"]["status"], pairs["new"]["differences"], pairs["new"]["clock"]) == ("differs", 2, 1), pairs


def goldens_of_a_matrix():
    """A golden of the firmware that runs, whose stamps are earlier; one of another firmware has no origins."""
    demo("old"), demo("new", wait=LATER)
    for name in ("old", "new"):
        cpscope("run", "--fw", name + ".fw", "stamps.pm4", *FREE, "-o", "g.trace")
        text = re.sub(r"^(.*MEMW\s+0x0*300000 )(0x\w{8})", lambda m: "%s0x%08x" % (m[1], int(m[2], 16) + 5),
                      read("g.trace").decode(), count=1, flags=re.M)
        path("goldens/%s/stamps.pm4.cpt" % name, text)
    _, pairs = regress("golden goldens")
    assert all(pair["clock"] == 1 and pair["status"] == "pass" for pair in pairs.values()), pairs
    path("goldens/new/stamps.pm4.cpt", read("goldens/old/stamps.pm4.cpt"))
    _, pairs = regress("golden goldens", status=1)
    assert pairs["new"]["status"] == "differs" and "clock" not in pairs["new"], pairs


def real_captures():
    """Revisions of a630's and a750's firmware over what Mesa's driver recorded; a difference that is planted is found."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    folder = os.path.join(CORPUS, "captures", "mesa-26.2")
    fits = {"a630": ("a630_sqe-187.fw", "a630_sqe-207.fw"), "a750": ("gen70900_sqe-175.fw", "gen70900_sqe-181.fw")}
    captures = [name for name in sorted(os.listdir(folder)) if name.startswith("vkt-sync")] if os.path.isdir(folder) else []
    if not captures:
        raise tap.Skip("the corpus has no captures/mesa-26.2/vkt-sync*")
    found = 0
    for name in captures:
        chip = re.search(r"-(a\d+)\.rd", name)[1]
        if chip not in fits:
            continue
        old, new = (os.path.join(CORPUS, "firmware", image) for image in fits[chip])
        capture = os.path.join(folder, name)
        status, differences, count = diff(old, new, capture)
        assert (status, differences) == (0, 0), (name, status, differences, count)
        found += count
    assert found


tap.run([
    ("a stamp of firmware and of an event is no difference", a_clock_that_is_stored),
    ("both words of a stamp are the clock's", both_words),
    ("why names the clock as the origin of both words of an event's stamp", why_names_the_clock),
    ("a clock of packets is compared like other values", packets_are_compared),
    ("a value made of the clock and constants is the clock's, whichever way", made_of_the_clock),
    ("a difference of two stamps is the clock's", a_difference_of_two_stamps),
    ("another function of the clock, or more than the clock, is a difference", other_values_stay_differences),
    ("a stamp at another address is a difference", another_place_stays_a_difference),
    ("another counter is a difference", another_counter_stays_a_difference),
    ("check passes a golden that differs by the clock alone", a_golden),
    ("regress counts these values in every report, cached or not", a_matrix),
    ("regress trusts goldens of the firmware that runs only", goldens_of_a_matrix),
    ("revisions of real firmware differ by the clock alone", real_captures),
])

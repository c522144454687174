#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `diff --fw` says of firmware revisions: made from a firmware by changing one place of its listing
and assembling that. Usage: diff_fw.py CPSCOPE; with CPSCOPE_CORPUS also on real firmware."""
import os
import re
import tempfile

import a5xx_pair
import claimfw
import make
import tap
from make import pm4
from scene import CORPUS, CPSCOPE, run
from tree import DEMO

DRAW = "captures/dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"
STREAM = pm4("CP_SCRATCH_WRITE 0x00200000 0xaa 0xbb", "CP_SCRATCH_TO_REG 0x01208a00", "CP_EVENT_WRITE 0x31",
             "CP_INDIRECT_BUFFER @inner #inner", "buffer 0x00110000 inner", "reg 0x8810 0x1 0x2 0x3")


def changed(source, handler, old, new):
    """@source with the first @old behind the label @handler replaced."""
    at = source.index("\n%s:" % handler)
    found = re.search(old, source[at:])
    assert found, "%s has no %s" % (handler, old)
    at += found.start()
    return source[:at] + new + source[at + len(found.group()):]


def shifted(source):
    """A nop behind the delay slot that ends a handler: never executed, and all that follows moves."""
    return changed(source, "CP_NOP", r"waitin\n[^\n]*\n", "waitin\nmov $01, $data\nnop\n")


class Room:
    def __init__(self, folder, firmware, capture):
        self.folder, self.old, self.capture = folder, firmware, capture
        self.source = run("disasm", firmware).stdout
        # The words in the comments are those of before the change.
        self.source = re.sub(r" +; [0-9a-f]{4} [0-9a-f]{8}$", "", self.source, flags=re.M)

    def diff(self, text, *args):
        path = os.path.join(self.folder, "new")
        open(path + ".afuc", "w").write(text)
        done = run("asm", path + ".afuc", "-o", path + ".fw")
        assert done.returncode == 0, done.stderr
        done = run("diff", "--fw", self.old, "--fw", path + ".fw", *args, self.capture)
        assert done.returncode in (0, 1), done.stderr
        return done

    def places(self, out):
        """Places with what is said of them, and the instructions that were taken out and put in."""
        found = []
        for line in out.splitlines():
            head = re.match(r"  (\S.*?): (changed[^:]*)(:.*)?$", line)
            word = re.match(r"   ([-+])\w{4} \w{8}  (.*?)(  ; .*)?$", line)
            if head:
                found.append((head[1], head[2], [], []))
            elif word:
                found[-1][2 if word[1] == "-" else 3].append(word[2])
        return found


def identical(r):
    done = r.diff(r.source)
    assert done.returncode == 0 and "no code differs" in done.stdout, done.stdout


def one_constant(r, handler, old, new, event):
    done = r.diff(changed(r.source, handler, old, new))
    places = r.places(done.stdout)
    assert done.returncode == 1 and len(places) == 1, done.stdout
    assert places[0][0].startswith(handler + "+0x"), places
    assert "executed" in places[0][1] or places[0][1] == "changed, behaves differently", places
    first = done.stdout.split("\n")
    assert any(re.search("old +" + event, line) for line in first[:9]), first[:10]


def unexecuted(r, handler, old, new):
    done = r.diff(changed(r.source, handler, old, new))
    places = r.places(done.stdout)
    assert done.returncode == 0 and len(places) == 1, done.stdout
    assert places[0][:2] == (places[0][0], "changed but not exercised"), places
    assert places[0][0].startswith(handler + "+0x"), places


def without_nops(places):
    """Places that are more than a nop put in."""
    return [place for place in places if place[2] or any(word != "nop" for word in place[3])]


def layout(r):
    early = re.sub(r"^( +)cwrite", r"\1nop\n\1cwrite", r.source, count=1, flags=re.M)
    assert early != r.source
    for text in (early, shifted(r.source)):
        done = r.diff(text)
        places = r.places(done.stdout)
        assert done.returncode == 0 and len(places) >= 1 and not without_nops(places), done.stdout


def behind_the_end(r):
    """What is put in behind a handler's end is that handler's, not the next one's."""
    found = r.places(r.diff(shifted(r.source)).stdout)
    assert found and all(place[0].startswith("CP_NOP+0x") for place in found), found


def address_in_bytes(r):
    """A constant that is the address of code in bytes, and goes with the code."""
    def with_address(source, number):
        return changed(source, "CP_REG_TO_SCRATCH", r"call[^\n]*", "mov $05, 0x%x << 2" % number)
    old = os.path.join(r.folder, "bytes")
    early = re.sub(r"^( +)cwrite", r"\1nop\n\1cwrite", r.source, count=1, flags=re.M)
    open(old + ".afuc", "w").write(with_address(r.source, 0x60))
    assert run("asm", old + ".afuc", "-o", old + ".fw").returncode == 0
    room = Room(r.folder, old + ".fw", r.capture)
    for number, places in ((0x61, 0), (0x62, 1)):
        found = without_nops(room.places(room.diff(with_address(early, number)).stdout))
        assert len(found) == places, (number, found)


def both(r, handler, old, new, event):
    """A change is found at its place although everything has moved."""
    done = r.diff(changed(shifted(r.source), handler, old, new))
    places = without_nops(r.places(done.stdout))
    assert len(places) == 1 and places[0][0].startswith(handler + "+0x"), done.stdout


def behind(r, handler, edit):
    """The place of a handler, with the text from there on edited."""
    at = r.source.index("\n%s:" % handler)
    return r.source[:at] + edit(r.source[at:])


def swapped(r, handler, first, second):
    """Two instructions that change places are one that was taken out and put in again beside the other."""
    done = r.diff(behind(r, handler, lambda text: re.sub("( +%s)\n( +%s)\n" % (first, second), r"\2\n\1\n", text, count=1)))
    places = r.places(done.stdout)
    assert 1 <= len(places) <= 2 and all(place[0].startswith(handler) for place in places), done.stdout
    out, put = (sorted(word for place in places for word in place[k]) for k in (2, 3))
    assert out == put and len(out) in (1, 2), done.stdout


def inserted(r, handler, old, new):
    """Instructions that were put in, in code that runs and does the same."""
    done = r.diff(changed(r.source, handler, old, new))
    places = r.places(done.stdout)
    assert done.returncode == 0 and len(places) == 1 and not places[0][2] and len(places[0][3]) == 2, done.stdout
    assert "executed" in places[0][1], places


def hidden(r, handler, old, new):
    """Scratch that nobody reads: no event of the default ones differs, but the state does."""
    r.capture = os.path.join(r.folder, "hidden.pm4")
    open(r.capture, "w").write(pm4("CP_SCRATCH_WRITE 0x00200000 0xaa 0xbb"))
    text = changed(r.source, handler, old, new)
    done = r.diff(text)
    assert done.returncode == 0 and "no differences" in done.stdout, done.stdout
    done = r.diff(text, "--state")
    assert done.returncode == 1 and re.search(r"^  old +sqe CTRL 0x01\w\w 0x000000aa", done.stdout, re.M), done.stdout
    assert "4 differences, by packet:" in done.stdout or "2 differences" in done.stdout, done.stdout


def renamed(r, handler, old, new):
    """A private register that has another number in both handlers that use it is no cause, and no place of its own. One whose
    writer keeps the old number is."""
    text = re.sub(r"\nCP_SCRATCH_WRITE:[^\n]*\n", lambda m: m.group() + "cwrite $0f, [$00 + 0x120]\n", r.source)
    found = re.search(old, text[text.index("\n%s:" % handler):]).group()
    text = changed(text, handler, old, found + "\nnop\ncread $0f, [$00 + 0x120]")
    r.old = os.path.join(r.folder, "two.fw")
    make.firmware(CPSCOPE, r.old[:-3], text)
    more = changed(text, handler, old, new)
    both = more.replace("0x120]", "0x121]")
    line = re.compile(r"^ +[-+].* 0x12[01]\]$", re.M)
    done = r.diff(both)
    assert len(causes(done.stdout)) == 1 and ", 2 of them private registers with other numbers (--all" in done.stdout, done.stdout
    assert not line.search(done.stdout) and len(line.findall(r.diff(both, "--all").stdout)) == 4, done.stdout
    done = r.diff(changed(more, handler, r"0x120\]", "0x121]"))
    assert line.search(done.stdout.split("differences by cause:")[1].split("code that differs")[0]), done.stdout
    assert "private registers" not in done.stdout, done.stdout


def open_call(r):
    """A call that nothing returns from shows in nothing but --state: how deep calls are where packets end. So does
    an SQE register with another value."""
    text = changed(r.source, "CP_NOP", r"waitin\n", "call #stay\nnop\nstay:\nwaitin\n")
    r.capture = os.path.join(r.folder, "open.pm4")
    open(r.capture, "w").write(pm4("CP_NOP 0x1", "CP_NOP 0x2"))
    assert r.diff(text).returncode == 0
    done = r.diff(text, "--state")
    found = causes(done.stdout)
    assert done.returncode == 1 and re.search(r"SP missing -> 0x00000001|%?SP 0x.* -> ", done.stdout), done.stdout
    assert found and all(name.startswith(("CP_NOP", "CP_ME_INIT", "no changed code")) for name, *_ in found), found
    text = re.sub(r"swrite \$00, \[\$00 \+ %SP\]", "swrite $02, [$00 + %SP]", r.source)
    assert text != r.source
    assert "SP 0x" in r.diff(text, "--state").stdout


def removed_handler(r, handler):
    """A packet that the new revision has no handler for: that is said first, and how the run ends."""
    done = r.diff(re.sub(r"^%s:" % handler, "gone:", r.source, flags=re.M))
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and "they end differently:" in lines[0], lines[:4]
    assert lines[1] == "  old      runs to the end" and lines[2].startswith("  new      stops "), lines[:4]
    assert "the firmware reported error" in lines[2], lines[:4]
    assert "handlers removed: %s" % handler in lines, done.stdout


def moved(r, handler, follower):
    """A handler that stands elsewhere among the others."""
    at, end = (r.source.index("\n%s:" % name) for name in (handler, follower))
    later = r.source.rindex("\n", 0, r.source.index("\nCP_EVENT_WRITE:"))
    text = r.source[:at] + r.source[end:later] + r.source[at:end] + r.source[later:]
    assert len(text) == len(r.source), (len(text), len(r.source))
    done = r.diff(text)
    assert done.returncode == 0 and "instructions from" in done.stdout, done.stdout
    assert not r.places(done.stdout)[0][2], done.stdout


def causes(out):
    """What stands below "differences by cause": name, differences, packets, first example."""
    _, _, text = out.partition("differences by cause:\n")
    found = re.findall(r"^  (\S.*): (\d+) differences? in (\d+) packets? \(.*\)\n    first: (.*)$", text, re.M)
    return [(name, int(count), int(packets), first) for name, count, packets, first in found]


def caused(r, handler, old, new, expected, packets):
    """Every difference belongs to the place that was changed, and the first one is told by its fields."""
    done = r.diff(changed(r.source, handler, old, new))
    found = causes(done.stdout)
    assert len(found) == 1 and found[0][0].startswith(handler + "+0x"), done.stdout
    assert found[0][0].endswith(": changed, behaves differently") and found[0][2] == packets, found
    total = int(re.search(r"^(\d+) differences?, by packet", done.stdout, re.M)[1])
    assert found[0][1] == total and re.search(expected, found[0][3]), found
    assert re.search("^  changes  .*" + expected, done.stdout, re.M), done.stdout


def two_causes(r):
    """Two places, one paragraph each, the one with more differences first."""
    text = changed(changed(r.source, *MASK[:3]), "CP_SET_MARKER", r"cwrite \$02, \[\$00 \+ 0x0*100\]", "nop")
    text = changed(text, "PKT4", r"ushr \$usraddr, \$01, 0x0*8", "ushr $usraddr, $01, 0x9")
    found = causes(r.diff(text).stdout)
    assert [name.split("+")[0].split(":")[0] for name, *_ in found] == ["PKT4", "CP_EVENT_WRITE"], found
    assert "instead" in found[0][3] and found[0][1] >= found[1][1], found


def explained_end(r):
    """What only one run has is told in a line, and not as a hundred differences of their own."""
    found = causes(r.diff(re.sub("^CP_EVENT_WRITE:", "gone:", r.source, flags=re.M)).stdout)
    assert [name for name, *_ in found] == ["CP_EVENT_WRITE: new has no handler of its own for it",
                                            "one of the two runs had ended"], found
    assert found[0][3].endswith("-> missing"), found


def other_handler(r):
    """A change that shows only in another packet is named beside what it shows in."""
    out = r.diff(changed(r.source, *SCRATCH[:3])).stdout
    found = causes(out)
    assert len(found) == 1 and found[0][0] == (
        "no changed code in their handlers, follows from earlier packets; changed code that ran elsewhere: "
        "CP_SCRATCH_WRITE+0x1"), found


def collapsed(r):
    """Thirty places: the code of some, the names of the rest; --all shows all."""
    text = re.sub(r"and (\$\w+), (\$\w+), 0x0*(\w+)$", lambda m: "and %s, %s, 0x%x" % (m[1], m[2], int(m[3], 16) ^ 0x400),
                  r.source, flags=re.M)
    text = re.sub(r"shl (\$\w+), (\$\w+), 0x0*c$", r"shl \1, \2, 0xd", text, flags=re.M)
    few, every = r.diff(text).stdout, r.diff(text, "--all").stdout
    total = int(re.search(r"code that differs, (\d+) places", every)[1])
    assert total > 14 and len(r.places(every)) == total, (total, every)
    assert len(r.places(few)) < total and "(--all shows the code):" in few and "--all" not in every, few
    assert len(few.splitlines()) < len(every.splitlines())


def named(r):
    """Constants that are numbers of registers have their names."""
    out = r.diff(changed(r.source, "CP_EVENT_WRITE", r"mov \$addr, 0x0*e7 << 24", "mov $addr, 0x91 << 24")).stdout
    assert re.search(r"^   -\w+ \w+  mov \$addr, 0x0*e7 << 24  ; \|EVENT_CMD$", out, re.M), out
    assert "EVENT_CMD -> 0x0091: the same value, " in out and causes(out)[0][1] == 1, out


def branch(r, other):
    """Another branch of the firmware: every place has its word, and with --all every place is there."""
    other = os.path.join(CORPUS, "firmware", other)
    done = run("diff", "--fw", r.old, "--fw", other, r.capture)
    every = run("diff", "--fw", r.old, "--fw", other, "--all", r.capture).stdout
    total = int(re.search(r"code that differs, (\d+) places", every)[1])
    assert done.returncode in (0, 1) and len(r.places(every)) == total > 20, (done.returncode, total)
    assert len(done.stdout.splitlines()) < 300 < len(every.splitlines()), len(done.stdout.splitlines())
    differences = sum(count for _, count, *_ in causes(every))
    said = re.search(r"^(\d+) differences?, by packet", every, re.M)
    assert differences == (int(said[1]) if said else 0), (differences, said)
    # A word that stands on both sides did not change.
    for _, _, out, put in r.places(every):
        assert not out or out != put, (out, put)


def bootstrap(r):
    """A constant that the boot writes: a place of the bootstrap, which ran; --state shows the register."""
    text = re.sub(r"mov \$02, 0x0*4$", "mov $02, 0x6", r.source, count=1, flags=re.M)
    places = r.places(r.diff(text).stdout)
    assert len(places) == 1 and places[0][0].startswith("bootstrap+0x") and "executed" in places[0][1], places
    found = causes(r.diff(text, "--state").stdout)
    assert len(found) == 1 and found[0][0].startswith("bootstrap+0x") and "0x00000004 -> 0x00000006" in found[0][3], found


def two_images(r):
    """a5xx: PFP and ME of both revisions, in either order. Code of each that differs is a paragraph of its own, of either or both."""
    def image(name, layout, value):
        return a5xx_pair.image(CPSCOPE, os.path.join(r.folder, name), layout, value)

    stream = os.path.join(r.folder, "a5.pm4")
    with open(stream, "w") as file:
        file.write(a5xx_pair.STREAM)
    pfp, other_pfp = image("pfp", "a5xx", 7), image("pfp2", "a5xx", 9)
    me, other_me = image("me", "me", 5), image("me2", "me", 6)

    def diff(*fw, status=1):
        done = run("diff", *[word for name in fw for word in ("--fw", name)], "--all", stream)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    same = diff(pfp, me, pfp, me, status=0)
    assert "PFP: no code differs" in same and "ME: no code differs" in same, same
    out = diff(pfp, me, other_pfp, other_me)
    assert "  old      me REG 0x8810 0x00000005 " in out and "  new      me REG 0x8810 0x00000006 " in out, out
    assert "PFP: code that differs, 1 place" in out and "ME: code that differs, 1 place" in out, out
    assert out == diff(me, pfp, other_me, other_pfp), "whichever comes first"
    assert "PFP: code that differs, 1 place" in diff(pfp, me, other_pfp, me, status=0)
    bare = os.path.join(r.folder, "bare")
    own = ["jump #is_pfp", "nop", claimfw.IS_PFP, "is_pfp:"]
    make.firmware(CPSCOPE, bare, claimfw.skeleton(own, {0x11: ["(rep)mov $00, $data"]}, "a5xx", first=()))
    assert "handlers removed: CP_NOP" in diff(pfp, me, bare + ".fw", me), "a table without a handler"
    for wrong, said in (((pfp, pfp, other_pfp, me), "expected its PFP and its ME (pm4)"), ((me, other_me, pfp, me), "no processor in common")):
        done = run("diff", *[word for name in wrong for word in ("--fw", name)], stream)
        assert done.returncode == 3 and said in done.stderr, done


def packet_zero(r):
    """A packet whose opcode is 0 is one, too, and not what is outside of packets."""
    with open(DEMO) as file:
        demo = file.read()

    def handler(value):
        return demo.replace("\nCP_WAIT_MEM_WRITES:\n", "\nUNKN0:\nmov $02, $data\nmov $addr, 0x8810\nmov $data, 0x%x\n"
                            "waitin\nmov $01, $data\n\nCP_WAIT_MEM_WRITES:\n" % value)
    old = os.path.join(r.folder, "zero")
    make.firmware(CPSCOPE, old, handler(0x21))
    r.capture = old + ".pm4"
    with open(r.capture, "w") as file:
        file.write(pm4("CP_NOP", ".word 0x%08x 0x%x" % tuple(make.type7(0, 0))))
    done = Room(r.folder, old + ".fw", r.capture).diff(handler(0x22))
    found, = causes(done.stdout)
    assert found[3].startswith("submission 0, UNKN0: ") and "0x00000021 -> 0x00000022" in found[3], found
    assert re.search(r"^1 difference, by packet:\n +1  UNKN0$", done.stdout, re.M), done.stdout


def other_names(r):
    """Packets have the names of the side that is shown: of two generations these may be others."""
    for gen, value in (("a6xx", 7), ("a7xx", 8)):
        code = claimfw.skeleton([], {0x6d: ["mov $05, 0x%x" % value, "out $05"]}, gen)
        make.firmware(CPSCOPE, os.path.join(r.folder, gen), code)
    stream = os.path.join(r.folder, "names.pm4")
    with open(stream, "w") as file:
        file.write("# cpscope-pm4 1\ngpu 630\nbuffer 0x100000 ring\n    .word 0x%08x 0x%x\nring ring\n" % tuple(make.type7(0x6d, 0)))
    for old, new, name in (("a6xx", "a7xx", "CP_REG_WRITE "), ("a7xx", "a6xx", "")):
        done = run("diff", *[word for gen in (old, new) for word in ("--fw", os.path.join(r.folder, gen + ".fw"))],
                   "--as", "a7xx", stream)
        line = re.search(r"^  packet +sqe PKT rb 0x0*100000 0x706d0001 ; (.*)pc=0x\w+$", done.stdout, re.M)
        assert done.returncode == 1 and line and line[1] == name, (done.stdout, done.stderr)


SCRATCH = ("CP_SCRATCH_WRITE", r"and (\$02, \$02), 0x0*7", "and $02, $02, 0x5",
           "sqe REG 0x8a00 0x000000aa")
EVENT = ("CP_EVENT_WRITE", r"and \$03, \$04, 0x0*3f", "and $03, $04, 0x1f",
         "sqe REG 0xbb02 0x00000031")
# In this one the level of the indirect buffer is taken from $12.
LEVEL = ("CP_INDIRECT_BUFFER", r"and \$05, \$12, 0x0*3", "and $05, $12, 0x2", "sqe (REG|CTRL|MEMR)")
UNUSED = ("CP_REG_TO_SCRATCH", r"call", "jump")

MASK = ("CP_EVENT_WRITE", r"and \$03, \$02, 0x0*3f", "and $03, $02, 0x1e")
CASES = [
    ("the same code has no difference", "demo", identical, ()),
    ("a mask: its place is the cause, with the field", "demo", caused, (*MASK, r"\.EVENT CACHE_INVALIDATE -> STOP_COMPUTE_CTRS$", 1)),
    ("two causes have two paragraphs", "demo", two_causes, ()),
    ("a packet without its handler, and what came behind it", "demo", explained_end, ()),
    ("a change that shows in another packet", "demo", other_handler, ()),
    ("many places are collapsed, but for --all", "demo", collapsed, ()),
    ("a write to another register is one difference, and both are named", "demo", named, ()),
    ("a threshold in the bootstrap", "demo", bootstrap, ()),
    ("a5xx: the code of both processors", "demo", two_images, ()),
    ("a packet whose opcode is 0", "demo", packet_zero, ()),
    ("a packet has the name of its side's generation", "demo", other_names, ()),
    ("one constant: its handler, instruction and write, nothing else", "demo", one_constant, SCRATCH),
    ("a change that no packet reached: not exercised", "demo", unexecuted, UNUSED),
    ("code that only moved is no difference", "demo", layout, ()),
    ("a change among moved code", "demo", both, SCRATCH),
    ("code behind a handler's end is named after it", "demo", behind_the_end, ()),
    ("an address in bytes that moved with its code", "demo", address_in_bytes, ()),
    ("two instructions that change places", "demo", swapped, ("CP_SCRATCH_WRITE", "and .*", "add .*")),
    ("two instructions that do not depend on each other", "demo", swapped,
     ("CP_REG_TO_SCRATCH", r"mov \$02, \$data", r"cwrite \$00, .*")),
    ("instructions that are put in", "demo", inserted,
     ("CP_SCRATCH_WRITE", r"and \$02, \$02, 0x0*7", "and $02, $02, 0x7\nmov $03, 0x1\nmov $03, 0x2")),
    ("a change that shows in hidden state only", "demo", hidden, ("CP_SCRATCH_WRITE", "0x0*16f", "0x15f")),
    ("a private register with another number is no cause", "demo", renamed, MASK),
    ("a call that stays open shows in hidden state only", "demo", open_call, ()),
    ("a packet without its handler", "demo", removed_handler, ("CP_EVENT_WRITE",)),
    ("a handler that stands elsewhere", "demo", moved, ("CP_SCRATCH_WRITE", "CP_REG_TO_SCRATCH")),
    ("a680 and its sibling a630: another branch of the firmware", "a680", branch, ("a630_sqe-187.fw",)),
    ("a680 and a later a630: another branch of the firmware", "a680", branch, ("a630_sqe-190.fw",)),
    ("a680: a packet without its handler", "a680", removed_handler, ("CP_EVENT_WRITE",)),
    ("a680: one constant of CP_EVENT_WRITE", "a680", one_constant, EVENT),
    ("a680: the level test of CP_INDIRECT_BUFFER", "a680", one_constant, LEVEL),
    ("a680: a change that no packet reached: not exercised", "a680", unexecuted,
     ("CP_REG_RMW", r"and \$07, \$07, 0x0*1f", "and $07, $07, 0xf")),
    ("a680: code that only moved is no difference", "a680", layout, ()),
    ("a680: a change among moved code", "a680", both, EVENT),
]

def try_case(folder, firmware, case, args):
    if firmware == "demo":
        old, capture = os.path.join(folder, "demo.fw"), os.path.join(folder, "stream.pm4")
    elif CORPUS:
        old, capture = os.path.join(CORPUS, "firmware/a680_sqe.fw"), os.path.join(CORPUS, DRAW)
    else:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    case(Room(folder, old, capture), *args)


with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "stream.pm4"), "w").write(STREAM)
    assert run("asm", DEMO, "-o", os.path.join(folder, "demo.fw")).returncode == 0
    tap.run([(name, lambda row=row: try_case(folder, *row)) for name, *row in CASES])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Handlers that differ in one thing only, which `prove` must not call equal: what outlives a handler, what has an order, which
register an access is of, and data of the image. Each pair is two handlers of one packet in the smallest firmware of its
generation. Usage: prove_sound.py CPSCOPE"""
import claimfw
import tap
from proving import prove
from scene import firmware

PACKET = 0x61
PROVEN = ("same code", "equal", "equal except for waits")
SPIN = ["again:", "cread $05, [$00 + 0x069]", "and $05, $05, $06", "brne $05, 0x0, #again", "nop"]
SHOW = ["mov $addr, 0x8810", "mov $data, $08", "mov $data, $09", "mov $08, 0x0", "mov $09, 0x0"]

# claim; generation; code of the handler in both revisions
DIFFERENT = [
    ("a poll that looks at another register's value", "a6xx",
     ["mov $06, 0x1", *SPIN, "mov $06, 0x0"], ["mov $06, 0x2", *SPIN, "mov $06, 0x0"]),
    ("a word of $data is taken before a control read, or after it", "a6xx",
     ["mov $08, $data", "cread $09, [$00 + 0x012]", *SHOW], ["cread $09, [$00 + 0x012]", "mov $08, $data", *SHOW]),
    ("a word of $data is taken before a register write, or after it", "a6xx",
     ["mov $addr, 0x8810", "mov $08, $data", "mov $data, $05", "mov $08, 0x0"],
     ["mov $addr, 0x8810", "mov $data, $05", "mov $08, $data", "mov $08, 0x0"]),
    ("a word of $data is taken before waitin, or as the next header", "a6xx",
     ["mov $08, $data", "mov $08, 0x0", "waitin", "nop"], ["nop", "waitin", "mov $08, $data", "mov $08, 0x0"]),
    ("the next packet's header goes to another register", "a6xx", ["waitin", "mov $01, $data"], ["waitin", "mov $02, $data"]),
    ("the address that control register SELECTED shows", "a6xx",
     ["mov $addr, 0x8810", "cread $08, [$00 + 0x08b]", *SHOW], ["mov $addr, 0x8811", "cread $08, [$00 + 0x08b]", *SHOW]),
    ("load, or loadp", "a7xx", ["load $08, [$02 + 0x0]", *SHOW], ["loadp $08, [$02 + 0x0]", *SHOW]),
    ("store, or storep", "a7xx", ["store $08, [$02 + 0x0]"], ["storep $08, [$02 + 0x0]"]),
    ("$data is a peek behind the switch", "a6xx",
     ["mov $05, 0x7", "cwrite $05, [$00 + 0x055]", "mov $08, $data", "cwrite $00, [$00 + 0x055]", "mov $08, 0x0"],
     ["mov $05, 0x7", "cwrite $05, [$00 + 0x055]", "mov $08, $data", "sub $rem, $rem, 0x0", "cwrite $00, [$00 + 0x055]",
      "mov $08, 0x0"]),
    ("the ME reads another register", "me",
     ["mov $05, 0x10 << 16", "or $addr, $05, 0x0810", "mov $08, $regdata", *SHOW, "mov $addr, 0x0"],
     ["mov $05, 0x10 << 16", "or $addr, $05, 0x0811", "mov $08, $regdata", *SHOW, "mov $addr, 0x0"]),
    ("a (rep) to $addr, or to $usraddr", "a6xx",
     ["mov $addr, 0x8810", "mov $usraddr, 0x8810", "mov $addr, 0x8810", "(rep)mov $data, $data"],
     ["mov $addr, 0x8810", "mov $usraddr, 0x8810", "(rep)mov $data, $data", "mov $addr, 0x8810"]),
    ("a call that stays open, or a jump", "a6xx",
     ["call #over", "nop", "nop", "over:", "nop"], ["jump #over", "nop", "nop", "over:", "nop"]),
]
TARGET = ["mov $05, #tgt", "jumpd $05", "nop", "out $01", "next", "nop", "tgt:"]
# One change: the value of $08, which a branch in a delay slot, or the first look of a poll, shows.
SLOT = ["jump #l", "nop", "nop", "l:", "jump #a", "jump #b", "nop", "a:", "nop", "next", "b:", "out $08", "mov $08, 0x0"]
DIFFERENT += [
    ("code that only an address leads to, with the same number in both", "a6xx",
     [*TARGET, "out $08", "mov $05, 0x0"], [*TARGET, "mov $08, 0x9", "out $08", "mov $05, 0x0"]),
    ("a branch in a delay slot", "a6xx", ["mov $08, 0x1", *SLOT], ["mov $08, 0x2", *SLOT]),
    ("a return in the slot of waitin", "a6xx",
     ["call #f", "nop", "next", "f:", "waitin", "ret"], ["call #f", "nop", "out $03", "next", "f:", "waitin", "ret"]),
    ("the value with which a branch on the spot begins", "a6xx",
     ["mov $05, 0x0", "self:", "brne $05, 0x0, #self", "cread $05, [$00 + 0x120]", "out $05", "mov $05, 0x0"],
     ["mov $05, 0x1", "self:", "brne $05, 0x0, #self", "cread $05, [$00 + 0x120]", "out $05", "mov $05, 0x0"]),
    ("a read in a delay slot where a loop begins", "a6xx",
     ["jump #over", "again:", "cread $05, [$00 + 0x120]", "and $06, $05, 0x1", "brne $06, 0x0, #again", "nop", "over:", "out $05",
      "mov $05, 0x0", "mov $06, 0x0"],
     ["nop", "again:", "cread $05, [$00 + 0x120]", "and $06, $05, 0x1", "brne $06, 0x0, #again", "nop", "over:", "out $05",
      "mov $05, 0x0", "mov $06, 0x0"]),
    ("a loop whose end does not hang on what it reads", "a6xx",
     ["mov $06, $01", "again:", "cread $05, [$00 + 0x120]", "brne $06, 0x0, #again", "nop", "out $06", "mov $05, 0x0", "mov $06, 0x0"],
     ["mov $06, 0x0", "out $06", "mov $05, 0x0", "mov $06, 0x0"]),
    ("a loop that reads draws off the visibility stream", "a6xx",
     ["again:", "cread $05, [$00 + 0x028]", "breq $05, 0x1f, #again", "nop", "cread $08, [$00 + 0x028]", "out $08", "mov $05, 0x0",
      "mov $08, 0x0"],
     ["cread $08, [$00 + 0x028]", "out $08", "mov $05, 0x0", "mov $08, 0x0"]),
    ("the first poll's value, with a write between two", "a6xx",
     ["a:", "cread $05, [$00 + 0x120]", "and $06, $05, 0x1", "brne $06, 0x0, #a", "nop", "mov $07, $05", "mov $04, 0x20",
      "cwrite $04, [$00 + 0x120]", "b:", "cread $05, [$00 + 0x120]", "and $06, $05, 0x1", "brne $06, 0x0, #b", "nop", "out $07",
      "mov $04, 0x0", "mov $05, 0x0", "mov $06, 0x0", "mov $07, 0x0"],
     ["mov $04, 0x20", "cwrite $04, [$00 + 0x120]", "a:", "cread $05, [$00 + 0x120]", "and $06, $05, 0x1", "brne $06, 0x0, #a", "nop",
      "mov $07, $05", "out $07", "mov $04, 0x0", "mov $05, 0x0", "mov $06, 0x0", "mov $07, 0x0"]),
]
# What is equal, so that a refusal of everything would not pass.
EQUAL = [
    ("a poll that looks at the same value, made in another way", "a6xx",
     ["mov $06, 0x2", *SPIN, "mov $06, 0x0"], ["mov $06, 0x1", "add $06, $06, 0x1", *SPIN, "mov $06, 0x0"]),
    ("an index that is made in another way", "a6xx",
     ["and $05, $05, 0x7", "cwrite $06, [$05 + 0x120]", "mov $05, 0x0"],
     ["and $05, $05, 0x7", "add $05, $05, 0x120", "cwrite $06, [$05 + 0x000]", "mov $05, 0x0"]),
    ("the carry, which no code reads", "a6xx", ["add $08, $05, 0x1", "mov $08, 0x0"], ["or $08, $05, 0x1", "mov $08, 0x0"]),
]


def image(name, layout, code, others=(), words=()):
    handlers = {PACKET: code, **dict(others)}
    text = claimfw.skeleton([], handlers, layout, first=() if layout == "me" else ("nop",))
    return firmware(name, text.replace("jumptbl:", "".join("[%08x]\n" % word for word in words) + "jumptbl:"))


def found(layout, codes, packet=PACKET, **more):
    image("old", layout, codes[0], **more)
    results = prove(image("new", layout, codes[1], **more), "0x%x" % packet)
    return results["handlers"][0]


def different(layout, old, new):
    row = found(layout, (old, new))
    assert row["verdict"] not in PROVEN, row


def equal(layout, old, new):
    row = found(layout, (old, new))
    assert row["verdict"] in PROVEN[:2], row


def renumbered(readers, old_verdict):
    """Writers of 0x120 write 0x121 in the new revision; @readers say which registers are read there."""
    codes = [{PACKET: ["cwrite $05, [$00 + 0x%x]" % number] * 3, 0x62: reader}
             for number, reader in zip((0x120, 0x121), readers)]
    image("old", "a6xx", codes[0][PACKET], others=[(0x62, codes[0][0x62])])
    new = image("new", "a6xx", codes[1][PACKET], others=[(0x62, codes[1][0x62])])
    row = prove(new, "0x62")["handlers"][0]
    assert (row["verdict"] in PROVEN) == old_verdict, row


def read(number, index="$00"):
    return ["and $03, $02, 0x7", "cread $08, [%s + 0x%x]" % (index, number), "out $08", "mov $08, 0x0", "mov $03, 0x0"]


def all_move():
    renumbered((read(0x120), read(0x121)), True)


def a_reader_is_left():
    renumbered((read(0x120), read(0x120)), False)


def an_indexed_reader_is_left():
    renumbered((read(0x11f, "$03"), read(0x11f, "$03")), False)


LOADS = ["mov $03, 0x2", "cwrite $03, [$00 + 0x026]", "mov $04, 0x830", "cwrite $04, [$00 + 0x027]", "mov $03, $regdata",
         "mov $04, $regdata", "cwrite $04, [$00 + 0x058]", "load $08, [$03 + 0x020]", "out $08", "mov $08, 0x0", "mov $03, 0x0",
         "mov $04, 0x0"]


def data_words(base, proven):
    loads = [line.replace("0x830", base) for line in LOADS]
    image("old", "a6xx", loads, words=(0xe28, 0xe29))
    row = prove(image("new", "a6xx", loads, words=(0xe28, 0xe2a)), "0x61")["handlers"][0]
    assert (row["verdict"] in PROVEN) == proven, row
    assert proven or "data of the image" in row["why"], row


tap.run([(claim + ": not equal", lambda row=row: different(*row)) for claim, *row in DIFFERENT] +
        [(claim + ": equal", lambda row=row: equal(*row)) for claim, *row in EQUAL] +
        [("a private register that all code names anew is the same one", all_move),
         ("a private register of which a reader is left is not", a_reader_is_left),
         ("nor is one of which a reader by an index is left", an_indexed_reader_is_left),
         ("a handler that reads the image depends on its data", lambda: data_words("0x830", False)),
         ("so does one that reads a range of registers with the base in it", lambda: data_words("0x82f", False)),
         ("one that reads another register's address does not", lambda: data_words("0x832", True))])

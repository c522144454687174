#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hang dumps of the demo firmware, made by a model of the hardware (tests/lib/hang_scene.py), through the commands that
take one: no vendor file is needed. Usage: hang_demo.py CPSCOPE"""
import json
import os
import re
import tempfile

import claimfw
import hang_cases as cases
import hang_scene
import make
import mkcorpus
import tap
from hang_cases import Bench, counts
from scene import CPSCOPE
from tree import DEMO

FRAME, SETUP, GROUP, ONCE = 0x100000, 0x110000, 0x120000, 0x130000
# Four draws in one IB2, which only the words of IB1 tell apart; a group of draw state runs for each of them.
CALL = ["reg 0xa000 0x%x 0x6", "CP_SET_DRAW_STATE 0x00700009 @always", "CP_INDIRECT_BUFFER @setup #setup"]
STREAM = "\n".join(
    ["# cpscope-pm4 1", "gpu 630", "buffer 0x%x frame" % FRAME, "CP_SCRATCH_WRITE 0x0 0xaa", "reg GRAS_CL_CNTL 0xc0 0x0 0x1",
     "CP_SET_MARKER 0x1", "reg 0x8c00 0x77", "reg 0x8900 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8", "CP_INDIRECT_BUFFER @once #once",
     *(line % i if "%" in line else line for i in range(4) for line in CALL),
     "CP_WAIT_FOR_ME", "reg 0xa002 0x1", "CP_WAIT_REG_MEM 0x13 0x00200200 0x0 0x5 0xffffffff 0x0", "reg 0x9210 0x5",
     "buffer 0x%x setup" % SETUP, "reg 0x8820 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8", "reg 0xb180 0x9 0xa",
     "CP_DRAW_INDX_OFFSET 0x84 1 3", "CP_WAIT_FOR_IDLE", "CP_NOP",
     "buffer 0x%x once" % ONCE, "reg 0x9210 0x1 0x2", "CP_NOP",
     "buffer 0x%x always" % GROUP, "reg 0x8810 0x11 0x12 0x13 0x14", "CP_NOP 0x2", "reg 0x8819 0xa0", "submit frame", ""])
# Where packets lie: headers and the words behind them, counted by hand.
AFTER_DRAW = SETUP + 4 * (9 + 3 + 4)
IN_IB1 = FRAME + 4 * (3 + 4 + 2)       # reg 0x8c00
IN_GROUP = GROUP + 4 * (5 + 2)         # reg 0x8819
WAIT_ME = FRAME + 4 * (3 + 4 + 2 + 2 + 9 + 4 + 4 * (3 + 4 + 4))
WAIT_MEM = WAIT_ME + 4 * (1 + 2)
BUFFERS = {FRAME: 3 + 4 + 2 + 2 + 9 + 4 + 4 * 11 + 1 + 2 + 7 + 2, SETUP: 9 + 3 + 4 + 1 + 1, GROUP: 9, ONCE: 4}


class Demo(Bench):
    """The demo's firmware, and a revision of it in which one constant is another one."""

    def __init__(self, cpscope, source, folder, stream=STREAM):
        file = {name: os.path.join(folder, name) for name in ("own", "near", "s.rd", "s.pm4")}
        with open(source, encoding="utf-8") as text:
            text = text.read()
        make.firmware(cpscope, file["own"], text)
        make.firmware(cpscope, file["near"], mkcorpus.revision(text))
        with open(file["s.pm4"], "w", encoding="utf-8") as out:
            out.write(stream)
        self.cpscope, self.source = cpscope, source
        self.command("convert", file["s.pm4"], "-o", file["s.rd"], status=0)
        listing = self.command("disasm", file["own"] + ".fw", status=0).stdout
        self.place = {name: int(re.search(r"\n%s:\n(?:\w+:\n)*[^\n]*; ([0-9a-f]{4}) " % name, listing)[1], 16)
                      for name in ("CP_WAIT_FOR_ME", "CP_SCRATCH_WRITE", "CP_SET_MARKER")}
        super().__init__(cpscope, folder, {
            "own": file["own"] + ".fw", "near": file["near"] + ".fw", "capture": file["s.rd"], "draw_end": AFTER_DRAW,
            "in_ib1": IN_IB1, "in_group": IN_GROUP, "stream": (ONCE, 4), "alike": 4, "packets": 20,
            "waits": {"iova": WAIT_ME, "steps": 5, "pc": self.place["CP_WAIT_FOR_ME"] + 6, "word": 0xc0e00000,
                      "headers": (0x70138000, 0x708a8000)},
            "least": {"processor": 176, "fetched words": 80, "cluster registers": 22}})
        tags = hang_scene.cache(self.scene().image, self.scene().model.pcs)[1]
        self.cached = 8 * sum(tag != 0 for tag in tags)


def told(text):
    """A description without its line breaks."""
    return " ".join(text.split())


def polls(bench):
    """A processor that waits for a counter to become 0: the counter alone differs. The description names it, the packet, its
    address, and which packets asked for what is not done; 17 of the writes that wait are of the last draw and its group."""
    scene = bench.scene(0, 5, WAIT_ME)
    scene.model.gpr["$07"] = 1
    text = bench.replay(scene, status=1)
    assert counts(text)["in all"]["different"] == 1 and "\n$07 0x00000001 0x00000000 different\n" in text, text
    for options, said in (
            ((), ["hangs at CP_WAIT_FOR_ME (0x70138000), in IB1 at 0x%x. " % WAIT_ME, "SP_PS: 6 register writes pending, ",
                  "At 0x%04x it polls control register 0x038 WFI_PEND_CTR. " % bench.waits["pc"],
                  "PS: 18 register writes pending, first RB_PS_SAMPLEFREQ_CNTL. ",
                  "Ring 0: no fence has signalled; the last submitted is 1. "]),
            (("--fw", bench.own), ["first RB_PS_SAMPLEFREQ_CNTL of a type-4 write of register 0x8810 RB_PS_SAMPLEFREQ_CNTL "
                                   "(0x40881004) at 0x%x, 20 packets ago." % GROUP])):
        text = told(bench.command("info", *options, bench.dump, status=0).stdout)
        assert all(part in text for part in said), text
    row = json.loads(bench.command("info", "--json", bench.dump, status=0).stdout)["files"][0]["hang"]
    assert (row["waits_for"], row["polls"], row["location"]) == ("control", 0x38, WAIT_ME), row
    assert [(queue["part"], queue["writes"]) for queue in row["queues"] if queue["writes"]] == [("SP_PS", 6), ("PS", 18)]


def waits_for_memory(bench):
    """A processor in a poll of memory, which has read all words of its packet. With waits that nothing satisfies the firmware
    itself comes to no other place."""
    for steps in range(20, 26):
        scene = bench.scene(0, steps, WAIT_MEM, read=6)
        text = bench.replay(scene)
        assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
        cases.nothing_differs(bench, text, processor=171, fetched=80)
    told_of = told(bench.command("info", bench.dump, status=0).stdout)
    assert "hangs at CP_WAIT_REG_MEM (0x70bc8006), in IB1 at 0x%x. At 0x%04x the " % (WAIT_MEM, scene.pc) in told_of, told_of
    text = bench.replay(scene, status=1, options=("--waits", "stop"))
    assert "matched by packet headers and queues: the replay stops there on its own; 1 match\n" in text, text
    assert "\n$0c 0x%08x 0x00000000 different\n" % scene.model.gpr["$0c"] in text, text  # memory that is not there reads 0


def judged(bench):
    """regress and check judge a replay as run does: a dump that the replay does not match is no pass, whatever its end is,
    also from the cache; so is one without the contents of its buffers."""
    manifest, golden, cache = (os.path.join(bench.folder, name) for name in ("m", "g.cpt", "kept"))
    with open(manifest, "w", encoding="utf-8") as file:
        file.write("# cpscope-manifest 1\nfirmware own %s\ncapture %s expect=limit\n" % (bench.own, bench.dump))
    for change, emptied, status in ((0, False, 0), (1, False, 1), (0, True, 1)):
        scene = bench.scene(0, 5, WAIT_ME)
        scene.model.gpr["$07"] += change
        scene.write(bench.dump)
        if emptied:
            with open(bench.dump, encoding="ascii") as file:
                text = re.sub(r"(?m)^ *data:.*\n", "", file.read())
            with open(bench.dump, "w", encoding="ascii") as file:
                file.write(text)
        for _ in range(2):
            said = bench.command("regress", manifest, "--cache", cache, status=status).stdout
            assert ("%d pass, %d differ, 0 stopped" % (1 - status, status)) in said, said
            assert ("the replay does not match the dump: " in said) == bool(status), said
        bench.command("run", "--fw", bench.own, bench.dump, "-o", golden, status=status)
        for more in ((), ("--cache", cache), ("--cache", cache), ("--update",)):
            said = bench.command("check", golden, "--search", bench.folder, *more, status=status).stdout
            assert ("does not match the dump" in said) == bool(status) and ("pass" in said) != bool(status), said
    assert "the replay does not match" in bench.command("check", golden, "--search", bench.folder, "--json", status=1).stdout


def description(bench):
    """What info says of a dump, in both forms, is what the model put into it."""
    scene = bench.scene()
    scene.write(bench.dump)
    text = bench.command("info", bench.dump, status=0).stdout
    size = 32768 + 4 * sum(BUFFERS.values())
    for part in ("capture, devcoredump\n", "  module: msm\n", "  comm: scene\n", "  %d buffers, %d bytes of contents\n" % (len(BUFFERS), size),
                 "  ring 0 0x0001000000001000 32768 bytes, rptr 13, wptr 13, fence 0 retired, 1 submitted\n",
                 "    ring         0x0001000000001000, 13 of 8192 dwords read",
                 "  code of the dump's instruction cache, %d lines of 8 words\n" % (bench.cached // 8),
                 "hang: sqe at 0x%04x (CP_WAIT_FOR_IDLE), level 2 (IB2)\n" % scene.pc,
                 "IB1          0x%016x, %d of %d dwords read" % (FRAME, 24 + 3 * 11, BUFFERS[FRAME]),
                 "IB2          0x%016x, %d of %d dwords read" % (SETUP, 17, BUFFERS[SETUP]),
                 "$01 70268000", "=> %04x a8000030  cwrite $00, [$00 + @WFI_PEND_INCR]\n" % scene.pc):
        assert part in text, (part, text)
    row = json.loads(bench.command("info", "--json", bench.dump, status=0).stdout)["files"][0]
    assert (row["format"], row["gpu"], row["buffers"]) == ("devcoredump", 630, len(BUFFERS)), row
    assert row["rings"] == [{"id": 0, "iova": hang_scene.RING, "size": 32768, "rptr": 13, "wptr": 13, "retired_fence": 0, "last_fence": 1}]
    hang = row["hang"]
    assert (hang["pc"], hang["level"], hang["header"]) == (scene.pc, 2, 0x70268000), hang
    assert hang["registers"]["$13"] == scene.model.gpr["$13"] and hang["registers"]["$rem"] == 0, hang
    assert {line["pc"]: line["word"] for line in hang["code"]}.items() <= dict(enumerate(scene.image)).items(), hang["code"]
    other = bench.command("info", "--fw", bench.own, bench.capture, bench.dump, status=0).stdout
    near = bench.command("info", "--fw", bench.near, bench.dump, status=0).stdout
    assert "%d lines of 8 words; missing lines are from %s\n" % (bench.cached // 8, bench.near) in near, near
    without = bench.scene()
    without.streams()
    del without.regs[hang_scene.ROQ["ring"][0]]
    without.streams = lambda: None
    without.write(bench.dump)
    assert " dwords read >" not in bench.command("info", bench.dump, status=0).stdout.split("IB1  ")[0]
    assert other.count("capture, ") == 2, other


def all_of_it(bench):
    """--all shows what is equal, too: as many rows as the summary counts."""
    text = bench.replay(bench.scene(), options=("--all",))
    rows = re.findall(r"^(\S+) 0x[0-9a-f]{8} 0x[0-9a-f]{8} (equal|different|in flight|bank|no value|older)", text, re.M)
    assert sum(verdict == "equal" for _, verdict in rows) == counts(text)["in all"]["equal"] > 300, text
    assert {"$%02x" % i for i in range(1, 0x1b)} <= {name for name, verdict in rows if verdict == "equal"}, text


def why(bench):
    """A value of the dump's replay comes from a word of the draw-state group, which the draw in IB2 ran; the group's other words
    are not named."""
    scene = bench.scene()
    scene.write(bench.dump)
    text = bench.command("why", "--fw", bench.own, bench.dump, "0x8811", status=0).stdout
    for part in ("0x8811 = 0x00000012", "word 0 of draw-state group 0 at 0x%x" % GROUP, "run by CP_DRAW_INDX_OFFSET at 0x%x" % (SETUP + 48),
                 "0x00000012 word of the stream at 0x%x" % (GROUP + 8)):
        assert part in text, text


def others_take_a_dump(bench):
    """A trace of a dump is reproduced by check; diff runs both revisions over it, and which code changed is told to have run."""
    scene = bench.scene()
    scene.write(bench.dump)
    trace = os.path.join(bench.folder, "hang.trace")
    bench.command("run", "--fw", bench.own, bench.dump, "-o", trace, status=0)
    assert ": pass" in bench.command("check", "--search", bench.folder, trace, status=0).stdout
    text = bench.command("diff", "--fw", bench.own, "--fw", bench.near, bench.dump, status=0).stdout
    at = bench.place["CP_SCRATCH_WRITE"] + 1
    assert "no differences\n" in text and "CP_SCRATCH_WRITE+0x1: changed, executed, no behavioural difference" in text, text
    assert "   -%04x 28420007  and $02, $02, 0x0007\n   +%04x 28420005  and $02, $02, 0x0005\n" % (at, at) in text, text
    row = json.loads(bench.command("diff", "--json", "--fw", bench.own, "--fw", bench.near, bench.dump, status=0).stdout)
    assert row["differences"] == 0 and "CP_SCRATCH_WRITE+0x1" in row["text"] and len(row["comparisons"]) == 1, row


def listing(bench):
    """What the dump holds is listed alone; with a near revision it is a whole image, which assembles to the dump's own."""
    scene = bench.scene()
    scene.write(bench.dump)
    alone = bench.command("disasm", "--from", bench.dump, status=0).stdout
    words = {int(at, 16): int(word, 16) for at, word in re.findall(r"; ([0-9a-f]{4}) ([0-9a-f]{8})", alone)}
    assert len(words) >= bench.cached and all(scene.image[at] == word for at, word in words.items()), alone
    head = re.match(r"; The firmware of a hang dump of GPU 630: (\d+) lines of its instruction cache, (\d+) words\.\n", alone)
    assert head and int(head[2]) >= len(words) and int(head[1]) == len({at // 8 for at in words}), alone[:300]
    assert re.search(r"^; 0[0-9a-f]{3}\.\.0[0-9a-f]{3}: the dump does not hold it$", alone, re.M), alone[:3000]
    source, image = os.path.join(bench.folder, "own.afuc"), os.path.join(bench.folder, "again.fw")
    bench.command("disasm", "--from", bench.dump, bench.near, "-o", source, status=0)
    text = open(source, encoding="utf-8").read()
    assert "(donor)" in text and "and $02, $02, 0x0007" in text and "and $02, $02, 0x0005" not in text, text[:3000]
    bench.command("asm", source, "-o", image, status=0)
    assert "packet table of the firmware equals the dump's\n" in bench.replay(scene, image)
    refused = bench.command("disasm", "--from", bench.capture, status=3)
    assert "not a hang dump, expected a devcoredump or KGSL snapshot" in refused.stderr and not refused.stdout, refused


def not_recovered(bench):
    """Without what it takes, nothing is guessed: the user's firmware runs, and it is said why."""
    whole = bench.scene().microcode()
    states = ({0x1001: 1 << 20}, "a state that no dump has"), ({0x1002: 2 << 20 | 0x3ffff}, "beyond any image"), \
        ({0x1000: 2 << 20 | 0x30, 0x1003: 2 << 20 | 0x30}, "the same line as another way")
    for change, said in states:
        words = [change.get(i, word) for i, word in enumerate(whole)]
        scene = bench.scene()
        scene.write(bench.dump, more={"CP_UCODE_DBG_DATA": words})
        text = bench.command("run", "--fw", bench.near, bench.dump, "-o", os.devnull).stdout
        line = [line for line in text.splitlines() if "cannot recover" in line]
        assert len(line) == 1 and said in line[0], (said, text)
    for without, words, said in ((("CP_UCODE_DBG_DATA",), whole, "no CP_UCODE_DBG"), ((), whole[:0x1800], "expected at least")):
        bench.scene().write(bench.dump, without, more={"CP_UCODE_DBG_DATA": words})
        text = bench.command("run", "--fw", bench.near, bench.dump, "-o", os.devnull).stdout
        assert "cannot recover" in text and said in text, (said, text)


def code_of_the_file(bench):
    """Where the cache cannot be read, but the packet table is that of the firmware that was given, the code around the place is
    that firmware's; another revision's is not shown."""
    scene = bench.scene()
    words = scene.microcode()
    words[0x1001] = 1 << 20
    scene.write(bench.dump, more={"CP_UCODE_DBG_DATA": words})
    own = bench.command("info", "--fw", bench.own, bench.dump, status=0).stdout
    assert "a state that no dump has" in own, own
    for pc in range(scene.pc - 3, scene.pc + 3):
        assert re.search(r"^  (=>|  ) %04x %08x " % (pc, scene.image[pc]), own, re.M), (pc, own)
    assert re.search(r"^  => %04x " % scene.pc, own, re.M) and "\n  code of %s\n" % bench.own in own, own
    with open(bench.source, encoding="utf-8") as file:
        make.firmware(bench.cpscope, os.path.join(bench.folder, "moved"), file.read().replace("CP_ME_INIT:\n", "CP_ME_INIT:\n        nop\n", 1))
    moved = bench.command("info", "--fw", os.path.join(bench.folder, "moved.fw"), bench.dump, status=0).stdout
    assert "a state that no dump has" in moved and not re.search(r"^  => ", moved, re.M), moved
    row = json.loads(bench.command("run", "--json", "--fw", bench.own, bench.dump, "-o", os.devnull).stdout)
    assert any("a state that no dump has" in str(value) for value in row.values()), row


def another_generation(bench):
    """Firmware that the GPU cannot run is no reason not to describe the dump."""
    make.firmware(bench.cpscope, os.path.join(bench.folder, "a7xx"), claimfw.skeleton([], {}, "a7xx"))
    scene = bench.scene()
    scene.write(bench.dump)
    text = bench.command("info", "--fw", os.path.join(bench.folder, "a7xx.fw"), bench.dump, status=0).stdout
    assert "\n  not replayed: the capture is from a GPU of generation a6xx (id 630), the firmware " in text, text
    assert "hang: sqe at 0x%04x (CP_WAIT_FOR_IDLE), level 2 (IB2)\n" % scene.pc in text, text


def beyond_the_most(bench):
    """16 rings and 64 blocks are kept; others are counted."""
    for rings, blocks, left in ((16, 64, 0), (17, 64, 1), (16, 66, 2), (18, 65, 3)):
        ring = make.encode85(make.type7(0x10, 0))
        text = "---\nkernel: 6.1\nrevision: 630 (6.3.0.2)\nringbuffer:\n" + "".join(
            "  - id: %d\n    iova: 0x%x\n    rptr: 0\n    wptr: 2\n    size: 32768\n    data: !!ascii85 |\n     %s\n" % (i, i + 1 << 16, ring)
            for i in range(rings)) + "indexed-registers:\n" + "".join(
                "  - regs-name: CP_BLOCK_%d\n    dwords: 2\n    data: !!ascii85 |\n     %s\n" % (i, make.encode85([1, i])) for i in range(blocks))
        with open(bench.dump, "w", encoding="ascii") as out:
            out.write(text)
        said = bench.command("info", bench.dump, status=0).stdout
        assert ("warning: %d rings and blocks beyond the first 16 and 64 are left out\n" % left in said) == bool(left), (left, said)
        assert len(re.findall(r"^  ring \d+ ", said, re.M)) == 16 and len(re.findall(r"^  block CP_BLOCK_\d+,", said, re.M)) == 64, said


def holes(bench):
    """A line that ran is no longer in the cache, and the donor has an instruction more or less just there: the place and the
    registers of the hardware say where. Without the words nothing would be equal: the mode would not be set."""
    with open(bench.source, encoding="utf-8") as file:
        text = file.read()
    head = "CP_SET_MARKER:\n        mov $02, $data\n"
    assert head in text
    for name, changed in (("more", text.replace(head, head + "        mov $03, 0x7\n        mov $04, 0x7\n", 1)),
                          ("less", text.replace("        mov $03, 0x4\n        mov $03, 0x2\nmarker", "        mov $03, 0x2\nmarker", 1))):
        assert changed != text
        donor = os.path.join(bench.folder, name)
        make.firmware(bench.cpscope, donor, changed)
        scene = bench.scene()
        at = bench.place["CP_SET_MARKER"]
        for pc in [pc for pc in scene.model.pcs if at - 8 <= pc < at + 16]:
            del scene.model.pcs[pc]
        text_of = bench.replay(scene, donor + ".fw", status=None)
        assert "firmware: recovered from the dump" in text_of, (name, text_of)
        assert "matched by packet headers, queues and program counter; 1 match\n" in text_of, (name, text_of)
        groups = counts(text_of)
        assert groups["fetched words"]["different"] == groups["queued writes"]["different"] == 0, (name, text_of)


def holes_by_registers(bench):
    """Whatever the words of a hole are, the place is reached: how many registers are as the hardware has them says which are
    right."""
    with open(bench.source, encoding="utf-8") as file:
        text = file.read()
    head = "CP_SET_MARKER:\n        mov $02, $data\n"
    words = ["        mov $%02x, 0x%x\n" % (0x0e + i, i + 1) for i in range(3)]
    folder = os.path.join(bench.folder, "registers")
    os.mkdir(folder)
    for name, more in (("three", ""), ("donor", "        mov $11, 0x7\n" * 2)):
        with open(os.path.join(folder, name + ".afuc"), "w", encoding="utf-8") as out:
            out.write(text.replace(head, head + words[0] + more + words[1] + words[2], 1))
    three = Demo(bench.cpscope, os.path.join(folder, "three.afuc"), folder)
    with open(os.path.join(folder, "donor.afuc"), encoding="utf-8") as file:
        make.firmware(bench.cpscope, os.path.join(folder, "donor"), file.read())
    scene = three.scene()
    at = three.place["CP_SET_MARKER"]
    for pc in [pc for pc in scene.model.pcs if at - 8 <= pc < at + 16]:
        del scene.model.pcs[pc]
    text = three.replay(scene, os.path.join(folder, "donor.fw"), status=None, options=("--all",))
    assert "firmware: recovered from the dump" in text and counts(text)["in all"]["different"] == 0, text
    for number, value in ((0x0e, 1), (0x0f, 2), (0x10, 3), (0x11, 0)):
        assert "\n$%02x 0x%08x 0x%08x equal\n" % (number, value, value) in text, (number, text)


def oldest_packets(bench):
    """A ring that has come round, without the time stamp of what retired: it is replayed from the oldest packet that leads to the
    write pointer, and what came before is missing."""
    scene = bench.scene(history=True)
    at = next(i for i, word in enumerate(scene.ring) if word == 0x70460004)
    scene.ring[at:at + 5] = make.type7(0x10) * 5
    text = bench.replay(scene, bench.near, status=None)
    assert re.search(r"from dword \d+ \(the oldest packet that the ring holds\) to 108, fence 7 retired, 8 submitted", text), text
    assert "matched by packet headers, queues and program counter; 1 match\n" in text, text
    assert counts(text)["in all"]["different"] == 0, text


def oldest_packets_end_at_the_write_pointer(bench):
    """What looks like a packet that would end behind the write pointer is none. All other words of the ring are packets of a
    word each, so that the oldest one lies right behind the write pointer."""
    scene = bench.scene(history=True)
    at = next(i for i, word in enumerate(scene.ring) if word == 0x70460004)
    scene.ring[at:at + 5] = make.type7(0x10) * 5
    scene.ring += make.type7(0x10, make.type4(0x8c00, 0)[0])
    assert scene.ring[-1] & 0x7f == 1
    text = bench.replay(scene, status=None)
    assert "from dword 111 (the oldest packet that the ring holds) to 110, fence 7 retired, 8 submitted" in text, text


def a_place_that_is_not_sure(bench):
    """The first of four places that look alike is no pass, although nothing differs there; with the queues it is one."""
    text = bench.replay(bench.scene(0), status=4, without=("CP_ROQ",))
    assert "program counter; 4 matches\n" in text and counts(text)["in all"]["different"] == 0, text
    assert "1 match\n" in bench.replay(bench.scene(0), status=0)


def no_answer(bench):
    """What a register says that was read through another aperture is no value: neither equal nor different."""
    scene = bench.scene()
    waiting = scene.queues["PS"][0][1]
    scene.regs[waiting] = 0xdeadbeef
    clusters = scene.clusters
    scene.clusters = lambda: re.sub(r"      - . offset: 0x%06x.*\n" % (4 * waiting), "", clusters())
    verdict = rows(bench, scene)["0x%04x" % waiting]
    assert verdict[0] == 0xdeadbeef and verdict[2] == "no value: it was read through another aperture", verdict


def inputs(bench):
    """Registers that a driver sets before the processor starts are there when the replay begins: these, and none beside them."""
    ranges = ((0x800, 0x805), (0x840, 0x87f), (0x8c0, 0x8c4))
    scene = bench.scene()
    scene.streams()
    around = {reg for first, last in ranges for reg in range(first - 1, last + 2)}
    scene.regs.update({reg: 0x10000 + reg for reg in around - set(scene.regs)})
    scene.streams = lambda: None
    scene.write(bench.dump)
    asked = sorted({reg for first, last in ranges for reg in (first - 1, first, last, last + 1)})
    said = bench.command("step", "--fw", bench.own, bench.dump, status=0,
                         text="".join("print reg:0x%x\n" % reg for reg in asked)).stdout
    found = [int(value, 16) for value in re.findall(r"^(0x[0-9a-f]{8}) = ", said, re.M)]
    assert found == [0x10000 + reg if any(first <= reg <= last for first, last in ranges) else 0 for reg in asked], (asked, said)


def too_little_in_common(bench):
    """For each entry of a queue that the replay does not write, all its writes are looked at. That ends early, with words, where
    it takes 100,000,000 looks: 1,800 entries and 60,960 writes. For 8 entries it does not."""
    folder = os.path.join(bench.folder, "many")
    os.mkdir(folder)
    writes = "buffer 0x200000 writes\n" + ("reg 0x1000" + " 0x1" * 127 + "\n") * 480
    stream = STREAM.replace("\nCP_INDIRECT_BUFFER @once", "\nCP_INDIRECT_BUFFER @writes #writes\nCP_INDIRECT_BUFFER @once")
    many = Demo(bench.cpscope, bench.source, folder, stream.replace("\nsubmit frame", "\n%ssubmit frame" % writes))
    scene = many.scene()
    for count in (8, 1800):
        scene.queues["PS"] = [(0, 0x8811, 0xabc00000 + i, 0) for i in range(count)]
        text = many.replay(scene, status=1 if count == 8 else 4)
        said = "CP_MEMPOOL: the queue of PS has too little in common with the replay"
        assert (said in text) == (count > 8), (count, text[-1500:])
        assert ("PS[7].0x8811 0xabc00007 0x00000000 different: the replay does not write it there" in text) == (count == 8), text


def draw_state(bench):
    """CP_DRAW_STATE holds 32 groups of 8 words, of which the first three are compared: base, header. The one that was set is
    there, with its modes (bits 22:20 of the packet's word) in bits 18:16, as dumps of hardware have them; the others are zero."""
    block = [GROUP, 0, 0x00070009] + [0] * (32 * 8 - 3)
    for change, different in (({}, []), ({2: 0x00070008}, ["group0.header"]), ({8: 4, 25: 9}, ["group1.base.lo", "group3.base.hi"])):
        scene = bench.scene()
        scene.write(bench.dump, more={"CP_DRAW_STATE": [change.get(i, word) for i, word in enumerate(block)]})
        text = bench.command("run", "--all", "--fw", bench.own, bench.dump, "-o", os.devnull).stdout
        told_rows = dict(re.findall(r"^(group\d+\.\S+) 0x\w+ 0x\w+ (\w+)", text, re.M))
        assert len(told_rows) == 96 and [name for name, verdict in told_rows.items() if verdict != "equal"] == different, text


def rows(bench, scene, *options):
    """The rows of a replay by name: hardware, emulated, verdict and why."""
    text = bench.replay(scene, status=None, options=("--all", *options))
    return {name: (int(a, 16), int(b, 16), verdict) for name, a, b, verdict in
            re.findall(r"^(\S+) (0x\w{8}) (0x\w{8}) (.*)$", text, re.M)}


def what_was_before(bench):
    """What hardware has from before the replay is no difference: registers that nothing in the replay wrote. From the boot on it is
    one, because there was nothing before."""
    for history in (False, True):
        scene = bench.scene(history=history)
        status, microcode = scene.status, scene.microcode
        assert not {"$0a", "$15"} & set(scene.model.gpr) and not scene.model.control[0x105]
        scene.status = lambda words=status(): [0x77 if i in (0x0a, 0x15) else word for i, word in enumerate(words)]
        block = microcode()
        block[-0x80 + 5] = 0x1234
        scene.microcode = lambda block=block: block
        scene.regs.update({0x883 + i: 7 * i for i in range(8)})
        have = rows(bench, scene)
        lost = "older than the replay: not written since the replay began, its history is missing"
        for name, hardware in (("ctrl.0x105", 0x1234), ("reg.0x0884", 7)):
            assert have[name] == (hardware, 0, lost if history else "different"), (name, have[name])
        assert have["reg.0x0883"][:2] == (0, 0) and have["ctrl.0x100"][0] == have["ctrl.0x100"][1] > 0, have["ctrl.0x100"]
        assert have["ctrl.0x100"][2] == "equal" and have["ctrl.0x106"][2] == "equal", have["ctrl.0x106"]
        for name in ("$0a", "$15"):
            assert have[name] == (0x77, 0, lost if history else "no value: no instruction has written it since power-up"), have[name]


def ends_of_streams(bench):
    """The position stays on the last word of a fetch until its end is taken, as one dump of hardware has it; both positions are the
    same place. Of a level at its end the fetch before is shown, which is no difference."""
    last = ONCE + 12
    for back in (0, 1):
        scene = bench.scene(0, 1, last, queued=0)
        scene.streams()
        register, begin, size = hang_scene.ROQ["ib2"]
        scene.regs[register] -= back
        scene.streams = lambda: None
        have = rows(bench, scene)
        assert have["ib2.consumed"] == (4, 4, "equal") and have["ib2.remaining"] == (0, 0, "equal"), (back, have)
        assert not [row for row in have.values() if row[2] == "different"], (back, have)
    scene = bench.scene(0, 1, last, queued=0)
    scene.streams()
    scene.regs[0x92b] += 0x100  # of a level that is read, another base is one
    scene.streams = lambda: None
    assert rows(bench, scene)["ib2.base.lo"] == (ONCE + 0x100, ONCE, "different")
    scene = bench.scene(0, 5, WAIT_ME)
    scene.streams()
    scene.regs.update({0x92b: SETUP, 0x92c: 0, 0x92d: 0, 0x944: 19})
    scene.streams = lambda: None
    have = rows(bench, scene)
    for name, hardware in (("consumed", 19), ("dwords", 19)):
        assert have["ib2." + name][0] == hardware and "this level is at its end" in have["ib2." + name][2], (name, have["ib2." + name])
    assert have["ib2.base.lo"][0] == SETUP and have["ib2.remaining"][0] == 0, have["ib2.remaining"]
    del scene.regs[hang_scene.ROQ["ib2"][0]]  # nobody knows how much of it waits: how far it is read, neither
    held = rows(bench, scene)["ib2.consumed"]
    assert held[0] == 0 and "the dump does not hold it" in held[2], held
    assert have["ib1.consumed"][:2] == ((WAIT_ME + 4 - FRAME) // 4,) * 2 and have["ib1.dwords"] == (BUFFERS[FRAME],) * 2 + ("equal",), have


def as_json(bench):
    """The summary as JSON has the rows and counts of the text."""
    scene = bench.scene()
    pipe, offset, value, context = scene.queues["PS"][3]
    scene.queues["PS"][3] = (pipe, offset, value ^ 0x10, context)
    text = bench.replay(scene, status=1, options=("--all",))
    done = bench.command("run", "--json", "--fw", bench.own, bench.dump, "-o", os.devnull, status=1)
    row = json.loads(done.stdout)["comparison"]
    assert row["same_firmware"] is True and row["candidates"] == 1 and row["missing_streams"] == 0, row
    for name, verdicts in counts(text).items():
        if name != "in all":
            assert {verdict: count for verdict, count in row["groups"][name].items() if count} == \
                {verdict: count for verdict, count in verdicts.items() if count}, (name, row["groups"][name], verdicts)
    lines = re.findall(r"^(\S+) (0x\w{8}) (0x\w{8}) (equal|different|in flight|bank|no value)", text, re.M)
    assert len(lines) == len(row["rows"]) > 300
    assert {(line[0], int(line[1], 16), int(line[2], 16), line[3]) for line in lines} == \
        {(r["register"], r["hardware"], r["emulated"], r["verdict"]) for r in row["rows"]}
    wrong = next(r for r in row["rows"] if r["verdict"] == "different")
    assert wrong["hardware"] == value ^ 0x10 and "the replay does not write it there" in wrong["why"], wrong


def as_snapshot(bench):
    """What info says and the trace of a run are those of the dump but for the format's and the file's names."""
    bench.scene().write(bench.dump)
    snapshot, trace = os.path.join(bench.folder, "scene.snapshot"), os.path.join(bench.folder, "any")
    make.write_snapshot(bench.cpscope, bench.dump, snapshot)

    def said(dump, *words):
        done = bench.command(*words, dump, *(["-o", trace] if words[0] == "run" else []), status=0)
        text = done.stdout + (open(trace, encoding="utf-8").read() if words[0] == "run" else "")
        text = re.sub(r"# capture .*", "# capture", text.replace("\\/", "/").replace(dump, "PATH"))
        return re.sub("devcoredump|kgsl snapshot", "FORMAT", text)
    for words in (("info",), ("info", "--json"), ("info", "--fw", bench.own), ("run", "--all", "--fw", bench.near)):
        assert said(bench.dump, *words) == said(snapshot, *words), words


def positions_go_round(bench):
    """The queue of IB1 goes round in its region of 0x100 words, wherever it begins to be filled."""
    for first in (0xc0, 0xf8, 0xff, 0):
        text = bench.replay(bench.scene(first=first))
        assert "matched by packet headers, queues and program counter; 1 match\n" in text, (first, text)
        cases.nothing_differs(bench, text)


def cut_anywhere(bench):
    bench.scene().write(bench.dump)
    data, cut = open(bench.dump, "rb").read(), os.path.join(bench.folder, "cut")
    for size in (100, 400, 700, 5000, len(data) // 2, len(data) - 3000, len(data) - 10):
        with open(cut, "wb") as out:
            out.write(data[:size])
        for command in (("info",), ("run", "-o", os.devnull, "--fw", bench.near)):
            done = bench.command(*command, cut)
            assert done.returncode in (0, 1, 3, 4) and (done.returncode < 3 or done.stderr.count("\n") >= 1), (size, command, done)


TESTS = [
    ("a hang is found among four draws that look alike, and more than 300 values are equal", cases.place_is_found),
    ("a hang in IB1 is found", cases.in_ib1),
    ("a hang in a draw-state group is found", cases.in_a_group),
    ("without its boot, a ring is replayed from the last fence", cases.without_boot),
    ("with a near revision the dump's own firmware is recovered and comes to the same place", cases.near_revision),
    ("the debugger and the adapter open where the hardware stood, and go back", cases.debugged),
    ("without the queues the first of four places is taken, and said so", cases.without_queues),
    ("a packet that the replay never sees is no place", cases.nowhere),
    ("each entry of the queues is checked, in order, and none is missing", cases.queues_are_checked),
    ("each context of the cluster registers is checked", cases.banks_are_checked),
    ("damaged queues are said to be so", cases.damaged_pool),
    ("hangs that wait are reduced to a few packets, in IB1 and in a draw-state group", cases.reduced),
    ("numbers that cannot be are refused or left out", cases.hostile_values),
    ("what was not compared is no pass", cases.checked_or_not),
    ("other processors are shown as far as their blocks are known", cases.other_processors),
    ("what a processor polls, and who has not done what, is told", polls),
    ("a processor that polls memory is found in its loop", waits_for_memory),
    ("a dump that its replay does not match is no pass, in regress and check as in run", judged),
    ("info says what the model put in, in both forms", description),
    ("every row of a replay can be shown", all_of_it),
    ("a value of a dump comes from a word of it", why),
    ("check reproduces the trace of a dump, and diff says what a revision does with it", others_take_a_dump),
    ("the dump's own code is listed, with a near revision as an image that is the dump's", listing),
    ("what cannot be recovered is said, and nothing guessed", not_recovered),
    ("code of a firmware with the dump's packet table stands for a cache that cannot be read", code_of_the_file),
    ("a dump is described whatever firmware is given", another_generation),
    ("rings and blocks beyond the most are counted", beyond_the_most),
    ("where the donor has more or fewer words in a hole is found by trying", holes),
    ("where all ways lead to the place, registers say what was in a hole", holes_by_registers),
    ("without a time stamp, a ring is replayed from its oldest packet", oldest_packets),
    ("a packet that would end behind the write pointer is none", oldest_packets_end_at_the_write_pointer),
    ("a place that is not sure is no pass", a_place_that_is_not_sure),
    ("a register that gave no answer has no value", no_answer),
    ("what a driver sets beforehand is set in the replay", inputs),
    ("a queue with too little in common with the replay is said to be so", too_little_in_common),
    ("each group of draw state is compared", draw_state),
    ("what hardware has from before the replay is no difference", what_was_before),
    ("both positions at the end of a stream are the same place", ends_of_streams),
    ("the summary as JSON has the rows and counts of the text", as_json),
    ("as a snapshot, the dump has the same description, summary and trace", as_snapshot),
    ("positions of a queue go round in their region", positions_go_round),
    ("a dump that is cut gives an error and no crash", cut_anywhere),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        bench = Demo(CPSCOPE, DEMO, folder)
        tap.run([(name, lambda test=test: test(bench)) for name, test in TESTS])


main()

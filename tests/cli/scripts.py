#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scripts of HWSQ and SEQ through every command. Usage: scripts.py CPSCOPE"""
import json
import os
import re
import struct

import tap
from scene import cpscope, keeps_every_form, path
from tree import GOLDEN, SCRIPTS

RECLOCK, PAUSE = os.path.join(SCRIPTS, "reclock.run"), os.path.join(SCRIPTS, "pause.run")
HWSQ, SEQ = ["--engine", "hwsq"], ["--engine", "seq"]
POKE = bytes.fromhex("e2 78 56 34 12 e0 10 02 10 00 42 cd ab 40 14 02 7f")
LOOP = struct.pack("<10I", 0x20000, 3, 0x20006, 0xffffffff, 0x20017, 0, 0x20019, 2, 0x10038, 0)


def run_gives_the_golden():
    for engine, script, golden in ((HWSQ, RECLOCK, "reclock"), (SEQ, PAUSE, "pause")):
        out = cpscope("run", *engine, script, "-e", "all").stdout
        assert out == open(os.path.join(GOLDEN, golden + ".trace")).read(), golden


def stdin_is_a_script_too():
    out = cpscope("run", *HWSQ, "-", text=open(RECLOCK).read()).stdout
    assert "# capture - sha256:unknown" in out and "END done 1 22" in out, out


def check_takes_goldens():
    search = os.path.dirname(RECLOCK)
    for golden in ("reclock", "pause"):
        file = os.path.join(GOLDEN, golden + ".trace")
        assert ": pass" in cpscope("check", "--search", search, file).stdout
        text = open(file).read()
        where = text.index("poke")
        changed = path("changed.trace", text[:where - 9] + "deadbeef poke" + text[where + 4:])
        assert "first difference" in cpscope("check", "--search", search, changed, status=1).stdout


def every_form_holds_it():
    golden = os.path.join(GOLDEN, "reclock.trace")
    keeps_every_form(golden)
    first = open(path("again.jsonl")).readlines()[12]
    assert "tick" in json.loads(first), first
    for form in ("vcd", "json"):
        cpscope("convert", golden, "-o", path("view." + form))
    json.load(open(path("view.json")))


def assembly_goes_both_ways():
    for engine, chip, code in ((HWSQ, ["--chip", "g80"], POKE), (HWSQ, ["--chip", "nv17"], POKE),
                               (SEQ, ["--seq-abi", "old"], LOOP), (SEQ, ["--seq-abi", "new"], LOOP)):
        listing = cpscope("disasm", *engine, *chip, path("code", code)).stdout
        cpscope("asm", *engine, path("code.s", listing), "-o", path("code2"))
        assert open(path("code2"), "rb").read() == code, listing
        # Source runs as the bytes do.
        tail = [cpscope("run", *engine, *chip, path(f)).stdout.split("# events", 1)[1] for f in ("code", "code.s")]
        assert tail[0] == tail[1]
    assert "\nl0002:\n" in listing and "bne #l0002" in listing, listing


def code_is_told_from_text():
    """Bytes that are no UTF-8 are code, also without a control character among them; a source may have comments of any
    encoding; what is UTF-8 and no assembly stays an error with its place."""
    for code in ("6e de ad be", "b0 d0", "a1 c1 80", "3b de ad", "e2 78 56 34 42"):
        code = bytes.fromhex(code)
        if b";" in code:  # looks like a comment and is one, unless somebody says that it is code
            assert cpscope("disasm", *HWSQ, "--chip", "g80", path("bits", code)).stdout == "; g80 hwsq\n"
        listing = cpscope("disasm", *HWSQ, "--chip", "g80", path("bits", code), *(["--offset", "0"] if b";" in code else [])).stdout
        cpscope("asm", *HWSQ, path("bits.s", listing), "-o", path("bits2"))
        assert open(path("bits2"), "rb").read() == code, listing
    out = cpscope("disasm", *HWSQ, "--chip", "g80", path("bits", bytes.fromhex("6edeadbe"))).stdout
    assert [line.split(";")[0].split() for line in out.split("\n")[1:5]] == [["[6e]"], ["set0", "30"], ["set1", "13"], ["set1", "30"]], out
    for encoding in ("latin-1", "utf-8"):
        source = "  exit ; M\u00fc\u00dfte reichen\n".encode(encoding)
        assert "        exit " in cpscope("disasm", *HWSQ, "--chip", "g80", path("text.s", source)).stdout
    said = cpscope("disasm", *HWSQ, "--chip", "g80", path("text.s", "  \u00e9xit\n"), status=3).stderr
    assert "text.s:1:3: expected an instruction" in said, said


def a_part_of_a_file_is_listed():
    """--offset and --length: at both ends of a file, and one byte too far."""
    rom = path("rom", bytes(0x40) + POKE + b"\xff" * 7)
    whole = cpscope("disasm", *HWSQ, "--chip", "g80", path("code", POKE)).stdout
    hwsq = ["disasm", *HWSQ, "--chip", "g80", rom]
    assert cpscope(*hwsq, "--offset", "0x40", "--length", str(len(POKE))).stdout == whole
    assert cpscope(*hwsq, "--length", "2").stdout.count("nop") == 2
    assert "[ff]" in cpscope(*hwsq, "--offset", str(0x40 + len(POKE) + 6)).stdout
    size = 0x40 + len(POKE) + 7
    for args, message in ((["--offset", str(size)], "rom: offset 0x58: file ends, expected 1 bytes from 0x58 on"),
                          (["--offset", str(size + 1)], "expected 1 bytes from 0x59 on"),
                          (["--offset", "0x40", "--length", "25"], "expected 25 bytes from 0x40 on"),
                          (["--offset", "18446744073709551615", "--length", "2"], "expected a number"),
                          (["--length", "0"], "--length 0: expected at least 1 byte")):
        done = cpscope(*hwsq, *args, status=2 if "--length 0" in message or "a number" in message else 3)
        assert message in done.stderr and not done.stdout, done.stderr
    assert len(cpscope(*hwsq, "--offset", "0x40", "--length", "24").stdout.split("\n")) > 10
    out = cpscope("info", *HWSQ, "--chip", "g80", rom, "--offset", "0x40", "--length", str(len(POKE))).stdout
    assert out.startswith(rom + "+0x40: script for hwsq, g80\n  17 bytes"), out
    row = json.loads(cpscope("info", "-j", *HWSQ, "--chip", "g80", rom, "--offset", "0x40", "--length", "17").stdout)["files"][0]
    assert row["bytes"] == 17 and row["operations"]["exit"] == 1, row
    said = cpscope("disasm", *SEQ, "--seq-abi", "old", rom, "--offset", "2", "--length", "6", status=3).stderr
    assert "rom+0x2: offset 0x4: 2 bytes at the end, expected whole words" in said, said
    said = cpscope("disasm", *HWSQ, rom, "--offset", "2", status=3).stderr
    assert "the chip is unknown" in said, said


def waits_show_their_time():
    """(L << S) * 0x20 clocks of PTIMER of 32 ns each (hwsq.rst): in microseconds behind the instruction."""
    source = path("wait.s", "; g80 hwsq\n  wait 3 shl 14\n  wait 1 shl 0\n  wait 0 shl 2\n  wait 3 shl 30\n  nop\n  exit\n")
    cpscope("asm", *HWSQ, source, "-o", path("wait.bin"))
    out = cpscope("disasm", *HWSQ, "--chip", "g80", path("wait.bin")).stdout
    shown = [line.split(";")[1].split()[1:] for line in out.split("\n")[1:-1]]
    assert shown == [["50331.648", "us"], ["1.024", "us"], [], ["3298534883.328", "us"], [], []], out


def errors_show_the_place():
    cases = [
        (SEQ + ["--seq-abi", "new"], "  set val 1\n  shl vla 3\n", ":2:7: expected 'val'"),
        (SEQ + ["--seq-abi", "new"], "  b #nowhere\n", ":1:5: expected a label that is defined"),
        (SEQ + ["--seq-abi", "new"], "  nop\n  .align 4\n", ":2:3: expected a directive (.noend)"),
        (HWSQ + ["--chip", "nv17"], "  wait 1 shl 2\n  addr 0x100\n", ":2:3: expected an instruction"),
        (HWSQ + ["--chip", "g92"], "  wait 1 shl 3\n", ":1:14: expected an even number"),
        (HWSQ + ["--chip", "g92"], "  wait 4 shl 2\n", "length is 4, expected a value from 0 to 3"),
        (HWSQ + ["--chip", "g92"], "  wait 1 shl 32\n", "shift is 32, expected a value from 0 to 30"),
        (HWSQ + ["--chip", "g92"], "  set1 FB_PAUSED\n", ":1:8: expected a flag's number or name"),
        (HWSQ + ["--chip", "g92"], "[100]\n", ":1:1: expected a byte"),
    ]
    for options, source, message in cases:
        said = cpscope("asm", *options, path("bad.s", source), "-o", path("none"), status=3).stderr
        assert message in said and "^" in said.split("\n")[2], said
        assert not os.path.exists(path("none"))


def values_of_which_not_all_counts_are_refused():
    """OUT's index and an exit code are a byte, a branch's target is 16 bits: what is beyond would change its meaning."""
    new = SEQ + ["--seq-abi", "new"]
    byte = "expected a byte (0x0 to 0xff, or 0xffffff80 to 0xffffffff)"
    out8 = ("stv out[%s]", "sti out[%s], 0x1", "ldv out[%s]", "ldr out[%s]", "ts out[%s]")
    limits = [(text, 255, 256, "expected a value from 0 to 255") for text in out8]
    limits += [(text.replace("out[%s]", "out[out[%s]]"), 255, 300, "expected a value from 0 to 255") for text in out8]
    limits += [(text, value, other, byte) for text in ("shl val %s", "shl reg %s", "exit %s")
               for value, other in ((0, 0x100), (0xff, 0xffffff7f), (0xffffff80, 0x80000000), (0xffffffff, 0xfffffeff))]
    limits += [(text, 0xffff, 0x10000, "expected a value from 0 to 65535") for text in ("b %s", "beq %s", "bne %s", "blt %s", "bgt %s")]
    limits += [(text, 0xffffffff, 0x100000000, "expected a value from 0 to 4294967295") for text in
               ("addo out[%s], 0x1", "cmpo out[%s], 0x1", "oro out[%s]", "ando out[out[%s]]", "addv out[%s]", "set val %s", "wait %s")]
    for text, good, bad, message in limits:
        cpscope("asm", *new, path("good.s", "  " + text % good + "\n"), "-o", path("good"))
        word = struct.unpack_from("<I", open(path("good"), "rb").read(), 4)[0]
        assert word == good, (text, word)
        said = cpscope("asm", *new, path("bad.s", "  " + text % bad + "\n"), "-o", path("none"), status=3).stderr
        assert message in said and not os.path.exists(path("none")), said


def words_with_bits_that_do_not_count_are_shown_as_words():
    """And they mean what their low bits mean, which their listing's bytes keep."""
    cases = [((0x00020026, 0x12c), "[00020026] [0000012c]"), ((0x0002001c, 0x10003), "[0002001c] [00010003]"),
             ((0x00020008, 0x104), "[00020008] [00000104]"), ((0x00020008, 0xfffffffc), "shl val 0xfffffffc"),
             ((0x00020016, 0xffffffff), "exit 0xffffffff")]
    for words, text in cases:
        code = struct.pack("<3I", *words, 0)
        listing = cpscope("disasm", *SEQ, "--seq-abi", "new", path("code", code)).stdout
        assert text in listing, listing
        cpscope("asm", *SEQ, path("code.s", listing), "-o", path("again"))
        assert open(path("again"), "rb").read() == code


def bad_input_is_one_line():
    head = "# cpscope-script 1\n"
    cases = [
        (HWSQ + ["--chip", "nv17"], bytes(65), "offset 0x40: 65 bytes"),
        (HWSQ + ["--chip", "g80"], b"", "empty"),
        (SEQ + ["--seq-abi", "old"], LOOP[:-2], "offset 0x24: 2 bytes at the end"),
        (SEQ, LOOP, "expected --chip, --seq-abi or a run file"),
        (HWSQ, head, "expected a line \"script FILE\" or \"code\""),
        (HWSQ, head + "chip g93\n", ":2:6: expected a chip"),
        (HWSQ, head + "engine seq\n", ":2:8: expected hwsq, the engine that is asked for"),
        (HWSQ, head + "chip g80\nread 0x1301\n", ":3:6: expected a register's name"),
        (HWSQ, head + "chip g80\nread NO_REG\n", ":3:6: expected a register's name"),
        (HWSQ, head + "chip g80\nat 7 event FB_PAUSED 2\ncode\nexit\n", ":3:23: expected an event"),
        (HWSQ, head + "chip g80\ncode\n  exit\n  exot\n", ":5:3: expected an instruction"),
        (HWSQ, head + "chip g80\nfrob 1\n", ":3:1: expected engine, chip"),
        (HWSQ, head + "chip g80\nscript absent.bin\n", "bad.run:3:8: %s: cannot open: No such file" % path("absent.bin")),
        (HWSQ, head + "chip g80\npolicy cost=1  unset=maybe\ncode\n  exit\n", ":3:16: policy unset=maybe: expected keep clear"),
        (HWSQ, head + "chip g80\npolicy colour=red\ncode\n  exit\n", ":3:8: policy colour=red: expected abort-in-wait"),
        (HWSQ, head + "chip g80\npolicy cost=1\n\n policy fb-delay=banana\ncode\n  exit\n",
         ":5:9: policy fb-delay=banana: expected a number of 32 bits"),
        (HWSQ, head + "chip g80\npolicy banana\ncode\n  exit\n", ":3:8: expected NAME=WORD"),
        (HWSQ, head + "chip g80\nupload 2\ncode\n  exit\n", "expected a multiple of 4"),
        (HWSQ, head + "chip g80\nupload 256\ncode\n  exit\n", "code RAM"),
    ]
    for options, content, message in cases:
        done = cpscope("run", *options, path("bad.run", content), "-o", path("none"), status=3)
        assert message in done.stderr and done.stderr.startswith("cpscope: "), done.stderr
        assert path("bad.run") in done.stderr or "absent" in done.stderr, done.stderr
        assert not os.path.exists(path("none")), message


def a_bad_word_is_said_once_with_what_is_known():
    """One place is named, also where the lines behind it would make no sense. Names: rnndb's and envytools' hwsq.rst, as
    isa/names/nvidia.tsv has them."""
    head, code = "# cpscope-script 1\n", "code\n  exit\n"
    events = "an event's number or name (FB_PAUSED, HEAD0_VBLANK, HEAD0_HBLANK, HEAD1_VBLANK or HEAD1_HBLANK)"
    cases = [
        (HWSQ, "# cpscope-script 2\nchip g80\n" + code, ":1:18: expected version 1 of run files"),
        (HWSQ, "# cpscope-script \nchip g80\n" + code, ":1:17: expected version 1 of run files"),
        (HWSQ, "# cpscope-script 1 1\nchip g80\n" + code, ":1:20: expected version 1 of run files"),
        (HWSQ, "# cpscope-script 1\0\nchip g80\n" + code, ":1:19: expected text, found a NUL byte"),
        (HWSQ, head + "chip g93\n" + code, ":2:6: expected a chip (nv17, nv41, g80 or g92)"),
        (HWSQ, head + "chip g93\nscript absent.bin\n", ":2:6: expected a chip (nv17, nv41, g80 or g92)"),
        (SEQ, head + "abi blue\n" + code, ":2:5: expected an ABI (old or new)"),
        (SEQ, head + "chip g80\n" + code, ":2:1: expected abi (old or new), which seq has instead"),
        (HWSQ, head + "  abi new\n" + code, ":2:3: expected chip (nv17, nv41, g80 or g92), which hwsq has instead"),
        (HWSQ, head + code, ":2:5: expected a chip first"),
        (HWSQ, head + "chip g80\n" + code + "exit\ncode\n", ":6:1: expected an instruction"),
        (HWSQ, head + "chip g80\nevent FROB 1\n" + code, ":3:7: expected " + events),
        (HWSQ, head + "chip nv17\nat 5 event FROB 1\n" + code, ":3:12: expected " + events),
        (HWSQ, head + "chip g80\ncode\n  ewait FROB 1\n  exit\n", ":4:9: expected " + events),
        (HWSQ, head + "chip g80\ncode\n  set1 FROB\n  exit\n", ":4:8: expected a flag's number or name (FB_PAUSE)"),
        (SEQ, head + "abi new\nevent FROB 1\n" + code, ":3:7: expected " + events + ", or PGRAPH_IDLE"),
        (SEQ, head + "abi new\ncode\n  waitst FROB\n", ":4:10: expected an event's number or name (HEAD0_VBLANK, HEAD1_VBLANK, "
         "HEAD0_HBLANK, HEAD1_HBLANK, FB_PAUSED or PGRAPH_IDLE)"),
        (SEQ, head + "abi old\ncode\n  waitst FROB\n", ":4:10: expected " + events.replace("HEAD0_HBLANK, HEAD1_VBLANK or", "HEAD1_VBLANK, HEAD0_HBLANK or")),
    ]
    for options, content, message in cases:
        said = cpscope("run", *options, path("bad.run", content), "-o", os.devnull, status=3).stderr
        assert "bad.run" + message in said and said.count("bad.run:") == 1, said
    for ending in ("\n", "\r\n"):
        assert "EXIT end" in cpscope("run", *HWSQ, path("good.run", ending.join(
            ["# cpscope-script 1", "chip g80", "code", "  exit", ""]))).stdout


def a_line_of_the_host_may_be_long():
    """Two thousand words in one line: all of them are written; assembly stays at 500 bytes."""
    text = "# cpscope-script 1\nchip g80\nwrite 0x1400 %s\ncode\n  exit\n"
    values = [(i * 0x9e3779b1) & 0xffffffff for i in range(2000)]
    out = cpscope("run", *HWSQ, path("long.run", text % " ".join("0x%x" % v for v in values)), "-e", "reg").stdout
    for i, value in ((0, values[0]), (57, values[57]), (1999, values[1999])):
        assert "host REG 0x%04x 0x%08x" % (0x1400 + 4 * i, value) in out, (i, value, out[-2000:])
    said = cpscope("run", *HWSQ, path("long.run", text % "1" + "; %s\n" % ("c" * 600) + "  data %s1\n" % ("0" * 600)),
                   status=3).stderr
    assert ":7:501: statement is 608 bytes long, expected at most 500" in said, said


def wrong_usage_is_status_2():
    file = path("code", POKE)
    for args, message in ((["run", "--engine", "vp9", file], "expected afuc, hwsq, seq, pfifo or vp1"),
                          (["run", *HWSQ, "--chip", "gf100", file], "expected nv17"),
                          (["run", *HWSQ, "--chip", "nv20", file],
                           "--chip nv20: expected nv17, nv41, g80 or g92; NV17 up to NV20 and NV25 up to GF100 have HWSQ"),
                          (["diff", "--fw", "hwsq:nv41", "--fw", "hwsq:nv20", file],
                           "hwsq:nv20: expected nv17, nv41, g80 or g92; NV17 up to NV20 and NV25 up to GF100 have HWSQ"),
                          *((command + [PAUSE], PAUSE + ": this is a run file, expected --engine hwsq, seq, pfifo or vp1")
                            for command in (["run"], ["step"], ["cover"])),
                          (["run", "--fw", "pfifo:nv4", file], "pfifo:nv4: expected nv1, nv3 or nv3t; NV1 up to NV4 have this PFIFO"),
                          (["run", *SEQ, "--seq-abi", "GT215", file], "expected old or new"),
                          (["run", *SEQ, "--chip", "g92", file], "only for hwsq, pfifo and vp1"),
                          (["run", *HWSQ, "--chip", "g92"], "one script"),
                          (["step", *HWSQ, "--chip", "g92", "--symbols", "x", file], "--symbols has no meaning"),
                          (["asm", *HWSQ, "-g", file, "-o", "x"], "--debug has no meaning"),
                          (["run", "--chip", "g92", "--demo"], "only for hwsq, pfifo and vp1"),
                          (["run", "--fw", file, "--gen", "g92", file], "--gen g92")):
        assert message in cpscope(*args, status=2).stderr, args


def chips_have_many_names():
    file = path("code", b"\x01\x7f")
    for words, chip in (("nv25 NV31 0x40", "nv17"), ("NV44 nv4a g70", "nv41"), ("NV50 nv50 0x84", "g80"),
                        ("GT200 nva0 0xa5 MCP77", "g92")):
        for word in words.split():
            assert "# chip %s\n" % chip in cpscope("run", *HWSQ, "--chip", word, file).stdout, word
            script = path("named.run", "# cpscope-script 1\nchip %s\ncode\n  exit\n" % word)
            assert "# chip %s\n" % chip in cpscope("run", *HWSQ, script).stdout, word
    assert "no differences" in cpscope("diff", "--fw", "hwsq:NV50", "--fw", "hwsq:gt200", file).stdout
    script = path("none.run", "# cpscope-script 1\nchip nv2a\ncode\n  exit\n")
    said = cpscope("run", *HWSQ, script, status=3).stderr
    assert ":2:6: expected a chip (nv17, nv41, g80 or g92; NV17 up to NV20 and NV25 up to GF100 have HWSQ)" in said, said


def expected_values_are_compared():
    text = open(RECLOCK).read().replace("STATUS 0x041", "STATUS 0x042")
    done = cpscope("run", *HWSQ, path("miss.run", text), "-o", os.devnull, status=1)
    assert "miss.run:18: 0x001308 reads 0x00000041, expected 0x00000042" in done.stderr, done.stderr
    row = json.loads(cpscope("run", *HWSQ, path("miss.run"), "-j", status=1).stdout)
    assert row["misses"] == 1 and row["end"] == "done" and row["registers"]["a.ip"] == 0x41, row


def stops_have_a_reason():
    hang = path("hang", b"\x41\x7f")
    done = cpscope("run", *HWSQ, "--chip", "nv41", hang, status=4)
    assert "END deadlock" in done.stdout and "bad-ip" in done.stdout, done.stdout
    assert "ended: deadlock hwsq before 0x0001: nothing lets it go on, 0x41 at 0x0000 is an illegal opcode" in done.stderr
    other = path("slot-b.run", "# cpscope-script 1\nchip g80\nwrite 0x130c 1\ncode\n  [60]\n")
    done = cpscope("run", *HWSQ, other, "-o", os.devnull, status=4)
    assert "deadlock hwsqb before 0x0001: nothing lets it go on, 0x60 at 0x0000 is an illegal" in done.stderr, done.stderr
    assert "EXIT end" in cpscope("run", *HWSQ, "--chip", "g92", hang).stdout
    fell = cpscope("run", *HWSQ, "--chip", "nv17", path("fell", bytes(64)), status=4)
    assert "UNMODELLED unknown" in fell.stdout and "fell-off" in fell.stdout, fell.stdout
    out = cpscope("run", *SEQ, "--seq-abi", "new", path("out", struct.pack("<2I", 0x20022, 0)), status=4)
    assert "ended: fault seq at 0x0000: out-missing" in out.stderr, out.stderr
    loop = path("loop", struct.pack("<2I", 0x2001c, 0))
    assert "END limit" in cpscope("run", *SEQ, "--seq-abi", "new", "-l", "1k", loop, status=4).stdout


def the_host_goes_on_behind_an_error_exit():
    """What the script did wrong is in SEQ_STATUS; a run whose host does not look there has failed."""
    text = ("# cpscope-script 1\nengine seq\nabi new\nout 1 2\nupload\nrun\n%swrite 0x2000 0x55\nread 0x2000 0x55\n"
            "write PDAEMON_DATA_INDEX[0] 0x020003ec\nread PDAEMON_DATA[0] 7\nread 0x10a1c4 0x2000\n"
            "code\n  set val 7\n  set reg 0x2000\n  stv out[2]\n  write\n")
    looks = path("looks.run", text % "read SEQ_ENDED 3\nread SEQ_STATUS 4\n")
    done = cpscope("run", *SEQ, looks)
    assert "EXIT out-range 0x00000004" in done.stdout and "END done" in done.stdout, done.stdout
    assert "host REG 0x2000 0x00000055" in done.stdout and "seq REG" not in done.stdout, done.stdout
    wrong = path("wrong.run", text % "read SEQ_STATUS 5\n")
    assert "wrong.run:7: 0xfffff008 reads 0x00000004" in cpscope("run", *SEQ, wrong, "-o", os.devnull, status=1).stderr
    blind = path("blind.run", text % "")
    done = cpscope("run", *SEQ, blind, status=4)
    assert "host REG 0x2000 0x00000055" in done.stdout and "END fault" in done.stdout, done.stdout
    assert "ended: fault seq at 0x0004: out-range" in done.stderr, done.stderr


def pgraph_is_idle_when_the_run_file_says_so():
    text = ("# cpscope-script 1\nabi new\n%scode\n  waitst PGRAPH_IDLE, 100\n  waitst !PGRAPH_IDLE, 100\n"
            "  [00030014] [00000200] [00000064]\n")
    for lines, ticks, result in (("", 100, 0b010), ("event PGRAPH_IDLE 1\n", 100, 0b100),
                                 ("at 40 event PGRAPH_IDLE 1\nat 70 event PGRAPH_IDLE 0\n", 70, 0b110)):
        row = json.loads(cpscope("run", *SEQ, "-j", path("idle.run", text % lines)).stdout)
        assert (row["ticks"], row["registers"]["ret"], row["registers"]["eq"]) == (ticks, result, 1), (lines, row)
    bad = path("bad.run", "# cpscope-script 1\nchip g80\nevent PGRAPH_IDLE 1\ncode\n  exit\n")
    assert ":3:7: expected an event's number or name" in cpscope("run", *HWSQ, bad, status=3).stderr
    bad = path("bad.run", "# cpscope-script 1\nabi new\nevent 32 1\ncode\n  exit\n")
    assert ":3:7: expected an event below 32" in cpscope("run", *SEQ, bad, status=3).stderr


def policies_are_in_the_header():
    script = path("wait.run", "# cpscope-script 1\nchip g80\nwrite 0x130c 3\nwait 5\nwrite 0x130c 2\n"
                  "code\n  wait 3 shl 30\n  exit\n")
    assert "EXIT abort" in cpscope("run", *HWSQ, script).stdout
    done = cpscope("run", *HWSQ, "--policy", "abort-in-wait=illegal", script, status=4)
    assert "# policy abort-in-wait=illegal " in done.stdout and "END deadlock" in done.stdout
    golden = path("wait.trace", done.stdout)
    assert ": pass" in cpscope("check", golden).stdout
    golden = path("wait.trace", done.stdout.replace("=illegal", "=clean"))
    cpscope("check", golden, status=1)


def the_host_stalls_while_memory_is_paused():
    script = path("stall.run", "# cpscope-script 1\nchip g80\nwrite 0x1098 0x18\nwrite 0x130c 3\nwait 32\n"
                  "read 0x1308\nread 0x1314 0x00010000\ncode\n  set1 16\n  wait 2 shl 2\n  set0 16\n  exit\n")
    out = cpscope("run", *HWSQ, script).stdout
    assert "host-stalled" in out and out.index("TICK 256") < out.index("host REGR 0x1308"), out
    out = cpscope("run", *HWSQ, "--chip", "nv41", script, status=1).stdout
    assert "host-stalled" not in out and "TICK 32\nhost REGR 0x1308" in out, out
    paused = open(script).read().replace("set0 16", "nop")
    said = cpscope("run", *HWSQ, path("never.run", paused), "-o", os.devnull, status=4).stderr
    assert "ended: deadlock" in said and ", the host at line 6 waits for the end of the memory's pause" in said, said


def changes_come_in_the_order_of_their_ticks():
    """Whatever the order of the lines; of one tick the last line stands."""
    def ends(*changes):
        run = path("order.run", "# cpscope-script 1\nengine hwsq\nchip g80\n" + "".join("at %d event %s %d\n" % c for c in changes) +
                   "upload\nwrite 0x1098 0x18\nwrite 0x1304 0\nwrite 0x130c 3\nrun\ncode\n ewait HEAD0_VBLANK 1\n ewait HEAD0_HBLANK 1\n"
                   " ewait HEAD0_VBLANK 0\n exit\n")
        return re.search(r"(\d+) ticks", cpscope("run", *HWSQ, run, "-o", path("order.trace")).stderr).group(1)

    one, two, three = (300, "HEAD0_VBLANK", 1), (500, "HEAD0_HBLANK", 1), (800, "HEAD0_VBLANK", 0)
    for order in ((one, two, three), (three, two, one), (two, three, one), (three, one, two)):
        assert ends(*order) == "800", order
    assert ends((500, "HEAD0_HBLANK", 1), (300, "HEAD0_VBLANK", 0), (300, "HEAD0_VBLANK", 1), (700, "HEAD0_VBLANK", 1), (700, "HEAD0_VBLANK", 0)) == "700"


def the_rest_of_the_chip_may_end_a_pause():
    """Flag 16 is unset from outside of the script, which has ended, as PDAEMON does it; other changes in front do not."""
    for engine, chip, start, code in (
            (HWSQ, "chip g80", "write 0x1098 0x18\nwrite 0x130c 3\n", "  set1 16\n  exit\n"),
            (HWSQ, "chip nv41", "write bar1 0 5\nwrite 0x1098 0x18\nwrite 0x130c 3\n", "  set1 16\n  exit\n"),
            (SEQ, "abi new", "upload\n", "  fbpause\n  end\n")):
        read = "read bar1 0 5\n" if "nv41" in chip else "read 0x1610\n"
        text = "# cpscope-script 1\n%s\nat 300 reg 0x2000 1\nat 500 reg 0x1314 %s\n" + start + "wait 100\n" + read + "read PTIMER_TIME_LOW%s\ncode\n" + code
        tick = "" if engine is SEQ else " 0x%x" % (500 * 32)
        out = cpscope("run", *engine, path("lifted.run", text % (chip, "0", tick))).stdout
        assert "host-stalled" in out and "TICK 500\n" in out and "END done" in out, out
        cpscope("run", *engine, path("lifted.run", text % (chip, "0x10001", "")), "-o", os.devnull, status=4)


def memory_waits_for_the_end_of_a_pause_on_nv41():
    """What leads to memory is answered behind the pause; a register in front of it and another one are not held up."""
    text = ("# cpscope-script 1\nchip nv41\nwrite bar1 0x40 7\nwrite 0x700040 8\nwrite PBUS_PEEPHOLE_RW_ADDR 0x40\n"
            "write 0x1098 0x18\nwrite 0x130c 3\nwait 32\nread 0x1314 0x00010001\n%s\nread 0x1314 %s\n"
            "code\n  set1 16\n  wait 2 shl 2\n  set0 16\n  exit\n")
    for line, waits in (("read bar1 0x40 7", True), ("read bar2 0x40 8", True), ("read 0x700040 8", True),
                        ("read PBUS_PEEPHOLE_RW_DATA 7", True), ("write bar2 0x80 1", True), ("read 0x10a0", False)):
        script = path("way.run", text % (line, "0x00010000" if waits else "0x00010001"))
        out = cpscope("run", *HWSQ, script).stdout
        assert ("host-stalled" in out) == waits, (line, out)
    never = path("never.run", open(path("way.run")).read().replace("set0 16", "nop").replace("read 0x10a0", "read bar1 0x40"))
    assert "ended: deadlock" in cpscope("run", *HWSQ, never, "-o", os.devnull, status=4).stderr
    bad = path("bad.run", "# cpscope-script 1\nabi new\nwrite bar1 0 1\ncode\n  end\n")
    assert ":3:12: expected a register: this engine has no such memory" in cpscope("run", *SEQ, bad, status=3).stderr


def reads_that_are_not_met_fail_everywhere():
    """The same run file in `run`, `regress` and `check`, with the right value and with a wrong one."""
    text = "# cpscope-script 1\nchip g80\nwrite 0x1098 0x18\nwrite 0x130c 3\nread 0x1308 %s\ncode\n  nop\n  exit\n"
    folder = path("reads")
    os.mkdir(folder)
    manifest = path("reads/manifest", "# cpscope-manifest 1\nfirmware g80 hwsq:g80\nbaseline g80\ncapture one.run\n")
    for value, good in (("0x100", True), ("0x101", False)):
        path("reads/one.run", text % value)
        cpscope("run", *HWSQ, path("reads/one.run"), "-o", path("reads/one.trace"), status=0 if good else 1)
        said = cpscope("check", "--search", folder, path("reads/one.trace"), status=0 if good else 1).stdout
        assert (": pass" in said) == good and ("one.run:5: 0x001308 reads 0x00000100" in said) != good, said
        cpscope("check", "--update", "--search", folder, path("reads/one.trace"), status=0 if good else 1)
        cpscope("regress", manifest, "-o", path("reads/out"), status=0 if good else 1)
        pair = json.load(open(path("reads/out/results.json")))["pairs"][0]
        assert (pair["status"] == "pass") == good, pair
        assert good or "one.run:5: 0x001308 reads 0x00000100, expected 0x00000101" in pair["reason"], pair


def chips_are_compared():
    bad = path("bad.bin", b"\x41\xb0\x7f")
    out = cpscope("diff", "--fw", "hwsq:g80", "--fw", "hwsq:g92", bad, status=1).stdout
    assert "first difference" in out, out
    same = path("same.bin", b"\x01\x7f")
    assert "no differences" in cpscope("diff", "--fw", "hwsq:nv41", "--fw", "hwsq:g80", same).stdout
    cpscope("diff", "--fw", "hwsq:g80", "--fw", "seq:old", same, status=3)


def regress_runs_a_matrix():
    folder = path("matrix")
    os.mkdir(folder)
    for name, code in (("a.bin", POKE), ("b.bin", b"\x41\x7f"), ("c.bin", b"\xb0\xd0\x7f")):
        path("matrix/" + name, code)
    manifest = path("matrix/manifest", "# cpscope-manifest 1\nfirmware g80 hwsq:g80\nfirmware nv41 hwsq:nv41\n"
                    "firmware g92 hwsq:g92\nbaseline g80\nevents reg,exit,end\ncapture a.bin c.bin\n"
                    "capture b.bin expect=deadlock\n")
    cpscope("regress", manifest, "-o", path("matrix/out"), "--jobs", "2", status=1)
    pairs = json.load(open(path("matrix/out/results.json")))["pairs"]
    status = {(p["firmware"], p["capture"]): p["status"] for p in pairs}
    bad = path("matrix/bad", "# cpscope-manifest 1\nfirmware g80 hwsq:g80\nfirmware old seq:g80\ncapture a.bin\n")
    said = cpscope("regress", bad, "-o", path("matrix/none"), status=3).stderr
    assert said.endswith("matrix/bad:3: seq:g80: expected old or new\n"), said
    path("matrix/seq:g80", b"a file")
    assert "seq:g80" not in cpscope("regress", bad, "-o", path("matrix/none"), status=4).stderr.split("old")[0]
    assert len(pairs) == 9 and status.pop(("g92", "b.bin")) == "differs", status
    assert set(status.values()) == {"pass"}, status


def info_tells_what_is_in_it():
    out = cpscope("info", *HWSQ, RECLOCK).stdout
    assert "66 bytes for a code RAM of 256, 22 instructions" in out and "sum up to 320" in out, out
    assert "expected --engine hwsq, seq, pfifo or vp1" in cpscope("info", PAUSE, status=3).stderr
    row = json.loads(cpscope("info", "-j", *SEQ, PAUSE).stdout)["files"][0]
    assert row["engine"] == "seq" and row["operations"]["waitst"] == 2 and row["plausible"], row
    for words, good in ((struct.unpack("<10I", LOOP), True), ((0x20000, 15, 0x20006, 1, 0x20002, 256, 0), True),
                        ((0x20001, 0x100000, 0x2000c, 0x210, 0), True), ((0x20008, 4, 0x20017, 5, 0), True),
                        ((0x50021, 0x1304, 0, 0x130c, 3, 0), True), ((0x10100,), False), ((0x1003d,), False),
                        ((0x20000,), False), ((0x10038, 0x38), False), ((0,), False)):
        file = path("words", struct.pack("<%dI" % len(words), *words))
        row = json.loads(cpscope("info", "-j", *SEQ, "--seq-abi", "old", file).stdout)["files"][0]
        assert row["plausible"] == good, words


def step_goes_both_ways():
    lines = "s 3\nb 0x29\nc\nrs 2\nc\nrc\ng 13\np a.data\np PBUS_HWSQ_FLAGS_1\nc\nd\nc\n"
    out = cpscope("step", *HWSQ, RECLOCK, text=lines).stdout
    stops = [line for line in out.split("\n") if line.startswith("step ")]
    assert stops[2] == stops[4] == stops[7] and "=>* 0029 420000      datalo 0x0000" in out, out
    assert stops[3].startswith("step 19,") and stops[5].startswith("step 0,"), out
    assert "the end: the host is done" in out and stops[-1].endswith("after the host: hwsq is idle"), out
    assert "no command is called" in cpscope("step", *SEQ, PAUSE, text="frob\n", status=3).stderr


def the_debugger_lists_what_the_host_does():
    """In the words of the run file: memory is not taken for registers, and what a line does not say is not shown."""
    steps = {HWSQ[1]: ("chip g80\n", ["upload 0x10", "write bar1 0x20 0x1", "write 0x1098 0x18", "read bar2 0x40", "read 0x1098 0x18 0xff",
                                      "wait 77", "run"], "code\n  exit\n"),
             "pfifo": ("chip nv1\n", ["object 3 0x80000001 0x8d1234", "write8 0x800011 0xa5", "write16 0x800012 0x1234",
                                      "write ramin 0x10 0x7", "read memory 0x20 0x0"], "")}
    for engine, (head, lines, tail) in steps.items():
        file = path("host.run", "# cpscope-script 1\n" + head + "\n".join(lines) + "\n" + tail)
        out = cpscope("step", "--engine", engine, file, text="info submissions\n").stdout
        want = ["line %d  %s" % (i + 3, line) for i, line in enumerate(lines)] + ["the host is done"]
        said = [line[2:] for line in out.split("> info submissions\n")[-1].split("\n")[-len(want) - 1:-1]]
        assert said == want, (said, want)


def values_are_watched_forwards_and_backwards():
    """A conditional watchpoint and reverse-continue, on a script of HWSQ and one of SEQ."""
    lines = "w a.data if a.data > 5\nc\np a.data\nc\np a.data\nrc\np a.data\nwho reg:0x611200\n"
    out = cpscope("step", *HWSQ, RECLOCK, text=lines).stdout
    values = [line for line in out.split("\n") if " = " in line]
    assert out.count("watchpoint 1, a.data\nstep 11, event 7, line 17: hwsq 000b") == 2, out
    assert values == ["0x00003300 = 13056", "0x00000000 = 0", "0x00003300 = 13056"], out
    assert out.count("\nthe end: the host is done") == 1, out
    lines = "w val if val & 0x80000000\nc\np val\nrc\nc\np val\nset val = 7\nrs\ns\np val\n"
    out = cpscope("step", *SEQ, PAUSE, text=lines).stdout
    values = [line for line in out.split("\n") if " = " in line and not line.startswith(">")]
    assert values == ["0x80000000 = 2147483648"] * 2 + ["0x00000007 = 7"], out


def coverage_is_what_the_steps_say():
    for engine, script in ((HWSQ, RECLOCK), (SEQ, PAUSE)):
        out = cpscope("run", *engine, "-e", "step", script).stdout
        places = {line.split()[2] for line in out.split("\n") if " STEP " in line}
        text = cpscope("cover", *engine, script, "-o", path("c.info")).stdout
        assert int(text.split()[0]) == len(places), (text, len(places))
        hit = re.findall(r"^DA:(\d+),(\d+)$", open(path("c.info")).read(), re.M)
        listing = open(path("c.info.asm")).read().split("\n")
        assert sum(count != "0" for _, count in hit) == len(places), hit
        assert all(listing[int(line) - 1].startswith(" ") for line, _ in hit), "lines of instructions only"
    assert "no code to cover" in cpscope("cover", "--engine", "pfifo", RECLOCK, status=2).stderr


tap.run([(case.__name__.replace("_", " "), case) for case in (
    run_gives_the_golden, stdin_is_a_script_too, check_takes_goldens, every_form_holds_it, assembly_goes_both_ways,
    code_is_told_from_text, a_part_of_a_file_is_listed, waits_show_their_time,
    errors_show_the_place, values_of_which_not_all_counts_are_refused,
    words_with_bits_that_do_not_count_are_shown_as_words, bad_input_is_one_line, a_bad_word_is_said_once_with_what_is_known,
    a_line_of_the_host_may_be_long, wrong_usage_is_status_2, chips_have_many_names,
    expected_values_are_compared, stops_have_a_reason, the_host_goes_on_behind_an_error_exit,
    pgraph_is_idle_when_the_run_file_says_so, policies_are_in_the_header, the_host_stalls_while_memory_is_paused,
    changes_come_in_the_order_of_their_ticks, the_rest_of_the_chip_may_end_a_pause,
    memory_waits_for_the_end_of_a_pause_on_nv41, reads_that_are_not_met_fail_everywhere,
    chips_are_compared, regress_runs_a_matrix, info_tells_what_is_in_it, step_goes_both_ways,
    the_debugger_lists_what_the_host_does, values_are_watched_forwards_and_backwards, coverage_is_what_the_steps_say)])

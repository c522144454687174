#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands of the debugger beyond what habits.py types: frames, loops, draws, words, and what is refused with which words. On the
demo, on small firmware of our own, and on NVIDIA's engines. Usage: debugger.py CPSCOPE"""
import os
import re

import make
import tap
from scene import cpscope, path
from debugger_firmware import calls, two_processors
from tree import SCRIPTS

DRAWS = make.pm4("CP_SET_MARKER 0x1", "reg 0x8810 0x1", "reg 0x8820 0x7", "CP_DRAW_INDX_OFFSET 0x84 1 3", "reg 0x8810 0x2",
                 "CP_DRAW_INDX_OFFSET 0x84 1 3")
# A branch that is taken, one that is not, a call; the words stand where `code` has them, four to a line of addresses.
VP1 = """# cpscope-script 1
engine vp1
chip g80
upload 0
write 0xf474 0x111
write 0xfc90 1
write 0xfc94 0xc0000000
run
code
        mov $a1 0x1
      + bnop
        bra $c0 true #there         ; at 2
        mov $a2 0x5
        call $c0 true #sub          ; at 4
        snop
        .align
        exit 0x12                   ; at 8
        .align
there:  exit 0x34                   ; at c
        .align
sub:    mov $a3 0x7                 ; at 10
      + bnop
        ret
        snop
"""
IDLE = """# cpscope-script 1
engine hwsq
chip g80
write 0x1002dc 5
read 0x1002dc 5
code
    exit
"""


def session(args, *commands, refused=0):
    """What each command printed, and the lines of errors."""
    done = cpscope("step", *args, text="\n".join(commands) + "\n", status=3 if refused else 0)
    said = [(part + "\n").split("\n", 1) for part in ("\n" + done.stdout).split("\n> ")[1:]]
    assert [command for command, _ in said] == list(commands), said
    errors = done.stderr.splitlines()
    assert len(errors) == refused, done.stderr
    return [out.strip("\n") for _, out in said], errors


def script(engine, run):
    return ["--engine", engine, os.path.join(SCRIPTS, run + ".run")]


def refusing(args, rows):
    """@rows: (command, what is refused with which words), typed one behind the other; nothing else is printed."""
    def case():
        out, errors = session(args, *(command for command, _ in rows), refused=len(rows))
        for i, (command, words) in enumerate(rows):
            assert errors[i] == "cpscope: (stdin):%d: %s" % (i + 1, words) and not out[i], (command, errors[i], out[i])
    return case


# Words of the command line of gdb are its own; which of them are wrong, and the column of what could not be read, is the same.
DEMO_REFUSES = (
    ("info draw x", 'info draw x: expected a number, "all", or both'), ("info draw -1", 'info draw -1: expected a number, "all", or both'),
    ("info draw 0 y", 'info draw 0 y: expected "all" or the end'), ("info draw 1", "draw 1: the run makes 1 of them, counted from 0"),
    ("info bogus", "info bogus: expected one of registers, breakpoints, watchpoints, display, packet, draw, threads, frame, stack, control, "
     "sqe, all-registers, events, submissions, line, symbol, counts"),
    ("frame 7", "there is no frame 7: 0 calls are open"), ("frame x", "x: expected the number of a frame, from 0"),
    ("frame -1", "-1: expected the number of a frame, from 0"), ("down", "this is the innermost frame"), ("up", "this is the outermost frame"),
    ("list 0x100000000", "0x100000000 is no address of code"), ("set @5", "expected set WHAT = EXPR"),
    ("branch maybe", "expected branch taken, or branch not"), ("patch CP_NOP", "expected patch PLACE: INSTRUCTION"),
    ("patch CP_NOP: frobnicate $02", "column 15: expected an instruction of this generation"),
    ("inject CP_NO_SUCH 1", "column 8: expected an opcode, reg or .word"), ("x", "x: expected an address"),
    ("x/0 0", "/0 0: expected a number from 1 to 65536"), ("x/65537 0", "/65537 0: expected a number from 1 to 65536"),
    ("p/3 1", "/3 1: expected no number"), ("x/q 0", '"q" of /q 0: expected one of xduoti, w or g'),
    ("p/q 1", '"q" of /q 1: expected one of xduota'), ("undisplay 9", "there is no display 9 (info display)"),
    ("undisplay x", "x: expected the number of a display"), ("goto x", "x: expected a number"), ("event 1x", "1x: expected a number"),
    ("run 5", "run takes nothing: the input is that of the session"), ("advance", "advance: expected a place"), ("jump", "jump: expected a place"),
    ("jump 0x99999", "jump 0x99999: sqe has no code there"), ("core nosuch", 'there is no processor "nosuch" here'),
    ("ptype NOSUCH", "ptype NOSUCH: expected a register (@CONTROL, %SQE, of the GPU) or a packet"),
    ("p reg:NOSUCH", 'column 7: expected a number after the ":", for a register also its name'),
    ("p " + "(" * 65 + "1", "column 67: expected fewer nested operators or brackets"),
    ("why", "why: expected $02, @CONTROL, a register, [ADDRESS] or event:N"),
    ("why PC_MARKER", "PC_MARKER: the firmware has not written it by this point"), ("source", "source: expected a file of commands"),
    ("shell exit 3", "shell: it ended with status 3"), ("shell kill -9 $$", "shell: it ended with signal 9"),
    ("ignore 77 1", '"77 1": expected the number of a point (info break)'), ("ignore x", '"x": expected the number of a point (info break)'),
    ("delete 5-4", '"5-4": expected numbers of points, ID or FIRST-LAST (info break)'),
    ("delete x", '"x": expected numbers of points, ID or FIRST-LAST (info break)'),
    ("disable 99", '"99": expected the number of a point (info break)'), ("clear 0x5", "there is no breakpoint at 0005"),
    ("save points x", "expected save breakpoints FILE"), ("save breakpoints", "expected save breakpoints FILE"),
    ("disas CP_NOP 0", "0: expected a number of instructions"), ("help nosuch", 'no command is called "nosuch"; try help'),
    ("watch |NO_SUCH", "|NO_SUCH: expected $REGISTER, @CONTROL, |PIPE, a GPU register, [ADDRESS], or a range FIRST-LAST of them"),
)


def engine_refuses(name):
    """What only a command processor has."""
    return ((("info packet", "%s has no packets"), ("info draw", "%s does not draw"), ("info draw 0", "%s does not draw"),
             ("info control", "%s has no @registers"), ("info sqe", "%s has no %%registers"),
             ("why $pc", "%s does not say where its values come from"), ("inject .word 0", "%s takes no packets here")))


def no_packets():
    for engine, run in (("hwsq", "reclock"), ("seq", "pause"), ("vp1", "vp1"), ("pfifo", "pfifo-nv3")):
        refusing(script(engine, run), [(command, words % engine) for command, words in engine_refuses(engine)])()


def at_the_ends():
    """Where the listing, lists of points and of displays, and files that source each other end."""
    self = path("self.dbg", "source %s\n" % path("self.dbg"))
    shown = ["display %d" % i for i in range(64)]
    typed = ["list 0", "list -", "b CP_NOP", "ignore 1", "ignore 1 -1", *shown, "display 64", "list 0x1d8", "list", "source " + self]
    said = [error.split(": ", 2) for error in cpscope("step", "--demo", text="\n".join(typed) + "\n", status=3).stderr.splitlines()]
    assert [(int(one[1][8:]), one[2]) for one in said] == [
        (2, "this is where the code begins"), (4, "expected ignore ID N"), (5, "expected ignore ID N"),
        (70, "display: expected at most 64 of them"), (72, "this is where the code ends"),
        (73, "%s:1: " % self * 8 + "more than eight files that source each other")], said


def frames():
    """As in gdb: up and down stay within the calls, a number of them goes as far as it can; the frame says what x, list and
    break without a place are about. Addresses are counted in CALLS from the handler's own, 0x12."""
    out, errors = session(calls(), "b CP_NOP", "c", "si 5", "info stack", "up", "x/1i $pc", "b", "up", "up", "down 9", "frame 1", "tb if $05 == 0x11",
                          "frame", "down", "down", "p $05", "i b", "c", "up 7", "c", refused=2)
    assert errors == ["cpscope: (stdin):9: this is the outermost frame", "cpscope: (stdin):15: this is the innermost frame"], errors
    said = dict(enumerate(out))
    assert re.match(r"#0  001c \S+\n#1  0019 \S+\n#2  0015 \S+\npacket  70108000 CP_NOP", said[3]), said[3]
    assert re.match(r"#1  0019 \S+\n    0019 08a50100 ", said[4]) and said[5].lstrip().startswith("0019 08a50100 "), said[4:6]
    assert re.match(r"breakpoint 2, \*0x19: 0019 ", said[6]) and re.match(r"#2  0015 ", said[7]), said
    assert re.match(r"#0  001c \S+\n=>  001c ", said[9]) and re.match(r"#1  0019 ", said[10]), said
    assert re.match(r"breakpoint 3, \*0x19: 0019 ", said[11]) and re.match(r"#1  0019 ", said[12]) and re.match(r"#0  001c ", said[13]), said
    assert said[15] == "0x00000000 = 0" and "\n3 break *0x19 if $05 == 0x11 (once), 0 hits" in said[16], said
    assert re.match(r"breakpoint 2, \*0x19\n", said[17]) and re.match(r"#1  0015 ", said[18]), said


def out_of_loops():
    """gdb's until without a place: as next, but never back; calls in one piece."""
    out, _ = session(calls(), "tb *0x1f", "c", "p $03", "until", "p $03", "p $pc", "tb *0x13", "c", "until", "p $pc", "p $05")
    assert out[2] == "0x00000001 = 1" and out[4:6] == ["0x00000000 = 0", "0x00000020 = 32"], out
    assert out[9:] == ["0x00000015 = 21", "0x00000111 = 273"], out
    stuck = path("stuck.dbg", "tb 0xfd\nc\npatch 0xfd: jump #CP_SET_DRAW_STATE\npatch 0xfe: add $05, $05, 0x1\nsi\nuntil\n")
    done = cpscope("step", "--demo", "-l", "200k", "--batch", "-x", stuck, status=4)
    assert done.stderr.startswith("cpscope: limit: too many instructions in one command"), done.stderr
    assert "\nlimit: 200000 instructions in one command\nstep 200" in done.stdout and "interrupted" not in done.stdout, done.stdout


def draws():
    """Two draws; the second changes one register of those that the stream writes."""
    args = ["--demo", path("draws.pm4", DRAWS)]
    out, errors = session(args, "info draw", "info draw 0", "info draw 1", "info draw 1 all", "c", "info draw", "info draw all", "info draw 2", refused=1)
    assert out[0].startswith("sqe has drawn nothing so far\n"), out[0]
    both = r"\n\+ 0x8810 \S+ 0x00000001 .*ib1 0x100008 (.*\n)*\+ 0x8820 .* 0x00000007 .*ib1 0x100010 "
    assert out[1].startswith("draw 0 of sqe: CP_DRAW_INDX_OFFSET ") and re.search(both, out[1]), out[1]
    assert re.search(r"\n\* 0x8810 \S+ 0x00000002 .*was 0x00000001  ib1 0x100028 ", out[2]) and "0x8820" not in out[2], out[2]
    assert "\n* 0x8810 " in out[3] and "\n  0x8820 " in out[3] and "ib1 0x100030" in out[3].split("\n")[0], out[3]
    assert out[5].startswith("after draw 1 of sqe: ") and "0x88" not in out[5], out[5]
    assert re.search(r"\n  0x8810 \S+ 0x00000002 (.*\n)*  0x8820 ", out[6]), out[6]
    assert errors[0].endswith("draw 2: the run makes 2 of them, counted from 0"), errors


def words():
    """Of the packet at hand, and of the run: the stream says what they are."""
    out, _ = session(["--demo", path("draws.pm4", DRAWS)], "tb CP_DRAW_INDX_OFFSET", "c", "p header", "p iova", "p submission", "p payload[1]",
                     "p payload[2]", "p payload[3]", "p $npc == $pc + 1", "p @IB_LEVEL", "p @0x54", "p event", "log 1", "c", "info counts")
    draw = make.type7(0x38, 0x84, 1, 3)
    assert out[2:8] == ["0x%08x = %d" % (value, value) for value in (draw[0], 0x100018, 0, 1, 3, 0)], out
    assert out[8:11] == ["0x00000001 = 1"] * 3, out
    assert int(out[11].split()[0], 16) == int(out[12].split()[0]) + 1, out
    trace = cpscope("run", "--demo", path("draws.pm4"), "-e", "pkt,reg,memw,end", "-o", "-").stdout
    counts = tuple(len(re.findall("^%s " % kind, trace, re.M)) for kind in ("PKT", "REG", "MEMW"))
    steps = re.search(r"^END done \d+ (\d+)", trace, re.M)[1]
    assert out[14] == "%d packets, %s instructions, %d register writes, %d memory writes" % (counts[0], steps, counts[1], counts[2]), (out[14], trace)


def forms():
    """gdb's letters; display alone shows all of them again, undisplay alone drops them; x without /N goes on by 16 words."""
    out, _ = session(["--demo"], "p/u -1", "p/o 8", "p/d ~0", "display 1", "display/x $pc", "display", "undisplay", "info display",
                     "display", "x/1xw 0x100000", "x 0x100004", "x/2xw", "display CP_NOP + [0x200000]", "info events", "log 10", "info stack", "bt")
    assert out[:3] == ["18446744073709551615", "010", "-1"], out[:3]
    assert out[5] == out[3] + "\n" + out[4] and out[7] == out[8] == "", out[5:9]
    assert len(re.findall(r" [0-9a-f]{8}\b", out[10])) == 16 and out[11].startswith("0000000000100044: "), out[10:12]
    assert out[13] == out[14] and out[15] == out[16], out[13:]


def whole_tables():
    """info registers has each of them once; x shows as many words as it is asked for, four to a line."""
    out, _ = session(["--demo"], "info registers", *["x/%dxw 0x100000" % count for count in range(1, 14)])
    names = re.findall(r"\$\w+(?= +[0-9a-f]{8}\b)", out[0])
    assert sorted(names) == sorted(["$%02x" % i for i in range(1, 0x1a)] + ["$sp", "$lr", "$rem", "$addr", "$usraddr"]), out[0]
    for count, text in enumerate(out[1:], 1):
        words = [len(re.findall(r" (?:[0-9a-f]{8}|\.{8})(?= |$)", line)) for line in text.split("\n")]
        assert words == [4] * (count // 4) + [count % 4] * (count % 4 > 0), (count, text)


def types():
    out, _ = session(["--demo"], "ptype CP_NOP", "ptype CP_WAIT_FOR_IDLE", "ptype @IB_LEVEL")
    assert out[0] == "CP_NOP, type 7, opcode 0x10\n  no words are known", out
    assert out[1] == "CP_WAIT_FOR_IDLE, type 7, opcode 0x26\n  no words are known", out
    assert out[2] == "@0x0054 IB_LEVEL\n  no fields are known", out


def once():
    """A point for one stop runs its commands there, and is gone behind them; a place that a label leads to has a number behind the plus."""
    out, errors = session(["--demo"], "b CP_NOP+x", "b CP_NOP+0x1", "tb CP_SET_DRAW_STATE", "i b", refused=1)
    assert errors[0] == "cpscope: (stdin):1: CP_NOP+x: expected a packet, label, address, FILE:LINE, pkt:NAME, event:CLASS or line:N", errors
    assert out[1] == "breakpoint 1, CP_NOP+0x1: 0020 CP_NOP+0x1" and "2 break CP_SET_DRAW_STATE (once)" in out[3], out
    text = "tb CP_SET_DRAW_STATE\ncommands 1\np 0x77\ni b\nend\nc\ni b\n"
    said = cpscope("step", "--demo", text=text).stdout
    assert re.search(r"\n0x00000077 = 119\n1 break CP_SET_DRAW_STATE \(once\)( \(disabled\))?, 1 hit\n(        .*\n)*> i b\n\Z", said + "\n" * (not said.endswith("\n"))), said


def long_packets():
    """Sixteen words of a packet are shown, and how many there are more."""
    capture = path("long.pm4", make.pm4("reg 0x884 " + " ".join("0x%x" % i for i in range(100))))
    out, _ = session(["--demo", capture], "tb PKT4", "c", "info packet")
    assert re.search(r"\n  15  0000000f .*\n  and 84 more$", out[2]), out[2]


def halves():
    """Registers of 64 bits are whole where both halves are known, with the buffer that they lead into; what was read of streams."""
    stream = make.pm4("reg RB_MRT[0].ARRAY_PITCH 0x2 0x1008 0x5 0x7000", "reg 0x8826 0x6", "CP_MEM_WRITE 0x1008 5 7", "reg 0x882e 0x5", "CP_NOP")
    capture = path("halves.pm4", stream.replace("submit", "buffer 0x500001000 target\n    .word 0 0 0 0\nsubmit"))
    whole = "0x0000000500001008 [buf 1 \"target\" +0x8]"
    out, _ = session(["--demo", capture], "tb PKT4", "c", "info packet", "bt", "si", "tb PKT4", "c", "info packet", "bt", "p RB_MRT[0].BASE",
                     "p reg:0x8826", "tb CP_MEM_WRITE", "c", "p RB_MRT[0].BASE", "info packet", "c", "p reg:0x882e", "p reg:0x882d")
    assert out[2] == ("48882404 type4, register 0x8824 RB_MRT[0].ARRAY_PITCH, 4 dwords, ib1 0x0000000000100000 [ib1 0 \"frame\" +0x0]\n"
                      "   0  00000002  RB_MRT[0].ARRAY_PITCH 128\n   1  00001008  RB_MRT[0].BASE = %s\n   2  00000005  RB_MRT[0].BASE \n"
                      "   3  00007000  RB_MRT[0].BASE_GMEM 0x7000" % whole), out[2]
    assert out[7].split("\n")[1] == "   0  00000006  RB_MRT[0].BASE ", out[7]
    for bt, read in ((out[3], 1), (out[8], 6)):    # headers, too; 5 + 2 + 4 + 2 + 1 in all
        assert "\nib1     0x0000000000100000 [ib1 0 \"frame\" +0x0], %d of 14 dwords read\nring " % read in bt, bt
    assert out[9:11] == ["0x00001008 = 4104 = " + whole, "0x00000005 = 5 = " + whole] and out[13] == "0x00001008 = 4104 = 0x0000000600001008 [no buf]", out[9:14]
    assert out[14].split("\n")[1:] == ["   0  00001008  ADDR=0x500001008 [buf 1 \"target\" +0x8]", "   1  00000005", "   2  00000007"], out[14]
    assert out[16:] == ["0x00000005 = 5", "0x00000000 = 0"], "half an address says nothing"


def beside():
    """compare goes to the end of this submission, or of so many."""
    text = "# cpscope-pm4 1\ngpu 630\nbuffer 0x00100000 frame\n    CP_SET_MARKER 0x1\nsubmit frame\nsubmit frame\nsubmit frame\n"
    out, _ = session(["--demo", path("three.pm4", text)], "set $0a = 5", "compare", "compare 1", "compare 2", "compare 3", "compare 9")
    del out[0]
    counts = [int(re.match(r"unchanged: (\d+) events, reaches the end( of the submission)?\n", text)[1]) for text in out]
    assert out[0] == out[1] and out[3] == out[4] and counts[0] < counts[2] < counts[3], out
    assert ["of the submission" in text for text in out] == [True] * 3 + [False] * 2, out


def listed():
    """A listing goes on where it ended, until the machine moves: then it is about where that stands."""
    out, _ = session(["--demo"], "list", "list", "si", "list", "list -")
    places = [[int(at, 16) for at in re.findall(r"^..[ *] ([0-9a-f]{4}) ", text, re.M)] for text in out]
    assert "=>" in out[0] and "=>" not in out[1] and places[1][0] == places[0][-1] + 1, places
    assert "=>  0021" in out[3] and places[4][-1] == places[3][0] - 1, places


def stuck():
    """What a deadlock is about stands on a line of its own."""
    out, _ = session(["--demo", "--policy", "waits=stop", "--policy", "prefetch=off"], "c", "rc")
    lines = out[0].split("\n")
    assert lines[0] == "deadlock: every processor waits for something that nothing will change" and lines[2].startswith("step "), lines
    assert out[1].startswith("the start of the run: nothing to go back to\nstep 0, "), out[1]


def helped():
    """help alone has every group with every command, and its other names."""
    out, _ = session(["--demo"], "help", "help step")
    assert [line for line in out[0].split("\n") if not line.startswith(" ")] == ["move:", "stop:", "look:", "change:", "other:"], out[0]
    assert re.search(r"^  backtrace, bt, where +print the calls,", out[0], re.M) and out[0].startswith("move:\n" + out[1] + "\n"), out


def saved():
    """How often a point is passed, what is done there and that it is off are saved, too."""
    file = path("saved.dbg")
    text = ("b CP_NOP", "ignore 1 3", "commands 1", "p 0x77", "end", "watch |EVENT_CMD", "disable 2", "save breakpoints " + file, "info b", "delete", "source " + file, "info b")
    done = cpscope("step", "--demo", text="\n".join(text) + "\n")
    assert open(file).read() == ("core sqe\nbreak CP_NOP\nignore $bpnum 3\ncommands\np 0x77\nend\nwatch |EVENT_CMD\ndisable $bpnum\ncore sqe\n"), open(file).read()
    lists = re.findall(r"> info b\n((?:[^>].*\n)+)", done.stdout)
    assert len(lists) == 2 and lists[1] == lists[0].replace("1 break", "3 break").replace("2 watch", "4 watch"), lists
    assert "(passes 3 more)" in lists[0] and "p 0x77" in lists[0] and "|EVENT_CMD (disabled)" in lists[0], lists


def pipe_by_name():
    """A pipe register by its name and by its number is the same."""
    out, _ = session(["--demo"], "watch |EVENT_CMD", "run", "delete", "watch |0xe7", "run")
    assert out[1].startswith("watchpoint 1, |EVENT_CMD\n  PIPE 0x00e7 "), out[1]
    assert out[4] == out[1].replace("1, |EVENT_CMD", "2, |0xe7"), out


def goes_on():
    """Whatever is wrong with a line of a pipe, it is said with its place, and the next one runs; the status says at the end that there was one."""
    lines = ("why no_such_register", "source /no/such/file", "save breakpoints /no/such/folder/x", "why event:9999999", "why @REG_WRITE_ADDR")
    out, errors = session(["--demo"], *lines, "p 5", refused=len(lines))
    assert out[-1] == "0x00000005 = 5" and [e.split(": ")[1] for e in errors] == ["(stdin):%d" % (i + 1) for i in range(len(lines))], (out, errors)


def of_hardware():
    """$addr and $usraddr are held beside the others; $00 is 0; the pc takes its next one along; words of the queues are nobody's to set."""
    out, errors = session(["--demo"], "set $addr = 0x5", "p $addr", "set $usraddr = 0x7", "p $usraddr", "p $addr", "set $00 = 4", "set $00 = 0", "p $00", "set $data = 3",
                          "set $pc = 0x31", "p $pc", "p $npc", "set $npc = 0x20", "why @MEM_READ_ADDR", refused=3)
    pairs(out, (1, "0x00000005 = 5"), (3, "0x00000007 = 7"), (4, "0x00000005 = 5"), (7, "0x00000000 = 0"), (10, "0x00000031 = 49"), (11, "0x00000032 = 50"))
    assert [e.split(": ", 2)[2] for e in errors][:2] == ["general register 0x0 cannot be 0x4 here", "general register 0x1f cannot be 0x3 here"], errors
    assert re.match(r"@MEM_READ_ADDR = 0x(\w+)\n  0x\1 written to control register 0x0018 MEM_READ_ADDR by sqe at pc 0x0011 bootstrap\+0x11", out[13]), out[13]


def commands_end():
    """So many bytes of commands, and no more; what was typed before stays as it was."""
    text = ["b CP_NOP", "commands 1", "p 6", "end", "commands 1", *["echo " + "x" * 1000] * 1100, "p 5", "i b"]
    done = cpscope("step", "--demo", text="\n".join(text) + "\n", status=3)
    assert re.fullmatch(r"cpscope: \(stdin\):\d+: commands: more than 1048576 bytes, expected \"end\"\n", done.stderr.split("\n")[0] + "\n"), done.stderr
    assert "0x00000005 = 5" in done.stdout and re.search(r"> i b\n1 break CP_NOP, 0 hits\n        p 6\n?\Z", done.stdout), done.stdout[-300:]


def processors():
    """BV is called by its name or number; points say whose they are, and a file of them keeps it."""
    args = two_processors()
    file = path("bv.dbg")
    out, errors = session(args, "core", "core bv", "b", "tb event:REG", "c", "core", "p $05", "b", "info b", "core 0", "b CP_NOP", "info b", "c", "core",
                          "save breakpoints " + file, "core br", refused=2)
    assert re.match(r"\* step 0, .*: sqe 0000 \S+\n  step 0, .*: bv is not started$", out[0]), out[0]
    assert re.match(r"  step 0, .*: sqe 0000 \S+\n\* step 0, .*: bv is not started$", out[1]), out[1]
    assert "bv REG 0x8800 0x00000009 ctrl" in out[4] and out[6] == "0x00000009 = 9", out
    assert re.match(r"breakpoint 2, here: 000b ", out[7]) and out[8] == "2 break here, bv, 0 hits", out
    assert out[11] == "2 break here, bv, 0 hits\n3 break CP_NOP, sqe, 0 hits" and out[12].startswith("breakpoint 3, CP_NOP\n"), out
    assert open(file).read() == "core bv\nbreak *0xb\ncore sqe\nbreak CP_NOP\ncore sqe\n", open(file).read()
    assert [error.split(": ", 2)[2] for error in errors] == ["here: bv has no code there", 'there is no processor "br" here'], errors


def own_registers():
    """A watchpoint of a general register is about the processor at hand alone."""
    args = two_processors()
    out, _ = session(args, "core bv", "watch $05", "c", "core", "p $05", "i b", "delete", "core sqe", "watch $05", "c", "core")
    assert "\n* step " in "\n" + out[3].split("\n")[1] and ": bv " in out[3].split("\n")[1] and out[4] == "0x00000009 = 9", out
    assert out[5] == "1 watch $05, bv, 1 hit", out[5]
    out, _ = session(args, "watch $05", *["c"] * 8)
    assert not any(": bv " in text for text in out), out
    assert any(": sqe " in text for text in out[1:]) and any("the end" in text for text in out[1:]), out


def pairs(out, *wanted):
    """What the commands printed at those places, without what a move shows."""
    assert [out[i] for i, _ in wanted] == [text for _, text in wanted], out


def vp1():
    """Branches have a delay slot, decided or not; code and data are words of one memory; values are a register's."""
    args = ["--engine", "vp1", path("own.run", VP1)]
    file = path("vp1.dbg")
    out, errors = session(args, "b *2", "c", "branch not", "p $pc", "si", "p $pc", "p $a2", "tb *0x10", "c", "bt", "up", "frame 0", "finish", "p $pc", "c",
                          "p reg:0xf424", "delete", "set $pc = 0x100000", "set [0x1000] = 5", "p [0x1000]", "x/2xw 0xffc", "watch [$pc*4+0x1000]",
                          "save breakpoints " + file, "delete", "run", refused=1)
    assert errors == ["cpscope: (stdin):18: pc 0x0 cannot be 0x100000 here"], errors
    pairs(out, (3, "0x00000003 = 3"), (5, "0x00000004 = 4"), (6, "0x00000005 = 5"), (9, "#0  0010 \n#1  0007 "), (13, "0x00000007 = 7"),
          (15, "0x00000012 = 18"), (19, "0x00000005 = 5"), (20, "0000000000000ffc: ........ 00000005"))
    assert open(file).read() == "watch [0x%x]\ncore vp1\n" % (8 * 4 + 0x1000), open(file).read()
    out, _ = session(args, "tb *2", "c", "set $c0 = 0", "branch taken", "p $pc", "si", "p $pc", "p $a2", "c", "p reg:0xf424", "compare")
    pairs(out, (4, "0x00000003 = 3"), (6, "0x0000000c = 12"), (7, "0x00000005 = 5"), (9, "0x00000034 = 52"))
    assert "\n  c0 0x8000 -> 0x0" in out[10] and "no write differs" in out[10], out[10]
    out, _ = session(args, "patch 0x10: mov $a3 0x9", "x/1xw 0x40", "tb *2", "c", "branch not", "c", "p $a3", "watch a3", "run", "compare", "set $a3 = 3", "p $a3 + $depth",
                     "set reg:0xf424 = 0x77", "p reg:0xf424")
    pairs(out, (1, "0000000000000040: 65180009"), (6, "0x00000009 = 9"), (11, "0x00000004 = 4"), (13, "0x00000077 = 119"))
    assert out[8].startswith("watchpoint 2, a3\n"), out[8]
    out, _ = session(args, "x/2xw 0x40", "x/2xw 0x43")
    assert out[0] == out[1] and out[0].startswith("0000000000000040: "), out


def seq():
    """A branch of SEQ has no slot; values have the width that they have."""
    place = re.search(r"^ +([0-9a-f]{4}) \S+ \S+ +bne 0x([0-9a-f]{4})$", cpscope("step", *script("seq", "pause"), text="list 0 20\n").stdout, re.M)
    at, failed = int(place[1], 16), int(place[2], 16)
    out, errors = session(script("seq", "pause"), "tb *%d" % at, "c", "branch taken", "p $pc", "si", "set $pc = 1000", "set $val = 0x100000000",
                          "set $eq = 0x100", "set $eq = 0xff", "p $eq", "patch %d: exit 0x7" % (at - 1), "patch %d: exit 0x7" % at, "x/1i %d" % at, refused=4)
    pairs(out, (3, "0x%08x = %d" % (failed, failed)), (9, "0x000000ff = 255"), (12, "    %04x 00020016 00000007  exit 0x00000007" % at))
    assert [error.split(": ", 2)[2] for error in errors] == [
        "pc 0x0 cannot be 0x3e8 here", "value 0x2 cannot be 0x100000000 here", "value 0x5 cannot be 0x100 here",
        "found an instruction of 2 units, expected 1, as the one there"], errors
    out, _ = session(script("seq", "pause"), "tb *%d" % at, "c", "branch not", "p $pc")
    pairs(out, (3, "0x%08x = %d" % (at + 2, at + 2)))
    for engine, name in (("seq", "pause"), ("hwsq", "reclock")):    # behind the last instruction there is none to decide
        _, errors = session(script(engine, name), "c", "branch taken", "branch not", refused=2)
        assert all(": there is no conditional branch at 0x00" in error for error in errors), errors


def hwsq():
    """Code in bytes; a script whose host starts nothing begins at its first line."""
    out, errors = session(script("hwsq", "reclock"), "set $pc = 4", "p $pc", "p $npc", "p a.ip", "set a.ip = 0x10000", "set $pc = 512", "patch 0: nop",
                          "patch 0: ewait FB_PAUSED 1", "x/2i 0", "start", "x/1i 0", "patch 0: ewait HEAD0_VBLANK 1", "b *0x29", "c", "list", "disas 0x29 1",
                          "set reg:0x1002dc = 9", "p reg:0x1002dc", "p line", "info submissions", refused=3)
    assert [error.split(": ", 2)[2] for error in errors] == [
        "value 0x0 cannot be 0x10000 here", "pc 0x0 cannot be 0x200 here", "found an instruction of 1 units, expected 3, as the one there"], errors
    pairs(out, (1, "0x00000004 = 4"), (2, "0x00000005 = 5"), (3, "0x00000004 = 4"), (15, "=>* 0029 420000      datalo 0x0000"), (17, "0x00000009 = 9"),
          (18, "0x00000010 = 16"))
    assert re.fullmatch(r" +0000 5f0001 +ewait FB_PAUSED 1\n +0003 5f0101 +ewait HEAD0_VBLANK 1", out[8]), out[8]
    listed = re.findall(r"^=?>?[ *]*([0-9a-f]{4}) ", out[14], re.M)
    assert listed[:6] == ["001a", "001d", "001e", "0023", "0026", "0029"], out[14]
    assert out[19].split("\n")[:4] == ["  line 10  upload", "  line 11  write 0x1098 0x18", "  line 12  write 0x1304 0x0", "  line 13  write 0x130c 0x3"], out[19]
    assert "\n  line 15  wait 400\n* line 16  read 0x1308 0x106\n  line 17  run\n" in out[19] and out[19].endswith("\n  the host is done"), out[19]
    out, errors = session(["--engine", "hwsq", path("idle.run", IDLE)], "p step", "p line", "si", "p line", "display line", "start", "p reg:0x1002dc", "c",
                          "p reg:0x1002dc", refused=1)
    pairs(out, (0, "0x00000000 = 0"), (3, "0x00000000 = 0"), (4, "1: line = 0x00000000 = 0"), (6, "0x00000000 = 0"), (8, "0x00000005 = 5"))
    assert errors[0].startswith("cpscope: (stdin):2: column 3: expected ") and "1: line = column 1: expected " in out[5], (errors, out)


def refused():
    """Why a run goes no further is said behind the reason, and with no other one."""
    for chip, size in (("nv17", 64), ("nv41", 128), ("g80", 256), ("g92", 512)):
        for at, good in ((0, True), (size - 4, True), (size, False)):
            run = path("refused.run", "# cpscope-script 1\nengine hwsq\nchip %s\nupload %d\nrun\ncode\n    exit\n" % (chip, at))
            out, _ = session(["--engine", "hwsq", run], "c", "rc", "c")
            why = "rejected: offset 0x%x: 1 bytes for byte %d of the code RAM on, expected to end in the %d bytes of %s" % (size, at, size, chip)
            assert ([line.split("\n")[0] for line in out] == ["the end: the host is done", "the start of the run: nothing to go back to", "the end: the host is done"]
                    if good else why in out[0] and why in out[2] and "rejected" not in out[1]), (chip, at, out)


def pfifo():
    """Both memories, by their names; [ADDRESS] is the first one."""
    out, _ = session(script("pfifo", "pfifo-nv3"), "c", "p memory:0x10000100", "p memory:0x10000104", "set memory:0x4000 = 7", "p memory:0x4000",
                          "set [0x10] = 5", "p ramin:0x10", "set ramin:0x14 = 6", "p memory:0x10", "x/2xw 0x10", "set $line = 1", "p $line",
                     "set memory:0x4000 = 0x100000006", "p memory:0x4000")
    pairs(out, (1, "0x00080300 = 525056"), (2, "0x00000021 = 33"), (4, "0x00000007 = 7"), (6, "0x00000000 = 0"),
          (8, "0x00000005 = 5"), (9, "0000000000000010: 00000005 ........"), (11, "0x00000001 = 1"), (13, "0x00000006 = 6"))


CASES = [
    ("what the demo's session refuses", refusing(["--demo"], DEMO_REFUSES)),
    ("what engines without packets refuse", no_packets),
    ("where lists end", at_the_ends),
    ("frames, as in gdb", frames),
    ("until without a place leaves loops", out_of_loops),
    ("what was drawn, and what changed for it", draws),
    ("words of expressions are what the stream says", words),
    ("forms of values", forms),
    ("tables are whole", whole_tables),
    ("types without words or fields say so", types),
    ("points for one stop, places behind labels", once),
    ("words of long packets", long_packets),
    ("registers of 64 bits, and what was read", halves),
    ("how far compare goes", beside),
    ("listings that go on", listed),
    ("what a deadlock is about", stuck),
    ("help lists all commands", helped),
    ("points are saved with all that belongs to them", saved),
    ("pipe registers have names", pipe_by_name),
    ("whatever is wrong with a line, the next one runs", goes_on),
    ("registers that hardware has", of_hardware),
    ("commands of a point are limited", commands_end),
    ("points of several processors", processors),
    ("registers of one of them", own_registers),
    ("VP1: branches with slots, calls, code that is memory", vp1),
    ("SEQ: branches without slots, widths of values", seq),
    ("HWSQ: code in bytes, what the host does", hwsq),
    ("what an engine does not take", refused),
    ("PFIFO: two memories", pfifo),
]
tap.run(CASES)

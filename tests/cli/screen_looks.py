#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The full-screen view: which parts of which lines have which colours, or letters, of a terminal. Usage: screen_looks.py CPSCOPE"""
import os
import re
import shutil
import subprocess

import make
import tap
from scene import cpscope, path
from debugger_firmware import calls
from screen_terminal import STOP, Terminal, demo

# Colour, ground and letters as the terminal has them (ECMA-48); "": its own, bold 1, underlined 4, reversed 7. Bright black is 90.
PLAIN, FAINT, NAME = ("", "", ""), ("90", "", ""), ("36", "", "")
HEAD, NOW, POINT, CHANGE = ("", "", "1"), ("32", "", "1"), ("31", "", "1"), ("33", "", "1")
TITLE, FOCUS, CURSOR, MATCH = ("37", "44", ""), ("30", "46", ""), ("", "", "7"), ("30", "43", "")
COLOURS = "TERM=xterm-256color"
HINTS = "? help   : command   / search   Tab pane   q prompt"


def after(style, codes):
    """A style behind the numbers of an escape sequence; another colour than those eight or sixteen is a mistake."""
    colour, ground, letters = style
    for code in (codes or "0").split(";"):
        if code in ("", "0"):
            colour, ground, letters = PLAIN
        elif code in ("39", "49"):
            colour, ground = ("", ground) if code == "39" else (colour, "")
        elif code in ("1", "4", "7"):
            letters = "".join(sorted(set(letters + code)))
        elif re.fullmatch("[39][0-7]", code):
            colour = code
        else:
            assert re.fullmatch("4[0-7]", code), codes
            ground = code
    return colour, ground, letters


def looks(t, begin=0, end=None):
    """Lines of the screen as [(text, style), ...], of columns @begin to @end; blanks at their ends play no part."""
    style, lines = PLAIN, []
    for line in t.settled("-e").rstrip("\n").split("\n"):
        cells = []
        for codes, char in re.findall(r"\x1b\[([\d;]*)m|(.)", line):
            if char == " " and style[1] and cells and cells[-1][1][1] == style[1]:
                cells.append((char, cells[-1][1]))    # whose own colour nobody sees
            elif char:
                cells.append((char, style))
            else:
                style = after(style, codes)
        parts = []
        for char, look in cells[begin:end]:
            if parts and parts[-1][1] == look:
                parts[-1][0] += char
            else:
                parts.append([char, look])
        if parts and parts[-1][1] == PLAIN:
            parts[-1][0] = parts[-1][0].rstrip()
        lines.append([(text, look) for text, look in parts if text])
    return lines


def line_of(lines, pattern):
    """The only line whose text that is."""
    found = [line for line in lines if re.match(pattern, "".join(text for text, _ in line))]
    assert len(found) == 1, "%d lines are %r in\n%s" % (len(found), pattern, "\n".join(map(str, lines)))
    return found[0]


def check(lines, pattern, *wanted):
    """The parts that the line begins with; a last one of None ends it."""
    line = line_of(lines, pattern)
    whole = wanted[-1] is None
    assert line[:None if whole else len(wanted)] == list(wanted[:-1] if whole else wanted), (line, wanted)


def code():
    """Addresses and bytes are faint; the instruction at hand, its place, breakpoints and labels stand out."""
    with demo(80, 24, env=COLOURS) as t:
        t.keys(*STOP)
        t.wait("^breakpoint 1, C")
        t.keys("s", "s", "s")
        t.wait("^=>  00ff", "^step 267")
        lines = looks(t)
        check(lines, " +00f6 ", ("    ", PLAIN), ("00f6 88030001", FAINT), ("  mov $03, 0x0001", PLAIN), None)
        check(lines, "CP_SET_DRAW_STATE:", ("CP_SET_DRAW_STATE:", HEAD), None)
        check(lines, r"  \* 00fd", ("  ", PLAIN), ("*", POINT), (" ", PLAIN), ("00fd c6430059", FAINT), ("  breq $12, 0x03, #error_handler", PLAIN), None)
        now = ("=>  ", "00ff", " ac1f204a  (rep)(sds2)cwrite $data, [$00 + @DRAW_STATE_SET_HDR]")
        check(lines, "=>  00ff", (now[0], NOW), (now[1], CURSOR), (now[2], NOW), None)
        t.keys("Down")
        t.wait("^    0100 d8000000")
        check(looks(t), " +0100", ("    ", PLAIN), ("0100", CURSOR), (" d8000000", FAINT), ("  waitin", PLAIN), None)
        check(looks(t), "=>  00ff", ("".join(now), NOW), None)
        t.keys("b")
        t.wait(r"^  \* 0100")
        check(looks(t), r"  \* 0100", ("  ", PLAIN), ("*", POINT), (" ", PLAIN), ("0100", CURSOR), (" d8000000", FAINT))
        t.leave()


def slots():
    """What runs behind a delay slot: its arrow."""
    with Terminal(80, 24, "--screen", *calls(), env=COLOURS) as t:
        t.keys(":", "=b *0x1f", "Enter", "c")
        t.wait("^=>. 001f ", "^->  001d ")
        check(looks(t), "->  001d ", ("->", NOW), ("  ", PLAIN), ("001d 18630001", FAINT), ("  sub $03, $03, 0x0001", PLAIN), None)
        t.leave()


def registers():
    """What the last move changed: its star, its name and its eight digits."""
    with demo(80, 24, env=COLOURS) as t:
        t.keys(*STOP)
        t.wait("^breakpoint 1, C")
        t.keys("s", "s", "s", "2")
        text = t.wait(r"\*\$rem 00000006")
        row = next(i for i, line in enumerate(text.split("\n")) if "*$rem" in line)
        line = looks(t)[row]
        at = line.index(("*$rem 00000006", CHANGE))
        assert all(look == PLAIN for i, (_, look) in enumerate(line) if i != at), line
        others = [part for i, other in enumerate(looks(t)[2:22]) for part in other if i + 2 != row]
        assert others and all(look == PLAIN for _, look in others), others
        t.leave()


def titles():
    """The pane with the keys, the others, the step; what a command said; the page of help."""
    with demo(120, 40, env=COLOURS) as t:
        t.wait("^step 162", "^ 7 events")
        lines = looks(t)
        assert [look for _, look in lines[0]] == [HEAD] and "".join(text for text, _ in lines[0]).startswith("step 162, "), lines[0]
        bar = t.screen().split("\n")[2].index("|")
        assert [look for _, look in looks(t, 0, bar)[1]] == [FOCUS] and [look for _, look in looks(t, bar + 1)[1]] == [TITLE], lines[1]
        assert {line[0] for line in looks(t, bar, bar + 1)[2:20]} == {("|", FAINT)}, looks(t, bar, bar + 1)
        assert [look for _, look in line_of(lines, " 7 events")] == [TITLE]
        t.keys("7")
        t.wait("7 events")
        lines = looks(t)
        assert [look for _, look in line_of(lines, " 7 events")] == [FOCUS] and [look for _, look in looks(t, 0, bar)[1]] == [TITLE], lines
        t.keys("1", "]")
        t.wait("^/ searches")
        said = looks(t)[39]
        assert said[0] == ("/ searches", CHANGE) and said[1][1] == PLAIN and said[1][0].lstrip() == HINTS, said
        t.keys("?")
        t.wait("^ help: ")
        lines = looks(t)
        assert [look for _, look in lines[0]] == [FOCUS] and line_of(lines, "keys") == [("keys", HEAD)], lines
        assert all(look == PLAIN for line in lines[2:20] for _, look in line), lines
        t.keys("Escape")
        t.leave()


def names():
    """Names of the hardware in capitals; numbers of events, and words of a packet that were read, are faint."""
    with demo(80, 24, env=COLOURS) as t:
        t.keys(*STOP)
        t.wait("^breakpoint 1, C")
        t.keys("s", "s", "s", "7")
        t.wait("^ +311  CTRL ")
        check(looks(t), " +311 ", ("    ", PLAIN), (" 311", FAINT), ("  ", PLAIN), ("CTRL", NAME), (" 0x012b 0x00000004 ; ", PLAIN),
              ("MODE_BITMASK", NAME), (" pc=0x00fc", PLAIN), None)
        t.keys("Up", "Up")
        t.wait("^ +311  CTRL ")
        rows = [line for line in looks(t)[2:22] if any(look == CURSOR for _, look in line)]
        assert len(rows) == 1 and len(rows[0]) == 1 and rows[0][0][0].startswith("     312  PKT "), rows
        t.keys("4")
        t.wait("^=>  3  01400002")
        lines = looks(t)
        check(lines, "=>  3 ", ("=>  3  01400002", NOW), ("  ", PLAIN), ("COUNT", NAME), ("=2 ", PLAIN), ("SYSMEM", NAME), (" ", PLAIN),
              ("GROUP_ID", NAME), ("=1", PLAIN), None)
        check(lines, r" \.  2 ", (" ", PLAIN), (".  2  00000000", FAINT), None)    # nobody sees a blank's colour
        check(lines, "    5 ", ("    5  00000000", PLAIN), None)
        t.keys("5")
        t.wait("^written last:")
        lines = looks(t)
        check(lines, "written last:", ("written last:", HEAD), None)
        check(lines, "PC_MARKER ", ("PC_MARKER", NAME), (" 0x9880 = 00000001", PLAIN), None)
        check(lines, "RB_PS_", ("RB_PS_SAMPLEFREQ_CNTL", NAME), (" 0x8810 = 00000001  ", PLAIN), ("PER_SAMP_MODE", NAME), None)
        check(lines, "MEM_READ_ADDR.0x1", ("MEM_READ_ADDR", NAME), ("+0x1 @0x019 = 0001ffff", PLAIN), None)
        t.leave()


def memory():
    """Where a line lies is faint; the dword that was written last stands out."""
    with demo(80, 24, env=COLOURS) as t:
        t.keys(*STOP)
        t.wait("^breakpoint 1, C")
        t.keys("6")
        t.wait("^0x200008 was written last", "^0000000000200000: ")
        lines = looks(t)
        check(lines, "0000000000200000: ", ("0000000000200000:", FAINT), (" 00000011 00000022 ", PLAIN), ("00000033", CHANGE), (" ........", PLAIN), None)
        for other in ("00000000001ffff0", "0000000000200010"):
            check(lines, other, (other + ":", FAINT), (" ........" * 4, PLAIN), None)
        t.keys("e")
        t.type("0x200000")
        text = t.wait("^0x200000 = 0x200000")
        assert "was written last" not in text and line_of(looks(t), "0000000000200000: ")[2] == ("00000033", CHANGE)
        t.leave()


def state():
    """Groups of registers; what changed for a draw."""
    capture = path("looks.pm4", make.pm4("reg 0x8810 0x1", "reg 0x8820 0x7", "CP_DRAW_INDX_OFFSET 0x84 1 3", "reg 0x8810 0x2",
                                         "CP_DRAW_INDX_OFFSET 0x84 1 3"))
    with Terminal(80, 24, "--demo", "--screen", capture, env=COLOURS) as t:
        t.wait("^step 162")
        t.keys("8", "e")
        t.type("1")
        t.wait("^draw 1 of sqe: ", r"^\* 0x8810 ")
        check(looks(t), r"\* 0x8810 ", ("*", CHANGE), (" 0x8810 ", PLAIN))
        check(looks(t), "RB$", ("RB", HEAD), None)
        t.keys("e", "C-u")
        t.type("0")
        t.wait("^draw 0 of sqe: ", r"^\+ 0x8810 ")
        check(looks(t), r"\+ 0x8820 ", ("+", CHANGE), (" 0x8820 ", PLAIN))
        t.leave()


def found():
    """What a search found, in the pane with the keys, also where its line is moved; Escape ends it."""
    with demo(80, 24, env=COLOURS) as t:
        t.wait("^step 162")
        t.keys("7", "/")
        t.type("memr")
        t.wait(r"\[7 events\]", "^ +[0-9]+  MEMR")
        marked = [part for line in looks(t)[2:22] for part in line if part[1] == MATCH]
        assert marked and {text for text, _ in marked} == {"MEMR"}, looks(t)
        t.keys("Right")
        t.wait("^< MEMR")
        line = next(line for line in looks(t) if any(look == CURSOR for _, look in line))
        assert line[:2] == [("< ", CURSOR), ("MEMR", MATCH)], line
        t.keys("Escape", "Left")
        t.wait("^ +[0-9]+  MEMR")
        assert not [part for line in looks(t) for part in line if part[1] == MATCH]
        t.leave()


def cursor(t):
    """The number of the line that the cursor is on, once it has moved there: of code its address, of events theirs."""
    parts = [text for line in looks(t)[2:-1] for text, look in line if look == CURSOR]
    return int(parts[0].split()[0], 16 if len(parts[0].split()) == 1 else 10) if parts else None


def goes(t, number):
    """The cursor comes to that line."""
    t.until(lambda text: re.search(r"^( *%d  |.{4}%04x )" % (number, number), text, re.M) and cursor(t) == number, "the cursor is not at %d" % number)


def searched():
    """Forward to the next place that has it, back to the one before, round the ends; the case of letters does not matter."""
    said = cpscope("step", "--demo", text="disas 0 4000\n").stdout.split("> disas")[1]
    places = [int(at, 16) for at in re.findall(r"^..[ *] ([0-9a-f]{4}) \S+  .*waitin$", said, re.M)]
    assert places == sorted(places) and 0x20 in places and len(places) > 10, places
    here = places.index(0x20)
    with demo(80, 24) as t:
        t.wait("^=>  0020")
        t.keys("/")
        t.type("WaitIn")
        goes(t, places[here + 1])
        for key, to in (("]", here + 2), ("[", here + 1), ("[", here), ("[", here - 1), ("]", here)):
            t.keys(key)
            goes(t, places[to])
        t.keys("End", "]")
        goes(t, places[0])
        t.keys("[")
        goes(t, places[-1])
        t.keys("/", "Enter")
        goes(t, places[0])
        t.leave()
    said = cpscope("step", "--demo", text="b CP_SET_DRAW_STATE\nc\nlog 1000\n").stdout
    events = [int(number) for number in re.findall(r"^ *(\d+)  .*MEM_READ_ADDR", said, re.M)]
    assert len(events) > 3, events
    with demo(80, 24) as t:
        t.keys(*STOP[:3], "c", "7")
        t.wait(r"\[7 events\]", "^ +312  PKT ")
        t.keys("/")
        t.type("mem_read_addr")
        goes(t, events[0])
        for key, to in (("]", 1), ("]", 2), ("[", 1), ("[", 0), ("[", -1), ("[", -2), ("]", -1), ("]", 0)):
            t.keys(key)
            goes(t, events[to])
        t.keys("Home", "]")
        goes(t, events[0])
        t.keys("End", "[")
        goes(t, events[-1])
        t.leave()


def kinds(env, *more):
    """What stands at the same places on another terminal: the pane with the keys, a faint number, the instruction at hand, its
    place, a label, what was found."""
    with Terminal(80, 24, "--demo", "--screen", env=env, *more) as t:
        t.keys(*STOP)
        t.wait("^breakpoint 1, C")
        t.keys("s", "s", "s", "/")
        t.type("waitin")
        t.wait("^=>  00ff", "^    0100 d8000000  waitin")
        lines = looks(t)
        now = line_of(lines, "=>  00ff")
        t.keys("2", "q")
        t.wait(r"^\(cpscope\)")
        return [lines[1][0][1], line_of(lines, " +00f6 ")[-2:][0][1], now[0][1], line_of(lines, "CP_SET_DRAW_STATE:")[0][1],
                line_of(lines, " +0100 ")[-1][1], line_of(lines, r"  \* 00fd")[1][1]]


def own(name, *changes):
    """A description of a terminal that is `screen` but for lines that are replaced."""
    text = subprocess.run(["infocmp", "-1", "screen"], capture_output=True, text=True, check=True).stdout
    for pattern, line in ((r"^screen\|.*,$", name + "|of cpscope's tests,"), *changes):
        text, count = re.subn(pattern, lambda _: line, text, flags=re.M)
        assert count == 1, (pattern, text)
    subprocess.run(["tic", "-o", path("terminfo"), path(name + ".ti", text)], check=True, capture_output=True)
    return "TERM=%s TERMINFO=%s" % (name, path("terminfo"))


def terminals():
    """Sixteen colours have a grey, eight have none; without colours there are bold, reversed and underlined letters; a terminal
    that cannot go back to its own colours gets white on black."""
    assert kinds(COLOURS) == [FOCUS, FAINT, NOW, HEAD, MATCH, POINT]
    assert kinds("TERM=screen") == [FOCUS, PLAIN, NOW, HEAD, MATCH, POINT]
    assert kinds("TERM=vt100") == kinds(COLOURS + " NO_COLOR=1") == [("", "", "17"), PLAIN, HEAD, HEAD, ("", "", "14"), HEAD]
    if not shutil.which("tic") or not shutil.which("infocmp"):
        return
    sixteen = own("cps-sixteen", (r"^\tcolors#.*$", "\tcolors#16,"),
                  (r"^\tsetaf=.*$", r"\tsetaf=\E[%?%p1%{8}%<%t3%p1%d%e9%p1%{8}%-%d%;m,".replace("\\t", "\t")))
    assert kinds(sixteen) == [FOCUS, FAINT, NOW, HEAD, MATCH, POINT]
    black = own("cps-black", (r"^\top=.*\n", ""))
    assert kinds(black) == [FOCUS, ("37", "40", ""), ("32", "40", "1"), ("37", "40", "1"), MATCH, ("31", "40", "1")]


CASES = [("code", code), ("a delay slot", slots), ("registers", registers), ("titles, and what is said", titles), ("names", names),
         ("memory", memory), ("the state at a draw", state), ("what was found", found), ("where a search leads", searched), ("by the terminal", terminals)]
if os.environ.get("ONLY"):
    CASES = [case for case in CASES if os.environ["ONLY"] in case[0]]
tap.run(CASES)

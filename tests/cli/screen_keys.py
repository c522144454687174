#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The full-screen view: what Enter does on a line of each pane, the line at the bottom, the page of help, the wheel. Usage:
screen_keys.py CPSCOPE"""
import os
import re

import make
import tap
from scene import cpscope, path
from tree import ROOT, SCRIPTS
from debugger_firmware import calls, two_processors
from screen_terminal import STOP, Terminal, demo


def place(t):
    """Where the run stands, as the title says: its step."""
    return int(re.search(r"^step (\d+)", t.screen(), re.M)[1])


def numbers(t):
    """Of the events that are seen, once all keys so far have been taken."""
    t.keys(":")
    t.wait("^: *$")
    t.keys("Escape")
    t.gone("^: *$")
    return [int(line.split()[0]) for line in t.screen().split("\n")[2:] if re.match(r" +\d+  ", line)]


def behind(event):
    """Where the prompt stands behind that event."""
    return re.findall(r"^step \d+, event \d+,", cpscope("step", "--demo", text="event %d\n" % event).stdout, re.M)[-1]


def enter_code():
    """Enter runs to the cursor, and leaves no breakpoint; position of the run it does nothing."""
    with demo(80, 24) as t:
        t.wait("^step 162", "^=>  0020")
        t.keys("Enter", "e")
        t.type("CP_DRAW_INDX_OFFSET")
        at = re.search(r"^CP_DRAW_INDX_OFFSET:\n +([0-9a-f]{4}) ", t.wait("^CP_DRAW_INDX_OFFSET:"), re.M)[1]
        assert place(t) == 162
        t.keys("Enter")
        t.wait("^=>  " + at, "CP_DRAW_INDX_OFFSET$")
        t.keys("q")
        t.wait(r"^\(cpscope\)")
        t.type("p $pc")
        t.wait(r"= %d$" % int(at, 16))
        t.type("info b")
        t.type("p 6 * 7")
        assert re.search(r"info b\n\(cpscope\) p 6", t.wait("= 42")), t.screen()
        t.type("q")
        t.wait("EXIT=0")


def enter_calls():
    """Enter on a call shows the code behind it, on a processor makes it the one at hand."""
    with Terminal(80, 24, "--screen", *calls()) as t:
        t.keys(":", "=b *0x1c", "Enter", "c")
        t.wait(r"=>\* 001c ")
        t.keys("3")
        t.wait("^#0  001c", "^#1  0019", "^#2  0015")
        t.keys("Home", "/", "=#2", "Enter", "Enter")
        t.wait(r"\[1 code\]")
        t.keys("b")
        t.wait(r"^  \* 0015 ")
        t.keys("3", "Home", "/", "=ring", "Enter", "Enter")
        t.wait(r"\[3 calls\]", "^ring ")
        t.leave()
    with Terminal(80, 24, "--screen", *two_processors()) as t:
        t.keys(":", "=b event:REG", "Enter", "c")
        t.wait("^breakpoint 1")
        t.keys(">", "<")
        for core, other in (("sqe", "bv"), ("bv", "sqe")):
            t.keys("3")
            t.wait(r"\[3 calls\]", "^=> (sqe|bv) ")
            t.keys("Home", "/", "=" + core + " ", "Enter", "Enter", "q")
            t.wait(r"^\(cpscope\)")
            t.type("core")
            t.wait(r"^\* .*: %s " % core)
            t.type("screen")
            t.wait("[0-9] regs")
            t.keys("3")
            t.wait(r"\[3 calls\]", "^=> %s +[0-9a-f]{4} " % core, "^   %s +[0-9a-f]{4} " % other)
        t.leave()


def enter_asks():
    """In panes that show what is asked for Enter asks; in others it does nothing."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        for key, line in (("5", "^register"), ("6", "^address"), ("8", "^draw"), ("9", "^value")):
            t.keys(key, "Enter")
            t.wait(line)
            t.keys("Escape")
            t.gone(line)
        t.keys("2", "Enter")
        assert place(t) == 162
        t.keys("8", "e")
        t.type("x1")
        t.wait('"x1" is not the number of a draw')
        t.keys("e", "C-u")
        t.type("-1")
        t.wait('"-1" is not the number of a draw')
        t.leave()


def long_way():
    """A million instructions behind the start the state of a draw is not computed unasked."""
    capture = path("long.pm4", make.pm4(*["reg 0x8810 0x%x" % i for i in range(4)], "CP_DRAW_INDX_OFFSET 0x84 1 3"))
    with Terminal(80, 24, "--demo", "--screen", capture) as t:
        t.wait("^step 162")
        for line in ("tb CP_DRAW_INDX_OFFSET", "c", "tb 0x14b", "c", "patch 0x14b: jump 0x14b", "patch 0x14c: nop", "goto 1000200"):
            t.keys(":")
            t.type(line)
        t.keys("8")
        t.wait("^1000[0-9]{3} instructions led here: Enter runs them again")
        assert "have a value" not in t.screen()
        t.keys("Enter")
        t.wait("^in draw 0 of sqe: CP_DRAW_INDX_OFFSET")
        t.leave()


def nothing_there():
    """Enter in a list that is empty does nothing."""
    with Terminal(80, 24, "--engine", "pfifo", "--screen", os.path.join(SCRIPTS, "pfifo-nv3.run")) as t:
        t.wait("^step 0, event 0,")
        for key in ("7", "0", "2"):
            t.keys(key, "Enter")
        t.keys("7", "s")
        t.wait("^step 1, event [1-9]")
        t.leave()


def long_packet():
    """The next word of a packet is seen, with those in front of it, where the pane is shorter than the packet."""
    capture = path("packet.pm4", make.pm4("reg 0x8810 " + " ".join("0x%x" % i for i in range(100, 160))))
    with Terminal(80, 24, "--demo", "--screen", capture) as t:
        t.keys(":", "=tb PKT4", "Enter", "c", "4")
        t.wait("^0 of 60 dwords read", "^=>  0  ")
        t.keys(*["s"] * 20)
        t.wait("^ . 34  00000086", "^ . 37 ", "^=> 38  0000008a", "^   39 ")  # two words with each of them
        t.leave()


def points_and_lines():
    """b takes away what it set; lines of commands belong to the prompt."""
    with demo(80, 24) as t:
        t.wait("^=>  0020")
        t.keys("Down", "b")
        t.wait(r"^  \* 0021 ")
        t.keys("b")
        t.gone(r"\* 0021 ")
        t.keys("b")
        t.wait(r"^  \* 0021 ")
        t.keys(":")
        t.type("commands 2")
        t.wait("works at the prompt only")
        t.leave()


def bottom_line():
    """Up and Down go through what was typed, Tab through candidates and back to what was typed, Backspace out of it."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        for line in ("p 1", "p 2"):
            t.keys(":")
            t.type(line)
            t.wait("= %s" % line[2:])
        t.keys(":", "Up", "Up")
        t.wait("^:p 1$")
        t.keys("Down")
        t.wait("^:p 2$")
        t.keys("Down")
        t.wait("^: *$")
        t.keys("=info su", "Tab")
        t.wait("^:info submissions$")
        t.keys("Tab")
        t.wait("^:info su$")
        t.keys("BSpace", "BSpace")
        t.wait("^:info$|^:info $")
        t.keys("C-u")
        t.wait("^: *$")
        t.keys("BSpace")
        t.gone("^: *$")
        assert place(t) == 162
        t.leave()


def help_page():
    """By lines, pages and the wheel; nothing that is typed there is a command."""
    with demo(80, 12) as t:
        t.wait("^step 162")
        t.keys("?")
        first = t.wait("^ help").split("\n")
        t.keys("Down")
        second = t.gone(re.escape(first[1])).split("\n")
        assert second[1] == first[2], (first, second)
        t.mouse(5, 5, 65)
        t.gone(re.escape(second[1]))
        t.mouse(5, 5, 64)
        t.wait(re.escape(second[1]))
        t.keys("Up")
        t.wait(re.escape(first[1]))
        t.keys("NPage", "Home")
        t.wait(re.escape(first[1]))
        t.keys("s", "Escape")
        t.gone("^ help")
        assert place(t) == 162
        t.leave()


def wheel():
    """Over code it moves the cursor, over lists the cursor stays among the lines that are seen; a double click is Enter."""
    with demo(80, 24) as t:
        t.wait("^=>  0020")
        t.mouse(5, 5, 65)
        t.keys("b")
        found = re.search(r"^  \* ([0-9a-f]{4}) ", t.wait(r"^  \* 00[0-9a-f]{2} "), re.M)
        assert int(found[1], 16) > 0x20, found[0]
        t.keys("7", "Home")
        first = numbers(t)[0]
        for _ in range(3):
            t.mouse(5, 5, 65)
        t.gone("^ +%d  " % first)
        top = numbers(t)[0]
        t.keys("Enter")
        t.wait("^" + behind(top))
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys("7", "Up")
        bottom = numbers(t)[-1]
        t.mouse(5, 5, 64)
        t.gone(r"^ +%d  " % bottom)
        bottom = numbers(t)[-1]
        t.keys("Enter")
        t.wait("^" + behind(bottom))
        t.leave()
    with demo(80, 24) as t:
        row = t.wait("^step 162", "^CP_NOP:$", "^=>").split("\n").index("CP_NOP:") + 5
        at = int(t.screen().split("\n")[row].split()[0], 16)
        for what in (0, 3, 0, 3):
            t.tmux("send-keys", "-H", "1b", "5b", "4d", *("%x" % (32 + n) for n in (what, 9, row + 1)))
        t.wait("^=>  %04x" % at)
        t.leave()


def search_lists():
    """The cursor goes to the line that is found, forward and back, and round the end."""
    with demo(80, 24) as t:
        t.keys(*STOP[:3], "c")
        t.wait("^breakpoint 1, C")
        t.keys("7", "/")
        t.type("CP_MEM_WRITE")
        t.wait(r"\[7 events\]", r"^ *\d+  PKT ib1 \S+ 0x703d8005 ")
        numbers(t)
        t.keys("Enter")
        t.wait(r"^step (?!264,)\d+,")
        said = cpscope("step", "--demo", text="event %s\np header\n" % re.search(r"event (\d+)", t.screen())[1]).stdout
        assert "0x703d8005" in said, said
        t.leave()


def zoomed():
    """Escape ends a zoom, as z does."""
    with demo(120, 40) as t:
        t.wait("^step 162", "^ 7 events")
        t.keys("z")
        t.gone("^ 7 events")
        t.keys("Escape")
        t.wait("^ 7 events")
        t.keys("z")
        t.gone("^ 7 events")
        t.keys("z")
        t.wait("^ 7 events")
        t.leave()


def output_text():
    """Tabs of what a command prints go to the next multiple of eight columns; the last line needs no end."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys(":")
        t.type("source " + path("tabs.dbg", "echo a\tb\\n\necho 1234567\tc\\n\necho no end\n"))
        t.wait(r"\[0 out\]", "^a       b$", "^1234567 c$", "^no end$")
        t.leave()


def moves():
    """Keys of moves do what the commands do; capitals go back."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        for key, command in zip("snpfucSNPFUC", "step next packet finish submit continue rstep rnext rpacket rfinish rsubmit rcontinue".split()):
            said = cpscope("step", "--demo", text="b CP_SET_DRAW_STATE\ngoto 300\n%s\np step\np $pc\n" % command).stdout
            step, pc = (int(number) for number in re.findall(r"^0x[0-9a-f]+ = (\d+)$", said, re.M))
            assert step != 300, command
            t.keys(":", "=goto 300", "Enter")
            t.wait("^step 300, ")
            t.keys(key)
            t.wait("^step %d, .* sqe %04x " % (step, pc))
            t.keys(":", "=b CP_SET_DRAW_STATE", "Enter") if key == "u" else None
        t.leave()


def edges_of_code():
    """End is the last instruction of the image, Home position of the run."""
    with demo(80, 24) as t:
        t.wait("^=>  0020")
        t.keys("End", "b")
        last = int(re.search(r"^  \* ([0-9a-f]{4}) ", t.wait(r"^  \* [0-9a-f]{4} "), re.M)[1], 16)
        said = cpscope("step", "--demo", text="disas 0x%x 1\ndisas 0x%x 1\n" % (last, last + 1), status=3)
        assert " %04x " % last in said.stdout and said.stderr == "cpscope: (stdin):2: 0x%x: sqe has no code there\n" % (last + 1), said
        t.keys("Down", "b")
        t.gone(r"^  \* [0-9a-f]{4} ")
        t.keys("Home")
        t.wait("^=>  0020")
        t.leave()


def page(t):
    """The page of help without its title and what stands below it."""
    t.keys("?")
    t.wait("^ help: ", "^keys$")
    t.gone("q prompt$")
    text = t.settled()
    return [line for line in text.split("\n")[1:] if line and not re.fullmatch(r"\d+ more lines", line)]


def whole_help():
    """Each row of the tables is there, also where its text takes several lines; a page that is longer says by how much."""
    with open(os.path.join(ROOT, "tools", "face", "screen", "screen_key.def"), encoding="utf-8") as file:
        rows = re.findall(r'"([^"]+)", +"([^"]+)"\)$', file.read(), re.M)
    assert len(rows) > 20, rows
    with demo(200, 150) as wide, demo(44, 150) as narrow, demo(80, 150) as high:
        lines, folded, count = page(wide), page(narrow), len(page(high))
        for label, words in rows:
            assert "  %-11s%s" % (label, words) in lines, (label, lines)
        assert max(map(len, folded)) <= 44 and len(folded) > len(lines), folded
        assert " ".join(" ".join(folded).split()) == " ".join(" ".join(lines).split()), folded
        assert all(re.match(r"keys$|panes$|  (\S.{10}|  {10} ?)\S", line) for line in folded), folded
    with demo(80, 14) as t:
        page(t)
        t.wait("^%d more lines$" % (count - 12))
        for key, more in (("Down", 13), ("Down", 14), ("Up", 13), ("NPage", 23), ("Space", 33), ("PPage", 23), ("Home", 12)):
            t.keys(key)
            t.wait("^%d more lines$" % (count - more))
        t.keys("NPage", "NPage", "NPage", "NPage")
        t.gone("more lines")
        t.resize(80, count + 1)
        t.keys("Home")
        t.wait("^1 more lines$")
        t.resize(80, count + 2)
        t.gone("more lines")
        t.keys("F1", "q")
        t.gone("^ help")
        t.keys("F1")
        t.wait("^ help")
        t.keys("Enter")
        t.gone("^ help")
        t.leave()


def scribbled():
    """What something else wrote to the terminal goes with the next command, and with Ctrl-L."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        tty = t.tmux("display-message", "-p", "#{pane_tty}").strip()
        for keys in ((":", "=# a command that changes nothing", "Enter"), ("C-l",)):
            with open(tty, "wb", buffering=0) as file:
                file.write(b"\x1b7\x1b[5;30Hscribbled\x1b8")
            t.wait("scribbled")
            t.keys(*keys)
            t.gone("scribbled")
        t.leave()


def bad_words():
    """What is refused is shown as it was typed, whatever is in it."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys("9", "e")
        t.type("%SP")
        t.wait("^%SP: this GPU has no such register$")
        t.keys("5", "e")
        t.type("%s%n")
        t.wait('^no register is called "%s%n"$')
        t.leave()


def long_lines():
    """Of what is typed the end is seen; a question longer than half of the line makes room for its answer."""
    with demo(66, 24) as t:
        t.wait("^step 162")
        t.keys("8", "e", "=12")
        t.wait(r"^draw \(default: the current one\): 12$")
        t.keys("Escape")
        t.resize(65, 24)
        t.keys("e", "=34")
        t.wait("^34$")
        t.keys("Escape", ":", "=p " + "".join("%03d," % i for i in range(25)))
        shown = t.wait("024,$").split("\n")[23]
        assert shown == ":" + ("p " + "".join("%03d," % i for i in range(25)))[-63:], shown
        t.keys("Escape", "w")
        t.wait("^:watch *$")
        t.keys("Escape", "g")
        t.wait("^:goto *$")
        t.keys("Escape")
        t.leave()


def once():
    """A point for one time is called as it was, though it is gone; an address that was asked for is whole."""
    stream = make.pm4("reg RB_MRT[0].BASE 0x1008 0x5", "CP_NOP", "CP_MEM_WRITE 0x1008 5 7")
    capture = path("once.pm4", stream.replace("submit", "buffer 0x500001000 target\n    .word 0 0 0 0\nsubmit"))
    with Terminal(80, 24, "--demo", "--screen", capture) as t:
        t.wait("^step 162")
        for point, said in (("CP_NOP", "^breakpoint 1, CP_NOP( |$)"), ("pkt:CP_MEM_WRITE", r"^breakpoint 2, pkt:CP_MEM_WRITE \| PKT ib1 ")):
            t.keys(":")
            t.type("tb " + point)
            t.wait("^> tb ", "^. help")
            t.keys("c")
            t.wait(said)
        t.keys("5", "e")
        t.type("RB_MRT[0].BASE")
        t.wait(r'^RB_MRT\[0\]\.BASE = 00001008 = 0x0000000500001008 \[buf 1 "target" \+0x8\]$')
        t.leave()


def least():
    """40x8 is enough, one column or line less is not."""
    with demo(40, 8) as t:
        t.wait("^step 162")
        for size in ((39, 8), (40, 7)):
            t.resize(*size)
            assert " ".join(t.wait("^too small: ").split()) == "too small: %dx%d, needs 40x8" % size
            t.resize(40, 8)
            t.wait("^step 162")
        t.leave()


CASES = [("Enter on code", enter_code), ("Enter on calls and processors", enter_calls), ("Enter where something is asked", enter_asks),
         ("a long way is not gone unasked", long_way), ("Enter where nothing is", nothing_there), ("a packet longer than its pane", long_packet), ("breakpoints by a key", points_and_lines), ("the line at the bottom", bottom_line),
         ("the page of help", help_page), ("the wheel", wheel), ("what a search finds in lists", search_lists), ("Escape ends a zoom", zoomed),
         ("text that commands print", output_text), ("keys that move", moves), ("the ends of code", edges_of_code), ("all of the help", whole_help),
         ("what others wrote", scribbled), ("signs in what is typed", bad_words), ("long lines at the bottom", long_lines),
         ("points for one time", once), ("the least size", least)]
if os.environ.get("ONLY"):
    CASES = [case for case in CASES if os.environ["ONLY"] in case[0]]
tap.run(CASES)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The full-screen view in a real terminal (tmux), at many sizes. Usage: screen.py CPSCOPE
[ENGINE RUN_FILE]: with an engine, only its script"""
import os
import re
import signal
import subprocess
import sys
import tempfile

import make
import tap
from screen_terminal import CPSCOPE, STOP, Terminal, demo
from tree import SCRIPTS

PANES = ["code", "regs", "calls", "packet", "fields", "memory", "events", "state", "why", "out"]
PACKETS = {"packet", "state", "why"}  # only of engines with packets


def walk(width, height):
    """To a breakpoint, through it, back, out again: what must be seen."""
    with demo(width, height) as t:
        t.wait(r"^step 162, .*CP_NOP\+0x1")
        t.keys(":")
        t.type("b CP_SET_DRAW_STATE")
        t.wait("breakpoint 1, CP_SET_DRAW_STATE: 00fd")
        t.keys("c")
        text = t.wait(r"=>\* 00fd", r"^breakpoint 1, C", "^CP_SET_DRAW_STATE:")
        assert all(len(line) <= width for line in text.split("\n"))
        t.keys("2")
        t.wait(r"\*\$rem 00000009")
        t.keys("4")
        t.wait("70438009 CP_SET_DRAW", "0 of 9 dwords read", "=>  0  ")
        t.keys("7", "n")
        t.wait(r"\d+  PKT ib1 0x0000000000100060 0x70", "^step 265, ")
        t.keys("1")
        t.wait(r"=>  00fe")
        t.keys("N", "Down", "Down", "b")
        t.wait(r"=>\* 00fd[^\n]*\n[^\n]*\n  \* 00ff")
        t.keys("c")
        t.wait(r"=>\* 00ff")
        t.keys("C")
        t.wait(r"^step 264, ")
        t.keys(":")
        t.type("who RB_CCU_CNTL")
        t.wait(r"goto \d+ shows the machine after it")
        t.keys(":")
        t.type("nonsense")
        t.wait("no command is called")
        t.keys("?")
        t.wait("^ help", "breakpoint at the cursor")
        t.keys("Escape")
        t.wait("^step 264, ")
        t.leave()


def small():
    walk(80, 24)


def middle():
    walk(120, 40)


def large():
    walk(200, 50)


def titles(text):
    """Lines of titles, and how many panes they show at a time."""
    found = [line for line in text.split("\n") if re.search(r"(^|\|)[ \[]\d (%s)\b" % "|".join(PANES), line)]
    return len(found), sum(line.count("|") + 1 for line in found)


def layouts():
    """One pane below 100 columns or 20 lines; two columns from there, three from 160."""
    for size, bars in {(40, 8): 0, (80, 24): 0, (99, 30): 0, (99, 60): 0, (100, 19): 0, (100, 20): 1, (100, 30): 1, (120, 40): 1,
                       (160, 31): 1, (160, 32): 2, (200, 50): 2, (250, 70): 2}.items():
        with demo(*size) as t:
            text = t.wait("^step 162", "=>  0020", r"help")
            lines = text.split("\n")[:size[1]]
            assert lines[2].count("|") == bars, (size, text)
            assert titles(text)[0] == (1 if not bars else titles(text)[0]), (size, text)
            events = [i for i, line in enumerate(lines) if line.startswith(" 7 events")]
            assert bool(events) == bool(bars), (size, text)
            if bars:
                assert "|" not in lines[events[0]] and re.search(r"^ +\d+  PKT .*pc=0x", "\n".join(lines[events[0]:]), re.M)


def widths():
    """Columns are as wide as what they hold: no line of code or registers is cut."""
    with demo(132, 40) as t:
        t.keys(*STOP)
        t.keys("s", "s", "s")
        text = t.wait("^step 267")
        bar = text.split("\n")[2].index("|")
        assert all(line[bar] == "|" and line[bar - 1] != ">" for line in text.split("\n")[1:28]), text
        assert 40 < bar < 80 and r"$usraddr" in text, text


def completion():
    with demo(100, 30) as t:
        t.wait("^step 162")
        t.keys(":", "=tb CP_SET_DR", "Tab")
        t.wait("^:tb CP_SET_DRAW_STATE")
        t.keys("Enter", ":", "Up")
        t.wait("^:tb CP_SET_DRAW_STATE")
        t.keys("Escape")
        t.gone("^:tb")
        t.keys(":", "=tb CP_", "Tab")
        first = re.search(r"^:tb (CP_\w+)", t.wait(r"^:tb CP_\w+$"), re.M).group(1)
        t.keys("Tab")  # the next one of what was typed
        second = re.search(r"^:(tb CP_\w+)", t.wait(r"^:tb CP_(?!%s$)\w+$" % first[3:]), re.M).group(1)
        t.keys(*["BSpace"] * len(second))
        t.wait("^:$")
        t.keys("=tb CP_", "Tab")  # what is typed anew begins with the first one again
        t.wait("^:tb %s$" % first)
        t.keys(*["BSpace"] * len("tb " + first), "=tb NO_SUCH_PACKET", "Tab")
        t.wait("^:tb NO_SUCH_PACKET$")
        t.keys("Escape")
        t.gone("^:tb")
        t.leave()


def sideways():
    """A line that goes on: Right moves what is seen by eight columns, Left back, and not beyond its beginning."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys("7", "Home")
        rows = [row for row in t.wait(r"^ +\d+  MEMR").split("\n")[2:22] if row.strip()]
        t.keys("Right")
        moved = t.wait("^<").split("\n")[2:22]
        assert [row[1:] for row in moved[1:len(rows)]] == [row[9:] for row in rows[1:]], (rows, moved)
        t.keys("Left")
        t.gone("^<")
        t.keys("Left")
        assert [row for row in t.wait(r"^ +\d+  MEMR").split("\n")[2:22] if row.strip()] == rows
        t.leave()


def resized():
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.resize(160, 40)
        t.wait(r"2 regs[^\n]*fields", "^ 7 events")
        for size in ((30, 8), (20, 5), (40, 7), (10, 2), (1, 1), (3, 30), (39, 50)):
            t.resize(*size)
            t.settled()
            t.keys("s", "S", "4", "Down", "z", "z")
        t.resize(20, 5)
        t.wait("^too small: 20x5,")
        t.resize(30, 8)
        t.wait("too small: 30x8, needs 40x8|too small: 30x8,\nneeds")
        for size in ((80, 24), (99, 30), (100, 30), (120, 40), (40, 8), (200, 50), (80, 24)):
            t.resize(*size)
            text = t.wait("^step 162", "[0-9] packet")
            assert all(len(line) <= size[0] for line in text.split("\n")), (size, text)
        t.keys("1")
        t.wait("=>  0020")
        t.leave()


def no_terminal():
    done = subprocess.run([CPSCOPE, "step", "--demo"], input="screen\nq\n", text=True,
                          capture_output=True, timeout=120, env={**os.environ, "TERM": "nonsense"})
    assert done.returncode == 3 and "there is no terminal here" in done.stderr, (done.returncode, done.stderr)


def dumb():
    """A terminal that cannot place its cursor: one line, and the prompt."""
    for name in ("dumb", "nonsense"):
        with demo(80, 24, env="TERM=" + name) as t:
            t.wait("this terminal has no full-screen view", r"^\(cpscope\)")
            t.type("q")
            t.wait("EXIT=0")


COLOUR = re.compile(r"\x1b\[[\d;]*\b(3[0-7]|4[0-7]|9[0-7]|38;5;\d+|48;5;\d+)m")


def colours():
    """By the terminal; none with NO_COLOR, unless that is empty. What stands there is the same."""
    seen = set()
    for env, wanted in {"TERM=xterm-256color": True, "TERM=screen": True, "TERM=vt100": False, "TERM=xterm-256color NO_COLOR=1": False,
                        "TERM=xterm-256color NO_COLOR=": True, "TERM=xterm-mono": False}.items():
        with demo(120, 40, env=env) as t:
            t.keys(*STOP)
            text = t.wait(r"=>\* 00fd", r"^breakpoint 1, C", r"\*\$rem")
            assert bool(COLOUR.search(t.screen("-e"))) == wanted, (env, t.screen("-e"))
            seen.add(text)
            t.leave()
    assert len(seen) == 1, "the same text everywhere"


def escape():
    """Leaves a line, a search, the help, a pane; never the view."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys(":", "=abc")
        t.wait("^:abc")
        t.keys("Escape")
        t.wait("^. help")
        t.keys("/", "=abc")
        t.wait("^/abc")
        t.keys("Escape")
        t.wait("^. help")
        t.keys("5", "8")
        t.wait(r"\[8 state\]")
        t.keys("Escape")
        t.wait(r"\[5 fields\]")
        t.keys("?")
        t.wait("^ help", "^  : ")
        t.keys("PPage", "NPage", "End", "Escape")
        t.wait(r"\[5 fields\]")
        t.keys("e", "=RB_C", "Escape", "1", "Escape", "Escape", "Escape")
        t.wait(r"\[5 fields\]|\[1 code\]")
        t.leave()


def mouse():
    with demo(80, 24) as t:
        text = t.wait("^step 162", r"\[1 code\]")
        tabs = text.split("\n")[1]
        t.mouse(tabs.index("events"), 1)
        t.wait(r"\[7 events\]", "PKT rb")
        first = t.screen().split("\n")[2]
        t.mouse(10, 10, 64)
        t.gone(re.escape(first[:40]) + r"[^\n]*\n(.*\n){20}")
        line = t.screen().split("\n")[10]
        event = int(line.split()[0])
        t.mouse(10, 10)
        t.wait(r"^step 162")
        t.mouse(10, 10)
        t.wait(r"^step \d+, event (%d|%d)," % (event, event + 1))
        t.keys("1")
        text = t.wait(r"\[1 code\]", r"^=>")
        row = next(i for i, line in enumerate(text.split("\n")) if line.startswith("=>")) + 2
        t.mouse(8, row)
        t.keys("b")
        t.wait(r"^  \* ")
        assert t.screen().split("\n")[row].startswith("  *"), t.screen()
        for x, y, button in ((0, 0, 0), (79, 23, 0), (79, 23, 65), (5, 5, 1), (5, 5, 2), (70, 15, 3), (70, 15, 0)):
            t.mouse(x, y, button)
        t.leave()
    with demo(200, 50) as t:
        text = t.wait("^step 162")
        row = next(i for i, line in enumerate(text.split("\n")) if "8 state" in line)
        t.mouse(text.split("\n")[row].index("8 state"), row)
        t.wait(r"\[8 state\]", "registers have a value")
        t.leave()


def handlers_are_gone():
    """After the view its handlers are gone: they would draw on a screen that is freed."""
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys("q")
        t.wait(r"^\(cpscope\)")
        t.type("shell grep SigCgt /proc/$PPID/status")
        caught = int(re.search(r"^SigCgt:\s+([0-9a-f]{16})", t.wait(r"^SigCgt:.*\n(.*\n)*\(cpscope\)"), re.M).group(1), 16)
        for number in (signal.SIGTSTP, signal.SIGWINCH):
            assert not caught >> number - 1 & 1, "%s is caught: %016x" % (number.name, caught)
        t.type("q")
        t.wait("EXIT=0")


def search():
    with demo(80, 24) as t:
        t.wait("^step 162")
        t.keys("/")
        t.type("cp_set_draw_state:")
        t.wait("^CP_SET_DRAW_STATE:")
        t.keys("/")
        t.type("cread")
        first = t.wait("cread").split("\n")
        t.keys("]", "]", "[", "[", "Escape")
        t.wait("cread")
        assert t.screen().split("\n")[1:-2] == first[1:-2] or "cread" in t.screen()
        t.keys("Home")
        t.wait("^=>  0020")
        t.keys("7", "/")
        t.type("MEMW")
        t.wait(r"\[7 events\]", "MEMW")
        t.keys("/")
        t.type("no such text")
        t.wait("no such text: not in this pane")
        t.keys("/", "Enter", "]", "[")
        t.wait("no such text: not in this pane")
        t.leave()


def asked():
    """Memory at an address, a register's fields, where a value comes from, a draw."""
    with demo(80, 24) as t:
        t.keys("1", "e")
        t.type("CP_DRAW_INDX_OFFSET")
        t.wait("^CP_DRAW_INDX_OFFSET:", "^step 162,")
        t.keys("e")
        t.type("0x99999999999")
        t.wait("no code is there")
        t.keys("e")
        t.type("1 +")
        t.wait("expected")
        t.keys("6", "e")
        t.wait("^address:")
        t.type("0x100060")
        t.wait("0000000000100060: 70438009", r'\[ib1 0 "frame" \+0x60\]')
        t.keys("e", "C-u")
        t.type("1 +")
        t.wait("expected")
        t.keys("e", "C-u")
        t.type("")
        t.wait("was written last|nothing has been written")
        t.keys(*STOP, "c")
        t.wait("the end: every")
        t.keys("5", "e")
        t.type("PC_DRAWCALL_CNTL")
        t.wait(r"^PC_DRAWCALL_CNTL = 00000084", "^  PRIM_TYPE=DI_PT_TRILIST")
        t.keys("e", "C-u")
        t.type("nonsense")
        t.wait('no register is called "nonsense"')
        t.keys("9", "e")
        t.type("0x9e0d")
        t.wait("^0x9e0d = 0x00000003 3", "word of the stream at 0x100094")
        t.keys("8")
        t.wait("^after draw 0 of sqe: CP_DRAW_INDX_OFFSET", "registers have a value")
        t.keys("a")
        t.wait("a: only what changed")
        t.keys("e")
        t.type("0")
        t.wait("^draw 0 of sqe: CP_DRAW_INDX_OFFSET", "as the capture has it")
        t.keys("e", "C-u")
        t.type("99")
        t.wait("draw 99: the run makes [12] of them")
        t.leave()


def packet_read():
    """What was read of the packet, as $rem says it."""
    with demo(80, 24) as t:
        t.keys(*STOP, "4")
        t.wait("^0 of 9 dwords read", "^=>  0  ")
        for _ in range(40):
            t.keys("s")
            text = t.wait(r"dwords? read")
            found = re.search(r"^(\d+) of (\d+) dwords read", text, re.M)
            words = re.findall(r"^( \. |=> |   ) ?\d+  [0-9a-f]{8}", text, re.M)
            if not found or not words:
                continue
            read, count = int(found[1]), int(found[2])
            assert [w.strip() for w in words] == ["."] * read + ["=>"] * (read < count) + [""] * max(0, count - read - 1), text
        t.leave()


def panes_of(size, offered, *args, steps=3):
    """Each pane that there is shows something or says why not; keys of the others do nothing."""
    with Terminal(*size, "--screen", *args) as t:
        t.wait(r"^step \d", "[0-9] regs")
        for _ in range(steps):
            for number, name in enumerate(PANES):
                key = str((number + 1) % 10)
                t.keys(key)
                if name in offered:
                    t.wait(r"[\[ ]%s %s" % (key, name))
                else:
                    assert not re.search("%s %s" % (key, name), t.screen()), name
                t.keys("Down", "NPage", "Up", "End", "Home", "Right", "Left", "z", "z")
            t.keys("s")
        t.keys(*"cCpPfFuUS", "Tab", "BTab", "]", "[", ">", "<", "a", "o", "C-l", "Enter")
        t.wait(r"^step \d")
        t.keys("Escape", "Escape", "?")
        text = t.wait("^ help")
        t.keys("End", "Escape")
        t.leave()
        return text


def script():
    with Terminal(100, 30, "--engine", "hwsq", "--screen", os.path.join(SCRIPTS, "reclock.run")) as t:
        t.wait(r"^step 4", r"regs")
        t.keys(":")
        t.type("b 0x29")
        t.keys("c")
        t.wait(r"^=>\* 0029 420000  +datalo 0x0000", r"breakpoint 1")
        t.keys("N")
        t.wait(r"^=>  ")
        t.leave()


def script_of(engine, run):
    """Forward, back, and out."""
    with Terminal(100, 30, "--engine", engine, "--screen", run) as t:
        t.wait(r"^step \d", r" regs", r"^=>  0000 ")
        t.keys("s", "s", "s")
        t.wait(r"^=>  0002 ")
        t.keys("S")
        t.wait(r"^=>  0001 ")
        t.leave()


def engines():
    """Panes of an engine without packets are those that it has something for."""
    for engine, run in (("hwsq", "reclock.run"), ("seq", "pause.run"), ("vp1", "vp1.run"), ("pfifo", "pfifo-nv1.run"), ("pfifo", "pfifo-nv3.run")):
        offered = set(PANES) - PACKETS - ({"code", "calls"} if engine == "pfifo" else set())
        for size in ((80, 24), (200, 50)):
            how = subprocess.run([CPSCOPE, "step", "--engine", engine, os.path.join(SCRIPTS, run)], input="q\n", capture_output=True, text=True)
            if "built without" in how.stderr or "unknown" in how.stderr:
                continue
            has_memory = offered if has_memory_of(engine) else offered - {"memory"}
            panes_of(size, has_memory, "--engine", engine, os.path.join(SCRIPTS, run), steps=1)


def has_memory_of(engine):
    return engine in ("pfifo", "vp1")


def demo_panes():
    for size in ((80, 24), (120, 40), (200, 50)):
        panes_of(size, set(PANES), "--demo", steps=2)


def stopped():
    """Ctrl-C ends a run; the prompt and back again is the same session."""
    with demo(80, 24) as t:
        t.keys(*STOP[:3])
        t.wait("breakpoint 1, CP_SET_DRAW_STATE: 00fd")
        t.keys("c", ":")
        t.type("patch 0xfd: jump #CP_SET_DRAW_STATE")
        t.keys(":")
        t.type("patch 0xfe: add $05, $05, 0x0001")  # its delay slot: nothing that stands still
        t.keys(":")
        t.type("delete")
        t.keys("c")
        t.wait("^running; Ctrl-C stops")
        t.keys("C-c")
        t.wait("^interrupted")
        t.keys("q")
        t.wait(r"^\(cpscope\)")
        t.type("screen")
        t.wait(r"\[1 code\]|\[0 out\]")
        t.resize(120, 40)
        t.wait("^ 7 events")
        t.keys(":")
        t.type("screen")
        t.keys(":")
        t.type("q")
        t.wait("EXIT=0")


def strange_names():
    """Names out of files cannot move the cursor, and are no wider than their columns say."""
    inner = make.type7(0x10, 0)
    ring = make.type7(0x3f, 0x200000, 0, len(inner))
    dump = ("---\nkernel: 6.1\nrevision: 630 (6.3.0.2)\nringbuffer:\n  - id: 0\n    iova: 0x1000000\n    last-fence: 2\n"
            "    retired-fence: 1\n    rptr: 0\n    wptr: %d\n    size: 32768\n    data: !!ascii85 |\n     %s\nbos:\n  - iova: 0x200000\n"
            "    size: 4096\n    flags: 0x3\n    name: %s\n    data: !!ascii85 |\n     %s\n" %
            (len(ring), make.encode85(ring), "a\x1b[2J\u4f8b\u202e b", make.encode85(inner)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "odd.devcore")
        with open(path, "w", encoding="utf-8") as file:
            file.write(dump)
        for size in ((80, 24), (200, 50)):
            with Terminal(*size, "--demo", "--screen", path) as t:
                t.wait(r"^step \d+")
                t.keys(":")
                t.type("x /4 0x200000")
                text = t.wait("0000000000200000: 70100001", r'"a\\x1b\[2J\\xe4\\xbe\\x8b\\xe2\\x80\\xae b"')
                assert "\u4f8b" not in text and "\u202e" not in text, text
                t.leave()


def firmware_panes():
    """Every generation that there are images of: each pane, on a real stream where there is one."""
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    firmware = os.path.join(corpus, "firmware")
    captures = os.path.join(corpus, "captures")
    runs = [(["a630_sqe-190.fw"], "fd-clouds.rd.gz"), (["a740_sqe-158.fw"], "a750-ycbcr.pm4"),
            (["gen80000_sqe-077.fw"], "a840-ycbcr-tail.pm4"), (["a530_pfp.fw", "a530_pm4.fw"], "compute-a540.rd.gz")]
    for images, capture in runs:
        args = [arg for image in images for arg in ("--fw", os.path.join(firmware, image))]
        for size in ((80, 24), (120, 40), (200, 50)):
            panes_of(size, set(PANES), *args, os.path.join(captures, capture), steps=1)
    dump = ["--fw", os.path.join(firmware, "a630_sqe-190.fw"), os.path.join(captures, "crash.devcore")]
    if os.path.exists(dump[-1]):
        panes_of((120, 40), set(PANES), *dump, steps=1)


CASES = [("a script", script), ("at 80x24", small), ("at 120x40", middle), ("at 200x50", large),
         ("what is shown follows from the size", layouts), ("columns are as wide as what they hold", widths),
         ("completion and history", completion), ("lines that go on", sideways), ("the terminal changes its size", resized),
         ("without a terminal", no_terminal), ("a terminal that is too simple", dumb),
         ("colours by the terminal, none with NO_COLOR", colours), ("Escape returns", escape), ("the mouse", mouse),
         ("search", search), ("what panes are asked for", asked), ("what was read of a packet", packet_read),
         ("each pane of the demo", demo_panes), ("each pane of engines without packets", engines),
         ("Ctrl-C, and coming back", stopped), ("its handlers of signals are gone after it", handlers_are_gone), ("names out of files", strange_names), ("each pane with firmware of each generation", firmware_panes)]

if len(sys.argv) > 2:
    CASES = [("a script of " + sys.argv[2], lambda: script_of(*sys.argv[2:4]))]
if os.environ.get("ONLY"):
    CASES = [case for case in CASES if os.environ["ONLY"] in case[0]]
tap.run(CASES)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What hands that know gdb type: each habit, what gdb does, and that ours does it. One session on the demo through a
pipe; what only a terminal has (the empty line, interrupts, history) in a second one. Usage: habits.py CPSCOPE [edit]
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import tap
import terminal
from scene import CPSCOPE, cpscope, path

SAVED = path("points.dbg")
# Command; what gdb does; what ours prints. A line of commands behind "commands" prints nothing.
HABITS = [
    ("b CP_SET_DRAW_STATE", "breakpoint at a function", r"^breakpoint 1, CP_SET_DRAW_STATE: [0-9a-f]{4} CP_SET_DRAW_STATE$"),
    ("tbreak CP_MEM_WRITE", "the same for one stop", r"^breakpoint 2, CP_MEM_WRITE: "),
    ("break CP_REG_TO_MEM if count == 3", "with a condition", r"^breakpoint 3, CP_REG_TO_MEM: "),
    ("watch @IB_LEVEL", "stop when a value is written", r"^watchpoint 4, @IB_LEVEL$"),
    ("rwatch PC_DRAWCALL_CNTL", "stop when it is read", r"^watchpoint 5, "),
    ("awatch [0x200000]", "stop at either", r"^watchpoint 6, "),
    ("info breakpoints", "table of all points", r"^1 break CP_SET_DRAW_STATE, 0 hits\n2 break .* \(once\), 0 hits\n3 .* if count == 3, 0 hits\n4 watch "),
    ("i b", "the same", r"^1 break CP_SET_DRAW_STATE, 0 hits\n"),
    ("info watchpoints", "without breakpoints", r"^4 watch @IB_LEVEL"),
    ("disable 4-6", "a range of points stops nothing", r"^$"),
    ("i b", "and is shown as such", r"^4 watch @IB_LEVEL \(disabled\), 0 hits$"),
    ("delete 5 6", "several are removed", r"^$"),
    ("enable once 4", "one stops once more", r"^$"),
    ("run", "from the start to the first stop", r"^watchpoint 4, @IB_LEVEL\n  CTRL 0x0054 "),
    ("i b", "which was the last of that point", r"^4 watch @IB_LEVEL \(disabled\), 1 hit$"),
    ("d 4", "delete", r"^$"),
    ("c", "continue", r"^breakpoint 2, CP_MEM_WRITE\n"),
    ("info b", "a temporary point is gone", r"\A1 break CP_SET_DRAW_STATE, 0 hits\n3 break [^\n]*\n?\Z"),
    ("cont", "continue, another name", r"^breakpoint 1, CP_SET_DRAW_STATE\n"),
    ("stepi", "one instruction", r"^step 265, .* CP_SET_DRAW_STATE\+0x1$"),
    ("si 2", "two of them", r"^step 267, "),
    ("nexti", "one, calls in one piece", r"^step \d+, .*\n=> "),
    ("reverse-stepi", "one back", r"^step \d+, "),
    ("reverse-continue", "back to the last stop", r"^breakpoint 1, CP_SET_DRAW_STATE\nstep 264, "),
    ("reverse-nexti", "one back, calls in one piece", r"^step 263, "),
    ("tb pkt:CP_DRAW_INDX_OFFSET", "gdb has no packets; once after a dispatch", r"^breakpoint 7, "),
    ("c 2", "continue, and pass one stop by", r"^breakpoint 7, pkt:CP_DRAW_INDX_OFFSET\n  PKT "),
    ("p draw", "an expression", r"^0x00000000 = 0$"),
    ("p/x payload[2]", "in a form", r"^0x00000003$"),
    ("p/d -1", "signed", r"^-1$"),
    ("p/t 5", "binary", r"^0b101$"),
    ("p/a 0x44", "as a place of code", r"^0x44 CP_MEM_WRITE$"),
    ("print count == 3 && level == 1", "operators of C", r"^0x00000001 = 1$"),
    ("x/4xw 0x100000", "four words of memory", r"^0{10}100000:( [0-9a-f]{8}){4} \["),
    ("x", "those behind them", r"^0{10}100010:( [0-9a-f]{8}){4} \["),
    ("x/2xg 0x100000", "two of eight bytes", r"^0{10}100000:( 0x[0-9a-f]{16}){2}$"),
    ("x/3dw 0x100000", "three, decimal", r"^0{10}100000:( -?\d+){3}$"),
    ("x/3i CP_MEM_WRITE", "three instructions", r"\ACP_MEM_WRITE:\n(.*\n){2}.*\n?\Z"),
    ("display/x $02", "a value behind each stop", r"^1: \$02 = 0x[0-9a-f]{8}$"),
    ("display/i $pc", "the instruction, too", r"^2: \$pc\n"),
    ("info display", "the list of those", r"^1: /x \$02\n2: /1i \$pc$"),
    ("si", "there they are", r"\n1: \$02 = 0x[0-9a-f]{8}\n2: \$pc\n(\S.*\n)?=> "),
    ("undisplay 1", "one is gone", r"^$"),
    ("delete display 2", "the other, too", r"^$"),
    ("advance one below", "a bad place is an error", None),
    ("until CP_MEM_WRITE", "to a place, or out of the routine", r"^step \d+, "),
    ("b wait", "nothing is called so", None),
    ("start", "to where the session began", r"^step 162, "),
    ("advance CP_SET_DRAW_STATE", "to a place, once", r"^(breakpoint 1|step 264).*"),
    ("commands 1", "what to do at a point, to \"end\"", r"^$"), ("silent", "", r"^$"), ("echo here\\n", "", r"^$"),
    ("p $pc", "", r"^$"), ("cond 3 1", "", r"^$"), ("end", "", r"^$"),
    ("rc", "the point lies behind: nothing is said but what the commands say", r"^the start of the run|^here\n"),
    ("c", "silent", r"^here\n0x000000fd = 253\n?\Z"),
    ("i b", "commands are shown below their point", r"^1 break [^\n]*\n        silent\n        echo here\\n\n        p \$pc\n        cond 3 1\n3 break CP_REG_TO_MEM if 1, "),
    ("commands 1", "none take them away", r"^$"), ("end", "", r"^$"),
    ("ignore 1 1", "the next hit is passed", r"^$"),
    ("i b", "and said so", r"\(passes 1 more\)"),
    ("info registers $02", "one register", r"^\$02 +0x[0-9a-f]{8} = \d+$"),
    ("i r rem pc", "several, without the sign", r"^\$rem .*\n\$pc +0x000000fd = 253$"),
    ("info all-registers", "all there are", r"@0x054 00000001  IB_LEVEL"),
    ("info threads", "all processors", r"^\* step \d+, .* sqe 00fd CP_SET_DRAW_STATE$"),
    ("thread 0", "another one", r"^\* step "),
    ("info line", "where it stands", r"^step \d+, "),
    ("info symbol 0x45", "what an address is called", r"^0045 CP_MEM_WRITE\+0x1$"),
    ("info frame", "the call at hand", r"^#0  00fd CP_SET_DRAW_STATE\n"),
    ("where", "calls", r"^#0  00fd CP_SET_DRAW_STATE\npacket  70"),
    ("bt", "the same", r"^#0  00fd "),
    ("up", "in none: an error", None),
    ("frame 0", "a frame by its number", r"^#0  00fd "),
    ("list", "source around the place: the listing", r"(?s)00f8 .*=>. 00fd .*0105 "),
    ("list", "what follows", r"\A    0106 "),
    ("list -", "what precedes", r"(?s)\A    00fc .*0105 "),
    ("disassemble CP_MEM_WRITE 2", "instructions", r"\ACP_MEM_WRITE:\n    0044 .*\n    0045 .*\n?\Z"),
    ("ptype RB_CCU_CNTL", "what a type is made of", r"DEPTH_CACHE_SIZE\n +0x0 +CCU_CACHE_SIZE_FULL\n"),
    ("whatis CP_MEM_WRITE", "the same of a packet", r"^CP_MEM_WRITE, type 7, opcode 0x3d\n  \[0\] ADDR\n"),
    ("set var $02 = 0x12", "change a value", r"^step \d+, "),
    ("p $02", "as it is now", r"^0x00000012 = 18$"),
    ("jump CP_NOP", "go on elsewhere", r"^(breakpoint|watchpoint|step|the end|bad|deadlock)"),
    ("finish", "out of the routine", r"step \d+, "),
    ("clear CP_SET_DRAW_STATE", "breakpoints of a place are removed", r"^deleted 1$"),
    ("save breakpoints " + SAVED, "into a file of commands", r"^$"),
    ("delete", "all are removed", r"^$"),
    ("source " + SAVED, "and come back from it", r"^breakpoint 8, CP_REG_TO_MEM: "),
    ("shell echo $((6*7))", "a command of the system", r"^42$"),
    ("!echo two words", "the same", r"^two words$"),
    ("echo a\\nb\\n", "text", r"\Aa\nb\n?\Z"),
    ("re", "an ambiguous beginning is an error that lists", None),
    ("rev", "so is this one", None),
    ("disassem CP_NOP 1", "a unique beginning will do", r"001f "),
    ("event:REG", "no command", None),
    ("b event:REG,Irq", "classes in either case", r"^breakpoint \d+, "),
    ("b CP_EVENT_WRITE@ib2", "a place at a level", r"^breakpoint \d+, CP_EVENT_WRITE@ib2: "),
    ("  p 1 + + * (", "an error names the column of the line", None),
    ("help x", "help of one command", r"^  x \[/"),
    ("info", "the topics", r"^info registers +\S"),
    ("tui", "the screen, where there is a terminal", None),
]
ERRORS = {"advance one below": "column 9: expected a register", "b wait": "expected a packet, label", "up": "outermost frame",
          "re": '"re" is ambiguous: rstep, rnext', "rev": '"rev" is ambiguous: rstep', "event:REG": "no command is called",
          "  p 1 + + * (": "column 9: expected a number", "tui": "no terminal here"}


def spoken():
    text = "\n".join(command for command, _, _ in HABITS) + "\n"
    done = cpscope("step", "--demo", text=text, status=3)
    parts = ("\n" + done.stdout).split("\n> ")[1:]
    parts = [(part + "\n").split("\n", 1) for part in parts]
    said = []
    for command, out in parts:  # the lines of a file that is sourced stand among those of the pipe
        if len(said) < len(HABITS) and command == HABITS[len(said)][0]:
            said.append([command, out])
        else:
            said[-1][1] += out
    return said, done.stderr


def habit(index, command, want):
    def case():
        (typed, out) = SAID[index]
        assert typed == command, (typed, command)
        if want is None:
            line = [line for line in ERR.split("\n") if line.startswith("cpscope: (stdin):%d: " % (index + 1))]
            assert line and ERRORS[command] in line[0] and not out.strip(), (ERR, out)
        else:
            assert re.search(want, out.rstrip("\n") + ("\n" if out.strip() else ""), re.M), out
    return case


def errors_and_status():
    """A pipe goes on behind an error, a file does not; both end with status 3."""
    assert len(SAID) == len(HABITS)
    assert len(ERR.strip().split("\n")) == len(ERRORS), ERR
    bad = path("bad.dbg", "p 1\nfoo\np 2\n")
    done = cpscope("step", "--demo", "--batch", "-x", bad, status=3)
    assert "> foo" in done.stdout and "> p 2" not in done.stdout and "bad.dbg:2: no command is called" in done.stderr
    good = path("good.dbg", "p 1\n")
    assert "0x00000001 = 1" in cpscope("step", "--demo", "--batch", "-x", good).stdout
    for text in ("b CP_NOP\ncommands\np 1\n",):
        done = cpscope("step", "--demo", "-x", path("open.dbg", text), status=3)
        assert 'ends inside commands, expected "end"' in done.stderr, done.stderr
        assert 'expected "end"' in cpscope("step", "--demo", text=text, status=3).stderr


def points_say_what_they_are():
    """A condition without a place; kinds of accesses; ranges have a first and a last; no code, no listing."""
    text = "b if level == 1\nrw reg:0x8810-0x8820\nw [0x1fff]-[0x1000]\nlist 0xfffffffe\nlog 65537\ni b\np @0x100000001\n"
    done = cpscope("step", "--demo", text=text, status=3)
    assert "1 break here if level == 1, 0 hits\n2 rwatch reg:0x8810-0x8820, 0 hits" in done.stdout, done.stdout
    for number, want in ((3, "a range with its first not after its last"), (4, "0xfffffffe: sqe has no code there"), (5, "65537: expected a number"),
                         (7, "column 4: expected a control register")):
        assert re.search(r"^cpscope: \(stdin\):%d: .*%s" % (number, want), done.stderr, re.M), done.stderr


def saved_points_stay():
    """What an expression led to, and how often a point counts, are the same where the file is read elsewhere."""
    one, two = path("one.dbg"), path("two.dbg")
    text = ("b *$pc+4@ib1 if level == 1\nw [$pc*4+0x200000]\nw [0x1000]-[0x1fff]\nb CP_NOP@ib2\nenable once 4\nb\n"
            "save breakpoints %s\ngoto 5\ndelete\nsource %s\nsave breakpoints %s\n" % (one, one, two))
    cpscope("step", "--demo", text=text)
    with open(one, encoding="ascii") as a, open(two, encoding="ascii") as b:
        saved = a.read()
        assert saved == b.read(), saved
    assert saved == ("core sqe\nbreak *0x24@ib1 if level == 1\nwatch [0x200080]-[0x200083]\nwatch [0x1000]-[0x1fff]\ncore sqe\n"
                     "break CP_NOP@ib2\nenable once $bpnum\ncore sqe\nbreak *0x20\ncore sqe\n"), saved


def points_share_a_place():
    """A point that is passed hides no other one there; those for one time are gone even where c N passes them."""
    text = ("b CP_MEM_WRITE\nignore 1 5\nb CP_MEM_WRITE\nrun\ndelete\nb CP_EVENT_WRITE\nignore 3 9\nuntil CP_EVENT_WRITE\n"
            "delete\ntb CP_SET_DRAW_STATE\nb CP_DRAW_INDX_OFFSET\nenable once 5\nb CP_EVENT_WRITE\nstart\nc 3\ni b\n")
    out = cpscope("step", "--demo", text=text).stdout
    assert "> run\nbreakpoint 2, CP_MEM_WRITE\n" in out, out
    assert re.search(r"> until CP_EVENT_WRITE\nstep .* CP_EVENT_WRITE\n", out), out
    assert "> i b\n5 break CP_DRAW_INDX_OFFSET (disabled), 1 hit\n6 break CP_EVENT_WRITE, 1 hit\n" in out, out


def endless_is_limited():
    """Firmware, and commands of points, that never end."""
    loop = "patch CP_NOP: jump #CP_NOP\nc\n"
    steps = "patch CP_NOP+1: jump #CP_NOP+1\npatch CP_NOP+2: nop\ns 4000000000\n"
    again = "b CP_NOP\ncommands\nsilent\nrun\nend\nc\n"
    for text in (loop, again, steps):
        file = path("loop.dbg", text)
        for args, piped in ((["--batch", "-x", file], None), (["-x", file], ""), ([], text)):
            done = subprocess.run([CPSCOPE, "step", "--demo", "-l", "200k", *args], input=piped, text=True, capture_output=True,
                                  timeout=60, stdin=None if piped is not None else subprocess.DEVNULL)
            assert done.returncode == 4 or "deadlock" in done.stdout, (args, done.returncode, done.stdout[-400:], done.stderr)


class Prompt(terminal.Terminal):
    """A session at a terminal. Keys are typed once the line editor has the terminal: one that comes before is the terminal's."""

    def __init__(self, home, *args, **more):
        super().__init__([CPSCOPE, "step", "--demo", *args], {"HOME": home, "TERM": "xterm", "PATH": "/usr/bin:/bin", **more})
        self.until("(cpscope) ")

    def until(self, end):
        """What is shown up to @end."""
        self.wait_until(lambda: self.shown.endswith(end.encode()) and self.is_editing(), "no %r at the end" % end)
        text, self.shown = self.shown.decode().replace("\r", ""), b""
        return text

    def enter(self, keys, end="(cpscope) "):
        self.type(keys)
        self.wait_until(lambda: self.shown, "nothing is shown")
        return self.until(end)

    def expect(self, keys, wanted):
        """Types @keys, waits for @wanted, then for the prompt. The prompt alone is no answer: a resize draws it again."""
        self.type(keys)
        self.wait_for(wanted)
        self.until("(cpscope) ")

    def interrupt_run(self):
        """Ctrl-C until the run ends: one that comes before the run begins is not the run's. A second one would throw away what
        the terminal has not shown yet, so that each gets its time."""
        self.wait_until(lambda: not self.is_editing(), "the line editor keeps the terminal")
        for _ in range(terminal.PATIENCE):
            self.type("\x03")
            end = time.monotonic() + 1
            while time.monotonic() < end:
                self.read(0.05)
                if self.shown.endswith(b"(cpscope) ") and self.is_editing():
                    return self.until("(cpscope) ")
        raise AssertionError("the run goes on: %r" % self.shown[-2000:])

    def rest(self):
        """What is shown to the end."""
        self.end()
        return self.shown.decode()

    def close(self):
        """The end of input."""
        self.type("\x04")
        status = self.end()
        assert not status, "status %d" % status


def at_a_terminal():
    """What a terminal has: the empty line, interrupts, history."""
    if "edit" not in sys.argv[2:]:
        raise tap.Skip("built without a library for lines")
    with tempfile.TemporaryDirectory() as home:
        t = Prompt(home)
        t.expect("si\n", "step 163")
        t.expect("\n", "step 164")
        t.expect("\n", "step 165")
        t.expect("info regi\x03", "^C")
        t.expect("p 7\n", "0x00000007")
        t.expect("list CP_MEM_WRITE 3\n", " 0046 ")
        t.expect("\n", " 0047 ")
        t.expect("display 3\n", "1: ")
        t.enter("b CP_NOP\n")
        t.enter("commands\n", ">")
        t.enter("p 0x77\n", ">")
        t.enter("end\n")
        t.expect("c\n", "0x00000077")
        t.expect("p 1\n", "0x00000001")
        said = t.enter("\n")
        assert said.strip() == "(cpscope)", said
        t.enter("delete\n")
        t.enter("patch CP_NOP: add $02, $02, 0x1\n")
        t.enter("patch CP_NOP+1: jump #CP_NOP\n")
        t.enter("patch CP_NOP+2: add $03, $03, $02\n")
        t.type("c\n")
        said = t.interrupt_run()
        assert "interrupted" in said, said
        t.close()
        file = os.path.join(home, ".local/state/cpscope/history")
        assert os.stat(file).st_mode & 0o777 == 0o600 and os.stat(os.path.dirname(file)).st_mode & 0o777 == 0o700
        t = Prompt(home)
        t.expect("\x10\x10\n", "CP_NOP+2")  # Ctrl-P: the line before
        t.close()


def keys():
    """Tab completes a command, a topic, a register; Ctrl-C at a line that is empty leaves it empty."""
    if "edit" not in sys.argv[2:]:
        raise tap.Skip("built without a library for lines")
    with tempfile.TemporaryDirectory() as home:
        t = Prompt(home)
        for typed, said in (("reverse-fi\t", "step 157"), ("p @IB_LEV\t", "0x00000000 = 0"), ("b CP_SET_DRAW_ST\t", "breakpoint 1, CP_SET_DRAW_STATE")):
            t.expect(typed + "\n", said)
        t.enter("\x03")
        t.expect("p 9\n", "0x00000009")
        t.close()


def small_windows():
    """A window that is too small for the line, and one that grows again; libedit drew outside of its buffers there."""
    if "edit" not in sys.argv[2:]:
        raise tap.Skip("built without a library for lines")
    with tempfile.TemporaryDirectory() as home:
        for size in ((3, 3), (1, 1), (0, 0), (2, 40), (40, 2)):
            for early in (False, True):
                t = Prompt(home)
                if early:
                    t.resize(*size)
                t.type("p " + "x" * 300)
                t.wait_until(lambda: t.shown.count(b"x") >= 20, "the line is not shown")
                t.resize(*size)
                for key in ("y", "\x01", "\x05", "\x7f", "\x15"):
                    t.shown = b""
                    t.type(key)
                    t.wait_until(lambda: t.shown, "%r at %s shows nothing" % (key, size))
                t.resize(80, 24)
                t.expect("p 6 * 7\n", "0x0000002a")
                t.close()


def stopped():
    """Ctrl-Z stops it with the terminal as it was, and fg shows the line again."""
    if "edit" not in sys.argv[2:]:
        raise tap.Skip("built without a library for lines")
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "TERM": "xterm", "PATH": "/usr/bin:/bin", "PS1": "$ "}
        with terminal.Terminal(["sh", "-m"], env) as t:
            t.type("%s step --demo\n" % CPSCOPE)
            t.wait_for("(cpscope) ")
            t.wait_until(t.is_editing, "the line editor does not take the terminal")
            t.type("p 6 *")
            t.wait_for("(cpscope) p 6 *")
            t.type("\x1a")
            t.wait_for("Stopped")
            assert not t.is_editing(), "the line editor keeps the terminal"
            t.shown = b""
            t.type("fg\n")
            t.wait_for("(cpscope) p 6 *")
            t.type(" 7\n")
            t.wait_for("0x0000002a")
            t.type("q\n")
            t.wait_for("q\r\n$ ")
            t.type("exit\n")
            assert t.end() == 0


def history_has_a_place():
    """That of XDG_STATE_HOME, if it is a whole path; a path that is too long is none; where nothing can be kept it says so."""
    if "edit" not in sys.argv[2:]:
        raise tap.Skip("built without a library for lines")
    with tempfile.TemporaryDirectory() as home:
        for more, file in (({"XDG_STATE_HOME": home + "/own"}, home + "/own/cpscope/history"), ({"XDG_STATE_HOME": "own"}, home + "/.local/state/cpscope/history")):
            t = Prompt(home, **more)
            t.expect("p 0x1234\n", "= 4660")
            t.close()
            with open(file, encoding="utf-8") as kept:
                assert kept.read() == "p 0x1234\n", file
        t = Prompt(home, XDG_STATE_HOME="/" + "x" * 4090)
        t.expect("p 1\n", "= 1")
        t.type("q\n")
        assert "not kept" not in t.rest()
        with open(home + "/file", "w", encoding="utf-8"):
            pass
        t = Prompt(home, XDG_STATE_HOME=home + "/file")
        t.expect("p 1\n", "= 1")
        t.type("q\n")
        said = t.rest()
        assert "cpscope: the history is not saved: " in said and said.endswith("Not a directory\r\n"), said


def script_then_prompt():
    """-x without --batch goes on at the prompt, as gdb does."""
    with tempfile.TemporaryDirectory() as home:
        t = Prompt(home, "-x", path("good.dbg", "p 0x55\n"))
        t.expect("p 9\n", "0x00000009")
        t.close()


SAID, ERR = spoken()
tap.run([("%s: %s" % (command, what or "a line of those"), habit(i, command, want)) for i, (command, what, want) in enumerate(HABITS)] + [
    ("a pipe goes on behind an error, a file does not", errors_and_status),
    ("points say what they are about", points_say_what_they_are),
    ("points share a place", points_share_a_place),
    ("saved points stay where they were", saved_points_stay),
    ("nobody waits for endless firmware, nor for endless commands", endless_is_limited),
    ("a terminal has the empty line, interrupts and history", at_a_terminal),
    ("keys of the prompt", keys),
    ("a window that shrinks below the line, and grows again", small_windows),
    ("Ctrl-Z stops the prompt, fg shows its line again", stopped),
    ("where lines are kept", history_has_a_place),
    ("a script, then the prompt", script_then_prompt),
])

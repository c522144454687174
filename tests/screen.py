#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The full-screen view in a real terminal (tmux), at two sizes. Usage: screen.py CPSCOPE
[ENGINE RUN_FILE]: with an engine, only its script"""
import os
import re
import shutil
import subprocess
import sys
import time

import tap

CPSCOPE = os.path.abspath(sys.argv[1])
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")


class Terminal:
    count = 0

    def __init__(self, width, height, *args):
        Terminal.count += 1
        self.socket = "cpscope-test-%d-%d" % (os.getpid(), Terminal.count)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "%s step %s; echo EXIT=$?; exec sleep 60" % (CPSCOPE, " ".join(args)))

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, *args], capture_output=True, text=True,
                              timeout=20).stdout

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.keys("Enter")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, *patterns):
        """The screen, once it shows all of @patterns; an error if it does not for ten seconds."""
        for _ in range(200):
            text = self.screen()
            missing = [p for p in patterns if not re.search(p, text, re.M)]
            if not missing:
                return text
            time.sleep(0.05)
        raise AssertionError("no %r in\n%s" % (missing, text))

    def close(self):
        self.tmux("kill-server")


def walk(width, height):
    """To a breakpoint, through it, back, out again: what must be seen."""
    t = Terminal(width, height, "--demo", "--screen")
    try:
        t.wait(r"^step 162, .*CP_NOP\+0x1")
        t.keys(":")
        t.type("b CP_SET_DRAW_STATE")
        t.wait("breakpoint 1, CP_SET_DRAW_STATE: 00fd")
        t.keys("c")
        text = t.wait(r"=>\* 00fd", r"\| breakpoint 1, C", r"\*\$rem 00000009", "70438009 CP_SET_DRAW",
                      "^CP_SET_DRAW_STATE:")
        assert len(text.split("\n")[0]) <= width
        t.keys("n", "o")
        t.wait(r"=>  00fe", r"\d+  PKT ib1 0x0000000000100060 0x70")
        t.keys("N", "Down", "Down", "b")
        t.wait(r"=>\* 00fd[^\n]*\n[^\n]*\n  \* 00ff")
        t.keys("c")
        t.wait(r"=>\* 00ff")
        t.keys("C")
        t.wait(r"^step 264, ")
        t.keys(":")
        t.type("who RB_CCU_CNTL")
        t.wait("REG 0x8e07 0x10000000 user")
        t.keys(":")
        t.type("nonsense")
        t.wait("no command is called")
        t.keys("?")
        t.wait("breakpoint at the cursor")
        t.keys("q")
        t.wait(r"^\(cpscope\)")
        t.type("p 6 * 7")
        t.wait("= 42")
        t.type("q")
        t.wait("EXIT=0")
    finally:
        t.close()


def small():
    walk(80, 24)


def large():
    walk(200, 50)


def completion():
    t = Terminal(100, 30, "--demo", "--screen")
    try:
        t.wait("^step 162")
        t.keys(":")
        t.tmux("send-keys", "-l", "tb CP_SET_DR")
        t.keys("Tab")
        t.wait("^:tb CP_SET_DRAW_STATE")
        t.keys("Enter", ":", "Up")
        t.wait("^:tb CP_SET_DRAW_STATE")
        t.keys("Escape", "q")
        t.wait(r"^\(cpscope\)")
    finally:
        t.close()


def resized():
    t = Terminal(80, 24, "--demo", "--screen")
    try:
        t.wait("^step 162")
        t.tmux("resize-window", "-x", "160", "-y", "40")
        t.wait("registers .* output")
        t.tmux("resize-window", "-x", "30", "-y", "8")
        t.wait("the terminal is too small")
        t.tmux("resize-window", "-x", "80", "-y", "24")
        t.wait("=>  0020")
    finally:
        t.close()


def no_terminal():
    done = subprocess.run([CPSCOPE, "step", "--demo"], input="screen\nq\n", text=True,
                          capture_output=True, timeout=20, env={**os.environ, "TERM": "nonsense"})
    assert done.returncode == 0, done.stderr


def script():
    t = Terminal(100, 30, "--engine", "hwsq", "--screen", os.path.join(SCRIPTS, "reclock.run"))
    try:
        t.wait(r"^step 4", r"registers")
        t.keys(":")
        t.type("b 0x29")
        t.keys("c")
        t.wait(r"^=>\* 0029 420000  +datalo 0x0000", r"breakpoint 1")
        t.keys("N")
        t.wait(r"^=>  ")
        t.keys("q")
        t.wait(r"^\(cpscope\)")
        t.type("q")
        t.wait("EXIT=0")
    finally:
        t.close()


def script_of(engine, run):
    """Forward, back, and out."""
    t = Terminal(100, 30, "--engine", engine, "--screen", run)
    try:
        t.wait(r"^step \d", r" registers", r"^=>  0000 ")
        t.keys("s", "s", "s")
        t.wait(r"^=>  0002 ")
        t.keys("S")
        t.wait(r"^=>  0001 ")
        t.keys("q")
        t.wait(r"^\(cpscope\)")
        t.type("q")
        t.wait("EXIT=0")
    finally:
        t.close()


CASES = [("a script", script), ("at 80x24", small), ("at 200x50", large), ("completion and history", completion),
         ("the terminal changes its size", resized), ("without a terminal", no_terminal)]

if len(sys.argv) > 2:
    CASES = [("a script of " + sys.argv[2], lambda: script_of(*sys.argv[2:4]))]
if not shutil.which("tmux"):
    print("1..0 # SKIP no tmux")
    sys.exit(0)
tap.run(CASES)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sixth engine is a folder, rows of target.def and a name in engine.c: a copy of the tree gets them, is built, and
every command works on it. Usage: engine.py SOURCE_FOLDER"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import make
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.abspath(sys.argv[1])
SCRIPT = os.path.join(HERE, "counter.run")
ROWS = (
    ("isa/target.def", r"^GEN\(VP1_G80.*\n",
     'GEN(CNT, counter, 0, "chip", "chip", "", "cnt", 0, CNT, 0, HOST, HOST, "the test engine")\n'),
    ("isa/target.def", r"^LAYOUT\(VP1_G80.*\n", 'LAYOUT(CNT, CNT, "", ANY, NVM, NULL, NULL, NULL, NULL, NULL, NULL)\n'),
    ("isa/target.def", r"^PROCESSOR\(VP1.*\n", 'PROCESSOR(CNT, "counter", 0, "the test engine")\n'),
    ("emu/engine.c", r"^#define ENGINES\(ROW\) ", "ROW(counter) "),
)
FOLDER = tempfile.TemporaryDirectory()
TREE = os.path.join(FOLDER.name, "tree")
CPSCOPE = os.path.join(FOLDER.name, "build", "tools", "cpscope")


def path(name):
    return os.path.join(FOLDER.name, name)


def skipped(folder, names):
    return [name for name in names if name.startswith(".git") or name == "__pycache__" or
            os.path.exists(os.path.join(folder, name, "build.ninja"))]


def add_rows():
    for file, before, row in ROWS:
        full = os.path.join(TREE, file)
        text = open(full).read()
        found = list(re.finditer(before, text, re.M))
        assert len(found) == 1, (file, before)
        open(full, "w").write(text[:found[0].end()] + row + text[found[0].end():])


def builds():
    shutil.copytree(SOURCE, TREE, ignore=skipped)
    add_rows()
    for command in (["meson", "setup", path("build"), TREE, "-Dbuildtype=plain", "-Dwerror=true", "-Dengine=tests/house/engine"],
                    ["ninja", "-C", path("build"), "tools/cpscope"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert not done.returncode, done.stdout[-3000:] + done.stderr


def cpscope(*args, status=0, text=None):
    done = subprocess.run([CPSCOPE, *args], capture_output=True, text=True, input=text, timeout=60)
    assert done.returncode == status, "%s: status %d\n%s%s" % (args, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def runs():
    out = cpscope("run", "--engine", "counter", SCRIPT)
    assert "counter REG 0x0100 0x00000017 poke" in out.replace("0x000100", "0x0100"), out


def checks():
    """Every form of a trace holds it, and says it again."""
    for form in make.FORMS:
        cpscope("run", "--engine", "counter", SCRIPT, "-e", "all", "-o", path("it." + form))
        cpscope("check", path("it." + form))
    text = open(path("it.trace")).read()
    open(path("bad.trace"), "w").write(text.replace("0x00000017 poke", "0x00000018 poke"))
    cpscope("check", path("bad.trace"), status=1)


def differs():
    changed = path("changed.run")
    open(changed, "w").write(open(SCRIPT).read().replace("set 0x4", "set 0x5"))
    cpscope("run", "--engine", "counter", changed, "-o", path("changed.trace"))
    cpscope("run", "--engine", "counter", SCRIPT, "-o", path("same.trace"))
    assert "0x00000017" in cpscope("diff", path("same.trace"), path("changed.trace"), status=1)
    cpscope("diff", path("same.trace"), path("same.trace"))


def covers():
    text = cpscope("cover", "--engine", "counter", SCRIPT, "-o", path("it.info"))
    assert re.match(r"\s*6 of\s+6 instructions, 1 taken and 1 passed of 1 branches", text), text
    assert "DA:6,4" in open(path("it.info")).read(), "the delay slot runs each time"


def steps():
    """A breakpoint in the delay slot, a conditional watchpoint, back again, a change that belongs to the run."""
    lines = ("b 0x3\nc\nc\np sum\nw sum if sum > 0xc\nd 1\nc\np sum\nrs\np sum\nc\nc\np sum\nrc\np sum\n"
             "set sum = 0x100\nd 2\nc\np reg:0x100\n")
    out = cpscope("step", "--engine", "counter", SCRIPT, text=lines)
    assert "counter 0003 , delay slot of a branch to 0002\n=>* 0003 02000005  add 0x000005" in out, out
    values = [line.split()[-1] for line in out.split("\n") if " = " in line and not line.startswith(">")]
    assert values == ["8", "13", "8", "18", "13", "266"], (values, out)


def in_an_editor():
    other_test("dap.py", "counter", SCRIPT, "3")


def full_screen():
    if not shutil.which("tmux"):
        raise tap.Skip("no tmux")
    other_test("screen.py", "counter", SCRIPT)


def other_test(name, *args):
    done = subprocess.run([sys.executable, os.path.join(TREE, "tests", "cli", name), CPSCOPE, *args], capture_output=True, text=True)
    assert not done.returncode and "\nok 1 - a script of counter" in done.stdout, done.stdout + done.stderr


def assembles():
    source = path("it.s")
    open(source, "w").write(open(SCRIPT).read().split("code\n")[1])
    cpscope("asm", "--engine", "counter", "--chip", "cnt", source, "-o", path("it.bin"))
    text = cpscope("disasm", "--engine", "counter", "--chip", "cnt", path("it.bin"))
    assert "loop #l" in text and "add 0x000005" in text, text


tap.run([(case.__name__, case) for case in (builds, runs, checks, differs, covers, steps, in_an_editor, full_screen, assembles)])

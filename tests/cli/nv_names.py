#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of NVIDIA's registers from a tree of the user's, in everything that shows names. Usage: nv_names.py CPSCOPE"""
import os
import re

import mkrnn
import tap
from scene import cpscope, path
from tree import SCRIPTS

TREE = mkrnn.write(path("tree"))


def script(name):
    return os.path.join(SCRIPTS, name)


def run(engine, name, *args):
    return cpscope("run", "-q", "--engine", engine, script(name), *args, "-o", "-").stdout


def traces():
    """Names and fields behind the events; events are as they were."""
    for engine, name, wanted in (("hwsq", "reclock.run", ["PBUS.DEBUG_6 READS=FORCED no-name=0x8 ", "PBUS.HWSQ.STATE AT=0x41 ", "PFB.REFRESH ", "PFB.PART[0] "]),
                                 ("seq", "pause.run", ["PFB.PART[0] "]), ("vp1", "vp1.run", ["PVP.CTL "]), ("pfifo", "pfifo-nv1.run", ["PFIFO.INTR "])):
        plain, named = run(engine, name), run(engine, name, "--rnn", TREE)
        for want in wanted:
            assert "; " + want in named and "; " + want not in plain, (engine, want)
        assert [line.split(";")[0] for line in plain.split("\n")] == [line.split(";")[0] for line in named.split("\n")], engine
    assert "PBUS_HWSQ_FLAGS_1" in run("hwsq", "reclock.run", "--rnn", TREE), "what the tree has not is called as without it"


def chips():
    """A chip has the names that one of its generation has."""
    code = path("chip.s", "addr 0x001002d4\nexit\n")
    for chip, there in (("nv41", False), ("g80", True), ("g92", True)):
        assert ("PFB.REFRESH" in cpscope("disasm", "--engine", "hwsq", "--chip", chip, "--rnn", TREE, code).stdout) == there, chip


def listings():
    text = cpscope("disasm", "--engine", "hwsq", "--rnn", TREE, script("reclock.run")).stdout
    assert re.search(r"addr 0x001002d4 +; 001e PFB.REFRESH\n", text), text
    assert cpscope("asm", "--engine", "hwsq", path("named.s", text), "-o", path("named.bin")).stdout == ""
    text = cpscope("disasm", "--engine", "seq", "--seq-abi", "new", "--rnn", TREE, path("seq.s", "write 0x10a1c4\n")).stdout
    assert "PDAEMON.D.DATA" in text, text


def differences():
    """Both sides' registers, of two chips and of two traces."""
    text = cpscope("diff", "--rnn", TREE, "--fw", "hwsq:g80", "--fw", "hwsq:g92", path("differs.s", "data 1\naddr 0x001002d4\n[41]\naddr 0x001002d4\nexit\n"), status=1).stdout
    assert "PFB.REFRESH" in text, text
    one = path("one.trace", run("hwsq", "reclock.run"))
    two = path("two.trace", run("hwsq", "reclock.run").replace("REG 0x1002d4 0x00000001", "REG 0x1002d4 0x00000002"))
    assert "PFB.REFRESH" in cpscope("diff", "--rnn", TREE, one, two, status=1).stdout
    assert "PFB.REFRESH" in cpscope("convert", "--rnn", TREE, one, "-o", "-").stdout


def debugger():
    session = path("session.txt", "c\nwho reg:PFB.REFRESH\n")
    text = cpscope("step", "--batch", "--engine", "hwsq", "--rnn", TREE, "-x", session, script("reclock.run")).stdout
    assert "REG 0x1002d4 0x00000001" in text and "PFB.REFRESH" in text, text


def refused():
    done = cpscope("run", "--engine", "hwsq", "--rnn", path("empty-tree"), script("reclock.run"), status=3)
    assert done.stderr.count("\n") == 1 and "expected nv_mmio.xml or root.xml" in done.stderr, done.stderr
    broken = mkrnn.write(path("broken"))
    os.remove(os.path.join(broken, "bus", "pbus.xml"))
    done = cpscope("run", "--engine", "hwsq", "--rnn", broken, script("reclock.run"), status=3)
    assert done.stderr.count("\n") == 1 and 'nv_mmio.xml: line 5: import of "bus/pbus.xml"' in done.stderr, done.stderr


tap.run([
    ("traces of every engine", traces),
    ("chips", chips),
    ("listings", listings),
    ("differences", differences),
    ("the debugger", debugger),
    ("trees that are none", refused),
])

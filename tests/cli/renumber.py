# SPDX-License-Identifier: MIT
"""`diff --fw` of two chips that number control registers otherwise prints which correspond: on made images, and on
shipped ones against Mesa's names of both layouts. Usage: renumber.py CPSCOPE control.tsv"""
import json
import os
import re

import tap
from scene import CORPUS, FOLDER, run
from tree import ROOT

NAMES = os.path.join(ROOT, "isa", "names", "control.tsv")
# One handler on two layouts: numbers differ, and one side has two instructions more.
HANDLER = """[%s]
[#jumptbl]
UNKN0:
CP_NOP:
    cwrite $02, [$00 + %s]
    cwrite $03, [$00 + %s]
    cread $04, [$00 + %s]
    %s
    and $04, $04, 0x3
    cwrite $04, [$00 + %s]
    cwrite $05, [$00 + %s]
    mov $06, 0x12
    cread $07, [$00 + %s]
    waitin
    mov $01, $data
jumptbl:
.jumptbl #CP_NOP
"""


def asm(name, *words, handler=HANDLER):
    source, out = os.path.join(FOLDER, name + ".afuc"), os.path.join(FOLDER, name + ".fw")
    with open(source, "w", encoding="utf-8") as file:
        file.write(handler % words)
    done = run("asm", source, "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def diff(a, b, *options):
    done = run("diff", "--fw", a, "--fw", b, *options)
    assert done.returncode == 0, done
    return done.stdout


def rows(a, b):
    return json.loads(diff(a, b, "--json"))["renumbering"]


def made():
    old = asm("old", "01740001", *["0x011", "0x012", "0x033"], "nop", *["0x011", "0x012", "0x033"])
    new = asm("new", "01520001", *["0x021", "0x022", "0x055"], "nop\nnop\nnop", *["0x021", "0x022", "0x055"])
    found = {(row["a"], row["b"], row["count"], row["agree"]) for row in rows(old, new)}
    assert found == {(0x11, 0x21, 1, 2), (0x12, 0x22, 1, 2), (0x33, 0x55, 1, 2)}, found
    assert "0x033       -> 0x055" in diff(old, new)


def doubtful():
    """Two registers that both look like one, and one that is this one three times and that one twice."""
    old = asm("two", "01740001", *["0x011", "0x012", "0x011"], "nop", *["0x012", "0x011", "0x012"])
    new = asm("merged", "01520001", *["0x021"] * 3, "nop", *["0x021"] * 3)
    assert rows(old, new) == [] and rows(new, old) == [], (rows(old, new), rows(new, old))
    old = asm("five", "01740001", *["0x011"] * 3, "nop", *["0x011"] * 2, "0x033")
    new = asm("split", "01520001", *["0x021", "0x022", "0x021"], "nop", *["0x022", "0x021", "0x055"])
    assert rows(old, new) == [], rows(old, new)


def booted():
    """Registers that only the boot names, in front of all handlers."""
    def image(name, *words):
        boot = HANDLER.replace("UNKN0:\nCP_NOP:\n", "").replace("    waitin\n", "CP_NOP:\n    waitin\n")
        return asm(name, *words, handler=boot)
    old = image("boot-a", "01740001", *["0x011", "0x012", "0x033"], "nop", *["0x011", "0x012", "0x033"])
    new = image("boot-b", "01520001", *["0x021", "0x022", "0x055"], "nop\nnop\nnop", *["0x021", "0x022", "0x055"])
    found = {(row["a"], row["b"], row["count"], row["agree"]) for row in rows(old, new)}
    assert found == {(0x11, 0x21, 1, 2), (0x12, 0x22, 1, 2), (0x33, 0x55, 1, 2)}, found


def without_handler():
    """Of a packet whose entry leads to no code in one of the images nothing is compared; the others count."""
    old = asm("all-a", "01740001", *["0x011", "0x012", "0x033"], "nop", *["0x011", "0x012", "0x033"])
    new = asm("all-b", "01520001", *["0x021", "0x022", "0x055"], "nop\nnop\nnop", *["0x021", "0x022", "0x055"])
    expected = rows(old, new)
    assert len(expected) == 3

    def hole(path, value):
        """Entry 0x7f of the table, the last word of the file."""
        with open(path, "rb") as file:
            data = file.read()
        with open(path + ".hole", "wb") as file:
            file.write(data[:-4] + value.to_bytes(4, "little"))
        return path + ".hole"

    for value in (0xffffffff, os.path.getsize(old) // 4 - 2, 0x00ffffff):
        assert rows(hole(old, value), new) == expected and rows(old, hole(new, value)) == expected, value
        assert rows(hole(old, value), hole(new, value)) == expected, value


def alike():
    old = asm("one", "01740001", *["0x011"] * 3, "nop", *["0x011"] * 3)
    done = run("diff", "--fw", old, "--fw", old)
    assert done.returncode == 3 and "give at least one capture" in done.stderr, done


PART = "[%s]\n%s\nUNKN0:\nCP_NOP:\nmov $02, %s\ncwrite $02, [$00 + %s]\nwaitin\nmov $01, $data\njumptbl:\n.jumptbl #CP_NOP\n"


def part(name, word, control, offset="[#jumptbl]", value="0x5"):
    source, out = os.path.join(FOLDER, name + ".afuc"), os.path.join(FOLDER, name + ".fw")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PART % (word, offset, value, control))
    done = run("asm", source, "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def refused(a, b, *options):
    done = run("diff", "--fw", a, "--fw", b, *options)
    assert done.returncode == 3 and not done.stdout, done
    return done.stderr


def apart():
    """No processor runs a part of both, in either order."""
    sqe = part("sqe", "01520001", "0x011")
    aqe = part("aqe", "01520001", "0x011", "cread $03, [$14 + 0x271]")
    pfp = part("pfp", "005ff001", "0x011")
    for a, b in ((sqe, aqe), (aqe, sqe), (part("a740", "01740001", "0x011"), aqe), (pfp, sqe), (sqe, pfp)):
        assert "have no processor in common" in refused(a, b), (a, b)


def sides():
    """Each side has the names of its own layout, in the events, in the code and in the counts."""
    old, new = part("side-a", "01740001", "0x01c"), part("side-b", "01520001", "0x01c", value="0x6")
    stream = os.path.join(FOLDER, "nop.pm4")
    with open(stream, "w", encoding="utf-8") as file:
        file.write("# cpscope-pm4 1\nchip 0x43050a01\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n")
    done = run("diff", "--fw", old, "--fw", new, stream, "-e", "ctrl")
    assert done.returncode == 1, done
    for label, name in (("old", "MEM_READ_ADDR"), ("new", "APERTURE_CNTL")):
        assert re.search(r"(?m)^  %s +sqe CTRL 0x001c .*; %s " % (label, name), done.stdout), done.stdout
        assert "cwrite $02, [$00 + @%s]" % name in done.stdout, done.stdout
    assert "CTRL 0x001c MEM_READ_ADDR / APERTURE_CNTL\n" in done.stdout, done.stdout


def generations():
    """A capture of one generation on firmware of two: --as names the side that is not of it."""
    old, new = part("six", "016ee001", "0x011"), part("seven", "01740001", "0x011")
    stream = os.path.join(FOLDER, "six.pm4")
    with open(stream, "w", encoding="utf-8") as file:
        file.write("# cpscope-pm4 1\ngpu 630\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n")
    assert "--as a7xx" in refused(old, new, stream)
    assert "--as a8xx" in refused(old, new, stream, "--as", "a8xx")
    done = run("diff", "--fw", old, "--fw", new, stream, "--as", "a7xx")
    assert done.returncode == 0 and "six.pm4: no differences" in done.stdout, done


def named():
    """Registers that have one name in both layouts, whose numbers Mesa's people found by themselves."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    layouts = {"A7XX_CONTROL_REG": {}, "A7XX_GEN3_CONTROL_REG": {}}
    for line in open(NAMES, encoding="utf-8"):
        columns = line.rstrip("\n").split("\t")
        if columns[0] in layouts and len(columns) > 4:
            layouts[columns[0]].setdefault(columns[4], int(columns[1], 16))
    old, new = layouts.values()
    firmware = [os.path.join(CORPUS, "firmware", name) for name in ("a740_sqe.fw", "gen70900_sqe-181.fw")]
    found = {row["a"] + i: row["b"] + i for row in rows(*firmware) for i in range(row["count"])}
    both = [name for name in old if name in new and old[name] in found]
    wrong = [name for name in both if found[old[name]] != new[name]]
    assert len(set(found.values())) == len(found), "two registers became one"
    # The sum of a740 is scratch of the firmware; THREAD_SYNC and the stamps are found, too.
    assert not wrong and len(both) >= 35, (wrong, len(both))
    return "%d names" % len(both)


tap.run([("pairs of two images are found, however much code is between", made),
         ("what a bare majority says is left out", doubtful),
         ("registers of the boot", booted), ("entries that lead to no code", without_handler),
         ("two images of one layout need captures", alike),
         ("images without a processor in common are refused", apart), ("each side has its own names", sides),
         ("two generations run one capture with --as", generations),
         ("a740 and gen70900: as Mesa's names say", named)])

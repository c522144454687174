#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goldens: found inputs, differences, rewriting, and what happens when files are missing, cut, damaged
or cannot be written. Usage: check.py CPSCOPE"""
import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile

import make
import tap
from make import pm4
from scene import CPSCOPE
from tree import DEMO, GOLDEN as GOLDENS

GOLDEN = os.path.join(GOLDENS, "demo.trace")
STREAM = pm4("reg 0x8a00 0x11 0x22", "CP_EVENT_WRITE 0x31")
# Enough packets for a trace of many kilobytes.
LONG = STREAM.replace("    CP_EVENT", "".join("    reg 0x%x 0x%x\n" % (0x8000 + 7 * i % 0xf00,
                                                                  i * 2654435761 % 2**32)
                                         for i in range(3000)) + "    CP_EVENT")


class Room:
    """A folder with firmware, a capture and goldens of them in every form."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "inputs", "deep"))
        self.text("inputs/a.pm4", STREAM)
        self.text("inputs/long.pm4", LONG)
        assert self.run("asm", DEMO, "-o", "inputs/deep/my.fw").returncode == 0
        for form in make.FORMS:
            assert self.trace("inputs/a.pm4", "a." + form).returncode == 0
        assert self.trace("inputs/long.pm4", "long.cpt").returncode == 0
        os.mkdir(self.path("apart"))
        shutil.copy(self.path("a.cpt"), self.path("apart"))
        shutil.copy(GOLDEN, os.path.join(folder, "demo.trace"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name, text):
        open(self.path(name), "w").write(text)

    def read(self, name):
        return open(self.path(name), "rb").read()

    def run(self, *args, room=None):
        """With @room, no file grows beyond that many bytes: what a full disk looks like."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        return subprocess.run([CPSCOPE, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, preexec_fn=limit if room is not None else None)

    def trace(self, capture, out, **more):
        return self.run("run", "--fw", "inputs/deep/my.fw", capture, "-o", out, **more)

    def files(self):
        return sorted(os.listdir(self.folder))


def fails(done, *words):
    lines = [line for line in done.stderr.splitlines() if line.startswith("cpscope: ")]
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert len(lines) == 1 and all(word in lines[0] for word in words), done.stderr


def passes(r):
    for name in ("demo.trace", "a.trace", "a.cpt", "a.jsonl"):
        done = r.run("check", name, "--search", "inputs")
        assert (done.returncode, done.stdout) == (0, name + ": pass\n"), done.stderr


def renamed(r):
    os.rename(r.path("inputs/deep/my.fw"), r.path("inputs/other-name.fw"))
    done = r.run("check", "a.cpt", "--search", "inputs")
    os.rename(r.path("inputs/other-name.fw"), r.path("inputs/deep/my.fw"))
    assert done.returncode == 0, done.stderr


def differs(r):
    r.text("changed.trace", r.read("a.trace").decode().replace("REG 0x8a01 0x00000022",
                                                               "REG 0x8a01 0x00000023"))
    done = r.run("check", "changed.trace", "--search", "inputs")
    assert done.returncode == 1
    for text in ("golden   sqe REG 0x8a01 0x00000023", "now      sqe REG 0x8a01 0x00000022",
                 "type4 RB_UNKNOWN_8A00 x2", "1 difference,"):
        assert text in done.stdout, (text, done.stdout)


def masked(r):
    for mask, status in (("reg:0x8a01", 0), ("reg:0x8a01/0x1", 0), ("reg:0x8a01/0x2", 1),
                         ("reg:0x8a02-0x8aff", 1)):
        done = r.run("check", "changed.trace", "--search", "inputs", "--mask", mask)
        assert done.returncode == status, (mask, done.stdout)


def update(r):
    done = r.run("check", "changed.trace", "--search", "inputs", "--update")
    assert done.returncode == 0 and "1 difference," in done.stdout
    assert done.stdout.endswith("changed.trace: rewritten\n"), done.stdout
    assert r.read("changed.trace") == r.read("a.trace")


def missing_capture(r):
    r.text("inputs/deep/a.pm4", STREAM + "; the same name, other contents\n")
    done = r.run("check", "apart/a.cpt", "--search", "inputs/deep")
    os.unlink(r.path("inputs/deep/a.pm4"))
    fails(done, "a.cpt", "a.pm4", "--search")


def missing_firmware(r):
    fails(r.run("check", "apart/a.cpt"), "a.cpt", "my.fw", "sha256", "--search")


def absent_golden(r):
    fails(r.run("check", "nowhere.cpt"), "nowhere.cpt", "No such file")


def cut(r):
    whole = r.read("long.cpt")
    open(r.path("cut.cpt"), "wb").write(whole[:len(whole) * 2 // 3])
    fails(r.run("check", "cut.cpt", "--search", "inputs"), "cut.cpt", "offset 0x", "cut short")


def corrupt(r):
    damaged = bytearray(r.read("long.cpt"))
    damaged[len(damaged) * 2 // 3] ^= 0x10
    open(r.path("corrupt.cpt"), "wb").write(damaged)
    fails(r.run("check", "corrupt.cpt", "--search", "inputs"), "corrupt.cpt", "offset 0x",
          "corrupt")


def other_generation(r):
    for name in ("gen.trace", "gen.jsonl"):
        form = name.split(".")[1]
        r.text(name, r.read("a." + form).decode().replace("gen a6xx", "gen a7xx"))
        fails(r.run("check", name, "--search", "inputs"), name, "a7xx", "a6xx")


def not_a_golden(r):
    r.text("no.trace", "REG 0x1 0x2\n")
    fails(r.run("check", "no.trace"), "no.trace")
    r.text("nofw.trace", "# cpscope-trace 1\n# gen a6xx\nREG 0x1 0x2 data ; pc=0x0000\n")
    fails(r.run("check", "nofw.trace"), "nofw.trace", "firmware")


def one_bad_among_good(r):
    done = r.run("check", "cut.cpt", "a.cpt", "--search", "inputs")
    assert done.returncode == 3 and "a.cpt: pass" in done.stdout


def full_disk(r):
    before = r.files()
    for name in ("full.cpt", "full.trace", "full.jsonl"):
        fails(r.trace("inputs/long.pm4", name, room=4096), name, "cannot write", "File too large")
    assert r.files() == before, set(r.files()) - set(before)


def full_disk_update(r):
    r.text("inputs/long.pm4", LONG)
    wrong = r.run("convert", "long.cpt", "-o", "wrong.trace")
    assert wrong.returncode == 0, wrong.stderr
    r.text("wrong.trace", r.read("wrong.trace").decode().replace("REG 0x8a01 0x00000022",
                                                                 "REG 0x8a01 0x00000023"))
    before, names = r.read("wrong.trace"), r.files()
    done = r.run("check", "--update", "wrong.trace", "--search", "inputs", room=4096)
    fails(done, "wrong.trace", "cannot write")
    assert r.read("wrong.trace") == before and r.files() == names


def read_only_output(r):
    """/proc takes no files, not even from root."""
    for command in (("run", "--demo", "-o"), ("convert", "a.cpt", "-o")):
        for name in ("/proc/x.trace", "/proc/x.cpt", "/nowhere/x.cpt"):
            fails(r.run(*command, name), name, "cannot")


def described(r):
    """`info` counts what the lines of the text form are, and reads every form alike."""
    with open(os.path.join(r.folder, "a.trace"), encoding="utf-8") as file:
        lines = [line.split()[0] for line in file if not line.startswith("#")]
    found = []
    for name in ("a.trace", "a.cpt", "a.jsonl"):
        done = r.run("info", "--json", name)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["files"][0])
    assert found[0]["events"] == {word: lines.count(word) for word in lines}, found[0]
    assert found[0]["kind"] == "trace" and found[0]["end"] == "done", found[0]
    assert all({**one, "name": ""} == {**found[0], "name": ""} for one in found), found


def firmware_path(r):
    """A name without a folder is looked for below --fw-path, unless it is there."""
    fails(r.run("run", "--fw", "my.fw", "inputs/a.pm4"), "my.fw", "cannot open")
    fails(r.run("run", "--fw", "./my.fw", "--fw-path", "inputs/deep", "inputs/a.pm4"), "./my.fw", "cannot open")
    done = r.run("run", "--fw", "my.fw", "--fw-path", "inputs", "--fw-path", "inputs/deep", "inputs/a.pm4")
    assert done.returncode == 0 and "# firmware my.fw" in done.stdout, done.stderr


def boot_only(r):
    """Also of a processor that executes no streams, an AQE: who it is stands in each line."""
    with open(os.path.join(r.folder, "inputs", "aqe.afuc"), "w", encoding="utf-8") as file:
        file.write("[01520001]\n[01000000]\ncread $03, [$14 + 0x271]\nmov $02, 0x5\ncwrite $02, [$00 + 0x400]\nend: mov $00, $data\njump #end\nnop\n")
    assert r.run("asm", "inputs/aqe.afuc", "-o", "inputs/aqe.fw").returncode == 0
    for firmware, line in (("inputs/deep/my.fw", "PKT rb "), ("inputs/aqe.fw", "aqe CTRL 0x0400 0x00000005")):
        done = r.run("run", "--fw", firmware, "-o", "boot.trace", "-e", "default,ctrl")
        assert done.returncode == 0 and "0 of 0 submissions" in done.stderr, done
        with open(os.path.join(r.folder, "boot.trace"), encoding="utf-8") as file:
            assert "\n" + line in file.read(), firmware
        done = r.run("check", "--search", "inputs", "boot.trace")
        assert done.returncode == 0 and "boot.trace: pass" in done.stdout, done
    fails(r.run("run", "--fw", "inputs/aqe.fw", "inputs/a.pm4"), "--as a7xx")


def kept(room):
    """With --cache a golden is run once, and another firmware's run is not taken for it."""
    source = open(DEMO).read()
    again = source.replace("xor $data, $02, 0x3", "xor $data, $02, 0x7", 1)
    assert again != source
    room.text("again.afuc", again)
    assert room.run("asm", "again.afuc", "-o", "inputs/again.fw").returncode == 0
    made = room.run("run", "--fw", "inputs/again.fw", "inputs/a.pm4", "-o", "again.cpt")
    assert made.returncode == 0, made.stderr
    for goldens, counts in ((["a.cpt"], "1 runs emulated, 0 from the cache\n"),
                            (["a.cpt"], "0 runs emulated, 1 from the cache\n"),
                            (["again.cpt", "a.cpt"], "1 runs emulated, 1 from the cache\n"),
                            (["demo.trace"], "0 runs emulated, 0 from the cache\n")):
        plain = room.run("check", *goldens, "--search", "inputs")
        done = room.run("check", *goldens, "--search", "inputs", "--cache", "kept")
        assert done.returncode == 0 and counts in done.stderr, done.stderr
        assert done.stdout == plain.stdout


def as_json(r):
    """An object for each golden, in their order: one that passes, one that differs in the value of one register, one that cannot be read."""
    r.text("other.trace", r.read("a.trace").decode().replace("REG 0x8a01 0x00000022", "REG 0x8a01 0x00000023"))
    done = r.run("check", "--json", "a.cpt", "other.trace", "nowhere.cpt", "a.jsonl", "--search", "inputs")
    rows = json.loads(done.stdout)
    assert done.returncode == 3 and [row["golden"] for row in rows] == ["a.cpt", "other.trace", "nowhere.cpt", "a.jsonl"], done.stdout
    assert [row.get("differences") for row in rows] == [0, 1, None, 0], rows
    assert "No such file" in rows[2]["error"] and rows[2]["error"] in done.stderr, (rows[2], done.stderr)


def compressed(r):
    """A golden that somebody has compressed is read, and not rewritten: it would no longer be compressed."""
    for text, status in (("REG 0x8a01 0x00000022", 0), ("REG 0x8a01 0x00000023", 1)):
        packed = gzip.compress(r.read("a.trace").replace(b"REG 0x8a01 0x00000022", text.encode()))
        open(r.path("packed.trace"), "wb").write(packed)
        assert r.run("check", "packed.trace", "--search", "inputs").returncode == status
    done = r.run("check", "--update", "packed.trace", "--search", "inputs")
    fails(done, "packed.trace", "compressed", "expected a trace that can be rewritten")
    assert r.read("packed.trace") == packed


def not_modelled(r):
    """The summary names what is not modelled, and how often the trace says so: once, however often a processor comes there
    (docs/formats.md). Here it is a control register that no document has, written four times in two submissions."""
    line = "\nCP_NOP:\n"
    source = open(DEMO).read()
    assert source.count(line) == 1
    r.text("odd.afuc", source.replace(line, line + "        cwrite $00, [$00 + 0xfee]\n" * 2))
    assert r.run("asm", "odd.afuc", "-o", "inputs/odd.fw").returncode == 0
    r.text("twice.pm4", pm4("CP_NOP", "CP_NOP") + "submit frame\n")
    for fw, wanted in (("inputs/odd.fw", [{"space": "ctrl", "number": 0xfee, "count": 1}]), ("inputs/deep/my.fw", [])):
        done = r.run("run", "--json", "--fw", fw, "twice.pm4")
        assert done.returncode == 0 and json.loads(done.stdout)["unmodelled"] == wanted, done.stdout
        text = r.run("run", "--fw", fw, "twice.pm4").stderr
        assert ("not modelled, with counts:\n  ctrl   0x0fee x1\n" in text) == bool(wanted), text


CASES = [
    ("--json has an object for each golden", as_json),
    ("a compressed golden is read, and not rewritten", compressed),
    ("the summary has what is not modelled", not_modelled),
    ("without a capture the boot runs, and passes as a golden", boot_only),
    ("firmware without a folder is found by --fw-path", firmware_path),
    ("info tells of a trace in any form what its lines say", described),
    ("goldens in every form pass, their inputs found below --search", passes),
    ("inputs are found by their contents, whatever their names", renamed),
    ("one changed value is named with packet and both sides", differs),
    ("masked values may differ", masked),
    ("--update says what changed and writes what now comes out", update),
    ("a missing capture is one error, also where another has its name", missing_capture),
    ("missing firmware is one error", missing_firmware),
    ("a golden that is not there is one error", absent_golden),
    ("a cut .cpt is one error with its offset", cut),
    ("a corrupted frame is one error with its offset", corrupt),
    ("a golden for another generation is one error", other_generation),
    ("what is no golden is one error", not_a_golden),
    ("a bad golden does not stop the next one", one_bad_among_good),
    ("a full disk is one error and leaves nothing behind", full_disk),
    ("a full disk while updating leaves the golden as it was", full_disk_update),
    ("a place where nothing can be written is one error", read_only_output),
    ("with --cache what is known is not run again", kept),
]

with tempfile.TemporaryDirectory() as folder:
    room = Room(folder)
    tap.run([(name, lambda case=case: case(room)) for name, case in CASES])

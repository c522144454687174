# SPDX-License-Identifier: MIT
"""--chip-id and --as: what a run is told of the chip, on the command line, in heads, and again by `check`.
Usage: chip_options.py CPSCOPE"""
import json
import os
import subprocess
import sys
import tempfile

import tap

CPSCOPE = os.path.abspath(sys.argv[1])
# Stores what CHIP_ID reads, and again at every packet, because nothing loads the packet table.
PROGRAM = """[016ee001]
[#jumptbl]
cread $02, [$00 + 0x000]
mov $addr, 0x8810
mov $data, $02
UNKN0:
CP_NOP:
(rep)mov $00, $data
waitin
mov $01, $data
jumptbl:
.jumptbl #CP_NOP
"""
SCRATCH = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(SCRATCH.name, name)


def cpscope(*words):
    return subprocess.run([CPSCOPE, *words], capture_output=True, text=True, timeout=60, cwd=SCRATCH.name)


def prepare():
    for name, text in (("chip.afuc", PROGRAM), ("six.pm4", "# cpscope-pm4 1\ngpu 630\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n"),
                       ("seven.pm4", "# cpscope-pm4 1\nchip 0x43050a01\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n")):
        with open(path(name), "w", encoding="utf-8") as file:
            file.write(text)
    done = cpscope("asm", "chip.afuc", "-o", "chip.fw")
    assert done.returncode == 0, done.stderr


def written(*options, stream="six.pm4"):
    done = cpscope("run", "--fw", "chip.fw", stream, "-o", "-", *options)
    assert done.returncode == 0, done.stderr
    return sorted({line.split()[2] for line in done.stdout.splitlines() if line.startswith("REG 0x8810")}), done


def identity():
    assert written()[0] == ["0x00000001"], "the row of id 6ee"
    assert written("--chip-id", "0x30000000")[0] == ["0x30000000"]
    assert written("--chip-id", "5:0x4000")[0] == ["0x00000005"]
    return "CHIP_ID"


def refused():
    for text in ("", "x", "1:", "1:2:3", "0x100000000", "-1", "1:0x100000000", "1 2"):
        done = cpscope("run", "--fw", "chip.fw", "six.pm4", "-o", "no.trace", "--chip-id", text)
        assert done.returncode == 3 and done.stderr.count("\n") == 1, (text, done)
        assert "--chip-id" in done.stderr and not os.path.exists(path("no.trace")), (text, done)
    assert cpscope("info", "--chip-id", "1", "chip.fw").returncode == 2


def foreign():
    done = cpscope("run", "--fw", "chip.fw", "seven.pm4", "-o", "-")
    assert done.returncode == 3 and "--as a6xx" in done.stderr, done
    done = cpscope("run", "--fw", "chip.fw", "seven.pm4", "-o", "-", "--as", "a7xx")
    assert done.returncode == 3 and "--as a7xx" in done.stderr, done
    values, done = written("--as", "a6xx", stream="seven.pm4")
    assert "\n# as a6xx\n# warning " in done.stdout and "warning: the capture is of a7xx" in done.stderr, done
    assert "warning" not in written("--as", "a6xx")[1].stderr, "the capture is none of another generation"
    done = cpscope("run", "--fw", "chip.fw", "seven.pm4", "-o", "x.trace", "--as", "a6xx", "--json")
    assert json.loads(done.stdout)["run_as"] == "a6xx", done.stdout


def again():
    for options in (("--as", "a6xx", "--chip-id", "0x77"), ("--chip-id", "0x78:0x10")):
        stream = "seven.pm4" if "--as" in options else "six.pm4"
        done = cpscope("run", "--fw", "chip.fw", stream, "-o", "golden.trace", *options)
        assert done.returncode == 0, done.stderr
        done = cpscope("check", "golden.trace")
        assert done.returncode == 0, done
        with open(path("golden.trace"), encoding="utf-8") as file:
            text = file.read()
        with open(path("other.trace"), "w", encoding="utf-8") as file:
            file.write(text.replace("# chip-id 0x7", "# chip-id 0x6"))
        assert cpscope("check", "other.trace").returncode == 1


prepare()
tap.run([("--chip-id is what CHIP_ID reads", identity), ("what is no identity is refused", refused),
         ("a capture of another generation runs with --as, which says so", foreign),
         ("a golden runs again as its head says", again)])

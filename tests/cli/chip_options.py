# SPDX-License-Identifier: MIT
"""--chip-id and --as: what a run is told of the chip, on the command line, in heads, and again by `check`.
Usage: chip_options.py CPSCOPE"""
import json
import os

import tap
from scene import path, read, run

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
# The same of a7xx, whose CHIP_VARIANT goes to the register behind.
VARIANT = PROGRAM.replace("016ee001", "01740001").replace("mov $data, $02", "mov $data, $02\ncread $02, [$00 + 0x0ef]\nmov $data, $02")


def prepare():
    for name, text in (("chip.afuc", PROGRAM), ("seven.afuc", VARIANT), ("pfp.afuc", PROGRAM.replace("016ee001", "005ff001")),
                       ("six.pm4", "# cpscope-pm4 1\ngpu 630\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n"),
                       ("seven.pm4", "# cpscope-pm4 1\nchip 0x43050a01\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n")):
        with open(path(name), "w", encoding="utf-8") as file:
            file.write(text)
    for name in ("chip", "seven", "pfp"):
        done = run("asm", name + ".afuc", "-o", name + ".fw")
        assert done.returncode == 0, done.stderr


def written(*options, firmware="chip.fw", stream="six.pm4"):
    done = run("run", "--fw", firmware, stream, "-o", "-", *options)
    assert done.returncode == 0, done.stderr
    return sorted({line.split()[2] for line in done.stdout.splitlines() if line.startswith(("REG 0x8810", "REG 0x8811"))}), done


def identity():
    assert written()[0] == ["0x00000001"], "the row of id 6ee"
    assert written("--chip-id", "0x30000000")[0] == ["0x30000000"]
    for text, values in ((None, ["0x00004000", "0x70000000"]), ("5", ["0x00000005", "0x00004000"]),
                         ("5:0x88", ["0x00000005", "0x00000088"]), ("5:0", ["0x00000000", "0x00000005"])):
        found, done = written(*(["--chip-id", text] if text else []), firmware="seven.fw", stream="seven.pm4")
        assert found == values, (text, found)
    assert "\n# chip-id 0x00000005:0x00000000\n" in done.stdout, done.stdout
    return "CHIP_ID and CHIP_VARIANT"


def refused():
    for text in ("", "x", "1:", "1:2:3", "0x100000000", "-1", "1:0x100000000", "1 2", " 1", "1: 2", "1\n", "0" * 40 + "1"):
        done = run("run", "--fw", "chip.fw", "six.pm4", "-o", "no.trace", "--chip-id", text)
        assert done.returncode == 2 and done.stderr.count("\n") <= 2, (text, done)
        assert "--chip-id" in done.stderr and not os.path.exists(path("no.trace")), (text, done)
    assert run("info", "--chip-id", "1", "chip.fw").returncode == 2


def no_register():
    """What the firmware's generation has no register for."""
    for firmware, text, what in (("pfp.fw", "1", "no CHIP_ID"), ("chip.fw", "1:0x88", "no CHIP_VARIANT")):
        for words in (("run", "--fw", firmware, "six.pm4", "-o", "no.trace"), ("cover", "--fw", firmware, "six.pm4"),
                      ("diff", "--fw", firmware, "--fw", firmware, "six.pm4"), ("step", "--fw", firmware)):
            done = run(*words, "--chip-id", text)
            assert done.returncode == 2 and what in done.stderr and "--chip-id" in done.stderr, (words, done)
    # Firmware is read once: a pipe has it only once.
    done = run("run", "--fw", "/dev/stdin", path("six.pm4"), "-o", os.devnull, "--chip-id", "1", text=read("chip.fw"))
    assert done.returncode == 0, done
    written("-o", "a.trace")
    for option in (("--chip-id", "3"), ("--as", "a6xx")):
        done = run("diff", "a.trace", "a.trace", *option)
        assert done.returncode == 2 and option[0] in done.stderr, done


def foreign():
    done = run("run", "--fw", "chip.fw", "seven.pm4", "-o", "-")
    assert done.returncode == 3 and "--as a6xx" in done.stderr, done
    done = run("run", "--fw", "chip.fw", "seven.pm4", "-o", "-", "--as", "a7xx")
    assert done.returncode == 3 and "--as a7xx" in done.stderr, done
    values, done = written("--as", "a6xx", stream="seven.pm4")
    assert "\n# as a6xx\n# note a capture of any generation runs as this one\n" in done.stdout, done
    assert "warning: the capture is of a7xx" in done.stderr, done
    done = written("--as", "a6xx")[1]
    assert "warning" not in done.stderr + done.stdout, "the capture is none of another generation"
    with open(path("nv.trace"), "w", encoding="utf-8") as file:
        file.write(done.stdout.replace("# as a6xx", "# as nv17"))
    refused = run("info", "nv.trace")
    assert refused.returncode == 3 and "# as nv17" in refused.stderr, refused
    done = run("run", "--fw", "chip.fw", "seven.pm4", "-o", "x.trace", "--as", "a6xx", "--json")
    assert json.loads(done.stdout)["run_as"] == "a6xx", done.stdout


def a702():
    """A chip that is called a7xx and whose firmware is of a6xx: its captures run without --as."""
    with open(path("a702.afuc"), "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("016ee001", "017aa001"))
    assert run("asm", "a702.afuc", "-o", "a702.fw").returncode == 0
    for chip in ("chip 0x07000200", "gpu 702"):
        with open(path("a702.pm4"), "w", encoding="utf-8") as file:
            file.write("# cpscope-pm4 1\n%s\nbuffer 0x100000 a\n    CP_NOP 0x1\nsubmit a\n" % chip)
        values, done = written(firmware="a702.fw", stream="a702.pm4")
        assert values == ["0x20000000"] and "warning" not in done.stderr, (values, done)


def gmu():
    """Firmware whose table has no other entry for the interrupt than for packets that there are not refuses it."""
    for name, text in (("with", PROGRAM.replace("UNKN0:", "IN_GMU_INTERRUPT:\n(rep)mov $00, $data\nwaitin\nmov $01, $data\nUNKN0:")), ("without", PROGRAM)):
        with open(path("gmu.afuc"), "w", encoding="utf-8") as file:
            file.write(text)
        assert run("asm", "gmu.afuc", "-o", "gmu.fw").returncode == 0
        done = run("run", "--fw", "gmu.fw", "six.pm4", "-o", "-", "--inject", "gmu@0:0")
        if name == "with":
            assert done.returncode == 0 and "IN_GMU_INTERRUPT" in done.stdout, done
        else:
            assert done.returncode == 3 and "no handler of the GMU's interrupt" in done.stderr, done


def again():
    for options in (("--as", "a6xx", "--chip-id", "0x77"), ("--chip-id", "0x78:0x10")):
        firmware = "chip.fw" if "--as" in options else "seven.fw"
        done = run("run", "--fw", firmware, "seven.pm4", "-o", "golden.trace", *options)
        assert done.returncode == 0, done.stderr
        done = run("check", "golden.trace")
        assert done.returncode == 0, done
        with open(path("golden.trace"), encoding="utf-8") as file:
            text = file.read()
        with open(path("other.trace"), "w", encoding="utf-8") as file:
            file.write(text.replace("# chip-id 0x0000007", "# chip-id 0x0000006"))
        assert run("check", "other.trace").returncode == 1
    with open(path("other.trace"), "w", encoding="utf-8") as file:
        file.write(text.replace("# chip-id 0x", "# chip-id x"))
    done = run("check", "other.trace")
    assert done.returncode == 3 and "chip-id" in done.stderr, done


prepare()
tap.run([("--chip-id is what CHIP_ID reads", identity), ("what is no identity is refused", refused),
         ("what has no register, or no run, is refused", no_register),
         ("a capture of another generation runs with --as, which says so", foreign),
         ("captures of a702 run on its firmware", a702), ("the GMU interrupts only who has a handler", gmu),
         ("a golden runs again as its head says", again)])

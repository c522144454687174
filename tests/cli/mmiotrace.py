#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Logs of mmiotrace (mkmmio.py) as run files: what convert writes, and that it runs. Usage: mmiotrace.py CPSCOPE [zstd] [xz]"""
import gzip
import lzma
import os
import re
import sys

import mkmmio
import tap
from mkmmio import Log, pcidev
from scene import cpscope, path

# What the documents' script does, computed by hand: docs of envytools on HWSQ, the reference's vector.
POKES = [(0x611200, 0x3300), (0x2504, 1), (0x1002d4, 1), (0x1002d0, 1), (0x1002d0, 1), (0x100210, 0), (0x1002dc, 1), (0x2504, 0)]


def converted(log, *args, name="log.mmio"):
    text = log.text() if isinstance(log, Log) else log
    return cpscope("convert", *args, path(name, text)).stdout


def lines(text):
    """What the host does and how the chip is, without remarks and the script."""
    body = text[:text.index("\ncode\n")].split("\n")
    return [line.split(";")[0].split() for line in body if line.split(";")[0].split() and not line.startswith("#")]


def pokes(text, status=0):
    trace = cpscope("run", "-q", "--engine", "hwsq", path("log.run", text), "-o", "-", status=status).stdout
    return [(int(a, 16), int(v, 16)) for a, v in re.findall(r"^hwsq REG (0x\w+) (0x\w+) poke", trace, re.M)]


def equal(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def refused(text, want, *args):
    out = path("out.run")
    done = cpscope("convert", *args, path("log.mmio", text), "-o", out, status=3)
    assert done.stderr.count("\n") == 1 and want in done.stderr, (want, done.stderr)
    assert not os.path.exists(out)


def reclock():
    text = converted(mkmmio.g80())
    equal(lines(text), [["engine", "hwsq"], ["chip", "g80"], ["reg", "PBUS_DEBUG_6", "0x00100000"], ["read", "PBUS_DEBUG_6", "0x00100000"],
                        ["write", "PBUS_DEBUG_6", "0x00100000"], ["write", "PBUS_HWSQ_ENTRY_POINT", "0x00000000"], ["upload"],
                        ["read", "PBUS_DEBUG_6", "0x00100000"], ["write", "PBUS_DEBUG_6", "0x00100018"],
                        ["write", "PBUS_HWSQ_TRIGGER", "0x00000003"], ["read", "PBUS_HWSQ_STATUS"], ["run"],
                        ["read", "PBUS_HWSQ_STATUS", "0x00000041", "0x000003ff"], ["read", "PBUS_DEBUG_6", "0x00100018"],
                        ["read", "PBUS_HWSQ_ENTRY_POINT", "0x00000000"]])
    equal(pokes(text), POKES)
    assert "; left out: 3 accesses of its other registers, 0 of other" in text
    assert "board 10de:0191, NV50 (G80) by register 0" in text


def expectations_count():
    """What the hardware gave decides: another STATUS, and the run file fails."""
    text = mkmmio.g80().text()
    assert text.count(" 0x41 ") == 1
    equal(pokes(converted(text.replace(" 0x41 ", " 0x42 ")), status=1), POKES)


def into_a_file():
    out = path("made.run")
    cpscope("convert", path("log.mmio", mkmmio.g80().text()), "-o", out)
    with open(out) as file:
        equal(file.read(), converted(mkmmio.g80()))
    text = mkmmio.g80().text().encode()
    packings = [gzip.compress(text)] + ([] if "zstd" not in sys.argv else [__import__("cptread").zstd(text)]) + \
        ([] if "xz" not in sys.argv else [lzma.compress(text)])
    for packed in packings:
        equal(lines(converted_bytes(packed)), lines(converted(mkmmio.g80())))
    done = cpscope("info", path("log.mmio"), status=3)
    assert "log.mmio: offset 0x0: this is an mmiotrace, expected `convert`" in done.stderr, done.stderr
    done = cpscope("convert", path("log.mmio.xz", b"\xfd7zXZ\0" + bytes(40)), status=3)
    assert done.stderr.count("\n") == 1 and "log.mmio.xz: " + ("offset 0x" if "xz" in sys.argv else "xz-compressed, but") in done.stderr, \
        done.stderr
    equal(cpscope("convert", "-", text=text).stdout.decode().split("\n")[2:], converted(mkmmio.g80()).split("\n")[2:])


def converted_bytes(data):
    return cpscope("convert", path("log.mmio.gz", data)).stdout


def start(log, code=b"\xa0\x7f", trigger=3, at=0x1400):
    log.upload(code, at)
    log.write(0x1304, 0)
    log.write(0x130c, trigger)
    return log


def chips():
    """Register 0 says more than the PCI id, --chip more than both."""
    for device, boot0, args, chip in ((0x0191, None, (), "g80"), (0x0191, 0x092200a2, (), "g92"), (0x0174, None, (), "nv17"), (0x00c1, None, (), "nv41"),
                                      (0x0611, None, (), "g92"), (0x00f9, 0x043200a4, (), "nv41"), (0x0191, 0x050200a2, ("--chip", "nv41"), "nv41"),
                                      (0x00f9, None, ("--chip", "nv17"), "nv17"), (0x0200, None, ("--chip", "nv17"), "nv17")):
        log = Log(pcidev(device=device))
        if boot0:
            log.read(0, boot0)
        equal((device, boot0, lines(converted(start(log), *args))[1]), (device, boot0, ["chip", chip]))
    refused(start(Log(pcidev(device=0x00f9))).text(), "neither a read of register 0 nor the PCI id 10de:00f9")
    refused(start(Log(pcidev(device=0x0200))).text(), "NV20 has no HWSQ")
    log = Log(pcidev(device=0x0191))
    log.read(0, 0x092200a2, width=8)
    equal(lines(converted(start(log)))[1], ["chip", "g80"])
    cpscope("convert", "--chip", "g7", path("log.mmio", log.text()), status=2)


def boards():
    """Boards of others and sound devices are passed over; a second board of NVIDIA's, too."""
    log = Log(pcidev(vendor=0x8086, bar0=0xc0000000), pcidev(device=0x0be3, bar0=0xfc080000, bar1=0, size=0x4000), pcidev(device=0x0400), pcidev(bar0=0xa0000000))
    log.write(0x1400, 0x7f, bar=0xc0000000)
    log.write(0x1400, 0x7f, bar=0xfc080000)
    log.write(0x1400, 0x7f, bar=0xa0000000)
    log.write(0x1001400, 0x7f)
    text = converted(start(log))
    assert "0 accesses of its other registers, 4 of other devices" in text and "board 10de:0400, NV84 (G84) by the PCI id" in text, text
    refused("VERSION 20070824\n" + log.lines[1] + log.lines[2] + "W 4 1.0 1 0xfd001400 0x7f 0 0\n", "no line PCIDEV of an NVIDIA board")


def two_uploads():
    """A second script becomes writes with its listing beside it, the first one again an upload."""
    log = Log()
    first, second = bytes.fromhex("e201000000e0000010007f"), bytes.fromhex("e202000000e0040010007f")
    log.write(0x1098, 0x18)
    for code in (first, second, first):
        start(log, code)
        log.read(0x1308, 0x0a)
    text = converted(log)
    equal([line[0] for line in lines(text)[2:]], ["write", "upload", "write", "write", "run", "read", "write", "write", "write", "run", "read",
                                                  "upload", "write", "write", "run", "read"])
    equal(lines(text)[8], ["write", "0x001400", "0x000002e2", "0x0004e000", "0x7f7f0010"])
    assert ";        data 0x00000002 " in text
    equal(pokes(text), [(0x100000, 1), (0x100004, 2), (0x100000, 1)])


def places():
    """An upload to the middle of the code RAM, one with a hole, and one to G92's other window."""
    log = Log()
    log.write(0x1400, 0x7f7f7f7f)
    log.write(0x1408, 0x7f7f7f7f)
    equal(lines(converted(log))[2:], [["upload"], ["write", "0x001408", "0x7f7f7f7f"]])
    equal(lines(converted(start(Log(), at=0x1410)))[2], ["upload", "16"])
    log = Log(pcidev(device=0x0611))
    log.write(0x1098, 0x18)
    log.write(0x1318, 1)
    start(log, bytes.fromhex("e205000000e0000010007f"), trigger=1, at=0x80100)
    log.read(0x1308, 0x40a)
    text = converted(log)
    equal(lines(text)[4], ["upload", "256"])
    equal(lines(text)[-1], ["read", "PBUS_HWSQ_STATUS", "0x0000040a", "0x000005ff"])
    equal(pokes(text), [(0x100000, 5)])


def enable():
    """Behind a start, a log that never touched DEBUG_6 is one whose engine was on."""
    text = converted(start(Log(), bytes.fromhex("e201000000e0000010007f")))
    assert "reg 0x001098 0x00000018 ; assumed" in text
    equal(pokes(text), [(0x100000, 1)])
    log = Log()
    log.write(0x1098, 0)
    assert "assumed" not in converted(start(log))


def running():
    """While a script runs, nothing that is read is expected; a poll that sees the end is. Of two slots each counts for itself."""
    log = Log(pcidev(device=0x00c1))
    log.write(0x1310, 0x00010001)
    log.read(0x1310, 0x00010001)
    log.read(0x1314, 0x00000000)
    log.read(0x1578, 1)
    start(log, b"\x1f\x7f", trigger=3)
    log.write(0x130c, 1)  # slot B at entry 0
    log.read(0x1310, 0x00010001)
    log.read(0x1400, 0x7f7f7f1f)
    log.read(0x1308, 0x01010101)
    log.read(0x1308, 0x01010001)
    log.read(0x1308, 0x00010001)
    log.read(0x1400, 0x7f7f7f1f)
    log.read(0x1404, 0)
    log.read(0x1310, 0x00010001)
    text = converted(log)
    equal([line for line in lines(text) if line[0] in ("read", "run")],
          [["read", "PBUS_HWSQ_FLAGS_0", "0x00010001"], ["read", "PBUS_HWSQ_FLAGS_1"], ["read", "PBUS_HWSQ_EVENTS"],
           ["read", "PBUS_HWSQ_FLAGS_0"], ["read", "PBUS_HWSQ_CODE[0]"], ["read", "PBUS_HWSQ_STATUS"], ["run"], ["read", "PBUS_HWSQ_STATUS"],
           ["run"], ["read", "PBUS_HWSQ_STATUS", "0x00010001", "0x03ff03ff"], ["read", "PBUS_HWSQ_CODE[0]", "0x7f7f7f1f"],
           ["read", "PBUS_HWSQ_CODE[1]"], ["read", "PBUS_HWSQ_FLAGS_0", "0x00010001"]])
    equal(pokes(text), [])


def slots():
    """STATUS counts for the slots that ran; NV17 knows no bad opcode; an abort ends a slot."""
    for device, trigger, mask in ((0x0174, 3, "0x000001ff"), (0x0174, 1, "0x01ff0000"), (0x00c1, 1, "0x03ff0000"), (0x0611, 1, "0x000005ff")):
        log = Log(pcidev(device=device))
        start(log, b"\x7f", trigger=trigger)
        log.read(0x1308, 0)
        equal((device, lines(converted(log))[-1][-1]), (device, mask))
    log = start(Log(), b"\x3f\x7f")
    log.write(0x130c, 2)
    log.read(0x1308, 0x001)
    equal(lines(converted(log))[-1], ["read", "PBUS_HWSQ_STATUS", "0x00000001", "0x000003ff"])
    pokes(converted(log))
    log = Log()
    log.write(0x130c, 2)
    log.read(0x1308, 5)
    equal(lines(converted(start(log)))[3], ["read", "PBUS_HWSQ_STATUS"])


def time_passes():
    """Between writes while a script runs, time passes: 32 ns a tick."""
    log = start(Log(), b"\x1f\x7f")
    log.write(0x1310, 0, later=8)
    log.read(0x1308, 0x001)
    log.write(0x1310, 0, later=8)
    equal([line for line in lines(converted(log)) if line[0] == "wait"], [["wait", "250"]])


def left_out():
    log = Log()
    log.write(0x130c, 3, width=1)
    log.read(0x1400, 0x7f, width=2)
    log.line("UNKNOWN 1.000020 1 0xfd001304 0x1,0x2,0x3 0x0 0")
    lost = log.line("MARK 1.000030 Lost 17 events.")
    log.line("MARK 1.000031 Lost 17 events.")
    log.line("LSPCI 01:00.0 VGA compatible controller")
    text = converted(start(log))
    assert ", 3 of HWSQ that are not of a word" in text and "the tracer lost events, first at line %d\n" % lost in text, text
    assert "incomplete" not in converted(start(Log())) and "not of a word" not in converted(start(Log()))


HEAD = "VERSION 20070824\n" + pcidev()
BAD = (
    ("VERSION 20070825\nR 4 1.0 1 0xfd000000 0x0 0x0 0\n", "is no mmiotrace"), ("VERSION 20070824 x\n", "log.mmio:1: found 'VERSION'"),
    (HEAD + "X 4\n", "log.mmio:3: found 'X', expected R, W"), (HEAD + "R 3 1.0 1 0xfd000000 0x0 0x0 0\n", "expected a width"),
    (HEAD + "R 16 1.0 1 0xfd000000 0x0 0x0 0\n", "expected a width"), (HEAD + "R 0 1.0 1 0xfd000000 0x0 0x0 0\n", "expected a width"),
    (HEAD + "R 4 x.0 1 0xfd000000 0x0 0x0 0\n", "found 'x.0', expected seconds"), (HEAD + "R 4 1.0x 1 0xfd000000 0x0 0x0 0\n", "expected seconds"),
    (HEAD + "R 4 5000000000.0 1 0xfd000000 0x0 0x0 0\n", "expected seconds"),
    (HEAD + "R 4 1.0 -1 0xfd000000 0x0 0x0 0\n", "found '-1', expected a number of a mapping"),
    (HEAD + "R 4 1.0 1 0xzz 0x0 0x0 0\n", "found '0xzz', expected an address"), (HEAD + "W 4 1.0 1 0x1fd000000fd000000f 0x0\n", "expected an address"),
    (HEAD + "W 4 1.0 1 0xfd000000\n", "expected a value"), (HEAD + "W 4 1.0 1 0xfd000000 0x100000000 0x0 0\n", "expected a value of that width"),
    (HEAD + "W 1 1.0 1 0xfd000000 0x100 0x0 0\n", "expected a value of that width"), (HEAD + "W\n", "log.mmio:3: found '', expected a width"),
    (HEAD + "MARK x\n", "found 'x', expected seconds"), (HEAD + "UNKNOWN 1.0 1\n", "expected an address"),
    ("VERSION 20070824\nPCIDEV 0100\n", "log.mmio:2: found '', expected vendor"), ("VERSION 20070824\nPCIDEV 0100 10de0191 10 0 0\n", "seven starts"),
    (HEAD + "R 4 1.0 1 0xfd000000 0x0", "line is cut short"), (HEAD, "no upload among 0 accesses"),
    (HEAD + "W 4 1.0 1 0xfd00130c 0x3 0x0 0\n", "no upload among 1 accesses"),
)


def bad_lines():
    for text, want in BAD:
        refused(text, want)


def names():
    """Run files come of mmiotraces, and nothing else does."""
    for name in ("x.rd", "x.snapshot", "x.cpt", "x.txt"):
        done = cpscope("convert", path("log.mmio", mkmmio.g80().text()), "-o", path(name), status=3)
        assert "expected an output called NAME.run" in done.stderr and not os.path.exists(path(name)), done.stderr
    cpscope("run", "-q", "--demo", "-o", path("demo.trace"))
    done = cpscope("convert", path("demo.trace"), "-o", path("demo.run"), status=3)
    assert "is no mmiotrace" in done.stderr, done.stderr
    done = cpscope("convert", "--chip", "g92", path("demo.trace"), "-o", path("demo.txt"), status=2)
    assert "--chip is of an mmiotrace" in done.stderr and not os.path.exists(path("demo.txt")), done.stderr


tap.run([
    ("a driver's reclock becomes a run file whose pokes are the documents'", reclock),
    ("an expectation that is not met fails the run", expectations_count),
    ("files, stdin, compressed logs", into_a_file),
    ("the chip by register 0, PCI id, --chip", chips),
    ("which board it is", boards),
    ("later scripts", two_uploads),
    ("places of uploads", places),
    ("an engine that was on before the log", enable),
    ("what is expected while a script runs", running),
    ("slots", slots),
    ("time passes while a script runs", time_passes),
    ("what is left out is said", left_out),
    ("bad lines", bad_lines),
    ("names of outputs", names),
])

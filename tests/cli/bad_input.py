#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bad input is normal input: one clear error line, status 3 or 4, bounded time, no output file.

Usage: bad_input.py CPSCOPE
"""
import gzip
import os
import subprocess
import tempfile

import make
from make import capture, section, type7
from scene import CPSCOPE, run

BASE = 0x100000
GOOD = capture(type7(0x10) + type7(0x10, 1, 2))
ENDLESS = "[016ee001]\n[01000000]\nmov $02, 0x1\nl:\nadd $02, $02, 0x1\njump #l\nadd $03, $03, $02\n"

# name, capture bytes (None: not written), arguments, expected status, text in the error or summary
CASES = [
    ("empty file", b"", [], 3, "empty file"),
    ("7 bytes", GOOD[:7], [], 3, "cut short"),
    ("text that is no capture", b"hello world, this is no capture", [], 3, "not a capture"),
    ("gzip cut in the middle", gzip.compress(GOOD * 50)[:40], [], 3, "middle of a member"),
    ("section of 0xffffffff bytes", make.dwords([3, 0xffffffff]), [], 3, "0xffffffff"),
    ("section larger than the file", make.dwords([12, 0x7fffffff]) + b"x", [], 3, "cut short"),
    ("address of 4 bytes", section(3, b"\0\0\0\0"), [], 3, "expected 8 or 12"),
    ("a2xx capture", capture(type7(0x10), gpu=201), [], 3, "generation a2xx"),
    ("a7xx capture on a6xx firmware", capture(type7(0x10), gpu=740), [], 3, "generation a7xx"),
    ("stream outside every buffer", capture(type7(0x10), stream=0xdead000), [], 4, "nothing executed: 1 of 1 submissions is not in the capture"),
    ("malformed header", capture([0xdeadd00d]), [], 4, "bad-packet"),
    ("unknown opcode", capture(type7(0x77)), [], 4, "bad-packet"),
    ("packet longer than its IB", capture(type7(0x10, 1)[:1]), [], 4, "deadlock"),
    ("IB that calls itself", capture(type7(0x3f, BASE, 0, 4)), [], 4, "bad-packet"),
    ("wait that nobody ends", capture(type7(0x3c, 0x13, 0x5000, 0, 5, 0xffffffff, 0)),
     ["--waits", "stop"], 4, "deadlock"),
    ("snapshot, 11 bytes", make.snapshot()[:11], [], 3, "expected 12"),
    ("snapshot, section larger than the file", make.snapshot(make.snap(0x0201, 1, 0x800, 5))[:-12], [], 3, "cut short"),
    ("snapshot, section of 0 bytes", make.snapshot()[:12] + make.dwords([0x0201abcd, 0]), [], 3, "expected at least 8"),
    ("snapshot, section of 4 GiB", make.snapshot()[:12] + make.dwords([0x7777abcd, 0xffffffff]), [], 3, "cut short"),
    ("snapshot, ring of 2^32 dwords", make.snapshot(make.snap(0x0302, 0, -1, -1, 0, 0, -1, 0, 0, 0, 1, 0)), [], 3, "has room for 0"),
    ("snapshot, other magic of a section", make.snapshot()[:12] + make.dwords([0x0201dcba, 8]), [], 3, "expected 0xabcd"),
    ("snapshot, version 1", make.snapshot(magic=0x504d0001), [], 3, "version 1, expected 2 or 3"),
    ("snapshot without a ring", make.snapshot(), [], 3, "ring"),
    ("missing capture", None, [], 3, "No such file"),
]
USAGE = [
    (["run"], "needs --fw"),
    (["run", "--demo", "--bogus"], "unknown option"),
    (["run", "--demo", "--events", "nonsense"], "--events"),
    (["frobnicate"], "no command"),
    (["asm", "x"], "-o FILE"),
]


class Suite:
    def __init__(self, scratch):
        self.scratch, self.count, self.failed = scratch, 0, 0

    def path(self, name):
        return os.path.join(self.scratch, name)

    def check(self, name, good, detail=""):
        self.count += 1
        self.failed += not good
        print("%sok %d - %s" % ("" if good else "not ", self.count, name))
        if not good:
            print("# " + detail.replace("\n", "\n# "))

    def run(self, *args):
        return run(*args)

    def write(self, name, data):
        with open(self.path(name), "wb") as out:
            out.write(data)
        return self.path(name)

    def captures(self):
        for name, data, args, status, text in CASES:
            file = self.write("capture", data) if data is not None else self.path("absent")
            out = self.path("out")
            done = self.run("run", "--demo", file, "-o", out, *args)
            lines = [l for l in done.stderr.splitlines() if l.startswith("cpscope:")]
            good = done.returncode == status and text in done.stderr
            if status == 3:
                good = good and len(lines) == 1 and not os.path.exists(out)
            self.check(name, good, "status %d\n%s" % (done.returncode, done.stderr))
            if os.path.exists(out):
                os.unlink(out)

    def truncations(self):
        bad = []
        for size in range(1, len(GOOD)):
            done = self.run("run", "--demo", self.write("cut", GOOD[:size]), "-o", self.path("o"))
            nothing = done.returncode == 4 and "nothing executed: the input has no submission" in done.stderr
            if not (nothing or done.returncode in (0, 3)) or "Sanitizer" in done.stderr:
                bad.append("%d: %s" % (size, done.stderr))
        self.check("a capture cut at every byte", not bad, "\n".join(bad))

    def firmware(self):
        source = self.write("endless.afuc", ENDLESS.encode())
        fw = self.path("endless.fw")
        self.check("the endless loop assembles", self.run("asm", source, "-o", fw).returncode == 0)
        done = self.run("run", "--fw", fw, self.write("good", GOOD), "-o", self.path("o"),
                        "--limit", "2M")
        self.check("endless firmware meets the limit",
                   done.returncode == 4 and "limit" in done.stderr, done.stderr)
        for name, path, text in (("directory as firmware", self.scratch, ""),
                                 ("empty firmware", self.write("e", b""), ""),
                                 ("firmware of 3 bytes", self.write("t", b"abc"), "")):
            done = self.run("run", "--fw", path, self.path("good"))
            self.check(name, done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr)
        done = self.run("run", "--demo", self.path("good"), "-o", "/nonexistent/out")
        self.check("output that cannot be created", done.returncode == 3, done.stderr)

    def full(self):
        """What does not reach stdout is no success, be it more than one buffer or less."""
        for args in (["info", "--json", self.path("good")], ["help", "man"], ["run", "--demo", "-o", "-"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([CPSCOPE, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
            self.check("a full disk behind stdout: " + " ".join(args[:2]),
                       done.returncode == 3 and "No space left" in done.stderr, done.stderr)

    def usage(self):
        for args, text in USAGE:
            done = self.run(*args)
            self.check("usage: " + " ".join(args), done.returncode == 2 and text in done.stderr,
                       done.stderr)


with tempfile.TemporaryDirectory() as scratch:
    suite = Suite(scratch)
    suite.captures()
    suite.truncations()
    suite.firmware()
    suite.full()
    suite.usage()
    print("1..%d" % suite.count)

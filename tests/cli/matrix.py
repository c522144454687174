#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The matrix in shares, in processes that die, and with names that no format likes.

A capture that is a named pipe holds its worker for as long as the test wants. Usage: regress.py CPSCOPE
"""
import json
import os
import re
import signal
import subprocess
import tempfile
import xml.etree.ElementTree

import machine
import make
from tap import plan, report
from scene import CPSCOPE, run
from tree import DEMO

NAMES = [b"a # SKIP.pm4", b"b\xff\xfe.pm4", b"c\nnot ok 9.pm4", b"d\x1b.pm4", b"e]]>&amp;.pm4",
         b"f.pm4", b"g.pm4", b"h.pm4", b"i.pm4"]
SHOWN = ["rd/a # SKIP.pm4", "rd/b\\xff\\xfe.pm4", "rd/c\\x0anot ok 9.pm4", "rd/d\\x1b.pm4"]
def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_matrix(scratch):
    make.revisions(CPSCOPE, DEMO, scratch, *make.EVENT_CMD)
    os.mkdir(os.path.join(scratch, "rd"))
    for i, name in enumerate(NAMES):
        packet = make.EVENT if i % 2 else "CP_WAIT_FOR_IDLE"
        write(os.path.join(os.fsencode(scratch), b"rd", name), make.pm4("CP_NOP 0x1", packet))
    write(os.path.join(scratch, "manifest"), "# cpscope-manifest 1\nfirmware old old.fw\n"
          "firmware new new.fw\nbaseline old\ncapture rd/*\n")


def start(scratch, out, *options, **environment):
    return subprocess.Popen([CPSCOPE, "regress", os.path.join(scratch, "manifest"), "-o",
                             os.path.join(scratch, out), "--no-cache", *options],
                            env=dict(os.environ, **environment), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def regress(scratch, out, *options, **environment):
    process = start(scratch, out, *options, **environment)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def merge(scratch, out, *parts):
    done = run("regress", "--merge", *(os.path.join(scratch, p) for p in parts),
                           "-o", os.path.join(scratch, out))
    return done.returncode, done.stderr


def files(scratch, out):
    folder = os.path.join(scratch, out)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return {name: open(os.path.join(folder, name), "rb").read() for name in names}


def results(scratch, out):
    with open(os.path.join(scratch, out, "results.json"), encoding="utf-8") as file:
        return json.load(file)


def test_forms(scratch):
    status, err = regress(scratch, "whole")
    report("a difference is status 1", status == 1, err)
    pairs = results(scratch, "whole")["pairs"]
    names = {p["capture"] for p in pairs}
    report("names in results.json are UTF-8", len(pairs) == 2 * len(NAMES) and
           names.issuperset(SHOWN), names)
    tap = files(scratch, "whole")["results.tap"].decode()
    lines = tap.rstrip("\n").split("\n")
    report("TAP has a line per pair", lines[1] == "1..%d" % len(pairs) and
           len(lines) == 2 + len(pairs) and all(re.match(r"(not )?ok \d+ - ", line) for line in lines[2:]),
           tap)
    report("and no directive out of a name", not re.search(r"(?<!\\)#", tap), tap)
    cases = xml.etree.ElementTree.parse(os.path.join(scratch, "whole", "results.xml")).getroot()
    report("JUnit's XML is well-formed", [c.get("name") for c in cases] ==
           [p["capture"] for p in pairs], [c.get("name") for c in cases])


def test_shards(scratch):
    for i in (1, 2, 3):
        regress(scratch, "part%d" % i, "--shard", "%d/3" % i)
    shares = [len(results(scratch, "part%d" % i)["pairs"]) for i in (1, 2, 3)]
    report("shards share the pairs", sum(shares) == 2 * len(NAMES), shares)
    status, err = merge(scratch, "merged", "part2", "part3", "part1")
    report("merged they are the bytes of one run", status == 1 and
           files(scratch, "merged") == files(scratch, "whole"), err)
    status, err = merge(scratch, "merged2", "part1", "part3")
    report("a missing shard is named", status == 3 and "shard 2/3" in err and
           not files(scratch, "merged2"), err)
    regress(scratch, "part4", "--shard", "2/4")
    status, err = merge(scratch, "merged2", "part1", "part4")
    report("shards of two runs are refused", status == 3 and "another run" in err, err)
    merge(scratch, "twice", "whole", "whole")
    report("a pair is there once, however often it is merged",
           files(scratch, "twice") == files(scratch, "whole"))
    status_file = os.path.join(scratch, "status")
    regress(scratch, "part5", TEST_TOTAL_SHARDS="3", TEST_SHARD_INDEX="1",
            TEST_SHARD_STATUS_FILE=status_file)
    report("what runners say in the environment is a shard", os.path.exists(status_file) and
           files(scratch, "part5") == files(scratch, "part2"))


def test_no_baseline(scratch):
    path = os.path.join(scratch, "manifest")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    write(path, text.replace("old.fw", "missing.fw"))
    status, err = regress(scratch, "alone")
    write(path, text)
    new = [p for p in results(scratch, "alone")["pairs"] if p["firmware"] == "new"]
    report("without a baseline nothing passes", status == 4 and
           {p["status"] for p in new} == {"stopped"} and "missing.fw" in new[0]["reason"], (err, new[:1]))


class Held:
    """A run whose only worker waits for a capture that never comes: the pipe has a writer, silent."""

    def __init__(self, scratch, out, *options):
        self.fifo = os.path.join(scratch, "rd", "bb.pm4")
        os.mkfifo(self.fifo)
        self.process = start(scratch, out, "--jobs", "1", *options)
        self.writer = machine.open_writer(self.fifo)
        self.worker = machine.children(self.process.pid)[0]

    def end(self):
        if self.process.poll() is None:
            os.kill(self.worker, signal.SIGKILL)
            self.process.communicate(timeout=60)
        os.close(self.writer)
        os.unlink(self.fifo)
        return self.process.returncode


def test_death(scratch):
    Held(scratch, "dead").end()
    pairs = results(scratch, "dead")["pairs"]
    died = [(p["capture"], p["status"]) for p in pairs if "died" in p["reason"]]
    report("a capture whose process dies is named", died == [("rd/bb.pm4", "stopped")] * 2, died)
    report("and the others are run all the same", len(pairs) == 2 * len(NAMES) + 2 and
           sum(p["status"] == "stopped" for p in pairs) == 2, pairs)


def test_interrupt(scratch):
    held = Held(scratch, "stopped")
    held.process.send_signal(signal.SIGTERM)
    held.process.communicate(timeout=60)  # the capture never comes
    status = held.end()
    report("an interrupted run has its own status", status == 130, status)
    status, err = merge(scratch, "merged3", "stopped")
    report("and is not merged", status == 3 and "interrupted" in err, err)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        make_matrix(scratch)
        test_forms(scratch)
        test_shards(scratch)
        test_no_baseline(scratch)
        test_death(scratch)
        test_interrupt(scratch)
    plan()


main()

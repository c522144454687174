#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces as `.cpt` through the reader that was written from the document alone, against the text form of
the same run. Usage: cptread.py CPSCOPE; with CPSCOPE_CORPUS also real runs."""
import os
import re
import subprocess
import tempfile

import cptread
import tap
from tree import SCRIPTS, STREAMS
from scene import CORPUS, CPSCOPE, cpscope

PFIFO = os.path.join(SCRIPTS, "pfifo-nv1.run")
A7XX = os.path.join(STREAMS, "a7xx.pm4")
CASES = [
    ("the demo, default events", ["--demo"], "default"),
    ("the demo, every event", ["--demo"], "all"),
    ("a6xx, every event", ["--fw", "@firmware/a680_sqe.fw", "@captures/fd-clouds.rd.gz"], "all"),
    ("a5xx with two processors, every event",
     ["--fw", "@firmware/a530_pfp.fw", "--fw", "@firmware/a530_pm4.fw", "@captures/compute-a540.rd.gz"],
     "all"),
    ("PFIFO, every event", ["--engine", "pfifo", PFIFO], "all"),
    ("a7xx with three, every event", ["--fw", "@firmware/a740_sqe.fw", A7XX], "all"),
]


def run(args, events, out):
    args = [os.path.join(CORPUS or "", a[1:]) if a.startswith("@") else a for a in args]
    subprocess.run([CPSCOPE, "run", *args, "--events", events, "-o", out], check=False,
                   stderr=subprocess.DEVNULL, timeout=120)


def compare(args, events):
    if any(a.startswith("@") for a in args) and not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    with tempfile.TemporaryDirectory() as folder:
        return "%d lines" % compare_in(args, events, folder)


def compare_in(args, events, folder):
    text, binary, lines = (os.path.join(folder, "x." + end) for end in ("trace", "cpt", "jsonl"))
    run(args, events, text)
    run(args, events, binary)
    read = "".join(cptread.read(open(binary, "rb").read()))
    expected = re.sub(r" ;.*", "", open(text).read())
    assert read == expected, "the second reader finds other events"
    # Through JSON Lines and back: the same bytes.
    again = os.path.join(folder, "again.cpt")
    cpscope("convert", binary, "-o", lines)
    cpscope("convert", lines, "-o", again)
    assert open(again, "rb").read() == open(binary, "rb").read(), "convert loses something"
    cpscope("convert", again, "-o", text + "2")
    assert open(text + "2").read() == open(text).read(), "text out of .cpt is another one"
    return read.count("\n")


tap.run([(name, lambda args=args, events=events: compare(args, events))
         for name, args, events in CASES])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The interpreter takes many instructions in one piece where nobody looks. Whoever looks sees the same: each of some
generated streams runs unwatched, with all events but those of single instructions, and with every instruction watched,
and its events are the same, as are the counts at the end.

Usage: paths.py CPSCOPE, the source of the demo firmware. Where CPSCOPE_CORPUS is set, firmware of each generation
there runs the streams, too; CPSCOPE_PATHS is how many of them, 12 unless it is set."""
import concurrent.futures
import os
import subprocess
import tempfile

import streams
import tap
from scene import CPSCOPE
from tree import DEMO

STREAMS = int(os.environ.get("CPSCOPE_PATHS") or 12)
FIRMWARE = (("a5xx", ("a530_pfp.fw", "a530_pm4.fw")), ("a6xx", ("a630_sqe-190.fw",)), ("a660", ("a660_sqe-094.fw",)),
            ("a7xx", ("a740_sqe.fw",)), ("a7xx gen3", ("gen70900_sqe-181.fw",)), ("a8xx", ("gen80000_sqe-077.fw",)))
# What each way is asked for. The first shows what all others must show, beside more; the last only how it ended.
QUIET, SILENT = "default", "end"
WAYS = ("default,ctrl,sqe,payload,launch", "all")
MORE = {"CTRL", "SQE", "WORD", "STEP", "STEPX", "LAUNCH"}


def run(firmware, stream, events, scratch):
    """Lines of the trace and the status; a limit ends streams in which the firmware goes round."""
    out = os.path.join(scratch, "%s.txt" % events.replace(",", "-"))
    command = [CPSCOPE, "run", stream, "-o", out, "--events", events, "--limit", "100k"]
    for name in firmware:
        command += ["--fw", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode in (0, 4), (command, done.stderr)
    with open(out, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    os.remove(out)
    return done.returncode, lines


def keyword(line):
    """The event, behind the processor where there are several."""
    return next(word for word in line.split(" ") if word.isupper())


def first_difference(a, b):
    for i, (left, right) in enumerate(zip(a, b)):
        if left != right:
            return "line %d: %r, %r" % (i, left, right)
    return "%d and %d lines" % (len(a), len(b))


def compare(firmware, seed):
    with tempfile.TemporaryDirectory() as scratch:
        stream = os.path.join(scratch, "stream.pm4")
        with open(stream, "w", encoding="utf-8") as file:
            file.write(streams.text(seed))
        status, quiet = run(firmware, stream, QUIET, scratch)
        for events in WAYS:
            other, lines = run(firmware, stream, events, scratch)
            lines = [line for line in lines if keyword(line) not in MORE]
            assert (other, lines) == (status, quiet), "seed %d, --events %s: %s" % (
                seed, events, first_difference(quiet, lines))
        other, lines = run(firmware, stream, SILENT, scratch)
        assert (other, lines) == (status, [line for line in quiet if keyword(line) == "END"]), "seed %d, END" % seed
        return len(quiet)


def case(firmware):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        events = sum(pool.map(lambda seed: compare(firmware, seed), range(STREAMS)))
    assert events > 50 * STREAMS, "only %d events" % events
    return "%d streams, %d events" % (STREAMS, events)


def of_demo():
    with tempfile.TemporaryDirectory() as scratch:
        demo = os.path.join(scratch, "demo.fw")
        subprocess.run([CPSCOPE, "asm", DEMO, "-o", demo], check=True)
        return case([demo])


def of_corpus(names):
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    paths = [os.path.join(corpus, "firmware", name) for name in names]
    for path in paths:
        if not os.path.isfile(path):
            raise tap.Skip("not there: " + os.path.basename(path))
    return case(paths)


tap.run([("the demo runs the same watched and unwatched", of_demo)] +
        [("%s runs the same watched and unwatched" % name, lambda names=names: of_corpus(names))
         for name, names in FIRMWARE])

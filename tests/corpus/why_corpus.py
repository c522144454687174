#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random writes of real firmware over real captures: the chain that `why` gives for each ends in the word that
was written, or its arithmetic gives it, as a reader of the capture alone finds.
Usage: why_corpus.py CPSCOPE WRITES [SEED]"""
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter

import provenance
import tap
from tree import STREAMS

CPSCOPE, WRITES = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
CORPUS = os.environ.get("CPSCOPE_CORPUS")
DEQP = "dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"
A6XX = ("a680_sqe.fw", "a630_sqe-190.fw", "a650_sqe-089.fw", "a660_sqe-094.fw")
A750 = ("gen70900_sqe-181.fw", "a740_sqe-158.fw")
A840 = ("gen80000_sqe-077.fw", "gen80000_sqe-070.fw")
A530 = ("a530_pfp.fw", "a530_pm4.fw")
RUNS = [((name,), capture, ()) for capture in ("fd-clouds.rd.gz", DEQP) for name in A6XX] + \
    [(A530, "compute-a540.rd.gz", ())] + [((name,), "a750-ycbcr.pm4", ()) for name in A750] + \
    [((name,), "a840-ycbcr-tail.pm4", ()) for name in A840] + \
    [((A6XX[0],), "fd-clouds.rd.gz", ("--inject", "switch@2:40,preempt@4:100", "--prefetch", "on"))]
# BR and BV for each other; draws, groups and conditions of a7xx.
RUNS += [((name,), "@%s.pm4" % stream, ()) for name in A750
         for stream in ("concurrent-binning", "a7xx", "conditions", "draw-state", "draw-state-dirty", "draw-state-privilege")]
RUNS += [((name,), "@draw-state-privilege-a8xx.pm4", ()) for name in A840]
KINDS = ("REG", "MEMW")


def arguments(firmware, capture, more):
    out = list(more)
    for name in firmware:
        out += ["--fw", os.path.join(CORPUS, "firmware", name)]
    return out + [file_of(capture)]


def file_of(capture):
    return os.path.join(*(STREAMS, capture[1:]) if capture[0] == "@" else (CORPUS, "captures", capture))


def events(firmware, capture, more):
    """(number, kind, place, value) of all writes in the run's own trace."""
    out = subprocess.run([CPSCOPE, "run", *arguments(firmware, capture, more)], capture_output=True, text=True).stdout
    lines = [line for line in out.splitlines() if not line.startswith("#")]
    found = []
    for number, line in enumerate(lines):
        words = line.split()
        at = 0 if words[0] in KINDS else 1
        if words[at] in KINDS:
            found.append((number, words[at], int(words[at + 1], 16), int(words[at + 2], 16)))
    return found


def ask(firmware, capture, more, chosen):
    text = "".join("event:%d\n" % event[0] for event in chosen)
    begin = time.monotonic()
    done = subprocess.run([CPSCOPE, "why", "--json", *arguments(firmware, capture, more), "-"], input=text,
                          capture_output=True, text=True)
    spent = time.monotonic() - begin
    assert done.returncode == 0, done.stderr[:500]
    return [json.loads(line) for line in done.stdout.splitlines()], spent


def check(firmware, capture, more, writes):
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    known = events(firmware, capture, more)
    chooser = random.Random(SEED)
    chosen = known if writes >= len(known) else chooser.sample(known, writes)
    answers, spent = ask(firmware, capture, more, chosen)
    assert len(answers) == len(chosen), "%d answers of %d" % (len(answers), len(chosen))
    source = provenance.capture(file_of(capture))
    ends = Counter()
    for event, answer in zip(chosen, answers):
        assert int(answer["value"], 16) == event[3], "%s: %s" % (event, answer["value"])
        try:
            ends[provenance.Chain(answer, source).check()] += 1
        except AssertionError as wrong:
            raise AssertionError("event %d: %s\n%s" % (event[0], wrong, json.dumps(answer)[:3000])) from wrong
    return "%d writes in %.2f s: %s" % (len(chosen), spent, ", ".join("%d %s" % (count, end) for end, count in ends.most_common()))


def case(firmware, capture, more):
    return (" ".join(["writes of", "+".join(firmware), "over", capture, *more]), lambda: check(firmware, capture, more, WRITES))


tap.run([case(*run) for run in RUNS])

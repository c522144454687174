#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures of Mesa 26.2, as its driver sends them before any GPU has run: on fitting firmware every one runs to its end, whatever the policies
about waits and visibility say and whatever events are recorded. Usage: mesa_captures.py CPSCOPE
"""
import json
import os
import subprocess
import sys
import tempfile

import tap

CORPUS = os.environ.get("CPSCOPE_CORPUS")
FIRMWARE = {"a530": [["a530_pfp-08a.fw", "a530_pm4.fw"]], "a630": [["a630_sqe-207.fw"], ["a630_sqe-187.fw"]], "a650": [["a650_sqe-112.fw"]],
            "a730": [["a730_sqe-142.fw"]], "a750": [["gen70900_sqe-181.fw"], ["gen70900_sqe-175.fw"]],
            "a830": [["gen80000_sqe-077.fw"], ["gen80000_sqe-070.fw"]]}
# The visibility stream of a pipe, its size word and its draws, as CP_SET_BIN_DATA5_OFFSET names them, on the chip of an a750.
BIN = """# cpscope-pm4 1
chip 0x43051401
buffer 0x100000 frame
CP_SET_BIN_DATA5_OFFSET 0x10010001 0x1 0x0 0x0 0x0
CP_THREAD_CONTROL 0x1
submit frame
"""


def folder():
    return os.path.join(CORPUS, "captures", "mesa-26.2")


def run(images, capture, *options):
    fw = [word for image in images for word in ("--fw", os.path.join(CORPUS, "firmware", image))]
    done = subprocess.run([sys.argv[1], "run", *fw, *options, capture], capture_output=True, text=True)
    return done.returncode, done.stderr.strip().splitlines()[-1:], done.stdout


def every_capture_runs_to_its_end():
    wrong, runs = [], 0
    for name in sorted(os.listdir(folder())):
        chip = name.split(".")[0].rsplit("-", 1)[1]
        for images in FIRMWARE[chip]:
            for options in (["--events", "end"], ["--waits", "registers", "--events", "reg,end"], ["--visibility", "none", "-q"]):
                runs += 1
                status, last, _ = run(images, os.path.join(folder(), name), "-o", os.devnull, "-t", "text", *options)
                if status:
                    wrong.append((name, images, options, last))
    assert runs >= 147 and not wrong, wrong


def writes(images, name, prefetch):
    """By processor, without the values that only the clock gives: it counts packets, and a packet that was prefetched began earlier."""
    with tempfile.TemporaryDirectory() as temporary:
        trace = os.path.join(temporary, "trace.jsonl")
        found = run(images, os.path.join(folder(), name), "--prefetch", prefetch, "-l", "10M", "-e", "reg,memw,assume", "-o", trace)[:2]
        with open(trace) as file:
            events = [event for event in map(json.loads, file) if "event" in event]
    times = {event["addr"] for event in events if event["event"] == "ASSUME" and event["sub"] == "clock"}
    by_processor = {}
    for event in events:
        if event["event"] != "ASSUME":
            value = None if event["addr"] in times else event["value"]
            by_processor.setdefault(event.get("processor"), []).append((event["event"], event["addr"], value))
    return found, by_processor


def prefetching_changes_no_write():
    """a650, a660 and a702 look at the packet after an indirect buffer and give its words back; the other generations, too."""
    wrong, runs = [], 0
    for name in sorted(os.listdir(folder())):
        chip = name.split(".")[0].rsplit("-", 1)[1]
        others = {"a650": [["a650_sqe-089.fw"], ["a660_sqe-112.fw"], ["a660_sqe-094.fw"]], "a730": [["a740_sqe-181.fw"], ["a710_sqe-158.fw"]],
                  "a830": [["gen80100_sqe-100.fw"]]}
        for images in FIRMWARE[chip] + others.get(chip, []):
            runs += 1
            if writes(images, name, "on") != writes(images, name, "off"):
                wrong.append((name, images))
    assert runs >= 100 and not wrong, (runs, wrong)


def a_program_launches_the_same_on_every_generation():
    """Of 36 draws under a predicate 18 happen; a630 does not come to the others, later firmware starts them with a mark."""
    for chip in "a630", "a650", "a730", "a750", "a830":
        for images in FIRMWARE[chip]:
            status, _, text = run(images, os.path.join(folder(), f"vkt-draw-{chip}.rd.gz"), "--json")
            found = json.loads(text)["launches"]
            assert not status and (found["draw"], found["indexed"], found["feedback"], found["dispatch"]) == (22, 20, 0, 1), (images, found)
            assert found["skipped"] == (0 if chip == "a630" else 18), (images, found)


def equal_revisions_store_equal_times():
    """A tick is a packet; where it is an instruction, revisions of other lengths differ by the clock, and by nothing else."""
    clocked = {"packets": 0, "instructions": 0}
    for old, new, chip in (("a630_sqe-187.fw", "a630_sqe-207.fw", "a630"), ("gen80000_sqe-070.fw", "gen80000_sqe-077.fw", "a830")):
        fw = [word for name in (old, new) for word in ("--fw", os.path.join(CORPUS, "firmware", name))]
        for name in sorted(name for name in os.listdir(folder()) if name.endswith(f"-{chip}.rd.gz")):
            for clock in clocked:
                done = subprocess.run([sys.argv[1], "diff", *fw, "--policy", f"clock={clock}", os.path.join(folder(), name)], capture_output=True)
                assert done.returncode == 0, (name, clock, done)
                clocked[clock] += b"differ only by the clock" in done.stdout
    assert clocked["packets"] == 0 and clocked["instructions"] > 5, clocked


def the_size_of_a_visibility_stream_is_assumed():
    with tempfile.TemporaryDirectory() as temporary:
        stream = os.path.join(temporary, "bin.pm4")
        with open(stream, "w") as file:
            file.write(BIN)
        for policy in "all", "none", "captured":
            status, _, text = run(["gen70900_sqe-181.fw"], stream, "--visibility", policy, "-t", "text", "-o", "-", "--events", "assume,memr,end")
            lines = text.splitlines()
            size = [line for line in lines if "ASSUME visibility 0x0000000000000000 0x00000004" in line]
            read = [line for line in lines if "MEMR 0x0000000000000000 0x00000004 memdata" in line]
            assert not status and len(size) == 1 and read and lines.index(size[0]) < lines.index(read[0]), (policy, lines)


if not CORPUS:
    print("1..0 # SKIP CPSCOPE_CORPUS is not set")
    sys.exit(0)
tap.run([(case.__name__.replace("_", " "), case) for case in (
    every_capture_runs_to_its_end, prefetching_changes_no_write, a_program_launches_the_same_on_every_generation, equal_revisions_store_equal_times,
    the_size_of_a_visibility_stream_is_assumed)])

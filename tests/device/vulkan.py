#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mesa's turnip on the virtual device: the checks of vulkan.c with real firmware, what the trace shows of its draws, and that
none of the checks passes on a device that executes nothing.

Needs $CPSCOPE_CLIENT_ROOT (tools/client.sh --headers DIR makes it), $CPSCOPE_CORPUS, a compiler for arm64 and qemu.

Usage: vulkan.py CPSCOPE [CHIP]..."""
import json
import os
import re
import subprocess
import sys
import tempfile

import real_client
import tap
from vulkan_program import build, missing

CPSCOPE = os.path.abspath(sys.argv[1])
CHIPS = sys.argv[2:] or ["a630", "a750"]
# Jobs with "# trace" lines, and how turnip renders: at once, or tile by tile after a binning pass.
TRACED = ["draws", "counts", "tessellation", "geometry", "multiview", "conditional", "feedback", "secondary"]
MODES = ["sysmem", "gmem,forcebin"]


def run(program, chip, options, jobs, mode=MODES[0]):
    words = [word for job in jobs for word in ("-j", job)]
    return real_client.run(CPSCOPE, chip, options, [program, *words], {"TU_DEBUG": mode})


def checks(done):
    """(number of those that are good, the others), without what the chip has nothing for."""
    lines = [line for line in done.stdout.splitlines() if "ok " in line[:7] and "# SKIP" not in line]
    return sum(line.startswith("ok") for line in lines), [line for line in lines if line.startswith("not")]


def instances(trace):
    """Of each draw that happened its number of instances. From a660 on, bit 14 of PC_DRAWCALL_CNTL says that one did not."""
    found, happens = [], True
    for line in open(trace, encoding="utf-8"):
        event = json.loads(line)
        if event.get("event") == "REG" and event.get("processor", "sqe") == "sqe":
            if event.get("name") == "PC_DRAWCALL_CNTL":
                happens = not event["value"] >> 14 & 1
            elif event.get("name") == "PC_DRAWCALL_INSTANCE_NUM" and happens:
                found.append(event["value"])
    return found


def test_trace(program, chip, folder, job, mode):
    trace = os.path.join(folder, "trace.jsonl")
    done = run(program, chip, ["-e", "reg", "-o", trace], [job], mode)
    name = "%s, %s: %s: the draws of the trace are those of the program" % (chip, mode, job)
    expected = [int(word) for line in done.stdout.splitlines() if line.startswith("# trace PC_DRAWCALL_INSTANCE_NUM")
                for word in line.split()[3:]]
    if "# SKIP" in done.stdout:
        tap.skip(name, "the chip has no " + job)
        return
    found = instances(trace)
    passes = len(found) // len(expected) if expected else 0
    tap.report("%s, in %d passes" % (name, passes), done.returncode == 0 and passes and found == expected * passes,
               "%s, expected passes over %s\n%s%s" % (found, expected, done.stdout, done.stderr))


def test_chip(program, chip, folder):
    for mode in MODES:
        done = run(program, chip, [], [], mode)
        good, bad = checks(done)
        tap.report("%s, %s: %d checks of vulkan.c are good" % (chip, mode, good), done.returncode == 0 and good > 40 and not bad,
                   "\n".join(bad) + done.stderr)
    done = run(program, chip, ["--idle"], [])
    good, bad = checks(done)
    tap.report("%s: without execution %d checks fail, all of them" % (chip, len(bad)), not good and len(bad) > 40, done.stdout)
    for job in TRACED:
        for mode in MODES:
            test_trace(program, chip, folder, job, mode)


def test_debugger(program, chip):
    """A breakpoint on the draws that the firmware reads from memory, while the program waits: on, back, and on to the end."""
    draw = "pkt:CP_DRAW_INDIRECT_MULTI"
    lines = ["break " + draw, "continue", "continue", "rcontinue", "rstep 3", "step 3", *["continue"] * 5, "delete", "continue"]
    done = real_client.run(CPSCOPE, chip, ["--step"], [program, "-j", "counts"], {"TU_DEBUG": MODES[0]},
                           typed="".join(line + "\n" for line in lines))
    shown = re.split(r"^> .*\n", done.stdout, flags=re.M)[1:]
    places = [re.search(r"^step (\d+), event (\d+)", text, re.M) for text in shown]
    packets = [re.search(r"^breakpoint 1, .*\n.*PKT \w+ (0x\w+) .* ; CP_DRAW_INDIRECT_MULTI ", text) for text in shown]
    good, bad = checks(done)
    try:
        assert done.returncode == 0 and (good, bad) == (2, []), "checks"
        there, beyond, back, before, again = places[1:6]
        assert there[0] == back[0] == again[0] and int(before[1]) == int(there[1]) - 3 < int(beyond[1]), "the way back"
        hits = [packet and packet[1] for packet in (packets[1], *packets[6:11])]
        assert None not in hits and len(set(hits)) == 6, hits
        why = None
    except (AssertionError, TypeError, ValueError) as error:
        why = error
    tap.report("%s: a breakpoint on 6 indirect draws of a live program, with a way back" % chip, not why, "%s\n%s%s" % (why, done.stdout, done.stderr))


def test_prefetch(program, chip):
    done = run(program, chip, ["--policy", "prefetch=on"], [], MODES[1])
    good, bad = checks(done)
    tap.report("%s, %s: with prefetch=on %d checks are good" % (chip, MODES[1], good), done.returncode == 0 and good > 40 and not bad,
               "\n".join(bad) + done.stderr)


def test_recording(program, chip, folder):
    """A client sets events while the firmware polls them, on one processor or several."""
    recording, *traces = (os.path.join(folder, chip + name) for name in (".rd.gz", ".live", ".again"))
    done = run(program, chip, ["--record", recording, "-o", traces[0], "-t", "text"], ["events"])
    firmware = [word for name in real_client.FIRMWARE[chip] for word in ("--fw", os.path.join(real_client.CORPUS, "firmware", name))]
    again = subprocess.run([CPSCOPE, "run", "-q", *firmware, recording, "-o", traces[1], "-t", "text"], capture_output=True, text=True, check=False)
    live, replayed = ([line for line in open(trace, encoding="utf-8") if not line.startswith("# capture")] for trace in traces)
    tap.report(chip + ": the recording of events that a client sets equals the live trace",
               done.returncode == again.returncode == 0 and live == replayed and len(live) > 1000, done.stderr + again.stderr)


def main():
    why = missing()
    if why:
        tap.skip("the Vulkan program", why)
    else:
        with tempfile.TemporaryDirectory() as folder:
            program = build(folder)
            for chip in CHIPS:
                test_chip(program, chip, folder)
                test_debugger(program, chip)
            test_prefetch(program, "a660")
            for chip in ("a660", "a830"):
                test_recording(program, chip, folder)
    tap.plan()
    sys.exit(0)


main()

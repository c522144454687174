#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every subcommand on damaged files of every kind. Whatever comes in, a run ends in time, with a status that is
documented, without a signal or a sanitizer's report, with one or a few lines on stderr where it failed, and with no
output but a whole one.

Usage: commands.py CPSCOPE SEEDS [--seconds N] [--seed S] [--first I] [--count N] [--keep DIR]

SEEDS is what seeds.py made. Run I of seed S is always the same: `--first I --count 1 --keep DIR` repeats it and keeps
its files in DIR. Prints the runs per command and how they ended."""
import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from scenes import COMMANDS, KINDS, SYMBOLS, Scene

STATUSES = {0, 1, 2, 3, 4, 130}
TIMEOUT = 60
REPORT = re.compile(r"Sanitizer|runtime error:|Assertion .* failed|==\d+==")
MOST_LINES = 70  # an assembler shows up to some twenty mistakes, each with its line and its place


def read(path):
    with open(path, "rb") as file:
        return file.read()


def left_behind(scene):
    """Files of the output folder that nobody asked for."""
    root = os.path.join(scene.folder, "out")
    found = {os.path.relpath(os.path.join(path, name), root) for path, _, names in os.walk(root) for name in names}
    return sorted(found - scene.allowed), sorted(found & scene.allowed)


def wait(process, command):
    """Until it ends; what was wrong with that. Machines that are debugged may run for ever."""
    limit = 5 if command == "step" else TIMEOUT
    late = ""
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        late = "" if command == "step" else "of more than %d s" % limit
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        late = "of more than %d s, and an interrupt does not end it" % limit
    return late


def execute(cpscope, args, scene):
    """Status, stderr; one that takes too long is interrupted, as a person would: only `step` may need that."""
    env = {key: value for key, value in os.environ.items() if key != "CPSCOPE_CORPUS"}
    env.update(HOME=scene.folder, XDG_CACHE_HOME=scene.folder, ASAN_OPTIONS="detect_stack_use_after_return=0",
               UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", TSAN_OPTIONS="halt_on_error=1 exitcode=66")
    names = [os.path.join(scene.folder, name) for name in ("stdin", "stderr")]
    with open(names[0], "wb") as file:
        file.write(scene.input)
    with open(names[0], "rb") as stdin, open(names[1], "wb") as stderr:
        process = subprocess.Popen([cpscope, *args], stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr, env=env,
                                   cwd=os.path.join(scene.folder, "in"))
        late = wait(process, args[0])
    return late or process.returncode, read(names[1]).decode("latin1")


def wrong(args, scene, status, said):
    """What is not as it should be; None if all of it is."""
    extra, made = left_behind(scene)
    lines = [line for line in said.splitlines() if line]
    if status not in STATUSES:
        return "status %s" % status
    if REPORT.search(said):
        return "a sanitizer's report"
    told = sum(line.startswith("cpscope:") for line in lines)
    if status == 3 and not (1 <= told <= (3 if args[0] == "info" else 1) and len(lines) <= MOST_LINES):
        return "%d lines on stderr with status 3" % len(lines)
    if extra:
        return "left behind: " + ", ".join(extra)
    if status in (2, 3) and made and not scene.partial and args[0] not in ("regress", "check"):
        return "an output in spite of status %d: %s" % (status, ", ".join(made))
    return None


def one(options, seeds, index, counts):
    rng = random.Random(options.seed * 1000003 + index)
    folder = options.keep or tempfile.mkdtemp(prefix="cpscope-commands-")
    for name in ("in", "out"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    scene = Scene(rng, seeds, folder)
    name = rng.choice(list(COMMANDS))
    args = [arg.replace("\0", "") for arg in COMMANDS[name](scene)]
    status, said = execute(options.cpscope, args, scene)
    why = wrong(args, scene, status, said)
    counts[name][status] += 1
    if why:
        print("FOUND run %d (--seed %d --first %d --count 1): %s\n  %s\n  %s" % (
            index, options.seed, index, why, " ".join(map(repr, args)), said[-3000:].replace("\n", "\n  ")), flush=True)
    if not options.keep:
        shutil.rmtree(folder)
    return why is not None


def read_seeds(cpscope, folder):
    """By target; and what no target reads: symbols, and counts as `cover` writes them."""
    seeds = {"symbols": SYMBOLS}
    for target in sorted({target for target, _, _ in KINDS.values()} - {"symbols", "counts"}):
        path = os.path.join(folder, target)
        names = sorted(os.listdir(path)) if os.path.isdir(path) else []
        seeds[target] = [read(os.path.join(path, name)) for name in names] or [b""]
    with tempfile.TemporaryDirectory() as work:
        fw, capture, out = (os.path.join(work, name) for name in ("demo.fw", "demo.pm4", "counts"))
        for path, data in ((fw, seeds["fw"][0][1:]), (capture, b"# cpscope-pm4 1\n" + seeds["pm4text"][2])):
            with open(path, "wb") as file:
                file.write(data)
        subprocess.run([cpscope, "cover", "--fw", fw, capture, "-o", out], check=True, capture_output=True)
        seeds["counts"] = [read(out)]
    return seeds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cpscope", type=os.path.abspath)
    parser.add_argument("seeds")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 60)
    parser.add_argument("--keep", type=os.path.abspath)
    options = parser.parse_args()
    seeds, counts = read_seeds(options.cpscope, options.seeds), collections.defaultdict(collections.Counter)
    end, index, found = time.monotonic() + options.seconds, options.first, 0
    while index < options.first + options.count and time.monotonic() < end:
        found += one(options, seeds, index, counts)
        index += 1
    for name in COMMANDS:
        print("%-8s %6d runs, by status: %s" % (name, sum(counts[name].values()), ", ".join(
            "%s: %d" % (status, number) for status, number in sorted(counts[name].items(), key=str))))
    print("%d runs, %d findings, seed %d" % (index - options.first, found, options.seed))
    sys.exit(found > 0)


main()

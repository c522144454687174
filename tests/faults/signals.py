#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signals at seeded instants of commands that last a while: the process ends by them, or as if nothing
had been; no file is left over, what is there is whole, and the next run completes.

Half of the instants are system calls, counted; half are moments in time. Usage: signals.py CPSCOPE
INJECT.so [--long] [--only TEXT]"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import suite
from tree import GROW
from faults import Case, Result, Tally, tree
from judge import judge_again, judge_pairs, lines_of_error

import make
import mkcorpus

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE, signal.SIGXFSZ)
SHORT, LONG = 24, 250  # instants per command
CAPTURES = 40


def inputs(runner):
    """Inputs that take some 100 ms."""
    def path(name):
        return os.path.join(runner.scene, name)
    subprocess.run([sys.executable, GROW, "--make", "20", path("large.rd")], check=True)
    subprocess.run([runner.cpscope, "run", "--demo", path("large.rd"), "-o", path("large.cpt"), "-e", "all"], check=True,
                   stderr=subprocess.DEVNULL)
    with open(path("old.afuc"), encoding="utf-8") as file:
        source = file.read()
    lines = source.splitlines(keepends=True)
    middle = next(i for i, line in enumerate(lines) if line.startswith("CP_NOP:"))
    with open(path("large.afuc"), "w", encoding="utf-8") as file:
        file.writelines(lines[:middle] + ["        mov $02, 0x1\n"] * 20000 + lines[middle:])
    words = make.type4(0x8810, 1) * 40 + [0xdeadd00d] + make.type4(0x8810, 1) * 40
    with open(path("bad.rd"), "wb") as file:
        file.write(make.chip(630) + make.buffer(0x10000000, bytes(8 << 20)) + make.buffer(0x100000, make.dwords(words)) +
                   make.submit(0x100000, len(words)))
    mkcorpus.make(runner.cpscope, os.path.join(runner.scene, "old.afuc"), path("corpus"), CAPTURES)


COMMANDS = (
    Case("run, .cpt", ["run", "--demo", "@large.rd", "-o", "o.cpt", "-e", "all"]),
    Case("run, text", ["run", "--demo", "@large.rd", "-o", "o.trace"]),
    Case("convert", ["convert", "@large.cpt", "-o", "o.trace"]),
    Case("asm", ["asm", "-g", "@large.afuc", "-o", "o.elf"]),
    Case("reduce", ["reduce", "--fw", "@old.fw", "@bad.rd", "-o", "o.pm4", "--cache", "cache"], cache="cache/"),
    Case("regress", ["regress", "@corpus/manifest.txt", "-o", "report", "--cache", "cache", "--jobs", "2"], cache="cache/", matrix=True),
)


def at_time(runner, case, room, number, delay):
    """The command, and the signal so many seconds behind its start."""
    process = subprocess.Popen(runner.arguments(case), cwd=room, env=runner.environment(room), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Result(-1000, b"", "", tree(room))
    return Result(process.returncode, out, err.decode("utf-8", "replace"), tree(room))


def settle(room):
    """Processes that have lost their parent end by themselves; until then they may write."""
    last, left = None, 40
    while left and last != (last := sorted(tree(room))):
        time.sleep(0.01)
        left -= 1


def judge(case, usual, got, number):
    """None, or what went wrong."""
    ends = {usual.status, -number, 128 + number, 3}
    if case.matrix:
        ends.add(130)  # interrupted, whoever asked for it
    if got.status not in ends:
        return "status", "%d: %s" % (got.status, got.err[-200:])
    if got.status == 3 and len(lines_of_error(got.err)) != 1:
        return "status", "3 and %d lines of error" % len(lines_of_error(got.err))
    if "Sanitizer" in got.err:
        return "status", got.err[-300:]
    for name, data in got.files.items():
        if case.cache and name.startswith(case.cache) and name.endswith((".cpt", ".reduce")):
            continue
        if name not in usual.files:
            return "leftover", "%s, status %d" % (name, got.status)
        if data != usual.files[name] and not case.matrix:
            return "lost", "%s is neither whole nor absent" % name
    if got.status == usual.status and not case.matrix:
        missing = [name for name in usual.files if name not in got.files]
        return ("lost", "status %d without %s" % (got.status, missing[0])) if missing else None
    if case.matrix and got.status == usual.status and "report/results.json" in got.files:
        return judge_pairs(usual, got)
    return None


def disturbed(runner, case, rng, number, usual, calls, seconds):
    """(what was done, its result, the result of the run behind it)"""
    room = runner.room(case)
    if rng.random() < 0.5:
        call = rng.randrange(1, calls + 1)
        what = "%s at call %d of %d" % (number.name, call, calls)
        got = runner.run(case, {"CALL": "any", "AT": call, "SIGNAL": int(number)}, room=room, keep=True)
    else:
        delay = rng.random() * seconds * 1.1
        what = "%s after %.1f ms" % (number.name, 1000 * delay)
        got = at_time(runner, case, room, number, delay)
    if case.matrix:
        settle(room)
        got.files = tree(room)
    return what, got, runner.run(case, room=room)


def one(runner, case, count):
    rng = random.Random(case.name)
    began = time.monotonic()
    usual = runner.run(case)
    seconds = time.monotonic() - began
    calls = runner.run(case, {"CALL": "any", "AT": 0}).calls
    wrong = []
    for i in range(count):
        number = SIGNALS[i % len(SIGNALS)]
        what, got, again = disturbed(runner, case, rng, number, usual, calls, seconds)
        bad = judge(case, usual, got, number) or judge_again(case, usual, again)
        if bad:
            wrong.append((what, *bad))
    return wrong


def main():
    args = suite.arguments()
    tally = Tally("signals")

    def body(runner):
        inputs(runner)
        for case in suite.chosen(COMMANDS, args):
            count = LONG if args.long else SHORT
            tally.case(case.name, count, one(runner, case, count))
        shutil.rmtree(os.path.join(runner.scene, "corpus"))

    suite.open_scene(args, body)
    tally.end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results that are kept: two runs on one cache at once, an entry with any of its bytes damaged or cut off
anywhere, and a clock that goes backwards. What comes out is always what
comes out without a cache.

Usage: cache.py CPSCOPE INJECT.so [--long] [--only TEXT]"""
import os
import random
import shutil
import subprocess

import suite
from faults import Case, Result, Tally, tree
import mkcorpus

STEP = 5        # of the short variant: every so many bytes of an entry
CAPTURES = 30
TOGETHER = 6    # times that two runs share a cold cache


def report(files):
    return {name: data for name, data in files.items() if name.startswith("report")}


def differs(usual, got):
    """What is wrong with a run whose cache is not as it should be."""
    if got.status < 0:
        return "status", "signal %d %s" % (-got.status, got.err[-200:])
    if got.status != usual.status:
        return "status", "%d, expected %d: %s" % (got.status, usual.status, got.err[-200:])
    if got.out != usual.out or report(got.files) != report(usual.files):
        return "lost", "another report"
    left = [name for name in got.files if name.endswith(".tmp") or name.startswith("tmp/")]
    return ("leftover", left[0]) if left else None


def entries(room):
    """Files of the cache in a folder, the longest first: that is a run of several frames."""
    found = [os.path.join(room, name) for name in tree(room) if name.startswith("cache/")]
    return sorted(found, key=os.path.getsize, reverse=True)


def damage(runner, case, args, seed):
    """One run after the other over a cache with one byte of an entry changed, or the rest of it gone."""
    usual = runner.run(case)
    room = runner.room(case)
    runner.run(case, room=room, keep=True)
    paths = entries(room)
    wrong, runs, rng = [], 0, random.Random(seed)
    for path in paths if args.long else paths[:1]:
        with open(path, "rb") as file:
            whole = file.read()
        for at in range(0, len(whole), 1 if args.long else STEP):
            changed = bytes([whole[at] ^ 1 << rng.randrange(8)])
            for what, data in (("byte %d changed" % at, whole[:at] + changed + whole[at + 1:]), ("cut at %d" % at, whole[:at])):
                with open(path, "wb") as file:
                    file.write(data)
                runs += 1
                bad = differs(usual, runner.run(case, room=room, keep=True))
                if bad:
                    wrong.append((what, *bad))
                shutil.rmtree(os.path.join(room, "report"), ignore_errors=True)
        with open(path, "wb") as file:
            file.write(whole)
    shutil.rmtree(room)
    return runs, wrong


def together(runner, case):
    """Two processes that start with the same empty cache."""
    usual = runner.run(case)
    wrong = []
    for turn in range(TOGETHER):
        rooms = [runner.room(case), runner.room(case)]
        shared = os.path.join(runner.folder, "shared%d" % turn)
        os.mkdir(shared)
        for room in rooms:
            os.symlink(shared, os.path.join(room, "cache"))
        processes = [subprocess.Popen(runner.arguments(case), cwd=room, env=runner.environment(room), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for room in rooms]
        for process, room in zip(processes, rooms):
            out, err = process.communicate(timeout=60)
            bad = differs(usual, Result(process.returncode, out, err.decode(), tree(room)))
            if bad:
                wrong.append(("turn %d" % turn, *bad))
        left = [name for name in tree(shared) if not name.endswith((".cpt", ".code", ".text"))]
        if left:
            wrong.append(("turn %d" % turn, "leftover", left[0]))
        warm = runner.run(case, room=rooms[0], keep=True)
        bad = differs(usual, warm)
        if bad or not warm.err.startswith("0 runs emulated"):
            wrong.append(("turn %d, the next run" % turn, *(bad or ("lost", warm.err))))
        for folder in (*rooms, shared):
            shutil.rmtree(folder)
    return 2 * TOGETHER, wrong


def clocks(runner, cases):
    """A day earlier with every question."""
    wrong, runs = [], 0
    for case in cases:
        usual = runner.run(case)
        for at in (1, 2, 3, 5, 8):
            got = runner.run(case, {"CALL": "clock", "AT": at, "ALWAYS": 1})
            runs += got.fired
            if (got.status, got.out, got.files) != (usual.status, usual.out, usual.files):
                wrong.append(("%s from question %d on" % (case.name, at), "lost", "status %d, expected %d" % (got.status, usual.status)))
    return runs, wrong


def main():
    args = suite.arguments()
    tally = Tally("cache")
    small = Case("regress", ["regress", "@manifest.txt", "-o", "report", "--cache", "cache", "--jobs", "1"])
    many = Case("regress", ["regress", "@corpus/manifest.txt", "-o", "report", "--cache", "cache", "--jobs", "2"])
    run = Case("run", ["run", "--fw", "@old.fw", "@a.rd", "-o", "o.cpt"])
    check = Case("check", ["check", "--search", "@", "@golden.cpt"])

    def body(runner):
        mkcorpus.make(runner.cpscope, os.path.join(runner.scene, "old.afuc"), os.path.join(runner.scene, "corpus"), CAPTURES)
        for name, case in (("two runs on one cache", lambda: together(runner, many)),
                           ("every byte of an entry", lambda: damage(runner, small, args, 1)),
                           ("a clock that goes backwards", lambda: clocks(runner, (small, run, check)))):
            if args.only not in name:
                continue
            tally.case(name, *case())

    suite.open_scene(args, body)
    tally.end()


main()

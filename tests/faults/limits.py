#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command that writes under limits of the system: memory, descriptors, sizes of files, full disks,
and stdin, stdout or stderr closed.

Usage: limits.py CPSCOPE INJECT.so [--long] [--only TEXT]"""
import os
import resource
import shutil
import signal
import subprocess
import tempfile

import suite
from faults import Result, Runner, Tally, tree
from judge import MEMORY, judge, judge_again
from cases import Scene, cases
import machine

CASES = ("run, text", "run, .cpt", "run, .cpt by threads", "run, JSON Lines", "run, JSON summary", "run, trace and summary", "run, text to stdout",
         "info --json old.fw", "convert .cpt to .trace", "convert a capture", "convert a dump", "diff firmware", "check, rewriting", "cover, lcov",
         "disasm into a file", "asm", "asm -g", "step, a script", "step, debug adapter", "regress", "regress, cold cache",
         "regress --merge", "reduce, cold cache", "help man")
MEGABYTE = 1 << 20
LOADER = 127  # the dynamic loader's status, where its own memory or descriptors were short
# What the C++ library prints before it aborts. No command but prove runs C++ code (libz3): for all others this comes from
# constructors of that library, before main().
CONSTRUCTOR = "terminate called without an active exception\n"


def limited(what, value, ignore=None):
    def before():
        if ignore:
            signal.signal(ignore, signal.SIG_IGN)
        resource.setrlimit(what, (value, value))
    return before


def closed(*numbers):
    def before():
        for number in numbers:
            os.close(number)
    return before


def variants(args):
    """(what, how, for subprocess; words of the error)"""
    fine = 1 if args.long else 4
    # Less than the program's own size and its stack the kernel answers with a signal, before there is a program.
    first = 4 * MEGABYTE * (1 + os.path.getsize(args.cpscope) // (3 * MEGABYTE))
    for size in range(first, 120 * MEGABYTE, fine * MEGABYTE):
        yield "memory", "-v %d MiB" % (size // MEGABYTE), {"preexec_fn": limited(resource.RLIMIT_AS, size)}, MEMORY
    for count in range(3, 24, fine // 2 or 1):
        yield "descriptors", "-n %d" % count, {"preexec_fn": limited(resource.RLIMIT_NOFILE, count)}, ()
    for size in (0, 1, 100, 511, 512, 1000, 4095, 4096, 8192, 20000, 30000, 100000):
        yield "size of files", "-f %d" % size, {"preexec_fn": limited(resource.RLIMIT_FSIZE, size)}, ()
        yield "size of files, no signal", "-f %d" % size, \
            {"preexec_fn": limited(resource.RLIMIT_FSIZE, size, signal.SIGXFSZ)}, ()
    for numbers in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        yield "closed", "%s closed" % (numbers,), {"preexec_fn": closed(*numbers)}, ()
    yield "full", "/dev/full behind stdout", {"stdout": "/dev/full"}, ()
    yield "full", "/dev/full behind stderr", {"stderr": "/dev/full"}, ()


def disturbed(runner, case, popen):
    """A run with limits; subprocess can hand a file over in place of stdout or stderr."""
    popen, files = dict(popen), []
    for name in ("stdout", "stderr"):
        if name in popen:
            files.append(open(popen[name], "wb"))
            popen[name] = files[-1]
    try:
        return runner.twice(case, **popen)
    finally:
        for file in files:
            file.close()


def lost_streams(kind, what, popen):
    """Descriptors that cannot say anything."""
    if kind == "closed":
        return [int(c) for c in what if c.isdigit()]
    if kind == "full":
        return [1] if "stdout" in popen else [2]
    return []


def expected(case, usual, got, lost):
    """What can be seen of a usual run with these descriptors lost; a text for what must not be."""
    seen = Result(usual.status, b"" if 1 in lost else usual.out, got.err if 2 in lost else usual.err, usual.files)
    wanted = usual.out and 1 in lost
    if wanted and got.status != 3:
        return seen, ("lost", "status %d, and stdout is lost" % got.status)
    if wanted and got.status == 3 and 2 not in lost and "cpscope: " not in got.err:
        return seen, ("status", "3 without a line of error")
    return seen, None


def one(runner, case, args, seed):
    del seed
    room = runner.room(case)
    before = tree(room)
    usual = runner.run(case, room=room)
    wrong, runs = [], 0
    for kind, what, popen, words in variants(args):
        got, again = disturbed(runner, case, popen)
        if got.status == LOADER and "error while loading" in got.err or (got.err == CONSTRUCTOR and "prove" not in case.args):
            continue
        runs += 1
        lost = lost_streams(kind, what, popen)
        seen, bad = expected(case, usual, got, lost)
        if not bad and not (usual.out and 1 in lost):
            if got.status == 3 and 2 in lost:  # the line went there, too
                got.err = usual.err + "cpscope: \n"
                seen.err = usual.err
            bad = judge(case, seen, got, before, words=words)
        if not bad and not case.copies:
            bad = judge_again(case, usual, again)
        if bad:
            wrong.append((what, *bad))
    return runs, wrong


def full_disk(runner, case, size):
    """A run in a folder of @size KiB: (result, result of a run behind it with room)."""
    room = tempfile.mkdtemp(prefix="full-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % size, "none", room], check=True)
    try:
        for name in ("tmp", "home"):
            os.mkdir(os.path.join(room, name))
        try:
            for name in case.copies:
                shutil.copy(os.path.join(runner.scene, name), room)
        except OSError:
            return ()
        before = tree(room)
        got = runner.run(case, room=room, keep=True)
        subprocess.run(["mount", "-o", "remount,size=8192k", room], check=True)
        return before, got, runner.run(case, room=room, keep=True)
    finally:
        subprocess.run(["umount", room], check=False)
        os.rmdir(room)


def disks(runner, tally, args):
    for case in suite.chosen(cases(), args):
        if case.name not in CASES:
            continue
        usual, wrong, runs = runner.run(case), [], 0
        for size in (4, 8, 12, 16, 24, 32, 48, 64, 96):
            if machine.without_mounts():
                tally.skip("a full disk: " + case.name, machine.without_mounts())
                break
            found = full_disk(runner, case, size)
            if not found:
                continue
            before, got, again = found
            runs += 1
            bad = judge(case, usual, got, before, words=()) or (None if case.copies else judge_again(case, usual, again))
            if bad:
                wrong.append(("%d KiB" % size, *bad))
        else:
            tally.case("a full disk: " + case.name, runs, wrong)


def main():
    args = suite.arguments()
    tally = Tally("limits")
    with tempfile.TemporaryDirectory(prefix="scene-") as folder:
        runner = Runner(args.cpscope, args.inject, Scene(args.cpscope, folder).folder)
        try:
            for case in suite.chosen([case for case in cases() if case.name in CASES], args):
                tally.case(case.name, *one(runner, case, args, 0))
            disks(runner, tally, args)
        finally:
            runner.close()
    tally.end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command that writes with its n-th system call of a kind failing, also all from the n-th on, and
with writes that take a part: the result is whole, or there is none and one line says why.

Usage: calls.py CPSCOPE INJECT.so [--long] [--only TEXT] [--stacks]"""
import errno

import suite
from faults import instants, places, tree
from judge import judge, judge_again

FIRST, SAMPLE = 1, 1  # of the short variant: how many calls from the start, and how many of the others

# kind, numbers of errors, and whether the second variant is that all later ones fail, too
KINDS = (
    ("write", (errno.ENOSPC, errno.EIO, errno.EINTR), True),
    ("fsync", (errno.EIO,), True),
    ("rename", (errno.EXDEV, errno.EACCES), True),
    ("link", (errno.EPERM, errno.EEXIST), True),
    ("close", (errno.EIO, errno.ENOSPC), False),
    ("open", (errno.EMFILE, errno.EACCES), True),
    ("read", (errno.EIO, errno.EINTR), True),
    ("mmap", (errno.ENOMEM,), True),
    ("mkdir", (errno.ENOSPC,), True),
    ("unlink", (errno.EACCES,), False),
    ("pipe", (errno.EMFILE,), True),
    ("stat", (errno.EIO,), True),
    ("list", (errno.EIO,), True),
    ("truncate", (errno.EIO,), True),
    ("poll", (errno.EINTR, errno.ENOMEM), False),
    ("wait", (errno.EINTR,), False),
    ("fork", (errno.EAGAIN,), True),
    ("thread", (errno.EAGAIN,), True),
)
CASES = ("run, text", "run, .cpt", "run, .cpt by threads", "run, JSON Lines", "run, JSON summary", "run, text to stdout",
         "run, editors may attach",
         "why, JSON", "state, two revisions", "decode to a file", "decode, summary", "decode with firmware", "info a.rd",
         "info --json old.fw", "convert .cpt to .trace", "convert .cpt to .vcd", "convert .cpt to .db",
         "convert a capture", "convert a dump",
         "diff firmware", "check, rewriting", "cover, lcov", "disasm into a file", "asm", "asm -g", "step, a script", "regress",
         "audit", "audit, JSON", "audit, a folder into a folder", "audit, by threads", "audit, a hang's firmware",
         "regress, cold cache", "regress --merge", "reduce, cold cache", "fuzz, into a folder",
         "prove, cold cache", "profile", "profile, callgrind",
         "help man")
STDERR = 2


def variants(kind, numbers, persistent):
    """What inject.c shall do beside failing the n-th call."""
    for number in numbers:
        yield "%s, %s" % (kind, errno.errorcode[number]), {"CALL": kind, "ERRNO": number}
    if persistent:
        yield "%s, %s from then on" % (kind, errno.errorcode[numbers[0]]), \
            {"CALL": kind, "ERRNO": numbers[0], "ALWAYS": 1, "SPARE": STDERR}
    if kind == "write":
        yield "write, a part", {"CALL": kind, "SHORT": 1}


def excused(case, usual, got, fault):
    """What the command cannot do anything about: words on stderr that got lost, a file that cannot be removed."""
    if fault["CALL"] == "write" and got.first == STDERR:
        return got.status in (usual.status, 3) and got.files == usual.files
    if fault["CALL"] == "unlink":
        return got.status in (usual.status, 3)
    return False


def one(runner, case, args, seed):
    """(faults that fired, what went wrong) of a command."""
    room = runner.room(case)
    before = tree(room)
    usual = runner.run(case, room=room)
    wrong, fired = [], 0
    for kind, numbers, persistent in KINDS:
        count = runner.run(case, {"CALL": kind, "AT": 0}).calls
        chosen = range(1, count + 1) if args.long else instants(count, FIRST, SAMPLE, seed)
        for what, fault in variants(kind, numbers, persistent):
            for number in chosen:
                got, again = runner.twice(case, dict(fault, AT=number))
                fired += got.fired > 0
                bad = judge(case, usual, got, before, words=())
                bad = None if bad and excused(case, usual, got, fault) else bad
                if not bad and not case.copies:
                    bad = judge_again(case, usual, again)
                if bad:
                    wrong.append(("%s, call %d of %d" % (what, number, count), *bad))
                    if args.stacks:
                        print("#     %s: %s\n#         %s" % (wrong[-1][0], bad[1][:90], places(runner.cpscope, got.stack)))
    return fired, wrong


suite.run("calls", one, lambda case: case.name in CASES)

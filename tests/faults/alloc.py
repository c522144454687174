#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command with its n-th allocation failing: it says so and ends with 3, or nothing is lost.

Usage: alloc.py CPSCOPE INJECT.so [--long] [--only TEXT] [--stacks]"""
import collections

import suite
from faults import instants, places, tree
from judge import judge

FIRST, SAMPLE = 18, 12  # of the short variant: how many from the start, and how many of the others


def one(runner, case, args, seed):
    """(faults that fired, what went wrong) of a command."""
    room = runner.room(case)
    before = tree(room)
    usual = runner.run(case, room=room)
    count = runner.run(case, {"CALL": "malloc", "AT": 0}).calls
    numbers = range(1, count + 1) if args.long else instants(count, FIRST, SAMPLE, seed)
    wrong, fired, stacks = [], 0, collections.Counter()
    for number in numbers:
        got = runner.run(case, {"CALL": "malloc", "AT": number})
        fired += got.fired
        bad = judge(case, usual, got, before)
        if bad:
            wrong.append(("allocation %d of %d" % (number, count), *bad))
            stacks[(bad[0] + ": " + bad[1][:90], places(runner.cpscope, got.stack))] += args.stacks
    for (text, stack), times in stacks.most_common() if args.stacks else ():
        print("# %d x %s\n#     %s" % (times, text.replace("\n", " "), stack))
    return fired, wrong


suite.run("allocations", one)

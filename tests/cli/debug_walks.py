#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debugging sessions on whole firmware through the command line: after any walk, the registers at a step are
those of a straight run to it. Usage: debug_walks.py CPSCOPE; with CPSCOPE_CORPUS also real firmware."""
import os
import random
import re
import subprocess

import tap
from tree import STREAMS
from scene import CORPUS, CPSCOPE

DRAW = "@captures/dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"
CASES = [
    ("the demo", ["--demo"], ["sqe"]),
    ("a5xx: PFP and ME", ["--fw", "@firmware/a530_pfp.fw", "--fw", "@firmware/a530_pm4.fw",
                          "@captures/compute-a540.rd.gz"], ["pfp", "me"]),
    ("a6xx", ["--fw", "@firmware/a680_sqe.fw", DRAW], ["sqe"]),
    ("a7xx: BR, BV and LPAC", ["--fw", "@firmware/a740_sqe.fw",
                               os.path.join(STREAMS, "a7xx.pm4")], ["sqe", "bv", "lpac"]),
]
MOVES = ["s", "s 7", "n", "n 3", "sp", "fin", "ib", "rs", "rs 9", "rn", "rp", "rfin", "rib", "c", "rc",
         "submit", "rsubmit"]


def session(args, commands):
    args = [os.path.join(CORPUS or "", a[1:]) if a.startswith("@") else a for a in args]
    done = subprocess.run([CPSCOPE, "step", *args], input="\n".join(commands) + "\n", text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def states(out):
    """(step, event, place), registers: for each "core X" command."""
    for part in out.split("> info line\n")[1:]:
        lines = part.split("\n")
        step = re.match(r"step (\d+), event (\d+), ", lines[0])
        end = next(i for i, line in enumerate(lines) if line.startswith("> info registers"))
        registers = "\n".join(line.replace("*", " ") for line in lines[end + 1:end + 6])
        yield int(step.group(1)), lines[0], registers


def walk(args, cores, seed, count):
    rng = random.Random(seed)
    commands = []
    for _ in range(count):
        kind = rng.randrange(10)
        if kind == 0:
            commands.append("core " + cores[0])  # the others may not be started there
            commands.append("tb *0x%x" % rng.randrange(0x20, 0x180))
        elif kind == 1:
            commands.append("delete" if rng.randrange(2) else "tb pkt:@ib1")
        elif kind == 2:
            commands.append("goto %d" % rng.randrange(3000))
        elif kind == 3:
            commands.append("event %d" % rng.randrange(600))
        elif kind == 4:
            commands.append("watch $%02x" % rng.randrange(1, 16))
            commands.append("c")
            commands.append("delete")
        else:
            commands.append(rng.choice(MOVES))
        commands += ["core " + rng.choice(cores), "info line", "info registers"]
    return commands


def check(args, cores):
    if any(a.startswith("@") for a in args) and not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    seen = {}
    commands = []
    for seed in range(10):
        commands += walk(args, cores, seed, 60)
    for step, where, registers in states(session(args, commands)):
        core = re.search(r": (\w+) ", where).group(1)
        assert seen.setdefault((step, core), (where, registers)) == (where, registers), \
            "two states at step %d" % step
    # The same places in one run forward.
    straight = []
    for step, core in sorted(seen):
        straight += ["goto %d" % step, "core " + core, "info line", "info registers"]
    for step, where, registers in states(session(args, straight)):
        core = re.search(r": (\w+) ", where).group(1)
        assert seen[step, core] == (where, registers), \
            "step %d:\n%s\n%s" % (step, "\n".join(seen[step, core]), "\n".join((where, registers)))
    return "%d places" % len(seen)


tap.run([(name, lambda args=args, cores=cores: check(args, cores)) for name, args, cores in CASES])

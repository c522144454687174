#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A synthetic corpus for regress: N captures as PM4 text, each another mixture of packets, the demo
firmware, and a revision of it with one constant changed.

Usage: mkcorpus.py CPSCOPE DEMO.afuc DIR N, or make() from a test."""
import os
import random
import re
import sys

import make as maker


def capture(seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(rng.randrange(5, 60)):
        kind = rng.randrange(5)
        if kind == 0:
            values = " ".join("0x%x" % rng.getrandbits(32) for _ in range(rng.randrange(1, 9)))
            lines.append("reg 0x%x %s" % (rng.randrange(0x8000, 0x8f00), values))
        elif kind == 1:
            lines.append("CP_NOP 0x%x" % rng.getrandbits(32))
        elif kind == 2:
            lines.append("CP_MEM_WRITE 0x%x 0x0 0x%x" % (0x200000 + 4 * rng.randrange(4096),
                                                           rng.getrandbits(32)))
        elif kind == 3:
            lines.append("CP_EVENT_WRITE 0x31")
        else:
            lines.append("CP_WAIT_FOR_IDLE")
    # One capture in ten reaches the instruction that the revision changes.
    if seed % 10 == 0:
        lines.append("CP_SCRATCH_WRITE 0x00200000 0x%x 0xbb" % (seed + 1))
        lines.append("CP_SCRATCH_TO_REG 0x01208a00")
    return maker.pm4(*lines)


def revision(source):
    """The scratch register's number loses a bit: `and` with 0x7 becomes 0x5."""
    changed, count = re.subn(r"(CP_SCRATCH_WRITE:.*?\n[^\n]*and [^\n]*, )0x7", r"\g<1>0x5", source,
                             count=1, flags=re.S)
    assert count == 1, "the demo firmware has no such instruction"
    return changed


def make(cpscope, demo, out, count):
    os.makedirs(os.path.join(out, "captures"), exist_ok=True)
    source = open(demo).read()
    for name, text in (("old", source), ("new", revision(source))):
        maker.firmware(cpscope, os.path.join(out, name), text)
    for i in range(count):
        open(os.path.join(out, "captures", "c%04d.pm4" % i), "w").write(capture(i))
    open(os.path.join(out, "manifest.txt"), "w").write(
        "# cpscope-manifest 1\nfirmware old old.fw\nfirmware new new.fw\nbaseline old\n"
        "capture captures/*.pm4\n")


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))

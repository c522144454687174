# SPDX-License-Identifier: MIT
"""Streams of PM4 text from a seed: what drivers send, in their mix, and now and then what nobody sends. Any firmware of
any generation gets them; it may refuse a packet, which ends that submission."""
import random

DATA = 0x200000  # words that packets read and write


def parity(value):
    return 1 - bin(value).count("1") % 2


def value(rng):
    kinds = (lambda: rng.getrandbits(4), lambda: rng.getrandbits(32), lambda: DATA + 4 * rng.randrange(64),
             lambda: rng.randrange(0x8000, 0xc000), lambda: 0, lambda: 1 << rng.randrange(32))
    return rng.choice(kinds)()


def payload(rng, count):
    return " ".join("0x%x" % value(rng) for _ in range(count))


def registers(rng):
    """Type 4. Most are plain storage, some behave: those of the command processor below 0xc00, data ports."""
    count = rng.choice((1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 24, 60, 127))
    first = rng.choice((rng.randrange(0x8800, 0x8e00), rng.randrange(0x8000, 0xbf00), rng.randrange(0x9800, 0x9900)))
    if rng.randrange(40) == 0:
        first = rng.choice((rng.randrange(0x800, 0xc00), 0x3ffff, rng.getrandbits(18)))
    return "reg 0x%x %s" % (first, payload(rng, count))


def protection(rng):
    """An entry of CP_PROTECT over many of the registers that are written, and its switch, in a packet or two of type 4 or
    in a bunch: what stands right behind is forbidden. Numbers are those of a6xx on."""
    entry, switch = 0x80000000 | 0x5ff << 18 | 0x8800, rng.choice((0x84f, 0x84f, 0x84e))
    ways = ("reg 0x850 0x%x\n    reg 0x%x 0x1" % (entry, switch), "reg 0x%x 0x1%s 0x%x" % (
        switch, " 0x0" if switch == 0x84e else "", entry),
            "CP_CONTEXT_REG_BUNCH 0x850 0x%x 0x%x 0x1 0x%x 0x1" % (entry, switch, rng.randrange(0x8800, 0x8e00)))
    writes = ("    reg 0x%x %s" % (rng.randrange(0x8800, 0x8df0), payload(rng, rng.randrange(1, 4))) for _ in range(3))
    return "\n".join([rng.choice(ways), *writes])


def any_packet(rng):
    """An opcode that may not exist, with a payload of any length; the header is right, mostly."""
    opcode, count = rng.randrange(128), rng.randrange(6)
    header = 0x70000000 | parity(opcode) << 23 | opcode << 16 | parity(count) << 15 | count
    if rng.randrange(8) == 0:
        header ^= 1 << rng.randrange(28)
    return "\n    ".join([".word 0x%x" % header] + [".word 0x%x" % value(rng) for _ in range(count)])


def draw_states(rng):
    groups = ("0x%x @group%d" % (rng.randrange(8) << 20 | rng.randrange(32) << 24 | rng.choice((0, 0, 0, 2, 4)) << 16 |
                                 rng.choice((9, 5, 0)), rng.randrange(2)) for _ in range(rng.randrange(1, 4)))
    return "CP_SET_DRAW_STATE " + " ".join(groups)


def inner(rng):
    return "CP_INDIRECT_BUFFER @ib%d #ib%d" % ((rng.randrange(3),) * 2)


# How many of a hundred packets, and what they are.
MIX = ((62, registers), (6, lambda rng: "CP_WAIT_FOR_IDLE"), (4, lambda rng: "CP_NOP " + payload(rng, rng.randrange(5))),
       (5, lambda rng: "CP_MEM_WRITE 0x%x 0x0 %s" % (DATA + 4 * rng.randrange(64), payload(rng, rng.randrange(1, 6)))),
       (3, lambda rng: "CP_REG_TO_MEM 0x%x 0x%x 0x0" % (rng.randrange(0x8000, 0xc000) | rng.randrange(3) << 18, DATA)),
       (3, lambda rng: "CP_MEM_TO_REG 0x%x 0x%x 0x0" % (rng.randrange(0x8800, 0x8e00) | rng.randrange(3) << 19, DATA)),
       (3, lambda rng: "CP_REG_RMW 0x%x %s" % (rng.randrange(0x8800, 0x8e00), payload(rng, 2))),
       (3, lambda rng: "CP_EVENT_WRITE 0x%x" % rng.randrange(0x40)), (3, inner), (3, draw_states),
       (3, lambda rng: "CP_DRAW_INDX_OFFSET 0x84 0x1 0x3"), (2, any_packet))


def packets(rng, count, inside):
    kinds = [kind for _, kind in MIX if not (inside and kind is inner)]
    weights = [weight for weight, kind in MIX if kind in kinds]
    return ["    " + kind(rng) for kind in rng.choices(kinds, weights, k=count)]


def text(seed):
    """One to four submissions, protected in every third seed, three indirect buffers, two draw-state groups, and words to
    read."""
    rng = random.Random(seed)
    submissions = rng.randrange(1, 5)
    lines = ["# cpscope-pm4 1"]
    for i in range(submissions):
        frame = packets(rng, rng.randrange(5, 60), False)
        if seed % 3 == 0:
            frame.insert(rng.randrange(5), "    " + protection(rng))
        lines += ["buffer 0x%08x frame%d" % (0x100000 + 0x10000 * i, i)] + frame
    for i in range(3):
        lines += ["buffer 0x%08x ib%d" % (0x300000 + 0x10000 * i, i)] + packets(rng, rng.randrange(1, 12), True)
    for i in range(2):
        lines += ["buffer 0x%08x group%d" % (0x400000 + 0x10000 * i, i)]
        lines += ["    reg 0x%x %s" % (rng.randrange(0x8800, 0x8e00), payload(rng, 1)) for _ in range(5)]
    lines += ["buffer 0x%08x data" % DATA] + ["    .word 0x%x" % value(rng) for _ in range(64)]
    return "\n".join(lines + ["submit frame%d" % i for i in range(submissions)]) + "\n"

# SPDX-License-Identifier: MIT
"""`run --inject switch`: real firmware saves a context, runs another ring, restores the first, and goes on as if
nothing had happened. Usage: corpus_switch.py CPSCOPE"""
import os
import re
import sys
import tempfile

import tap
from tree import STREAMS
from scene import CORPUS, run

NEVER = "99:0"  # the driver's own packets are there, the request is not
NEVER_CAME = "ended: done, 1 of 1 interrupts of --inject were not raised"  # status 4 of such a run, and only of it
RECORD = 0x1fffff9000000  # of the ring of the run
OTHER_RING = range(0x1fffff8100000, 0x1fffff8200000)
CAPTURE = "captures/dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"

# Firmware; stream; chip id that a text stream is to have; packets; levels that they are in; PREEMPT_COOKIE, its last value
# in the restore.
A6XX = ("ring", "ib1", "ib2", "sds")
A7XX = A6XX + ("ib3",)
PLACES = [0, 1, 2, 6, 8, 9, 10, 11, 12, 18, 20, 25, 28, 30, 32, 34]
CASES = [
    ("a630_sqe-190.fw", CAPTURE, None, [0, 1, 12, 60, 97, 98, 117, 150, 230, 255], A6XX, 0x078, 0x70),
    ("a680_sqe.fw", CAPTURE, None, [0, 1, 12, 60, 97, 98, 117, 150, 230, 255], A6XX, 0x078, 0x70),
    ("a740_sqe.fw", "a7xx.pm4", "0x43050a01", PLACES, A7XX, 0x078, 0x71),
    ("gen70900_sqe-181.fw", "a7xx.pm4", "0x43051401", PLACES, A7XX, 0x132, 0x71),
    ("a740_sqe.fw", "concurrent-binning.pm4", "0x43050a01", [9, 33, 52, 71], (), 0x078, 0x71),
    ("gen70900_sqe-181.fw", "concurrent-binning.pm4", "0x43051401", [9, 33, 52, 71], (), 0x132, 0x71),
]

# Numbers of contexts, which count events: the light form of the routine begins anew with 0, as the hardware does that it
# has reset (6ee 111d). Bits of the value that are not about that.
SLOTS = {0xd600: 0, 0xd601: 0, 0xbb02: 0xffff, 0x9842: 0xffff, 0xab1e: 0xffff}

# Control registers that the routine leaves with another value, by cause. The others are as without the switch.
DIFFERENT = {
    "a6xx": {
        "what it wrote last": [0x012, 0x016, 0x01a, 0x022, 0x053, 0x05c, 0x07b, 0x081, 0x08e, 0x09c],
        "offset of the clock, which went on": [0x076, 0x077],
        "stored, but not what is read": [0x00a, *range(0x042, 0x04a), 0x051, 0x089],
        "where it keeps $02..$05": [0x120, 0x121, 0x122, 0x123],
    },
    "a7xx": {
        "what it wrote last": [0x012, 0x016, 0x01a, 0x01c, 0x01e, 0x022, 0x026, 0x02c, 0x036, 0x037, 0x053, 0x05c, 0x07b, 0x081,
                               0x089, 0x08e, 0x0a7, 0x0a8, 0x0a9, 0x0c9, 0x0d0, 0x0d5, 0x0e4, 0x0e6],
        "stored, but not what is read": [*range(0x042, 0x04a), 0x05f, 0x0dc, 0x0dd, *range(0x200, 0x300)],
        "its own scratch": [0x104, 0x109, 0x10a, 0x123, 0x124, 0x125, 0x126, 0x171, *range(0x1f1, 0x1f8)],
    },
    "a750": {
        "what it wrote last": [0x018, 0x019, 0x01d, 0x022, 0x026, 0x02a, 0x02e, 0x02f, 0x032, 0x036, 0x044, 0x063, 0x08c, 0x0c8,
                               0x0d7, 0x0d9, 0x120, 0x13e, 0x143, 0x14d, 0x152, 0x159, 0x15a, 0x15b, 0x169, 0x16c],
        "stored, but not what is read": [*range(0x052, 0x05a), 0x0cb, 0x101, 0x102, *range(0x200, 0x300)],
        "its own scratch": [0x404, 0x409, 0x40a, 0x41d, 0x424, 0x425, 0x426, 0x427, 0x46e, *range(0x4f1, 0x4f8)],
    },
}
# $13 counts contexts, as above; on a7xx $0f is what shared scratch 0x238 was, in which the routine notes its last kind.
GENERAL = {"a6xx": {"13"}, "a7xx": {"0f"}, "a750": {"0f"}}
# Words of the record, by their place: REG_READ_ADDR, the clock; the routine's scratch, shared scratch 0x238 as for $0f,
# the clock, where BV reports its read pointer.
SCRATCH_A7XX = [0x46c, 0x5b0, 0x5c4, 0x758, 0x764, *range(0x964, 0x980, 4), 0xc020, 0xc024]
RECORDS = {"a6xx": [0x990, 0x5230], "a7xx": [*SCRATCH_A7XX, 0x7588], "a750": [*SCRATCH_A7XX, 0x7ac8]}
# The same of GPU registers: reset of other blocks, the ring and its shadow, commands to the processor, debug ports; what
# the policy about visibility gave and is written back; an aperture of RB.
GPU = [*range(0x48, 0x4d), 0x281, *range(0x800, 0x808), 0x812, 0x824, 0x825, 0x833, 0x908, 0x90e, 0xa01, 0xa66, 0xa87, 0xa96,
       *range(0xa98, 0xa9a), *range(0xc38, 0xc58), 0x8e3c, 0x8e3f]


def files_of(case, scratch):
    firmware, stream, chip = case[:3]
    if stream.startswith("captures/"):
        return os.path.join(CORPUS, "firmware", firmware), os.path.join(CORPUS, stream)
    text = open(os.path.join(STREAMS, stream), encoding="utf-8").read()
    path = os.path.join(scratch, "stream.pm4")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^chip .*", "chip " + chip, text, flags=re.M))
    return os.path.join(CORPUS, "firmware", firmware), path


def cpscope(command, firmware, stream, at, *words):
    done = run(command, "--fw", firmware, stream, "--inject", "switch@" + at, "-l", "8M", *words)
    last = done.stderr.strip().split("\n")[-1]
    status = 4 if (command, at) == ("run", NEVER) else 0
    assert done.returncode == status and (not status or last == NEVER_CAME), "switch@%s: %s" % (at, last)
    return done.stdout


def trace_of(case, scratch, at):
    out = os.path.join(scratch, "out.trace")
    cpscope("run", *files_of(case, scratch), at, "-o", out, "-e", "default,ctrl")
    by_core = {}
    with open(out, encoding="utf-8") as file:
        for line in file:
            core, text = re.match(r"(?:(sqe|bv|lpac) )?(.*?)\s*(?:;.*)?$", line.rstrip("\n")).groups()
            by_core.setdefault(core or "sqe", []).append(text)
    return by_core


def is_interrupt(text):
    return text.startswith("PKT int ") and text.endswith(" 0x708f8000")


def without_slot(text):
    found = re.match(r"REG (0x\w+) (0x\w+)", text)
    offset = int(found[1], 16) if found else 0
    return "REG 0x%04x %x" % (offset, int(found[2], 16) & SLOTS[offset]) if offset in SLOTS else text


def own(lines, cookie):
    """What the streams of the run do: packets, registers, memory; not what the routine does, nor the other ring."""
    kept, inside, away = [], False, False
    for text in lines:
        if is_interrupt(text):
            inside, away = True, False
        elif text.startswith("PKT rb "):
            away = int(text.split()[2], 16) in OTHER_RING
        if not inside and not away and re.match(r"(PKT|REG|PIPE|MEMW|IRQ) ", text):
            kept.append(without_slot(text))
        inside = inside and text != "CTRL 0x%04x 0x00000000" % cookie
    return kept


def level_behind(lines):
    """Of the packet in front of which the run was left; IN_IB_END is of none."""
    last = max((i for i, text in enumerate(lines) if is_interrupt(text)), default=0)
    behind = [text.split()[1] for text in lines[last + 1:] if text.startswith("PKT ") and not text.startswith("PKT int")]
    return {"rb": "ring"}.get(behind[0], behind[0]) if behind else None


def check_traces(case):
    cookie, last = case[5:]
    with tempfile.TemporaryDirectory() as scratch:
        plain = trace_of(case, scratch, NEVER)
        assert not any(map(is_interrupt, plain["sqe"]))
        levels = set()
        for packet in case[3]:
            at = "0:%d" % packet
            cut = trace_of(case, scratch, at)
            steps = [int(text.split()[2], 16) for text in cut["sqe"] if text.startswith("CTRL 0x%04x " % cookie)]
            assert steps.count(last) == 1 and steps[-1] == 0 and steps.index(last) > steps.index(0x33), (at, steps)
            rings = [text for text in cut["sqe"] if text.startswith("REG 0x0800 ")]
            assert rings == ["REG 0x0800 0xf8100000 ctrl", "REG 0x0800 0xf8000000 ctrl"], (at, rings)
            assert "MEMW 0x%016x 0xae399d6e store" % RECORD in cut["sqe"], "no record is saved"
            for core in plain:
                want, got = own(plain[core], cookie), own(cut[core], cookie)
                first = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
                assert want == got, "%s, %s, line %d: %s, not %s" % (at, core, first, got[first:first + 3], want[first:first + 3])
            levels.add(level_behind(cut["sqe"]))
        assert levels >= set(case[4]), levels
    return "%d places" % len(case[3])


def state_of(case, scratch, at):
    """General registers and control registers of the SQE at the end."""
    script = os.path.join(scratch, "commands")
    with open(script, "w", encoding="utf-8") as file:
        file.write("continue\ninfo registers\ninfo control\n")
    said = cpscope("step", *files_of(case, scratch), at, "-x", script)
    control = {int(number, 16): value for number, value in re.findall(r"^@0x(\w+) (\w+)", said, re.M)}
    return re.findall(r"[$](\w+) +(\w+)", said.split("> info control")[0].split("> info registers")[1]), control


def layout_of(case):
    return "a6xx" if case[5] == 0x078 and case[6] == 0x70 else "a7xx" if case[5] == 0x078 else "a750"


def check_state(case):
    """The end of the run is the same, but for what is listed."""
    listed = sum(DIFFERENT[layout_of(case)].values(), [])
    with tempfile.TemporaryDirectory() as scratch:
        general, control = state_of(case, scratch, NEVER)
        for packet in case[3]:
            at = "0:%d" % packet
            now, numbers = state_of(case, scratch, at)
            changed = {name: (a, b) for (name, a), (_, b) in zip(general, now) if a != b}
            assert set(changed) <= GENERAL[layout_of(case)], (at, changed)
            other = [hex(n) for n in sorted({*control, *numbers}) if control.get(n) != numbers.get(n) and n not in listed]
            assert not other, (at, other)
    return "%d general registers; %d control registers may differ" % (len(general), len(listed))


def check_registers(case):
    """Each register of the GPU ends with the value that it has without the switch, written by the firmware or
    read by it as the driver left it."""
    def last(by_core, said="REG"):
        values = {}
        for core, lines in by_core.items():
            pipe = 2 << 32 if core == "bv" else 0
            for offset, value in re.findall(r"^%s (0x\w+) (0x\w+)" % said, "\n".join(lines), re.M):
                offset = int(offset, 16)
                banked = 0x8000 <= offset < 0xc000
                values[offset | pipe if banked else offset & 0x3ffff if not offset >> 32 else offset] = int(value, 16)
        return values
    with tempfile.TemporaryDirectory() as scratch:
        plain = last(trace_of(case, scratch, NEVER), "REGR") | last(trace_of(case, scratch, NEVER))
        cut = last(trace_of(case, scratch, "0:%d" % case[3][-2]))
        assert len(cut) > len(plain) + 1000, (len(cut), len(plain))
        other = [hex(r) for r in sorted(cut) if cut[r] != plain.get(r, 0) and r & 0x3ffff not in [*GPU, *SLOTS]]
        assert not other, other
    return "%d registers" % len(cut)


def record_of(lines, at_least):
    """Words that the routine stored last in the record of the ring of the run."""
    words = {}
    for address, value in re.findall(r"^MEMW (0x\w+) (0x\w+)", "\n".join(lines), re.M):
        offset = int(address, 16) - RECORD
        if 0 <= offset < 0x40000:
            words[offset] = value
    assert len(words) > at_least, len(words)
    return words


def check_records(case):
    """A context that was restored is saved with the same words as one that never left: general registers, scratch,
    positions of all streams, draw-state groups, words in queues, registers behind apertures."""
    with tempfile.TemporaryDirectory() as scratch:
        first, second = case[3][2], case[3][-5]
        once = record_of(trace_of(case, scratch, "0:%d" % second)["sqe"], 1000)
        twice = record_of(trace_of(case, scratch, "0:%d,switch@0:%d" % (first, second))["sqe"], 1000)
        other = {hex(n): (once.get(n), twice.get(n)) for n in sorted({*once, *twice})
                 if once.get(n) != twice.get(n) and n not in RECORDS[layout_of(case)]}
        assert not other, (len(other), other)
    return "%d words" % len(once)


def check_unmodelled():
    """Nothing is accepted silently where there is no model of it: a8xx."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    with tempfile.TemporaryDirectory() as scratch:
        case = ("gen80000_sqe-077.fw", "a7xx.pm4", "0x44050a31")
        plain, asked = trace_of(case, scratch, NEVER)["sqe"], trace_of(case, scratch, "0:4")["sqe"]
        said = [text for text in asked if text not in plain]
        assert said == ["UNMODELLED gpu 0x00000000000008c0"] and len(asked) == len(plain) + 1, said


def case_of(check, case):
    def run():
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        return check(case)
    return run


tap.run([("%s, %s: %s" % (case[0], os.path.basename(case[1])[:24], claim), case_of(check, case))
         for case in CASES if len(sys.argv) < 3 or sys.argv[2] in case[0]
         for claim, check in (("save and restore end, and the stream goes on", check_traces),
                              ("the state at the end is equal", check_state),
                              ("so are the registers of the GPU", check_registers),
                              ("saved again, it is the same record", check_records))
         if check != check_records or case[4]] +
        [("a8xx has no model of it, and says so", check_unmodelled)])

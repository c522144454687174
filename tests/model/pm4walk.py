#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walks PM4 by rule and says which registers and which memory BR or BV must write, packet by packet, in order.

It executes no firmware and shares no code with cpscope. The rules are those of Mesa's decoder
(src/freedreno/decode/cffdec.c), of the packet database (adreno_pm4.xml) and of Turnip's comments;
where they differ the rule says which one it follows. What the walker cannot decide is listed.

It does not know: visibility streams (all is visible), protected registers, preemption.

Usage: pm4walk.py STREAM.pm4 [--processor br|bv] [--json]"""
import argparse
import collections
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pm4ops
import pm4text
from pm4data import Data, Undecided, signed

BR, BV = 1, 2                                 # CP_THREAD_CONTROL 1:0 (enum cp_thread)
# Those that execute streams, as traces name them.
PROCESSORS = {5: (("pfp", BR),), 6: (("sqe", BR),), 7: (("sqe", BR), ("bv", BV)), 8: (("sqe", BR), ("bv", BV))}
BINNING, GMEM, SYSMEM = 1, 2, 4               # modes of groups, bits 22:20
MARKER_MODES = {1: SYSMEM, 2: BINNING}        # adreno_pm4.xml, CP_COND_REG_EXEC: "all others" are GMEM
MARKERS = {3, 4, 5, 6, 7, 8, 13, 14, 15}      # the others that have a name and are no no-op
IB_LEVELS = ("rb", "ib1", "ib2", "ib3")
DIRTY, DISABLE, DISABLE_ALL, IMMEDIATE = 1, 2, 4, 8    # bits 19:16 of a group's header


class Write:
    """One expected write: a register, or a dword of memory. A value of None may be any."""
    __slots__ = ("packet", "space", "at", "value")

    def __init__(self, packet, space, at, value):
        self.packet, self.space, self.at, self.value = packet, space, at, value

    def row(self):
        packet = self.packet
        return (hex(packet.iova), self.space, hex(self.at), "open" if self.value is None else hex(self.value), packet.name,
                packet.level, "-" if packet.group is None else str(packet.group))


class Packet:
    """A packet that is executed, with what it writes. `silent`: one that wakes the processor up may go unreported.
    `open`: it may write what is not predicted. `waits`: whether its condition does not hold, so that the run assumes a
    value; None: it waits for nothing, or that is not known."""

    def __init__(self, iova, header, level, group, name):
        self.iova, self.header, self.level, self.group, self.name = iova, header, level, group, name
        self.silent, self.open, self.waits, self.writes = False, False, None, []


class Group:
    __slots__ = ("modes", "flags", "dwords", "iova", "behind_dirty")

    def __init__(self, header, low, high):
        self.dwords, self.flags, self.modes = header & 0xffff, header >> 16 & 0xf, header >> 20 & 7
        self.iova, self.behind_dirty = high << 32 | low, False


class Walker(Data):
    def __init__(self, generation, processor=BR):
        super().__init__(generation)
        self.processor, self.thread = processor, BR | BV
        self.ops = pm4ops.describe(generation)
        # No marker yet: "all others" as above. Firmware of a7xx and a8xx starts with this mode, too.
        self.mode, self.immediate = GMEM, False
        self.groups, self.loaded = {}, {}     # set and not executed; what was executed last
        self.known, self.bits = 0, 0          # predicate: which bits are known, their values
        self.group, self.bins = None, None    # the group that is executed; CP_START_BIN: how often, prefix, its size
        self.packets, self.problems = [], []
        self.counts, self.undecided = collections.Counter(), collections.Counter()

    @property
    def writes(self):
        return [write for packet in self.packets for write in packet.writes]

    # -- streams

    def submit(self, submission):
        self.memory = dict(submission.memory)
        self.stream(submission.iova, submission.dwords, 1)

    def level(self, depth):
        return "sds" if self.group is not None else IB_LEVELS[depth]

    def problem(self, text, iova=None):
        self.problems.append("0x%x: %s" % (self.packets[-1].iova if iova is None else iova, text))

    def wrote(self, space, at, value):
        self.packets[-1].writes.append(Write(self.packets[-1], space, at, value))

    def stream(self, iova, dwords, depth):
        end = iova + 4 * dwords
        while iova is not None and iova < end:
            header = self.memory.get(iova)
            if header is None:
                self.problem("the stream names memory that is not held", iova)
                return
            kind, count = header >> 28, header & (0x7f if header >> 28 == 4 else 0x3fff)
            if kind not in (4, 7):
                self.problem("0x%08x is no header" % header, iova)
                return
            after = iova + 4 * (count + 1)
            payload = [self.memory.get(at) for at in range(iova + 4, after, 4)]
            if after > end or None in payload:
                self.problem("the packet goes on behind the end of its stream", iova)
                return
            step = self.packet(iova, header, payload, depth)
            iova, end = (after, end) if step is None else self.move(step, after, end)

    @staticmethod
    def move(step, after, end):
        """A step is dwords to skip, or (address, dwords) of the stream to go on in."""
        if isinstance(step, tuple):
            return step[0], step[0] + 4 * step[1]
        return after + 4 * step, end

    def packet(self, iova, header, payload, depth):
        opcode = header >> 16 & 0x7f if header >> 28 == 7 else None
        asleep = not self.thread & self.processor
        if asleep and opcode != 0x17:
            return None                       # the other processor's
        name, meaning, known = self.ops.get(opcode, ("opcode 0x%02x" % (opcode or 0), None, ""))
        if opcode is None:
            name, meaning = "type4", pm4ops.DATA
        self.packets.append(Packet(iova, header, self.level(depth), self.group, name))
        self.packets[-1].silent = asleep
        self.counts[name] += 1
        if meaning is None:
            self.problem("%s: not understood" % name)
            self.packets[-1].open = True
        elif meaning == pm4ops.OPEN:
            self.leave_open(name, known)
        elif meaning == pm4ops.DRAW:
            self.execute_groups()
        elif meaning == pm4ops.WALK:
            return self.walk(opcode, payload, depth)
        elif meaning == pm4ops.DATA:
            self.data(header, opcode, payload)
        return None

    def leave_open(self, name, why):
        self.undecided["%s: %s" % (name, why)] += 1
        self.packets[-1].open = True

    def data(self, header, opcode, payload):
        if opcode is None:
            for i, value in enumerate(payload):
                self.write((header >> 8) + i & 0x3ffff, value)
            return
        if opcode in pm4ops.PAIRS:
            self.pairs(payload, pm4ops.PAIRS[opcode][1])
            return
        name = self.packets[-1].name
        try:
            getattr(self, name[3:].lower())(payload)
        except Undecided as why:
            self.leave_open(name, why)
        except IndexError:
            self.problem("%s: %d words are too few" % (name, len(payload)))

    def walk(self, opcode, payload, depth):
        if opcode in (0x3f, 0x57):
            return self.call(opcode, payload, depth)
        if opcode in (0x50, 0x51):
            return self.bin_loop(opcode, payload, depth)
        return {0x43: self.set_draw_state, 0x63: self.set_mode, 0x65: self.set_marker,
                0x17: self.thread_control, 0x47: self.cond_reg_exec, 0x44: self.cond_exec,
                0x39: self.reg_test, 0x3c: self.wait_reg_mem, 0x14: self.wait_timestamp, 0x70: self.wait_two_regs,
                0x71: self.test_two_mems}[opcode](payload)

    def call(self, opcode, payload, depth):
        target, dwords = payload[1] << 32 | payload[0], payload[2] & 0xfffff
        if self.group is not None:
            self.problem("a draw-state group calls a stream: not understood")
        elif opcode == 0x57:
            return (target, dwords) if target else None    # address 0 is a no-op
        elif depth == (2 if self.generation < 7 else 3):
            self.problem("calls below the last level")
        else:
            self.stream(target, dwords, depth + 1)
        return None

    def bin_loop(self, opcode, payload, depth):
        """BIN_COUNT, the first prefix, the size of each, the size of the body up to CP_END_BIN: adreno_pm4.xml. A prefix
        is executed one level down, the body with its CP_END_BIN where it stands."""
        if opcode == 0x51:
            return None
        start = self.packets[-1].iova + 4 * (len(payload) + 1)
        prefix = payload[2] << 32 | payload[1]
        for i in range(payload[0]):
            below = i == 0 or self.generation < 7     # pm4ops.FIRMWARE
            self.stream(prefix + 4 * payload[3] * i, payload[3], depth + below)
            self.stream(start, payload[4] + 1, depth)
        return payload[4] + 1

    # -- draw state

    def set_draw_state(self, payload):
        if len(payload) % 3:
            self.problem("groups are three words, here are %d in all" % len(payload))
        for at in range(0, len(payload) - 2, 3):
            number = payload[at] >> 24 & 0x3f
            if number > 31 and self.generation < 8:    # adreno_pm4.xml: bit 29 counts from a750 on
                self.problem("group %d: not decided whether the chip has it" % number)
            self.set_group(number, Group(*payload[at:at + 3]))
        if self.immediate:
            self.execute_groups()

    def set_group(self, number, group):
        if group.flags & DISABLE_ALL:
            self.groups, self.loaded = {}, {}
        elif group.flags & DISABLE or not group.dwords:
            self.groups.pop(number, None)
            self.loaded.pop(number, None)
        elif group.flags & IMMEDIATE or self.generation == 5:
            # cffdec.c executes it here and forgets it; no driver of a6xx and later does this. What a5xx executes when
            # is in no document that we have.
            self.problem("group %d is to be loaded at once: not understood" % number)
            self.groups[number] = group
        else:
            before = self.groups.get(number)
            group.behind_dirty = before is not None and (before.behind_dirty or bool(before.flags & DIRTY))
            self.groups[number] = group

    def execute_groups(self):
        """Groups in the order of their numbers. One that is what was executed last is left out unless
        it is marked dirty (Turnip says so where it sets DIRTY); those of other modes are dropped."""
        if self.group is not None:
            self.problem("a draw inside a draw-state group: not understood")
            return
        draw = self.packets[-1]
        for number in sorted(self.groups):
            group = self.groups[number]
            if group.modes & self.mode and not self.unchanged(draw, number, group):
                self.loaded[number] = (group.iova, group.dwords)
                self.group = number
                self.stream(group.iova, group.dwords, 0)
                self.group = None
        self.groups = {}

    def unchanged(self, draw, number, group):
        before = self.loaded.get(number)
        if before is None or group.flags & DIRTY or before[0] != group.iova:
            return False
        if group.behind_dirty:
            self.problem("group %d was set anew before its dirty words were executed: not decided" % number, draw.iova)
            return False
        if before[1] != group.dwords:
            self.problem("group %d has its address and another size: not decided" % number, draw.iova)
            return False
        return True

    # -- modes and conditions

    def set_mode(self, payload):
        self.immediate = bool(payload[0] & 1)

    def set_marker(self, payload):
        if payload[0] & 0x100:
            return                            # about power: MARKER_MODE
        marker = payload[0] & (0x7f if self.generation > 7 else 0xf)
        if marker in MARKER_MODES or marker in MARKERS:
            self.mode = MARKER_MODES.get(marker, GMEM)
        elif payload[0] & 0xe00 == 0 and marker != 12:    # 12 is a no-op; bits 11:9 are about ray tracing
            self.problem("CP_SET_MARKER 0x%x: not understood" % payload[0])

    def thread_control(self, payload):
        self.thread = payload[0] & 3

    def cond_reg_exec(self, payload):
        kind = payload[0] >> 28
        if kind == 1:
            passes = self.predicate(payload[0] >> 18 & 0x1f)
        elif kind == 3 and self.generation > 5:
            passes = bool(payload[0] >> 25 & 7 & self.mode)
        elif kind == 5 and self.generation > 6:
            passes = bool(payload[0] >> 25 & 3 & (2 if self.processor == BR else 1))
        else:
            passes = self.compare(kind, payload)
        if passes is None:
            self.problem("CP_COND_REG_EXEC mode %d: not decided, walked" % kind)
        return payload[-1] & 0xffffff if passes is False else None

    def compare(self, kind, payload):
        """Two registers, or one and a number; None where a value is not known. ONCHIP_MEM takes on-chip memory."""
        source = self.onchip if self.generation > 6 and payload[0] >> 24 & 1 else self.registers
        first, second = source.get(payload[0] & 0x3ffff), payload[1]
        if kind == 2:
            source = self.onchip if self.generation > 6 and payload[1] >> 24 & 1 else self.registers
            second = source.get(payload[1] & 0x3ffff)
        if kind not in (2, 4) or kind == 4 and self.generation < 7 or first is None or second is None:
            return None
        return first == second

    def predicate(self, bit):
        return bool(self.bits >> bit & 1) if self.known >> bit & 1 else None

    def reg_test(self, payload):
        if payload[0] >> 31:                  # PRED_UPDATE: mask and value
            mask, value = payload[1], payload[2] & payload[1]
        else:
            mask, value = 1 << (payload[0] >> 26 & 0x1f), None
            in_memory = self.generation > 6 and payload[0] >> 18 & 1
            tested = (self.scratch_mem if in_memory else self.registers).get(payload[0] & 0x3ffff)
            if tested is not None:
                value = mask if tested >> (payload[0] >> 20 & 0x1f) & 1 else 0
        self.known = self.known | mask if value is not None else self.known & ~mask
        self.bits = self.bits & ~mask | (value or 0)

    def cond_exec(self, payload):
        found = [self.read(payload[at + 1] << 32 | payload[at]) for at in (0, 2)]
        if None in found:
            self.problem("CP_COND_EXEC on memory that is not held: not decided, walked")
            return None
        # The document has a signed "less": pm4ops.FIRMWARE
        return None if found[0] and payload[4] - found[1] & 0xffffffff < 1 << 31 else payload[5]

    # -- waits: one that holds changes nothing; else the run assumes a value, which the walker does not know

    def wait(self, holding, registers=(), memory=()):
        self.packets[-1].waits = None if holding is None else not holding
        if not holding:
            for register in registers:
                self.registers.pop(register, None)
            for address in memory:
                self.memory.pop(address & ~3, None)

    def wait_reg_mem(self, payload):
        kind, address = payload[0] >> 4 & 3, payload[2] << 32 | payload[1]
        try:
            self.wait(self.compared(payload), (address & 0x3ffff,) if kind == 0 else (),
                      (address,) if kind == 1 else ())
        except Undecided as why:
            self.leave_open("CP_WAIT_REG_MEM", why)

    def wait_timestamp(self, payload):
        """CP_WAIT_MEM_GTE: signed, 32 bits. CP_WAIT_TIMESTAMP: the same; or 64 bits, unsigned; or on-chip."""
        kind = payload[0] & 3 if self.generation > 6 else 0
        if kind == 2:
            self.leave_open("CP_WAIT_TIMESTAMP", "the sum of two time stamps")
            return
        address, reference = payload[2] << 32 | payload[1], payload[3]
        if self.generation > 6 and payload[0] >> 4 & 1:
            value = self.onchip.get(payload[1])
            self.wait(None if value is None or kind else self.reached(value, reference))
            return
        value = self.read64(address) if kind else self.read(address)
        if kind:
            reference |= payload[4] << 32
        holding = None if value is None else value >= reference if kind else self.reached(value, reference)
        self.wait(holding, memory=(address, address + 4) if kind else (address,))

    @staticmethod
    def reached(value, reference):
        """The document's "signed": by the sign of the difference (pm4ops.FIRMWARE)."""
        return signed(value - reference & 0xffffffff) >= 0

    def wait_two_regs(self, payload):
        """adreno_pm4.xml has the first part the other way round, "to not be 0": pm4ops.FIRMWARE."""
        first, second = (self.registers.get(word & 0x3ffff) for word in payload[:2])
        self.two(first, second, payload[2])
        if self.packets[-1].waits is not False:
            self.registers.pop(payload[0] & 0x3ffff, None)
            self.registers.pop(payload[1] & 0x3ffff, None)

    def test_two_mems(self, payload):
        """The kernel's lock between processors (msm's kgsl_iommu, sync_lock): my turn when the other one's flag is 0 or
        the turn is not his."""
        addresses = [payload[at + 1] << 32 | payload[at] for at in (0, 2)]
        self.two(*(self.read(address) for address in addresses), payload[4])
        if self.packets[-1].waits is not False:
            for address in addresses:
                self.memory.pop(address & ~3, None)

    def two(self, first, second, reference):
        if first == 0 or second is not None and second != reference:
            self.wait(True)
        else:
            self.wait(None if None in (first, second) else False)


def walk_all(generation, submissions, processor=BR):
    if generation not in PROCESSORS:
        raise pm4text.TextError("the walker knows a5xx to a8xx, not generation %s" % generation)
    walker = Walker(generation, processor)
    for submission in submissions:
        walker.submit(submission)
    return walker


def walk(text, processor=BR):
    """The walker after all submissions of a PM4 text."""
    return walk_all(*pm4text.read(text), processor)


def main():
    parser = argparse.ArgumentParser(description="registers and memory that a PM4 text must write")
    parser.add_argument("stream")
    parser.add_argument("--processor", choices=("br", "bv"), default="br")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with open(args.stream, encoding="utf-8") as file:
        walker = walk(file.read(), BR if args.processor == "br" else BV)
    columns = ("iova", "space", "at", "value", "packet", "level", "group")
    if args.json:
        json.dump({"processor": args.processor, "not_understood": walker.problems, "open": walker.undecided,
                   "packets": walker.counts,
                   "writes": [dict(zip(columns, write.row())) for write in walker.writes]},
                  sys.stdout, indent=1)
        print()
        return 0
    print("\t".join(columns))
    for write in walker.writes:
        print("\t".join(write.row()))
    for text in walker.problems:
        print("# " + text)
    for text, times in walker.undecided.items():
        print("# open: %s, %d times" % (text, times))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walks PM4 text by rule and says which registers BR or BV must write, in order.

It executes no firmware and shares no code with cpscope. The rules are those of Mesa's decoder
(src/freedreno/decode/cffdec.c), of the packet database (adreno_pm4.xml) and of Turnip's comments;
where they differ the rule says which one it follows. What the walker cannot decide is listed.

It does not know: visibility streams (all is visible), protected registers, preemption.

Usage: pm4walk.py STREAM.pm4 [--processor br|bv] [--json]"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pm4ops
import pm4text

BR, BV = 1, 2                                 # CP_THREAD_CONTROL 1:0 (enum cp_thread)
BINNING, GMEM, SYSMEM = 1, 2, 4               # modes of groups, bits 22:20
MARKER_MODES = {1: SYSMEM, 2: BINNING}        # adreno_pm4.xml, CP_COND_REG_EXEC: "all others" are GMEM
MARKERS = {3, 4, 5, 6, 7, 8, 13, 14, 15}      # the others that have a name and are no no-op
IB_LEVELS = ("rb", "ib1", "ib2", "ib3")
DIRTY, DISABLE, DISABLE_ALL, IMMEDIATE = 1, 2, 4, 8    # bits 19:16 of a group's header


class Write:
    """One expected register write: iova is that of the packet's header."""
    __slots__ = ("iova", "register", "value", "kind", "level", "group")

    def __init__(self, iova, register, value, kind, level, group):
        self.iova, self.register, self.value = iova, register, value
        self.kind, self.level, self.group = kind, level, group

    def row(self):
        return (hex(self.iova), hex(self.register), hex(self.value), self.kind, self.level,
                "-" if self.group is None else str(self.group))


class Packet:
    """A packet that is executed. `silent`: one that wakes the processor up may go unreported."""
    __slots__ = ("iova", "header", "level", "silent")

    def __init__(self, iova, header, level, silent):
        self.iova, self.header, self.level, self.silent = iova, header, level, silent


class Group:
    __slots__ = ("modes", "flags", "dwords", "iova")

    def __init__(self, header, low, high):
        self.dwords, self.flags, self.modes = header & 0xffff, header >> 16 & 0xf, header >> 20 & 7
        self.iova = high << 32 | low


class Walker:
    def __init__(self, generation, processor=BR):
        self.processor, self.thread, self.generation = processor, BR | BV, generation
        self.ops = pm4ops.describe(generation)
        # No marker yet: "all others" as above. Firmware of a7xx and a8xx starts with this mode, too.
        self.mode, self.immediate = GMEM, False
        self.groups, self.loaded = {}, {}     # set and not executed; what was executed last
        self.known, self.bits = 0, 0          # predicate: which bits are known, their values
        self.registers = {}                   # last value that the stream wrote
        self.memory, self.group = {}, None
        self.writes, self.packets, self.problems, self.counts = [], [], [], {}

    # -- streams

    def submit(self, submission):
        self.memory = submission.memory
        self.stream(submission.iova, submission.dwords, 1)

    def level(self, depth):
        return "sds" if self.group is not None else IB_LEVELS[depth]

    def problem(self, iova, text):
        self.problems.append("0x%x: %s" % (iova, text))

    def stream(self, iova, dwords, depth):
        end = iova + 4 * dwords
        while iova is not None and iova < end:
            header = self.memory.get(iova)
            if header is None:
                self.problem(iova, "the stream names memory that is not held")
                return
            kind, count = header >> 28, header & (0x7f if header >> 28 == 4 else 0x3fff)
            if kind not in (4, 7):
                self.problem(iova, "0x%08x is no header" % header)
                return
            after = iova + 4 * (count + 1)
            payload = [self.memory.get(at) for at in range(iova + 4, after, 4)]
            if after > end or None in payload:
                self.problem(iova, "the packet goes on behind the end of its stream")
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
        self.packets.append(Packet(iova, header, self.level(depth), asleep))
        if opcode is None:
            register = header >> 8 & 0x3ffff
            for i, value in enumerate(payload):
                self.write(iova, register + i, value, "type4", depth)
            return None
        return self.opcode(iova, opcode, payload, depth)

    def opcode(self, iova, opcode, payload, depth):
        name, meaning, known = self.ops.get(opcode, ("opcode 0x%02x" % opcode, None, ""))
        self.counts[name] = self.counts.get(name, 0) + 1
        if meaning is None:
            self.problem(iova, "%s: not understood" % name)
        elif meaning == pm4ops.WRITES:
            self.problem(iova, "%s: writes registers that are not predicted (%s)" % (name, known))
        elif meaning == pm4ops.DRAW:
            self.execute_groups(iova)
        elif meaning == pm4ops.WALK:
            return self.walk(iova, opcode, payload, depth)
        return None

    def walk(self, iova, opcode, payload, depth):
        if opcode in pm4ops.PAIRS:
            return self.pairs(iova, opcode, payload, depth)
        if opcode in (0x3f, 0x57):
            return self.call(iova, opcode, payload, depth)
        return {0x43: self.set_draw_state, 0x63: self.set_mode, 0x65: self.set_marker,
                0x17: self.thread_control, 0x47: self.cond_reg_exec, 0x44: self.cond_exec,
                0x39: self.reg_test, 0x3d: self.mem_write}[opcode](iova, payload)

    # -- what writes registers

    def write(self, iova, register, value, kind, depth):
        self.registers[register] = value
        self.writes.append(Write(iova, register, value, kind, self.level(depth), self.group))

    def pairs(self, iova, opcode, payload, depth):
        kind, lead = pm4ops.PAIRS[opcode]
        body = payload[lead:]
        if len(body) % 2:
            self.problem(iova, "an odd number of words in pairs")
        for at in range(0, len(body) - 1, 2):
            self.write(iova, body[at] & 0x3ffff, body[at + 1], kind, depth)

    def call(self, iova, opcode, payload, depth):
        target, dwords = payload[1] << 32 | payload[0], payload[2] & 0xfffff
        if self.group is not None:
            self.problem(iova, "a draw-state group calls a stream: not understood")
        elif opcode == 0x57:
            return (target, dwords) if target else None    # address 0 is a no-op
        elif depth == len(IB_LEVELS) - 1:
            self.problem(iova, "calls below the last level")
        else:
            self.stream(target, dwords, depth + 1)
        return None

    # -- draw state

    def set_draw_state(self, iova, payload):
        if len(payload) % 3:
            self.problem(iova, "groups are three words, here are %d in all" % len(payload))
        for at in range(0, len(payload) - 2, 3):
            number = payload[at] >> 24 & 0x3f
            if number > 31 and self.generation < 8:    # adreno_pm4.xml: bit 29 counts from a750 on
                self.problem(iova, "group %d: not decided whether the chip has it" % number)
            self.set_group(iova, number, Group(*payload[at:at + 3]))
        if self.immediate:
            self.execute_groups(iova)

    def set_group(self, iova, number, group):
        if group.flags & DISABLE_ALL:
            self.groups, self.loaded = {}, {}
        elif group.flags & DISABLE or not group.dwords:
            self.groups.pop(number, None)
            self.loaded.pop(number, None)
        elif group.flags & IMMEDIATE:
            # cffdec.c executes it here and forgets it. No driver of a6xx and later does this.
            self.problem(iova, "group %d is to be loaded at once: not understood" % number)
            self.groups[number] = group
        else:
            self.groups[number] = group

    def execute_groups(self, iova):
        """Groups in the order of their numbers. One that is what was executed last is left out unless
        it is marked dirty (Turnip says so where it sets DIRTY); those of other modes are dropped."""
        if self.group is not None:
            self.problem(iova, "a draw inside a draw-state group: not understood")
            return
        for number in sorted(self.groups):
            group = self.groups[number]
            if group.modes & self.mode and not self.unchanged(iova, number, group):
                self.loaded[number] = (group.iova, group.dwords)
                self.group = number
                self.stream(group.iova, group.dwords, 0)
                self.group = None
        self.groups = {}

    def unchanged(self, iova, number, group):
        before = self.loaded.get(number)
        if before is None or group.flags & DIRTY or before[0] != group.iova:
            return False
        if before[1] != group.dwords:
            self.problem(iova, "group %d has its address and another size: not decided" % number)
            return False
        return True

    # -- modes and conditions

    def set_mode(self, iova, payload):
        self.immediate = bool(payload[0] & 1)

    def set_marker(self, iova, payload):
        if payload[0] & 0x100:
            return                            # about power: MARKER_MODE
        marker = payload[0] & (0x7f if self.generation > 7 else 0xf)
        if marker in MARKER_MODES or marker in MARKERS:
            self.mode = MARKER_MODES.get(marker, GMEM)
        elif payload[0] & 0xe00 == 0 and marker != 12:    # 12 is a no-op; bits 11:9 are about ray tracing
            self.problem(iova, "CP_SET_MARKER 0x%x: not understood" % payload[0])

    def thread_control(self, iova, payload):
        self.thread = payload[0] & 3

    def cond_reg_exec(self, iova, payload):
        kind = payload[0] >> 28
        if kind == 1:
            passes = self.predicate(payload[0] >> 18 & 0x1f)
        elif kind == 3:
            passes = bool(payload[0] >> 25 & 7 & self.mode)
        elif kind == 5:
            passes = bool(payload[0] >> 25 & 3 & (2 if self.processor == BR else 1))
        else:
            passes = self.compare(kind, payload)
        if passes is None:
            self.problem(iova, "CP_COND_REG_EXEC mode %d: not decided, walked" % kind)
        return payload[-1] & 0xffffff if passes is False else None

    def compare(self, kind, payload):
        """Two registers, or one and a number; None where a value is not known."""
        first = self.registers.get(payload[0] & 0x3ffff)
        second = payload[1] if kind == 4 else self.registers.get(payload[1] & 0x3ffff)
        if kind not in (2, 4) or payload[0] >> 24 & 1 or first is None or second is None:
            return None
        return first == second

    def predicate(self, bit):
        return bool(self.bits >> bit & 1) if self.known >> bit & 1 else None

    def reg_test(self, iova, payload):
        if payload[0] >> 31:                  # PRED_UPDATE: mask and value
            mask, value = payload[1], payload[2] & payload[1]
        else:
            mask, value = 1 << (payload[0] >> 26 & 0x1f), None
            register = self.registers.get(payload[0] & 0x3ffff)
            if payload[0] >> 18 & 1 == 0 and register is not None:
                value = mask if register >> (payload[0] >> 20 & 0x1f) & 1 else 0
        self.known = self.known | mask if value is not None else self.known & ~mask
        self.bits = self.bits & ~mask | (value or 0)

    def cond_exec(self, iova, payload):
        words = [self.memory.get(payload[at + 1] << 32 | payload[at]) for at in (0, 2)]
        if None in words:
            self.problem(iova, "CP_COND_EXEC on memory that is not held: not decided, walked")
            return None
        below = (words[1] ^ 1 << 31) < (payload[4] ^ 1 << 31)    # signed
        return None if words[0] and below else payload[5]

    def mem_write(self, iova, payload):
        base = payload[1] << 32 | payload[0] & ~3
        for i, value in enumerate(payload[2:]):
            self.memory[base + 4 * i] = value


def walk(text, processor=BR):
    """The walker after all submissions of a PM4 text."""
    generation, submissions = pm4text.read(text)
    if generation not in (6, 7, 8):
        raise pm4text.TextError("the walker knows a6xx to a8xx, not generation %s" % generation)
    walker = Walker(generation, processor)
    for submission in submissions:
        walker.submit(submission)
    return walker


def main():
    parser = argparse.ArgumentParser(description="registers that a PM4 text must write")
    parser.add_argument("stream")
    parser.add_argument("--processor", choices=("br", "bv"), default="br")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with open(args.stream, encoding="utf-8") as file:
        walker = walk(file.read(), BR if args.processor == "br" else BV)
    columns = ("iova", "register", "value", "kind", "level", "group")
    if args.json:
        json.dump({"processor": args.processor, "not_understood": walker.problems,
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
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""The packets that move values between registers, memory and scratch: what each of them writes, in order.

A value that nobody has told the walker is None: where it goes to is still predicted, and what it becomes stays
open. Bit fields are those of adreno_pm4.xml; a rule that it does not say has its source beside it."""

MASK = 0xffffffff
REGISTER = 0x3ffff
SCRATCHES = {5: 48, 6: 8, 7: 8, 8: 8}    # packet scratch registers
# Events whose value goes to memory, of the layout without switches (vgt_event_type; freedreno gives these an address):
# CACHE_FLUSH_TS, WT_DONE_TS, RB_DONE_TS, PC_CCU_RESOLVE_TS, PC_CCU_FLUSH_DEPTH_TS, PC_CCU_FLUSH_COLOR_TS
TIMESTAMPS = {4, 8, 0x16, 0x1a, 0x1c, 0x1d}


class Undecided(Exception):
    """What this packet does is in no document."""


def rotate(value, by):
    return (value << by | value >> (32 - by)) & MASK


def add(*terms):
    """The sum, or None if a term is not known."""
    return None if None in terms else sum(terms)


def words(value):
    """The two dwords of a sum of 64 bits."""
    return (None, None) if value is None else (value & MASK, value >> 32 & MASK)


def signed(value):
    return (value ^ 1 << 31) - (1 << 31)


def holds(function, value, reference, by_sign=False):
    """cp_cond_function; None where the value is not known. By sign, SIGNED_COMPARE: pm4ops.FIRMWARE."""
    if function == 0:
        return True
    if value is None:
        return None
    if function > 6:
        raise Undecided("comparison %d" % function)
    if by_sign:
        value, reference = 0, signed(reference - value & MASK)
    return (value < reference, value <= reference, value == reference, value != reference, value >= reference,
            value > reference)[function - 1]


class Data:
    """The part of the walker that knows registers, memory, scratch and on-chip memory."""

    def __init__(self, generation):
        self.generation = generation
        self.registers, self.memory, self.scratch, self.onchip, self.scratch_mem = {}, {}, {}, {}, {}

    # -- what a packet reads and writes

    def read(self, address):
        return self.memory.get(address & ~3)

    def read64(self, address):
        low, high = self.read(address), self.read(address + 4)
        return None if None in (low, high) else high << 32 | low

    def store(self, address, value):
        """One dword of memory. Bits 1:0 of an address are not part of it."""
        address = address & ~3 & (1 << 64) - 1
        if value is None:
            self.memory.pop(address, None)
        else:
            self.memory[address] = value
        self.wrote("mem", address, value)

    def write(self, register, value):
        if value is None:
            self.registers.pop(register, None)
        else:
            self.registers[register] = value
        self.wrote("reg", register, value)

    def keep(self, index, value):
        """A packet scratch register: nothing of it is seen before it is read."""
        if index >= SCRATCHES[self.generation]:
            raise Undecided("behind the last scratch register")
        self.scratch[index] = value

    # -- registers

    def pairs(self, payload, lead):
        body = payload[lead:]
        if len(body) % 2:
            self.problem("an odd number of words in pairs")
        for at in range(0, len(body) - 1, 2):
            self.write(body[at] & REGISTER, body[at + 1])

    def reg_rmw(self, payload):
        head, number = payload[0], payload[0] & REGISTER
        to_scratch = self.generation >= 7 and head >> 19 & 1    # DST_SCRATCH
        old = self.scratch.get(number) if to_scratch else self.registers.get(number)
        sources = [self.registers.get(word & REGISTER) if head >> bit & 1 else word
                   for word, bit in ((payload[1], 31), (payload[2], 30))]
        value = None
        if None not in (old, *sources):
            value = rotate(old & sources[0], head >> 24 & 0x1f)
            value = (value + sources[1] if head >> 29 & 1 else value | sources[1]) & MASK
        if to_scratch:
            self.keep(number, value)
        else:
            self.write(number, value)

    def mem_to_reg(self, payload):
        count, source = max(payload[0] >> 19 & 0x7ff, 1), payload[2] << 32 | payload[1]
        values = [self.read(source + 4 * i) for i in range(count)]    # all of it is read before a register is written
        for i, value in enumerate(values):
            if value is not None and payload[0] >> 30 & 1:
                value = value << 2 & MASK
            step = 1 if payload[0] >> 31 and self.generation > 5 else self.step(payload[0])    # pm4ops.FIRMWARE
            self.write((payload[0] & REGISTER) + step * i, value)

    @staticmethod
    def step(head):
        """Bit 18 keeps the register number where it is: UNK18 of CP_SCRATCH_TO_REG."""
        return 0 if head >> 18 & 1 else 1

    # -- scratch

    def scratch_fields(self, head):
        if self.generation == 5:    # six bits each: pm4.md, section 4
            return head >> 20 & 0x3f, (head >> 26 & 0x3f) + 1
        return head >> 20 & 7, (head >> 24 & 7) + 1

    def reg_to_scratch(self, payload):
        first, count = self.scratch_fields(payload[0])
        for i in range(count):
            self.keep(first + i, self.registers.get((payload[0] & REGISTER) + i))

    def scratch_to_reg(self, payload):
        first, count = self.scratch_fields(payload[0])
        for i in range(count):
            if first + i >= SCRATCHES[self.generation]:
                raise Undecided("behind the last scratch register")
            self.write((payload[0] & REGISTER) + self.step(payload[0]) * i, self.scratch.get(first + i))

    def scratch_write(self, payload):
        for i, value in enumerate(payload[1:]):
            self.keep(self.scratch_fields(payload[0])[0] + i, value)

    def mem_to_scratch_mem(self, payload):
        source = payload[3] << 32 | payload[2]
        for i in range(payload[0] & 0x3f):
            self.scratch_mem[(payload[1] & 0x3f) + i] = self.read(source + 4 * i)

    # -- memory

    def mem_write(self, payload):
        base, here = payload[1] << 32 | payload[0] & ~3, self.packets[-1].iova
        for i, value in enumerate(payload[2:]):
            self.store(base + 4 * i, value)
        if base < here + 4 * (len(payload) + 1) and here < base + 4 * (len(payload) - 2):
            raise Undecided("it writes into itself")

    def memcpy(self, payload):
        source, target = payload[2] << 32 | payload[1], payload[4] << 32 | payload[3]
        if abs(source - target) < 4 * payload[0] and source != target:
            raise Undecided("source and destination overlap")
        for i in range(payload[0]):
            self.store(target + 4 * i, self.read(source + 4 * i))

    def mem_to_mem(self, payload):
        head, addresses = payload[0], [payload[at + 1] << 32 | payload[at] for at in range(1, len(payload) - 1, 2)]
        if len(payload) % 2 == 0 or not 2 <= len(addresses) <= 4:
            raise Undecided("%d words" % len(payload))
        terms = [self.read64(at) if head >> 29 & 1 else self.read(at) for at in addresses[1:]]
        value = add(*(term if term is None or not head >> i & 1 else -term for i, term in enumerate(terms)))
        for i, word in enumerate(words(value) if head >> 29 & 1 else words(value)[:1]):
            self.store(addresses[0] + 4 * i, word)

    def reg_to_mem(self, payload, offset=0):
        head, count = payload[0], max(payload[0] >> 18 & 0xfff, 1)
        address = None if offset is None else (payload[2] << 32 | payload[1]) + offset
        if address is None:
            raise Undecided("the offset of the address is not known")
        address &= (1 << 64) - 1
        double, accumulate = head >> 30 & 1, head >> 31
        if double:
            count += count % 2                # freedreno's counters: the count is left 0 for one of 64 bits
            address &= ~7                     # pm4ops.FIRMWARE
        size = 2 if double else 1
        for at in range(0, count, size):
            part = [self.registers.get((head & REGISTER) + at + i) for i in range(size)]
            value = None if None in part else sum(word << 32 * i for i, word in enumerate(part))
            if accumulate:
                value = add(value, (self.read64 if double else self.read)(address + 4 * at))
            for i, word in enumerate(words(value)[:size]):
                self.store(address + 4 * (at + i), word)

    def reg_to_mem_offset_reg(self, payload):
        offsets = [(self.scratch if word >> 19 & 1 else self.registers).get(word & REGISTER) for word in payload[3:]]
        # "one or two" in the document: the second is the high half (pm4ops.FIRMWARE)
        self.reg_to_mem(payload, None if None in offsets else sum(word << 32 * i for i, word in enumerate(offsets)))

    def reg_to_mem_offset_mem(self, payload):
        self.reg_to_mem(payload, self.read(payload[4] << 32 | payload[3]))

    # -- conditions and events

    def polled(self, head, low, high):
        """The value that a comparison looks at: poll_memory_type."""
        kind = head >> 4 & 3
        if kind == 3 and self.generation < 7:
            raise Undecided("no on-chip memory before a7xx")
        return (self.registers.get(low & REGISTER), self.read(high << 32 | low) if kind == 1 else None,
                self.scratch.get(low), self.onchip.get(low & 7))[kind]

    def compared(self, payload):
        value = self.polled(*payload[:3])
        return holds(payload[0] & 7, None if value is None else value & payload[4], payload[3], payload[0] >> 3 & 1)

    def cond_write5(self, payload):
        held, target = self.compared(payload), payload[6] << 32 | payload[5]
        if held is None:
            raise Undecided("a comparison of what is not known")
        if held and payload[0] >> 8 & 1:
            self.store(target, payload[7])
        elif held:
            self.write(payload[5] & REGISTER, payload[7])

    def event_write(self, payload):
        if payload[0] & 0xff in TIMESTAMPS and len(payload) == 4:
            # TIMESTAMP: a clock instead of the word of the packet
            for i, value in enumerate((None, None) if payload[0] >> 30 & 1 else (payload[3],)):
                self.store((payload[2] << 32 | payload[1]) + 4 * i, value)
        elif len(payload) > 1:
            raise Undecided("event 0x%x with an address" % (payload[0] & 0xff))

    def event_write7(self, payload):
        head, source = payload[0], payload[0] >> 20 & 7
        if head >> 12 & 7:
            raise Undecided("sample counts")
        if not head >> 27 & 1:
            if len(payload) > 1:
                raise Undecided("an address, and no write enabled")
            return
        if source == 4:
            values = [self.registers.get((payload[3] & REGISTER) + i) for i in range(payload[4])]
        elif source == 2:
            raise Undecided("the sum of two time stamps")
        elif source in (0, 1, 3):
            values = {0: payload[3:4], 1: payload[3:5], 3: (None, None)}[source]
        else:
            raise Undecided("event source %d" % source)
        for i, value in enumerate(values):
            if head >> 24 & 1:
                self.onchip[payload[1] + i] = value
            else:
                self.store((payload[2] << 32 | payload[1]) + 4 * i, value)

    def record_pfp_timestamp(self, payload):
        for i in range(2):
            self.store((payload[1] << 32 | payload[0]) + 4 * i, None)

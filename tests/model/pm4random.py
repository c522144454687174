# SPDX-License-Identifier: MIT
"""PM4 texts from a seed, made of the packets whose effect the tests' walker predicts (pm4ops.py), with operands of chance:
nested streams, draw-state groups, conditions on what the stream itself wrote, streams that are written before they run.

Registers are plain storage: CP_SCRATCH of a5xx, render registers of the later ones. Memory is three buffers, one of them
across a border of 4 GiB. All of both is written before it is read, so that nothing stays open. On a7xx and a8xx the
packets are BR's, and now and then BV's, which has registers and memory of its own: nothing says who of them is first."""
import random

import pm4data
import pm4ops
import pm4text

CHIPS = {5: "gpu 530", 6: "gpu 630", 7: "chip 0x43050a01", 8: "chip 0x44050a31"}
LEVELS = {5: 2, 6: 2, 7: 3, 8: 3}
BUFFER = 48    # dwords of each buffer of data


class Pool:
    """What a processor may touch: `plain` are read and written, `sinks` are only written."""

    def __init__(self, name, plain, sinks, data):
        self.name, self.plain, self.sinks, self.data = name, plain, sinks, data


def pools(generation):
    br = ([0x200000, 0xffffffa0, 0x712340000], [0x220000, 0x2ffffffa0, 0x812340000])
    if generation == 5:
        return [Pool("me", range(0xb78, 0xb80), range(0xe100, 0xe120), br[0])]
    return [Pool(name, range(0x8820 + 0x40 * i, 0x8830 + 0x40 * i), range(0x8838 + 0x40 * i, 0x8840 + 0x40 * i), br[i])
            for i, name in enumerate(("br", "bv")[:1 if generation == 6 else 2])]


class Maker:
    """`without`: names of packets that the firmware does not have. `plain`: the demo's, whose packets know only what its
    own text says."""

    def __init__(self, generation, seed, without=(), plain=False, chip=None):
        without = set(without)
        self.rng = random.Random("%d %d %s" % (generation, seed, plain))
        self.generation, self.without, self.plain = generation, without, plain
        self.chip = chip or CHIPS[generation]
        self.levels = LEVELS[generation]
        self.pools = pools(generation)[:1 if "CP_THREAD_CONTROL" in without else 2]
        self.pool, self.in_group = self.pools[0], False
        self.buffers = []                    # (address, name, lines)
        self.next = 0x1000000

    # -- operands

    def value(self):
        rng = self.rng
        return rng.choice((0, 1, 2, 0xffffffff, 0x80000000, 0x7fffffff, rng.getrandbits(4), rng.getrandbits(32), rng.getrandbits(32)))

    def register(self, count=1):
        return self.rng.choice(self.pool.plain[:len(self.pool.plain) - count + 1])

    def sink(self, count=1):
        """A register that is written: one of those that are read, too, or not."""
        some = self.pool.plain if count <= len(self.pool.plain) and self.rng.randrange(3) else self.pool.sinks
        return self.rng.choice(some[:max(len(some) - count + 1, 1)])

    def place(self, count=1):
        return self.rng.choice(self.pool.data) + 4 * self.rng.randrange(BUFFER - count + 1)

    @staticmethod
    def split(address):
        return "0x%x 0x%x" % (address & 0xffffffff, address >> 32)

    def address(self, count=1):
        return self.split(self.place(count))

    def count(self, most):
        return self.rng.choice((1, 1, 2, 3, most))

    def has(self, name):
        return name not in self.without and any(
            row[0] == name and str(self.generation) in row[3] for row in pm4ops.ROWS)

    def buffer(self, lines, prefix):
        """A place of its own for lines; its name."""
        name = "%s%d" % (prefix, len(self.buffers))
        self.buffers.append((self.next, name, lines))
        self.next += 0x10000
        return name

    # -- packets that move values

    def type4(self):
        count = self.rng.choice((0, 1, 1, 1, 2, 3, 5, 8))
        first = self.sink(count)
        if self.rng.randrange(4) or not count:    # by number of the header, or as text
            return [".word 0x%x%s" % (pm4ops.header4(first, count), self.values(count))]
        return ["reg 0x%x%s" % (first, self.values(count))]

    def values(self, count):
        return "".join(" 0x%x" % self.value() for _ in range(count))

    def bunch(self):
        # a5xx (pm4ops.FIRMWARE): context registers only, and one pair at least
        some = self.pool.sinks if self.generation == 5 else list(self.pool.plain) + list(self.pool.sinks)
        return ["CP_CONTEXT_REG_BUNCH" + "".join(" 0x%x 0x%x" % (self.rng.choice(some), self.value())
                                                 for _ in range(self.rng.randrange(self.generation == 5, 5)))]

    def other_bunch(self):
        return ["CP_NON_CONTEXT_REG_BUNCH 0x1 0x0" + "".join(" 0x%x 0x%x" % (self.sink(), self.value())
                                                            for _ in range(self.rng.randrange(5)))]

    def rmw(self):
        head, sources = self.register(), []
        if self.generation > 6 and self.rng.randrange(4) == 0:
            head = self.rng.randrange(8) | 1 << 19    # DST_SCRATCH
        head |= self.rng.getrandbits(5) << 24 | self.rng.getrandbits(1) << 29
        if self.generation > 6:
            head |= self.rng.getrandbits(1) << 23     # SKIP_WAIT_FOR_ME
        for bit in (31, 30):
            by_register = self.rng.randrange(3) == 0
            head |= by_register << bit
            sources.append("0x%x" % (self.register() if by_register else self.value()))
        return ["CP_REG_RMW 0x%x %s" % (head, " ".join(sources))]

    def mem_write(self):
        count = self.count(7)
        return ["CP_MEM_WRITE %s%s" % (self.split(self.place(count) | self.rng.choice((0, 0, 0, 1, 2, 3))), self.values(count))]

    def mem_to_mem(self):
        double, sources = self.rng.getrandbits(1), self.rng.randrange(1, 4)
        head = self.rng.getrandbits(3) | double << 29 | self.rng.getrandbits(2) << 30
        return ["CP_MEM_TO_MEM 0x%x %s" % (head, " ".join(self.address(1 + double) for _ in range(1 + sources)))]

    def memcpy(self):
        count, (source, target) = self.rng.randrange(1, 12), self.rng.sample(self.pool.data, 2)
        return ["CP_MEMCPY 0x%x %s %s" % (count, *(self.split(at + 4 * self.rng.randrange(BUFFER - count)) for at in (source, target)))]

    def reg_to_mem_head(self):
        """The first word, and dwords of memory."""
        double, add = (0, 0) if self.plain else (self.rng.getrandbits(1), self.rng.getrandbits(1))
        count = self.rng.choice((0, 1, 2, 3, 4, 6))
        dwords = max(count, 1)
        dwords += double and dwords % 2
        return self.register(dwords) | count << 18 | double << 30 | add << 31, dwords

    def reg_to_mem(self):
        head, dwords = self.reg_to_mem_head()
        return ["CP_REG_TO_MEM 0x%x %s" % (head, self.address(dwords))]

    def reg_to_mem_offset_reg(self):
        head, dwords = self.reg_to_mem_head()
        offset, register, scratch = 4 * self.rng.randrange(16), self.register(), self.rng.randrange(8)
        base = self.place(dwords) - offset
        load = ["reg 0x%x 0x%x" % (register, offset)]
        if self.rng.randrange(3) == 0:        # both halves
            high = self.register()
            value = self.rng.randrange((base >> 32) + 1)
            if high != register:
                return load + ["reg 0x%x 0x%x" % (high, value), "CP_REG_TO_MEM_OFFSET_REG 0x%x %s 0x%x 0x%x" % (
                    head, self.split(base - (value << 32)), register, high)]
        if self.rng.getrandbits(1):
            return load + ["CP_REG_TO_MEM_OFFSET_REG 0x%x %s 0x%x" % (head, self.split(base), register)]
        return load + ["CP_REG_TO_SCRATCH 0x%x" % (register | scratch << 20),
                       "CP_REG_TO_MEM_OFFSET_REG 0x%x %s 0x%x" % (head, self.split(base), 1 << 19 | scratch)]

    def reg_to_mem_offset_mem(self):
        head, dwords = self.reg_to_mem_head()
        offset, there = 4 * self.rng.randrange(16), self.place()
        return ["CP_MEM_WRITE %s 0x%x" % (self.split(there), offset), "CP_REG_TO_MEM_OFFSET_MEM 0x%x %s %s" % (
            head, self.split(self.place(dwords) - offset), self.split(there))]

    def mem_to_reg(self):
        count = self.rng.choice((0, 1, 2, 3, 6))
        shift = 0 if self.plain else self.rng.getrandbits(1) << 30
        shift |= 0 if self.plain else (self.rng.randrange(4) == 0) << 18 | self.rng.getrandbits(1) << 31
        return ["CP_MEM_TO_REG 0x%x %s" % (self.sink(max(count, 1)) | count << 19 | shift, self.address(max(count, 1)))]

    def scratch_head(self, register):
        count = self.rng.randrange(1, 5)
        first = self.rng.randrange((48 if self.generation == 5 else 8) - count + 1)
        return register(count) | first << 20 | count - 1 << (26 if self.generation == 5 else 24)

    def reg_to_scratch(self):
        return ["CP_REG_TO_SCRATCH 0x%x" % self.scratch_head(self.register)]

    def scratch_to_reg(self):
        return ["CP_SCRATCH_TO_REG 0x%x" % (self.scratch_head(self.sink) | (self.rng.randrange(4) == 0 and not self.plain) << 18)]

    def scratch_write(self):
        count = self.rng.randrange(1, 5)
        return ["CP_SCRATCH_WRITE 0x%x%s" % (self.rng.randrange(9 - count) << 20, self.values(count))]

    # -- conditions

    def operands(self, kinds):
        """Something to compare, where something is written to it just before: (packets, kind, address words, its value)."""
        kind, value = self.rng.choice(kinds), self.value()
        register, place, scratch = self.register(), self.place(), self.rng.randrange(8)
        load = ["reg 0x%x 0x%x" % (register, value)]
        if kind == 0:
            return load, kind, "0x%x 0x0" % register, value
        if kind == 3:
            word = self.onchip_word()
            return [self.onchip(word, value)], kind, "0x%x 0x0" % word, value
        if kind == 1:
            return ["CP_MEM_WRITE %s 0x%x" % (self.split(place), value)], kind, self.split(place), value
        return load + ["CP_REG_TO_SCRATCH 0x%x" % (register | scratch << 20)], kind, "0x%x 0x0" % scratch, value

    def onchip_word(self):
        """On-chip memory is the same for BR and BV: each has words of its own, of those that POLL_ON_CHIP reaches."""
        return 4 * self.pools.index(self.pool) + self.rng.randrange(4)

    @staticmethod
    def onchip(word, value):
        return "CP_EVENT_WRITE7 0x%x 0x%x 0x0 0x%x" % (0x16 | 1 << 24 | 1 << 27, word, value)

    def comparison(self, value):
        """Function, reference, mask: near the value, so that both outcomes happen."""
        mask = self.rng.choice((0xffffffff, 0xffffffff, self.value()))
        near = (value & mask) + self.rng.choice((-1, 0, 0, 1)) & 0xffffffff
        return self.rng.randrange(7), self.rng.choice((near, near, self.value())), mask

    def cond_write5(self):
        lines, kind, address, value = self.operands((0, 1, 2, 3) if self.generation > 6 else (0, 1, 2))
        function, reference, mask = self.comparison(value)
        function |= self.rng.getrandbits(1) << 3
        memory = self.rng.getrandbits(1)
        target = self.address() if memory else "0x%x 0x0" % self.sink()
        return lines + ["CP_COND_WRITE5 0x%x %s 0x%x 0x%x %s 0x%x" % (
            function | kind << 4 | memory << 8, address, reference, mask, target, self.value())]

    def wait_reg_mem(self):
        """One that holds; or for one value of memory, which then is written anew."""
        lines, kind, address, value = self.operands((0, 1) if self.plain else (0, 1, 2, 3) if self.generation > 6 else (0, 1, 2))
        if self.rng.randrange(4) == 0:
            place, register = self.split(self.place()), self.register()
            if self.rng.getrandbits(1) and not self.plain:
                return ["reg 0x%x 0x0" % register, "CP_WAIT_REG_MEM 0x3 0x%x 0x0 0x%x 0xffffffff 0x2" % (register, self.value() | 1),
                        "reg 0x%x 0x%x" % (register, self.value())]
            return ["CP_MEM_WRITE %s 0x0" % place, "CP_WAIT_REG_MEM 0x13 %s 0x%x 0xffffffff 0x2" % (place, self.value() | 1),
                    "CP_MEM_WRITE %s 0x%x" % (place, self.value())]
        by_sign = not self.plain and self.rng.getrandbits(1)
        for _ in range(100):
            function, reference, mask = self.comparison(value)
            if pm4data.holds(function, value & mask, reference, by_sign):
                break
        return lines + ["CP_WAIT_REG_MEM 0x%x %s 0x%x 0x%x 0x%x" % (
            function | by_sign << 3 | kind << 4, address, reference, mask, self.rng.randrange(3))]

    def wait_mem(self):
        """CP_WAIT_MEM_GTE and CP_WAIT_TIMESTAMP for memory that is far enough, or is not and is then written anew."""
        value, place, word = self.value(), self.split(self.place(2)), self.onchip_word()
        reference = value - self.rng.choice((0, 1, self.rng.getrandbits(30), -1)) & 0xffffffff
        name = "CP_WAIT_MEM_GTE" if self.generation < 7 else "CP_WAIT_TIMESTAMP"
        write, anew = "CP_MEM_WRITE %s 0x%x 0x%x" % (place, value, 5), "CP_MEM_WRITE %s%s" % (place, self.values(2))
        kind = 0 if self.generation < 7 else self.rng.choice((0, 1, 16))
        if kind == 16 and self.generation > 6:
            reference = value - self.rng.getrandbits(8) & 0xffffffff
            return [self.onchip(word, value), "CP_WAIT_TIMESTAMP 0x10 0x%x 0x0 0x%x" % (word, reference)]
        more = " 0x%x" % self.rng.choice((4, 5)) if kind else ""
        return [write, "%s 0x%x %s 0x%x%s" % (name, kind, place, reference, more), anew]

    def clock(self):
        """Times, which nobody can tell, are put where something else is written at once."""
        place = self.split(self.place(2) & ~7)
        packets = ["CP_RECORD_PFP_TIMESTAMP %s" % place]
        if self.generation > 6:
            packets.append("CP_EVENT_WRITE7 0x%x %s" % (0x16 | 3 << 20 | 1 << 27, place))
        elif self.generation == 6:
            packets.append("CP_EVENT_WRITE 0x%x %s 0x0" % (1 << 30 | 4, place))
        return [self.rng.choice(packets), "CP_MEM_WRITE %s%s" % (place, self.values(2))]

    def wait_two(self):
        """Either of the two ways to go on."""
        registers, reference = self.rng.sample(list(self.pool.plain), 2), self.value()
        first, second = self.rng.choice(((0, reference), (0, self.value()), (self.value(), reference ^ 1 << self.rng.randrange(32))))
        if self.rng.getrandbits(1) and self.has("CP_WAIT_TWO_REGS"):
            return ["reg 0x%x 0x%x" % pair for pair in zip(registers, (first, second))] + [
                "CP_WAIT_TWO_REGS 0x%x 0x%x 0x%x" % (*registers, reference)]
        places = [self.split(place + 4 * self.rng.randrange(BUFFER)) for place in self.rng.sample(self.pool.data, 2)]
        return ["CP_MEM_WRITE %s 0x%x" % pair for pair in zip(places, (first, second))] + [
            "CP_TEST_TWO_MEMS %s %s 0x%x" % (*places, reference)]

    def body(self, depth):
        """A few packets for a condition, and their dwords."""
        lines = [line for _ in range(self.rng.randrange(1, 4)) for line in self.packet(depth, False)]
        return lines, sum(pm4text.size(line.split()) for line in lines)

    def settle(self):
        """A condition of a5xx is the PFP's, who must not be ahead of the ME's writes."""
        return ["CP_WAIT_MEM_WRITES", "CP_WAIT_FOR_ME"] if self.generation == 5 or self.rng.getrandbits(1) else []

    def cond_exec(self, depth):
        lines, dwords = self.body(depth)
        flag, place, value = self.split(self.place()), self.split(self.place()), self.value()
        reference = self.rng.choice((value, value + 1 & 0xffffffff, self.value()))
        return ["CP_MEM_WRITE %s 0x%x" % (flag, self.rng.choice((0, 1, self.value()))), "CP_MEM_WRITE %s 0x%x" % (place, value)] + \
            self.settle() + ["CP_COND_EXEC %s %s 0x%x 0x%x" % (flag, place, reference, dwords)] + lines

    def cond_predicate(self, depth):
        lines, dwords = self.body(depth)
        register, bit, number = self.register(), self.rng.randrange(32), self.rng.randrange(32)
        if self.generation == 5:
            number = 0                        # a5xx has one predicate: adreno_pm4.xml, "new in gen3+"
        if self.rng.getrandbits(1) and self.generation > 6:
            test = ["CP_REG_TEST 0x80000000 0x%x 0x%x" % (self.value() | 1 << number, self.value())]
        elif self.rng.getrandbits(1) and self.has("CP_MEM_TO_SCRATCH_MEM"):
            count, word = self.rng.randrange(1, 5), self.rng.randrange(40)
            test = ["CP_MEM_TO_SCRATCH_MEM 0x%x 0x%x %s" % (count, word, self.address(count)),
                    "CP_REG_TEST 0x%x" % (word + self.rng.randrange(count) | 1 << 18 | bit << 20 | number << 26)]
        else:
            test = ["reg 0x%x 0x%x" % (register, self.value())] + self.settle() + [
                "CP_REG_TEST 0x%x" % (register | bit << 20 | number << 26)]
        return test + ["CP_COND_REG_EXEC 0x%x 0x%x" % (1 << 28 | number << 18, dwords)] + lines

    def cond_compare(self, depth):
        lines, dwords = self.body(depth)
        registers, value = self.rng.sample(list(self.pool.plain), 2), self.value()
        other = self.rng.choice((value, value ^ 1 << self.rng.randrange(32)))
        set_up = ["reg 0x%x 0x%x" % (registers[0], value)]
        if self.generation > 6 and (self.rng.getrandbits(1) or "REG_COMPARE" in self.without):
            return set_up + ["CP_COND_REG_EXEC 0x%x 0x%x 0x%x" % (4 << 28 | registers[0], other, dwords)] + lines
        if self.generation > 6 and self.rng.getrandbits(1):    # ONCHIP_MEM, for one or both
            words = [self.onchip_word() for _ in range(2)]
            first = self.rng.getrandbits(1)
            set_up += [self.onchip(words[0], value), self.onchip(words[1], other)]
            return set_up + ["CP_COND_REG_EXEC 0x%x 0x%x 0x%x" % (
                2 << 28 | (words[0] | 1 << 24 if first else registers[0]), words[1] | 1 << 24, dwords)] + lines
        return set_up + ["reg 0x%x 0x%x" % (registers[1], other)] + self.settle() + [
            "CP_COND_REG_EXEC 0x%x 0x%x 0x%x" % (2 << 28 | registers[0], registers[1], dwords)] + lines

    def cond_mode(self, depth):
        lines, dwords = self.body(depth)
        kind = self.rng.choice((3, 5) if self.generation > 6 else (3,))
        return ["CP_COND_REG_EXEC 0x%x 0x%x" % (kind << 28 | self.rng.randrange(8) << 25, dwords)] + lines

    def marker(self):
        return ["CP_SET_MARKER 0x%x" % self.rng.choice((1, 1, 2, 4, 6))]

    # -- events, draws, streams

    def event(self):
        if self.generation < 7:
            if self.rng.getrandbits(1):
                return ["CP_EVENT_WRITE 0x%x %s 0x%x" % (self.rng.choice((4, 0x16, 0x1c, 0x1d)) | self.rng.getrandbits(1) << 31,
                                                         self.address(), self.value())]
            return ["CP_EVENT_WRITE 0x%x" % self.rng.choice((0x18, 0x19, 0x31))]
        source = self.rng.choice((0, 1, 4, None))
        if source is None:
            return ["CP_EVENT_WRITE7 0x%x" % self.rng.choice((0x18, 0x19, 0x31))]
        count = self.rng.randrange(1, 5)
        more = {0: self.values(1), 1: self.values(2), 4: " 0x%x 0x%x" % (self.register(count), count)}[source]
        return ["CP_EVENT_WRITE7 0x%x %s%s" % (0x16 | source << 20 | 1 << 27, self.address(4), more)]

    def draw(self):
        """Groups, then a draw; now and then the same groups again."""
        headers = []
        for number in self.rng.sample(range(32), self.rng.randrange(1, 4)):
            modes, flags = self.rng.randrange(8), self.rng.choice((0, 0, 0, 0, 1, 1, 2, 4))
            name, dwords = self.group()
            headers.append("0x%x @%s" % (number << 24 | modes << 20 | flags << 16 | dwords, name))
        setting = "CP_SET_DRAW_STATE " + " ".join(headers)
        if self.rng.randrange(8) == 0 and not self.plain:    # executed where they are set
            return ["CP_SET_MODE 0x1", setting, "CP_SET_MODE 0x0"]
        draws = ["CP_DRAW_INDX_OFFSET 0x84 0x1 0x3"]
        if not self.plain:
            place = self.address(4)
            draws += ["CP_EXEC_CS 0x0 0x1 0x1 0x1", "CP_MEM_WRITE %s 0x3 0x1 0x0 0x0\nCP_DRAW_INDIRECT 0x84 %s" % (place, place)]
        lines = [setting, *self.rng.choice(draws).split("\n")]
        return lines * 2 if self.rng.getrandbits(1) and not self.plain else lines

    def group(self):
        """Type 4 only, where a second processor draws (a8xx): its writes are in no order with the other packets."""
        self.in_group = True
        plain = self.generation == 8 or self.plain
        lines = []
        for _ in range(self.rng.randrange(1, 4)):
            lines += ["reg 0x%x%s" % (self.pool.sinks[0], self.values(self.rng.randrange(1, 5)))] if plain else self.packet(0, False)
        self.in_group = False
        return self.buffer(lines, "group"), sum(pm4text.size(line.split()) for line in lines)

    def call(self, depth):
        """A stream one level down, which may go on in another one."""
        lines = self.stream(depth + 1, self.rng.randrange(1, 6))
        if self.rng.randrange(4) == 0 and self.has("CP_INDIRECT_BUFFER_CHAIN") and not self.plain:
            name = self.buffer(self.stream(depth + 1, self.rng.randrange(1, 4)), "chain")
            lines.append("CP_INDIRECT_BUFFER_CHAIN @%s #%s" % (name, name))
        name = self.buffer(lines, "ib")
        return ["CP_INDIRECT_BUFFER @%s #%s" % (name, name)]

    def written_call(self, depth):
        """A stream whose words are written before it is called."""
        del depth
        count = self.rng.randrange(1, 5)
        first = self.sink(count)
        name = self.buffer(["reg 0x%x%s" % (first, self.values(count)), "CP_NOP"], "written")
        address = self.buffers[-1][0]
        return ["CP_MEM_WRITE %s%s" % (self.split(address + 4), self.values(count)), "CP_WAIT_MEM_WRITES", "CP_WAIT_FOR_ME",
                "CP_INDIRECT_BUFFER @%s #%s" % (name, name)]

    def bins(self, depth):
        """A few bins, each with a prefix of its own in front of the body."""
        count, size = self.rng.randrange(1, 4), self.rng.randrange(1, 4)
        prefix = self.buffer(["reg 0x%x%s" % (self.sink(size), self.values(size)) for _ in range(count)], "prefix")
        lines, dwords = self.body(self.levels)
        return ["CP_START_BIN 0x%x @%s 0x%x 0x%x" % (count, prefix, size + 1, dwords)] + lines + ["CP_END_BIN"] \
            if depth == 1 else []

    def other_processor(self, depth):
        """Packets of BV between those of BR."""
        self.pool = self.pools[1]
        lines = [line for _ in range(self.rng.randrange(1, 6)) for line in self.packet(depth, False)]
        self.pool = self.pools[0]
        return ["CP_THREAD_CONTROL 0x2"] + lines + ["CP_THREAD_CONTROL 0x1"]

    def nop(self):
        return ["CP_NOP" + self.values(self.rng.randrange(4))]

    # -- the mix

    def packet(self, depth, free=True):
        """Lines of one packet, with those that prepare it. `free`: not inside of a condition or a group."""
        name = self.rng.choice([name for name, weight in self.mix(depth, free) for _ in range(weight)])
        kind = getattr(self, name)
        return kind(depth) if name in STREAMS else kind()

    def mix(self, depth, free):
        for name, packet, weight in KINDS:
            if not self.has(packet) or name in PLAIN_NOT and self.plain:
                continue
            if self.generation == 5 and name in ("draw", "cond_mode"):
                continue
            if name in STREAMS and (self.in_group or not free and name not in ("call", "written_call")):
                continue
            if name in ("call", "written_call") and (depth >= self.levels or self.plain and not free):
                continue
            if name in ("draw", "marker") and (self.in_group or not free or self.pool is not self.pools[0]):
                continue
            if name == "other_processor" and (len(self.pools) < 2 or depth > 1):
                continue
            if name == "bins" and depth != 1:
                continue
            yield name, weight

    def stream(self, depth, count):
        return [line for _ in range(count) for line in self.packet(depth)]

    def beginning(self):
        """All registers and scratch that are read later have a value."""
        lines = ["reg 0x%x%s" % (self.pool.plain[0], self.values(len(self.pool.plain)))]
        if self.generation == 5:
            lines += ["CP_REG_TO_SCRATCH 0x%x" % (self.pool.plain[0] | first << 20 | 7 << 26) for first in range(0, 48, 8)]
        else:
            lines.append("CP_REG_TO_SCRATCH 0x%x" % (self.pool.plain[0] | 7 << 24))
        return lines

    def text(self, packets=30):
        frame = []
        for self.pool in reversed(self.pools):
            if len(self.pools) > 1:
                frame.append("CP_THREAD_CONTROL 0x%x" % (1 if self.pool is self.pools[0] else 2))
            frame += self.beginning()
        if self.generation > 5:
            frame.append("CP_SET_MARKER 0x1")
        frame += self.stream(1, packets)
        lines = ["# cpscope-pm4 1", self.chip, "buffer 0x100000 frame"] + frame
        for address, name, more in self.buffers:
            lines += ["buffer 0x%x %s" % (address, name)] + more
        for pool in self.pools:
            for i, address in enumerate(pool.data):
                lines.append("buffer 0x%x %s%d" % (address, pool.name, i))
                lines += [".word" + self.values(8) for _ in range(0, BUFFER, 8)]
        return "\n".join(lines + ["submit frame"]) + "\n"


# A method of Maker, the packet that it is about, how often.
KINDS = (("type4", "CP_NOP", 4), ("nop", "CP_NOP", 1), ("bunch", "CP_CONTEXT_REG_BUNCH", 1),
         ("other_bunch", "CP_NON_CONTEXT_REG_BUNCH", 1), ("rmw", "CP_REG_RMW", 4), ("mem_write", "CP_MEM_WRITE", 2),
         ("mem_to_mem", "CP_MEM_TO_MEM", 3), ("memcpy", "CP_MEMCPY", 1), ("reg_to_mem", "CP_REG_TO_MEM", 3),
         ("reg_to_mem_offset_reg", "CP_REG_TO_MEM_OFFSET_REG", 2), ("reg_to_mem_offset_mem", "CP_REG_TO_MEM_OFFSET_MEM", 2),
         ("mem_to_reg", "CP_MEM_TO_REG", 3), ("reg_to_scratch", "CP_REG_TO_SCRATCH", 2),
         ("scratch_to_reg", "CP_SCRATCH_TO_REG", 2), ("scratch_write", "CP_SCRATCH_WRITE", 2),
         ("cond_write5", "CP_COND_WRITE5", 3), ("wait_reg_mem", "CP_WAIT_REG_MEM", 2), ("wait_mem", "CP_WAIT_MEM_WRITES", 1),
         ("wait_two", "CP_TEST_TWO_MEMS", 1), ("clock", "CP_RECORD_PFP_TIMESTAMP", 1), ("event", "CP_WAIT_FOR_IDLE", 2), ("marker", "CP_SET_MARKER", 1),
         ("draw", "CP_DRAW_INDX_OFFSET", 2), ("cond_exec", "CP_COND_EXEC", 2), ("cond_predicate", "CP_REG_TEST", 2),
         ("cond_compare", "CP_COND_REG_EXEC", 2), ("cond_mode", "CP_COND_REG_EXEC", 1), ("call", "CP_INDIRECT_BUFFER", 2),
         ("written_call", "CP_INDIRECT_BUFFER", 1), ("bins", "CP_START_BIN", 1), ("other_processor", "CP_THREAD_CONTROL", 2))
# Those that are told the level they stand at.
STREAMS = {"cond_exec", "cond_predicate", "cond_compare", "cond_mode", "call", "written_call", "bins", "other_processor"}
# What the demo firmware does not know.
PLAIN_NOT = {"clock", "rmw", "mem_to_mem", "memcpy", "reg_to_mem_offset_reg", "reg_to_mem_offset_mem", "cond_write5", "wait_mem",
             "wait_two", "cond_exec", "cond_predicate", "cond_compare", "cond_mode", "bins", "other_processor"}
# What the texts have, for docs/testing.md (pm4table.py); a5xx executes groups and modes in ways that are not predicted.
GENERATED = {"CP_NOP", "CP_CONTEXT_REG_BUNCH", "CP_NON_CONTEXT_REG_BUNCH", "CP_REG_RMW", "CP_MEM_WRITE", "CP_MEM_TO_MEM", "CP_MEMCPY",
             "CP_REG_TO_MEM", "CP_REG_TO_MEM_OFFSET_REG", "CP_REG_TO_MEM_OFFSET_MEM", "CP_MEM_TO_REG", "CP_REG_TO_SCRATCH",
             "CP_SCRATCH_TO_REG", "CP_SCRATCH_WRITE", "CP_MEM_TO_SCRATCH_MEM", "CP_COND_WRITE5", "CP_WAIT_REG_MEM",
             "CP_WAIT_MEM_GTE", "CP_WAIT_TIMESTAMP", "CP_WAIT_TWO_REGS", "CP_TEST_TWO_MEMS", "CP_RECORD_PFP_TIMESTAMP",
             "CP_EVENT_WRITE", "CP_EVENT_WRITE7", "CP_SET_MARKER", "CP_SET_MODE", "CP_SET_DRAW_STATE", "CP_DRAW_INDX_OFFSET",
             "CP_DRAW_INDIRECT", "CP_EXEC_CS", "CP_COND_EXEC", "CP_REG_TEST", "CP_COND_REG_EXEC", "CP_INDIRECT_BUFFER",
             "CP_INDIRECT_BUFFER_CHAIN", "CP_START_BIN", "CP_END_BIN", "CP_THREAD_CONTROL"}
NOT_ON_A5XX = {"CP_SET_DRAW_STATE", "CP_DRAW_INDX_OFFSET", "CP_DRAW_INDIRECT", "CP_EXEC_CS"}

# SPDX-License-Identifier: MIT
"""A hang dump that a GPU would leave in the middle of a capture, made from the trace of a run: a model of
what hardware keeps (queues, banks, cache) that knows nothing of the product's own. The shapes are those of
the public dumps (shared/reference, dumps.md and captures.md)."""
import collections
import gzip
import struct

from make import encode85, type7

ROQ = {"ring": (0x939, 0, 0xb0), "ib1": (0x93a, 0x100, 0x100), "ib2": (0x93b, 0x200, 0x100),
       "sds": (0x93c, 0x300, 0x100)}
LEVELS = ["ring", "ib1", "ib2", "sds"]
QUEUES = ["FE", "SP_VS", "PC_VS", "GRAS", "SP_PS", "PS"]
# Which part of the GPU has a register: roughly as hardware, for the model any split would do.
CLUSTERS = {"GRAS": (0x8000, 0x8800), "PS": (0x8800, 0x9000), "PC_VS": (0x9000, 0xa000), "FE": (0xa000, 0xa800),
            "SP_VS": (0xa800, 0xa980), "SP_PS": (0xa980, 0xc000)}
RING = 0x0001000000001000


def memory(path, submission):
    """Words of a submission's buffers by address, and its stream: a reader of .rd."""
    data = gzip.open(path).read() if path.endswith(".gz") else open(path, "rb").read()
    at, words, streams, iova, size, fresh = 0, {}, [], 0, 0, True
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        payload, at = data[at + 8:at + 8 + length], at + 8 + length
        if kind == 3:
            if fresh:
                words, fresh = {}, False
            low, size, high = struct.unpack_from("<III", payload.ljust(12, b"\0"))
            iova = low | high << 32
        elif kind == 12:
            for i in range(0, min(length, size) // 4 * 4, 4):
                words[iova + i] = struct.unpack_from("<I", payload, i)[0]
        elif kind == 6:
            low, count, high = struct.unpack_from("<III", payload.ljust(12, b"\0"))
            streams.append((low | high << 32, count))
            if len(streams) == submission + 1:
                return words, streams[-1]
            fresh = True
    raise AssertionError("the capture has no submission %d" % submission)


class Model:
    """What a processor holds before the instruction at which the trace is cut."""

    def __init__(self, image):
        self.image = image
        self.gpr, self.control, self.table = collections.Counter(), collections.Counter(), []
        self.headers, self.writes, self.pcs = [], [], collections.OrderedDict()
        self.nrt, self.state, self.level = [0, 0], [0, 0], 0
        self.fetches = {1: [], 2: [], 3: []}  # iova, dwords, consumed
        self.packet, self.called, self.drawn = None, 0, 0  # called: behind the last call in IB1
        self.at, self.stack = 0, []

    def line(self, text):
        words = text.split(" ; ")[0].split()
        getattr(self, words[0].lower(), lambda *_: None)(*words[1:])

    def step(self, pc, *changes):
        pc = int(pc, 16)
        self.pcs[pc] = self.pcs.pop(pc, 0) + 1
        self.follow(pc)
        for change in changes:
            if change != "-":
                name, value = change.split("=")
                self.gpr[name] = int(value, 16)

    def stepx(self, _, *changes):
        for name, value in (change.split("=") for change in changes):
            self.gpr[name] = int(value, 16)

    def follow(self, pc):
        """Calls and returns: 0xd4...... and 0xd0000000, with a delay slot."""
        before, self.at = self.at, pc
        word = self.image[before - 1] if before else 0
        if word >> 26 == 0xd4 >> 2 and word >> 24 == 0xd4 and pc != before + 1:
            self.stack.append(before + 1)
        elif word == 0xd0000000 and self.stack and pc != before + 1:
            self.stack.pop()

    def ctrl(self, number, value, *_):
        number, value = int(number, 16), int(value, 16)
        self.control[number] = value
        if number == 0x61:
            self.table.append(value)
        for level, base in ((1, 0x10), (2, 0x14), (3, 0x42)):
            if number == base + 2:
                self.fetches[level].append([self.control[base] | self.control[base + 1] << 32, value])
        if number == 0x54:
            self.level = value & 7

    def pkt(self, level, iova, header, *_):
        self.packet = (level, int(iova, 16), int(header, 16))
        self.headers.append(int(header, 16))
        self.gpr["$rem"] = self.packet[2] & (0x7f if self.packet[2] >> 28 == 4 else 0x3fff)
        if self.packet[0] == "ib1" and self.packet[2] >> 16 & 0x7f == 0x3f:
            self.called = self.packet[1] + 16
        if self.packet[0] == "ib2":
            self.drawn = self.packet[1] + 4 + 4 * (self.packet[2] & 0x7f)  # groups of a draw run behind it

    def pipe(self, number, value, *_):
        number, value = int(number, 16), int(value, 16)
        if number in (0xa0, 0xa1):
            self.nrt[number - 0xa0] = value & ~3 if number == 0xa0 else value
        self.writes.append((None, number, value, None))

    def reg(self, offset, value, path, *_):
        offset, value = int(offset, 16), int(value, 16)
        if path == "ctrl":
            return
        two = 0x8c00 <= offset < 0x8c30
        self.writes.append((cluster(offset), offset, value, self.state[two] & 1))
        if offset in (0xd601, 0xd701):  # the context rolls
            self.state[offset == 0xd701] = value + 1
            self.writes.append(("roll", offset == 0xd701, None, None))


def cluster(offset):
    return next((name for name, (first, end) in CLUSTERS.items() if first <= offset < end), None)


def banks(writes):
    """Registers of two contexts: when it rolls, the new current one begins as a copy."""
    values, current = [{}, {}], [0, 0]
    for where, offset, value, context in writes:
        if where == "roll":
            kind = offset
            old, current[kind] = current[kind], 1 - current[kind]
            for reg, held in list(values[old].items()):
                if (0x8c00 <= reg < 0x8c30) == kind:
                    values[current[kind]][reg] = held
        elif where:
            values[context][offset] = value
    return values


def cache(image, pcs):
    """CP_UCODE_DBG's first two sections: the lines that ran last, 4 in each of 32 sets."""
    data, tags = [0] * 0x1000, [0] * 0x1000
    used = collections.Counter()
    for line in dict.fromkeys(pc // 8 for pc in reversed(pcs)):
        way, index = used[line % 32], line % 32
        if way == 4:
            continue
        used[index] += 1
        tags[index * 4 + way] = 2 << 20 | (3 - way) << 18 | line // 32
        at = way * 0x100 + index * 8
        data[at:at + 8] = image[line * 8:line * 8 + 8]
    return data, tags


def pool(queues):
    """CP_MEMPOOL: blocks of 8 chunks of up to two writes, lists of blocks, pointers, sizes."""
    words, free = [0] * 8288, iter(range(0x80))
    words[0x2000] = 0x80
    for number, name in enumerate(QUEUES):
        entries = queues.get(name, [])
        chunks = [entries[i:i + 2] for i in range(0, len(entries), 2)]
        first = 5  # begin in the middle of a block
        blocks = [next(free) for _ in range((first + len(chunks)) // 8 + 1)]
        for block, following in zip(blocks, blocks[1:]):
            words[0x1000 + block] = following
        for i, chunk in enumerate(chunks):
            bits = 0
            for k, (pipe, offset, value, context) in enumerate(chunk):
                bits |= 1 << k | value << 2 + 32 * k | offset << 66 + 18 * k | pipe << 102 + k | context << 104 + k
            at = blocks[(first + i) // 8] * 0x20 + (first + i) % 8 * 4
            words[at:at + 4] = [bits >> 32 * k & 0xffffffff for k in range(4)]
        end = first + len(chunks)
        for row, chunk, block in ((5, first, blocks[0]), (1, end % 8, blocks[end // 8])):
            words[0x1800 + row * 8 + number] = block << 3 | chunk
            words[0x1800 + (row + 2) * 8 + number] = block
        words[0x2018 + number] = len(chunks)
    return words


def code_dump(image, without=()):
    """A dump whose instruction cache has the code of an image of at most 1,024 words, all of it or without the lines of the
    words @without, and whose packet table is the image's; it holds nothing else."""
    data = open(image, "rb").read()[4:]
    words = list(struct.unpack("<%dI" % (len(data) // 4), data[:len(data) // 4 * 4]))
    table = words[1] & 0xffffff
    assert table <= 1024
    held, tags = cache(words[:table] + [0] * 8, [pc for pc in range(0, table, 8) if not set(range(pc, pc + 8)) & set(without)])
    block = held + tags + [0] * 0x2000 + (words[table:table + 128] + [0] * 0x1000)[:0x1000] + [0] * 0x80
    return ("---\nkernel: 6.1\nmodule: msm\ntime: 1.5\ncomm: foo\nrevision: 630 (6.3.0.2)\nindexed-registers:\n"
            "  - regs-name: CP_UCODE_DBG_DATA\n    dwords: %d\n    data: !!ascii85 |\n     %s\n" % (len(block), encode85(block)))


def section85(words, indent="     "):
    return indent + encode85(words).rstrip("z") + "\n"


class Scene:
    """@place: (iova, times, steps): in the packet whose header lies at iova, when it came by that often before,
    so many instructions behind its dispatch. @queued: how many writes to the pixel pipe had not arrived. @read: how many
    words of the packet behind its header were read; only in IB1. @first: where the region of IB1 in CP_ROQ begins to be filled."""

    def __init__(self, trace, firmware, capture, submission, place, queued=24, history=False, read=0, first=8):
        self.words, self.stream = memory(capture, submission)
        self.image = [w for w, in struct.iter_unpack("<I", open(firmware, "rb").read())][1:]
        self.ring = type7(0x48, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0)
        if history:  # the boot is long gone; a submission that ended with fence 7 is the last one before
            self.ring = type7(0x10) * 99 + type7(0x46, 0x80000004, 4, 0x10000, 7)
        self.ring += type7(0x3f, self.stream[0] & 0xffffffff, self.stream[0] >> 32, self.stream[1])
        self.fence = 7 if history else 0
        self.read, self.first = read, first
        self.play(trace, place)
        self.take_queues(queued)
        self.regs = {0x8c1: 0x8040362c, 0x8c2: 0x010000c0}
        self.roq = [0] * 1024

    def play(self, trace, place):
        iova, times, steps = place
        self.model, pending = Model(self.image), []
        for text in open(trace, encoding="utf-8"):
            pending.append(text)
            if text.startswith("PKT") and int(text.split()[2], 16) == iova:
                times -= 1
            if not text.startswith("STEP "):
                continue
            if times < 0 and self.model.packet[1] == iova:
                steps -= 1
                self.pc = int(text.split()[1], 16)
                if steps < 0:
                    return
            for line in pending:
                self.model.line(line)
            pending = []
        raise AssertionError("the trace has no such place")

    def take_queues(self, queued):
        """The newest writes to PS and SP_PS wait; the other parts have taken theirs."""
        self.queues, self.head = {"PS": [], "SP_PS": []}, {}
        for at in reversed(range(len(self.model.writes))):
            where, offset, value, context = self.model.writes[at]
            if where in self.queues and queued:
                self.queues[where].insert(0, (0, offset, value, context))
                self.head[where] = at
                queued -= 1

    def fetch(self, level, first, fetches, consumed, ahead=0x60):
        """Fills a region with @fetches, of which the first is read up to @consumed; a region has room for so much
        that waits."""
        register, begin, size = ROQ[LEVELS[level]]
        at, read, rest = first, None, 0
        for iova, count in fetches:
            for address in range(iova // 16 * 16, (iova + 4 * count + 15) // 16 * 16, 4):
                if read is None and address == iova + 4 * consumed:
                    read = at
                if read is not None and at - read >= ahead and address % 16 == 0:
                    rest = max(0, iova + 4 * count - address) // 4
                    break
                self.roq[begin + at % size] = self.words.get(address, 0)
                at += 1
            read, newest = at if read is None else read, (iova, count)
            if rest:
                break
        self.regs[register] = begin + read % size | (begin + at % size) << 16
        if level:
            base = 0x928 + (level - 1) * 3
            self.regs.update({base: newest[0] & 0xffffffff, base + 1: newest[0] >> 32, base + 2: rest,
                              0x943 + level - 1: newest[1]})

    def streams(self):
        """Where each level stands, for a packet in IB1 or IB2 of which only the header is read."""
        model = self.model
        for i, word in enumerate(self.ring):
            self.words[RING + 4 * i] = word
        last = len(self.ring) - 60 if self.fence else 0
        self.fetch(0, 0, [(RING + 4 * last, len(self.ring) - last)], len(self.ring) - last)
        stands = model.packet[1] + 4 + 4 * self.read
        if model.level == 3:
            now = max(i for i, (iova, count) in enumerate(model.fetches[3]) if iova <= stands <= iova + 4 * count)
            iova, count = model.fetches[3][now]
            self.fetch(3, 0x20, model.fetches[3][now:], (stands - iova) // 4)
            stands = model.drawn
        if model.level >= 2 and stands:
            now = max(i for i, (iova, count) in enumerate(model.fetches[2]) if iova <= stands <= iova + 4 * count)
            iova, count = model.fetches[2][now]
            self.fetch(2, 0xf0, model.fetches[2][now:], (stands - iova) // 4)
            stands = model.called
        self.fetch(1, self.first, [self.stream], (stands - self.stream[0]) // 4)
        # Regions of levels at which nothing waits.
        for level in {1: (2, 3), 2: (3,), 3: ()}[model.level]:
            self.regs[ROQ[LEVELS[level]][0]] = ROQ[LEVELS[level]][1] * 0x10001

    def status(self):
        words = [0] * 51
        words[0] = self.pc
        for i in range(1, 0x1c):
            words[i] = self.model.gpr["$%02x" % i]
        words[0x1c], stack = self.model.gpr["$rem"] - self.read, self.model.stack
        words[0x1d] = len(stack) - 1 << 28 | stack[-1] if stack else 0x70000000
        words[0x24:0x27] = reversed(self.model.headers[-3:])
        words[0x28], words[0x30:0x32] = self.model.level, self.model.nrt
        return words

    def microcode(self):
        data, tags = cache(self.image, self.model.pcs)
        scratch = [self.model.control[0x100 + i] for i in range(0x80)]
        return data + tags + [0] * 0x2000 + (self.model.table + [0] * 0x1000)[:0x1000] + scratch

    def clusters(self):
        text = ""
        for name in CLUSTERS:
            values = banks(self.model.writes[:self.head.get(name, len(self.model.writes))])
            text += "  - cluster-name: CLUSTER_%s\n" % name
            for context in (0, 1):
                text += "    - context: %d\n" % context
                for offset, value in sorted(values[context].items()):
                    if cluster(offset) == name:
                        text += "      - { offset: 0x%06x, value: 0x%08x }\n" % (4 * offset, value)
        return text

    def write(self, path, without=(), more=None):
        """@without: names of blocks that are left out. @more: others."""
        self.streams()
        blocks = {"CP_SQE_STAT": self.status(), "CP_UCODE_DBG_DATA": self.microcode(), "CP_ROQ": self.roq,
                  "CP_MEMPOOL": pool(self.queues), **(more or {})}
        with open(path, "w", encoding="ascii") as out:
            out.write("---\nkernel: 6.1.0\nmodule: msm\ntime: 1.0\ncomm: scene\ncmdline: scene\n"
                      "revision: 630 (6.3.0.2)\nrbbm-status: 0x00000000\nringbuffer:\n  - id: 0\n"
                      "    iova: 0x%016x\n    last-fence: %d\n    retired-fence: %d\n    rptr: %d\n    wptr: %d\n"
                      "    size: 32768\n    data: !!ascii85 |\n" % (
                          RING, self.fence + 1, self.fence, len(self.ring), len(self.ring)))
            rest = type7(0x10) * (8192 - len(self.ring)) if self.fence else []
            out.write(section85(self.ring + rest) + "bos:\n")
            for iova, data in self.buffers():
                out.write("  - iova: 0x%016x\n    size: %d\n    data: !!ascii85 |\n" % (iova, 4 * len(data)))
                out.write(section85(data))
            out.write("registers:\n")
            for offset in sorted(self.regs):
                out.write("  - { offset: 0x%06x, value: 0x%08x }\n" % (4 * offset, self.regs[offset]))
            out.write("indexed-registers:\n")
            for name, words in blocks.items():
                if name not in without:
                    out.write("  - regs-name: %s\n    dwords: %d\n    data: !!ascii85 |\n" % (name, len(words)))
                    out.write(section85(words, "      "))
            out.write("clusters:\n" + self.clusters())

    def buffers(self):
        """Contents that follow each other."""
        runs = []
        for iova in sorted(address for address in self.words if address < RING):
            if runs and iova == runs[-1][0] + 4 * len(runs[-1][1]):
                runs[-1][1].append(self.words[iova])
            else:
                runs.append((iova, [self.words[iova]]))
        return runs

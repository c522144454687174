# SPDX-License-Identifier: MIT
"""Makes what tests feed the command with: packets, .rd captures, PM4 text, ASCII85 of dumps, firmware. It
shares no code with the product: a mistake of its reader is not made here, too."""
import os
import struct
import subprocess

FORMS = ("trace", "cpt", "jsonl")  # of a trace, that are read, too
TEST, GPUADDR, CMDSTREAM, CONTENTS, GPU_ID = 1, 3, 6, 12, 13  # sections of .rd


def odd(value):
    """The bit that makes the number of ones odd."""
    return 1 - bin(value).count("1") % 2


def type4(reg, *values):
    return [4 << 28 | odd(reg) << 27 | reg << 8 | odd(len(values)) << 7 | len(values), *values]


def type7(opcode, *values):
    return [7 << 28 | odd(opcode) << 23 | opcode << 16 | odd(len(values)) << 15 | len(values), *values]


def dwords(words):
    return struct.pack("<%dI" % len(words), *words)


def section(kind, payload):
    return struct.pack("<II", kind, len(payload)) + payload


def chip(gpu):
    return section(GPU_ID, dwords([gpu]))


def buffer(iova, data):
    return section(GPUADDR, dwords([iova & 0xffffffff, len(data), iova >> 32])) + section(CONTENTS, data)


def submit(iova, count):
    return section(CMDSTREAM, dwords([iova & 0xffffffff, count, iova >> 32]))


def capture(words, gpu=630, iova=0x100000, stream=None):
    """A whole .rd: one buffer with @words, which is submitted, or what lies at @stream."""
    return chip(gpu) + buffer(iova, dwords(words)) + submit(stream or iova, len(words))


def pm4(*lines, gpu=630):
    """PM4 text: one buffer with the packets of @lines, which is submitted."""
    return "\n".join(["# cpscope-pm4 1", "gpu %d" % gpu, "buffer 0x00100000 frame",
                      *("    " + line for line in lines), "submit frame", ""])


def snap(kind, *words, data=b""):
    """A section of a KGSL snapshot: dwords, then bytes; its length counts its head."""
    payload = dwords([word & 0xffffffff for word in words]) + data
    return struct.pack("<HHI", 0xabcd, kind, 8 + len(payload)) + payload


def snap_os(release, comm, form=0x203, seconds=1700000000):
    """struct kgsl_snapshot_linux_v4, or one of the older forms: 1, 0x202."""
    head = {1: [1, 0, seconds], 0x202: [form, seconds, 1], 0x203: [form, seconds, 1]}[form] + [0] * (13 if form == 0x203 else 9)
    texts = struct.pack("<32s32s16s", release, b"#1 SMP", comm) + (struct.pack("<16s", b"lpac") if form == 0x203 else b"")
    return snap(0x0101, *head, data=texts + dwords([1, 7, 6, 6]))


def snap_ring(iova, words, number=0, rptr=2, wptr=3):
    """struct kgsl_snapshot_rb_v2."""
    return snap(0x0302, 0, len(words), len(words), wptr, rptr, len(words), 7, 6, iova, iova >> 32, number, *words)


def snap_object(iova, words, kind=5):
    """struct kgsl_snapshot_gpu_object_v2."""
    return snap(0x0b02, kind, iova, iova >> 32, 0, 0, len(words), 0, *words)


def snapshot(*sections, gpu=0xffffffff, chip=0x06030002, magic=0x504d0002):
    """A whole KGSL snapshot."""
    return dwords([magic, gpu, chip]) + b"".join(sections) + snap(0xffff)


def decode85(text):
    words, at = [], 0
    while at < len(text):
        if text[at] == "z":
            words.append(0)
            at += 1
        else:
            value = 0
            for c in text[at:at + 5]:
                value = value * 85 + ord(c) - 33
            words.append(value & 0xffffffff)
            at += 5
    return words


def encode85(words):
    def group(word):
        return "".join(chr(33 + word // 85**i % 85) for i in reversed(range(5))) if word else "z"
    return "".join(group(word) for word in words)


def write_snapshot(cpscope, dump, path):
    """Writes a KGSL snapshot of a dump with the tests' writer. Returns what it printed on stderr."""
    tool = os.path.join(os.path.dirname(os.path.abspath(cpscope)), "..", "tests", "mksnapshot")
    return subprocess.run([tool, dump, path], check=True, stderr=subprocess.PIPE, text=True).stderr


def firmware(cpscope, path, source):
    """Writes @source to PATH.afuc and assembles it to PATH.fw."""
    with open(path + ".afuc", "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run([cpscope, "asm", path + ".afuc", "-o", path + ".fw"], check=True)


def revisions(cpscope, demo, folder, old, new):
    """old.fw and new.fw: the demo's source @demo, and the same with the text @old replaced."""
    with open(demo, encoding="utf-8") as file:
        source = file.read()
    assert source.count(old) == 1, "the demo firmware has %d times %s" % (source.count(old), old)
    firmware(cpscope, "%s/old" % folder, source)
    firmware(cpscope, "%s/new" % folder, source.replace(old, new))


# EVENT_CMD: the demo firmware tells with 5 that an event writes memory; a revision says 6.
EVENT_CMD = ("        mov $data, 0x5 ", "        mov $data, 0x6 ")
EVENT = "CP_EVENT_WRITE 0x4 0x00200100 0x0 0x1234"  # reaches it

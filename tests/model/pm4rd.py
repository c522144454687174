# SPDX-License-Identifier: MIT
"""Submissions of an .rd capture, for the tests' walker: docs of the format are Mesa's redump.h and its readers."""
import gzip
import struct

from pm4text import Submission
from provenance import CMDSTREAM, CONTENTS, GPUADDR, sections

GPU_ID, CHIP_ID = 13, 15


def chip_generation(chip):
    return {0x43: 7, 0x44: 8}.get(chip >> 24, chip >> 24)


def read(path):
    """The generation, and the submissions whose stream is held, as pm4text.read has them."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    generation, memory, address, fresh, found = None, {}, None, False, []
    for kind, at, size in sections(data):
        if kind == GPU_ID:
            generation = struct.unpack_from("<I", data, at)[0] // 100 or generation
        elif kind == CHIP_ID:
            generation = chip_generation(struct.unpack_from("<Q", data, at)[0] & 0xffffffff)
        elif kind == GPUADDR:
            memory, fresh = ({}, False) if fresh else (memory, False)
            low, _, high = struct.unpack_from("<III", data, at)
            address = high << 32 | low
        elif kind == CONTENTS:
            words = struct.unpack_from("<%dI" % (size // 4), data, at)
            memory.update(zip(range(address, address + 4 * len(words), 4), words))
        elif kind == CMDSTREAM:
            fresh = True
            low, dwords, high = struct.unpack_from("<III", data, at)
            if high << 32 | low in memory:
                found.append(Submission(memory, high << 32 | low, dwords))
    return generation, found

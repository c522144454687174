#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What examples/blit.c makes of turnip's copies, clears and blits (vulkan_copy.c), byte for byte: results of lavapipe, Mesa's
software driver. Where lavapipe does not round to the nearest, the expected bytes are computed here.

Needs $CPSCOPE_CLIENT_ROOT (tools/client.sh --headers DIR makes it), $CPSCOPE_CORPUS, a compiler for arm64 and qemu.

Usage: copies.py CPSCOPE BLIT.so [CHIP]..."""
import os
import struct
import sys
import tempfile

import real_client
import tap
from vulkan_program import build, missing

CPSCOPE, BLIT = (os.path.abspath(path) for path in sys.argv[1:3])
CHIPS = sys.argv[3:] or ["a630", "a750", "a830"]
WIDTH, HEIGHT = 67, 35
LEFT, RIGHT, TOP, BOTTOM = 2, 52, 3, 31  # of each blit
# lavapipe's compiler needs a processor without what qemu 7.2 does not have; its threads are fewer than usual.
LAVAPIPE = {"VK_DRIVER_FILES": os.path.join(real_client.ROOT or "", "usr/share/vulkan/icd.d/lvp_icd.json"), "QEMU_CPU": "cortex-a57",
            "LP_NUM_THREADS": "0"}


def results(path):
    """Name: bytes."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, size = data[at:end].decode().rsplit(" ", 1)
        found[name] = data[end + 1:end + 1 + int(size)]
        at = end + 1 + int(size)
    return found


def run(program, folder, chip, options, env):
    output = os.path.join(folder, "output")
    done = real_client.run(CPSCOPE, chip, options, [program, "-j", "copies", "--output", output], env)
    return results(output) if done.returncode == 0 else {}, done


def nearest(value, most):
    return int(value * most + 0.5)


def to_srgb(v):
    return v * 12.92 if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055


def from_srgb(v):
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


# Of a texel r, g, b, a, each from 0 to 1.
ROUNDED = {
    "blit-rgba8-565": lambda t: struct.pack("<H", nearest(t[0], 31) << 11 | nearest(t[1], 63) << 5 | nearest(t[2], 31)),
    "blit-rgba8-1010102": lambda t: struct.pack("<I", sum(nearest(v, 1023) << 10 * i for i, v in enumerate(t[:3])) | nearest(t[3], 3) << 30),
    "blit-rgba8-srgb8": lambda t: bytes([*(nearest(to_srgb(v), 255) for v in t[:3]), nearest(t[3], 255)]),
    "blit-srgb8-rgba8": lambda t: bytes([*(nearest(from_srgb(v), 255) for v in t[:3]), nearest(t[3], 255)]),
    "blit-rgba8-rgba16f": lambda t: struct.pack("<4e", *t),
}


def rounded(name, lavapipe):
    """The result as lavapipe has it around the blit, and correctly rounded within. The source is that of the plain blit."""
    expected, source = bytearray(lavapipe[name]), lavapipe["blit-rgba8-rgba8"]
    size = len(expected) // (WIDTH * HEIGHT)
    for y in range(TOP, BOTTOM):
        for x in range(LEFT, RIGHT):
            at = y * WIDTH + x
            texel = ROUNDED[name]([v / 255 for v in source[4 * at:4 * at + 4]])
            expected[size * at:size * (at + 1)] = texel
    return bytes(expected)


def test_chip(program, chip, folder, lavapipe):
    found, done = run(program, folder, chip, ["--launch", BLIT], {})
    expected = {name: rounded(name, lavapipe) if name in ROUNDED else data for name, data in lavapipe.items()}
    bad = [name for name in expected if found.get(name) != expected[name]]
    good = len(expected) - len(bad)
    tap.report("%s: %d results, %d bytes, are lavapipe's, %d of them correctly rounded" %
               (chip, good, sum(map(len, expected.values())), len(ROUNDED)),
               not bad and found.keys() == lavapipe.keys() and good > 100, "%s\n%s%s" % (bad, done.stdout, done.stderr))
    line = next((line for line in done.stderr.splitlines() if line.startswith("blit: ")), "")
    tap.report("%s: nothing is left out" % chip, line.endswith(" skipped: 0 tiled, 0 compressed (UBWC), 0 multisampled, 0 scaled, 0 rotated, "
                                                               "0 of other formats, 0 of tile memory, 0 draws, 0 dispatches"), done.stderr)
    found, done = run(program, folder, chip, [], {})
    same = [name for name in expected if found.get(name) == expected[name]]
    tap.report("%s: without the plugin %d results are right" % (chip, len(same)), found and not same, same)
    done = real_client.run(CPSCOPE, chip, ["--launch", BLIT], [program, "-j", "draws"])
    tap.report("%s: what is left out is counted" % chip, " 0 draws" not in done.stderr and " draws, 0 dispatches" in done.stderr, done.stderr)


def main():
    why = missing()
    if not why and not os.path.exists(LAVAPIPE["VK_DRIVER_FILES"]):
        why = "the root has no lavapipe"
    if why:
        tap.skip("copies of turnip and of lavapipe", why)
    else:
        with tempfile.TemporaryDirectory() as folder:
            program = build(folder)
            lavapipe, done = run(program, folder, CHIPS[0], [], LAVAPIPE)
            if "signal" in done.stderr:  # of qemu, which now and then fails with code that is made at run time
                lavapipe, done = run(program, folder, CHIPS[0], [], LAVAPIPE)
            tap.report("lavapipe: %d results" % len(lavapipe), len(lavapipe) > 100, done.stdout + done.stderr)
            for chip in CHIPS if lavapipe else []:
                test_chip(program, chip, folder, lavapipe)
    tap.plan()
    sys.exit(0)


main()

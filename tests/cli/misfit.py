#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Firmware of another chip of the generation is noted, and firmware that fits is not. Usage: misfit.py CPSCOPE; with
CPSCOPE_CORPUS also real firmware on all of its captures."""
import glob
import json
import os
import re

import tap
from make import capture, dwords, pm4
from scene import CORPUS, cpscope, path

# Written from docs/firmware.md's source, the kernel's catalogs, and not from chip.def: id of firmware -> chips.
FITS = {0x6ee: "a610 a618 a619 a630 a640 a680", 0x6dd: "a650", 0x6dc: "a660 a690", 0x7aa: "a702", 0x730: "a730", 0x740: "a740",
        0x512: "x1-85", 0x520: "a750", 0x500: "a830", 0x510: "a840", 0x700: "x2-85"}
# Ids of GPUs as captures have them. A revision is the chip all the same.
GPUS = {"a610": [610, 0x06010000], "a618": [618, 0x06010800], "a619": [619, 0x06010900], "a630": [630, 0x06030001, 0x06030002],
        "a640": [640, 0x06040001], "a650": [650, 0x06050002, 0x06050001], "a660": [660, 0x06060001], "a680": [680, 0x06080001],
        "a690": [690, 0x06090000], "a702": [702, 0x07000200], "a730": [730, 0x07030001], "a740": [740, 0x43050a01, 0x43050a00],
        "a750": [750, 0x43051401], "x1-85": [0x43050c01], "a830": [0x44050000], "a840": [0x44050a31, 0x44050a01],
        "x2-85": [0x44070041]}
UNKNOWN = [615, 0x06010500, 0x06020100, 0x06030500, 0x43030c00]
GENERATION = {chips: 6 if number in (0x6ee, 0x6dd, 0x6dc, 0x7aa) else 7 if number in (0x730, 0x740, 0x512, 0x520) else 8
              for number, chips in FITS.items()}
FILES = []


def generation(name):
    return next(number for chips, number in GENERATION.items() if name in chips.split())


def headers():
    """An image of each id, as far as `info` looks: a first dword, and a packet table is not needed."""
    for number in FITS:
        name = "%x.fw" % number
        path(name, dwords([0, 0x01000000 | number << 12 | 1, 0x01000000] + [0x01000000] * 300))
        FILES.append(name)


def described(firmware, gpus):
    """What `info` has of captures of these GPUs, beside one image of firmware."""
    names = ["gpu-%x.rd" % gpu for gpu in gpus]
    for name, gpu in zip(names, gpus):
        path(name, capture([0x70100000], gpu=gpu))
    return json.loads(cpscope("info", "--json", firmware, *names).stdout)["files"][1:]


def each_chip_with_each_firmware():
    """All pairs of a generation: the note is there where the tables say so."""
    headers()
    noted = 0
    pairs = [(name, gpu) for name, ids in GPUS.items() for gpu in ids]
    for firmware, chips in zip(FILES, FITS.values()):
        for (name, gpu), row in zip(pairs, described(firmware, [gpu for _, gpu in pairs])):
            wrong = GENERATION[chips] == generation(name) and name not in chips.split()
            assert ("misfit" in row) == wrong, (name, hex(gpu), firmware, row.get("misfit"))
            if wrong:
                assert row["misfit"]["chip"] == name and row["misfit"]["chips"] == chips.split(), row["misfit"]
            noted += wrong
    assert noted and len(pairs) * len(FILES) > 2 * noted
    print("# %d pairs, %d noted" % (len(pairs) * len(FILES), noted))


def an_unknown_chip_is_not_noted():
    for firmware in FILES:
        assert all("misfit" not in row for row in described(firmware, UNKNOWN)), firmware


def firmware_that_fits_silences():
    """Among several files of firmware one that fits is enough."""
    done = cpscope("info", "6ee.fw", "6dc.fw", "gpu-276.rd")
    assert "note:" not in done.stderr, done.stderr
    done = cpscope("info", "6dd.fw", "6dc.fw", "gpu-276.rd")
    assert done.stderr == ("gpu-276.rd: note: 6dd.fw is firmware of a650; the capture is from a630, which needs a630_sqe.fw\n"), done.stderr


def the_demo_fits_all():
    path("a650.pm4", pm4("CP_NOP 0x1", gpu=650))
    assert "note:" not in cpscope("run", "--demo", "a650.pm4").stderr


def the_device_names_its_option():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    firmware = os.path.join(CORPUS, "firmware")
    done = cpscope("device", "--chip", "a630", "--fw", os.path.join(firmware, "a740_sqe-181.fw"), "--", "true", status=3)
    assert "--chip a630: its generation is a6xx" in done.stderr and "capture" not in done.stderr and "--as" not in done.stderr, done.stderr
    done = cpscope("device", "--chip", "a630", "--fw", os.path.join(firmware, "a660_sqe-112.fw"), "--", "true", status=None)
    assert "note: " in done.stderr and "a660, a690; the device is a630, which needs a630_sqe.fw" in done.stderr, done.stderr
    done = cpscope("device", "--chip", "a630", "--fw", os.path.join(firmware, "a630_sqe-190.fw"), "--", "true", status=None)
    assert "note: " not in done.stderr, done.stderr


def real_runs():
    """Each capture beside each image of its generation; `run` has one image of each chip, on the smallest capture of a chip."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    names = sorted(glob.glob(os.path.join(CORPUS, "captures", "**", "*.rd.gz"), recursive=True), key=os.path.getsize)
    count, ran = {True: 0, False: 0}, set()
    for file in sorted(glob.glob(os.path.join(CORPUS, "firmware", "*sqe*.fw"))):
        about, *rows = json.loads(cpscope("info", "--json", file, *names).stdout)["files"]
        for name, row in zip(names, rows):
            gpu = row["gpu_id"] or row["chip_id"] & 0xffffffff
            known = [chip for chip, ids in GPUS.items() if gpu in ids]
            if not known or about["generation"] != "a%dxx" % generation(known[0]):
                continue
            fits = known[0] in FITS.get(about["id"], "").split()
            assert ("misfit" in row) == (not fits), (name, file)
            count[fits] += 1
            if (about["id"], known[0]) in ran:
                continue
            ran.add((about["id"], known[0]))
            done = cpscope("run", "--json", "--limit", "100k", "--fw", file, name, status=None)
            assert ("misfit" in json.loads(done.stdout)) == (not fits), (name, file)
    assert all(count.values())
    print("# %d captures: %d fitting pairs, %d others; %d runs" % (len(names), count[True], count[False], len(ran)))


tap.run([
    ("each chip with each firmware: a note where they do not fit", each_chip_with_each_firmware),
    ("a chip without a row is not noted", an_unknown_chip_is_not_noted),
    ("among several images one that fits is enough", firmware_that_fits_silences),
    ("the demo fits every chip of its generation", the_demo_fits_all),
    ("the device notes it too, and names --chip for another generation", the_device_names_its_option),
    ("real firmware on real captures", real_runs),
])

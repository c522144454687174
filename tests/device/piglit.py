#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mesa's freedreno on the virtual device: programs of piglit whose result only the command processor decides. Each passes with
real firmware, and fails on a device that executes nothing. piglit.txt lists them.

Needs what vulkan.py needs but the compiler, and piglit in the root (tools/client.sh --piglit).

Usage: piglit.py CPSCOPE [CHIP]..."""
import os
import re
import sys

import real_client
import tap

CPSCOPE = os.path.abspath(sys.argv[1])
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "piglit.txt")
FOLDER = "usr/lib/aarch64-linux-gnu/piglit"
ENV = {"PIGLIT_PLATFORM": "surfaceless_egl", "PIGLIT_SOURCE_DIR": "/" + FOLDER}


def rows():
    """(chips, options of device, words of the program)"""
    for line in open(LIST, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            chips, options, program = (field.split() for field in line.split("|"))
            yield chips, options, program


def result(chip, options, program):
    done = real_client.run(CPSCOPE, chip, options, [*program, "-auto", "-fbo"], ENV)
    found = re.findall(r'PIGLIT: \{"result": "(\w+)"', done.stdout)
    return found[-1] if found else "status %d" % done.returncode, done.stdout + done.stderr


def main():
    why = real_client.missing()
    if not why and not os.path.isdir(os.path.join(real_client.ROOT, FOLDER)):
        why = "no piglit in the root: tools/client.sh --piglit"
    if why:
        tap.skip("programs of piglit", why)
    for chips, options, program in [] if why else rows():
        for chip in sys.argv[2:] or chips:
            good, text = result(chip, options, program)
            bad, _ = result(chip, ["--idle"], program)
            tap.report("%s: %s passes, and only with execution" % (chip, " ".join(program)), good == "pass" and bad == "fail",
                       "%s; without execution %s\n%s" % (good, bad, text))
    tap.plan()


main()

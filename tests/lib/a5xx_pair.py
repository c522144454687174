# SPDX-License-Identifier: MIT
"""Firmware of our own for both processors of a5xx, and a stream for it."""
import claimfw
import make

STREAM = "# cpscope-pm4 1\ngpu 530\nbuffer 0x00100000 ring\n    CP_NOP 0x1\nring ring\n"


def image(cpscope, path, layout, value):
    """PATH.fw: a PFP (layout a5xx) that takes @value along and passes CP_NOP on, or an ME (me) that writes it to 0x8810 for one."""
    own = ["jump #is_pfp", "nop", claimfw.IS_PFP, "is_pfp:"] if layout == "a5xx" else []
    handler = {"a5xx": ["set $05, 0x%x" % value, "mov $data, $01", "(rep)mov $data, $data"],
               "me": ["mov $addr, 0x8810", "set $03, 0x%x" % value, "mov $data, $03", "(rep)mov $00, $data"]}[layout]
    make.firmware(cpscope, path, claimfw.skeleton(own, {0x10: handler}, layout, first=()))
    return path + ".fw"

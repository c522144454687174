# SPDX-License-Identifier: MIT
"""Small firmware of our own for tests of the debugger, with two packets in the ring that it handles."""
import claimfw
import make
from scene import CPSCOPE, path

# Two calls deep; a loop of two turns, whose branch has a delay slot.
CALLS = """mov $05, 0x0
call #outer
nop
next
outer: call #inner
mov $03, 0x2
add $05, $05, 0x100
ret
nop
inner: add $05, $05, 0x1
loop: sub $03, $03, 0x1
brne $03, 0x0, #loop
nop
ret
add $05, $05, 0x10"""
# $03, $04: the address of BV's image, which is started there.
START_BV = """mov $02, 0x2
cwrite $02, [$00 + REG_READ_DWORDS]
mov $02, 0x830
cwrite $02, [$00 + REG_READ_ADDR]
mov $03, $regdata
mov $04, $regdata
mov $05, #BV::start
shl $05, $05, 0x2
add $03, $03, $05
cwrite $03, [$00 + BV_BASE_LO]
cwrite $04, [$00 + BV_BASE_HI]
mov $06, 0x1
cwrite $06, [$00 + BV_CNTL]"""


def on_ring(name, gpu, source):
    """Arguments: firmware of our own, and two packets in the ring that it handles."""
    make.firmware(CPSCOPE, path(name), source)
    text = "# cpscope-pm4 1\ngpu %d\nbuffer 0x00100000 ring\n    CP_NOP\n    CP_NOP\nring ring\n" % gpu
    return ["--fw", path(name + ".fw"), path(name + ".pm4", text)]


def calls():
    """Stands in `inner` at 0x1c, called from 0x17 in `outer` (0x19 is behind its slot), called from 0x13 (0x15)."""
    return on_ring("calls", 630, claimfw.skeleton([], {0x10: CALLS.split("\n")}, "a6xx"))


def two_processors():
    """SQE starts BV, which writes 9 to a register; then it handles its packets."""
    bv = claimfw.skeleton(["mov $05, 0x9", "out $05"], {}, "a7xx")
    return on_ring("bv", 740, claimfw.skeleton(START_BV.split("\n"), {0x10: ["mov $05, 0x7"]}, "a7xx") + ".section BV\nstart:\n" + bv)

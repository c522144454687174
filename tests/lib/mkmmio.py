#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Logs of mmiotrace by hand, line by line as the kernel's Documentation/trace/mmiotrace.rst has them."""
import struct

BAR0 = 0xfd000000
BAR1 = 0xe0000000


def pcidev(vendor=0x10de, device=0x0191, bar0=BAR0, bar1=BAR1 | 0xc, size=0x1000000, driver="nvidia"):
    starts = [bar0, bar1, 0, 0xfa000004, 0, 0xcc01, 0]
    sizes = [size, 0x20000000, 0, 0x2000000, 0, 0x80, 0x20000]
    return "PCIDEV 0100 %04x%04x 10 %s %s %s\n" % (vendor, device, " ".join("%x" % s for s in starts), " ".join("%x" % s for s in sizes), driver)


class Log:
    def __init__(self, *devices):
        self.lines = ["VERSION 20070824\n", *(devices or (pcidev(),))]
        self.us = 1000000

    def line(self, text):
        self.lines.append(text + "\n")
        return len(self.lines)

    def access(self, what, address, value, width=4, bar=BAR0, later=10):
        """Returns the number of the line."""
        self.us += later
        return self.line("%s %d %d.%06d 1 0x%x 0x%x 0xffffffffa0001234 0" % (what, width, self.us // 1000000, self.us % 1000000, bar + address, value))

    def write(self, address, *values, **more):
        for i, value in enumerate(values):
            number = self.access("W", address + 4 * i, value, **more)
        return number

    def read(self, address, value, **more):
        return self.access("R", address, value, **more)

    def upload(self, code, at=0x1400):
        code += b"\x7f" * (-len(code) % 4)
        return self.write(at, *struct.unpack("<%dI" % (len(code) // 4), code))

    def text(self):
        return "".join(self.lines)


# The start of a G80 memory reclock, by docs of envytools' HWSQ: pokes 611200=3300, 2504=1, ..., 2504=0.
RECLOCK = bytes.fromhex("5f01005f0101e200330000e000126100420100e00425000006b05f000102e0d402100040d00240d002420000401002420100"
                        "40dc02d05f0000420000e0042500007f")


def g80():
    """A driver's reclock on G80: chip read, enable, upload, start, polls. Its STATUS is what the documents say."""
    log = Log()
    log.line("MAP 1.000001 1 0xfd000000 0xffffc90010000000 0x1000000 0xffffffffa0001234 0")
    log.read(0, 0x050300a2)
    log.read(0x9400, 0x1234560)  # PTIMER
    log.write(0x100080, 1)
    log.read(0x1098, 0x00100000)
    log.write(0x1098, 0x00100000)
    log.write(0x1304, 0)
    log.upload(RECLOCK)
    log.read(0x1098, 0x00100000)
    log.write(0x1098, 0x00100018)
    log.write(0x130c, 3)
    log.read(0x1308, 0x00000103)
    log.line("MARK 1.000400 the screen flickers")
    log.read(0x1308, 0x00000041, later=20000)
    log.read(0x1098, 0x00100018)
    log.read(0x1304, 0)
    log.line("UNMAP 1.100000 1 0xffffffffa0001234 0")
    return log

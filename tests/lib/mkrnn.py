#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small tree of NVIDIA's registers in the form of envytools' rnndb, of our own: files that import each other."""
import os

CHIPS = ("01 NV01", "03 NV03", "17 NV17", "20 NV20", "25 NV25", "41 NV41", "44 NV44", "50 NV50", "84 NV84", "92 NV92", "a0 NVA0", "a3 NVA3", "c0 NVC0")
ENUM = '<enum name="chipset" bare="yes">\n%s</enum>\n' % "".join('<value value="0x%s" name="%s"/>\n' % tuple(c.split()) for c in CHIPS)
GROUP = '<group name="window"><reg32 name="INDEX" offset="0"/><reg32 name="DATA" offset="4"/></group>\n'
PBUS = '''<domain name="NV_MMIO" bare="yes" prefix="chipset">
<array name="PBUS" offset="0x1000" stride="0x1000" length="1">
<reg32 name="DEBUG_6" offset="0x98" variants="NV17:NV20 NV25-"><bitfield name="READS" pos="4"><value value="1" name="FORCED"/></bitfield></reg32>
<stripe name="HWSQ" offset="0x300" variants="NV17:NV20 NV25:NVC0">
<reg32 name="ENTRY" offset="4"/><reg32 name="STATE" offset="8"><bitfield name="AT" low="0" high="7"/><bitfield name="RUNS" pos="8"/></reg32>
<reg8 name="CODE" offset="0x100" length="0x100" variants="NV50:NVC0"/></stripe></array></domain>
'''
REST = '''<domain name="NV_MMIO" bare="yes" prefix="chipset">
<array name="PFB" offset="0x100000" stride="0x1000" length="1"><reg32 name="REFRESH" offset="0x2d4" variants="NV50:NVC0"/>
<stripe offset="0x210" stride="8" length="2"><reg32 name="PART" offset="0"/></stripe></array>
<array name="PDAEMON" offset="0x10a000" stride="0x1000" length="1" variants="NVA3-"><stripe name="D" offset="0x1c0"><use-group name="window"/></stripe></array>
<array name="PVP" offset="0xf000" stride="0x1000" length="1" variants="NV41:NV84"><reg32 name="CTL" offset="0x474"/></array>
<array name="PFIFO" offset="0x2000" stride="0x2000" length="1" variants="NV01:NV17"><reg32 name="INTR" offset="0x100"><bitfield name="PUSHER" pos="12"/></reg32></array>
</domain>
'''


def database(*parts):
    return '<?xml version="1.0"?>\n<database xmlns="http://nouveau.freedesktop.org/">\n%s</database>\n' % "".join(parts)


def whole():
    """Everything in one file, for who reads only one."""
    return database(ENUM, GROUP, PBUS, REST)


def write(folder):
    """The tree, in files."""
    os.makedirs(os.path.join(folder, "bus"))
    files = {"nv_mmio.xml": database('<import file="copyright.xml"/>\n<import file="chips.xml"/>\n<import file="bus/pbus.xml"/>\n', GROUP, REST),
             "chips.xml": database(ENUM), "bus/pbus.xml": database('<import file="chips.xml"/>\n', PBUS)}
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return folder

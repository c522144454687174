# SPDX-License-Identifier: MIT
"""The firmware of a claim: a small program around the claim's own code. It fills the packet table (all entries `drop`, but for
those that the claim handles) without a register write or a memory read, points REG_WRITE at register 0x8800, runs `boot` and
waits for packets. The table also stands in the image, where who looks for handlers finds them. It uses $02, $03, $rem and leaves them 0, and the carry alone. Code of claims has beside the assembler's own:

    out SOURCE        writes SOURCE to REG_WRITE: the trace has REG 0x8800, then 0x8801 and so on, with the word ctrl
    set $NN, VALUE    a constant of 32 bits, as `mov` and `or`
    next              `waitin` and its delay slot: the end of a handler; one is put behind `boot` and behind each handler
    NAME              a control register of tests/claims/registers.txt: its number
"""
import os
import re
from tree import TESTS

FOLDER = os.path.join(TESTS, "claims")

# The first dword, whose bits 23:12 say which firmware it is; a nop's high byte, then the version (afuc-isa.md 7).
HEAD = {"a5xx": "[005ff001]", "a6xx": "[016ee001]", "a7xx": "[01740001]", "a7xx-a750": "[01520001]",
        "a6xx-a660": "[016dc001]", "a8xx": "[01500001]"}
# A program of a5xx is a PFP if it starts an indirect buffer; this is never reached.
IS_PFP = "cwrite $00, [$00 + 0x0b0]"
LAYOUTS = ("a5xx", "me", "a6xx", "a7xx", "a7xx-a750", "a8xx")


def registers():
    """name -> layout -> number, from the table that was written by hand."""
    found = {}
    with open(os.path.join(FOLDER, "registers.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                found[words[0]] = dict(zip(LAYOUTS, words[1:1 + len(LAYOUTS)]))
                found[words[0]]["a6xx-a660"] = found[words[0]]["a6xx"]
    return found


REGISTERS = registers()


def load(register, value):
    return ["mov %s, 0x%x << 16" % (register, value >> 16), "or %s, %s, 0x%x" % (register, register, value & 0xffff)]


def expand(lines, layout):
    """Text for `asm`."""
    out = []
    for line in lines:
        words = line.split(";")[0].replace(",", " ").split()
        if words[:1] == ["out"]:
            line = "cwrite %s, [$00 + REG_WRITE]" % words[1]
        elif words[:1] == ["set"]:
            out += load(words[1], int(words[2], 0))
            continue
        elif words == ["next"]:
            line = "waitin\nmov $01, $data"
        out.append(re.sub(r"\b[A-Z][A-Z0-9_]{2,}\b", lambda m: number(m.group(0), layout), line))
    return "\n".join(out)


def number(name, layout):
    row = REGISTERS.get(name)
    assert not row or row[layout] != "-", "%s is not known on %s" % (name, layout)
    return row[layout] if row else name


def skeleton(boot, handlers, layout, first=("mov $02, 0x8800", "cwrite $02, [$00 + REG_WRITE_ADDR]")):
    """@handlers: packet id -> lines."""
    code = ["cwrite $00, [$00 + PACKET_TABLE_ADDR]", "mov $02, #drop", "mov $rem, 0x80",
            "(rep)cwrite $02, [$00 + PACKET_TABLE_WRITE]"]
    for ident in sorted(handlers):
        code += ["mov $02, 0x%x" % ident, "cwrite $02, [$00 + PACKET_TABLE_ADDR]",
                 "mov $02, #packet_%x" % ident, "cwrite $02, [$00 + PACKET_TABLE_WRITE]"]
    code += [*first, "mov $02, 0x0", *boot, "next", "UNKN1:", "drop:", "(rep)(xmov3)mov $00, $data", "next"]
    for ident in sorted(handlers):
        code += ["UNKN%d:" % ident if ident != 1 else "", "packet_%x:" % ident, *handlers[ident], "next"]
    return "%s\n[#jumptbl]\n%s\njumptbl:\n.jumptbl\n" % (HEAD[layout if layout != "me" else "a5xx"], expand(code, layout))


def handlers_of(claim, key, gen):
    found = {}
    for section in claim.all(key):
        lines = section.of(gen)
        for ident in section.words[1:] if lines else []:
            assert int(ident, 0) not in found, "%s handles %s twice" % (claim.name, ident)
            found[int(ident, 0)] = lines if len(section.words) == 2 else ["; " + ident, *lines]
    return found


def sources(claim, gen, boot):
    """Assembly of each file of the claim's firmware: one, or PFP and ME. @boot: lines in front of the claim's own."""
    if claim.all("source"):
        return [expand(claim.lines("source", gen), gen)]
    layout = claim.text("layout") or gen
    own = claim.lines("boot", gen) + ["jump #is_pfp", "nop", IS_PFP, "is_pfp:"] * (gen == "a5xx")
    parts = [skeleton([*boot, *own], handlers_of(claim, "packet", gen), layout)]
    for section in claim.all("processor"):
        parts[0] += ".section %s\nstart:\n%s" % (section.words[1], skeleton(section.of(gen), {}, layout))
    if gen == "a5xx":
        parts.append(skeleton(claim.lines("me", gen), handlers_of(claim, "me-packet", gen), "me", first=()))
    return parts

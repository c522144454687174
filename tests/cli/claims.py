#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims about the machine, each with a program, a stream and the whole trace that they make, computed by hand. One test
for each generation that a claim is about. tests/lib/claimtext.py says how the files read, tests/lib/claimfw.py what the program is.
Keys and sections of a claim:

    alu         rows "OP A B = RESULT": registers with A and B; also with B as the immediate, where it fits. "b4" stands as it
                is. Several with ";" between run one behind the other, with nothing but `mov` in between: carry. Of `bfi`
                the first value is the old destination
    boot        code that runs before the first packet          packet ID...   the handler of these packets
    me, me-packet  the same of a5xx's ME                        processor BV   the same as boot, of an image behind the first
    source      the whole assembly, instead of all these        layout NAME    a6xx-a660, a7xx-a750: the firmware of that chip
    stream      PM4 text; without "buffer" lines, what the ring holds. pkt4 REGISTER VALUE... and pkt7 ID VALUE... are
                packets by number, with parity as tests/lib/make.py makes it; 0x1*9 is nine times the same
    script ENGINE  a run file of another engine, instead of firmware and stream; `gens` is its name then
    options     further options of `run`                        events LIST    classes of events to compare
    expect      the trace, without its head and commentary (but for bank= and pipe=), and without the name of the first
                processor. "*" stands for a number that nobody would count: of instructions
    says TEXT   a line of the summary                           status N       what `run` ends with, 0 if nothing is said

Usage: claims.py CPSCOPE FILE.txt [NAME...]"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import claimfw
import claimtext
import make
import rebase
import tap
from scene import CPSCOPE

KEYS = ("why", "gens", "use", "alu", "boot", "packet", "me", "me-packet", "processor", "source", "layout", "stream", "script", "options",
        "events", "expect", "says", "status")
CHIP = {"a5xx": "gpu 530", "a6xx": "gpu 630", "a6xx-a660": "gpu 660", "a7xx": "gpu 740", "a7xx-a750": "chip 0x43051401",
        "a8xx": "chip 0x44050a31"}
FIRST = {"a5xx": "pfp"}  # the processor whose name is left out; sqe elsewhere
# How large the immediate of a second operand may be: 12 bits for shifts from a7xx on (afuc-isa.md 1).
SHIFTS = ("shl", "ushr", "ishr", "rot")
NO_IMMEDIATE = ("msb", "popcount", "setbit")


def operation(step, registers, gen):
    """Code of one step of a row in its forms, and what it gives."""
    text, result = step.split("=")
    name, *operands = text.split()
    values = [int(word, 0) for word in operands if word[0] != "b"]
    bits = [word for word in operands if word[0] == "b"]
    loads = [line for register, value in zip(registers, values) for line in claimfw.load(register, value)]
    target = registers[0] if name == "bfi" else registers[2]
    sources = registers[1:len(values)] if name == "bfi" else registers[:len(values)]
    forms = ["%s %s" % (name, ", ".join([target, *sources, *bits]))]
    wide = 12 if name in SHIFTS and gen in ("a7xx", "a8xx") else 16
    if not bits and name not in NO_IMMEDIATE and values[-1] >> wide == 0:
        forms.append("%s %s" % (name, ", ".join([target, *sources[:-1], "0x%x" % values[-1]])))
    return loads, forms, target, int(result, 0)


def alu_rows(rows, gen):
    """Boot code of an `alu` section, and the values that it writes out."""
    code, values = [], []
    for row in rows:
        steps = [operation(step, ["$%02x" % (2 + 3 * i + k) for k in range(3)], gen) for i, step in enumerate(row.split(";"))]
        for form in range(2):
            if form and all(len(forms) == 1 for _, forms, _, _ in steps):
                continue
            code += [line for loads, _, _, _ in steps for line in loads]
            for _, forms, target, result in steps:
                code += [forms[-1] if form else forms[0], "out " + target]
                values.append(result)
    return code, ["REG 0x%04x 0x%08x ctrl" % (0x8800 + i, value) for i, value in enumerate(values)]


def packets(line):
    """Packets by number as words."""
    words = line.split(" ;")[0].split()
    if words[:1] not in (["pkt4"], ["pkt7"]):
        return line
    words = [one for word in words for one in ([word.split("*")[0]] * int(word.split("*")[1]) if "*" in word else [word])]
    values = [word if word[0] in "@#" else int(word, 0) for word in words[1:]]
    plain = [0 if isinstance(value, str) else value for value in values[1:]]
    size = sum(2 if isinstance(value, str) and value[0] == "@" else 1 for value in values[1:])
    head = (make.type4 if words[0] == "pkt4" else make.type7)(values[0], *[0] * size)[0]
    return ".word 0x%x %s" % (head, " ".join(value if isinstance(value, str) else "0x%x" % plain[i] for i, value in enumerate(values[1:])))


def stream(claim, gen):
    lines = [packets(line) for line in claim.lines("stream", gen)]
    if not any(line.split()[:1] == ["buffer"] for line in lines):
        lines = ["buffer 0x00100000 ring", *("    " + line for line in lines), "ring ring"]
    return "\n".join(["# cpscope-pm4 1", CHIP[claim.text("layout") or gen], *lines, ""])


def events(text, gen):
    """Event lines without commentary and the name of the first processor."""
    found = []
    for line in text.split("\n"):
        if line and line[0] != "#":
            event, _, comment = line.partition(" ;")
            bank = re.search(r" (bank|pipe)=\w+", comment)
            found.append(re.sub("^%s " % FIRST.get(gen, "sqe"), "", event) + (bank.group(0) if bank else ""))
    return found


def run(claim, gen, folder):
    """The trace's events, what was said, the status."""
    boot, written = alu_rows(claim.lines("alu", gen), gen)
    command = [CPSCOPE, "run"]
    if claim.all("script"):
        return (*recorded(claim, [*command, "--engine", gen], "\n".join(["# cpscope-script 1", *claim.lines("script", gen), ""]),
                          os.path.join(folder, "claim.run"), gen), [])
    for i, source in enumerate(claimfw.sources(claim, gen, boot)):
        name = os.path.join(folder, "claim%d" % i)
        make.firmware(CPSCOPE, name, source)
        command += ["--fw", name + ".fw"]
    return (*recorded(claim, command, stream(claim, gen), os.path.join(folder, "claim.pm4"), gen), written)


def recorded(claim, command, text, capture, gen):
    """What a command says of a capture: events, what stderr has, the status."""
    with open(capture, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([*command, capture, "-e", claim.text("events", "default"), "-o", "-", *claim.text("options").split()],
                          capture_output=True, text=True, timeout=120, check=False)
    return events(done.stdout, gen), done.stderr, done.returncode


def same(expected, found):
    """Line by line; a "*" stands for one word."""
    def matches(wanted, line):
        pairs = list(zip(wanted.split(), line.split()))
        return len(wanted.split()) == len(line.split()) and all(a in ("*", b) for a, b in pairs)
    return len(expected) == len(found) and all(matches(a, b) for a, b in zip(expected, found))


class Result:
    """@difference: of the trace, whose @lines may take the place of what was expected; @problem: anything else."""

    def __init__(self, claim, gen):
        self.claim, self.gen, self.problem, self.difference, self.lines = claim, gen, "", "", None
        try:
            with tempfile.TemporaryDirectory() as folder:
                self.check(*run(claim, gen, folder))
        except Exception as error:  # pylint: disable=broad-except
            self.problem = str(error) or repr(error)

    def check(self, found, said, status, written):
        expected = written + [line.split(" ;")[0].rstrip() for line in self.claim.lines("expect", self.gen)]
        if not self.claim.all("expect"):
            expected.append("END done 0 *")
        if not same(expected, found):
            self.lines = found[len(written):] if found[:len(written)] == written else None
            self.difference = "%s\n%s" % (rebase.difference(self.claim.name, "\n".join(expected), "\n".join(found),
                                                            self.lines is not None), said)
        for text in self.claim.all("says"):
            if " ".join(text.words[1:]) not in said and self.gen in (text.lines or [self.gen]):
                self.problem += "\nsaid:\n%s\nexpected: %s" % (said, " ".join(text.words[1:]))
        wanted = int(self.claim.text("status", "0"))
        if status != wanted:
            self.problem += "\nstatus %d, expected %d\n%s" % (status, wanted, said)


def counted(lines, sections):
    """A trace as it is written: how many instructions ran stays out where it was."""
    exact = any(re.match(r"END .* \d+$", line) for section in sections for line in section.lines)
    return lines if exact else [re.sub(r"^(END \S+ \d+) \d+", r"\1 *", line) for line in lines]


def write_confirmed(results):
    """Writes traces that the user has confirmed: one section, which is of all generations or of one. Returns which."""
    written = set()
    last_first = sorted(results, key=lambda result: -result.claim.number)
    for claim in dict.fromkeys(result.claim for result in last_first if result.lines is not None):
        if not rebase.confirmed(claim.name):
            continue
        sections = claim.all("expect")
        found = [counted(result.lines, sections) for result in results if result.claim is claim and result.lines is not None]
        if len(sections) == 1 and all(lines == found[0] for lines in found) and len(found) == len(claim.gens()):
            claimtext.rewrite(claim.path, sections[0], found[0])
            written.add(claim)
        else:
            print("# %s: its generations differ: write its trace by hand" % claim.name)
    return written


def main():
    claims = claimtext.read(sys.argv[2], KEYS)
    wanted = claimtext.named(claims, sys.argv[3:])
    pairs = [(claim, gen) for claim in wanted for gen in claim.gens()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: Result(*pair), pairs))
    tap.finish(results, write_confirmed(results), lambda result: "%s, %s" % (result.claim.name, result.gen))


if __name__ == "__main__":
    main()

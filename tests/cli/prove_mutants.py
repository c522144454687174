#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`prove` is tried with firmware that is known to differ: pairs that an earlier revision called equal, and seeded mutants of real
images, one change each. A false proof is a handler called "same code" or "equal" although execution shows a difference.

Usage: prove_mutants.py CPSCOPE [--count N] [--seed S] [--image NAME] [--known | --no-known] [--execs N]
Prints a line for each case and a table of verdicts by image and kind. Exits 1 on a false proof; needs CPSCOPE_CORPUS."""
import argparse
import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import claimfw
import make
import tap

CORPUS = os.environ.get("CPSCOPE_CORPUS", "")
IMAGES = ("a530_pfp", "a530_pm4", "a680_sqe", "a740_sqe-158", "gen70900_sqe-177", "gen80000_sqe-077")
KINDS = ("swap", "operand", "immediate", "branch", "table", "data", "rename")
PROVEN = ("same code", "equal")
VERDICTS = ("same code", "equal", "equal except for waits", "equal within a bound", "different", "undecided")
MOST_HANDLERS, MOST_CODE = 3, 400  # that one mutant is proved for: a case takes seconds
MOST_USERS, MOST_USED = 8, 1200  # the same of a private register
ALU_REGISTERS = 0b10011
LINE = re.compile(r"^ +(\S.*?) +; ([0-9a-f]{4,5}) ([0-9a-f]{8})")
TARGET = re.compile(r"#(\w+)")
NEVER = 0x17e  # a private register that no image names
PAGE = {"a5": (), "a6": range(0x120, 0x17e), "a7": range(0x140, 0x240), "ge": range(0x140, 0x240)}


class Part:
    """The code of one processor: listing lines by address, and packet handlers."""

    def __init__(self, row):
        self.role, self.start, self.table = row["name"], row["start"], row["table"]
        self.handlers = {packet["id"]: packet["handler"] for packet in row["packet_table"]}
        self.names = {packet["name"]: packet["id"] for packet in row["packet_table"]}
        self.text, self.word, self.labels = {}, {}, {}
        self.reached = {}

    def next_of(self, at):
        """Addresses that the instruction at @at leads to."""
        text = self.text.get(at, "")
        op = text.split()[0] if text else "waitin"
        goal = TARGET.search(text)
        goal = [self.labels[goal.group(1)]] if goal and goal.group(1) in self.labels else []
        if op.startswith(("br", "call", "bl")):
            return [at + 1, at + 2, *goal]
        if op.startswith(("jump", "ret", "iret", "sret", "waitin")):
            return [at + 1, *goal]
        return [at + 1] + goal * (op != "mov")

    def reach(self, start):
        if start not in self.reached:
            seen, todo = set(), [(start, False)]
            while todo:
                at, last = todo.pop()
                if (at, last) in seen or at not in self.text:
                    continue
                seen.add((at, last))
                if last:
                    continue
                follow = self.next_of(at)
                ends = self.text[at].split()[0].startswith(("jump", "ret", "iret", "sret", "waitin"))
                todo += [(to, ends and to == at + 1) for to in follow]
            self.reached[start] = {at for at, _ in seen}
        return self.reached[start]

    def who_reaches(self, ats):
        """The lowest packet of each handler that reaches one of the addresses."""
        first = {}
        for ident, pc in sorted(self.handlers.items()):
            if pc and set(ats) & self.reach(pc):
                first.setdefault(pc, ident)
        return sorted(first.values())


class Image:
    def __init__(self, cpscope, name):
        self.cpscope, self.name = cpscope, name
        self.path = name if os.path.exists(name) else os.path.join(CORPUS, "firmware", name + ".fw")
        data = open(self.path, "rb").read()
        self.words = list(struct.unpack("<%dI" % (len(data) // 4), data))
        row, = json.loads(self.run("info", "--json", self.path).stdout)["files"]
        self.parts = [Part(part) for part in row["processors"]]
        self.read_listing(self.run("disasm", self.path).stdout)
        self.a5xx = row["generation"] == "a5xx"

    def run(self, *args):
        return subprocess.run([self.cpscope, *args], capture_output=True, text=True, timeout=900)

    def read_listing(self, listing):
        parts, labels = iter(self.parts), []
        part = next(parts)
        for line in listing.splitlines():
            if line.startswith(".section"):
                part = next(parts, None)
                if not part:
                    return
            found = LINE.match(line)
            if found:
                at = int(found[2], 16)
                part.text[at], part.word[at] = found[1], int(found[3], 16)
                assert self.words[1 + part.start + at] == part.word[at], (self.name, part.role, line)
                part.labels.update(dict.fromkeys(labels, at))
                labels = []
            elif re.match(r"\w+:$", line):
                labels.append(line[:-1])

    def changed(self, path, part, changes):
        words = list(self.words)
        for at, value in changes.items():
            words[1 + part.start + at] = value & 0xffffffff
        open(path, "wb").write(struct.pack("<%dI" % len(words), *words))
        return path


def prove(image, new, part, idents):
    """The results of some handlers, by packet."""
    names = ["%s:0x%x" % (part.role, ident) for ident in idents]
    done = image.run("prove", "--no-cache", "--json", "--all", "--fw", image.path, "--fw", new, *names)
    assert done.returncode in (0, 1, 4, 5), (done.returncode, done.stderr)
    return json.loads(done.stdout)["handlers"], done.returncode


def execution(image, new, execs, seed):
    """What `fuzz` finds that the two do differently, or None."""
    files = [[path] for path in (image.path, new)]
    if image.a5xx:
        other = os.path.join(CORPUS, "firmware", "a530_pm4.fw" if "pfp" in image.name else "a530_pfp.fw")
        files = [[path, other] if "pfp" in image.name else [other, path] for path in (image.path, new)]
    fw = [word for pair in files for path in pair for word in ("--fw", path)]
    done = image.run("fuzz", *fw, "--oracles", "difference,ending", "--execs", str(execs), "--seed", str(seed), "--json")
    if done.returncode == 3:
        return done.stderr.strip()
    findings = json.loads(done.stdout).get("findings", [])
    return str(findings[0])[:300] if findings else None


# ---- Pairs that were called equal once ----

def renamed(old, new=NEVER):
    """Those that write a private register write another one; those that read it are left."""
    def change(part):
        found = [at for at, text in part.text.items() if text.startswith("cwrite") and part.word[at] & 0xfff == old
                 and part.word[at] >> 21 & 31 == 0]
        assert found, hex(old)
        return {at: part.word[at] & ~0xfff | new for at in found}
    return change


def word(at, old, new):
    def change(part):
        assert part.word[at] == old, (at, part.word[at])
        return {at: new}
    return change


def data_before_waitin(packet):
    """The read of the next header goes in front of the end of the packet."""
    def change(part):
        ends = [at for at in sorted(part.reach(part.handlers[part.names[packet]]))
                if part.text[at] == "waitin" and part.text.get(at + 1) == "mov $01, $data"]
        assert ends, packet
        return {ends[0]: part.word[ends[0] + 1], ends[0] + 1: part.word[ends[0]]}
    return change


KNOWN = [("a", "a680_sqe", 0, "scratch 0x%x" % number, renamed(number), None) for number in (0x137, 0x138, 0x149, 0x153)]
KNOWN += [("b", "a680_sqe", 0, "control 0x%x, which is read by index" % number, renamed(number), None)
          for number in (0x114, 0x115)]
KNOWN += [("c", "a680_sqe", 0, "a data word", word(0x18eb, 0xe28, 0xe29), ["IN_PREEMPT"])]
KNOWN += [("d", name, 0, packet, data_before_waitin(packet), [packet])
          for name, packet in (("a740_sqe-158", "CP_MEM_WRITE"), ("a650_sqe-089", "CP_SET_AMBLE"),
                               ("gen80000_sqe-077", "CP_EVENT_WRITE7"), ("gen80000_sqe-077", "CP_DRAW_INDX"))]

# Handlers of packets 0x61 and 0x62 of a small program; what the first leaves shows in the second.
OPEN = ["call #second", "nop", "mov $05, 0x1", "out $05", "next", "second:", "next"]
MADE = [
    ("e", "a call that stays open against a jump", {0x61: OPEN, 0x62: ["ret", "nop"]},
     {0x61: ["jump #second", *OPEN[1:]], 0x62: ["ret", "nop"]}),
    ("e", "other code behind a call that stays open",
     {0x61: OPEN, 0x62: ["ret", "nop"]},
     {0x61: [*OPEN[:2], "mov $05, 0x2", *OPEN[3:]], 0x62: ["ret", "nop"]}),
    ("f", "(rep) to $usraddr 0 against $addr",
     {0x61: ["mov $addr, 0x8810", "mov $usraddr, 0x0", "(rep)mov $data, $data"]},
     {0x61: ["mov $usraddr, 0x0", "mov $addr, 0x8810", "(rep)mov $data, $data"]}),
    ("f", "(rep) to $usraddr X against $addr X",
     {0x61: ["mov $usraddr, 0x8810", "(rep)mov $data, $data"]}, {0x61: ["mov $addr, 0x8810", "(rep)mov $data, $data"]}),
]


def known_pairs(cpscope, folder):
    """(class, name, image, path of the new revision, part, packets)"""
    for kind, name, number, what, change, packets in KNOWN:
        image = Image(cpscope, name)
        part = image.parts[number]
        changes = change(part)
        new = image.changed(os.path.join(folder, "known.fw"), part, changes)
        idents = [part.names[packet] for packet in packets] if packets else part.who_reaches(changes)
        yield kind, "%s: %s" % (name, what), image, new, part, idents
    for kind, what, *sides in MADE:
        for name, handlers in zip(("made-old", "made-new"), sides):
            make.firmware(cpscope, os.path.join(folder, name), claimfw.skeleton([], handlers, "a6xx"))
        image = Image(cpscope, os.path.join(folder, "made-old.fw"))
        yield kind, "demo: " + what, image, os.path.join(folder, "made-new.fw"), image.parts[0], [0x61]


# ---- Mutants ----

def is_branch(text):
    return text.split()[0].startswith(("br", "jump", "call", "bl", "ret", "iret", "sret", "setsecure"))


def instructions(part):
    return [at for at, text in part.text.items() if not text.startswith("[") and at > 2]


def swap(rng, image, part):
    at = rng.choice(instructions(part))
    a, b = part.text[at], part.text.get(at + 1)
    if not b or b.startswith("[") or is_branch(a) or is_branch(b) or part.word[at] == part.word[at + 1]:
        return None
    return {at: part.word[at + 1], at + 1: part.word[at]}


def operand(rng, image, part):
    at = rng.choice(instructions(part))
    value = part.word[at]
    if value >> 27 == ALU_REGISTERS:
        low = rng.choice((21, 16, 11))
    elif part.text[at].split()[0] in ("cwrite", "cread", "load", "store"):
        low = 16
    else:
        return None
    return {at: value & ~(31 << low) | rng.randrange(2, 12) << low}


def immediate(rng, image, part):
    at = rng.choice(instructions(part))
    text = part.text[at]
    if is_branch(text) or "[" in text or "0x" not in text or text.startswith("nop"):
        return None
    return {at: part.word[at] ^ 1 << rng.randrange(8)}


def branch(rng, image, part):
    at = rng.choice(instructions(part))
    if not part.text[at].startswith(("breq", "brne")):
        return None
    goal = part.word[at] + rng.choice((-3, -2, -1, 1, 2, 3)) & 0xffff
    return {at: part.word[at] & ~0xffff | goal}


def table(rng, image, part):
    ident, other = rng.sample(sorted(part.handlers), 2)
    at = part.table + ident
    return {at: part.handlers[other]}, [ident]


def data(rng, image, part):
    """A word of a table: handlers that reach code that names an address a little in front of it."""
    found = [at for at, text in part.text.items() if text.startswith("[") and at > 2 and at < part.table]
    if not found:
        return None
    at = rng.choice(found)
    named = [place for place in instructions(part) for value in re.findall(r"0x([0-9a-f]{4,5})\b", part.text[place])
             if at - 64 <= int(value, 16) <= at and part.text[place].startswith("mov")]
    idents = part.who_reaches(named) or [ident for name, ident in part.names.items() if name == "IN_PREEMPT"]
    return {at: part.word[at] ^ 1 << rng.randrange(16)}, idents


def rename(rng, image, part):
    """Some accesses of a private register name another one, which is not used or is."""
    uses = collections.defaultdict(list)
    for at in instructions(part):
        if part.text[at].split()[0].split(")")[-1] in ("cwrite", "cread") and part.word[at] >> 21 & 31 == 0:
            uses[part.word[at] & 0xfff].append(at)
    private = [number for number in uses if number in PAGE[image.name[:2]]]
    if not private:
        return None
    number = rng.choice(private)
    others = [n for n in range(min(private), max(private)) if n not in uses] or private
    to = rng.choice(others + [rng.choice(private)])
    chosen = [at for at in uses[number] if rng.random() < 0.7] or uses[number][:1]
    if to == number:
        return None
    # A writer and its readers may each be equal under another name: all that name one of both are proved.
    return {at: part.word[at] & ~0xfff | to for at in chosen}, part.who_reaches(uses[number] + uses.get(to, []))


def mutant(rng, image, kind):
    """(part, changes, packets); of what at most MOST_HANDLERS reach, so that all are proved."""
    make_one = globals()[kind]
    for _ in range(4000):
        part = rng.choice(image.parts)
        made = make_one(rng, image, part)
        changes, idents = made if isinstance(made, tuple) else (made, None)
        if not changes or all(part.word.get(at) == value for at, value in changes.items()):
            continue
        idents = idents if idents is not None else part.who_reaches(changes)
        code = sum(len(part.reach(part.handlers[ident])) for ident in idents)
        handlers, most = (MOST_USERS, MOST_USED) if kind == "rename" else (MOST_HANDLERS, MOST_CODE)
        if 0 < len(idents) <= handlers and (code <= most or kind == "data"):
            return part, changes, idents
    return None


class Counts:
    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)

    def add(self, image, kind, column):
        self.rows[image, kind][column] += 1
        self.rows["all", ""][column] += 1

    def show(self):
        columns = [*VERDICTS, "refused", "FALSE PROOF"]
        print("# | image | kind | mutants | " + " | ".join(columns) + " |")
        for (image, kind), row in sorted(self.rows.items(), key=lambda item: (item[0][0] == "all", item[0])):
            total = sum(n for column, n in row.items() if column != "FALSE PROOF")
            print("# | %s | %s | %d | %s |" % (image, kind, total, " | ".join(str(row[c]) for c in columns)))


def worst(handlers):
    return max((handler["verdict"] for handler in handlers), key=VERDICTS.index)


def describe(part, changes):
    return ", ".join("%s %04x %s -> %08x" % (part.role, at, part.text.get(at, "table"), value)
                     for at, value in sorted(changes.items())[:3])


def one_mutant(image, kind, rng, options, folder, counts):
    """None, or how prove is wrong."""
    made = mutant(rng, image, kind)
    if not made:
        counts.rows[image.name, kind]["refused"] += 0
        return None
    part, changes, idents = made
    new = image.changed(os.path.join(folder, "mutant.fw"), part, changes)
    try:
        handlers, status = prove(image, new, part, idents)
    except AssertionError as error:  # the image does not boot, or is no firmware any more
        counts.add(image.name, kind, "refused")
        print("# %s %s %s: %s" % (image.name, kind, describe(part, changes), error))
        return None
    verdict = worst(handlers)
    counts.add(image.name, kind, verdict)
    print("# %s %s %s: %s" % (image.name, kind, describe(part, changes), verdict), flush=True)
    shown = "status 5" if status == 5 else verdict in PROVEN and execution(image, new, options.execs, options.seed)
    if not shown:
        return None
    counts.add(image.name, kind, "FALSE PROOF")
    return "%s %s %s: %s, but %s" % (image.name, kind, describe(part, changes), verdict, shown)


def mutants(options, folder, counts):
    wrong = []
    names = [name for name in IMAGES if options.image in (None, name)]
    images = {name: Image(options.cpscope, name) for name in names}
    for number in range(options.count):
        name = names[number % len(names)]
        kind = KINDS[number // len(names) % len(KINDS)]
        rng = random.Random("%d %s %s %d" % (options.seed, name, kind, number))
        fault = one_mutant(images[name], kind, rng, options, folder, counts)
        if fault:
            wrong.append(fault)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cpscope", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--image")
    parser.add_argument("--execs", type=int, default=2000)
    parser.add_argument("--known", action="store_true", help="known pairs only")
    parser.add_argument("--no-known", action="store_true", help="mutants only")
    options = parser.parse_args()
    if not CORPUS:
        tap.skip("known pairs and mutants of real firmware", "CPSCOPE_CORPUS is not set")
        return tap.plan()
    counts, bad = Counts(), 0
    with tempfile.TemporaryDirectory() as folder:
        pairs = [] if options.no_known else known_pairs(options.cpscope, folder)
        for kind, name, image, new, part, idents in pairs:
            handlers, status = prove(image, new, part, idents)
            wrong = [h["packets"][0] for h in handlers if h["verdict"] in PROVEN]
            bad += bool(wrong or status == 5)
            tap.report("class %s, %s is not called equal" % (kind, name), not wrong and status != 5,
                       "status %d, proven: %s" % (status, wrong))
        if not options.known:
            wrong = mutants(options, folder, counts)
            counts.show()
            tap.report("no mutant of %d that differs is called equal" % options.count, not wrong, "\n".join(wrong))
            bad += bool(wrong)
    tap.plan()
    sys.exit(bad > 0)


main()

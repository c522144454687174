# SPDX-License-Identifier: MIT
"""What commands.py runs: arguments for every subcommand, with files that are damaged more or less."""
import os
import re

# What stands in front of the seeds of a target, and how many bytes are the target's own.
KINDS = {
    "rd": ("rd", b"", 0), "devcore": ("devcore", b"---\n", 0), "snapshot": ("snapshot", b"\2\0\x4d\x50", 0), "pm4": ("pm4text", b"# cpscope-pm4 1\n", 0),
    "fw": ("fw", b"", 1), "afuc": ("asm", b"", 1), "elf": ("elf", b"", 0), "mbn": ("mbn", b"", 0),
    "trace": ("trace", b"", 1), "cpt": ("cptfile", b"", 0), "manifest": ("manifest", b"", 0),
    "results": ("results", b"", 0), "run": ("script", b"# cpscope-script 1\n", 2), "dap": ("dap", b"", 1), "lsp": ("lsp", b"", 1),
    "xml": ("rnn", b"", 0), "mask": ("mask", b"", 0), "symbols": ("symbols", b"", 0),
    "counts": ("counts", b"", 0),
}
DEBUGGER = ["b CP_NOP", "c", "s 5", "n", "fin", "rs 3", "rc", "p $02 + [0x100000]", "x/4 0x100000", "info registers",
            "info packet", "bt", "l", "log 5", "w PC_DRAWCALL_CNTL if value > 3", "who $02", "set $02 = 0x5", "goto 40",
            "patch CP_NOP: nop", "inject CP_NOP 0x1", "branch taken", "tb pkt:CP_MEM_WRITE@ib1", "delete", "ev 20",
            "info break", "core sqe", "ib", "submit", "help break", "cond 1 $02 == 1", "ignore 1 2"]
OPTIONS = ["--events=all", "--events=reg,pipe", "--json", "--to=cpt", "--to=jsonl", "--to=perfetto", "--to=vcd", "--to=sqlite",
           "--gen=a6xx", "--gen=a7xx", "--policy=waits=stop", "--policy=fb-delay=100 unset=clear", "--submit=0",
           "--submit=7",
           "--waits=stop", "--prefetch=on", "--visibility=all", "--inject=preempt@0:1", "--threads=0", "--threads=3",
           "--engine=hwsq", "--engine=seq", "--engine=pfifo", "--engine=vp1", "--chip=g80", "--seq-abi=old", "--names=envytools",
           "--mask=reg:0x980-0x983", "--demo", "--jobs=2", "--shard=1/2", "--no-cache", "-u", "-g"]
TOPICS = ["policy", "hardware", "man", "bash", "zsh", "fish", "run", "step", "convert", "unknown"]
USUAL = {"fw": 0, "results": 4}  # the demo, results of a whole run
SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts")
SYMBOLS = [b"0x0003 first\n4 second\nbv:0x0010 wait_for_br  # dword 0x10 of BV\n", b"# none\n"]
EDGES = [0, 1, 4, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff]


def changed(rng, data, other):
    """Flips, cuts, words, numbers in texts, pieces of itself and of another file."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(7)
        if how == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            word = rng.choice(EDGES).to_bytes(4, "little")
            data[at & ~3:(at & ~3) + 4] = word
        elif how == 2:
            del data[at:at + rng.randrange(1, 40)]
        elif how == 3:
            piece = data[at:at + rng.randrange(200)]
            data[rng.randrange(len(data) + 1):0] = piece
        elif how == 4:
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start:start + rng.randrange(200)]
        elif how == 5:
            numbers = list(re.finditer(rb"0x[0-9a-f]+|\d+", bytes(data[at:at + 300])))
            if numbers:
                found = rng.choice(numbers)
                data[at + found.start():at + found.end()] = b"%d" % (rng.choice(EDGES) + rng.randrange(-1, 2))
        elif rng.randrange(4) == 0:
            del data[at:]
    return bytes(data)


class Scene:
    """One run: its files, its arguments, what it may leave behind."""

    def __init__(self, rng, seeds, folder):
        self.rng, self.seeds, self.folder, self.number = rng, seeds, folder, 0
        self.input, self.allowed, self.partial = b"", set(), False

    def write(self, data, name):
        path = os.path.join(self.folder, "in", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def bytes(self, kind):
        """A file of a kind, more often damaged than not; now and then of another kind."""
        kind = self.rng.choice(list(KINDS)) if self.rng.randrange(40) == 0 else kind
        target, head, own = KINDS[kind]
        files = self.seeds[target]
        # What runs on the built-in firmware, more often than not.
        if kind in USUAL and len(files) > 4 and self.rng.randrange(3):
            files = [files[USUAL[kind]]]
        data = self.rng.choice(files)[own:]
        if self.rng.randrange(5) < 2:
            data = changed(self.rng, data, self.rng.choice(files))
            data = data[:len(data) & ~3] if kind == "fw" else data
        return head + data

    def file(self, *kinds, tail=b""):
        kind = self.rng.choice(kinds)
        self.number += 1
        return self.write(self.bytes(kind) + tail, "%d.%s" % (self.number, kind))

    def out(self, *ends, partial=False):
        """@partial: what stood in front of the damage may be written."""
        name = "out" + self.rng.choice(ends or ("",))
        self.allowed |= {name, name + ".asm"}
        self.partial |= partial
        return os.path.join(self.folder, "out", name)

    def some(self, most=2):
        return [self.rng.choice(OPTIONS) for _ in range(most) if self.rng.randrange(5) == 0]

    def script(self):
        """A run file, most often with its engine."""
        path = self.file("run")
        with open(path, "rb") as file:
            engine = re.search(rb"engine (hwsq|seq|vp1|pfifo)", file.read())
        if not engine or self.rng.randrange(10) == 0:
            return ["--engine", self.rng.choice(("hwsq", "seq", "vp1", "pfifo")), path]
        return ["--engine", engine.group(1).decode(), path]

    def symbols(self):
        return ["--symbols", self.file("elf", "symbols")] if self.rng.randrange(3) == 0 else []

    def rnn(self):
        if self.rng.randrange(6):
            return []
        path = self.write(self.bytes("xml"), "rnn/a6xx.xml")
        return ["--rnn", os.path.dirname(path)]


def run(s):
    if s.rng.randrange(3) == 0:
        s.partial = True
        return ["run", *s.script(), "-o", s.out(partial=True), *s.some()]
    firmware = ["--demo"] if s.rng.randrange(2) else ["--fw", s.file("fw", "elf")]
    return ["run", *firmware, s.file("rd", "devcore", "snapshot", "pm4"), "-o", s.out("", ".cpt", ".jsonl", ".json", ".vcd", ".db", partial=True),
            *s.rnn(), *s.some(), "--limit", "100k"]


def step(s):
    lines = [changed(s.rng, line.encode(), b"1 $02 0x5") if s.rng.randrange(4) == 0 else line.encode()
             for line in s.rng.choices(DEBUGGER, k=12)]
    if s.rng.randrange(3) == 0:
        s.input = s.bytes("dap")
        return ["step", "--dap", *(["--demo"] if s.rng.randrange(2) else [])]
    script = s.write(b"\n".join(line for line in lines if b"source" not in line) + b"\n", "script")
    if s.rng.randrange(4) == 0:
        return ["step", *s.script(), "-x", script]
    firmware = ["--demo"] if s.rng.randrange(2) else ["--fw", s.file("fw", "elf"), *s.symbols()]
    return ["step", *firmware, s.file("rd", "devcore", "snapshot", "pm4"), "-x", script, *s.rnn()]


def lsp(s):
    s.input = s.bytes("lsp")
    return ["lsp", *(["--gen", "a7xx"] if s.rng.randrange(2) else [])]


def check(s):
    return ["check", s.file("trace", "cpt"), "--search", SCRIPTS, "--limit", "100k", *s.some(1)]


def diff(s):
    if s.rng.randrange(2):
        mask = s.bytes("mask").decode("latin1").replace("\0", "")
        return ["diff", s.file("trace", "cpt"), s.file("trace", "cpt"), "--mask", mask, *s.rnn(), *s.some(1)]
    return ["diff", "--fw", s.file("fw"), "--fw", s.file("fw", "elf"), s.file("rd", "pm4"), "--limit", "100k", *s.some(1)]


def reduce(s):
    firmware = [word for _ in range(s.rng.choice((1, 1, 1, 2, 2, 3))) for word in ("--fw", s.file("fw", "fw", "fw", "elf"))]
    s.allowed |= {"cache"}
    kept = ["--no-cache"] if s.rng.randrange(2) else []
    bad = b"\n.word 0xdeadd00d 1 2 3\nsubmit frame\n" if s.rng.randrange(2) else b""
    capture = s.file("pm4", tail=bad) if bad else s.file("rd", "devcore", "pm4")
    return ["reduce", *firmware, capture, "-o", s.out("", ".rd", ".rd.gz", ".pm4"), "--limit", "100k", *kept, *s.some(1)]


def regress(s):
    s.allowed |= {"out/" + name for name in ("results.json", "results.xml", "results.tap", "index.html")}
    if s.rng.randrange(2):
        for name in ("a", "b"):
            s.write(s.bytes("results"), name + "/results.json")
        folders = [os.path.join(s.folder, "in", name) for name in "ab"]
        return ["regress", "--merge", *folders, "-o", s.out(), *s.some(1)]
    for name in ("demo.fw", "pfp.fw", "me.fw"):
        s.write(s.bytes("fw"), name)
    for name in ("0", "1", "a.rd", "b.run"):
        s.write(s.bytes("pm4" if name != "b.run" else "run"), name)
    manifest = s.file("manifest", tail=b"\nlimit 100k\n")
    return ["regress", manifest, "-o", s.out(), "--no-cache", "--jobs", s.rng.choice("12")]


def asm(s):
    return ["asm", s.file("afuc", "elf"), "-o", s.out(), *s.some(1)]


def disasm(s):
    return ["disasm", s.file("fw", "elf", "run"), "-o", s.out(), *s.symbols(), *s.rnn(), *s.some(1)]


def info(s):
    return ["info", *[s.file(*KINDS) for _ in range(s.rng.randrange(1, 4))], *s.some(1)]


def convert(s):
    if s.rng.randrange(3) == 0:
        return ["convert", s.file("rd", "devcore", "snapshot", "pm4"), "-o", s.out(".rd", partial=True)]
    out = s.out("", ".cpt", ".jsonl", ".json", ".vcd", ".db", partial=True)
    return ["convert", s.file("trace", "cpt"), "-o", out, *s.rnn(), *s.some(1)]


def cover(s):
    if s.rng.randrange(3) == 0:
        return ["cover", *s.script(), "-o", s.out()]
    counts = ["--counts", s.file("counts")] if s.rng.randrange(2) else []
    return ["cover", "--fw", s.file("fw"), s.file("rd", "pm4"), "-o", s.out(), "--limit", "100k", *counts]


def why(s):
    asked = ["0x8820", "event:%d" % s.rng.randrange(200), "mem:0x100000@event:9", "RB_X@draw:0", changed(s.rng, b"event:12", b"1@:x").replace(
        b"\0", b"").decode("latin1")]
    return ["why", "--fw", s.file("fw"), s.file("rd", "pm4", "devcore"), s.rng.choice(asked), "--limit", "100k", *(["--json"] if s.rng.randrange(2) else [])]


def decode(s):
    firmware = s.rng.choice(((), ("--demo",), ("--fw", s.file("fw"))))
    some = [("--packet", "CP_*,0x10"), ("--register", changed(s.rng, b"RB_*.A=1,0x8800..0x88ff", b".=:*0x").replace(b"\0", b"").decode("latin1")),
            ("--draw", s.rng.choice(("0", "1..", "..2"))), ("--level", "ib1,sds"), ("--submit", "0"), ("--summary",), ("--json",), ("--all",),
            ("--color", "always")]
    chosen = [word for option in s.rng.sample(some, s.rng.randrange(4)) for word in option]
    return ["decode", *firmware, s.file("rd", "pm4", "devcore", "snapshot"), "--limit", "20k", *s.rnn(), *chosen]


def profile(s):
    firmware = ["--demo"] if s.rng.randrange(2) else ["--fw", s.file("fw", "elf"), *s.symbols()]
    form = ["--to", s.rng.choice(("table", "folded", "callgrind"))] if s.rng.randrange(2) else []
    return ["profile", *firmware, s.file("rd", "devcore", "snapshot", "pm4"), "-o", s.out(partial=True), *form, *s.rnn(), *s.some(1),
            "--limit", "100k"]


def state(s):
    firmware = ["--fw", s.file("fw", "elf")] if s.rng.randrange(2) else ["--demo"]
    more = ["--fw", s.file("fw")] if firmware[0] == "--fw" and s.rng.randrange(3) == 0 else []
    draws = s.rng.choice(([], ["--draw", "0"], ["--draw", str(s.rng.randrange(5))], ["--draw", "0", "--against", "1"],
                          ["--draw", changed(s.rng, b"1", b"-9x").replace(b"\0", b"").decode("latin1")]))
    processor = ["--processor", s.rng.choice(("sqe", "bv", "me", "x"))] if s.rng.randrange(4) == 0 else []
    form = s.rng.choice(([], ["--json"], ["--changed"], ["--all"]))
    return ["state", *firmware, *more, s.file("rd", "devcore", "snapshot", "pm4"), *draws, *processor, *form, *s.rnn(), *s.some(1),
            "--limit", "100k"]


def help_(s):
    word = s.rng.choice(TOPICS).encode()
    if s.rng.randrange(3) == 0:
        word = changed(s.rng, word, b"x")
    return ["help", word.replace(b"\0", b"").decode("latin1"), *s.some(1)]


COMMANDS = {"run": run, "step": step, "check": check, "diff": diff, "reduce": reduce, "regress": regress, "asm": asm, "lsp": lsp, "disasm": disasm,
            "info": info, "convert": convert, "cover": cover, "why": why, "decode": decode, "state": state, "profile": profile, "help": help_}

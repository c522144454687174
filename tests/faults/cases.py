# SPDX-License-Identifier: MIT
"""The inputs that the fault tests run on, and the commands: every one of them, with every form of input
and output that it has."""
import json
import os
import shutil
import subprocess

import hang_scene
import make as maker
from faults import Case
from make import pm4
from seedtext import LSP
from tree import DEMO, SCRIPTS

PM4 = pm4("reg 0x8a00 0x11 0x22", "CP_SCRATCH_WRITE 0x00200000 0xaa 0xbb", "CP_SCRATCH_TO_REG 0x01208a00", "CP_EVENT_WRITE 0x31",
          "CP_MEM_WRITE 0x00200100 0x0 0x1234", "CP_INDIRECT_BUFFER @inner #inner", "buffer 0x00110000 inner",
          "reg 0x8810 0x1 0x2 0x3", "CP_WAIT_FOR_IDLE")
DRAW = "CP_DRAW_INDX_OFFSET 0x84 0x1 0x3"
# Commands of the debugger.
DEBUGGER = """b CP_EVENT_WRITE
w RB_UNKNOWN_8A00
c
info packet
info registers
bt
l
who RB_UNKNOWN_8A00
why RB_UNKNOWN_8A00
s 3
rs 2
x/4 0x100000
set $02 = 0x1234
p $02
patch $pc+2: mov $02, 0x7
display $02
display/2i $pc
info registers $02 rem
info draw
info symbol 0x45
info break
commands 1
p draw
end
ptype RB_CCU_CNTL
ptype CP_EVENT_WRITE
x/2xg 0x100000
p payload[0] + count + iova
compare
advance CP_SET_DRAW_STATE
frame
list CP_NOP 3
info break
core
event 20
log 3
c
"""
SCRIPT_DEBUGGER = b"""s
s
rs
info break
list
display/i $pc
info registers
bt
l
c
"""
ENGINES = {"hwsq": ("reclock", []), "seq": ("pause", []), "vp1": ("vp1", []), "pfifo": ("pfifo-nv1", [])}


def wire(*requests):
    """What a debug adapter is sent."""
    text = b""
    for seq, (command, arguments) in enumerate(requests, 1):
        body = json.dumps({"seq": seq, "type": "request", "command": command, "arguments": arguments}).encode()
        text += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return text


RNN = """<?xml version="1.0" encoding="UTF-8"?>
<database xmlns="http://nouveau.freedesktop.org/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<domain name="A6XX" width="32">
  <reg32 offset="0x8a00" name="OUR_FIRST"><bitfield name="LOW" low="0" high="7"/><bitfield name="REST" low="8" high="31"/></reg32>
  <array offset="0x8810" name="OUR_ARRAY" stride="1" length="3"><reg32 offset="0" name="ITEM"/></array>
</domain>
</database>
"""


def dump():
    """A hang, as the kernel writes it down: the ring from the boot, and a buffer whose second packet is none."""
    buffer = maker.type7(0x10, 1, 2) + [0xdeadd00d]
    ring = maker.type7(0x48, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0) + maker.type7(0x3f, 0x100000, 0, len(buffer))
    return "".join(["---\nkernel: 6.1\nmodule: msm\ntime: 1.5\ncomm: foo\nrevision: 630 (6.3.0.2)\nringbuffer:\n",
                    "  - id: 0\n    iova: 0x0000000001000000\n    last-fence: 7\n    retired-fence: 6\n    rptr: 9\n",
                    "    wptr: %d\n    size: 32768\n    data: !!ascii85 |\n     %s\n" % (len(ring), maker.encode85(ring)),
                    "bos:\n  - iova: 0x100000\n    size: 4096\n    data: !!ascii85 |\n     %s\n" % maker.encode85(buffer),
                    "registers:\n  - { offset: 0x2000, value: 0x00001000 }\n",
                    "indexed-registers:\n  - regs-name: CP_SQE_STAT\n    dwords: 51\n    data: !!ascii85 |\n      ",
                    maker.encode85([0xc5, 0xdeadd00d] + [0] * 34 + [0xdeadd00d] + [0] * 14) + "\n"])


DAP = wire(("initialize", {"adapterID": "cpscope"}), ("launch", {"demo": True}),
           ("setFunctionBreakpoints", {"breakpoints": [{"name": "CP_EVENT_WRITE"}]}),
           ("threads", {}), ("stackTrace", {"threadId": 1}), ("scopes", {"frameId": 1}),
           ("disassemble", {"memoryReference": "0x20", "instructionOffset": 0, "instructionCount": 8}),
           ("evaluate", {"expression": "$02 + 1"}), ("configurationDone", {}),
           ("variables", {"variablesReference": 1}), ("variables", {"variablesReference": 5}), ("stepIn", {"threadId": 1}),
           ("next", {"threadId": 1}), ("stepBack", {"threadId": 1}),
           ("setInstructionBreakpoints", {"breakpoints": [{"instructionReference": "0x20"}]}),
           ("setBreakpoints", {"source": {"path": "old.afuc"}, "breakpoints": [{"line": 20}]}),
           ("dataBreakpointInfo", {"variablesReference": 1, "name": "$02"}),
           ("setDataBreakpoints", {"breakpoints": [{"dataId": "$02"}]}),
           ("readMemory", {"memoryReference": "0x100000", "count": 16}),
           ("evaluate", {"expression": "info packet", "context": "repl"}),
           ("setVariable", {"variablesReference": 1, "name": "$02", "value": "5"}), ("disconnect", {}))

CASE = PM4.replace("\n", """
;@ flaw        none
;@ generations a6xx
;@ needs       reg 0x8810 *
;@ never       reg 0x8810 0x53c06000
;@ evidence    none
""", 1)


class Scene:
    """A folder of inputs."""
    def __init__(self, cpscope, folder):
        self.cpscope, self.folder = cpscope, folder
        self.make()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def run(self, *args, status=0):
        done = subprocess.run([self.cpscope, *args], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == status, (args, done)
        return done.stdout

    def make(self):
        self.write("a.pm4", PM4)
        self.run("convert", "a.pm4", "-o", "a.rd")
        self.write("draws.pm4", pm4("reg 0x8820 0x7e7 0x10001", DRAW, "CP_EVENT_WRITE 0x1e", "reg 0x8821 0x7", "CP_EVENT_WRITE 0x31", DRAW))
        self.run("convert", "draws.pm4", "-o", "draws.rd")
        self.run("run", "--demo", "draws.pm4", "-o", "draws.cpt", "-e", "all")
        maker.revisions(self.cpscope, DEMO, self.folder, *maker.EVENT_CMD)
        self.run("asm", "-g", "old.afuc", "-o", "old.elf")
        for name in ("old", "new"):
            for form in maker.FORMS:
                self.run("run", "--fw", name + ".fw", "a.pm4", "-o", "%s.%s" % (name, form), "-e", "all")
        self.run("run", "--fw", "old.fw", "a.pm4", "-o", "golden.cpt")
        self.run("run", "--fw", "old.fw", "a.pm4", "-o", "golden.trace")
        self.write("stale.trace", open(self.path("golden.trace")).read().replace("0x00000011", "0x00000012"))
        self.run("asm", "-g", "new.afuc", "-o", "new.elf")
        self.write("debug.txt", DEBUGGER)
        os.mkdir(self.path("cases"))
        self.write("cases/one.pm4", CASE)
        self.write("hang.devcore", dump())
        maker.write_snapshot(self.cpscope, self.path("hang.devcore"), self.path("hang.snapshot"))
        self.write("code.devcore", hang_scene.code_dump(self.path("new.fw"), range(64, 72)))
        os.makedirs(self.path("mixed/deeper"))
        for name in ("mixed/old.fw", "mixed/deeper/new.fw"):
            shutil.copy(self.path(os.path.basename(name)), self.path(name))
        for name in ("mixed/a.rd", "mixed/code.devcore"):
            shutil.copy(self.path(os.path.basename(name)), self.path(name))
        self.write("mixed/notes.txt", "nothing\n")
        os.mkdir(self.path("rnn"))
        self.write("rnn/a6xx.xml", RNN)
        self.write("manifest.txt", "# cpscope-manifest 1\nfirmware old old.fw\nfirmware new new.fw\n"
                   "baseline old\ncapture a.pm4\ncapture b.pm4\n")
        self.write("b.pm4", pm4("reg 0x8a01 0x5", maker.EVENT))
        self.write("bad.pm4", PM4.replace("    reg 0x8810", "    .word 0xdeadd00d\n    reg 0x8810"))
        self.run("cover", "--fw", "old.fw", "a.pm4", "-o", "counts.info")
        for shard in (1, 2):
            self.run("regress", "manifest.txt", "-o", "shard%d" % shard, "--no-cache", "--shard", "%d/2" % shard,
                     status=1 if self.differs(shard) else 0)

    def differs(self, shard):
        done = subprocess.run([self.cpscope, "regress", "manifest.txt", "-o", "probe", "--no-cache", "--shard",
                               "%d/2" % shard], cwd=self.folder, capture_output=True, check=False)
        return done.returncode


def run_cases():
    fw = ["--fw", "@old.fw", "@a.pm4"]
    yield Case("run, text", ["run", *fw, "-o", "o.trace", "-e", "all"])
    yield Case("run, text to stdout", ["run", *fw, "-o", "-"])
    yield Case("run, .cpt", ["run", *fw, "-o", "o.cpt", "-e", "all", "--threads", "1"])
    yield Case("run, .cpt by threads", ["run", *fw, "-o", "o.cpt", "-e", "all"])
    yield Case("run, editors may attach", ["run", *fw, "-o", "o.trace", "--listen=s.sock"])
    yield Case("run, JSON Lines", ["run", *fw, "-o", "o.jsonl"])
    yield Case("run, perfetto", ["run", *fw, "-o", "o.json"])
    yield Case("run, vcd", ["run", *fw, "-o", "o.vcd"])
    yield Case("run, a database", ["run", *fw, "-o", "o.db", "-e", "all"])
    yield Case("run, JSON summary", ["run", *fw, "--json"])
    yield Case("run, trace and summary", ["run", *fw, "--json", "-o", "o.trace"])
    yield Case("run, .rd", ["run", "--fw", "@old.elf", "@a.rd", "-o", "o.trace"])
    yield Case("run, a hang", ["run", "--fw", "@old.fw", "@hang.devcore", "-o", "o.trace"])
    yield Case("run, a hang, JSON summary", ["run", "--fw", "@old.fw", "@hang.devcore", "--json"])
    yield Case("run, names of XML", ["run", *fw, "-o", "o.trace", "--rnn", "@rnn"])
    yield Case("run, interrupts", ["run", *fw, "-o", "o.trace", "--inject", "preempt@0:3,gmu@0:4", "--policy", "waits=stop"])


def info_cases():
    files = ["old.fw", "old.elf", "a.pm4", "a.rd", "old.cpt", "old.trace", "old.jsonl"]
    yield Case("info hang.devcore", ["info", "--fw", "@old.fw", "@hang.devcore"])
    yield Case("info --json hang.devcore", ["info", "--json", "--fw", "@old.fw", "@hang.devcore"])
    yield Case("info hang.snapshot", ["info", "@hang.snapshot"])
    for file in files:
        yield Case("info " + file, ["info", "@" + file])
        yield Case("info --json " + file, ["info", "--json", "@" + file])


def trace_cases():
    for form in (*maker.FORMS, "json", "vcd", "db"):
        yield Case("convert .cpt to ." + form, ["convert", "@old.cpt", "-o", "o." + form])
    for form in ("trace", "jsonl"):
        yield Case("convert .%s to .cpt" % form, ["convert", "@old." + form, "-o", "o.cpt"])
    yield Case("convert draws to .db", ["convert", "@draws.cpt", "-o", "o.db"])
    yield Case("convert a capture", ["convert", "@a.pm4", "-o", "o.rd"])
    yield Case("diff traces", ["diff", "@old.trace", "@new.cpt"])
    yield Case("diff traces, JSON", ["diff", "--json", "@old.jsonl", "@new.trace"])
    yield Case("diff traces, masked", ["diff", "@old.trace", "@new.trace", "-m", "reg:0x8a00-0x8a01,pkt:CP_NOP"])
    yield Case("diff firmware", ["diff", "--fw", "@old.fw", "--fw", "@new.fw", "@a.pm4", "@b.pm4"])
    yield Case("diff firmware, JSON", ["diff", "--json", "--fw", "@old.fw", "--fw", "@new.fw", "@a.pm4", "@b.pm4"])
    yield Case("view", ["view", "--fw", "@old.fw", "@a.pm4", "-o", "o.html"])
    yield Case("view of draws", ["view", "--fw", "@old.fw", "@draws.pm4", "-o", "o.html"])
    yield Case("view, two revisions", ["view", "--fw", "@old.fw", "--fw", "@new.fw", "@a.pm4", "-o", "o.html"])
    yield Case("check", ["check", "--search", "@", "@golden.cpt", "@golden.trace"], several=True)
    yield Case("check, JSON", ["check", "--json", "--search", "@", "@golden.cpt", "@stale.trace"], several=True)
    yield Case("check, rewriting", ["check", "-u", "--search", "@", "stale.trace"], copies=("stale.trace",))


def why_cases():
    yield Case("why", ["why", "--fw", "@old.fw", "@a.rd", "0x8820", "event:3", "-"], stdin=b"event:9\nmem:0x100000\n")
    yield Case("why, JSON", ["why", "--json", "--fw", "@old.fw", "@a.pm4", "-"], stdin=b"event:1\nevent:7\n0x8820@event:40\n")


def decode_cases():
    yield Case("decode", ["decode", "@a.rd"])
    yield Case("decode to a file", ["decode", "@a.pm4", "-o", "o.txt"])
    yield Case("decode, JSON", ["decode", "--json", "@a.rd", "--register", "0x8820"])
    yield Case("decode, summary", ["decode", "--summary", "@a.rd"])
    yield Case("decode a dump", ["decode", "@hang.devcore"])
    yield Case("decode with firmware", ["decode", "--fw", "@old.fw", "@a.rd"])


def state_cases():
    yield Case("state", ["state", "--fw", "@old.fw", "@draws.rd"])
    yield Case("state, the list as JSON", ["state", "--fw", "@old.fw", "@draws.pm4", "--json"])
    yield Case("state, JSON", ["state", "--fw", "@old.fw", "@draws.rd", "--draw", "2", "--json"])
    yield Case("state, two draws", ["state", "--fw", "@old.fw", "@draws.pm4", "--draw", "0", "--against", "2"])
    yield Case("state, two revisions", ["state", "--fw", "@old.fw", "--fw", "@new.fw", "@draws.pm4", "--draw", "1"])


def firmware_cases():
    yield Case("cover", ["cover", "--fw", "@old.fw", "@a.pm4", "@b.pm4"])
    yield Case("cover, what did not run", ["cover", "--fw", "@old.fw", "@a.pm4", "--unreached"])
    yield Case("cover, lcov", ["cover", "--fw", "@old.fw", "@a.pm4", "--counts", "@counts.info", "-o", "o.info"])
    yield Case("profile", ["profile", "--fw", "@old.fw", "@a.pm4"])
    yield Case("profile, JSON", ["profile", "--fw", "@old.elf", "@a.pm4", "--json"])
    yield Case("profile, folded", ["profile", "--fw", "@old.fw", "@a.rd", "--to", "folded"])
    yield Case("profile, callgrind", ["profile", "--fw", "@old.elf", "@a.pm4", "--to", "callgrind", "-o", "callgrind.out.1"])
    yield Case("disasm", ["disasm", "@old.fw"])
    yield Case("disasm, of a hang", ["disasm", "--from", "@hang.devcore", "@old.fw"])
    yield Case("disasm, names of XML", ["disasm", "@old.fw", "--rnn", "@rnn"])
    yield Case("disasm into a file", ["disasm", "@old.elf", "--symbols", "@old.elf", "-o", "o.asm"])
    yield Case("asm", ["asm", "@old.afuc", "-o", "o.fw"])
    yield Case("asm -g", ["asm", "-g", "@old.afuc", "-o", "o.elf"])
    yield Case("asm of ELF", ["asm", "@old.elf", "-o", "o.fw"])
    yield Case("step, a script", ["step", "--fw", "@old.fw", "@a.pm4", "-x", "@debug.txt"])
    yield Case("step, stdin", ["step", "--demo"], stdin=DEBUGGER.encode())
    yield Case("step, debug adapter", ["step", "--dap"], stdin=DAP, session=True)
    for name, stream in LSP.items():
        yield Case("lsp, " + name, ["lsp"], stdin=stream, session=True)
    yield Case("step, attach to no run", ["step", "--dap"], session=True,
               stdin=wire(("initialize", {"adapterID": "cpscope"}), ("attach", {"socket": "s.sock"}), ("disconnect", {})))


def audit_cases():
    files = ["@old.fw", "@new.elf", "@hang.devcore", "@a.rd"]
    yield Case("audit", ["audit", *files], survey=True)
    yield Case("audit, JSON", ["audit", "--json", *files, "--known", "@new.fw", "--cases", "@cases"], survey=True)
    yield Case("audit, a folder into a folder", ["audit", "@mixed", "-o", "report", "--cases", "@cases"], survey=True)
    yield Case("audit, by threads", ["audit", "@mixed", "--jobs", "3", "--cases", "@cases"], survey=True)
    yield Case("audit, a hang's firmware", ["audit", "@code.devcore", "--known", "@old.fw", "--cases", "@cases"], survey=True)


def reduce_cases():
    yield Case("reduce", ["reduce", "--fw", "@old.fw", "@bad.pm4", "-o", "o.pm4", "--no-cache"])
    yield Case("reduce, cold cache", ["reduce", "--fw", "@old.fw", "@bad.pm4", "-o", "o.rd", "--cache", "cache"], cache="cache/")
    yield Case("reduce, a hang", ["reduce", "--fw", "@old.fw", "@hang.devcore", "-o", "o.pm4", "--no-cache"])
    yield Case("reduce, two revisions", ["reduce", "--fw", "@old.fw", "--fw", "@new.fw", "@b.pm4", "-o", "-", "--no-cache"])


def fuzz_cases():
    yield Case("fuzz", ["fuzz", "--fw", "@old.fw", "@b.pm4", "--execs", "20", "--jobs", "1", "--json"])
    yield Case("fuzz, into a folder", ["fuzz", "--fw", "@old.fw", "@b.pm4", "--execs", "3", "--jobs", "1", "-o", "fuzzed"], cache="fuzzed/")


def regress_cases():
    manifest = ["regress", "@manifest.txt", "-o", "report"]
    yield Case("regress", [*manifest, "--no-cache", "--jobs", "1"], matrix=True)
    yield Case("regress, cold cache", [*manifest, "--cache", "cache", "--jobs", "2"], cache="cache/", matrix=True)
    yield Case("regress --merge", ["regress", "--merge", "@shard1", "@shard2", "-o", "report"], matrix=True)


def prove_cases():
    pair = ["prove", "--fw", "@old.fw", "--fw", "@new.fw", "CP_EVENT_WRITE", "--jobs", "1"]
    yield Case("prove", [*pair, "--no-cache", "--json"], fragile=True)
    yield Case("prove, cold cache", [*pair, "--cache", "cache", "-o", "report"], cache="cache/", fragile=True)


def help_cases():
    for words in ([], ["run"], ["policy"], ["hardware"], ["hardware", "--json"], ["man"], ["bash"], ["zsh"], ["fish"]):
        yield Case(" ".join(["help", *words]), ["help", *words])


def script_cases():
    for engine, (script, more) in ENGINES.items():
        option = ["--engine", engine, *more]
        run = os.path.join(SCRIPTS, script + ".run")
        yield Case("run " + engine, ["run", *option, run, "-o", "o.trace", "-e", "all"])
        yield Case("run %s, .cpt" % engine, ["run", *option, run, "-o", "o.cpt"])
        yield Case("run %s, JSON summary" % engine, ["run", *option, run, "--json"])
        yield Case("info --json of a %s script" % engine, ["info", "--json", *option, run])
        yield Case("step " + engine, ["step", *option, run], stdin=SCRIPT_DEBUGGER)
        if engine != "pfifo":
            yield Case("cover " + engine, ["cover", *option, run])


def cases():
    for group in (run_cases, info_cases, trace_cases, firmware_cases, audit_cases, reduce_cases, fuzz_cases, regress_cases, prove_cases,
                  help_cases, script_cases):
        yield from group()
    yield from why_cases()
    yield from decode_cases()
    yield from state_cases()

# SPDX-License-Identifier: MIT
"""Seeds that are written by hand: a text or file of each form with everything that its reader knows."""
import json
import struct

import make


def contents(words, indent):
    return "%sdata: !!ascii85 |\n%s %s\n" % (indent, indent, make.encode85(words))


def ring(number, iova, words, more=""):
    return ("  - id: %d\n    iova: 0x%016x\n    last-fence: 7\n    retired-fence: -1\n    rptr: 2\n    wptr: 3\n"
            "    size: %d\n" % (number, iova, 4 * len(words) + 8) + (contents(words, "    ") if words else "") + more)


def devcoredump():
    """All sections, as the kernel orders them; contents short, exact, too long and missing."""
    block = "  - regs-name: %s\n    dwords: %d\n"
    register = "  - { offset: 0x%04x, value: 0x%08x }\n"
    banked = "    - { offset: 0x%04x, value: 0x%08x }\n"
    return "".join([
        "---\nkernel: 6.1\nmodule: msm\ntime: 1.5\ncomm: foo\ncmdline: foo --bar\nrevision: 630 (6.3.0.2)\n",
        "rbbm-status: 0x00000001\nfault-info:\n  - ttbr0=0000\n  - dir=WRITE\n",
        "ringbuffer:\n", ring(0, 0x1000000001000, [0x70108000, 0, 0xffffffff]), ring(1, 0x2000, []),
        "bos:\n  - iova: 0x0000000000100000\n    size: 16\n", contents([0xdeadd00d, 0, 0, 0], "    "),
        "  - iova: 0x200000\n    size: 4096\n", contents([1] * 30, "    "),
        "  - iova: 0x300000\n    size: 4\n", contents([2] * 3, "    "), "  - size: 4\n  - iova: 0x400000\n    size: 8\n",
        "registers:\n", register % (0x2000, 0x1000), register % (0x2004, 0xffffffff),
        "registers-gmu:\n", register % (0x7c000, 1),
        "indexed-registers:\n", block % ("CP_SEQ_STAT", 3), contents([0xc5, 0, 0x80000000], "    "),
        block % ("CP_UCODE_DBG_DATA", 8), contents([5, 6], "    "), block % ("CP_ROQ", 2),
        "shader-blocks:\n  - type: A6XX_TP0_TMO_DATA\n    - bank: 0\n      size: 2\n", contents([1, 2], "      "),
        "clusters:\n  - cluster-name: CLUSTER_FE\n    - context: 0\n", banked % (0x24000, 1), banked % (0x24004, 2),
        "    - context: 1\n", banked % (0x24000, 3), "debugbus:\n  - debugbus-block: CP\n    count: 2\n",
        contents([1, 2], "    "), "gmu-log:\n    iova: 0x1000\n    size: 4\n", contents([3], "    "),
        "gmu-hfi:\n    iova: 0x2000\n", "gmu-debug:\n    iova: 0x3000\n", "something-new:\n  - a: 1\n"])


def damaged_dump():
    return devcoredump().replace("\n", "\r\n").replace("6.3.0.2", "43050a01").replace("bos:", "bos:\r\n  - data: !!ascii85 |")


def snapshots():
    """KGSL snapshots as the kernels for a6xx, gen7 and gen8 order them, older forms, and what is passed over."""
    ring = make.snap_ring(0x1000000001000, make.type7(0x3f, 0, 1, 2) + [0] * 60, rptr=4, wptr=4)
    objects = [make.snap_object(0x100000000, [0x70e50001, 1, 0xdeadd00d]), make.snap_object(0x200000, []),
               make.snap(0x0402, 0x300000, 0, 0, 0, 2, 0, 5, 6), make.snap(0x0e02, 1, 0, 0, 0x400000, 0, 64, 0, 9)]
    old = make.snapshot(
        make.snap_os(b"5.4.147", b"a.game"), make.snap(0x0201, 2, 0x800, 1, 0x928, 2), make.snap(0x0202, 0x80000900, 1, 0x910, 2, 3, 4),
        make.snap(0x0501, 0x908, 0x909, 0, 3, 0xc5, 0xdeadd00d, 0), make.snap(0x0501, 0x910, 0x911, 0, 8, *range(8)),
        make.snap(0x0501, 0x777, 0x778, 0, 1, 5), make.snap(0x0501, 0x908, 0x909, 3, 1, 5), make.snap(0x0901, 10, 2, 5, 6),
        make.snap(0x1501, 1, 3, 0x80008000, 0x8002, 5, 6, 7, 0x8010, 8), make.snap(0x0a01, 1, 2, 3, 4), ring, *objects,
        make.snap(0x1701, 1, 0, 0, 0, 0, 0, 0, data=b"hfi"), make.snap(0x7777, 1), gpu=0x00030276)
    gen7 = make.snapshot(make.snap_os(b"5.15", b"b"), make.snap(0x1502, 2, 1, 1, ~0, 0x80008000, 0x8001, 5, 6, 0x8010, 7),
                         make.snap(0x0501, 0xa87, 0xa88, 0, 2, 5, 6), ring, *objects, chip=0x43050a01)
    gen8 = make.snapshot(make.snap(0x1503, 0, 0, 0, ~0, ~0, ~0, ~0, 0x80000800, 0x801, 1, 2), make.snap(0x1503, 3, 6, 1, 4, 0, 0, 0, 0x9000, 4),
                         make.snap(0x0502, 0x8f0, 0x8f1, 0, 2, 1, ~0, 5, 6), make.snap(0x0502, 0x8f0, 0x8f1, 0, 1, 2, ~0, 7), chip=0x44050001)
    forms = make.snapshot(make.snap_os(b"3.18", b"c", 1), make.snap_os(b"4.19", b"d", 0x202), make.snap(0x0301, 1), make.snap(0x0101, 9))
    return {"a6xx": old, "gen7": gen7, "gen8": gen8, "forms": forms, "empty": make.snapshot(), "cut": old[:-8]}


RNN = """<?xml version="1.0"?>
<database xmlns="http://nouveau.freedesktop.org/">
<import file="freedreno_copyright.xml"/>
<enum name="chip"><value name="A6XX"/><value name="A7XX"/></enum>
<enum name="adreno_pm4_type3_packets" varset="chip"><value name="CP_MINE" value="0x10"/><value name="NONE"/>
<value name="CP_LATER" value="0x10" variants="A7XX-"/></enum>
<enum name="vgt_event_type"><value name="EV" value="4"/></enum>
<bitset name="named" inline="yes"><bitfield name="FLAG" pos="31" type="boolean"/>
<bitfield name="PART" low="4" high="7" variants="A6XX"/></bitset>
<domain name="A6XX" width="32" prefix="variant" varset="chip">
<reg32 name="MINE" offset="0x0800" type="named"/>
<reg64 name="WIDE" offset="2050"/>
<reg32 name="OLD" offset="0x900" variants="A6XX"/><reg32 name="NEW" offset="0x900" variants="A7XX-"/>
<array name="ARR" offset="0x31000" stride="0x10" length="3">
  <reg32 name="FIRST" offset="0"><bitfield name="LOW" low="0" high="3"/></reg32>
  <array name="INNER" offset="4" stride="2" length="2"><reg64 name="ADDR" offset="0" type="address"/></array>
</array>
<stripe varset="chip" variants="A6XX-A7XX"><reg32 name="STRIPED" offset="0x33000"/></stripe>
<reg32 name="REP" offset="0x34000" stride="4" length="2"/>
<reg64 name="SPLIT" offset="0x35000"><bitfield name="ACROSS" low="28" high="35"/><bitfield name="TOP" pos="63"/></reg64>
<doc><b>text</b> &amp; <reg32 name="NOT" offset="0x36000"/></doc>
</domain>
<domain name="A7XX_PIPE_REG"><reg32 name="P" offset="0x99" type="void"/></domain>
<domain name="A7XX_CONTROL_REG"><reg32 name="C" offset="0x99"/></domain>
</database>
"""

MANIFEST = """# cpscope-manifest 1
firmware old  demo.fw               ; a name and a file
firmware new  demo.fw tags=a,b
firmware pair pfp.fw me.fw
firmware g92  hwsq:g92
firmware seq  seq:old tags=s
baseline old
golden   goldens
capture  [0-2] tags=a
capture  a.rd expect=bad-packet tags=b,s
capture  b.run expect=deadlock
mask     reg:CP_SCRATCH[0].REG-0x88b,mem:0x1000-0x1fff
events   reg,pipe,memw
policy   waits=satisfy visibility=all prefetch=off fb-delay=100
limit    100M
"""

MASKS = ["reg:0x980-0x983,reg:0x885/0xff,mem:0x1000-0x1fff,pipe:0xe7,ctrl:0x130,pkt:CP_NOP,pkt:0x46",
         "reg:CP_SCRATCH[2].REG,reg:CP_SCRATCH[0].REG-0x88b", "reg:", "mem:5-4", "pkt:CP_DRAW_INDX_OFFSET/0xf", "x"]

ASSEMBLY = {
    1: "; a5xx microcode\n[005ff001]\n[#t]\na: mov $01, 1\nCP_NOP: waitin\nmov $01, $data\n.align 8\nt: .jumptbl\n",
    2: "[016ee001]\n[#t]\na: b:\nmov $02, #a << 2\ncwrite $02, [$00 + @REG_WRITE]\nalign: add $03, $02, 0x10 ; x\n"
       "breq $02, b5, #a\nnop\n(rep)(xmov1)mov $data, $addr\n[deadbeef]\n.align 16\nCP_NOP: ret\nnop\nt: .jumptbl #a\n",
    3: "[01740168]\n[#t]\na: jump #a\nnop\nCP_NOP: nop\nt: .jumptbl\n.section BV\n[01740139]\n[#t]\nb: call #b\n"
       "t: .jumptbl #b\ne:\n.section LPAC\nnop\n",
    4: "[00500001]\n[#t]\nCP_NOP: nop\nt: .jumptbl\n",
}

# A script that writes TRIGGER and so starts itself again: only a limit ends it.
HWSQ_AGAIN = bytes.fromhex("339d9d9db19d9d9d9d9d9d9de200126100420100010040dc02d0b05f009d7a01005f2404c8c8c80100000000e00d1300"
                           "0000000000020010000300") + b"\xff" * 31 + bytes.fromhex("000000000001000001f0")


def elf32(segments, split=True):
    """The headers of a Qualcomm image; @segments: flags, offset, size in the file, size in memory."""
    head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0x8f400000, 52, 0, 0x5000000, 52, 32,
                                                     len(segments), 0, 0, 0)
    for flags, offset, size, memory in segments:
        head += struct.pack("<8I", 1, offset, 0, 0x8f400000 + offset, size, memory, flags, 4)
    return head if split else head.ljust(0x5000, b"\0")


def elf64(segments):
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, 0x8f400000, 64, 0, 0, 64, 56,
                                                     len(segments), 0, 0, 0)
    for flags, offset, size, memory in segments:
        head += struct.pack("<IIQQQQQQ", 1, flags, offset, 0, 0x8f400000 + offset, size, memory, 4)
    return head.ljust(0x5000, b"\0")


SEGMENTS = [(0x07000000, 0, 52 + 5 * 32, 0), (0x02200000, 0x1000, 0x40, 0x1000), (0x08000007, 0x2000, 0x20, 0x2000),
            (6, 0x3000, 0x10, 0x10), (6, 0x4000, 8, 8)]

DAP_START = [("initialize", {"adapterID": "x", "linesStartAt1": True}),
             ("launch", {"demo": True, "stopOnEntry": True, "submit": 0, "policy": "waits=stop"}),
             ("setExceptionBreakpoints", {"filters": ["deadlock", "bad-packet", "protect"]}), ("configurationDone", {})]
DAP_LOOK = [("threads", {}), ("stackTrace", {"threadId": 1, "startFrame": 0, "levels": 5}), ("scopes", {"frameId": 1}),
            ("variables", {"variablesReference": 1}), ("variables", {"variablesReference": 2, "start": 3, "count": 9}),
            ("variables", {"variablesReference": 3}), ("evaluate", {"expression": "$02 + [0x100000]", "context": "hover"}),
            ("evaluate", {"expression": "info registers", "context": "repl"}),
            ("completions", {"text": "info pa", "column": 8}), ("source", {"sourceReference": 1}),
            ("readMemory", {"memoryReference": "0x100000", "offset": 4, "count": 32}),
            ("disassemble", {"memoryReference": "0x0", "instructionOffset": -4, "instructionCount": 20}),
            ("gotoTargets", {"source": {"path": "x"}, "line": 5}), ("exceptionInfo", {"threadId": 1})]
DAP_POINTS = [("setBreakpoints", {"source": {"path": "/x.asm", "sourceReference": 1},
                                  "breakpoints": [{"line": 40, "condition": "$02 == 1", "hitCondition": "2"}]}),
              ("setFunctionBreakpoints", {"breakpoints": [{"name": "CP_NOP"}, {"name": "pkt:CP_MEM_WRITE@ib1"}]}),
              ("setInstructionBreakpoints", {"breakpoints": [{"instructionReference": "0x40", "offset": 4}]}),
              ("dataBreakpointInfo", {"name": "$02", "variablesReference": 1}),
              ("setDataBreakpoints", {"breakpoints": [{"dataId": "$02", "accessType": "write"}]})]
DAP_MOVE = [("next", {"threadId": 1}), ("stepIn", {"threadId": 1, "granularity": "instruction"}),
            ("stepOut", {"threadId": 1}), ("stepBack", {"threadId": 1}), ("continue", {"threadId": 1}),
            ("reverseContinue", {"threadId": 1}), ("pause", {"threadId": 1}), ("goto", {"threadId": 1, "targetId": 5})]
DAP_CHANGE = [("setVariable", {"variablesReference": 1, "name": "$02", "value": "5"}),
              ("setExpression", {"expression": "[0x100000]", "value": "0x12345678"}),
              ("writeMemory", {"memoryReference": "0x100000", "offset": 0, "data": "AQIDBA=="}),
              ("evaluate", {"expression": "set $03 = 7", "context": "repl"}),
              ("evaluate", {"expression": "w PC_DRAWCALL_CNTL if value > 3", "context": "repl"})]
DAP_END = [("cancel", {"requestId": 2}), ("restart", {}), ("terminate", {}), ("disconnect", {"restart": False})]


def dap(*lists):
    out = b""
    for seq, (command, arguments) in enumerate(sum(lists, [])):
        text = json.dumps({"seq": seq + 1, "type": "request", "command": command, "arguments": arguments}).encode()
        out += b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
    return out


DAP = {"look": dap(DAP_START, DAP_LOOK, DAP_END), "points": dap(DAP_START, DAP_POINTS, DAP_MOVE, DAP_LOOK, DAP_END),
       "moves": dap(DAP_START, DAP_MOVE, DAP_MOVE), "changes": dap(DAP_START, DAP_MOVE[:2], DAP_CHANGE, DAP_MOVE, DAP_END),
       "late": dap(DAP_LOOK, DAP_START, DAP_END)}


def lsp(*messages):
    out = b""
    for number, (method, params) in enumerate(messages):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if method.partition("/")[2] in ("hover", "definition", "references", "documentSymbol", "completion") or "/" not in method:
            message["id"] = number
        text = json.dumps(message, ensure_ascii=False).encode()
        out += b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
    return out


LSP_ODD = "\U0001f642\u00e9\u4e2d"
LSP_ASM = ("; a6xx microcode\n[016ee001] ; %s\nCP_NOP: a: mov $02, 0x830 ; CP_SQE_INSTR_BASE\n(rep)cwrite $02, [$00 + @REG_WRITE]\n"
           "swrite $00, [$00 + %%SP]\nbreq $02, b3, #a\nwrong #b\n.section BV\na: jump #a\n.jumptbl #a\n" % LSP_ODD)
LSP_PM4 = ("# cpscope-pm4 1\ngpu 630\nbuffer 0x1000 first ; %s\n CP_NOP 0x1\n reg RB_STENCIL_REF_CNTL 0x1280\n"
           " CP_INDIRECT_BUFFER @second #second\nbuffer 0x2000 second\n .word 0x70108000\n wrong\nsubmit first\n" % LSP_ODD)
LSP_HWSQ = "; g92 hwsq\nloop: addr 0x1000\n data 0x1\n exit\n"


def lsp_session(text, uri, language):
    named = {"textDocument": {"uri": uri}}
    place = lambda line, character: {"line": line, "character": character}
    asked = [("textDocument/" + method, dict(named, position=place(line, character)))
             for method, line, character in (("hover", 2, 12), ("hover", 3, 3), ("hover", 4, 5), ("definition", 5, 17), ("references", 5, 22),
                                             ("completion", 3, 20), ("completion", 4, 4), ("hover", 5, 10), ("completion", 2, 3))]
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [
        {"range": {"start": place(1, 3), "end": place(2, 5)}, "text": LSP_ODD + "\r\nnop\n"}, {"text": text}]}
    return lsp(("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {
                   "hover": {"contentFormat": ["markdown"]}, "documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}},
                   "initializationOptions": {"gen": "a7xx"}}), ("initialized", {}),
               ("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}}),
               *asked, ("textDocument/documentSymbol", named), ("textDocument/didChange", change), *asked[:4],
               ("$/cancelRequest", {"id": 3}), ("textDocument/didClose", named), ("shutdown", None), ("exit", None))


LSP = {"asm": lsp_session(LSP_ASM, "file:///a.asm", "cpsasm"), "pm4": lsp_session(LSP_PM4, "file:///f.pm4", "pm4"),
       "hwsq": lsp_session(LSP_HWSQ, "file:///s.asm", "cpsasm")}

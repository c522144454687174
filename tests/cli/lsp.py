#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The language server through a client (lsp_client.py). Usage: lsp.py CPSCOPE"""
import os
import random
import re
import subprocess
import tempfile

import tap
import tree
from lsp_client import CPSCOPE, Client, cut, frame, position

DEMO, FRAME = (open(path, encoding="utf-8").read() for path in (tree.DEMO, tree.FRAME))
ASM, PM4 = "file:///a.asm", "file:///f.pm4"
HEAD = "; a6xx microcode\n"
ODD = "\U0001f642\u00e9\u4e2d"   # 4, 2 and 3 bytes; 2, 1 and 1 units of UTF-16


def edit(client, old, at, end, new, uri=ASM):
    """Replaces characters of the text, here and there."""
    place = lambda offset: position(old, offset, client.encoding)
    client.texts[uri] = old[:at] + new + old[end:]
    return {"range": {"start": place(at), "end": place(end)}, "text": new}


def life():
    c = Client().start()
    assert c.can["positionEncoding"] == "utf-16" and c.can["textDocumentSync"] == {"openClose": True, "change": 2}
    assert c.open(DEMO) == []
    c.notify("textDocument/didClose", {"textDocument": {"uri": ASM}})
    assert c.errors() == []
    assert c.refuse("textDocument/documentSymbol", {"textDocument": {"uri": ASM}}) == -32602
    c.close()


def order():
    c = Client()
    assert c.refuse("textDocument/hover", {}) == -32002
    c.notify("textDocument/didOpen", {"textDocument": {"uri": ASM, "text": "x"}})   # dropped
    c.start()
    assert not c.notes
    assert c.refuse("initialize", {"capabilities": {}}) == -32600
    assert c.refuse("textDocument/noSuch", {}) == -32601 and c.refuse("$/noSuch", {}) == -32601
    c.notify("$/noSuch")
    c.notify("$/cancelRequest", {"id": 1})
    assert c.reply("textDocument/definition", {}, name="text")["error"]["code"] == -32602
    c.write({"jsonrpc": "2.0", "id": 99, "result": None})   # a reply to nothing
    assert c.ask("shutdown") is None
    assert c.refuse("textDocument/hover", {}) == -32600 and c.refuse("shutdown") == -32600
    c.notify("textDocument/didOpen", {"textDocument": {"uri": ASM, "text": "x"}})   # dropped
    c.notify("exit")
    assert c.process.communicate(timeout=120) == (b"", b"") and c.process.returncode == 0


def exits():
    for actions, status in (([], 1), (["exit"], 1), (["start", "exit"], 1), (["start", "shutdown"], 0)):
        c = Client()
        for action in actions:
            if action == "start":
                c.start()
            elif action == "shutdown":
                c.ask("shutdown")
            else:
                c.notify("exit")
        out, err = c.process.communicate(timeout=120)
        assert (c.process.returncode, out, err) == (status, b"", b""), (actions, c.process.returncode, err)


def diagnostics():
    c = Client().start()
    text = HEAD + "mov $01, 1\n  wrong $02\n\tcwrite $02, [$00 + @NO_SUCH] ; %s\njump #nowhere\n" % ODD
    found = c.open(text)
    assert [d["range"]["start"]["line"] for d in found] == [2, 3, 4], found
    assert [cut(text, d["range"]) for d in found] == ["wrong", "@NO_SUCH", "#nowhere"], found
    assert all(d["message"].startswith("expected ") or "unknown" in d["message"] for d in found), found
    # mended one by one, by whole texts
    text = text.replace("wrong", "nop ;")
    assert len(c.change({"text": text})) == 2
    text = text.replace("@NO_SUCH", "@REG_WRITE").replace("nowhere", "b\nb:")
    assert c.change({"text": text}) == []
    assert "generation is unknown" in c.change({"text": "mov $01, 1\n"})[0]["message"]
    assert c.change({"text": ""})[0]["range"]["end"] == {"line": 0, "character": 0}
    # a missing operand is at the line's end
    found = c.change({"text": HEAD + "mov $01,"})
    assert found[0]["range"] == {"start": {"line": 1, "character": 8}, "end": {"line": 1, "character": 8}}, found
    assert len(c.change({"text": HEAD + "wrong\n" * 5000})) == 20
    c.close()


def same_errors():
    """What the server says is what the assembler says."""
    rng = random.Random(7)
    lines = DEMO.split("\n")
    c = Client().start()
    c.open(DEMO)
    for _ in range(25):
        broken = list(lines)
        for _ in range(rng.randrange(1, 6)):
            i = rng.randrange(len(broken))
            at = rng.randrange(len(broken[i]) + 1)
            broken[i] = broken[i][:at] + rng.choice("#@$,]( x0") + broken[i][at + rng.randrange(2):]
        text = "\n".join(broken)
        found = c.change({"text": text})
        run = subprocess.run([CPSCOPE, "asm", "-", "-o", "/dev/null"], input=text.encode(), capture_output=True)
        said = re.findall(r"^(?:cpscope: )?\(stdin\):(\d+):(\d+): (.*)$", run.stderr.decode(), re.M)
        assert [int(line) - 1 for line, _, _ in said] == [d["range"]["start"]["line"] for d in found], (said, found)
        assert [message for _, _, message in said] == [d["message"] for d in found], (said, found)
    c.close()


def same_pm4_errors():
    """The line that the reader of captures ends with has a mistake; of two in a line each may show another."""
    rng = random.Random(9)
    lines = FRAME.split("\n")
    c = Client().start()
    c.open(FRAME, PM4, "pm4")
    with tempfile.NamedTemporaryFile(suffix=".pm4") as file:
        for _ in range(25):
            broken = list(lines)
            for _ in range(rng.randrange(1, 4)):
                i = rng.randrange(1, len(broken))
                at = rng.randrange(len(broken[i]) + 1)
                broken[i] = broken[i][:at] + rng.choice("#@x0 \t") + broken[i][at + rng.randrange(3):]
            text = "\n".join(broken)
            found = c.change({"text": text}, uri=PM4)
            file.seek(0)
            file.truncate()
            file.write(text.encode())
            file.flush()
            run = subprocess.run([CPSCOPE, "info", file.name], capture_output=True, text=True)
            said = re.search(r"\.pm4:(\d+):(\d+): (.*)$", run.stderr, re.M)
            assert bool(said) == bool(found), (run.stderr, found)
            assert not said or int(said[1]) in [d["range"]["start"]["line"] + 1 for d in found], (said, found)
    c.close()


def edits(capabilities):
    """Random edits in pieces, with characters of every size and every line end, equal a whole text."""
    rng = random.Random(3)
    c = Client().start(capabilities)
    text = HEAD + "; %s\nmov $01, 1\r\n; %s\nnop\n" % (ODD, ODD)
    c.open(text)
    for step in range(120):
        changes = []
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            end = min(len(text), at + rng.randrange(6))
            if "\r\n" in (text[at - 1:at + 1], text[end - 1:end + 1]) and at:
                continue   # no client stands between the two
            new = rng.choice(["", "x", ODD, "\n", "; " + ODD, "\r\n", "\nnop ; " + ODD + "\n"])
            changes.append(edit(c, text, at, end, new))
            text = c.texts[ASM]
        found = c.change(*changes, version=step)
        whole = Client().start(capabilities) if step % 20 == 0 else None
        if whole:
            assert whole.open(text) == found, (text, found)
            whole.close()
    # a name behind them is found where it stands
    text = HEAD + "here: nop ; %s\n/* */ ; %s\njump #here ; %s\n" % (ODD, ODD, ODD)
    c.change({"text": text})
    c.texts[ASM] = text
    text2 = text.replace("; %s\njump" % ODD, "; %s%s\njump" % (ODD, ODD))
    at = text.index("\njump") 
    found = c.change(edit(c, text, at, at, ODD))
    assert c.texts[ASM] == text2 and len(found) == 1 and cut(text2, found[0]["range"], c.encoding) == "/"
    c.close()


def edges():
    """Positions behind a line's end or the text's are those; wrong ones are answered."""
    c = Client().start()
    c.open(HEAD + "a:\nnop")
    def change(start, end, text):
        return c.change({"range": {"start": {"line": start[0], "character": start[1]},
                                   "end": {"line": end[0], "character": end[1]}}, "text": text})
    assert change((1, 99), (1, 99), " jump #a") == []
    assert change((99, 5), (1 << 40, 1 << 50), "\njump #b")[0]["range"]["start"]["line"] == 3
    for wrong in ({"text": 1}, {"range": 5, "text": ""}, {"range": {"start": {"line": -1, "character": 0}}, "text": ""},
                  {"range": {"start": {"line": 2, "character": 0}, "end": {"line": 1, "character": 0}}, "text": "x"},
                  {"range": {"start": {"line": 1.5, "character": 0}, "end": {"line": 2, "character": 0}}, "text": "x"}):
        assert len(c.change(wrong)) == 1, wrong
        assert "expected" in c.note("window/logMessage")["message"], wrong
    for method, params in (("textDocument/didChange", {"textDocument": {"uri": "file:///no"}, "contentChanges": []}),
                           ("textDocument/didChange", {"textDocument": {"uri": ASM}, "contentChanges": {}}),
                           ("textDocument/didOpen", {"textDocument": {"uri": 7, "text": ""}}),
                           ("textDocument/didOpen", []), ("textDocument/didClose", {})):
        c.notify(method, params)
        assert method in c.note("window/logMessage")["message"], method
    for position_ in (None, {}, {"line": "1", "character": 0}, {"line": 0, "character": -1}, 4):
        assert c.refuse("textDocument/hover", {"textDocument": {"uri": ASM}, "position": position_}) == -32602
    c.close()


def hovers():
    c = Client().start()
    c.open(DEMO)
    assert "[(rep)]add dst, src1, imm16" in c.hover("add $03, $03") and "a + b" in c.hover("add $03, $03")
    assert "control[offset + base] := data" in c.hover("(rep)cwrite", 6)
    text = c.hover("@REG_READ_DWORDS")
    assert "control register 0x026" in text and "Evidence F: used by one read" in text, text
    assert "SQE register 0x005" in c.hover("%SP") and "CP_SQE_INSTR_BASE" in c.hover("0x830")
    assert "delay slot" in c.hover("breq $") and "branches if a == b" in c.hover("breq $")
    assert "packet 0x10" in c.hover("CP_NOP:") and "jumptbl:" in c.hover("#jumptbl")
    assert c.hover("; a6xx", 0) is None
    text = HEAD + "nop ; RB_A2D_BLT_CNTL CP_SET_MARKER RB_STENCIL_REF_CNTL\ncwrite $02, [$00 + @PERFCNTR_CNTL]\n"
    assert c.change({"text": text}) == []
    c.texts[ASM] = text
    assert "word 0 bit 3:0 MODE 1=" in c.hover("CP_SET") and "word 9" not in c.hover("CP_SET")
    assert "1:0 NUM_PREEMPTIONS 1=INCR 2=START 3=STOP" in c.hover("@PERF")
    assert "GPU register 0x8887" in c.hover("RB_STENCIL") and "15:8 BFREF" in c.hover("RB_STENCIL")
    c.change({"text": HEAD + "popcount $02, $03\n"})
    c.texts[ASM] = HEAD + "popcount $02, $03\n"
    assert c.hover("popcount") == "popcount: not of a6xx, but of a8xx\n", c.hover("popcount")
    result = c.ask("textDocument/hover", c.at("popcount", 3))
    assert result["contents"]["kind"] == "plaintext" and cut(c.texts[ASM], result["range"]) == "popcount"
    c.close()
    c = Client().start({"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}})
    c.open(DEMO)
    result = c.ask("textDocument/hover", c.at("add $03, $03"))
    assert result["contents"]["kind"] == "markdown" and "- `[(rep)]add" in result["contents"]["value"]
    c.close()


def places():
    c = Client().start()
    text = HEAD + "a: nop ; %s #a\nCP_NOP: jump #a\n.section BV\na: jump #a\nb: jump #b\njump #c\n" % ODD
    c.open(text)
    go = lambda needle, inside, nth=0: c.ask("textDocument/definition", c.at(needle, inside, nth=nth))
    assert go("#a", 1, 1)["range"]["start"] == {"line": 1, "character": 0}
    assert go("#a", 2, 2)["range"]["start"] == {"line": 4, "character": 0}   # of its own section
    assert go("#c", 1) is None and go("nop", 1) is None
    uses = lambda nth, given: [u["range"]["start"] for u in c.ask("textDocument/references", dict(
        c.at("#a", 1, nth=nth), context={"includeDeclaration": given}))]
    assert uses(1, False) == [{"line": 2, "character": 13}] and len(uses(2, True)) == 2
    symbols = c.ask("textDocument/documentSymbol", {"textDocument": {"uri": ASM}})
    assert [(s["name"], s["kind"], s.get("detail")) for s in symbols] == [
        ("a", 20, None), ("CP_NOP", 12, "packet 0x10"), ("a", 20, None), ("b", 20, None)], symbols
    assert all(s["range"]["start"] == s["selectionRange"]["start"] for s in symbols)
    c.close()
    c = Client().start({})
    c.open(text)
    symbols = c.ask("textDocument/documentSymbol", {"textDocument": {"uri": ASM}})
    assert all(set(s) == {"name", "kind", "location"} and s["location"]["uri"] == ASM for s in symbols)
    c.close()


def completions():
    c = Client().start()
    text = HEAD + "cw\nlabel: cwrite $m, [$00 + @REG_W]\nswrite $00, [$00 + %S]\njump #l\n.j\nCP_N\n; cw\n.section B\n"
    c.open(text)
    found = c.completion("cw", 2)
    assert list(found) == ["cwrite"] and found["cwrite"]["detail"].startswith("[(rep)][(sdsN)]cwrite"), found
    assert found["cwrite"]["textEdit"]["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 2}}
    assert "memdata" in c.completion("$m", 2)
    assert set(c.completion("@REG_W", 6)) == {"REG_WRITE_ADDR", "REG_WRITE"}
    assert "REG_READ_ADDR" in c.completion("@REG_W", 5) and "SP" in c.completion("%S", 2)
    assert list(c.completion("#l", 2)) == ["label"] and list(c.completion(".j", 2)) == ["jumptbl"]
    assert "CP_NOP" in c.completion("CP_N", 4) and not c.completion("; cw", 4)
    assert list(c.completion(".section B", 10)) == ["BV"]
    c.close()


def pm4():
    c = Client().start()
    assert c.open(FRAME, PM4, "pm4") == []
    text = c.hover("CP_INDIRECT_BUFFER", uri=PM4)
    assert "packet 0x3f, 3 words" in text and "IB_SIZE=" in text, text
    assert "type4" in c.hover("reg ", uri=PM4)
    text = ("# cpscope-pm4 1\ngpu 630\nbuffer 0x1000 first ; %s\n CP_NOP 0x1\n reg RB_STENCIL_REF_CNTL 0x1280\n"
            " CP_INDIRECT_BUFFER @second #second\nbuffer 0x2000 second\n CP_NOP\nsubmit first\n" % ODD)
    assert c.open(text, PM4, "pm4") == []
    text2 = c.hover("RB_STENCIL", uri=PM4)
    assert "GPU register 0x8887" in text2 and "BFREF=0x12" in text2, text2
    assert "buffer 0x2000 second" in c.hover("@second", uri=PM4) and "IB_BASE=0x2000" in c.hover("@second", uri=PM4)
    assert c.ask("textDocument/definition", c.at("submit first", 8, uri=PM4))["range"]["start"]["line"] == 2
    uses = c.ask("textDocument/references", dict(c.at("0x2000 second", 8, uri=PM4), context={"includeDeclaration": True}))
    assert [cut(text, u["range"]) for u in uses] == ["@second", "#second", "second"], uses
    symbols = c.ask("textDocument/documentSymbol", {"textDocument": {"uri": PM4}})
    assert [s["name"] for s in symbols] == ["first", "second"]
    assert "RB_STENCIL_REF_CNTL" in c.completion("RB_STENCIL", 10, uri=PM4)
    assert set(c.completion("@second", 1, uri=PM4)) == {"first", "second"}
    assert "submit" in c.completion("submit", 1, uri=PM4) and "CP_NOP" in c.completion("CP_NOP", 4, uri=PM4)
    broken = text.replace("CP_NOP 0x1", "CP_NOPE 0x1").replace("@second", "@third").replace("submit first", "submit x")
    found = c.change({"text": broken}, uri=PM4)
    assert [cut(broken, d["range"]) for d in found] == ["CP_NOPE", "@third", "x"], found
    found = c.change({"text": text.replace("0x2000 second", "0x2000 first")}, uri=PM4)
    assert any("no other buffer" in d["message"] for d in found), found
    assert len(c.change({"text": "# cpscope-pm4 1\nbuffer x\nbuffer 0x1\nbuffer 0x1 a b\nCP_NOP\n"}, uri=PM4)) == 4
    assert len(c.change({"text": text + "wrong\n" * 5000}, uri=PM4)) == 100
    assert c.change({"text": "gpu 630\n"}, uri=PM4)[0]["message"].startswith('expected "# cpscope-pm4 1"')
    c.close()
    with tempfile.TemporaryDirectory() as tree:
        with open(os.path.join(tree, "a6xx.xml"), "w", encoding="utf-8") as file:
            file.write('<?xml version="1.0"?>\n<database>\n<domain name="A6XX" width="32" prefix="variant" varset="chip">\n'
                       '<reg32 offset="0x9801" name="OF_THE_USER"/>\n</domain>\n</database>\n')
        text = "# cpscope-pm4 1\ngpu 630\nbuffer 0x1000 b\n reg OF_THE_USER 0x1\nsubmit b\n"
        for options, mistakes in (({}, 1), ({"rnn": tree}, 0)):
            c = Client().start(**options)
            assert len(c.open(text, PM4, "pm4")) == mistakes, options
            c.close()


def engines():
    c = Client().start()
    assert c.open("; g92 hwsq\nloop: addr 0x1000\n data 0x1\n exit\n") == []
    assert "HWSQ" not in (c.hover("addr") or "") and "ADDR" in c.hover("addr")
    assert "addr" in c.completion("addr", 2)
    assert c.change({"text": "; seq-new seq\n wrong\n"})
    assert c.change({"text": "; seq-new seq\n nop\n"}) == []
    c.close()
    bare = "mul16 $02, $03, $04\n"
    for options, status in (({}, 1), ({"gen": "a8xx"}, 0), ({"gen": "a6xx"}, 1)):
        c = Client().start(**options)
        assert len(c.open(bare)) == status, options
        assert c.change({"text": HEAD + "mov $01, 1\n"}) == []      # the source's own word is first
        c.close()
    c = Client("--gen", "a8xx").start()
    assert c.open(bare) == []
    c.close()
    c = Client("--engine", "hwsq", "--chip", "g92").start()
    assert c.open(" addr 0x1000\n exit\n") == []
    c.close()


def limits():
    """A text has at most 16 MiB, all of them 64 MiB; one byte more is not taken, whatever is open beside it; each is closed by its own
    name."""
    c = Client().start()
    uris = ["file:///%d.asm" % i for i in range(5)]
    said = "the text has %d bytes, expected at most 16 MiB, and of all texts 64 MiB"
    insert = lambda size: {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}, "text": ";" * size}
    fill = lambda uri: c.change(insert(1 << 20), uri=uri)    # behind 15 MiB: one message has at most 16 MiB
    large = HEAD + ";" * ((15 << 20) - len(HEAD))
    assert c.open(large, uris[0]) == [] and fill(uris[0]) == []
    assert c.change(insert(1), uri=uris[0]) == [] and said % ((16 << 20) + 1) in c.note("window/logMessage")["message"]
    for uri in uris[1:4]:
        assert c.open(large, uri) == [] and fill(uri) == []
    assert not c.notes, c.notes
    c.notify("textDocument/didOpen", {"textDocument": {"uri": uris[4], "languageId": "cpsasm", "version": 1, "text": ";"}})
    assert c.refuse("textDocument/documentSymbol", {"textDocument": {"uri": uris[4]}}) == -32602
    assert said % 1 in c.note("window/logMessage")["message"]
    c.notify("textDocument/didClose", {"textDocument": {"uri": uris[0]}})
    assert c.errors(uris[0]) == [] and c.refuse("textDocument/documentSymbol", {"textDocument": {"uri": uris[0]}}) == -32602
    assert c.open(HEAD + "mine: nop\n" + large[:-10], uris[4]) == [] and not c.notes
    assert [s["name"] for s in c.ask("textDocument/documentSymbol", {"textDocument": {"uri": uris[4]}})] == ["mine"]
    assert c.ask("textDocument/documentSymbol", {"textDocument": {"uri": uris[1]}}) == []
    c.close()


def details():
    """Numbers that name packets, words in comments, packets by their words, long ones, mistakes that are one character."""
    c = Client().start()
    text = HEAD + "mov $02, 0x3f\n"
    assert c.open(text) == []
    assert "packet CP_INDIRECT_BUFFER" in c.hover("0x3f") and "0x3f = 63" in c.hover("0x3f")
    c.close()
    for capabilities in ({}, UTF8):
        c = Client().start(capabilities)
        text = HEAD + "nop %s\nmov $02, \u00e9\n" % "\u4e2d"
        assert [cut(text, d["range"], c.encoding) for d in c.open(text)] == ["\u4e2d", "\u00e9"], capabilities
        c.close()
    c = Client().start()
    text = ("# cpscope-pm4 1\ngpu 630\nbuffer 0x1000 b ; RB_STENCIL_REF_CNTL\n .word 0x703f8003 0x2000 0x0 0x5\n .word 0x703f8003 0x2000 0x6\n"
            " reg 0x8810 %s\nsubmit b\n" % " ".join("0x%x" % i for i in range(100)))
    assert c.open(text, PM4, "pm4") == []
    assert "GPU register 0x8887" in c.hover("RB_STENCIL", uri=PM4)
    assert "IB_SIZE=5" in c.hover(".word", uri=PM4) and not c.hover(".word", uri=PM4, nth=1)
    lines = c.hover("reg 0x", uri=PM4).split("\n")
    more = int(re.search(r"^and (\d+) more$", "\n".join(lines), re.M)[1])
    assert more == 36 and len(lines) == 1 + 64 + 3 and lines[0].startswith("type4: 100 registers from 0x8810"), lines
    assert "word" in c.completion(".word", 2, uri=PM4)
    c.close()


def broken_lines():
    """In a line of PM4 text that is wrong a packet has its meaning all the same, and so have its other words."""
    c = Client().start()
    c.open("# cpscope-pm4 1\ngpu 630\nbuffer 0x1000 b\n CP_INDIRECT_BUFFER @nowhere RB_STENCIL_REF_CNTL 0x3f\n"
           " CP_NOPE 0x1\n CP_WAIT_FOR_IDLE\nsubmit b\n", PM4, "pm4")
    assert c.hover("CP_INDIRECT", uri=PM4).startswith("CP_INDIRECT_BUFFER: packet 0x3f\n"), c.hover("CP_INDIRECT", uri=PM4)
    assert "packet 0x3f" not in c.hover("RB_STENCIL", uri=PM4) and "GPU register 0x8887" in c.hover("RB_STENCIL", uri=PM4)
    assert "packet CP_INDIRECT_BUFFER" in c.hover("0x3f", uri=PM4) and c.hover("CP_NOPE", uri=PM4) is None
    assert "packet 0x26" in c.hover("CP_WAIT", uri=PM4)
    c.close()


def characters():
    """The first and the last character of each size in UTF-8; lines end with any of three ends, also at the text's begin and end."""
    for capabilities in ({}, UTF8):
        c = Client().start(capabilities)
        for code in (0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff):
            text = HEAD + "a: nop\nnop ; %s #a %s #a\n" % (chr(code), chr(code))
            assert c.open(text) == [], hex(code)
            found = c.ask("textDocument/hover", c.at("#a", 1, nth=1))
            assert cut(text, found["range"], c.encoding) == "#a" and "line 2" in found["contents"]["value"], (hex(code), found)
        for start in ("", "\r\n", "\n", "\n\r\n\n"):
            for end in ("", "\r\n", "\n", " ;\r", " ;\r\r\n"):    # the assembler's lines do not end with "\r" alone
                text = start + "; a6xx microcode\r\na: nop\nb: nop ; x\ry\r\rz\r\n\n\r\nc: jump #a\r\nd: nop" + end
                assert c.open(text) == [], (start, end)
                lines = re.split("\r\n|\r|\n", text)
                places = [(s["name"], s["selectionRange"]["start"]["line"] if "selectionRange" in s else s["location"]["range"]["start"]["line"])
                          for s in c.ask("textDocument/documentSymbol", {"textDocument": {"uri": ASM}})]
                assert places == [(line[0], i) for i, line in enumerate(lines) if line[1:2] == ":"], (start, end, places)
        c.close()


# What is shown of words in a comment, and of those of a program: fields with the names of their values as rnndb has them, up to 15 of
# four bits in a register, of five in a packet; forms of instructions, and what they do.
SLOT = "The next instruction is in its delay slot and runs first.\n"
SOURCES = "\na and b are the sources in their order.\n"
MEANINGS = {
    "CP_WAIT_REG_MEM": "CP_WAIT_REG_MEM: packet 0x3c\n"
                       "    word 0 bit 2:0 FUNCTION 0=WRITE_ALWAYS 1=WRITE_LT 2=WRITE_LE 3=WRITE_EQ 4=WRITE_NE 5=WRITE_GE 6=WRITE_GT\n"
                       "    word 0 bit 3 SIGNED_COMPARE\n    word 0 bit 5:4 POLL 0=POLL_REGISTER 1=POLL_MEMORY 2=POLL_SCRATCH\n"
                       "    word 0 bit 8 WRITE_MEMORY\n    word 1 POLL_ADDR\n    word 3 bit 31:0 REF\n    word 4 bit 31:0 MASK\n"
                       "    word 5 bit 31:0 DELAY_LOOP_CYCLES\n",
    "CP_SKIP_IB2_ENABLE_GLOBAL": "CP_SKIP_IB2_ENABLE_GLOBAL: packet 0x1d\n    word 0 bit 0 ENABLE\n",
    "RB_STENCIL_REF_CNTL": "RB_STENCIL_REF_CNTL: GPU register 0x8887\n    7:0 REF\n    15:8 BFREF\n",
    "PC_DRAWCALL_CNTL": "PC_DRAWCALL_CNTL: GPU register 0x9e0b\n    5:0 PRIM_TYPE\n"
                        "    7:6 SOURCE_SELECT 0=DI_SRC_SEL_DMA 1=DI_SRC_SEL_IMMEDIATE 2=DI_SRC_SEL_AUTO_INDEX 3=DI_SRC_SEL_AUTO_XFB\n"
                        "    9:8 VIS_CULL 0=IGNORE_VISIBILITY 1=USE_VISIBILITY\n"
                        "    11:10 INDEX_SIZE 0=INDEX4_SIZE_8_BIT 1=INDEX4_SIZE_16_BIT 2=INDEX4_SIZE_32_BIT\n"
                        "    13:12 PATCH_TYPE 0=TESS_QUADS 1=TESS_TRIANGLES 2=TESS_ISOLINES\n    16 GS_ENABLE\n    17 TESS_ENABLE\n",
    "PC_RESTART_INDEX": "PC_RESTART_INDEX: GPU register 0x9803\n",
    "0x8810": "0x8810 = 34832\nGPU register RB_PS_SAMPLEFREQ_CNTL\n",
    "0x7f": "0x7f = 127\n",
    "brne": "brne, a6xx\n    brne src1, imm5, #label\n  branches if a != b\n" + SOURCES + "\n" + SLOT +
            "\nbrne, a6xx\n    brne src1, bit, #label\n  branches if !(a >> b & 1)\n" + SOURCES + "\n" + SLOT,
    "jump": "jump, a6xx\n    jump #label\n\n" + SLOT,
    "ret": "ret, a6xx\n    ret\n  delay slot, then pop the call stack\n",
    "nop": "nop, a6xx\n    [(rep)]nop\n  nothing\n",
    "mov": "mov, a6xx\n    [(rep)][(xmovN)][(peek)]mov dst, src2\n  result: a | b\n" + SOURCES +
           "\nmov, a6xx\n    [(rep)]mov dst, imm16\n    [(rep)]mov dst, imm16 << shift\n  result: b\n" + SOURCES,
}


def meanings():
    """The whole of what is shown; and the whole of what the server says that it can."""
    c = Client().start()
    assert c.can == {"textDocumentSync": {"openClose": True, "change": 2}, "positionEncoding": "utf-16", "hoverProvider": True,
                     "completionProvider": {"triggerCharacters": ["@", "%", "#", "$", "."]}, "definitionProvider": True,
                     "referencesProvider": True, "documentSymbolProvider": True}, c.can
    capitals = [word for word in MEANINGS if word.isupper()]
    text = HEAD + "; %s\nmov $02, 0x8810\nmov $02, 0x7f\nbrne $02, 0x3, #a\nnop\na: jump #a\n ret\nnop\n" % " ".join(capitals)
    assert c.open(text) == []
    for word, meaning in MEANINGS.items():
        found = c.hover(word)
        assert found == meaning, "%r\n%r" % (found, meaning)
    assert c.open("; vp1-g80 vp1\nl: bra $c0 true #l\n call $c0 true #l\n") == []
    for word, leads in (("bra", "  branches if "), ("call", "  calls if ")):
        found = c.hover(word)
        assert len(re.findall("^%s" % leads, found, re.M)) == 4 and "result" not in found, found
    c.close()


def options():
    wrong = [{"gen": "a9xx"}, {"gen": 6}, {"gen": "a6xx\0"}, {"engine": "none"}, {"engine": "seq", "chip": "g92"}, {"engine": "pfifo"},
             {"rnn": "/no/such/folder"}]
    c = Client()
    for each in wrong:
        assert c.refuse("initialize", {"capabilities": {}, "initializationOptions": each}) == -32602, each
    assert c.refuse("initialize", []) == -32602
    c.start(gen="a7xx")     # it may be tried again
    c.close()
    for args, said in ((["file"], "takes no file"), (["--gen", "x"], "--gen x"), (["--limit", "1"], "unknown option")):
        run = subprocess.run([CPSCOPE, "lsp", *args], capture_output=True, stdin=subprocess.DEVNULL)
        assert run.returncode == 2 and said in run.stderr.decode() and not run.stdout, run


def hostile():
    start = frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    endings = [b"Content-Length: 99999999999\r\n\r\n", b"Content-Length: 17000000\r\n\r\n", b"Content-Length: -1\r\n\r\n",
               b"Content-Length: x\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: 5\r\n\r\n{", b"Content-Length: 5",
               b"x" * 5000, frame(b"{"), frame(b"[]"), frame(b"null"), frame(b"[" * 5000), frame(b"\xff\xfe"), b"\0" * 100]
    for end in endings:
        for before in (b"", start):
            run = subprocess.run([CPSCOPE, "lsp"], input=before + end, capture_output=True, timeout=120)
            err = run.stderr.decode()
            assert run.returncode == 3 and err.count("\n") == 1 and "Language Server Protocol" in err, (end, run)
            assert b'"code":-32700' in run.stdout, (end, run)
    for message in ({}, {"id": {}}, {"id": [1], "method": "x"}, {"id": None, "method": "shutdown"}, {"method": 5},
                    {"id": 1, "method": None}):
        run = subprocess.run([CPSCOPE, "lsp"], input=start + frame(message), capture_output=True, timeout=120)
        assert run.returncode == 1 and b'"code":-32600' in run.stdout and not run.stderr, (message, run)


def large():
    """Texts that are large or odd are answered in time, and one that is too large is said to be."""
    c = Client().start()
    lines = HEAD + "".join("l%d: jump #l%d\n" % (i, i * 7 % 8000) for i in range(8000))
    assert c.open(lines) == []
    assert len(c.ask("textDocument/documentSymbol", {"textDocument": {"uri": ASM}})) == 8000
    assert len(c.ask("textDocument/references", c.at("#l7\n", 1))) == 1
    for text in ("a." * 200000, "[" * 400000, "(" * 100000, "\r" * 50000, "\0" * 1000, "a[0]" * 100000, HEAD + "\0;\0"):
        c.open(text)
        c.texts[ASM] = text
        for inside in (0, len(text) // 2, len(text)):
            where = {"textDocument": {"uri": ASM}, "position": {"line": 0, "character": inside}}
            for method in ("hover", "definition", "references", "completion"):
                c.ask("textDocument/" + method, where)
    full = "x" * (10 << 20)
    assert c.open(full)
    c.notify("textDocument/didChange", {"textDocument": {"uri": ASM, "version": 3}, "contentChanges": [
        {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": full}]})
    assert "at most 16 MiB" in c.note("window/logMessage")["message"]
    c.close()


def many_values():
    """A message has at most 100,000 values and members: each takes some hundred bytes of memory. Signs in texts are none."""
    start = frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    end = frame({"jsonrpc": "2.0", "id": 3, "method": "shutdown"}) + frame({"jsonrpc": "2.0", "method": "exit"})
    around = b'{"jsonrpc":"2.0","id":2,"method":"x","params":[%s]}'    # 9 of them
    for inside, good in ((b",".join([b"{}"] * 5000000), False), (b",".join([b"1"] * 99992), True), (b",".join([b"1"] * 99993), False),
                         (b'"%s\\"[["' % (b"[,:{" * 100000), True)):
        run = subprocess.run([CPSCOPE, "lsp"], input=start + frame(around % inside) + end, capture_output=True, timeout=120)
        said = b"expected at most 100000 values and members in a message of the Language Server Protocol"
        assert (run.returncode == 0) == good == (said not in run.stderr) == (b'"id":2' in run.stdout), (inside[:20], run)


def many_places():
    """An answer has at most 20,000 places, each of which takes some KiB."""
    c = Client().start()
    for count in (20000, 20001):
        c.open(HEAD + "l0: nop\n" + "l0x: jump #l0\n" * (count - 1))
        whole = {"textDocument": {"uri": ASM}}
        uses = {**c.at("l0:"), "context": {"includeDeclaration": True}}
        if count == 20000:
            assert len(c.ask("textDocument/documentSymbol", whole)) == len(c.ask("textDocument/references", uses)) == count
            continue
        for method, params in (("documentSymbol", whole), ("references", uses)):
            error = c.reply("textDocument/" + method, params)["error"]
            assert error["message"] == "the answer has 20001 places, expected at most 20000", error
    c.close()


def long_line():
    """Places in a line of several blocks are right, in units of either kind."""
    text = HEAD + "l1: nop\njump " + "".join("#l1 " + ODD * (n % 5) + "\u00e9" * (n % 3) for n in range(1000)) + "\njump #l1\n"
    for capabilities in ({}, UTF8):
        c = Client().start(capabilities)
        c.open(text)
        found = [place["range"]["start"] for place in c.ask("textDocument/references", c.at("l1:"))]
        starts = [position(text, m.start(), c.encoding) for m in re.finditer("#l1", text)]
        assert found == starts, (found[:3], starts[:3])
        c.close()


UTF8 = {"general": {"positionEncodings": ["utf-8", "utf-16"]}}
tap.run([
    ("a session: open, close, shut down, exit", life), ("what comes out of order is refused, or dropped", order),
    ("the exit status says whether shutdown came", exits), ("mistakes are shown, and go when mended", diagnostics),
    ("mistakes are the assembler's", same_errors),
    ("mistakes are the reader's of PM4 text", same_pm4_errors), ("edits in UTF-16 units give the text", lambda: edits({})),
    ("edits in bytes give the text", lambda: edits(UTF8)), ("edges of positions, and wrong ones", edges),
    ("meanings come from the tables", hovers), ("definitions, uses and symbols", places),
    ("completion by place", completions), ("PM4 text", pm4), ("other engines and generations", engines),
    ("options of the client", options), ("hostile input ends with one error", hostile),
    ("a message of too many values ends it", many_values), ("an answer of too many places is refused", many_places),
    ("places in a long line", long_line), ("large and odd texts", large), ("texts beyond the most, several at once", limits), ("numbers, comments, long packets", details),
    ("lines of PM4 text that are wrong", broken_lines), ("sizes of characters, ends of lines", characters),
    ("the whole of meanings", meanings)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The debug adapter through a strict client: what each message must hold is a table, written from the
published specification (dap_client.py). Usage: dap.py CPSCOPE
[ENGINE RUN_FILE STEPS]: with an engine, only its script"""
import base64
import json
import os
import subprocess
import sys
import tempfile

import tap
from dap_client import BODIES, Client
from make import pm4
from tree import DEMO, SCRIPTS
from scene import CPSCOPE


def life(folder):
    c = Client().launch(demo=True)
    assert c.configured()["reason"] == "entry"
    assert c.ask("threads")["threads"] == [{"id": 1, "name": "sqe"}]
    c.ask("terminate")
    c.event("terminated")
    assert c.event("exited")["exitCode"] == 0
    c.close()


def functions(folder):
    c = Client().launch(demo=True, stopOnEntry=False)
    answers = c.ask("setFunctionBreakpoints", breakpoints=[
        {"name": "CP_SET_DRAW_STATE"}, {"name": "NO_SUCH"},
        {"name": "CP_NOP", "condition": "opcode == 0x11"}, {"name": "CP_NOP", "condition": "1 +"}])
    assert [a["verified"] for a in answers["breakpoints"]] == [True, False, True, False], answers
    stop = c.configured()
    assert stop["reason"] == "function breakpoint"
    assert stop["hitBreakpointIds"] == [answers["breakpoints"][0]["id"]]
    frames = c.ask("stackTrace", threadId=1)["stackFrames"]
    assert frames[0]["name"] == "CP_SET_DRAW_STATE" and frames[-1]["name"].startswith("ring ")
    _, packet = c.scope("Packet")
    assert packet[0]["value"].startswith("CP_SET_DRAW_STATE, opcode 0x43, 9 dwords"), packet[0]
    assert len(packet) == 10
    c.ask("setFunctionBreakpoints", breakpoints=[])
    assert c.move("continue")["description"].startswith("the end")
    c.close()


def steps(folder):
    c = Client().launch(demo=True)
    c.configured()
    states = []
    for _ in range(40):
        states.append((c.top()["instructionPointerReference"], c.registers()))
        c.move("stepIn")
    for state in reversed(states):
        c.move("stepBack")
        assert (c.top()["instructionPointerReference"], c.registers()) == state
    c.move("next")
    c.move("stepOut")
    c.close()


def instructions(folder):
    c = Client().launch(demo=True)
    c.configured()
    reference = c.top()["instructionPointerReference"]
    code = c.ask("disassemble", memoryReference=reference, instructionOffset=-3,
                 instructionCount=8)["instructions"]
    assert len(code) == 8 and code[3]["address"] == reference
    assert [int(i["address"], 16) - int(reference, 16) for i in code] == list(range(-12, 20, 4))
    far = c.ask("disassemble", memoryReference=reference, offset=-4 * 0x100, instructionOffset=0,
                instructionCount=4)["instructions"]
    assert all(i["presentationHint"] == "invalid" for i in far)
    word = base64.b64decode(c.ask("readMemory", memoryReference=reference, count=4)["data"])
    assert "%08x" % int.from_bytes(word, "little") == code[3]["instructionBytes"]
    answer = c.ask("setInstructionBreakpoints", breakpoints=[
        {"instructionReference": reference, "offset": 8}, {"instructionReference": "0x10"}])
    assert [a["verified"] for a in answer["breakpoints"]] == [True, False]
    hit = c.move("continue")
    assert hit["reason"] == "instruction breakpoint"
    assert int(c.top()["instructionPointerReference"], 16) == int(reference, 16) + 8
    c.close()


def data(folder):
    c = Client().launch(demo=True)
    c.configured()
    info = c.ask("dataBreakpointInfo", name="PC_DRAWCALL_CNTL")
    assert info["dataId"] and info["accessTypes"] == ["write", "read", "readWrite"]
    reference, _ = c.scope("Registers")
    gpr = c.ask("dataBreakpointInfo", variablesReference=reference, name="$02")
    assert gpr["dataId"] == "$02" and gpr["accessTypes"] == ["write"]
    assert c.ask("dataBreakpointInfo", name="no such thing")["dataId"] is None
    c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
    stop = c.move("continue")
    assert stop["reason"] == "data breakpoint"
    assert c.ask("evaluate", expression="PC_DRAWCALL_CNTL")["result"] == "0x00000084"
    step = c.ask("evaluate", expression="step")["result"]
    c.move("stepBack")
    assert c.ask("evaluate", expression="PC_DRAWCALL_CNTL", context="watch")["result"] == "0x00000000"
    assert c.move("continue")["reason"] == "data breakpoint"
    assert c.ask("evaluate", expression="step")["result"] == step
    c.ask("setDataBreakpoints", breakpoints=[{"dataId": "$02", "condition": "$02 == 0x84",
                                              "hitCondition": "1"}])
    assert c.move("reverseContinue")["reason"] == "data breakpoint"
    assert c.registers()["$02"] == "0x00000084"
    c.close()


def changes(folder):
    c = Client().launch(demo=True)
    c.configured()
    reference, _ = c.scope("Registers")
    assert c.ask("setVariable", variablesReference=reference, name="$05",
                 value="0x10 + 2")["value"] == "0x00000012"
    assert c.registers()["$05"] == "0x00000012"
    c.ask("setExpression", expression="[0x200000]", value="0xdeadbeef")
    c.ask("writeMemory", memoryReference="0x200001", data=base64.b64encode(b"AB").decode())
    got = c.ask("readMemory", memoryReference="0x200000", count=8)
    assert base64.b64decode(got["data"]) == b"\xefAB\xde" and got["unreadableBytes"] == 4
    c.move("stepIn")
    c.move("stepBack")
    assert c.registers()["$05"] == "0x00000012", "a change belongs to the run"
    assert "cannot be written" in c.refuse("setExpression", expression="1 + 1", value="2")
    assert "nested" in c.refuse("evaluate", expression="(" * 100)
    c.close()


def memory(folder):
    """Memory by bytes: offsets, ends, what nobody stored; a write is undone by going back behind it."""
    c = Client().launch(demo=True)
    c.configured()
    c.move("stepIn")
    at = {"memoryReference": "0x300000"}
    assert c.ask("readMemory", count=0, **at) == {"address": "0x300000", "data": "", "unreadableBytes": 0}
    assert c.ask("readMemory", count=8, **at) == {"address": "0x300000", "data": "", "unreadableBytes": 8}
    assert c.ask("writeMemory", offset=2, data=base64.b64encode(b"abcdefg").decode(), **at)["bytesWritten"] == 7
    got = c.ask("readMemory", offset=1, count=20, **at)
    assert got["address"] == "0x300001" and base64.b64decode(got["data"]) == b"\0abcdefg\0\0\0", got
    assert got["unreadableBytes"] == 9
    c.move("stepBack")
    assert c.ask("readMemory", count=4, **at)["unreadableBytes"] == 4, "it was not written yet"
    c.move("stepIn")
    assert base64.b64decode(c.ask("readMemory", offset=2, count=4, **at)["data"]) == b"abcd"
    c.close()


def written(folder):
    """Registers of every kind are written by name; what is no register is not."""
    c = Client().launch(demo=True)
    c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_EVENT_WRITE"}])
    c.configured()
    c.move("continue")
    stack = {"PREEMPT_INSTR", "SP"} | {"STACK%d" % i for i in range(8)}  # rnndb's A6XX_SQE_REG
    names = {v["name"] for v in c.scope("SQE registers")[1]}
    assert "STACK0" in names and names <= stack, names
    for scope in ("Registers", "Control registers", "SQE registers", "GPU registers"):
        reference, variables = c.scope(scope)
        name = variables[-1]["name"] if scope != "Registers" else "$0a"
        assert c.ask("setVariable", variablesReference=reference, name=name, value="0x15")["value"] == "0x00000015"
        new = {v["name"]: v["value"] for v in c.scope(scope)[1]}[name]
        assert new.startswith("0x00000015"), (scope, name, new)
        assert c.event("invalidated")["areas"] == ["all"]
    reference, variables = c.scope("Packet")
    assert "cannot be written" in c.refuse("setVariable", variablesReference=reference, name=variables[0]["name"], value="1")
    c.close()


def fields(folder):
    """Fields of a register are variables below it, enumerations by name."""
    c = Client().launch(demo=True)
    c.configured()
    c.move("continue")
    found = next(v for v in c.scope("GPU registers")[1] if v["name"] == "PC_DRAWCALL_CNTL")
    assert found["value"].startswith("0x00000084  PRIM_TYPE=DI_PT_TRILIST"), found
    below = c.ask("variables", variablesReference=found["variablesReference"])["variables"]
    assert {v["name"]: v["value"] for v in below}.items() >= {
        "PRIM_TYPE": "DI_PT_TRILIST", "SOURCE_SELECT": "DI_SRC_SEL_AUTO_INDEX"}.items(), below
    c.refuse("variables", variablesReference=(1 << 23) + (5 << 20))
    assert c.refuse("setVariable", variablesReference=found["variablesReference"], name="PRIM_TYPE", value="1")
    c.ask("dataBreakpointInfo", variablesReference=found["variablesReference"], name="PRIM_TYPE")
    c.close()


def state(folder):
    """The state at a draw, as `cpscope state` has it; the session stays where it is."""
    c = Client().launch(demo=True)
    c.configured()
    here = c.ask("evaluate", expression="step")["result"]
    for arguments, more in (({}, []), ({"draw": 0}, ["--draw", "0"]),
                            ({"draw": 0, "threadId": 1}, ["--draw", "0", "--processor", "sqe"])):
        done = subprocess.run([CPSCOPE, "state", "--demo", "--json", *more], capture_output=True, check=True)
        assert c.ask("state", **arguments) == json.loads(done.stdout)
    assert c.ask("state")["draws"] and c.ask("evaluate", expression="step")["result"] == here
    assert "counted from 0" in c.refuse("state", draw=1000)
    assert "from 0" in c.refuse("state", draw=-1)
    c.refuse("state", threadId=9)
    c.close()
    c = Client().launch(engine="hwsq", capture=os.path.join(SCRIPTS, "reclock.run"))
    assert "expected firmware" in c.refuse("state")
    c.close()


def all_asked(folder):
    """Every request that the table has was asked, and answered, by one of these cases."""
    left = set(BODIES) - Client.asked - {"attach"}   # dap_attach.py
    assert not left, left


def console(folder):
    c = Client().launch(demo=True)
    c.configured()
    assert "CP_SET_DRAW_STATE" in c.ask("evaluate", expression="b CP_SET_DRAW_STATE", context="repl")["result"]
    assert "step 264" in c.ask("evaluate", expression="c", context="repl")["result"]
    assert c.event("stopped")["reason"] == "breakpoint"
    assert "no command" in c.refuse("evaluate", expression="nonsense", context="repl")
    targets = c.ask("completions", text="b CP_SET_D", column=11)["targets"]
    assert {t["label"] for t in targets} >= {"CP_SET_DRAW_STATE"}, targets
    topics = [line.split()[1] for line in c.ask("evaluate", expression="info", context="repl")["result"].split("\n") if line.strip()]
    targets = [t["label"] for t in c.ask("completions", text="info ", column=6)["targets"]]
    assert len(targets) > 10 and set(targets) <= set(topics), (targets, topics)
    assert {"registers", "breakpoints", "packet", "draw", "counts", topics[0]} <= set(targets), (targets, topics[0])
    c.close()


def told(c):
    """What the client was told of points since it asked last: (reason, id, verified, line)."""
    c.ask("cancel")
    found = [e["body"] for e in c.events if e["event"] == "breakpoint"]
    c.events = [e for e in c.events if e["event"] != "breakpoint"]
    return [(e["reason"], e["breakpoint"]["id"], e["breakpoint"]["verified"], e["breakpoint"].get("line")) for e in found]


def typed_points(folder):
    """The editor shows what is typed: points that are made, changed and removed in the console."""
    c = Client().launch(demo=True)
    c.configured()
    source = c.ask("loadedSources")["sources"][0]
    place = 0xfd + 1

    def type(line):
        c.ask("evaluate", expression=line, context="repl")
        return told(c)

    assert type("b CP_SET_DRAW_STATE") == [("new", 1, True, place)]
    assert type("b CP_NOP if step > 3") == [("new", 2, True, None)], "no editor knows of the condition"
    assert type("w $02") == [("new", 3, True, None)]
    assert type("disable 1") == [("changed", 1, False, place)] and type("enable 1") == [("changed", 1, True, place)]
    assert type("cond 3 $02 == 0x84") == [("changed", 3, True, None)]
    assert type("p 1") == [] and type("info break") == []
    assert type("delete 3") == [("removed", 3, False, None)] and type("delete 2") == [("removed", 2, False, None)]
    answer = c.ask("setBreakpoints", source=source, breakpoints=[{"line": place}])["breakpoints"][0]
    assert told(c) == [] and "1 break" not in c.ask("evaluate", expression="info break", context="repl")["result"]
    assert c.move("continue")["hitBreakpointIds"] == [answer["id"]], "the editor has it as its own"
    assert type("delete %d" % answer["id"]) == [("removed", answer["id"], False, None)]
    c.ask("setBreakpoints", source=source, breakpoints=[])
    c.ask("restart")
    c.event("stopped")
    assert type("tb CP_SET_DRAW_STATE") == [("new", answer["id"] + 1, True, None)]
    assert c.move("continue")["reason"] == "breakpoint"
    assert told(c) == [("removed", answer["id"] + 1, False, None)]
    c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_NOP"}])
    assert told(c) == [], "that was answered"
    c.close()


def origins(folder):
    c = Client().launch(demo=True)
    c.configured()
    c.ask("evaluate", expression="tb CP_SET_DRAW_STATE", context="repl")
    c.move("continue")
    found = c.ask("why", expression="$rem", threadId=1)
    assert found["answer"]["nodes"][0]["kind"] in ("header", "remains") and found["text"].startswith("$rem = "), found
    here = c.ask("evaluate", expression="step")["result"]
    assert "has not written" in c.refuse("why", expression="0x3abc")
    assert "expected" in c.refuse("why", expression="event:")
    c.refuse("why")
    assert c.ask("evaluate", expression="step")["result"] == here
    c.close()


def exceptions(folder):
    path = os.path.join(folder, "bad.pm4")
    open(path, "w").write(pm4(".word 0xdeadd00d"))
    c = Client().launch(demo=True, capture=path)
    c.ask("setExceptionBreakpoints", filters=["deadlock", "bad-packet", "protect"])
    c.configured()
    assert c.move("continue")["reason"] == "exception"
    info = c.ask("exceptionInfo", threadId=1)
    assert info["exceptionId"] == "bad-packet" and "0xdeadd00d" in info["description"], info
    c.move("stepBack")
    assert "no exception" in c.refuse("exceptionInfo", threadId=1)
    c.close()


def protect(folder):
    path = os.path.join(folder, "prot.pm4")
    open(path, "w").write(pm4("reg 0x8a00 1"))
    c = Client().launch(demo=True, capture=path)
    c.ask("setExceptionBreakpoints", filters=["protect"])
    c.configured()
    for name, value in (("reg:0x84f", "3"), ("reg:0x850", "0x8a00")):
        c.ask("setExpression", expression=name, value=value)
    assert c.move("continue")["reason"] == "exception"
    assert c.ask("exceptionInfo", threadId=1)["exceptionId"] == "protect"
    c.close()


LOOP = ("[016ee001]\n[01000000]\nl:\nadd $02, $02, 0x1\nstore $02, [$00 + 0x100]\n"
        "jump #l\nadd $03, $03, $02\n")


def endless(folder):
    source, fw = os.path.join(folder, "l.afuc"), os.path.join(folder, "l.fw")
    open(source, "w").write(LOOP)
    subprocess.run([CPSCOPE, "asm", source, "-o", fw], check=True)
    return fw


def running(folder):
    """Requests are answered while the machine runs; those that need it to stand are refused."""
    c = Client().launch(fw=endless(folder), stopOnEntry=False)
    c.ask("configurationDone")
    for _ in range(20):
        assert c.ask("threads")["threads"][0]["name"] == "sqe"
        c.ask("setFunctionBreakpoints", breakpoints=[])
    assert "runs" in c.refuse("next", threadId=1)
    c.ask("pause", threadId=1)
    c.event("stopped")
    c.ask("continue", threadId=1)
    c.ask("restart")
    assert c.event("stopped")["reason"] == "entry"
    c.ask("reverseContinue", threadId=1)
    c.event("stopped")
    c.close()


def ending(folder):
    """Whatever runs, the end comes through: behind a console command, and before the first stop."""
    fw = endless(folder)
    c = Client().launch(fw=fw)
    c.configured()
    c.send("evaluate", expression="c", context="repl")
    c.send("disconnect")
    c.process.communicate(timeout=120)
    assert c.process.returncode == 0
    path = os.path.join(folder, "one.pm4")
    open(path, "w").write(pm4("CP_NOP 1"))
    c = Client()
    c.send("launch", fw=fw, capture=path)
    c.process.communicate(timeout=120)
    assert c.process.returncode == 0


def restarting(folder):
    """A new run has none of the old one's changes; breakpoints of other files stay."""
    c = Client().launch(demo=True)
    c.configured()
    c.ask("setExpression", expression="$0a", value="0x1234")
    c.move("stepIn")
    c.ask("restart")
    c.event("stopped")
    assert c.registers()["$0a"] == "0x00000000"
    c.close()


def pausing(folder):
    """A run that would go on for ever; pauses and ends come through."""
    c = Client().launch(fw=endless(folder))
    c.configured()
    c.ask("continue", threadId=1)
    c.ask("pause", threadId=1)
    assert c.event("stopped")["reason"] == "pause"
    first = int(c.ask("evaluate", expression="step")["result"], 16)
    c.ask("continue", threadId=1)
    c.ask("pause", threadId=1)
    c.event("stopped")
    assert int(c.ask("evaluate", expression="step")["result"], 16) >= first
    c.ask("restart")
    assert c.event("stopped")["reason"] == "entry"
    assert c.ask("evaluate", expression="step")["result"] == "0x00000000"
    c.ask("continue", threadId=1)
    c.close()


def sources(folder):
    elf = os.path.join(folder, "demo.elf")
    done = subprocess.run([CPSCOPE, "asm", "-g", DEMO, "-o", elf], capture_output=True, text=True)
    if "without" in done.stderr:
        raise tap.Skip("built without libelf")
    assert done.returncode == 0, done.stderr
    lines = open(DEMO).read().split("\n")
    line = next(i for i, text in enumerate(lines, 1) if text.startswith("CP_SET_DRAW_STATE:")) + 1
    c = Client("--fw", elf, "--demo").launch()
    source = {"path": DEMO, "name": "demo_sqe.afuc"}
    answer = c.ask("setBreakpoints", source=source, breakpoints=[{"line": line}, {"line": 99999}])
    assert [b["verified"] for b in answer["breakpoints"]] == [True, False], answer
    assert answer["breakpoints"][0]["line"] == line
    c.ask("setBreakpoints", source={"path": "/elsewhere/other.py"}, breakpoints=[{"line": 1}])
    c.configured()
    assert c.move("continue")["reason"] == "breakpoint"
    top = c.top()
    assert (top["line"], top["source"]["path"]) == (line, DEMO), top
    targets = c.ask("gotoTargets", source=source, line=line + 1)["targets"]
    c.ask("goto", threadId=1, targetId=targets[0]["id"])
    assert c.event("stopped")["reason"] == "goto"
    assert c.top()["line"] == line + 1
    c.close()


def instruction_lines(c, reference):
    """Addresses of a listing's lines, each behind its label, if it has one."""
    text = c.ask("source", sourceReference=reference, source={"sourceReference": reference})["content"]
    assert text.endswith("\n")
    labels = [line[:28].strip() for line in text.splitlines()]
    assert all(label == "" or label[-1] == ":" and label[:-1] for label in labels), labels
    return [int(line[29:].split()[0], 16) for line in text.splitlines()]


def listing(folder):
    """Firmware without a source: the listing is one, a line for a dword; breakpoints and goto in it."""
    c = Client().launch(demo=True)
    source = c.ask("loadedSources")["sources"][0]
    assert source["name"] == "sqe.asm" and source["sourceReference"] == 1, source
    lines = instruction_lines(c, 1)
    assert lines == list(range(len(lines)))
    assert "\nCP_NOP: " in c.ask("source", sourceReference=1, source=source)["content"]
    answer = c.ask("setBreakpoints", source=source, breakpoints=[
        {"line": 0xfd + 1}, {"line": len(lines) + 1}, {"line": 0}, {"line": 0xfe + 1, "condition": "0"}])["breakpoints"]
    assert [b["verified"] for b in answer] == [True, False, False, True] and "no code" in answer[1]["message"], answer
    assert answer[0]["line"] == 0xfd + 1 and answer[0]["source"]["sourceReference"] == 1
    c.ask("setBreakpoints", source={"path": "/elsewhere/other.afuc"}, breakpoints=[])
    c.configured()
    stop = c.move("continue")
    assert stop["reason"] == "breakpoint" and stop["hitBreakpointIds"] == [answer[0]["id"]]
    top = c.top()
    assert (top["name"], top["line"], top["source"]) == ("CP_SET_DRAW_STATE", 0xfd + 1, source), top
    targets = c.ask("gotoTargets", source=source, line=0x40)["targets"]
    c.ask("goto", threadId=1, targetId=targets[0]["id"])
    assert c.event("stopped")["reason"] == "goto" and c.top()["line"] == 0x40
    assert c.ask("gotoTargets", source=source, line=1 << 20)["targets"] == []
    c.ask("setBreakpoints", source=source, breakpoints=[])
    assert c.move("reverseContinue")["reason"] == "start", "they are gone"
    c.close()


def listing_from_0(folder):
    c = Client()
    c.ask("initialize", adapterID="cpscope", linesStartAt1=False)
    c.ask("launch", demo=True)
    c.configured()
    answer = c.ask("setBreakpoints", source={"sourceReference": 1}, breakpoints=[{"line": 0xfd}])["breakpoints"]
    assert answer[0]["line"] == 0xfd
    c.move("continue")
    assert c.top()["line"] == 0xfd
    c.close()


def uneven(folder):
    """Instructions of several lengths: the place of each step is the line of it."""
    c = Client().launch(engine="hwsq", capture=os.path.join(SCRIPTS, "reclock.run"))
    c.configured()
    lines = instruction_lines(c, 1)
    assert lines != list(range(len(lines))), "they have several lengths"
    for _ in range(6):
        top = c.top()
        assert lines[top["line"] - 1] == int(top["instructionPointerReference"], 16) and top["column"] == 1, top
        c.move("stepIn")
    answer = c.ask("setBreakpoints", source={"sourceReference": 1}, breakpoints=[{"line": 8}])
    assert answer["breakpoints"][0]["line"] == 8
    assert c.move("continue")["reason"] == "breakpoint" and c.top()["line"] == 8
    c.close()


def bad_requests(folder):
    c = Client()
    assert "launched" in c.refuse("threads")
    assert "not known" in c.refuse("fly")
    assert "No such file" in c.refuse("launch", fw="/nowhere.fw")
    assert "expected" in c.refuse("launch")
    assert "expected" in c.refuse("launch", demo=True, gen="a9xx")
    assert "policy fb-delay=3: expected waits" in c.refuse("launch", demo=True, policy="fb-delay=3")
    c.launch(demo=True)
    c.configured()
    for command, arguments in (
            ("stackTrace", {"threadId": 99}), ("scopes", {"frameId": -1}),
            ("variables", {"variablesReference": 12345}), ("variables", {"variablesReference": "x"}),
            ("setVariable", {"variablesReference": 1, "name": 5, "value": []}),
            ("readMemory", {"memoryReference": "zzz", "count": 4}),
            ("readMemory", {"memoryReference": "0x0", "count": 1 << 40}),
            ("writeMemory", {"memoryReference": "0x0", "data": "!!!"}),
            ("disassemble", {"memoryReference": "0x0", "instructionCount": 1 << 40}),
            ("evaluate", {}), ("goto", {"threadId": 1, "targetId": 1 << 20}),
            ("source", {"sourceReference": 9}), ("continue", {"threadId": 0})):
        c.refuse(command, **arguments)
    c.ask("setFunctionBreakpoints", breakpoints=[{}, {"name": None}])
    c.ask("cancel")
    c.close()


def bad_wire(folder):
    for text in (b"garbage\r\n\r\n{}", b"Content-Length: 99999999999999999999\r\n\r\n",
                 b"Content-Length: -5\r\n\r\n", b"Content-Length: 10\r\n\r\n{}",
                 b"Content-Length: 4\r\n\r\n{x}}", b"Content-Length: 2\r\n\r\n[]", b"A" * 5000,
                 b"Content-Length: 2\r\n", b"\r\n\r\n", b"Content-Length: 2\r\n\r\n\x00\xff"):
        done = subprocess.run([CPSCOPE, "step", "--dap"], input=text, capture_output=True, timeout=120)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 3 and len(lines) == 1 and "expected" in lines[0], (text[:40], lines)
    done = subprocess.run([CPSCOPE, "step", "--dap"], input=b"", capture_output=True, timeout=120)
    assert done.returncode == 0 and not done.stderr


def pfifo(folder):
    c = Client().launch(engine="pfifo", capture=os.path.join(SCRIPTS, "pfifo-nv3.run"))
    c.configured()
    for _ in range(3):
        c.move("stepIn")
    assert c.registers()
    assert c.move("continue")["description"].startswith("the end")
    c.close()


def script_of(engine, run, steps=6):
    """A script goes through the same adapter: break on a place, watch a register, go back, read, write."""
    def case(folder):
        c = Client().launch(engine=engine, capture=os.path.join(SCRIPTS, run))
        assert c.configured()["reason"] == "entry"
        assert c.ask("threads")["threads"][0]["name"] == engine
        first = [c.registers()]
        for _ in range(steps):
            c.move("stepIn")
            first.append(c.registers())
        assert any(state != first[0] for state in first), "instructions change registers"
        place = c.top()["instructionPointerReference"]
        answer = c.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": place}])
        assert answer["breakpoints"][0]["verified"], answer
        for state in reversed(first[:-1]):
            c.move("stepBack")
            assert c.registers() == state
        assert c.move("continue")["reason"] == "instruction breakpoint" and c.registers() == first[-1]
        code = c.ask("disassemble", memoryReference=place, instructionOffset=0, instructionCount=3)["instructions"]
        assert code[0]["address"] == place and code[0]["instruction"].strip(), code
        reference, registers = c.scope("Registers")
        name = registers[-1]["name"]
        info = c.ask("dataBreakpointInfo", variablesReference=reference, name=name)
        assert info["dataId"] == name, info
        c.ask("setVariable", variablesReference=reference, name=name, value="1")
        assert int(c.registers()[name], 16) == 1
        c.ask("setInstructionBreakpoints", breakpoints=[])
        c.move("reverseContinue")
        assert int(c.ask("evaluate", expression="step")["result"].split()[0], 0) == 0
        assert c.move("continue")["description"].startswith("the end")
        c.close()
    return case


CASES = [
    ("a script of HWSQ", script_of("hwsq", "reclock.run")),
    ("a script of SEQ", script_of("seq", "pause.run")),
    ("a script of VP1", script_of("vp1", "vp1.run", 10)),
    ("a run of PFIFO, which has no code", pfifo),
    ("from launch to disconnect", life),
    ("function breakpoints, conditions, the packet and the streams", functions),
    ("forty steps and forty steps back pass the same states", steps),
    ("disassembly, instruction breakpoints, code as memory", instructions),
    ("data breakpoints, forward and back", data),
    ("registers and memory are written, and stay so in time", changes),
    ("the console runs the debugger's commands", console),
    ("points that are typed show in the editor", typed_points),
    ("where a value comes from", origins),
    ("a refused packet is an exception", exceptions),
    ("a forbidden write is one, if asked for", protect),
    ("pause, restart and disconnect during an endless run", pausing),
    ("requests during a run", running),
    ("the end comes through whatever runs", ending),
    ("restart forgets changes", restarting),
    ("lines of the assembly source", sources),
    ("firmware without a source has a listing", listing),
    ("a client that counts lines from 0", listing_from_0),
    ("the listing of instructions of several lengths", uneven),
    ("bad requests are refused with a reason, and the session goes on", bad_requests),
    ("memory by bytes, and back in time", memory),
    ("registers of every kind are written", written),
    ("fields are variables below their register", fields),
    ("the state at a draw", state),
    ("every request was asked", all_asked),
    ("what is not the protocol ends with one error", bad_wire),
]

if len(sys.argv) > 2:
    CASES = [("a script of " + sys.argv[2], script_of(sys.argv[2], os.path.abspath(sys.argv[3]), int(sys.argv[4])))]

with tempfile.TemporaryDirectory() as folder:
    tap.run([(name, lambda case=case: case(folder)) for name, case in CASES])

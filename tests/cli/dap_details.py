#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The debug adapter: details of requests as the published specification has them, and what is refused. Usage: dap_details.py
CPSCOPE"""
import base64
import fcntl
import json
import os
import struct
import subprocess
import termios
import threading

import a5xx_pair
import machine
import make
import tap
from scene import cpscope, path
from tree import DEMO, SCRIPTS
from dap_client import BODIES, CPSCOPE, Client
from debugger_firmware import calls, two_processors



def firmware():
    cpscope("asm", DEMO, "-o", path("demo.fw"))
    return path("demo.fw")


def demo(**arguments):
    c = Client().launch(demo=True, **arguments)
    c.configured()
    return c


def labels(c, text, column):
    return [target["label"] for target in c.ask("completions", text=text, column=column)["targets"]]


def completions():
    """Columns begin at 1, unless the client said 0; what stands behind the column plays no part. The label replaces `length`
    characters from `start` on."""
    c = demo()
    for text, column, start, length, label in (
            ("p @IB_LEV", 10, 3, 7, "@IB_LEVEL"), ("watch |EVENT_CM", 16, 7, 9, "|EVENT_CMD"), ("p PC_DRAWCALL_CNT", 18, 3, 15, "PC_DRAWCALL_CNTL"),
            ("p %PREEMPT_IN", 14, 3, 11, "%PREEMPT_INSTR"), ("b CP_SET_DRAWxyz if 1", 14, 3, 11, "CP_SET_DRAW_STATE"), ("inf", 4, 1, 3, "info"), ("thread s", 9, 8, 1, "sqe")):
        targets = c.ask("completions", text=text, column=column)["targets"]
        wanted = {"label": label, "start": start, "length": length}
        assert wanted in targets if label else targets == [], (text, targets)
    assert "REG_READ_ADDR" not in labels(c, "p @REG_READ_AD", 15) and "@REG_READ_ADDR" in labels(c, "p @REG_READ_AD", 15)
    assert labels(c, "p R", 4) == [], "tens of thousands begin so"
    assert labels(c, "nonsense x", 11) == [] and set(labels(c, "reverse-st", 11)) == {"reverse-step", "reverse-stepi"}
    c.close()
    c = Client()
    c.ask("initialize", adapterID="cpscope", columnsStartAt1=False)
    c.ask("launch", demo=True)
    c.configured()
    target = c.ask("completions", text="b CP_SET_DRAWxyz", column=13)["targets"][0]
    assert target == {"label": "CP_SET_DRAW_STATE", "start": 2, "length": 11}, target
    c.close()
    names = path("names.txt", "0x44 my_own_label\n0x45 my_other\n")
    c = Client().launch(fw=firmware(), symbols=names, capture=path("one.pm4", make.pm4("CP_NOP")))
    c.configured()
    assert labels(c, "b my_o", 7) == ["my_own_label", "my_other"] or set(labels(c, "b my_o", 7)) == {"my_own_label", "my_other"}
    c.close()
    args = two_processors()
    c = Client().launch(fw=args[1], capture=args[2])
    c.configured()
    assert labels(c, "core ", 6) == ["sqe", "bv"], labels(c, "core ", 6)
    c.close()


def data_points():
    """dataBreakpointInfo: a name, which may be an address; data points have a hit condition that is a number."""
    c = demo()
    assert c.refuse("dataBreakpointInfo") == 'dataBreakpointInfo: expected "name"'
    info = c.ask("dataBreakpointInfo", name="0x200000", asAddress=True)
    assert info["dataId"] == "[0x200000]" and "write" in info["accessTypes"], info
    c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
    assert c.move("continue")["reason"] == "data breakpoint"
    got = c.ask("readMemory", memoryReference="0x200000", count=4)
    assert base64.b64decode(got["data"]) == (0x11).to_bytes(4, "little"), got
    answers = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_NOP", "hitCondition": text} for text in ("0", "x", "2 times", "2", "0x2", "")])
    assert [a["verified"] for a in answers["breakpoints"]] == [False, False, False, True, True, True], answers
    assert answers["breakpoints"][1]["message"] == 'hit condition "x": expected a number from 1', answers
    many = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_NOP"}] * 257)["breakpoints"]
    assert [a["verified"] for a in many] == [True] * 256 + [False] and many[256]["message"] == "more than 256 breakpoints of a kind", many[256]
    assert c.refuse("source", source={"path": "/demo.afuc"}) == 'source: expected "sourceReference"; open files by their path'
    assert c.refuse("setExpression", expression="$02") == 'expected a name or expression, and "value"'
    c.close()


def before_the_code():
    """disassemble has as many instructions as were asked for, counted in instructions; places in front of the code are invalid."""
    c = Client().launch(engine="hwsq", capture=os.path.join(SCRIPTS, "reclock.run"))
    c.configured()
    start = int(c.ask("disassemble", memoryReference=c.top()["instructionPointerReference"], instructionOffset=0, instructionCount=1)["instructions"][0]["address"], 16)
    places = [start + at for at in (0, 3, 6, 11, 16, 19)]  # ewait, ewait, data, addr, datalo, addr
    assert [int(i["address"], 16) for i in c.ask("disassemble", memoryReference="0x%x" % start, instructionCount=6)["instructions"]] == places
    for back in range(6):
        code = c.ask("disassemble", memoryReference="0x%x" % places[5], instructionOffset=-back, instructionCount=2)["instructions"]
        assert int(code[0]["address"], 16) == places[5 - back] and len(code) == 2, (back, code)
    code = c.ask("disassemble", memoryReference="0x%x" % places[1], instructionOffset=-3, instructionCount=5)["instructions"]
    assert [i.get("presentationHint") for i in code[:2]] == ["invalid"] * 2, code
    assert [int(i["address"], 16) for i in code[2:]] == places[:3], code
    c.close()


def typed_lines():
    """The console takes lines of commands, also where their point goes in between; it has no terminal for a shell."""
    c = demo()
    c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_NOP"}])
    for line in ("commands 1", "p 0x55"):
        c.ask("evaluate", expression=line, context="repl")
    c.ask("setFunctionBreakpoints", breakpoints=[])
    c.ask("evaluate", expression="end", context="repl")
    assert "0x00000066 = 102" in c.ask("evaluate", expression="p 0x66", context="repl")["result"]
    assert "no terminal" in c.refuse("evaluate", expression="shell echo 1", context="repl")
    assert "no terminal" in c.refuse("evaluate", expression="!echo 1", context="repl")
    c.close()


def typed_once():
    """A point for one time that is typed is called as it was, though it is gone."""
    c = demo()
    for line, reason, said in (("tb CP_NOP", "breakpoint", "breakpoint 1, CP_NOP"), ("tb pkt:CP_MEM_WRITE", "breakpoint", "breakpoint 2, pkt:CP_MEM_WRITE"),
                               ("watch $02", "data breakpoint", "watchpoint 3, $02")):
        c.ask("evaluate", expression=line, context="repl")
        c.ask("evaluate", expression="c", context="repl")
        stop = c.event("stopped")
        assert (stop["reason"], stop["description"]) == (reason, said), stop
    c.ask("evaluate", expression="delete", context="repl")
    c.ask("evaluate", expression="c", context="repl")
    assert c.event("stopped")["description"].startswith("the end")
    c.close()


def nameless_fields():
    """Bits of a register that no field has a name for are shown by their numbers."""
    c = demo(capture=path("bits.pm4", make.pm4("reg 0x8810 0xffffffff", "CP_NOP", "CP_WAIT_FOR_ME")))
    c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_WAIT_FOR_ME"}])
    c.move("continue")
    _, rows = c.scope("GPU registers")
    row = next(row for row in rows if row["evaluateName"] == "reg:0x8810")
    found = c.ask("variables", variablesReference=row["variablesReference"])["variables"]
    assert [(field["name"], field["value"]) for field in found] == [("PER_SAMP_MODE", "0x1"), ("bits 0 to 31", "0xfffffffe")], found
    c.close()


def own_state():
    """`state` of a session of one's own firmware, which marks other registers, is what the command says of the same files."""
    with open(DEMO, encoding="utf-8") as file:
        make.firmware(CPSCOPE, path("other"), file.read().replace("mov $addr, 0x9880 ", "mov $addr, 0x9881 ", 1))
    capture = path("state.pm4", make.pm4("CP_SET_MARKER 0x1", "reg 0x8810 0x2", "CP_DRAW_INDX_OFFSET 0x84 1 3"))
    c = Client().launch(fw=path("other.fw"), capture=capture)
    c.configured()
    found = c.ask("state", draw=0)["registers"]
    said = json.loads(cpscope("state", "--json", "--draw", "0", "--fw", path("other.fw"), capture).stdout)["registers"]
    assert found == said and {0x8810: "0x2", 0x9881: "0x1"}.items() <= {row["offset"]: row["value"] for row in found}.items(), (found, said)
    c.close()


def bad_files():
    """What cannot be read ends with one line; a text with a NUL is none."""
    for command in (["step", "--dap"], ["lsp"]):
        folder = os.open("/", os.O_RDONLY)
        done = subprocess.run([CPSCOPE, *command], stdin=folder, capture_output=True, text=True, timeout=120, check=False)
        os.close(folder)
        assert done.returncode == 3 and done.stderr == "cpscope: (stdin): cannot read: Is a directory\n", (done.returncode, done.stderr)
    c = Client()
    for name, value, text in (("fw", "a\0b", '"fw" is "a\\u0000b"'), ("fw", ["a", "b\0"], '"fw" is "b\\u0000"'), ("capture", "a\0b", '"capture" is "a\\u0000b"')):
        assert c.refuse("launch", **{"demo": True, name: value}) == "launch: %s: expected a text without NUL" % text
    c.launch(demo=True)
    c.close()


def flood():
    """A client may send much more than one that waits for answers: all are answered, one behind the other."""
    c = demo()
    sent = [c.send("evaluate", expression="%d + 1" % i) for i in range(400)]
    for i, seq in enumerate(sent):
        assert int(c.answer(seq, "evaluate")["body"]["result"], 16) == i + 1
    c.close()


def abilities():
    """`initialize` says what the adapter can: by the names of the specification, all of them true; and which exceptions it knows."""
    c = Client()
    body = c.ask("initialize", adapterID="cpscope")
    filters = body.pop("exceptionBreakpointFilters")
    assert [(f["filter"], f["label"], f["default"]) for f in filters] == [
        ("deadlock", "Deadlocks", True), ("bad-packet", "Packets that the firmware rejects", True), ("fault", "Faults", True),
        ("protect", "Writes that CP_PROTECT forbids", False)] and all(len(f) == 3 for f in filters), filters
    requests = ["ConfigurationDone", "Restart", "GotoTargets", "Completions", "ExceptionInfo", "Terminate", "ReadMemory", "WriteMemory", "Disassemble",
                "LoadedSources", "Cancel"]
    others = ["supportsFunctionBreakpoints", "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsEvaluateForHovers",
              "supportsStepBack", "supportsSetVariable", "supportsSetExpression", "supportTerminateDebuggee", "supportsDataBreakpoints",
              "supportsSteppingGranularity", "supportsInstructionBreakpoints"]
    assert body == dict.fromkeys(["supports%sRequest" % name for name in requests] + others, True), body
    assert all(name[0].lower() + name[1:] in BODIES for name in requests)
    c.launch(demo=True)
    c.close()


def when():
    """What needs a session is refused before there is one, what needs a machine that stands while it runs, in the same words."""
    always = {"initialize", "launch", "attach", "disconnect", "terminate", "cancel"}
    standing = {"configurationDone", "setVariable", "setExpression", "evaluate", "continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue",
                "goto", "writeMemory", "why", "state"}
    ending = {"initialize", "launch", "attach", "disconnect", "terminate", "restart", "pause"}
    c = Client()
    for command in sorted(set(BODIES) - always):
        assert c.refuse(command) == "nothing is launched yet", command
    c.ask("cancel")
    cpscope("asm", path("loop.afuc", "[016ee001]\n[01000000]\nl:\nadd $02, $02, 0x1\njump #l\nnop\n"), "-o", path("loop.fw"))
    c.launch(fw=path("loop.fw"), stopOnEntry=False)
    c.ask("configurationDone")
    for command in sorted(set(BODIES) - ending):
        answer = c.answer(c.send(command), command)
        assert (answer.get("message") == "the machine runs") == (command in standing), answer
    c.ask("pause", threadId=1)
    assert c.event("stopped")["reason"] == "pause"
    for command in sorted(standing - {"configurationDone"}):
        assert c.answer(c.send(command, threadId=99), command).get("message") != "the machine runs", command
    c.ask("disconnect")
    c.process.communicate(timeout=120)


def moves():
    """Where each request for a step leads. `outer` is called at 0x13 and calls `inner` at 0x17, which loops twice through 0x1e; each
    call and branch has a delay slot behind it (debugger_firmware.py)."""
    args = calls()
    c = Client().launch(fw=args[1], capture=args[2])
    c.configured()
    def pc():
        return int(c.ask("evaluate", expression="$pc")["result"], 16)
    def step():
        return int(c.ask("evaluate", expression="step")["result"], 16)
    c.ask("evaluate", expression="tb *0x13", context="repl")
    assert c.move("continue")["reason"] == "breakpoint" and pc() == 0x13
    start = step()
    for command, place, more in (("stepIn", 0x14, 1), ("stepIn", 0x17, 2), ("next", 0x19, 13), ("stepBack", 0x21, 12), ("stepIn", 0x19, 13),
                                 ("stepOut", 0x15, 16), ("stepBack", 0x1b, 15)):
        stop = c.move(command)
        assert stop["reason"] == "step" and (pc(), step() - start) == (place, more), (command, stop, hex(pc()), step() - start)
    c.close()


def scopes():
    """Kinds of registers that an engine has; the first one is what clients show as registers. A part of a list may be asked for."""
    c = demo()
    frame = c.top()["id"]
    found = c.ask("scopes", frameId=frame)["scopes"]
    assert [(s["name"], s["expensive"], s.get("presentationHint")) for s in found] == [
        ("Registers", False, "registers"), ("Control registers", True, None), ("SQE registers", False, None), ("GPU registers", True, None),
        ("Packet", False, None), ("Streams", False, None)], found
    assert len({s["variablesReference"] for s in found}) == 6
    whole = c.ask("variables", variablesReference=found[0]["variablesReference"])["variables"]
    names = ["$pc", "$npc"] + ["$%02x" % i for i in range(1, 0x1a)] + ["$sp", "$lr", "$rem", "$addr", "$usraddr"]
    assert [v["name"] for v in whole] == names == [v["evaluateName"] for v in whole], whole
    for start, count in ((0, 1), (2, 3), (31, 5), (32, 1), (40, 1), (5, 0), (0, 100)):
        part = c.ask("variables", variablesReference=found[0]["variablesReference"], start=start, count=count)["variables"]
        assert part == whole[start:start + count if count else None], (start, count, part)
    assert "variablesReference 7 is not known" == c.refuse("variables", variablesReference=7)
    assert "variablesReference 0 is not known" == c.refuse("variables", variablesReference=0)
    assert c.refuse("scopes", frameId=1 << 40).endswith("is not known") and c.refuse("scopes", frameId=-1) == "frameId -1 is not known"
    frames = c.ask("stackTrace", threadId=1)
    assert frames["totalFrames"] == len(frames["stackFrames"]) > 1, frames
    assert [f.get("presentationHint") for f in frames["stackFrames"]] == [None] + ["label"] * (frames["totalFrames"] - 1), frames
    total = frames["totalFrames"]
    for start, levels in ((0, 1), (1, 1), (1, 0), (0, total), (total - 1, 5), (total, 1)):
        part = c.ask("stackTrace", threadId=1, startFrame=start, levels=levels)
        assert part == {"stackFrames": frames["stackFrames"][start:start + levels if levels else None], "totalFrames": total}, (start, levels, part)
    c.close()
    for engine, run, names in (("hwsq", "reclock", ["Registers"]), ("seq", "pause", ["Registers"]), ("pfifo", "pfifo-nv3", ["Registers"])):
        c = Client().launch(engine=engine, capture=os.path.join(SCRIPTS, run + ".run"))
        c.configured()
        assert [s["name"] for s in c.ask("scopes")["scopes"]] == names, (engine, c.ask("scopes"))
        c.close()


def processors():
    """Code of two processors out of one file: an address is that of the image that begins last in front of it, a name may say whose
    it is; behind the end there is nobody's."""
    args = two_processors()
    c = Client().launch(fw=args[1], capture=args[2])
    c.configured()
    c.ask("evaluate", expression="tb event:REG", context="repl")
    assert c.move("continue")["threadId"] == 2
    top = [c.ask("stackTrace", threadId=thread)["stackFrames"][0] for thread in (1, 2)]
    pc = [int(c.ask("evaluate", expression="$pc", frameId=frame["id"])["result"], 16) for frame in top]
    start = [int(frame["instructionPointerReference"], 16) - 4 * at for frame, at in zip(top, pc)]
    lines = [len(c.ask("source", sourceReference=thread)["content"].splitlines()) for thread in (1, 2)]
    end = start[1] + 4 * lines[1]
    assert pc[1] == 0xb and start[0] < start[1] and end == start[0] + 4 * lines[0], (pc, start, lines)
    answers = c.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": "0x%x" % at} for at in (
        start[1], start[1] - 4, end - 4, end, start[0], start[0] - 4)])["breakpoints"]
    found = [(a["verified"], a.get("line"), a.get("source", {}).get("name")) for a in answers]
    assert found == [(True, 1, "bv.asm"), (True, lines[0] - lines[1], "sqe.asm"), (True, lines[1], "bv.asm"), (False, None, None), (True, 1, "sqe.asm"),
                     (False, None, None)], found
    assert answers[3]["message"] == "0x%x is in no processor's code" % end, answers[3]
    c.ask("setInstructionBreakpoints", breakpoints=[])
    answers = c.ask("setFunctionBreakpoints", breakpoints=[{"name": name} for name in ("bv:*0xc", "*0xc", "sqe:*0xc", "BV:*0xc", "2:*0xc", "bv:")])["breakpoints"]
    found = [(a["verified"], int(a["instructionReference"], 16) if a["verified"] else 0) for a in answers]
    assert found == [(True, start[1] + 0x30), (True, start[0] + 0x30), (True, start[0] + 0x30), (False, 0), (False, 0),
                     (True, start[1] + 4 * pc[1])], answers
    stop = c.move("continue")
    assert stop["threadId"] == 2 and stop["hitBreakpointIds"] == [answers[0]["id"]], stop
    assert stop["description"] == "breakpoint %d, *0xc" % answers[0]["id"], stop
    answers = c.ask("setBreakpoints", source={"sourceReference": 2}, breakpoints=[{"line": line} for line in (0, 1, lines[1], lines[1] + 1)])["breakpoints"]
    assert [(a["verified"], a.get("line")) for a in answers] == [(False, None), (True, 1), (True, lines[1]), (False, None)], answers
    c.close()


def bytes_of_memory():
    """base64 as RFC 4648 has it: of any length, with no bits behind the last byte."""
    c = demo()
    data = bytes(range(0xf1, 0xff)) + b"\xff\xff"
    for at in range(4):
        for size in range(1, 9):
            c.ask("writeMemory", memoryReference="0x300000", data=base64.b64encode(b"\xff" * 16).decode())
            c.ask("writeMemory", memoryReference="0x300000", offset=at, data=base64.b64encode(data[:size]).decode())
            got = c.ask("readMemory", memoryReference="0x300000", offset=at, count=size)
            assert got == {"address": "0x%x" % (0x300000 + at), "data": base64.b64encode(data[:size]).decode(), "unreadableBytes": 0}, (at, size, got)
            around = base64.b64decode(c.ask("readMemory", memoryReference="0x300000", count=16)["data"])
            assert around == b"\xff" * at + data[:size] + b"\xff" * (16 - at - size), (at, size, around)
    c.close()


def both_images():
    """`state` and breakpoints of a5xx, whose PFP and ME are two files."""
    images = [a5xx_pair.image(CPSCOPE, path(layout), layout, value) for layout, value in (("a5xx", 0x12345678), ("me", 0x87654321))]
    capture = path("pair.pm4", a5xx_pair.STREAM.replace("CP_NOP 0x1", "CP_NOP 0x1\n    CP_DRAW_INDX_OFFSET 0x84 1 3"))
    args = ["--fw", images[0], "--fw", images[1], capture]
    c = Client().launch(fw=images, capture=capture)
    c.configured()
    assert [t["name"] for t in c.ask("threads")["threads"]] == ["pfp", "me"]
    done = cpscope("state", "--json", *args)
    assert c.ask("state") == json.loads(done.stdout), done
    c.close()


def who_asks():
    """Neovim's client, by either spelling of the member, is told of a thread where a typed command moved the machine; others are not."""
    for name, value, told in (("clientID", "neovim", True), ("clientId", "neovim", True), ("clientID", "vscode", False), ("clientId", "Neovim", False)):
        c = Client()
        c.ask("initialize", **{"adapterID": "cpscope", name: value})
        c.ask("launch", demo=True)
        c.configured()
        c.events.clear()
        c.ask("evaluate", expression="si", context="repl")
        c.event("stopped")
        assert [e["body"] for e in c.events if e["event"] == "thread"] == [{"reason": "started", "threadId": 1}] * told, (name, value, c.events)
        c.close()


def deaf():
    """A client that sends 640 MiB and reads no answer: the adapter stops reading requests before they take 256 MiB, and then answers
    them all."""
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"  # sanitizers keep what was freed
    c = Client()
    messages = [json.dumps({"seq": n, "type": "request", "command": "x" * 1000000, "arguments": {"": "y" * (size << 20)}}).encode()
                for n, size in enumerate([0] + [14] * 45, 1)]

    def send():
        for text in messages:
            c.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        c.process.stdin.flush()
    sender = threading.Thread(target=send)
    sender.start()
    full = fcntl.fcntl(c.process.stdin, fcntl.F_GETPIPE_SZ)

    def waits():
        """It sleeps, and so does who sends: what is between them is full."""
        held = struct.unpack("i", fcntl.ioctl(c.process.stdin, termios.FIONREAD, b"\0" * 4))[0]
        return not sender.is_alive() or held > full - 4096 and set(machine.threads(c.process.pid)) == {"S"}
    machine.wait_until(waits, "it neither takes all nor waits")
    for number in range(1, len(messages) + 1):
        assert c.answer(number, "x" * 1000000)["success"] is False
    sender.join()
    peak = machine.peak_mebibytes(c.process.pid)
    assert peak < 256, "%d MiB" % peak
    c.seq = len(messages)
    c.close()
    return "%d MiB" % peak


tap.run([("completions by columns", completions), ("what data breakpoints are made from", data_points),
         ("instructions of several lengths, in front of a place", before_the_code), ("lines of commands in the console", typed_lines),
         ("points for one time that are typed", typed_once), ("fields without names", nameless_fields), ("the state with firmware of one's own", own_state), ("what is no input", bad_files),
         ("many requests at once", flood), ("a client that reads no answers", deaf), ("what the adapter can", abilities), ("requests before a session, and during a run", when),
         ("where steps lead", moves), ("scopes, parts of lists", scopes), ("code of two processors", processors),
         ("bytes of memory", bytes_of_memory), ("firmware of two files", both_images), ("whom moves are told", who_asks)])

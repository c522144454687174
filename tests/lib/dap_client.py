# SPDX-License-Identifier: MIT
"""A strict client of the debug adapter: what each message must hold is the table below, written from the published
specification. The program is the first argument of the test."""
import json
import re
import subprocess
from scene import CPSCOPE


# Members that a body must have, and those it may have, with their types.
BREAKPOINTS = ({"breakpoints": list}, {})
BODIES = {
    "initialize": ({}, None), "launch": ({}, {}), "attach": ({}, {}), "configurationDone": ({}, {}), "disconnect": ({}, {}),
    "terminate": ({}, {}), "restart": ({}, {}), "cancel": ({}, {}), "pause": ({}, {}),
    "threads": ({"threads": list}, {}),
    "stackTrace": ({"stackFrames": list}, {"totalFrames": int}),
    "scopes": ({"scopes": list}, {}), "variables": ({"variables": list}, {}),
    "setVariable": ({"value": str}, {"type": str, "variablesReference": int}),
    "setExpression": ({"value": str}, {"type": str, "variablesReference": int}),
    "evaluate": ({"result": str, "variablesReference": int}, {"memoryReference": str}),
    "completions": ({"targets": list}, {}),
    "setBreakpoints": BREAKPOINTS, "setFunctionBreakpoints": BREAKPOINTS,
    "setInstructionBreakpoints": BREAKPOINTS, "setDataBreakpoints": BREAKPOINTS,
    "setExceptionBreakpoints": ({}, {"breakpoints": list}),
    "dataBreakpointInfo": ({"dataId": (str, type(None)), "description": str}, {"accessTypes": list}),
    "exceptionInfo": ({"exceptionId": str, "breakMode": str}, {"description": str}),
    "continue": ({}, {"allThreadsContinued": bool}), "next": ({}, {}), "stepIn": ({}, {}),
    "stepOut": ({}, {}), "stepBack": ({}, {}), "reverseContinue": ({}, {}),
    "gotoTargets": ({"targets": list}, {}), "goto": ({}, {}),
    "readMemory": ({"address": str}, {"data": str, "unreadableBytes": int}),
    "writeMemory": ({}, {"bytesWritten": int, "offset": int}),
    "disassemble": ({"instructions": list}, {}),
    "source": ({"content": str}, {"mimeType": str}), "loadedSources": ({"sources": list}, {}),
    "state": ({"draws": list, "runs": list}, {"registers": list}),
    "why": ({"text": str, "answer": dict}, {}),     # the adapter's own
}
EVENTS = {
    "initialized": ({}, {}), "terminated": ({}, {}), "exited": ({"exitCode": int}, {}),
    "output": ({"output": str}, {"category": str}), "invalidated": ({}, {"areas": list}),
    "breakpoint": ({"reason": str, "breakpoint": dict}, {}),
    "continued": ({"threadId": int}, {"allThreadsContinued": bool}),
    "thread": ({"reason": str, "threadId": int}, {}),
    "stopped": ({"reason": str}, {"description": str, "threadId": int, "allThreadsStopped": bool,
                                  "hitBreakpointIds": list}),
}
ITEMS = {
    "threads": ({"id": int, "name": str}, {}),
    "stackFrames": ({"id": int, "name": str, "line": int, "column": int},
                    {"source": dict, "instructionPointerReference": str, "presentationHint": str}),
    "scopes": ({"name": str, "variablesReference": int, "expensive": bool}, {"presentationHint": str}),
    "variables": ({"name": str, "value": str, "variablesReference": int}, {"evaluateName": str}),
    "sources": ({"name": str, "sourceReference": int}, {"origin": str}),
    "breakpoints": ({"verified": bool}, {"id": int, "message": str, "source": dict, "line": int,
                                         "instructionReference": str}),
    "instructions": ({"address": str, "instruction": str},
                     {"instructionBytes": str, "symbol": str, "location": dict, "line": int,
                      "presentationHint": str}),
    "targets": ({"label": str}, {"id": int, "line": int, "start": int, "length": int,
                                 "instructionPointerReference": str}),
}


def check(value, shape, where):
    required, optional = shape
    for key, kind in required.items():
        assert key in value, "%s lacks %s" % (where, key)
        assert isinstance(value[key], kind), "%s: %s is %r" % (where, key, value[key])
    for key, found in value.items():
        if optional is not None and key not in required:
            assert key in optional, "%s: nobody knows %s" % (where, key)
            assert isinstance(found, optional[key]), "%s: %s is %r" % (where, key, found)
        if key in ITEMS and isinstance(found, list):
            for item in found:
                check(item, ITEMS[key], "%s.%s" % (where, key))


class Client:
    asked = set()   # by all of them

    def __init__(self, *args):
        self.process = subprocess.Popen([CPSCOPE, "step", "--dap", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.seq, self.heard, self.events = 0, 0, []
        self.runs, self.client = True, "test"

    def send(self, command, **arguments):
        self.seq += 1
        text = json.dumps({"seq": self.seq, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        return self.seq

    def receive(self):
        header = self.process.stdout.readline()
        match = re.fullmatch(rb"Content-Length: (\d+)\r\n", header)
        assert match and self.process.stdout.readline() == b"\r\n", header
        message = json.loads(self.process.stdout.read(int(match.group(1))))
        self.heard += 1
        assert message["seq"] == self.heard, "seq %r, expected %d" % (message["seq"], self.heard)
        if message["type"] == "event":
            check(message.get("body", {}), EVENTS[message["event"]], message["event"])
            self.note(message["event"])
            self.events.append(message)
        return message

    def note(self, event):
        """What runs is told of before it stops, but for the start."""
        assert event != "stopped" or self.runs, "stopped, but nobody said that it ran"
        self.runs = event == "continued" or (self.runs and event != "stopped")

    def answer(self, seq, command):
        while True:
            message = self.receive()
            if message["type"] == "response":
                assert message["request_seq"] == seq and message["command"] == command, message
                return message

    def ask(self, command, **arguments):
        message = self.answer(self.send(command, **arguments), command)
        assert message["success"], message
        self.asked.add(command)
        check(message["body"], BODIES[command], command)
        return message["body"]

    def refuse(self, command, **arguments):
        message = self.answer(self.send(command, **arguments), command)
        assert not message["success"] and message["message"], message
        return message["message"]

    def event(self, name):
        """The next event of that name, which may be there already."""
        while True:
            for i, message in enumerate(self.events):
                if message["event"] == name:
                    del self.events[i]
                    return message.get("body", {})
            self.receive()

    def launch(self, **arguments):
        body = self.ask("initialize", adapterID="cpscope", clientID=self.client)
        assert body["supportsStepBack"] and body["supportsDataBreakpoints"]
        self.ask("launch", **arguments)
        self.event("initialized")
        return self

    def configured(self):
        self.ask("configurationDone")
        return self.event("stopped")

    def move(self, command):
        self.ask(command, threadId=1)
        return self.event("stopped")

    def top(self):
        return self.ask("stackTrace", threadId=1)["stackFrames"][0]

    def registers(self):
        scope = self.ask("scopes", frameId=self.top()["id"])["scopes"][0]
        found = self.ask("variables", variablesReference=scope["variablesReference"])["variables"]
        return {v["name"]: v["value"] for v in found}

    def scope(self, name):
        scopes = self.ask("scopes", frameId=self.top()["id"])["scopes"]
        reference = next(s["variablesReference"] for s in scopes if s["name"] == name)
        return reference, self.ask("variables", variablesReference=reference)["variables"]

    def close(self):
        self.ask("disconnect")
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == 0 and not out and not err, (self.process.returncode, err)

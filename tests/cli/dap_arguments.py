#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The debug adapter's arguments: what launch takes, and what is of a wrong type. Usage: dap_arguments.py CPSCOPE"""
import os
import re
import subprocess
import tempfile

import tap
from dap_client import CPSCOPE, Client
from hang_scene import Scene


def policy(folder):
    c = Client().launch(demo=True, policy="prefetch=off waits=stop")
    c.ask("setExceptionBreakpoints", filters=["deadlock"])
    c.configured()
    assert c.move("continue")["reason"] == "exception"
    assert c.ask("exceptionInfo", threadId=1)["exceptionId"] == "deadlock"
    c.close()


def options(folder):
    """launch takes what `step` takes, by the same names, and complains of it in the same words."""
    for arguments, message in (
            ({"waits": True}, 'launch: "waits" is true: expected a text'),
            ({"submit": "x"}, "--submit x: expected a number"),
            ({"submit": -1}, "--submit -1: expected a number"),
            ({"submit": 1.5}, 'launch: "submit" is 1.5: expected a whole number'),
            ({"fw": ["a", 7]}, 'launch: "fw" is 7: expected a text'), ({"fw": [None]}, '"fw[0]" is null'),
            ({"demo": "yes"}, 'launch: "demo" is "yes": expected true or false'),
            ({"chip-id": "x"}, "--chip-id x: expected ID[:VARIANT]"), ({"chip": "g92"}, "--chip has no meaning"),
            ({"engine": "bogus"}, "--engine bogus: expected"), ({"names": "measured"}, "--names has no meaning"),
            ({"engine": "vp1", "names": "x", "demo": False}, "--names x: expected measured or envytools"),
            ({"engine": "seq", "seqAbi": "x", "demo": False}, "--seq-abi x: expected"),
            ({"inject": "x@y"}, "x@y"), ({"capture": 5}, 'launch: "capture" is 5: expected a text'),
            ({"stopOnEntry": 1}, 'launch: "stopOnEntry" is 1: expected true or false')):
        c = Client()
        assert message in c.refuse("launch", **dict({"demo": True}, **arguments)), arguments
        c.launch(demo=True)     # and goes on
        c.close()
    c = Client().launch(**{"demo": True, "waits": "stop", "prefetch": "off", "screen": False, "request": "launch",
                           "chip-id": 0x6030000, "limit": "1M", "fw-path": folder, "symbols": None})
    c.configured()
    assert c.move("continue")["reason"] == "exception"
    assert c.ask("exceptionInfo", threadId=1)["exceptionId"] == "deadlock"
    c.close()


def scripted(folder):
    """Commands run before the first stop; the place where they end is it."""
    path = os.path.join(folder, "commands")
    open(path, "w").write("b CP_SET_DRAW_STATE\nc\n")
    c = Client().launch(demo=True, script=path)
    c.configured()
    assert c.top()["name"] == "CP_SET_DRAW_STATE"
    assert "breakpoint 1" in c.event("output")["output"]
    c.close()
    c = Client().launch(demo=True, script=path + ".none")
    c.configured()
    assert "No such file" in c.event("output")["output"]
    c.close()


def wrong_types(folder):
    """An argument of another type is an error that names it; null and empty ones are none."""
    c = Client().launch(demo=True)
    c.configured()
    for command, arguments, message in (
            ("stackTrace", {"levels": "all"}, 'stackTrace: "levels" is "all": expected a whole number'),
            ("stackTrace", {"startFrame": 1.5}, 'stackTrace: "startFrame" is 1.5: expected a whole number'),
            ("variables", {"variablesReference": 1, "count": []}, 'variables: "count" is []: expected a whole number'),
            ("evaluate", {"expression": "1", "context": 7}, 'evaluate: "context" is 7: expected a text'),
            ("evaluate", {"expression": "1", "frameId": "7"}, 'evaluate: "frameId" is "7": expected a whole number'),
            ("setFunctionBreakpoints", {"breakpoints": [{}, 5]},
             'setFunctionBreakpoints: "breakpoints[1]" is 5: expected an object'),
            ("setFunctionBreakpoints", {"breakpoints": [{"name": "x" * 99}, {"name": ["x" * 99]}]},
             'setFunctionBreakpoints: "breakpoints[1].name" is array: expected a text'),
            ("setBreakpoints", {"source": "demo.afuc"}, 'setBreakpoints: "source" is "demo.afuc": expected an object'),
            ("setBreakpoints", {"source": {"path": 1}}, 'setBreakpoints: "source.path" is 1: expected a text'),
            ("setBreakpoints", {"source": {}, "breakpoints": [{"line": "x"}]},
             'setBreakpoints: "breakpoints[0].line" is "x": expected a whole number'),
            ("setExceptionBreakpoints", {"filters": ["fault", 1]},
             'setExceptionBreakpoints: "filters[1]" is 1: expected a text'),
            ("dataBreakpointInfo", {"name": "$02", "asAddress": 0},
             'dataBreakpointInfo: "asAddress" is 0: expected true or false'),
            ("readMemory", {"memoryReference": "0x0", "count": 4, "offset": "4"},
             'readMemory: "offset" is "4": expected a whole number'),
            ("why", {"expression": "$02", "threadId": True}, 'why: "threadId" is true: expected a whole number')):
        assert c.refuse(command, **arguments) == message, c.refuse(command, **arguments)
    c.ask("stackTrace", threadId=1, levels=None)
    c.ask("setBreakpoints", source=[], breakpoints={})
    c.close()


def hang(folder):
    """A hang dump is launched: the editor is where the hardware stood."""
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    fw, capture = (os.path.join(corpus, *name) for name in (("firmware", "a630_sqe-190.fw"),
                                                            ("captures", "fd-clouds.rd.gz")))
    trace, dump = os.path.join(folder, "trace"), os.path.join(folder, "scene.devcore")
    subprocess.run([CPSCOPE, "run", "--submit", "0", "--prefetch", "on", "--events", "all", "--fw", fw, capture,
                    "-o", trace], check=True, capture_output=True)
    Scene(trace, fw, capture, 0, (0x1d8f140, 2, 1)).write(dump)
    done = subprocess.run([CPSCOPE, "step", "--fw", fw, dump], input="p step\n", capture_output=True, text=True)
    there = int(re.search(r"\nstep (\d+),", done.stdout)[1])
    c = Client().launch(fw=fw, capture=dump)
    assert c.configured()["reason"] == "entry"
    said = [e["body"]["output"] for e in c.events if e["event"] == "output"]
    assert said and said[0].count("\n") == 2 and done.stdout.startswith(said[0] + "step "), (said, done.stdout)
    assert int(c.ask("evaluate", expression="step")["result"], 16) == there > 1000
    frames = c.ask("stackTrace", threadId=1)["stackFrames"]
    assert any(f["name"].startswith("ring ") for f in frames[1:]), frames
    c.move("stepBack")
    c.move("stepIn")
    assert int(c.ask("evaluate", expression="step")["result"], 16) == there
    c.close()
    cut = os.path.join(folder, "cut.devcore")
    open(cut, "wb").write(open(dump, "rb").read()[:3000])
    c = Client().launch(fw=fw, capture=cut)
    assert c.configured()["reason"] == "entry"
    said = "".join(e["body"]["output"] for e in c.events if e["event"] == "output")
    assert "\nwarning: truncated at line " in said, said
    c.close()
    open(cut, "wb").write(b"kernel: \nrevision: 630 (6.3.0.2\nregisters:\n  - { offset: nonsense }\n")
    c = Client()
    c.ask("initialize", adapterID="cpscope")
    c.refuse("launch", fw=fw, capture=cut)
    c.close()


CASES = [
    ("launch takes policies", policy),
    ("launch takes the options of the command line", options),
    ("launch takes a script of commands", scripted),
    ("launch takes a hang dump", hang),
    ("arguments of a wrong type are named", wrong_types),
]

with tempfile.TemporaryDirectory() as folder:
    tap.run([(name, lambda case=case: case(folder)) for name, case in CASES])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The debug adapter through a client that treats `stopped` as nvim-dap does: it has one thread that is stopped; at a
`stopped` beside it, it answers `continue`. Its revisions differ in which event makes it forget that thread, and in what
they do behind that `continue`. Usage: dap_neovim.py CPSCOPE"""
import os
import subprocess
import tempfile

import tap
from dap_client import CPSCOPE, Client

MOST = 12   # requests that a stop may cost


class Neovim(Client):
    """forgets: the events that reset the stopped thread. looks_on: asks on behind that `continue`."""

    def __init__(self, forgets, looks_on, *args):
        super().__init__(*args)
        self.client, self.forgets, self.looks_on = "neovim", forgets, looks_on
        self.stopped, self.count, self.frame, self.shown = None, 0, None, None

    def count_ask(self, command, **arguments):
        self.count += 1
        assert self.count <= MOST, "%d requests, and no end" % self.count
        return self.ask(command, **arguments)

    def on_stopped(self, body):
        threads = {t["id"] for t in self.count_ask("threads")["threads"]}
        assert body["threadId"] in threads
        if self.stopped:
            self.count_ask("continue", threadId=body["threadId"])
            if not self.looks_on:
                return
        self.stopped = body["threadId"]
        if body["reason"] == "exception":
            self.count_ask("exceptionInfo", threadId=self.stopped)
        frames = self.count_ask("stackTrace", threadId=self.stopped)["stackFrames"]
        self.frame = next((f for f in frames if f.get("source", {}).get("path")), frames[0])
        self.show()
        for scope in self.count_ask("scopes", frameId=self.frame["id"])["scopes"]:
            if not scope["expensive"]:
                self.count_ask("variables", variablesReference=scope["variablesReference"])

    def show(self):
        """The line of the frame's source, as the editor gets at it; None without a source."""
        source = self.frame.get("source")
        self.shown = None
        if not source:
            return
        if source.get("sourceReference"):
            text = self.count_ask("source", source=source, sourceReference=source["sourceReference"])["content"]
        else:
            text = open(source["path"]).read()
        self.shown = text.split("\n")[self.frame["line"] - 1]

    def settle(self):
        """Handles events as they come, until nothing more does. What there is stands in front of the answer to a
        request that changes nothing."""
        self.count, stops = 0, []
        self.ask("cancel")
        while self.events:
            message = self.events.pop(0)
            body = message.get("body", {})
            if message["event"] in self.forgets:
                self.stopped = None
            if message["event"] == "stopped":
                stops.append(body)
                self.on_stopped(body)
                self.ask("cancel")
        return stops

    def begin(self, **arguments):
        self.launch(**arguments)
        self.ask("configurationDone")
        assert [s["reason"] for s in self.settle()] == ["entry"]
        return self

    def step(self, command):
        thread, self.stopped = self.stopped, None
        assert thread, "the editor has no stopped thread to move"
        self.ask(command, threadId=thread)
        return self.settle()

    def type(self, line):
        self.ask("evaluate", expression=line, context="repl", frameId=self.frame["id"])
        return self.settle()

    def place(self):
        return self.ask("evaluate", expression="step")["result"]


# What resets the stopped thread, and whether it looks on.
REVISIONS = {"2021": ((), False), "0.3": ((), True), "0.6": (("thread",), False),
             "today": (("thread", "continued"), False)}


def typed(forgets, looks_on):
    """A movement in the console: one stop, with its reason, and the machine stays where it stopped."""
    c = Neovim(forgets, looks_on).begin(demo=True)
    c.type("b CP_SET_DRAW_STATE")
    for line, reason in (("s", "step"), ("s 3", "step"), ("c", "breakpoint"), ("rs", "step"), ("c", "breakpoint"),
                         ("goto 10", "step"), ("event 200", "step"), ("c", "breakpoint"), ("c", "end"),
                         ("c", "end")):
        stops = c.type(line)
        assert [s["reason"] for s in stops] == [reason], (line, stops)
        assert ("hitBreakpointIds" in stops[0]) == (reason == "breakpoint"), stops
    c.type("rc")
    here = c.place()
    assert c.type("p $02") == [] and c.place() == here
    c.step("stepBack")
    assert [s["reason"] for s in c.step("continue")] == ["breakpoint"], "the user's own continue is one"
    assert c.place() == here
    c.close()


def jumps(forgets, looks_on):
    """goto and restart tell of themselves, too."""
    c = Neovim(forgets, looks_on).begin(demo=True)
    start = c.place()
    c.step("stepIn")
    assert c.place() != start
    c.ask("restart")
    assert [s["reason"] for s in c.settle()] == ["entry"]
    assert c.place() == start
    assert [s["reason"] for s in c.step("continue")] == ["end"]
    c.close()


# Longer than a turn, so that each stops once in its turn.
LOOP = "[005ff001]\nnop\nl:\nadd $02, $02, 0x1\nadd $03, $03, $02\n" + 150 * "nop\n" + "jump #l\nnop\n"


def two_processors(folder):
    """PFP and ME in one loop each: the one that writes to a register that starts an IB is PFP."""
    paths = [os.path.join(folder, name) for name in ("pfp.fw", "me.fw")]
    for path, more in zip(paths, ("cwrite $02, [$00 + 0x0b0]\n", "")):
        open(path + ".afuc", "w").write(LOOP + more)
        subprocess.run([CPSCOPE, "asm", "--gen", "a5xx", path + ".afuc", "-o", path], check=True)
    return paths


def both_stop(forgets, looks_on, folder):
    """Two processors stop in turn: each stop names its own, and the editor is there."""
    c = Neovim(forgets, looks_on).begin(fw=two_processors(folder), gen="a5xx")
    assert [t["name"] for t in c.ask("threads")["threads"]] == ["pfp", "me"]
    answers = []
    for line in ("b *3", "core me", "b *4"):
        answers.append(c.ask("evaluate", expression=line, context="repl")["result"])
    c.settle()
    seen = []
    for _ in range(6):
        stops = c.step("continue")
        assert len(stops) == 1 and stops[0]["reason"] == "breakpoint" and stops[0]["allThreadsStopped"], stops
        assert c.stopped == stops[0]["threadId"]
        seen.append((stops[0]["threadId"], stops[0]["hitBreakpointIds"]))
    assert {tuple(map(str, s)) for s in seen} == {("1", "[1]"), ("2", "[2]")}, seen
    for _ in range(4):
        stops = c.type("c")
        assert len(stops) == 1 and stops[0]["reason"] == "breakpoint", stops
        assert stops[0]["threadId"] == stops[0]["hitBreakpointIds"][0]
    c.close()


def sourceless(forgets, looks_on, folder):
    """Firmware that nobody has the source of: the editor shows the line of every stop, and sets breakpoints there, in
    a buffer without a name."""
    c = Neovim(forgets, looks_on).begin(fw=two_processors(folder), gen="a5xx")
    for line in ("s", "core me", "s 200", "core pfp", "s"):
        c.type(line)
    stops = c.type("s 300")
    assert len(stops) == 1 and c.shown, stops
    assert " %04x " % (c.frame["line"] - 1) in c.shown, (c.frame, c.shown)
    answer = c.ask("setBreakpoints", source={"path": "", "name": ""}, lines=[4], breakpoints=[{"line": 4}])
    found = answer["breakpoints"][0]
    assert found["verified"] and found["source"]["sourceReference"] == c.stopped, answer
    stops = c.step("continue")
    assert [s["reason"] for s in stops] == ["breakpoint"] and "add $02" in c.shown or "add $03" in c.shown, c.shown
    c.close()


def by_processor(folder):
    """A function breakpoint for one processor; PFP comes first where none is named."""
    c = Client().launch(fw=two_processors(folder), gen="a5xx")
    answer = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "me:*4"}, {"name": "*4"}, {"name": "pfp:*4"},
                                                          {"name": "sqe:*4"}])["breakpoints"]
    assert [b["verified"] for b in answer] == [True, True, True, False], answer
    assert [b["source"]["name"] for b in answer[:3]] == ["me.asm", "pfp.asm", "pfp.asm"], answer
    c.ask("setFunctionBreakpoints", breakpoints=[{"name": "me:*4"}])
    c.configured()
    for _ in range(3):
        stop = c.move("continue")
        assert (stop["reason"], stop["threadId"]) == ("function breakpoint", 2), stop
    c.close()


def vendor(folder):
    """A file of Qualcomm's over a real capture: where it stops is a line of its listing."""
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    fw = [os.path.join(corpus, "firmware", name) for name in ("a530_pfp.fw", "a530_pm4.fw")]
    c = Neovim(*REVISIONS["0.3"]).begin(fw=fw, capture=os.path.join(corpus, "captures", "compute-a540.rd.gz"))
    for line in ("s 40", "n", "core me", "s 3", "packet"):
        assert len(c.type(line)) == (line != "core me")
        assert c.frame["source"]["sourceReference"] == c.stopped
        assert " %04x " % (c.frame["line"] - 1) in c.shown, c.shown
    c.close()


def others(folder):
    """Who is no Neovim gets what it asks for, also behind a movement in the console."""
    c = Client().launch(demo=True)
    c.configured()
    c.ask("evaluate", expression="s", context="repl")
    c.event("stopped")
    assert c.move("continue")["description"].startswith("the end")
    assert not any(e["event"] == "thread" for e in c.events)
    c.close()


def once(folder):
    """A breakpoint for one time is gone behind it, whoever went there."""
    c = Client().launch(demo=True)
    c.configured()
    c.ask("evaluate", expression="tb CP_SET_DRAW_STATE", context="repl")
    assert c.move("continue")["reason"] == "breakpoint"
    assert c.ask("evaluate", expression="info break", context="repl")["result"].strip() in ("", "no points"), \
        c.ask("evaluate", expression="info break", context="repl")
    c.ask("evaluate", expression="w $02", context="repl")
    assert c.move("reverseContinue")["reason"] == "data breakpoint"
    c.close()


def broken_off(folder):
    """A file of commands that fails has moved until then."""
    path = os.path.join(folder, "commands")
    open(path, "w").write("s 3\nnonsense\n")
    c = Client().launch(demo=True)
    c.configured()
    assert "nonsense" in c.refuse("evaluate", expression="source " + path, context="repl")
    assert c.event("stopped")["reason"] == "step"
    c.close()


CASES = [("%s: %s" % (name, what), lambda folder, case=case, row=row: case(*row))
         for name, row in REVISIONS.items()
         for what, case in (("movement in the console", typed), ("restart", jumps))]
CASES += [("%s: two processors stop" % name, lambda folder, row=row: both_stop(*row, folder))
          for name, row in REVISIONS.items()]
CASES += [("%s: no source" % name, lambda folder, row=row: sourceless(*row, folder))
          for name, row in REVISIONS.items()]
CASES += [("vendor firmware: no source", vendor)]
CASES += [("function breakpoints on a named processor", by_processor)]
CASES += [("a client of another name is not second-guessed", others),
          ("breakpoints for one time, watchpoints that were typed", once),
          ("a file of commands that breaks off behind a move", broken_off)]

with tempfile.TemporaryDirectory() as folder:
    tap.run([(name, lambda case=case: case(folder)) for name, case in CASES])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`device --listen` and `--dap`: an editor debugs the GPU of a program that runs (stepped.c), and lets it go on.

Usage: editor.py CPSCOPE STEPPED"""
import glob
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap
from dap_client import Client

CPSCOPE, STEPPED = (os.path.abspath(p) for p in sys.argv[1:3])
FOLDER = tempfile.mkdtemp(prefix="cps-", dir="/tmp")  # a socket's path is short
ENV = {**os.environ, "XDG_RUNTIME_DIR": FOLDER}
DEVICE = [CPSCOPE, "device", "--demo", "--policy", "waits=stop"]
SAID = "cpscope: an editor can attach: "
# What the program prints: tests/device/stepped.py.
EXPECTED = ["submission 0: 100 0 0", "submission 1: 7 101 0", "submission 2: 7 101 102", "at the end: 7 7"]


class Run:
    def __init__(self, *program, options=("--listen",)):
        self.process = subprocess.Popen([*DEVICE, *options, "--", STEPPED, *program], env=ENV, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = self.process.stderr.readline()
        assert said.startswith(SAID), said + self.process.stderr.read()
        self.path = said[len(SAID):].rstrip("\n")

    def editor(self, **arguments):
        client = Client()
        client.ask("initialize", adapterID="cpscope", clientID="test")
        client.ask("attach", socket=self.path, **arguments)
        client.event("initialized")
        return client

    def over(self, status=0):
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == status, (self.process.returncode, out, err)
        assert not os.path.exists(self.path) and not glob.glob(FOLDER + "/cpscope-*"), os.listdir(FOLDER)
        return out.splitlines(), err


def is_gone(pid):
    until = time.monotonic() + 20
    while os.path.exists("/proc/%d" % pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not os.path.exists("/proc/%d" % pid)


def step_of(client):
    return int(client.ask("evaluate", expression="step")["result"], 16)


def attached():
    """A breakpoint at a packet, with the program waiting; on, back, and on again; the program goes on without the editor."""
    run = Run("run", options=["--listen-wait"])
    client = run.editor()
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_MEM_WRITE"}])
    assert client.configured()["reason"] == "entry"
    places = []
    for submission in range(2):
        assert client.move("continue")["reason"] == "function breakpoint"
        assert int(client.ask("evaluate", expression="submission")["result"], 16) == submission
        places.append(step_of(client))
    os.set_blocking(run.process.stdout.fileno(), False)
    time.sleep(0.3)
    printed = (os.read(run.process.stdout.fileno(), 4096) or b"").decode()
    os.set_blocking(run.process.stdout.fileno(), True)
    assert printed.splitlines() == EXPECTED[:1], printed
    client.move("stepBack")
    assert step_of(client) == places[1] - 1
    assert client.move("reverseContinue")["reason"] == "function breakpoint" and step_of(client) == places[0]
    assert client.move("continue")["reason"] == "function breakpoint" and step_of(client) == places[1]
    client.move("reverseContinue")
    client.close()
    out, _ = run.over()
    assert out == EXPECTED[1:], out


def one_after_the_other():
    """An editor comes while the program sleeps, and goes; the next one ends the program."""
    run = Run("late")
    pid = int(run.process.stdout.readline().split()[-1])
    client = run.editor()
    client.configured()
    assert step_of(client) > 0
    client.close()
    time.sleep(0.3)
    assert run.process.poll() is None and os.path.exists("/proc/%d" % pid)
    client = run.editor()
    client.configured()
    client.ask("terminate")
    client.close()
    _, err = run.over()
    assert "an editor ended the run" in err and is_gone(pid), err


def alone():
    """Without an editor the program runs as with any GPU, over its hangs, too."""
    assert Run("run").over()[0] == EXPECTED
    out, err = Run("recover").over()
    assert out == ["submission %d: %d, faults %d" % (i, 50 + i, 1 + i // 2) for i in range(4)], out
    assert err.count("hang of ") == 2, err


def hang():
    """A hang is an exception; who goes on lets the program have its error, and the breakpoint stops in the next submission."""
    run = Run("recover", options=["--listen-wait"])
    client = run.editor()
    client.configured()
    assert client.move("continue")["reason"] == "exception"
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_MEM_WRITE"}])
    assert client.move("continue")["reason"] == "function breakpoint"
    assert int(client.ask("evaluate", expression="submission")["result"], 16) == 1
    client.close()
    assert len(run.over()[0]) == 4


def adapter():
    """The editor has started the device itself."""
    client = Client.__new__(Client)
    client.process = subprocess.Popen([*DEVICE, "--dap", "--", STEPPED, "run"], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
    client.seq, client.heard, client.events, client.runs, client.client = 0, 0, [], True, "test"
    client.launch()
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_MEM_WRITE"}])
    client.configured()
    assert client.move("continue")["reason"] == "function breakpoint"
    client.move("stepBack")
    client.ask("setFunctionBreakpoints", breakpoints=[])
    assert client.move("continue")["reason"] == "end"
    client.ask("disconnect")
    out, err = client.process.communicate(timeout=60)
    assert client.process.returncode == 0 and not out and err.decode().splitlines() == EXPECTED, (out, err)


def signals():
    """Whatever ends the device ends the program, and removes socket and folder: also at the prompt of --step."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = Run("sleep")
        pid = int(run.process.stdout.readline().split()[-1])
        run.process.send_signal(number)
        run.over(128 + number)
        assert is_gone(pid)
    for number in (signal.SIGTERM, signal.SIGHUP):
        main, other = pty.openpty()
        with subprocess.Popen([*DEVICE, "--step", "--", STEPPED, "late"], env={**ENV, "XDG_STATE_HOME": FOLDER}, stdin=other, stdout=other,
                              stderr=other) as process:
            os.close(other)
            text = b""
            while b"(cpscope)" not in text:
                text += os.read(main, 4096)
            time.sleep(0.3)
            process.send_signal(number)
            try:
                assert process.wait(20) == 128 + number, process.returncode
            finally:
                process.kill()
        os.close(main)
        assert not glob.glob(FOLDER + "/cpscope-*"), os.listdir(FOLDER)


try:
    tap.run([("an editor attaches, and lets the program go on", attached), ("editors one after the other", one_after_the_other),
             ("no editor comes", alone), ("a hang in an editor", hang), ("an editor that starts the device", adapter),
             ("signals", signals)])
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)

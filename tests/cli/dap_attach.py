#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Editors that attach to a run: what the run writes is what it writes alone, whatever the editor does and however it
goes. Usage: dap_attach.py CPSCOPE"""
import os
import signal
import socket
import stat
import subprocess
import tempfile

import machine
import tap
from dap_client import CPSCOPE, Client
from tree import SCRIPTS, STREAMS

LOOP = "[016ee001]\n[01000000]\nl:\nadd $02, $02, 0x1\njump #l\nadd $03, $03, $02\n"
SAID = "cpscope: an editor can attach: "


class Editor(Client):
    def attach(self, **arguments):
        self.ask("initialize", adapterID="cpscope", clientID=self.client)
        self.ask("attach", **arguments)
        self.event("initialized")
        return self

    def refused(self, **arguments):
        self.ask("initialize", adapterID="cpscope")
        message = self.refuse("attach", **arguments)
        self.close()
        return message

    def ended(self):
        """The run is over, and says so."""
        self.event("terminated")
        self.close()


class Run:
    """A run that listens. Waits: for an editor, in front of its first instruction."""

    def __init__(self, folder, *args, waits=True, path=None, env=None, name="s", events="all"):
        self.out = os.path.join(folder, name + ".cpt")
        self.path = path or os.path.join(folder, name)
        listen = ["--listen=" + self.path] if path != "" else ["--listen"]
        listen += ["--listen-wait"] if waits else []
        self.args = [*args, "-e", events]
        self.process = subprocess.Popen([CPSCOPE, "run", *self.args, *listen, "-o", self.out],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.said = self.first_line()

    def first_line(self):
        """Byte by byte: what the file object has read ahead would be lost to communicate()."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.process.stderr.fileno(), 1)
            if not byte:
                break
            line += byte
        return line.decode()

    def up(self):
        assert self.said.startswith(SAID), self.said + self.process.stderr.read()
        self.path = self.said[len(SAID):].rstrip("\n")
        return self

    def over(self):
        """What came of it; nothing is left of the socket."""
        stdout, stderr = self.process.communicate(timeout=60)
        assert not os.path.exists(self.path), "the socket is there still"
        return self.process.returncode, stdout, stderr, open(self.out, "rb").read()

    def is_undisturbed(self):
        alone = self.out[:-4] + ".alone.cpt"
        done = subprocess.run([CPSCOPE, "run", *self.args, "-o", alone], capture_output=True, text=True)
        expected = (done.returncode, done.stdout, done.stderr, open(alone, "rb").read())
        found = self.over()
        assert found == expected, (found[:3], expected[:3])


def endless(folder):
    """A run of seconds, which no register or packet tells the time of."""
    source, fw = os.path.join(folder, "l.afuc"), os.path.join(folder, "l.fw")
    open(source, "w").write(LOOP)
    subprocess.run([CPSCOPE, "asm", source, "-o", fw], check=True)
    return fw


def life(folder):
    """It begins where `launch` would, goes forward, back and in circles, changes things; then the run has its turn."""
    run = Run(folder, "--demo").up()
    info = os.lstat(run.path)
    assert stat.S_ISSOCK(info.st_mode) and info.st_mode & 0o777 == 0o600
    c = Editor().attach(socket=run.path)
    c.ask("setFunctionBreakpoints", breakpoints=[{"name": "CP_SET_DRAW_STATE"}])
    assert c.configured()["reason"] == "entry"
    assert c.move("continue")["reason"] == "function breakpoint"
    c.ask("setExpression", expression="$05", value="0x1234")
    c.ask("setExpression", expression="[0x100000]", value="0x70100000")
    c.move("stepBack")
    c.move("stepIn")
    c.ask("evaluate", expression="s 40", context="repl")
    c.event("stopped")
    c.move("reverseContinue")
    c.ask("restart")
    c.event("stopped")
    c.move("continue")
    assert not os.path.getsize(run.out) if os.path.exists(run.out) else True
    c.close()
    run.is_undisturbed()


def goes_on(folder):
    """An editor that lets a run go while its own copy of it runs; another one behind it."""
    run = Run(folder, "--fw", endless(folder), "--limit", "300M", events="reg").up()
    for again in range(2):
        c = Editor().attach(socket=run.path, stopOnEntry=False)
        c.ask("configurationDone")
        c.close()
    run.is_undisturbed()


def middle(folder):
    """A run that is attached to stops where it is: the editor sees that place, and what lies before."""
    run = Run(folder, "--fw", endless(folder), "--limit", "3G", waits=False, events="reg").up()
    machine.wait_until(lambda: machine.cpu_seconds(run.process.pid) > 0.2, "it does not run")
    c = Editor().attach(socket=run.path)
    c.configured()
    place = int(c.ask("evaluate", expression="step")["result"], 16)
    assert place > 100000 and int(c.registers()["$02"], 16) > 0, place
    two = int(c.registers()["$02"], 16)
    c.move("stepBack")
    assert int(c.ask("evaluate", expression="step")["result"], 16) == place - 1
    for _ in range(4):
        c.move("stepIn")
    assert int(c.registers()["$02"], 16) == two + 1
    assert run.process.poll() is None, "it waits"
    c.ask("restart")
    c.event("stopped")
    assert int(c.ask("evaluate", expression="step")["result"], 16) == place, "to where it was attached to"
    c.close()
    run.is_undisturbed()


def terminated(folder):
    """The end of the run, asked for in either way: a whole trace, of what ran until then."""
    for number, end in enumerate((lambda c: c.ask("disconnect", terminateDebuggee=True),
                                  lambda c: (c.ask("terminate"), c.event("terminated"), c.ask("disconnect")))):
        run = Run(folder, "--fw", endless(folder), "--limit", "100G", waits=number == 0, events="reg,end", name="t%d" % number).up()
        c = Editor().attach(socket=run.path)
        c.configured()
        end(c)
        c.process.communicate(timeout=120)
        status, stdout, stderr, trace = run.over()
        assert status == 4 and stderr.startswith("cpscope: an editor ended the run\n"), (status, stderr)
        assert "ended: limit" in stderr, stderr
        text = subprocess.run([CPSCOPE, "convert", run.out], capture_output=True, text=True, check=True).stdout
        assert text.splitlines()[-1].startswith("END"), text[-200:]


def dies(folder):
    """A client that is gone lets go: killed, in half a message, with what is no message."""
    run = Run(folder, "--demo").up()
    c = Editor().attach(socket=run.path)
    c.configured()
    c.send("continue", threadId=1)
    c.process.kill()
    c.process.communicate()
    run.is_undisturbed()
    for number, text in enumerate((b"Content-Length: 100\r\n\r\n{", b"garbage\r\n\r\n", b"Content-Length: 2\r\n\r\n[]")):
        run = Run(folder, "--fw", endless(folder), "--limit", "1G", waits=False, events="reg", name="d%d" % number).up()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(run.path)
            assert client.recv(100) == b"cpscope: attach\n"
            client.sendall(text)
        run.is_undisturbed()


def welcomed(run):
    """A connection that the run has greeted; None while it serves another one."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(run.path)
    if client.recv(100) == b"cpscope: attach\n":
        return client
    client.close()
    return None


def not_first(folder):
    """Who connects and says nothing is no editor that was waited for; a run is not launched."""
    run = Run(folder, "--demo").up()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(run.path)
        assert client.recv(100) == b"cpscope: attach\n"
    with machine.wait_until(lambda: welcomed(run), "the first client is not let go") as client:
        text = b'{"seq": 1, "type": "request", "command": "launch", "arguments": {"demo": true}}'
        client.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        assert b"expected \\\"attach\\\"" in client.recv(10000)
    assert run.process.poll() is None, "it waits still"
    Editor().attach(socket=run.path).close()
    run.is_undisturbed()


def silent(folder):
    """Who connects and does not attach holds the run up for some seconds only, whatever comes of it: nothing, half a message, requests
    whose answers it does not read."""
    ask = b'{"seq": 1, "type": "request", "command": "initialize"}'
    ask = b"Content-Length: %d\r\n\r\n%s" % (len(ask), ask)
    for number, (text, waits) in enumerate(((b"", False), (b"Content-Length: 100\r\n\r\n{", False), (ask * 2000, False), (b"", True))):
        run = Run(folder, "--fw", endless(folder), "--limit", "300M", waits=waits, events="reg", name="q%d" % number).up()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(run.path)
            assert client.recv(100) == b"cpscope: attach\n"
            client.sendall(text)
            if waits:
                assert not client.recv(100), "the run closes it"
                Editor().attach(socket=run.path).close()
            run.is_undisturbed()


def second(folder):
    run = Run(folder, "--demo").up()
    c = Editor().attach(socket=run.path)
    assert "another editor is attached" in Editor().refused(socket=run.path)
    assert "attached already" in c.refuse("attach")
    other = Run(folder, "--demo", path=run.path, name="other")
    assert "another run listens there" in other.said and other.process.wait() == 3
    c.configured()
    c.close()
    run.is_undisturbed()


def stale(folder):
    """What a dead run leaves is replaced; a file is not."""
    run = Run(folder, "--demo").up()
    run.process.kill()
    run.process.communicate()
    assert os.path.exists(run.path)
    assert "is over" in Editor().refused(socket=run.path)
    run = Run(folder, "--demo").up()
    Editor().attach(socket=run.path).close()
    run.is_undisturbed()
    path = os.path.join(folder, "file")
    open(path, "w").write("mine")
    os.chmod(path, 0o600)
    assert "expected a socket" in Run(folder, "--demo", path=path, name="o").said
    assert open(path).read() == "mine" and "expected a socket" in Editor().refused(socket=path)
    assert "no run listens" in Editor().refused(socket=os.path.join(folder, "nothing"))


def signals(folder):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        run = Run(folder, "--demo").up()
        run.process.send_signal(number)
        run.process.communicate(timeout=120)
        assert run.process.returncode == -number and not os.path.exists(run.path), number


def killed_run(folder):
    """The run is gone: the editor hears of it."""
    run = Run(folder, "--demo").up()
    c = Editor().attach(socket=run.path)
    c.configured()
    run.process.kill()
    run.process.communicate()
    c.ended()


def whose(folder):
    """A folder or socket that others may use is none, from either end."""
    shared = os.path.join(folder, "shared")
    os.mkdir(shared)
    os.chmod(shared, 0o755)
    link = os.path.join(folder, "link")
    own = os.path.join(folder, "own")
    os.mkdir(own, 0o700)
    os.symlink(own, link)
    for place, why in ((shared, "mode 0700"), (link, "no link"), (os.path.join(folder, "none"), "No such file"),
                       ("/tmp", "mode 0700")):
        path = os.path.join(place, "x.sock")
        assert why in Run(folder, "--demo", path=path, name="w").said, place
        assert why in Editor().refused(socket=path), place
    run = Run(folder, "--demo", path=os.path.join(own, "s")).up()
    os.chmod(run.path, 0o666)
    assert "mode 0600" in Editor().refused(socket=run.path)
    os.chmod(run.path, 0o600)
    os.chmod(own, 0o711)
    assert "mode 0700" in Editor().refused(socket=run.path)
    os.chmod(own, 0o700)
    Editor().attach(socket=run.path).close()
    run.is_undisturbed()
    assert "at most 79 bytes" in Run(folder, "--demo", path=os.path.join(own, "n" * 90)).said
    assert "path of a socket" in Run(folder, "--demo", path=own + "/").said


def of_another(folder):
    """A folder of another owner, at its run's end."""
    machine.need_root()
    own = os.path.join(folder, "own")
    os.mkdir(own, 0o700)
    run = Run(folder, "--demo", path=os.path.join(own, "s")).up()
    os.chown(own, 65534, 65534)
    assert "mode 0700" in Editor().refused(socket=run.path)
    os.chown(own, 0, 0)
    Editor().attach(socket=run.path).close()
    run.is_undisturbed()


def found(folder):
    """Without a path: in the folder of the user's session, by process, or the only one."""
    runtime = os.path.join(folder, "runtime")
    os.mkdir(runtime, 0o700)
    os.environ["XDG_RUNTIME_DIR"] = runtime
    assert "no run of yours" in Editor().refused()
    first = Run(folder, "--demo", path="").up()
    assert first.path == "%s/cpscope/%d.sock" % (runtime, first.process.pid)
    assert os.stat(os.path.join(runtime, "cpscope")).st_mode & 0o777 == 0o700
    dead = os.path.join(runtime, "cpscope", "999999999.sock")
    open(dead, "w").close()
    c = Editor().attach()
    other = Run(folder, "--demo", path="", name="other").up()
    both = Editor().refused()
    assert both.startswith("2 runs listen") and str(first.process.pid) in both and str(other.process.pid) in both, both
    Editor().attach(pid=other.process.pid).close()
    other.is_undisturbed()
    assert "no run listens" in Editor().refused(pid=other.process.pid)
    c.close()
    first.is_undisturbed()
    for value, why in ((None, "names no folder"), ("here", "names no folder"), ("/nowhere", "No such file"),
                       ("/tmp", "mode 0700")):
        env = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
        env.update({"XDG_RUNTIME_DIR": value} if value else {})
        assert why in Run(folder, "--demo", path="", env=env, name="v").said, value


def bad_options(folder):
    for args, status, why in ((["--demo", "--submit", "0"], 2, "no --submit"),
                              (["--demo", "-"], 3, "cannot be read again"),
                              (["--demo", "/dev/null"], 3, "cannot be read again")):
        done = subprocess.run([CPSCOPE, "run", *args, "--listen=" + os.path.join(folder, "b")], input="",
                              capture_output=True, text=True)
        assert done.returncode == status and why in done.stderr, (args, done)
    c = Editor()
    for arguments, why in (({"socket": 5}, "expected a text"), ({"pid": "x"}, "expected a whole number"),
                           ({"stopOnEntry": 1}, "expected true or false")):
        assert why in c.refuse("attach", **arguments)
    c.ask("initialize", adapterID="cpscope")
    c.ask("launch", demo=True)
    assert "launched already" in c.refuse("attach")
    c.close()


def alone(folder):
    """Nobody comes: the run is what it is without."""
    run = Run(folder, "--demo", waits=False)
    run.up().is_undisturbed()


def script(folder):
    """The other engines, too."""
    for engine, name in (("hwsq", "reclock.run"), ("pfifo", "pfifo-nv3.run")):
        run = Run(folder, "--engine", engine, os.path.join(SCRIPTS, name), name=engine).up()
        c = Editor().attach(socket=run.path)
        c.configured()
        c.move("stepIn")
        assert c.move("continue")["description"].startswith("the end")
        c.close()
        run.is_undisturbed()


def corpus(*names):
    folder = os.environ.get("CPSCOPE_CORPUS")
    if not folder:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    return [os.path.join(folder, *name) for name in names]


def vendor(folder):
    """Vendor firmware: two processors that stop in turn, a GPU with several, a hang dump."""
    pfp, pm4, compute, a630, clouds, dump = corpus(
        ("firmware", "a530_pfp.fw"), ("firmware", "a530_pm4.fw"), ("captures", "compute-a540.rd.gz"),
        ("firmware", "a630_sqe-190.fw"), ("captures", "fd-clouds.rd.gz"), ("captures", "crash.devcore"))
    a7xx = corpus(("firmware", "a740_sqe.fw"))[0]
    stream = os.path.join(STREAMS, "a7xx.pm4")
    for number, args in enumerate((["--fw", pfp, "--fw", pm4, compute], ["--fw", a630, clouds],
                                   ["--fw", a7xx, stream], ["--fw", a630, dump])):
        run = Run(folder, *args, name="v%d" % number).up()
        c = Editor().attach(socket=run.path)
        c.configured()
        for thread in c.ask("threads")["threads"]:
            assert c.ask("stackTrace", threadId=thread["id"])["stackFrames"]
        for command in ("next", "stepIn", "stepOut", "continue", "reverseContinue"):
            c.move(command)
        c.close()
        run.is_undisturbed()


CASES = [
    ("an editor moves, looks and changes; the run is undisturbed", life),
    ("one that lets go while it runs, and another one", goes_on),
    ("a run stops where it is", middle),
    ("the end of the run is asked for", terminated),
    ("a client that is gone", dies),
    ("who comes and says nothing", not_first),
    ("who connects and does not attach is let go", silent),
    ("one editor at a time, one run at a place", second),
    ("the socket of a dead run", stale),
    ("signals remove the socket", signals),
    ("the run is killed", killed_run),
    ("folders and sockets that others may use", whose),
    ("a folder of another user", of_another),
    ("the run is found by its process, or alone", found),
    ("what cannot be attached to", bad_options),
    ("nobody attaches", alone),
    ("scripts of other engines", script),
    ("vendor firmware", vendor),
]


def run_case(case):
    with tempfile.TemporaryDirectory() as folder:   # mode 0700
        return case(folder)


tap.run([(name, lambda case=case: run_case(case)) for name, case in CASES])

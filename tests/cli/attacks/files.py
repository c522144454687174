#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attacks on what the command writes and reads: full and closed outputs, devices, links, FIFOs, other
users' folders, names that terminals obey. Usage: files.py CPSCOPE"""
import gzip
import os
import pty
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time

import scene
import machine
import make
import tap
from scene import MANIFEST


def full_stdout(s):
    """what does not fit on stdout is status 3, with a line, for every command"""
    s.matrix(1)
    s.ok("run", "--fw", "a.fw", "c0.pm4", "-o", "t.trace")
    s.path("other.trace", s.read("t.trace").replace(b"REG ", b"REG ", 1).replace(b"0x8800 0x0", b"0x8800 0x1"))
    commands = [("info", "a.fw"), ("info", "--json", "a.fw"), ("cover", "--fw", "a.fw", "c0.pm4"), ("help",),
                ("help", "run"), ("help", "man"), ("help", "bash"), ("help", "hardware", "all", "--json"), ("--version",),
                ("step", "--demo"), ("diff", "t.trace", "other.trace"), ("diff", "--fw", "a.fw", "--fw", "b.fw", "c0.pm4"),
                ("diff", "--json", "t.trace", "t.trace"), ("regress", "manifest", "--json"), ("regress", "manifest"),
                ("check", "t.trace"), ("check", "--json", "t.trace"), ("run", "--fw", "a.fw", "c0.pm4"),
                ("run", "--fw", "a.fw", "c0.pm4", "--json"), ("convert", "t.trace"), ("disasm", "a.fw")]
    for command in commands:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = s.run(*command, stdout=full, stdin=subprocess.DEVNULL)
        assert done.returncode == 3 and "cannot write" in done.stderr, (command, done.returncode, done.stderr)


def closed_streams(s):
    """a closed stdin, stdout or stderr is never taken by a file"""
    s.matrix(1)
    whole = s.ok("run", "--fw", "a.fw", "c0.pm4").stdout
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        script = "exec %s run --fw a.fw c0.pm4 -o out.trace %s" % (scene.CPSCOPE, closed)
        subprocess.run(["sh", "-c", script], cwd=s.folder.name, check=True, capture_output=True)
        assert s.read("out.trace").decode() == whole, closed
        shown = subprocess.run(["sh", "-c", "exec %s disasm a.fw %s" % (scene.CPSCOPE, closed)],
                               cwd=s.folder.name, capture_output=True)
        assert shown.returncode == (3 if ">&-" in closed.replace("2>&-", "") else 0), (closed, shown)


def devices_and_links(s):
    """-o follows links, keeps modes, and replaces no device, FIFO or folder"""
    s.matrix(1)
    command = ("run", "--fw", "a.fw", "c0.pm4", "-o")
    whole = s.ok(*command, "-").stdout
    s.path("real/t.trace", "old")
    os.chmod(s.path("real/t.trace"), 0o640)
    os.symlink("real/t.trace", s.path("link"))
    s.ok(*command, "link")
    assert os.path.islink(s.path("link")) and s.read("real/t.trace").decode() == whole
    assert stat.S_IMODE(os.stat(s.path("real/t.trace")).st_mode) == 0o640
    os.symlink("real/new.trace", s.path("dangling"))
    s.ok(*command, "dangling")
    assert s.read("real/new.trace").decode() == whole
    os.symlink("loop", s.path("loop"))
    s.refused(*command, "loop")
    s.refused(*command, "real")
    s.ok(*command, "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        with open(s.path("redirected"), "w", encoding="ascii") as out:
            s.ok(*command, name, stdout=out)
        assert s.read("redirected").decode() == whole, name
    assert not os.path.isfile("/dev/stdout") or os.path.islink("/dev/stdout")
    os.mkfifo(s.path("fifo"))
    reader = subprocess.Popen(["cat", "fifo"], cwd=s.folder.name, stdout=subprocess.PIPE, text=True)
    s.ok(*command, "fifo")
    assert reader.communicate()[0] == whole and stat.S_ISFIFO(os.stat(s.path("fifo")).st_mode)
    assert not [n for n in s.names() + s.names("real") if "tmp" in n]


def input_is_output(s):
    """no input is replaced by an output, and a damaged trace not by its beginning"""
    s.matrix(1)
    s.ok("run", "--fw", "a.fw", "c0.pm4", "-o", "t.trace")
    whole = s.read("t.trace")
    s.path("bad.trace", whole + b"REG nonsense\n" + whole[-200:])
    before = s.read("bad.trace")
    s.refused("convert", "bad.trace", "-o", "bad.trace")
    assert s.read("bad.trace") == before
    s.ok("convert", "t.trace", "-o", "t.trace")
    assert s.read("t.trace") == whole
    for command in (("run", "--fw", "a.fw", "c0.pm4", "-o", "c0.pm4"), ("run", "--fw", "a.fw", "c0.pm4", "-o", "a.fw"),
                    ("asm", "old.afuc", "-o", "old.afuc")):
        before = s.read(command[-1])
        s.refused(*command, status=2, said="would replace the input")
        assert s.read(command[-1]) == before


def signals_leave_nothing(s):
    """a signal leaves neither half an output nor a temporary file"""
    s.firmware("a")
    s.path("c.rd", make.capture(make.type7(0x10, 1, 2, 3) * 200000))
    before = s.names()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGXFSZ):
        for pause in (0.02, 0.05, 0.1):
            process = subprocess.Popen([scene.CPSCOPE, "run", "--fw", "a.fw", "c.rd", "-o", "out.trace"],
                                       cwd=s.folder.name, stderr=subprocess.DEVNULL)
            time.sleep(pause)
            process.send_signal(number)
            process.wait()
            left = [n for n in s.names() if n not in before + ["out.trace"]]
            assert not left, (number, left)
            if os.path.exists(s.path("out.trace")):
                assert s.read("out.trace").rstrip().splitlines()[-1].startswith(b"END"), number
                os.unlink(s.path("out.trace"))


def size_limit(s):
    """a file that may not grow is an error of writing, and nothing is left"""
    s.matrix(1)
    before = s.names()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
    s.refused("disasm", "a.fw", "-o", "x", preexec_fn=limit, said="File too large")
    done = s.ok("run", "--fw", "a.fw", "c0.pm4", "-o", "x.cpt", preexec_fn=limit, status=3)
    assert "File too large" in done.stderr.splitlines()[-1], done.stderr
    assert s.names() == before


def every_run_ends(s):
    """endless firmware ends, in scripts and pipes of step, too"""
    s.firmware("e", scene.ENDLESS)
    s.path("x", "c\n")
    said = s.refused("step", "--fw", "e.fw", "--limit", "2M", "-x", "x", status=4, said="limit")
    assert "limit: 2000000 instructions" in said.stdout
    with open(s.path("x"), encoding="ascii") as pipe:
        s.refused("step", "--fw", "e.fw", "--limit", "2M", stdin=pipe, status=4, said="limit")
    with open("/dev/zero", "rb") as zero:
        s.refused("step", "--demo", stdin=zero, said="expected its end")


def one_instruction(s):
    """an instruction whose count comes from firmware does not outlast the limit"""
    s.firmware("r", "[016ee001]\n[01000000]\nmov $02, 0xffff << 16\ncwrite $02, [$00 + @REG_READ_DWORDS]\n"
                    "mov $05, 0x10\ncwrite $05, [$00 + @REG_READ_ADDR]\nwaitin\nmov $01, $data\n")
    s.path("c.pm4", make.pm4("CP_NOP 0x1"))
    done = s.ok("run", "--fw", "r.fw", "c.pm4", "-o", "out.trace", "-e", "all", status=4, timeout=machine.PATIENCE)
    assert "fault" in done.stderr and len(s.read("out.trace")) < 100000


def scattered(s):
    """1.5 million buffers of four bytes take no gigabytes, and info takes what run takes"""
    with open(scene.CPSCOPE, "rb") as program:
        if b"__tsan_init" in program.read():
            raise tap.Skip("the thread sanitizer keeps several bytes for each")
    parts = [make.chip(630)]
    for i in range(1500000):
        parts.append(struct.pack("<IIIIIIII", 3, 12, i << 12 & 0xffffffff, 4, 1 + (i >> 20), 12, 4, i))
    parts.append(make.buffer(0x100000, make.dwords(make.type7(0x10, 1))) + make.submit(0x100000, 2))
    s.path("many.rd.gz", gzip.compress(b"".join(parts), 1))
    s.firmware("a")
    for command in (("run", "--fw", "a.fw", "many.rd.gz", "-o", "out.cpt"), ("info", "many.rd.gz")):
        process = subprocess.Popen([scene.CPSCOPE, *command], cwd=s.folder.name, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        process.stderr.close()
        assert status == 0 and usage.ru_maxrss < 700000, (command[0], status, usage.ru_maxrss)


def fifos_end(s):
    """a FIFO that nobody writes is waited for, but not for ever"""
    s.matrix(1)
    os.mkfifo(s.path("fifo"))
    commands = [("run", "--fw", "a.fw", "fifo"), ("run", "--fw", "fifo", "c0.pm4"), ("info", "fifo"), ("disasm", "fifo"),
                ("convert", "fifo", "-o", "x"), ("regress", "fifo"), ("regress", "--merge", "f"), ("check", "fifo"),
                ("asm", "fifo", "-o", "x"), ("step", "--demo", "-x", "fifo"), ("diff", "fifo", "fifo"),
                ("cover", "--fw", "a.fw", "c0.pm4", "--counts", "fifo")]
    s.path("f/x", "")
    os.mkfifo(s.path("f/results.json"))
    running = [(c, subprocess.Popen([scene.CPSCOPE, *c], cwd=s.folder.name, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)) for c in commands]
    for command, process in running:
        _, said = process.communicate(timeout=machine.PATIENCE)
        assert process.returncode == 3 and "nothing came for 10 seconds" in said, (command, process.returncode, said)


def terminal_stays_free(s):
    """a terminal that is read does not become the reader's own"""
    machine.need_terminal()
    master, child = pty.openpty()
    name = os.ttyname(child)
    process = subprocess.Popen([scene.CPSCOPE, "info", name], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    machine.wait_until(lambda: machine.has_open(process.pid, name) or process.poll() is not None, "it is not read")
    with open("/proc/%d/stat" % process.pid, encoding="utf-8") as file:
        own = int(file.read().rsplit(")", 1)[1].split()[4])
    assert process.poll() is None and own == 0, own
    process.kill()
    process.wait()
    os.close(child)
    os.close(master)


def no_home(s):
    """without a home directory no folder that others share is taken for one"""
    s.matrix(1)
    before = set(os.listdir("/tmp"))
    nobody = {"HOME": None, "XDG_CACHE_HOME": None}
    s.ok("regress", "manifest", env=nobody)
    assert not [n for n in os.listdir("/tmp") if n == ".cache" and n not in before]


def escapes(s):
    """terminals see no escape sequence of a file's name or contents"""
    s.matrix(1)
    nasty = b"n\x1b]0;owned\x07\x1b[2J\xc2\x9b31m\xe2\x80\xae\x7f\nx: pass"
    shutil.copy(s.path("a.fw"), os.fsencode(s.path("")) + nasty)
    s.ok("run", "--fw", "a.fw", "c0.pm4", "-o", "t.trace")
    s.path("evil.trace", s.read("t.trace").replace(b"# capture c0.pm4", b"# capture \xc2\x9b2J\x7f\xe2\x80\xae"))
    commands = [("info", nasty), ("info", "--json", nasty), ("disasm", nasty), ("run", "--fw", nasty, "c0.pm4"),
                ("info", b"missing" + nasty), ("cover", "--fw", nasty, "c0.pm4"), ("info", "evil.trace"),
                ("convert", "evil.trace"), ("check", "evil.trace"), ("diff", "evil.trace", "t.trace"), (b"bogus" + nasty,),
                ("run", b"--bogus" + nasty), ("regress", b"no" + nasty), ("asm", b"no" + nasty, "-o", "x")]
    for command in commands:
        done = s.run(*command)
        text = done.stdout + done.stderr
        assert not any(c in text for c in "\x1b\x07\x9b\u202e\x7f"), (command, text)
        assert "\nx: pass" not in text, (command, text)


def changed_while_read(s):
    """a capture that changes while it is read is an error and no result"""
    s.firmware("a")
    s.path("c.rd", make.capture(make.type7(0x10, 1, 2, 3) * 400000))
    process = subprocess.Popen([scene.CPSCOPE, "run", "--fw", "a.fw", "c.rd", "-o", "out.trace"], cwd=s.folder.name,
                               stderr=subprocess.PIPE, text=True)
    machine.wait_until(lambda: machine.has_open(process.pid, s.path("c.rd")) or process.poll() is not None, "it is not read")
    with open(s.path("c.rd"), "r+b") as file:
        file.seek(1000000)
        file.write(b"\xff" * 16)
    _, said = process.communicate()
    assert process.returncode == 3 and not os.path.exists(s.path("out.trace")), (process.returncode, said)


def huge_manifest(s):
    """a manifest or script without an end is refused"""
    s.matrix(1)
    s.refused("regress", "/dev/zero")
    s.refused("run", "--fw", "/dev/zero", "c0.pm4")
    s.refused("step", "--demo", "-x", "/dev/zero")
    s.path("m", MANIFEST + "firmware a a.fw\ncapture /dev/zero\n")
    s.ok("regress", "m", "--no-cache", status=4)


scene.each_in_its_scene([full_stdout, closed_streams, devices_and_links, input_is_output, signals_leave_nothing, size_limit,
           every_run_ends, one_instruction, scattered, fifos_end, terminal_stays_free, no_home, escapes,
           changed_while_read, huge_manifest])

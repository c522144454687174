#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`device --step`: the debugger of `step` as the GPU of a program that runs (stepped.c). What the program reads, what the
debugger shows of submissions that have yet to come and of those that are over, and how either ends.

Usage: stepped.py CPSCOPE STEPPED"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap

CPSCOPE, STEPPED = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("CPSCOPE_CORPUS")
FOLDER = tempfile.mkdtemp(prefix="cps-", dir="/tmp")
ENV = {**os.environ, "XDG_RUNTIME_DIR": FOLDER}
DEMO = ["--demo", "--policy", "waits=stop"]
REAL = ["--chip", "a630", "--fw", "%s/firmware/a630_sqe-190.fw" % CORPUS]
# What the program prints: nobody but itself writes the first word and the marker after their submission.
EXPECTED = ["submission 0: 100 0 0", "submission 1: 7 101 0", "submission 2: 7 101 102", "at the end: 7 7"]
# The words that it reads: an address each.
DATA, LARGE = 0x100000000, 0x100001000


def command(options, *program):
    return [CPSCOPE, "device", *options, "--step", "--", STEPPED, *program]


def session(lines, *program, options=DEMO, status=0):
    """What the debugger prints after each line, and what the program has printed."""
    done = subprocess.run(command(options, *program), env=ENV, input="".join(line + "\n" for line in lines), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    printed = [line for line in done.stdout.splitlines() if re.match(r"submission \d+: \d|at the end|status|sleeps", line)]
    rest = "".join(line + "\n" for line in done.stdout.splitlines() if line not in printed)
    shown = re.split(r"^> .*\n", rest, flags=re.M)
    assert len(shown) == len(lines) + 1, done.stdout
    return shown, printed


def place(text):
    found = re.search(r"^step (\d+), event \d+, submission (\d+):", text, re.M)
    assert found, text
    return int(found[1]), int(found[2])


def first():
    """It stops before the first submission executes; steps and steps back are those of a capture."""
    shown, printed = session(["step 5", "rstep 5", "continue"], "run")
    begin, there, back, end = (place(text) for text in shown)
    assert begin[1] == 0 and there == (begin[0] + 5, 0) and back == begin and end[1] == 2, shown
    assert printed == EXPECTED, printed
    assert "the end: the program has ended" in shown[3], shown[3]


def breakpoint_later():
    """A breakpoint on a packet of a submission that has not come yet; the program has what came before, and no more."""
    shown, printed = session(["break pkt:CP_MEM_WRITE if submission == 1", "continue", "info submissions", "quit"], "run")
    assert place(shown[2])[1] == 1 and "breakpoint 1" in shown[2], shown
    assert re.findall(r"^([* ]) (\d)", shown[3], re.M) == [(" ", "0"), ("*", "1")], shown[3]
    assert printed == EXPECTED[:1], printed


def watchpoint():
    """A word of memory, also where the program is the one who writes it."""
    lines = ["watch [0x%x]" % (DATA + 4), "watch [0x%x]" % (LARGE + 0x80004), "continue", "continue", "continue"]
    shown, printed = session(lines, "run")
    assert "watchpoint 2" in shown[3] and place(shown[3])[1] == 1, shown[3]
    assert "the end" in shown[4], shown[4]
    assert printed == EXPECTED, printed


def why():
    """The packet and the instruction that stored a word which the program reads, in a later submission, too."""
    lines = ["break pkt:CP_MEM_WRITE if submission == 2", "continue", "why [0x%x]" % (LARGE + 0x80004),
             "x 0x%x" % DATA]
    shown, _ = session(lines + ["quit"], "run")
    assert "CP_MEM_WRITE" in shown[3] and "0x00000065" in shown[3], shown[3]
    assert "00000007" in shown[4], shown[4]  # the program's, which came after what the firmware stored


def back():
    """Into the first submission from the third, and forward again to the same place: nothing is written once more."""
    lines = ["break pkt:CP_MEM_WRITE if submission == 2", "continue", "rsubmit", "rsubmit", "rsubmit", "x 0x%x" % DATA, "delete",
             "submit", "submit", "x 0x%x" % DATA, "continue", "rsubmit", "rsubmit", "rsubmit", "continue", "start", "continue"]
    shown, printed = session(lines, "run")
    assert [place(shown[i])[1] for i in (2, 3, 4, 5)] == [2, 2, 1, 0], shown
    assert "00000000" in shown[6] and "00000007" in shown[10], shown
    assert [place(shown[i])[1] for i in (8, 9, 11, 12, 13, 14, 15, 16, 17)] == [1, 2, 2, 2, 1, 0, 2, 0, 2], shown
    assert place(shown[11]) == place(shown[15]) == place(shown[17]), shown
    assert printed == EXPECTED, printed


def change():
    """A change in an old submission stays in the debugger: its results are the program's already."""
    lines = ["continue", "start", "set [0x%x] = 0x55" % (DATA + 0x80), "continue", "start", "continue"]
    shown, printed = session(lines, "run")
    assert all("the end" in shown[i] for i in (1, 4, 6)), shown
    assert printed == EXPECTED, printed


def held():
    """As long as the debugger has not got to the end of a submission the program has nothing of it."""
    _, printed = session(["tbreak pkt:CP_MEM_WRITE", "continue", "step 2", "quit"], "run")
    assert printed == [], printed


def contexts():
    """Two programs with memory at the same addresses: each gets its own values."""
    shown, printed = session(["continue", "start", "continue"], "twice")
    for line in EXPECTED + [re.sub(r"\b10(\d)\b", r"20\1", line) for line in EXPECTED]:
        assert line in printed, (line, printed)
    assert "the end" in shown[3], shown[3]


def hang():
    """A bad packet is shown; who goes on lets the program have its error."""
    shown, printed = session(["continue", "rstep", "continue", "continue"], "hang")
    assert "bad packet" in shown[1] and "hang:" in shown[1], shown
    assert printed == ["status, faults 1"], printed


def recovery():
    """After a hang the next submission works; breakpoints stay, the way back leads over the reset, and each hang has a dump."""
    dumps = os.path.join(FOLDER, "dumps")
    os.mkdir(dumps)
    lines = ["break pkt:CP_MEM_WRITE", "continue", "continue", "continue", "step 3", "rsubmit", "rsubmit", "rsubmit", "rsubmit", "continue",
             "delete", "continue", "continue", "continue"]
    shown, printed = session(lines, "recover", options=DEMO + ["--dumps", dumps])
    assert "bad packet" in shown[3], shown[3]
    assert "breakpoint 1" in shown[4] and place(shown[4])[1] == 1, shown[4]
    assert place(shown[6]) == place(shown[4]), shown
    assert place(shown[9])[1] == 0 and place(shown[10])[1] == 0 and "breakpoint 1" in shown[10], shown
    assert "bad packet" in shown[12] and place(shown[12])[1] == 2, shown[12]  # the first one is over
    assert all("the end" in text for text in shown[13:]), shown
    assert printed == ["submission %d: %d, faults %d" % (i, 50 + i, 1 + i // 2) for i in range(4)], printed
    for number in (1, 2):
        done = subprocess.run([CPSCOPE, "run", "--demo", os.path.join(dumps, "hang-%d.devcore" % number)], text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0 and "differ" in done.stdout, done


def waits_in_vain():
    """What nobody writes is a deadlock after --hang-after."""
    shown, printed = session(["continue", "continue"], "vain", options=DEMO + ["--hang-after", "50"])
    assert "deadlock" in shown[1] and "memory" in shown[1], shown[1]
    assert printed == ["status, faults 1"], printed


def start(*program, options=DEMO):
    return subprocess.Popen(command(options, *program), env=ENV, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def read_pid(process):
    for line in process.stdout:
        if line.startswith("sleeps"):
            return int(line.split()[-1])
    raise AssertionError("the program does not start")


def is_gone(pid):
    until = time.monotonic() + 20
    while os.path.exists("/proc/%d" % pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not os.path.exists("/proc/%d" % pid)


def interrupted():
    """SIGINT while the program computes leads to the prompt; leaving it ends the program."""
    process = start("sleep")
    pid = read_pid(process)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate("info submissions\nquit\n", timeout=60)
    assert "> info submissions" in out and is_gone(pid), out


def killed():
    """A program that is killed has ended; the debugger is at the end of its run."""
    process = start("sleep")
    os.kill(read_pid(process), signal.SIGKILL)
    out, _ = process.communicate("continue\nrsubmit\n", timeout=60)
    assert out.count("the end: the program has ended") == 1 and "the start of the run" in out, out
    assert process.returncode == 128 + signal.SIGKILL, process.returncode


def killed_in_job():
    """The same in the middle of a submission, which goes on to its end."""
    process = start("late")
    pid = read_pid(process)
    os.kill(pid, signal.SIGKILL)
    out, _ = process.communicate("step 3\ncontinue\nrsubmit\n", timeout=60)
    assert out.count("the end: the program has ended") == 1, out
    assert out[out.index("> step 3"):].count(", submission 0:") == 3, out


def terminated():
    """SIGTERM for the debugger ends the program and removes the folder."""
    process = start("sleep")
    pid = read_pid(process)
    process.send_signal(signal.SIGTERM)
    process.communicate("quit\n", timeout=60)
    assert is_gone(pid) and not glob.glob(FOLDER + "/cpscope*/*"), os.listdir(FOLDER)


def usage():
    """What the debugger has no use for is refused."""
    for option in (["-o", "x.cpt"], ["--record", "x.rd"], ["--idle"]):
        done = subprocess.run(command(DEMO + option, "run"), env=ENV, text=True, stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == 2 and "--step" in done.stderr, (option, done)


def real():
    """Firmware of an a630: draws of the kernel around the submissions, a wait, and the way back."""
    lines = ["break pkt:CP_MEM_WRITE@ib1 if submission == 2", "continue", "rsubmit", "rsubmit", "rsubmit", "delete", "continue"]
    shown, printed = session(lines, "run", options=REAL)
    assert [place(shown[i])[1] for i in (2, 3, 4, 5)] == [2, 2, 1, 0], shown
    assert printed == EXPECTED, printed


TESTS = [("stops before the first submission executes", first), ("a breakpoint in a later submission", breakpoint_later),
         ("a watchpoint on memory", watchpoint), ("why of a word that the program reads", why),
         ("back into the first submission", back), ("a change in an old submission", change),
         ("the program waits for the debugger", held), ("two contexts", contexts), ("a bad packet", hang), ("submissions after hangs", recovery),
         ("a wait in vain", waits_in_vain), ("an interrupt leads to the prompt", interrupted), ("a killed program", killed),
         ("a program killed in a submission", killed_in_job), ("a debugger that is ended", terminated), ("usage", usage)]
try:
    tap.run(TESTS + [("real firmware", real)] * bool(CORPUS))
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)

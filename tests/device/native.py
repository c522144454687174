#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a client of the virtual device gets, checked by a client with raw ioctls (native.c), and what becomes of the one when
the other ends: with a status, by a signal, in the middle of something.

Usage: native.py CPSCOPE NATIVE"""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import tap

CPSCOPE, NATIVE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("CPSCOPE_CORPUS")
WAITS = ["--policy", "waits=stop"]
# Chip and its firmware, one of each generation.
REAL = [("a630", "a630_sqe-190.fw"), ("a650", "a650_sqe-112.fw"), ("a660", "a660_sqe-112.fw"), ("a730", "a730_sqe-142.fw"),
        ("a740", "a740_sqe-181.fw"), ("a750", "gen70900_sqe-181.fw"), ("a830", "gen80000_sqe-077.fw")]
GROUPS = ("memory", "sync", "hang", "order")
# Those whose firmware switches between rings on the model: emu/afuc/control/rings.c.
SWITCHES = ("a630", "a650", "a660", "a730", "a740", "a750")
WITH_BV = ("a740", "a750", "a830")
# What replaces the first words of a740's routine for preemption: a loop that changes nothing, and one that counts in a word.
STUCK = {"waits": [0xc8000000, 0x01000000], "counts": [0x08420001, 0xa80202f0, 0xc800fffe, 0x01000000]}
# The socket's path is short.
FOLDER = tempfile.mkdtemp(prefix="cps-", dir="/tmp")
ENV = {**os.environ, "XDG_RUNTIME_DIR": FOLDER}


def device(*program, options=("--demo",), timeout=120, **more):
    return subprocess.run([CPSCOPE, "device", "-q", *options, "--", *program], env=ENV, text=True, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def start(*program, options=("--demo", *WAITS)):
    return subprocess.Popen([CPSCOPE, "device", "-q", *options, "--", *program], env=ENV, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def facts(name, options, *groups):
    done = device(NATIVE, *groups, options=(*options, *WAITS))
    tap.relay(name, done)
    tap.report(f"{name}: {' '.join(groups)}: hangs are in the status", done.returncode in (0, 4), f"{done.returncode}\n{done.stderr}")


def preemption(name, options):
    """The routine of the firmware is entered twice for each switch to a job and back, and saves a record each time."""
    facts(name, options, "preempt", "levels")
    trace = os.path.join(FOLDER, "trace")
    done = subprocess.run([CPSCOPE, "device", *options, "-o", trace, "-e", "pkt,memw", "--", NATIVE, "levels"], env=ENV, text=True,
                          timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(trace, encoding="utf-8") as file:
        text = file.read()
    entered = len(re.findall(r"^(?:sqe )?PKT int 0x\w+ 0x708f8000", text, re.M))
    saved = len(re.findall(r"^(?:sqe )?MEMW 0x0001ffff(?:f9|fa|fb|fd)000000 0xae399d6e store", text, re.M))
    tap.report(f"{name}: preemptions are the firmware's own", " 4 preemptions," in done.stderr and entered >= 8 and saved >= 8,
               f"{entered} entries, {saved} records: {done.stderr}")
    done = subprocess.run([CPSCOPE, "device", *options, "--policy", "preempt=off", "--hang-after", "200", "--", NATIVE, "levels"], env=ENV,
                          text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tap.report(f"{name}: preempt=off runs jobs one after the other", " 0 preemptions" in done.stderr, done.stderr)


def stuck(firmware):
    """The routine never ends: a hang, after which the job that asked for it runs."""
    listing = subprocess.run([CPSCOPE, "disasm", firmware], text=True, stdout=subprocess.PIPE, check=True).stdout
    at = 4 + 4 * int(re.search(r"^IN_PREEMPT:\n.*; (\w{4}) \w{8}", listing, re.M)[1], 16)
    for name, words in STUCK.items():
        image = bytearray(open(firmware, "rb").read())
        image[at:at + 4 * len(words)] = struct.pack(f"<{len(words)}I", *words)
        path = os.path.join(FOLDER, "stuck.fw")
        with open(path, "wb") as file:
            file.write(image)
        facts(f"a routine that {name}", ["--chip", "a740", "--fw", path, "--hang-after", "20"], "stuck")


def dumps(name, options, firmware):
    """Of a dump after retired submissions in the same buffer every compared value is equal; a fault is no hang."""
    for what, arguments in (("hang", ()), ("fault", ("0x700001000",))):
        folder = tempfile.mkdtemp(dir=FOLDER)
        done = device(NATIVE, "reuse", *arguments, options=(*options, *WAITS, "--dumps", folder, "--hang-after", "20"))
        dump = os.path.join(folder, what + "-1.devcore")
        run = subprocess.run([CPSCOPE, "run", *firmware, dump], text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        info = subprocess.run([CPSCOPE, "info", *firmware, dump], text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tap.report(f"{name}: the replay of a {what} after other submissions equals the dump",
                   "without retired streams" in run.stdout and re.search("# in all: .* 0 different", run.stdout) and
                   run.returncode == (4 if arguments else 0), f"{done}\n{run.stdout}{run.stderr}")
        text = " ".join(info.stdout.split())
        want = "Page fault: a read of 0x700001000" if arguments else "command processor hangs"
        tap.report(f"{name}: info describes the {what}", not info.returncode and want in text and
                   not (arguments and "hangs at" in text), info.stdout + info.stderr)


def folders():
    return [name for name in os.listdir(FOLDER) if name.startswith("cpscope-")]


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def ends():
    done = device(NATIVE, "exit", "7")
    tap.report("the program's status is the command's", done.returncode == 7, done)
    done = device(NATIVE, "signal", str(int(signal.SIGSEGV)))
    tap.report("a program that a signal ended has status 128 + signal", done.returncode == 128 + signal.SIGSEGV, done)
    done = device("/no/such/program")
    tap.report("a program that is not there is one line and status 3",
               done.returncode == 3 and done.stderr.count("\n") == 1 and "/no/such/program" in done.stderr, done)
    for kind in ("waits", "runs"):
        done = device(NATIVE, "victim", kind, options=("--demo", *WAITS))
        tap.report(f"a client that is killed while its GPU {kind} does not stop the device", done.returncode in (0, 4), done)
    done = device(NATIVE, "hoard")
    tap.report("memory of a client that was killed is there for others", done.returncode == 0, done)


def killed_device():
    result = os.path.join(FOLDER, "result")
    process = start(NATIVE, "block", result, options=("--demo", *WAITS, "--hang-after", "60000"))
    wait_until(lambda: folders() and os.path.exists(os.path.join(FOLDER, folders()[0], "socket")))
    time.sleep(0.3)
    process.kill()
    process.communicate()
    wait_until(lambda: os.path.exists(result) and os.path.getsize(result))
    text = open(result, encoding="utf-8").read() if os.path.exists(result) else "nothing"
    tap.report("a client of a device that was killed gets ENODEV", text == "No such device\n", text)
    before = folders()
    time.sleep(2)  # a young folder may be one that is being made
    running = start_blocked()
    wait_until(lambda: set(folders()) - set(before))
    other = set(folders()) - set(before)
    device(NATIVE, "exit", "0")
    tap.report("the next device removes the folder that was left, and not that of one that runs", set(folders()) == other and other,
               f"{before} {other} {folders()}")
    end_by(running, signal.SIGINT)
    for number in (signal.SIGTERM, signal.SIGHUP):
        running = start_blocked()
        wait_until(lambda: folders() and os.path.exists(os.path.join(FOLDER, folders()[0], "socket")))
        time.sleep(0.3)
        end_by(running, number)


def start_blocked():
    return start(NATIVE, "block", options=("--demo", *WAITS, "--hang-after", "60000"))


def end_by(running, number):
    running.send_signal(number)
    try:
        running.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        running.kill()
    tap.report(f"{number.name} ends the device, with its folder and its program: status {128 + number}",
               running.returncode == 128 + number and not folders(), f"{running.returncode} {folders()}")


def outputs():
    """What goes to stdout is the JSON, or the trace, alone."""
    for options in (["--json"], ["-o", "-", "--to", "perfetto"]):
        done = device("echo", "hello", options=("--demo", *options))
        try:
            json.loads(done.stdout)
            good = "hello\n" in done.stderr
        except ValueError:
            good = False
        tap.report(f"{' '.join(options)}: the program's output goes to stderr", good, done)
    done = device(NATIVE, "exit", "0", options=("--chip", "list"))
    tap.report("--chip list names firmware in the order of --fw: PFP and ME", "a530_pfp.fw a530_pm4.fw\n" in done.stdout, done)


try:
    facts("built-in firmware", ["--demo"], *GROUPS)
    facts("built-in firmware", ["--demo", "--hang-after", "1"], "endless")
    facts("built-in firmware", ["--demo", "--hang-after", "100000"], "full")
    ends()
    outputs()
    killed_device()
    for chip, firmware in REAL:
        path = os.path.join(CORPUS or "", "firmware", firmware)
        if CORPUS and os.path.exists(path):
            facts(chip, ["--chip", chip, "--fw", path], *GROUPS)
            facts(chip, ["--chip", chip, "--fw", path, "--hang-after", "2"], "endless")
            if chip in WITH_BV:
                facts(chip, ["--chip", chip, "--fw", path], "threads")
            dumps(chip, ["--chip", chip, "--fw", path], ["--fw", path])
            if chip in SWITCHES:
                preemption(chip, ["--chip", chip, "--fw", path])
            if chip == "a740":
                stuck(path)
        else:
            tap.skip(f"{chip}: facts with its firmware", "no CPSCOPE_CORPUS with " + firmware)
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
tap.plan()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a client of KGSL gets from the virtual device (kgsl_client.py), with the built-in firmware and that of several chips.

Usage: kgsl.py CPSCOPE"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

CPSCOPE = os.path.abspath(sys.argv[1])
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kgsl_client.py")
CORPUS = os.environ.get("CPSCOPE_CORPUS")
GROUPS = ("memory", "order", "binds", "hang", "ioctls", "processes", "hostile")
REAL = [("a530", "a530_pfp.fw", "a530_pm4.fw"), ("a630", "a630_sqe-207.fw"), ("a650", "a650_sqe-112.fw"), ("a750", "gen70900_sqe-181.fw"),
        ("a830", "gen80000_sqe-077.fw")]
# The socket's path is short.
FOLDER = tempfile.mkdtemp(prefix="cps-", dir="/tmp")
ENV = {**os.environ, "XDG_RUNTIME_DIR": FOLDER}


def device(*program, options):
    return subprocess.run([CPSCOPE, "device", "--kgsl", *options, "--", *program], env=ENV, text=True, timeout=200, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def facts(name, options):
    done = device(sys.executable, CLIENT, *GROUPS, options=("-q", *options, "--policy", "waits=stop"))
    tap.relay(name, done)
    tap.report(f"{name}: hangs are in the status", done.returncode == 4, f"{done.returncode}\n{done.stderr}")


def without_capture(path):
    with open(path, encoding="utf-8") as file:
        return [line for line in file if not line.startswith("# capture")]


def recordings(name, options):
    """Pages of the process are in the recording, those that change while the firmware waits, too."""
    recording, live, again = (os.path.join(FOLDER, name + end) for end in (".rd.gz", ".live", ".again"))
    done = device(sys.executable, CLIENT, "memory", "order", "binds", options=("-q", *options, "--record", recording, "-o", live, "-t", "text"))
    run = subprocess.run([CPSCOPE, "run", "-q", *options[2:], recording, "-o", again, "-t", "text"], text=True, timeout=100, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = without_capture(live), without_capture(again)
    tap.report(f"{name}: a run of a recording gives the trace of the live run", lines[0] == lines[1] and len(lines[0]) > 10000,
               f"{len(lines[0])} and {len(lines[1])} lines\n{done.stderr}{run.stderr}")


def dumps(name, options):
    """The stream and what it reads lie in the process, and a replay of the dump is equal to it."""
    folder = os.path.join(FOLDER, "dumps-" + name)
    os.mkdir(folder)
    device(sys.executable, CLIENT, "hang", options=("-q", *options, "--dumps", folder))
    path = os.path.join(folder, "hang-1.devcore")
    info, run = (subprocess.run([CPSCOPE, *words, path], text=True, timeout=100, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
                 for words in (["info"], ["run", "-q", "-e", "end", *options[2:]]))
    tap.report(f"{name}: a dump has the streams of the process, and its replay is equal", re.search(r"in IB1\s+at\s+0x7", info) and
               " matched by packet headers, queues and program counter; 1 match\n" in run and re.search(r"in all: \d+ equal, 0 different", run),
               info[:2000] + run)


try:
    facts("built-in firmware", ["--demo"])
    for chip, *firmware in REAL:
        paths = [os.path.join(CORPUS or "", "firmware", name) for name in firmware]
        if CORPUS and all(os.path.exists(path) for path in paths):
            options = ["--chip", chip, *[word for path in paths for word in ("--fw", path)]]
            facts(chip, options)
            if chip in ("a630", "a750"):
                recordings(chip, options)
            if chip == "a630":
                dumps(chip, options)
        else:
            tap.skip(f"{chip}: facts with its firmware", f"no CPSCOPE_CORPUS with {firmware}")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
tap.plan()

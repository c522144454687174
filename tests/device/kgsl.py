#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a client of KGSL gets from the virtual device (kgsl_client.py), with the built-in firmware and that of several chips.

Usage: kgsl.py CPSCOPE"""
import os
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
    why = ""
    for line in done.stdout.splitlines():
        good, _, what = line.partition("ok - ")
        if what:
            tap.report(f"{name}: {what}", not good, why + done.stderr)
        why = line + "\n" if line.startswith("#") else ""
    tap.report(f"{name}: hangs are in the status", done.returncode == 4, f"{done.returncode}\n{done.stderr}")


try:
    facts("built-in firmware", ["--demo"])
    for chip, *firmware in REAL:
        paths = [os.path.join(CORPUS or "", "firmware", name) for name in firmware]
        if CORPUS and all(os.path.exists(path) for path in paths):
            facts(chip, ["--chip", chip, *[word for path in paths for word in ("--fw", path)]])
        else:
            tap.skip(f"{chip}: facts with its firmware", f"no CPSCOPE_CORPUS with {firmware}")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
tap.plan()

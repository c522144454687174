#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plugins of --launch: those that are wrong are one line and status 3, one that only looks changes no trace, and kernels of
this machine (examples/host_compute.c) do what the shaders of a client would.

Usage: launch.py CPSCOPE LAUNCHED PLUGIN.so..."""
import os
import re
import subprocess
import sys
import tempfile

import tap

CPSCOPE, LAUNCHED = (os.path.abspath(path) for path in sys.argv[1:3])
PLUGIN = {os.path.basename(path)[3:-3]: os.path.abspath(path) for path in sys.argv[3:]}
CORPUS = os.environ.get("CPSCOPE_CORPUS")
FIRMWARE = {"a630": "a630_sqe-190.fw", "a660": "a660_sqe-112.fw", "a740": "a740_sqe-181.fw", "a750": "gen70900_sqe-181.fw",
            "a830": "gen80000_sqe-077.fw"}
FOLDER = tempfile.TemporaryDirectory(prefix="cps-", dir="/tmp")  # a socket's path is short
CODE = 0x12345678  # the client's shader, and 0 after it


def path(name):
    return os.path.join(FOLDER.name, name)


def start(*words, folder=FOLDER.name):
    return subprocess.run([CPSCOPE, *words], env={**os.environ, "XDG_RUNTIME_DIR": FOLDER.name}, text=True, timeout=120, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(launch, *words):
    return start("run", "-q", "--demo", "-o", path("trace"), *(("--launch", launch) if launch else ()), *words)


def device(chip, launch, *words, before=None):
    """@param before  a command of the shell, in the program before the client."""
    firmware = os.path.join(CORPUS, "firmware", FIRMWARE[chip])
    shell = ["sh", "-c", before + ' && exec "$@"', "sh"] if before else []
    return start("device", "-q", "--chip", chip, "--fw", firmware, "--launch", launch, *words, "--", *shell, LAUNCHED, hex(CODE))


def table(*lines):
    with open(path("table"), "w", encoding="utf-8") as file:
        file.write("\n".join(["# kernels", "object " + PLUGIN["kernels"], *lines]) + "\n")
    return PLUGIN["host_compute"] + ":" + path("table")


def refused(name, launch, *expected):
    done = run(launch)
    said = [line for line in done.stderr.splitlines() if line.startswith("cpscope: ")]
    tap.report(name, done.returncode == 3 and len(said) == 1 and all(word in said[0] for word in expected), done)


def refusals():
    refused("a plugin that is not there", "no-such.so", "./no-such.so", "No such file")
    refused("a file that is no shared object", __file__, "launch.py")
    refused("a shared object without cps_plugin", PLUGIN["plugin-none"], "no symbol cps_plugin, expected a plugin")
    refused("a plugin of another version", PLUGIN["plugin-future"], "version 99 of the interface, expected 1")
    refused("a plugin that does not open", PLUGIN["plugin-counts"] + ":refuse", "plugin-counts.so: not today")
    refused("a plugin that fails at a launch", PLUGIN["plugin-counts"] + ":fail", "plugin-counts.so: no such work")
    refused("a table that is not there", PLUGIN["host_compute"] + ":no-such", "no-such: cannot be opened")
    for line, expected in (("what is this", "expected object, at, code, any or skip"), ("any nobody", "any nobody: no such function"),
                           ("any scale too", "expected object"), ("code 0 0x1 scale", "expected 1 to 1048576 bytes")):
        refused("a line of a table: " + line, table(line), expected)
    done = start("device", "--demo", "--step", "--launch", PLUGIN["plugin-counts"], "--", "true")
    tap.report("the debugger takes no plugin", done.returncode == 2 and "--launch" in done.stderr, done)


def looks():
    """With and without events: a launch needs none."""
    traces = []
    for launch in (None, PLUGIN["plugin-counts"]):
        done = run(launch, "-e", "all")
        traces.append(open(path("trace"), encoding="utf-8").read())
    tap.report("a plugin that only looks changes no trace", done.returncode == 0 and traces[0] == traces[1] and len(traces[0]) > 1000, done)
    tap.report("it is called at the demo's draw", "plugin: a6xx, 0xa9b4, 1 draws, 0 dispatches, 0 writes\n" == done.stderr, done)
    os.symlink(PLUGIN["plugin-counts"], path("here.so"))
    done = run("here.so")
    tap.report("a name without a slash is a file of this folder; no event is needed", done.returncode == 0 and " 1 draws" in done.stderr, done)


def kernels(chip):
    good = lambda done: done.returncode == 0 and done.stdout.count("\nok ") + done.stdout.startswith("ok ") == 3
    recording, trace, again = path(chip + ".rd.gz"), path("live"), path("again")
    launch = table("any scale")
    done = device(chip, launch, "-e", "all", "-o", trace, "--record", recording)
    tap.report(chip + ": kernels store results, and the firmware goes on with them", good(done), done)
    tap.report(chip + ": a dispatch that a predicate switches off starts nothing", "1 dispatches, 15 workgroups, 0 dispatches skipped" in done.stderr, done)
    firmware = os.path.join(CORPUS, "firmware", FIRMWARE[chip])
    done = start("run", "-q", "--fw", firmware, recording, "-e", "all", "-o", again, "--launch", launch)
    lines = [[line for line in open(name, encoding="utf-8") if not line.startswith("# capture")] for name in (trace, again)]
    tap.report(chip + ": the recording and the same plugin give the live trace", done.returncode == 0 and lines[0] == lines[1],
               [done, next((both for both in zip(*lines) if both[0] != both[1]), None)])
    done = device(chip, table("at 0x1 broken"))
    found = re.search(r"shader at (0x\w+), expected a line such as: code 128 (0x\w+) NAME", done.stderr)
    tap.report(chip + ": a shader without a function ends the device, with the line that lacks", done.returncode == 3 and found, done)
    done = device(chip, table("at 0x1 broken", "code 64 0x1 broken", "code 128 %s scale" % found[2], "any broken"))
    tap.report(chip + ": a shader is found by its code", good(done), done)
    done = device(chip, table("at %s scale" % found[1], "any broken"))
    tap.report(chip + ": a shader is found by its address", good(done), done)
    done = device(chip, table(), before="echo any scale >> table")
    tap.report(chip + ": a shader is found by a line that was appended since", good(done), done)
    done = device(chip, table(), before="echo what is this >> table")
    tap.report(chip + ": a wrong line that was appended ends the device", done.returncode == 3 and "expected object, at, code" in done.stderr, done)
    done = device(chip, table(), before="printf 'any scale' >> table")
    tap.report(chip + ": an appended line counts when it has its end", done.returncode == 3 and "no function for the shader" in done.stderr, done)
    done = device(chip, table("skip"))
    tap.report(chip + ": a shader that is skipped stores nothing", done.returncode == 1 and "1 dispatches skipped" in done.stderr, done)
    done = device(chip, table("any broken"))
    tap.report(chip + ": a kernel that fails ends the device", done.returncode == 3 and "this kernel is broken" in done.stderr, done)
    done = device(chip, table("any wild"))
    tap.report(chip + ": memory that is not mapped is none of a kernel's", done.returncode in (1, 4) and "nobody mapped" not in done.stderr, done)


refusals()
looks()
for name, file in FIRMWARE.items():
    if CORPUS and os.path.exists(os.path.join(CORPUS, "firmware", file)):
        kernels(name)
    else:
        tap.skip(name + ": kernels", "no CPSCOPE_CORPUS with " + file)
tap.plan()

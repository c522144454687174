#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole sessions, to the letter: what commands print about the open firmware and captures, as people see it. A file of tests/cli/texts
is a session: behind "$ " what is typed, then all that it prints, stdout and stderr as they come, and "[N]" where the status N is
not 0; lines in front of the first "$ " say what it shows. What is right of it the other tests say; these see that no line of it
changes unseen. tests/lib/rebase.py says how they are written. Each runs in a folder of its own, which has
    demo.fw, demo.afuc, demo.pm4   the built-in firmware and its capture
    old.fw, new.fw, captures/, manifest.txt   two revisions of it (mkcorpus.py) and six captures
    scripts/, streams/             those of tests/
Usage: texts.py CPSCOPE [NAME...]"""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import mkcorpus
import rebase
import tap
from tree import ROOT, SCRIPTS, STREAMS
from scene import CPSCOPE

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = os.path.join(HERE, "texts")
DEMO = os.path.join(ROOT, "fw", "demo")
VERSION = subprocess.check_output([CPSCOPE, "--version"], text=True).split()[1]

# What a user may have set that changes what is printed.
USERS = ("CPSCOPE_", "LC_", "LANG", "XDG_", "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "TERM", "PAGER", "LESS", "TEST_")


def make_scene(folder):
    mkcorpus.make(CPSCOPE, os.path.join(DEMO, "demo_sqe.afuc"), folder, 6)
    shutil.copy(os.path.join(DEMO, "demo_sqe.afuc"), os.path.join(folder, "demo.afuc"))
    shutil.copy(os.path.join(DEMO, "demo.pm4"), folder)
    shutil.copy(os.path.join(folder, "old.fw"), os.path.join(folder, "demo.fw"))
    for inputs in (SCRIPTS, STREAMS):
        shutil.copytree(inputs, os.path.join(folder, os.path.basename(inputs)))


def session(text, scene):
    """The session of @text as it goes now."""
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith("$ "))
    with tempfile.TemporaryDirectory() as scratch:
        here = os.path.join(scratch, "here")
        shutil.copytree(scene, here)
        env = {key: value for key, value in os.environ.items() if not key.startswith(USERS)}
        env.update(PATH=os.path.dirname(CPSCOPE) + os.pathsep + os.environ["PATH"], HOME=scratch, TMPDIR=scratch, LC_ALL="C.UTF-8")
        out = lines[:first]
        for line in lines[first:]:
            if line.startswith("$ "):
                done = subprocess.run(line[2:], shell=True, cwd=here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=120, check=False)
                shown = done.stdout.decode(errors="backslashreplace").replace(VERSION, "VERSION").replace(here, "HERE").rstrip("\n")
                out += [line] + ([shown] if shown else []) + (["[%d]" % done.returncode] if done.returncode else [])
    return "\n".join(out) + "\n"


def case(name, scene):
    path = os.path.join(TEXTS, name + ".txt")
    with open(path, encoding="utf-8") as file:
        before = file.read()
    now = session(before, scene)
    if now != before and rebase.confirmed(name):
        with open(path, "w", encoding="utf-8") as file:
            file.write(now)
        return
    assert now == before, rebase.difference(name, before, now)


def main():
    names = sys.argv[2:] or sorted(name[:-4] for name in os.listdir(TEXTS))
    with tempfile.TemporaryDirectory() as scene, ThreadPoolExecutor(os.cpu_count()) as pool:
        make_scene(scene)
        jobs = {name: pool.submit(case, name, scene) for name in names}
        tap.run([(name, jobs[name].result) for name in names])


main()

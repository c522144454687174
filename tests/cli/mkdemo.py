#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program of the build that makes C of the demo: what it writes has the files' bytes, and it fails where it cannot read one,
so that no build goes on without it. Usage: mkdemo.py MKDEMO"""
import re

import tap
from scene import path, run
from tree import DEMO as SOURCE, DEMO_STREAM as STREAM

GONE = path("gone.pm4")


def array(text, name):
    return bytes(int(byte) for byte in re.search(r"char %s\[\] = \{([^}]*)\}" % name, text)[1].replace(",", " ").split())


def written():
    case = path("case.pm4")
    with open(case, "wb") as file:
        file.write(b"# \xff\x00" + bytes(range(256)) * 40)  # longer than what is read at once
    done = run(SOURCE, STREAM, case, STREAM)
    assert done.returncode == 0 and not done.stderr, done.stderr
    for name, made_from in (("cps_demo_pm4", STREAM), ("case0", case), ("case1", STREAM)):
        with open(made_from, "rb") as file:
            assert array(done.stdout, name) == file.read(), name
    assert len(array(done.stdout, "cps_demo_fw")) % 4 == 0 and "cps_audit_text_count = 2;" in done.stdout
    assert '{"case.pm4", case0, sizeof(case0)}' in done.stdout


def missing():
    for args in ((GONE, STREAM, STREAM), (SOURCE, GONE, STREAM), (SOURCE, STREAM, GONE), (SOURCE, STREAM, STREAM, GONE)):
        done = run(*args)
        assert done.returncode == 1 and GONE in done.stderr and done.stderr.count("\n") == 1, (args, done)


def wrong():
    source = path("wrong.afuc")
    with open(source, "w", encoding="utf-8") as file:
        file.write("[016ee001]\n[01000000]\nfrob $01\n")
    done = run(source, STREAM, STREAM)
    assert done.returncode == 1 and "wrong.afuc:3:1: " in done.stderr, done
    for args in ((), (SOURCE,), (SOURCE, STREAM)):
        done = run(*args)
        assert done.returncode == 2 and done.stderr.startswith("usage: ") and not done.stdout, done


tap.run([("arrays have the files' bytes", written), ("a file that is not there", missing), ("what it cannot take", wrong)])

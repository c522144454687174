#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A new word of a policy does not compile until each user of the policy says what it does.
Usage: policies.py SOURCE_ROOT COMPILER..."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap
from tree import ROOT

CC = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()
ROW = re.compile(r"^(POLICY\([^\"]*, (\w+), \"[\w-]+\",\s+)POLICY_FIRST\(", re.M)


def rows():
    with open(os.path.join(ROOT, "emu/policy.def"), encoding="utf-8") as file:
        text = file.read()
    fields = [row[2] for row in ROW.finditer(text)]
    assert len(fields) == len(re.findall(r"^POLICY\(", text, re.M)) > 5, fields
    return text, fields


def sources():
    for folder in ("emu", "trace", "tools"):
        for name in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True)):
            with open(name, encoding="utf-8") as file:
                yield os.path.relpath(name, ROOT), file.read()


def switched():
    """The only reads of a policy with words are switches over its enum."""
    _, fields = rows()
    read = re.compile(r"^.*policy(?:_\([^()]*\))?(?:\.|->)(%s)\b(?!\s*=[^=])" % "|".join(fields), re.M)
    found = [(name, m[0], m[1]) for name, text in sources() for m in read.finditer(text)]
    assert {field for _, _, field in found} == set(fields), found
    for name, line, field in found:
        assert "switch ((enum cps_policy_%s)" % field in line, (name, line)
    return "%d reads" % len(found)


def refused():
    text, _ = rows()
    for folder in ("isa", "emu", "fw", "trace", "tools"):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(FOLDER.name, folder))
    with open(os.path.join(FOLDER.name, "emu/policy.def"), "w", encoding="utf-8") as file:
        file.write(ROW.sub(lambda m: m[1] + 'POLICY_WORD(NEW_%s, "new") POLICY_FIRST(' % m[2], text))
    for name, source in sources():
        wanted = sorted(re.findall(r"switch \(\(enum cps_policy_(\w+)\)", source))
        if wanted:
            done = subprocess.run([*CC, "-std=c11", "-x", "c", "-D_GNU_SOURCE", "-fsyntax-only", "-Wswitch", "-I" + FOLDER.name, name],
                                  cwd=FOLDER.name, capture_output=True, text=True, timeout=60, env={**os.environ, "LC_ALL": "C"})
            missing = re.findall(r"^(\S+?):\d+:\d+: warning: enumeration value 'CPS_NEW_(\w+)' not handled", done.stderr, re.M)
            assert sorted(field for file, field in missing if file.endswith(name)) == wanted, (name, wanted, done.stderr)


tap.run([("each read of a policy is a switch over its enum", switched),
         ("a new word of a policy does not compile until each user handles it", refused)])

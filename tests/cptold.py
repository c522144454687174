#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of `.cpt` versions 1 and 2, which a writer of its own makes, are read as what they say.
Usage: cptold.py CPSCOPE; with CPSCOPE_CORPUS also real runs."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "model"))
import cptread
import cptwriteold
import tap

CPSCOPE = sys.argv[1]
CORPUS = os.environ.get("CPSCOPE_CORPUS")
CASES = [
    ("the demo, default events", ["--demo"], "default"),
    ("the demo, every event", ["--demo"], "all"),
    ("a script, every event", ["--engine", "seq", os.path.join(HERE, "scripts", "pause.run")],
     "all"),
    ("PFIFO, every event", ["--engine", "pfifo", os.path.join(HERE, "scripts", "pfifo-nv1.run")], "all"),
    ("a6xx, every event", ["--fw", "@firmware/a680_sqe.fw", "@captures/fd-clouds.rd.gz"], "all"),
    ("a5xx with two processors, every event",
     ["--fw", "@firmware/a530_pfp.fw", "--fw", "@firmware/a530_pm4.fw", "@captures/compute-a540.rd.gz"],
     "all"),
]
KEYWORDS = [keyword for keyword, _, _ in cptread.KINDS]


def cpscope(*args, status=0):
    done = subprocess.run([CPSCOPE, *args], capture_output=True, text=True, timeout=120)
    assert status is None or done.returncode == status, (args, done.returncode, done.stderr)
    return done.stdout


def event_of(line):
    """The record that a line of JSON Lines says."""
    said = json.loads(line)
    kind = KEYWORDS.index(said["event"])
    words = cptread.KINDS[kind][2]
    return (kind, words.index(said["sub"]) if words else 0, cptread.CPUS.index(said.get("processor", "")),
            said["pc"], int(said["addr"], 16), said["value"])


def make_old(folder, args, events, version):
    """Runs; the text of it, and its twins: old.cpt of an old version, new.cpt of today."""
    args = [os.path.join(CORPUS or "", a[1:]) if a.startswith("@") else a for a in args]
    names = [os.path.join(folder, name) for name in ("text.trace", "old.cpt", "new.cpt", "lines.jsonl")]
    text, old, new, lines = names
    cpscope("run", *args, "--events", events, "-o", text, status=None)
    cpscope("run", *args, "--events", events, "-o", new, status=None)
    cpscope("convert", text, "-o", lines)
    with open(lines, encoding="utf-8") as file:
        head = json.loads(next(file))["head"]
        data = cptwriteold.write(head, [event_of(line) for line in file], version)
    with open(old, "wb") as file:
        file.write(data)
    return text, old, new


def read(path):
    with open(path, "rb") as file:
        return file.read()


def old_is_new(args, events, version):
    if any(a.startswith("@") for a in args) and not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    with tempfile.TemporaryDirectory() as folder:
        text, old, new = make_old(folder, args, events, version)
        assert read(old)[:8] == b"CPTRACE%d" % version and read(new)[:8] == b"CPTRACE3"
        out = [os.path.join(folder, name) for name in ("out.trace", "out.cpt")]
        for path in out:
            cpscope("convert", old, "-o", path)
        assert read(out[0]) == read(text), "text out of version %d is another one" % version
        assert read(out[1]) == read(new), "version 3 out of version %d is another one" % version
        assert list(cptread.read(read(old))) == list(cptread.read(read(new)))
        assert cpscope("info", old).replace(old, new) == cpscope("info", new)
        cpscope("diff", old, new)
        cpscope("diff", old, text)
        size = len(read(new)) / len(read(old))
        # Among some hundred bytes of a script a few are noise.
        assert len(read(new)) <= len(read(old)) + 16, "version 3 takes %.1f %% more" % (100 * size - 100)
        return "%d bytes, %+.1f %% in version 3" % (len(read(old)), 100 * size - 100)


def checked(version):
    with tempfile.TemporaryDirectory() as folder:
        _, old, new = make_old(folder, ["--demo"], "default", version)
        assert ": pass" in cpscope("check", old)
        # Another value: the difference is found; --update makes today's version of the file.
        data = list(cptread.read(read(old)))
        events = []
        cpscope("convert", old, "-o", os.path.join(folder, "x.jsonl"))
        with open(os.path.join(folder, "x.jsonl"), encoding="utf-8") as file:
            next(file)
            events = [event_of(line) for line in file]
        at = max(i for i, event in enumerate(events) if event[0] == cptwriteold.REG)
        events[at] = events[at][:5] + (events[at][5] ^ 1,)
        with open(old, "wb") as file:
            file.write(cptwriteold.write(data[0], events, version))
        cpscope("check", old, status=1)
        cpscope("check", "--update", old, status=None)
        assert read(old) == read(new)


def damaged():
    """Only versions that there are."""
    with tempfile.TemporaryDirectory() as folder:
        _, old, new = make_old(folder, ["--demo"], "all", 2)
        for path, digit in ((old, b"0"), (new, b"4"), (new, b"c")):
            wrong = os.path.join(folder, "wrong.cpt")
            with open(wrong, "wb") as file:
                file.write(read(path)[:7] + digit + read(path)[8:])
            done = subprocess.run([CPSCOPE, "convert", wrong, "-o", os.path.join(folder, "w.trace")],
                                  capture_output=True, text=True, timeout=120)
            assert done.returncode == 3 and "version" in done.stderr, (digit, done)


tap.run([("version %d: %s" % (version, name), lambda v=version, args=args, events=events: old_is_new(args, events, v))
         for version in (1, 2) for name, args, events in CASES] +
        [("check takes a golden of version %d, and --update makes version 3 of it" % version,
          lambda v=version: checked(v)) for version in (1, 2)] +
        [("a wrong version digit is an error", damaged)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program `bench` measures the built-in stream, a given capture, and one of the corpus; no time is checked.
Usage: bench.py BENCH CPSCOPE FIGURE.def; with CPSCOPE_CORPUS also on its captures."""
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import make  # noqa: E402
import tap  # noqa: E402

BENCH, CPSCOPE = map(os.path.abspath, sys.argv[1:3])
FIGURES = re.findall(r'^FIGURE\("([^"]+)"', open(sys.argv[3]).read(), re.M)
CORPUS = os.environ.get("CPSCOPE_CORPUS")
SCRATCH = tempfile.TemporaryDirectory()
IN_MEMORY = "stream-instructions,stream-packets,stream-writes"


def path(name, data=None):
    name = os.path.join(SCRATCH.name, name)
    if data is not None:
        with open(name, "wb") as file:
            file.write(data)
    return name


def bench(*words, status=0, **env):
    """One round. Nothing may be left where temporary files are."""
    tmp = path("tmp")
    os.makedirs(tmp, exist_ok=True)
    usual = {k: v for k, v in os.environ.items() if k != "CPSCOPE_CORPUS"}
    done = subprocess.run([BENCH, "--rounds", "1", *words, CPSCOPE], capture_output=True, text=True, timeout=250,
                          env={**usual, "TMPDIR": tmp, **env})
    assert done.returncode == status, (words, done)
    assert not os.listdir(tmp), os.listdir(tmp)
    return done


def figures(*words, **env):
    answer = json.loads(bench("--json", *words, **env).stdout)
    assert answer["rounds"] == 1
    return answer["input"], {row["name"]: row for row in answer["figures"]}


def all_figures():
    ran, rows = figures()
    assert list(rows) == FIGURES and len(FIGURES) > 15, rows
    for name, row in rows.items():
        if "zst" in name and row["value"] is None:
            continue  # built without it
        assert row["value"] > 0 and row["yardstick"] > 0 and row["against"], row
        assert abs(row["ratio"] * row["yardstick"] / row["value"] - 1) < 1e-6, row
    assert ran["capture"] == "built in" and ran["firmware"] == "demo_sqe.fw", ran


def long_folder():
    """Temporary files go where TMPDIR says, however long that is; what is too long for a path is refused, and not cut."""
    folder = path("/".join(["x" * 60] * 4))
    os.makedirs(folder)
    _, rows = figures("--figures", "run-rd", TMPDIR=folder)
    assert rows["run-rd"]["value"] > 0 and not os.listdir(folder), rows
    done = bench("--figures", "alu-loop", status=3, TMPDIR="/tmp/" * 1000)
    assert done.stderr.startswith("bench: TMPDIR: ") and done.stderr.count("\n") == 1, done


def limited_time():
    """With a limit of the processor's time (ulimit -t) Linux counts that of a process coarsely: nothing takes no time."""
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]  # of a limit that is there already no process gets more
    most = 200 if most == resource.RLIM_INFINITY else min(most, 200)
    limit = [sys.executable, "-c", "import os, resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (%d, %d)); "
             "os.execv(sys.argv[1], sys.argv[1:])" % (most, most)]
    out = subprocess.run(limit + [BENCH, "--rounds", "1", "--json", "--figures", "reg-write-60,reg-write-2", CPSCOPE],
                         capture_output=True, text=True, timeout=250, check=True).stdout
    assert "Infinity" not in out and all(row["ratio"] > 0 for row in json.loads(out)["figures"]), out


def built_in_is_the_same():
    first, _ = figures("--figures", IN_MEMORY)
    again, _ = figures("--figures", IN_MEMORY)
    assert first == again, (first, again)
    assert 0 < first["walker_packets"] < first["packets"], first
    assert 0 < first["walker_register_writes"] < first["register_writes"], first


def given_capture():
    capture = path("c.rd", make.capture(make.type4(0x8810, 1, 2, 3) + make.type7(0x10, 0, 0)))
    ran, rows = figures("--figures", IN_MEMORY, "--capture", capture)
    assert sorted(rows) == sorted(IN_MEMORY.split(",")), rows
    assert ran["capture"] == capture and ran["walker_packets"] == 2 * ran["copies"], ran
    assert ran["walker_register_writes"] == 3 * ran["copies"] == ran["register_writes"], ran


def text_without_json():
    text = bench("--figures", "stream-packets,alu-loop").stdout.splitlines()
    assert [line.split()[0] for line in text] == ["capture", "firmware", "in", "alu-loop", "stream-packets"], text


def without_gzip():
    _, rows = figures("--figures", "run-rd-gz,run-rd-zst", PATH="/nonexistent")
    assert rows["run-rd-gz"]["against"] == "zlib in process: there is no gzip", rows
    assert rows["run-rd-zst"]["against"] == "libzstd in process: there is no zstd", rows
    assert rows["run-rd-gz"]["ratio"] > 0, rows


def large(name):
    """A capture of 640 MB that takes no room."""
    with open(path(name), "wb") as file:
        file.write(make.chip(630))
        for i in range(10):
            file.write(make.section(3, struct.pack("<3I", i << 26, 1 << 26, 0)) + struct.pack("<2I", 12, 1 << 26))
            file.seek(1 << 26, os.SEEK_CUR)
        file.write(make.submit(0, 4))
    return file.name


def refusals():
    for words, status, said in (
            (("--capture", path("missing.rd")), 3, "missing.rd: "),
            (("--capture", path("none.rd", b"")), 3, "none.rd"),
            (("--capture", path("bad.rd", make.capture(make.type7(0x7b, 1)))), 3, "stops before its end"),
            (("--capture", path("a5.rd", make.capture(make.type7(0x10, 1), gpu=540))), 3, "generation a5xx"),
            (("--capture", path("away.rd", make.chip(630) + make.buffer(0x100000, b"") + make.submit(0x900000, 4))), 3,
             "expected a capture with a stream that it holds"),
            (("--capture", large("large.rd")), 3, "more than 512 MiB"),
            (("--capture", "/dev/null"), 3, "/dev/null"),
            (("--fw", path("missing.fw")), 3, "missing.fw"),
            (("--figures", "alu-loop,what"), 2, "--figures what: expected alu-loop, reg-write-60"),
            (("--rounds", "100"), 2, "expected 1 to 99")):
        done = bench(*words, status=status)
        assert said in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, (words, done)
    bench("--figures", "alu-loop", status=3, TMPDIR=path("no-such-folder"))


def corpus():
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    ran, _ = figures("--figures", IN_MEMORY, CPSCOPE_CORPUS=CORPUS)
    assert ran["capture"].startswith(CORPUS) and ran["firmware"].startswith(CORPUS), ran
    assert 0.9 < ran["walker_packets"] / ran["packets"] <= 1, ran


tap.run([
    ("every figure of the table is measured on the built-in stream", all_figures),
    ("temporary files go into a folder with a long name", long_folder),
    ("a limit of the processor's time does not end the measuring of short times", limited_time),
    ("the built-in stream is the same with every run", built_in_is_the_same),
    ("a capture that is given is what runs", given_capture),
    ("text names the input and the figures that were asked for", text_without_json),
    ("without gzip and zstd the libraries stand in, and it is said", without_gzip),
    ("what cannot be measured is one line, status 3, and nothing left behind", refusals),
    ("a corpus gives a capture and the firmware of its GPU", corpus),
])

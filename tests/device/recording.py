#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording as another reader sees it: sections of .rd, and for each submission all its memory; and of a live run, whose
trace is that of its recording.
Usage: recording.py CPSCOPE TEST_RECORDING NATIVE"""
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import tap

CPSCOPE, RECORDER, NATIVE = (os.path.abspath(path) for path in sys.argv[1:])
FOLDER = tempfile.TemporaryDirectory(prefix="cps-", dir="/tmp")  # a socket's path is short
PATH = os.path.join(FOLDER.name, "demo.rd.gz")
CMD, GPUADDR, CONTEXT, CMDSTREAM, CONTENTS, GPU_ID, CHIP_ID = 2, 3, 4, 6, 12, 13, 14
PAGE = 4096


def sections(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    at, found = 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        found.append((kind, data[at + 8:at + 8 + size]))
        assert len(found[-1][1]) == size and size % 4 == 0, (at, kind, size)
        at += 8 + size
    return found


def text(payload):
    assert payload.endswith(b"\0")
    return payload.rstrip(b"\0").decode()


def submissions(path=PATH):
    """As readers of Mesa take them: buffers are gone at the first one after a stream. Memory must not come twice before a
    stream: they may keep the older contents."""
    memory, streams, address, all_of_them = {}, [], None, []
    for kind, payload in sections(path):
        if kind == GPUADDR:
            low, size, high = struct.unpack("<III", payload)
            if streams:
                all_of_them.append((memory, streams))
                memory, streams = {}, []
            address = high << 32 | low
            assert address not in memory, hex(address)
            memory[address] = None
            assert size
        elif kind == CONTENTS:
            memory[address] = payload
        elif kind == CMDSTREAM:
            low, size, high = struct.unpack("<III", payload)
            streams.append((high << 32 | low, size))
    return all_of_them + [(memory, streams)] * bool(streams)


def byte(memory, iova):
    [found] = [data[iova - at] for at, data in memory.items() if at <= iova < at + len(data)]
    return found


def head():
    """The policies come first, then the chip."""
    found = sections(PATH)
    assert found[0][0] == CMD and "ring=msm" in text(found[0][1]).removeprefix("cpscope policy ").split(), found[0]
    assert found[1] == (GPU_ID, struct.pack("<I", 630)), found[1]


def named():
    """Each submission has its context and fence, and the line of the kernel."""
    texts = [text(payload) for kind, payload in sections(PATH) if kind == CMD][1:]
    assert texts[0::2] == ["cpscope submission context=0 seqno=%d" % (i + 1) for i in range(4)], texts
    assert texts[1::2] == ["client/0: fence=%d" % (i + 1) for i in range(4)], texts


def whole():
    """Every submission that has streams has them, and all that the demo's capture has."""
    done = subprocess.run([CPSCOPE, "run", "--demo", "-e", "memr,pkt"], capture_output=True, text=True, timeout=60)
    packets = [int(x, 16) for x in re.findall(r"^PKT ib\d (0x\w+)", done.stdout, re.M)]
    read = [int(x, 16) for x in re.findall(r"^MEMR (0x\w+)", done.stdout, re.M)]
    client = [iova for iova in packets + read if iova < 1 << 48]
    found = submissions()
    assert len(client) > 20 and len(found) == 3, (len(client), len(found))
    for memory, streams in found:
        ranges = sorted((at, at + len(data)) for at, data in memory.items())
        assert all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), ranges
        for iova in client + [at for at, _ in streams]:
            byte(memory, iova)
    return "%d places in each of %d" % (len(client), len(found))


def before():
    """Memory is that from before the submission: the demo writes 0x11 to a hole, which the third
    one, of the same context, finds."""
    values = [byte(memory, 0x200000) for memory, _ in submissions()]
    assert values == [0, 0, 0x11], values


def converted():
    """Our own reader finds the same in it."""
    plain = os.path.join(FOLDER.name, "plain.rd")
    subprocess.run([CPSCOPE, "convert", PATH, "-o", plain], check=True, timeout=60)
    assert sections(plain) == sections(PATH)
    done = subprocess.run([CPSCOPE, "info", PATH], check=True, capture_output=True, text=True, timeout=60)
    assert " 3 submissions\n" in done.stdout, done.stdout


def compare_runs(name, groups, options, events):
    """Records a live run, and compares its trace with that of the recording, but for the name of the capture."""
    recording, *traces = (os.path.join(FOLDER.name, name + end) for end in (".rd.gz", ".live", ".again"))
    done = subprocess.run([CPSCOPE, "device", "-q", "--demo", "--policy", "waits=stop", "--record", recording, "-o", traces[0],
                           "-t", "text", "-e", events, *options, "--", NATIVE, *groups], env={**os.environ, "XDG_RUNTIME_DIR": FOLDER.name}, capture_output=True, text=True, timeout=120)
    again = subprocess.run([CPSCOPE, "run", "--json", "--demo", recording, "-o", traces[1], "-t", "text", "-e", events],
                           capture_output=True, text=True, timeout=60)
    lines = [[line for line in open(trace, encoding="utf-8") if not line.startswith("# capture")] for trace in traces]
    assert lines[0] == lines[1], next(both for both in zip(*lines) if both[0] != both[1])
    assert (done.returncode, again.returncode) == (4 * ("hang" in groups),) * 2, (done, again)
    return lines[0], [text(payload) for kind, payload in sections(recording) if kind == CMD], json.loads(again.stdout)


def live():
    """Clients, threads and the firmware wait for each other."""
    lines, texts, _ = compare_runs("sync", ["sync"], [], "default")
    recording = os.path.join(FOLDER.name, "sync.rd.gz")
    found, kinds = submissions(recording), [kind for kind, _ in sections(recording)]
    assert "cpscope resume" in texts and CONTEXT in kinds, texts
    for memory, streams in found:
        ranges = sorted((at, at + len(data)) for at, data in memory.items())
        assert all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), ranges
        assert all(byte(memory, at) is not None for at, _ in streams)
    return "%d lines, %d submissions" % (len(lines), len(found))


def hangs():
    """After each hang the GPU is reset; a submission that ran too long is given up at the same instruction. Counts go on."""
    lines, _, found = compare_runs("hang", ["endless", "hang"], ["--hang-after", "2"], "submit,memw,wait,recover,end")
    reasons = [line.split()[1:] for line in lines if line.startswith("RECOVER ")]
    assert [reason for reason, *_ in reasons] == ["limit", "bad-packet", "bad-packet", "deadlock", "deadlock", "bad-packet"], reasons
    counts = [[int(word) for word in words[1:3]] for words in reasons + [lines[-1].split()[1:]]]
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in zip(counts, counts[1:])), counts
    assert (found["hangs"], found["end"], found["packets"]) == (len(reasons), "done", counts[-1][0]), found


subprocess.run([RECORDER, "--keep", PATH], check=True, timeout=60)
tap.run([("a recording begins with policies and chip", head), ("submissions have context and fence", named),
         ("each submission brings all its memory", whole), ("memory is that from before the submission", before),
         ("a recording is read and written without a difference", converted),
         ("a run of a recording gives the trace of the live run, and other readers find all memory", live),
         ("the same of hangs", hangs)])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads change how long a run takes, and nothing else: the same bytes from any form of input, the same words and
status for what is cut or damaged, for disks that are full, readers that go away, and interrupts.

Usage: threads.py CPSCOPE"""
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap
from tree import GROW
from scene import CPSCOPE

THREADS = (0, 2, 3, 4)
TIMES = 8  # of grow.py: 2.6 MB, so that every thread gets to work
CALM = dict(os.environ, LC_ALL="C")


def command(threads, capture, output, *args):
    return [CPSCOPE, "run", "--demo", capture, "-o", output, "--threads", str(threads), *args]


def run(threads, capture, output, *args, **how):
    return subprocess.run(command(threads, capture, output, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=CALM, timeout=100, check=False, **how)


def take(path):
    """What a run left, or nothing."""
    if not os.path.exists(path):
        return None
    data = open(path, "rb").read()
    os.unlink(path)
    return data


def without_input(trace):
    """The head says what the capture was."""
    return re.sub(rb"# capture .*\n", b"", trace)


class Files:
    """The same capture in all forms, and damaged ones."""
    def __init__(self, folder):
        self.folder = folder
        self.plain = self.path("c.rd")
        self.gzip = self.path("c.rd.gz")
        subprocess.run([sys.executable, GROW, "--make", str(TIMES), self.plain], check=True)
        self.bytes = open(self.plain, "rb").read()
        self.packed = gzip.compress(self.bytes, 6, mtime=0)
        self.write("c.rd.gz", self.packed)
        self.forms = [self.plain, self.gzip]
        if shutil.which("zstd"):
            self.forms.append(self.path("c.rd.zst"))
            subprocess.run(["zstd", "-q", "-f", self.plain, "-o", self.forms[-1]], check=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        open(self.path(name), "wb").write(data)
        return self.path(name)


def every_form_is_the_same(files):
    output = files.path("o.trace")
    expected = None
    for capture in files.forms:
        for threads in THREADS:
            result = run(threads, capture, output)
            assert result.returncode == 0, result.stderr
            trace = without_input(take(output))
            expected = expected or trace
            assert trace == expected, (capture, threads)
    return "%d forms" % len(files.forms)


def stdin_is_the_same(files):
    run(0, files.plain, files.path("o.trace"))
    expected = without_input(take(files.path("o.trace")))
    for threads in THREADS:
        for form in files.forms:
            with subprocess.Popen(["cat", form], stdout=subprocess.PIPE) as cat:
                result = run(threads, "-", files.path("o.trace"), stdin=cat.stdout)
            assert result.returncode == 0, result.stderr
            assert without_input(take(files.path("o.trace"))) == expected, (form, threads)


def every_output_is_the_same(files):
    forms = [("o.jsonl", ()), ("o.vcd", ()), ("o.trace", ("--events", "end"))]
    if subprocess.run([CPSCOPE, "run", "--demo", "-o", files.path("o.cpt")], stderr=subprocess.DEVNULL,
                      stdout=subprocess.DEVNULL, check=False).returncode == 0:
        forms.append(("o.cpt", ()))
    for name, args in forms:
        got = []
        for threads in THREADS:
            result = run(threads, files.gzip, files.path(name), *args)
            assert result.returncode == 0, result.stderr
            got.append((take(files.path(name)), result.stdout))
        assert len(set(got)) == 1, name
    return "%d outputs" % len(forms)


def same_words(files, capture, output, status):
    """Status, words and output of all numbers of threads: one of each."""
    got = set()
    for threads in THREADS:
        result = run(threads, capture, output)
        got.add((result.returncode, result.stdout, result.stderr, take(output) if output[0:4] != "/dev" else None))
    assert len(got) == 1, [(one[0], one[2]) for one in got]
    assert next(iter(got))[0] == status, next(iter(got))[:3]


def cut_is_told(files):
    for size in (0, 3, 100, 70000, 600001, len(files.bytes) // 2, len(files.bytes) - 5):
        same_words(files, files.write("cut.rd", files.bytes[:size]), files.path("o.trace"), 3)
    for size in (5, 70001, len(files.packed) // 2, len(files.packed) - 3):
        same_words(files, files.write("cut.rd.gz", files.packed[:size]), files.path("o.trace"), 3)


def damage_is_told(files):
    half = len(files.packed) // 2
    damaged = files.packed[:half] + bytes(40) + files.packed[half + 40:]
    same_words(files, files.write("bad.rd.gz", damaged), files.path("o.trace"), 3)
    damaged = files.packed[:-8] + bytes(4) + files.packed[-4:]  # the check sum
    same_words(files, files.write("bad.rd.gz", damaged), files.path("o.trace"), 3)
    same_words(files, files.write("bad.rd.gz", files.packed + b"behind"), files.path("o.trace"), 3)


def full_disk_is_told(files):
    if not os.path.exists("/dev/full"):
        raise tap.Skip("no /dev/full")
    for capture in files.forms:
        same_words(files, capture, "/dev/full", 3)


def reader_goes(files):
    """SIGPIPE ends the run, with every number of threads."""
    got = set()
    for threads in THREADS:
        with subprocess.Popen(command(threads, files.gzip, "-"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=CALM, restore_signals=True) as child:
            child.stdout.read(1000)
            child.stdout.close()
            errors = child.stderr.read()
            got.add((child.wait(100), errors))
    assert len(got) == 1, got
    return "status %d" % next(iter(got))[0]


def interrupt_leaves_nothing(files):
    """It comes while the run waits for more to read."""
    for threads in THREADS:
        before = sorted(os.listdir(files.folder))
        with subprocess.Popen(command(threads, "-", files.path("o.trace")), stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CALM) as child:
            child.stdin.write(files.packed[:len(files.packed) * 3 // 4])  # a pipe holds 64 KiB: most was read
            child.stdin.flush()
            child.send_signal(signal.SIGINT)
            status = child.wait(100)
            child.stdin.close()
        assert status in (-signal.SIGINT, 128 + signal.SIGINT), (threads, status)
        assert sorted(os.listdir(files.folder)) == before, (threads, os.listdir(files.folder))


def most_threads(words):
    """How many threads a command had at most, as often as it could be looked at."""
    most = 0
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CALM) as child:
        while child.poll() is None:
            try:
                most = max(most, len(os.listdir("/proc/%d/task" % child.pid)))
            except OSError:
                pass  # it has just ended
            time.sleep(0.0005)
    assert child.returncode == 0, (words, child.returncode)
    return most


def no_more_threads_than_allowed(files):
    """One emulates and writes, and another one reads ahead of it; of 0 the one that is there is left."""
    if not os.path.isdir("/proc/self/task"):
        raise tap.Skip("no /proc")
    trace, packed = files.path("o.trace"), files.path("o.trace.gz")
    run(0, files.plain, trace)
    files.write("o.trace.gz", gzip.compress(open(trace, "rb").read(), 1))
    for words, useful in (([CPSCOPE, "run", "--demo", files.gzip, "-o", files.path("p.trace")], 2),
                          ([CPSCOPE, "run", "--demo", files.plain, "-o", files.path("p.trace")], 2),
                          ([CPSCOPE, "convert", packed, "-o", files.path("p.jsonl")], 2),
                          ([CPSCOPE, "convert", trace, "-o", files.path("p.jsonl")], 1),
                          ([CPSCOPE, "convert", files.gzip, "-o", files.path("p.rd")], 2)):
        for threads in (0, 1, 2, 3, 4):
            seen, wanted = 0, min(max(threads, 1), useful)
            for _ in range(50):  # one that ends soon may not be seen
                seen = max(seen, most_threads([*words, "--threads", str(threads)]))
                assert seen <= wanted, (words, threads, seen)
                if seen == wanted:
                    break
            assert seen == wanted, (words, threads, seen)


def test(folder):
    files = Files(folder)
    tap.run([
        ("every form of input gives the same trace", lambda: every_form_is_the_same(files)),
        ("so does stdin", lambda: stdin_is_the_same(files)),
        ("every form of output is the same", lambda: every_output_is_the_same(files)),
        ("what is cut is told the same way", lambda: cut_is_told(files)),
        ("what is damaged, too", lambda: damage_is_told(files)),
        ("a full disk, too", lambda: full_disk_is_told(files)),
        ("a reader that goes ends the run", lambda: reader_goes(files)),
        ("there are no more threads than allowed", lambda: no_more_threads_than_allowed(files)),
        ("an interrupt leaves nothing", lambda: interrupt_leaves_nothing(files)),
    ])


with tempfile.TemporaryDirectory() as temporary:
    test(temporary)

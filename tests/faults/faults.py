# SPDX-License-Identifier: MIT
"""Runs the command with one thing going wrong. A run has a folder of its own: its working directory, its
cache and its place for temporary files lie in it, so that whatever it leaves behind is seen."""
import dataclasses
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

LOG_BYTES = 4096
TIMEOUT = 30


@dataclasses.dataclass
class Case:
    """A command. @args: of cpscope; "@NAME" is an input of the scene, everything else is taken as it is."""
    name: str
    args: list
    stdin: bytes = b""
    copies: tuple = ()      # inputs that are copied into the working directory, because they are rewritten
    session: bool = False   # it answers requests: one of them may be refused, the rest goes on
    several: bool = False   # it goes on with the next file behind one that failed
    survey: bool = False    # it says something of each file: of one that cannot be read a line, and that in its result
    cache: str = ""         # folder of the run that holds a cache: its files may be missing
    matrix: bool = False    # many pairs: one that failed is in the report, which is whole
    fragile: bool = False   # a library that may crash without memory works in a process of its own, whose end is said


@dataclasses.dataclass
class Result:
    status: int
    out: bytes
    err: str
    files: dict             # path in the run's folder: contents
    calls: int = 0          # of the watched kind
    fired: int = 0
    stack: tuple = ()       # of the first fault, as addresses in the program
    first: int = 0          # first argument of the system call that failed: often a descriptor


class Log:
    """What inject.c says, through a page that both map."""
    def __init__(self, path):
        self.path = path

    def clear(self):
        with open(self.path, "wb") as file:
            file.write(bytes(LOG_BYTES))

    def read(self):
        with open(self.path, "rb") as file:
            return struct.unpack("<46Q", file.read(368))

    def fill(self, result):
        words = self.read()
        result.calls, result.fired, base, depth = words[:4]
        result.first = words[45]
        result.stack = tuple(at - base for at in words[4:4 + depth] if base <= at < base + (64 << 20))


def tree(folder):
    """Files below @folder, with its name in them replaced: no two runs have the same."""
    found, name_bytes = {}, folder.encode()
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                found[os.path.relpath(path, folder)] = b""
                continue
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read().replace(name_bytes, b"ROOM")
    return found


class Runner:
    def __init__(self, cpscope, inject, scene):
        self.cpscope, self.inject, self.scene = cpscope, inject, scene
        self.folder = tempfile.mkdtemp(prefix="faults-")
        self.number = 0

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def room(self, case):
        """A new folder for a run."""
        self.number += 1
        room = os.path.join(self.folder, "run%d" % self.number)
        for name in ("", "tmp", "home"):
            os.mkdir(os.path.join(room, name), 0o700)
        for name in case.copies:
            shutil.copy(os.path.join(self.scene, name), room)
        return room

    def arguments(self, case):
        return [self.cpscope] + [os.path.join(self.scene, word[1:]) if word.startswith("@") else word
                                 for word in case.args]

    def environment(self, room, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TEST_", "FAULT_", "CPSCOPE_", "XDG_"))}
        env.update(TMPDIR=os.path.join(room, "tmp"), HOME=os.path.join(room, "home"), LC_ALL="C", **more)
        return env

    def run(self, case, fault=None, room=None, keep=False, **popen):
        """@fault: what inject.c shall do, without the FAULT_ in front. @popen: for subprocess.run()."""
        room = room or self.room(case)
        log = Log(room + ".log")
        env = self.environment(room)
        if fault is not None:
            log.clear()
            env.update({"FAULT_" + k: str(v) for k, v in fault.items()}, FAULT_LOG=log.path, LD_PRELOAD=self.inject)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        if "stdin" not in popen:
            popen["input"] = case.stdin
        try:
            done = subprocess.run(self.arguments(case), cwd=room, env=env, timeout=TIMEOUT, check=False, **popen)
            result = Result(done.returncode, done.stdout or b"", (done.stderr or b"").decode("utf-8", "replace"), tree(room))
        except subprocess.TimeoutExpired as late:
            result = Result(-1000, late.stdout or b"", "", tree(room))
        if fault is not None:
            log.fill(result)
            os.unlink(log.path)
        if not keep:
            shutil.rmtree(room)
        return result

    def twice(self, case, fault=None, **popen):
        """A disturbed run, and one that nothing disturbs in the same folder."""
        room = self.room(case)
        return self.run(case, fault, room=room, keep=True, **popen), self.run(case, room=room)


class Tally:
    """What a whole script counts, and its lines of TAP."""
    def __init__(self, title):
        self.title, self.number, self.runs = title, 0, 0
        self.wrong = {"status": 0, "leftover": 0, "lost": 0}

    def case(self, name, runs, wrong):
        """@runs: faults that fired; @wrong: (what was done, kind, text) of those that went wrong."""
        self.number += 1
        self.runs += runs
        for _, kind, _ in wrong:
            self.wrong[kind] += 1
        print("%sok %d - %s, %d faults" % ("not " if wrong else "", self.number, name, runs), flush=True)
        for what, kind, text in wrong[:5]:
            print("# %s: %s: %s" % (what, kind, text.strip().replace("\n", "\n#    ")))
        if len(wrong) > 5:
            print("# and %d more" % (len(wrong) - 5), flush=True)

    def skip(self, name, why):
        self.number += 1
        print("ok %d - %s # SKIP %s" % (self.number, name, why), flush=True)

    def end(self):
        print("1..%d" % self.number)
        print("# %s: %d faults injected, %d wrong statuses, %d leftovers, %d lost results" %
              (self.title, self.runs, self.wrong["status"], self.wrong["leftover"], self.wrong["lost"]))
        sys.exit(any(self.wrong.values()))


def places(cpscope, stack):
    """Functions of a stack, innermost first."""
    if not stack:
        return ""
    said = subprocess.run(["addr2line", "-f", "-s", "-i", "-e", cpscope] + [hex(at - 1) for at in stack],
                          capture_output=True, text=True, check=False).stdout.splitlines()
    return " < ".join("%s %s" % pair for pair in zip(said[0::2], said[1::2]))


def instants(count, first, sample, seed):
    """Numbers of calls to fail, of @count: the @first ones, and a seeded @sample of the others."""
    rest = range(first + 1, count + 1)
    chosen = random.Random(seed).sample(rest, min(sample, len(rest)))
    return list(range(1, min(first, count) + 1)) + sorted(chosen)

# SPDX-License-Identifier: MIT
"""Runs the command with one thing going wrong, and judges what came of it.

A run has a folder of its own: its working directory, its cache and its place for temporary files lie
in it, so that whatever it leaves behind is seen. Its judge knows the undisturbed run of the same case.
"""
import dataclasses
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

LOG_BYTES = 4096
# Of short memory: our own word, that of libc about a file, and what a thread needs.
MEMORY = ("out of memory", "Cannot allocate memory", "cannot start a thread")
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
    cache: str = ""         # folder of the run that holds a cache: its files may be missing
    matrix: bool = False    # many pairs: one that failed is in the report, which is whole


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
            os.mkdir(os.path.join(room, name))
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


def words_of(err):
    """Lines of stderr, but for what says that a convenience was lost, and counts of work done."""
    return [line for line in err.splitlines()
            if "going on without" not in line and not re.match(r"\d+ runs emulated", line)]


def lines_of_error(err):
    return [line for line in words_of(err) if line.startswith("cpscope: ")]


def honest_end(case, usual, got, words):
    """Status 3, one line, and what was written until then is the beginning of what would have been."""
    lines = lines_of_error(got.err)
    extra = [line for line in words_of(got.err) if line not in lines and line not in usual.err.splitlines()]
    new = [line for line in lines if line not in lines_of_error(usual.err)]
    if extra and not (extra and usual.err and any(l.startswith(extra[-1]) for l in usual.err.splitlines())):
        return "status", "stderr says more: " + extra[0]
    if len(new) != 1:
        return "status", "%d lines of error, expected one: %s" % (len(new), got.err[-300:])
    if words and not any(word in new[0] for word in words):
        return "status", "an error of another kind: " + new[0]
    if case.several:
        known = {line.rstrip(b",") for line in usual.out.splitlines()}
        strange = [line for line in got.out.splitlines() if line.rstrip(b",") not in known | {b"[", b"]"}]
        return ("lost", "stdout has another line: %r" % strange[0]) if strange else None
    if not usual.out.startswith(got.out) and not case.session:
        return "lost", "stdout is not the beginning of what it usually is: %r" % got.out[-200:]
    return None


def whole(name, data):
    """Whether a file of a report has its end."""
    text = data.decode("utf-8", "replace")
    if name.endswith(".json"):
        return text.endswith("}\n") and isinstance(json.loads(text), dict)
    if name.endswith(".xml"):
        return xml.etree.ElementTree.fromstring(text) is not None
    if name.endswith(".tap"):
        plan = re.search(r"^1\.\.(\d+)$", text, re.M)
        return plan and len(re.findall(r"^(?:not )?ok ", text, re.M)) == int(plan[1])
    return not name.endswith(".html") or text.rstrip().endswith("</html>")


def judge_pairs(usual, got):
    """Each pair is as usual, or has failed and says why; with status 0 none has. Every file is whole."""
    for name, data in got.files.items():
        try:
            if not whole(name, data):
                return "lost", "%s has no end" % name
        except (ValueError, xml.etree.ElementTree.ParseError) as error:
            return "lost", "%s: %s" % (name, error)
    report = got.files.get("report/results.json")
    if report is None:
        return ("lost", "status %d without a report" % got.status) if got.status != 3 else None
    rows = {(row["firmware"], row["capture"]): row for row in json.loads(report)["pairs"]}
    failed = 0
    for row in json.loads(usual.files["report/results.json"])["pairs"]:
        now = rows.get((row["firmware"], row["capture"]))
        if now is None:
            return "lost", "the pair %s %s is missing, status %d" % (row["firmware"], row["capture"], got.status)
        if now != row and (now["status"] in ("pass", "differs") or not now["reason"]):
            return "lost", "the pair %s %s is another: %s" % (row["firmware"], row["capture"], now)
        failed += now != row
    return ("status", "0 although a pair failed") if failed and got.status == 0 else None


def judge_matrix(case, usual, got):
    for name in got.files:
        if name not in usual.files and not name.endswith(".cpt"):
            return "leftover", name
    if got.status not in (usual.status, 3, 4):
        return "status", "%d, expected %d, 3 or 4: %s" % (got.status, usual.status, got.err[-300:])
    if got.status == 3 and not lines_of_error(got.err):
        return "status", "3 without a line of error: %s" % got.err[-200:]
    return judge_pairs(usual, got)


def judge_files(case, usual, got, before):
    for name, data in got.files.items():
        if case.cache and name.startswith(case.cache):
            if name not in usual.files:
                return "leftover", name
            continue
        if name not in usual.files and name not in before:
            return "leftover", name
        if data not in (usual.files.get(name), before.get(name)):
            return "lost", "%s is neither whole nor absent (%d bytes)" % (name, len(data))
    if got.status == usual.status:
        for name, data in usual.files.items():
            if not (case.cache and name.startswith(case.cache)) and got.files.get(name) != data:
                return "lost", "%s is missing although the status is %d" % (name, got.status)
    return None


def judge(case, usual, got, before=None, words=MEMORY):
    """None, or (kind, text): kind is "status", "leftover" or "lost". @words: one of them is in the error."""
    if got.status == -1000:
        return "status", "it hangs"
    if got.status < 0 or "Sanitizer" in got.err:
        return "status", "signal %d %s" % (-got.status, got.err[-500:])
    if case.matrix:
        return judge_matrix(case, usual, got)
    said = any(word.encode() in got.out or word in got.err for word in words)
    if got.status not in (usual.status, 3) and not (case.session and said):
        return "status", "%d, expected %d or 3: %s" % (got.status, usual.status, got.err[-300:])
    wrong = judge_files(case, usual, got, before or {})
    if wrong:
        return wrong
    if case.session and said:
        return None
    if got.status == 3 and (usual.status != 3 or got.out != usual.out or got.err != usual.err):
        return honest_end(case, usual, got, words)
    if got.out != usual.out:
        return "lost", "status %d and other output" % got.status
    more = [line for line in words_of(got.err) if line not in usual.err.splitlines()]
    less = [line for line in words_of(usual.err) if line not in got.err.splitlines()]
    if less or any(not line.startswith("cpscope: ") for line in more):
        return "lost", "status %d and other words on stderr: %s" % (got.status, (less + more)[0])
    return None


def judge_again(case, usual, again):
    """The run behind the one that was disturbed: what became of that must not show."""
    if again.status != usual.status:
        return "lost", "the next run: status %d, expected %d: %s" % (again.status, usual.status, again.err[-200:])
    for name, data in usual.files.items():
        if not (case.cache and name.startswith(case.cache)) and again.files.get(name) != data:
            return "lost", "the next run: %s is another" % name
    left = [name for name in again.files if name not in usual.files]
    return ("leftover", "the next run: " + left[0]) if left else None


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

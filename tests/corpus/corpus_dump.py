#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hardware dump against the emulator, and variants of it made by a second writer: a ring that has
wrapped, hundreds of buffers, a stream that is missing. Usage: corpus_dump.py CPSCOPE"""
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from make import decode85, encode85, type7, write_snapshot


class Dump:
    """The public dump as lines, with its ring taken out to be changed."""

    def __init__(self, path):
        self.text = open(path, encoding="latin-1").read()
        self.match = re.search(r"(ringbuffer:\n.*?    data: !!ascii85 \|\n\s+)(\S+)(\n)", self.text,
                               re.S)
        self.ring = decode85(self.match.group(2))

    def write(self, path, ring, keys, extra=""):
        head = self.match.group(1)
        for key, value in keys.items():
            head = re.sub(r"( %s: )\d+" % key, r"\g<1>%d" % value, head, count=1)
        text = self.text[:self.match.start()] + head + encode85(ring) + "\n"
        rest = self.text[self.match.end():]
        open(path, "w", encoding="latin-1").write(text + rest.replace("bos:\n", "bos:\n" + extra, 1))


def wrapped(dump):
    """The same history but for the boot, around the end of a ring full of older packets, behind the
    time stamp of a submission that has retired."""
    stamp = type7(0x46, 0x80000004, 4, 0x10000, 7)
    tail = stamp + dump.ring[9:]
    ring = type7(0x10) * 8192
    start = 8192 - 20
    for i, word in enumerate(tail):
        ring[(start + i) % 8192] = word
    return ring, {"rptr": (start + len(tail)) % 8192, "wptr": (start + len(tail)) % 8192,
                  "last-fence": 8, "retired-fence": 7}


def run(cpscope, *arguments):
    return subprocess.run([cpscope, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)


def table(done):
    rows = {}
    for line in done.stdout.splitlines():
        match = re.match(r"(\S+) (0x[0-9a-f]{8}) (0x[0-9a-f]{8}) (equal|different|in flight|bank|no value|older than the replay)(.*)",
                         line)
        if match:
            rows[match.group(1)] = match.groups()[1:]
    return rows


GPRS = ["$%02x" % i for i in range(1, 0x1b)]


def replay_matches(cpscope, corpus, scratch):
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    dump = os.path.join(corpus, "captures", "crash.devcore")
    trace = os.path.join(scratch, "t")
    done = run(cpscope, "run", "--all", "--fw", firmware, dump, "-o", trace)
    rows = table(done)
    assert done.returncode == 0, done.stderr
    assert all(rows[name][2] == "equal" for name in GPRS), "26 general registers"
    assert rows["$01"][0] == "0xdeadd00d"
    scratch_rows = [row for name, row in rows.items() if name.startswith("ctrl.")]
    assert len(scratch_rows) == 128 and all(row[2] == "equal" for row in scratch_rows)
    for name in ("header", "level", "nrt.lo", "nrt.hi", "ring.rptr", "ib1.base.hi", "ib1.remaining"):
        assert rows[name][2] == "equal", name
    assert re.search(r"^PKT ib1 0x0000000100000018 0xdeadd00d", open(trace).read(), re.M)
    zipped = os.path.join(scratch, "d.gz")
    gzip.open(zipped, "wb").write(open(dump, "rb").read())
    assert run(cpscope, "run", "--all", "--fw", firmware, zipped).stdout == done.stdout, "compressed"


# Which revisions of the dump's family stand in for what its instruction cache lacks.
NEAR = ["a680_sqe.fw", "a630_sqe-187.fw", "a630_sqe-190.fw"]


def own_firmware(cpscope, corpus, _):
    """Recovered from the dump's cache and any near revision, the firmware runs to the hardware's state: the
    program counter too, and $1b alone, which nothing writes, is not comparable."""
    dump = os.path.join(corpus, "captures", "crash.devcore")
    for name in NEAR:
        done = run(cpscope, "run", "--all", "--fw", os.path.join(corpus, "firmware", name), dump, "-o", os.devnull)
        rows = table(done)
        assert [row for row in rows if rows[row][2] != "equal" and not row.startswith("group")] == ["$1b"], rows
        assert rows["pc"][0] == rows["pc"][1] == "0x000000c5", rows["pc"]
        groups = re.findall(r"^# ([a-z ]+): (\d+) equal, (\d+) different(.*)$", done.stdout, re.M)
        assert groups == [("processor", "183", "0", ", 1 no value"), ("fetched words", "12", "0", ""),
                          ("registers", "5", "0", ""), ("draw state", "0", "0", ", 96 no value"),
                          ("in all", "200", "0", ", 97 no value")], groups  # nothing waits, no cluster is written
        counts = re.search(r"executed: (\d+) of the dump, (\d+) of the given file, (\d+) unknown", done.stdout)
        of_dump, given, unknown = map(int, counts.groups())
        assert of_dump > 0.99 * (of_dump + given + unknown) and unknown < 20, done.stdout


def others_run_what_is_named(cpscope, corpus, scratch):
    """A trace of a dump is reproduced; diff compares the two files, not the dump's firmware with itself."""
    firmware = [os.path.join(corpus, "firmware", name) for name in NEAR[:2]]
    dump, trace = os.path.join(corpus, "captures", "crash.devcore"), os.path.join(scratch, "hang.trace")
    assert run(cpscope, "run", "--all", "--fw", firmware[0], dump, "-o", trace).returncode == 0
    folders = ["--search", os.path.dirname(firmware[0]), "--search", os.path.dirname(dump)]
    done = run(cpscope, "check", *folders, trace)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(cpscope, "diff", "--policy", "clock=instructions", "--fw", firmware[0], "--fw", firmware[1], dump)
    assert done.returncode == 0 and "no differences; 2 values differ only by the clock" in done.stdout, done.stdout[:400]
    assert "version 0x201 -> 0x187" in done.stdout, done.stdout[:400]


def words_of(dump, name):
    """Where the words of a block stand in the dump's text."""
    return re.search(r"(regs-name: %s\n(?:    .*\n)*?    data: !!ascii85 \|\n\s+)(\S+)" % name, dump.text)


def not_recovered(cpscope, corpus, scratch):
    """Without what it takes, nothing is guessed: the user's firmware runs, and it is said why."""
    dump = Dump(os.path.join(corpus, "captures", "crash.devcore"))
    block = words_of(dump, "CP_UCODE_DBG_DATA")
    words = decode85(block.group(2))
    cases = []
    for index, word, said in ((0x1001, 1 << 20, "a state that no dump has"), (0x1002, 2 << 20 | 0x3ffff, "beyond any image"),
                              (0x1003, words[0x1000], "the same line as another way")):
        # The first set's tags; way 0 is valid, so that way 3 can repeat it.
        changed = words[:0x1000] + [2 << 20 | 0x30] + words[0x1001:]
        changed[index] = word if index != 0x1003 else changed[0x1000]
        cases.append((said, "a680_sqe.fw", dump.text.replace(block.group(2), encode85(changed))))
    cases.append(("no CP_UCODE_DBG", "a680_sqe.fw", dump.text.replace("CP_UCODE_DBG_DATA", "CP_SOMETHING_ELSE")))
    cases.append(("expected at least", "a680_sqe.fw", dump.text.replace(block.group(2), encode85(words[:0x1800]))))
    for said, firmware, text in cases:
        path = os.path.join(scratch, "damaged")
        open(path, "w", encoding="latin-1").write(text)
        done = run(cpscope, "run", "--all", "--fw", os.path.join(corpus, "firmware", firmware), path, "-o", os.devnull)
        line = [line for line in done.stdout.splitlines() if "cannot recover" in line]
        assert len(line) == 1 and said in line[0], (said, done.stdout[-600:])
        assert "instructions executed" not in done.stdout


def far_donors(cpscope, corpus, scratch):
    """Another family of the generation is refused, by each command, and run as it is on demand."""
    dump = os.path.join(corpus, "captures", "crash.devcore")
    for name, words, handlers in (("a650_sqe-089.fw", 473, "69 of 76"), ("a650_sqe-112.fw", 457, "68 of 74"), ("a660_sqe-094.fw", 438, "66 of 73"),
                                  ("a660_sqe-112.fw", 426, "66 of 73")):
        firmware = os.path.join(corpus, "firmware", name)
        for command in ("run", "decode", "disasm"):
            options = ["--from", dump, firmware] if command == "disasm" else ["--fw", firmware, dump]
            done = run(cpscope, command, *options)
            assert done.returncode == 3 and not done.stdout and len(done.stderr.splitlines()) == 1, done
            assert "%s: too different from the dump's firmware: %d of 704 words and %s handlers match" % (name, words, handlers) in done.stderr, done.stderr
        done = run(cpscope, "run", "--no-recover", "--fw", firmware, dump, "-o", os.devnull)
        assert done.returncode == 1 and "# packet table of the firmware differs from the dump's\n" in done.stdout and "recovered" not in done.stdout, done


def one_firmware(cpscope, corpus, scratch):
    """Each command runs the dump's own firmware, and says so in a line: it ends at the hardware's 0x00c5 also with a donor
    whose error loop is elsewhere. --no-recover runs the file."""
    dump, page = os.path.join(corpus, "captures", "crash.devcore"), os.path.join(scratch, "page.html")
    small = os.path.join(scratch, "small.pm4")
    donor = os.path.join(corpus, "firmware", "a630_sqe-207.fw")
    alone = run(cpscope, "run", "--no-recover", "--fw", donor, dump, "-o", os.devnull)
    other = re.search(r"bad-packet at (0x[0-9a-f]{4}) ", alone.stdout + alone.stderr)[1]
    assert other != "0x00c5", alone
    for command, *options in (("decode",), ("state",), ("cover",), ("profile",), ("why", "event:10"), ("view", "-o", page),
                              ("reduce", "--no-cache", "-o", small)):
        done = run(cpscope, command, "--fw", donor, dump, *options)
        said = done.stdout + done.stderr
        line = "runs the dump's own firmware: 704 words of the dump, 4663 of %s, 2703 unknown\n" % donor
        assert done.stderr.count(line) == 1, (command, done)
        asked = run(cpscope, command, "--no-recover", "--fw", donor, dump, *options)
        assert asked.stderr.count("runs %s unchanged: --no-recover\n" % donor) == 1, (command, asked)
        if command in ("decode", "cover", "reduce"):
            assert "at 0x00c5 (" in said and other not in said, (command, said)
            assert "at %s (" % other in asked.stdout + asked.stderr, (command, asked)
    two = run(cpscope, "cover", "--fw", donor, dump, dump)
    assert two.returncode == 3 and "expected no other captures" in two.stderr, two


def missing_history(cpscope, corpus, scratch):
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    dump = Dump(os.path.join(corpus, "captures", "crash.devcore"))
    path = os.path.join(scratch, "wrapped")
    ring, keys = wrapped(dump)
    dump.write(path, ring, keys)
    done = run(cpscope, "run", "--all", "--fw", firmware, path)
    rows = table(done)
    assert "end of the last retired submission" in done.stdout, done.stdout[:400] + done.stderr
    assert rows["$01"][2] == rows["$02"][2] == rows["header"][2] == rows["level"][2] == "equal"
    assert rows["ib1.consumed"][2] == "equal" and rows["ib1.base.hi"][2] == "equal"
    assert not [name for name, row in rows.items() if row[2] == "different"], rows
    assert [name for name, row in rows.items() if "history" in row[3]], "history is missing"


def many_buffers(cpscope, corpus, scratch):
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    dump = Dump(os.path.join(corpus, "captures", "crash.devcore"))
    path = os.path.join(scratch, "many")
    data = encode85([0x12345678, 0x9abcdef0])
    extra = "".join("  - iova: 0x%016x\n    size: 4096\n    data: !!ascii85 |\n     %s\n" %
                    (0x200000000 + 0x1000 * i, data) for i in range(400))
    dump.write(path, dump.ring, {}, extra)
    done = run(cpscope, "run", "--all", "--fw", firmware, path)
    rows = table(done)
    assert all(rows[name][2] == "equal" for name in GPRS), done.stderr


def missing_stream(cpscope, corpus, scratch):
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    dump = Dump(os.path.join(corpus, "captures", "crash.devcore"))
    path = os.path.join(scratch, "missing")
    dump.write(path, dump.ring, {})
    text = open(path, encoding="latin-1").read()
    open(path, "w", encoding="latin-1").write(
        text.replace("iova: 0x0000000100000000", "iova: 0x0000000300000000"))
    done = run(cpscope, "run", "--all", "--fw", firmware, path)
    rows = table(done)
    assert done.returncode == 1 and "position of the hardware not found" in done.stdout, done
    assert rows["$01"][2] == "no value" and "missing" in rows["$01"][3], rows["$01"]


def cut_anywhere(cpscope, corpus, scratch):
    """What is there of a dump that is cut is read, shown and compared; where it is cut, and what is missing, is said; no pass."""
    firmware = os.path.join(corpus, "firmware", "a630_sqe-187.fw")
    data = open(os.path.join(corpus, "captures", "crash.devcore"), "rb").read()
    path = os.path.join(scratch, "cut")
    draw = random.Random(34)
    sizes = [len(data) - 1, 326587, *(draw.randrange(4, len(data)) for _ in range(200))]
    for number, size in enumerate(sizes):
        open(path, "wb").write(data[:size])
        said = run(cpscope, "info", path)
        line = 1 + data[:size - 1].count(b"\n")
        assert said.returncode in (0, 4), (size, said)
        if data[size - 1:size] != b"\n":
            assert said.returncode == 4
            assert "warning: truncated at line %d, in " % line in said.stdout.replace("\n", " "), (size, line, said.stdout[:500])
        if number >= 30:
            continue
        done = run(cpscope, "run", "--fw", firmware, path, "-o", os.devnull)
        assert done.returncode in (1, 3, 4) and (done.returncode < 3 or done.stderr), (size, done.returncode, done.stderr)
        if done.returncode == 3:
            assert len(done.stderr.splitlines()) == 1, (size, done.stderr)
        if number < 2:
            assert done.returncode == 4 and "# in all: 200 equal, 0 different, 97 no value\n" in done.stdout, done.stdout
            assert "# truncated at line " in done.stdout, done.stdout
    open(path, "wb").write(data[:326587])
    said = run(cpscope, "profile", "--fw", firmware, path)
    assert said.returncode == 4, said
    assert said.stderr.startswith("warning: truncated at line 2722, in shader-blocks: missing: the rest of it, clusters, debugbus\n"), said


def queue_wraps(cpscope, corpus, scratch):
    """Read and write positions of a queue go round in its region, 0x100..0x1ff for IB1; what cannot be is not shown."""
    dump = Dump(os.path.join(corpus, "captures", "crash.devcore"))
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    match = words_of(dump, "CP_ROQ")
    for position, first, shown in ((0x010301fe, 0x1f7, "7 of 12 dwords read"), (0x01ff0101, 0x100, None)):
        path = os.path.join(scratch, "wraps")
        words = decode85(match.group(2))
        moved = list(words)
        for i in range(12):
            moved[0x100 + (first - 0x100 + i) % 0x100] = words[0x100 + i]
        text = dump.text[:match.start(2)] + encode85(moved) + dump.text[match.end(2):]
        text = text.replace("offset: 0x0024e8, value: 0x010c0107", "offset: 0x0024e8, value: 0x%08x" % position)
        assert text != dump.text
        open(path, "w", encoding="latin-1").write(text)
        said = run(cpscope, "info", path).stdout
        assert (shown in said) if shown else ("IB1   " not in said), said
        rows = table(run(cpscope, "run", "--all", "--fw", firmware, path, "-o", os.devnull))
        assert rows["ib1.consumed"][2] == ("equal" if shown else "no value"), rows["ib1.consumed"]
        assert rows["ib1.consumed"][0] == ("0x00000007" if shown else "0x00000000"), rows["ib1.consumed"]


def as_snapshot(cpscope, corpus, scratch):
    """What info says, what a run prints and its trace are those of the dump but for the format's and the file's names."""
    folders = {name: os.path.join(scratch, name) for name in ("dump", "snapshot")}
    for folder in folders.values():
        os.mkdir(folder)
    paths = {name: os.path.join(folder, "hang." + name) for name, folder in folders.items()}
    with open(os.path.join(corpus, "captures", "crash.devcore"), "rb") as source, open(paths["dump"], "wb") as to:
        to.write(source.read())
    left = write_snapshot(cpscope, paths["dump"], paths["snapshot"])
    assert left == "left out, as nothing here reads it: shader-blocks, debugbus\n", left

    def said(name, *words):
        trace = os.path.join(scratch, "trace")
        done = run(cpscope, *words, paths[name], *(["-o", trace] if words[0] == "run" else []))
        text = done.stdout + done.stderr + (open(trace).read() if words[0] == "run" and done.returncode < 2 else "")
        text = re.sub(r"# capture .*", "# capture", text.replace("\\/", "/").replace(paths[name], "PATH"))
        return done.returncode, re.sub("devcoredump|kgsl snapshot", "FORMAT", text)
    for words in (("info",), ("info", "--json"), *(("run", "--fw", os.path.join(corpus, "firmware", name)) for name in NEAR)):
        status, text = said("dump", *words)
        assert (status, text) == said("snapshot", *words), words
        assert status == 0 and len(text) > 1000, (status, text)
    again = os.path.join(scratch, "again.snapshot")
    write_snapshot(cpscope, paths["snapshot"], again)
    assert open(again, "rb").read() == open(paths["snapshot"], "rb").read(), "a snapshot of a snapshot"


def hang_summary(cpscope, corpus, scratch):
    firmware = os.path.join(corpus, "firmware", "a680_sqe.fw")
    dump = os.path.join(corpus, "captures", "crash.devcore")
    text = run(cpscope, "info", "--fw", firmware, dump).stdout
    for part in ("0x00c5", "error_handler+0x2", "0xdeadd00d", "CP_NOP", "level 1", "=> 00c5 c8000000  jump 0x00c5",
                 "7 of 12 dwords read", "41 of 8192"):
        assert part in text, part
    alone = run(cpscope, "info", dump).stdout
    told = " ".join(alone.split())
    for part in ("hangs at a dword that is not a valid packet header (0xdeadd00d), in IB1 at 0x100000018. At 0x00c5 it "
                 "is in its error loop: the firmware rejected the packet.", "Ring 0: no fence has signalled"):
        assert part in told, told
    assert "=> 00c5 c8000000  jump 0x00c5" in alone and "00c8 --------  (the dump does not hold it)" in alone, alone
    rows = json.loads(run(cpscope, "info", "--json", dump).stdout)
    code = rows["hang"]["code"] if "hang" in rows else rows["files"][0]["hang"]["code"]
    assert [row["pc"] for row in code] == list(range(0xc0, 0xc8)), code
    assert {row["from"] for row in code} == {"hardware"}


TESTS = [
    ("replay of the hang: 26 of 26 general registers, 128 of 128 scratch registers",
     replay_matches),
    ("the firmware of the dump is recovered with each near revision: 183 registers equal, none different", own_firmware),
    ("traces of a dump are reproduced, and diff runs the files that are named", others_run_what_is_named),
    ("what cannot be recovered is said, and nothing guessed", not_recovered),
    ("a donor of another family is refused, --no-recover runs it", far_donors),
    ("each command runs the dump's own firmware, and says so", one_firmware),
    ("a wrapped ring is replayed from the last retired submission, what is missing is said",
     missing_history),
    ("hundreds of buffers change nothing", many_buffers),
    ("a stream that the dump lacks makes registers not comparable", missing_stream),
    ("a dump that is cut is read as far as it goes, and no pass", cut_anywhere),
    ("positions of a queue go round in their region, and what cannot be is not shown", queue_wraps),
    ("info shows where the processor hangs, with code", hang_summary),
    ("as a snapshot, the dump has the same info, summary and trace with each near revision", as_snapshot),
]


def main():
    corpus = os.environ.get("CPSCOPE_CORPUS")
    print("1..%d" % len(TESTS))
    for number, (claim, check) in enumerate(TESTS, 1):
        if not corpus:
            print("ok %d - %s # SKIP CPSCOPE_CORPUS is not set" % (number, claim))
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                check(sys.argv[1], corpus, scratch)
                print("ok %d - %s" % (number, claim))
            except (AssertionError, KeyError) as problem:
                print("# %s: %s\nnot ok %d - %s" % (type(problem).__name__, problem, number, claim))


main()

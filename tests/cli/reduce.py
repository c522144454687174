#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`reduce`: what it leaves ends as the whole job does, and is as small as it can be: each packet of a result
is taken out here once more, and the job has to end otherwise. Usage: reduce.py CPSCOPE; with
CPSCOPE_CORPUS also on real firmware, captures and a dump."""
import gzip
import json
import os
import random
import re
import signal
import struct
import subprocess
import time

import make
import tap
from scene import CORPUS, CPSCOPE, cpscope, path, run
from tree import DEMO

BAD = 0xdeadd00d


def reduce(*args, status=0):
    return cpscope("reduce", *args, "--cache", path("cache"), status=status)


def end(firmware, capture):
    """How a run ends, without where the packet lies, and where in a circle of a few instructions the machine stands."""
    done = run("run", "--fw", firmware, capture, "-o", os.devnull)
    said = re.search(r"^ended: (.*)$", done.stderr, re.M)
    return ending(said[1]) if said else done.stderr


def ending(text):
    text = re.sub(r" at 0x[0-9a-f]{16}$", "", text)
    return re.sub(r" at 0x([0-9a-f]{4})(?: \([^)]*\))?:", lambda pc: " near 0x%04x:" % (int(pc[1], 16) & ~3), text)


def difference(firmware, capture):
    """The first difference of two revisions, without where its packet lies and where the one before it was left."""
    args = [word for name in firmware for word in ("--fw", name)] + ["--policy", "clock=instructions"]
    out = run("diff", *args, capture).stdout
    lines = re.findall(r"^  (?:packet|old|new) +.*$", out, re.M)[:3]
    return [re.sub(r"(PKT \w+) 0x[0-9a-f]{16}(.*) pc=.*", r"\1\2", line) for line in lines]


def packets(text):
    """Numbers of the lines that are packets."""
    return [i for i, line in enumerate(text) if line.startswith("    ") and not line.startswith("    .word")]


def is_minimal(result, how):
    """Without any line more it ends otherwise."""
    text, whole = open(result).read().splitlines(True), how(result)
    for i in packets(text):
        less = path("less.pm4", "".join(text[:i] + text[i + 1:]))
        assert how(less) != whole, "goes without line %d: %s" % (i + 1, text[i])
    return len(packets(text)) + sum(line.startswith("    .word 0x%08x" % BAD) for line in text)


def filler(rng, count):
    for _ in range(count):
        yield rng.choice(["reg 0x%x 0x%x" % (rng.randrange(0x8000, 0x8f00), rng.getrandbits(32)), "CP_NOP 0x1 0x2",
                          "CP_MEM_WRITE 0x%x 0x0 0x7" % (0x200000 + 4 * rng.randrange(4096)), "CP_EVENT_WRITE 0x31"])


def planted(level, count=200, seed=1):
    """A bad packet among others, in the stream that is submitted, in one that it calls, or in a draw-state group."""
    rng = random.Random(seed)
    bad = [*filler(rng, count), ".word 0x%x" % BAD, *filler(rng, count)]
    call = {0: bad, 1: ["CP_INDIRECT_BUFFER @inner #inner"],
            2: ["CP_SET_DRAW_STATE 0x00700001 @other 0x%08x @inner" % (0x01700000 + len(bad)), "CP_DRAW_INDX_OFFSET 0x84 1 3"]}[level]
    lines = ["CP_INDIRECT_BUFFER @harmless #harmless", *filler(rng, count), *call, *filler(rng, count)]
    parts = [("harmless", 0x300000, list(filler(rng, count))), ("other", 0x400000, ["reg 0x8818 0xa0"])]
    if level:
        inner = bad if level == 1 else ["reg 0x8818 0xa1", ".word 0x%x" % BAD]
        parts.append(("inner", 0x500000, inner))
        lines = [line.replace("0x%08x @inner" % (0x01700000 + len(bad)), "0x01700003 @inner") for line in lines]
    text = make.pm4(*lines)
    head, tail = text.rsplit("submit frame", 1)
    for name, at, body in parts:
        head += "buffer 0x%08x %s\n" % (at, name) + "".join("    %s\n" % line for line in body)
    return path("planted%d.pm4" % level, head + "submit frame\n" + tail)


def demo():
    name = path("demo")
    if not os.path.exists(name + ".fw"):
        with open(DEMO, encoding="utf-8") as file:
            make.firmware(CPSCOPE, name, file.read())
    return name + ".fw"


def bad_packet(level, most):
    def case():
        capture, out = planted(level), path("small.pm4")
        done = reduce("--fw", demo(), capture, "-o", out)
        whole = end(demo(), capture)
        assert "0x%08x" % BAD in whole and end(demo(), out) == whole, (whole, end(demo(), out))
        count = is_minimal(out, lambda name: end(demo(), name))
        assert count <= most, open(out).read()
        return "%s, %d packets, %s" % (re.search(r"packets +\d+", done.stdout)[0].replace("  ", ""), count, done.stderr.split(",")[0])
    return case


def streams_of_one_buffer():
    """Streams that lie in one buffer are moved like those that have their own; those that share words are not."""
    fill, bad, base, second = make.type4(0x8820, 7) * 20, [BAD], 0x500000, 0x400
    results = []
    for to, apart in ((second, False), (second, True), (0x40000, True)):
        inner = [*fill, *bad, *fill]
        first = [*fill, *make.type7(0x3f, base + to, 0, len(inner)), *fill]
        parts = [(base, make.dwords(first)), (base + to, make.dwords(inner))]
        if not apart:
            parts = [(base, parts[0][1].ljust(to, b"\0") + parts[1][1])]
        buffers = b"".join(make.buffer(*part) for part in parts)
        capture = path("parts.rd", make.chip(630) + buffers + make.submit(base, len(first)))
        reduce("--fw", demo(), capture, "-o", path("parts.pm4"))
        text = open(path("parts.pm4")).read()
        assert end(demo(), path("parts.pm4")) == end(demo(), capture) and "CP_NOP" not in text and "0x%08x" % BAD in text, text
        results.append([line.split()[0] for line in text.splitlines() if line.startswith("    ")])
    assert results == [["CP_INDIRECT_BUFFER", ".word"]] * 3, results
    # The call leads to its own stream's end, where the bad packet is, too: what is in front cannot go on its own.
    shared = [*fill, *make.type7(0x3f, base + 4 * (len(fill) + 4), 0, 43), *fill, 0x70100000, *bad, *fill]
    capture = path("shared.rd", make.chip(630) + make.buffer(base, make.dwords(shared)) + make.submit(base, len(fill) + 4 + 42))
    reduce("--fw", demo(), capture, "-o", path("shared.pm4"))
    assert end(demo(), path("shared.pm4")) == end(demo(), capture), open(path("shared.pm4")).read()


def what_the_whole_job_has():
    """A group counts that is enabled and has words; a call that has all of its words in the buffer."""
    def before(name, lines, tail):
        head, submit = make.pm4(*lines).rsplit("submit frame", 1)
        done = reduce("--fw", demo(), path(name, head + tail + "submit frame\n" + submit), "-o", path("has.pm4"), "--json")
        row = json.loads(done.stdout)["before"]
        return row["submissions"], row["packets"], row["indirect_buffers"], row["draw_state_groups"]
    bad = ".word 0x%x" % BAD
    other = "buffer 0x400000 other\n    reg 0x8818 0xa0\n    %s\n" % bad
    heads = (0x00700002, 0x01700000, 0x02720002, 0x03720000)  # with words, without, disabled, so without words
    for count in range(1, 5):
        entries = " ".join("0x%08x @other" % head for head in heads[:count])
        assert before("groups%d.pm4" % count, ["CP_SET_DRAW_STATE " + entries, bad], other) == (1, 2, 0, 1), count
    call = make.type7(0x3f, 0x400000, 0, 3)
    for words in range(4):
        lines = ["CP_EVENT_WRITE 0x31", *(".word 0x%08x" % word for word in call[:1 + words])]
        has = before("call%d.pm4" % words, lines, other)
        assert has[2] == (words == 3) and has[0] == 1, (words, has)


def endless_wait():
    """A machine that waits for what nobody writes; the wait is of a value that another packet has left."""
    wait = "CP_WAIT_REG_MEM 0x13 0x00200200 0x0 0x5 0xffffffff 0x0"
    rng = random.Random(5)
    capture = path("wait.pm4", make.pm4(*filler(rng, 100), "CP_MEM_WRITE 0x00200200 0x0 0x5", wait, *filler(rng, 50),
                                        "CP_MEM_WRITE 0x00200200 0x0 0x6", *filler(rng, 50), wait, *filler(rng, 50)))
    done = reduce("--waits", "stop", "--fw", demo(), capture, "-o", path("small.pm4"))
    assert done.stdout.startswith("deadlock at 0x") and "memory 0x0000000000200200" in done.stdout, done.stdout
    text = open(path("small.pm4")).read()
    # The value that it waits with is part of the failure: what wrote it stays, too.
    assert len(packets(text.splitlines(True))) <= 2 and "CP_WAIT_REG_MEM 0x13" in text, text
    done = cpscope("run", "--waits", "stop", "--fw", demo(), path("small.pm4"), "-o", os.devnull, status=4)
    assert "ended: deadlock" in done.stderr, done.stderr
    assert "runs to its end" in reduce("--fw", demo(), capture, "-o", path("none.pm4"), status=3).stderr


def one_address_with_two_contents():
    """The second load of the address is the one that stops; the first is run from the same words."""
    load = "buffer 0x00100000 %s\n    reg 0x8810 0x1\n    %s\n    reg 0x8811 0x2\nsubmit %s\n"
    capture = path("twice.pm4", "# cpscope-pm4 1\ngpu 630\n" + load % ("a", "CP_EVENT_WRITE 0x31", "a") + "reset\n" +
                   load % ("b", ".word 0x%x 0x0" % BAD, "b"))
    reduce("--fw", demo(), capture, "-o", path("small.pm4"))
    text = open(path("small.pm4")).read()
    assert text.count("submit submit") == 1 and text.count("buffer") == 1 and end(demo(), path("small.pm4")) == end(demo(), capture), text


def revisions():
    folder = os.path.dirname(path("x"))
    if not os.path.exists(path("new.fw")):
        make.revisions(CPSCOPE, DEMO, folder, *make.EVENT_CMD)
    return path("old.fw"), path("new.fw")


def first_difference():
    rng = random.Random(3)
    capture = path("diff.pm4", make.pm4(*filler(rng, 150), make.EVENT, *filler(rng, 150), make.EVENT))
    old, new = revisions()
    done = reduce("--fw", old, "--fw", new, capture, "-o", path("small.pm4"))
    whole = difference((old, new), capture)
    assert len(whole) == 3 and difference((old, new), path("small.pm4")) == whole, (whole, done.stdout)
    assert is_minimal(path("small.pm4"), lambda name: difference((old, new), name)) == 1
    assert "first difference" in done.stdout


def forms():
    capture, texts = planted(1, 20), []
    for name in ("small.pm4", "small.rd", "small.rd.gz", "small.rd.zst"):
        done = reduce("--fw", demo(), capture, "-o", path(name))
        assert end(demo(), path(name)) == end(demo(), capture), name
        texts.append(done.stdout)
    assert len(set(texts)) == 1 and open(path("small.rd.gz"), "rb").read(2) == b"\x1f\x8b"
    done = cpscope("reduce", "--no-cache", "--fw", demo(), capture)
    assert done.stdout == open(path("small.pm4")).read() and "packets" in done.stderr
    assert cpscope("reduce", "--no-cache", "--fw", demo(), "-", text=open(capture).read()).stdout == done.stdout
    row = json.loads(reduce("--json", "--fw", demo(), capture, "-o", path("small.pm4")).stdout)
    assert row["after"]["packets"] == 2 and row["after"]["indirect_buffers"] == 1 and row["before"]["packets"] > 20, row
    assert row["end"].startswith("bad-packet at 0x"), row


def slow():
    """A capture of which each run takes a while, so that there is time to interrupt its search."""
    text = open(planted(2)).read().split("\n")
    rd = path("slow.rd")
    cpscope("convert", path("planted2.pm4"), "-o", rd)
    data = open(rd, "rb").read()
    at = data.rindex(struct.pack("<II", make.CMDSTREAM, 12))
    with open(rd, "wb") as file:
        file.write(data[:at] + make.buffer(0x10000000, bytes(24 << 20)) + data[at:])
    assert text
    return rd


def searching(process):
    """Waits until the process catches the interrupt, which it does while it searches, or has ended."""
    while process.poll() is None:
        try:
            caught = re.search(r"SigCgt:\s*(\w+)", open("/proc/%d/status" % process.pid).read())
        except OSError:
            return
        if caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.001)


def interrupt_until_done(command, out, whole):
    """Calls again what an interrupt has ended, each time with more time; @return how often that was."""
    times, delay = 0, 0
    while True:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        searching(process)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=300)[1]
        if process.returncode == 0:
            return times
        assert process.returncode in (130, -signal.SIGINT), (process.returncode, said)
        if process.returncode == 130:
            assert not os.path.exists(out), said
            times += 1
        else:  # before the search or behind it: nothing is written, or all
            assert not os.path.exists(out) or open(out).read() == whole, said
        delay = delay * 1.2 + 0.02


def interrupted():
    capture, whole, out = slow(), path("whole.pm4"), path("resumed.pm4")
    cpscope("reduce", "--no-cache", "--fw", demo(), capture, "-o", whole)
    whole = open(whole).read()
    command = [CPSCOPE, "reduce", "--fw", demo(), capture, "-o", out, "--cache", path("resume")]
    times = interrupt_until_done(command, out, whole)
    assert times and open(out).read() == whole
    assert re.search(r"[1-9]\d* answers known before", subprocess.run(command, capture_output=True, text=True).stderr)
    return "%d times" % times


def kept_results():
    """Whatever stands in the file of kept results, the result is the same."""
    capture, out, cache = planted(2, 60), path("kept.pm4"), path("kept")
    command = ["reduce", "--fw", demo(), capture, "-o", out, "--cache", cache]
    first, runs = cpscope(*command), lambda done: int(re.match(r"(\d+) runs", done.stderr)[1])
    whole = open(out).read()
    state = [os.path.join(folder, name) for folder, _, names in os.walk(cache) for name in names]
    assert len(state) == 1 and state[0].endswith(".reduce"), state
    kept = open(state[0]).read()
    assert runs(cpscope(*command)) < runs(first) / 2
    for text in (kept[:len(kept) // 2], kept[:-20], "{}", "", kept.replace('"key":"', '"key":"0'), kept + "\0",
                 kept.replace("false", "3"), kept.replace("false", "true"), kept.replace("true", "false")):
        assert text != kept
        open(state[0], "w").write(text)
        done = cpscope(*command)
        assert end(demo(), out) == end(demo(), capture), done.stderr
        if "false" in text and "true" not in text:
            continue  # answers that are wrong but possible leave more
        assert open(out).read() == whole, text


def mistakes():
    good, capture = demo(), planted(0, 5)
    old, new = revisions()
    harmless = path("harmless.pm4", make.pm4("CP_NOP 0x1", "reg 0x8810 0x1"))
    cut = path("cut.rd", make.capture([0x70108000, BAD])[:-8])
    for args, status, message in (
            (["--fw", good, harmless], 3, "runs to its end: there is nothing to reduce"),
            (["--fw", old, "--fw", new, harmless], 3, "do nothing differently: there is nothing to reduce"),
            (["--fw", good, "--limit", "300", capture], 3, "reaches --limit"),
            (["--fw", good, cut], 3, "cut.rd"), (["--fw", good, path("no.rd")], 3, "no.rd"),
            (["--fw", path("junk.fw", b"junk"), capture], 3, "junk.fw"), (["--fw", good, path("junk", b"junk")], 3, "junk"),
            ([capture], 2, "needs --fw"), (["--fw", good], 2, "takes one capture"), (["--fw", good, capture, capture], 2, "takes one"),
            (["--fw", good] * 3 + [capture], 2, "--fw OLD --fw NEW"), (["--fw", "hwsq:g80", capture], 2, "captures of Adreno"),
            (["--engine", "hwsq", capture], 2, "unknown option"), (["--json", "--fw", good, capture], 2, "-o FILE"),
            (["--fw", good, "--events", "bogus", "--fw", good, capture], 2, "--events")):
        output = [] if "--json" in args else ["-o", path("none.pm4")]
        done = cpscope("reduce", "--no-cache", *args, *output, status=status)
        assert message in done.stderr and len(done.stderr.splitlines()) == 1 and not done.stdout, (args, done)
        assert not os.path.exists(path("none.pm4")), args


def corpus(name):
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    return os.path.join(CORPUS, name)


FIRMWARE = "firmware/a630_sqe-190.fw"


def the_dump():
    dump, firmware, out = corpus("captures/crash.devcore"), corpus(FIRMWARE), path("crash.pm4")
    done = reduce("--fw", firmware, dump, "-o", out)
    whole = ending(re.match(r"(.*), level 1$", done.stdout.splitlines()[0])[1])
    assert "packet 0x%08x" % BAD in whole and end(firmware, out) == whole, (whole, end(firmware, out))
    count = is_minimal(out, lambda name: end(firmware, name))
    assert count <= 10, open(out).read()
    first, again = open(out).read(), reduce("--fw", firmware, dump, "-o", out)
    assert open(out).read() == first and "[1-9]" and " 0 answers" not in again.stderr
    reduce("--fw", firmware, dump, "-o", path("crash.rd"))
    assert end(firmware, path("crash.rd")) == whole
    return "%d packets, %s" % (count, done.stderr.split(",")[0])


def the_dump_of_two_revisions():
    """Its ring and a start value are needed: they are in the text, and .rd has no place for them."""
    dump, out = corpus("captures/crash.devcore"), path("ring.pm4")
    firmware = [corpus("firmware/a630_sqe-187.fw"), corpus(FIRMWARE)]
    args = [word for name in firmware for word in ("--fw", name)] + ["--policy", "clock=instructions"]
    reduce(*args, dump, "-o", out)
    assert "\nring ring0\n" in open(out).read()
    assert difference(firmware, out) == difference(firmware, dump), difference(firmware, out)
    assert "which .rd has no section for" in reduce(*args, dump, "-o", path("ring.rd"), status=3).stderr
    assert not os.path.exists(path("ring.rd"))


def waiting_dump():
    """The public dump as if the hardware had waited in a CP_NOP of IB1: the emulator does not stop there."""
    text = open(corpus("captures/crash.devcore"), encoding="latin-1").read()
    for block, index in (("regs-name: CP_SEQ_STAT\n", 0x24), ("iova: 0x0000000100000000\n", 6)):
        found = re.search(block + r".*?data: !!ascii85 \|\n\s+(\S+)", text, re.S)
        words = make.decode85(found[1])
        assert words[index] == BAD
        words[index] = 0x70108000
        text = text[:found.start(1)] + make.encode85(words) + text[found.end(1):]
    done = reduce("--fw", corpus(FIRMWARE), path("wait.devcore", text.encode("latin-1")), "-o", path("small.pm4"))
    assert done.stdout.startswith("reaches 0x034f (CP_NOP+0x1) in packet 0x70108000 at level 1, where the hardware hung"), done.stdout
    lost = path("lost.devcore", text.replace("iova: 0x0000000100000000", "iova: 0x0000000300000000").encode("latin-1"))
    done = reduce("--fw", corpus(FIRMWARE), lost, "-o", path("small.pm4"), status=3)
    assert "does not come to the hang" in done.stderr, done.stderr


def plant(capture, iova, word):
    """A word of the first contents that have the address."""
    data, at, base = bytearray(gzip.open(capture).read()), 0, None
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if (kind, size) == (0xffffffff, 0xffffffff):
            size = 0
        if kind == make.GPUADDR:
            low, _, high = struct.unpack_from("<III", data, at + 8)
            base = high << 32 | low
        if kind == make.CONTENTS and base <= iova < base + size:
            struct.pack_into("<I", data, at + 8 + iova - base, word)
            return path("planted.rd", bytes(data))
        at += 8 + size
    raise AssertionError("nothing has 0x%x" % iova)


def real_captures():
    capture, firmware = corpus("captures/fd-clouds.rd.gz"), corpus(FIRMWARE)
    cpscope("run", "--fw", firmware, capture, "-o", path("clouds.trace"))
    found = sorted(set(re.findall(r"^PKT (ib1|ib2|sds) 0x([0-9a-f]+) ", open(path("clouds.trace")).read(), re.M)))
    said = []
    for level, iova in [random.Random(7).choice([row for row in found if row[0] == level]) for level in ("ib1", "ib2", "sds") for _ in "12"]:
        bad = plant(capture, int(iova, 16), BAD)
        done = reduce("--fw", firmware, bad, "-o", path("small.pm4"))
        assert end(firmware, path("small.pm4")) == end(firmware, bad), (level, iova)
        count = is_minimal(path("small.pm4"), lambda name: end(firmware, name))
        assert count <= 10, open(path("small.pm4")).read()
        said.append("%s: %s to %d" % (level, re.search(r"packets +(\d+)", done.stdout)[1], count))
    return "; ".join(said)


def plant_text(capture, buffer):
    """A word into a buffer of PM4 text, behind its second line."""
    with open(corpus(capture), encoding="utf-8") as file:
        lines = file.read().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("buffer") and line.split()[2] == buffer)
    return path("planted-%s.pm4" % buffer, "\n".join(lines[:at + 3] + ["    .word 0x%x" % BAD] + lines[at + 3:]))


def other_generations():
    """Two processors of a5xx, pipes of a7xx and a8xx: whoever of them stops."""
    pair = [corpus("firmware/a530_%s.fw" % name) for name in ("pfp", "pm4")]
    jobs = [(pair, plant(corpus("captures/compute-a540.rd.gz"), 0x5001900d4, BAD), 3)]
    jobs += [([corpus("firmware/gen70900_sqe-181.fw")], plant_text("captures/a750-ycbcr.pm4", name), most)
             for name, most in (("ib1", 1), ("ib2", 2), ("ib3", 3))]
    jobs.append(([corpus("firmware/gen80000_sqe-077.fw")], plant_text("captures/a840-ycbcr-tail.pm4", "ib2_tail"), 4))
    said = []
    for firmware, capture, most in jobs:
        args = [word for name in firmware for word in ("--fw", name)]
        done = reduce(*args, capture, "-o", path("small.pm4"))
        before, after = map(int, re.search(r"packets +(\d+) +(\d+)", done.stdout).groups())
        ends = [run("run", *args, name, "-o", os.devnull).stderr.splitlines()[-1]
                for name in (capture, path("small.pm4"))]
        assert ending(ends[0]) == ending(ends[1]) and after <= most, (ends, open(path("small.pm4")).read())
        said.append("%d to %d" % (before, after))
    return "; ".join(said)


def real_revisions():
    """A revision made by one constant of a handler, over a real draw."""
    old = corpus("firmware/a680_sqe.fw")
    capture = corpus("captures/dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz")
    source = re.sub(r" +; [0-9a-f]{4} [0-9a-f]{8}$", "", cpscope("disasm", old).stdout, flags=re.M)
    at = source.index("\nCP_EVENT_WRITE:")
    found = re.search(r"and \$03, \$04, 0x0*3f", source[at:])
    text = source[:at + found.start()] + "and $03, $04, 0x1f" + source[at + found.end():]
    make.firmware(CPSCOPE, path("revision"), text)
    firmware = (old, path("revision.fw"))
    done = reduce("--fw", *firmware[:1], "--fw", firmware[1], capture, "-o", path("small.pm4"))
    assert difference(firmware, path("small.pm4")) == difference(firmware, capture)
    count = is_minimal(path("small.pm4"), lambda name: difference(firmware, name))
    assert count <= 5, open(path("small.pm4")).read()
    return "%s to %d" % (re.search(r"packets +(\d+)", done.stdout)[1], count)


tap.run([
    ("a bad packet in the stream: it alone stays", bad_packet(0, 1)),
    ("a bad packet in a called buffer: the call stays", bad_packet(1, 2)),
    ("a bad packet in a draw-state group: group, draw and packet stay", bad_packet(2, 3)),
    ("streams of one buffer", streams_of_one_buffer),
    ("what the whole job has is counted", what_the_whole_job_has),
    ("a wait that nobody ends stays alone", endless_wait),
    ("one address with two contents", one_address_with_two_contents),
    ("the first difference of two revisions stays, and what makes it", first_difference),
    ("the result as text, .rd, compressed, on stdout; the summary as JSON", forms),
    ("an interrupted search goes on, to the same result", interrupted),
    ("kept results that are cut, damaged or wrong", kept_results),
    ("mistakes are told in one line", mistakes),
    ("the public dump: at most ten packets", the_dump),
    ("the public dump on two revisions keeps its ring", the_dump_of_two_revisions),
    ("a dump whose hardware waited", waiting_dump),
    ("bad packets in a real capture", real_captures),
    ("bad packets in captures of other generations", other_generations),
    ("two revisions over a real capture", real_revisions)])

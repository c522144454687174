#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Coverage, against counts made here from the STEP events of the same runs, and as genhtml reads it.

A taken branch is one behind whose delay slot the program goes elsewhere. Usage: cover.py CPSCOPE
"""
import collections
import os
import re
import shutil
import subprocess
import tempfile

import a5xx_pair
from make import pm4
from tap import plan, report, skip
from scene import CPSCOPE
from tree import DEMO, DEMO_STREAM as CAPTURE

# Loads the packet table as the demo does, counts to 3, then takes packets; all have one handler. It
# gets two: CP_ME_INIT with 8 words, and CP_INDIRECT_BUFFER with the 3 that the branch asks for.
TINY = """; a6xx microcode
[016ee001]
[#jumptbl]
mov $02, 0x2
cwrite $02, [$00 + @REG_READ_DWORDS]
mov $05, 0x830
cwrite $05, [$00 + @REG_READ_ADDR]
mov $03, $regdata
mov $04, $regdata
mov $06, #jumptbl
shl $06, $06, 0x2
add $03, $03, $06
addhi $04, $04, $00
mov $rem, 0x80
cwrite $03, [$00 + @MEM_READ_ADDR]
cwrite $04, [$00 + @MEM_READ_ADDR+0x1]
cwrite $rem, [$00 + @MEM_READ_DWORDS]
cwrite $00, [$00 + @PACKET_TABLE_WRITE_ADDR]
(rep)cwrite $memdata, [$00 + @PACKET_TABLE_WRITE]
mov $07, 0x3
loop:
brne $07, 0x0, #loop
sub $07, $07, 0x1
waitin
mov $01, $data
CP_NOP:
breq $rem, 0x3, #drop
nop
mov $08, 0x1
drop:
(rep)mov $00, $data
waitin
mov $01, $data
.align 32
jumptbl:
.jumptbl #CP_NOP
"""
# text of the line, times executed, times taken
TINY_COUNTS = [("mov $07", 1, None), ("brne", 4, 3), ("sub", 4, None), ("breq", 2, 1),
               ("mov $08", 1, None)]
STREAM = pm4("CP_NOP", "CP_NOP 0x1", "CP_NOP 0x1 0x2")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read_counts(path):
    """{dword: (executed, taken or None)}, texts of the lines by dword, and functions."""
    with open(path + ".asm", encoding="utf-8") as file:
        lines = file.read().split("\n")
    counts, texts, functions = {}, {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            da = re.match(r"DA:(\d+),(\d+)$", line)
            taken = re.match(r"BRDA:(\d+),0,0,(\d+|-)$", line)
            function = re.match(r"FNDA:(\d+),(.*)$", line)
            if function:
                functions[function[2]] = int(function[1])
            if da or taken:
                text = lines[int((da or taken)[1]) - 1]
                at = int(re.search(r"; ([0-9a-f]{4}) [0-9a-f]{8}", text)[1], 16)
            if da:
                counts[at], texts[at] = (int(da[2]), None), text.strip()
            if taken:
                counts[at] = (counts[at][0], int(taken[2].replace("-", "0")))
    return counts, texts, functions


def step_counts(firmware, captures):
    """The same from traces of single steps."""
    executed, taken = collections.Counter(), collections.Counter()
    for capture in captures:
        trace = run(CPSCOPE, "run", "--fw", firmware, capture, "--events", "step").stdout
        pcs = [int(pc, 16) for pc in re.findall(r"^STEP (0x\w+)", trace, re.M)]
        executed.update(pcs)
        taken.update(pc for pc, slot, then in zip(pcs, pcs[1:], pcs[2:])
                     if slot == pc + 1 and then != pc + 2)
    return executed, taken


def test_tiny(scratch):
    firmware, info = os.path.join(scratch, "tiny.fw"), os.path.join(scratch, "tiny.info")
    write(os.path.join(scratch, "tiny.afuc"), TINY)
    write(os.path.join(scratch, "tiny.pm4"), STREAM)
    run(CPSCOPE, "asm", os.path.join(scratch, "tiny.afuc"), "-o", firmware)
    done = run(CPSCOPE, "cover", "--fw", firmware, os.path.join(scratch, "tiny.pm4"), "-o", info)
    if done.returncode:
        report("a small program is covered", False, done.stderr)
        return
    counts, texts, functions = read_counts(info)
    for text, *expected in TINY_COUNTS:
        got = [list(counts[at]) for at in counts if texts[at].startswith(text)]
        report("counted by hand: %s" % text, got == [expected], "%s, expected %s" % (got, expected))
    report("a handler is run once per packet", functions == {"bootstrap": 1, "CP_NOP": 2}, functions)


# What TINY has, and two places more: one that a branch leads to which is never taken, one that nothing leads to.
MORE = TINY.replace("mov $08, 0x1\n", "breq $08, 0x1f, #rare\nmov $08, 0x1\n").replace(".align 32\n", """rare:
mov $09, 0x1
jump #drop
mov $09, 0x2
mov $0a, 0x3
mov $0a, 0x4
.align 32
""")


def test_unreached(scratch):
    firmware, proofs = os.path.join(scratch, "more.fw"), os.path.join(scratch, "proofs.json")
    write(os.path.join(scratch, "more.afuc"), MORE)
    run(CPSCOPE, "asm", os.path.join(scratch, "more.afuc"), "-o", firmware)
    command = [CPSCOPE, "cover", "--fw", firmware, os.path.join(scratch, "tiny.pm4"), "--unreached"]
    out = run(*command).stdout
    stretches = re.findall(r"^sqe (\w+)\.\.(\w+) [^:]*: (.*)$", out, re.M)
    sizes = [int(last, 16) - int(first, 16) + 1 for first, last, _ in stretches]
    report("code behind a branch that is never taken", sizes[:1] == [3] and "never branched" in stretches[0][2] and
           "breq $08, 0x1f" in stretches[0][2], out)
    report("code that nothing leads to", sizes[1:] == [2] and stretches[1][2].startswith("no branch"), out)
    report("words are counted by reason", re.search(r"^ +2  no branch", out, re.M) and
           re.search(r"^ +3  a branch went the other way", out, re.M), out)
    test_fuzz_and_prove(scratch, firmware, out)
    write(proofs, "{}")
    done = run(*command, "--proofs", proofs)
    report("results of something else are refused", done.returncode == 3 and "results.json of prove" in done.stderr, done.stderr)


def test_fuzz_and_prove(scratch, firmware, unreached):
    """What the other two commands have written, as it is: by folder and by file, of either revision."""
    fuzz, prove, other = (os.path.join(scratch, name) for name in ("fuzzed", "proved", "other.fw"))
    write(os.path.join(scratch, "other.afuc"), MORE.replace("rare:\nmov $09, 0x1\n", "rare:\nnop\nmov $09, 0x1\n"))
    run(CPSCOPE, "asm", os.path.join(scratch, "other.afuc"), "-o", other)
    done = run(CPSCOPE, "fuzz", "--fw", firmware, "-o", fuzz, "--execs", "300")
    report("fuzz ran", done.returncode in (0, 1), done.stderr)
    outs = [run(CPSCOPE, "cover", "--fw", firmware, "--counts", at, "--unreached").stdout for at in (fuzz, fuzz + "/coverage.info")]
    report("--counts takes the folder of fuzz", outs[0] == outs[1] and "words that did not run" in outs[0], outs[0])
    report("what fuzz counted has the bootstrap", " bootstrap: " not in outs[0], outs[0])
    both = run(CPSCOPE, "cover", "--fw", firmware, "--counts", fuzz, os.path.join(scratch, "tiny.pm4"), "--unreached").stdout
    report("captures and fuzzing add up", len(both.splitlines()) <= min(len(unreached.splitlines()), len(outs[0].splitlines())), both)
    done = run(CPSCOPE, "prove", "--fw", firmware, "--fw", other, "-o", prove, "--no-cache")
    if "cannot prove" in done.stderr or "without z3" in done.stderr or done.returncode == 3:
        skip("what prove found is told", done.stderr.strip())
        return
    tiny = os.path.join(scratch, "tiny.pm4")
    for revision in (firmware, other):
        for results in (prove, prove + "/results.json"):
            out = run(CPSCOPE, "cover", "--fw", revision, tiny, "--unreached", "--proofs", results).stdout
            lines = [line for line in out.splitlines() if line.startswith("sqe ")]
            report("what prove found is told of each stretch, %s" % os.path.basename(revision),
                   lines and all(" bootstrap: " in line or "; prove: " in line for line in lines), out)
    run(CPSCOPE, "asm", DEMO, "-o", other)
    done = run(CPSCOPE, "cover", "--fw", other, CAPTURE, "--unreached", "--proofs", prove)
    report("results about other firmware are refused", done.returncode == 3 and "about this firmware" in done.stderr and
           not done.stdout, done.stderr)


def compare(name, info, firmware, captures):
    counts, texts, _ = read_counts(info)
    executed, taken = step_counts(firmware, captures)
    stepped = {at: (executed[at], None if counts[at][1] is None else taken[at]) for at in counts}
    wrong = ["%s: %s, steps say %s" % (texts[at], counts[at], stepped[at])
             for at in counts if counts[at] != stepped[at]]
    report(name, len(counts) > 300 and not wrong, "\n".join(wrong) or len(counts))


def cover(firmware, out, *rest):
    return run(CPSCOPE, "cover", "--fw", firmware, "-o", out, *rest)


def test_demo(scratch):
    firmware, other = os.path.join(scratch, "demo.fw"), os.path.join(scratch, "other.pm4")
    a, b, both, merged = (os.path.join(scratch, n + ".info") for n in ("a", "b", "both", "merged"))
    run(CPSCOPE, "asm", DEMO, "-o", firmware)
    write(other, STREAM.replace("CP_NOP 0x1\n", "CP_WAIT_FOR_IDLE\n    CP_EVENT_WRITE 0x31\n"))
    table_both = cover(firmware, both, CAPTURE, other).stdout
    compare("instructions and branches are those that STEP events count", both, firmware,
            [CAPTURE, other])
    cover(firmware, a, CAPTURE)
    cover(firmware, b, other)
    table_merged = cover(firmware, merged, "--counts", a, "--counts", b).stdout
    report("counts of two runs are those of both together",
           read_counts(both) == read_counts(merged))
    report("and so is the table", table_both == table_merged, table_merged)
    done = cover(firmware, merged, "--counts", a, other)
    report("counts and captures add up", read_counts(both) == read_counts(merged), done.stderr)
    test_foreign(scratch, firmware, a)
    return both


def test_foreign(scratch, firmware, info):
    """Counts of another firmware, and files that are none."""
    tiny, text = os.path.join(scratch, "tiny.fw"), os.path.join(scratch, "text")
    done = run(CPSCOPE, "cover", "--fw", tiny, "--counts", info)
    report("counts of another firmware are refused", done.returncode == 3 and
           "expected the counts of this firmware" in done.stderr, done.stderr)
    write(text, "no counts\n")
    done = run(CPSCOPE, "cover", "--fw", firmware, "--counts", text)
    report("a file without counts is refused", done.returncode == 3 and "lcov" in done.stderr,
           done.stderr)


def test_genhtml(scratch, info):
    if not shutil.which("genhtml"):
        skip("genhtml reads it", "no genhtml")
        return
    out = os.path.join(scratch, "html")
    done = run("genhtml", "--branch-coverage", "--function-coverage", "-o", out, info)
    counts, _, functions = read_counts(info)
    covered = sum(executed > 0 for executed, _ in counts.values())
    sums = "(%d of %d lines)" % (covered, len(counts))
    report("genhtml reads it", done.returncode == 0 and not re.search("warn|error", done.stderr, re.I),
           done.stderr)
    report("and counts the same lines", sums in done.stdout, done.stdout)
    sums = "(%d of %d functions)" % (sum(n > 0 for n in functions.values()), len(functions))
    report("and a function per handler", sums in done.stdout, done.stdout)
    pages = [os.path.join(d, f) for d, _, files in os.walk(out) for f in files
             if f.endswith(".asm.gcov.html")]
    page = open(pages[0], encoding="utf-8").read() if pages else ""
    report("its page shows the disassembly", "cwrite" in page and "[#jumptbl]" in page)


def test_packet_zero(scratch):
    """A handler has the names of its packets, and a packet whose opcode is 0 is one of them."""
    firmware, out = os.path.join(scratch, "zero.fw"), os.path.join(scratch, "zero.info")
    with open(DEMO, encoding="utf-8") as file:
        text = file.read()
    write(os.path.join(scratch, "zero.afuc"), text.replace(
        "\nCP_WAIT_MEM_WRITES:\n", "\nUNKN0:\nmov $02, $data\nwaitin\nmov $01, $data\n\nCP_WAIT_MEM_WRITES:\n"))
    run(CPSCOPE, "asm", os.path.join(scratch, "zero.afuc"), "-o", firmware)
    table = cover(firmware, out, CAPTURE).stdout
    report("the packet whose opcode is 0 has a name", re.search(r"^ +0 +3 +0 of +0 +\w{4} error_handler, UNKN0$", table, re.M), table)


def test_a5xx(scratch):
    """The code of the file that is named first is counted: the PFP's or the ME's."""
    pfp, me = (a5xx_pair.image(CPSCOPE, os.path.join(scratch, name), name, 5) for name in ("a5xx", "me"))
    stream, info = os.path.join(scratch, "a5.pm4"), os.path.join(scratch, "a5.info")
    write(stream, a5xx_pair.STREAM)
    trace = run(CPSCOPE, "run", "--fw", pfp, "--fw", me, stream, "--events", "step").stdout
    for who, order in (("pfp", (pfp, me)), ("me", (me, pfp))):
        executed = collections.Counter(int(pc, 16) for pc in re.findall(r"^%s STEP (0x\w+)" % who, trace, re.M))
        done = cover(order[0], info, "--fw", order[1], stream)
        counts = {at: count for at, (count, _) in read_counts(info)[0].items()}
        report("a5xx: code of the %s, which is named first" % who, done.returncode == 0 and sum(counts.values()) > 10 and
               counts == {at: executed[at] for at in counts}, (counts, executed))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        test_tiny(scratch)
        test_unreached(scratch)
        test_a5xx(scratch)
        test_packet_zero(scratch)
        test_genhtml(scratch, test_demo(scratch))
    plan()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays of hang dumps that a model of the hardware leaves in the middle of a real capture (tests/hang_scene.py):
the place among packets that look alike, the queues, the banks, and what damage does to them.
Usage: hang_replay.py CPSCOPE"""
import json
import os
import re
import subprocess
import sys
import tempfile

import tap
from hang_scene import Scene

CORPUS = os.environ.get("CPSCOPE_CORPUS", "")
DRAW_END = 0x1d8f140  # the packet behind the draw in an IB2 that is called four times
IN_IB1 = 0x1d91010
IN_GROUP = 0x1123020
WAITS = 0x1d91564  # CP_WAIT_FOR_ME


def fw(name):
    return os.path.join(CORPUS, "firmware", name)


CAPTURE = os.path.join(CORPUS, "captures", "fd-clouds.rd.gz")
OWN, NEAR = "a630_sqe-190.fw", "a630_sqe-187.fw"


class Bench:
    def __init__(self, cpscope, folder):
        self.cpscope, self.folder = cpscope, folder
        self.trace, self.dump = os.path.join(folder, "t"), os.path.join(folder, "scene.devcore")
        self.command("run", "--submit", "0", "--prefetch", "on", "--events", "all", "--fw", fw(OWN), CAPTURE,
                     "-o", self.trace, status=0)

    def command(self, *arguments, status=None):
        done = subprocess.run([self.cpscope, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120)
        assert status is None or done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr)
        return done

    def scene(self, times=2, steps=1, iova=DRAW_END, **more):
        return Scene(self.trace, fw(OWN), CAPTURE, 0, (iova, times, steps), **more)

    def replay(self, scene, firmware=OWN, status=0, without=(), options=()):
        scene.write(self.dump, without)
        return self.command("run", *options, "--fw", fw(firmware), self.dump, "-o", os.devnull, status=status).stdout


def counts(text):
    """Verdicts by group."""
    groups = {}
    for name, rest in re.findall(r"^# ([a-z ]+): (\d+ equal.*)$", text, re.M):
        groups[name] = {verdict: int(count) for count, verdict in re.findall(r"(\d+) ([a-z ]+)", rest)}
    return groups


def nothing_differs(text):
    groups = counts(text)
    assert all(groups[name]["different"] == 0 for name in groups), text
    assert groups["processor"]["equal"] >= 176 and groups["fetched words"]["equal"] > 300, text
    assert groups["queued writes"]["equal"] == 24 and groups["cluster registers"]["equal"] > 380, text


def place_is_found(bench):
    """Four draws have the same three headers and the same IB2: the words of IB1 tell them apart."""
    for times in range(4):
        for steps in (1, 2):
            text = bench.replay(bench.scene(times, steps))
            assert "by headers, queues and program counter; 1 candidate\n" in text, text
            nothing_differs(text)


def in_ib1(bench):
    text = bench.replay(bench.scene(0, 1, IN_IB1, queued=0))
    assert "by headers, queues and program counter; 1 candidate\n" in text, text
    assert counts(text)["in all"]["different"] == 0, text


def in_a_group(bench):
    """A draw-state group that runs four times: the IB1 tells which draw it was."""
    for times in range(4):
        text = bench.replay(bench.scene(times, 1, IN_GROUP), NEAR)
        assert "by headers, queues and program counter; 1 candidate\n" in text, text
        assert counts(text)["in all"]["different"] == 0, text


def without_boot(bench):
    """A ring that has come round: the replay begins behind the last fence that came."""
    text = bench.replay(bench.scene(history=True), NEAR, status=None)
    assert "from dword 104 (the end of the last retired submission) to 108, fence 7 retired, 8 submitted" in text, text
    assert "by headers, queues and program counter; 1 candidate\n" in text, text
    nothing_differs(text)


def near_revision(bench):
    """The firmware is recovered from 1,016 cached words and another revision, and runs to the same place."""
    text = bench.replay(bench.scene(), NEAR)
    assert "firmware of the dump recovered: 1016 words of its own" in text, text
    assert "by headers, queues and program counter; 1 candidate\n" in text, text
    nothing_differs(text)


def revisions(bench):
    """Whichever of three public revisions ran, each of the others is near enough: what was put in or taken out between
    two words that agree is found by trying, with the hardware's registers as the judge."""
    for own in (NEAR, "a680_sqe.fw"):
        trace = os.path.join(bench.folder, "other")
        bench.command("run", "--submit", "0", "--prefetch", "on", "--events", "all", "--fw", fw(own), CAPTURE, "-o", trace,
                      status=0)
        for place in ((DRAW_END, 2, 1), (WAITS, 0, 7)):
            scene = Scene(trace, fw(own), CAPTURE, 0, place)
            for donor in (NEAR, OWN, "a680_sqe.fw"):
                text = bench.replay(scene, donor)
                assert "by headers, queues and program counter; 1 candidate\n" in text, (own, donor, text)
                assert counts(text)["in all"]["different"] == 0, (own, donor, text)
                assert ("recovered" in text) == (own != donor), text


def without_queues(bench):
    """Without CP_ROQ three of the four draws look alike: the first is taken, how many there are is said."""
    text = bench.replay(bench.scene(), status=1, without=("CP_ROQ",))
    assert "program counter; 3 candidates\n" in text, text
    text = bench.replay(bench.scene(), status=1, without=("CP_SQE_STAT",))
    assert "where the hardware stood is not known, nothing is compared" in text and not counts(text)["in all"]["equal"], text


def nowhere(bench):
    """A packet that the replay does not come by is no place, and that is an error."""
    scene = bench.scene()
    scene.model.headers[-1] ^= 0x00100000
    assert "no packet of the replay has the headers" in bench.replay(scene, status=1)


def queues_are_checked(bench):
    """A value that nobody wrote, and a write that is missing from the middle of its queue."""
    scene = bench.scene()
    pipe, offset, value, context = scene.queues["PS"][3]
    scene.queues["PS"][3] = (pipe, offset, value ^ 0x10, context)
    text = bench.replay(scene, status=1)
    assert "PS[3].0x%04x 0x%08x 0x00000000 different: the replay does not write it there" % (
        offset, value ^ 0x10) in text, text
    assert counts(text)["queued writes"]["equal"] == 23, text
    scene = bench.scene()
    gone = scene.queues["PS"].pop(3)
    text = bench.replay(scene, status=1)
    assert re.search(r"^PS\.0x%04x .* different: the queue does not hold it" % gone[1], text, re.M), text
    scene = bench.scene()
    pipe, offset, value, context = scene.queues["PS"][3]
    scene.queues["PS"][3] = (pipe, offset, value, 1 - context)
    assert counts(bench.replay(scene))["queued writes"]["bank"] == 1


def banks_are_checked(bench):
    """One bit of one register of one context; and the value of the other context."""
    def changed(change):
        scene = bench.scene(queued=0)
        text, clusters = [], scene.clusters
        scene.clusters = lambda: change(clusters())
        text = bench.replay(scene, status=None, options=("--all",))
        return text
    first = re.search(r"CLUSTER_GRAS\n    - context: 0\n      - { offset: (0x\w+), value: (0x\w+) }",
                      bench.scene().clusters())
    offset, value = int(first.group(1), 16) // 4, int(first.group(2), 16)
    text = changed(lambda t: t.replace(first.group(0), first.group(0).replace(
        first.group(2), "0x%08x" % (value ^ 1 << 31)), 1))
    assert "GRAS.0x%04x.context0 0x%08x 0x%08x different" % (offset, value ^ 1 << 31, value) in text, text[-3000:]
    assert counts(text)["cluster registers"]["different"] == 1


def damaged_pool(bench):
    """Queues whose blocks or sizes make no sense are not compared, with words and an error."""
    import hang_scene
    whole = hang_scene.pool
    for change, said in (({0x2018 + 5: 7}, "CP_MEMPOOL: the queue of PS has chunks 0xb, expected 0x7"),
                         ({0x2000: 5}, "CP_MEMPOOL: the pool's size is 0x5 blocks, expected 0x80 or 0x30"),
                         ({0x1800 + 7 * 8 + 5: 0xffff, 0x1800 + 5 * 8 + 5: 0x7fffd},
                          "CP_MEMPOOL: the queue of PS has a block 0xffff, expected 0x7f")):
        def pool(queues):
            words = whole(queues)
            for at, value in change.items():
                words[at] = value
            return words
        hang_scene.pool = pool
        try:
            text = bench.replay(bench.scene(), status=1)
        finally:
            hang_scene.pool = whole
        assert said in text and "queued writes" not in counts(text), text


def polls(bench):
    """A processor that waits for a counter to become 0, as one of the public dumps shows it: the counter alone differs,
    and the description names it, the packet, its address, and who has asked for what is not done."""
    scene = bench.scene(0, 7, WAITS)
    scene.model.gpr["$05"] = 1
    text = bench.replay(scene, NEAR, status=1)
    assert counts(text)["in all"]["different"] == 1 and "\n$05 0x00000001 0x00000000 different\n" in text, text
    for options, said in (
            ((), ["hangs at CP_WAIT_FOR_ME (0x70138000), in IB1 at 0x%x. " % WAITS, "SP_PS has not taken 18 register writes, ",
                  "stands at 0x0e02 and polls control register 0x038 WFI_PEND_CTR. ", "No fence of ring 0 has come, 1 "]),
            (("--fw", fw(NEAR)), ["the next is SP_PS_OUTPUT[0].REG of a type-4 write of register 0xa98e SP_PS_OUTPUT[0].REG "
                                  "(0x48a98e08) at 0x1121104, 42 packets ago."])):
        told = " ".join(bench.command("info", *options, bench.dump, status=0).stdout.split())
        assert all(part in told for part in said), told
    row = json.loads(bench.command("info", "--json", bench.dump, status=0).stdout)["files"][0]["hang"]
    assert (row["waits_for"], row["polls"], row["location"]) == ("control", 0x38, WAITS), row
    assert [(queue["part"], queue["writes"]) for queue in row["queues"] if queue["writes"]] == [("SP_PS", 18), ("PS", 6)]


def listing(bench):
    """What the dump holds is listed alone; with a near revision it is a whole image, which assembles to one that runs
    as the dump's own."""
    scene = bench.scene()
    scene.write(bench.dump)
    alone = bench.command("disasm", "--from", bench.dump, status=0).stdout
    assert "CP_WAIT_FOR_IDLE:\n        cwrite $00, [$00 + @WFI_PEND_INCR]" in alone, alone[:3000]
    words = {int(at, 16): word for at, word in re.findall(r"; ([0-9a-f]{4}) ([0-9a-f]{8})$", alone, re.M)}
    assert len(words) == 1016 and all(int(word, 16) == scene.image[at] for at, word in words.items())
    assert re.search(r"^; 0[0-9a-f]{3}\.\.0[0-9a-f]{3}: the dump does not hold it$", alone, re.M), alone[:3000]
    source, image = os.path.join(bench.folder, "own.afuc"), os.path.join(bench.folder, "own.fw")
    bench.command("disasm", "--from", bench.dump, fw(NEAR), "-o", source, status=0)
    text = open(source, encoding="utf-8").read()
    assert len(re.findall(r"  \(donor\)", text)) == 6651, text[:2000]
    assert len(re.findall(r"  \(unknown\)", text)) == 280, text[:2000]
    bench.command("asm", source, "-o", image, status=0)
    ran = bench.command("run", "--fw", image, bench.dump, "-o", os.devnull, status=0).stdout
    assert "firmware is that of the dump" in ran and "recovered" not in ran, ran
    nothing_differs(ran)
    refused = bench.command("disasm", "--from", CAPTURE, status=3)
    assert "this is no hang dump, expected one" in refused.stderr and not refused.stdout, refused


def other_processors(bench):
    """BV and LPAC of a7xx are shown as far as their blocks are known; of the cache, nothing is guessed."""
    scene = bench.scene()
    blocks = {"CP_BV_SQE_STAT_ADDR": [0x123] + scene.status()[1:], "CP_SQE_AC_STAT_ADDR": [0x45] + scene.status()[1:]}
    scene.write(bench.dump, more=blocks)
    text = open(bench.dump, encoding="ascii").read().replace("630 (6.3.0.2)", "740 (7.4.0.1)")
    open(bench.dump, "w", encoding="ascii").write(text)
    told = bench.command("info", bench.dump, status=0).stdout
    for part in ("bv at 0x0123, if its block has the layout of the SQE's", "lpac at 0x0045, if",
                 "the layout of the instruction cache in dumps of this generation is not known"):
        assert part in told, told
    refused = bench.command("run", "--fw", fw(OWN), bench.dump, status=3)
    assert "740" in refused.stderr, refused.stderr


def debugged(bench):
    """The debugger opens where the hardware stood, and goes back from there; so does the adapter for editors."""
    scene = bench.scene(0, 7, WAITS)
    scene.write(bench.dump)
    moves = "info registers\nrpacket\nprint $01\ncontinue\nprint $01\n"
    done = subprocess.run([bench.cpscope, "step", "--fw", fw(NEAR), bench.dump], input=moves, stdout=subprocess.PIPE,
                          text=True, timeout=60, check=False).stdout
    opened, _, rest = done.partition("\n> ")
    assert opened.startswith("where the hardware stood, by headers, queues and program counter; 1 candidate\n"), done
    assert "sqe 0e02" in opened and "=>  0e02 c0a00000" in opened, opened
    assert rest.count("0x70138000 = ") == 1 and "0x70268000 = " in rest, rest

    with subprocess.Popen([bench.cpscope, "step", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as adapter:
        seen = []

        def ask(seq, command, **arguments):
            text = json.dumps({"seq": seq, "type": "request", "command": command, "arguments": arguments}).encode()
            adapter.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
            adapter.stdin.flush()
            while not seen or seen[-1].get("request_seq") != seq:
                length = int(adapter.stdout.readline().split(b":")[1])
                adapter.stdout.readline()
                seen.append(json.loads(adapter.stdout.read(length)))
            assert seen[-1]["success"], seen[-1]
            return seen[-1]["body"]

        def pc(seq):
            frame = ask(seq, "stackTrace", threadId=1)["stackFrames"][0]
            return int(frame["instructionPointerReference"], 16) % 0x10000 // 4
        ask(1, "initialize", adapterID="cpscope")
        ask(2, "launch", fw=fw(NEAR), capture=bench.dump)
        ask(3, "configurationDone")
        assert pc(4) == 0xe02
        ask(5, "stepBack", threadId=1, granularity="instruction")
        assert pc(6) == 0xe01
        adapter.stdin.close()
    said = [message["body"]["output"] for message in seen if message.get("event") == "output"]
    assert "by headers, queues and program counter; 1 candidate" in said[0], said


def reduced(bench):
    """Hangs that wait, in IB1 and in a draw-state group, become jobs of a few packets that come to the same place."""
    for iova, steps, most in ((WAITS, 7, 1), (IN_GROUP, 1, 8)):
        bench.scene(1 if iova == IN_GROUP else 0, steps, iova).write(bench.dump)
        small = os.path.join(bench.folder, "small.pm4")
        said = bench.command("reduce", "--no-cache", "--fw", fw(OWN), bench.dump, "-o", small, status=0).stdout
        packets = re.search(r"^packets +(\d+) +(\d+)$", said, re.M)
        assert packets and int(packets[1]) > 300 and int(packets[2]) <= most, said


def hostile_values(bench):
    """Numbers that cannot be are refused or left out: no access outside, no endless output, no pass."""
    def changed(old, new, scene=None):
        (scene or bench.scene()).write(bench.dump)
        text = open(bench.dump, encoding="ascii").read()
        assert old in text, old
        open(bench.dump, "w", encoding="ascii").write(text.replace(old, new, 1))
    for old, new in (("    size: 32768", "    size: 17179869184"), ("    size: 32768", "    size: 32766"),
                     ("    wptr: 13", "    wptr: 9000")):
        changed(old, new)
        refused = bench.command("run", "--fw", fw(OWN), bench.dump, status=3)
        assert refused.stderr.count("\n") == 1, refused.stderr
        assert "the dump's ring has" in refused.stderr or "contents of 0x400000000 bytes" in refused.stderr, refused.stderr
        assert bench.command("info", bench.dump).returncode in (0, 3)
    for pc in (0xfffffff9, 0xffffffff, 0x7fffffff):
        scene = bench.scene()
        scene.pc = pc
        scene.write(bench.dump)
        told = bench.command("info", bench.dump, status=0).stdout
        assert told.count("the dump does not hold it") == 13, told
        assert "code" in json.loads(bench.command("info", "--json", bench.dump, status=0).stdout)["files"][0]["hang"]
    scene = bench.scene()
    scene.streams()
    scene.regs.update({0x928: 0xfffffffc, 0x929: 0xffffffff, 0x92a: 0x3ff})
    scene.streams = lambda: None
    text = bench.replay(scene, status=None, options=("--all",))
    bench.command("info", bench.dump, status=0)
    assert re.search(r"^ib1.consumed \S+ \S+ (equal|no value)", text, re.M), text


def checked_or_not(bench):
    """What was not compared is no pass: a stream that the dump lacks, a register with a value that nobody wrote."""
    scene = bench.scene()
    for iova in range(0x1121000, 0x1121000 + 95 * 4, 4):
        scene.words.pop(iova)
    text = bench.replay(scene, status=1)
    assert "# 1 streams on the way are not in the dump\n" in text, text
    scene = bench.scene()
    waiting = scene.queues["PS"][0][1]
    scene.regs[waiting] = 0x00abcdef
    clusters = scene.clusters
    scene.clusters = lambda: re.sub(r"      - . offset: 0x%06x.*\n" % (4 * waiting), "", clusters())
    text = bench.replay(scene, status=1)
    assert re.search(r"^0x%04x 0x00abcdef .* different$" % waiting, text, re.M), text
    text = bench.replay(scene, status=None, without=("CP_MEMPOOL",), options=("--all",))
    assert re.search(r"^0x%04x 0x00abcdef .* no value: without the queues" % waiting, text, re.M), text


TESTS = [
    ("a hang is found among four draws that look alike, and more than 900 values are equal", place_is_found),
    ("a hang in IB1 is found", in_ib1),
    ("a hang in a draw-state group is found", in_a_group),
    ("without its boot, a ring is replayed from the last fence", without_boot),
    ("with a near revision the dump's own firmware is recovered and comes to the same place", near_revision),
    ("each of three revisions is recovered with each of the others", revisions),
    ("the dump's own code is listed, with a near revision as an image that runs the same", listing),
    ("other processors are shown as far as their blocks are known", other_processors),
    ("what a processor polls, and who has not done what, is told", polls),
    ("the debugger and the adapter open where the hardware stood, and go back", debugged),
    ("without the queues the first of three places is taken, and said so", without_queues),
    ("a packet that the replay never sees is no place", nowhere),
    ("each entry of the queues is checked, in order, and none is missing", queues_are_checked),
    ("each context of the cluster registers is checked", banks_are_checked),
    ("damaged queues are said to be so", damaged_pool),
    ("hangs that wait are reduced to a few packets, in IB1 and in a draw-state group", reduced),
    ("numbers that cannot be are refused or left out", hostile_values),
    ("what was not compared is no pass", checked_or_not),
]


def needs_corpus():
    raise tap.Skip("CPSCOPE_CORPUS is not set")


def main():
    if not CORPUS:
        tap.run([(name, needs_corpus) for name, _ in TESTS])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder)
        tap.run([(name, lambda test=test: test(bench)) for name, test in TESTS])


main()

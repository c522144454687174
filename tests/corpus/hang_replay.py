#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays of hang dumps that a model of the hardware leaves in the middle of a real capture: the place among packets
that look alike, the queues, the banks, and what damage does to them. Usage: hang_replay.py CPSCOPE"""
import json
import os
import re
import sys
import tempfile

import hang_cases as cases
import tap
from hang_cases import counts, nothing_differs
from hang_scene import Scene

CORPUS = os.environ.get("CPSCOPE_CORPUS", "")
DRAW_END = 0x1d8f140  # the packet behind the draw in an IB2 that is called four times
WAITS = 0x1d91564  # CP_WAIT_FOR_ME


def fw(name):
    return os.path.join(CORPUS, "firmware", name)


CAPTURE = os.path.join(CORPUS, "captures", "fd-clouds.rd.gz")
OWN, NEAR = "a630_sqe-190.fw", "a630_sqe-187.fw"
PLACES = {
    "own": fw(OWN), "near": fw(NEAR), "capture": CAPTURE, "draw_end": DRAW_END, "in_ib1": 0x1d91010, "in_group": 0x1123020,
    "waits": {"iova": WAITS, "steps": 7, "pc": 0xe02, "word": 0xc0a00000, "headers": (0x70138000, 0x70268000)},
    "stream": (0x1121000, 95), "cached": 1016, "alike": 3, "packets": 300,
    "least": {"processor": 176, "fetched words": 301, "cluster registers": 381}}


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
                text = bench.replay(scene, fw(donor))
                assert "matched by packet headers, queues and program counter; 1 match\n" in text, (own, donor, text)
                assert counts(text)["in all"]["different"] == 0, (own, donor, text)
                assert ("recovered" in text) == (own != donor), text


def polls(bench):
    """A processor that waits for a counter to become 0, as one of the public dumps shows it: the counter alone differs,
    and the description names it, the packet, its address, and who has asked for what is not done."""
    scene = bench.scene(0, 7, WAITS)
    scene.model.gpr["$05"] = 1
    text = bench.replay(scene, bench.near, status=1)
    assert counts(text)["in all"]["different"] == 1 and "\n$05 0x00000001 0x00000000 different\n" in text, text
    for options, said in (
            ((), ["hangs at CP_WAIT_FOR_ME (0x70138000), in IB1 at 0x%x. " % WAITS, "SP_PS: 18 register writes pending, ",
                  "At 0x0e02 it polls control register 0x038 WFI_PEND_CTR. ", "Ring 0: no fence has signalled; the last submitted is 1"]),
            (("--fw", bench.near), ["first SP_PS_OUTPUT[0].REG of a type-4 write of register 0xa98e SP_PS_OUTPUT[0].REG "
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
    bench.command("disasm", "--from", bench.dump, bench.near, "-o", source, status=0)
    text = open(source, encoding="utf-8").read()
    assert len(re.findall(r"  \(donor\)", text)) == 6651, text[:2000]
    assert len(re.findall(r"  \(unknown\)", text)) == 280, text[:2000]
    bench.command("asm", source, "-o", image, status=0)
    ran = bench.command("run", "--fw", image, bench.dump, "-o", os.devnull, status=0).stdout
    assert "packet table of the firmware equals the dump's" in ran and "recovered" not in ran, ran
    nothing_differs(bench, ran)
    refused = bench.command("disasm", "--from", CAPTURE, status=3)
    assert "not a hang dump, expected a devcoredump or KGSL snapshot" in refused.stderr and not refused.stdout, refused


TESTS = [
    ("a hang is found among four draws that look alike, and more than 900 values are equal", cases.place_is_found),
    ("a hang in IB1 is found", cases.in_ib1),
    ("a hang in a draw-state group is found", cases.in_a_group),
    ("without its boot, a ring is replayed from the last fence", cases.without_boot),
    ("with a near revision the dump's own firmware is recovered and comes to the same place", cases.near_revision),
    ("each of three revisions is recovered with each of the others", revisions),
    ("the dump's own code is listed, with a near revision as an image that runs the same", listing),
    ("other processors are shown as far as their blocks are known", cases.other_processors),
    ("what a processor polls, and who has not done what, is told", polls),
    ("the debugger and the adapter open where the hardware stood, and go back", cases.debugged),
    ("without the queues the first of three places is taken, and said so", cases.without_queues),
    ("a packet that the replay never sees is no place", cases.nowhere),
    ("each entry of the queues is checked, in order, and none is missing", cases.queues_are_checked),
    ("each context of the cluster registers is checked", cases.banks_are_checked),
    ("damaged queues are said to be so", cases.damaged_pool),
    ("hangs that wait are reduced to a few packets, in IB1 and in a draw-state group", cases.reduced),
    ("numbers that cannot be are refused or left out", cases.hostile_values),
    ("what was not compared is no pass", cases.checked_or_not),
]


def needs_corpus():
    raise tap.Skip("CPSCOPE_CORPUS is not set")


def main():
    if not CORPUS:
        tap.run([(name, needs_corpus) for name, _ in TESTS])
    with tempfile.TemporaryDirectory() as folder:
        bench = cases.Bench(os.path.abspath(sys.argv[1]), folder, PLACES)
        tap.run([(name, lambda test=test: test(bench)) for name, test in TESTS])


main()

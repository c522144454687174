#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fuzz`: the same seed gives the same bytes with any number of jobs, findings are there in their files, and two revisions
that differ are told apart. Usage: fuzz_fw.py CPSCOPE; with CPSCOPE_CORPUS also on real firmware."""
import json
import os
import signal
import subprocess

import machine
import make
import tap
from scene import CORPUS, CPSCOPE, cpscope, path, run
from tree import DEMO



def fuzz(*args, status=(0, 1)):
    done = run("fuzz", *args)
    assert done.returncode in status, (done.returncode, done.stderr)
    return done


def revisions():
    if not os.path.exists(path("new.fw")):
        make.revisions(CPSCOPE, DEMO, os.path.dirname(path("x")), *make.EVENT_CMD)
    return path("old.fw"), path("new.fw")


def tree(folder):
    files = {}
    for root, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                files[os.path.relpath(os.path.join(root, name), folder)] = file.read().replace(folder.encode(), b"DIR")
    return files


def same_bytes():
    old, _ = revisions()
    for jobs in ("1", "3"):
        fuzz("--fw", old, "--execs", "3000", "--seed", "7", "--jobs", jobs, "-o", path("jobs" + jobs))
    one, three = tree(path("jobs1")), tree(path("jobs3"))
    assert one == three and "stats.json" in one and any(name.startswith("corpus/") for name in one), sorted(one)[:5]
    return "%d files" % len(one)


def other_seeds():
    old, _ = revisions()
    said = [json.loads(fuzz("--fw", old, "--execs", "500", "--json", *more).stdout) for more in ([], ["--seed", "2"], ["--shard", "2/2"])]
    assert said[0]["cases"] == 500 and len({json.dumps(s["ways"]) + json.dumps(s["ends"]) for s in said}) == 3, said


def merged():
    old, _ = revisions()
    for i in "12":
        fuzz("--fw", old, "--execs", "600", "--shard", i + "/2", "-o", path("shard" + i))
    ways = [json.load(open(path("shard%s/stats.json" % i)))["ways"] for i in "12"]
    fuzz("--fw", old, "--merge", path("shard1"), path("shard2"), "-o", path("all"))
    assert json.load(open(path("all/stats.json")))["ways"] >= max(ways), ways


def merged_nothing():
    """A folder without a case is what a shard leaves that died: it is named, and nothing is written."""
    old, _ = revisions()
    os.makedirs(path("empty/corpus"), exist_ok=True)
    with open(path("case.pm4"), "w", encoding="utf-8") as file:
        file.write(make.pm4("CP_NOP"))
    for folders in ((path("empty"),), (path("case.pm4"), path("empty")), (path("empty"), path("case.pm4"))):
        done = fuzz("--fw", old, "--merge", *folders, "-o", path("joined"), status=(3,))
        assert done.stderr.startswith("cpscope: %s: holds no case, expected PM4 text" % path("empty")), done.stderr
        assert not done.stdout and not os.path.exists(path("joined/stats.json")), done.stdout
    fuzz("--fw", old, "--merge", path("case.pm4"), status=(0,))
    fuzz("--fw", old, "--execs", "1", path("empty"), status=(0,))
    if os.geteuid():
        os.chmod(path("empty/corpus"), 0)
        assert "cannot list" in fuzz("--fw", old, "--execs", "1", path("empty"), status=(3,)).stderr


def difference():
    old, new = revisions()
    said = json.loads(fuzz("--fw", old, "--fw", new, "--execs", "4000", "--oracles", "difference", "--json", "-o", path("two"), status=(1,)).stdout)
    assert {f["oracle"] for f in said["findings"]} == {"difference"}, said["findings"]
    for finding in said["findings"]:
        name = path("two/findings/" + finding["name"])
        diff = run("diff", "--fw", old, "--fw", new, name + ".pm4")
        assert diff.returncode == 1, diff
        assert os.path.exists(name + ".trace") and os.path.exists(name + ".new.trace")


def interrupted():
    """SIGINT leaves what was found by then, whole; a run that begins with it knows it."""
    old, _ = revisions()
    process = subprocess.Popen([CPSCOPE, "fuzz", "--fw", old, "--time", "300", "-o", path("cut")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    machine.wait_until(lambda: os.path.exists(path("cut/corpus")) and len(os.listdir(path("cut/corpus"))) >= 50, "it keeps nothing")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in said, (process.returncode, said)
    stats = json.load(open(path("cut/stats.json")))
    kept = sorted(os.listdir(path("cut/corpus")))
    assert stats["kept"] == len(kept) >= 50 and all(name.endswith(".pm4") for name in kept), (stats["kept"], len(kept))
    assert {name[:-4] for name in os.listdir(path("cut/findings")) if name.endswith(".pm4")} == \
        {f["name"] for f in stats["findings"]} if stats["findings"] else True
    ways = stats["ways"]
    fuzz("--fw", old, "--execs", str(len(kept) + 500), "-o", path("resumed"), path("cut"))
    stats = json.load(open(path("resumed/stats.json")))
    assert stats["ways"] >= ways and stats["cases"] == len(kept) + 500, (stats["ways"], ways, stats["cases"])


def ending():
    """A revision that refuses what the other executes differs in how runs end."""
    old, _ = revisions()
    folder = os.path.dirname(path("x"))
    with open(DEMO, encoding="utf-8") as file:
        source = file.read()
    event = "\nCP_WAIT_FOR_IDLE:\n"
    assert source.count(event) == 1
    make.firmware(CPSCOPE, os.path.join(folder, "stops"), source.replace(event, event + "        jump #fatal\n        nop\n"))
    with open(path("wait.pm4"), "w", encoding="utf-8") as file:
        file.write(make.pm4("CP_NOP", "CP_WAIT_FOR_IDLE"))
    for pair, wanted in (((old, path("stops.fw")), ["ending"]), ((old, old), [])):
        said = json.loads(fuzz("--fw", pair[0], "--fw", pair[1], "--execs", "1", "--json", path("wait.pm4")).stdout)
        assert [f["oracle"] for f in said["findings"]] == wanted, said["findings"]


def captured():
    """Packets of the submission, and of the buffer that it calls, are in cases of a capture; what is too long for one is counted."""
    old, _ = revisions()
    lines = ["CP_NOP 0x1"] * 200 + ["CP_NOP" + " 0x2" * 300, "CP_INDIRECT_BUFFER @called #called"]
    text = "# cpscope-pm4 1\nbuffer 0x40000000 frame\n%s\nbuffer 0x50000000 called\nCP_WAIT_FOR_IDLE\nCP_NOP 0x3\nsubmit frame\n"
    os.makedirs(path("captures"), exist_ok=True)
    with open(path("long.pm4"), "w", encoding="utf-8") as file:
        file.write(text % "\n".join(lines))
    cpscope("convert", path("long.pm4"), "-o", path("captures/long.rd.zst"))
    for given in ("long.pm4", "captures/long.rd.zst", "captures"):
        said = json.loads(fuzz("--fw", old, "--execs", "1", "--json", "-o", path("of-" + given.replace("/", "-")), path(given)).stdout)
        assert said["seeds"] == {"cases": 3, "words": 2 * 128 + 2 * 72 + 4 + 3, "left": 301, "lost": False}, said["seeds"]
    kept = [open(os.path.join(path("of-captures/corpus"), name), encoding="utf-8").read() for name in os.listdir(path("of-captures/corpus"))]
    assert any("CP_INDIRECT_BUFFER" in text and "CP_WAIT_FOR_IDLE" in text for text in kept), kept
    assert "; 301 words are skipped" in fuzz("--fw", old, "--execs", "1", path("long.pm4")).stdout


def real_captures():
    """All words of packets of real captures are taken, each call and group with what it names."""
    fw = os.path.join(CORPUS, "firmware", "gen70900_sqe-181.fw")
    said = json.loads(fuzz("--fw", fw, "--execs", "1", "--json", os.path.join(CORPUS, "captures", "mesa-26.2")).stdout)
    seeds = said["seeds"]
    assert seeds["cases"] > 3000 and seeds["words"] > 200000 and not seeds["left"] and not seeds["lost"], seeds
    one = os.path.join(CORPUS, "captures", "mesa-26.2", "vkt-draw-a750.rd.gz")
    fuzz("--fw", fw, "--execs", "1", "-o", path("draw"), one)
    texts = [open(os.path.join(path("draw/corpus"), name), encoding="utf-8").read() for name in os.listdir(path("draw/corpus"))]
    assert any("CP_SET_DRAW_STATE" in text and "CP_DRAW_INDX_OFFSET" in text for text in texts)
    return "%d cases, %d words" % (seeds["cases"], seeds["words"])


def coverage():
    old, _ = revisions()
    fuzz("--fw", old, "--execs", "500", "-o", path("cover"))
    done = run("cover", "--fw", old, "--counts", path("cover/coverage.info"))
    assert done.returncode == 0 and done.stdout, done


def refused():
    old, _ = revisions()
    for args in (["--fw", old], ["--execs", "1"], ["--fw", old, "--execs", "1", "--oracles", "nothing"], ["--fw", old, "--merge"],
                 ["--fw", old, "--execs", "1", "--shard", "3/2"]):
        assert fuzz(*args, status=(2,)).stderr.count("\n") == 1, args
    assert fuzz("--fw", old, "--execs", "1", path("none"), status=(3,)).stderr.count("\n") == 1


KIND = {"page-table", "secure-mode", "protected", "privileged", "unprotected"}


def real(version, wanted):
    def case():
        fw = os.path.join(CORPUS, "firmware", "gen70900_sqe-%d.fw" % version)
        said = json.loads(fuzz("--fw", fw, "--execs", "60000", "--oracles", ",".join(sorted(KIND | {"exposed"})), "--json").stdout)
        found = {f["oracle"] for f in said["findings"]} & KIND
        # Function 7 of CP_SCOPE_CNTL writes this register of BV on every level: its purpose, also where a group's end cuts the packet.
        scope = {f["oracle"] for f in said["findings"] if "CP_SCOPE_CNTL" in f["said"] and "register 0x0725" in f["said"]}
        assert wanted or scope == {"exposed"}, said["findings"]
        assert {"page-table", "unprotected"} <= found if wanted else not found, said["findings"]
        return ", ".join(sorted(found)) or "none"
    return case


def flaw_with_any_seed(name):
    """CVE-2025-21479: groups at level sds are obeyed as the ring is."""
    def case():
        for seed in range(1, 11):
            said = json.loads(fuzz("--fw", os.path.join(CORPUS, "firmware", name), "--execs", "20000", "--seed", str(seed),
                                   "--oracles", "page-table", "--json").stdout)
            assert any("CP_SMMU_TABLE_UPDATE at level sds" in f["said"] for f in said["findings"]), (seed, said["findings"])
    return case


def scope():
    """CP_SCOPE_CNTL: bits 31:28 of its first word are the function; 7 stores the second word in 0x724 (BR) and 0x725 (BV), on every level.
    A group's end that cuts the packet gives 0x708a8000 as the first word: 7."""
    with open(path("scope.pm4"), "w", encoding="utf-8") as file:
        file.write("""# cpscope-pm4 1
chip 0x43050a01
buffer 0x10000000 frame
CP_SCOPE_CNTL 0x70000000 0x1234 0x0
CP_SET_DRAW_STATE 0x00700005 @whole 0x01700001 @cut 0x02700002 @next
CP_DRAW_INDX_OFFSET 0x0 0x5 0x0 0x0 0x0 0x0 0x0
buffer 0x10000c00 whole
CP_SCOPE_CNTL 0x70000000 0x5678 0x0
CP_NOP
buffer 0x10000d00 cut
.word 0x70ec8003
buffer 0x10000e00 next
CP_NOP 0x1
submit frame
""")
    for version in 175, 177, 181:
        fw = os.path.join(CORPUS, "firmware", "gen70900_sqe-%d.fw" % version)
        lines = run("run", "--fw", fw, path("scope.pm4"), "-o", "-", "-t", "text", "-e", "reg").stdout.splitlines()
        for start in "sqe REG 0x0724 ", "bv REG 0x0725 ":
            assert [int(line.split()[3], 16) for line in lines if line.startswith(start)] == [0x1234, 0x5678, 0x70100001], (version, lines)


cases = [
    ("one seed, the same bytes with any number of jobs", same_bytes),
    ("other seeds and shards are other cases", other_seeds),
    ("merged corpora reach what each of them reaches", merged),
    ("a merge of a folder without a case is an error", merged_nothing),
    ("two revisions are told apart, and the files show it", difference),
    ("two revisions that end differently are told apart", ending),
    ("an interrupt leaves what was found, and another run goes on", interrupted),
    ("captures are cut into cases, and what no case has room for is counted", captured),
    ("coverage is read by cover --counts", coverage),
    ("what cannot be done is refused in a line", refused)]
if CORPUS:
    cases += [("real captures are taken whole", real_captures),
              ("the privileged write is found on gen70900_sqe-177", real(177, True)),
              ("nothing of the kind is on gen70900_sqe-181", real(181, False)),
              ("CP_SCOPE_CNTL of gen70900 writes one register on every level", scope),
              ("any seed finds the flaw of gen80000_sqe-070 in 20,000 cases", flaw_with_any_seed("gen80000_sqe-070.fw")),
              ("any seed finds the flaw of gen71700_sqe-179 in 20,000 cases", flaw_with_any_seed("gen71700_sqe-179.fw"))]
tap.run(cases)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attacks on the promise of status 0: results that get lost, hidden, forged or believed.
Usage: results.py CPSCOPE"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess

import scene
import machine
import make
import tap
from scene import MANIFEST


def full_temporary_folder(s):
    """a full temporary folder loses no result of regress"""
    s.matrix()
    machine.need_mounts()
    shutil.copy(scene.CPSCOPE, s.path("cpscope"))  # which may lie in /tmp itself
    script = ("mount -t tmpfs -o size=8k none /tmp && head -c 8192 /dev/zero >/tmp/full; "
              "exec ./cpscope regress manifest --no-cache --jobs 2")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=s.folder.name, capture_output=True, text=True)
    assert re.match("6 pass, .*0 differ", done.stdout) and done.returncode == 0, (done.stdout, done.stderr)


def many_words(s):
    """a manifest's line of 100 captures has 100, and what stands at its end counts"""
    s.matrix(100)
    words = " ".join("c%d.pm4" % i for i in range(100))
    s.path("manifest", MANIFEST + "firmware a a.fw\ncapture %s expect=fault\n" % words)
    done = s.ok("regress", "manifest", "--no-cache", status=4)
    assert "0 pass, 0 differ, 100 stopped" in done.stdout, done.stdout


def two_of_a_name(s):
    """two firmwares of one name, or two expectations of one capture, are refused"""
    s.matrix()
    s.path("twice", MANIFEST + "firmware a a.fw\nfirmware a missing.fw\ncapture c*.pm4\n")
    s.refused("regress", "twice", "--no-cache", said="twice:3: firmware a is in line 2")
    s.path("expects", MANIFEST + "firmware a a.fw\ncapture c0.pm4 expect=done\ncapture c*.pm4 expect=fault\n")
    s.refused("regress", "expects", "--no-cache", said="expects:4: capture c0.pm4 is in line 3")


def missed_read(s):
    """a read that is not as its run file expects fails in regress and check"""
    s.path("r.run", "# cpscope-script 1\nengine pfifo\nchip nv1\nread PFIFO_INTR 0x12345678\n")
    s.ok("run", "--engine", "pfifo", "r.run", "-o", "r.trace", status=1)
    s.path("manifest", MANIFEST + "firmware g pfifo:nv1\ncapture r.run\n")
    s.ok("regress", "manifest", status=1)
    s.ok("check", "r.trace", status=1)


def damaged(s):
    """results that lack a pair, have another, a null or an unknown status are not merged"""
    s.matrix()
    s.ok("regress", "manifest", "--no-cache", "-o", "good")
    good = json.loads(s.read("good/results.json"))

    def refuse(change):
        bad = json.loads(json.dumps(good))
        change(bad)
        s.path("bad/results.json", json.dumps(bad))
        s.refused("regress", "--merge", "bad")
    refuse(lambda r: r["pairs"].pop())
    refuse(lambda r: r["pairs"].clear())
    refuse(lambda r: r["pairs"].append(None))
    refuse(lambda r: r["pairs"][0].update(status="fine"))
    refuse(lambda r: r["pairs"][0].update(status="<meta http-equiv=refresh content='0;url=//x'>"))
    refuse(lambda r: r["pairs"][0].update(capture="c9.pm4"))
    refuse(lambda r: r["pairs"][0].update(status=["pass"]))
    refuse(lambda r: r.update(code=[], coverage={"a": [3]}))
    refuse(lambda r: r.update(coverage={"a": {"x": "y"}}))
    refuse(lambda r: r.update(firmware="a"))
    refuse(lambda r: r.update(inputs={}))
    refuse(lambda r: r["inputs"].pop("limit"))
    refuse(lambda r: r["inputs"].pop("firmware a"))
    refuse(lambda r: r["inputs"].update(mask=3))
    refuse(lambda r: r.update(places={"p": 1}))
    s.path("bad/results.json", b'{"cpscope-results":4,"firmware":["\xff"]}')
    s.refused("regress", "--merge", "bad")
    s.ok("regress", "--merge", "good")


def hostile_page(s):
    """texts of results are text in the page, whatever they hold"""
    s.matrix()
    s.ok("regress", "manifest", "--no-cache", "-o", "good")
    nasty = "\"'><script>alert(1)</script><meta http-equiv=refresh>"
    results = json.loads(s.read("good/results.json"))
    results["coverage"]["a"][0]["handler"] = nasty
    s.path("bad/results.json", json.dumps(results))
    s.ok("regress", "--merge", "bad", "-o", "page")
    page = s.read("page/index.html").decode()
    assert "<script" not in page and "refresh>" not in page and "&lt;script&gt;" in page


def other_inputs(s):
    """shards of other settings, or of other contents under the same names, are not merged"""
    s.matrix(5)
    usual = s.read("manifest").decode() + "events reg,memw\nlimit 1M\n"
    golden = usual.replace("baseline a", "golden g")
    s.path("rnn/adreno_pm4.xml", "<database/>")
    for i in range(5):
        s.ok("run", "--fw", "a.fw", "c%d.pm4" % i, "-o", "out.cpt")
        for side in "ab":
            s.path("g/%s/c%d.pm4.cpt" % (side, i), s.read("out.cpt"))

    def shard(number, text=usual, *more, status=0):
        s.path("manifest", text)
        s.ok("regress", "manifest", "--no-cache", "--shard", "%d/2" % number, "-o", "s%d" % number, *more, status=status)

    def refused(what, last=2):
        s.refused("regress", "--merge", "s%d" % (3 - last), "s%d" % last, "-o", "out", said="s%d/results.json: %s" % (last, what))
        assert "out" not in s.names()

    def changed(what, text=usual, *more, status=0):
        for number in (1, 2):
            shard(number, text, *more, status=status)
            refused(what, number)
            shard(number)
            s.ok("regress", "--merge", "s1", "s2")

    def replaced(what, name, content, text=usual):
        """A file that is another one while the second shard runs."""
        whole = s.read(name)
        s.path(name, content)
        shard(2, text, status=None)
        s.path(name, whole)
        refused("another " + what)

    shard(1)
    shard(2)
    for key, value in (("events", "reg"), ("mask", "reg:0x8801"), ("policy", "waits=stop"), ("limit", "2M")):
        changed("found %s %s, expected " % (key, value if key != "limit" else "2000000"),
                "".join(line + "\n" for line in usual.splitlines() if not line.startswith(key)) + "%s %s\n" % (key, value))
    changed("found baseline b, expected a ", usual.replace("baseline a", "baseline b"))
    changed("found baseline none, expected a ", golden)
    changed("found names ", usual, "--rnn", "rnn", status=None)
    changed("another capture c2.pm4", usual.replace("c*.pm4", "c[0134].pm4\ncapture c2.pm4 expect=limit"), status=None)
    for i in range(5):  # of whichever shard its pairs are
        replaced("capture c%d.pm4" % i, "c%d.pm4" % i, make.pm4("reg 0x8800 0x99"))
    replaced("firmware b", "b.fw", s.read("a.fw"))
    shard(1, golden)
    shard(2, golden)
    s.ok("regress", "--merge", "s1", "s2")
    for i in range(5):
        replaced("golden a/c%d.pm4" % i, "g/a/c%d.pm4.cpt" % i, s.read("g/a/c%d.pm4.cpt" % ((i + 1) % 5)), golden)


def shards(s):
    """a shard is I/N and nothing else"""
    s.matrix()
    for text in ("1/3x", "1/99999999999", "0/3", "4/3", "1/", "x"):
        s.refused("regress", "manifest", "--no-cache", "--shard", text, said="--shard")
    s.refused("regress", "manifest", "--no-cache", env={"TEST_TOTAL_SHARDS": "3x", "TEST_SHARD_INDEX": "1"})


def long_tags_and_nul(s):
    """tags are compared to their end, and a NUL hides nothing"""
    s.matrix()
    long = "x" * 200
    s.path("tags", MANIFEST + "firmware a a.fw tags=%sa\nfirmware b b.fw tags=%sb\ncapture c0.pm4 tags=%sa\ncapture c1.pm4 tags=%sb\n" % (
        (long,) * 4))
    done = s.ok("regress", "tags", "--no-cache")
    assert "2 pass" in done.stdout, done.stdout
    s.path("nul", (MANIFEST + "firmware a a.fw\ncapture c0.pm4\n\0capture missing.pm4\n").encode())
    s.refused("regress", "nul", said="nul:4: found a byte 0x00")


def update_keeps_the_form(s):
    """check --update keeps a binary golden binary, whatever it is called"""
    s.firmware("a")
    s.path("c.pm4", make.pm4("reg 0x8800 0x1"))
    s.ok("run", "--fw", "a.fw", "c.pm4", "-o", "g.cpt")
    os.rename(s.path("g.cpt"), s.path("golden"))
    data = bytearray(s.read("golden"))
    text = s.ok("convert", "golden").stdout
    changed = text.replace("REG 0x8800 0x00000001", "REG 0x8800 0x00000002")
    assert changed != text and data[:7] == b"CPTRACE"
    s.path("other.trace", changed)
    s.ok("convert", "other.trace", "-o", "g.cpt")
    os.rename(s.path("g.cpt"), s.path("golden"))
    s.ok("check", "--update", "golden")
    assert s.read("golden")[:7] == b"CPTRACE"
    s.ok("check", "golden")


def entries(s):
    return sorted(glob.glob(s.path("kept/*/*.cpt")))


def swapped_entry(s):
    """a cache entry that is another's is no result"""
    s.matrix()
    cached = ("regress", "manifest", "--cache", "kept")
    s.ok(*cached, "-o", "first")
    files = entries(s)
    for i, name in enumerate(files):
        shutil.copy(files[(i + 1) % len(files)], name + ".new")
    for name in files:
        os.rename(name + ".new", name)
    done = s.ok(*cached, "-o", "second")
    assert done.stderr.startswith("6 runs emulated, 0 from the cache"), done.stderr
    assert s.read("first/results.json") == s.read("second/results.json")


def names_in_the_cache(s):
    """what the cache keeps depends on all that it says: names of --rnn by contents, and how the capture's file is called"""
    s.matrix(0)
    s.path("c0.pm4", make.pm4(make.EVENT))
    s.path("more/other.pm4", make.pm4(make.EVENT))
    s.path("manifest", MANIFEST + "firmware a a.fw\nfirmware b b.fw\nbaseline a\ncapture c0.pm4 more/other.pm4\n")
    xml = ('<database xmlns="http://nouveau.freedesktop.org/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
           '<enum name="adreno_pm4_type3_packets"><value name="%s" value="70"/></enum></database>')
    reports = ("results.json", "results.xml", "results.tap", "index.html")
    seen = set()
    for name in (None, "CP_FIRST", "CP_SECOND", "CP_FIRST"):
        more = ("--rnn", "rnn") if name else ()
        if name:
            s.path("rnn/adreno/adreno_pm4.xml", xml % name)
        done = s.ok("regress", "manifest", "--no-cache", "-o", "made", *more, status=None)
        if "expat" in done.stderr:
            raise tap.Skip("built without expat")
        for _ in range(2):
            s.ok("regress", "manifest", "--cache", "kept", "-o", "kept-report", *more, status=1)
            for report in reports:
                assert s.read("made/" + report) == s.read("kept-report/" + report), (name, report)
        causes = [pair["causes"][0] for pair in json.loads(s.read("made/results.json"))["pairs"] if pair["firmware"] == "b"]
        assert " of c0.pm4" in causes[0]["why_old"] and " of other.pm4" in causes[1]["why_old"], causes
        assert (name or "CP_EVENT_WRITE") in causes[0]["why_old"], causes[0]["why_old"]
        seen.add(causes[0]["why_old"])
    assert len(seen) == 3


def other_program(s):
    """another build of the program does not believe the results of this one"""
    s.matrix()
    s.ok("regress", "manifest", "--cache", "kept")
    shutil.copy(scene.CPSCOPE, s.path("other"))
    with open(s.path("other"), "ab") as file:
        file.write(b"\0")
    done = subprocess.run([s.path("other"), "regress", "manifest", "--cache", "kept"], cwd=s.folder.name,
                          capture_output=True, text=True)
    assert done.stderr.startswith("6 runs emulated, 0 from the cache"), done.stderr


def fifo_as_entry(s):
    """a FIFO as a cache entry holds nobody up"""
    s.matrix()
    s.ok("regress", "manifest", "--cache", "kept")
    for name in entries(s):
        os.unlink(name)
        os.mkfifo(name)
    assert "6 pass" in s.ok("regress", "manifest", "--cache", "kept").stdout


def stop_request(s):
    """a request to stop reaches a worker in the middle of a capture, and nothing is left running"""
    s.firmware("e", scene.ENDLESS)
    s.path("c.pm4", make.pm4("CP_NOP 0x1"))
    s.path("manifest", MANIFEST + "firmware e e.fw\ncapture c.pm4\nlimit 4000G\n")
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
        process = subprocess.Popen([scene.CPSCOPE, "regress", "manifest", "--no-cache"], cwd=s.folder.name,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        worker = machine.first_child(process)
        machine.wait_until(lambda: machine.has_open(worker, s.path("c.pm4")) or machine.cpu_seconds(worker) > 0.05, "the worker does not run")
        process.send_signal(number)
        assert process.wait(timeout=machine.PATIENCE) == status, process.returncode
        machine.wait_until(lambda: machine.is_gone(worker), "the worker goes on")


def last_words(s):
    """how a worker died, and what it said last, is the reason of its pair"""
    s.matrix(1)
    os.unlink(s.path("c0.pm4"))
    os.mkfifo(s.path("c0.pm4"))
    process = subprocess.Popen([scene.CPSCOPE, "regress", "manifest", "--no-cache"], cwd=s.folder.name,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    writer = machine.open_writer(s.path("c0.pm4"))
    os.kill(machine.first_child(process), signal.SIGKILL)
    out, _ = process.communicate(timeout=machine.PATIENCE)
    os.close(writer)
    assert process.returncode == 4 and "died: signal 9 (Killed)" in out, (process.returncode, out)


def dead_before_the_first(s):
    """a worker that dies before it takes a capture leaves none without a word, and is not replaced for ever"""
    if not os.path.exists("/proc/thread-self/children"):
        raise tap.Skip("/proc does not tell whose children processes are")
    s.matrix()
    os.mkdir(s.path("rnn"))
    names = s.path("rnn/adreno_common.xml")
    os.mkfifo(names)  # where a worker waits before it begins
    process = subprocess.Popen([scene.CPSCOPE, "regress", "manifest", "--no-cache", "--jobs", "1", "--rnn", "rnn"],
                               cwd=s.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    worker = machine.first_child(process)
    if not worker:
        err = process.stderr.read()
        assert "expat" in err, err
        raise tap.Skip("built without expat")
    os.kill(worker, signal.SIGSTOP)
    os.rename(names, names + ".away")  # another worker would not wait
    os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4 and out.count("no process was left to run it") == 6, (process.returncode, out, err)
    assert out.count("died: signal 9 (Killed)") == 6 and "0 pass, 0 differ, 6 stopped, 0 skipped" in out, out


# Captures in which nothing is executed: a submission whose buffer is not captured, and no submission.
NOTHING = {"gone.rd": make.capture(make.type7(0x10, 1), stream=0xdead000), "none.pm4": make.pm4("CP_NOP 0x1").replace("submit frame\n", "")}


def pairs_without_a_run(s):
    """a pair in which nothing was executed is no pass, with a baseline, a golden or alone, from the cache, too"""
    s.matrix(0)
    for name, content in NOTHING.items():
        s.path(name, content)
        for side in "ab":
            s.ok("run", "--fw", "a.fw", name, "-o", s.path(side + name + ".cpt"), status=None)
            if os.path.exists(s.path(side + name + ".cpt")):
                os.makedirs(s.path("g/" + side), exist_ok=True)
                os.rename(s.path(side + name + ".cpt"), s.path("g/%s/%s.cpt" % (side, name)))
        for lines in ("", "baseline a\n", "golden g\n"):
            s.path("manifest", MANIFEST + "firmware a a.fw\nfirmware b b.fw\ncapture %s\n%s" % (name, lines))
            for cache in (("--no-cache",), ("--cache", "kept"), ("--cache", "kept")):
                done = s.ok("regress", "manifest", *cache, "-o", "out", status=4)
                assert "0 pass, 0 differ, 2 stopped" in done.stdout, (name, done.stdout)
            said = [pair["reason"] for pair in json.loads(s.read("out/results.json"))["pairs"]]
            expected = "submissions" if name == "gone.rd" else "nothing was executed"
            if lines != "golden g\n":
                assert all("nothing was executed" in text and expected in text for text in said), said
                assert s.read("out/results.xml").count(b"<error ") == s.read("out/results.tap").count(b"\nnot ok ") == 2
    s.path("alone", MANIFEST + "firmware a a.fw\ncapture gone.rd\n")
    assert "1 of 1 submissions not captured" in s.ok("regress", "alone", "--no-cache", status=4).stdout


def partly_captured(s):
    """a pair names the submissions and indirect buffers that its capture lacks, in every report"""
    s.matrix(0)
    nop = make.type7(0x10, 1)
    s.path("part.rd", make.capture(nop) + make.submit(0xdead000, 2) + make.submit(0x100000, len(nop)))
    s.path("ib.pm4", make.pm4("CP_INDIRECT_BUFFER 0xdead000 0x0 0x4", "CP_NOP 0x1"))
    s.path("whole.pm4", make.pm4("CP_NOP 0x1"))
    s.path("manifest", MANIFEST + "firmware a a.fw\nfirmware b b.fw\nbaseline a\ncapture *.rd *.pm4\n")
    for cache in (("--no-cache",), ("--cache", "kept"), ("--cache", "kept")):
        done = s.ok("regress", "manifest", *cache, "-o", "out")
        assert "6 pass, 0 differ" in done.stdout, done.stdout
        for text in ("part.rd: 1 of 3 submissions not captured\n", "ib.pm4: 1 indirect buffer missing from the capture\n"):
            assert done.stdout.count("pass     a  " + text) == done.stdout.count("pass     b  " + text) == 1, done.stdout
        for name in ("results.json", "results.xml", "results.tap", "index.html"):
            assert s.read("out/" + name).count(b"1 of 3 submissions not captured") == 2, name
        assert "whole.pm4" not in done.stdout, done.stdout


def uncompared(s):
    """a pair that its baseline could not be compared with says so"""
    corpus = os.environ.get("CPSCOPE_CORPUS")
    if not corpus:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    s.matrix(1)
    s.path("c1.pm4", make.pm4("CP_NOP 0x1", gpu=740))
    s.path("manifest", s.read("manifest").decode() + "firmware c %s/firmware/a740_sqe.fw\n" % corpus)
    done = s.ok("regress", "manifest", "--no-cache", "-o", "out", status=4)
    assert done.stdout.count("pass     c  c1.pm4: not compared: the baseline is of another generation\n") == 1, done.stdout
    assert "3 pass, 0 differ, 0 stopped, 3 skipped" in done.stdout and done.stdout.count("not compared") == 1, done.stdout


def same_early_end(s):
    """what stops early where its baseline does is no pass, unless that is expected"""
    s.firmware("a", scene.ENDLESS)
    s.firmware("b", scene.ENDLESS.replace("0x1\n", "0x2\n", 1))
    s.path("c.pm4", make.pm4("CP_NOP 0x1"))
    for expect, status in (("", 4), (" expect=fault", 4), (" expect=limit", 4)):
        s.path("manifest", MANIFEST + "firmware a a.fw\nfirmware b b.fw\nfirmware c a.fw\nbaseline a\ncapture c.pm4%s\n"
               "limit 10k\nevents reg\n" % expect)
        for cache in ("--no-cache", "--cache=kept", "--cache=kept"):
            done = s.ok("regress", "manifest", cache, status=status)
            assert "0 pass, 0 differ, 3 stopped" in done.stdout, done.stdout
            if "limit" not in expect:
                assert done.stdout.count("; the baseline ends the same way") == 2, done.stdout


def instructions(s):
    """results have the instructions of each pair, as run counts them"""
    s.matrix()
    s.ok("regress", "manifest", "--cache", "kept", "-o", "out")
    s.ok("regress", "manifest", "--cache", "kept", "-o", "warm")
    for pair in json.loads(s.read("out/results.json"))["pairs"]:
        end = s.ok("run", "--fw", pair["firmware"] + ".fw", pair["capture"]).stdout.splitlines()[-1]
        assert end == "END done %d %d" % (pair["packets"], pair["instructions"]), (end, pair)
    assert s.read("out/results.json") == s.read("warm/results.json")


def only_skipped(s):
    """a run that compared nothing is no pass, in no report"""
    s.firmware("a")
    s.path("c.pm4", make.pm4("CP_NOP 0x1", gpu=740))
    s.path("manifest", MANIFEST + "firmware a a.fw\ncapture c.pm4\n")
    done = s.ok("regress", "manifest", "--no-cache", "-o", "out", status=3)
    assert "nothing was checked" in done.stderr, done.stderr
    assert b"\nBail out! nothing was checked: " in s.read("out/results.tap") and b"nothing was checked" in s.read("out/index.html")
    assert b' errors="1" ' in s.read("out/results.xml") and b'<error message="nothing was checked' in s.read("out/results.xml")
    assert json.loads(s.read("out/results.json"))["exit"] == 3


def some_skipped(s):
    """a pair that is skipped is in the status; tags= keep it out of the matrix"""
    s.firmware("a")
    s.path("c0.pm4", make.pm4("CP_NOP 0x1"))
    s.path("c1.pm4", make.pm4("CP_NOP 0x1", gpu=740))
    s.path("manifest", MANIFEST + "firmware a a.fw\ncapture c*.pm4\n")
    done = s.ok("regress", "manifest", "--no-cache", "-o", "out", status=4)
    assert "1 pass, 0 differ, 0 stopped, 1 skipped" in done.stdout and json.loads(s.read("out/results.json"))["exit"] == 4, done.stdout
    s.ok("regress", "--merge", "out", "-o", "merged", status=4)
    s.path("manifest", MANIFEST + "firmware a a.fw\ncapture c0.pm4\n")
    s.ok("regress", "manifest", "--no-cache")


def empty_shard(s):
    """a shard without a pair has checked nothing, and says so in every report; the merge needs it"""
    s.matrix(1)
    for i in range(1, 9):
        done = s.ok("regress", "manifest", "--no-cache", "--shard", "%d/8" % i, "-o", "out%d" % i, status=(0, 4))
        why = "nothing was checked: shard %d/8 has no pair of firmware and capture" % i
        empty = not json.loads(s.read("out%d/results.json" % i))["pairs"]
        assert (done.returncode == 4) == (why in done.stderr) == empty, (i, done.stderr)
        assert empty == ("Bail out! " + why in s.read("out%d/results.tap" % i).decode())
        assert empty == (b' errors="1" ' in s.read("out%d/results.xml" % i))
    s.ok("regress", "--merge", *("out%d" % i for i in range(1, 9)), "-o", "merged")


def refused_inputs(s):
    """a manifest, or a merge, that is refused leaves no report of the run before"""
    s.matrix(1)
    s.ok("regress", "manifest", "--no-cache", "-o", "report")
    s.path("bad", MANIFEST + "nonsense\n")
    s.refused("regress", "bad", "--no-cache", "-o", "report", said="bad:2")
    assert s.names("report") == [], s.names("report")
    s.ok("regress", "manifest", "--no-cache", "-o", "whole")
    s.ok("regress", "--merge", "whole", "-o", "report")
    s.refused("regress", "--merge", "whole", "absent", "-o", "whole", said="absent/results.json")
    assert "results.json" in s.names("whole"), "an input of the merge"
    s.refused("regress", "--merge", "whole", "absent", "-o", "report", said="absent/results.json")
    assert s.names("report") == [], s.names("report")


def boots_of_the_gpu(s):
    """a pair boots with the registers of its capture's GPU, as run does"""
    with open(scene.DEMO, encoding="utf-8") as file:
        source = file.read()
    at = "        mov $17, 0x0\n"
    assert source.count(at) == 1
    s.firmware("a", source.replace(at, at + """        mov $02, 0x1
        cwrite $02, [$00 + @REG_READ_DWORDS]
        mov $05, 0x8c2
        cwrite $05, [$00 + @REG_READ_ADDR]
        mov $addr, 0x9801
        mov $data, $regdata
"""))
    for gpu, value in ((630, "010000c0"), (650, "02000140")):
        s.path("g%d.pm4" % gpu, make.pm4("CP_NOP 0x1", gpu=gpu))
        os.makedirs(s.path("goldens/a"), exist_ok=True)
        s.ok("run", "--fw", "a.fw", "g%d.pm4" % gpu, "-o", "goldens/a/g%d.pm4.cpt" % gpu)
        assert "REG 0x9801 0x%s" % value in s.ok("run", "--fw", "a.fw", "g%d.pm4" % gpu).stdout, value
    s.path("manifest", MANIFEST + "firmware a a.fw\ngolden goldens\ncapture g*.pm4\n")
    s.ok("regress", "manifest", "--no-cache")


def stale_report(s):
    """a run that fails leaves no report of the run before"""
    s.matrix()
    s.ok("regress", "manifest", "--no-cache", "-o", "report")
    os.mkfifo(s.path("c9.pm4"))
    process = subprocess.Popen([scene.CPSCOPE, "regress", "manifest", "--no-cache", "-o", "report"], cwd=s.folder.name,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writer = machine.open_writer(s.path("c9.pm4"))
    process.kill()
    process.wait()
    os.close(writer)
    assert s.names("report") == [], s.names("report")


def one_folder(s):
    """two runs into one folder at once: the second one is refused, and the report is the first one's alone"""
    s.matrix()
    s.ok("regress", "manifest", "--no-cache", "-o", "other")
    os.mkfifo(s.path("c9.pm4"))
    process = subprocess.Popen([scene.CPSCOPE, "regress", "manifest", "--no-cache", "-o", "report"], cwd=s.folder.name,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pipe = os.open(s.path("c9.pm4"), os.O_WRONLY)  # it has begun: a worker reads this one
    s.path("second", s.read("manifest").decode().replace("c*", "c0"))
    for args in (("second", "--no-cache"), ("--merge", "other")):
        s.refused("regress", *args, "-o", "report", said="report: another regress is writing results here")
    s.ok("regress", "second", "--no-cache", "-o", "elsewhere")
    os.close(pipe)
    assert process.wait(timeout=60) == 4
    pairs = json.loads(s.read("report/results.json"))["pairs"]
    assert {pair["capture"] for pair in pairs} == {"c0.pm4", "c1.pm4", "c2.pm4", "c9.pm4"}, pairs
    assert s.read("report/results.xml").count(b"<testcase") == s.read("report/results.tap").count(b"ok ") == 8
    s.ok("regress", "second", "--no-cache", "-o", "report")
    assert s.read("report/results.xml").count(b"<testcase") == 2
    os.remove(s.path("report/results.xml"))
    os.mkdir(s.path("report/results.xml"))  # a merge, too, removes first what was there, and is not whole without all of it
    s.refused("regress", "--merge", "other", "-o", "report", said="report/results.xml: cannot remove: Is a directory")
    assert "results.json" not in s.names("report")


def names_are_text(s):
    """results are UTF-8, TAP and XML, whatever firmware and captures are called"""
    s.matrix(1)
    s.path(b"\xff\x1b[31m#.pm4", make.pm4("CP_NOP 0x1"))
    s.path("manifest", MANIFEST.encode() + b"firmware \xff\x1b[2J a.fw\ncapture *.pm4\n")
    done = s.ok("regress", "manifest", "--no-cache", "-o", "out")
    for name in ("results.json", "results.tap", "results.xml", "index.html"):
        text = s.read("out/" + name).decode("utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text), name
    assert "\x1b" not in done.stdout + done.stderr
    json.loads(s.read("out/results.json"))


scene.each_in_its_scene([full_temporary_folder, many_words, two_of_a_name, missed_read, damaged, other_inputs, hostile_page, shards,
           long_tags_and_nul, update_keeps_the_form, swapped_entry, names_in_the_cache, other_program, fifo_as_entry, stop_request,
           last_words, dead_before_the_first, pairs_without_a_run, partly_captured, uncompared, same_early_end, instructions,
           only_skipped, some_skipped, empty_shard, refused_inputs, boots_of_the_gpu, stale_report, one_folder, names_are_text])

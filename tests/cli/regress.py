#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""1,000 generated captures on two revisions of a firmware: the same bytes come out whatever the number
of processes and shards, and whatever was interrupted. Usage: regress.py CPSCOPE"""
import errno
import filecmp
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree

import make
import mkcorpus
import tap
from scene import CPSCOPE
from tree import DEMO

COUNT = 1000
RUNS = 2 * COUNT
FILES = ["index.html", "results.json", "results.tap", "results.xml"]


class Corpus:
    def __init__(self, folder):
        self.folder = folder
        mkcorpus.make(CPSCOPE, DEMO, folder, COUNT)

    def run(self, *args, env=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TEST_")}
        environment.update(env or {})
        return subprocess.run([CPSCOPE, "regress", *args], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=120)

    def matrix(self, out, *args, env=None):
        done = self.run("manifest.txt", "-o", out, *args, env=env)
        assert done.returncode in (0, 1), done.stderr
        return done

    def results(self, out):
        return json.load(open(os.path.join(self.folder, out, "results.json")))

    def same(self, a, b):
        _, different, missing = filecmp.cmpfiles(os.path.join(self.folder, a),
                                                 os.path.join(self.folder, b), FILES, shallow=False)
        assert not different and not missing, (different, missing)


def one_job(c):
    c.matrix("reference", "--no-cache", "--jobs", "1")
    pairs = c.results("reference")["pairs"]
    assert len(pairs) == 2 * COUNT
    changed = sorted(p["capture"] for p in pairs if p["status"] == "differs")
    # What mkcorpus gave the changed packet to, and nothing else.
    assert changed == ["captures/c%04d.pm4" % i for i in range(0, COUNT, 10)], changed
    for pair in (p for p in pairs if p["status"] == "differs"):
        assert "CP_SCRATCH_TO_REG" in pair["first"], pair
        # The packet's own handler is as it was: the code that changed is that of the packet before.
        causes = pair["causes"]
        assert len(causes) == 1 and causes[0]["differences"] == pair["differences"], causes
        assert causes[0]["cause"].endswith("changed code that ran elsewhere: CP_SCRATCH_WRITE+0x1"), causes


def chains(c):
    """Each difference has the chains of both values: to the word of the capture, or to where it ends. They are those of `why`."""
    changed = [p for p in c.results("reference")["pairs"] if p["status"] == "differs"]
    for number, pair in enumerate(changed):
        cause = pair["causes"][0]
        old, new = (value for value in re.search(r"(0x[0-9a-f]{8}) -> (0x[0-9a-f]{8})$", cause["first"]).groups())
        assert cause["why_old"].split()[0] == old and cause["why_new"].split()[0] == new, cause
        line = open(os.path.join(c.folder, pair["capture"])).read().splitlines()
        at = 1 + next(i for i, text in enumerate(line) if "CP_SCRATCH_WRITE" in text)
        assert "word of the stream" in cause["why_old"] and "line %d of" % at in cause["why_old"].splitlines()[-1], cause["why_old"]
        if number % 25 == 0:
            said = subprocess.run([CPSCOPE, "diff", "--fw", "old.fw", "--fw", "new.fw", pair["capture"]], cwd=c.folder,
                                  capture_output=True, text=True).stdout
            assert cause["why_old"] in said and cause["why_new"] in said, (said, cause)
    page = open(os.path.join(c.folder, "reference", "index.html")).read()
    assert page.count("<summary>Where it comes from") == 20 and page.count("for this one it is in results.json") == len(changed) - 20 and "word of the stream at" in page


def damaged_chains(c):
    """Chains are kept beside the runs; what is damaged is made anew, and what another user could write is not read."""
    files = sorted(os.path.join(at, f) for at, _, names in os.walk(c.folder + "/cache-both") for f in names if f.endswith(".text"))
    assert len(files) == 2 * COUNT // 10, len(files)
    whole = [open(name, "rb").read() for name in files[:4]]
    for name, content in zip(files, (whole[0][:-9], whole[1].replace(b"written", b"wrotten"), b"", whole[0])):
        open(name, "wb").write(content)
    c.matrix("chains", "--cache", os.path.join(c.folder, "cache-both"))
    c.same("reference", "chains")
    assert [open(name, "rb").read() for name in files[:4]] == whole


def two_jobs(c):
    c.matrix("jobs2", "--no-cache", "--jobs", "2")
    c.same("reference", "jobs2")


def shards(c):
    for i in range(1, 5):
        c.matrix("shard%d" % i, "--no-cache", "--jobs", "2", "--shard", "%d/4" % i)
    sizes = [len(c.results("shard%d" % i)["pairs"]) for i in range(1, 5)]
    assert min(sizes) > COUNT / 4 and sum(sizes) == 2 * COUNT, sizes
    assert c.run("--merge", "shard3", "shard1", "shard4", "shard2", "-o", "merged").returncode == 1
    c.same("reference", "merged")


def shards_of_test_runners(c):
    status = os.path.join(c.folder, "status")
    c.matrix("env", "--no-cache", env={"TEST_TOTAL_SHARDS": "4", "TEST_SHARD_INDEX": "1",
                                       "TEST_SHARD_STATUS_FILE": status})
    c.same("shard2", "env")
    assert os.path.exists(status)


def stable_shards(c):
    """A longer list moves no pair to another shard."""
    text = open(os.path.join(c.folder, "manifest.txt")).read()
    few = text.replace("capture captures/*.pm4", "capture captures/c00[0-4]?.pm4")
    open(os.path.join(c.folder, "few.txt"), "w").write(few)
    assert c.run("few.txt", "-o", "few", "--no-cache", "--shard", "1/4").returncode in (0, 1)
    names = {(p["firmware"], p["capture"]) for p in c.results("few")["pairs"]}
    all_names = {(p["firmware"], p["capture"]) for p in c.results("shard1")["pairs"]}
    small = {"captures/c%04d.pm4" % i for i in range(50)}
    assert names == {n for n in all_names if n[1] in small}


def overlapping_merge(c):
    done = c.run("--merge", "shard1", "shard2", "shard3", "shard4", "shard1", "-o", "twice")
    assert done.returncode == 1, done.stderr
    c.same("reference", "twice")


def entries(folder):
    return sum(name.endswith(".cpt") for _, _, files in os.walk(folder) for name in files)


def interrupt(c, name, how):
    """Stops a cold run when a part of it is done, then goes on. One capture is a named pipe until then, so
    that the run cannot end before."""
    cache = os.path.join(c.folder, "cache-" + name)
    held = os.path.join(c.folder, "captures", "c0900.pm4")
    os.rename(held, held + ".away")
    os.mkfifo(held)
    process = subprocess.Popen([CPSCOPE, "regress", "manifest.txt", "-o", "part-" + name, "--cache",
                                cache, "--jobs", "2"], cwd=c.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    while entries(cache) < COUNT // 4:
        time.sleep(0.002)
    if how == signal.SIGKILL:
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
        while process.poll() is None:  # whoever reads the pipe finds it empty
            try:
                os.close(os.open(held, os.O_WRONLY | os.O_NONBLOCK))
            except OSError as error:
                assert error.errno == errno.ENXIO
            time.sleep(0.01)
    _, said = process.communicate()
    os.rename(held + ".away", held)
    kept = entries(cache)
    assert COUNT // 4 <= kept < RUNS
    done = c.matrix("resumed-" + name, "--cache", cache, "--jobs", "2")
    c.same("reference", "resumed-" + name)
    emulated = int(done.stderr.split()[0])
    assert emulated == RUNS - kept, (kept, done.stderr)
    return process.returncode, said


def killed(c):
    interrupt(c, "kill", signal.SIGKILL)


def interrupted(c):
    status, said = interrupt(c, "int", signal.SIGINT)
    assert status == 130 and "interrupted, run again to continue" in said, (status, said)
    # All pairs are in all reports, what was done and what was not, and none of them takes it for a whole run.
    pairs = c.results("part-int")["pairs"]
    missing = sum(pair["status"] == "not-run" for pair in pairs)
    assert len(pairs) == 2 * COUNT and 0 < missing < 2 * COUNT, (len(pairs), missing)
    why = "interrupted: %d of %d pairs were not run" % (missing, 2 * COUNT)
    tap_lines, page = (open(os.path.join(c.folder, "part-int", name)).read() for name in ("results.tap", "index.html"))
    assert tap_lines.splitlines()[1] == "1..%d" % (2 * COUNT) and tap_lines.endswith("\nBail out! %s\n" % why), tap_lines[-200:]
    assert sum(line.startswith("not ok") and "interrupted before" in line for line in tap_lines.splitlines()) == missing
    suite = xml.etree.ElementTree.parse(os.path.join(c.folder, "part-int", "results.xml")).getroot()
    assert int(suite.get("tests")) == len(list(suite.iter("testcase"))) == 2 * COUNT + 1
    assert int(suite.get("errors")) == len(list(suite.iter("error"))) == missing + 1, (suite.attrib, missing)
    assert page.count('<td class="not-run">') == missing and why in page
    assert c.results("part-int")["exit"] == 130


def warm(c):
    done = c.matrix("warm", "--cache", os.path.join(c.folder, "cache-int"))
    assert done.stderr.startswith("0 runs emulated, 2000 from the cache"), done.stderr
    c.same("reference", "warm")


def two_writers(c):
    command = [CPSCOPE, "regress", "manifest.txt", "--cache", "cache-both"]
    both = [subprocess.Popen(command + ["-o", "writer%d" % i], cwd=c.folder,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in (1, 2)]
    assert [p.wait() for p in both] == [1, 1]
    c.same("reference", "writer1")
    c.same("reference", "writer2")
    assert entries(os.path.join(c.folder, "cache-both")) == RUNS


def damaged_cache(c):
    """A cut entry, one with a flipped bit and an empty one are made anew."""
    files = sorted(os.path.join(at, f) for at, _, names in os.walk(c.folder + "/cache-both")
                   for f in names if f.endswith(".cpt"))
    whole = open(files[0], "rb").read()
    open(files[0], "wb").write(whole[:len(whole) // 2])
    flipped = bytearray(open(files[1], "rb").read())
    flipped[len(flipped) // 2] ^= 4
    open(files[1], "wb").write(flipped)
    open(files[2], "wb").close()
    done = c.matrix("damaged", "--cache", os.path.join(c.folder, "cache-both"))
    assert done.stderr.startswith("3 runs emulated, 1997 from the cache"), done.stderr
    c.same("reference", "damaged")
    assert open(files[0], "rb").read() == whole


def changed_capture(c):
    path = os.path.join(c.folder, "captures", "c0500.pm4")
    text = open(path).read()
    open(path, "w").write(text.replace("submit frame", "    CP_NOP 0x1\nsubmit frame"))
    done = c.matrix("changed", "--cache", os.path.join(c.folder, "cache-both"))
    open(path, "w").write(text)
    assert done.stderr.startswith("2 runs emulated, 1998 from the cache"), done.stderr


def names_of_the_user(c):
    """The words of a PM4 text are those that its names have in --rnn, and no result of another tree's is taken for them."""
    for tree, offset in (("tree-a", "0x9801"), ("tree-b", "0x9802")):
        os.makedirs(os.path.join(c.folder, tree))
        with open(os.path.join(c.folder, tree, "a6xx.xml"), "w", encoding="utf-8") as file:
            file.write('<?xml version="1.0"?>\n<database>\n<domain name="A6XX" width="32" prefix="variant" varset="chip">\n'
                       '<reg32 offset="%s" name="OF_THE_USER"/>\n</domain>\n</database>\n' % offset)
    with open(os.path.join(c.folder, "named.pm4"), "w", encoding="utf-8") as file:
        file.write("# cpscope-pm4 1\ngpu 630\nbuffer 0x100000 frame\nreg OF_THE_USER 0x7\nsubmit frame\n")
    os.makedirs(os.path.join(c.folder, "goldens-named/old"))
    subprocess.run([CPSCOPE, "run", "--fw", "old.fw", "--rnn", "tree-a", "named.pm4", "-o", "goldens-named/old/named.pm4.cpt"],
                   cwd=c.folder, check=True, capture_output=True)
    with open(os.path.join(c.folder, "named.txt"), "w", encoding="utf-8") as file:
        file.write("# cpscope-manifest 1\nfirmware old old.fw\ngolden goldens-named\ncapture named.pm4\n")
    said = [c.run("named.txt", "-o", "named", "--cache", "cache-named", *names).returncode
            for names in (["--rnn", "tree-a"], ["--rnn", "tree-b"], [])]
    assert said == [0, 1, 4], said


def bad_captures(c):
    """They are named, with the reason, and the others give what they gave."""
    extra = {"empty.pm4": b"", "text.pm4": b"no capture at all, but some text\n",
             "syntax.pm4": b"# cpscope-pm4 1\nbuffer 0x1000 a\n  NO_SUCH 1\nsubmit a\n",
             "other.pm4": b"# cpscope-pm4 1\ngpu 740\nbuffer 0x1000 a\n  CP_NOP 1\nsubmit a\n"}
    for name, content in extra.items():
        open(os.path.join(c.folder, "captures", name), "wb").write(content)
    text = open(os.path.join(c.folder, "manifest.txt")).read() + "capture captures/absent.pm4\n"
    open(os.path.join(c.folder, "more.txt"), "w").write(text)
    done = c.run("more.txt", "-o", "more", "--cache", "cache-both", "--jobs", "2")
    pairs = c.results("more")["pairs"]
    for name in extra:
        os.unlink(os.path.join(c.folder, "captures", name))
    bad = {p["capture"]: p for p in pairs if p["status"] in ("stopped", "skipped")}
    assert sorted(bad) == ["captures/absent.pm4"] + ["captures/" + n for n in sorted(extra)], bad
    assert bad["captures/other.pm4"]["status"] == "skipped"
    assert "No such file" in bad["captures/absent.pm4"]["reason"]
    assert "empty file" in bad["captures/empty.pm4"]["reason"]
    assert "NO_SUCH" in bad["captures/syntax.pm4"]["reason"]
    assert [p for p in pairs if p["capture"] not in bad] == c.results("reference")["pairs"]
    assert done.returncode == 1


def reports_agree(c):
    tap = open(os.path.join(c.folder, "reference", "results.tap")).read().splitlines()
    assert sum(line.startswith("not ok") for line in tap) == COUNT // 10
    assert sum(line.startswith("ok") for line in tap) == 2 * COUNT - COUNT // 10
    suites = xml.etree.ElementTree.parse(os.path.join(c.folder, "reference", "results.xml")).getroot()
    assert len(list(suites.iter("testcase"))) == 2 * COUNT
    assert len(list(suites.iter("failure"))) == COUNT // 10


def shown_as_json(c):
    done = c.run("manifest.txt", "--json", "--cache", "cache-both")
    assert json.loads(done.stdout) == c.results("reference")


def unwritable_report(c):
    done = c.run("manifest.txt", "-o", "/dev/null/reports", "--cache", "cache-both")
    assert done.returncode == 3 and len(done.stderr.strip().splitlines()) == 1, done.stderr  # before anything runs
    assert "/dev/null/reports" in done.stderr


def old_report(c):
    """What the last run left goes before the new one begins; what can not go is one error. Files of others stay."""
    c.matrix("replaced", "--no-cache")
    os.remove(os.path.join(c.folder, "replaced", "results.xml"))
    os.mkdir(os.path.join(c.folder, "replaced", "results.xml"))
    done = c.run("manifest.txt", "-o", "replaced", "--no-cache")
    assert done.returncode == 3 and done.stderr.startswith("cpscope: replaced/results.xml: cannot remove: Is a directory"), done.stderr
    os.mkdir(os.path.join(c.folder, "others"))
    with open(os.path.join(c.folder, "others", "results.tap"), "w") as file:
        file.write("not ours")
    c.run("nothing.txt", "-o", "others", "--no-cache")
    assert open(os.path.join(c.folder, "others", "results.tap")).read() == "not ours"


def unwritable_cache(c):
    done = c.matrix("nocache", "--cache", "/dev/null/cache")
    assert "results are not stored" in done.stderr, done.stderr
    c.same("reference", "nocache")


def swept(c):
    """What a killed process left in a cache goes a day later: files of its ending, and nothing else, however old."""
    manifest = "# cpscope-manifest 1\nfirmware old old.fw\ncapture captures/c0000.pm4\n"
    open(os.path.join(c.folder, "sweep.txt"), "w").write(manifest)
    old, young = time.time() - 24 * 3600 - 600, time.time() - 24 * 3600 + 600
    stays = ("old.cpt", "tmp", ".tmp", "p", "oldtmp", "old.tmp.x", "old.tmpx")
    for name in ("00", "8a", "ff"):
        folder = os.path.join(c.folder, "cache-sweep", name)
        os.makedirs(os.path.join(folder, "folder.tmp"))
        for file, when in [("old.tmp", old), ("young.tmp", young), *((file, old) for file in stays)]:
            open(os.path.join(folder, file), "w").close()
            os.utime(os.path.join(folder, file), (when, when))
        os.symlink("old.cpt", os.path.join(folder, "link.tmp"))
        os.utime(os.path.join(folder, "link.tmp"), (old, old), follow_symlinks=False)
        os.utime(os.path.join(folder, "folder.tmp"), (old, old))
    assert c.run("sweep.txt", "-o", "sweep", "--cache", "cache-sweep").returncode == 0
    for name in ("00", "8a", "ff"):
        left = [file for file in os.listdir(os.path.join(c.folder, "cache-sweep", name)) if file[-4:] != ".cpt" or file == "old.cpt"]
        assert sorted(left) == sorted([*stays, "young.tmp", "link.tmp", "folder.tmp"]), (name, left)


def marks(c):
    """Lines of code on a report's pages are marked by what stands in their first two columns, and no others are."""
    folder = os.path.join(c.folder, "marks")
    os.mkdir(folder)
    old, new = make.EVENT_CMD
    make.revisions(CPSCOPE, DEMO, folder, old, "        mov $05, 0x123\n" + new)
    open(os.path.join(folder, "c.pm4"), "w").write(make.pm4(make.EVENT))
    open(os.path.join(folder, "manifest"), "w").write(
        "# cpscope-manifest 1\nfirmware old old.fw\nfirmware new new.fw\nbaseline old\ncapture c.pm4\n")
    c.run("marks/manifest", "-o", "marks/out", "--no-cache")
    page = open(os.path.join(folder, "out", "index.html")).read()
    seen = set()
    for line in (line for block in re.findall(r'<pre tabindex="0">(.*?)</pre>', page, re.S) for line in block.splitlines()):
        tag, text = re.match(r'(?:<mark class="([a-z ]*)">)?(.*)', line).groups()
        text = text.replace("&gt;", ">")
        expected = [word for word, there in (("here", text[:1] == ">"), ("changed", text[1:2] == "!")) if there]
        assert (tag or "").split() == expected and line.endswith("</mark>") == bool(tag), line
        seen.add(tag)
    assert seen == {None, "here", "changed", "here changed"}, seen


def goldens(c):
    """A pair is held against DIR/FIRMWARE/CAPTURE.cpt: here that of the other revision, that of its own, and none."""
    for i, fw in enumerate(("new.fw", "old.fw")):
        out = os.path.join(c.folder, "goldens/old/captures/c%04d.pm4.cpt" % i)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        subprocess.run([CPSCOPE, "run", "--fw", fw, "captures/c%04d.pm4" % i, "-o", out], cwd=c.folder, check=True,
                       capture_output=True)
    manifest = "# cpscope-manifest 1\nfirmware old old.fw\ngolden goldens\ncapture captures/c000[0-2].pm4\n"
    open(os.path.join(c.folder, "golden.txt"), "w").write(manifest)
    done = c.run("golden.txt", "-o", "golden", "--no-cache")
    differs, passes, stopped = c.results("golden")["pairs"]
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert differs["status"] == "differs" and "CP_SCRATCH_TO_REG" in differs["first"] and "causes" not in differs, differs
    assert passes["status"] == "pass", passes
    assert stopped["status"] == "stopped" and "goldens/old/captures/c0002.pm4.cpt" in stopped["reason"], stopped


def conflicts(c):
    """Results are only joined if they are of the same inputs: a name that stands for other firmware, or another baseline, is
    refused, also of runs of other manifests."""
    with open(DEMO, encoding="utf-8") as file:
        source = file.read()
    assert source.count("\nCP_WAIT_MEM_WRITES:\n") == 1
    make.firmware(CPSCOPE, os.path.join(c.folder, "longer"), source.replace("\nCP_WAIT_MEM_WRITES:\n", "\nCP_WAIT_MEM_WRITES:\n        nop\n"))
    for name, lines in (("first", "firmware old old.fw\nfirmware new new.fw\nbaseline old\n"),
                        ("code", "firmware old new.fw\nfirmware new new.fw\nbaseline old\n"),
                        ("baseline", "firmware old old.fw\nfirmware new new.fw\nbaseline new\n"),
                        ("alone", "firmware old old.fw\n"), ("longer", "firmware old longer.fw\n")):
        open(os.path.join(c.folder, name + ".txt"), "w").write("# cpscope-manifest 1\n" + lines + "capture captures/c000?.pm4\n")
        assert c.run(name + ".txt", "-o", "of-" + name, "--no-cache").returncode in (0, 1)
    for first, name, word in (("first", "code", "another firmware old"), ("first", "baseline", "found baseline new, expected old as"),
                              ("alone", "longer", "another firmware old")):
        done = c.run("--merge", "of-" + first, "of-" + name, "-o", "conflict")
        assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("cpscope: of-%s/results.json: %s " % (name, word)) and "in the results before" in done.stderr, done.stderr
        assert not os.path.exists(os.path.join(c.folder, "conflict")), name


def bad_manifests(c):
    for text, expected in (("", "cpscope-manifest 1"), ("# cpscope-manifest 9\n", "manifest"),
                           ("# cpscope-manifest 1\nfirmware a\n", ":2"),
                           ("# cpscope-manifest 1\nnonsense b\n", ":2"),
                           ("# cpscope-manifest 1\nfirmware a old.fw\nbaseline b\ncapture x\n", "b"),
                           ("# cpscope-manifest 1\nfirmware a old.fw\npolicy waits=never\n", ":3"),
                           ("# cpscope-manifest 1\nfirmware a old.fw\nmask reg:zz\ncapture x\n", "zz")):
        open(os.path.join(c.folder, "bad.txt"), "w").write(text)
        done = c.run("bad.txt", "--no-cache", "-o", "never")
        lines = done.stderr.strip().splitlines()
        assert done.returncode == 3 and expected in lines[0], (text, done.stderr)
        assert not os.path.exists(os.path.join(c.folder, "never")), text


CASES = [
    ("2,000 pairs: exactly those that reach the changed instruction differ", one_job),
    ("a difference has the chains of both values", chains),
    ("two processes give the bytes of one", two_jobs),
    ("four shards, merged in any order, give the bytes of one run", shards),
    ("a shard merged twice counts once", overlapping_merge),
    ("the variables of test runners choose the shard", shards_of_test_runners),
    ("a pair stays in its shard when the list grows", stable_shards),
    ("killed half way and resumed: the same bytes", killed),
    ("interrupted half way: says so, keeps what is done, resumes to the same bytes", interrupted),
    ("a second run with a warm cache emulates nothing", warm),
    ("two runs into one cache at a time give the same bytes", two_writers),
    ("damaged cache entries are made anew", damaged_cache),
    ("damaged chains in the cache are made anew", damaged_chains),
    ("one changed capture: only its runs are made", changed_capture),
    ("names of --rnn decide on the words of a PM4 text", names_of_the_user),
    ("bad captures are named and stop nothing else", bad_captures),
    ("JUnit and TAP have the counts of the JSON", reports_agree),
    ("--json prints the results file", shown_as_json),
    ("a report that cannot be written is one error", unwritable_report),
    ("a report of the run before that cannot be removed is one error", old_report),
    ("a cache that cannot be written is one warning", unwritable_cache),
    ("what a killed process left in the cache goes a day later, and nothing else", swept),
    ("the page marks the lines that differ and no others", marks),
    ("goldens are what their manifest says they are", goldens),
    ("results of other inputs are not joined", conflicts),
    ("bad manifests name the line", bad_manifests),
]

with tempfile.TemporaryDirectory() as folder:
    corpus = Corpus(folder)
    tap.run([(name, lambda case=case: case(corpus)) for name, case in CASES])

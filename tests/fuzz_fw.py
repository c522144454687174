#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fuzz`: the same seed gives the same bytes with any number of jobs, findings are there in their files, and two revisions
that differ are told apart. Usage: fuzz_fw.py CPSCOPE DEMO.afuc; with CPSCOPE_CORPUS also on real firmware."""
import json
import os
import subprocess
import sys

import make
import tap
from commands import CPSCOPE, path

DEMO = os.path.abspath(sys.argv[2])
CORPUS = os.environ.get("CPSCOPE_CORPUS")


def fuzz(*args, status=(0, 1)):
    done = subprocess.run([CPSCOPE, "fuzz", *args], capture_output=True, text=True, timeout=500)
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


def difference():
    old, new = revisions()
    said = json.loads(fuzz("--fw", old, "--fw", new, "--execs", "4000", "--oracles", "difference", "--json", "-o", path("two"), status=(1,)).stdout)
    assert {f["oracle"] for f in said["findings"]} == {"difference"}, said["findings"]
    for finding in said["findings"]:
        name = path("two/findings/" + finding["name"])
        diff = subprocess.run([CPSCOPE, "diff", "--fw", old, "--fw", new, name + ".pm4"], capture_output=True, text=True, timeout=60)
        assert diff.returncode == 1, diff
        assert os.path.exists(name + ".trace") and os.path.exists(name + ".new.trace")


def coverage():
    old, _ = revisions()
    fuzz("--fw", old, "--execs", "500", "-o", path("cover"))
    done = subprocess.run([CPSCOPE, "cover", "--fw", old, "--counts", path("cover/coverage.info")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout, done


def refused():
    old, _ = revisions()
    for args in (["--fw", old], ["--execs", "1"], ["--fw", old, "--execs", "1", "--oracles", "nothing"], ["--fw", old, "--merge"],
                 ["--fw", old, "--execs", "1", "--shard", "3/2"]):
        assert fuzz(*args, status=(2,)).stderr.count("\n") == 1, args
    assert fuzz("--fw", old, "--execs", "1", path("none"), status=(3,)).stderr.count("\n") == 1


KIND = {"page-table", "secure-mode", "protected", "privileged"}


def real(version, wanted):
    def case():
        fw = os.path.join(CORPUS, "firmware", "gen70900_sqe-%d.fw" % version)
        said = json.loads(fuzz("--fw", fw, "--execs", "60000", "--oracles", ",".join(sorted(KIND)), "--json").stdout)
        found = {f["oracle"] for f in said["findings"]} & KIND
        assert ("page-table" in found) if wanted else not found, said["findings"]
        return ", ".join(sorted(found)) or "none"
    return case


cases = [
    ("one seed, the same bytes with any number of jobs", same_bytes),
    ("other seeds and shards are other cases", other_seeds),
    ("merged corpora reach what each of them reaches", merged),
    ("two revisions are told apart, and the files show it", difference),
    ("coverage is read by cover --counts", coverage),
    ("what cannot be done is refused in a line", refused)]
if CORPUS:
    cases += [("the privileged write is found on gen70900_sqe-177", real(177, True)),
              ("nothing of the kind is on gen70900_sqe-181", real(181, False))]
tap.run(cases)

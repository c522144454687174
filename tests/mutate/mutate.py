#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Would a wrong line be noticed? Changes one place of the product at a time, builds, and runs the quick tests that
execute the line. Prints the share that was noticed by folder, and what was not.

Usage: mutate.py SOURCE WORK [--count N] [--seed N] [--jobs N] [--only PREFIX]... [--again FILE] [--sanitize]
SOURCE is a tree with everything committed, or changed: what git lists is copied. WORK is a folder for copies, builds,
and results (WORK/results.jsonl: a line a mutant; a run that was interrupted goes on there).

A test is quick that takes at most --quick seconds of the processor (20). A mutant that compiles to the same code is none.
First the tests run without CPSCOPE_CORPUS; what survives is tried with it, if it is set. No mutant gets more than --budget
seconds (120) of tests, the quickest and those that have noticed most first. --again tries only what survived in the results
FILE unexplained, and prints the table of all of it; with --sanitize in a build that ends with 1 where memory is misused or
lost, which only such builds notice. A survivor that tests/mutate/explained.tsv explains (file, text of the line, old, new,
why) is counted apart. Ends with 1 if a folder's share is below its goal."""
import argparse
import collections
import dataclasses
import glob
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time

import reach
import sites
import suite

GOALS = {"emu": 90, "isa": 90, "trace": 90, "fw": 85, "tools": 85}
# What takes minutes, counts instructions, or looks at the sources.
LEFT_OUT = {"install", "faults"}
LEFT_OUT_NAMES = {"instructions", "rebase", "a new engine", "order", "sizes", "budget", "suites"}
# Of the processor, that no process of a build needs.
BUILD_SECONDS = 60
LINKER = ["-Dc_link_args=-fuse-ld=mold"] if shutil.which("mold") else []
# Arguments that change places and have other types are no mutants: the compiler notices.
OPTIONS = LINKER + ["-Dbuildtype=plain", "-Doptimization=1", "-Db_ndebug=false", "-Dwarning_level=0",
                    "-Dc_args=-Werror=incompatible-pointer-types -Werror=int-conversion"]
SANITIZERS = ["-Db_sanitize=address,undefined", "-Db_lundef=false"]


def copied(source, to):
    """What git knows or would add, as it is now."""
    names = subprocess.check_output(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "-z"]).split(b"\0")
    for name in filter(None, map(os.fsdecode, names)):
        if os.path.isfile(os.path.join(source, name)):
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy2(os.path.join(source, name), os.path.join(to, name))


def built(folder, options):
    build = os.path.join(folder, "build")
    subprocess.run(["meson", "setup", build, folder] + options, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "--quiet", "tests/fuzz-seeds.stamp"], check=False, stdout=subprocess.DEVNULL)
    return build


def environment(corpus):
    env = {key: value for key, value in os.environ.items() if key != "CPSCOPE_CORPUS"}
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    env["PYTHONPATH"] = os.pathsep.join(os.path.join(tests, name) for name in ("lib", "model"))
    return {**env, "CPSCOPE_CORPUS": corpus} if corpus else env


def measure(args, corpus):
    """For each line the tests that execute it; with the seconds that a test takes, counting."""
    folder = os.path.join(args.work, "counted")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    copied(args.source, folder)
    build = built(folder, [option + " -include %s/tests/mutate/counted.h" % folder if "c_args" in option else option
                           for option in OPTIONS] + ["-Db_coverage=true"])
    reached = {"seconds": {}, "lines": {}}
    with multiprocessing.Pool(args.jobs) as pool:
        jobs = [(test, args, build, folder, way, way_corpus) for way, way_corpus in (("without", None), ("with", corpus))
                if way == "without" or corpus for test in suite.tests_of(build)
                if not LEFT_OUT & set(test.suites) and test.name not in LEFT_OUT_NAMES]
        for name, way, seconds, found in pool.imap_unordered(measure_one, jobs):
            if seconds is None:
                print("# not used %s the corpus: %s" % (way, name), flush=True)
                continue
            reached["seconds"]["%s/%s" % (way, name)] = seconds
            for path, (executed, code) in found.items():
                rows = reached["lines"].setdefault(path, {})
                for number in code:
                    rows.setdefault(str(number), [])
                for number in executed:
                    rows[str(number)].append("%s/%s" % (way, name))
    shutil.rmtree(folder)
    return reached


def measure_one(job):
    test, args, build, folder, way, corpus = job
    prefix = os.path.join(args.work, "gcda", str(os.getpid()))
    shutil.rmtree(prefix, ignore_errors=True)
    env = reach.prefixed(environment(corpus), prefix)
    said, seconds, _ = suite.run(test, env, args.quick * 20, prefix + ".tmp")
    usable = said == suite.PASS and seconds <= args.quick
    found = reach.lines(build, folder, prefix) if usable else {}
    shutil.rmtree(prefix, ignore_errors=True)
    return test.name, way, seconds if usable else None, found


class Copy:
    """A tree of its own with its build, in which one place at a time is wrong."""

    def __init__(self, args, number, reached):
        self.args, self.reached = args, reached
        self.folder = os.path.join(args.work, "copy%d" % number)
        self.scratch = os.path.join(args.work, "tmp%d" % number)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        copied(args.source, self.folder)
        self.build = built(self.folder, OPTIONS + (SANITIZERS if args.sanitize else []))
        self.trusted, self.useless, self.asked, self.used = set(), set(), 0, {}
        self.tests = {test.name: test for test in suite.tests_of(self.build)}
        self.objects = self.all_objects()

    def ninja(self, targets):
        """The build runs programs of the product, too: an endless loop in one of them ends by its limit."""
        return subprocess.run(["ninja", "-C", self.build, "--quiet"] + targets, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=lambda: suite.limit(BUILD_SECONDS), check=False).returncode == 0

    def all_objects(self):
        """For each .c file its object, and what that is where nothing is wrong."""
        found = {}
        for row in json.loads(subprocess.check_output(["ninja", "-C", self.build, "-t", "compdb"])):
            file = os.path.relpath(os.path.join(row["directory"], row["file"]), self.folder)
            if file.endswith(".c") and row["output"].endswith(".o"):
                found[file] = (row["output"], self.contents(row["output"]))
        return found

    def contents(self, path):
        with open(os.path.join(self.build, path), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def candidates(self, site, way, noticed):
        """Tests that execute the line; where it has no code (a table's), those that execute a line of its file, or of those
        that include it, or all."""
        names = self.reached["lines"].get(site.path, {}).get(str(site.line))
        if names is None:
            names = {name for path in self.users(site.path) for row in self.reached["lines"].get(path, {}).values()
                     for name in row} or set(self.reached["seconds"])
        names = [name.split("/", 1)[1] for name in names if name.startswith(way + "/") and name not in self.reached["same"]]
        names = [name for name in names if name in self.tests]
        # A document that was made from a table differs with it, which does not say which of the two is right.
        names = [name for name in names if not (site.path.endswith(".def") and "house" in self.tests[name].suites)]
        order = sorted(set(names), key=lambda name: (-self.promise(site, way, name, noticed), name))
        return [self.tests[name] for name in order]

    def users(self, path):
        """The file; of a table, or where no line of it is code, also those that include it, and where a file without code
        hands it on, those beside that."""
        if path not in self.used:
            mine = [path] if path in self.reached["lines"] else []
            self.used[path] = mine if mine and not path.endswith(".def") else mine + self.includers(path)
        return self.used[path]

    def includers(self, path):
        code = self.reached["lines"]
        names = [name for name in glob.glob("**/*.[ch]", root_dir=self.folder, recursive=True) if self.holds(name, '"%s"' % path)]
        beside = {os.path.dirname(name) for name in names if name.endswith(".c") and name not in code}
        return [name for name in code if name in names or os.path.dirname(name) in beside]

    def holds(self, name, word):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return word in file.read()

    def promise(self, site, way, name, noticed):
        """What a second of the test may bring: a test that runs little but this file, or has noticed some of it, knows it."""
        share = sum(self.reached["share"].get(path, {}).get("%s/%s" % (way, name), 0) for path in self.users(site.path))
        return (0.5 + 5 * share + 3 * noticed[site.path, name] + 0.3 * noticed[name]) / (0.2 + self.took(way, name))

    def took(self, way, name):
        return self.reached["seconds"]["%s/%s" % (way, name)]

    def passes(self, test, way, corpus):
        """Whether all that the test needs builds, and the test does not fail: one that is skipped now says nothing."""
        self.asked += 1
        if not self.ninja(test.needs):
            return False
        seconds = (20 if self.args.sanitize else 3) * (1 + self.took(way, test.name))
        for most in (20 + 3 * seconds, 60 + 10 * seconds):    # late once may be the machine, late twice is the mutant
            said = suite.run(test, environment(corpus), most, self.scratch, int(seconds) + 1)[0]
            if said != suite.LATE:
                break
        return said in (suite.PASS, suite.SKIP)

    def notices(self, site, way, corpus, noticed, spent):
        """The first test that notices, and whether the time was over before all were asked. Half of a table's is the
        building of all that includes it."""
        began = time.monotonic()
        budget = self.args.budget * (2 if site.path.endswith(".def") else 1)
        for test in self.candidates(site, way, noticed):
            if spent + time.monotonic() - began > budget:
                return None, True
            if (way, test.name) not in self.useless and not self.passes(test, way, corpus):
                return test.name, False
        return None, False

    def judged(self, site, corpus, noticed):
        """The result, and what it cost: for who wants the next run to be faster."""
        began = time.monotonic()
        self.asked = 0
        found = self.judged_by_all(site, corpus, noticed, began)
        return {**found, "asked": self.asked, "seconds": round(time.monotonic() - began, 1)}

    def judged_by_all(self, site, corpus, noticed, began):
        name, cut = self.notices(site, "without", None, noticed, 0)
        if name:
            return {"result": "noticed", "by": name, "corpus": False}
        if corpus:
            name, cut_too = self.notices(site, "with", corpus, noticed, (time.monotonic() - began) / 2)
            cut = cut or cut_too
        return {"result": "noticed", "by": name, "corpus": True} if name else {"result": "survived", "cut": cut}

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def trusts(self, row, corpus):
        """Whether who noticed passes where nothing is wrong. Asked once of each, with the file as it was."""
        if row["result"] != "noticed":
            return True
        key = ("with" if row["corpus"] else "without", row["by"])
        if key not in self.trusted:
            good = self.passes(self.tests[row["by"]], key[0], corpus if row["corpus"] else None)
            (self.trusted if good else self.useless).add(key)
            if not good:
                print("# fails where nothing is wrong, and is not asked again: %s, %s the corpus" % key[::-1], flush=True)
        return key in self.trusted

    def tried(self, site, corpus, noticed):
        """The result of one mutant: a row of results.jsonl. What is built for the next mends the file's object, too."""
        path = os.path.join(self.folder, site.path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        row = {"path": site.path, "line": site.line, "begin": site.begin, "kind": site.kind, "old": site.old,
               "new": site.new, "text": text.splitlines()[site.line - 1].strip()}
        made, before = self.objects.get(site.path, ("tools/cpscope", None))
        while True:
            self.write(path, text[:site.begin] + site.new + text[site.end:])
            try:
                if not self.ninja([made]):
                    return {**row, "result": "invalid"}
                if before == self.contents(made):
                    return {**row, "result": "same code"}
                found = self.judged(site, corpus, noticed)
            finally:
                self.write(path, text)
            if self.trusts(found, corpus):
                return {**row, **found}


def sample(args):
    """The mutants of each folder in an order that the seed decides."""
    names = subprocess.check_output(["git", "-C", args.source, "ls-files"], text=True).split()
    found = collections.defaultdict(list)
    for name in names:
        if name.split("/")[0] in GOALS and name.endswith((".c", ".h", ".def")) and \
                (not args.only or name.startswith(tuple(args.only))):
            with open(os.path.join(args.source, name), encoding="utf-8") as file:
                found[name.split("/")[0]] += sites.sites_of(name, file.read(), args.seed)
    for folder, rows in found.items():
        random.Random("%s %s" % (args.seed, folder)).shuffle(rows)
    return found


def key_of(row):
    return "\t".join((row["path"], row["text"], row["old"], row["new"]))


def worker(args, number, reached, queue, results):
    """Its last result is None, however it ends: nobody waits for one that is gone."""
    try:
        copy = Copy(args, number, reached)
        noticed = experience(args.again) if args.again else collections.Counter()
        while (job := queue.get()) is not None:
            row = copy.tried(job, args.corpus, noticed)
            if row["result"] == "noticed":
                noticed[row["by"]] += 1
                noticed[row["path"], row["by"]] += 1
            results.put(row)
    finally:
        results.put(None)


def experience(path):
    """How often each test noticed something in an earlier run: anywhere, and in which file."""
    noticed = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["result"] == "noticed":
                noticed.update([row["by"], (row["path"], row["by"])])
    return noticed


def explained():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explained.tsv")
    rows = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    words = line.rstrip("\n").split("\t")
                    rows["\t".join(words[:4])] = words[4]
    return rows


def report(rows):
    """The table by folder, the survivors; whether all goals are reached, which nothing is where no mutant was tried."""
    known, good = explained(), any(row["result"] in ("noticed", "survived") for row in rows)
    print("\n| folder | mutants | noticed | without the corpus | explained | goal |\n|---|---|---|---|---|---|")
    for folder, goal in GOALS.items():
        mine = [r for r in rows if r["path"].split("/")[0] == folder and r["result"] in ("noticed", "survived")]
        if not mine:
            continue
        hit = [r for r in mine if r["result"] == "noticed"]
        why = [r for r in mine if r["result"] == "survived" and key_of(r) in known]
        share = 100 * len(hit) / len(mine)
        good = good and 100 * len(hit) >= goal * (len(mine) - len(why))
        print("| %s | %d | %d, %.1f %% | %.1f %% | %d | %d %% |" % (
            folder, len(mine), len(hit), share, 100 * sum(not r["corpus"] for r in hit) / len(mine), len(why), goal))
    print("\nNot noticed:")
    for row in sorted((r for r in rows if r["result"] == "survived"), key=lambda r: (r["path"], r["line"])):
        print("%s:%d: %s `%s` -> `%s` in `%s`%s%s" % (
            row["path"], row["line"], row["kind"], row["old"], row["new"], row["text"][:100],
            " (not all tests: time)" if row.get("cut") else "",
            ": " + known[key_of(row)] if key_of(row) in known else ""))
    return good


def wanted(args, found, done):
    """The next mutants, by folder in turn, until each has its share of valid ones."""
    share = {folder: -(-args.count // len(found)) for folder in found}
    counts = collections.Counter(r["path"].split("/")[0] for r in done if r["result"] in ("noticed", "survived"))
    tried = {(r["path"], r["begin"], r["new"]) for r in done}
    pending = {folder: [s for s in rows if (s.path, s.begin, s.new) not in tried] for folder, rows in found.items()}
    while True:
        left = [folder for folder in pending if pending[folder] and counts[folder] < share[folder]]
        if not left:
            return
        folder = min(left, key=lambda f: (counts[f] / share[f], f))
        row = yield pending[folder].pop(0)
        counts[folder] += 1
        if row and row["result"] in ("invalid", "same code"):
            counts[row["path"].split("/")[0]] -= 1


def again(path):
    """Mutants of an earlier run that survived unexplained, to be tried once more: by what the line says, what it was changed to."""
    found, known = collections.defaultdict(list), explained()
    with open(path, encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["result"] == "survived" and key_of(row) not in known:
                found[row["path"], row["text"], row["kind"], row["old"]].append(row["new"])
    return found


def merged(path, done):
    """All of an earlier run, with what was found of those that were tried again."""
    now = {key_of(row): row for row in done}
    with open(path, encoding="utf-8") as file:
        return [now.get(key_of(row), row) for row in map(json.loads, file)]


def options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source")
    parser.add_argument("work")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", type=float, default=20)
    parser.add_argument("--budget", type=float, default=120)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--again")
    parser.add_argument("--sanitize", action="store_true")
    args = parser.parse_args()
    args.source, args.work = os.path.abspath(args.source), os.path.abspath(args.work)
    suite.memory = None if args.sanitize else suite.memory    # shadow memory is address space, too
    args.corpus = os.environ.get("CPSCOPE_CORPUS")
    return args


def reached_of(args):
    path = os.path.join(args.work, "reached.json")
    if not os.path.exists(path):
        reached = measure(args, args.corpus)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(reached, file)
        os.rename(path + ".new", path)
    with open(path, encoding="utf-8") as file:
        reached = json.load(file)
    reached["share"] = shares(reached["lines"])
    reached["same"] = same(reached["lines"])
    return reached


def same(lines):
    """Tests that execute the same with the corpus as without it: they look for nothing in it."""
    found = collections.defaultdict(set)
    for path, rows in lines.items():
        for number, names in rows.items():
            for name in names:
                found[name].add((path, number))
    return {name for name in found if name.startswith("with/") and found[name] == found.get(name.replace("with", "without", 1))}


def shares(lines):
    """For each file and test the part of all lines that the test executes which lies in the file."""
    counts, sums = collections.defaultdict(collections.Counter), collections.Counter()
    for path, rows in lines.items():
        for names in rows.values():
            counts[path].update(names)
            sums.update(names)
    return {path: {name: count / sums[name] for name, count in mine.items()} for path, mine in counts.items()}


def selected(args, found):
    """Only the survivors of an earlier run, if it is named. One whose line has been written anew since is told."""
    if not args.again:
        return found
    kept, left = {}, again(args.again)
    for folder, rows in found.items():
        for site in rows:
            with open(os.path.join(args.source, site.path), encoding="utf-8") as file:
                text = file.read().splitlines()[site.line - 1].strip()
            # Which of a line's changes the seed chose may differ where the file has changed.
            place = (site.path, text, site.kind, site.old)
            if place in left:
                kept.setdefault(folder, []).extend(dataclasses.replace(site, new=new) for new in left.pop(place))
    for path, text, _, old in left:
        print("# is no more: %s: `%s` in `%s`" % (path, old, text), flush=True)
    return kept


def main():
    args = options()
    os.makedirs(args.work, exist_ok=True)
    reached = reached_of(args)
    name = os.path.join(args.work, "again.jsonl" if args.again else "results.jsonl")
    done = []
    if os.path.exists(name):
        with open(name, encoding="utf-8") as file:
            done = [json.loads(line) for line in file]
    found = selected(args, sample(args))
    queue, results = multiprocessing.Queue(), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=worker, args=(args, n, reached, queue, results)) for n in range(args.jobs)]
    for process in workers:
        process.start()
    pending, ended = wanted(args, found, done), 0
    for _ in workers:
        queue.put(next(pending, None))
    with open(name, "a", encoding="utf-8") as file:
        while ended < len(workers):
            row = results.get()
            if row is None:
                ended += 1
                continue
            done.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            try:
                queue.put(pending.send(row))
            except StopIteration:
                queue.put(None)
    for process in workers:
        process.join()
    whole = all(process.exitcode == 0 for process in workers)
    return 0 if report(merged(args.again, done) if args.again else done) and whole else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `regress` makes of results that are written here by hand: each table of its page, and the lines on the terminal.
Usage: results_page.py CPSCOPE"""
import copy
import hashlib
import json
import os
import subprocess

import markup
import tap
from scene import CPSCOPE, cpscope, path

FIRST = "EVENT_CMD 0x5 -> 0x6 <&>"


def pair(capture, firmware, status="pass", **more):
    return {"firmware": firmware, "capture": capture, "status": status, "reason": "" if status == "pass" else "so it is", **more}


def differs(capture, firmware, place, *causes):
    differences = sum(cause["differences"] for cause in causes)
    return pair(capture, firmware, "differs", place=place, differences=differences, causes=list(causes), counts="all of them")


def cause(name, differences, **more):
    return {"cause": name, "differences": differences, "packets": 1, "first": FIRST, **more}


def results(pairs, names=("old", "new"), **more):
    """Results of all pairs of a manifest, whose digest is that of its pairs' names."""
    pairs = sorted(pairs, key=lambda one: (one["capture"], one["firmware"]))
    text = "".join("%s\n%s\n" % (one["capture"], one["firmware"]) for one in pairs)
    inputs = {key: "none" for key in ("baseline", "events", "golden", "limit", "mask", "names", "policy")}
    return {"cpscope-results": 4, "inputs": {**inputs, **{"firmware " + name: "none" for name in names}}, "firmware": list(names), "baseline": "old",
            "manifest": hashlib.sha256(text.encode()).hexdigest(), "pairs_total": len(pairs), "pairs": pairs,
            "places": {}, "code": {}, "coverage": {}, **more}


PLACES = {"new+1": {"firmware": "new", "handler": "CP_EVENT_WRITE", "label_a": "old", "label_b": "new", "code_a": "",
                    "code_b": ""}}
SOME = [pair("c1", "old"), differs("c1", "new", "new+1", cause("B changed", 5), cause("A changed", 2)),
        pair("c2", "old"), differs("c2", "new", "new+1", cause("A changed", 40)),
        pair("c3", "old"), pair("c3", "new"),
        pair("c4", "old", "stopped"), pair("c4", "new", "skipped"),
        pair("c5", "old", "skipped"), pair("c5", "new")]


def merged(of, status, name="page", shown=True):
    """The page of the results, and what the terminal gets."""
    folder = path("of-" + name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "results.json"), "w", encoding="utf-8") as file:
        json.dump(of, file)
    done = cpscope("regress", "--merge", folder, *(["-o", path(name)] if shown else []), status=status)
    return markup.read(os.path.join(path(name), "index.html")) if shown else None, done.stdout


def matrix():
    page, _ = merged(results(SOME, places=PLACES), 1)
    table = page.one("table", id="matrix")
    assert table.rows() == [
        ["capture", "oldbaseline", "new"], ["c1", "pass", "differs (7)"], ["c2", "pass", "differs (40)"],
        ["c3", "pass", "pass"], ["c4", "stopped", "skipped"], ["c5", "skipped", "pass"]], table.rows()
    cells = [cell.attributes["class"] for cell in table.all("td")]
    assert cells == "pass differs pass differs pass pass stopped skipped skipped pass".split(), cells
    rows = [row.attributes["class"] for row in table.one("tbody").all("tr")]
    assert rows == ["row-differs", "row-differs", "row-pass", "row-stopped", "row-pass"], rows
    # A pair's number is its place in the list, which is sorted by capture and firmware: new before old.
    assert [link.attributes["href"] for link in table.all("a")] == ["#p0", "#p2", "#p7", "#p6", "#p9"]
    assert page.all("p")[0].text.startswith("10 pairs of firmware and capture."), page.all("p")[0].text


def no_number_is_no_difference():
    """A pair that differs and does not say how often, as of a golden that ended earlier."""
    page, _ = merged(results([pair("c1", "old"), pair("c1", "new", "differs")]), 1, "golden")
    assert page.one("table", id="matrix").rows()[1] == ["c1", "pass", "differs (0)"]


def filters():
    page, _ = merged(results(SOME, places=PLACES), 1)
    boxes = [(box.attributes["id"], "checked" in box.attributes) for box in page.all("input")]
    assert boxes == [("f-pass", True), ("f-differs", True), ("f-stopped", True), ("f-skipped", True)], boxes
    labels = [label.text for label in page.all("label")]
    assert labels == ["pass 5", "differs 2", "stopped 1", "skipped 2"], labels


def causes():
    """Those of a firmware are joined over its captures, and what makes most captures differ stands first."""
    other = [differs("c1", "third", "third+1", cause("A changed", 1)), *(pair("c%d" % i, "third") for i in range(2, 6))]
    places = {**PLACES, "third+1": {**PLACES["new+1"], "firmware": "third"}}
    page, _ = merged(results(SOME + other, names=("old", "new", "third"), places=places), 1, "causes")
    assert page.one("table", id="causes").rows() == [
        ["cause", "firmware", "captures", "differences", "the first"], ["A changed", "new", "2", "42", FIRST],
        ["B changed", "new", "1", "5", FIRST], ["A changed", "third", "1", "1", FIRST]], page.one("table", id="causes").rows()
    why = [table.rows() for table in page.one("article", id="p0").all("table")]
    assert why == [[["cause", "differences", "packets", "the first"], ["B changed", "5", "1", FIRST],
                    ["A changed", "2", "1", FIRST]]], why
    page, _ = merged(results([pair("c1", "old"), pair("c1", "new")]), 0, "nothing")
    assert not page.all("table", id="causes") and not page.all("table", id="places") and not page.all("article")


def chains():
    """Of a place the first 20 captures have chains; a later one says where they are, if it has any."""
    both = cause("A", 1, why_old="1 of it", why_new="2 of it")
    tail = [cause("A", 1, why_old="1 of it"), cause("A", 1, why_new="2 of it"), cause("A", 1),
            cause("A", 1, why_old="", why_new="")]
    pairs = [differs("c%02d" % i, "new", "new+1", one) for i, one in enumerate([both] * 20 + tail)]
    page, _ = merged(results(pairs + [pair("c%02d" % i, "old") for i in range(24)], places=PLACES), 1, "chains")
    summaries = ["Where it comes from: " + FIRST in [s.text for s in article.all("summary")] for article in page.all("article")]
    elsewhere = ["in results.json" in article.text for article in page.all("article")]
    assert summaries == [True] * 20 + [False] * 4, summaries
    assert elsewhere == [False] * 20 + [True, True, False, False], elsewhere
    same = differs("c1", "new", "new+1", cause("A", 1, why_old="1 same", why_new="1 same"))
    page, _ = merged(results([same, pair("c1", "old")], places=PLACES), 1, "both")
    chain, = [box for box in page.all("details") if "Where it comes from" in box.text]
    assert [side.text for side in chain.all("figcaption")] == ["both"]


def coverage():
    """A digit's bits: 1 it did not branch, 2 it did, 4 it ran, 8 it is code, 16 it is a branch; what is no code is 0."""
    digits = {"CP_NOP": "".join(chr(ord("0") + bits) for bits in (0, 9, 8, 27, 31, 24)), "CP_DRAW": "88", "empty": "00"}
    handlers = [{"handler": name, "digits": text} for name, text in digits.items()]
    page, _ = merged(results(SOME, places=PLACES, coverage={"new": handlers, "old <1>": handlers[1:2]}), 1, "coverage")
    boxes = page.one("main").all("details")
    assert [box.all("summary")[0].text for box in boxes] == ["new", "old <1>"]
    head = ["handler, from its address", "instructions executed", "branch directions"]
    assert boxes[0].one("table").rows() == [head, ["CP_NOP", "3 of 5", "", "3 of 6"], ["CP_DRAW", "0 of 2", "", ""],
                                            ["empty", "0 of 0", "", ""]]
    assert boxes[1].one("table").rows() == [head, ["CP_DRAW", "0 of 2", "", ""]]
    bars = [(bar.attributes["value"], bar.attributes["max"]) for bar in boxes[0].all("progress")]
    assert bars == [("3", "5"), ("0", "2"), ("0", "1")], bars
    rows = [row.attributes.get("class") for row in boxes[0].one("tbody").all("tr")]
    assert rows == [None, "none", "none"], rows


def twenty_lines():
    """A terminal gets the first 20 pairs that did not pass, if there is a report that has the others."""
    for count in (0, 1, 19, 20, 21, 25):
        pairs = [pair("c%02d" % i, "new", "stopped" if i < count else "pass") for i in range(30)]
        for shown in (True, False):
            lines = merged(results(pairs, names=("new",)), 4 if count else 0, "lines", shown)[1].splitlines()
            some = min(count, 20) if shown else count
            assert lines[:some] == ["stopped  new  c%02d: so it is" % i for i in range(some)], (count, lines)
            rest = ["and %d more: see %s/index.html" % (count - 20, path("lines"))] if shown and count > 20 else []
            total = "%d pass, 0 differ, %d stopped, 0 skipped" % (30 - count, count)
            assert lines[some:] == rest + [total], (count, shown, lines)


def versions():
    """Of another version are results that say so; without a version that could be one they are none."""
    good = results(SOME, places=PLACES)
    for version, said in ((0, "results of version 0, expected version 4"), (2, "results of version 2,"),
                          (5, "results of version 5,"), (-1, "not the results of a regression run"), (-4, "not the results"),
                          (None, "not the results")):
        bad = copy.deepcopy(good)
        bad["cpscope-results"] = version
        os.makedirs(path("bad"), exist_ok=True)
        path("bad/results.json", json.dumps(bad))
        done = cpscope("regress", "--merge", path("bad"), status=3)
        assert said in done.stderr and done.stderr.count("\n") == 1, (version, done.stderr)


def shards_of_runners():
    """TEST_SHARD_INDEX counts from 0 below TEST_TOTAL_SHARDS, a number of 31 bits; with one of them alone there are no shards."""
    manifest = path("manifest", "# cpscope-manifest 1\nfirmware a missing.fw\ncapture missing.pm4\n")
    usual = {name: value for name, value in os.environ.items() if not name.startswith("TEST_")}
    for index, total, good in (("0", "1", True), ("1", "2", True), ("0", "2147483647", True), ("2147483646", "2147483647", True),
                               ("0", "2147483648", False), ("1", "1", False), ("2", "1", False), ("0", "0", False),
                               ("x", "2", False), ("", "2", False), ("0", "", False), ("0", "x", False), ("-1", "2", False),
                               (None, "x", True), ("x", None, True)):
        env = {name: value for name, value in (("TEST_SHARD_INDEX", index), ("TEST_TOTAL_SHARDS", total)) if value is not None}
        done = subprocess.run([CPSCOPE, "regress", manifest, "--no-cache"], env={**usual, **env}, capture_output=True,
                              text=True, timeout=60)
        said = "expected an index from 0 below the total" in done.stderr
        assert said != good and (good or done.returncode == 3), (index, total, done)


tap.run([("the matrix has a cell for each pair, which leads to what happened", matrix),
         ("a pair that differs without a number has 0", no_number_is_no_difference),
         ("the filters count what the matrix has", filters),
         ("causes are joined over captures", causes),
         ("chains stand at the first 20 captures of a place", chains),
         ("coverage has a row for each handler", coverage),
         ("a terminal gets 20 lines", twenty_lines),
         ("results of other versions are refused", versions),
         ("test runners choose shards that there are", shards_of_runners)])

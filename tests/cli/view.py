#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `cpscope view`, opened from disk in Chromium and used as a person does.

The demo's firmware and stream, and a revision that differs; with CPSCOPE_CORPUS a real capture, too. Without
chromium and chromedriver what needs a browser is skipped. CPSCOPE_SCREENSHOTS names a folder for pictures.
Usage: view.py CPSCOPE
"""
import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import zlib

import claimfw
import machine
import make
import webdriver
from tap import plan, report, skip
from tree import DEMO, DEMO_STREAM as STREAM, STREAMS
from scene import CPSCOPE

CORPUS = os.environ.get("CPSCOPE_CORPUS")
HOSTILE = '<script>alert(1)<&script>&".pm4'
ESCAPE, DOWN, UP = "\ue00c", "\ue015", "\ue013"
WIDTHS = (320, 375, 900, 1280)
BLUES = "return getComputedStyle(document.documentElement).getPropertyValue('--%s').trim()"


def view(*args, good=True):
    done = subprocess.run([CPSCOPE, "view", *map(str, args)], capture_output=True, text=True, timeout=200)
    if good and done.returncode:
        raise RuntimeError(done.stderr)
    return done


def sections(path):
    """The data of a page, read without its script."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/octet-stream" id="d-(\w+)" data-n="(\d+)">([^<]*)</script>', text)
    ret = {name: zlib.decompress(base64.b64decode(data)) for name, _, data in found}
    assert all(len(ret[name]) == int(size) for name, size, _ in found)
    return ret


def packets(data):
    """Each packet's processor and address, in the order of the page: by processor, then as they ran."""
    meta, PKT = json.loads(data["meta"]), 1
    count, events = meta["events"], data["ev"]
    kinds = events[:count]
    first, number = sum(kind < PKT for kind in kinds), kinds.count(PKT)  # all columns but the kinds are by kind
    column = lambda at, planes: [sum(events[(at + k) * count + i] << 8 * k for k in range(planes)) for i in range(first, first + number)]
    found = list(zip(column(2, 1), (low | high << 32 for low, high in zip(column(7, 4), column(11, 4)))))
    return [(processor["name"], place) for processor in meta["processors"] for who, place in found if who == processor["who"]]


def make_pages(scratch):
    old, new = make.EVENT_CMD
    make.revisions(CPSCOPE, DEMO, scratch, old, "        mov $05, 0x123\n" + new)
    stream = pathlib.Path(STREAM).read_text(encoding="utf-8")
    capture = pathlib.Path(scratch, HOSTILE)
    capture.write_text(stream, encoding="utf-8")
    event = pathlib.Path(scratch, "event.pm4")
    event.write_text(make.pm4("CP_NOP 0x1 0x2", "reg 0x8810 0x1", make.EVENT, "CP_EVENT_WRITE 0x31"), encoding="utf-8")
    buffers = pathlib.Path(scratch, "buffers.pm4")
    buffers.write_text(make.pm4("reg RB_MRT[0].BASE @target", "CP_MEM_WRITE 0x1008 5 7", "CP_DRAW_INDX_OFFSET 0x84 1 3").replace(
        "submit", "buffer 0x500001000 target\n    .word 0 0 0 0\nsubmit"), encoding="utf-8")
    view("--fw", scratch + "/old.fw", buffers, "-o", pathlib.Path(scratch, "buffers.html"))
    page, change = pathlib.Path(scratch, "page.html"), pathlib.Path(scratch, "change.html")
    view("--fw", scratch + "/old.fw", capture, "-o", page)
    view("--fw", scratch + "/old.fw", "--fw", scratch + "/new.fw", event, "-o", change)
    return page, change, capture


# ---- the file ----

def test_command(scratch, page, capture):
    again = pathlib.Path(scratch, "again.html")
    done = view("--fw", scratch + "/old.fw", capture, "-o", again)
    report("the page has the same bytes each time", again.read_bytes() == page.read_bytes())
    report("the command says what the file holds", "disassembly" in done.stderr, done.stderr)
    for args, what in (((), "--fw"), (("--fw", scratch + "/old.fw"), "capture"),
                       (("--fw", scratch + "/old.fw", capture), "-o")):
        done = view(*args, good=False)
        report("without %s it is a mistake of the command line" % what, done.returncode == 2 and what in done.stderr and
               done.stderr.count("\n") == 1, done.stderr)
    demo = pathlib.Path(scratch, "demo.html")
    view("--demo", "-o", demo)
    mine, theirs = sections(demo), sections(page)
    report("--demo has the page of the built-in firmware and capture", all(mine[name] == theirs[name] for name in ("ev", "names", "code")) and
           json.loads(mine["meta"])["capture"] == "demo.pm4", json.loads(mine["meta"])["capture"])
    missing = pathlib.Path(scratch, "missing.html")
    done = view("--fw", scratch + "/old.fw", scratch + "/no-such.rd", "-o", missing, good=False)
    report("a capture that is not there is one line, status 3, and no file", done.returncode == 3 and
           done.stderr.count("\n") == 1 and not missing.exists(), done.stderr)


def test_file(page, capture):
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    style, script = re.search(r"<style>(.*?)</style>", text, re.S)[1], re.findall(r"<script>(.*?)</script>", text, re.S)
    hashes = ["'sha256-%s'" % base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script[0])]
    report("the policy allows this style and this script alone", len(script) == 1 and policy.startswith("default-src 'none'; ") and
           "style-src %s;" % hashes[0] in policy and "script-src %s;" % hashes[1] in policy and "unsafe" not in policy, policy)
    report("no name of a file is markup", capture.name not in text and "&lt;script&gt;alert(1)" in text)
    report("no text goes into the page as markup", not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function",
                                                                 script[0]))


def test_trace(scratch, page, capture):
    trace, other = os.path.join(scratch, "run.cpt"), pathlib.Path(scratch, "trace.html")
    subprocess.run([CPSCOPE, "run", "--fw", scratch + "/old.fw", str(capture), "-e", "all", "-o", trace], check=True,
                   capture_output=True, timeout=100)
    view("--fw", scratch + "/old.fw", trace, "-o", other)
    mine, theirs = sections(other), sections(page)
    report("a trace with all events gives the same page", all(mine[name] == theirs[name] for name in ("ev", "names", "code")))
    done = view("--fw", scratch + "/new.fw", trace, "-o", pathlib.Path(scratch, "wrong.html"), good=False)
    report("of another firmware it is refused", done.returncode == 3 and "another firmware" in done.stderr and
           not os.path.exists(scratch + "/wrong.html"), done.stderr)
    few = os.path.join(scratch, "few.trace")
    subprocess.run([CPSCOPE, "run", "--fw", scratch + "/old.fw", str(capture), "-o", few], check=True, capture_output=True, timeout=100)
    done = view("--fw", scratch + "/old.fw", few, "-o", pathlib.Path(scratch, "few.html"))
    report("one without steps gives a page without them", "without steps" in done.stderr and
           not json.loads(sections(scratch + "/few.html")["meta"])["steps"], done.stderr)


def test_data(scratch, page, capture):
    data = sections(page)
    meta = json.loads(data["meta"])
    trace = subprocess.run([CPSCOPE, "run", "--fw", scratch + "/old.fw", str(capture), "-e", "all"], capture_output=True,
                           text=True, timeout=100).stdout
    kinds = [line.split()[0] for line in trace.splitlines() if line and line[0] != "#"]
    ids = {"PKT": 1, "REG": 2, "PIPE": 4, "CTRL": 5, "MEMW": 6, "STEP": 10, "WORD": 19}
    counted = {kind: data["ev"][:meta["events"]].count(ids[kind]) for kind in ids}
    report("the page has the events of a trace", counted == {kind: kinds.count(kind) for kind in ids}, counted)
    bare = pathlib.Path(scratch, "bare.html")
    view("--fw", scratch + "/old.fw", "--no-code", capture, "-o", bare)
    rows = [row for part in json.loads(sections(bare)["code"])["parts"] for row in part]
    report("--no-code leaves out words and text of instructions", rows and not any(row[1] or row[2] or row[3] or len(row) > 5 for row in rows))


# A handler, and what the page has of each of its instructions for the question where a value comes from: its sort, the registers
# that it writes and reads, its base, and (rep) 1, (xmov1) to (xmov3) 2 to 6, (peek) 8; -1: it has none.
SORTS = """mov $02, $data                          a 2 -1 31 -1 0
(peek)mov $03, $data                    a 3 -1 31 -1 8
(rep)(xmov1)mov $04, $data              a 4 -1 31 -1 3
add $05, $03, $02                       a 5 3 2 -1 0
cread $06, [$00 + 0x039]                r 6 0 -1 57 0
cwrite $06, [$05 + 0x012]               w -1 5 6 18 0
sread $06, [$00 + %SP]                  R 6 0 -1 5 0
swrite $06, [$00 + %SP]                 W -1 0 6 5 0
mov $07, 0x1000                         i 7 -1 -1 -1 0
load $08, [$07 + 0x004]                 l 8 7 -1 4 0
store $08, [$07 + 0x008]                s -1 7 8 8 0
(rep)(xmov2)(peek)add $09, $05, $data   a 9 5 31 -1 13
(xmov3)mov $0a, $data                   a 10 -1 31 -1 6
shl $0b, $0a, 0x003                     a 11 10 -1 -1 0
breq $0b, 0x01, #end                    b -1 11 -1 -1 0
nop                                     b -1 -1 -1 -1 0"""


def test_code(scratch):
    rows = [line.rsplit(None, 6) for line in SORTS.split("\n")]
    make.firmware(CPSCOPE, scratch + "/sorts", claimfw.skeleton([], {0x10: [row[0].strip() for row in rows] + ["end: nop"]}, "a7xx"))
    capture, page = pathlib.Path(scratch, "sorts.pm4"), pathlib.Path(scratch, "sorts.html")
    capture.write_text("# cpscope-pm4 1\ngpu 740\nbuffer 0x00100000 ring\n CP_NOP 1 2 3 4 5 6 7 8\n CP_NOP\nring ring\n", encoding="utf-8")
    view("--fw", scratch + "/sorts.fw", capture, "-o", page)
    code = [row for part in json.loads(sections(page)["code"])["parts"] for row in part]
    first = next(i for i, row in enumerate(code) if row[4] == "CP_NOP")
    found = [[row[5], *map(str, row[6:])] for row in code[first:first + len(rows)]]
    report("sorts and registers of instructions", found == [row[1:] for row in rows], found)
    words = [row[:2] for row in code[first:first + 4]]
    report("their places and words", words == [[code[first][0] + i, word] for i, word in enumerate(
        (0x981f1006, 0x981f1906, 0x9c1f2206, 0x98622801))], words)


# Registers as rnndb has them: name, which half, fields (name, bits, kind, radix, shift, texts of values that were written), which half
# of an address.
NAMES = {
    0x8825: ["RB_MRT[0].BASE", 0, [], 1], 0x8826: ["RB_MRT[0].BASE", 1, [], 2],
    0x8887: ["RB_STENCIL_REF_CNTL", 0, [["REF", 0, 7, 0, 0, 0, {}], ["BFREF", 8, 15, 0, 0, 0, {}]], 0],
    0x8810: ["RB_PS_SAMPLEFREQ_CNTL", 0, [["PER_SAMP_MODE", 0, 0, 1, 0, 0, {}]], 0],
    0x8822: ["RB_MRT[0].BUF_INFO", 0, [["COLOR_FORMAT", 0, 7, 0, 0, 0, {"48": "FMT6_8_8_8_8_UNORM"}], ["COLOR_TILE_MODE", 8, 9, 0, 0, 0, {
        "0": "TILE6_LINEAR", "3": "TILE6_3"}], ["UNK10", 10, 10, 1, 0, 0, {}], ["COLOR_SWAP", 13, 14, 0, 0, 0, {"0": "WZYX", "1": "WXYZ"}]], 0],
}


def test_names(scratch):
    capture, page = pathlib.Path(scratch, "names.pm4"), pathlib.Path(scratch, "names.html")
    capture.write_text(make.pm4("reg RB_MRT[0].BASE 0x1000 0x5", "reg 0x8887 0x1280", "reg 0x8810 0x1", "reg 0x8812 0x3", "reg 0x8822 0x30",
                                "reg 0x8822 0x2330"), encoding="utf-8")
    view("--fw", scratch + "/old.fw", capture, "-o", page)
    known = json.loads(sections(page)["names"])["registers"]
    for number, row in NAMES.items():
        report("the names of 0x%x" % number, known.get(str(number)) == row, known.get(str(number)))
    report("a register that has no name", str(0x8812) not in known)


def compare_draws(name, page, *args):
    """Draws of the page against those of `state`, for each processor that has some."""
    data = sections(page)
    meta, count, known = json.loads(data["meta"]), 0, packets(data)
    for processor in meta["processors"]:
        word = {"BR": "sqe"}.get(processor["name"], processor["name"].lower())
        done = subprocess.run([CPSCOPE, "state", *map(str, args), "--processor", word, "--json"], capture_output=True, text=True, timeout=100)
        wanted = [(one["draw"], one["kind"], int(one["iova"], 16)) for one in json.loads(done.stdout)["draws"]]
        got = [(number, meta["kinds"][kind], known[p][1]) for p, kind, number, _ in meta["draws"] if known[p][0] == processor["name"]]
        report("%s: draws of %s have the numbers and kinds of state" % (name, word), got == wanted, (got[:3], wanted[:3]))
        count += len(got)
    return count


def make_draws(scratch):
    stream, page = pathlib.Path(scratch, "draws.pm4"), pathlib.Path(scratch, "draws.html")
    stream.write_text(make.pm4("CP_DRAW_INDX_OFFSET 0x84 0x1 0x3", "CP_EVENT_WRITE 0x1e", "reg 0x8810 0x1", "CP_EVENT_WRITE 0x31",
                               "CP_DRAW_INDX_OFFSET 0x84 0x1 0x6"), encoding="utf-8")
    view("--fw", scratch + "/old.fw", stream, "-o", page)
    report("a draw, a resolve, a draw", compare_draws("demo", page, "--fw", scratch + "/old.fw", stream) == 3)
    if not CORPUS:
        skip("draws of real captures", "no CPSCOPE_CORPUS")
        return page
    a7xx = os.path.join(STREAMS, "concurrent-binning.pm4")
    for name, capture, least in (("a680_sqe.fw", os.path.join(CORPUS, "captures", "fd-clouds.rd.gz"), 33), ("a740_sqe.fw", a7xx, 2)):
        real, firmware = pathlib.Path(scratch, "real.html"), os.path.join(CORPUS, "firmware", name)
        view("--fw", firmware, capture, "-o", real)
        count = compare_draws(name, real, "--fw", firmware, capture)
        report("%s: there are some" % name, count >= least, count)
    return page


# ---- the page ----

def open_page(browser, path, fragment=""):
    browser.open("about:blank")
    browser.open(path.as_uri() + fragment)
    machine.wait_until(lambda: browser.run("return document.body.classList.contains('ready') && !document.querySelector('#status:not([hidden])')"),
                       "the page is not ready")
    settle(browser)


def settle(browser):
    browser.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))")


def press(browser, *keys):
    for key in keys:
        browser.keys(key)
        settle(browser)


def place(browser):
    return dict(part.split("=", 1) for part in browser.run("return location.hash.slice(1)").split("&") if "=" in part)


def size(browser, width, height=800):
    browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


def picture(browser, name):
    folder = os.environ.get("CPSCOPE_SCREENSHOTS")
    if folder:
        browser.screenshot(os.path.join(folder, "view-%s.png" % name))


def titles(browser, css):
    return [browser.text(element) for element in browser.shown(css)]


def test_packet(browser, page):
    open_page(browser, page)
    report("the tree begins with a submission", "Submission 0" in titles(browser, "#tree .row .name"), titles(browser, "#tree .row .name"))
    row = next(r for r in browser.shown("#tree .row") if "CP_DRAW_INDX_OFFSET" in browser.text(r))
    browser.click(row)
    settle(browser)
    report("a click on a packet shows it", titles(browser, "#packet h1") == ["CP_DRAW_INDX_OFFSET"])
    picture(browser, "packet")
    text = browser.text(browser.shown("#packet")[0])
    report("with its payload's fields", "PRIM_TYPE" in text and "NUM_INDICES" in text, text)
    report("and the code that ran", len(browser.shown("#code .code.ran")) > 3 and "instruction" in titles(browser, "#code-count")[0])
    report("and what it did behind its groups", "draw-state group" in text and "PC_DRAWCALL_SIZE" in text, text)


def test_buffers(browser, page):
    """Of a payload, of memory, and of a register of 64 bits, whose upper half is the next write."""
    open_page(browser, page)
    row = next(r for r in browser.shown("#tree .row") if "CP_MEM_WRITE" in browser.text(r))
    browser.click(row)
    settle(browser)
    said = titles(browser, "#packet .field.buffer")
    report("an address of a payload has its buffer, and the memory that it wrote", said == ['[buf 1 "target" +0x8]'] * 2, said)
    row = next(r for r in browser.shown("#tree .row") if "RB_MRT[0].BASE" in browser.text(r))
    browser.click(row)
    settle(browser)
    said = titles(browser, "#packet .field.buffer")
    report("a register of 64 bits is whole, with its buffer", said == ['0x500001000 [buf 1 "target" +0x0]'], said)
    press(browser, "s")
    said = titles(browser, "#state .field.buffer")
    report("and in the state", '0x500001000 [buf 1 "target" +0x0]' in said, said)


def test_links(browser, page):
    """To the packet that recorded the writes, and back through the tree."""
    open_page(browser, page)
    browser.click(next(r for r in browser.shown("#tree .row") if "CP_DRAW_INDX_OFFSET" in browser.text(r)))
    settle(browser)
    here = place(browser)["packet"]
    other = next(e for e in browser.shown("#packet .head2 a") if browser.text(e).startswith("packet "))
    number = browser.text(other).split()[1]
    browser.click(other)
    settle(browser)
    report("a link leads to the packet that it names", place(browser)["packet"] == number, place(browser))
    press(browser, "[", "]")
    open_page(browser, page, "#packet=" + here)
    report("a fragment leads back", place(browser)["packet"] == here and titles(browser, "#packet h1") == ["CP_DRAW_INDX_OFFSET"])
    open_page(browser, page, "#packet=99999999&event=77&view=nothing&draw=123456789&x=%zz&q=")
    report("what is out of range or unknown is ignored", browser.run("return document.body.classList.contains('ready')") and
           browser.shown("#packet h1"))


def test_effects(browser, page):
    open_page(browser, page)
    press(browser, "]", "j")
    report("j chooses the first write", "event" in place(browser) and len(browser.shown("#packet .effect.here")) == 1, place(browser))
    report("and its instruction is marked", len(browser.shown("#code .code.here")) == 1)
    first = place(browser)["event"]
    press(browser, "j")
    second = place(browser)["event"]
    press(browser, "k")
    report("j and k go through the writes", first == place(browser)["event"] != second)
    dots = browser.shown("#code .code a.over")
    browser.click(dots[-1])
    settle(browser)
    report("a click on an instruction with an effect chooses that", len(browser.shown("#packet .effect.here")) == 1)
    press(browser, "w")
    report("w says where the value comes from", browser.shown("#code .why-item.end") and place(browser)["side"] == "why")
    picture(browser, "why")
    press(browser, ESCAPE, ESCAPE)
    report("Esc goes back level by level", "side" not in place(browser) and "event" not in place(browser), place(browser))


def test_keys(browser, page):
    open_page(browser, page, "#packet=1")
    press(browser, DOWN, DOWN)
    forth = place(browser)["packet"]
    press(browser, UP, UP)
    report("the arrows go from packet to packet", forth != "1" and place(browser)["packet"] == "1", forth)
    press(browser, "]", "s")
    report("s shows the state at the draw", place(browser).get("view") == "state" and browser.shown("#state .srow"), place(browser))
    picture(browser, "state")
    press(browser, "s", "v")
    report("v shows the steps", place(browser)["side"] == "steps" and len(browser.shown("#code .step")) > 3, place(browser))
    press(browser, "v", "?")
    report("? shows the keys, Esc closes them", browser.shown("#help") and not (press(browser, ESCAPE) or browser.shown("#help")))
    before = browser.run(BLUES % "bg")
    press(browser, "t", "t")
    after = browser.run(BLUES % "bg")
    press(browser, "t")
    report("t changes the theme, and comes round", before != after and before == browser.run(BLUES % "bg"), (before, after))
    press(browser, "+", "+", "-", "0")
    report("the timeline zooms by keys", browser.run("return time.from === wholeTime()[0] && time.to === wholeTime()[1]"))
    press(browser, "/", *"CP_EV")
    machine.wait_until(lambda: browser.shown("#results .result"), "nothing is found")
    report("/ searches, and letters are no keys there", browser.shown("#results .result") and
           all("CP_EV" in name for name in titles(browser, "#results .result .name")), titles(browser, "#results .result"))
    picture(browser, "search")
    press(browser, DOWN)
    report("arrows show a result", len(browser.shown("#results .here")) == 1 and
           place(browser)["packet"] in titles(browser, "#results .here .second")[0], place(browser))
    press(browser, ESCAPE)
    report("and Esc ends the search", not browser.shown("#results") and browser.shown("#tree .row"))


def test_state(browser, page):
    open_page(browser, page, "#view=state&draw=0")
    rows = browser.shown("#state .srow a.over")
    browser.click(rows[0])
    settle(browser)
    report("a click on a register of the state says why", browser.shown("#code .why-item.end"))
    browser.click(browser.shown("#close-why")[0])
    settle(browser)
    link = browser.shown("#state .srow .by a")[0]
    number = browser.text(link)
    browser.click(link)
    settle(browser)
    report("and the link leads to the packet that wrote it", place(browser).get("packet") == number and "view" not in place(browser), place(browser))


def test_kinds(browser, page):
    open_page(browser, page, "#view=state&draw=2")
    report("the state has its draw's number", titles(browser, "#state h2") == ["State at draw 2"], titles(browser, "#state h2"))
    report("and a register that was written before it", any("0x8810" in browser.text(row) for row in browser.shown("#state .srow.changed")))
    press(browser, "[")
    report("[ leads to the resolve before, by number", titles(browser, "#state h2") == ["State at resolve 1"] and
           place(browser).get("draw") == "1", place(browser))
    press(browser, "s")
    report("a packet says what it starts", titles(browser, "#packet .tag.resolve") == ["resolve 1"] and
           titles(browser, "#tree .badge") == ["0", "1", "2"], titles(browser, "#tree .badge"))
    report("kinds are counted", "2 draws, 1 resolve" in titles(browser, "#counts")[0], titles(browser, "#counts"))
    for words, count in (("is:resolve", 1), ("is:draw", 2), ("is:work", 3), ("is:dispatch", 0)):
        browser.run("setQuery('%s')" % words)
        settle(browser)
        report("%s finds %d" % (words, count), len(browser.shown("#results .result")) == count)
    picture(browser, "kinds")


def test_change(browser, change):
    open_page(browser, change)
    press(browser, "d")
    shown = titles(browser, "#tree .row.tree-row .mark.chg")
    report("d shows what differs", place(browser)["view"] == "diff" and shown, place(browser))
    press(browser, "n")
    picture(browser, "diff")
    marks = titles(browser, "#diff mark")
    report("n goes to a packet that does, with the digits marked", "5" in marks and "6" in marks, marks)
    text = browser.text(browser.shown("#diff")[0])
    report("and the code beside each other", "0x0123" in text and "+" in text, text)
    open_page(browser, change, "#view=diff")
    report("the place has it, too", place(browser)["view"] == "diff" and browser.shown("#diff .sides"))


def test_all_packets(browser, path, name):
    open_page(browser, path)
    wrong = browser.run("""return (async () => {
        const wrong = [];
        for (let p = 0; p < P.n; p++) {
            try {
                Object.assign(at, moved({packet: p, event: null, side: "path"}));
                paintPacket(), paintCode(), paintFoot();
                for (const row of p % 16 ? [] : shownEffects().slice(0, 4)) {
                    Object.assign(at, {row, side: p % 32 ? "why" : "steps"});
                    paintPacket(), paintCode();
                }
                for (const a of document.querySelectorAll("#packet a, #code a")) {
                    const to = placeFrom(a.getAttribute("href"));
                    if (to.packet === undefined && to.draw === undefined)
                        wrong.push(p + ": " + a.getAttribute("href"));
                }
            } catch (error) {
                wrong.push(p + ": " + error);
            }
        }
        return wrong.slice(0, 5);
    })()""")
    report("%s: every packet can be shown, and each link leads somewhere" % name, not wrong, wrong)


def test_widths(browser, page, change):
    for width in WIDTHS:
        size(browser, width)
        for path, fragment in ((page, "#packet=3"), (page, "#view=state&draw=0"), (change, "#view=diff&packet=3"), (page, "#q=CP")):
            open_page(browser, path, fragment)
            wide = [browser.run("showPane('%s'); paintAll(); return [document.documentElement.scrollWidth, ...[...document.querySelectorAll("
                                "'#left, #middle > section, #right, #top')].filter(e => e.offsetParent).map(e => Math.max(e.scrollWidth - e.clientWidth,"
                                "e.getBoundingClientRect().right - innerWidth))]" % pane) for pane in ("tree", "packet", "code", "state")]
            good = all(row[0] <= width and max(row[1:]) <= 1 for row in wide)
            report("%d px, %s: nothing is wider than the window" % (width, fragment), good, wide)
    size(browser, 375)
    open_page(browser, page, "#packet=3")
    panes = [browser.send("GET", "/element/%s/attribute/id" % e) for e in browser.shown("#left, #middle, #right")]
    report("a phone shows one pane, and a bar", len(panes) == 1 and len(browser.shown("#panes button")) == 4, panes)
    browser.click(browser.shown("#pane-code")[0])
    settle(browser)
    picture(browser, "phone")
    report("whose buttons change it", browser.shown("#right") and not browser.shown("#left, #middle"))
    size(browser, 1280)


def luminance(colour):
    parts = [int(colour[1 + i * (len(colour) // 3):][:len(colour) // 3] * (2 if len(colour) == 4 else 1), 16) / 255 for i in range(3)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


PAIRS = [(ink, ground) for ink in ("ink", "ink2", "ink3") for ground in ("bg", "panel", "hov")] + [
    ("acc", "bg"), ("acc", "panel"), ("ink", "sel"), ("ink2", "sel"), ("acc", "sel"), ("exec", "bg"), ("exec", "exec-bg"), ("chg", "bg"),
    ("chg", "chg-bg"), ("old", "old-bg"), ("amb", "amb-bg"), ("amb", "panel"), ("bad", "bad-bg"), ("ink", "amb-bg"), ("bg", "ink"),
    ("bg", "acc")]


def test_contrast(browser, page):
    open_page(browser, page)
    for theme in ("light", "dark"):
        browser.run("document.documentElement.dataset.theme = '%s'" % theme)
        ratios = {pair: contrast(*(browser.run(BLUES % name) for name in pair)) for pair in PAIRS}
        report("%s: text is at least 4.5:1 on its ground" % theme, min(ratios.values()) >= 4.5,
               {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 4.5})


def test_no_stream(browser, page):
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    browser.open("about:blank")
    browser.open(page.as_uri())
    machine.wait_until(lambda: any("Firefox 113" in browser.text(status) for status in browser.shown("#status")), "it is not said")
    report("a browser that cannot unpack is told which can", True)
    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_quiet(browser):
    console = [entry for entry in browser.log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    report("nothing is on the console", not console, console[:3])
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent" and
             m["params"]["documentURL"].startswith("file:")}
    others = [url for url in asked if not url.startswith(("file:", "data:", "about:"))]
    report("only the file itself was opened", asked and not others, others)


# ---- a real capture ----

WHY = """const kinds = {}; let n = 0, k = 0;
for (let i = 0; i < E.n; i++) {
    if (E.kind[i] !== REG || packetOfRow(i) < 0 || k++ % 5)
        continue;
    const {end} = whyOf(i, 24);
    const kind = end.kind === "payload" ? end.value === E.value[i] ? "word" : "changed word" : end.kind || end.title;
    kinds[kind] = (kinds[kind] || 0) + 1;
    n++;
}
return [n, kinds]"""
GROUPS = """const p = draws.find(p => continuationOf(p) >= 0);
const row = effectsOf(continuationOf(p)).find(i => E.kind[i] === REG && E.addr[i] === 0x9e0b);
const {items, end} = whyOf(row, 24);
const other = items.find(item => item.other && item.other.value === 0x1000000);
const chain = [];
const last = other && followRegister(chain, other.other.reg, other.step, 24);
return [end.kind, end.packet === p, end.word, items.some(item => /^control register/.test(item.note || "")), last && last.kind]"""


def test_corpus(browser, scratch):
    if not CORPUS:
        skip("a real capture", "no CPSCOPE_CORPUS")
        return
    page = pathlib.Path(scratch, "clouds.html")
    firmware = [os.path.join(CORPUS, "firmware", name) for name in ("a650_sqe-089.fw", "a680_sqe.fw")]
    view("--fw", firmware[0], "--fw", firmware[1], os.path.join(CORPUS, "captures", "fd-clouds.rd.gz"), "-o", page)
    report("a page of 2,647 packets has less than 300 kB", page.stat().st_size < 300000, page.stat().st_size)
    open_page(browser, page)
    count, kinds = browser.run(WHY)
    report("four of five writes lead to a word of a payload with their value", kinds.get("word", 0) > 0.78 * count, kinds)
    report("nothing ends without a kind", set(kinds) <= {"word", "changed word", "constant", "memory", "register", "hardware", "cut"}, kinds)
    through = browser.run(GROUPS)
    report("a draw with groups leads through a control register to its own payload, word 0", through[:4] == ["payload", True, 0, True], through)
    test_all_packets(browser, page, "fd-clouds")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        page, change, capture = make_pages(scratch)
        test_command(scratch, page, capture)
        test_file(page, capture)
        test_data(scratch, page, capture)
        test_code(scratch)
        test_names(scratch)
        test_trace(scratch, page, capture)
        draws = make_draws(scratch)
        why = webdriver.missing()
        if why:
            skip("the page in a browser", why)
        else:
            with webdriver.Browser(scratch) as browser:
                for test in (test_packet, test_links, test_effects, test_keys, test_state, test_contrast):
                    test(browser, page)
                test_buffers(browser, pathlib.Path(scratch, "buffers.html"))
                test_change(browser, change)
                test_kinds(browser, draws)
                test_all_packets(browser, page, "the demo")
                test_all_packets(browser, pathlib.Path(scratch, "few.html"), "without steps")
                test_widths(browser, page, change)
                test_corpus(browser, scratch)
                test_quiet(browser)
                test_no_stream(browser, page)
    plan()


main()

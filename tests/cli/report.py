#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report of `cpscope regress`, opened from disk in Chromium and used as a person does.

Two firmware revisions differ in one handler; some captures have names that want to be markup.
Without chromium and chromedriver all of it is skipped. CPSCOPE_SCREENSHOTS names a folder for
pictures of what was seen. Usage: report.py CPSCOPE
"""
import json
import os
import pathlib
import tempfile

import make
import webdriver
from tap import plan, report
from scene import CPSCOPE, run
from tree import DEMO

TAB, ENTER = "\ue004", "\ue007"
HOSTILE = ['<script>alert(1)<&script>&".pm4', "'><img src=x onerror=alert(2)>.pm4"]
SAME = ["CP_NOP 0x1 0x2", "reg 0x8810 0x1", "CP_EVENT_WRITE 0x31"]
DIFFERS = make.EVENT


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_firmware(scratch):
    """old; new, where one constant and one more instruction differ, so that what follows moves."""
    old, new = make.EVENT_CMD
    make.revisions(CPSCOPE, DEMO, scratch, old, "        mov $05, 0x123\n" + new)


def make_capture(path, packets):
    write(path, make.pm4(*packets))


def make_captures(scratch, number):
    """Every third one differs, the last one ends with no packet at all."""
    os.mkdir(os.path.join(scratch, "rd"))
    names = HOSTILE + ["cap%04d.pm4" % i for i in range(len(HOSTILE), number)]
    for i, name in enumerate(names):
        packets = SAME + ([DIFFERS] if i % 3 == 0 else []) + SAME
        packets += [".word 0xdeadd00d"] if i == number - 1 else []
        make_capture(os.path.join(scratch, "rd", name), packets)


def regress(scratch, out):
    path = os.path.join(scratch, out)
    done = run("regress", os.path.join(scratch, "manifest"), "-o", path,
                           "--no-cache", "--jobs", "2")
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return pathlib.Path(path, "index.html")


def make_all(scratch, number):
    make_firmware(scratch)
    make_captures(scratch, number)
    write(os.path.join(scratch, "manifest"), "# cpscope-manifest 1\nfirmware old old.fw\n"
          "firmware new new.fw\nbaseline old\ncapture rd/*\n")
    return regress(scratch, "out")


def picture(browser, name):
    folder = os.environ.get("CPSCOPE_SCREENSHOTS")
    if folder:
        browser.screenshot(os.path.join(folder, name + ".png"))


def is_detail(browser):
    """What a person must see: both sides of packet and handler, with what differs marked."""
    shown = [browser.text(e) for e in browser.shown("section.page mark.here")]
    values = [m for m in shown if "EVENT_CMD" in m]
    code = [m for m in shown if "mov $data, 0x" in m]
    return (len(values) == 2 and "0x00000005" in values[0] and "0x00000006" in values[1] and
            len(code) == 2 and "0x0005" in code[0] and "0x0006" in code[1])


def test_matrix(browser, number):
    picture(browser, "matrix")
    rows = browser.shown("#matrix tbody tr")
    report("the matrix has a row per capture", len(rows) == number, len(rows))
    heads = [browser.text(e) for e in browser.shown("#matrix thead th")]
    report("and a column per firmware, the baseline named",
           heads == ["capture", "old\nbaseline", "new"], heads)
    cells = browser.shown("#matrix tbody td")
    report("with a cell per pair", len(cells) == 2 * number, len(cells))


def test_clicks(browser):
    browser.click(browser.shown("#matrix td.differs a")[1])
    picture(browser, "divergence")
    report("one click on a cell shows packet and handlers of both sides", is_detail(browser))
    report("and nothing but them", not browser.shown("main") and len(browser.shown("article")) == 1)
    left, right = [browser.rect(e) for e in browser.shown("section.page > .sides figure")]
    report("side by side", left["y"] == right["y"] and left["x"] < right["x"], (left, right))
    sides = [browser.text(e).rstrip("\n") for e in browser.shown("section.page > .sides pre")]
    lines = [[line for line in side.split("\n")] for side in sides]
    inserted = next((i for i, line in enumerate(lines[1]) if "mov $05, 0x0123" in line), -1)
    report("an instruction that one side has more leaves the others in line",
           inserted > 0 and lines[0][inserted - 1].split()[1:] == lines[1][inserted - 1].split()[1:]
           and lines[0][-1].split()[-1] == lines[1][-1].split()[-1]
           and len(lines[0]) == len(lines[1]), sides)
    browser.click(browser.link("matrix"))
    report("the way back leads to the matrix", len(browser.shown("#matrix")) == 1 and
           not browser.shown("article"))


def test_two_clicks(browser):
    browser.click(browser.shown("#places a")[0])
    listed = [browser.text(e) for e in browser.shown(".captures a")]
    report("a click on the handler lists the captures that differ there", len(listed) == 4, listed)
    browser.click(browser.link(listed[-1], ".captures a"))
    report("a second click shows one of them", is_detail(browser) and
           listed[-1] in browser.text(browser.shown("article h3")[0]))
    browser.click(browser.link("previous capture"))
    report("its neighbour is one more away", is_detail(browser) and
           listed[-2] in browser.text(browser.shown("article h3")[0]))


def test_stopped(browser):
    browser.click(browser.shown("#matrix td.stopped a")[0])
    text = browser.text(browser.shown("article")[0])
    report("a cell that stopped says where", "bad-packet, expected done" in text and
           "0xdeadd00d" in text, text)


def test_filter(browser, number):
    browser.click(browser.find("label[for=f-pass]")[0])
    shown = len(browser.shown("#matrix tbody tr"))
    report("the legend's box hides rows of that status", 0 < shown < number, shown)
    browser.click(browser.find("#f-pass")[0])
    report("and brings them back", len(browser.shown("#matrix tbody tr")) == number)


def test_keyboard(browser):
    for _ in range(40):
        browser.keys(TAB)
        if browser.run("return document.activeElement.matches('#matrix td.differs a')"):
            break
    browser.keys(ENTER)
    report("Tab and Enter lead to a divergence as well", is_detail(browser))


def test_narrow(browser):
    browser.click(browser.shown("#matrix td.differs a")[0])
    browser.resize(520, 900)
    picture(browser, "narrow")
    top, bottom = [browser.rect(e) for e in browser.shown("section.page > .sides figure")]
    report("in a narrow window the sides stand below each other", top["x"] == bottom["x"] and
           top["y"] < bottom["y"], (top, bottom))
    report("and nothing leaves the window", browser.run(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
    browser.resize(1280, 800)


def test_dark(browser):
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    feature = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.devtools("Emulation.setEmulatedMedia", features=feature)
    dark = browser.run(colour)
    browser.click(browser.shown("#matrix td.differs a")[0])
    picture(browser, "dark")
    browser.devtools("Emulation.setEmulatedMedia", features=[])
    report("it is dark where the desktop is", light == "rgb(255, 255, 255)" and dark != light,
           (light, dark))


def test_coverage(browser, path):
    with open(path.parent / "results.json", encoding="utf-8") as file:
        handlers = json.load(file)["coverage"]["new"]
    browser.click(browser.link("handler coverage"))
    picture(browser, "coverage")
    table = browser.text(browser.shown("#coverage ~ details table")[0])
    report("coverage has a row per handler", table.count("\n") == len(handlers) and
           "CP_EVENT_WRITE" in table, table)


def test_hostile(browser):
    shown = [browser.text(e) for e in browser.shown("#matrix tbody th")]
    report("names are text, whatever they hold", all("rd/" + name in shown for name in HOSTILE),
           shown)
    report("no script, image or frame is in the page", not browser.find("script, img, iframe, object"))


def test_quiet(browser):
    console = browser.log("browser")
    report("nothing is on the console", not console, console)
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    urls = {p["request"]["url"] for p in asked if p["documentURL"].startswith("file:")}
    others = [u for u in urls if not u.startswith(("file:", "data:,"))]
    report("only the file itself was opened", urls and not others, others)


def test_large(browser, scratch):
    os.mkdir(scratch)
    path = make_all(scratch, 1000)
    browser.open(path.as_uri())
    report("1,000 captures on 2 firmware make a page of less than 1 MB", path.stat().st_size < 1 << 20,
           path.stat().st_size)
    rows = browser.run("return document.querySelectorAll('#matrix tbody tr').length")
    report("which opens", rows == 1000, rows)
    browser.click(browser.shown("#places a")[0])
    browser.click(browser.shown(".captures a")[300])
    report("and leads to one of its divergences", is_detail(browser))


def main():
    why = webdriver.missing()
    if why:
        print("1..0 # SKIP " + why)
        return
    number = 12
    with tempfile.TemporaryDirectory() as scratch:
        path = make_all(scratch, number)
        same = path.read_bytes() == regress(scratch, "again").read_bytes()
        report("the page has the same bytes each time", same)
        with webdriver.Browser(scratch) as browser:
            for test in (lambda b: test_matrix(b, number), test_clicks, test_two_clicks,
                         test_stopped, lambda b: test_filter(b, number), test_keyboard,
                         test_narrow, test_dark, lambda b: test_coverage(b, path), test_hostile):
                browser.open("about:blank")
                browser.open(path.as_uri())
                test(browser)
            test_quiet(browser)
            test_large(browser, os.path.join(scratch, "large"))
    plan()


main()

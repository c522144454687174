#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`audit`: firmware made of the demo's source, with a flaw and without; verdicts are checked against the events
of `run` on the same case, read here once more. Usage: audit.py CPSCOPE [zstd] [xz]; with CPSCOPE_CORPUS also on
real firmware."""
import glob
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys

import audit_page
import cptread
import hang_scene
import make
import tap
from scene import CORPUS, cpscope, path
from tree import ROOT

CASES = sorted(glob.glob(os.path.join(ROOT, "fw", "audit", "*.pm4")))
DEMO = open(os.path.join(ROOT, "fw", "demo", "demo_sqe.afuc"), encoding="utf-8").read()

# CP_RUN_OPENCL does nothing here; the page table is register 0x8820, and the ring's alone as far as MASK says.
TABLE = """
CP_SMMU_TABLE_UPDATE:
        and $02, $12, MASK
        brne $02, 0x0, #drop_packet
        nop
        mov $addr, 0x8820
        mov $data, $data
        (rep)mov $00, $data
        waitin
        mov $01, $data
"""
GOOD = DEMO.replace("\ndrop_packet:", "\nCP_RUN_OPENCL:\ndrop_packet:").replace(
    "\nCP_CONTEXT_REG_BUNCH:", TABLE.replace("MASK", "0x3") + "\nCP_CONTEXT_REG_BUNCH:")
BAD = GOOD.replace("and $02, $12, 0x3\n", "and $02, $12, 0x4\n")
UNCHECKED = GOOD.replace("ushr $usraddr, $01, 0x8", "ushr $addr, $01, 0x8")
VERDICTS = ("not affected", "has the flaw", "not applicable", "undecided")
CASE = """# cpscope-pm4 1
;@ flaw        it writes where it must not
;@ generations a6xx
;@ needs       reg 0x8811 *
;@ never       reg 0x8810 0x7      never
;@ evidence    none: a test
buffer 0x00100000 frame
    reg 0x8810 %s
    reg 0x8811 0x1
submit frame
"""


def firmware(name, source):
    text = path(name + ".afuc", source)
    cpscope("asm", text, "-o", path(name))
    return path(name)


def audit(*args, status=0):
    done = cpscope("audit", *args, "--json", status=status)
    report = json.loads(done.stdout)
    for row in report["files"]:
        assert all(flaw["verdict"] in VERDICTS for flaw in row.get("flaws", [])), row
    flaws = [flaw["verdict"] for row in report["files"] for flaw in row.get("flaws", [])]
    unchecked = sum(row.get("unchecked", 0) for row in report["files"])
    assert report["flaws"] == flaws.count("has the flaw") + unchecked, report["flaws"]
    return report


def verdicts(row):
    return {flaw["case"]: flaw["verdict"] for flaw in row["flaws"]}


def corpus(*names):
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    return [os.path.join(CORPUS, "firmware", name) for name in names]


def by_events(firmwares, case):
    """The verdict once more: the lines of the case against the trace of `run`."""
    text = open(case, encoding="utf-8").read()
    args = [word for name in firmwares for word in ("--fw", name)]
    out = path("case.trace")
    status = 0
    try:
        cpscope("run", "-e", "all", *args, case, "-o", out)
    except AssertionError:
        status = 4
        cpscope("run", "-e", "all", *args, case, "-o", out, status=4)
    events = set()
    for line in open(out, encoding="utf-8"):
        found = re.match(r"(?:\w+ )?(REG|CTRL|MEMW) (0x[0-9a-f]+) (0x[0-9a-f]+)", line)
        if found:
            events.add((found[1].lower(), int(found[2], 16), int(found[3], 16)))

    def seen(kind, place, value):
        return any(kind == event[0] and (place == "*" or int(place, 0) == event[1]) and
                   (value == "*" or int(value, 0) == event[2]) for event in events)
    lines = re.findall(r"^;@ (needs|never) +(\w+) +(\S+) +(\S+)", text, re.M)
    if any(seen(*line[1:]) for line in lines if line[0] == "never"):
        return "has the flaw"
    return "undecided" if status or not all(seen(*line[1:]) for line in lines if line[0] == "needs") else "not affected"


def without_flaw():
    row, = audit(firmware("good.fw", GOOD))["files"]
    assert verdicts(row)["page-table-from-draw-state"] == "not affected", row["flaws"]
    assert all(row["protect"][0][level] == "checked" for level in ("rb", "ib1", "ib2", "sds")), row["protect"]
    assert row["protect"][0]["ib3"] == "-"
    assert (row["id"], row["version"], row["generation"]) == (0x6ee, 1, "a6xx")
    text = cpscope("audit", path("good.fw")).stdout
    assert "page-table-from-draw-state     not affected\n" in text and not re.search(r" $", text, re.M)


def with_flaw():
    row, = audit(firmware("bad.fw", BAD), status=1)["files"]
    flaw, = (flaw for flaw in row["flaws"] if flaw["verdict"] == "has the flaw")
    assert flaw["case"] == "page-table-from-draw-state" and flaw["why"].startswith("sds CP_SMMU_TABLE_UPDATE: REG 0x8820 0x53c06000 data"), flaw
    assert "has the flaw" in cpscope("audit", path("bad.fw"), status=1).stdout


def unchecked():
    row, = audit(firmware("unchecked.fw", UNCHECKED), status=1)["files"]
    first = row["protect"][0]
    assert first["packet"] == "type 4" and first["ib1"] == first["sds"] == "unchecked", first
    assert row["protect"][1]["ib1"] == "checked", row["protect"]
    assert row["unchecked"] == 9 and first["why"].startswith("rb: REG 0x8818 0x53c0a000 data"), row


def undecided():
    row, = audit(firmware("demo.fw", DEMO), status=4)["files"]
    assert row["protect"][0]["sds"] == "undecided" and "sds: at 0x" in row["protect"][0]["why"], row["protect"]
    assert set(verdicts(row).values()) == {"not applicable"}
    stuck = DEMO.replace("\nCP_ME_INIT:\n", "\nCP_ME_INIT:\n        jump #CP_ME_INIT\n        nop\n")
    row, = audit(firmware("stuck.fw", stuck), "--cases", own("stuck", CASE % "0x7"), status=4)["files"]
    assert row["flaws"][0]["verdict"] == "undecided" and row["flaws"][0]["why"], row


def own(name, text):
    folder = path("cases-" + name)
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, "mine.pm4"), "w", encoding="utf-8").write(text)
    return folder


def own_cases():
    good = firmware("good.fw", GOOD)
    report = audit(good, "--cases", own("a", CASE % "0x7"), status=1)
    assert [case["name"] for case in report["cases"]] == ["mine"]
    assert verdicts(report["files"][0]) == {"mine": "has the flaw"}
    assert verdicts(audit(good, "--cases", own("b", CASE % "0x8"))["files"][0]) == {"mine": "not affected"}
    unreached = (CASE % "0x8").replace("needs       reg 0x8811", "needs       reg 0x8812")
    assert "no reg 0x8812 *" in audit(good, "--cases", own("c", unreached), status=4)["files"][0]["flaws"][0]["why"]
    other = (CASE % "0x7").replace("a6xx", "a7xx a8xx")
    assert verdicts(audit(good, "--cases", own("d", other))["files"][0]) == {"mine": "not applicable"}


def bad_cases():
    good = firmware("good.fw", GOOD)
    for old, new, said in (
            ("reg 0x8811 *", "reg", "mine.pm4:4: expected a class"), ("reg 0x8811 *", "reg * *", ":4: expected"),
            ("reg 0x8811 *", "step 0x1 0x1", "class of events"), ("reg 0x8811 *", "reg,ctrl 0x1 0x1", "class of events"),
            ("reg 0x8811 *", "reg 0x8811 0x100000000", "class of events"), ("a6xx", "a9xx", 'found "a9xx"'),
            (";@ evidence", ";@ proof", 'found "proof"'), (";@ evidence", "; evidence", "expected lines"),
            (";@ never", "; never", "must never be"), (";@ needs", "; needs", "expected an event that it needs"),
            (";@ flaw        it writes where it must not", ";@ flaw", 'expected one line "flaw"'),
            (";@ evidence", ";@ flaw   twice\n;@ evidence", 'expected one line "flaw"'), (";@ flaw", ";@", 'found "it"'),
            ("buffer 0x00100000 frame", "buffer 0x00100000", "expected a name for the buffer"),
            ("reg 0x8811 0x1", "reg NO_SUCH_REGISTER 0x1", "NO_SUCH_REGISTER"), ("# cpscope-pm4 1\n", "\0", "0x00")):
        done = cpscope("audit", good, "--cases", own("bad", (CASE % "0x7").replace(old, new)), status=3)
        assert said in done.stderr and "mine" in done.stderr, (said, done.stderr)
        assert done.stderr.startswith("cpscope: ") and not done.stdout, done
    os.makedirs(path("none"), exist_ok=True)
    assert "expected cases" in cpscope("audit", good, "--cases", path("none"), status=3).stderr
    cpscope("audit", good, "--cases", path("no-such-folder"), status=3)


def nearest():
    os.makedirs(path("known"), exist_ok=True)
    moved = GOOD.replace("\nCP_MEM_WRITE:", "\n        nop\n        nop\nCP_MEM_WRITE:")
    newer = GOOD.replace("[016ee001]", "[016ee002]").replace("\nCP_WAIT_FOR_ME:\n", "\nCP_WAIT_FOR_ME:\n        mov $02, 0x1\n")
    firmware("known/moved.fw", moved)
    firmware("known/newer.fw", newer)
    good = firmware("good.fw", GOOD)
    row, = audit(good, "--known", path("known"))["files"]
    assert row["nearest"]["name"] == path("known/moved.fw") and row["nearest"]["equal"] == row["handlers"], row
    assert not row["nearest"]["same_contents"]
    row, = audit(good, "--known", path("known/newer.fw"))["files"]
    assert row["nearest"]["equal"] == row["handlers"] - 1 == row["nearest"]["of"] - 1, row
    shutil.copy(good, path("known/copy.fw"))
    assert audit(good, "--known", path("known"))["files"][0]["nearest"] == {
        "name": path("known/copy.fw"), "equal": row["handlers"], "of": row["handlers"], "same_contents": True}
    assert "nearest" not in audit(good)["files"][0]
    # What one has for packets that there are not, and the other for a packet of its own.
    own = ("\nCP_RUN_OPENCL:\n        mov $02, 0x1\n        cwrite $02, [$00 + 0x064]\nown:\n        jump #own\n        nop\n"
           "\nCP_MEM_WRITE:")
    more, less = firmware("more.fw", DEMO.replace("\nCP_MEM_WRITE:", own)), firmware("less.fw", DEMO)
    for image, known in ((more, less), (less, more)):
        row, = audit(image, "--known", known, status=4)["files"]
        assert row["nearest"] == {"name": known, "equal": row["handlers"], "of": row["handlers"], "same_contents": False}, row


def folders():
    folder = path("images")
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    shutil.copy(firmware("good.fw", GOOD), os.path.join(folder, "b<i>&.fw"))
    shutil.copy(firmware("bad.fw", BAD), os.path.join(folder, "sub", "a.fw"))
    open(os.path.join(folder, "c.pm4"), "w", encoding="utf-8").write(make.pm4("CP_NOP 0x1", "reg 0x8810 0x1"))
    open(os.path.join(folder, "d.rd"), "wb").write(make.capture(make.type7(0x10, 1)))
    open(os.path.join(folder, "e.txt"), "w", encoding="utf-8").write("neither\n")
    open(os.path.join(folder, "f.fw"), "wb").close()
    shutil.copy(os.path.join(ROOT, "tests", "scripts", "pause.run"), os.path.join(folder, "g.run"))
    os.symlink("b<i>&.fw", os.path.join(folder, "h.fw"))
    report = audit(folder, "-o", path("report"), status=3)
    names = [os.path.relpath(row["name"], folder) for row in report["files"]]
    assert names == ["b<i>&.fw", "c.pm4", "d.rd", "e.txt", "f.fw", "g.run", "sub/a.fw"], names
    kinds = [row["kind"] for row in report["files"]]
    assert kinds == ["firmware", "capture", "capture", "skipped", "error", "skipped", "firmware"], kinds
    assert (report["errors"], report["skipped"]) == (1, 2), report
    assert report["files"][2]["packets"] == {"type4": 0, "CP_NOP": 1} and report["files"][2]["gpu_id"] == 630
    assert "audit is about firmware of Adreno's command processors (afuc)" in report["files"][5]["why"]
    assert json.load(open(path("report/audit.json"), encoding="utf-8")) == report
    page = open(path("report/index.html"), encoding="utf-8").read()
    assert "b&lt;i&gt;&amp;.fw" in page and "<i>" not in page and "has the flaw" in page
    assert "<p>7 files: 1 flaw, 0 questions undecided, 1 unreadable, 2 skipped.</p>" in page
    again = cpscope("audit", folder, "-o", path("report2"), status=3)
    assert again.stdout == cpscope("audit", folder, status=3).stdout
    assert again.stdout.endswith("\n7 files: 1 flaw, 0 questions undecided, 1 unreadable, 2 skipped\n")
    assert page == open(path("report2/index.html"), encoding="utf-8").read()
    audit_page.check(path("report"))


def pages():
    """Of each verdict one, and of files each kind."""
    stuck = DEMO.replace("\nCP_ME_INIT:\n", "\nCP_ME_INIT:\n        jump #CP_ME_INIT\n        nop\n")
    images = [firmware(name, text) for name, text in
              (("good.fw", GOOD), ("bad.fw", BAD), ("unchecked.fw", UNCHECKED), ("stuck.fw", stuck))]
    whole, hole = dump_of("whole.devcore", images[0]), dump_of("hole.devcore", images[1], range(0x100, 0x140))
    for name, more, status in (("one", [], 1), ("two", ["--known", images[0], whole, hole, path("text.txt", "neither\n")], 3)):
        cpscope("audit", *images, *more, "-o", path("page-" + name), status=status)
        audit_page.check(path("page-" + name))
    words = {cell.text for cell in audit_page.markup.read(path("page-two/index.html")).all("td") if "class" in cell.attributes}
    assert {"not affected", "has the flaw", "not applicable", "undecided", "checked", "unchecked", "-"} <= words, words


def firmware_in_folders():
    """Compressed images are audited as the plain one is. Of what is damaged or unreadable each is an error; other files are not."""
    good, bad = (open(firmware(name, text), "rb").read() for name, text in (("good.fw", GOOD), ("bad.fw", BAD)))
    packings = {".gz": gzip.compress, **({".zst": cptread.zstd} if "zstd" in sys.argv else {}),
                **({".xz": lzma.compress} if "xz" in sys.argv else {})}
    for suffix, pack in packings.items():
        folder = path("packed" + suffix)
        os.makedirs(folder)
        for name, data in (("good.fw", good), ("bad.fw", bad)):
            open(os.path.join(folder, name + suffix), "wb").write(pack(data))
        rows = audit(folder, "--known", path("bad.fw"), status=1)["files"]
        assert [row["kind"] for row in rows] == ["firmware"] * 2 and rows[0]["nearest"]["same_contents"], rows
        for name, row in zip(("bad.fw", "good.fw"), rows):
            plain, = audit(path(name), status=int(name == "bad.fw"))["files"]
            assert (row["flaws"], row["protect"], row["dwords"]) == (plain["flaws"], plain["protect"], plain["dwords"]), row
    damage = {"short.fw": good[:-1], "word.fw": good[:-4], "table.fw": good[:len(good) // 2 // 4 * 4], "empty.fw": b"", "three.fw.gz": b"abc",
              "cut.gz": gzip.compress(good)[:-3], "cut.fw.zst": b"\x28\xb5\x2f\xfd\x00", "long.fw": good + b"\0"}
    for name, data in damage.items():
        folder = path("damaged-" + name)
        os.makedirs(folder)
        shutil.copy(path("good.fw"), os.path.join(folder, "good.fw"))
        open(os.path.join(folder, name), "wb").write(data)
        report = audit(folder, status=3)
        assert (report["errors"], report["skipped"]) == (1, 0), report
        row, = [row for row in report["files"] if row["name"].endswith(name)]
        assert row["kind"] == "error" and row["why"], row
    others = path("others")
    os.makedirs(others)
    shutil.copy(path("good.fw"), os.path.join(others, "good.fw"))
    older = {"pm4.fw": [0, 0x4ff065, 0xc0200400, 0, 7], "pfp.fw": [0, 0xc60400, 7, 0xa00000, 7]}
    for name, data in (*((name, make.dwords(words)) for name, words in older.items()), ("x.jsn", b"{}\n"), ("LICENSE", b"a text\n" * 9),
                       ("zeros.bin", bytes(400)), ("empty.txt", b""), ("zap.mbn", b"\x7fELF\1\1\1" + bytes(37) + b"\x20\0\1\0" + bytes(84))):
        open(os.path.join(others, name), "wb").write(data)
    report = audit(others)
    why = {os.path.basename(row["name"]): row.get("why", "") for row in report["files"]}
    assert (report["errors"], report["skipped"]) == (0, 7), report
    assert all("firmware of a2xx to a4xx" in why[name] for name in older) and "another processor of the chip" in why["zap.mbn"], why
    assert all(why[name].startswith("neither firmware") for name in ("x.jsn", "LICENSE", "zeros.bin", "empty.txt")), why
    for name in (*older, "zap.mbn"):
        done = cpscope("run", "--fw", os.path.join(others, name), status=3)
        assert done.stderr.count("\n") == 1 and "offset 0x" in done.stderr and why[name].split(";")[0].split(",")[0][-20:] in done.stderr, done.stderr


def few_descriptors():
    """A folder of more files than a process may have open: each is closed when it was read."""
    folder = path("many")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(firmware("good.fw", GOOD), os.path.join(folder, "z.fw"))
    for i in range(60):
        for name, data in (("t%d.txt" % i, b"neither\n"), ("c%d.rd" % i, make.capture(make.type7(0x10, 1))),
                           ("p%d.pm4" % i, make.pm4("CP_NOP 0x1").encode()), ("e%d.rd" % i, b"")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
    limit = "ulimit -n 40; exec \"$@\""
    done = subprocess.run(["bash", "-c", limit, "bash", sys.argv[1], "audit", folder], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, cpscope("audit", folder).stdout), done


def named_files():
    good, text = firmware("good.fw", GOOD), path("text.txt", "this is no firmware\n")
    done = cpscope("audit", text, good, "--json", status=3)
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("cpscope: " + text), done.stderr
    kinds = [row["kind"] for row in json.loads(done.stdout)["files"]]
    assert kinds == ["error", "firmware"], kinds
    cpscope("audit", path("no-such-file"), status=3)
    done = cpscope("audit", os.path.join(ROOT, "tests", "scripts", "pause.run"), status=3)
    assert "audit is about firmware of Adreno's command processors (afuc)" in done.stderr
    os.makedirs(path("nothing"), exist_ok=True)
    for args in ([path("nothing")], [os.path.join(ROOT, "docs", "engines")], [path("nothing"), "--known", good]):
        done = cpscope("audit", *args, status=3)
        assert "found no firmware and no capture" in done.stderr and not done.stdout, done
    for args in ([], ["-"], [good, "--fw", good]):
        cpscope("audit", *args, status=2)
    cpscope("audit", good, "-o", path("file", "x"), status=3)
    assert open(path("file")).read() == "x"


def damaged():
    """Whatever the words are, it ends, and says something."""
    data = open(firmware("bad.fw", BAD), "rb").read()
    for at in range(16, 400, 12):
        hurt = path("hurt.fw", data[:at] + bytes([data[at] ^ 0xff, 0x37]) + data[at + 2:])
        for status in (0, 1, 3, 4):
            try:
                cpscope("audit", hurt, status=status)
                break
            except AssertionError:
                assert status != 4, "byte %d" % at


def valid_texts():
    good = firmware("good.fw", GOOD)
    for case in CASES:
        text = open(case, encoding="utf-8").read()
        assert text.startswith("# cpscope-pm4 1\n; SPDX-License-Identifier: MIT\n"), case
        cpscope("info", case)
    assert by_events([good], CASES[[os.path.basename(c) for c in CASES].index("page-table-from-draw-state.pm4")]) == "not affected"
    return "%d cases" % len(CASES)


def dump_of(name, image, without=()):
    return path(name, hang_scene.code_dump(image, without))


def dumps():
    good, bad = firmware("good.fw", GOOD), firmware("bad.fw", BAD)
    known = ["--known", good]
    row, = audit(dump_of("bad.devcore", bad), *known, status=1)["files"]
    assert row["recovered"]["unknown"] == 0 and row["recovered"]["handlers"] == row["recovered"]["whole"] > 10, row
    direct = {name: verdict for name, verdict in verdicts(audit(bad, status=1)["files"][0]).items()}
    assert verdicts(row) == direct and direct["page-table-from-draw-state"] == "has the flaw", row
    handler = [int(line.split(";")[1].split()[0], 16) for line in cpscope("disasm", bad).stdout.splitlines()
               if "and $02, $12, 0x0004" in line][0]
    row, = audit(dump_of("hole.devcore", bad, [handler]), *known, status=4)["files"]
    flaw, = (flaw for flaw in row["flaws"] if flaw["case"] == "page-table-from-draw-state")
    assert flaw["verdict"] == "undecided" and flaw["why"].endswith("good.fw: not affected") and "words that it executes" in flaw["why"], flaw
    assert row["recovered"]["whole"] < row["recovered"]["handlers"], row
    text = cpscope("audit", path("hole.devcore"), *known, status=4).stdout
    assert "handlers are" not in text and " are in the dump as a whole\n" in text, text
    row, = audit(path("hole.devcore"), status=4)["files"]
    assert "no image among the files is near it" in row["why"] and "flaws" not in row, row
    cpscope("audit", path("bad.devcore"), *known, "-o", path("dump"), status=1)
    page = open(os.path.join(path("dump"), "index.html"), encoding="utf-8").read()
    assert "are in the dump as a whole" in page and "has the flaw" in page


def jobs():
    """Any number of threads gives the same bytes, on stdout, on stderr and in the report."""
    folder = path("many")
    os.makedirs(folder, exist_ok=True)
    for i in range(7):
        shutil.copy(firmware("bad.fw" if i % 2 else "good.fw", BAD if i % 2 else GOOD), os.path.join(folder, "%d.fw" % i))
    dump_of("many/x.devcore", path("bad.fw"))
    broken = [path("broken%d" % i, b"\x00" * i) for i in range(3)]
    seen = set()
    for count in ("0", "1", "2", "5", "64"):
        done = cpscope("audit", folder, *broken, "--json", "--jobs", count, "-o", path("many-report"), status=3)
        pages = [open(os.path.join(path("many-report"), name), encoding="utf-8").read() for name in ("index.html", "audit.json")]
        seen.add((done.stdout, done.stderr, *pages))
    assert len(seen) == 1 and done.stderr.count("broken") == 3, seen
    for count in ("65", "99999999"):
        done = cpscope("audit", folder, "--jobs", count, status=2)
        assert "expected 1 to 64" in done.stderr and not done.stdout, done
    cpscope("audit", folder, "--jobs", "-1", status=2)


def damaged_dumps():
    """A dump may hold anything where the firmware's words are looked for."""
    good = firmware("good.fw", GOOD)
    text = open(dump_of("whole.devcore", good), encoding="utf-8").read()
    block = re.search(r"    data: !!ascii85 \|\n     (\S+)", text)[1]
    hurt = {"empty": "", "z": "z" * 16, "long": block + "!" * 5000, "ends": block[:700], "ones": "s8W-!" * 0x1800,
            "tags": block[:5000] + "s8W-!" * 40 + block[5200:], "table": block.replace("z", "s8W-!")}
    for name, data in hurt.items():
        file = path("hurt.devcore", text.replace(block, data))
        for status in (0, 1, 3, 4):
            try:
                done = cpscope("audit", file, good, status=status)
                break
            except AssertionError:
                assert status != 4, name
        assert len(done.stderr.splitlines()) == (status == 3), (name, done)


DRAW_STATE = {"kernel-amble-from-draw-state", "page-table-from-draw-state", "ring-position-from-draw-state",
              "save-area-from-draw-state", "yield-from-draw-state"}


def real_flaws():
    old = corpus("gen70900_sqe-175.fw", "gen70900_sqe-177.fw", "gen80000_sqe-070.fw", "a740_sqe-158.fw", "a740_sqe.fw",
                 "a730_sqe-142.fw", "a710_sqe-158.fw")
    for row in audit(*old, status=1)["files"]:
        assert {case for case, verdict in verdicts(row).items() if verdict == "has the flaw"} == DRAW_STATE, row["name"]
        assert "undecided" not in verdicts(row).values() and not row["undecided"]
    new = corpus("gen70900_sqe-181.fw", "gen80000_sqe-077.fw", "a680_sqe.fw", "a660_sqe-094.fw", "a650_sqe-089.fw",
                 "a630_sqe-190.fw")
    for row in audit(*new)["files"]:
        assert all(verdicts(row)[case] == "not affected" for case in DRAW_STATE), row["name"]
    return "%d with the flaw, %d without" % (len(old), len(new))


def real_events():
    count = 0
    for names in (["gen70900_sqe-177.fw"], ["gen70900_sqe-181.fw"], ["gen80000_sqe-070.fw"], ["a740_sqe.fw"], ["a650_sqe-089.fw"],
                  ["a530_pfp.fw", "a530_pm4.fw"]):
        firmwares = corpus(*names)
        done = cpscope("audit", *firmwares, "--json", status=1 if re.search("177|070|a740|a530", names[0]) else 0)
        said = verdicts(json.loads(done.stdout)["files"][0])
        for case in CASES:
            name = os.path.basename(case)[:-4]
            if said[name] != "not applicable":
                assert said[name] == by_events(firmwares, case), (names, name)
                count += 1
    return "%d verdicts" % count


def real_relatives():
    old, new = corpus("gen70900_sqe-177.fw", "gen70900_sqe-181.fw")
    other = corpus("gen70900_sqe-175.fw", "a740_sqe.fw", "gen80000_sqe-077.fw")
    near = audit(old, *(word for name in (new, *other) for word in ("--known", name)), status=1)["files"][0]["nearest"]
    assert near["name"] in (new, other[0]) and near["equal"] > near["of"] / 2, near
    dump = audit(os.path.join(CORPUS, "captures", "crash.devcore"), "--known", os.path.join(CORPUS, "firmware"), status=4)["files"][0]
    assert dump["recovered"]["hardware"] == 704 and all("are the dump's" in row["why"] for row in dump["flaws"] if row["verdict"] == "undecided"), dump
    assert dump["version"] == 0x176 and dump["nearest"]["name"].endswith("a630_sqe-187.fw"), dump
    return "%d of %d" % (near["equal"], near["of"])


def real_protection():
    """The ring's own check is lifted by CP_SET_PROTECTED_MODE; from a650 112 on it is so after CP_ME_INIT. The ME of a5xx obeys both
    packets in draw-state groups, which it reads by itself: its handlers do not ask for the level. Where a draw-state group passes for
    the ring, its CP_ME_INIT is obeyed, too."""
    rows = audit(os.path.join(corpus(".")[0]), status=1)["files"]
    checked = 0
    for row in rows:
        name = os.path.basename(row["name"])
        for packet in row.get("protect", []):
            mode = packet["packet"] in ("CP_SET_PROTECTED_MODE", "CP_ME_INIT")
            flawed = packet["packet"] == "CP_ME_INIT" and "has the flaw" in verdicts(row).values()
            early = re.match("a530|a630|a650_sqe-089|a680", name)
            assert packet["rb"] == ("checked" if early and not mode else "lifted"), (name, packet)
            assert packet["sds"] == ("unchecked" if flawed or name.startswith("a530") and mode else "checked"), (name, packet)
            assert {packet[level] for level in ("ib1", "ib2", "ib3")} <= {"checked", "-"}, (name, packet)
            checked += 1
    lone, = audit(*corpus("a530_pfp.fw"), status=4)["files"]
    assert "expected the files of both processors" in "".join(flaw["why"] for flaw in lone["flaws"])
    queue, = audit(*corpus("gen70900_aqe-023.fw"), status=4)["files"]
    assert queue["handlers"] == 0 and "no packet table" in queue["flaws"][0]["why"], queue
    return "%d packets of %d files" % (checked, len(rows))


tap.run([
    ("firmware without the flaw: all cases decided, status 0", without_flaw),
    ("a mask that takes a level for the ring's is found by the write", with_flaw),
    ("a packet that writes what CP_PROTECT forbids is a flaw", unchecked),
    ("what does not come so far is undecided, with the reason, status 4", undecided),
    ("--cases: one's own, each verdict", own_cases),
    ("cases that are none are refused by file and line", bad_cases),
    ("nearest: code that moved is the same, a changed handler is not", nearest),
    ("a folder: firmware, captures, and what is skipped; the same twice; names escaped", folders),
    ("a folder: what is compressed is audited, what is damaged is an error, what is none is counted", firmware_in_folders),
    ("the page has what the JSON has", pages),
    ("a folder of many files, with few open at a time", few_descriptors),
    ("files that were named and cannot be read", named_files),
    ("damaged firmware", damaged),
    ("a dump: verdicts of what it holds, and what cannot be said", dumps),
    ("dumps with damaged code", damaged_dumps),
    ("--jobs: the same bytes with any number", jobs),
    ("the built-in cases are PM4 text that runs by itself", valid_texts),
    ("real firmware: who has the draw-state flaw", real_flaws),
    ("real firmware: verdicts agree with the events of run", real_events),
    ("real firmware and a dump: relatives", real_relatives),
    ("real firmware: who writes what is protected, and who lifts the check", real_protection),
])

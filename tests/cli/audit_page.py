# SPDX-License-Identifier: MIT
"""Holds the page of `audit` against the JSON beside it: each of its tables has what the JSON says, and nothing else."""
import json
import os

import markup

LEVELS = ("rb", "ib1", "ib2", "ib3", "sds")
STYLE = {"has the flaw": "stopped", "unchecked": "stopped", "undecided": "differs", "not applicable": "skipped", "-": "skipped",
         "nothing": "skipped", "not affected": "pass", "checked": "pass"}


def same(found, wanted):
    assert found == wanted, "page: %s\nJSON: %s" % (found, wanted)


def styles(table):
    """The style of a cell follows the word in it. Returns how many were looked at."""
    cells = [cell for cell in table.all("td") if "class" in cell.attributes]
    for cell in cells:
        same((cell.text, cell.attributes["class"]), (cell.text, STYLE[cell.text]))
    return len(cells)


def nearest(row):
    near = row.get("nearest")
    what = "lines of the instruction cache are there" if row["kind"] == "dump" else "handlers do the same"
    if not near:
        return []
    said = "the same" if near.get("same_contents") else "%d of %d %s" % (near["equal"], near["of"], what)
    return [["nearest", near["name"] + ": " + said]]


def flaws(table, row):
    same(table.rows(), [["flaws"]] + [[flaw["case"], flaw["verdict"], flaw.get("why", "")] for flaw in row["flaws"]])
    same(styles(table), len(row["flaws"]))


def firmware(section, row):
    tables = section.all("table")
    about = tables[0].rows()
    number = "0x%03x (%s), version 0x%03x, %s" % (row["id"], row.get("chip", "unknown"), row["version"], row["generation"])
    same(about[:3], [["id", number],
                     ["sha256", row["sha256"]],
                     ["handlers", ", ".join("%s %d" % (part["name"], part["handlers"]) for part in row["processors"])]])
    same([line for line in about[3:] if line[0] != "assumed"], nearest(row))
    flaws(tables[1], row)
    if row.get("protect"):
        same(tables[2].rows(), [["CP_PROTECT, by level", *LEVELS]] +
             [[packet["packet"], *(packet[level] for level in LEVELS), packet.get("why", "")] for packet in row["protect"]])
        same(styles(tables[2]), len(LEVELS) * len(row["protect"]))
    same(len(tables), 3 if row.get("protect") else 2)


def stream(section, row):
    tables = section.all("table")
    about = tables[0].rows()
    same(about[0][0], "for")
    came = row.get("recovered")
    if came:
        words = "%d of the dump, %d of the nearest, %d unknown" % (came["hardware"], came["donor"], came["unknown"])
        assert ["words", words] in about, about
        assert ["handlers", "%d of %d are in the dump as a whole" % (came["whole"], came["handlers"])] in about, about
    else:
        same([line for line in about if line[0] in ("words", "handlers")], [])
    same([line for line in about if line[0] == "nearest"], nearest(row))
    if "flaws" in row:
        flaws(tables[1], row)
    same([line[1] for line in about if line[0] == "packets"],
         [" ".join("%s %d" % pair for pair in row["packets"].items())] if "packets" in row else [])


def check(folder):
    page = markup.read(os.path.join(folder, "index.html"))
    with open(os.path.join(folder, "audit.json"), encoding="utf-8") as file:
        report = json.load(file)
    files, cases = report["files"], report["cases"]
    images = [(i, row) for i, row in enumerate(files) if row["kind"] == "firmware"]
    matrix = page.one("table", id="matrix")
    same(matrix.rows(), [["firmware", "version"] + [case["name"] for case in cases]] +
         [[row["name"], "0x%03x 0x%03x" % (row["id"], row["version"]), *(flaw["verdict"] for flaw in row["flaws"])]
          for _, row in images])
    same([link.attributes["href"] for link in matrix.all("a")], ["#f%d" % i for i, _ in images])
    same(styles(matrix), len(cases) * len(images))
    same(page.all("table")[1].rows(), [["case", "a firmware has the flaw if", "known as", "evidence"]] +
         [[case["name"], case["flaw"], case.get("known_as", ""), case["evidence"]] for case in cases])
    others = [[row["name"], row["kind"], row["why"]] for row in files if row["kind"] in ("skipped", "error")]
    overview = page.one("table", id="files").rows()
    same([row[:2] for row in overview], [["file", "kind"]] + [[row["name"], row["kind"]] for row in files])
    for i, row in enumerate(files):
        if row["kind"] not in ("skipped", "error"):
            section = page.one("section", id="f%d" % i)
            same(section.one("h3").text, row["name"] + ": " + row.get("format", row["kind"]))
            (firmware if row["kind"] == "firmware" else stream)(section, row)
    same(len(page.all("section")), len(files) - len(others))
    same([row for row in overview if row[1] in ("skipped", "error")], others)
    same((report["errors"], report["skipped"]), tuple(sum(kind == row[1] for row in others) for kind in ("error", "skipped")))
    counts = [(report["flaws"], "flaw"), (report["undecided"], "question")]
    same(page.all("p")[0].text, "%d file%s: %s, %s undecided, %d unreadable, %d skipped." %
         (len(files), "s" * (len(files) != 1), *("%d %s%s" % (count, word, "s" * (count != 1)) for count, word in counts),
          report["errors"], report["skipped"]))

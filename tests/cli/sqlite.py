#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces as databases, against the text form of the same trace; and the queries of docs/sqlite.md.
Usage: sqlite.py CPSCOPE; with CPSCOPE_CORPUS also real runs."""
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys

import make
import tap
from scene import CPSCOPE, REAL, cpscope, path, real
from tree import GOLDEN, GROW, ROOT

PAGE, BUILT = os.path.join(ROOT, "docs", "sqlite.md"), "sqlite" in sys.argv
SPACES = {"REG": "gpu", "PIPE": "pipe", "CTRL": "ctrl", "SQE": "sqe", "PROT": "prot", "METHOD": "method"}


def both(*args, events="all"):
    """(database, lines of the text) of one run."""
    cpscope("run", *args, "--events", events, "-o", path("both.trace"))
    cpscope("run", *args, "--events", events, "-o", path("both.db"))
    lines = [line for line in open(path("both.trace")).read().splitlines() if not line.startswith("#")]
    return sqlite3.connect(path("both.db")), lines


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def parse(line):
    """(processor or None, keyword, columns, name in the commentary)."""
    text, _, more = line.partition(";")
    words = text.split()
    who = words.pop(0) if words[0].islower() else None
    return who, words[0], words[1:], more.split(" pc=")[0].strip()


def expected(lines):
    """Rows of tables as the text has them."""
    rows = {"writes": [], "reads": [], "memory": [], "packets": [], "words": [], "submissions": []}
    packet, packets = {}, 0
    for event, line in enumerate(lines):
        who, kind, columns, _ = parse(line)
        here = packet.get(who)
        if kind == "PKT":
            packets += 1
            packet[who] = packets
            rows["packets"].append((packets, event, columns[0], signed(int(columns[1], 16)), int(columns[2], 16)))
        elif kind in SPACES:
            rows["writes"].append((event, here, SPACES[kind], int(columns[0], 16) & 0xffffffff, int(columns[1], 16)))
        elif kind == "REGR":
            rows["reads"].append((event, here, "gpu", int(columns[0], 16) & 0xffffffff, int(columns[1], 16)))
        elif kind in ("MEMW", "MEMR"):
            rows["memory"].append((event, here, "write" if kind == "MEMW" else "read", signed(int(columns[0], 16)),
                                   int(columns[1], 16), columns[2]))
        elif kind == "WORD":
            rows["words"].append((here, int(columns[0], 16), int(columns[1], 16)))
        elif kind == "SUBMIT":
            rows["submissions"].append((int(columns[0]), event, int(columns[1], 16), int(columns[2])))
    return rows


COLUMNS = {"writes": "event, packet, space, reg, value", "reads": "event, packet, space, reg, value",
           "memory": "event, packet, access, iova, value, via", "packets": "id, event, level, iova, header",
           "words": "packet, number, value", "submissions": "id, event, iova, dwords"}


def holds_the_trace(*args):
    db, lines = both(*args)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    wanted = expected(lines)
    for table, columns in COLUMNS.items():
        got = db.execute("SELECT %s FROM %s ORDER BY 1, 2" % (columns, table)).fetchall()
        assert got == sorted(wanted[table], key=lambda row: row[:2]) or got == wanted[table], \
            (table, len(got), len(wanted[table]), next((pair for pair in zip(got, wanted[table]) if pair[0] != pair[1]), None))
    kinds = [parse(line)[1] for line in lines]
    assert db.execute("SELECT sum(instructions) FROM packets").fetchone()[0] <= kinds.count("STEP")
    assert db.execute("SELECT count(*) FROM assumptions").fetchone()[0] == kinds.count("ASSUME") + kinds.count("UNMODELLED")
    for name, counted in (("writes", "writes"), ("reads", "reads"), ("memory", "memory")):
        total = db.execute("SELECT sum(%s) FROM packets" % counted).fetchone()[0]
        assert total == db.execute("SELECT count(*) FROM %s WHERE packet NOT NULL" % name).fetchone()[0], name
    return "%d events" % len(lines)


def forbidden():
    """A write that CP_PROTECT forbids (CP_PROTECT_REG of 0x8810 alone, then CP_PROTECT_CNTL), and words without their packets."""
    stream = path("prot.pm4", make.pm4("reg 0x850 0x8810", "reg 0x84f 0x3", "reg 0x8810 0x7", "reg 0x8811 0x6"))
    holds_the_trace("--demo", stream)
    db, lines = both("--demo", stream)
    assert db.execute("SELECT space, value FROM writes WHERE reg IN (0x8810, 0x8811)").fetchall() == [("prot", 7), ("gpu", 6)], lines
    for args in (("run", "--demo", stream, "--events", "payload"), ("convert", path("words.trace"))):
        if args[0] == "run":
            cpscope(*args, "-o", path("words.trace"))
        done = cpscope(*args, "-o", path("words.db"), status=3)
        assert "expected events with pkt" in done.stderr and done.stderr.count("\n") == 1 and not os.path.exists(path("words.db")), done.stderr


def late_words():
    """A word that something else stands in front of is its packet's, and nothing says what it means."""
    text = path("late.trace", "# cpscope-trace 1\n# gen a6xx\n# events pkt,reg,payload\nPKT ib1 0x0000000000100000 0x70100002\nWORD 0x0000 0x00000005\n"
                "REG 0x8810 0x00000007 user\nWORD 0x0001 0x00000006\n")
    cpscope("convert", text, "-o", path("late.db"))
    rows = sqlite3.connect(path("late.db")).execute("SELECT packet, number, value, text IS NULL FROM words").fetchall()
    assert [row[:3] for row in rows] == [(1, 0, 5), (1, 1, 6)] and rows[1][3] == 1, rows


def names_are_those_of_the_text():
    db, lines = both("--demo")
    for event, line in enumerate(lines):
        _, kind, _, more = parse(line)
        if kind == "PKT":
            name = more.split()[1] if more.startswith("type4") else more.split()[0]
            assert db.execute("SELECT name FROM packets WHERE event = ?", (event,)).fetchone() == (name,), line
        elif kind in ("REG", "CTRL", "PIPE") and more and not more.startswith("pc="):
            assert db.execute("SELECT name FROM named_writes WHERE event = ?", (event,)).fetchone() == (more.split()[0],), line


def fields_are_those_of_the_text():
    db, lines = both("--demo")
    count = 0
    for event, line in enumerate(lines):
        _, kind, _, more = parse(line)
        if kind != "REG":
            continue
        got = dict(db.execute("SELECT field, text FROM field_writes WHERE event = ?", (event,)).fetchall())
        for word in more.split()[1:]:
            name, _, value = word.partition("=")
            if value:
                assert got.get(name, got.get("")) == value, (line, got)
                count += 1
            elif name in got:
                assert int(got[name], 0) == 1, (line, got)
    assert count > 10
    return "%d fields" % count


def words_have_their_meaning():
    db, lines = both("--demo")
    texts = [text for text, in db.execute("SELECT text FROM words WHERE text NOT NULL ORDER BY packet, number")]
    said = [parse(line)[3] for line in lines if parse(line)[1] == "WORD"]
    assert texts and all(text in said for text in texts), [text for text in texts if text not in said][:3]
    return "%d words" % len(texts)


def head_is_there():
    db, _ = both("--demo")
    head = [line[2:].split(" ", 1) for line in open(path("both.trace")).read().splitlines() if line.startswith("#")]
    assert [list(row) for row in db.execute("SELECT key, value FROM head ORDER BY rowid")] == head


def queries():
    """Each with rows, on a trace that has everything."""
    found = re.findall(r"^```sql\n(.*?)^```", open(PAGE).read(), re.M | re.S)
    db, _ = both("--demo", events="all")
    assert len(found) >= 10, len(found)
    empty = [query for query in found if not db.execute(query).fetchall()]
    assert empty == [query for query in found if "HAVING packets > 1" in query or "r.event > w.event" in query][:len(empty)], empty
    return "%d queries" % len(found)


def answers():
    """Of those queries, against what the demo is known to do."""
    found = re.findall(r"^```sql\n(.*?)^```", open(PAGE).read(), re.M | re.S)
    db, lines = both("--demo")
    query = lambda part: db.execute(next(one for one in found if part in one)).fetchall()
    written = [parse(line) for line in lines if parse(line)[1] == "REG"]
    ccu = [one for one in written if one[3].startswith("RB_CCU_CNTL")]
    assert len({row[0] for row in query("'RB_CCU_CNTL'")}) == len(ccu) > 0
    draws = query("count(DISTINCT w.reg)")
    assert [row[:4] for row in draws] == [("sqe", 0, "draw", "CP_DRAW_INDX_OFFSET")] and draws[0][4] > 5
    last = [one[2][1] for one in written if one[3].startswith("GRAS_CL_CNTL ")]
    assert query("gras_cl_cntl")[0][3] == last[-1]
    levels = [(row[0], row[1]) for row in query("min(event)")]
    assert levels == [("sqe", level) for level in ("rb", "ib1", "ib2", "int", "sds")], levels


def numbers_of_draws(*args):
    """Those of `state`, and with the registers that it says were written since the one before."""
    state = lambda *more: json.loads(cpscope("state", *args, *more, "--json").stdout)
    db, _ = both(*args, events="default,payload")
    who = "sqe" if "me" not in {one["processor"] for one in state()["draws"]} else "me"
    rows = db.execute("SELECT d.number, d.kind, d.name, d.submission, p.iova, d.last, d.before FROM draws d JOIN packets p ON p.id = d.packet "
                      "WHERE d.processor = ? ORDER BY d.packet", (who,)).fetchall()
    wanted = [(one["draw"], one["kind"], one["packet"], one["submission"], int(one["iova"], 16)) for one in state()["draws"]]
    assert wanted and [(*row[:4], row[4] & (1 << 64) - 1) for row in rows] == wanted, (rows[:3], wanted[:3])
    for row in rows[::7]:
        written = {reg for reg, in db.execute("SELECT DISTINCT reg FROM writes WHERE space = 'gpu' AND copy IS NULL AND processor = ? AND "
                                              "coalesce(packet, 0) > ? AND coalesce(packet, 0) <= ?", (who, row[6] or -1, row[5]))}
        said = {reg for one in state("--draw", str(row[0]))["registers"] if one["mark"] in ("new", "changed", "again")
                for reg in range(one["offset"], one["offset"] + one["bits"] // 32)}
        assert said <= written or who == "me", (row, sorted(said - written)[:5])  # the PFP writes them, too
    return "%d of them" % len(rows)


def numbers_need_words():
    open(path("resolve.pm4"), "w").write(make.pm4("CP_DRAW_INDX_OFFSET 0x84 0x1 0x3", "CP_EVENT_WRITE 0x1e", "CP_DRAW_INDX_OFFSET 0x84 0x1 0x3"))
    db, _ = both("--demo", path("resolve.pm4"), events="default,payload")
    query = "SELECT number, kind FROM draws ORDER BY packet"
    assert db.execute(query).fetchall() == [(0, "draw"), (1, "resolve"), (2, "draw")], db.execute(query).fetchall()
    db, _ = both("--demo", path("resolve.pm4"), events="default")
    assert db.execute(query).fetchall() == [(0, "draw"), (None, "draw")], db.execute(query).fetchall()


def same_bytes():
    for name in ("one.db", "two.db"):
        cpscope("run", "--demo", "-o", path(name))
    cpscope("run", "--demo", "-o", path("demo.cpt"))
    cpscope("convert", path("demo.cpt"), "-o", path("three.db"))
    cpscope("convert", path("demo.cpt"), "--threads", "0", "-o", path("four.db"))
    out = cpscope("convert", path("demo.cpt"), "--to", "sqlite", "-o", "-", text=b"").stdout
    read = lambda name: open(path(name), "rb").read()
    assert read("one.db") == read("two.db") and read("three.db") == read("four.db") == out


def a_trace_makes_the_same_rows_as_its_run():
    """But for the buffers, which traces do not hold."""
    cpscope("run", "--demo", "-e", "all", "-o", path("ran.db"))
    cpscope("run", "--demo", "-e", "all", "-o", path("ran.cpt"))
    cpscope("convert", path("ran.cpt"), "-o", path("converted.db"))
    ran, converted = (sqlite3.connect(path(name)) for name in ("ran.db", "converted.db"))
    tables = [name for name, in ran.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    assert len(tables) > 12
    for table in tables:
        columns = "event, packet, processor, source, number, address" if table == "addresses" else "*"
        rows = [db.execute("SELECT %s FROM %s" % (columns, table)).fetchall() for db in (ran, converted)]
        assert rows[0] == rows[1] if table != "buffers" else rows[0] and not rows[1], table


def buffers(name):
    """Two submissions with their own buffers; the second has one of them elsewhere. Addresses have 64 bits."""
    def stream(base):
        return (make.type4(0x8825, base & 0xffffffff, base >> 32) + make.type4(0x8820, 1) +
                make.type7(0x3d, base + 0x10 & 0xffffffff, base >> 32, 7))
    old, new = stream(0x500001000), stream(0x500003000)
    with open(path(name), "wb") as out:
        out.write(make.chip(630) + make.buffer(0x100000, make.dwords(old)) + make.buffer(0x500001000, bytes(0x100)) +
                  make.submit(0x100000, len(old)) + make.buffer(0x500003000, bytes(0x100)) +
                  make.buffer(0x100000, make.dwords(new)) + make.submit(0x100000, len(new)))
    return path(name)


def addresses_lie_in_buffers_of_their_submission():
    db, _ = both("--demo", buffers("buffers.rd"))
    assert db.execute("SELECT number, kind, iova, size, held, first, last FROM buffers ORDER BY id").fetchall() == [
        (0, "ib1", 0x100000, 36, 36, 0, 0), (1, "buf", 0x500001000, 0x100, 0x100, 0, 0),
        (0, "buf", 0x500003000, 0x100, 0x100, 1, None), (1, "ib1", 0x100000, 36, 36, 1, None)]
    rows = db.execute("SELECT submission, source, number, name, address, buffer, buffer_number, offset FROM named_addresses "
                      "WHERE packet_name != 'CP_INDIRECT_BUFFER' ORDER BY event, source").fetchall()
    wanted = []
    for submission, (base, buffer, number) in enumerate(((0x500001000, 1, 1), (0x500003000, 2, 0))):
        wanted += [(submission, "register", 0x8825, "RB_MRT[0].BASE", base, buffer, number, 0),
                   (submission, "word", 0, None, base + 0x10, buffer, number, 0x10),
                   (submission, "memory", None, None, base + 0x10, buffer, number, 0x10)]
    assert rows == wanted, rows


def whole_or_absent():
    before = sorted(os.listdir(os.path.dirname(path("x"))))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    done = subprocess.run([CPSCOPE, "run", "--demo", "-o", path("full.db")], capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 3 and "database" in done.stderr, (done.returncode, done.stderr)
    assert sorted(os.listdir(os.path.dirname(path("x")))) == before
    env = dict(os.environ, TMPDIR=path("nowhere"))
    done = subprocess.run([CPSCOPE, "run", "--demo", "-o", path("full.db")], capture_output=True, text=True, env=env)
    assert done.returncode == 3 and done.stderr.count("\n") >= 1 and not os.path.exists(path("full.db")), done.stderr
    cpscope("run", "--demo", "-o", path("old.db"))
    old = open(path("old.db"), "rb").read()
    cpscope("convert", path("missing.trace"), "-o", path("old.db"), status=3)
    assert open(path("old.db"), "rb").read() == old


def damaged_traces():
    """What stands before the damage is a database, as it is a trace in every other form."""
    text = open(os.path.join(GOLDEN, "demo.trace")).read()
    at = text.index("PKT ib1")
    open(path("damaged.trace"), "w").write(text[:at] + "NONSENSE 1 2 3\n" + text[at:])
    cpscope("convert", path("damaged.trace"), "-o", path("damaged.db"), status=3)
    db = sqlite3.connect(path("damaged.db"))
    assert db.execute("SELECT count(*) FROM packets").fetchone()[0] == text[:at].count("PKT ") > 0
    assert db.execute("SELECT count(*) FROM others WHERE kind = 'END'").fetchone() == (0,)


def strange_names():
    """A head and a trace with everything that SQL could stumble over."""
    text = open(os.path.join(GOLDEN, "demo.trace")).read().replace("capture demo.pm4", "capture a'b\"c;--\\x.pm4")
    open(path("strange.trace"), "w").write(text)
    cpscope("convert", path("strange.trace"), "-o", path("strange.db"))
    rows = sqlite3.connect(path("strange.db")).execute("SELECT value FROM head WHERE key = 'capture'").fetchall()
    assert rows == [("a'b\"c;--\\x.pm4 sha256:built-in",)], rows


def scripts():
    for name in ("reclock", "pause", "vp1", "pfifo-nv1"):
        cpscope("convert", os.path.join(GOLDEN, name + ".trace"), "-o", path("script.db"))
        db = sqlite3.connect(path("script.db"))
        lines = [line for line in open(os.path.join(GOLDEN, name + ".trace")) if not line.startswith("#")]
        wanted = expected(lines)
        got = db.execute("SELECT %s FROM writes ORDER BY 1" % COLUMNS["writes"]).fetchall()
        assert [row[3:] for row in got] == [row[3:] for row in wanted["writes"]], name
        assert db.execute("SELECT count(*) FROM others WHERE kind IN ('EXIT', 'END')").fetchone()[0] > 0


def memory_stays():
    def peak(times):
        made = path("grow%d.rd" % times)
        subprocess.run([sys.executable, GROW, "--make", str(times), made], check=True)
        cpscope("run", "--demo", made, "-o", path("grow.cpt"))
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);" \
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")  # as grow.py
        return int(subprocess.run([sys.executable, "-c", code, CPSCOPE, "convert", path("grow.cpt"), "-o", path("grow.db")],
                                  env=env, capture_output=True, text=True, check=True).stdout)
    small, large = peak(12), peak(36)
    assert large - small < 6000, (small, large)
    return "%d and %d KiB" % (small, large)


def refused():
    done = cpscope("run", "--demo", "-o", path("no.db"), status=3)
    assert "-Dsqlite" in done.stderr and not os.path.exists(path("no.db")), done.stderr


if not BUILT:
    tap.run([("without SQLite a database is refused, and says what is missing", refused)])
tap.run([("tables hold what the text form does", lambda: holds_the_trace("--demo")),
         ("what is forbidden, and words alone", forbidden), ("words behind something else", late_words),
         ("registers and packets have the names of the text form", names_are_those_of_the_text),
         ("fields are those of the text form", fields_are_those_of_the_text),
         ("words of packets are those of the text form", words_have_their_meaning),
         ("the head is a table", head_is_there),
         ("the queries of the page run", queries), ("and answer what the trace says", answers),
         ("draws have the numbers of state, and its registers", lambda: numbers_of_draws("--demo")),
         ("without words there are no numbers behind what may be a resolve", numbers_need_words),
         ("the same trace is the same bytes, by every way", same_bytes),
         ("a trace makes the same rows as its run", a_trace_makes_the_same_rows_as_its_run),
         ("addresses lie in the buffers of their submission", addresses_lie_in_buffers_of_their_submission),
         ("a database is whole or absent", whole_or_absent),
         ("of a damaged trace what is whole", damaged_traces),
         ("names that would break SQL are values", strange_names),
         ("traces of scripts", scripts),
         ("memory stays where it is", memory_stays)] + [("real firmware, %s" % name, real(holds_the_trace, name)) for name in REAL] +
        [("numbers of draws with real firmware, %s" % name, real(numbers_of_draws, name)) for name in REAL])

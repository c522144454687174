#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`state` against what Mesa's cffdump prints of the same capture: at every draw each register that the log has, with
its value, whether it was written and whether it changed; and each field and enum by name.
Usage: mesa_log.py CPSCOPE                                compares the logs in CPSCOPE_MESA_LOGS, captures of the corpus
       mesa_log.py CPSCOPE FW CAPTURE LOG [MORE OPTIONS]  says how one log compares
A log is what `cffdump --frame 0 --once CAPTURE` says, or only its blocks "draw[N] register values". It is made without
running anything: what differs because the run took the other branch of a condition is counted apart."""
import glob
import json
import os
import re
import subprocess
import sys
from collections import Counter

import tap

CPSCOPE = os.path.abspath(sys.argv[1])
CORPUS, LOGS = os.environ.get("CPSCOPE_CORPUS"), os.environ.get("CPSCOPE_MESA_LOGS")
FIRMWARE = ("a680_sqe.fw", "a630_sqe-190.fw", "a650_sqe-089.fw")   # a660 refuses the CP_REG_WRITE of both captures
HEAD = re.compile(r"(\t+)draw\[(\d+)\] register values$")
ROW = re.compile(r"([! ])([+ ])[? ]\t([0-9a-f]{8,16})\t+([^ :]+): ([^\t]*)")
PACKET = re.compile(r"([0-9a-f]{16}):(\t+)0000: ([0-9a-f]{8})")
NOP, STREAMED = 0x10, {0x6d, 0x5c}   # CP_REG_WRITE and CP_CONTEXT_REG_BUNCH: what the log's reader follows beside type 4


# What rnndb has changed since the revision that the names here are of (November 2025): fields with another name then,
# and fields that are new or were moved, with their bits now.
RENAMED = {"RB_INTERP_CNTL.INTERP_EN": "UNK10", "SP_BLEND_CNTL.INDEPENDENT_BLEND_EN": "UNK8", "VFD_CNTL_4.REGID_DSVIEWID": "UNK0",
           "VFD_CNTL_5.REGID_GSVIEWID": "UNK8", "VSC_BIN_SIZE.BINW": "WIDTH", "VSC_BIN_SIZE.BINH": "HEIGHT"}
NEWER = {"TPL1_MODE_CNTL.ARRAYCOORDROUNDMODE": (3, 4), "SP_PS_CNTL_0.BRANCHSTACK": (13, 19)}


# ---- the log ----

def name_of(text):
    return re.sub(r"\[0x([0-9a-f]+)\]", lambda found: "[%d]" % int(found[1], 16), text)


class Log:
    """draws: [{number, address or None, rows: {name: (changed, written, value, text)}}]; nops: where payload is skipped"""

    def __init__(self, path):
        self.draws, self.nops, self.depth = [], [], None
        with open(path, errors="replace") as lines:
            for line in lines:
                self.take(line)
        assert self.draws, "%s: no register values of a draw" % path

    def take(self, line):
        head, row, packet = HEAD.match(line), ROW.match(line), PACKET.match(line)
        if head:
            self.depth = len(head[1])
            self.draws.append({"number": int(head[2]), "address": None, "rows": {}})
        elif row and self.depth:
            self.draws[-1]["rows"][name_of(row[4])] = (row[1] == "!", row[2] == "+", int(row[3], 16), row[5].strip())
        elif packet:
            self.take_packet(int(packet[1], 16), len(packet[2]), int(packet[3], 16))

    def take_packet(self, address, depth, header):
        if header >> 28 == 7 and header >> 16 & 0x7f == NOP:
            self.nops.append((address, address + (header & 0x3fff) * 4))
        if depth == self.depth:   # the words of the packet that drew, behind its block
            self.draws[-1]["address"], self.depth = address, None

    def skips(self, address):
        """Mesa puts the other branch of a condition into a CP_NOP, of which the condition skips the header."""
        return any(first < address <= last for first, last in self.nops)


# ---- the run ----

class Run:
    def __init__(self, *args):
        self.args = args

    def say(self, *more):
        done = subprocess.run([CPSCOPE, "state", *self.args, "--json", *more], capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def numbers(self, draws):
        """The run's number of each draw of the log: `--once` leaves out what is drawn again, so by address."""
        listed, at = self.say()["draws"], 0
        for draw in draws:
            if draw["address"] is None:
                yield draw["number"]
                continue
            while at < len(listed) and int(listed[at]["iova"], 16) != draw["address"]:
                at += 1
            assert at < len(listed), "draw[%d] of the log, at %#x, was not made" % (draw["number"], draw["address"])
            yield at
            at += 1

    def registers(self, number):
        rows = self.say("--draw", str(number))["registers"]
        return {row.get("name", "%#06x" % row["offset"]): row for row in rows if "half" not in row}


def was_streamed(row):
    header = int(row["writer"]["header"], 16)
    return header >> 28 == 4 or (header >> 28 == 7 and header >> 16 & 0x7f in STREAMED)


# ---- fields ----

def number_of(text):
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None


def same_text(log, ours):
    if log == ours or log.lower() == str(ours).lower():
        return True
    a, b = number_of(log), number_of(str(ours))
    return a is not None and b is not None and abs(a - b) <= 1e-6 * max(1, abs(a))


def fields_of(text):
    """Of "{ A = B | FLAG | 0x4 }": {"A": "B", "FLAG": True, "no-name": "0x4"}."""
    fields = {}
    for item in text.strip("{} ").split(" | "):
        name, _, value = item.partition(" = ")
        if value:
            fields[name] = value
        elif re.match(r"0x[0-9a-f]+$", name):
            fields["no-name"] = name
        elif name != "0":
            fields[name] = True
    return fields


def plain(name, text, row, count):
    ours = row["fields"]
    if len(ours) > 1 or (ours and name not in ours):
        yield "%s: %s there, fields here: %s" % (name, text, ours)
    else:
        count["numbers"] += 1
        if not same_text(text, ours.get(name, int(row["value"], 16))):
            yield "%s: %s there, %s here" % (name, text, ours.get(name, row["value"]))


def newer(name, field, value, row):
    """The log's field at another place than ours: it has those bits."""
    low, high = NEWER.get("%s.%s" % (name, field), (0, -1))
    bits = int(row["value"], 16) >> low & ((1 << (high - low + 1)) - 1)
    return high >= 0 and number_of(value) in (None, bits)


def compare_fields(name, text, row, count, other_names):
    """Says each difference; another revision's names go into @other_names."""
    ours = row["fields"]
    if not text.startswith("{"):
        yield from plain(name, text, row, count)
        return
    log = fields_of(text)
    if list(ours) in ([], [name]):   # its bits have no names here; the log's text is then the number that they are
        left = log.pop("no-name", None)
        if left:
            yield from plain(name, left, row, count)
        for field, value in log.items():
            other_names.add("%s: no fields here, %s there" % (name, field))
            yield from plain(name, value, row, count) if len(log) == 1 and value is not True else ()
        return
    for field, value in log.items():
        if newer(name, field, value, row) and not same_text(value, ours.get(field, "")):
            other_names.add("%s.%s: bits %d to %d there" % (name, field, *NEWER["%s.%s" % (name, field)]))
            continue
        mine = field if field in ours else RENAMED.get("%s.%s" % (name, field))
        if mine not in ours:
            yield "%s.%s: %s there, not here" % (name, field, value)
            continue
        if mine != field:
            other_names.add("%s: %s here, %s there" % (name, mine, field))
        count["fields"] += 1
        count["enums"] += isinstance(value, str) and number_of(value) is None
        if not (value is True and number_of(str(ours[mine])) == 1 or ours[mine] is value or same_text(str(value), ours[mine])):
            yield "%s.%s: %s there, %s here" % (name, field, value, ours[mine])
    for field in ours:
        if ours[field] is True and field not in log and field not in (RENAMED.get("%s.%s" % (name, other)) for other in log):
            yield "%s.%s: set here, not there" % (name, field)


# ---- a log and a run ----

class Comparison:
    def __init__(self, log, *args):
        run, self.count, self.log = Run(*args), Counter(), Log(log)
        self.values, self.marks, self.more, self.fields, self.branches = [], [], [], [], []
        self.own, self.other_names = Counter(), set()
        for draw, number in zip(self.log.draws, run.numbers(self.log.draws)):
            self.count["draws"] += 1
            self.take(draw, number, run.registers(number))

    def take(self, draw, number, ours):
        for name, (changed, written, value, text) in draw["rows"].items():
            self.count["registers"] += 1
            at, row = "draw %d, %s" % (number, name), ours.get(name)
            if not row:
                self.values.append("%s: %#x there, no value here" % (at, value))
                continue
            if int(row["value"], 16) != value:
                other = self.log.skips(int(row["writer"]["packet"], 16))
                (self.branches if other else self.values).append("%s: %#x there, %s here" % (at, value, row["value"]))
                continue
            self.count["equal"] += 1
            if (row["mark"] != "kept", int(row.get("before", "0"), 16) != value) != (written, changed):
                self.marks.append("%s: written %d, changed %d there; %s here" % (at, written, changed, row["mark"]))
            if text:
                self.fields += compare_fields(name, text, row, self.count, self.other_names)
        for name, row in ours.items():
            if name not in draw["rows"] and row["mark"] != "kept":
                self.own[name] += 1
                if was_streamed(row):
                    self.more.append("draw %d, %s: the stream wrote %s, and the log does not have it" % (number, name, row["value"]))

    def summary(self):
        other = ", %d written in a branch that the log leaves out" % len(self.branches) if self.branches else ""
        return "%(draws)d draws, %(equal)d of %(registers)d registers equal" % self.count + other + \
            ", %(fields)d fields (%(enums)d enums), %(numbers)d numbers, " % self.count + \
            "%d names of another revision" % len(self.other_names)


def report(args):
    found = Comparison(args[2], "--fw", args[0], args[1], *args[3:])
    print(found.summary())
    for title, lines in (("values", found.values), ("in the other branch", found.branches), ("marks", found.marks), ("only here, of the stream", found.more),
                         ("fields", sorted(set(found.fields))), ("other names", sorted(found.other_names)),
                         ("the firmware's own", ["%s at %d draws" % one for one in sorted(found.own.items())])):
        print("%s: %d" % (title, len(lines)), *lines, sep="\n    ")
    return bool(found.values or found.marks or found.more or found.fields)


def case(log, firmware):
    def run():
        capture = os.path.join(CORPUS, "captures", os.path.basename(log)[:-len(".log")] + ".rd.gz")
        found = Comparison(log, "--fw", os.path.join(CORPUS, "firmware", firmware), capture)
        wrong = found.values + found.marks + found.more + sorted(set(found.fields))
        assert not wrong, "%s\n%s" % (found.summary(), "\n".join(wrong))
        return found.summary()
    return "%s, %s" % (os.path.basename(log)[:-len(".log")], firmware), run


def without():
    raise tap.Skip("CPSCOPE_MESA_LOGS and CPSCOPE_CORPUS are not both set")


if len(sys.argv) > 2:
    sys.exit(report(sys.argv[2:]))
LISTED = sorted(glob.glob(os.path.join(LOGS, "*.log"))) if LOGS and CORPUS else []
tap.run([case(log, firmware) for log in LISTED for firmware in FIRMWARE] or [("logs of Mesa", without)])

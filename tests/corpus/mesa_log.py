#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`state` against what Mesa's cffdump prints of the same capture: at every draw each register that the log has, with
its value, whether it was written and whether it changed; each field and enum by name, of packets too.
Usage: mesa_log.py CPSCOPE                                compares the logs in CPSCOPE_MESA_LOGS, captures of the corpus
       mesa_log.py CPSCOPE FW CAPTURE LOG [MORE OPTIONS]  says how one log compares
A log is what `cffdump --frame 0 --once CAPTURE` says, or only its blocks "draw[N] register values". It is made without
running anything: what differs because the run took the other branch of a condition is counted apart."""
import glob
import json
import os
import re
import sys
from collections import Counter

import tap
from mesa_reader import Log, fields_of
from scene import run

CORPUS, LOGS = os.environ.get("CPSCOPE_CORPUS"), os.environ.get("CPSCOPE_MESA_LOGS")
FIRMWARE = ("a680_sqe.fw", "a630_sqe-190.fw", "a650_sqe-089.fw")   # a660 refuses the CP_REG_WRITE of both captures
STREAMED = {0x6d, 0x5c}   # CP_REG_WRITE and CP_CONTEXT_REG_BUNCH: what the log's reader follows beside type 4


# What rnndb has changed since the revision that the names here are of (November 2025): fields with another name then,
# and fields that are new or were moved, with their bits now.
RENAMED = {"RB_INTERP_CNTL.INTERP_EN": "UNK10", "SP_BLEND_CNTL.INDEPENDENT_BLEND_EN": "UNK8", "VFD_CNTL_4.REGID_DSVIEWID": "UNK0",
           "VFD_CNTL_5.REGID_GSVIEWID": "UNK8", "VSC_BIN_SIZE.BINW": "WIDTH", "VSC_BIN_SIZE.BINH": "HEIGHT",
           "EVENT.CCU_RESOLVE": "BLIT", "EVENT.LRZ_FLUSH_INVALIDATE": "LRZ_FLUSH"}
NEWER = {"TPL1_MODE_CNTL.ARRAYCOORDROUNDMODE": (3, 4), "SP_PS_CNTL_0.BRANCHSTACK": (13, 19)}


# ---- the run ----

class Run:
    def __init__(self, *args):
        self.args = args

    def say(self, *more):
        done = run("state", *self.args, "--json", *more)
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


    def packets(self):
        """{(address, header): [(field, value or True, the word)]} of the packets that `decode` shows without firmware."""
        done = run("decode", self.args[-1])
        found, fields = {}, []
        for line in done.stdout.splitlines():
            header = re.match(r" *(?:rb |ib\d|sds) ([0-9a-f]+): ([0-9a-f]{8}) ", line)
            word = re.match(r" +([0-9a-f]{8})  (.*)", line)
            if header:
                fields = []   # of a packet that ran before: for nobody
                found.setdefault((int(header[1], 16), int(header[2], 16)), fields)
            elif word:
                said = re.sub(r' \[(?:no buf|\w+ \d+(?: "[^"]*")? \+0x[0-9a-f]+)\]', "", word[2])
                fields += [(name, value or True, int(word[1], 16)) for name, _, value in (say.partition("=") for say in said.split())]
        return found


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
    log = dict(fields_of(text))
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


def same_field(value, mine, word):
    """Ours may have the name of the register whose number the log has."""
    is_register = isinstance(value, str) and number_of(value) == word & 0x3ffff and number_of(str(mine)) is None
    return mine is value or is_register or same_text(str(value), str(mine))


def compare_value(name, field, value, ours, count, other_names):
    _, mine, word = ours
    count["packet fields"] += 1
    count["packet enums"] += isinstance(value, str) and number_of(value) is None
    if RENAMED.get("%s.%s" % (field, value)) == mine:
        other_names.add("%s of %s: %s here, %s there" % (field, name, mine, value))
    elif not same_field(value, mine, word):
        yield "%s.%s: %s there, %s here" % (name, field, value, mine)


def compare_packet(name, log, ours, count, other_names):
    """Of one name, in their order; words without a name there have one or none here."""
    left = list(ours)
    for field, value in ((text.split("].")[-1], value) for text, value in log if not text.isdigit()):
        at = next((at for at, mine in enumerate(left) if mine[0] == field), None)
        wide = next((number_of(mine) for known, mine, _ in ours if field == known + "_HI"), None)
        if at is None and wide is not None and wide >> 32 == number_of(value):
            count["packet fields"] += 1   # one field of 64 bits here; rnndb has both
        elif at is None:
            yield "%s.%s: %s there, not here" % (name, field, value)
        else:
            yield from compare_value(name, field, value, left.pop(at), count, other_names)
    yield from ("%s.%s: set here, not there" % (name, field) for field, value, _ in left if value is True)


# ---- a log and a run ----

class Comparison:
    def __init__(self, log, *args):
        run, self.count, self.log = Run(*args), Counter(), Log(log)
        self.values, self.marks, self.more, self.fields, self.branches = [], [], [], [], []
        self.own, self.other_names, self.left_out = Counter(), set(), []
        for draw, number in zip(self.log.draws, run.numbers(self.log.draws)):
            self.count["draws"] += 1
            self.take(draw, number, run.registers(number))
        self.take_packets(run.packets())

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

    def take_packets(self, ours):
        for address, (name, header, fields) in self.log.packets.items():
            if (address, header) not in ours:
                self.left_out.append("%#x %s" % (address, name))
                continue
            self.count["packets"] += 1
            self.fields += compare_packet(name, fields, ours[address, header], self.count, self.other_names)

    def summary(self):
        other = ", %d written in a branch that the log leaves out" % len(self.branches) if self.branches else ""
        return "%(draws)d draws, %(equal)d of %(registers)d registers equal" % self.count + other + \
            ", %(fields)d fields (%(enums)d enums), %(numbers)d numbers, " % self.count + \
            "%(packets)d packets with %(packet fields)d fields (%(packet enums)d enums), " % self.count + \
            "%d names of another revision" % len(self.other_names)


def report(args):
    found = Comparison(args[2], "--fw", args[0], args[1], *args[3:])
    print(found.summary())
    own = ["%s at %d draws" % one for one in sorted(found.own.items())]
    for title, lines in (("values", found.values), ("in the other branch", found.branches), ("marks", found.marks),
                         ("packets that the run skips", found.left_out), ("only here, of the stream", found.more),
                         ("fields", sorted(set(found.fields))), ("other names", sorted(found.other_names)),
                         ("the firmware's own", own)):
        print("%s: %d" % (title, len(lines)), *lines, sep="\n    ")
    return bool(found.values or found.marks or found.more or found.fields)


def capture_of(log):
    return os.path.join(CORPUS, "captures", os.path.basename(log)[:-len(".log")] + ".rd.gz")


def case(log, firmware):
    def run():
        found = Comparison(log, "--fw", os.path.join(CORPUS, "firmware", firmware), capture_of(log))
        wrong = found.values + found.marks + found.more + sorted(set(found.fields))
        assert not wrong, "%s\n%s" % (found.summary(), "\n".join(wrong))
        return found.summary()
    return "%s, %s" % (os.path.basename(log)[:-len(".log")], firmware), run


def without():
    raise tap.Skip("CPSCOPE_MESA_LOGS and CPSCOPE_CORPUS are not both set, or have no log with its capture")


if len(sys.argv) > 2:
    sys.exit(report(sys.argv[2:]))
LISTED = [log for log in sorted(glob.glob(os.path.join(LOGS, "*.log"))) if os.path.exists(capture_of(log))] if LOGS and CORPUS else []
tap.run([case(log, firmware) for log in LISTED for firmware in FIRMWARE] or [("logs of Mesa", without)])

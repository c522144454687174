# SPDX-License-Identifier: MIT
"""Compares a text trace (docs/formats.md) with what pm4walk.py says that must happen.

Every expected write must be in the trace, in order, in its packet and exactly once; every packet of
the streams must be the one that the walker executes. What the firmware writes besides is listed."""
import collections

LEVELS = ("ib1", "ib2", "ib3", "sds")         # of packets that stand in streams; not the ring, not `int`
PATHS = ("data", "user")                      # `ctrl` is the processor's own way, never a packet's values
BUNCHES = (0x5c, 0x5d)
DRAWERS = {"sqe": "dde_br", "bv": "dde_bv"}   # who draws for whom on a8xx


class Result:
    """problems: texts, empty when all agrees. matched: writes. paths: how many of them on each path.
    extras: (packet, register, path) to how often; packet is the type or opcode of its header."""

    def __init__(self):
        self.problems, self.matched = [], 0
        self.paths, self.extras = collections.Counter(), collections.Counter()


class Event:
    """A packet of the trace with the writes that it does. iova is None in front of the first one."""

    def __init__(self, level=None, iova=None, header=None, name="(boot)"):
        self.level, self.iova, self.header, self.name = level, iova, header, name
        self.writes = []

    def streams(self):
        """Whether its writes are those of the stream: type 4 and bunches."""
        return self.level in LEVELS and (self.header >> 28 == 4 or self.header >> 16 & 0x7f in BUNCHES)


def packet_name(header):
    return "type4" if header >> 28 == 4 else "opcode 0x%02x" % (header >> 16 & 0x7f)


def lines(text, processor):
    """Columns of the lines of a processor, without commentary; and the END line's."""
    several = "# processors yes" in text.split("\nEND")[0]
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        words = line.split(";")[0].split()
        if words[0] == "END" or not several:
            yield words
        elif words[0] == processor:
            yield words[1:]


def events(text, processor, problems):
    """The packets in the order of the trace. What follows the end of a group is the draw's."""
    found, end, caller = [Event()], None, None
    for words in lines(text, processor):
        if words[0] == "PKT":
            header, last = int(words[3], 16), found[-1].level
            name = caller if words[1] == "int" and last == "sds" else packet_name(header)
            if words[1] not in ("int", "sds"):
                caller = name
            found.append(Event(words[1], int(words[2], 16), header, name))
        elif words[0] == "REG" and words[3] in PATHS:
            found[-1].writes.append((int(words[1], 16), int(words[2], 16), words[3]))
        elif words[0] == "PROT":
            problems.append("a forbidden write in the packet at %s: %s %s" %
                            (hex(found[-1].iova or 0), words[1], words[2]))
        elif words[0] == "END":
            end = words
    if end is None or end[1] != "done":
        problems.append("the run did not end well: %s" % (" ".join(end) if end else "no END"))
    return found


def compare_packets(found, expected, result):
    """The first place where the packets are others. Silent ones may be missing."""
    at = 0
    for event in found:
        if event.level not in LEVELS:
            continue
        while at < len(expected) and expected[at].silent and expected[at].iova != event.iova:
            at += 1
        want = expected[at] if at < len(expected) else None
        if want is None or (want.level, want.iova, want.header) != (event.level, event.iova, event.header):
            result.problems.append("packet %s 0x%x 0x%08x, expected %s" % (
                event.level, event.iova, event.header,
                "%s 0x%x 0x%08x" % (want.level, want.iova, want.header) if want else "no more"))
            return
        at += 1
    left = [packet for packet in expected[at:] if not packet.silent]
    if left:
        result.problems.append("the packet %s 0x%x 0x%08x was not executed, %d in all" % (
            left[0].level, left[0].iova, left[0].header, len(left)))


def compare_writes(found, expected, result):
    at = 0
    for event in found:
        for register, value, path in event.writes:
            want = expected[at] if at < len(expected) else None
            if want and event.level == want.level and \
                    (event.iova, register, value) == (want.iova, want.register, want.value):
                result.matched, at = result.matched + 1, at + 1
                result.paths[path] += 1
                continue
            result.extras[(event.name, register, path)] += 1
            if event.streams():
                result.problems.append("the packet at 0x%x writes 0x%04x = 0x%08x, expected %s" % (
                    event.iova, register, value, describe(want)))
    if at < len(expected):
        result.problems.append("missing from here: %s; %d of %d" % (
            describe(expected[at]), len(expected) - at, len(expected)))


def describe(write):
    if write is None:
        return "nothing more"
    return "0x%04x = 0x%08x of the %s at 0x%x in %s%s" % (
        write.register, write.value, write.kind, write.iova, write.level,
        "" if write.group is None else " group %d" % write.group)


def at_draws(entries, wanted):
    """Those of draw-state groups, or the others."""
    return [entry for entry in entries if (entry.level == "sds") == wanted]


def compare(trace_text, expected, processor="sqe"):
    """`expected` is a walker, or whatever has its `writes` and `packets`. On a8xx another processor executes
    the draw-state groups, in an order of its own; the draws that are passed on to it count once."""
    result = Result()
    found = events(trace_text, processor, result.problems)
    drawer = DRAWERS.get(processor)
    if drawer is None or "\n%s PKT " % drawer not in trace_text:
        compare_packets(found, expected.packets, result)
        compare_writes(found, expected.writes, result)
        return result
    drawn = events(trace_text, drawer, result.problems)
    for event in drawn:
        event.level = "sds" if event.level == "sds" else "int"
    for part, wanted in ((found, False), (drawn, True)):
        compare_packets(part, at_draws(expected.packets, wanted), result)
        compare_writes(part, at_draws(expected.writes, wanted), result)
    return result

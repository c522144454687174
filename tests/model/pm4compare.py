# SPDX-License-Identifier: MIT
"""Compares a text trace (docs/formats.md) with what pm4walk.py says that must happen.

Every packet of the streams must be the one that the walker executes, and every write that it expects must be in the
trace, in its packet, in order and exactly once: registers and memory. Memory that nobody expects is not written, nor
a register on the path that a stream's values take. What the firmware writes besides is listed."""
import collections

LEVELS = ("ib1", "ib2", "ib3", "sds")         # of packets that stand in streams; not the ring, not `int`
PATHS = ("data", "user")                      # `ctrl` is the processor's own way, never a packet's values
BUNCHES = (0x5c, 0x5d)
DRAWERS = {"sqe": "dde_br", "bv": "dde_bv"}   # who draws for whom on a8xx


class Result:
    """problems: texts, empty when all agrees. matched: register writes, and dwords of memory. paths: how many of the
    registers on each path. extras: (packet, register, path) to how often; packet is the type or opcode of its header."""

    def __init__(self):
        self.problems, self.matched, self.memory, self.open = [], 0, 0, 0
        self.paths, self.extras = collections.Counter(), collections.Counter()


class Event:
    """A packet of the trace with the writes that it does. iova is None in front of the first one."""

    def __init__(self, level=None, iova=None, header=None, name="(boot)"):
        self.level, self.iova, self.header, self.name = level, iova, header, name
        self.writes, self.assumed = [], False

    def streams(self):
        """Whether all of its writes are those of the stream: type 4 and bunches."""
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
        elif words[0] == "REG" and words[3] in PATHS or words[0] == "MEMW":
            space = "reg" if words[0] == "REG" else "mem"
            found[-1].writes.append((space, int(words[1], 16), int(words[2], 16), words[3]))
        elif words[:2] == ["ASSUME", "wait"]:
            found[-1].assumed = True
        elif words[0] == "PROT":
            problems.append("a forbidden write in the packet at %s: %s %s" %
                            (hex(found[-1].iova or 0), words[1], words[2]))
        elif words[0] == "END":
            end = words
    if end is None or end[1] != "done":
        problems.append("the run did not end well: %s" % (" ".join(end) if end else "no END"))
    return found


def compare_packets(found, expected, result, passed_on=False):
    """Events with their packets, up to the first place where the packets are others. Silent ones may be missing; and of what
    is passed on to another processor, all that writes nothing; it may come as another packet, which that processor made."""
    at, pairs = 0, []
    for event in found:
        made = passed_on and event.level == "int" and event.writes
        if event.level not in LEVELS and not made:
            pairs.append((event, None))
            continue
        while at < len(expected) and optional(expected[at], passed_on) and expected[at].iova != event.iova:
            at += 1
        want = expected[at] if at < len(expected) else None
        if made and want and want.iova == event.iova:
            pairs.append((event, want))
            at += 1
            continue
        if made:
            pairs.append((event, None))
            continue
        if want is None or (want.level, want.iova, want.header) != (event.level, event.iova, event.header):
            result.problems.append("packet %s 0x%x 0x%08x, expected %s" % (
                event.level, event.iova, event.header,
                "%s 0x%x 0x%08x" % (want.level, want.iova, want.header) if want else "no more"))
            return pairs
        pairs.append((event, want))
        at += 1
    left = [packet for packet in expected[at:] if not optional(packet, passed_on)]
    if left:
        result.problems.append("the packet %s 0x%x 0x%08x was not executed, %d in all" % (
            left[0].level, left[0].iova, left[0].header, len(left)))
    return pairs


def optional(packet, passed_on):
    return packet.silent or passed_on and not packet.writes


def compare_writes(event, packet, result):
    """The writes of a packet; of one that stands in no stream, such as the ring's, there is none to expect."""
    expected, at = packet.writes if packet else [], 0
    for space, place, value, path in event.writes:
        want = expected[at] if at < len(expected) else None
        if want and (space, place) == (want.space, want.at) and want.value in (None, value):
            at += 1
            count(want, path, result)
            continue
        if space == "reg":
            result.extras[(event.name, place, path)] += 1
        if packet and not packet.open and (space == "mem" or event.streams() or path == "user"):
            result.problems.append("%s at 0x%x writes %s = 0x%08x, expected %s" % (
                packet.name, event.iova, named(space, place), value, describe(want)))
            return
    if at < len(expected):
        result.problems.append("missing from here: %s; %d of %d" % (describe(expected[at]), len(expected) - at, len(expected)))


def count(want, path, result):
    result.open += want.value is None
    if want.space == "mem":
        result.memory += 1
    else:
        result.matched += 1
        result.paths[path] += 1


def compare_waits(event, packet, result):
    if packet and packet.waits is not None and packet.waits != event.assumed:
        result.problems.append("%s at 0x%x: the condition %s, the run %s a value" % (
            packet.name, event.iova, "does not hold" if packet.waits else "holds", "assumes" if event.assumed else "assumes not"))


def named(space, place):
    return "0x%04x" % place if space == "reg" else "memory 0x%x" % place


def describe(write):
    if write is None:
        return "nothing more"
    packet = write.packet
    return "%s = %s of the %s at 0x%x in %s%s" % (
        named(write.space, write.at), "any value" if write.value is None else "0x%08x" % write.value, packet.name,
        packet.iova, packet.level, "" if packet.group is None else " group %d" % packet.group)


def compare_all(found, packets, result, passed_on=False):
    for event, packet in compare_packets(found, packets, result, passed_on):
        compare_writes(event, packet, result)
        compare_waits(event, packet, result)


def at_draws(packets, wanted):
    """Those of draw-state groups, or the others."""
    return [packet for packet in packets if (packet.level == "sds") == wanted]


def compare(trace_text, expected, processor="sqe"):
    """`expected` is a walker, or whatever has its `packets`. On a8xx another processor executes the draw-state groups, in
    an order of its own; the draws that are passed on to it count once. On a5xx the PFP walks the streams and the ME does
    what is written, later."""
    result = Result()
    found = events(trace_text, processor, result.problems)
    drawer = DRAWERS.get(processor)
    if processor == "pfp":
        compare_packets(found, expected.packets, result)
        compare_all(events(trace_text, "me", result.problems), expected.packets, result, True)
    elif drawer is None or "\n%s PKT " % drawer not in trace_text:
        compare_all(found, expected.packets, result)
    else:
        drawn = events(trace_text, drawer, result.problems)
        for event in drawn:
            event.level = "sds" if event.level == "sds" else "int"
        for part, wanted in ((found, False), (drawn, True)):
            compare_all(part, at_draws(expected.packets, wanted), result)
    result.problems = list(dict.fromkeys(result.problems))
    return result

# SPDX-License-Identifier: MIT
"""The chain of a630's firmware, 187, 190 and 201 (a680): every place that a revision changed is in chain/places.tsv, and
has a stream that executes it or a reason why nothing does. Where the images differ is worked out here, from their words.
Usage: chain.py CPSCOPE; without CPSCOPE_CORPUS it is skipped."""
import functools
import os
import re

import chain_image
import tap
from scene import CORPUS, FOLDER, run

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chain")
FILES = {"187": "a630_sqe-187.fw", "190": "a630_sqe-190.fw", "201": "a680_sqe.fw"}
PAIRS = [("187", "190"), ("190", "201")]
CAPTURES = ["fd-clouds.rd.gz", "dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"]
NOP = 0x01000000
NEW_CHIPS = 0x400 | 0x800  # bits of control register CHIP_ID that 201 knows


def rows_of(name):
    lines = open(os.path.join(HERE, name), encoding="utf-8").read().split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


STREAMS = {name: (text, options.split(), by_hand) for name, text, options, by_hand in rows_of("streams.tsv")}


class Row:
    def __init__(self, fields):
        self.old, self.new, ranges_old, ranges_new, self.where, self.evidence, self.seen, self.what = fields
        self.words = (offsets(ranges_old), offsets(ranges_new))
        self.names = self.evidence.split(",")

    def __str__(self):
        return "%s %s: %s" % (self.old, self.new, " | ".join("%04x.." % w[0] if w else "-" for w in self.words))


def offsets(text):
    if text == "-":
        return []
    first, last = (int(number, 16) for number in (text + ".." + text).split("..")[:2])
    return list(range(first, last + 1))


def rows(pair):
    return [row for row in map(Row, rows_of("places.tsv")) if (row.old, row.new) == pair]


def firmware(name):
    return os.path.join(CORPUS, "firmware", FILES[name])


@functools.lru_cache(None)
def image(name):
    return chain_image.Image(firmware(name))


def inputs(name):
    if name == "captures":
        return [[os.path.join(CORPUS, "captures", capture)] for capture in CAPTURES]
    text, options, _ = STREAMS[name]
    return [[os.path.join(HERE, text + ".pm4"), *options]]


@functools.lru_cache(None)
def executed(revision, name):
    """Offsets of the instructions that ran, by the trace of each."""
    trace, found = os.path.join(FOLDER, "trace"), set()
    for args in inputs(name):
        done = run("run", "--fw", firmware(revision), *args, "-e", "step", "-o", trace)
        assert "\nended: " in done.stderr, (name, done.stderr)
        with open(trace, encoding="utf-8") as file:
            found |= {int(line[5:11], 16) for line in file if line.startswith("STEP ")}
    return found


def by_hand(revision, name, words):
    """The debugger decides a branch, and stops in front of each of @words behind it."""
    text, options, order = STREAMS[name]
    decision, at = re.match(r"branch (taken|not) at (\w+)$", order).groups()
    script, found = os.path.join(FOLDER, "script"), set()
    for word in words:
        with open(script, "w", encoding="utf-8") as file:
            file.write("break 0x%s\ncontinue\nbranch %s\ndelete\nbreak 0x%x\ncontinue\n" % (at, decision, word))
        done = run("step", "--fw", firmware(revision), os.path.join(HERE, text + ".pm4"), *options, "-x", script)
        if re.search(r"^=>\*\s+%04x " % word, done.stdout, re.M):
            found.add(word)
    return found


def reached(revision, row, words):
    found = set()
    for name in row.names:
        found |= by_hand(revision, name, words) if STREAMS.get(name, ("", "", ""))[2] else executed(revision, name)
    return found


def complete(pair):
    """Each changed word, and each packet that has another handler, is in one row; nothing else is."""
    places, packets = chain_image.places(*map(image, pair))
    for side in (0, 1):
        wanted = sorted(at for place in places for at in place[side])
        listed = sorted(at for row in rows(pair) for at in row.words[side])
        assert wanted == listed, ["%04x" % at for at in sorted(set(wanted) ^ set(listed))]
    tables = [row.where for row in rows(pair) if not row.words[0] + row.words[1]]
    assert tables == ["packet 0x%02x" % number for number in packets], (tables, packets)
    return "%d places" % (len(places) + len(packets))


def executes(pair):
    """Each row with streams: they execute all of its words, of both revisions."""
    count = 0
    for row in rows(pair):
        for revision, words in zip(pair, row.words):
            if words and row.evidence != "unreachable":
                missing = set(words) - reached(revision, row, words)
                assert not missing, (str(row), revision, ["%04x" % at for at in sorted(missing)])
        count += row.evidence != "unreachable"
    return "%d rows" % count


def beyond_captures(pair):
    """A row names the captures if they execute it, and only then: the others have a stream of their own."""
    for row in rows(pair):
        ran = any(executed(revision, "captures") & set(words) for revision, words in zip(pair, row.words))
        assert ran == ("captures" in row.names), str(row)


def unreachable(pair):
    """Nothing leads to such words, as their image says and as `cover --unreached` does."""
    found = [(revision, words, row) for row in rows(pair) if row.evidence == "unreachable"
             for revision, words in zip(pair, row.words) if words]
    for revision, words, row in found:
        assert chain_image.leads_nowhere(image(revision), words), str(row)
        out = run("cover", "--fw", firmware(revision), os.path.join(HERE, "removed.pm4"), "--unreached").stdout
        lines = re.findall(r"^sqe (\w{4})\.\.(\w{4}) [^:]*: no branch", out, re.M)
        covered = {at for first, last in lines for at in range(int(first, 16), int(last, 16) + 1)}
        more = [at for at in words if image(revision).code[at] != NOP]      # nops at its end are not listed there
        assert more and set(more) <= covered, (str(row), out[-2000:])
    return "%d rows" % len(found)


def all_used():
    """No text and no stream is left over."""
    named = {name for pair in PAIRS for row in rows(pair) for name in row.names}
    assert named - {"captures", "unreachable"} == set(STREAMS), named ^ set(STREAMS)
    texts = {name[:-4] for name in os.listdir(HERE) if name.endswith(".pm4")}
    assert texts == {text for text, _, _ in STREAMS.values()}, texts


@functools.lru_cache(None)
def differences(pair, name, state):
    """What `diff` says of each of its places that ran: {(side, offset): words}."""
    found, said = {}, ""
    for args in inputs(name):
        out = run("diff", "--fw", firmware(pair[0]), "--fw", firmware(pair[1]), *args, "--all", *state).stdout
        for line in out.split("\n"):
            head = re.match(r"  \S+(?: \(\w+\))?: (changed[^:]*)", line)
            word = re.match(r"   ([-+])(\w{4}) \w{8}  ", line)
            said = head[1] if head else said
            if word:
                found.setdefault(("-+".index(word[1]), int(word[2], 16)), set()).add(said)
    return found


def seen(pair, row, state, words="changed, behaves differently"):
    said = set()
    for name in row.names:
        if name in STREAMS and not STREAMS[name][2] or name == "captures":
            found = differences(pair, name, state)
            said |= {fate for side in (0, 1) for at in row.words[side] for fate in found.get((side, at), ())}
    return words in said


LATER = "changed, executed; what differs shows in other packets"


@functools.lru_cache(None)
def end_otherwise(pair, name):
    return any("they end differently" in run("diff", "--fw", firmware(pair[0]), "--fw", firmware(pair[1]), *args).stdout
               for args in inputs(name))


def widened(pair, row):
    """Of a place that only tests the chip with other masks: the bits in which they differ."""
    words = list(zip(*(map(image(revision).code.__getitem__, at) for revision, at in zip(pair, row.words))))
    if not words or len(row.words[0]) != len(row.words[1]) or any((x ^ y) >> 16 for x, y in words):
        return 0
    return words[0][0] ^ words[0][1] if row.what.startswith("chips:") else 0


def chip(name):
    options = STREAMS[name][1] if name in STREAMS else []
    return int(options[options.index("--chip-id") + 1], 0) if "--chip-id" in options else 1


def shows(pair, row):
    masks = widened(pair, row)
    if masks and not any(chip(name) & masks for name in row.names):
        return "nothing"
    if any(end_otherwise(pair, name) for name in row.names if name == "captures" or name in STREAMS):
        return "ends"
    if seen(pair, row, ()):
        return "events"
    if seen(pair, row, (), LATER):
        return "later"
    return "state" if seen(pair, row, ("--state",)) else "nothing"


def tells(pair):
    """The column says which differences the streams show: runs that end otherwise; events, also of other packets; hidden
    state; or none. What diff says is about the nearest place that ran."""
    counts = {}
    for row in rows(pair):
        found = shows(pair, row)
        assert row.seen == found, (str(row), row.seen, found)
        counts[found] = counts.get(found, 0) + 1
    return ", ".join("%s %d" % count for count in sorted(counts.items()))


def two_chips(pair):
    """Masks of chips differ in the two new ones alone, so for every other chip such a place does the same."""
    masks = [(row, widened(pair, row)) for row in rows(pair)]
    for row, bits in masks:
        assert not bits & ~NEW_CHIPS, (str(row), hex(bits))
    return "%d places" % sum(bits != 0 for _, bits in masks)


def packet_taken_out(pair):
    """A packet without a handler is refused by the revision that has none."""
    for row in rows(pair):
        if row.words[0] + row.words[1]:
            continue
        ends = [run("run", "--fw", firmware(revision), *inputs(row.names[0])[0]).stderr + "" for revision in pair]
        assert "bad-packet" in ends[1] and "bad-packet" not in ends[0], ends


def listed_by_diff(pair):
    """The places of `diff` are those that were worked out here, entries of the packet table among them; a word may be
    taken for its like beside it."""
    places, packets = chain_image.places(*map(image, pair))
    found = differences(pair, "removed", ())
    for side in (0, 1):
        table = image(pair[side]).table
        wanted = sorted([at for place in places for at in place[side]] + [table + number for number in packets])
        listed = sorted(at for of, at in found if of == side)
        assert len(wanted) == len(listed), (len(wanted), len(listed))
        assert all(abs(x - y) <= 1 for x, y in zip(wanted, listed)), [
            "%04x %04x" % at for at in zip(wanted, listed) if abs(at[0] - at[1]) > 1]


CASES = [("every place of %s to %s has a row", complete), ("the streams of %s to %s execute their places", executes),
         ("places of %s to %s that captures execute", beyond_captures), ("unreachable code of %s to %s", unreachable),
         ("masks of chips, %s to %s", two_chips), ("what the streams of %s to %s show", tells), ("packets without a handler, %s to %s", packet_taken_out),
         ("diff lists the same places of %s to %s", listed_by_diff)]


def main():
    if not CORPUS:
        tap.skip("the chain of a630", "CPSCOPE_CORPUS is not set")
        tap.plan()
        return
    tap.run([(name % pair, lambda case=case, pair=pair: case(pair)) for pair in PAIRS for name, case in CASES] +
            [("every stream is named by a place", all_used)])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Streams of chance (tests/model/pm4random.py) on the demo firmware and on all firmware of the corpus, checked by the walk of
tests/model/pm4walk.py: every packet, every register and every dword of memory that is written, in order. Of what no
document decides there is nothing in them, but times, whose values are open.

Usage: stream_random.py CPSCOPE [--streams N] [--demo N] [--first SEED] [--only NAME] [--keep DIR]
--streams: on each firmware of the corpus, --demo: on the demo. A mistake prints its seed: `--only NAME --first SEED
--streams 1 --keep DIR` runs that stream alone and leaves it with its trace in DIR."""
import argparse
import collections
import os

import pm4compare
import pm4random
import pm4walk
import stream_walk
import tap

# Firmware, its generation, what it does not know or does in its own way (pm4ops.FIRMWARE).
NO_BINS, ONE, A730 = ("CP_START_BIN",), ("CP_THREAD_CONTROL",), ("REG_COMPARE",)
IMAGES = (("a530_pfp.fw,a530_pm4.fw", 5, ()), ("a630_sqe-187.fw", 6, NO_BINS), ("a630_sqe-190.fw", 6, NO_BINS),
          ("a680_sqe.fw", 6, NO_BINS), ("a650_sqe-089.fw", 6, ()), ("a660_sqe-094.fw", 6, ()), ("a710_sqe-158.fw", 7, ONE),
          ("a730_sqe-142.fw", 7, A730), ("a740_sqe.fw", 7, ()), ("a740_sqe-158.fw", 7, ()), ("gen70900_sqe-175.fw", 7, ()),
          ("gen70900_sqe-177.fw", 7, ()), ("gen70900_sqe-181.fw", 7, ()), ("gen80000_sqe-070.fw", 8, ()),
          ("gen80000_sqe-077.fw", 8, ()))


def compare(args, name, options, maker, seed, counts):
    """What is wrong with the run of a stream."""
    text, found = maker.text(), []
    trace = stream_walk.run(args.cpscope, options, text)
    if args.keep:
        for end, what in (("pm4", text), ("trace", trace)):
            with open(os.path.join(args.keep, "%s-%d.%s" % (name.split(",")[0], seed, end)), "w", encoding="utf-8") as file:
                file.write(what)
    processors = pm4walk.PROCESSORS[maker.generation][:len(maker.pools)]
    for processor, bit in processors:
        walker = pm4walk.walk(text, bit)
        result = pm4compare.compare(trace, walker, processor)
        counts.update(packets=len(walker.packets), registers=result.matched, memory=result.memory, open=result.open)
        found += ["%s: %s" % (processor, problem) for problem in [*walker.problems, *walker.undecided, *result.problems][:3]]
    return found


def case(args, name, options, streams, make):
    counts, wrong = collections.Counter(), []
    for seed in range(args.first, args.first + streams):
        problems = compare(args, name, options, make(seed), seed, counts)
        wrong += ["seed %d, %s" % (seed, problem) for problem in problems]
        if len(wrong) > 4:
            break
    assert not wrong, "\n".join(wrong)
    assert counts["registers"] and counts["memory"], "nothing was written"
    return "%d streams, %d packets, %d registers and %d dwords written, %d of them times" % (
        streams, counts["packets"], counts["registers"], counts["memory"], counts["open"])


def of_corpus(args, files, generation, without):
    corpus = os.environ.get("CPSCOPE_CORPUS", "")
    paths = [os.path.join(corpus, "firmware", part) for part in files.split(",")]
    if not corpus or not all(map(os.path.isfile, paths)):
        raise tap.Skip("not in CPSCOPE_CORPUS: " + files if corpus else "CPSCOPE_CORPUS is not set")
    options = [word for path in paths for word in ("--fw", path)]
    return case(args, files, options, args.streams, lambda seed: pm4random.Maker(generation, seed, without))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cpscope")
    parser.add_argument("--streams", type=int, default=6)
    parser.add_argument("--demo", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--keep")
    args = parser.parse_args()
    cases = [("demo", lambda: case(args, "demo", ["--demo"], args.demo, lambda seed: pm4random.Maker(6, seed, (), True)))]
    cases += [(image[0], lambda image=image: of_corpus(args, *image)) for image in IMAGES]
    tap.run([one for one in cases if args.only in (None, one[0])])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Firmware over a PM4 text or an .rd capture, compared with the walk of tests/model/pm4walk.py: every register and every
dword of memory that the stream writes, in order, exactly once, and every packet. For BR (sqe) and BV, or PFP with ME.

Usage: stream_walk.py CPSCOPE CORPUS FW... STREAM [--front TEXT] [--chip ID] [--extras] [--some N]
                      [--has REGISTER=VALUE]... [--hasnt REGISTER=VALUE]...
CORPUS is the folder with firmware/ and captures/, - what CPSCOPE_CORPUS says; names of firmware are
looked up there, a STREAM that is no file, too. FW `demo` is the built-in one and needs no corpus; two names of
one a5xx with a comma between are one firmware. TEXT is PM4 text, packets parted by ';', in front of the
submitted stream: a capture without the mode that its driver had set begins with `CP_THREAD_CONTROL 1;
CP_SET_MARKER 1`, which is BR alone and RM6_DIRECT_RENDER (adreno_pm4.xml). ID replaces the number of the
stream's `chip` line. --has and --hasnt are about the firmware's own writes, on whatever path. --some: fewer writes than
N are a mistake. Ends with 77 where a file is missing, and says which."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import pm4compare
import pm4rd
import pm4text
import pm4walk


def missing(path, what):
    print("%s: not there, skipped: %s" % (what, path))
    sys.exit(77)


def find(corpus, folder, name):
    """A file as it is named, or in the folder of the corpus."""
    if os.path.isfile(name):
        return name
    path = os.path.join(corpus, folder, name)
    return path if os.path.isfile(path) else missing(path, name)


def prepare(args):
    """Generation, submissions, and the text or the path that cpscope gets."""
    path = find(args.corpus, "captures", args.files[-1])
    if path.endswith((".rd", ".rd.gz")):
        return (*pm4rd.read(path), path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if args.chip:
        text = re.sub(r"(?m)^chip .*$", "chip " + args.chip, text)
    if args.front:
        text = pm4text.put_in_front(text, args.front.replace(";", "\n"))
    return (*pm4text.read(text), text)


def firmware_options(corpus, name):
    if name == "demo":
        return ["--demo"]
    return [word for part in name.split(",") for word in ("--fw", find(corpus, "firmware", part))]


def run(cpscope, options, stream):
    """The trace. @stream: a path, or PM4 text."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out.txt")
        if "\n" in stream:
            stream, text = os.path.join(scratch, "stream.pm4"), stream
            with open(stream, "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([cpscope, "run", *options, stream, "-o", out], timeout=240,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 4):
            raise SystemExit("cpscope ended with %d: %s" % (done.returncode, done.stderr.strip()))
        with open(out, encoding="utf-8") as file:
            return file.read()


def print_extras(result, shown):
    """By packet: the registers that the firmware writes by itself, and how often."""
    packets = {}
    for (packet, register, path), times in sorted(result.extras.items()):
        packets.setdefault(packet, []).append("0x%04x%s x%d" % (register, "" if path == "data" else
                                                                " (%s)" % path, times))
    print("#   besides the stream: %d writes to %d registers" % (
        sum(result.extras.values()), len({register for _, register, _ in result.extras})))
    for packet, registers in packets.items() if shown else ():
        print("#     %s: %s" % (packet, ", ".join(registers)))


def own_writes(args, trace, problems):
    """What the packets must make the firmware write by itself, and what they must not."""
    for texts, wanted in ((args.has, True), (args.hasnt, False)):
        for text in texts:
            register, value = (int(word, 16) for word in text.split("="))
            found = re.search(r"(?m)^(\w+ )?REG 0x%04x 0x%08x " % (register, value), trace) is not None
            if found != wanted:
                problems.append("0x%04x = 0x%08x is %swritten" % (register, value, "" if found else "not "))


def check(number, firmware, processor, walker, trace, args):
    result = pm4compare.compare(trace, walker, processor)
    own_writes(args, trace, result.problems)
    if processor != "bv" and result.matched + result.memory < args.some:
        result.problems.append("%d writes in all, at least %d were expected" % (result.matched + result.memory, args.some))
    ok = not result.problems
    print("%sok %d - %s %s: %d of %d writes, %d of them memory, %d of any value, %d packets, %d of them open" % (
        "" if ok else "not ", number, os.path.basename(firmware), processor, result.matched + result.memory,
        len(walker.writes), result.memory, result.open, len(walker.packets), sum(walker.undecided.values())))
    for text in result.problems[:8]:
        print("#   " + text)
    if len(result.problems) > 8:
        print("#   and %d more" % (len(result.problems) - 8))
    print_extras(result, args.extras)
    return ok


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("cpscope")
    parser.add_argument("corpus")
    parser.add_argument("files", nargs="+", metavar="FW... STREAM")
    parser.add_argument("--front")
    parser.add_argument("--chip")
    parser.add_argument("--extras", action="store_true", help="list the firmware's own writes")
    parser.add_argument("--some", type=int, default=0, metavar="N")
    for name in ("--has", "--hasnt"):
        parser.add_argument(name, action="append", default=[], metavar="REGISTER=VALUE")
    args = parser.parse_args()
    if len(args.files) < 2:
        parser.error("at least one firmware and a stream")
    if args.corpus == "-":
        args.corpus = os.environ.get("CPSCOPE_CORPUS", "CPSCOPE_CORPUS")
    if not os.path.isdir(args.corpus) and args.files[:-1] != ["demo"]:
        missing(args.corpus, "corpus")
    return args


def main():
    args = arguments()
    firmware = [firmware_options(args.corpus, name) for name in args.files[:-1]]
    generation, submissions, stream = prepare(args)
    walkers = [(name, pm4walk.walk_all(generation, submissions, processor))
               for name, processor in pm4walk.PROCESSORS[generation]]
    for text in walkers[0][1].problems:
        print("# the walker: " + text)
    for text, times in walkers[0][1].undecided.items():
        print("# open: %s, %d times" % (text, times))
    print("1..%d" % (len(firmware) * len(walkers)))
    fine = True
    for at, options in enumerate(firmware):
        trace = run(args.cpscope, options, stream)
        for i, (name, walker) in enumerate(walkers):
            fine &= check(len(walkers) * at + i + 1, options[-1], name, walker, trace, args)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What no test reaches, read from gcov after `meson test` in a build with -Db_coverage=true
"-Dc_args=-include $PWD/tests/mutate/counted.h".

Usage: coverage.py SOURCE BUILD [--functions] [--files]
Prints a table by folder: lines, branches, functions, and how many of each were never executed. A branch counts as taken if
any object that holds it took it. --functions lists those that nothing calls, --files has a row for each file."""
import argparse
import collections
import os
import sys

import reach


class Count:
    def __init__(self):
        self.lines, self.branches, self.functions = {}, {}, {}

    def add(self, path, record):
        for line in record["lines"]:
            key = (path, line["line_number"])
            self.lines[key] = self.lines.get(key, 0) + line["count"]
            for at, branch in enumerate(line["branches"]):
                place = key + (line.get("function_name"), at)
                self.branches[place] = self.branches.get(place, 0) + branch["count"]
        for function in record["functions"]:
            key = (path, function["start_line"], function["name"])
            self.functions[key] = self.functions.get(key, 0) + function["execution_count"]


def share(counts):
    reached = sum(1 for count in counts if count)
    return "%d | %d, %.1f %%" % (len(counts), len(counts) - reached, 100 * reached / len(counts) if counts else 100)


def row(name, count, wanted):
    parts = [[value for key, value in kept.items() if wanted(key[0])]
             for kept in (count.lines, count.branches, count.functions)]
    return "| %s | %s |" % (name, " | ".join(share(part) for part in parts)) if parts[0] else None


def folder_of(path):
    words = os.path.dirname(path).split("/")
    return "/".join(words[:2])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--files", action="store_true")
    args = parser.parse_args()
    source, build = os.path.abspath(args.source), os.path.abspath(args.build)
    count = Count()
    for path, record in reach.read(build, source, "", branches=True):
        count.add(path, record)
    if not count.lines:
        print("coverage.py: %s: no counts: build with -Db_coverage=true, and run the tests" % build, file=sys.stderr)
        return 1
    print("| folder | lines | never, reached | branches | never, reached | functions | never, reached |")
    print("|" + "---|" * 7)
    paths = collections.OrderedDict((path, None) for path, _ in sorted(count.lines))
    groups = sorted({folder_of(path) for path in paths})
    for folder in groups:
        print(row(folder, count, lambda path, f=folder: folder_of(path) == f))
    print(row("all", count, lambda path: True))
    for path in paths if args.files else ():
        print(row(path, count, lambda at, p=path: at == p))
    for path, line, name in sorted(key for key, calls in count.functions.items() if not calls) if args.functions else ():
        print("%s:%d: %s" % (path, line, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())

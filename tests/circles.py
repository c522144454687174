# SPDX-License-Identifier: MIT
"""Says which files of emu/ stand behind each other in a circle: a file needs the headers that it
includes, and a header needs the files that define the functions it declares. Usage: circles.py ROOT"""
import glob
import os
import re
import sys

import tap

MOST = 3


def read(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def needs(text):
    """Edges between files."""
    defined = {}
    for path, code in text.items():
        if path.endswith(".c"):
            names = re.findall(r"^(?!static)[a-z][\w *]*?\b(\w+)\([^;{]*\)\s*\{", code, re.M)
            names += re.findall(r"#define AFUC_RUN\s+(\w+)", code)
            defined.update(dict.fromkeys(names, path))
    edges = {}
    for path, code in text.items():
        edges[path] = {i for i in re.findall(r'#include "([^"]+\.h)"', code) if i in text}
        if path.endswith(".h"):
            declared = re.findall(r"\b(\w+)\([^;{}]*\)\s*;", code)
            edges[path] |= {defined[name] for name in declared if name in defined}
    return edges


def behind(edges, start):
    """All that a file needs, itself only if something of it needs the file again."""
    seen, left = set(), [start]
    while left:
        for path in edges[left.pop()] - seen:
            seen.add(path)
            left.append(path)
    return seen


def main():
    os.chdir(sys.argv[1])
    paths = [p for e in "ch" for p in glob.glob("emu/**/*." + e, recursive=True)]
    edges = needs({path: read(path) for path in paths})
    reach = {path: behind(edges, path) for path in paths}
    circles = {tuple(sorted(q for q in reach[p] if p in reach[q] and q.endswith(".c")))
               for p in paths}
    large = [" ".join(c) for c in circles if len(c) > MOST]
    tap.report("circles are found at all", any(len(c) > 1 for c in circles))
    tap.report("no circle of includes has more than %d files" % MOST, not large, "\n".join(large))
    tap.plan()
    sys.exit(bool(large))


main()

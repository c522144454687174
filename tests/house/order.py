#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The arrows of the house: rooms are ordered, and a file includes headers of its own room and of earlier ones. By symbols, no
folders and no more than three files need each other in a circle: a file needs another one if it names a function of it.
Usage: order.py ROOT"""
import os
import re
import subprocess
import sys

import tap

TOPS = ("isa", "trace", "fw", "emu", "tools")
# Each room may include those before it. A folder that is not in the list belongs to the nearest one above it that is. A public
# header that rooms under its folder include is a room by itself.
ROOMS = """isa trace fw emu emu/afuc/afuc.h emu/afuc/core emu/afuc/queue emu/afuc/control emu/afuc/origin emu/afuc emu/nv emu/debug
    tools/cmd/terminal tools/run tools/cmd/options tools/cmd/render tools/explain tools/face tools tools/cmd""".split()
# Within a room: what is in the first may not include what is in the second.
APART = [("isa/base", "isa/sets"), ("isa/base", "isa/names"), ("trace/event", "trace/capture"), ("trace/event", "trace/form"),
         ("trace/capture", "trace/form"), ("emu/nv", "emu/afuc"), ("fw/image", "fw/asm"), ("fw/image", "fw/listing"), ("fw/image", "fw/nv")]
ALONE = "tools/device/client/"  # a library of its own, whose functions have the names of libc's
MOST = 3  # files in a circle
FOLDERS = 0  # circles of folders; house: none


def sources():
    for top in TOPS:
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith((".c", ".h")):
                    yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def room_of(path):
    return max((room for room in ROOMS if (path + "/").startswith(room + "/")), key=len)


def included(path, text):
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+\.h)"', text[path], re.M):
        for found in (name, os.path.normpath(os.path.join(os.path.dirname(path), name))):
            if found in text:
                yield found
                break


def backward(text):
    """Includes of a later room, or of a folder that is kept apart."""
    for path in sorted(text):
        for header in included(path, text):
            late = ROOMS.index(room_of(header)) > ROOMS.index(room_of(path))
            if late or any(path.startswith(a + "/") and header.startswith(b + "/") for a, b in APART):
                yield "%s includes %s" % (path, header)


def symbols(build, text):
    """For each source the sources whose functions and data its object names, as nm lists them."""
    objects = {path.replace("/", "_").replace("_", "/", 1) + ".o": path for path in text
               if path.endswith(".c") and not path.startswith(ALONE)}
    home, wanted, found = {}, {}, {}
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(build, top)):
            for name in names:
                if "%s/%s" % (top, name) in objects:
                    found.setdefault(objects["%s/%s" % (top, name)], os.path.join(folder, name))
    source = {path: name for name, path in found.items()}
    for line in subprocess.check_output(["nm", "-A", "-g", *found.values()], text=True).splitlines():
        place, symbol = line.rsplit(" ", 1)
        path = source[place.split(":", 1)[0]]
        wanted.setdefault(path, set())
        if place.endswith(" U"):
            wanted[path].add(symbol)
        else:
            home[symbol] = path
    return {path: {home[name] for name in names if name in home} - {path} for path, names in wanted.items()}


def node(top, path):
    """The folder in @top that has the file; a room of the list by itself."""
    folder = os.path.join(top, os.path.relpath(path, top).split("/")[0])
    return room_of(path) if room_of(path).startswith(folder + "/") else folder


def neighbours(files):
    """The edges between folders that stand in the same folder."""
    edges = {}
    for path, others in files.items():
        for other in others:
            top = os.path.commonpath([path, other])
            ends = [node(top, p) for p in (path, other)]
            if not any(end.endswith(".c") for end in ends):
                edges.setdefault(ends[0], set()).add(ends[1])
                edges.setdefault(ends[1], set())
    return edges


def circles(edges):
    """Sets of nodes that reach each other (Tarjan, without recursion)."""
    index, low, stack, found = {}, {}, [], []
    for start in sorted(edges):
        if start in index:
            continue
        work = [(start, iter(sorted(edges[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    work.append((to, iter(sorted(edges.get(to, ())))))
                    break
                if to in stack:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(sorted(stack[stack.index(node):]))
                    del stack[stack.index(node):]
    return found


def main():
    os.chdir(sys.argv[1])
    text = {path: read(path) for path in sources()}
    back = list(backward(text))
    tap.report("a file includes no header of a later room", not back, "\n".join(back))
    files = symbols(sys.argv[2], text)
    found = circles(files)
    large = [" ".join(circle) for circle in found if len(circle) > MOST]
    tap.report("circles are found at all", any(len(circle) > 1 for circle in found))
    tap.report("no circle has more than %d files" % MOST, not large, "\n".join(large))
    large = [" ".join(circle) for circle in circles(neighbours(files)) if len(circle) > 1]
    tap.report("no more than %d circles of folders beside each other" % FOLDERS, len(large) <= FOLDERS, "\n".join(large))
    tap.plan()


main()

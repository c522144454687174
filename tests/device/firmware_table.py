#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the table of docs/firmware.md: each SQE image of folders that tools/firmware.sh made, what it is, whether it boots, how many
captures of its generation it runs to their end, and what audit finds.
Usage: firmware_table.py CPSCOPE CAPTURES FOLDER..."""
import glob
import json
import os
import re
import subprocess
import sys


def ask(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {}


def generation_of(path):
    """The GPU generation of a capture, as its name says it: vkt-draw-a650.rd.gz."""
    found = re.search(r"-a(\d)\d\d\.rd", path)
    return "a%sxx" % found.group(1) if found else None


def main():
    cpscope, captures, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    streams = {}
    for path in sorted(glob.glob(os.path.join(captures, "*.rd*"))):
        streams.setdefault(generation_of(path), []).append(path)
    chips = {}
    for line in subprocess.check_output([cpscope, "device", "--chip", "list"], text=True).splitlines():
        name, _, firmware = line.split()[:3]
        chips.setdefault(firmware, []).append(name)
    seen = {}
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "*_sqe.fw")) + glob.glob(os.path.join(folder, "a5*_pm4.fw"))):
            with open(path, "rb") as file:
                seen.setdefault((os.path.basename(path), file.read()), []).append(path)
    print("| image | Debian | id | version | chips | boots | streams | flaws |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (name, _), paths in seen.items():
        path = paths[0]
        info = ask(cpscope, "info", "--json", path)[1].get("files", [{}])[0]
        firmware = ["--fw", path] + (["--fw", path.replace("pm4", "pfp")] if "pm4" in name else [])
        boots = ask(cpscope, "run", "--json", *firmware)[0] == 0
        ran = [ask(cpscope, "run", "--json", *firmware, capture)[0] for capture in streams.get(info.get("generation"), [])]
        audit = ask(cpscope, "audit", "--json", path)[1]
        flaws = sum(row.get("verdict") == "has the flaw" for file in audit.get("files", []) for row in file.get("flaws", []))
        print("| %s | %s | 0x%x | %s | %s | %s | %d of %d | %d |" % (
            name, ", ".join(os.path.basename(os.path.dirname(p)) for p in paths), info.get("id", 0), info.get("version"),
            " ".join(chips.get(name, [])) or "-", "yes" if boots else "**no**", ran.count(0), len(ran), flaws))


main()

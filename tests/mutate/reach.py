# SPDX-License-Identifier: MIT
"""Which lines of the product a test executes, read from gcov's files.

A test's processes write their counts below a folder of its own (GCOV_PREFIX), so that many tests share one build."""
import json
import os
import subprocess

FOLDERS = ("emu", "isa", "trace", "fw", "tools")


def notes_of(build):
    """The notes that the compiler left: path below the build folder, without suffix."""
    found = []
    for folder, _, names in os.walk(build):
        found += [os.path.join(folder, name)[:-5] for name in names if name.endswith(".gcno")]
    return found


def prefixed(env, folder):
    return {**env, "GCOV_PREFIX": folder, "GCOV_PREFIX_STRIP": "0"}


def read(build, source, folder, branches=False):
    """gcov's records of each file of the product for what ran with the prefix `folder`.

    Gives (path below the source folder, record) once for each object that has lines of that file."""
    counted = []
    for note in notes_of(build):
        data = folder + os.path.abspath(note) + ".gcda"
        if os.path.exists(data):
            link = data[:-5] + ".gcno"
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(note) + ".gcno", link)
            counted.append(data)
    for at in range(0, len(counted), 64):
        out = subprocess.run(["gcov", "--json-format", "--stdout"] + (["--branch-probabilities"] if branches else [])
                             + counted[at:at + 64], cwd=build, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=True).stdout
        for line in out.decode().splitlines():
            for record in json.loads(line)["files"] if line.strip() else ():
                path = os.path.relpath(os.path.join(build, record["file"]), source)
                if path.split("/")[0] in FOLDERS:
                    yield path, record


def lines(build, source, folder):
    """{path: (lines that were executed, lines that have code)}."""
    found = {}
    for path, record in read(build, source, folder):
        executed, code = found.setdefault(path, (set(), set()))
        executed.update(line["line_number"] for line in record["lines"] if line["count"])
        code.update(line["line_number"] for line in record["lines"])
    return found

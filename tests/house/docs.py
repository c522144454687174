# SPDX-License-Identifier: MIT
"""What README, CONTRIBUTING and docs/ say is there: links, files, commands with their options, and what commands print.
Rows of .def files fit into 160 columns. Usage: docs.py CPSCOPE"""
import glob
import os
import re
import shlex
import subprocess

import tap
from scene import CPSCOPE
from tree import ROOT

PAGES = sorted(glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
FOLDERS = ("isa", "fw", "trace", "emu", "tools", "tests", "docs", ".ci")


def read(page):
    return open(page, encoding="utf-8").read()


def name(page):
    return os.path.relpath(page, ROOT)


def run(words, text=""):
    return subprocess.run([CPSCOPE] + words, capture_output=True, text=True, input=text, cwd=ROOT, timeout=60)


def blocks(text):
    """Fenced blocks, and those that are indented by four."""
    return re.findall(r"^```[^\n]*\n(.*?)^```", text, re.M | re.S) + \
        [re.sub(r"^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    [^\n]*\n)+", text, re.M)]


def links_lead_somewhere():
    count = 0
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
            if not re.match(r"\w+:|#", target):
                path = os.path.join(os.path.dirname(page), target.split("#")[0])
                assert os.path.exists(path), "%s: no %s" % (name(page), target)
                count += 1
    return "%d links" % count


def files_are_there():
    count = 0
    for page in PAGES:
        for word in re.findall(r"`([^`\s]+)`", read(page)):
            if re.match(r"(?:%s)/[\w./*{},+-]*$" % "|".join(map(re.escape, FOLDERS)), word):
                # a{b,c} are two files
                options = re.search(r"\{(.*)\}", word)
                for part in options[1].split(",") if options else [""]:
                    path = word.replace(options[0], part) if options else word
                    assert glob.glob(os.path.join(ROOT, path)), "%s: no %s" % (name(page), path)
                    count += 1
    return "%d files" % count


def command_lines():
    for page in PAGES:
        text = read(page)
        lines = [line for block in blocks(text) for line in block.replace("\\\n", " ").splitlines()]
        for line in lines + re.findall(r"`(cpscope [^`]*)`", " ".join(text.split())):
            found = re.match(r"(?:\$ |exec )?(?:\S*/)?cpscope (.*)", line.strip())
            if found:
                yield name(page), re.split(r"\s#|[|;]| 2?>", found[1])[0]


def commands_are_known():
    count = 0
    listed = run(["help"]).stdout
    commands = re.findall(r"^  (\w+) ", listed, re.M)
    topics = re.findall(r"^    (\w+) ", listed, re.M)
    helps = {command: run(["help", command]).stdout for command in commands if command != "help"}
    for page, line in command_lines():
        words = shlex.split(line.split(" -- ")[0].replace("...", " ").replace("[", " ").replace("]", " "))
        command = words[0] if words else ""
        if command == "help":
            assert not words[1:] or words[1].isupper() or words[1] in commands + topics, (page, line)
            assert words[1:2] != ["hardware"] or not run(words if words[-1].islower() else words[:-1]).returncode, (page, line)
        elif command != "--version" and not command.isupper():
            assert command in helps, "%s: no command %s in: cpscope %s" % (page, command, line)
            for word in words[1:]:
                option = re.match(r"(--[\w-]+|-\w)", word)
                known = option and re.search(r"^ +(?:-\w,|) *(?:.*, )?%s\b" % re.escape(option[1]), helps[command], re.M)
                assert not option or known, "%s: no option %s in: cpscope %s" % (page, word, line)
        count += 1
    assert count > 40, count
    return "%d lines" % count


def sessions():
    """(page, command line, commands of the debugger, what is printed) of blocks that begin with "$ cpscope"."""
    for page in PAGES:
        for block in blocks(read(page)):
            if block.startswith("$ cpscope "):
                lines = block.rstrip().splitlines()
                typed = [line[2:] for line in lines if line.startswith("> ")]
                yield name(page), lines[0][2:].split("   #")[0], typed, lines[1:]


def examples_are_true():
    """What a block shows is printed, in this order; "..." stands for lines that are left out."""
    count = 0
    for page, line, typed, shown in sessions():
        if re.search(r"\b(?!demo)\w\S*\.fw\b", line):
            continue  # other people's firmware: example_revision.py has it
        done = run(shlex.split(line)[1:], "\n".join(typed) + "\n")
        printed = [one.rstrip() for one in (done.stdout + done.stderr).splitlines()]
        at = 0
        for wanted in shown:
            if wanted.strip() == "...":
                continue
            found = next((i for i in range(at, len(printed)) if printed[i] == wanted.rstrip()), None)
            assert found is not None, "%s, %s: no line\n%s\nbehind line %d of\n%s" % (page, line, wanted, at, "\n".join(printed))
            at = found + 1
        count += 1
    assert count > 5, count
    return "%d examples" % count


def readme_is_one_screen():
    lines = read(os.path.join(ROOT, "README.md")).count("\n")
    assert lines <= 60, "%d lines, at most 60" % lines
    return "%d lines" % lines


# Registers whose rows change their columns now; their evidence moves to the next line then.
LATER = []


def rows_are_short():
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.def"), recursive=True):
            for number, line in enumerate(open(path), 1):
                assert len(line) <= 161 or name(path) in LATER, "%s:%d: %d columns, at most 160" % (name(path), number, len(line) - 1)


tap.run([("links lead to files", links_lead_somewhere), ("files that are named exist", files_are_there),
         ("commands and options that are shown exist", commands_are_known),
         ("examples print what the pages show", examples_are_true),
         ("README is one screen", readme_is_one_screen), ("rows of .def files fit into 160 columns", rows_are_short)])

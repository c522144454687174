#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Syntax files of editors: as the tables of the program make them, and as editors understand them. Usage: editors.py
CPSCOPE. REBASE=confirmed writes them again"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import rebase
import tap
from lsp_client import Client
from tree import ROOT

EDITORS = os.path.join(ROOT, "editors")
HEADS = ["a5xx microcode", "a6xx microcode", "a7xx microcode", "a8xx microcode", "nv17 hwsq", "g92 hwsq", "seq-old seq", "seq-new seq",
         "vp1-nv41 vp1", "vp1-g80 vp1"]
OTHER = "section .text\nglobal _start\n_start:\n    mov eax, 1 ; not ours\n    call main\n"


def read(*path):
    with open(os.path.join(EDITORS, *path), encoding="utf-8") as file:
        return file.read()


def made():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(EDITORS, "make.py"), ROOT, folder], check=True)
        paths = [os.path.relpath(p, folder) for p in glob.glob(folder + "/**/*", recursive=True) if os.path.isfile(p)]
        difference = ""
        for path in sorted(paths):
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                new = file.read()
            old = read(path) if os.path.exists(os.path.join(EDITORS, path)) else ""
            if old != new and rebase.confirmed(path):
                print("# " + rebase.difference(path, old, new).replace("\n", "\n# "))
                shutil.copy(os.path.join(folder, path), os.path.join(EDITORS, path))
            else:
                difference += rebase.difference(path, old, new)
    assert len(paths) > 6 and not difference, difference


def mnemonics():
    """What the assembler takes, which the language server says."""
    found = {}
    c = Client().start()
    for head in HEADS:
        c.open("; %s\n" % head)
        answer = c.ask("textDocument/completion", {"textDocument": {"uri": "file:///a.asm"}, "position": {"line": 1, "character": 0}})
        found[head] = sorted(item["label"] for item in answer["items"])
    c.close()
    assert all(found.values()) and "cwrite" in found["a6xx microcode"] and "popcount" not in found["a7xx microcode"]
    return found


def grammar(name):
    return json.loads(read("vscode/syntaxes/%s.tmLanguage.json" % name))


def kinds(name, line):
    """What a grammar calls the parts of a line: the first match, of several the first in the file."""
    rules = [(re.compile(rule["match"]), rule) for rule in grammar(name)["patterns"]]
    at, out = 0, []
    while True:
        found = [(m.start(), i, m) for i, (regex, _) in enumerate(rules) for m in [regex.search(line, at)] if m and m.end() > m.start()]
        if not found:
            return out
        _, i, match = min(found, key=lambda f: f[:2])
        rule = rules[i][1]
        parts = [(match.group(), rule["name"])] if "name" in rule else [
            (match.group(int(g)), c["name"]) for g, c in rule["captures"].items() if match.group(int(g))]
        out += [(text.strip(), name.rpartition(".")[0]) for text, name in parts]
        at = match.end()


def vscode():
    package = json.loads(read("vscode/package.json"))["contributes"]
    for language in package["languages"]:
        assert os.path.exists(os.path.join(EDITORS, "vscode", language["configuration"]))
    for each in package["grammars"]:
        assert grammar(each["language"])["scopeName"] == each["scopeName"]
    first = next(language["firstLine"] for language in package["languages"] if language["id"] == "cpsasm")
    for head in HEADS + ["a5xx pfp microcode", "a7xx a750 microcode"]:
        assert re.search(first, "; " + head), head
    assert not re.search(first, "; a comment about microcode") and not re.search(first, "; hwsq")
    for head, names in mnemonics().items():
        for name in names:
            assert (name, "keyword.mnemonic") in kinds("cpsasm", "  %s $02" % name), (head, name)
    assert kinds("cpsasm", "a: (rep)cwrite $02, [$00 + @REG_WRITE] ; add") == [
        ("a:", "entity.name.function"), ("(rep)", "storage.modifier"), ("cwrite", "keyword.mnemonic"),
        ("$02", "variable.language.register"), ("$00", "variable.language.register"), ("@REG_WRITE", "support.constant"),
        ("; add", "comment.line.semicolon")]
    assert kinds("cpspm4", " reg RB_MRT[0].CONTROL 0x1") == [
        ("reg", "keyword.control"), ("RB_MRT[0].CONTROL", "support.constant"), ("0x1", "constant.numeric")]
    assert kinds("cpspm4", "buffer 0x1000 frame") == [
        ("buffer", "keyword.control"), ("0x1000", "constant.numeric"), ("frame", "entity.name.function")]
    assert kinds("cpspm4", " CP_NOP @a #a")[0] == ("CP_NOP", "keyword.mnemonic")
    run = subprocess.run([sys.argv[1], "run", "--demo", "-o", "-"], capture_output=True, text=True, check=True)
    for line in run.stdout.splitlines():
        assert kinds("cpstrace", line)[0][1] in ("keyword.control.directive", "keyword.mnemonic"), line
    assert kinds("cpstrace", "bv REG 0x0001 0x2")[:2] == [("bv", "storage.type"), ("REG", "keyword.mnemonic")]


def vim(folder, files, script):
    """What a script of Vim, which writes the list `g:out`, says of files."""
    program = shutil.which("vim")
    if not program or "+syntax" not in subprocess.run([program, "--version"], capture_output=True, text=True).stdout:
        raise tap.Skip("no vim with syntax here")
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(folder, "script.vim"), "w", encoding="utf-8") as file:
        file.write(script + "\ncall writefile(g:out, 'out')\nqa!\n")
    run = subprocess.run([program, "-es", "-N", "-u", "NONE", "-i", "NONE", "--cmd", "set rtp^=%s/vim" % EDITORS,
                          "--cmd", "filetype plugin on", "--cmd", "syntax on", "-S", "script.vim"],
                         cwd=folder, capture_output=True, text=True, timeout=60, env=dict(os.environ, HOME=folder), stdin=subprocess.DEVNULL)
    with open(os.path.join(folder, "out"), encoding="utf-8") as file:
        return file.read().splitlines(), run


def vim_detects():
    files = {"ours%d.asm" % i: "; x\n; %s\n" % head for i, head in enumerate(HEADS)}
    files.update({"word.asm": "        [016ee001]\n", "other.asm": OTHER, "a.pm4": "# cpscope-pm4 1\n", "b.txt": "# cpscope-trace 1\n",
                  "c.txt": "text\n", "d.afuc": "; a6xx microcode\n"})
    wanted = {name: "cpsasm" for name in files if name.startswith("ours")}
    wanted.update({"word.asm": "cpsasm", "other.asm": "asm", "a.pm4": "cpspm4", "b.txt": "cpstrace", "c.txt": "text", "d.afuc": "cpsasm"})
    script = "let g:out = []\n" + "".join("edit %s\ncall add(g:out, '%s ' . &ft)\n" % (n, n) for n in sorted(files))
    with tempfile.TemporaryDirectory() as folder:
        found, _ = vim(folder, files, script)
    assert dict(line.split(" ") for line in found) == wanted, found


def vim_colours():
    """The group of the first character of each line's last word is what the line begins with."""
    names = sorted(set(sum(mnemonics().values(), [])))
    lines = ["; a6xx microcode"] + ["    " + name for name in names]
    more = [("label", "cpsasmLabel", "label: nop", 0), ("prefix", "cpsasmPrefix", "(rep)add $02", 1), ("control", "cpsasmControl", "cread $02, [$00 + @NAME]", 19),
            ("register", "cpsasmRegister", "mov $addr, 1", 5), ("comment", "cpsasmComment", "nop ; add $02", 8), ("number", "cpsasmNumber", "mov $02, 0x12", 10),
            ("directive", "cpsasmDirective", ".jumptbl", 2), ("section", "cpsasmSection", ".section BV", 9), ("use", "cpsasmReference", "jump #add", 6)]
    lines += [text for _, _, text, _ in more]
    places = [(i + 2, 5, "cpsasmMnemonic") for i in range(len(names))]
    places += [(len(names) + 2 + i, column + 1, group) for i, (_, group, _, column) in enumerate(more)]
    script = "let g:out = []\nedit a.asm\n" + "".join(
        "call add(g:out, synIDattr(synID(%d, %d, 1), 'name'))\n" % (line, column) for line, column, _ in places)
    with tempfile.TemporaryDirectory() as folder:
        found, _ = vim(folder, {"a.asm": "\n".join(lines) + "\n"}, script)
    wrong = [(lines[line - 1], wanted, got) for (line, _, wanted), got in zip(places, found) if wanted != got]
    assert len(found) == len(places) and not wrong, wrong
    text = "# cpscope-pm4 1\nbuffer 0x1 frame\n reg RB_MRT[0].X 0x1\n CP_NOP @a\nsubmit frame ; x\n"
    script = "let g:out = []\nedit a.pm4\n" + "".join("call add(g:out, synIDattr(synID(%d, %d, 1), 'name'))\n" % place for place in (
        (1, 1), (2, 1), (2, 9), (2, 12), (3, 2), (3, 6), (3, 13), (4, 2), (4, 9), (5, 8), (5, 14)))
    with tempfile.TemporaryDirectory() as folder:
        found, _ = vim(folder, {"a.pm4": text}, script)
    assert [name[6:] for name in found] == ["Head", "Keyword", "Number", "Reference", "Keyword", "Register", "Register", "Packet",
                                            "Reference", "Reference", "Comment"], found
    trace = "# cpscope-trace 1\nbv PKT ib1 0x1 ; x pc=0x0001\n"
    script = "let g:out = []\nedit t\n" + "".join(
        "call add(g:out, synIDattr(synID(%d, %d, 1), 'name'))\n" % place for place in ((1, 1), (2, 1), (2, 4), (2, 12), (2, 17), (2, 22)))
    with tempfile.TemporaryDirectory() as folder:
        found, _ = vim(folder, {"t": trace}, script)
    assert found == ["cpstraceHead", "cpstraceProcessor", "cpstraceEvent", "cpstraceNumber", "cpstraceComment", "cpstracePlace"], found


tap.run([("files are as the tables make them", made), ("VS Code's grammars know every mnemonic", vscode),
         ("Vim knows our files by what they say", vim_detects), ("Vim knows every mnemonic", vim_colours)])

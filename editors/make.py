#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the syntax files of editors from the tables that the program is made of: mnemonics, prefixes and registers from
isa/, directives and keywords from the readers, events from trace/event/event.def. Usage: make.py ROOT FOLDER"""
import glob
import json
import os
import re
import sys

ROOT, FOLDER = sys.argv[1:3]
STRING = r'"((?:[^"\\]|\\.)*)"'


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)


def words(path, pattern):
    return sorted(set(re.findall(pattern, read(path), re.M)) - {""})


def table_words(pattern):
    """From every table of instructions."""
    paths = [os.path.relpath(path, ROOT) for folder in ("isa", "isa/nv")
             for path in glob.glob(os.path.join(ROOT, folder, "*.def"))]
    return sorted({word for path in paths for word in words(path, pattern)})


GENS = re.findall(r'^GEN\(\w+,\s*(\w+),.*?"\w*-?\w*",\s*"\w*",\s*"([\w-]*)",\s*"(\w+)"', read("isa/target.def"), re.M)
AFUC = sorted(word for isa, _, word in GENS if isa == "afuc")
SCRIPTS = sorted(prefix + word + " " + isa for isa, prefix, word in GENS if isa in ("hwsq", "seq", "vp1"))
MNEMONICS = sorted(set(table_words(r'^OP\(\w+,\s*"(\w+)"') + table_words(r'^FORM\(\w+,\s*"(\w+)"')))
# Opcodes without a name are rows of macros: "s" and their number.
UNNAMED = {macro: letter for macro, letter in re.findall(r'^#define (\w+)\((?:\w+)\).*FORM\(\w+##\w+, "(\w+)" #', read("isa/nv/vp1.def"), re.M)}
MNEMONICS = sorted(set(MNEMONICS) | {UNNAMED[macro] + number for macro, number in re.findall(
    r"^[^#\n]*?\b(\w+)\((\w+)\)", re.sub(r"\) +", ")\n", read("isa/nv/vp1.def")), re.M) if macro in UNNAMED})
FLAGS = table_words(r'^FIELD\(\w+,\s*"(\w+)",\s*\d+,\s*\d+,\s*FLAG\b')
COUNTS = table_words(r'^FIELD\(\w+,\s*"(\w+)",\s*\d+,\s*\d+,\s*COUNT\b')
SECTIONS = sorted(set(re.findall(r'^ROLE\(\w+,\s*"\w+",\s*"(\w+)"', read("isa/target.def"), re.M)))
DIRECTIVES = sorted(set(words("fw/asm/asm.c", r'^\s*\{"(\w+)", do_') + words("fw/asm/script.c", r'^\s*\{"\.(\w+)", ')))
PM4 = sorted(set(words("trace/capture/pm4text.c", r'\{"(\w+)",\s+read_\w+\}') + ["reg"]))
EVENTS = words("trace/event/event.def", r'^EVENT\(\w+,\s*"(\w+)"')
PROCESSORS = words("isa/target.def", r'^PROCESSOR\(\w+,\s*"(\w+)"')

HEAD = r"^;\s*(?:(?:%s)\s+(?:\w+\s+)?microcode|%s)\s*$" % ("|".join(AFUC), "|".join(s.replace(" ", r"\s+") for s in SCRIPTS))
FIRST = {"cpspm4": "# cpscope-pm4 1", "cpstrace": "# cpscope-trace 1"}
MADE = "Made by editors/make.py from the tables of the program"


def vim_lines(group, names, width=100):
    """Keywords in lines of some width."""
    line, out = "", []
    for name in names:
        if len(line) + len(name) > width:
            out.append(line)
            line = ""
        line += " " + name
    return ["syn keyword %s%s" % (group, each) for each in out + [line] if each]


def vim_syntax(name, lines, links):
    return "\n".join(
        ['" SPDX-License-Identifier: MIT', '" ' + MADE + ".", 'if exists("b:current_syntax")', "    finish", "endif", "syn case match"] + lines
        + ["hi def link %s %s" % link for link in links] + ['let b:current_syntax = "%s"' % name, ""])


def alternatives(names):
    return r"\%(" + r"\|".join(names) + r"\)"


def vim_asm():
    return vim_syntax("cpsasm", [
        *vim_lines("cpsasmMnemonic", MNEMONICS),
        r"syn match cpsasmLabel /^\s*\%(\h\w*:\s*\)*\h\w*:/",
        r"syn match cpsasmDirective /\.%s\>/" % alternatives(DIRECTIVES),
        r"syn match cpsasmSection /\(\.section\s\+\)\@<=" + alternatives(SECTIONS) + r"\>/",
        r"syn match cpsasmPrefix /(" + r"\%(" + r"\|".join(FLAGS + [c + r"\d\+" for c in COUNTS]) + r"\))/",
        r"syn match cpsasmRegister /\$\w\+/",
        r"syn match cpsasmControl /[@%]\h\w*/",
        r"syn match cpsasmReference /#\h\w*/",
        r"syn match cpsasmNumber /\<\%(0x\x\+\|\d\+\|b\d\+\)\>/",
        r"syn match cpsasmWord /\[\x\{2,8}\]/",
        r"syn match cpsasmComment /;.*/ contains=@Spell",
    ], [("cpsasmMnemonic", "Statement"), ("cpsasmLabel", "Function"), ("cpsasmDirective", "PreProc"), ("cpsasmSection", "Type"),
        ("cpsasmPrefix", "Special"), ("cpsasmRegister", "Identifier"), ("cpsasmControl", "Constant"),
        ("cpsasmReference", "Function"), ("cpsasmNumber", "Number"), ("cpsasmWord", "Number"), ("cpsasmComment", "Comment")])


def vim_pm4():
    return vim_syntax("cpspm4", [
        r"syn match cpspm4Keyword /^\s*" + alternatives(PM4) + r"\>/",
        r"syn match cpspm4Keyword /^\s*\.word\>/",
        r"syn match cpspm4Packet /^\s*\u\w*/",
        r"syn match cpspm4Register /\(^\s*\%(reg\|start\)\s\+\)\@<=\h[^ \t;]*/",
        r"syn match cpspm4Reference /[@#]\h\w*/",
        r"syn match cpspm4Reference /\(^\s*\%(submit\|ring\|buffer\s\+\w\+\)\s\+\)\@<=\h\w*/",
        r"syn match cpspm4Number /\<\%(0x\x\+\|\d\+\)\>/",
        r"syn match cpspm4Head /\%1l# cpscope-pm4.*/",
        r"syn match cpspm4Comment /;.*/ contains=@Spell",
    ], [("cpspm4Keyword", "Keyword"), ("cpspm4Packet", "Statement"), ("cpspm4Register", "Identifier"), ("cpspm4Reference", "Function"),
        ("cpspm4Number", "Number"), ("cpspm4Head", "PreProc"), ("cpspm4Comment", "Comment")])


def vim_trace():
    return vim_syntax("cpstrace", [
        r"syn match cpstraceEvent /^\%(" + alternatives(PROCESSORS) + r" \)\=" + alternatives(EVENTS) + r"\>/ contains=cpstraceProcessor",
        r"syn match cpstraceProcessor /^" + alternatives(PROCESSORS) + r"\>/ contained",
        r"syn match cpstraceNumber /\<\%(0x\x\+\|\d\+\)\>/",
        r"syn match cpstracePlace / pc=0x\x\+/ contained",
        r"syn match cpstraceHead /^#.*/",
        r"syn match cpstraceComment /;.*/ contains=cpstracePlace",
    ], [("cpstraceEvent", "Statement"), ("cpstraceProcessor", "Type"), ("cpstraceNumber", "Number"), ("cpstracePlace", "Special"),
        ("cpstraceHead", "PreProc"), ("cpstraceComment", "Comment")])


def vim_detect():
    """`.asm` is everybody's: only what says so, or begins as firmware does, is ours. A pattern of Vim for HEAD."""
    head = r"^;\s*\%(\%(" + r"\|".join(AFUC) + r"\)\s\+\%(\w\+\s\+\)\=microcode\|" + r"\|".join(
        s.replace(" ", r"\s\+") for s in SCRIPTS) + r"\)\s*$"
    return "\n".join([
        '" SPDX-License-Identifier: MIT', '" ' + MADE + ".",
        "function! s:Asm() abort",
        "    for line in getline(1, 60)",
        "        if line =~# '%s' || line =~# '^\\s*\\[0[01]\\x\\{6}\\]'" % head,
        "            set filetype=cpsasm",
        "            return", "        endif", "    endfor", "endfunction",
        "function! s:First() abort",
        *("    if getline(1) =~# '^%s'\n        set filetype=%s\n    endif" % (text, name) for name, text in sorted(FIRST.items())),
        "endfunction",
        "au BufNewFile,BufRead *.asm,*.afuc call s:Asm()",
        "au BufNewFile,BufRead *.pm4 setfiletype cpspm4",
        "au BufNewFile,BufRead * call s:First()", ""])


def grammar(name, scope, patterns):
    return json.dumps({"information_for_contributors": [MADE], "name": name, "scopeName": scope, "patterns": [
        {"match": match, "name": kind + "." + scope.split(".")[1]} if isinstance(kind, str)
        else {"match": match, "captures": {str(i): {"name": k + "." + scope.split(".")[1]} for i, k in kind.items()}}
        for match, kind in patterns]}, indent=2) + "\n"


def any_of(names):
    return "(?:" + "|".join(names) + ")"


def vscode_asm():
    return grammar("cpscope assembly", "source.cpsasm", [
        (r";.*$", "comment.line.semicolon"),
        (r"\b[A-Za-z_]\w*:", "entity.name.function"),
        (r"\.%s\b" % any_of(DIRECTIVES), "keyword.control.directive"),
        (r"(?<=\.section )%s\b" % any_of(SECTIONS), "storage.type"),
        (r"\(%s\)" % any_of(FLAGS + [c + r"\d+" for c in COUNTS]), "storage.modifier"),
        (r"\$\w+", "variable.language.register"),
        (r"[@%][A-Za-z_]\w*", "support.constant"),
        (r"#[A-Za-z_]\w*", "entity.name.function"),
        (r"\[[0-9a-fA-F]{2,8}\]", "constant.numeric"),
        (r"\b(?:0x[0-9a-fA-F]+|\d+|b\d+)\b", "constant.numeric"),
        (r"\b%s\b" % any_of(MNEMONICS), "keyword.mnemonic"),
    ])


def vscode_pm4():
    return grammar("PM4 text", "source.cpspm4", [
        (r";.*$", "comment.line.semicolon"),
        (r"^# cpscope-pm4.*$", "keyword.control.directive"),
        (r"^\s*((?:reg|start))\s+([A-Za-z_][^\s;]*)", {1: "keyword.control", 2: "support.constant"}),
        (r"^\s*(buffer)\s+(\w+)\s+(\w+)", {1: "keyword.control", 2: "constant.numeric", 3: "entity.name.function"}),
        (r"^\s*(submit|ring)\s+(\w+)", {1: "keyword.control", 2: "entity.name.function"}),
        (r"^\s*(?:%s|\.word)\b" % "|".join(PM4), "keyword.control"),
        (r"^\s*[A-Z]\w*", "keyword.mnemonic"),
        (r"[@#][A-Za-z_]\w*", "entity.name.function"),
        (r"\b(?:0x[0-9a-fA-F]+|\d+)\b", "constant.numeric"),
    ])


def vscode_trace():
    return grammar("cpscope trace", "source.cpstrace", [
        (r"^#.*$", "keyword.control.directive"),
        (r";.*$", "comment.line.semicolon"),
        (r"^(?:(%s) )?(%s)\b" % ("|".join(PROCESSORS), "|".join(EVENTS)), {1: "storage.type", 2: "keyword.mnemonic"}),
        (r"\b(?:0x[0-9a-fA-F]+|\d+)\b", "constant.numeric"),
    ])


def vscode_package():
    language = lambda name, alias, extensions, first: {
        "id": name, "aliases": [alias], "extensions": extensions, "firstLine": first, "configuration": "./language.json"}
    return json.dumps({
        "name": "cpscope", "displayName": "cpscope", "publisher": "cpscope", "version": "0.1.0", "license": "MIT",
        "description": "Microcode of GPU command processors: syntax of assembly, PM4 text and traces, and the debugger",
        "engines": {"vscode": "^1.75.0"}, "categories": ["Programming Languages", "Debuggers"],
        "contributes": {
            "languages": [language("cpsasm", "cpscope assembly", [".afuc"], HEAD),
                          language("cpspm4", "PM4 text", [".pm4"], "^" + FIRST["cpspm4"]),
                          language("cpstrace", "cpscope trace", [], "^" + FIRST["cpstrace"])],
            "grammars": [{"language": name, "scopeName": "source." + name, "path": "./syntaxes/%s.tmLanguage.json" % name}
                         for name in ("cpsasm", "cpspm4", "cpstrace")],
            "breakpoints": [{"language": "cpsasm"}],
            "debuggers": [{"type": "cpscope", "label": "cpscope", "languages": ["cpsasm"],
                           "runtime": "cpscope", "runtimeArgs": ["step", "--dap"],
                           "configurationAttributes": {"launch": {"properties": {
                               "demo": {"type": "boolean", "description": "the built-in firmware and capture"},
                               "fw": {"type": ["string", "array"], "description": "firmware; of a5xx two files"},
                               "capture": {"type": "string", "description": "the capture that it runs"},
                               "symbols": {"type": "string", "description": "labels of the firmware"},
                               "stopOnEntry": {"type": "boolean", "default": True}}}},
                           "initialConfigurations": [{"type": "cpscope", "request": "launch", "name": "demo", "demo": True}]}],
        }}, indent=2) + "\n"


def main():
    files = {
        "vim/ftdetect/cpscope.vim": vim_detect(), "vim/syntax/cpsasm.vim": vim_asm(), "vim/syntax/cpspm4.vim": vim_pm4(),
        "vim/syntax/cpstrace.vim": vim_trace(), "vscode/package.json": vscode_package(),
        "vscode/syntaxes/cpsasm.tmLanguage.json": vscode_asm(), "vscode/syntaxes/cpspm4.tmLanguage.json": vscode_pm4(),
        "vscode/syntaxes/cpstrace.tmLanguage.json": vscode_trace()}
    for path, text in files.items():
        path = os.path.join(FOLDER, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


main()

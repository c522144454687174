#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options along their rows: those without a meaning for an engine are refused, the others are not.
Usage: options.py CPSCOPE"""
import os
import re
import subprocess

import tap
from scene import CPSCOPE, cpscope, path, run
from tree import GOLDEN, ROOT, SCRIPTS

OPTIONS, POLICIES = os.path.join(ROOT, "tools", "cmd", "options", "opt.def"), os.path.join(ROOT, "emu", "policy.def")
RECLOCK = os.path.join(SCRIPTS, "reclock.run")
ENGINES = cpscope("help", "values", "run", "engine").stdout.split()
COMMANDS = re.findall(r"^(\w+):.* --engine", cpscope("help", "values").stdout, re.M)
CHIP = {"hwsq": "g80", "vp1": "g80", "pfifo": "nv3"}
SIDE = {"afuc": "no.fw", "hwsq": "hwsq:g80", "seq": "seq:old", "vp1": "vp1:g80", "pfifo": "pfifo:nv3"}
VALUES = {"engine": "afuc", "length": "1", "seq-abi": "old", "names": "measured", "style": "own", "events": "reg", "to": "text", "gen": "a6xx", "as": "a6xx",
          "inject": "preempt@0:0", "color": "never", "mask": "reg:0x10", "waits": "stop", "visibility": "none", "prefetch": "on"}
TRACES = {engine: os.path.join(GOLDEN, name + ".trace") for engine, name in
          (("afuc", "demo"), ("hwsq", "reclock"), ("seq", "pause"), ("vp1", "vp1"), ("pfifo", "pfifo-nv3"))}


def words(column):
    if column.strip() == "EVERY":
        return COMMANDS
    return ENGINES if column.strip() == "ALL" else column.lower().replace(" ", "").split("|")


def rows():
    """(option, needs an argument, commands, engines) of opt.def."""
    row = re.compile(r'OPTION\([\w.]+, *\w+, +"([\w-]+)", +[^,]+, +(NULL|"[^"]*"),\s+([A-Z| ]+), +([A-Z0-9| ]+),\s+"')
    text = open(OPTIONS).read()
    found = [row.match(text, at.start()) for at in re.finditer("^OPTION\\([\\w.]+, *", text, re.M)]
    assert len(found) > 30 and all(found), "every row of opt.def has all its columns"
    return [(m[1], m[2] != "NULL" and m[2][1] != "[", words(m[3]), words(m[4])) for m in found]


def policies():
    """name: (engines, a word that is good) of policy.def."""
    text = open(POLICIES).read()
    row = re.compile(r'POLICY(?:_NUMBER)?\(([A-Z0-9| ]+), +\w+, +"([\w-]+)",\s+(.*), ')
    found = [row.match(text, at.start()) for at in re.finditer(r"^POLICY(_NUMBER)?\([A-Z]+ *[|,]", text, re.M)]
    assert len(found) > 10 and all(found), "every row of policy.def has all its columns"
    return {m[2]: (words(m[1]), "8" if m[3][1] == "#" else m[3].split('"')[-2]) for m in found}


def given(option, takes, engine):
    value = {"chip": CHIP.get(engine, "g80"), "fw": SIDE[engine], "output": path("out")}.get(option, VALUES.get(option, "0"))
    if option == "policy":
        value = next("%s=%s" % (name, word) for name, (engines, word) in policies().items() if engine in engines)
    one = ["--" + option] + ([engine if option == "engine" else value] if takes else [])
    return one * 2 if option == "fw" else one


def call(command, engine, *args):
    """A command on files that are not there, but otherwise as it is used."""
    files = {"run": ["no.file"], "step": ["no.file"], "asm": ["no.file", "-o", path("out")], "lsp": [], "diff": ["no.a", "no.b"]}
    firmware = ["--fw", "no.fw"] if command in ("run", "step", "cover") and engine == "afuc" and "--fw" not in args else []
    return subprocess.run([CPSCOPE, command, "--engine", engine, *firmware, *args, *files.get(command, ["no.file"])],
                          capture_output=True, text=True, input="", timeout=60)


def pairs(command, meant):
    for option, takes, commands, engines in rows():
        for engine in ENGINES if command in commands else []:
            # PFIFO has no code: these refuse it whatever the options are.
            if (engine in engines) == meant and not (command in ("asm", "lsp", "disasm", "cover") and engine == "pfifo" and meant):
                yield option, engine, call(command, engine, *given(option, takes, engine))


def refuses(command):
    def case():
        count = 0
        for option, engine, done in pairs(command, False):
            lines = done.stderr.splitlines()
            assert done.returncode == 2 and len(lines) == 1 and not done.stdout, (option, engine, done)
            assert "--%s has no meaning for --engine %s" % (option, engine) in lines[0], lines
            count += 1
        assert count > 3, count
        return "%d pairs" % count
    return case


def accepts(command):
    def case():
        count = 0
        for option, engine, done in pairs(command, True):
            assert "no meaning" not in done.stderr and done.returncode != 2, (option, engine, done)
            count += 1
        assert count > 3, count
        return "%d pairs" % count
    return case


def nothing_is_swallowed():
    done = cpscope("run", "--engine", "hwsq", "--fw", "/nonexistent", "--inject", "foo", RECLOCK, status=2)
    assert done.stderr == "cpscope: --fw has no meaning for --engine hwsq, only for afuc\n" and not done.stdout, done
    done = cpscope("diff", "--engine", "vp1", "--chip", "bogus", TRACES["vp1"], TRACES["vp1"], status=2)
    assert done.stderr == "cpscope: --chip bogus: expected nv41, nv44 or g80\n" and not done.stdout, done
    for command in (["run"], ["step"]):
        done = cpscope(*command, "--demo", "--submit", "7", text="", status=3)
        assert "--submit 7: the capture has 1 submissions" in done.stderr, done


def chips_are_checked_everywhere():
    takes = {row[0]: row[2] for row in rows() if row[2] != ["convert"]}  # whose --chip is of an mmiotrace
    assert sorted(takes["chip"]) == sorted(takes["seq-abi"]) == sorted(takes["engine"]) == sorted(COMMANDS)
    for command in COMMANDS:
        for engine, option, bad in (("hwsq", "chip", "nv3t"), ("vp1", "chip", "nv17"), ("pfifo", "chip", "nv4"),
                                    ("seq", "seq-abi", "newer")):
            done = call(command, engine, "--" + option, bad)
            assert done.returncode == 2 and "--%s %s: expected" % (option, bad) in done.stderr, (command, done)
        done = call(command, "vp9")
        assert done.returncode == 2 and "expected afuc, hwsq, seq, pfifo or vp1" in done.stderr, done


def traces_say_their_engine():
    for engine, trace in TRACES.items():
        for said in ENGINES:
            done = cpscope("diff", "--engine", said, trace, trace, status=0 if said == engine else 2)
            assert said == engine or "%s is of %s" % (trace, engine) in done.stderr, done
        for option, takes, commands, engines in rows():
            if "diff" in commands and option not in ("fw", "output"):
                args = [word for word in given(option, takes, engine if engine in engines else engines[0])]
                done = run("diff", *args, trace, trace)
                refused = "--%s has no meaning for --engine %s" % (option, engine) in done.stderr
                assert refused == (engine not in engines), (engine, option, done)
    for args in (["--chip", "g92", TRACES["hwsq"]], ["--engine", "hwsq", "--chip", "g92", TRACES["hwsq"]],
                 ["--seq-abi", "old", TRACES["seq"]], ["--gen", "a7xx", TRACES["afuc"]]):
        done = cpscope("diff", *args, args[-1], status=2)
        assert "is of" in done.stderr and done.stderr.count("\n") == 1, done


def firmware_says_its_engine():
    both = ["--fw", "hwsq:g80", "--fw", "hwsq:g92", RECLOCK]
    cpscope("diff", *both)
    cpscope("diff", "--engine", "hwsq", "--policy", "cost=1", "--waits", "stop", *both)
    for args, message in ((["--engine", "seq"], "hwsq:g80 is of hwsq"), (["--engine", "afuc"], "hwsq:g80 is of hwsq"),
                          (["--chip", "g80"], "hwsq:g92 is of g92"), (["--gen", "a6xx"], "no meaning"),
                          (["--visibility", "none"], "no meaning"), (["--policy", "graph=wait"], "expected abort-in-wait")):
        assert message in cpscope("diff", *args, *both, status=2).stderr, args
    done = cpscope("diff", "--engine", "hwsq", "--fw", "old.fw", "--fw", "new.fw", RECLOCK, status=2)
    assert "--engine hwsq: expected a chip or ABI of it, found --fw old.fw" in done.stderr, done


def policies_know_their_engines():
    for name, (engines, word) in policies().items():
        for engine in ENGINES:
            done = call("run", engine, "--policy", "%s=%s" % (name, word))
            assert (done.returncode == 2) == (engine not in engines), (name, engine, done)
            assert engine in engines or "policy %s=%s: expected " % (name, word) in done.stderr, done
        done = call("run", engines[0], "--policy", name + "=maybe")
        assert done.returncode == 2 and "policy %s=maybe: expected" % name in done.stderr, done


def shorthands_are_policies():
    shorthands = [row for row in rows() if row[0] in policies()]
    assert [row[0] for row in shorthands] == ["waits", "visibility", "prefetch"], shorthands
    for name, _, _, engines in shorthands:
        assert sorted(engines) == sorted(policies()[name][0]), name
    said = [cpscope("run", "--demo", *args, "-o", "-").stdout.split("\n# events")[0]
            for args in (["--visibility", "none", "--prefetch", "on"], ["--policy", "visibility=none prefetch=on"],
                         ["--policy", "visibility=captured prefetch=on", "--visibility", "none"])]
    assert said[0].endswith("# policy waits=satisfy visibility=none prefetch=on"), said[0]
    assert said[0] == said[1] == said[2], said
    done = cpscope("run", "--demo", "--waits", "maybe", status=2)
    assert "policy waits=maybe: expected satisfy stop" in done.stderr and done.stderr.count("\n") == 1, done


def the_command_line_wins():
    script = path("wait.run", "# cpscope-script 1\nchip g80\npolicy waits=stop cost=3\ncode\n  exit\n")
    head = [cpscope("run", "--engine", "hwsq", *args, script).stdout.split("# policy ")[1].split("\n")[0].split()
            for args in ([], ["--waits", "satisfy"], ["--policy", "cost=5"], ["--policy", "cost=5", "--policy", "cost=6"])]
    assert [[word for word in line if word[:5] in ("waits", "cost=")] for line in head] == [
        ["waits=stop", "cost=3"], ["waits=satisfy", "cost=3"], ["waits=stop", "cost=5"], ["waits=stop", "cost=6"]], head
    bad = path("bad.run", "# cpscope-script 1\nchip g80\npolicy prefetch=on\ncode\n  exit\n")
    done = cpscope("run", "--engine", "hwsq", bad, status=3)
    assert "bad.run:3:8: policy prefetch=on: expected abort-in-wait" in done.stderr, done


def heads_of_traces_are_read_back():
    text = open(TRACES["afuc"]).read()
    golden = path("stop.trace", text.replace("waits=satisfy", "waits=stop"))
    assert "first difference" in cpscope("check", golden, status=1).stdout
    done = cpscope("check", path("bad.trace", text.replace("waits=satisfy", "fb-delay=3")), status=3)
    assert "bad.trace: policy fb-delay=3: expected waits, visibility, samples, clock, clock-start, prefetch, ring or preempt" in done.stderr, done
    out = cpscope("diff", TRACES["afuc"], golden).stdout
    assert out.startswith('policies differ: "waits=satisfy visibility=all prefetch=off" and "waits=stop'), out
    short = path("short.trace", text.replace(" visibility=all prefetch=off", ""))
    assert "policies" not in cpscope("diff", TRACES["afuc"], short).stdout


def manifests_name_the_line():
    files = path("lone", b"\x01\x7f"), path("mixed", b"\x01\x7f")
    engines = "firmware g80 hwsq:g80\n"
    for lines, message in (("policy fb-delay=5 waits=stop\n" + engines, None),
                           (engines + "policy prefetch=on\n", ":3: policy prefetch=on: expected abort-in-wait"),
                           ("policy prefetch=on\n" + engines, ":2: policy prefetch=on: expected"),
                           (engines + "policy fb-delay=soon\n", ":3: policy fb-delay=soon: expected a number"),
                           (engines + "firmware a630 no.fw\npolicy prefetch=on fb-delay=5\n", None)):
        text = "# cpscope-manifest 1\n" + lines + "capture %s\n" % os.path.basename(files[0])
        done = cpscope("regress", "--no-cache", path("manifest", text), status=3 if message else 4 if "a630" in lines else 0)
        assert (message or "") in done.stderr, done
        assert message or "g80" not in done.stdout, done


def help_names_the_engines():
    text = re.sub(r"\n {20,}", " ", cpscope("help", "run").stdout)
    for line in ("--waits .*: satisfy, stop, registers$", "--chip .*\\(hwsq, pfifo, vp1 only\\)$"):
        assert re.search(line, text, re.M), (line, text)
    assert text.count("only)") == 2, "options of the default engine need no word"
    assert "only)" not in cpscope("help", "convert").stdout, "a command without --engine has none to tell apart"
    for form in ("man", "zsh", "fish"):
        assert "(hwsq, pfifo, vp1 only)" in cpscope("help", form).stdout, form
    table = cpscope("help", "policy").stdout
    for name, (engines, _) in policies().items():
        first, *others = (e for e in ENGINES if e in engines)
        also = r"  \(also %s\)" % ", ".join(others) if others else ""
        assert re.search(r"^%s:\n(  .*\n)*  %s=\S+%s$" % (first, name, also), table, re.M), name


tap.run([("%s refuses options that have no meaning for the engine" % command, refuses(command)) for command in COMMANDS] +
        [("%s takes options that have one" % command, accepts(command)) for command in COMMANDS] +
        [(case.__name__.replace("_", " "), case) for case in (
            nothing_is_swallowed, chips_are_checked_everywhere, traces_say_their_engine, firmware_says_its_engine,
            policies_know_their_engines, shorthands_are_policies, the_command_line_wins, heads_of_traces_are_read_back,
            manifests_name_the_line, help_names_the_engines)])

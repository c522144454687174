# SPDX-License-Identifier: MIT
"""How the command behaves at a terminal: help and its examples, words that are not known, colours, progress,
--quiet, interrupts. Usage: manners.py CPSCOPE"""
import os
import re
import signal
import subprocess
import time

import make
import mkmmio
import mkrom
import tap
import terminal
import tree
from scene import CPSCOPE, FOLDER, cpscope, path, run
from tree import FRAME, DEMO as SOURCE

TERM = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "PAGER")} | {"TERM": "xterm"}
CODE = re.compile("\033\\[[0-9]*m")
GOLDEN = os.path.join(tree.GOLDEN, "demo.trace")
ERASE = "\r\033[K"
DUE = 1.6  # seconds: a run of one second shows its progress


def at_terminal(*args, **env):
    return terminal.run([CPSCOPE, *args], env=dict(TERM, **env))


def commands():
    return [name for name in re.findall(r"^  (\w+) ", cpscope("help").stdout, re.M) if name != "help"]


def scene():
    """The files that examples name, made of our own."""
    cpscope("asm", SOURCE, "-o", path("a630_sqe.fw"))
    cpscope("asm", SOURCE, "-o", path("old.fw"))
    listing = cpscope("disasm", path("old.fw")).stdout
    changed = listing.replace("mov $data, 0x0005", "mov $data, 0x0004", 1)
    assert changed != listing
    cpscope("asm", path("new.asm", changed), "-o", path("new.fw"))
    cpscope("convert", FRAME, "-o", path("capture.rd"))
    for fw, trace in (("old.fw", "old.trace"), ("new.fw", "new.trace"), ("old.fw", "golden.trace")):
        cpscope("run", "--fw", path(fw), path("capture.rd"), "-o", path(trace))
    path("session.txt", "step\n")
    path("vbios.rom", bytes(0x2c0) + bytes.fromhex("e2 78 56 34 12 e0 10 02 10 00 42 cd ab 40 14 02 3b 7f") + bytes(64))
    path("script.bin", mkmmio.RECLOCK)
    path("source.s", "wait 2 shl 2 // 8 us\nexit\n")
    path("board.rom", mkrom.nv43()[0])
    path("board.mmio", mkmmio.g80().text())
    path("manifest.txt", "# cpscope-manifest 1\nfirmware old old.fw\nfirmware new new.fw\ncapture capture.rd\n")


def short_options_stand_anywhere():
    version = cpscope("--version").stdout
    listed = cpscope("help").stdout
    assert cpscope("-V").stdout == version and cpscope("-h").stdout == cpscope("--help").stdout == cpscope("help", "-h").stdout == listed
    for command in commands():
        text = cpscope("help", command).stdout
        for args in ([command, "-h"], [command, "--help"], ["-h", command], [command, "--bogus", "-h"], [command, "--json", "--help"]):
            assert cpscope(*args).stdout == text, args
        assert cpscope(command, "-V").stdout == cpscope(command, "--version").stdout == version, command
        letters = re.findall(r"^  -(\w), --([\w-]+)", text, re.M)
        assert {("h", "help"), ("V", "version"), ("q", "quiet")} <= set(letters), (command, letters)
        assert len(dict(letters)) == len(letters), (command, letters)
    done = cpscope("run", "--", "-h", "--help", status=2)
    assert "run takes one capture" in done.stderr, done


def letters_mean_one_thing():
    """-g of asm is older than the rule: compilers have it."""
    seen = {}
    for command in commands():
        for letter, option in re.findall(r"^  -(\w), --([\w-]+)", cpscope("help", command).stdout, re.M):
            seen.setdefault(letter, set()).add(option)
    assert {letter: names for letter, names in seen.items() if len(names) > 1} == {"g": {"gen", "debug"}}, seen


# A server's session that ends as its protocol wants it.
BYE = "".join("Content-Length: %d\r\n\r\n%s" % (len(text), text) for text in (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}', '{"jsonrpc":"2.0","id":2,"method":"shutdown"}',
    '{"jsonrpc":"2.0","method":"exit"}'))


def examples_run():
    scene()
    count = 0
    for command in commands():
        lines = re.findall(r"^  # .+\n  cpscope (.+)$", cpscope("help", command).stdout, re.M)
        assert lines, "%s has no example" % command
        for line in lines:
            assert line in cpscope("help", "man").stdout.replace("\\-", "-"), line
            done = subprocess.run([CPSCOPE, *line.split()], cwd=FOLDER, capture_output=True, text=True, timeout=120,
                                  input=BYE if command == "lsp" else "")
            if "without z3" in done.stderr:
                continue
            good = {"diff": (0, 1), "regress": (0, 1), "audit": (0, 4), "prove": (0, 1), "fuzz": (0, 1)}.get(command, (0,))
            assert done.returncode in good, (line, done.returncode, done.stderr)
            assert "-q" not in line.split() or not done.stderr, (line, done.stderr)
            count += 1
    return "%d of them" % count


# What is said, what it means, and what is meant.
UNKNOWN = (("run --demo --events bogus", "--events bogus: expected all, default, submit, pkt, reg,", None),
           ("run --demo --events reg,mmew", "--events mmew: expected all", "memw"), ("diff --events x a b", "expected all", None),
           ("run --demo --events reg,", "expected all", None), ("run --demo --to jsnl", "--to jsnl: expected text, cpt, jsonl, perfetto, vcd or sqlite", "jsonl"),
           ("profile --demo --to tabel", "expected table, folded or callgrind", "table"), ("run --engine hwsk x", "expected afuc, hwsq, seq", "hwsq"),
           ("disasm --style messa x", "expected own, mesa or envytools", "mesa"), ("decode --color blue x", "expected auto, always or never", None),
           ("decode --level ib4 x", "expected rb, ib1, ib2, ib3, sds or int", "ib1"), ("state --demo --processor br", "expected pfp, me, sqe, bv or lpac", "bv"),
           ("fuzz --fw x --execs 1 --oracles hagn", "expected all, page-table", "hang"),
           ("step --demo --names mesured", "expected measured or envytools", "measured"), ("run --demo --gen a9xx", "expected a5xx, a6xx, a7xx or a8xx", None),
           ("rum --demo", "no command is called 'rum'", "run"), ("help decoed", "no command is called 'decoed'", "decode"),
           ("run --demo --evnets reg", "unknown option --evnets", "--events"), ("run --demo --xyzzy", "unknown option --xyzzy", None),
           ("run --demo --waits maybe", "expected satisfy stop", None), ("help values run", "help values takes", None),
           ("help values run --limit", "has no table", None), ("convert x --to \033[31m", "--to ?[31m: expected", None))


def unknown_words_are_told():
    for line, said, meant in UNKNOWN:
        done = cpscope(*line.split(" "), status=2)
        assert done.stderr.count("\n") == 1 and not done.stdout and "\033" not in done.stderr, done
        if "[31m" not in line:
            assert said in done.stderr, (line, done.stderr)
        assert done.stderr.endswith("; did you mean %s?\n" % meant) if meant else "did you mean" not in done.stderr, (line, done.stderr)


def values_come_from_tables():
    listed = re.findall(r"^(\w+):((?: --[\w-]+)*)", cpscope("help", "values").stdout, re.M)
    assert [name for name, _ in listed] == commands()
    for command, names in listed:
        for option in names.split():
            words = cpscope("help", "values", command, option).stdout.splitlines()
            assert len(words) > 1 and len(set(words)) == len(words), (command, option, words)
            assert cpscope("help", "values", command, option[2:]).stdout.splitlines() == words
            first = cpscope("help", "values", command, option, words[-1]).stdout.splitlines()
            assert words[-1] in first and all(word.startswith(words[-1]) for word in first), (command, option, first)


def painted(*args, status=0):
    """What a terminal shows, its colours and their absence wherever it has to be."""
    plain = subprocess.run([CPSCOPE, *args], capture_output=True, text=True, env=TERM)
    assert plain.returncode == status and "\033" not in plain.stdout, plain
    for more, env, colours in (([], {}, True), ([], {"NO_COLOR": ""}, True), ([], {"NO_COLOR": "1"}, False), ([], {"TERM": "dumb"}, False),
                               (["--color", "never"], {}, False), (["--color", "auto"], {}, True), (["--color", "always"], {"NO_COLOR": "1"}, True),
                               (["--color", "always"], {"TERM": "dumb"}, True)):
        code, shown = terminal.run([CPSCOPE, *args, *more], env=dict(TERM, **env), on=(0, 1))
        assert code == status and bool(CODE.search(shown)) == colours, (more, env, shown[:500])
        assert CODE.sub("", shown) == plain.stdout, (more, env)
    piped = subprocess.run([CPSCOPE, *args, "--color", "always"], capture_output=True, text=True, env=TERM)
    assert CODE.search(piped.stdout) and CODE.sub("", piped.stdout) == plain.stdout and not CODE.search(piped.stderr)
    for line in piped.stdout.splitlines():
        assert not CODE.findall(line) or CODE.findall(line)[-1] == "\033[0m", line
    return piped.stdout


def colours():
    scene()
    trace = painted("run", "--demo")
    assert "\033[2m# cpscope-trace 1\033[0m\n" in trace and re.search("\033\\[32mREG\033\\[0m 0x\\w+ 0x\\w+ user\033\\[2m ; RB_", trace), trace[:2000]
    assert "\033[1mPKT\033[0m" in trace
    difference = painted("diff", path("old.trace"), path("new.trace"), status=1)
    assert re.search("\n  \033\\[31ma  .*\033\\[0m\n  \033\\[32mb  .*\033\\[0m\n", difference), difference
    code = painted("diff", "--fw", path("old.fw"), "--fw", path("new.fw"), path("capture.rd"), status=1)
    assert re.search("\n   \033\\[32m\\+", code) and re.search("\n  \033\\[31mold ", code) and re.search("\n  \033\\[32mnew ", code), code
    assert "\033[36mnop\033[0m" in painted("disasm", path("old.fw"))
    painted("disasm", "--engine", "hwsq", "--chip", "g80", path("script.bin", b"\x01\x7f"))


def files_have_no_colours():
    out = path("out.trace")
    code, shown = at_terminal("run", "--demo", "-o", out, "--color", "always")
    assert code == 0 and "\033" not in open(out).read() + shown
    assert open(out).read() == cpscope("run", "--demo").stdout
    code, shown = at_terminal("run", "--demo", "--to", "jsonl", "--color", "always", "-o", "-")
    assert code == 0 and "\033" not in shown, "only the text form has colours"


def names_cannot_paint():
    evil = path("a\033[31mb.trace", open(GOLDEN).read().replace("0x000000a0", "0x000000a1"))
    for args in (["--color", "always"], []):
        shown = cpscope("diff", *args, GOLDEN, evil, status=1).stdout
        assert "\033[31mb.trace" not in shown and "[31mb.trace" in shown, shown


def slow(args, env=None, on=(2,), act=None, behind=(), shows=True):
    """A command that reads its capture from a pipe; words may stand behind its name. The pipe does not end before a line of progress is
    there, or, if there shall be none (not @shows), before one would be due. @return its status, and what the terminal got"""
    pipe = path("pipe")
    if os.path.exists(pipe):
        os.unlink(pipe)
    os.mkfifo(pipe)
    words = make.type4(0x8820, 7) * 1000
    part = make.buffer(0x100000, make.dwords(words)) + make.submit(0x100000, len(words))
    out = open(path("stdout"), "wb")
    with terminal.Terminal([CPSCOPE, *args, pipe, *behind], env=dict(TERM, **(env or {})), on=on, files={1: out}) as shown:
        file = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        feed(shown, file, make.chip(630) + part * 20)
        rest = part * 20
        while shows and ERASE.encode() not in shown.shown:
            assert rest, "no progress: %r" % shown.shown
            feed(shown, file, rest[:4096])
            rest = rest[4096:]
            shown.read(0.05)
        if shows is False:
            time.sleep(DUE)  # nothing tells that a line did not come
        feed(shown, file, rest)
        if act:
            act(shown)
        os.close(file)
        status = shown.end()
        return status, shown.shown.decode().replace("\r\n", "\n")


def feed(shown, file, data):
    """Writes into a pipe as long as somebody reads it; what the terminal gets in the meantime is taken."""
    end = time.monotonic() + terminal.PATIENCE
    while data and shown.process.poll() is None:
        assert time.monotonic() < end, shown.shown
        try:
            data = data[os.write(file, data):]
        except BlockingIOError:
            pass
        shown.read(0.01)


def progress_comes_and_goes():
    status, shown = slow(["run", "--demo", "-o", path("slow.trace")])
    lines = shown.split(ERASE)
    assert status == 0 and len(lines) > 2 and not lines[0], shown
    assert all(re.fullmatch(r"\S+/pipe: \d+ MB", line) for line in lines[1:-1]), lines
    assert lines[-1].startswith("packets by level"), "erased before the summary: %r" % lines[-1]
    began = time.monotonic()
    quick = slow(["run", "--demo", "-o", path("quick.trace")], shows=None)[1]
    assert time.monotonic() - began > 1 or ERASE not in quick and quick.startswith("packets by level"), quick
    assert open(path("slow.trace")).read() == open(path("quick.trace")).read()


def progress_counts_a_file():
    words = make.type4(0x8820, 7) * 10000
    part = make.buffer(0x100000, make.dwords(words)) + make.submit(0x100000, len(words))
    big = path("big.rd", make.chip(630) + part * 60)
    shown = terminal.run([CPSCOPE, "run", "--demo", big, "--events", "all", "--threads", "1", "-o", "/dev/null"], env=TERM, on=(2,))[1]
    shares = [int(share) for share in re.findall(r"big.rd: (\d+) % read", shown)]
    assert shares == sorted(shares) and all(0 <= share <= 100 for share in shares), shown
    os.unlink(big)
    return "%d lines" % len(shares)


def progress_counts_captures():
    """The pipe is the second one of three."""
    scene()
    quick = path("quick.rd", make.capture(make.type7(0x10, 0)))
    for command in (["decode"], ["cover", "--fw", path("old.fw")]):
        status, shown = slow([*command, quick], behind=[quick])
        lines = shown.split(ERASE)[1:-1]
        good = [re.fullmatch(r"capture 2 of 3, \S+pipe: \d+ MB", line) for line in lines]
        assert status == 0 and good and all(good), (command, shown)


def progress_is_for_people():
    for more, env, on in ((["-q"], {}, (2,)), ([], {"TERM": "dumb"}, (2,)), ([], {}, ())):
        status, shown = slow(["run", "--demo", "-o", path("slow.trace"), *more], env=env, on=on, shows=False)
        assert status == 0 and "\033" not in shown and "pipe" not in shown, (more, env, shown)
    status, shown = slow(["run", "--demo"], on=(1, 2), shows=False)
    assert status == 0 and ERASE not in shown, "the trace is on the same terminal"
    status, shown = slow(["decode"], on=(1, 2), env={"CPSCOPE_PAGER": "cat"}, shows=False)
    assert status == 0 and ERASE not in shown and "submission 0" in shown, "so are the packets: %r" % shown[:300]
    for command in (["decode"], ["state", "--demo"], ["profile", "--demo"]):
        status, shown = slow(command)
        assert status == 0 and re.search(r"\r\033\[K\S+pipe: \d+ MB", shown) and shown.endswith(ERASE), (command, shown)


def interrupts_leave_it_clean():
    status, shown = slow(["run", "--demo", "-o", path("never.trace")], act=lambda shown: shown.interrupt())
    assert status == -signal.SIGINT and shown.endswith(ERASE), (status, shown[-300:])
    assert not os.path.exists(path("never.trace"))
    with terminal.Terminal([CPSCOPE, "fuzz", "--fw", path("new.fw"), "--time", "30"], env=TERM, on=(2,)) as shown:
        shown.wait_for(" cases stored")
        shown.interrupt()
        assert shown.end() == 128 + signal.SIGINT
        last = shown.shown.decode().split(ERASE)[-1]
        assert last.startswith("") and "cases stored" not in last, shown.shown[-300:]


def jobs_are_counted():
    captures = "".join("capture c%d.rd\n" % i for i in range(6))
    words = make.type4(0x8820, 7) * 20000
    for i in range(6):
        path("c%d.rd" % i, make.capture(words + make.type4(0x8820, i), gpu=630))
    manifest = path("many.txt", "# cpscope-manifest 1\nfirmware old old.fw\nfirmware new new.fw\n" + captures)
    for quiet in (False, True):
        shown = terminal.run([CPSCOPE, "regress", "--no-cache", manifest, "-o", path("many")] + ["-q"] * quiet, env=TERM, on=(2,))[1]
        assert not CODE.search(shown) and (not quiet or not shown), shown
        for line in shown.split(ERASE)[1:-1]:
            assert re.fullmatch(r"\d of 6 captures(, about \d+ s left)?", line), shown


# Commands with something to say beside their result.
ASIDE = (["run", "--demo", "-o", "out"], ["run", "--engine", "hwsq", "--chip", "g80", "script.bin", "-o", "out"],
         ["view", "--fw", "old.fw", "capture.rd", "-o", "out.html"], ["fuzz", "--fw", "new.fw", "--execs", "50"],
         ["regress", "manifest.txt", "--no-cache", "-o", "report"], ["check", "--cache", "kept", "golden.trace"])


def quiet():
    scene()
    path("script.bin", b"\x01\x7f")
    for args in ASIDE:
        said = [subprocess.run([CPSCOPE, *args, *more], cwd=FOLDER, capture_output=True, text=True, timeout=120) for more in ([], ["-q"], ["--quiet"])]
        assert said[0].stderr and not said[1].stderr and not said[2].stderr, (args, said)
        assert len({(done.returncode, done.stdout) for done in said}) == 1, (args, said)
    for command in commands():
        done = run(command, "-q", "--bogus")
        assert done.returncode == 2 and "unknown option --bogus" in done.stderr, "errors stay: %s" % done
    done = cpscope("run", "-q", "--fw", path("old.fw"), path("capture.rd"), "--limit", "300", "-o", path("out"), status=4)
    assert re.fullmatch("ended: limit at .*\n", done.stderr), "and why it stopped: %r" % done.stderr


def early_ends():
    """Whatever a command says of a run that stopped early, it tells where and why, with status 4."""
    cpscope("asm", SOURCE, "-o", path("demo.fw"))
    stream = path("waits.pm4", make.pm4("reg 0x8810 0x1", "CP_WAIT_REG_MEM 0x13 0x00200000 0x0 0x5 0xffffffff 0x10"))
    for command, more in (("run", ["-o", path("out")]), ("decode", []), ("state", []), ("profile", []), ("cover", []), ("view", ["-o", path("x.html")]),
                          ("why", ["0x8810"])):
        done = cpscope(command, "--fw", path("demo.fw"), "--waits", "stop", stream, *more, status=4)
        assert done.stderr.count("CP_WAIT_REG_MEM") >= 1 and "waits for memory 0x0000000000200000 to be" in done.stderr, (command, done)


tap.run([(case.__name__.replace("_", " "), case) for case in (
    short_options_stand_anywhere, letters_mean_one_thing, examples_run, unknown_words_are_told, values_come_from_tables,
    colours, files_have_no_colours, names_cannot_paint, progress_comes_and_goes, progress_counts_a_file,
    progress_counts_captures, progress_is_for_people, interrupts_leave_it_clean, jobs_are_counted, quiet, early_ends)])

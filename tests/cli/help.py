# SPDX-License-Identifier: MIT
"""Help, manual page and completion name the same commands and options. Usage: help.py CPSCOPE"""
import os
import re
import shutil
import subprocess
import tempfile

import tap
import terminal
from scene import CPSCOPE, cpscope



def said(*words):
    return cpscope("help", *words).stdout


def options():
    """Commands with their options, as `help` shows them."""
    commands = [name for name in re.findall(r"^  (\w+) ", said(), re.M) if name != "help"]
    return {name: re.findall(r"^ +(?:-\w,)? *--([\w-]+)", said(name), re.M) for name in commands}


def topics():
    return re.findall(r"^    (\w+) ", said(), re.M)


def prints():
    for topic in topics():
        assert said(topic).count("\n") > 5, topic
    assert {"hardware", "policy", "man"} < set(topics()), topics()
    assert re.findall(r"\\fBhelp (\w+)\\fR", said("man")) == topics()


def manual():
    parts = re.split(r"^\.SS (\w+).*\n", said("man").replace("\\-", "-"), flags=re.M)
    found = {name: re.findall(r"\\fB--([\w-]+)\\fR", text) for name, text in zip(parts[1::2], parts[2::2])}
    assert found.pop("help") == []
    assert found == options(), found


def parses(shell):
    def case():
        if not shutil.which(shell):
            raise tap.Skip("no " + shell)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(said(shell))
            file.flush()
            done = subprocess.run([shell, "-n", file.name], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, done.stderr
    return case


def completed(line):
    """What bash offers behind @line, which begins behind the program's name."""
    script = said("bash") + 'COMP_LINE=$0; COMP_POINT=${#COMP_LINE}; _cpscope; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, CPSCOPE + " " + line], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.split()


def needs(shell):
    if not shutil.which(shell):
        raise tap.Skip("no " + shell)


def completes():
    needs("bash")
    known = options()
    assert completed("") == list(known) + ["help"]
    for name, names in known.items():
        assert completed(name + " -") == ["--" + one for one in names], name
    assert completed("help ") == list(known) + topics()
    tables = re.findall(r"^  (\w+) +\d+ rows", said("hardware"), re.M)
    assert completed("help hardware ") == ["--json", "all"] + tables


# The command line so far, and what can stand in place of its last word; bash puts what is behind = and : only.
VALUES = (("run --to ", "text cpt jsonl perfetto vcd sqlite"), ("run -t js", "jsonl"), ("run --to=js", "jsonl"),
          ("profile --to ", "table folded callgrind"), ("run --events me", "memw memr method"), ("diff -e reg,mem", "reg,memw reg,memr"),
          ("run --engine ", "afuc hwsq seq pfifo vp1"), ("run --engine vp1 --chip ", "nv41 nv44 g80"), ("disasm --style ", "own mesa envytools"),
          ("run --waits ", "satisfy stop registers"), ("run --visibility ", "all none captured"), ("run --policy waits=", "satisfy stop registers"),
          ("run --gen a", "a5xx a6xx a7xx a8xx"), ("decode --level i", "ib1 ib2 ib3 int"), ("decode --color a", "auto always"),
          ("decode --packet CP_DRAW_INDX_O", "CP_DRAW_INDX_OFFSET"), ("decode --packet CP_NOP,CP_DRAW_INDX_O", "CP_NOP,CP_DRAW_INDX_OFFSET"),
          ("decode --gen a5xx --packet CP_LOAD_STATE4", "CP_LOAD_STATE4"),
          ("decode -g a5xx --packet CP_LOAD_STATE4", "CP_LOAD_STATE4"),
          ("decode --gen a7xx --packet CP_LOAD_STATE4", ""), ("decode -g a7xx --packet CP_EVENT_WRITE7", "CP_EVENT_WRITE7"),
          ("decode --gen a6xx --packet CP_EVENT_WRITE7", ""), ("decode --gen a --packet CP_LOAD_STATE6_G", "CP_LOAD_STATE6_GEOM"),
          ("decode --register RB_UNKNOWN_881A", "RB_UNKNOWN_881A"), ("run --limit ", ""), ("fuzz --oracles ha", "hang halt"),
          ("state --processor b", "bv"))


def completes_values():
    needs("bash")
    for line, words in VALUES:
        found = completed(line)
        assert found == words.split(), (line, found)


def completes_files():
    needs("bash")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "names"))
        open(os.path.join(folder, "now.fw"), "w").close()
        for line, names in (("run --fw %s/n", "names now.fw"), ("run --rnn %s/n", "names"), ("run --rnn=%s/n", "names"), ("info %s/no", "now.fw")):
            found = [os.path.basename(name) for name in completed(line % folder)]
            assert sorted(found) == names.split(), (line, found)


def fish_has_commands_and_topics():
    """A line for each, with what `help` says of it, and of each option of each command; nothing but these and the function."""
    lines = said("fish").split("\nend\n")[1].splitlines()
    parts = [re.fullmatch(r"complete -c cpscope -n ('[^']+'|__fish_use_subcommand) (.*)", line) for line in lines]
    assert all(parts), [line for line, part in zip(lines, parts) if not part]
    behind = {}
    for part in parts:
        behind.setdefault(part[1].strip("'").split()[-1], []).append(part[2])
    helps = dict(re.findall(r"^ +(\w+)  +(\S.*)$", said(), re.M))
    shown = [re.fullmatch(r'-f -a (\w+) -d "(\w.+)"', line).groups() for line in behind.pop("help")]
    assert [name for name, _ in shown] == topics() and all(helps[name].endswith(text) for name, text in shown), shown
    known = options()
    assert [re.match(r"-a (\w+) -d \"", line)[1] for line in behind.pop("__fish_use_subcommand")] == list(known)
    assert re.fullmatch(r"-f -a '[\w ]+'", *behind.pop("hardware"))
    for name, names in known.items():
        lines = [line for line in behind[name] if line[:3] == "-l "]
        found = [re.match(r"-l ([\w-]+)( -s \w)?( -[rFx]| -a '[^']+')* -d \".+\"$", line) for line in lines]
        assert [one and one[1] for one in found] == names, (name, found, behind[name])
    assert list(behind) == list(known)


def fish_completes_values():
    needs("fish")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(CPSCOPE, os.path.join(folder, "cpscope"))
        script = os.path.join(folder, "cpscope.fish")
        with open(script, "w") as file:
            file.write(said("fish"))
        env = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], HOME=folder)
        lines = [(line, words) for line, words in VALUES if words]
        asked = "; ".join('echo "== %d"; complete -C "cpscope %s"' % (i, line) for i, (line, _) in enumerate(lines))
        done = subprocess.run(["fish", "-c", "source %s; %s" % (script, asked)], capture_output=True, text=True, env=env, check=True)
        for part in done.stdout.split("== ")[1:]:
            number, *found = part.splitlines()
            line, words = lines[int(number)]
            found = [word.split("\t")[0] for word in found]
            assert sorted(re.sub(r"^(--\w+=|waits=)", "", word) for word in found) == sorted(words.split()), (line, found)


def zsh_completes_values():
    needs("zsh")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(CPSCOPE, os.path.join(folder, "cpscope"))
        with open(os.path.join(folder, "_cpscope"), "w") as file:
            file.write(said("zsh"))
        for line, words in (("run --to js", "jsonl"), ("run -t js", "jsonl"), ("run --to=js", "jsonl"), ("diff -e reg,pip", "reg,pipe"),
                            ("run --engine seq --seq-abi ol", "old"), ("decode --packet CP_DRAW_INDX_O", "CP_DRAW_INDX_OFFSET")):
            assert typed_in_zsh(folder, "cpscope " + line).endswith(words), line


def typed_in_zsh(folder, line):
    """What the command line is when Tab was pressed behind @line in a zsh of its own."""
    out = os.path.join(folder, "line")
    script = ("fpath=(%s $fpath); autoload -U compinit; compinit -u -D; say() { print -r -- $BUFFER > %s; exit; };"
              "zle -N say; bindkey '^X' say; PS1='ready> '; print begun") % (folder, out)
    start = os.path.join(folder, ".zshrc")
    with open(start, "w") as file:
        file.write(script)
    env = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], ZDOTDIR=folder, HOME=folder, TERM="dumb")
    with terminal.Terminal(["zsh", "-i"], env) as shell:
        shell.wait_for("ready> ")
        shell.type(line + "\t\x18")
        shell.end()
    return open(out).read().strip()


tap.run([("every topic of help prints something and is in the manual page", prints),
         ("the manual page has every command with its options", manual),
         ("bash completes every command, option, topic and table", completes),
         ("bash completes the values of options from their tables", completes_values),
         ("bash completes files and folders where options take them", completes_files),
         ("fish has every command, option and topic", fish_has_commands_and_topics),
         ("fish completes the values of options", fish_completes_values),
         ("zsh completes the values of options", zsh_completes_values)] +
        [("what %s reads is right" % shell, parses(shell)) for shell in ("bash", "zsh", "fish")])

# SPDX-License-Identifier: MIT
"""Help, manual page and completion name the same commands and options. Usage: help.py CPSCOPE"""
import re
import shutil
import subprocess
import sys
import tempfile

import tap

CPSCOPE = sys.argv[1]


def said(*words):
    return subprocess.run([CPSCOPE, "help", *words], capture_output=True, text=True, check=True).stdout


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


def completed(*words):
    script = said("bash") + "COMP_WORDS=(%s); COMP_CWORD=%d; _cpscope; printf '%%s\\n' \"${COMPREPLY[@]}\"" % (
        " ".join("'%s'" % word for word in words), len(words) - 1)
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()


def completes():
    if not shutil.which("bash"):
        raise tap.Skip("no bash")
    known = options()
    assert completed("cpscope", "") == list(known) + ["help"]
    for name, names in known.items():
        assert completed("cpscope", name, "-") == ["--" + one for one in names] + ["--help"], name
    assert completed("cpscope", "help", "") == list(known) + topics()
    tables = re.findall(r"^  (\w+) +\d+ rows", said("hardware"), re.M)
    assert completed("cpscope", "help", "hardware", "") == ["--json", "all"] + tables


tap.run([("every topic of help prints something and is in the manual page", prints),
         ("the manual page has every command with its options", manual),
         ("bash completes every command, option, topic and table", completes)] +
        [("what %s reads is right" % shell, parses(shell)) for shell in ("bash", "zsh", "fish")])

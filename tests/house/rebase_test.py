# SPDX-License-Identifier: MIT
"""No golden is written unless the user has said so. Usage: rebase_test.py golden.sh"""
import os
import subprocess
import sys
import tempfile

import rebase
import tap

GOLDEN = os.path.abspath(sys.argv[1])
# What REBASE is, and whether a.txt is written then.
CASES = [(None, False), ("", False), ("1", False), ("yes", False), ("b.txt", False), ("a", False), ("a.txt2 xa.txt", False),
         ("confirmed b.txt", False), ("confirmed", True), ("a.txt", True), ("b.txt a.txt", True)]


def environment(value):
    rest = {key: word for key, word in os.environ.items() if key != "REBASE"}
    return rest if value is None else {**rest, "REBASE": value}


def of_python(value, written):
    os.environ.pop("REBASE", None)
    if value is not None:
        os.environ["REBASE"] = value
    assert rebase.confirmed("a.txt") == written


def of_shell(value, written):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.txt")
        for content, differs in (("old\n", True), ("new\n", False)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            done = subprocess.run(["sh", GOLDEN, path, "echo", "new"], env=environment(value), capture_output=True, text=True, check=False)
            with open(path, encoding="utf-8") as file:
                assert file.read() == ("new\n" if written or not differs else "old\n"), value
            assert (done.returncode == 0) == (written or not differs), done
            assert ("-old" in done.stdout and "+new" in done.stdout) == differs, done.stdout


tap.run([("%s, REBASE=%s" % (kind.__name__, value), lambda kind=kind, value=value, written=written: kind(value, written))
         for kind in (of_python, of_shell) for value, written in CASES])

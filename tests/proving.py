# SPDX-License-Identifier: MIT
"""Revisions of the demo for the tests of `prove`, and what it says of them."""
import json
import os
import re
import subprocess
import sys
import tempfile

CPSCOPE, DEMO = (os.path.abspath(path) for path in sys.argv[1:3])
CORPUS = os.environ.get("CPSCOPE_CORPUS")
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def run(*args):
    return subprocess.run([CPSCOPE, *args], capture_output=True, text=True, timeout=600)


def assemble(name, text):
    open(path(name + ".afuc"), "w").write(text)
    done = run("asm", path(name + ".afuc"), "-o", path(name + ".fw"))
    assert done.returncode == 0, done.stderr
    return path(name + ".fw")


def source():
    old = assemble("old", open(DEMO).read())
    text = run("disasm", old).stdout
    return re.sub(r" +; [0-9a-f]{4} [0-9a-f]{8}.*$", "", text, flags=re.M)


def changed(text, handler, old, new):
    at = text.index("\n%s:" % handler)
    found = re.search(old, text[at:])
    assert found, "%s has no %s" % (handler, old)
    at += found.start()
    return text[:at] + found.expand(new) + text[at + len(found.group()):]


def prove(new, *args, status=None):
    done = run("prove", "--no-cache", "--json", "--fw", path("old.fw"), "--fw", new, *args)
    assert status is None or done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr)
    return json.loads(done.stdout) if done.stdout else None


def verdict(results, packet):
    found = [h for h in results["handlers"] if packet in h["packets"]]
    assert len(found) == 1, (packet, len(found))
    return found[0]


def check_witness(handler, new):
    """A stream that is shown makes both revisions differ, as another command sees it."""
    assert handler["confirmed"], handler
    open(path("witness.pm4"), "w").write(handler["witness"]["text"])
    done = run("diff", "--state", "--fw", path("old.fw"), "--fw", new, path("witness.pm4"))
    assert done.returncode == 1, done.stdout + done.stderr

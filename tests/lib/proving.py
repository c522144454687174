# SPDX-License-Identifier: MIT
"""Revisions of the demo for the tests of `prove`, and what it says of them."""
import json
import re
from scene import firmware, path, run



def source():
    old = firmware("old")
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

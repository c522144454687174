# SPDX-License-Identifier: MIT
"""Programs of arm64 with Mesa's drivers, run on the virtual device with real firmware. $CPSCOPE_CLIENT_ROOT is what
tools/client.sh made, $CPSCOPE_CORPUS has the firmware."""
import os
import shutil
import subprocess

ROOT, CORPUS = os.environ.get("CPSCOPE_CLIENT_ROOT"), os.environ.get("CPSCOPE_CORPUS")
FIRMWARE = {"a530": ["a530_pm4.fw", "a530_pfp-08a.fw"], "a630": ["a630_sqe-190.fw"], "a660": ["a660_sqe-112.fw"],
            "a740": ["a740_sqe-181.fw"], "a750": ["gen70900_sqe-181.fw"], "a830": ["gen80000_sqe-077.fw"]}


def missing(*programs):
    """What cannot be found, as a sentence; empty: nothing."""
    if not ROOT or not CORPUS:
        return "%s is not set" % ("CPSCOPE_CORPUS" if ROOT else "CPSCOPE_CLIENT_ROOT")
    return next(("no " + name for name in (*programs, "qemu-aarch64-static") if not shutil.which(name)), "")


def run(cpscope, chip, options, words, env=(), timeout=600, typed=None):
    firmware = [word for name in FIRMWARE[chip] for word in ("--fw", os.path.join(CORPUS, "firmware", name))]
    return subprocess.run([cpscope, "device", "-q", "--chip", chip, *firmware, "--root", ROOT, *options, "--", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=timeout, input=typed,
                          env={**os.environ, **dict(env)})

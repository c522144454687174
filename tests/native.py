# SPDX-License-Identifier: MIT
"""However firmware is executed, the trace is the same: with its loops as machine code, with each
instruction watched, and plainly. Usage: native.py CPSCOPE STREAM MEMORY

STREAM is a PM4 text for a7xx, MEMORY one with long writes to memory."""
import os
import shutil
import subprocess
import sys
import tempfile

import tap

CPSCOPE, STREAM, MEMORY = sys.argv[1:]
CORPUS = os.environ.get("CPSCOPE_CORPUS")
EVENTS = "submit,pkt,reg,regr,pipe,ctrl,memw,memr,prot,irq,assume,unmodelled,end"
REAL = [
    (["a680_sqe.fw"], "captures/fd-clouds.rd.gz"),
    (["a680_sqe.fw"], "captures/dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list.rd.gz"),
    (["a530_pfp.fw", "a530_pm4.fw"], "captures/compute-a540.rd.gz"),
    (["a680_sqe.fw"], MEMORY),
    (["a740_sqe.fw"], STREAM),
]


def run(scratch, *arguments, cc=None, events=EVENTS):
    """The trace with the summary, and what was said on stderr."""
    path = os.path.join(scratch, "trace.txt")
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(scratch, "cache"), **({"CC": cc} if cc else {}))
    done = subprocess.run([CPSCOPE, "run", "--json", "-e", events, "-o", path, *arguments],
                          capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    with open(path, encoding="utf-8") as file:
        return file.read() + done.stdout, done.stderr


def watched(scratch, *arguments):
    """The trace of single steps, without them."""
    lines = run(scratch, *arguments, events=EVENTS + ",step")[0].splitlines(True)
    return "".join(line for line in lines if "STEP" not in line.split(" ", 2)[:2])


def same(*arguments):
    if not shutil.which(os.environ.get("CC", "cc")):
        raise tap.Skip("no C compiler")
    with tempfile.TemporaryDirectory() as scratch:
        plain, _ = run(scratch, *arguments)
        for turn in ("compiled", "from the cache"):
            native, said = run(scratch, "--native", *arguments)
            assert native == plain and not said, (turn, said)
        loops = os.listdir(os.path.join(scratch, "cache", "cpscope", "native"))
        assert len(loops) == 1 and loops[0].endswith(".so"), loops
        assert watched(scratch, *arguments).replace(",step", "") == plain, "single steps"
        return "%d lines" % plain.count("\n")


def demo():
    return same("--demo")


def memory():
    return same("--demo", MEMORY)


def without_compiler():
    with tempfile.TemporaryDirectory() as scratch:
        plain, _ = run(scratch, "--demo")
        native, said = run(scratch, "--native", "--demo", cc="/nonexistent/cc")
        assert native == plain
        assert said == ("cpscope: interpreting without --native: /nonexistent/cc: cannot run the C "
                        "compiler: No such file or directory\n"), said


def foreign_cache():
    """Code in a directory that others may write is not loaded."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "cache", "cpscope", "native")
        os.makedirs(path)
        os.chmod(path, 0o777)
        native, said = run(scratch, "--native", "--demo")
        assert native == run(scratch, "--demo")[0]
        assert "expected a directory that only its owner may write" in said and not os.listdir(path), said


def real(firmware, capture):
    def case():
        if not CORPUS:
            raise tap.Skip("CPSCOPE_CORPUS is not set")
        flags = [word for name in firmware for word in ("--fw", os.path.join(CORPUS, "firmware", name))]
        return same(*flags, os.path.join(CORPUS, capture))
    return case


tap.run([("the demo is the same with machine code and with single steps", demo),
         ("so are long writes to memory, also into the stream itself", memory),
         ("without a compiler it is interpreted, and said", without_compiler),
         ("code that others may write is not loaded", foreign_cache)] +
        [("%s over %s is the same in all three ways" % (" and ".join(firmware),
          os.path.basename(capture)[:20]), real(firmware, capture)) for firmware, capture in REAL])

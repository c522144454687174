# SPDX-License-Identifier: MIT
"""The command under test, which is the first argument of a script, in a folder that goes away. A script has one such scene
(path, read, run, cpscope), or one for each case (each_in_its_scene)."""
import os
import subprocess
import sys
import tempfile

import make
import tap
from tree import DEMO, STREAMS

CPSCOPE = os.path.abspath(sys.argv[1])
CORPUS = os.environ.get("CPSCOPE_CORPUS")
MANIFEST = "# cpscope-manifest 1\n"
ENDLESS = "[016ee001]\n[01000000]\nmov $02, 0x1\nl:\nadd $02, $02, 0x1\njump #l\nadd $03, $03, $02\n"
# Real firmware on a real capture, as arguments; of the corpus where a word has no folder.
REAL = {"a6xx": ["--fw", "a630_sqe-190.fw", "fd-clouds.rd.gz"], "a5xx": ["--fw", "a530_pfp.fw", "--fw", "a530_pm4.fw",
        "compute-a540.rd.gz"], "a7xx": ["--fw", "a740_sqe.fw", os.path.join(STREAMS, "a7xx.pm4")]}


class Scene:
    def __init__(self, parent=None):
        self.folder = tempfile.TemporaryDirectory(dir=parent)

    def path(self, name, content=None):
        """A file of the folder, with @content if there is one."""
        full = os.path.join(os.fsencode(self.folder.name), os.fsencode(name))
        if content is not None:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return os.fsdecode(full)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def names(self, folder="."):
        return sorted(os.listdir(self.path(folder)))

    def run(self, *args, text=None, timeout=600, env=None, **more):
        """The command in the folder, with @text as its input and a cache of its own; @env adds variables, None removes one.
        Output is text, bytes that are none escaped."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TEST_")}
        environment["XDG_CACHE_HOME"] = self.path("cache")
        environment.update(env or {})
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        more.update({"stdin": subprocess.DEVNULL} if text is None and "stdin" not in more else {})
        more.update({} if text is None else {"input": text})
        if not isinstance(text, bytes):
            more.update(encoding="utf-8", errors="backslashreplace")
        return subprocess.run([CPSCOPE, *args], cwd=self.folder.name, timeout=timeout, check=False,
                              env={k: v for k, v in environment.items() if v is not None}, **more)

    def ok(self, *args, status=0, **more):
        """The same, with this exit status, one of these, or any (None)."""
        done = self.run(*args, **more)
        wanted = status if isinstance(status, tuple) else (status,)
        assert status is None or done.returncode in wanted, "%s: status %d\n%s%s" % (args, done.returncode, done.stdout, done.stderr)
        return done

    def refused(self, *args, said="", status=3, **more):
        """One line on stderr that says so."""
        done = self.ok(*args, status=status, **more)
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and said in lines[0], (args, said, done.stderr)
        return done

    def firmware(self, name, source=None):
        """NAME.fw of that assembly, or of the demo's."""
        if source is None:
            with open(DEMO, encoding="utf-8") as file:
                source = file.read()
        self.path(name + ".afuc", source)
        self.ok("asm", name + ".afuc", "-o", name + ".fw")
        return self.path(name + ".fw")

    def matrix(self, count=3, extra=""):
        """Two firmwares that do the same with @count captures."""
        make.revisions(CPSCOPE, DEMO, self.folder.name, *make.EVENT_CMD)
        os.rename(self.path("old.fw"), self.path("a.fw"))
        os.rename(self.path("new.fw"), self.path("b.fw"))
        for i in range(count):
            self.path("c%d.pm4" % i, make.pm4("CP_NOP 0x%x" % i, "reg 0x8800 0x%x" % i))
        self.path("manifest", MANIFEST + "firmware a a.fw\nfirmware b b.fw\nbaseline a\ncapture c*.pm4\n" + extra)


SCENE = Scene()
FOLDER = SCENE.folder.name
path, read, run, cpscope, refused, firmware = SCENE.path, SCENE.read, SCENE.run, SCENE.ok, SCENE.refused, SCENE.firmware


def each_in_its_scene(cases):
    """Each case, a function of a scene of its own, named by its first line of documentation."""
    def one(case):
        scene = Scene("/var/tmp")
        with scene.folder:
            return case(scene)
    tap.run([(case.__doc__, lambda case=case: one(case)) for case in cases])


def corpus(*names):
    """A file of the corpus; without one the case is skipped."""
    if not CORPUS:
        raise tap.Skip("CPSCOPE_CORPUS is not set")
    return os.path.join(CORPUS, *names)


def real(check, name):
    """A case that gives @check the arguments of a row of REAL; it is skipped without a corpus."""
    def case():
        return check(*[word if word.startswith(("-", "/")) else corpus("firmware" if word.endswith(".fw") else "captures", word)
                       for word in REAL[name]])
    return case


def keeps_every_form(golden):
    """A trace comes back the same after each form that can be read."""
    before = golden
    for form in (*make.FORMS[1:], make.FORMS[0]):
        cpscope("convert", before, "-o", path("again." + form))
        before = path("again." + form)
    assert open(before).read() == open(golden).read()

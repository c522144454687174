# SPDX-License-Identifier: MIT
"""What the attacks of this folder share: a folder that goes away, files in it, and the command run there.
The command may be another build, to see what an earlier one did: CPSCOPE is the first argument."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import machine  # noqa: E402,F401
import make  # noqa: E402
import tap   # noqa: E402,F401

CPSCOPE, DEMO = (os.path.abspath(path) for path in sys.argv[1:3])
ENDLESS = "[016ee001]\n[01000000]\nmov $02, 0x1\nl:\nadd $02, $02, 0x1\njump #l\nadd $03, $03, $02\n"
MANIFEST = "# cpscope-manifest 1\n"


class Scene:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir="/var/tmp")

    def path(self, name, content=None):
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

    def run(self, *args, timeout=machine.PATIENCE, env=None, **more):
        """Everything as text, bytes that are none escaped."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TEST_")}
        environment["XDG_CACHE_HOME"] = self.path("cache")
        environment.update(env or {})
        environment = {k: v for k, v in environment.items() if v is not None}
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([CPSCOPE, *args], cwd=self.folder.name, env=environment, timeout=timeout,
                              stderr=subprocess.PIPE, encoding="utf-8", errors="backslashreplace", **more)

    def ok(self, *args, status=0, **more):
        done = self.run(*args, **more)
        assert status is None or done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
        return done

    def refused(self, *args, said="", status=3, **more):
        """One line on stderr that says so."""
        done = self.ok(*args, status=status, **more)
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and said in lines[0], (args, said, done.stderr)
        return done

    def firmware(self, name, source=None):
        with open(DEMO, encoding="utf-8") as file:
            text = source if source is not None else file.read()
        self.path(name + ".afuc", text)
        self.ok("asm", name + ".afuc", "-o", name + ".fw")

    def matrix(self, count=3, extra=""):
        """Two firmwares that do the same with @count captures."""
        make.revisions(CPSCOPE, DEMO, self.folder.name, *make.EVENT_CMD)
        os.rename(self.path("old.fw"), self.path("a.fw"))
        os.rename(self.path("new.fw"), self.path("b.fw"))
        for i in range(count):
            self.path("c%d.pm4" % i, make.pm4("CP_NOP 0x%x" % i, "reg 0x8800 0x%x" % i))
        self.path("manifest", MANIFEST + "firmware a a.fw\nfirmware b b.fw\nbaseline a\ncapture c*.pm4\n" + extra)


def run(cases):
    """Each case, a function of a scene of its own, named by its first line of documentation."""
    def one(case):
        scene = Scene()
        with scene.folder:
            return case(scene)
    tap.run([(case.__doc__, lambda case=case: one(case)) for case in cases])

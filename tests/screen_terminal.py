# SPDX-License-Identifier: MIT
"""The full-screen view of `cpscope step` in a real terminal (tmux). The program is the first argument of the test."""
import os
import re
import shlex
import subprocess
import sys
import time

CPSCOPE = os.path.abspath(sys.argv[1])
STOP = (":", "=b CP_SET_DRAW_STATE", "Enter", "c")  # a way into the demo


class Terminal:
    """A run of `cpscope step` in a terminal of that size; closed behind `with`."""
    count = 0

    def __init__(self, width, height, *args, env="TERM=screen"):
        Terminal.count += 1
        self.socket = "cpscope-test-%d-%d" % (os.getpid(), Terminal.count)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "env -u NO_COLOR %s %s step %s; echo EXIT=$?; exec sleep 60" % (env, CPSCOPE, " ".join(map(shlex.quote, args))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, *args], capture_output=True, text=True,
                              timeout=20).stdout

    def keys(self, *keys):
        """Names of keys, as tmux has them; =TEXT is typed."""
        for key in keys:
            self.tmux("send-keys", *(["-l", "--", key[1:]] if key[0] == "=" else [key]))

    def type(self, text):
        self.keys("=" + text, "Enter")

    def mouse(self, x, y, button=0):
        """Column and line from 0; buttons 64 and 65 are the wheel. As terminals with kmous=\\E[M say it."""
        for what in (button, 3) if button < 3 else (button,):  # 3: it is let go
            self.tmux("send-keys", "-H", "1b", "5b", "4d", *("%x" % (32 + n) for n in (what, x + 1, y + 1)))

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self, *how):
        return self.tmux("capture-pane", "-p", *how)

    def settled(self, *how):
        """The screen, once it stays as it is for a moment: it is drawn from the top, not all at once."""
        before, text = None, self.screen(*how)
        while text != before:
            time.sleep(0.03)
            before, text = text, self.screen(*how)
        return text

    def wait(self, *patterns):
        """The screen, once it shows all of @patterns; an error if it does not for ten seconds."""
        for _ in range(200):
            text = self.screen()
            missing = [p for p in patterns if not re.search(p, text, re.M)]
            if not missing:
                return text
            time.sleep(0.05)
        raise AssertionError("no %r in\n%s" % (missing, text))

    def gone(self, pattern):
        """The screen, once it does not show @pattern."""
        for _ in range(200):
            text = self.screen()
            if not re.search(pattern, text, re.M):
                return text
            time.sleep(0.05)
        raise AssertionError("still %r in\n%s" % (pattern, text))

    def leave(self):
        self.keys("q")
        self.wait(r"^\(cpscope\)")
        self.type("p 6 * 7")
        self.wait("= 42")
        self.type("q")
        self.wait("EXIT=0")


def demo(width, height, **how):
    return Terminal(width, height, "--demo", "--screen", **how)

# SPDX-License-Identifier: MIT
"""The full-screen view of `cpscope step` in a real terminal (tmux). The program is the first argument of the test."""
import os
import re
import shlex
import subprocess
import time

import machine
import terminal
from scene import CPSCOPE

STOP = (":", "=b CP_SET_DRAW_STATE", "Enter", "c")  # a way into the demo


class Terminal:
    """A run of `cpscope step` in a terminal of that size; closed behind `with`."""
    count = 0

    def __init__(self, width, height, *args, env="TERM=screen"):
        machine.need_terminal()
        machine.need_program("tmux")
        Terminal.count += 1
        self.socket = "cpscope-test-%d-%d" % (os.getpid(), Terminal.count)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "env -u NO_COLOR %s %s step %s; echo EXIT=$?; exec cat" % (env, CPSCOPE, " ".join(map(shlex.quote, args))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, *args], capture_output=True, text=True,
                              timeout=terminal.PATIENCE).stdout

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

    def waits(self):
        """Whether neither the program nor tmux has anything to do: each process of theirs sleeps."""
        pids = self.tmux("display-message", "-p", "#{pid} #{pane_pid}").split()
        pids += machine.children(int(pids[1]))
        return all(machine.state(pid) == "S" for pid in pids)

    def settled(self, *how):
        """The screen, once it is drawn whole: who draws it waits, and it stays as it is."""
        end = time.monotonic() + terminal.PATIENCE
        while True:
            waits, before, text = self.waits(), self.screen(*how), self.screen(*how)
            if waits and before == text and self.waits():
                return text
            assert time.monotonic() < end, "it is drawn again and again"

    def until(self, good, what):
        """The screen, once @good(screen) is true; it may take as long as a failure takes. Who reads more from it than it waits for
        may have the screen of before the last key: so wait for what that key changes."""
        end = time.monotonic() + terminal.PATIENCE
        text = self.screen()
        while not good(text):
            assert time.monotonic() < end, "%s in\n%s" % (what, text)
            time.sleep(0.03)
            text = self.screen()
        return text

    def wait(self, *patterns):
        """The screen, once it shows all of @patterns."""
        return self.until(lambda text: all(re.search(p, text, re.M) for p in patterns), "not all of %r" % (patterns,))

    def gone(self, pattern):
        """The screen, once it does not show @pattern."""
        return self.until(lambda text: not re.search(pattern, text, re.M), "still %r" % pattern)

    def leave(self):
        self.keys("q")
        self.wait(r"^\(cpscope\)")
        self.type("p 6 * 7")
        self.wait("= 42")
        self.type("q")
        self.wait("EXIT=0")


def demo(width, height, **how):
    return Terminal(width, height, "--demo", "--screen", **how)

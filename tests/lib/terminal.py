# SPDX-License-Identifier: MIT
"""A command on a pseudo terminal."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import machine
from machine import PATIENCE


class Terminal:
    """Runs a command with those of its standard files that are named on a pseudo terminal; others are as in
    @files. `shown` has the bytes that came out there."""

    def __init__(self, command, env=None, on=(0, 1, 2), files=None):
        machine.need_terminal()
        self.master, child = pty.openpty()
        self.resize(80, 24)
        at = [child if number in on else (files or {}).get(number, subprocess.DEVNULL) for number in range(3)]
        self.process = subprocess.Popen(command, stdin=at[0], stdout=at[1], stderr=at[2], env=env, start_new_session=True,
                                        preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if 0 in on else None)
        os.close(child)
        self.shown = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def read(self, seconds):
        """Takes what comes; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.shown += data
        return bool(data)

    def wait_for(self, text):
        self.wait_until(lambda: text.encode() in self.shown, "%r does not come" % text)

    def wait_until(self, reached, what):
        """Takes what comes until @reached() is true."""
        end = time.monotonic() + PATIENCE
        while not reached():
            assert self.read(0.02) and time.monotonic() < end, "%s: %r" % (what, self.shown[-2000:])

    def is_editing(self):
        """Whether a line editor reads single keys. Before that, the terminal itself echoes keys, and Ctrl-C or Ctrl-Z discards them."""
        return not termios.tcgetattr(self.master)[3] & termios.ICANON

    def resize(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        """Reads to the end. @return the exit status"""
        end = time.monotonic() + PATIENCE
        while self.read(0.1):
            assert time.monotonic() < end, "it does not end: %r" % self.shown[-2000:]
        return self.process.wait(PATIENCE)


def run(command, **how):
    """@return the exit status, and what the terminal got"""
    with Terminal(command, **how) as terminal:
        status = terminal.end()
        return status, terminal.shown.decode().replace("\r\n", "\n")

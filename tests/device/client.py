#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library that clients of the virtual device preload, on this processor, on arm64 and on 32-bit ARM. This is the device:
it answers tests/device/probe.c, and it checks what comes on the wire against the structures of the kernel, by hand.

Usage: client.py LIBRARY PROBE SOURCE"""
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import tap

LIBRARY, PROBE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:4])
MAGIC = b"cpscope device\n\0"
TOKEN = bytes(range(0xa0, 0xb0))
HEAD = struct.Struct("=HHIiHH16s")
OPEN, HOLD, IOCTL, MAP = 1, 2, 3, 4
ROWS = re.findall(r"^IOCTL\(\w+, 0x\w+, (\w+),", open(os.path.join(SOURCE, "tools/device/ioctl.def"), encoding="utf-8").read(), re.M)


def padded(data):
    return data + bytes(-len(data) % 8)


def piece(data):
    return struct.pack("=II", len(data), 0) + padded(data)


def memfd(name, data):
    fd = os.memfd_create(name)
    os.write(fd, data)
    return fd


class Gone(Exception):
    pass


class Device:
    """Answers as the real one would where the probe looks, and keeps a list of what it was asked."""

    def __init__(self, folder):
        self.folder, self.asked, self.failed, self.links, self.held = folder, [], [], [], set()
        self.buffer = memfd("buffer", b"\0" * 4096 + b"buffer 5\0" + bytes(8192))
        self.node = memfd("node", MAGIC + TOKEN)
        self.make_tree(os.path.join(folder, "root"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(folder, "socket"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def make_tree(self, root):
        os.mkdir(root)
        text = open(os.path.join(SOURCE, "tools/device/tree.def"), encoding="utf-8").read()
        rows = re.findall(r'^TREE\((\w+), "([^"]+)", (\w+),\s+"([^"]*)"\)', text, re.M)
        for path, kind, content in [row[1:] for row in rows if row[0] != "KGSL"]:
            path, content = os.path.join(root, path), content.replace("\\n", "\n")
            if kind == "DIR":
                os.mkdir(path)
            elif kind == "LINK":
                os.symlink(content, path)
            else:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)
        assert len(rows) == text.count("\nTREE(") and all(os.path.exists(os.path.join(root, row[1])) != (row[0] == "KGSL") for row in rows)

    def accept(self):
        while True:
            try:
                link = self.listener.accept()[0]
            except OSError:
                return
            self.links.append(link)
            threading.Thread(target=self.serve, args=[link], daemon=True).start()

    def read(self, link, size):
        data, fds = b"", []
        while len(data) < size:
            more, new, _, _ = socket.recv_fds(link, size - len(data), 4)
            fds += new
            if not more:
                raise EOFError
            data += more
        return data, fds

    def serve(self, link):
        try:
            while True:
                head, fds = self.read(link, HEAD.size)
                version, kind, size, status, row, count, token = HEAD.unpack(head)
                body = self.read(link, size)[0] if size else b""
                self.asked.append((kind, ROWS[row] if kind == IOCTL else None, body, token))
                try:
                    assert (version, status, count) == (1, 0, len(fds)), head
                    status, body, fd = self.answer(kind, ROWS[row], body, token, fds, link)
                except AssertionError as error:
                    self.failed.append(f"{ROWS[row]}: {body!r} {error!r}")
                    status, body, fd = -5, b"", None
                data = HEAD.pack(1, kind, len(body), status, row, fd is not None, token) + body
                # In two parts, as a slow device may write.
                socket.send_fds(link, [data[:20]], [] if fd is None else [fd])
                link.sendall(data[20:])
                for fd in fds:
                    os.close(fd)
        except (EOFError, OSError):
            link.close()
        except Gone:
            self.close()

    def answer(self, kind, row, body, token, fds, link):
        if kind == OPEN:
            return 0, b"", self.node
        if row in ("SYNC_MERGE",) and kind == IOCTL:
            assert token == bytes(16) and len(fds) == 2 and body[:32].rstrip(b"\0") == b"both"
            return 0, body, self.buffer
        assert token == TOKEN, token
        self.held.add(link)
        if kind == HOLD:
            assert not body
            return 0, b"", None
        if kind == MAP:
            offset, size = struct.unpack("=QQ", body)
            return (0, struct.pack("=QQ", 4096, size), self.buffer) if offset == 5 << 32 else (-22, b"", None)
        return getattr(self, row.lower())(body, fds)

    # What each ioctl must bring, with offsets of the kernel's headers, and its answer.

    def get_param(self, body, fds):
        assert len(body) == 24
        return 0, body[:8] + struct.pack("=Q", struct.unpack_from("=I", body, 4)[0] + 1000) + body[16:], None

    def set_param(self, body, fds):
        assert body[24:] == piece(b"probe")
        return 0, body[:24], None

    def gem_info(self, body, fds):
        handle, info, value, size = struct.unpack_from("=IIQI", body)
        if info == 0:
            assert size == 0 and len(body) == 24
            return 0, struct.pack("=IIQII", handle, info, handle << 32, 99, 99), None
        if info == 3:
            assert size == 8 and len(body) == 24
            return 0, struct.pack("=IIQII", handle, info, value, 6, 0) + piece(b"vertex"), None
        assert info == 2 and body[24:] == piece(b"vertex")
        return 0, body[:24], None

    def syncobj_query(self, body, fds):
        assert len(body) == 24 + 8 + 16 and body[24:] == piece(struct.pack("=III", 1, 2, 3))
        return 0, body[:24] + piece(struct.pack("=QQQ", 11, 12, 13)), None

    def syncobj_timeline_signal(self, body, fds):
        assert body[24:] == piece(struct.pack("=III", 1, 2, 3)) + piece(bytes(24))
        return 0, body[:24], None

    def submit(self, body, fds):
        flags, _, bos, cmds = struct.unpack_from("=IIII", body)
        assert flags == 0x60000010 and (bos, cmds) == (1, 2) and len(fds) == 1
        assert os.pread(fds[0], 16, 0) == MAGIC
        rest = piece(struct.pack("=IIQ", 3, 5, 0))
        rest += piece(struct.pack("=IIIIIIQ", 1, 0, 0, 64, 0, 0, 0) + struct.pack("=IIIIIIQ", 1, 0, 0, 128, 0, 0, 0))
        rest += piece(struct.pack("=IIQIIQ", 1, 1, 0, 2, 0, 0)) + piece(b"")  # elements of 8 bytes became 16
        assert body[72:] == rest, body[72:]
        return 0, body[:4] + struct.pack("=I", 42) + body[8:72], self.buffer

    def vm_bind(self, body, fds):
        first = struct.pack("=IIQQQII", 1, 5, 0, 0x1000, 0x2000, 0, 0)
        second = struct.pack("=IIQQQII", 0, 0, 0, 9, 0, 0, 0)
        count = struct.unpack_from("=I", body, 4)[0]
        assert body[88:] == piece(b"") * 2 + (b"" if count == 1 else piece(first + second if count else b""))
        assert count != 1 or body[48:88] == first
        return 0, body[:88], None

    def prime_to_fd(self, body, fds):
        assert len(body) == 16 and struct.unpack_from("=I", body)[0] == 5
        return 0, body, self.buffer

    def prime_to_handle(self, body, fds):
        assert os.path.samestat(os.fstat(fds[0]), os.fstat(self.buffer))
        return 0, padded(struct.pack("=III", 5, 0, 0)), None

    def cpu_fini(self, body, fds):
        assert body == padded(struct.pack("=I", 99))
        return -2, b"", None

    def wait_fence(self, body, fds):
        threading.Event().wait(0.3)
        return 0, body, None

    def madvise(self, body, fds):
        raise Gone

    def close(self):
        self.listener.close()
        os.unlink(os.path.join(self.folder, "socket"))
        for link in self.links:
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        os.close(self.buffer)
        os.close(self.node)


def serve_client(job, library, command):
    """Runs a job of the probe. @return the device, after the end of all that it was told"""
    with tempfile.TemporaryDirectory() as folder:
        device = Device(folder)
        env = {**os.environ, "CPSCOPE_DEVICE": folder}
        if len(command) == 1:
            env["LD_PRELOAD"] = library
        if job == "none":
            del env["CPSCOPE_DEVICE"]
        done = subprocess.run([*command, job], env=env, capture_output=True, text=True, timeout=120, check=False)
        assert not device.failed, device.failed
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        if job != "gone":
            device.close()
        return device


JOBS = ["paths", "ioctls", "shared", "map", "signals", "gone", "none"]


def on(library, command):
    def check():
        for job in JOBS:
            device = serve_client(job, library, command)
            kinds = [kind for kind, *_ in device.asked]
            if job == "shared":
                # The process that got the descriptor holds the file, and the closed connection was made again.
                assert kinds.count(OPEN) == 1 and kinds.count(HOLD) == 1, kinds
                assert len(device.held) == 6, len(device.held)
            if job == "none":
                assert not kinds
    return check


def cross(compiler, emulator, more):
    """Built for another processor as client.h says, and run there."""
    prefix = compiler[:-len("gcc")]
    root = "/usr/" + prefix.rstrip("-")
    if not shutil.which(compiler) or not shutil.which(emulator):
        raise tap.Skip(f"needs {compiler} and {emulator}")
    with tempfile.TemporaryDirectory() as folder:
        library, probe = os.path.join(folder, "client.so"), os.path.join(folder, "probe")
        parts = [f"tools/device/client/{name}.c" for name in ("link", "node", "path")] + ["tools/device/ioctl.c"]
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-I.", "-o", library, *parts, "-pthread", "-ldl"],
                       cwd=SOURCE, check=True)
        subprocess.run([compiler, "-O1", "-I.", *more, "-o", probe, "tests/device/probe.c", "-pthread"], cwd=SOURCE, check=True)
        on(library, [emulator, "-L", root, "-E", f"LD_PRELOAD={library}", probe])()


tap.run([
    ("a client of this processor", on(LIBRARY, [PROBE])),
    ("a client of arm64", lambda: cross("aarch64-linux-gnu-gcc", "qemu-aarch64-static", [])),
    ("a client of 32-bit ARM", lambda: cross("arm-linux-gnueabihf-gcc", "qemu-arm-static", ["-D_FILE_OFFSET_BITS=64"])),
    ("a client of 32-bit ARM with a 64-bit time",
     lambda: cross("arm-linux-gnueabihf-gcc", "qemu-arm-static", ["-D_FILE_OFFSET_BITS=64", "-D_TIME_BITS=64"])),
])

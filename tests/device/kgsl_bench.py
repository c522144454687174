# SPDX-License-Identifier: MIT
"""What clients of KGSL share: the structures of its header, as its documentation has them, and packets."""
import ctypes
import errno
import fcntl
import mmap
import os
import struct
import sys
import traceback

NODE = "/dev/kgsl-3d0"
libc = ctypes.CDLL("libc.so.6", use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = 4096
READ, WRITE, BOTH = 2, 1, 3  # _IOC directions, as the program sees them
# name: number, direction, layout
IOCTLS = {
    "GETPROPERTY": (0x02, BOTH, "IIQQ"), "WAIT": (0x07, WRITE, "III"), "DRAWCTXT_CREATE": (0x13, BOTH, "II"),
    "DRAWCTXT_DESTROY": (0x14, BOTH, "I"), "MAP_USER_MEM": (0x15, BOTH, "iIQQQQII"), "READTIMESTAMP": (0x16, BOTH, "III"),
    "SHAREDMEM_FREE": (0x21, WRITE, "Q"), "SETPROPERTY": (0x32, WRITE, "IIQQ"), "TIMESTAMP_EVENT": (0x33, BOTH, "iIIIQQ"),
    "GPUMEM_ALLOC_ID": (0x34, BOTH, "IIQQQQQ"), "GPUMEM_FREE_ID": (0x35, BOTH, "II"), "GPUMEM_GET_INFO": (0x36, BOTH, "QIIQQQQQQQ"),
    "GPUMEM_SYNC_CACHE": (0x37, WRITE, "QIIQQ"), "PERFCOUNTER_READ": (0x3b, BOTH, "QIIII"), "GPUOBJ_ALLOC": (0x45, BOTH, "QQQQIIQ"),
    "GPUOBJ_FREE": (0x46, WRITE, "QQIIII"), "GPUOBJ_INFO": (0x47, BOTH, "QQQQQII"), "GPUOBJ_IMPORT": (0x48, BOTH, "QQQII"),
    "GPUOBJ_SYNC": (0x49, WRITE, "QII"), "GPU_COMMAND": (0x4a, BOTH, "QQIIQIIQIIII"), "GPUOBJ_SET_INFO": (0x4c, WRITE, "QQIIII"),
    "BIND_RANGES": (0x56, BOTH, "QIIIIiI"), "AUX_COMMAND": (0x57, BOTH, "QQIIQIIII"),
}
GPU_READONLY, USE_CPU_MAP, CACHED, VBO, NO_MAP_ZERO, SECURE = 1 << 24, 1 << 28, 3 << 26, 1 << 34, 1 << 35, 8
PREAMBLE, NO_GMEM, USER_TS = 0x10, 0x2, 0x80
MARKER, PROFILING, SYNC = 0x2, 0x10, 0x400


NAMES = {**errno.errorcode, errno.EDEADLK: "EDEADLK", errno.EOPNOTSUPP: "EOPNOTSUPP"}  # of each the one that Linux says


class Fact(Exception):
    """What does not hold."""


def holds(what, *more):
    if not what:
        raise Fact(" ".join(str(m) for m in more))


def equal(got, want):
    holds(got == want, f"got {got!r}, expected {want!r}")


def request(name, size=None, group=9):
    number, way, form = IOCTLS[name]
    return way << 30 | (struct.calcsize(form) if size is None else size) << 16 | group << 8 | number


class Device:
    """An open file."""

    def __init__(self):
        self.fd = os.open(NODE, os.O_RDWR | os.O_CLOEXEC)

    def close(self):
        os.close(self.fd)

    def call(self, name, *values):
        form = IOCTLS[name][2]
        data = bytearray(struct.pack(form, *values))
        fcntl.ioctl(self.fd, request(name), data)
        return struct.unpack(form, data)

    def error(self, name, *values):
        try:
            self.call(name, *values)
        except OSError as error:
            return NAMES[error.errno]
        return 0

    def raw(self, number, argument):
        """ioctl() with a pointer of any kind. Returns 0 or the error's name."""
        libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
        preloaded = ctypes.CDLL(None, use_errno=True)
        preloaded.ioctl.argtypes = libc.ioctl.argtypes
        status = preloaded.ioctl(self.fd, number, argument)
        return NAMES[ctypes.get_errno()] if status < 0 else status

    # ---- memory ----

    def alloc(self, size=PAGE, flags=0):
        return self.call("GPUOBJ_ALLOC", size, flags, 0, 0, 0, 0, 0)[4]

    def address(self, number):
        return self.call("GPUOBJ_INFO", 0, 0, 0, 0, 0, number, 0)[0]

    def map(self, number, size=PAGE, at=0, flags=mmap.MAP_SHARED):
        """Its CPU address, by the system's own mmap()."""
        address = libc.mmap(at, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, self.fd, number << 12)
        holds(address != ctypes.c_void_p(-1).value, "mmap", ctypes.get_errno())
        return address

    def shared(self, size=PAGE):
        """An object that is at the same address for both: its number and the address."""
        number = self.alloc(size, USE_CPU_MAP)
        return number, self.map(number, size)

    # ---- contexts ----

    def context(self, flags=0, priority=8):
        return self.call("DRAWCTXT_CREATE", PREAMBLE | NO_GMEM | flags | priority << 12, 0)[1]

    def submit(self, context, *streams, syncs=(), flags=0, timestamp=0, profile=None):
        """Commands at (address, bytes); syncs: (context, timestamp), or the descriptor of a fence."""
        commands = b"".join(struct.pack("QQQII", 0, at, size, 1, 0) for at, size in streams)
        points, kept = points_of(syncs)
        objects = struct.pack("QQQII", *profile) if profile else b""
        keep = [buffer_of(commands), buffer_of(objects), buffer_of(points), kept]
        at = [ctypes.addressof(k) for k in keep[:3]]
        return self.call("GPU_COMMAND", flags, at[0], 32, len(streams), at[1], 32, 1 if profile else 0, at[2], 24, len(syncs), context,
                         timestamp)[-1]

    def wait(self, context, timestamp, milliseconds=10000):
        self.call("WAIT", context, timestamp, milliseconds)

    def reached(self, context, kind=2):
        return self.call("READTIMESTAMP", context, kind, 0)[2]

    def fence(self, context, timestamp):
        fd = ctypes.c_int32(-5)
        self.call("TIMESTAMP_EVENT", 2, timestamp, context, 0, ctypes.addressof(fd), 4)
        return fd.value

    def bind(self, target, *ranges, flags=0):
        """Ranges: (child offset, offset, bytes, child, operation)."""
        data = buffer_of(b"".join(struct.pack("QQQII", *r) for r in ranges))
        return self.call("BIND_RANGES", ctypes.addressof(data), len(ranges), 32, target, flags, -1, 0)

    def bind_error(self, target, *ranges):
        data = buffer_of(b"".join(struct.pack("QQQII", *r) for r in ranges))
        return self.error("BIND_RANGES", ctypes.addressof(data), len(ranges), 32, target, 0, -1, 0)


def buffer_of(data):
    return ctypes.create_string_buffer(bytes(data), max(1, len(data)))


def points_of(syncs):
    kept = [buffer_of(struct.pack("II", *s) if isinstance(s, tuple) else struct.pack("i", s)) for s in syncs]
    return b"".join(struct.pack("QQII", ctypes.addressof(k), 8 if isinstance(s, tuple) else 4, 0 if isinstance(s, tuple) else 1, 0)
                    for s, k in zip(syncs, kept)), kept


def word(at):
    return ctypes.c_uint32.from_address(at)


# ---- packets ----

def parity(value):
    return 1 ^ bin(value).count("1") & 1


def packet(opcode, *words):
    return [7 << 28 | parity(opcode) << 23 | opcode << 16 | parity(len(words)) << 15 | len(words), *words]


def write(at, value):
    return packet(0x3d, at & 0xffffffff, at >> 32, value)


def wait_for(at, value):
    return packet(0x3c, 0x13, at & 0xffffffff, at >> 32, value, 0xffffffff, 0)


def put(at, *packets):
    """Writes a stream; what a submission gets of it."""
    words = [w for p in packets for w in p]
    (ctypes.c_uint32 * len(words)).from_address(at)[:] = words
    return at, 4 * len(words)


# No firmware has handlers for all of them.
BAD = [packet(opcode, 0) for opcode in (0x7d, 0x7f, 0x7e, 0x7c, 0x0b, 0x0a, 0x05, 0x06, 0x07, 0x01)]


class Bench:
    """A device with a context and a page for streams and one for data."""

    def __init__(self, **more):
        self.d = Device()
        self.context = self.d.context(**more)
        _, self.stream = self.d.shared(2 * PAGE)
        self.data = self.stream + PAGE

    def run(self, *packets, context=None):
        context = context or self.context
        timestamp = self.d.submit(context, put(self.stream, *packets))
        self.d.wait(context, timestamp)
        return timestamp

    def fails(self, *packets):
        """A job that the context does not survive."""
        context = self.d.context()
        timestamp = self.d.submit(context, put(self.stream, *packets))
        equal(self.d.error("WAIT", context, timestamp, 10000), "EDEADLK")

    def blocked(self, at=None):
        """A context whose job waits until the word at `at` is 1: the context and the time stamp."""
        at = at or self.data + 512
        word(at).value = 0
        context = self.d.context()
        return context, self.d.submit(context, put(self.stream + 1024, wait_for(at, 1), write(at + 4, 2))), at


def in_child(function):
    """Whether it holds in a child process."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            function()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


GROUPS = {}


def fact(group, name):
    def add(function):
        GROUPS.setdefault(group, []).append((name, function))
        return function
    return add

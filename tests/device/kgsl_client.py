#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of KGSL, written from what msm_kgsl.h says of each ioctl and from nothing of ours: numbers, layouts and errors are
stated here once more. The device's library answers open() and ioctl(); mmap() is the system's own.

Usage: kgsl_client.py GROUP...   checks the facts of these groups, and prints one line for each
       kgsl_client.py jobs COUNT prints how many jobs a second run one after the other"""
import ctypes
import errno
import fcntl
import mmap
import os
import select
import signal
import struct
import sys
import threading
import time
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


# ---- memory ----

@fact("memory", "the node is a character device, and properties have their sizes")
def properties():
    d = Device()
    holds(os.fstat(d.fd).st_mode & 0o170000 == 0o020000)
    info = buffer_of(bytes(40))
    d.call("GETPROPERTY", 1, 0, ctypes.addressof(info), 40)
    _, chip, mmu, _, _, _, _, gmem = struct.unpack("IIIIQIIQ", info.raw[:40])
    holds(chip and mmu == 1 and gmem >= 1 << 17, info.raw.hex())
    equal(d.error("GETPROPERTY", 1, 0, ctypes.addressof(info), 32), "EINVAL")
    equal(d.error("GETPROPERTY", 1, 0, 64, 40), "EFAULT")
    equal(d.error("GETPROPERTY", 0x777, 0, ctypes.addressof(info), 4), "ENODEV")
    counter = buffer_of(struct.pack("IIQ", 0x1b, 0, 0))
    d.call("PERFCOUNTER_READ", ctypes.addressof(counter), 1, 0, 0, 0)
    holds(struct.unpack("IIQ", counter.raw[:16])[2])


@fact("memory", "an address that the kernel chooses")
def chosen_address():
    b = Bench()
    number, _, size, mapped, address, _, _ = b.d.call("GPUMEM_ALLOC_ID", 0, 0, 5000, 0, 0, 0, 0)
    holds(number and size == mapped == 2 * PAGE and address >> 32, number, size, mapped, address)
    cpu = b.d.map(number, 2 * PAGE)
    b.run(write(address + 5000, 0xbeef))
    equal(word(cpu + 5000).value, 0xbeef)
    equal(b.d.call("GPUMEM_GET_INFO", address + 7, 0, 0, 0, 0, 0, 0, 0, 0, 0)[1], number)
    equal(b.d.call("GPUMEM_GET_INFO", 0, number, 0, 0, 0, 0, 0, 0, 0, 0)[0], address)


@fact("memory", "an address that is the CPU's, wherever the process maps it")
def cpu_address():
    b = Bench()
    number = b.d.alloc(PAGE, USE_CPU_MAP)
    equal(b.d.address(number), 0)
    at = b.d.map(number)
    equal(b.d.address(number), at)
    equal(b.d.call("GPUMEM_GET_INFO", at + 40, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:2], (at, number))
    b.run(write(at + 8, 1))
    equal(word(at + 8).value, 1)
    fixed = libc.mmap(None, 3 * PAGE, 0, 0x22, -1, 0) + PAGE
    libc.munmap(at, PAGE)
    equal(b.d.map(number, at=fixed, flags=0x11), fixed)
    b.run(write(fixed + 12, 7))
    equal((word(fixed + 8).value, word(fixed + 12).value, b.d.address(number)), (1, 7, fixed))


@fact("memory", "any memory of the process")
def process_memory():
    b = Bench()
    data = buffer_of(bytes(64))
    at = ctypes.addressof(data) + 15 & ~15
    b.run(write(at, 0xcafe))
    equal(word(at).value, 0xcafe)
    stream = buffer_of(bytes(256))
    b.d.wait(b.context, b.d.submit(b.context, put(ctypes.addressof(stream) + 15 & ~15, write(at, 3))))
    equal(word(at).value, 3)


@fact("memory", "memory of the process at an address that the kernel chooses, also read-only")
def map_user():
    b = Bench()
    memory = libc.mmap(None, 2 * PAGE, 3, 0x22, -1, 0)
    address = b.d.call("MAP_USER_MEM", 0, 0, 0, 2 * PAGE, 0, memory, 2, 0)[2]
    holds(address != memory)
    b.run(write(address + PAGE, 9))
    equal(word(memory + PAGE).value, 9)
    where = buffer_of(struct.pack("Q", memory))
    number = b.d.call("GPUOBJ_IMPORT", ctypes.addressof(where), 2 * PAGE, USE_CPU_MAP, 2, 0)[4]
    equal(b.d.address(number), memory)
    closed = b.d.call("MAP_USER_MEM", 0, 0, 0, PAGE, 0, memory, 2, GPU_READONLY)[2]
    b.fails(write(closed, 5))
    equal(word(memory).value, 0)
    for values in ((PAGE + 1, 0, memory), (0, 0, memory), (PAGE, 4, memory), (PAGE, 0, memory + 8), (1 << 63, 0, memory), (PAGE, 0, 0)):
        equal(b.d.error("MAP_USER_MEM", 0, 0, 0, *values, 2, 0), "EINVAL")
    equal(b.d.error("MAP_USER_MEM", 0, 0, 0, 1 << 40, 0, memory, 2, 0), "EFAULT")
    equal(b.d.error("MAP_USER_MEM", 0, 0, 0, PAGE, 0, b.stream, 2, 0), "EFAULT")
    equal(b.d.error("MAP_USER_MEM", 0, 0, 0, PAGE, 0, memory, 7, 0), "EOPNOTSUPP")
    libc.mprotect(memory, PAGE, 1)
    equal(b.d.error("MAP_USER_MEM", 0, 0, 0, PAGE, 0, memory, 2, 0), "EFAULT")
    b.d.call("MAP_USER_MEM", 0, 0, 0, PAGE, 0, memory, 2, GPU_READONLY)
    b.d.call("SHAREDMEM_FREE", address)
    equal(b.d.error("SHAREDMEM_FREE", address), "EINVAL")


@fact("memory", "an object that the GPU may not write keeps its contents")
def readonly_object():
    b = Bench()
    number = b.d.alloc(PAGE, GPU_READONLY)
    at = b.d.map(number)
    word(at).value = 4
    b.fails(write(b.d.address(number), 5))
    equal(word(at).value, 4)


@fact("memory", "pages that the process may not write are not written")
def protected_page():
    b = Bench()
    memory = libc.mmap(None, PAGE, 3, 0x22, -1, 0)
    word(memory).value = 6
    libc.mprotect(memory, PAGE, 1)
    b.fails(write(memory, 7))
    equal(word(memory).value, 6)
    equal(b.d.error("GETPROPERTY", 0x18, 0, memory, 4), "EFAULT")
    equal(b.d.raw(request("READTIMESTAMP"), memory), "EINVAL")
    libc.mprotect(memory, PAGE, 3)
    (ctypes.c_uint32 * 3).from_address(memory)[:] = [b.context, 2, 77]
    libc.mprotect(memory, PAGE, 1)
    equal(b.d.raw(request("READTIMESTAMP"), memory), "EFAULT")
    equal(word(memory + 8).value, 77)


@fact("memory", "a memfd as a buffer of two files, and what is none")
def import_fd():
    b, other = Bench(), Bench()
    fd = os.memfd_create("shared", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, PAGE)
    where = buffer_of(struct.pack("i", fd))
    equal(b.d.error("GPUOBJ_IMPORT", ctypes.addressof(where), 4, 0, 3, 0), "EINVAL")
    fcntl.fcntl(fd, 1033, 7)  # F_ADD_SEALS: seal, shrink, grow
    for user in (b, other):
        number = user.d.call("GPUOBJ_IMPORT", ctypes.addressof(where), 4, 0, 3, 0)[4]
        user.address = user.d.address(number)
    mapped = mmap.mmap(fd, PAGE)
    b.run(write(b.address, 0x11))
    other.run(write(other.address + 4, 0x22))
    equal(struct.unpack("II", mapped[:8]), (0x11, 0x22))
    for bad, why in ((-1, "EINVAL"), (999, "EBADF"), (0, "EBADF"), (b.d.fd, "EINVAL")):
        where = buffer_of(struct.pack("i", bad))
        holds(b.d.error("GPUOBJ_IMPORT", ctypes.addressof(where), 4, 0, 3, 0) in (why, "EINVAL"), bad)
    equal(b.d.error("GPUOBJ_IMPORT", 64, 4, 0, 3, 0), "EFAULT")
    equal(b.d.error("GPUOBJ_IMPORT", 64, PAGE, 0, 2, 0), "EINVAL")
    equal(b.d.error("GPUOBJ_IMPORT", ctypes.addressof(where), 4, VBO, 3, 0), "EINVAL")


@fact("memory", "numbers, sizes and flags that are none")
def bad_objects():
    d = Device()
    for size, flags, why in ((0, 0, "EINVAL"), (1 << 63, 0, "EINVAL"), ((1 << 64) - 1, 0, "EINVAL"), (1 << 33, 0, "EINVAL"),
                             (PAGE, SECURE, "EOPNOTSUPP"), (PAGE, VBO | GPU_READONLY, "EINVAL"), (PAGE, VBO | USE_CPU_MAP, "EINVAL"),
                             (PAGE, VBO | CACHED, "EINVAL"), (0, VBO, "EINVAL")):
        equal(d.error("GPUOBJ_ALLOC", size, flags, 0, 0, 0, 0, 0), why)
    number = d.alloc()
    d.call("GPUMEM_FREE_ID", number, 0)
    for bad in (0, number, number + 1, 1 << 31, 0xffffffff):
        equal(d.error("GPUMEM_FREE_ID", bad, 0), "EINVAL")
        equal(d.error("GPUOBJ_FREE", 0, 0, bad, 0, 0, 0), "EINVAL")
        equal(d.error("GPUOBJ_INFO", 0, 0, 0, 0, 0, bad, 0), "EINVAL")
        equal(d.error("GPUMEM_GET_INFO", 0, bad, 0, 0, 0, 0, 0, 0, 0, 0), "EINVAL")
        equal(d.error("GPUMEM_SYNC_CACHE", 0, bad, 3, 0, 0), "EINVAL")
        equal(d.error("GPUOBJ_SET_INFO", 0, 0, bad, 0, 0, 0), "EINVAL")
    equal(d.error("SHAREDMEM_FREE", 0x123), "EINVAL")
    number = d.alloc()
    d.call("GPUMEM_SYNC_CACHE", 0, number, 3, 0, 0)
    equal(d.error("GPUMEM_SYNC_CACHE", 0, number, 0, 0, 0), "EINVAL")
    objects = buffer_of(struct.pack("QQII", 0, 0, number, 1))
    d.call("GPUOBJ_SYNC", ctypes.addressof(objects), 24, 1)
    equal(d.error("GPUOBJ_SYNC", 64, 24, 1), "EFAULT")
    equal(d.error("GPUOBJ_SYNC", ctypes.addressof(objects), 24, 129), "EINVAL")
    name = buffer_of(b"a name\x1b")
    d.call("GPUOBJ_SET_INFO", 1, ctypes.addressof(name), number, 7, 0, 0)
    d.call("GPUOBJ_SET_INFO", 1, 64, number, 7, 0, 0)
    d.call("GPUOBJ_SET_INFO", 2, 0, number, 0, 0x12, 0)
    equal(d.call("GPUOBJ_INFO", 0, 0, 0, 0, 0, number, 0)[1] >> 8 & 0xff, 0x12)
    equal(d.error("GPUOBJ_SET_INFO", 2, 0, number, 0, 0x100, 0), "EINVAL")


@fact("memory", "memory of an object that was freed is zeros for the next one, and more than there are numbers is an error")
def freed_memory():
    d = Device()
    number = d.alloc()
    at = d.map(number)
    word(at).value = 1
    d.call("GPUMEM_FREE_ID", number, 0)
    equal(word(at).value, 0)
    big = [d.alloc(0xfffff000) for _ in range(3)]
    equal(d.error("GPUOBJ_ALLOC", 0xfffff000, 0, 0, 0, 0, 0, 0), "ENOMEM")
    for number in big:
        d.call("GPUMEM_FREE_ID", number, 0)
    spaces = [d.alloc(1 << 36, VBO) for _ in range(3)]
    equal(d.error("GPUOBJ_ALLOC", 1 << 37, VBO, 0, 0, 0, 0, 0), "ENOSPC")
    for number in spaces:
        d.call("GPUMEM_FREE_ID", number, 0)
    for _ in range(20):  # addresses come again
        d.call("GPUMEM_FREE_ID", d.alloc(1 << 36, VBO), 0)


# ---- order ----

@fact("order", "jobs of a context have time stamps, one after the other")
def timestamps():
    b = Bench()
    first = b.run(write(b.data, 1))
    second = b.run(write(b.data, 2))
    equal((second - first, b.d.reached(b.context), b.d.reached(b.context, 3), word(b.data).value), (1, second, second, 2))
    equal(b.d.error("WAIT", b.context, second + 1, 10), "EINVAL")
    equal(b.d.error("READTIMESTAMP", b.context, 0, 0), "EINVAL")
    equal(b.d.error("READTIMESTAMP", b.context, 4, 0), "EINVAL")


@fact("order", "two streams of a job, in their order, and 300")
def two_streams():
    b = Bench()
    first = put(b.stream, write(b.data, 1), write(b.data + 4, 1))
    second = put(b.stream + 256, write(b.data, 2))
    b.d.wait(b.context, b.d.submit(b.context, first, second))
    equal((word(b.data).value, word(b.data + 4).value), (2, 1))
    b.d.wait(b.context, b.d.submit(b.context, *[second, first] * 150))
    equal(word(b.data).value, 1)


@fact("order", "a job that waits for the host shows what it wrote before")
def partial_progress():
    b = Bench()
    timestamp = b.d.submit(b.context, put(b.stream, write(b.data, 1), wait_for(b.data + 64, 7), write(b.data, 2)))
    end = time.monotonic() + 10
    while word(b.data).value != 1 and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(0.03)
    equal((word(b.data).value, b.d.reached(b.context)), (1, timestamp - 1))
    equal(b.d.error("WAIT", b.context, timestamp, 20), "ETIMEDOUT")
    word(b.data + 64).value = 7
    b.d.wait(b.context, timestamp)
    equal(word(b.data).value, 2)


@fact("order", "a context waits for a time stamp of another one")
def wait_for_context():
    b = Bench()
    context, timestamp, flag = b.blocked()
    mine = b.d.submit(b.context, put(b.stream, write(b.data, 5)), syncs=[(context, timestamp)])
    time.sleep(0.05)
    equal((word(b.data).value, b.d.reached(b.context)), (0, mine - 1))
    word(flag).value = 1
    b.d.wait(b.context, mine)
    equal((word(b.data).value, word(flag + 4).value, b.d.reached(context)), (5, 2, timestamp))


@fact("order", "a time stamp as a fence that poll() sees, and another job waits for")
def fences():
    b = Bench()
    context, timestamp, flag = b.blocked()
    fd = b.d.fence(context, timestamp)
    holds(fd > 2)
    equal(select.select([fd], [], [], 0.03)[0], [])
    mine = b.d.submit(b.context, put(b.stream, write(b.data, 5)), syncs=[fd])
    time.sleep(0.03)
    equal(word(b.data).value, 0)
    word(flag).value = 1
    equal(select.select([fd], [], [], 10)[0], [fd])
    b.d.wait(b.context, mine)
    equal(word(b.data).value, 5)
    done = b.d.fence(context, timestamp)
    equal(select.select([done], [], [], 10)[0], [done])
    equal(b.d.error("TIMESTAMP_EVENT", 2, timestamp + 9, context, 0, ctypes.addressof(ctypes.c_int()), 4), "EINVAL")
    equal(b.d.error("TIMESTAMP_EVENT", 2, timestamp, context, 0, 64, 4), "EFAULT")
    equal(b.d.error("TIMESTAMP_EVENT", 1, timestamp, context, 0, 64, 4), "EINVAL")
    equal(b.d.error("TIMESTAMP_EVENT", 2, timestamp, context, 0, 64, 8), "EINVAL")
    for bad in (-1, 999, b.d.fd):
        try:
            b.d.submit(b.context, syncs=[bad])
        except OSError as error:
            equal(error.errno, errno.EINVAL)
        else:
            raise Fact(f"{bad} is no fence")


@fact("order", "fences merge as sync files do")
def merge():
    b = Bench()
    first, one, flag = b.blocked()
    second, other, flag2 = b.blocked(b.data + 768)
    data = bytearray(struct.pack("32siiII", b"both", b.d.fence(second, other), 0, 0, 0))
    fcntl.ioctl(b.d.fence(first, one), 3 << 30 | 48 << 16 | 0x3e << 8 | 3, data)
    fd = struct.unpack("32siiII", data)[2]
    word(flag).value = 1
    b.d.wait(first, one)
    equal(select.select([fd], [], [], 0.05)[0], [])
    mine = b.d.submit(b.context, put(b.stream, write(b.data, 5)), syncs=[fd])
    word(flag2).value = 1
    equal(select.select([fd], [], [], 10)[0], [fd])
    b.d.wait(b.context, mine)


@fact("order", "markers, and syncs without a job")
def markers():
    b = Bench()
    first = b.d.submit(b.context)
    b.d.wait(b.context, first)
    context, timestamp, flag = b.blocked()
    equal(b.d.submit(b.context, syncs=[(context, timestamp)]), 0)
    equal(b.d.submit(b.context, syncs=[(context, timestamp)], flags=SYNC), 0)
    marker = b.d.submit(b.context, flags=MARKER)
    equal((marker - first, b.d.error("WAIT", b.context, marker, 20)), (1, "ETIMEDOUT"))
    word(flag).value = 1
    b.d.wait(b.context, marker)


@fact("order", "sync points of which one is wrong are none")
def bad_syncs():
    b = Bench()
    never = b.d.context(USER_TS), 1000
    timestamp = b.run(write(b.data, 1))
    for bad in ((b.context, timestamp + 5), (never[0] + 99, 1)):
        points, kept = points_of([never, bad])
        data = buffer_of(points)
        equal(b.d.error("GPU_COMMAND", 0, 0, 0, 0, 0, 0, 0, ctypes.addressof(data), 24, 2, b.context, 0), "EINVAL")
        del kept
    equal(b.d.error("GPU_COMMAND", 0, 0, 0, 0, 0, 0, 0, 64, 24, 2, b.context, 0), "EFAULT")
    equal(b.d.error("GPU_COMMAND", 0, 0, 0, 0, 0, 0, 0, 64, 24, 33, b.context, 0), "EINVAL")
    b.d.wait(b.context, b.d.submit(b.context))


@fact("order", "time stamps that the client chooses")
def user_timestamps():
    b = Bench()
    context = b.d.context(USER_TS)
    fd = b.d.fence(context, 1000)
    stream = put(b.stream, write(b.data, 5))
    equal(b.d.submit(context, stream, timestamp=500), 500)
    b.d.wait(context, 500)
    equal(select.select([fd], [], [], 0.02)[0], [])
    for bad in (500, 400, 0):
        try:
            b.d.submit(context, stream, timestamp=bad)
        except OSError as error:
            equal(error.errno, errno.ERANGE)
        else:
            raise Fact(bad)
    waiting = threading.Thread(target=b.d.wait, args=(context, 1000))
    waiting.start()
    b.d.submit(context, stream, timestamp=1001)
    waiting.join(10)
    equal((waiting.is_alive(), b.d.reached(context)), (False, 1001))
    equal(select.select([fd], [], [], 10)[0], [fd])


@fact("order", "memory is freed on a time stamp, and on a fence")
def free_on():
    b = Bench()
    context, timestamp, flag = b.blocked()
    fd = b.d.fence(context, timestamp)
    numbers = [b.d.alloc(), b.d.alloc()]
    addresses = [b.d.address(n) for n in numbers]
    mapped = [b.d.map(n) for n in numbers]
    stamp, fence = buffer_of(struct.pack("II", context, timestamp)), buffer_of(struct.pack("i", fd))
    equal(b.d.error("GPUOBJ_FREE", 1, 64, numbers[0], 1, 8, 0), "EFAULT")
    equal(b.d.error("GPUOBJ_FREE", 1, ctypes.addressof(stamp), numbers[0], 3, 8, 0), "EINVAL")
    wrong = buffer_of(struct.pack("II", context, timestamp + 5))
    equal(b.d.error("GPUOBJ_FREE", 1, ctypes.addressof(wrong), numbers[0], 1, 8, 0), "EINVAL")
    b.d.call("GPUOBJ_FREE", 1, ctypes.addressof(stamp), numbers[0], 1, 8, 0)
    b.d.call("GPUOBJ_FREE", 1, ctypes.addressof(fence), numbers[1], 2, 4, 0)
    equal(b.d.error("GPUOBJ_INFO", 0, 0, 0, 0, 0, numbers[0], 0), "EINVAL")
    for cpu in mapped:
        word(cpu).value = 3
    word(flag).value = 1
    b.d.wait(context, timestamp)
    b.d.alloc()
    equal([word(cpu).value for cpu in mapped], [0, 0])
    holds(addresses[0] != addresses[1])


@fact("order", "a context that is closed: its jobs that wait go, who waits for them goes on")
def close_context():
    b = Bench()
    context, timestamp, flag = b.blocked()
    waits = b.d.context()
    mine = b.d.submit(waits, put(b.stream, write(b.data, 5)), syncs=[(context, timestamp)])
    fd = b.d.fence(waits, mine)
    number = b.d.alloc()
    stamp = buffer_of(struct.pack("II", waits, mine))
    b.d.call("GPUOBJ_FREE", 1, ctypes.addressof(stamp), number, 1, 8, 0)
    b.d.call("DRAWCTXT_DESTROY", waits)
    equal(select.select([fd], [], [], 10)[0], [fd])
    equal(b.d.error("DRAWCTXT_DESTROY", waits), "EINVAL")
    equal(b.d.error("WAIT", waits, mine, 10), "EINVAL")
    word(flag).value = 1
    b.d.call("DRAWCTXT_DESTROY", context)  # its job runs: that ends first
    equal((word(flag + 4).value, word(b.data).value), (2, 0))


@fact("order", "the times of a job")
def profile():
    b = Bench()
    number = b.d.alloc()
    at = b.d.map(number)
    stream = put(b.stream, write(b.data, 5))
    for record in ((0, b.d.address(number), 40, 0x10, 0), (80, 0, 40, 0x10, number)):
        b.d.wait(b.context, b.d.submit(b.context, stream, flags=PROFILING, profile=record))
        seconds, _, queued, begun, ended = struct.unpack("5Q", ctypes.string_at(at + record[0], 40))
        holds(abs(seconds - time.time()) < 60 and 0 < queued <= begun <= ended, seconds, queued, begun, ended)
    for record in ((0, 0x1234, 40, 0x10, 0), (8192, 0, 40, 0x10, number), ((1 << 64) - 8, 0, 40, 0x10, number), (0, 0, 0, 0x10, 999)):
        b.d.wait(b.context, b.d.submit(b.context, stream, flags=PROFILING, profile=record))


@fact("order", "commands that are none")
def bad_commands():
    b = Bench()
    stream, size = put(b.stream, write(b.data, 5))

    def error(at=stream, size=size, count=1, cmds=None, context=b.context):
        data = buffer_of(struct.pack("QQQII", 0, at, size, 1, 0))
        return b.d.error("GPU_COMMAND", 0, cmds or ctypes.addressof(data), 32, count, 0, 0, 0, 0, 0, 0, context, 0)

    for bad in (0, 2, 1 << 22, 1 << 63, (1 << 64) - 4):
        equal(error(size=bad), "EINVAL")
    for bad in (stream + 2, 1 << 63, (1 << 64) - 4):
        equal(error(at=bad), "EINVAL")
    for bad in (100001, 0xffffffff):
        equal(error(count=bad), "EINVAL")
    for bad in (1, 64, (1 << 64) - 8, 1 << 47):
        equal(error(cmds=bad), "EFAULT")
    for bad in (0, b.context + 1, 0xffffffff):
        equal(error(context=bad), "EINVAL")
    for bad in (0, PREAMBLE, NO_GMEM):
        equal(b.d.error("DRAWCTXT_CREATE", bad, 0), "EINVAL")
    contexts = []
    while not b.d.error("DRAWCTXT_CREATE", PREAMBLE | NO_GMEM, 0):
        contexts.append(0)
        holds(len(contexts) < 10000)
    equal(b.d.error("DRAWCTXT_CREATE", PREAMBLE | NO_GMEM, 0), "ENOSPC")


# ---- virtual buffers ----

@fact("binds", "a virtual buffer reads as zeros, and as what is bound")
def virtual_buffer():
    b = Bench()
    space, child = b.d.alloc(8 * PAGE, VBO), b.d.alloc(2 * PAGE)
    at, cpu = b.d.address(space), b.d.map(child, 2 * PAGE)
    equal(b.d.call("GPUOBJ_INFO", 0, 0, 0, 0, 0, space, 0)[2:4], (8 * PAGE, 0))
    b.run(write(at + 5 * PAGE, 4))  # goes nowhere
    b.d.bind(space, (PAGE, 3 * PAGE, PAGE, child, 1), (0, 5 * PAGE, PAGE, child, 1))
    b.run(write(at + 3 * PAGE, 8), write(at + 5 * PAGE + 4, 9))
    equal((word(cpu + PAGE).value, word(cpu).value, word(cpu + 4).value), (8, 0, 9))
    b.d.call("GPUMEM_FREE_ID", child, 0)  # what is bound stays
    b.run(write(at + 3 * PAGE, 10))
    b.d.bind(space, (0, 0, 8 * PAGE, 0, 2))
    b.run(write(at + 3 * PAGE, 11))
    b.d.call("GPUMEM_FREE_ID", space, 0)


@fact("binds", "binds that are none")
def bad_binds():
    d = Device()
    space, plain, child = d.alloc(8 * PAGE, VBO), d.alloc(), d.alloc(2 * PAGE)
    for bad, why in (((0, 0, PAGE, 999, 1), "ENOENT"), ((0, 0, PAGE, 0, 1), "ENOENT"), ((0, 0, PAGE, space, 1), "EINVAL"),
                     ((0, 0, PAGE, child, 3), "EINVAL"), ((0, 0, 0, child, 1), "EINVAL"), ((0, 0, 100, child, 1), "EINVAL"),
                     ((0, 100, PAGE, child, 1), "EINVAL"), ((100, 0, PAGE, child, 1), "EINVAL"), ((0, 8 * PAGE, PAGE, child, 1), "EINVAL"),
                     ((0, 0, 3 * PAGE, child, 1), "EINVAL"), ((2 * PAGE, 0, PAGE, child, 1), "EINVAL"),
                     ((0, PAGE, (1 << 64) - PAGE, child, 1), "EINVAL"), (((1 << 64) - PAGE, 0, PAGE, child, 1), "EINVAL"),
                     ((PAGE, 0, PAGE, child, 2), "EINVAL")):
        equal(d.bind_error(space, (0, 0, PAGE, child, 1), bad), why)
    equal(d.bind_error(plain, (0, 0, PAGE, child, 1)), "EINVAL")
    equal(d.bind_error(999, (0, 0, PAGE, child, 1)), "ENOENT")
    equal(d.bind_error(space), "EINVAL")
    equal(d.error("BIND_RANGES", 64, 1, 32, space, 0, -1, 0), "EFAULT")
    equal(d.error("BIND_RANGES", 64, 0xffffffff, 32, space, 0, -1, 0), "ENOMEM")
    equal(d.error("BIND_RANGES", 64, 1, 32, space, 2, -1, 0), "EINVAL")
    equal(d.call("BIND_RANGES", 0, 1, 0, space, 0, -1, 0)[2], 32)
    fd = d.bind(space, (0, 0, PAGE, child, 1), flags=3)[5]
    equal(select.select([fd], [], [], 10)[0], [fd])
    freed = d.alloc()
    d.call("GPUMEM_FREE_ID", freed, 0)
    equal(d.bind_error(space, (0, 0, PAGE, freed, 1)), "ENOENT")


@fact("binds", "a bind in the order of the context")
def aux_command():
    b = Bench()
    space, child = b.d.alloc(4 * PAGE, VBO), b.d.alloc()
    at, cpu = b.d.address(space), b.d.map(child)
    context, timestamp, flag = b.blocked()

    def bind(target, *ranges, syncs=()):
        data = buffer_of(b"".join(struct.pack("QQQII", *r) for r in ranges))
        inner = buffer_of(struct.pack("QQQII", ctypes.addressof(data), len(ranges), 32, target, 0))
        outer = buffer_of(struct.pack("QQII", ctypes.addressof(inner), 32, 1, 0))
        points, kept = points_of(syncs)
        points = buffer_of(points)
        values = (1 | (SYNC if syncs else 0), ctypes.addressof(outer), 24, 1, ctypes.addressof(points), 24, len(syncs), b.context, 0)
        del kept[len(syncs):]
        return b.d.call("AUX_COMMAND", *values)[-1]

    first = bind(space, (0, PAGE, PAGE, child, 1), syncs=[(context, timestamp)])
    second = b.d.submit(b.context, put(b.stream, write(at + PAGE, 6)))
    time.sleep(0.03)
    equal((second - first, b.d.reached(b.context), word(cpu).value), (1, first - 1, 0))
    word(flag).value = 1
    b.d.wait(b.context, second)
    equal(word(cpu).value, 6)
    for bad in (child, 999):
        try:
            bind(bad, (0, PAGE, PAGE, child, 1))
        except OSError as error:
            holds(error.errno in (errno.EINVAL, errno.ENOENT))
        else:
            raise Fact(bad)
    equal(b.d.error("AUX_COMMAND", 1, 64, 24, 1, 0, 0, 0, b.context, 0), "EFAULT")
    equal(b.d.error("AUX_COMMAND", 1, 64, 24, 2, 0, 0, 0, b.context, 0), "EINVAL")
    equal(b.d.error("AUX_COMMAND", 0, 64, 24, 1, 0, 0, 0, b.context, 0), "EINVAL")
    b.d.wait(b.context, b.d.submit(b.context))


# ---- hangs ----

def reset_status(d, context):
    value = ctypes.c_uint32(context)
    d.call("GETPROPERTY", 9, 0, ctypes.addressof(value), 4)
    return value.value


def check_hang(*packets):
    b = Bench()
    innocent, other = b.d.context(), Bench()
    equal([reset_status(b.d, c) for c in (b.context, innocent)], [0, 0])
    gate = b.data + 512
    hung = b.d.submit(b.context, put(b.stream, wait_for(gate, 1), *packets))
    queued = b.d.submit(b.context, put(b.stream + 1024, write(b.data, 1)))
    fd = b.d.fence(b.context, queued)
    mine = b.d.submit(innocent, put(b.stream + 2048, write(b.data + 4, 2)))
    theirs = other.d.submit(other.context, put(other.stream, write(other.data, 3)))
    word(gate).value = 1
    b.d.wait(innocent, mine)
    other.d.wait(other.context, theirs)
    equal((word(b.data + 4).value, word(other.data).value), (2, 3))
    equal(select.select([fd], [], [], 10)[0], [fd])
    equal(b.d.error("WAIT", b.context, hung, 10000), "EDEADLK")
    equal(word(b.data).value, 0)  # a context that hung runs nothing more
    equal(b.d.error("GPU_COMMAND", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b.context, 0), "EDEADLK")
    equal(b.d.error("TIMESTAMP_EVENT", 2, hung, b.context, 0, ctypes.addressof(ctypes.c_int()), 4), "EDEADLK")
    equal([reset_status(b.d, c) for c in (b.context, innocent)], [1, 2])
    equal([reset_status(b.d, c) for c in (b.context, innocent)], [0, 0])
    equal(reset_status(other.d, other.context), 2)
    b.d.call("DRAWCTXT_DESTROY", b.context)
    fresh = b.d.context()
    equal(reset_status(b.d, fresh), 0)
    b.run(write(b.data, 9), context=fresh)
    equal(word(b.data).value, 9)


@fact("hang", "a bad packet: guilty is whose it was, and EDEADLK")
def bad_packet():
    check_hang(*BAD)


@fact("hang", "a wait that nothing ends: the same")
def endless_wait():
    memory = buffer_of(bytes(64))
    check_hang(wait_for(ctypes.addressof(memory) + 15 & ~15, 1))


@fact("hang", "memory that is unmapped while a job waits for it: the same")
def unmapped():
    b = Bench()
    memory = libc.mmap(None, PAGE, 3, 0x22, -1, 0)
    timestamp = b.d.submit(b.context, put(b.stream, wait_for(memory, 1)))
    time.sleep(0.05)
    libc.munmap(memory, PAGE)
    equal(b.d.error("WAIT", b.context, timestamp, 10000), "EDEADLK")


# ---- ioctls ----

@fact("ioctls", "sizes are as long as both know, unknown numbers are ENOTTY, pointers to nothing EFAULT")
def bad_ioctls():
    d = Device()
    b = Bench()
    equal(d.raw(3 << 30 | 16 << 16 | 9 << 8 | 0x60, ctypes.addressof(buffer_of(bytes(64)))), "ENOTTY")
    equal(d.raw(3 << 30 | 16 << 16 | 9 << 8 | 0x00, ctypes.addressof(buffer_of(bytes(64)))), "ENOTTY")
    for at in (0, 1, 64, 0xdead0000, 1 << 63, (1 << 64) - 16):
        equal(d.raw(request("GPUOBJ_ALLOC"), at), "EFAULT")
        equal(d.raw(request("WAIT"), at), "EFAULT")
    long = buffer_of(struct.pack("QQQQIIQQ", PAGE, 0, 0, 0, 0, 0, 0, 77) + bytes(64))
    equal(d.raw(request("GPUOBJ_ALLOC", 120), ctypes.addressof(long)), 0)
    equal(struct.unpack("QQQQIIQQ", long.raw[:56])[-1], 77)
    short = buffer_of(struct.pack("QQQQIIQ", PAGE, 0, 0, 0, 0, 0xffffffff, 64))
    equal(d.raw(request("GPUOBJ_ALLOC", 36), ctypes.addressof(short)), 0)
    holds(struct.unpack("QQQQIIQ", short.raw[:48])[4] != 0)
    equal(d.raw(request("GPUOBJ_ALLOC", 0), 0), "EINVAL")
    equal(d.raw(request("GPUOBJ_INFO", group=ord("d")), ctypes.addressof(long)), "ENOTTY")
    fd = os.open("/dev/null", os.O_RDWR)
    try:
        fcntl.ioctl(fd, request("GPUOBJ_INFO"), bytearray(48))
    except OSError as error:
        equal(error.errno, errno.ENOTTY)
    try:
        fd = os.open("/dev/dri/renderD128", os.O_RDWR)
        fcntl.ioctl(fd, request("GPUOBJ_INFO"), bytearray(48))
    except OSError as error:
        holds(error.errno in (errno.ENOENT, errno.ENOTTY))
    b.run(write(b.data, 1))


@fact("ioctls", "every number with any bytes is an answer")
def any_ioctl():
    d = Device()
    b = Bench()
    seed = 1
    for i in range(6000):
        number, way, form = list(IOCTLS.values())[i % len(IOCTLS)]
        words = []
        for _ in range(40):
            seed = seed * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            choice, value = seed >> 56, seed >> 20 & 0xffffffff
            words.append(value if choice < 30 else 0xffffffff if choice < 50 else 1 << (value & 31) if choice < 90 else value & 7)
        if number == 0x07:  # a wait has its time
            words[2] = 1
        data = struct.pack("40I", *words)[:struct.calcsize(form)]
        try:
            fcntl.ioctl(d.fd, way << 30 | len(data) << 16 | 9 << 8 | number, bytearray(data))
        except OSError as error:
            holds(error.errno in (errno.EINVAL, errno.EFAULT, errno.ENODEV, errno.EOPNOTSUPP, errno.ENOMEM, errno.ENOENT, errno.ENOSPC,
                                  errno.EBADF, errno.ETIMEDOUT, errno.ERANGE, errno.EDEADLK), number, error)
    d.close()
    b.run(write(b.data, 1))


# ---- processes ----

@fact("processes", "a forked child has pointers of its own, and the GPU the memory of the parent")
def forked():
    b = Bench()
    value = ctypes.c_uint32(0)
    at = ctypes.addressof(value)

    def child():
        value.value = 1
        stream = put(b.stream, write(at, 44))
        timestamp = b.d.submit(b.context, stream)
        b.d.wait(b.context, timestamp)
        equal(value.value, 1)
        mine = Bench()
        mine.run(write(at, 55))
        equal(value.value, 55)
        memory = libc.mmap(None, PAGE, 3, 0x22, -1, 0)
        equal(b.d.error("MAP_USER_MEM", 0, 0, 0, PAGE, 0, memory, 2, 0), "EFAULT")
        fd = b.d.fence(b.context, timestamp)
        equal(select.select([fd], [], [], 10)[0], [fd])
        b.d.wait(b.context, b.d.submit(b.context, syncs=[fd]))

    holds(in_child(child))
    equal(value.value, 44)


@fact("processes", "a program behind exec() goes on with the node, and with none of the memory")
def executed():
    b = Bench()
    os.set_inheritable(b.d.fd, True)
    sys.stdout.flush()
    value = ctypes.c_uint32(0)
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, __file__, "after-exec", str(b.d.fd), str(b.context), str(ctypes.addressof(value))])
    equal(os.waitpid(pid, 0)[1], 0)
    equal(value.value, 66)
    b.run(write(b.data, 1))


def after_exec(fd, context, address):
    d = Device.__new__(Device)
    d.fd = fd
    number = d.alloc()
    at = d.map(number)
    d.wait(context, d.submit(context, (d.address(number), put(at, write(address, 66))[1])))


@fact("processes", "a child that opened the node and is killed, while its job waits, or does exec()")
def killed():
    b = Bench()
    for ends in ("kill", "exec"):
        ready, tell = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            mine = Bench()
            memory = buffer_of(bytes(64))
            mine.d.submit(mine.context, put(mine.stream, wait_for(ctypes.addressof(memory) + 15 & ~15, 1)))
            for _ in range(50):
                mine.d.submit(mine.context, put(mine.stream + 1024, write(mine.data, 1)), syncs=[(mine.context, 1)])
            os.write(tell, b"1")
            if ends == "exec":
                os.execv("/bin/true", ["true"])
            signal.pause()
        os.read(ready, 1)
        if ends == "kill":
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        b.run(write(b.data, 1))
    equal(word(b.data).value, 1)


@fact("processes", "two processes at once")
def two_processes():
    ready, tell = os.pipe()
    go, start = os.pipe()

    def work(seed):
        mine = Bench()
        for i in range(300):
            mine.run(write(mine.data, seed + i))
            equal(word(mine.data).value, seed + i)

    def child():
        os.write(tell, b"1")
        os.read(go, 1)
        work(1000)

    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            child()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.read(ready, 1)
    os.write(start, b"1")
    work(5000)
    equal(os.waitpid(pid, 0)[1], 0)


# ---- hostility ----

@fact("hostile", "a client that spoils the node's head, holes and mappings harms only itself")
def spoiled_node():
    good = Bench()
    for spoil in (b"\0" * 64, b"cpscope kgsl-3d\0" + b"\xff" * 16, b"cpscope device\n\0" + bytes(16)):
        def child(bytes_=spoil):
            b = Bench()
            os.pwrite(b.d.fd, bytes_, 0)
            b.run(write(b.data, 1))
            other = os.open(f"/proc/self/fd/{b.d.fd}", os.O_RDWR)
            try:
                fcntl.ioctl(other, request("DRAWCTXT_CREATE"), bytearray(struct.pack("II", 0x12, 0)))
            except OSError:
                pass
            timestamp = b.d.submit(b.context, put(b.stream, wait_for(b.data, 77)))
            libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
            equal(libc.fallocate(b.d.fd, 3, 0, 1 << 44), 0)
            try:
                os.ftruncate(b.d.fd, 0)
                raise Fact("the node was cut")
            except OSError:
                pass
            libc.munmap(b.stream, 2 * PAGE)
            b.d.error("WAIT", b.context, timestamp, 10000)
            number = b.d.alloc()
            os.dup2(os.open("/dev/null", os.O_RDWR), b.d.fd)
            holds(number)
        holds(in_child(child))
        good.run(write(good.data, 2))


@fact("hostile", "a page table of somebody else is not reached by a packet")
def other_context():
    b, victim = Bench(), Bench()
    number = victim.d.alloc()
    at, cpu = victim.d.address(number), victim.d.map(number)
    mine = b.d.alloc()
    equal(b.d.address(mine), at)
    for context in range(1, 9):
        fresh = b.d.context()
        table = packet(0x53, context << 12, 0, 0, 0)
        timestamp = b.d.submit(fresh, put(b.stream, table, write(at, 0x666)))
        b.d.error("WAIT", fresh, timestamp, 10000)
    equal(word(cpu).value, 0)


def main(arguments):
    if arguments[0] == "after-exec":
        return after_exec(*(int(a) for a in arguments[1:]))
    if arguments[0] == "jobs":
        b = Bench()
        count = int(arguments[1])
        start = time.monotonic()
        for i in range(count):
            b.run(write(b.data, i))
        print(f"{count / (time.monotonic() - start):.0f} jobs a second")
        return word(b.data).value != count - 1
    failed = False
    for group in arguments:
        for name, function in GROUPS[group]:
            try:
                function()
                print(f"ok - {name}", flush=True)
            except Exception:
                failed = True
                print(f"# {traceback.format_exc()!r}\nnot ok - {name}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

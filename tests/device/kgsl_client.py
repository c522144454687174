#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of KGSL, written from what msm_kgsl.h says of each ioctl and from nothing of ours: numbers, layouts and errors are
stated here once more. The device's library answers open() and ioctl(); mmap() is the system's own.

Usage: kgsl_client.py GROUP...   checks the facts of these groups, and prints one line for each
       kgsl_client.py jobs COUNT prints how many jobs a second run one after the other"""
import ctypes
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import threading
import time
import traceback

import kgsl_memory  # noqa: F401 its facts
from kgsl_bench import (
    BAD, Bench, buffer_of, Device, equal, Fact, fact, GROUPS, holds, in_child, IOCTLS, libc, MARKER, NO_GMEM, packet, PAGE,
    points_of, PREAMBLE, PROFILING, put, request, SYNC, USER_TS, wait_for, word, write)


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


@fact("order", "a word that the host stores while the job runs to its wait for it")
def wait_and_store():
    b = Bench()
    for i in range(1, 301):
        timestamp = b.d.submit(b.context, put(b.stream, wait_for(b.data + 32, 0), wait_for(b.data, i)))
        end = time.monotonic() + i % 100 / 50000
        while time.monotonic() < end:
            pass
        ctypes.c_uint32.from_address(b.data).value = i
        b.d.wait(b.context, timestamp)


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

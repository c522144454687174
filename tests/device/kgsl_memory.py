# SPDX-License-Identifier: MIT
"""Facts about memory of KGSL: kgsl_client.py runs them."""
import ctypes
import errno
import fcntl
import mmap
import os
import select
import struct
import time

from kgsl_bench import (
    Bench, buffer_of, CACHED, Device, equal, Fact, fact, GPU_READONLY, holds, libc, PAGE, points_of, put, request, SECURE,
    SYNC, USE_CPU_MAP, VBO, word, write)


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

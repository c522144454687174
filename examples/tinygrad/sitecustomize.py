# SPDX-License-Identifier: MIT
"""Lets tinygrad's QCOM backend compile for the plugin host_compute (docs/launch.md).

Python imports a module of this name by itself if its folder is in PYTHONPATH. It stands in for one
module of tinygrad, the interface to Qualcomm's compiler. The class here compiles the OpenCL C of a
kernel by clang to a shared object in the folder that CPSCOPE_KERNELS names, adds a line to the table
there, and returns a binary in the layout that tinygrad reads: its code is the hash of the source, by
which the plugin finds the object."""

import hashlib
import os
import platform
import re
import struct
import subprocess
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "tinygrad.runtime.support.compiler_qcom"

# Bytes of the types of OpenCL C.
SIZES = {"char": 1, "uchar": 1, "bool": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8}
CODE = 128  # bytes of the code: the unit of SP_CS_INSTR_SIZE
DESCRIPTORS = 2048 // 4  # the constant that tinygrad has the first descriptor of an image in
BUFFER, TEXTURE, STORED = 0, 1, 2  # kinds of arguments in the binary


class Argument:
    """A parameter of a kernel, such as `__global float* data0_16` or `const int n`."""

    def __init__(self, text):
        words, self.name = text.replace("*", " * ").rsplit(None, 1)
        words = words.split()
        self.image = "image2d_t" in words
        self.kind = BUFFER if not self.image else STORED if "write_only" in words else TEXTURE
        self.pointer = "*" in words
        self.type = next((word for word in words if word in SIZES), "")
        self.constant = 0
        if not self.image and not self.type:
            raise RuntimeError(f"unknown type of an argument: {text}")

    def size(self):
        """Bytes: tinygrad ends the name with the numbers of elements."""
        elements = 1
        for number in re.findall(r"_(\d+)", self.name):
            elements *= int(number)
        return elements * SIZES[self.type]

    def row(self):
        kind = "IMAGE" if self.image else "BUFFER" if self.pointer else "VALUE"
        return f"{{{kind}, {self.constant}, {self.size() if self.pointer else 0}}}"

    def declaration(self):
        kinds = {"char": "signed char", "uchar": "uint8_t", "ushort": "uint16_t", "uint": "uint32_t", "ulong": "uint64_t"}
        return "void *" if self.image or self.pointer else kinds.get(self.type, self.type)

    def value(self, index):
        if self.image or self.pointer:
            return f"memory[{index}]"
        return f"*(const {self.declaration()} *)(constants + {self.constant})"


def read_arguments(source):
    """The name of the kernel, and its arguments with the constants that they get."""
    match = re.search(r"__kernel\s+void\s+(\w+)\s*\(([^)]*)\)", source)
    if not match:
        raise RuntimeError("no kernel in the source")
    arguments = [Argument(text) for text in match[2].split(",") if text.strip()]
    images = [a for a in arguments if a.kind == STORED] + [a for a in arguments if a.kind == TEXTURE]
    for index, argument in enumerate(images):
        argument.constant = DESCRIPTORS + 16 * index
    for index, argument in enumerate(a for a in arguments if not a.image):
        argument.constant = 2 * index
    return match[1], arguments


def write_wrapper(name, symbol, arguments, barriers):
    rows = ", ".join(a.row() for a in arguments) or "{VALUE, 0, 0}"
    return f"""#define IMAGES {int(any(a.image for a in arguments))}
#include "{HERE}/group.h"
void {name}({", ".join(a.declaration() for a in arguments) or "void"});
static void call(void *const *memory, const uint32_t *constants)
{{
    (void)memory, (void)constants;
    {name}({", ".join(a.value(i) for i, a in enumerate(arguments))});
}}
host_kernel {symbol};
const char *{symbol}(const struct host_group *of)
{{
    static const struct argument argument[] = {{{rows}}};
    return run_group(of, argument, {len(arguments)}, call, {str(barriers).lower()});
}}
"""


def hash_bytes(data):
    """FNV-1a of 64 bits, as the plugin computes it."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def pack_binary(name, code, arguments):
    """The parts of the binary that QCOMProgram._parse_lib() reads."""
    registers, description, samplers = 0x120, 0x140, int(any(a.kind == TEXTURE for a in arguments))
    rows = (description + 0x158 + len(name) + 3) // 4 * 4 + 8 * samplers
    image = rows + 32 * (len(arguments) + 1)
    binary = bytearray(image) + code
    for offset, value in {0x34: registers, registers + 0x14: 1, registers + 0x18: 1, 0xC0: image, 0x100: len(code), 0x110: description,
                          description + 0xDC: samplers}.items():
        struct.pack_into("<I", binary, offset, value)
    for index, argument in enumerate(arguments):
        struct.pack_into("<8I", binary, rows + 32 * index, 32, 0, 0, argument.constant, 0, 0, 0, argument.kind)
    return bytes(binary)


class QCOMCompiler:
    """In the place of tinygrad's class of this name."""

    cachekey = None

    def __init__(self, arch):
        self.arch, self.done = arch, {}
        self.folder = os.path.abspath(os.environ["CPSCOPE_KERNELS"])

    def __reduce__(self):
        return QCOMCompiler, (self.arch,)

    def compile(self, source):
        digest = hashlib.sha256(source.encode()).digest()
        name, arguments = read_arguments(source)
        code = (digest * 4)[:CODE]
        symbol = "kernel_" + digest.hex()
        path = os.path.join(self.folder, symbol)
        if not os.path.exists(path + ".so"):
            own = f"{path}.{os.getpid()}"
            with open(own + ".cl", "w") as file:
                file.write(source)
            with open(own + ".c", "w") as file:
                file.write(write_wrapper(name, symbol, arguments, "barrier(" in source))
            half = ["-mf16c"] if platform.machine() == "x86_64" and ("image2d_t" in source or "half" in source) else []
            made = subprocess.run(["clang", "-O2", *half, "-fPIC", "-shared", "-Wl,-z,defs", "-o", own + ".so",
                                   "-x", "cl", own + ".cl", "-x", "c", own + ".c", "-lm"], capture_output=True, text=True)
            if made.returncode:
                raise RuntimeError(f"{own}.cl: {made.stderr}")
            for end in [".cl", ".c"]:
                os.rename(own + end, path + end)
            os.rename(own + ".so", path + ".so")
        line = f"object {path}.so\ncode {CODE} 0x{hash_bytes(code):016x} {symbol}\n"
        with open(os.path.join(self.folder, "table"), "a") as file:
            file.write(line)
        return pack_binary(name, code, arguments)

    def compile_cached(self, source):
        if source not in self.done:
            self.done[source] = self.compile(source)
        return self.done[source]

    def disassemble(self, binary):
        pass


if "CPSCOPE_KERNELS" in os.environ:
    module = types.ModuleType(NAME)
    module.QCOMCompiler = QCOMCompiler
    QCOMCompiler.__module__ = NAME
    sys.modules[NAME] = module

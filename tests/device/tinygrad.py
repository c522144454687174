#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tinygrad's QCOM backend, unmodified, computes on the virtual device: its kernels are compiled for this machine by
examples/tinygrad, and the plugin host_compute runs them. Skipped without $CPSCOPE_TINYGRAD, the folder of tinygrad's sources.

Usage: tinygrad.py CPSCOPE HOST_COMPUTE.so"""
import os
import shutil
import subprocess
import sys
import tempfile

import tap

CPSCOPE, PLUGIN = (os.path.abspath(path) for path in sys.argv[1:3])
CORPUS, TINYGRAD = os.environ.get("CPSCOPE_CORPUS"), os.environ.get("CPSCOPE_TINYGRAD")
GLUE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "tinygrad")
FIRMWARE = ("a630_sqe-187.fw", "a630_sqe-190.fw", "a630_sqe-207.fw")
# Whole numbers below 2^24: the results are exact in any order.
PROGRAM = """
from tinygrad import Tensor, TinyJit, Variable
def report(name, got, expected):
    print(name if got == expected else f"{name}: {got}, expected {expected}")
report("add", (Tensor([1.0, 2.0, 3.0]) + 1).tolist(), [2, 3, 4])
report("sum", Tensor.arange(4096).reshape(2, 2048).float().sum(1).tolist(), [sum(range(2048)), sum(range(2048, 4096))])
a = [[(3 * i + 5 * j) % 7 for j in range(64)] for i in range(64)]
product = [[sum(a[i][k] * a[j][k] for k in range(64)) for j in range(64)] for i in range(64)]
report("product", (Tensor(a).float() @ Tensor(a).float().T).int().tolist(), product)
jit = TinyJit(lambda x: ((x + 1).contiguous() * 2).realize())
report("jit", [jit(Tensor([i, 2 * i]).realize()).tolist() for i in range(6)], [[2 * i + 2, 4 * i + 2] for i in range(6)])
ones = Tensor.ones(10).contiguous().realize()
report("variable", [int((ones[:Variable("n", 1, 10).bind(n)] * n).sum().item()) for n in (3, 7)], [9, 49])
image = Tensor(a).reshape(1, 4, 32, 32).float()
whole = image.conv2d(Tensor.ones(8, 4, 3, 3), padding=1).sum().item()
weight = lambda i: 2 if i in (0, 31) else 3
flat = [value for row in a for value in row]
report("convolution", whole, 8 * sum(value * weight(n // 32 % 32) * weight(n % 32) for n, value in enumerate(flat)))
"""
RESULTS = ["add", "sum", "product", "jit", "variable", "convolution"]


def check(firmware, name, **more):
    with tempfile.TemporaryDirectory(prefix="cps-", dir="/tmp") as folder:
        open(os.path.join(folder, "table"), "w", encoding="utf-8").close()
        env = {**os.environ, "XDG_RUNTIME_DIR": folder, "PYTHONPATH": GLUE + ":" + TINYGRAD, "PYTHONDONTWRITEBYTECODE": "1", "DEV": "QCOM",
               "CPSCOPE_KERNELS": folder, "CACHEDB": os.path.join(folder, "cache"), **more}
        done = subprocess.run([CPSCOPE, "device", "-q", "--kgsl", "--chip", "a630", "--fw", firmware, "--launch", PLUGIN + ":" + folder + "/table",
                               "--", sys.executable, "-c", PROGRAM], env=env, text=True, timeout=280, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    tap.report(name, done.returncode == 0 and done.stdout.split("\n")[:-1] == RESULTS and " 0 dispatches skipped" in done.stderr, done)


for file in FIRMWARE:
    path = os.path.join(CORPUS or "", "firmware", file)
    if not TINYGRAD or not os.path.exists(path) or not shutil.which("clang"):
        tap.skip(file + ": tinygrad", "no CPSCOPE_TINYGRAD, CPSCOPE_CORPUS or clang")
        continue
    check(path, file + ": tinygrad computes on buffers")
    check(path, file + ": and on images of floats", IMAGE="1")
    check(path, file + ": and of halves", IMAGE="1", FLOAT16="1")
tap.plan()

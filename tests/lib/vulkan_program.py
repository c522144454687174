# SPDX-License-Identifier: MIT
"""Builds the Vulkan program of tests/device for clients of arm64."""
import os
import subprocess

import real_client
from real_client import ROOT

COMPILER = "aarch64-linux-gnu-gcc"
HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "device")


def headers():
    return next((path for path in (os.path.join(ROOT, "usr/include"), "/usr/include") if os.path.exists(path + "/vulkan/vulkan.h")), None)


def missing():
    """What cannot be found of what it needs, as a sentence; empty: nothing."""
    why = real_client.missing(COMPILER)
    return why if why or headers() else "no headers of Vulkan: tools/client.sh --headers"


def build(folder):
    """The program of tests/device/vulkan.h, for arm64."""
    # The headers alone: those of C are the compiler's.
    os.makedirs(os.path.join(folder, "include"))
    for name in ("vulkan", "vk_video"):
        if os.path.exists(os.path.join(headers(), name)):
            os.symlink(os.path.join(headers(), name), os.path.join(folder, "include", name))
    program = os.path.join(folder, "vulkan")
    subprocess.run([COMPILER, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-isystem", os.path.join(folder, "include"),
                    *(os.path.join(HERE, name) for name in ("vulkan.c", "vulkan_copy.c", "vulkan_sync.c", "vulkan_draw.c")), "-o", program,
                    os.path.join(ROOT, "usr/lib/aarch64-linux-gnu/libvulkan.so.1"), "-Wl,--allow-shlib-undefined"], check=True)
    return program

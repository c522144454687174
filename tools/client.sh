#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes a folder with arm64 programs for `cpscope device --root DIR`: Mesa, vulkan-tools, vkmark and mesa-utils of Debian,
# and the library that clients of the virtual device preload. They run through qemu-user.
# No root, no chroot; what a run did not finish, the next one does. As root it installs qemu and the compiler, if they are missing.
# Then firmware.sh fetches the firmware, if there is none.
#
# usage: tools/client.sh [--suite SUITE] [--piglit] [--headers] [--mirror URL] DIR
#   --suite   release of Debian; default: sid, or else trixie
#   --piglit  its tests, too (2 GB more)
#   --headers the headers of Vulkan, too, which the test 'device vulkan' needs
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/apt.sh
. "$here/apt.sh"

suites="sid trixie"
packages="mesa-vulkan-drivers libgl1-mesa-dri libegl1 libgles2 libgl1 vulkan-tools vkmark mesa-utils"
least_mesa=25
dir=
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suites=${2:?"--suite needs a name"} && shift ;;
    --mirror) mirror=${2:?"--mirror needs a URL"} && shift ;;
    --piglit) packages="$packages piglit" ;;
    --headers) packages="$packages libvulkan-dev" ;;
    -h | --help) sed -n '3,11s/^# \{0,1\}//p' "$0" && exit ;;
    -*) fail "$1: unknown option" ;;
    *)
        [ -z "$dir" ] || fail "$1: one folder only"
        dir=$1
        ;;
    esac
    shift
done
[ -n "$dir" ] || fail "name the folder to make: tools/client.sh DIR"

compiler=aarch64-linux-gnu-gcc
[ "$(id -u)" != 0 ] || "$here/setup.sh" client
if [ "$(uname -m)" = aarch64 ]; then
    compiler=cc
else
    command -v qemu-aarch64-static >/dev/null || need qemu-aarch64 qemu-user-static
    need "$compiler" gcc-aarch64-linux-gnu
    echo '#include <stdint.h>' | "$compiler" -E - >/dev/null 2>&1 || fail "no headers of arm64, they are in the package libc6-dev-arm64-cross"
fi

# The distribution keeps all of it below usr since 2023, and the links are of a package's script.
link_usr() {
    for name in bin sbin lib; do
        mkdir -p "$dir/usr/$name"
        if [ -d "$dir/$name" ] && [ ! -L "$dir/$name" ]; then
            cp -a "$dir/$name/." "$dir/usr/$name/"
            rm -r "${dir:?}/$name"
        fi
        ln -sfn "usr/$name" "$dir/$name"
    done
}

fetch_packages() {
    prepare_apt "$dir/.apt" arm64 main
    suite=$(find_suite "$suites") || fail "$mirror: $(explain_apt)"
    mesa=$(apt-cache -c "$apt_dir/apt.conf" show mesa-vulkan-drivers 2>/dev/null | sed -n 's/^Version: \([0-9]*:\)\{0,1\}//p' | head -n 1)
    [ "${mesa%%.*}" -ge "$least_mesa" ] 2>/dev/null || fail "$suite has Mesa ${mesa:-of no version}, expected $least_mesa or newer: --suite"
    echo "fetching $packages of $suite" >&2
    # shellcheck disable=SC2086 # the list is meant to split
    run_apt apt-get install -y --download-only $packages || fail "$suite: $(explain_apt)"
}

unpack_packages() {
    for package in "$apt_dir"/archives/*.deb; do
        [ -e "$package.done" ] && continue
        dpkg-deb -x "$package" "$dir" || fail "$package: cannot unpack it"
        : >"$package.done"
    done
    link_usr
    # The packages stay on the mirror.
    rm -f "$apt_dir"/archives/*.deb "$apt_dir"/archives/*.done
}

mkdir -p "$dir" || fail "$dir: cannot create it"
dir=$(cd "$dir" && pwd)
wanted="$suites $packages"
if [ "$(cat "$dir/.apt/complete" 2>/dev/null)" != "$wanted" ]; then
    fetch_packages
    link_usr
    unpack_packages
    echo "$wanted" >"$dir/.apt/complete"
    echo "$mesa" >"$dir/.apt/mesa"
fi

mkdir -p "$dir/usr/lib/cpscope"
cd "$here/.."
"$compiler" -shared -fPIC -O2 -fvisibility=hidden -I. -o "$dir/usr/lib/cpscope/libcpscope-client.so" \
    tools/device/client/link.c tools/device/client/node.c tools/device/client/path.c tools/device/ioctl.c -pthread -ldl ||
    fail "the client library does not build"
echo "arm64 programs with Mesa $(cat "$dir/.apt/mesa") in $dir"
[ -e /lib/firmware/qcom/gen70900_sqe.fw ] || [ -e "${XDG_CACHE_HOME:-${HOME:-}/.cache}/cpscope/firmware/version" ] ||
    "$here/firmware.sh"

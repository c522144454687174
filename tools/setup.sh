#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what building needs on Debian 12; with "ci" also what the checks need; with "client" only what tools/client.sh
# needs. Does nothing where all of it is there.
set -eu

packages="gcc libc6-dev meson ninja-build pkg-config zlib1g-dev libzstd-dev liblzma-dev nettle-dev
libedit-dev libelf-dev libexpat1-dev libncurses-dev libjson-c-dev libcmocka-dev
libz3-dev libsqlite3-dev"
if [ "${1:-}" = ci ]; then
    packages="$packages clang libclang-rt-14-dev clang-format git python3
binutils elfutils lcov parallel munge slurm-wlm chromium chromium-driver tmux valgrind vim"
fi
[ "${1:-}" = client ] && packages="qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross ca-certificates debian-archive-keyring"

if ! command -v dpkg-query >/dev/null; then
    echo "tools/setup.sh: no dpkg here; what it would install:" "$packages" >&2
    exit 0
fi

missing=""
for package in $packages; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo env DEBIAN_FRONTEND=noninteractive"
export DEBIAN_FRONTEND=noninteractive
echo "installing:$missing" >&2
$sudo apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to split
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null

#!/bin/sh
# SPDX-License-Identifier: MIT
# Sets everything up and builds into build/; run by demo.sh and test.sh.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh
[ -f build/build.ninja ] || meson setup build >/dev/null
ninja -C build --quiet >&2 # stdout belongs to the caller

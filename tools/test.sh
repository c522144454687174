#!/bin/sh
# SPDX-License-Identifier: MIT
# From nothing to tests: sets up, builds, and runs the everyday tests, or those that the arguments of `meson test` select.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh
[ $# -gt 0 ] || set -- --suite everyday
status=0
meson test -C build --print-errorlogs "$@" || status=$?
[ "$*" != "--suite everyday" ] ||
    echo "These were the everyday tests. 'tools/test.sh --no-suite long' runs those of .ci/run; .ci/long runs the rest."
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# From nothing to the everyday tests: sets up, builds, and runs them.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh
status=0
meson test -C build --print-errorlogs --suite everyday "$@" || status=$?
echo "These were the everyday tests. meson test -C build --no-suite long runs those of .ci/run, too; .ci/long runs the rest."
exit "$status"

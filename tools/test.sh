#!/bin/sh
# SPDX-License-Identifier: MIT
# From nothing to all tests: sets up, builds, and runs them.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh
exec meson test -C build --print-errorlogs "$@"

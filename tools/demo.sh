#!/bin/sh
# SPDX-License-Identifier: MIT
# From nothing to the main job: sets up, builds, and traces the built-in demo.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh
exec build/tools/cpscope run --demo --events submit,pkt,reg,memw,end "$@"

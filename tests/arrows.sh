#!/bin/sh
# SPDX-License-Identifier: MIT
# The arrows of the house: fails on an #include that runs back.
set -eu
cd "$1"
status=0

# check ROOM FORBIDDEN: no file of the room may include a header of the forbidden rooms.
check()
{
    bad=$(grep -nE "^#include \"(\.\./)?($2)/" "$1"/*.c "$1"/*.h "$1"/*.def 2>/dev/null || true)
    if [ -n "$bad" ]; then
        echo "$1/ must not include $2:"
        echo "$bad"
        status=1
    fi
}

check isa "fw|trace|emu|tools|tests"
check trace "fw|emu|tools|tests"
check fw "trace|emu|tools|tests"
check emu "fw|tools|tests"
bad=$(grep -nE '^#include "(\.\./)?trace/' emu/*.c emu/*.h | grep -v 'trace/event\.' || true)
if [ -n "$bad" ]; then
    echo "emu/ may include of trace/ only event.h and event.def:"
    echo "$bad"
    status=1
fi
exit $status

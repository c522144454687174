#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares what a command prints with a golden file; with REBASE=1 in the environment it shows the
# difference and then writes it. Usage: golden.sh GOLDEN COMMAND...
set -eu
golden=$1
shift
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
"$@" >"$scratch" 2>/dev/null
if diff -u "$golden" "$scratch"; then
    exit 0
fi
[ -n "${REBASE:-}" ] || exit 1
cp "$scratch" "$golden"

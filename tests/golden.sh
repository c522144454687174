#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the trace of the built-in demo with its golden; --rebase shows the difference and
# then writes it. Usage: golden.sh CPSCOPE GOLDEN [--rebase]
set -eu
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
"$1" run --demo -o "$scratch" 2>/dev/null
if diff -u "$2" "$scratch"; then
    exit 0
fi
[ "${3:-}" = --rebase ] || exit 1
cp "$scratch" "$2"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares what a command prints with a golden file. A difference is shown and fails; REBASE=confirmed, or the file's name
# (without folder) among the words of REBASE, then writes it: tests/lib/rebase.py. Usage: golden.sh GOLDEN COMMAND...
set -eu
golden=$1
shift
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
"$@" >"$scratch" 2>/dev/null
if diff -u "$golden" "$scratch"; then
    exit 0
fi
name=$(basename "$golden")
case " ${REBASE:-} " in
" confirmed " | *" $name "*) cp "$scratch" "$golden" ;;
*)
    echo "If the new text is right, and why is known: REBASE=\"$name\" writes it, REBASE=confirmed all that differ."
    exit 1
    ;;
esac

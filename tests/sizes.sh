#!/bin/sh
# SPDX-License-Identifier: MIT
# The yardstick: sizes of files and functions. Fails on a product file over 600 lines or a function
# over 80; the interpreter's loop (emu/afuc_body.h) is the one exception.
set -eu
cd "$1"
files=$(ls isa/*.c isa/*/*.c fw/*.c trace/*.c emu/*.c tools/*.c)

# shellcheck disable=SC2086 # a list of files
wc -l $files | grep -v total | sort -n | awk '
    { line[NR] = $1; name[NR] = $2 }
    END {
        printf "files %d, median %d lines, longest %d (%s)\n", NR, line[int((NR + 1) / 2)], line[NR], name[NR]
        exit line[NR] > 600
    }'

# A function starts at a "{" in column 0 and ends at a "}" there.
# shellcheck disable=SC2086
awk 'FNR == 1 { from = 0 } /^\{/ { from = FNR } /^\}$/ && from { print FNR - from - 1, FILENAME ":" from; from = 0 }' $files |
    sort -n | awk '
    { line[NR] = $1; place[NR] = $2 }
    END {
        printf "functions %d, median %d, p90 %d, longest %d (%s)\n", NR, line[int((NR + 1) / 2)], line[int(NR * 0.9)], line[NR], place[NR]
        exit line[NR] > 80
    }'

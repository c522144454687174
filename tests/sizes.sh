#!/bin/sh
# SPDX-License-Identifier: MIT
# The yardstick: fails on a file over 600 lines or a function over 80, of the product or of its tests. The
# interpreter's loop (emu/afuc/body.h) is the one exception. Usage: sizes.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"

# A function's body starts at a "{" in column 0 and ends at a "}" there; in Python it starts at a "def" and
# ends where a line stands no further right. Files give rows "f LINES NAME", functions "b LINES FILE:LINE";
# the table is about sources of the product, the limits hold for headers and tests too.
find isa fw trace emu tools tests \( -name '*.[ch]' -o -name '*.def' -o -name '*.py' \) -exec awk '
    FNR == 1 && file { print "f", last, file }
    function column() { match($0, /^ */); return RLENGTH }
    FNR == 1 { file = FILENAME; from = 0; python = FILENAME ~ /\.py$/ }
    { last = FNR }
    python && from && /[^ ]/ && column() <= depth { print "b", FNR - from - 1, FILENAME ":" from; from = 0 }
    python && !from && /^ *def / { from = FNR; depth = column() }
    python { next }
    /^\{/ { from = FNR }
    /^\}$/ && from && FILENAME != "emu/afuc/body.h" { print "b", FNR - from - 1, FILENAME ":" from; from = 0 }
    END { print "f", last, file }' {} + |
    sort -k1,1 -k2,2n | awk '
    $1 == "f" && $2 > 600 { print $3 ": " $2 " lines, at most 600"; bad = 1 }
    $1 == "b" && $2 > 80 { print $3 ": a function of " $2 " lines, at most 80"; bad = 1 }
    $3 ~ /^tests/ { next }
    $1 == "f" && $3 ~ /\.c$/ { file[++files] = $2; longest_file = $3 }
    $1 == "b" { body[++bodies] = $2; longest_body = $3 }
    END {
        print "files median longest functions median p90 longest"
        printf "%5d %6d %7d %9d %6d %3d %7d\n", files, file[int((files + 1) / 2)], file[files],
            bodies, body[int((bodies + 1) / 2)], body[int(bodies * 0.9)], body[bodies]
        print "longest file " longest_file ", longest function " longest_body
        exit bad
    }'

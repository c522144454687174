#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the folder for files of tests: memory, if it has 8 GiB and programs may run there, else TMPDIR or /tmp. Most commands
# commit what they write to the disk, and tests would spend most of their time on that.
free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ "${free:-0}" -ge 8388608 ] && probe=$(mktemp /dev/shm/cpscope-probe-XXXXXX 2>/dev/null); then
    printf '#!/bin/sh\n' >"$probe"
    chmod +x "$probe"
    "$probe" 2>/dev/null && memory=/dev/shm
    rm -f "$probe"
fi
printf '%s' "${memory:-${TMPDIR:-/tmp}}"

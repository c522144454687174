#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches Debian's firmware of Adreno GPUs (package firmware-qcom-soc) into a folder where cpscope finds it.
# No root, and no change to the system's apt sources: docs/firmware.md
#
# usage: tools/firmware.sh [--suite SUITE] [--mirror URL] [DIR]
#   DIR      default: cpscope/firmware in $XDG_CACHE_HOME or ~/.cache
#   --suite  release of Debian to take it from; default: sid, or else trixie, bookworm
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/apt.sh
. "$here/apt.sh"

suites="sid trixie bookworm"
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suites=${2:?"--suite needs a name"} && shift ;;
    --mirror) mirror=${2:?"--mirror needs a URL"} && shift ;;
    -h | --help) sed -n '3,8s/^# \{0,1\}//p' "$0" && exit ;;
    -*) fail "$1: unknown option" ;;
    *) dir=$1 ;;
    esac
    shift
done

: "${dir:=${XDG_CACHE_HOME:-${HOME:?"HOME is not set"}/.cache}/cpscope/firmware}"
mkdir -p "$dir" || fail "$dir: cannot create it"
dir=$(cd "$dir" && pwd)
new=$(mktemp -d "$dir/.new.XXXXXX") || fail "$dir: cannot write to it"
trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM HUP
prepare_apt "$new/apt" all non-free-firmware

suite=$(find_suite "$suites") || fail "$mirror: $(explain_apt)"
run_apt apt-get download firmware-qcom-soc || fail "$suite of $mirror: $(explain_apt)"
package=$(ls "$new"/apt/archives/firmware-qcom-soc_*.deb)
version=$(dpkg-deb -f "$package" Version)
dpkg-deb -x "$package" "$new/files" || fail "$package: cannot unpack it"

# Images of the GPU only, as this package has them or will: raw or compressed.
mkdir "$new/take"
find "$new/files" -path '*/firmware/qcom/*' \( -name '*.fw' -o -name '*.fw.xz' -o -name '*.fw.zst' \) -type f \
    -exec cp {} "$new/take" \;
set -- "$new"/take/*.fw*
[ -e "$1" ] || fail "firmware-qcom-soc $version: no firmware of a GPU in it"
cp "$new/files/usr/share/doc/firmware-qcom-soc/copyright" "$new/take"
echo "$version" >"$new/take/version"
mv -f "$new"/take/* "$dir"
echo "$# images of firmware-qcom-soc $version in $dir"
line=$(grep -n 'LICENSE\.qcom ' "$dir/copyright" | head -n 1)
echo "licence: LICENSE.qcom, redistribution without changes: $dir/copyright${line:+, line ${line%%:*}}"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Records what Mesa gives to each GPU, without one: the Vulkan program of tests/device job by job, at once (sysmem) and tile by
# tile (gmem); scenes of vkmark; programs of piglit; for a5xx, which turnip refuses, GL only. With the same Mesa every run
# records the same bytes, but for vulkan-timeline: there threads race. What a run did not finish, the next one does.
# Makes DIR/CHIP/PROGRAM.rd.gz, goldens, and DIR/manifest: `cpscope regress DIR/manifest` checks all of it.
#
# usage: tools/corpus.sh [--root ROOT] [--chip NAME]... [--only PATTERN] [--fw-path DIR] DIR
#   --root    folder that `tools/client.sh --headers --piglit ROOT` made; default: $CPSCOPE_CLIENT_ROOT
#   --chip    GPU to record; default: all that have firmware
#   --only    programs to record: vulkan-draws-gmem, vkmark-cube, 'piglit-*'; default: all
#   --fw-path folder with firmware; default: $CPSCOPE_CORPUS/firmware, /lib/firmware/qcom, or what tools/firmware.sh fetched
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cpscope=${CPSCOPE:-$here/build/tools/cpscope}

fail() {
    echo "corpus.sh: error: $*" >&2
    exit 3
}

chips='' only='*' dir='' recorded=0 skipped=0 failed=0 root=${CPSCOPE_CLIENT_ROOT:-} folders="${CPSCOPE_CORPUS:+$CPSCOPE_CORPUS/firmware}
/lib/firmware/qcom
${XDG_CACHE_HOME:-${HOME:-}/.cache}/cpscope/firmware"
while [ $# -gt 0 ]; do
    case $1 in
    --root) root=${2:?"--root needs a folder"} && shift ;;
    --chip) chips="$chips ${2:?"--chip needs a name"}" && shift ;;
    --only) only=${2:?"--only needs a pattern"} && shift ;;
    --fw-path) folders=${2:?"--fw-path needs a folder"} && shift ;;
    -h | --help) sed -n '3,13s/^# \{0,1\}//p' "$0" && exit ;;
    -*) fail "$1: unknown option" ;;
    *)
        [ -z "$dir" ] || fail "$1: one folder only"
        dir=$1
        ;;
    esac
    shift
done
[ -n "$dir" ] || fail "name the folder to fill: tools/corpus.sh DIR"
[ -x "$cpscope" ] || fail "$cpscope: no such program, run tools/build.sh"
[ -r "$root/.apt/mesa" ] || fail "${root:-no root}: tools/client.sh makes one, --root names it"
for chip in $chips; do
    "$cpscope" device --chip list | grep -q "^$chip " || fail "$chip: no such chip: cpscope device --chip list"
done

mkdir -p "$dir/firmware" || fail "$dir: cannot create it"
dir=$(cd "$dir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# A folder is of one Mesa and one firmware: what is recorded already stays.
mesa=$(cat "$root/.apt/mesa")
[ "$(cat "$dir/mesa" 2>/dev/null || echo "$mesa")" = "$mesa" ] || fail "$dir is of Mesa $(cat "$dir/mesa"), $root has $mesa"
echo "$mesa" >"$dir/mesa"
folders="$dir/firmware
$folders"

# The Vulkan program, as the tests build it, and its jobs but those that only run by name: they are large.
CPSCOPE_CLIENT_ROOT=$root PYTHONPATH=$here/tests/lib PYTHONDONTWRITEBYTECODE=1 python3 -c '
import sys, vulkan_program
sys.exit("no headers of Vulkan: tools/client.sh --headers") if not vulkan_program.headers() else vulkan_program.build(sys.argv[1])' "$work" ||
    fail "the Vulkan program does not build"
jobs=$(sed -n 's/^    {"\([a-z]*\)", job_[a-z]*, false.*/\1/p' "$here/tests/device/vulkan.c")
# Rows of piglit.txt without options: clock=host, which the others need, is not repeatable.
piglit=$(sed -n '/^#/!s/^[^|]*| *| *//p' "$here/tests/device/piglit.txt")
# GL with draws, queries and copies. What they expect of pixels is not met, so their verdict is ignored.
drawn='arb_draw_indirect-draw-arrays arb_draw_indirect-draw-elements arb_draw_indirect-transform-feedback
arb_occlusion_query2-render arb_copy_buffer-intra-buffer-copy'
scenes='clear cube desktop effect2d shading texture vertex'

list_programs() { # a530 or another chip
    case $1 in
    a5*) for name in $drawn; do echo "gl-$name"; done ;;
    *)
        for name in $jobs; do echo "vulkan-$name-sysmem" && echo "vulkan-$name-gmem"; done
        for name in $scenes; do echo "vkmark-$name"; done
        ;;
    esac
    for name in $piglit; do echo "piglit-$name"; done
}

# The newest revision of an image, by its name: a630_sqe.fw, a630_sqe.fw.xz, a630_sqe-207.fw
find_image() {
    echo "$folders" | while read -r folder; do
        [ -n "$folder" ] || continue
        for file in "$folder/$1.fw" "$folder/$1".fw.* $(find "$folder" -maxdepth 1 -name "$1-*.fw" 2>/dev/null | sort -rV); do
            [ -r "$file" ] && echo "$file" && return
        done
    done
}

# find_firmware NAME...: copies the images to DIR, so that a manifest keeps its firmware. Prints their names there.
find_firmware() {
    for name in "$@"; do
        file=$(find_image "${name%.fw}")
        [ -n "$file" ] || return 1
        [ -e "$dir/firmware/${file##*/}" ] || cp "$file" "$dir/firmware"
        echo "firmware/${file##*/}"
    done
}

# record_program CHIP PROGRAM FIRMWARE...
record_program() {
    chip=$1 program=$2 mode=''
    shift 2
    for image in "$@"; do set -- "$@" --fw "$dir/$image" && shift; done
    set -- device -q --chip "$chip" "$@" --root "$root" --record "$work/new.rd.gz" --
    name=${program#*-}
    case $program in
    vulkan-*)
        mode=${name##*-}
        set -- "$@" "$work/vulkan" -j "${name%-*}"
        ;;
    vkmark-*) set -- "$@" vkmark --winsys headless --size 64x64 -b "$name:duration=0" ;;
    *) set -- "$@" "$name" -auto -fbo ;;
    esac
    [ "$mode" != gmem ] || mode=gmem,forcebin
    status=0
    rm -f "$work/new.rd.gz"
    # The same bytes each time: the addresses of the process, no shaders from a cache, none compiled by another thread (serialc).
    env TU_DEBUG="$mode" FD_MESA_DEBUG=serialc PIGLIT_PLATFORM=surfaceless_egl PIGLIT_SOURCE_DIR=/usr/lib/aarch64-linux-gnu/piglit MESA_SHADER_CACHE_DISABLE=true \
        setarch -R "$cpscope" "$@" >"$work/log" 2>&1 </dev/null || status=$?
    case $program in
    gl-*) ! grep -q '^PIGLIT: {"result": "\(pass\|fail\)"' "$work/log" || [ $status -gt 1 ] || status=0 ;;
    esac
    if [ $status != 0 ]; then
        echo "$chip $program: error: status $status: $(grep -v '^ok\|^#\|^1\.\.' "$work/log" | tail -n 1)" >&2
        return 1
    fi
}

# make_golden CHIP PROGRAM FIRMWARE...: runs the recording, and puts both into DIR.
make_golden() {
    chip=$1 program=$2
    shift 2
    for image in "$@"; do set -- "$@" --fw "$dir/$image" && shift; done
    mkdir -p "$dir/$chip" "$dir/goldens/$chip/$chip"
    "$cpscope" run -q "$@" "$work/new.rd.gz" -e $events -o "$work/new.cpt" 2>"$work/log" || {
        echo "$chip $program: error: golden: $(tail -n 1 "$work/log")" >&2
        return 1
    }
    mv "$work/new.cpt" "$dir/goldens/$chip/$chip/$program.rd.gz.cpt"
    mv "$work/new.rd.gz" "$dir/$chip/$program.rd.gz"
}

events=pkt,reg,pipe,memw,end
# The policies are those that the recordings have.
printf '# cpscope-manifest 1\ngolden goldens\npolicy waits=registers ring=msm preempt=on\nevents %s\n' $events >"$work/manifest"
"$cpscope" device --chip list >"$work/chips"
while read -r chip _ names; do
    selected=yes
    case " ${chips:-$chip} " in *" $chip "*) ;; *) selected='' ;; esac
    # shellcheck disable=SC2086 # two names of a5xx
    if [ -n "$selected" ] && ! firmware=$(find_firmware $names); then
        [ -z "$chips" ] || { echo "$chip: error: no firmware $names: --fw-path" >&2 && failed=$((failed + 1)); }
        selected=''
    fi
    if [ -z "$selected" ]; then
        # What an earlier run recorded.
        grep " tags=$chip\$" "$dir/manifest" >>"$work/manifest" 2>/dev/null || true
        continue
    fi
    # shellcheck disable=SC2086
    set -- $firmware
    for program in $(list_programs "$chip"); do
        # shellcheck disable=SC2254 # a pattern
        case $program in $only) ;; *) continue ;; esac
        if [ ! -e "$dir/$chip/$program.rd.gz" ]; then
            if ! record_program "$chip" "$program" "$@"; then
                failed=$((failed + 1))
                continue
            elif grep -q '# SKIP\|"result": "skip"' "$work/log" && ! grep -q '^ok [^#]*$' "$work/log"; then
                echo "$chip $program: skipped: the GPU or the driver does not support it"
                skipped=$((skipped + 1))
                continue
            elif ! make_golden "$chip" "$program" "$@"; then
                failed=$((failed + 1))
                continue
            fi
        fi
        echo "$chip $program: $(wc -c <"$dir/$chip/$program.rd.gz") bytes"
        recorded=$((recorded + 1))
    done
    [ ! -d "$dir/$chip" ] || printf 'firmware %s %s tags=%s\ncapture %s/*.rd.gz tags=%s\n' "$chip" "$*" "$chip" "$chip" "$chip" >>"$work/manifest"
done <"$work/chips"
mv "$work/manifest" "$dir/manifest"
echo "$dir: $recorded programs with Mesa $mesa, $skipped skipped, $failed failed"
[ "$failed" = 0 ]

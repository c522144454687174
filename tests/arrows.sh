#!/bin/sh
# SPDX-License-Identifier: MIT
# The arrows of the house: fails on an #include that runs back. Usage: arrows.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"
status=0

# includes ROOM: every include of the room that names another room, as file:line:text.
includes()
{
    find "$1" \( -name '*.[ch]' -o -name '*.def' \) -exec grep -nHE \
        '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<](\.\./)*(isa|fw|trace|emu|tools|tests)/' {} + || true
}

# check ROOM ALLOWED: the room may include itself and what matches ALLOWED.
check()
{
    back=$(includes "$1" | grep -vE "include[[:space:]]*[\"<](\.\./)*($1/|$2)" || true)
    if [ -n "$back" ]; then
        printf '%s/ may not include:\n%s\n' "$1" "$back"
        status=1
    fi
}

check isa 'isa/'
check trace 'isa/'
check fw 'isa/'
check emu 'isa/|trace/(event|item)\.(h|def)"'

# never FOLDER OTHER: inside a room, a folder may not include what matches OTHER, by whichever path.
never()
{
    back=$(grep -rnHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"(\.\./)*($2)" "$1" --include='*.[ch]' --include='*.def' || true)
    if [ -n "$back" ]; then
        printf '%s may not include:\n%s\n' "$1" "$back"
        status=1
    fi
}

never isa/base '(isa/)?(sets|names)/'
never trace/capture '(trace/)?form/'
never fw/image '(fw/)?(asm|listing|script|demo)/'
never emu/afuc '(emu/)?(nv|debug)/'
never emu/nv '(emu/)?(afuc|debug)/'
never emu/debug '(emu/)?(afuc|nv)/'
never tools/play '(tools/)?(report/(diff|summary|script|html)|debug|step|reduce|regress|info|bench|prove|fuzz|audit)'
never tools/report '(tools/)?(debug|step|reduce|regress|info|bench|prove|fuzz|audit|view)/'
never tools/why '(tools/)?(debug|step|reduce|regress|info|bench|prove|fuzz|audit|view)/'
never tools/debug '(tools/)?(step|reduce|regress|info|bench|prove|fuzz|audit)/'
never tools/reduce '(tools/)?(debug|step|regress|info|bench|prove|fuzz|audit)/'
never tools/fuzz '(tools/)?(debug|step|regress|info|bench|prove|audit)/'
never tools/prove '(tools/)?(debug|step|reduce|regress|info|bench|audit)/'
never tools/profile '(tools/)?(debug|step|reduce|regress|info|bench|prove|fuzz|audit)/'
never tools/audit '(tools/)?(debug|step|reduce|regress|bench|prove|fuzz)/'
never tools/view '(tools/)?(debug|step|reduce|regress|info|bench|prove|fuzz|audit)/'
never tools/lsp '(tools/)?(play|report/(diff|summary|script|html)|debug|step/(dap|prompt|screen)|reduce|regress|info|bench|prove|fuzz|audit|view|why)'
never tools/regress '(tools/)?(debug|step|reduce|info|bench|prove|fuzz|audit)/'
exit "$status"

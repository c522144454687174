#!/bin/sh
# SPDX-License-Identifier: MIT
# The debug adapter through VS Code's own client library, which npm brings; skipped by name where
# there is no node, no npm or no way to its registry. Usage: dap_vscode.sh CPSCOPE CLIENT.js
set -eu
skip()
{
    echo "1..0 # SKIP $1"
    exit 0
}
cpscope=$(realpath "$1")
client=$(realpath "$2")
command -v node >/dev/null || skip "no node"
command -v npm >/dev/null || skip "no npm"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
timeout 60 npm install --silent --no-audit --no-fund @vscode/debugadapter-testsupport@1.68.0 >/dev/null 2>&1 ||
    skip "npm cannot get @vscode/debugadapter-testsupport"
NODE_PATH="$folder/node_modules" timeout 60 node "$client" "$cpscope"

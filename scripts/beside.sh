#!/usr/bin/env bash
# Makes some targets while a command runs: beside.sh LOG 'TARGETS' COMMAND… Fails if either does.
#
# What the command prints is shown at once, what the targets print (meanwhile in LOG) once both have ended, and then the command's last line
# again: whoever reads the end of the output finds there what the tests came to.
set -uo pipefail
log=$1
mkdir -p "$(dirname "$log")"
make --no-print-directory $2 >"$log" 2>&1 &
targets=$!
trap 'kill "$targets" 2>/dev/null' EXIT
"${@:3}" 2>&1 | tee "$log.command"
came_to=${PIPESTATUS[0]}
wait "$targets" || came_to=$((came_to ? came_to : 1))
cat "$log"
tail -n 1 "$log.command"
exit "$came_to"

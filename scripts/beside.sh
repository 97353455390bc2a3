#!/usr/bin/env bash
# Runs two commands at the same time: beside.sh LOG 'ONE' 'OTHER'. Fails if either does.
#
# What OTHER prints is shown at once, what ONE prints (meanwhile in LOG) once both have ended, and then the last line of OTHER again:
# whoever reads the end of the output finds there what the tests came to.
set -uo pipefail
log=$1
mkdir -p "$(dirname "$log")"
last="$log.last"

bash -c "$2" >"$log" 2>&1 &
one=$!
trap 'kill "$one" 2>/dev/null' EXIT
bash -c "$3" 2>&1 | tee >(tail -n 1 >"$last")
other=${PIPESTATUS[0]}
wait "$one"
beside=$?
cat "$log"
cat "$last"
exit $((beside ? beside : other))

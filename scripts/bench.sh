#!/usr/bin/env bash
# Runs the benchmark of a build with its peers: scripts/bench.sh BUILD_FOLDER [--quick] [ROW ...]
#
# The row 'page' is measured by scripts of its own: WebAssembly in Chromium against one native
# thread, and 'hooke view' with a large cloth. Results of the others go into bench/results. Whatever
# else runs on the machine spoils the figures, so this says how busy it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
shift

page=false
rows=()
for word in "$@"; do
  if [ "$word" = page ]; then page=true; else rows+=("$word"); fi
done
if [ $# -eq 0 ]; then page=true; fi

if [ -r /proc/loadavg ]; then
  read -r load _ </proc/loadavg
  echo "load of the machine before: $load"
fi
if [ $# -eq 0 ] || [ ${#rows[@]} -gt 0 ]; then
  "$build/bench/hooke_bench" ${rows[@]+"${rows[@]}"}
fi
if $page; then
  echo
  (cd web && HOOKE="../$build/hooke" node scripts/bench.mjs)
  python3 bench/view_stream.py "$build/hooke"
fi

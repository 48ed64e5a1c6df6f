#!/usr/bin/env bash
# Runs every benchmark in a folder of built ones, each in its turn: scripts/bench.sh FOLDER
set -euo pipefail

shopt -s nullglob
programs=("$1"/bench_*)
if [ ${#programs[@]} -eq 0 ]; then
  echo "There are no benchmarks: bench/ has no bench_*.c"
fi
for program in "${programs[@]}"; do
  echo "== $(basename "$program")"
  "$program"
done

#!/usr/bin/env bash
# Runs the benchmark of a build with its peers: scripts/bench.sh BUILD_FOLDER [--quick] [ROW ...]
#
# Results go into bench/results. Whatever else runs on the machine spoils the figures, so this says
# how busy it is.
set -euo pipefail
program=$(realpath "$1/bench/hooke_bench")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -r /proc/loadavg ]; then
  read -r load _ </proc/loadavg
  echo "load of the machine before: $load"
fi
exec "$program" "${@:2}"

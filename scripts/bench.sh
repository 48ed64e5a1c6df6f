#!/usr/bin/env bash
# Runs the benchmark of a build with its peers: scripts/bench.sh BUILD_FOLDER [--quick] [ROW ...]
#
# The row 'page' is measured by scripts of its own: WebAssembly in Chromium against one native
# thread, and 'hooke view' with a large cloth. So is the row 'contact': a program that needs no peers, and
# MuJoCo's cloth where PyPI can be reached and the Python package is built in build/release. Results of the others go into bench/results. Whatever
# else runs on the machine spoils the figures, so this says how busy it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
shift

page=false
contact=false
quick=()
rows=()
for word in "$@"; do
  case $word in
    page) page=true ;;
    contact) contact=true ;;
    --quick) quick=(--quick) ;;
    *) rows+=("$word") ;;
  esac
done
all=false
if [ ${#rows[@]} -eq 0 ] && ! $page && ! $contact; then all=true page=true contact=true; fi
if [ ${#quick[@]} -gt 0 ] && $all; then page=false; fi

# The same cloth by MuJoCo, in an environment of its own.
compare_with_mujoco() {
  local venv=$build/mujoco_peer
  if [ ! -d build/release/python ]; then
    echo "MuJoCo is left out: the Python package is not built in build/release" >&2
    return
  fi
  if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
  if ! "$venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-deps \
    -r bench/peers/requirements.txt 2>"$venv/log"; then
    echo "MuJoCo is left out: pip cannot install it: $(tail -n 1 "$venv/log")" >&2
    return
  fi
  for tolerance in 0.5 0.01; do
    PYTHONPATH=build/release/python OMP_NUM_THREADS=1 "$venv/bin/python" bench/peers/mujoco_flex.py \
      --tolerance "$tolerance" || [ $? -eq 77 ]
  done
}

if [ -r /proc/loadavg ]; then
  read -r load _ </proc/loadavg
  echo "load of the machine before: $load"
fi
if $all || [ ${#rows[@]} -gt 0 ]; then
  "$build/bench/hooke_bench" ${quick[@]+"${quick[@]}"} ${rows[@]+"${rows[@]}"}
fi
if $contact; then
  echo
  "$build/bench/hooke_bench_contact" ${quick[@]+"${quick[@]}"}
  compare_with_mujoco
fi
if $page; then
  echo
  (cd web && HOOKE="../$build/hooke" node scripts/bench.mjs)
  python3 bench/view_stream.py "$build/hooke"
fi

#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds from its seeds:
#
#   scripts/fuzz.sh [SECONDS [TARGET ...]]        10 s and all targets where nothing is said
#
# Prints one line a target. Ends with 1 if anything was found; the input that shows it is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-10}
shift $(($# > 0 ? 1 : 0))
build=build/fuzz
findings=$build/findings

mkdir -p $findings
if ! { cmake --preset fuzz && cmake --build $build --target fuzz_targets; } >$build/build.log 2>&1; then
  tail -n 40 $build/build.log >&2
  exit 2
fi

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
targets=()
for target in "$@"; do targets+=("fuzz_${target#fuzz_}"); done
if [ ${#targets[@]} = 0 ]; then
  for folder in fuzz/seeds/*/; do targets+=("fuzz_$(basename "$folder")"); done
fi

export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1
status=0
for target in "${targets[@]}"; do
  name=${target#fuzz_}
  log=$findings/$name.log
  mkdir "$corpus/$name"
  # What is new goes into the first folder, never among the seeds.
  if $build/fuzz/"$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=0 -artifact_prefix="$findings/$name-" "$corpus/$name" \
    "fuzz/seeds/$name" >"$log" 2>&1; then
    echo "$target: nothing found in $seconds s, $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") runs"
    rm "$log"
  else
    status=1
    input=$(sed -n 's/.*Test unit written to //p' "$log" | head -n 1)
    echo "$target: FOUND ${input:-something, but kept no input}; what was said is in $log"
  fi
done
exit $status

#!/bin/sh
# Builds every fuzz target with clang and runs it from its seeds: fuzz.sh [seconds] [target ...]
# Prints one line a target. Ends with 1 if anything was found; the input that shows it is kept.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-10}
[ $# -gt 0 ] && shift
build=build/fuzz
findings=$build/findings

mkdir -p $findings
cmake -S . -B $build -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DHOOKE_FUZZ=ON -DHOOKE_TESTS=OFF -DHOOKE_OPENMP=OFF >$build.log 2>&1 ||
  { cat $build.log; exit 2; }
cmake --build $build >>$build.log 2>&1 || { tail -n 40 $build.log; exit 2; }

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
trap 'exit 130' INT TERM
status=0
[ $# -gt 0 ] || set -- $(cd $build/fuzz && ls -d fuzz_* | grep -v '\.')
for target; do
  name=${target#fuzz_}
  mkdir -p "$corpus/$name"
  if $build/fuzz/fuzz_"$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=0 -artifact_prefix=$findings/"$name"- "$corpus/$name" \
    fuzz/seeds/"$name" >"$corpus/$name.log" 2>&1; then
    runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$corpus/$name.log")
    echo "fuzz_$name: nothing found in $runs runs of $seconds s"
  else
    status=1
    input=$(sed -n 's/.*Test unit written to //p' "$corpus/$name.log" | head -n 1)
    cp "$corpus/$name.log" $findings/"$name".log
    echo "fuzz_$name: FOUND ${input:-nothing that was kept}, told in $findings/$name.log"
  fi
done
exit $status

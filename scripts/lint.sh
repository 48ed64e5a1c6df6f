#!/usr/bin/env bash
# clang-tidy (what it looks for stands in .clang-tidy) and cppcheck over Hooke's sources, compiled as
# the build folder says, mypy, and the words of the documents: scripts/lint.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$1
jobs=$(getconf _NPROCESSORS_ONLN)

# Every C file that is compiled, except those that the build has made itself.
list_sources() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" |
    grep -v -F "/$build/" | sort -u
}

# Some are compiled twice, for the program and for a test: once is enough, and the check of va_list
# takes the second for the first.
mkdir -p "$build/lint"
python3 - "$build" <<'END'
import json, sys
with open(sys.argv[1] + "/compile_commands.json") as file:
    entries = {entry["file"]: entry for entry in json.load(file)}
with open(sys.argv[1] + "/lint/compile_commands.json", "w") as file:
    json.dump(list(entries.values()), file)
END

# look OPTION ...: at the sources of standard input. One file at a time: over several, the check of
# va_list takes the second for the first.
look() {
  tr '\n' '\0' | xargs -0 -P "$jobs" -n 1 clang-tidy --quiet -p "$build/lint" "$@"
}

echo "clang-tidy: $(list_sources | wc -l) files"
# Paths through the code are followed in what is installed; tests and benchmarks run under the
# sanitizers. What is said about warnings in the headers of others is not shown.
rest="^$PWD/(tests|bench|examples|fuzz)/"
if ! { list_sources | grep -v -E "$rest" | look &&
  list_sources | grep -E "$rest" | look '--checks=-clang-analyzer-*'; } \
  2>"$build/clang-tidy.log"; then
  grep -v -E '^[0-9]+ warnings?( treated as errors?| generated\.)$' "$build/clang-tidy.log" >&2 || true
  echo "clang-tidy found something; see above" >&2
  exit 1
fi

folders=()
for folder in src measure play cli python/core tests bench examples fuzz; do
  if [ -d "$folder" ]; then folders+=("$folder"); fi
done
echo "cppcheck: ${folders[*]}"
cppcheck --quiet --error-exitcode=1 -j "$jobs" --std=c11 --language=c \
  --enable=warning,performance,portability --suppress=missingIncludeSystem \
  -i bench/peers -D_XOPEN_SOURCE=700 -DHK_SIMD_BYTES=16 -DHK_ISA_NAME=portable -I include -I src \
  -I . -I tests "${folders[@]}"

# The Python package; Debian's mypy goes with Debian's numpy.
if command -v mypy >/dev/null; then
  echo "mypy: python/hooke"
  mypy --no-error-summary --cache-dir "$build/lint/mypy" --config-file pyproject.toml
fi
./scripts/check_words.sh
echo "Nothing was found."

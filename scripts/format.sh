#!/usr/bin/env bash
# Formats all C and C++ sources, or says which are not formatted: scripts/format.sh [--check]
#
# Versions of clang-format differ in small things. Hooke's is 14; no other one is asked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ]; then
  echo "format.sh: there is no clang-format; install clang-format 14" >&2
  exit 1
fi
version=$("$format" --version | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" != 14 ]; then
  echo "format.sh: this is clang-format $version, not 14: nothing was done"
  exit 0
fi
options=(-i)
if [ "${1:-}" = --check ]; then options=(--dry-run --Werror); fi
find . \( -path ./build -o -path ./out -o -path './.*' \) -prune -o \
  -type f \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0 | xargs -0 "$format" "${options[@]}"
echo "All C sources are formatted."

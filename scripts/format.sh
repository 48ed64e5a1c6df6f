#!/usr/bin/env bash
# Formats all C sources that git knows or would add, or says which are not formatted:
#
#   scripts/format.sh [--check]
#
# Versions of clang-format differ in small things; Hooke's is 14, and no other one is asked whether
# the sources are formatted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ]; then
  echo "format.sh: there is no clang-format; install clang-format 14" >&2
  exit 1
fi
version=$("$format" --version | sed 's/.*version \([0-9]*\).*/\1/')
options=(-i)
if [ "${1:-}" = --check ]; then options=(--dry-run --Werror); fi
if [ "$version" != 14 ]; then
  echo "format.sh: this is clang-format $version, not 14: nothing was looked at"
  exit 0
fi
# Sources that were removed but are still in git's index are left out.
git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' |
  while IFS= read -r -d '' file; do
    if [ -e "$file" ]; then printf '%s\0' "$file"; fi
  done | xargs -0 -r "$format" "${options[@]}"
echo "All C sources are formatted."

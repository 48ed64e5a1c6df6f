#!/usr/bin/env bash
# Runs the robustness sweep and puts its table into docs/robustness.md; some minutes.
#
#   scripts/robustness.sh [BUILD]      BUILD: build/release if not given
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
page=docs/robustness.md
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
"$build/tests/robustness" >"$table" || status=$?
if [ $status -gt 1 ]; then exit $status; fi
sed -i '/^<!-- table -->$/q' "$page" # what is above stays
cat "$table" >>"$page"
echo "The table is in $page."
exit $status

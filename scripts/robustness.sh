#!/usr/bin/env bash
# Runs the robustness sweeps, some ten minutes: the tables of answers and of contact go into docs/robustness.md, the
# rows of methods and steps into docs/robustness.csv and its picture.
#
#   scripts/robustness.sh [BUILD]      BUILD: build/release if not given
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
page=docs/robustness.md
answers=$(mktemp)
table=$(mktemp)
contact=$(mktemp)
trap 'rm -f "$answers" "$table" "$contact"' EXIT
status=0

# Each program exits with 1 if its table shows a failure, with more if there is no table.
run() {
  local result=0
  "$@" || result=$?
  if [ $result -gt 1 ]; then exit $result; fi
  if [ $result -gt 0 ]; then status=1; fi
}

# insert NAME FILE: replaces what stands between the marks of that name in the page.
insert() {
  sed -i -e "/^<!-- $1 -->\$/,/^<!-- end of $1 -->\$/{/^<!--/!d}" -e "/^<!-- $1 -->\$/r $2" "$page"
}

run "$build/tests/truth_table" >"$answers"
insert answers "$answers"
run "$build/tests/contact_sweep" --seconds 4 >"$table"
python3 scripts/contact_table.py <"$table" >"$contact"
insert contact "$contact"
run "$build/tests/robustness" >"$table"
cp "$table" docs/robustness.csv
python3 scripts/robustness_picture.py docs/robustness.csv docs/pictures/robustness.svg
echo "The answers and contact are in $page, the rows in docs/robustness.csv, the picture in docs/pictures/robustness.svg."
exit $status

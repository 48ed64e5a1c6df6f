#!/usr/bin/env bash
# The manylinux wheel: built from the sources with the pinned tools, installed into an empty environment,
# used outside of the source tree with a PATH that has no compiler: wheel_test.sh PYTHON
#
# pip takes the tools and numpy from PyPI; where it cannot be reached the test is skipped (77).
# `make wheel` installs the wheel into a fresh Debian system, too (clean_root_test.sh).
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH

status=0
"$sources/scripts/wheel.sh" "$folder" "$1" || status=$?
if [ $status -eq 77 ]; then echo "skipped: the tools of the wheel cannot be had"; fi
if [ $status -ne 0 ]; then exit $status; fi
wheel=$(echo "$folder"/hooke-*.whl)
case $wheel in
  *-cp39-abi3-manylinux_2_*.whl) ;;
  *)
    echo "$wheel is not a manylinux wheel for Python 3.9 and later" >&2
    exit 1
    ;;
esac
"$1" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip --quiet install "$wheel"
cd "$folder" # outside of the source tree
env -i HOME="$folder" PATH="$folder/venv/bin" python "$sources/python/tests/wheel_check.py"

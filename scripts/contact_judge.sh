#!/usr/bin/env bash
# Has the IPC Toolkit look for intersections in the scenes of contact_sweep: contact_judge.sh BUILD_FOLDER [SCENE ...]
#
# Environment variables: STARTS (1) of each scene, SECONDS_A_RUN (20), SECONDS_A_SCENE (no limit) at one step, after which no
# other start begins.
# The toolkit comes from PyPI, pinned in contact_judge_requirements.txt; exit status 77 where PyPI cannot be reached.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
shift

venv=$build/contact_judge
if [ ! -x "$venv/bin/python" ]; then python3 -m venv "$venv"; fi
if ! "$venv/bin/python" -m pip --quiet --disable-pip-version-check install \
  -r "$scripts/contact_judge_requirements.txt" 2>"$venv/log"; then
  echo "contact_judge.sh: pip cannot install the IPC Toolkit: $(tail -n 1 "$venv/log")" >&2
  exit 77
fi
"$build/tests/contact_sweep" --text --starts 1 --linear cholesky "$@" |
  PYTHONPATH="$build/python" "$venv/bin/python" "$scripts/contact_judge.py" \
    --starts "${STARTS:-1}" --seconds "${SECONDS_A_RUN:-20}" --total "${SECONDS_A_SCENE:-inf}"

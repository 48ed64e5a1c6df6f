#!/usr/bin/env bash
# Tests hooke.torch, hooke.jax and the snippets of docs/python.md with these packages: frameworks.sh BUILD_FOLDER [PYTHON]
#
# PyTorch, JAX and what the tests use come from PyPI into a virtual environment in the build folder, pinned in
# python/tests/frameworks_requirements.txt; exit status 77 where they cannot be installed.
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
python=${2:-python3}
requirements=$sources/python/tests/frameworks_requirements.txt

venv=$build/frameworks
if [ ! -x "$venv/bin/python" ]; then "$python" -m venv "$venv"; fi
if ! "$venv/bin/python" -m pip --quiet --disable-pip-version-check install -r "$requirements" 2>"$venv/log"; then
  echo "frameworks.sh: pip cannot install PyTorch and JAX: $(tail -n 1 "$venv/log")" >&2
  exit 77
fi
"$venv/bin/python" -c "import jax, torch" # a package that cannot be imported is no skipped test
export PYTHONPATH=$build/python JAX_PLATFORMS=cpu
cd "$sources/python/tests"
"$venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider test_gradients.py test_docs.py

#!/usr/bin/env bash
# The wheel: built from the sources with the pinned tools, installed into an empty environment, used
# outside of the source tree: wheel_test.sh PYTHON
#
# pip takes the tools and numpy from PyPI; where it cannot be reached the test is skipped (77).
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL
CMAKE_BUILD_PARALLEL_LEVEL=$(getconf _NPROCESSORS_ONLN)
unset PYTHONPATH

"$1" -m venv "$folder/venv"
pip=("$folder/venv/bin/python" -m pip --quiet)
tool=$(sed -n 's/^requires = \["\(.*\)"\]$/\1/p' "$sources/pyproject.toml")
if ! "${pip[@]}" download --no-deps --dest "$folder/tools" "$tool" 2>"$folder/log"; then
  echo "skipped: pip cannot have $tool: $(tail -n 1 "$folder/log")"
  exit 77
fi

# The build stays within the folder of this test.
"${pip[@]}" wheel --no-deps --wheel-dir "$folder" --config-settings build-dir="$folder/build" "$sources"
wheel=$(echo "$folder"/hooke-*.whl)
case $wheel in
  *-cp39-abi3-*) ;;
  *)
    echo "$wheel is not one for Python 3.9 and later" >&2
    exit 1
    ;;
esac
"${pip[@]}" install "$wheel"

cd "$folder" # outside of the source tree
"$folder/venv/bin/python" - <<'END'
import pathlib
import subprocess
import sys

import hooke

place = pathlib.Path(hooke.__file__).parent
assert place.is_relative_to(sys.prefix), place
core, = place.glob("_core.*.so")
listed = subprocess.run(["ldd", core], capture_output=True, text=True, check=True).stdout
print(listed)
for line in listed.splitlines():
    name = line.split()[0].split("/")[-1].split(".")[0]
    allowed = {"linux-vdso", "libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64", "libpthread",
               "libdl"}
    assert name in allowed or str(place) in line, f"the wheel needs {line.strip()}"

result = hooke.run(hooke.Scene.builtin("flag"), frames=5)
assert result.x.shape[0] == 6
cloth = hooke.Scene(integrator="backward_euler")
cloth.add_body(hooke.shapes.grid(nx=9, ny=9), springs={"EA": 10})
cloth.add_pin("top")
cloth.add_force("gravity")
assert hooke.Sim(cloth, h=0.03).step()
swept = hooke.sweep(cloth, {"EA": [1.0, 10.0]}, workers=2, frames=2)
assert not swept.errors, swept.errors
print(hooke.__version__, result, swept)
END

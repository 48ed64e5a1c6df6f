"""What an installed wheel has to do, outside of the source tree and without a compiler."""

import pathlib
import shutil
import subprocess
import sys

import hooke

COMPILERS = ("cc", "gcc", "c++", "clang", "cmake", "ninja", "make")
LIBRARIES = {"linux-vdso", "libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64", "libpthread", "libdl"}

for command in COMPILERS:
    assert shutil.which(command) is None, f"this is no test without compilers: there is {command}"
place = pathlib.Path(hooke.__file__).parent
assert place.is_relative_to(sys.prefix), place
assert (place / "py.typed").exists() and (place / "_registry.pyi").stat().st_size > 10000
core, = place.glob("_core.*.so")
listed = subprocess.run(["/usr/bin/ldd", core], capture_output=True, text=True, check=True).stdout
for line in listed.splitlines():
    name = line.split()[0].split("/")[-1].split(".")[0]
    assert name in LIBRARIES or str(place) in line, f"the wheel needs {line.strip()}"

result = hooke.run("flag", frames=5)
assert result.x.shape[0] == 6
cloth = hooke.Scene(integrator="backward_euler")
cloth.add_body(hooke.shapes.grid(nx=9, ny=9), springs={"EA": 10})
cloth.add_pin("top")
cloth.add_force("gravity")
sim = hooke.Sim(cloth, h=0.03)
assert sim.step()
# docs/python.md: the wheel factorizes by ldlt, and says so of cholesky.
assert sim.integrator["minimizer"]["linear"]["type"] == "ldlt", sim.integrator
try:
    hooke.Sim(cloth, h=0.03, integrator={"type": "backward_euler", "minimizer": {
        "type": "newton", "linear": "cholesky"}})
except hooke.UnsupportedError as error:
    assert "ldlt" in str(error), error
else:
    raise AssertionError("cholesky is there, so that the wheel is not under the MIT license alone")
swept = hooke.sweep(cloth, {"EA": [1.0, 10.0]}, workers=2, frames=2)
assert not swept.errors, swept.errors
print(hooke.__version__, sys.version.split()[0], result, swept)

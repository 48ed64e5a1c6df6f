"""What Python costs: steps from Python against the same steps from C, in turns, in one run.

    cmake --build build/release --target hooke_python bench_step
    python3 python/bench.py [BUILD]

On one thread, whose own time is taken: what else the machine does disturbs less. Prints, for each row, the best and the median of several rounds of either, and what Python adds.
"""

import json
import os
import statistics
import subprocess
import sys
import time

build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
sys.path.insert(0, os.path.join(build, "python"))
import hooke  # noqa: E402

ROUNDS = 10
CURTAIN = 1e-4  # s, below the stable step
LOCAL_GLOBAL = hooke.integrators.backward_euler(
    minimizer=hooke.minimizers.local_global(iterations=10, tolerance=0.0)
)._as_json()
# name, scene, integrator, h [s], steps, times a round
ROWS = [
    ("one step of one oscillator", "oscillator", {"type": "verlet"}, 1e-3, 1000, 60),
    ("curtain 81 x 81, 200 explicit steps", "curtain", {"type": "symplectic_euler"}, CURTAIN, 200, 15),
    ("curtain 81 x 81, 8 x 10 local/global", "curtain", LOCAL_GLOBAL, 1 / 30, 8, 8),
]


def from_c(scene, integrator, h, steps, calls):
    program = os.path.join(build, "python", "bench_step")
    arguments = [program, scene, json.dumps(integrator), repr(h), str(steps), str(calls)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def from_python(scene, integrator, h, steps, calls):
    sim = hooke.Sim(hooke.Scene.builtin(scene), integrator=integrator, h=h, threads=1)
    step, clock, times = sim.step, time.thread_time, []
    for _ in range(calls):
        before = clock()
        for _ in range(steps):  # one by one, as the program in C does
            step()
        times.append(clock() - before)
    return times


def text(seconds):
    return f"{seconds * 1e6:8.3f} us" if seconds < 1e-3 else f"{seconds * 1e3:8.2f} ms"


print(f"{'':38} {'C best':>11} {'median':>11} {'Python best':>12} {'median':>11}   Python adds")
for name, scene, integrator, h, steps, calls in ROWS:
    c, python = [], []
    for _ in range(ROUNDS):
        c += from_c(scene, integrator, h, steps, calls)
        python += from_python(scene, integrator, h, steps, calls)
    if scene == "oscillator":
        c, python = ([seconds / steps for seconds in times] for times in (c, python))
    more = min(python) - min(c)
    middle = statistics.median(python) - statistics.median(c)
    added = f"{text(more).strip()} best, {text(middle).strip()} median"
    if scene != "oscillator":
        added = f"{100 * more / min(c):+.2f} % best, {100 * middle / statistics.median(c):+.2f} % median"
    print(f"{name:38} {text(min(c))} {text(statistics.median(c))} "
          f"{text(min(python)):>12} {text(statistics.median(python))}   {added}")

#!/usr/bin/env python3
"""Explicit steps of the same masses and springs by Hooke and by LAMMPS, on one and more processes.

    compare_lammps.py [--bench PROGRAM] [--shape block|cloth] [--size N] [--steps N] [--rounds N] [--ranks 1,2]
                      [--integrator symplectic_euler|verlet] [--bind core|none] [--csv FILE]

Masses of 1 kg, k = 100 N/m, random velocities up to 0.05 m/s, h = 0.005 s. hooke_bench_ranks writes Hooke's own vertices, springs and
velocities as a data file for LAMMPS, which gets one type of bond for each rest length (bond_style harmonic, K = k / 2), no pair style,
and lists that are made once. Its fix nve is velocity Verlet; symplectic Euler, and verlet from positions half a step earlier, pass
through the same positions, so that the energies of both programs must agree to 1e-8; else the exit status is 1.

Both run in turns in every round, each with one run that is discarded and three that count. Rates are springs times steps over
seconds: wall time of the slowest rank, or CPU time of all ranks together, which a loaded machine spoils less. The ratio is the median
of the ratios of rounds.

Exit status 77, with a word, where lmp or mpirun is not installed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3  # of a process that count
STEP, STIFFNESS, TOLERANCE = 0.005, 100.0, 1e-8

LAMMPS = """units        lj
newton       on
atom_style   bond
atom_modify  map array sort 0 0
boundary     s s s
comm_modify  mode single cutoff {cutoff}  # a margin of a rank's box: more than the longest distance between springs' ends
neighbor     0.0 bin
special_bonds lj/coul 1 1 1
bond_style   harmonic
read_data    {data} extra/special/per/atom 500
neigh_modify once yes                     # springs never change
fix          move all nve
timestep     {step}
thermo       {steps}
thermo_style custom step ke pe
thermo_modify norm no format float %.17g
"""


class Result:
    """Seconds of runs by the wall and of all ranks' CPUs together, and energies (J) at the end."""

    def __init__(self, ranks: int, wall: list[float], cpu: list[float], spring: float, kinetic: float) -> None:
        self.ranks, self.wall, self.cpu, self.spring, self.kinetic = ranks, wall, cpu, spring, kinetic


def launch(options: argparse.Namespace, ranks: int, command: list[str]) -> str:
    """Runs a program on a number of processes and returns what it prints."""
    start = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--bind-to", options.bind, "-n", str(ranks), *command]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run(start, capture_output=True, text=True, env=environment, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(start)} ends with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def run_lammps(options: argparse.Namespace, ranks: int, folder: Path) -> Result:
    """One process, or several, of LAMMPS; the first run is discarded."""
    script = folder / "lattice.in"
    cutoff = 1.2 if options.shape == "block" else 2.2
    text = LAMMPS.format(cutoff=cutoff, data=folder / "lattice.data", step=STEP, steps=options.steps)
    script.write_text(text + f"run {options.steps}\n" * (RUNS + 1))
    output = launch(options, ranks, ["lmp", "-in", str(script), "-log", "none"])
    wall = [float(t) for t in re.findall(r"Loop time of (\S+) on", output)]
    use = [float(p) / 100 for p in re.findall(r"([\d.]+)% CPU use", output)]
    last = re.findall(rf"^\s+{options.steps * (RUNS + 1)} (\S+) (\S+)\s*$", output, re.MULTILINE)
    if len(wall) != RUNS + 1 or len(use) != RUNS + 1 or not last:
        sys.exit(f"LAMMPS prints what this script does not understand:\n{output[-3000:]}")
    cpu = [t * p * ranks for t, p in zip(wall, use)]
    return Result(ranks, wall[1:], cpu[1:], float(last[-1][1]), float(last[-1][0]))


def run_hooke(options: argparse.Namespace, ranks: int) -> tuple[Result, int]:
    """The same steps by Hooke, and the number of springs."""
    command = [options.bench, "steps", options.shape, str(options.size), str(options.steps), "--runs", str(RUNS), "--h", str(STEP),
               "--k", str(STIFFNESS), "--integrator", options.integrator]
    last = json.loads(launch(options, ranks, command).splitlines()[-1])
    return Result(ranks, last["wall"], last["cpu"], last["spring_energy"], last["kinetic_energy"]), last["springs"]


def difference(a: Result, b: Result) -> float:
    """The larger relative difference of the two energies."""
    return max(abs(a.spring - b.spring) / abs(b.spring), abs(a.kinetic - b.kinetic) / abs(b.kinetic))


def seconds(clock: str, results: list[Result]) -> list[float]:
    """Seconds of all runs by one clock, `wall` or `cpu`."""
    return [t for r in results for t in getattr(r, clock)]


def row_of(name: str, results: list[Result], work: float) -> dict[str, object]:
    """Million springs a second and core; work: springs times steps of a core. CPU seconds are those of all ranks together."""
    ranks = results[0].ranks
    row: dict[str, object] = {"program": name}
    for clock, cores in (("wall", 1), ("cpu", ranks)):
        times = seconds(clock, results)
        row[f"{clock}_median"] = f"{1e-6 * work * cores / statistics.median(times):.1f}"
        row[f"{clock}_best"] = f"{1e-6 * work * cores / min(times):.1f}"
    row["total_median"] = f"{1e-6 * work * ranks / statistics.median(seconds('wall', results)):.1f}"
    return row


def compare(options: argparse.Namespace, ranks: int, folder: Path) -> list[dict[str, object]]:
    """Rounds of both programs on a number of processes; returns two rows of the table."""
    times: dict[str, list[Result]] = {"Hooke": [], "LAMMPS": []}
    worst, springs = 0.0, 0
    for round_ in range(options.rounds):
        hooke, springs = run_hooke(options, ranks)
        lammps = run_lammps(options, ranks, folder)
        times["Hooke"].append(hooke)
        times["LAMMPS"].append(lammps)
        worst = max(worst, difference(hooke, lammps))
        print(f"  round {round_ + 1}: Hooke {min(hooke.wall):.3f} s, LAMMPS {min(lammps.wall):.3f} s", file=sys.stderr)
    rows = [row_of(name, results, springs * options.steps / ranks) for name, results in times.items()]
    for row in rows:
        row.update(ranks=ranks, springs=springs, energies_differ=f"{worst:.1e}")
    for clock in ("wall", "cpu"):
        pairs = [statistics.median(seconds(clock, [b])) / statistics.median(seconds(clock, [a]))
                 for a, b in zip(times["Hooke"], times["LAMMPS"])]
        best = min(seconds(clock, times["LAMMPS"])) / min(seconds(clock, times["Hooke"]))
        rows[0].update({f"{clock}_ratio": f"{statistics.median(pairs):.2f}", f"{clock}_ratio_of_best": f"{best:.2f}"})
        rows[1].update({f"{clock}_ratio": "1", f"{clock}_ratio_of_best": "1"})
    return rows


def print_table(rows: list[dict[str, object]]) -> None:
    """Million springs a second."""
    print("million springs a second and core; ratio: to LAMMPS, median of rounds, and of the best runs")
    print("program  ranks  all cores   by wall    best  ratio  of best    by CPU    best  ratio  of best  energies differ")
    for r in rows:
        print(f"{r['program']:7}  {r['ranks']:5}  {r['total_median']:>9}  {r['wall_median']:>8}  {r['wall_best']:>6}  "
              f"{r['wall_ratio']:>5}  {r['wall_ratio_of_best']:>7}  {r['cpu_median']:>8}  {r['cpu_best']:>6}  {r['cpu_ratio']:>5}  "
              f"{r['cpu_ratio_of_best']:>7}  {r['energies_differ']:>15}")


def main() -> int:
    """Compares, prints and writes."""
    parser = argparse.ArgumentParser()
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("--bench", default=str(here / "build/release/bench/hooke_bench_ranks"))
    parser.add_argument("--shape", default="block")
    parser.add_argument("--size", type=int, default=43)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--integrator", default="symplectic_euler")
    parser.add_argument("--bind", default="core")
    parser.add_argument("--csv", default="lammps.csv")
    options = parser.parse_args()
    for program in ("lmp", "mpirun", options.bench):
        if not shutil.which(program):
            print(f"LAMMPS is left out: there is no {program}", file=sys.stderr)
            return 77
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([options.bench, "lattice", options.shape, str(options.size), str(folder / "lattice.data"), "--k",
                        str(STIFFNESS)], check=True)
        try:
            for ranks in options.ranks.split(","):
                rows += compare(options, int(ranks), folder)
        except KeyboardInterrupt:
            print("stopped; the table has what there is", file=sys.stderr)
    if not rows:
        return 1
    print_table(rows)
    with open(options.csv, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    if any(float(str(r["energies_differ"])) > TOLERANCE for r in rows):
        print(f"the energies differ by more than {TOLERANCE}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

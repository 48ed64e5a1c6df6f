"""The same cloth on the same ball by Hooke and by MuJoCo's penetration-free flex contact.

    mujoco_flex.py [--side N] [--steps N] [--seconds S] [--tolerance T]

A square of 1 m with N x N vertices (31) and 0.2 kg/m^2 falls onto a ball of 0.15 m and a ground 0.45 m below, h = 0.01 s, frictionless,
thickness 1 mm, one thread. MuJoCo: `discrete` integrator with the flag `ipc`, elements of `elastic2d` whose stiffness along the threads
is that of Hooke's springs. Both make steps in turns, each its own motion.

The residual is the relative gradient of Hooke's steps for both: |x - y - h^2 M^-1 f(x)|_M / |x - x_n|_M with the positions x at the
end of the step, y = x_n + h v_n and all forces f, those of contact included, of the program in question. After each step ipctk looks
for intersections of the cloth with itself, and the least distance from the center of the ball is measured.

Exit status 77, with a word, where one of the packages is not installed.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

try:
    import ipctk
    import mujoco
    import numpy as np

    import hooke
except ImportError as problem:
    print(f"MuJoCo is left out: {problem}", file=sys.stderr)
    sys.exit(77)

H, BALL, GROUND, HEIGHT, AREA_DENSITY, EA, THICKNESS = 0.01, 0.15, -0.3, 0.16, 0.2, 4.0, 1e-3
POISSON = 0.2


def hooke_scene(side: int, tolerance: float) -> str:
    return f"""{{"bodies": [{{"name": "cloth", "shape": {{"type": "grid", "nx": {side}, "ny": {side}, "plane": "xz",
    "cells": "triangles", "centered": true}}, "transform": {{"translate": [0.013, {HEIGHT}, 0.007]}},
    "springs": {{"EA": {EA}, "shear": true, "EA_shear": 1.5, "bending": true, "EA_bending": 0.1}},
    "mass": {{"area_density": {AREA_DENSITY}}}}}], "obstacles": [{{"type": "ball", "center": [0, 0, 0], "radius": {BALL}}}],
    "forces": ["gravity", {{"type": "contact", "ground": true, "height": {GROUND}}}], "time": {{"duration": 10, "step": {H}}},
    "integrator": {{"type": "backward_euler", "minimizer": {{"type": "newton", "tolerance": {tolerance}, "iterations": 200,
    "linear": {{"type": "pcg", "preconditioner": "multigrid"}}}}}}}}"""


def mujoco_scene(side: int) -> str:
    young = EA * (side - 1) / THICKNESS  # k = EA / l along a thread, and one thread for each l
    spacing = 1 / (side - 1)
    return f"""<mujoco><option integrator="discrete" timestep="{H}"><flag ipc="enable"/></option><size memory="4G"/>
    <worldbody><geom type="sphere" size="{BALL}"/><geom type="plane" size="2 2 .1" pos="0 0 {GROUND}"/>
    <flexcomp name="cloth" type="grid" dim="2" count="{side} {side} 1" spacing="{spacing} {spacing} 1" mass="{AREA_DENSITY}"
    radius="{THICKNESS / 2}" pos="0.013 0.007 {HEIGHT}"><contact condim="1" selfcollide="auto"/>
    <elasticity young="{young}" poisson="{POISSON}" thickness="{THICKNESS}" elastic2d="both"/></flexcomp></worldbody></mujoco>"""


class HookeCloth:
    """Hooke's cloth."""

    def __init__(self, side: int, tolerance: float) -> None:
        self.model = hooke.Model(hooke.Scene.parse(hooke_scene(side, tolerance)), threads=1)
        self.sim = hooke.Sim(self.model)
        self.faces = np.asarray(self.model.faces, dtype=np.int32).reshape(-1, 3)
        self.iterations = 0

    def step(self) -> float:
        self.sim.step()
        info = self.sim.step_info
        self.iterations += info.iterations
        return float(info.gradient)

    def positions(self) -> Any:
        return np.array(self.sim.x)


class MujocoCloth:
    """MuJoCo's cloth."""

    def __init__(self, side: int) -> None:
        self.model = mujoco.MjModel.from_xml_string(mujoco_scene(side))
        self.data, self.after = mujoco.MjData(self.model), mujoco.MjData(self.model)
        self.faces = np.array(self.model.flex_elem, dtype=np.int32).reshape(-1, 3)
        self.iterations = 0
        self.before: Any = None

    def step(self) -> float:
        self.before = (self.data.qpos.copy(), self.data.qvel.copy())
        mujoco.mj_step(self.model, self.data)
        return float("nan")

    def residual(self) -> float:
        """The relative gradient; not part of the time of a step."""
        model, data, after = self.model, self.data, self.after
        self.iterations += int(data.solver_niter.max())
        after.qpos[:], after.qvel[:], after.time = data.qpos, data.qvel, data.time
        mujoco.mj_fwdPosition(model, after)
        mujoco.mj_fwdVelocity(model, after)
        force = after.qfrc_passive - after.qfrc_bias + data.qfrc_constraint
        gradient, moved = np.empty(model.nv), data.qpos - self.before[0]
        mujoco.mj_solveM(model, after, gradient.reshape(1, -1), force.reshape(1, -1))
        gradient = moved - H * self.before[1] - H * H * gradient
        weighted = np.empty(model.nv)
        mujoco.mj_mulM(model, after, weighted, gradient)
        norm = np.empty(model.nv)
        mujoco.mj_mulM(model, after, norm, moved)
        return float(np.sqrt((gradient @ weighted) / (moved @ norm)))

    def positions(self) -> Any:
        return np.array(self.data.flexvert_xpos)


def distance_of_center(x: Any, faces: Any) -> float:
    """Least distance of triangles from the center of the ball, by samples on each triangle: an upper bound."""
    best = float("inf")
    for i in range(9):
        for j in range(9 - i):
            a, b = i / 8, j / 8
            points = (1 - a - b) * x[faces[:, 0]] + a * x[faces[:, 1]] + b * x[faces[:, 2]]
            best = min(best, float(np.sqrt((points**2).sum(axis=1).min())))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description="Hooke and MuJoCo's penetration-free flex on the same cloth.")
    parser.add_argument("--side", type=int, default=31)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=120, help="of time at most")
    parser.add_argument("--tolerance", type=float, default=1e-2, help="of Hooke: the relative gradient")
    options = parser.parse_args()
    cloths: dict[str, Any] = {
        "Hooke": HookeCloth(options.side, options.tolerance),
        f"MuJoCo {mujoco.__version__}": MujocoCloth(options.side),
    }
    seconds: dict[str, list[float]] = {name: [] for name in cloths}
    residuals: dict[str, list[float]] = {name: [] for name in cloths}
    hits, nearest = dict.fromkeys(cloths, 0), dict.fromkeys(cloths, float("inf"))
    meshes = {
        name: ipctk.CollisionMesh(np.asfortranarray(cloth.positions()), ipctk.edges(cloth.faces), cloth.faces)
        for name, cloth in cloths.items()
    }
    end = time.monotonic() + options.seconds
    for _ in range(options.steps):
        if time.monotonic() > end:
            break
        for name, cloth in cloths.items():
            start = time.perf_counter()
            residual = cloth.step()
            seconds[name].append(time.perf_counter() - start)
            residuals[name].append(cloth.residual() if isinstance(cloth, MujocoCloth) else residual)
            x = cloth.positions()
            hits[name] += bool(ipctk.has_intersections(meshes[name], np.asfortranarray(x)))
            nearest[name] = min(nearest[name], distance_of_center(x, cloth.faces))
    print(f"{options.side} x {options.side} vertices, {len(seconds['Hooke'])} steps of {H} s, Hooke to {options.tolerance:g}")
    print("| | ms a step, median | mean | worst | iterations a step | residual, median | worst | intersections | from the ball, mm | lowest, m |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, cloth in cloths.items():
        ms, x = 1e3 * np.array(seconds[name]), cloth.positions()
        low = x[:, 1 if name == "Hooke" else 2].min()
        print(
            f"| {name} | {np.median(ms):.1f} | {ms.mean():.1f} | {ms.max():.0f} | {cloth.iterations / len(ms):.1f} "
            f"| {np.median(residuals[name]):.1e} | {max(residuals[name]):.1e} | {hits[name]} "
            f"| {1e3 * (nearest[name] - BALL):.2f} | {low:.3f} |"
        )
    ratios = np.array(seconds[f"MuJoCo {mujoco.__version__}"]) / np.array(seconds["Hooke"])
    total = sum(seconds[f"MuJoCo {mujoco.__version__}"]) / sum(seconds["Hooke"])
    print(f"ratio: median {np.median(ratios):.2f}, of the sums {total:.2f}; wanted 5: {'yes' if total >= 5 else 'NO'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

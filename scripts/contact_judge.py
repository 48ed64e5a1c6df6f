"""Judges contact by the IPC Toolkit, which shares no code with Hooke.

    contact_judge.py [--seconds S] [--starts N] [--total S] < SCENES

Reads scenes, one a line, as `contact_sweep --text` prints them, and runs each from N starts by the Python package: the first as it is, the
others with random displacements. After each step ipctk must find no intersection among the bodies and the obstacles that have
triangles (box, cylinder), and no two features of bodies that share no vertex may be closer than the thickness. Distances from balls,
capsules and the ground are measured by contact_judge_obstacles.py. The walk from one state to the next is not judged. One row of the table
is one scene at one step. Exit status 1 if a scene fails.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import contact_judge_obstacles as obstacles
import ipctk
import numpy as np

import hooke

# Pairs are searched up to this many times the thickness and the distance of contact together.
SEARCH = 2.0
# Largest displacement (m) of a start.
JITTER = 1e-3


def features_of(model: Any) -> tuple[Any, Any]:
    """Edges and faces: edges of all faces, and the springs along the lines of bodies that have no faces."""
    faces = np.asarray(model.faces, dtype=np.int32).reshape(-1, 3)
    of_faces = ipctk.edges(faces) if len(faces) else np.empty((0, 2), dtype=np.int32)
    has_faces = np.zeros(len(model), dtype=bool)
    for body in model.bodies:
        end = body.first + body.count
        has_faces[body.first : end] = ((faces >= body.first) & (faces < end)).any()
    springs = model.springs
    along = (springs.kind == 0) & ~has_faces[springs.indices[:, 0]]
    return np.vstack([of_faces, springs.indices[along]]).astype(np.int32), faces


def least_distance(mesh: Any, x: Any, reach: float) -> float:
    """Least distance (m) of features that share no vertex, or infinity above the reach."""
    pairs = ipctk.NormalCollisions()
    pairs.build(mesh, x, reach)
    if len(pairs) == 0:
        return float("inf")
    return float(np.sqrt(pairs.compute_minimum_distance(mesh, x)))


def touching_vertices(model: Any, edges: Any, faces: Any) -> Any:
    """Numbers of the vertices that can touch: those of edges and faces, and loose masses. Inner vertices of solids cannot."""
    used = np.zeros(len(model), dtype=bool)
    used[edges.ravel()] = used[faces.ravel()] = True
    for body in model.bodies:
        own = slice(body.first, body.first + body.count)
        used[own] |= not used[own].any()
    return np.flatnonzero(used)


class Judge:
    """Looks at the states of one scene."""

    def __init__(self, scene: dict[str, Any], model: Any, x: Any) -> None:
        self.scene, self.columns = scene, scene.get("dimension", 3)
        contact = next(force for force in scene["forces"] if isinstance(force, dict) and force["type"] == "contact")
        self.thickness = contact["thickness"]
        self.reach = SEARCH * (self.thickness + contact["distance"])
        edges, faces = features_of(model)
        self.own = touching_vertices(model, edges, faces)
        number = np.zeros(len(model), dtype=np.int32)
        number[self.own] = np.arange(len(self.own))
        self.edges, self.faces = number[edges], number[faces]
        x = x[self.own]
        self.solids = obstacles.solids(scene)
        faces = self.faces if self.columns == 3 else np.empty((0, 3), dtype=np.int32)
        self.bodies = ipctk.CollisionMesh(np.asfortranarray(x[:, : self.columns]), self.edges, faces)
        self.all, at, all_faces = self.bodies, len(x), [faces]
        for vertices, triangles, _ in self.solids:
            all_faces.append((triangles + at).astype(np.int32))
            at += len(vertices)
        if self.solids:
            lines = [self.edges] + [ipctk.edges(f).astype(np.int32) for f in all_faces[1:]]
            self.all = ipctk.CollisionMesh(self.together(x, 0), np.vstack(lines), np.vstack(all_faces))

    def together(self, x: Any, t: float) -> Any:
        """Vertices of the bodies and of the obstacles with triangles at time t (s)."""
        parts = [x[:, : self.columns]] + [obstacles.moved(motion, vertices, t) for vertices, _, motion in self.solids]
        return np.asfortranarray(np.vstack(parts))

    def look(self, x: Any, t: float) -> tuple[bool, float]:
        """Whether anything intersects, and the least gap (m)."""
        x = np.array(x)[self.own]
        intersects = bool(ipctk.has_intersections(self.all, self.together(x, t)))
        bodies = np.asfortranarray(x[:, : self.columns])
        distance = least_distance(self.bodies, bodies, self.reach)
        gap = distance - self.thickness
        if self.solids and not any(o["type"] == "cylinder" for o in self.scene["obstacles"]):
            nearest = least_distance(self.all, self.together(x, t), self.reach)
            if nearest < distance:  # of a body and a box, which has no thickness
                gap = min(gap, nearest - self.thickness / 2)
        outside = obstacles.least_gap(self.scene, x, self.edges, self.faces, t, self.thickness)
        return intersects, min(gap, outside)


class Account:
    """What the runs of one scene have shown."""

    def __init__(self) -> None:
        self.runs = self.frames = self.intersections = self.missed = self.late = self.vertices = 0
        self.least, self.slowest, self.errors = float("inf"), 0.0, set[str]()

    def failed(self) -> bool:
        return bool(self.intersections or self.errors or not self.least > 0)


def displace(model: Any, sim: Any, thickness: float, columns: int, seed: int) -> None:
    if seed == 0 or thickness == 0:
        return
    free = np.ones(len(model), dtype=bool)
    free[model.pins] = False
    sim.x[free, :columns] += JITTER * np.random.default_rng(seed).uniform(-1, 1, (free.sum(), columns))


def run(text: str, seed: int, seconds: float, account: Account) -> None:
    """Runs a scene from one start."""
    scene = json.loads(text)
    model = hooke.Model(hooke.Scene.parse(text), threads=1)
    sim = hooke.Sim(model)
    judge = Judge(scene, model, np.array(sim.x))
    displace(model, sim, judge.thickness, judge.columns, seed)
    account.runs += 1
    account.vertices = len(model)
    end = time.monotonic() + seconds
    while sim.time < scene["time"]["duration"] - 1e-9:
        if time.monotonic() > end:
            account.late += 1
            return
        before = time.monotonic()
        try:
            sim.step()
        except hooke.Error as problem:
            account.errors.add(f"start {seed} at {sim.time:.3f} s: {problem}")
            return
        account.slowest = max(account.slowest, time.monotonic() - before)
        account.missed += sim.step_info.reason in ("iterations", "stalled")
        intersects, least = judge.look(sim.x, sim.time)
        account.frames += 1
        account.intersections += intersects
        account.least = min(account.least, least)


def check_tools() -> None:
    """Raises AssertionError unless the distances agree with ipctk's and ipctk sees an intersection where there is one."""
    numbers = np.random.default_rng(1)
    for _ in range(200):
        p, q, a, b, c = numbers.uniform(-1, 1, (5, 3))
        own = obstacles.from_point(p, a[None], b[None], c[None])[0]
        assert abs(own - np.sqrt(ipctk.point_triangle_distance(p, a, b, c))) < 1e-9
        own = obstacles.segment_segment(p, q, a[None], b[None])[0]
        assert abs(own - np.sqrt(ipctk.edge_edge_distance(p, q, a, b))) < 1e-9
    x, triangles = obstacles.box({"size": (0.2, 0.2, 0.2)})
    sheet = np.array([[-1.0, 0.05, -1.0], [1.0, 0.05, -1.0], [0.0, 0.05, 2.0]])
    for height, intersects in ((0.0, True), (0.2, False)):
        at = np.asfortranarray(np.vstack([x, sheet + [0, height, 0]]))
        faces = np.vstack([triangles, [[8, 9, 10]]]).astype(np.int32)
        mesh = ipctk.CollisionMesh(at, ipctk.edges(faces), faces)
        assert bool(ipctk.has_intersections(mesh, at)) == intersects


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges contact by the IPC Toolkit.")
    parser.add_argument("--seconds", type=float, default=20, help="of time for each run")
    parser.add_argument("--starts", type=int, default=1, help="of each scene")
    parser.add_argument("--total", type=float, default=float("inf"), help="seconds for a scene: later starts are left out")
    options = parser.parse_args()
    check_tools()
    print(
        "| bodies and obstacles | vertices | h | runs | frames | frames with intersections | least gap (m) | steps not "
        "converged | slowest step (s) | runs cut short | error |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    failures = 0
    for line in sys.stdin:
        account, scene, end = Account(), json.loads(line), time.monotonic() + options.total
        for seed in range(options.starts):
            if time.monotonic() < end:
                run(line, seed, options.seconds, account)
        things = scene["bodies"][:2] + [{"name": o["type"]} for o in scene.get("obstacles", [])[:2]]
        print(
            f"| {', '.join(thing['name'] for thing in things)} | {account.vertices} | 1/{1 / scene['time']['step']:.0f} "
            f"| {account.runs} | {account.frames} | {account.intersections} | {account.least:.2g} | {account.missed} "
            f"| {account.slowest:.2f} | {account.late} | {'; '.join(sorted(account.errors))} |",
            flush=True,
        )
        failures += account.failed()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

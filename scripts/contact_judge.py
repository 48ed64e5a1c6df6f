"""Judges contact by the IPC Toolkit, which shares no code with Hooke.

    contact_judge.py [--seconds S] < SCENES

Reads scenes, one a line, as `contact_sweep --text` prints them, and runs them by the Python package. After each
step ipctk must find no intersection among the bodies, and no two features that share no vertex may be closer than the
thickness. The walk from the first state to the last is not judged, and obstacles are not part of the meshes. Exit
status 1 if a scene fails.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import ipctk
import numpy as np

import hooke

# Pairs are searched up to this many times the thickness and the distance of contact together.
SEARCH = 2.0


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


def judge(text: str, seconds: float) -> tuple[str, bool]:
    """Runs a scene; returns a row of the table and whether it failed."""
    scene = json.loads(text)
    contact = next(force for force in scene["forces"] if isinstance(force, dict) and force["type"] == "contact")
    thickness = contact["thickness"]
    reach = SEARCH * (thickness + contact["distance"])
    columns = scene.get("dimension", 3)
    model = hooke.Model(hooke.Scene.parse(text), threads=2)
    sim = hooke.Sim(model)
    edges, faces = features_of(model)
    mesh = ipctk.CollisionMesh(
        np.asfortranarray(sim.x[:, :columns]), edges, faces if columns == 3 else np.empty((0, 3), dtype=np.int32)
    )
    intersections, least, steps, error = 0, float("inf"), 0, ""
    end = time.monotonic() + seconds
    while sim.time < scene["time"]["duration"] and time.monotonic() < end:
        try:
            sim.step()
        except hooke.Error as problem:
            error = str(problem)
            break
        x = np.asfortranarray(sim.x[:, :columns])
        steps += 1
        intersections += bool(ipctk.has_intersections(mesh, x))
        least = min(least, least_distance(mesh, x, reach))
    failed = bool(intersections or error or not least > thickness)
    names = ", ".join(body["name"] for body in scene["bodies"][:3])
    row = f"| {names} | {len(model)} | {steps} | {intersections} | {least - thickness:.2g} | {error} |"
    return row, failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges contact by the IPC Toolkit.")
    parser.add_argument("--seconds", type=float, default=20, help="of time for each scene")
    seconds = parser.parse_args().seconds
    print("| bodies | vertices | steps | steps with intersections | least gap (m) | error |\n|---|---|---|---|---|---|")
    failures = 0
    for line in sys.stdin:
        row, failed = judge(line, seconds)
        print(row, flush=True)
        failures += failed
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Obstacles of a scene for contact_judge.py: their triangles at a time, and distances of a body from balls and capsules.

Written from docs/scene.md alone, so that it shares no code with Hooke either. Obstacles with a signed distance (plane, grid) and the
type `mesh` are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def rotation(axis: Any, degrees: float) -> Any:
    """Right-handed rotation about an axis, by Rodrigues' formula."""
    unit = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    cross = np.array([[0, -unit[2], unit[1]], [unit[2], 0, -unit[0]], [-unit[1], unit[0], 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def moved(motion: Any, x: Any, t: float) -> Any:
    """Positions of points x of an obstacle at time t (s)."""
    if motion is None:
        return x
    if motion["type"] == "keyframes":
        table = np.asarray(motion["table"], dtype=float)
        return x + np.array([np.interp(t, table[:, 0], table[:, 1 + c]) for c in range(3)])
    if motion["type"] == "rotation":
        center = np.asarray(motion.get("center", (0, 0, 0)), dtype=float)
        limit = motion.get("angle", float("inf"))
        turn = np.clip(motion["speed"] * t, -limit, limit)
        return center + (x - center) @ rotation(motion["axis"], turn).T
    raise ValueError(f"no motion {motion['type']} in the judge")


BOX_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def box(o: dict[str, Any]) -> tuple[Any, Any]:
    corners = np.array([[q >> 2 & 1, q >> 1 & 1, q & 1] for q in range(8)]) - 0.5
    x = corners * np.asarray(o.get("size", (1, 1, 1)), dtype=float)
    x = x @ rotation(o.get("axis", (0, 0, 1)), o.get("angle", 0)).T
    triangles = [[f[0], f[k], f[k + 1]] for f in BOX_FACES for k in (1, 2)]
    return x + np.asarray(o.get("center", (0, 0, 0)), dtype=float), np.array(triangles)


def cylinder(o: dict[str, Any]) -> tuple[Any, Any]:
    """The largest cylinder within the prism: what is outside of that one is outside of this one."""
    start, end, count = np.asarray(o["from"], dtype=float), np.asarray(o["to"], dtype=float), 256
    radius = o["radius"] * np.cos(np.pi / o.get("segments", 64))
    axis = (end - start) / np.linalg.norm(end - start)
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    angle = 2 * np.pi * np.arange(count) / count
    arms = radius * (np.outer(np.cos(angle), u) + np.outer(np.sin(angle), np.cross(axis, u)))
    x = np.vstack([start + arms, end + arms, [start, end]])
    triangles = []
    for s in range(count):
        n = (s + 1) % count
        triangles += [[s, n, count + n], [s, count + n, count + s], [n, s, 2 * count], [count + s, count + n, 2 * count + 1]]
    return x, np.array(triangles)


SOLIDS = {"box": box, "cylinder": cylinder}


def solids(scene: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """Vertices at time 0, triangles and motion of every obstacle with triangles."""
    found = []
    for o in scene.get("obstacles", []):
        if o["type"] in SOLIDS:
            found.append((*SOLIDS[o["type"]](o), o.get("motion")))
        elif o["type"] not in ("ball", "capsule"):
            raise ValueError(f"no obstacle {o['type']} in the judge")
    return found


def from_point(p: Any, a: Any, b: Any, c: Any) -> Any:
    """Distances of a point from triangles."""
    normal = np.cross(b - a, c - a)
    area = (normal**2).sum(axis=1)
    inside = np.ones(len(a), dtype=bool)
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(end - start, p - start) * normal).sum(axis=1) >= 0
    plane = np.abs(((p - a) * normal).sum(axis=1)) / np.sqrt(np.maximum(area, 1e-300))
    edges = np.minimum.reduce([point_segment(p, s, e) for s, e in ((a, b), (b, c), (c, a))])
    return np.where(inside & (area > 0), plane, edges)


def point_segment(p: Any, a: Any, b: Any) -> Any:
    """Distances of points from segments; arrays of one row fit any number of rows."""
    along = ((p - a) * (b - a)).sum(axis=-1) / np.maximum(((b - a) ** 2).sum(axis=-1), 1e-300)
    return np.linalg.norm(p - a - np.clip(along, 0, 1)[..., None] * (b - a), axis=-1)


def segment_segment(p: Any, q: Any, a: Any, b: Any) -> Any:
    """Distances of one segment from many: the least of the crossing of the lines and of the four ends."""
    d, e, r = q - p, b - a, p - a
    dd, ee, de = d @ d, (e**2).sum(axis=1), e @ d
    dr, er = r @ d, (e * r).sum(axis=1)
    det = dd * ee - de**2
    s = np.where(det > 1e-14 * dd * ee, (de * er - ee * dr) / np.where(det == 0, 1, det), 0)
    t = np.where(det > 1e-14 * dd * ee, (dd * er - de * dr) / np.where(det == 0, 1, det), 0)
    apart = np.linalg.norm(r + s[:, None] * d - t[:, None] * e, axis=1)
    crossing = np.where((det > 1e-14 * dd * ee) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1), apart, np.inf)
    ends = [point_segment(p, a, b), point_segment(q, a, b), point_segment(a, p, q), point_segment(b, p, q)]
    return np.minimum.reduce([crossing, *ends])


def least_gap(scene: dict[str, Any], x: Any, edges: Any, faces: Any, t: float, thickness: float) -> float:
    """Least gap (m) of bodies from balls, capsules and the ground; below 0: inside, or nearer than the thickness."""
    least, half = float("inf"), thickness / 2
    a, b, c = (x[faces[:, k]] for k in range(3))
    for o in scene.get("obstacles", []):
        if o["type"] == "ball":
            p = moved(o.get("motion"), np.asarray(o.get("center", (0, 0, 0)), dtype=float)[None], t)[0]
            parts = [np.linalg.norm(x - p, axis=1), from_point(p, a, b, c)]
            parts.append(point_segment(p, x[edges[:, 0]], x[edges[:, 1]]))
        elif o["type"] == "capsule":
            p, q = moved(o.get("motion"), np.array([o["from"], o["to"]], dtype=float), t)
            parts = [from_point(p, a, b, c), from_point(q, a, b, c)]
            parts.append(segment_segment(p, q, x[edges[:, 0]], x[edges[:, 1]]))
        else:
            continue
        least = min(least, min(float(part.min()) for part in parts if len(part)) - o["radius"] - half)
    for force in scene["forces"]:
        if isinstance(force, dict) and force.get("ground"):
            least = min(least, float(x[:, 1].min()) - force["height"] - half)
    return least

"""Contacts: what touches at a state, with forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Floats, Ints

__all__ = ["Contacts"]

_NAMES = ("body", "obstacle", "ground")  # in the order of HkContactKind


@dataclass(frozen=True, eq=False)
class Contacts:
    """What touches at a state: C contacts of N vertices with each other, with K obstacles and with
    the ground, as copies. len() is C.

    Side 0 of a contact is a body, side 1 a body, an obstacle or the ground. The force on side 0 is
    `forces`, that on side 1 the opposite. Forces have the stiffness of the step that led to the
    state: with backward_euler and bdf2 they are those that have acted in the step.
    """

    body: Ints  #: (C,) side 0: number in model.bodies
    other_kind: list[str]  #: (C,) side 1: body, obstacle or ground
    other: Ints  #: (C,) its number in model.bodies or model.obstacles; 0 for the ground
    vertices: Ints  #: (C, 4); -1: of an obstacle, or none
    split: Ints  #: (C,) how many of the four belong to side 0, the first ones
    weights: Floats  #: (C, 4): closest points are sum w x over side 0, and -sum w x over side 1
    points: Floats  #: (C, 3) in the middle of the gap [m]
    normals: Floats  #: (C, 3) unit vectors from side 1 to side 0
    gaps: Floats  #: (C,) between the surfaces [m]
    normal_forces: Floats  #: (C,) [N]
    friction: Floats  #: (C, 3) on side 0 [N]
    vertex_forces: Floats  #: (N, 3) of all contacts on each vertex [N]; (0, 3) without contact
    obstacle_forces: Floats  #: (K, 3) what each of model.obstacles exerts on bodies [N]
    obstacle_torques: Floats  #: (K, 3) about the origin [N m]
    ground_force: Floats  #: (3,) what the ground exerts on bodies [N]
    ground_torque: Floats  #: (3,) about the origin [N m]
    least_gap: float  #: m; inf: nothing touches
    energy: float  #: J: the part of contact in StateInfo.other
    friction_work: float  #: J, that friction has taken since the start
    searches: int  #: for close pairs, by this simulation; depends on its past

    def __len__(self) -> int:
        return len(self.gaps)

    @property
    def forces(self) -> Floats:
        """(C, 3) the force on side 0 of each contact [N]: normal_forces times normals, and friction."""
        total: Floats = self.normal_forces[:, None] * self.normals + self.friction
        return total

    @classmethod
    def _of(cls, flat: tuple[Any, ...]) -> Contacts:
        side, vertex, split, weight, point, normal, gap, force, friction = flat[:9]
        sides = np.frombuffer(side, np.int32).reshape(-1, 2, 2)
        reactions = np.frombuffer(flat[10]).reshape(-1, 2, 3)
        ground = np.frombuffer(flat[11]).reshape(2, 3)
        return cls(
            sides[:, 0, 1], [_NAMES[k] for k in sides[:, 1, 0]], sides[:, 1, 1],
            np.frombuffer(vertex, np.int32).reshape(-1, 4), np.frombuffer(split, np.int32),
            np.frombuffer(weight).reshape(-1, 4), np.frombuffer(point).reshape(-1, 3),
            np.frombuffer(normal).reshape(-1, 3), np.frombuffer(gap), np.frombuffer(force),
            np.frombuffer(friction).reshape(-1, 3), np.frombuffer(flat[9]).reshape(-1, 3),
            reactions[:, 0], reactions[:, 1], ground[0], ground[1], *flat[12:],
        )

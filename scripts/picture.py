#!/usr/bin/env python3
"""Draws frames of a run with the outputs pc2 (mesh.obj and mesh.pc2) side by side into a PNG.

    scripts/picture.py out/flag docs/flag.png 20 60 100 140

Wants numpy and matplotlib (Debian: python3-matplotlib). Faces are lit from the viewer's left; y points up.
"""
import struct
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection


def read_faces(path):
    faces = []
    with open(path) as file:
        for line in file:
            if line.startswith("f "):
                faces.append([int(word.split("/")[0]) - 1 for word in line.split()[1:]])
    return np.array(faces)


def read_frames(path):
    with open(path, "rb") as file:
        _, _, points, _, _, samples = struct.unpack("<12siiffi", file.read(32))
        return np.fromfile(file, "<f4").reshape(samples, points, 3)


def shade(points, faces):
    """Colours of the faces, lit by normals that are averaged over their neighbours."""
    corners = points[faces]
    normal = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3 % corners.shape[1]] - corners[:, 1])
    at_vertex = np.zeros_like(points)
    for corner in range(faces.shape[1]):
        np.add.at(at_vertex, faces[:, corner], normal)
    normal = at_vertex[faces].sum(1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-30
    light = np.array([-0.66, 0.36, 0.66])
    bright = 0.25 + 0.75 * np.abs(normal @ light)
    return np.clip(bright[:, None] * np.array([0.92, 0.36, 0.25]), 0, 1)


def main():
    folder, picture, chosen = sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]]
    faces, frames = read_faces(folder + "/mesh.obj"), read_frames(folder + "/mesh.pc2")
    low, high = frames[chosen].min((0, 1)), frames[chosen].max((0, 1))
    figure = plt.figure(figsize=(3.2 * len(chosen), 3))
    for place, frame in enumerate(chosen):
        axes = figure.add_subplot(1, len(chosen), place + 1, projection="3d", proj_type="persp")
        corners = frames[frame][faces]
        drawn = corners[:, :, [0, 2, 1]] * [1, -1, 1]  # matplotlib's z points up
        colours = shade(frames[frame], faces)
        axes.add_collection3d(
            Poly3DCollection(drawn, facecolors=colours, edgecolors=colours, linewidths=0.3))
        axes.set(xlim=(low[0], high[0]), ylim=(-high[2], -low[2]), zlim=(low[1], high[1]))
        axes.set_box_aspect((high - low)[[0, 2, 1]] + 1e-6, zoom=1.3)
        axes.view_init(elev=12, azim=-65)
        axes.set_axis_off()
    figure.subplots_adjust(0, 0, 1, 1, 0, 0)
    figure.savefig(picture, dpi=100, facecolor="white")


main()

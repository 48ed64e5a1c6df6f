#!/usr/bin/env python3
"""Draws docs/robustness.csv as a heat map: scripts/robustness_picture.py ROWS.csv PICTURE.svg

One panel a method, one row a scene, one block of columns a stiffness, one column a step length. A cell
is colored by the number of steps out of 100 that did not converge, or marked as a blow-up. Plain SVG on
a light background of its own, so that it can be read on light and dark pages.
"""

import csv
import sys
from xml.sax.saxutils import escape

CELL = 15  # px
GAP = 5  # px between stiffnesses
LABELS = 100  # px for the names of scenes
HEAD = 66  # px of a panel's title and its columns' labels
MARGIN = 16  # px
COLUMNS = 2  # panels side by side

INK, FAINT, PAPER = "#1f2933", "#52606d", "#ffffff"
BLOWUP = "#111111"
# Largest count of steps of a color, from light to dark; more than the last: all steps.
COLORS = [(0, "#dfe9ee", "all 100 steps converged"), (9, "#fdd49e", "1 to 9 did not"),
          (49, "#fc8d59", "10 to 49"), (99, "#d7301f", "50 to 99"), (100, "#7f0000", "none converged")]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    head, rows = rows[0], rows[1:]
    steps = [name.removeprefix("h = ").removesuffix(" s") for name in head[3:-1]]
    return steps, rows


def unique(values):
    return list(dict.fromkeys(values))


def text(x, y, words, size=11, anchor="start", color=INK, extra=""):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{color}"{extra}>{escape(words)}</text>')


class Cells:
    """Squares by color, one path a color, so that the file stays small."""

    def __init__(self):
        self.paths = {}

    def add(self, x, y, value):
        side = CELL - 1
        blowup = value.startswith("blow-up")
        color = BLOWUP if blowup else next(color for most, color, _ in COLORS if int(value) <= most)
        self.paths.setdefault(color, []).append(f"M{x:g} {y:g}h{side}v{side}h-{side}z")
        if blowup:
            cross = f"M{x + 4:g} {y + 4:g}l{side - 8} {side - 8}m0 {8 - side}l{8 - side} {side - 8}"
            self.paths.setdefault("cross", []).append(cross)

    def svg(self):
        cross = self.paths.pop("cross", [])
        parts = [f'<path fill="{color}" d="{"".join(path)}"/>' for color, path in self.paths.items()]
        return parts + [f'<path stroke="#fff" stroke-width="1.6" fill="none" d="{"".join(cross)}"/>']


def panel(cells, method, rows, steps, scenes, stiffnesses, left, top):
    block = len(steps) * CELL + GAP
    parts = [text(left + LABELS, top + 13, method, 13, extra=' font-weight="600"')]
    for k, stiffness in enumerate(stiffnesses):
        x = left + LABELS + k * block
        parts.append(text(x + (block - GAP) / 2, top + 30, f"k = {float(stiffness):g}", 10, "middle", FAINT))
        for s, step in enumerate(steps):
            at = x + s * CELL + CELL / 2 + 3
            parts.append(text(at, top + HEAD - 4, step, 8.5, "start", FAINT,
                              f' transform="rotate(-90 {at:g} {top + HEAD - 4})"'))
    for r, scene in enumerate(scenes):
        y = top + HEAD + r * CELL
        parts.append(text(left + LABELS - 6, y + CELL - 4, scene, 11, "end"))
        for k, stiffness in enumerate(stiffnesses):
            values = rows[(scene, stiffness, method)]
            for s, value in enumerate(values):
                cells.add(left + LABELS + k * block + s * CELL, y, value)
    return parts


def legend(cells, left, top):
    parts, x = [], left
    for label, value in [(words, str(most)) for most, _, words in COLORS] + [("blow-up", "blow-up")]:
        cells.add(x, top, value)
        parts.append(text(x + CELL + 5, top + CELL - 3, label))
        x += CELL + 30 + 6.1 * len(label)
    return parts


def draw(steps, rows):
    scenes, stiffnesses, methods = (unique(row[q] for row in rows) for q in range(3))
    values = {tuple(row[:3]): row[3:-1] for row in rows}
    wide = LABELS + len(stiffnesses) * (len(steps) * CELL + GAP) + MARGIN
    high = HEAD + len(scenes) * CELL + MARGIN
    lines = -(-len(methods) // COLUMNS)
    width, height = 2 * MARGIN + COLUMNS * wide, 2 * MARGIN + 52 + lines * high
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="system-ui, sans-serif" role="img">',
             "<title>Steps that did not converge, by method, scene, stiffness and step length</title>",
             f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
             text(MARGIN, MARGIN + 12, "Steps out of 100 that did not converge. Rows: scenes. Columns: stiffness k "
                  "in N/m and, within it, step length h in s.", 12, color=FAINT)]
    cells = Cells()
    parts += legend(cells, MARGIN, MARGIN + 24)
    for q, method in enumerate(methods):
        parts += panel(cells, method, values, steps, scenes, stiffnesses, MARGIN + q % COLUMNS * wide,
                       MARGIN + 52 + q // COLUMNS * high)
    return "\n".join(parts + cells.svg() + ["</svg>", ""])


def main():
    source, target = sys.argv[1:3]
    picture = draw(*read(source))
    with open(target, "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()

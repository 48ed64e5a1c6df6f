"""Makes one row a scene of the table that contact_sweep prints: contact_table.py < TABLE."""

from __future__ import annotations

import sys
from typing import Any


def rows_of(lines: Any) -> list[dict[str, str]]:
    """Rows of a Markdown table as dictionaries by the names of its columns."""
    table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    return [dict(zip(table[0], row)) for row in table[2:] if len(row) == len(table[0])]


def row(scene: str, runs: list[dict[str, str]]) -> str:
    def column(name: str) -> list[float]:
        return [float(run[name]) for run in runs]

    steps = column("steps")
    total = sum(steps) or 1
    mean = sum(a * b for a, b in zip(column("iterations a step"), steps)) / total
    ms = sum(a * b for a, b in zip(column("ms a step"), steps)) / total
    short = sum("time was over" in run[""] for run in runs)
    errors = sorted({run[""].replace("time was over", "").strip() for run in runs} - {""})
    return (
        f"| {scene} | {runs[0]['vertices']} | {len(runs)} | {sum(steps):.0f} | {sum(column('crossings')):.0f} "
        f"| {sum(column('escapes')):.0f} | {min(column('by hand')):.2g} | {mean:.1f} | {max(column('worst')):.0f} "
        f"| {sum(column('not converged')):.0f} | {ms:.1f} | {short} | {'; '.join(errors)} |"
    )


def main() -> None:
    scenes: dict[str, list[dict[str, str]]] = {}
    for run in rows_of(sys.stdin):
        scenes.setdefault(run["scene"], []).append(run)
    print(
        "| scene | vertices | runs | steps | crossings | escapes | least gap (m) | iterations a step | worst | not converged "
        "| ms a step | runs cut short | errors |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for scene, runs in scenes.items():
        print(row(scene, runs))


if __name__ == "__main__":
    main()

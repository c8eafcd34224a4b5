#!/usr/bin/env python3
"""Draws the simulated fleets that `minilab-bench scale` prints (ops/bench/run scale).

usage: minilab-bench scale | ops/bench/scale_plot.py FILE.svg
"""

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import plotting  # noqa: E402

SLOTS = 4  # of each worker of the simulation
CELL_WIDTH, CELL_HEIGHT = 560, 340


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 64 if len(sys.argv) != 2 else 0
    titles: dict[str, str] = {}
    outcomes: dict[str, str] = {}
    rows = defaultdict(list)
    for line in sys.stdin:
        if line.startswith("# "):
            name, outcome = line[2:].strip().split(": ", 1)
            outcomes[name] = outcome
            continue
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 6 and fields[2].isdigit():
            titles[fields[0]] = fields[1]
            rows[fields[0]].append([int(field) for field in fields[2:]])
    if not rows:
        print("scale_plot: no rows of minilab-bench scale on standard input", file=sys.stderr)
        return 65
    picture = plotting.Picture(2 * CELL_WIDTH, 56 + CELL_HEIGHT * ((len(rows) + 1) // 2), "Fleets that follow the work")
    picture.text(16, 28, "Fleets that follow the work", "big")
    picture.text(16, 46, "Simulated by the formula of /v1/scale; the work should be done within 10 minutes", "faint")
    for index, (name, moments) in enumerate(rows.items()):
        left = index % 2 * CELL_WIDTH + 84
        top = 56 + index // 2 * CELL_HEIGHT
        width = CELL_WIDTH - 100
        minutes = moments[-1][0] / 60
        picture.text(left - 68, top + 26, titles[name], "title")
        picture.text(left - 68, top + 44, outcomes[name].split(", peak")[0], "faint")
        plotting.panel(
            picture, left, top + 78, width, 90, "jobs that wait or run",
            [("jobs that wait or run", "c", [(row[0] / 60, row[1]) for row in moments])], minutes, None,
        )
        plotting.panel(
            picture, left, top + 200, width, 90, "workers",
            [
                ("busy (slots ÷ 4)", "a", [(row[0] / 60, row[3] / SLOTS) for row in moments]),
                ("workers", "b", [(row[0] / 60, row[2]) for row in moments]),
            ],
            minutes, "minutes",
        )
    Path(sys.argv[1]).write_text(picture.svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

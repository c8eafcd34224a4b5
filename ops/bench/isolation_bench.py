"""Renders photos by a warm child and by a fresh one each, in turns; see ops/bench/isolation."""

import argparse
import os
import statistics
import sys
import time

from render_child import Child, Refused

RECIPE = {"filters": [{"name": "CISepiaTone", "inputIntensity": 0.8}], "output": {"format": "jpeg", "quality": 0.9}}


def by_fresh(given, photo):
    """CPU and wall time in seconds of a child that is started for one photo and ends after it."""
    start = time.monotonic()
    child = Child(given.child, given.folder)
    child.inspect(photo, RECIPE)
    child.render(photo, RECIPE)
    cpu = child.close()
    return cpu, time.monotonic() - start


def by_warm(child, photo):
    """The same of a photo among others."""
    _, inspected = child.inspect(photo, RECIPE)
    rendered = child.render(photo, RECIPE)
    return inspected.cpu + rendered.cpu, inspected.wall + rendered.wall


def row(name, warm, fresh):
    cells = []
    for place in (0, 1):
        one, other = ([taken[place] * 1000 for taken in rows] for rows in (warm, fresh))
        extra = statistics.median(b - a for a, b in zip(one, other))
        cells += [f"{statistics.median(one):.1f} ({min(one):.1f})", f"{statistics.median(other):.1f} ({min(other):.1f})",
                  f"+{extra:.0f}"]
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--child", required=True)
    arguments.add_argument("--folder", required=True)
    arguments.add_argument("--rounds", type=int, required=True)
    arguments.add_argument("photos", nargs="+")
    given = arguments.parse_args()
    child = Child(given.child, given.folder)
    try:
        gaps = [gap["measure"] for gap in child.confinement()]
        print(f"User {os.getuid()}; not in force: {', '.join(gaps) or 'nothing'}; load {os.getloadavg()[0]:.1f}. "
              f"{given.rounds} rounds, ms, median (least), and the median difference.\n")
        print("| | CPU, warm | CPU, fresh | | wall, warm | wall, fresh | |\n|---|---:|---:|---:|---:|---:|---:|")
        for photo in given.photos:
            by_warm(child, photo)
            pairs = [(by_warm(child, photo), by_fresh(given, photo)) for _ in range(given.rounds)]
            print(row(os.path.basename(photo), *zip(*pairs)), flush=True)
    except Refused as refused:
        sys.exit(f"isolation: {refused}")
    child.close()


if __name__ == "__main__":
    main()

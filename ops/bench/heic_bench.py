"""Drives a warm minilab-render over HEICs of 12, 48 and 200 megapixels, beside libavcodec and libjpeg-turbo alone.

The photos have the tiles of one photo of an iPhone (Tests/Fixtures/LICENSES.md), once, twice and four times as wide and high.
The child and the limit take turns, so that both see the same load; each prints the minimum of its processor times.
"""

import argparse
import json
import os
import subprocess
import sys

from render_child import Child, Refused

SEPIA = [{"name": "CISepiaTone", "inputIntensity": 0.8}]
QUALITY = 0.9
TIMES = (1, 2, 4)


def main():
    arguments = argparse.ArgumentParser()
    for name in ("child", "limit", "photo", "folder"):
        arguments.add_argument("--" + name, required=True)
    arguments.add_argument("--repetitions", type=int, default=7)
    arguments.add_argument("times", type=int, nargs="*", choices=TIMES, default=list(TIMES))
    given = arguments.parse_args()
    print(f"{os.path.basename(given.photo)}, {given.repetitions} photos each\n")
    print("| | lane | CPU s (min) | limit | ratio | estimate s | peak MB | of estimate |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for times in given.times:
        photo, tiles = made(given, times)
        row(given, photo, tiles, {"filters": SEPIA, "output": {"format": "jpeg", "quality": QUALITY}})


def made(given, times):
    """A HEIC and what the limit reads of it."""
    maker = os.path.join(os.path.dirname(__file__), "heic_photos.py")
    photo, tiles = (os.path.join(given.folder, f"photo-{times}.{suffix}") for suffix in ("heic", "tiles"))
    subprocess.run([sys.executable, maker, "grid", given.photo, str(times), photo], check=True)
    subprocess.run([sys.executable, maker, "tiles", photo, tiles], check=True)
    return photo, tiles


def row(given, photo, tiles, recipe):
    child = Child(given.child, given.folder)
    uses, limits = [], []
    try:
        inspected, _ = child.inspect(photo, recipe)
        for _ in range(given.repetitions + 1):
            uses.append(child.render(photo, recipe))
            limits.append(limit(given, tiles))
    except Refused as refused:
        sys.exit(f"heic: {refused}")
    child.close()
    cpu, least = min(use.cpu for use in uses[1:]), min(one["cpu_min"] for one in limits)
    peak, estimate = max(use.peak_bytes for use in uses), inspected["memoryBytes"]
    plan = inspected["plan"]
    size = limits[0]["width"] * limits[0]["height"] / 1e6
    print(f"| {size:.0f} MP | {plan['lane']} | {cpu:.3f} | {least:.3f} | {cpu / least:.2f} "
          f"| {plan['estimate']['cpuSeconds']:.2f} | {peak / 1e6:.1f} | {peak / estimate:.2f} |", flush=True)


def limit(given, tiles):
    text = subprocess.run([given.limit, tiles, "1"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


if __name__ == "__main__":
    main()

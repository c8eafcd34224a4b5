"""Measures what a JPEG is spared by not becoming RGB, against libjpeg-turbo, jpegtran and libvips.

Called by ops/bench/render. Processor time of all threads, the least of N photos; each pair is
measured in turns, so that a busy machine is busy for both.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import render_child

QUALITY = 90
PREVIEW_SIDE = 1024
ONE = [{"name": "CISepiaTone", "inputIntensity": 0.8}]
EIGHT = [
    {"name": "CIExposureAdjust", "inputEV": 0.3},
    {"name": "CITemperatureAndTint", "inputTargetNeutral": [5500, 0]},
    {"name": "CIColorControls", "inputSaturation": 1.2, "inputContrast": 1.05},
    {"name": "CIToneCurve", "inputPoint1": [0.25, 0.2]},
    {"name": "CIVibrance", "inputAmount": 0.4},
    {"name": "CIHueAdjust", "inputAngle": 0.1},
    {"name": "CISepiaTone", "inputIntensity": 0.3},
    {"name": "CIVignetteEffect", "inputCenter": [3000, 2000], "inputRadius": 2500, "inputIntensity": 0.6},
]
CUBE_SIDE = 12  # what an edit of 64 KB has room for; a table of any size becomes looked-up colours alike
CUBE = [{"name": "CIColorCube", "inputCubeDimension": CUBE_SIDE, "inputCubeData": [
    number for b in range(CUBE_SIDE) for g in range(CUBE_SIDE) for r in range(CUBE_SIDE)
    for number in (g / (CUBE_SIDE - 1), r / (CUBE_SIDE - 1), b / (CUBE_SIDE - 1), 1)]}]


class Warm:
    """A warm minilab-render."""

    def __init__(self, given):
        self.photo, self.child = given.photo, render_child.Child(given.child, given.folder)

    def ask(self, filters, longest_side=None):
        recipe = {"filters": filters, "output": {"format": "jpeg", "quality": QUALITY / 100}}
        self.child.ask_to_render(self.photo, recipe, [{"longestSide": longest_side} if longest_side else {}])

    def answer(self):
        try:
            _, use = self.child.answer()
        except render_child.Refused as refused:
            sys.exit(f"jpeg_bench: {refused}")
        return use.cpu

    def cpu(self, filters, longest_side=None):
        self.ask(filters, longest_side)
        return self.answer()

    def close(self):
        self.child.close()


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def limit_cpu(given):
    text = subprocess.run([given.limit, given.photo, "2"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["cpu_min"]


def thumbnail_cpu(given):
    """In this process, which is as warm as a render child."""
    import pyvips

    pyvips.cache_set_max(0)
    start = time.process_time()
    small = pyvips.Image.thumbnail(given.photo, PREVIEW_SIDE, height=PREVIEW_SIDE)
    small.jpegsave(os.path.join(given.folder, "bench-thumbnail.jpg"), Q=QUALITY)
    return time.process_time() - start


def least(repetitions, ours, peer):
    """The least of each, measured in turns after a warm-up."""
    pairs = [(ours(), peer()) for _ in range(repetitions + 1)][1:]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def wall(starts_at_once):
    """Seconds until all are done."""
    start = time.monotonic()
    for ends in [begin() for begin in starts_at_once]:
        ends()
    return time.monotonic() - start


def gain(repetitions, begins):
    """How much sooner two are done at once than one after the other."""
    for begin in begins:
        begin()()
    alone = min(wall(begins[:1]) for _ in range(repetitions))
    both = min(wall(begins) for _ in range(repetitions))
    return 2 * alone / both


def gains(given):
    """Of two warm children, and of two processes of the limit: what this machine's cores can give."""
    children = [Warm(given) for _ in range(2)]

    def begin_child(child):
        def begin():
            child.ask(ONE)
            return child.answer
        return begin

    def begin_limit():
        return subprocess.Popen([given.limit, given.photo, "4"], stdout=subprocess.DEVNULL).wait

    ours = gain(given.repetitions, [begin_child(child) for child in children])
    for child in children:
        child.close()
    return ours, gain(given.repetitions, [begin_limit, begin_limit])


def main():
    arguments = argparse.ArgumentParser()
    for name in ("child", "limit", "turn", "photo", "folder"):
        arguments.add_argument("--" + name, required=True)
    arguments.add_argument("--repetitions", type=int, default=7)
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    child = Warm(given)
    turned = os.path.join(given.folder, "bench-turned.jpg")
    count = given.repetitions
    rows = [
        ("one filter, over decode + encode", 1.2,
         least(count, lambda: child.cpu(ONE), lambda: limit_cpu(given))),
        ("eight filters, over decode + encode", 1.6,
         least(count, lambda: child.cpu(EIGHT), lambda: limit_cpu(given))),
        ("seven of them without the vignette, over decode + encode", 1.6,
         least(count, lambda: child.cpu(EIGHT[:7]), lambda: limit_cpu(given))),
        ("CIColorCube, over decode + encode", 1.6,
         least(count, lambda: child.cpu(CUBE), lambda: limit_cpu(given))),
    ]
    if not given.no_peer:
        rows += [
            ("turn by 90°, over jpegtran", 1.1,
             least(count, lambda: cpu_of([given.turn, given.photo, turned]),
                   lambda: cpu_of(["jpegtran", "-copy", "all", "-rotate", "90", "-outfile", turned, given.photo]))),
            (f"preview of {PREVIEW_SIDE} px with a filter, over libvips' thumbnail", 1.0,
             least(count, lambda: child.cpu(ONE, PREVIEW_SIDE), lambda: thumbnail_cpu(given))),
        ]
    child.close()
    print("\n| a JPEG's own ways | CPU s | theirs | ratio | goal |")
    print("|---|---:|---:|---:|---:|")
    for name, goal, (ours, theirs) in rows:
        print(f"| {name} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} | {goal} |")
    ours, bound = gains(given)
    print(f"\nTwo photos at once are done {ours:.2f} × as fast as one after the other; two processes of the "
          f"limit {bound:.2f} ×.")


if __name__ == "__main__":
    main()

"""Measures blurs of one photo: minilab-render beside libvips at the same accuracy, and prints a table.

Each contender is a process of its own: one warm-up, then N photos. Processor time counts all threads,
user and system. libvips blurs encoded values with integers and a kernel cut at 0.02 % of its height
(Minilab blurs linear light, exact to a code, which libvips would need floats for: slower still).
"""

import argparse
import json
import math
import os
import time

import render_bench

EDITS = [
    ("CIGaussianBlur", {"inputRadius": 2}), ("CIGaussianBlur", {"inputRadius": 8}),
    ("CIGaussianBlur", {"inputRadius": 100}), ("CIGaussianBlur", {"inputRadius": 500}),
    ("CIMotionBlur", {"inputRadius": 200}),
    ("CIMotionBlur", {"inputRadius": 200, "inputAngle": 0.5}),
    ("CIMotionBlur", {"inputRadius": 200, "inputAngle": 1.2}),
    ("CIMotionBlur", {"inputRadius": 200, "inputAngle": math.pi / 2}),
    ("CIBoxBlur", {"inputRadius": 40}), ("CIDiscBlur", {"inputRadius": 20}), ("CIMedianFilter", {}),
    ("CIUnsharpMask", {}), ("CISharpenLuminance", {}), ("CIBloom", {}),
    ("CIHighlightShadowAdjust", {"inputShadowAmount": 0.5}), ("CIPixellate", {}), ("CIEdges", {}),
]
PEER_RADII = [2, 8]


def main():
    arguments = argparse.ArgumentParser()
    for name in ("child", "limit", "photo", "folder", "peer"):
        arguments.add_argument("--" + name)
    arguments.add_argument("--repetitions", type=int, default=5)
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    if given.peer:
        return measure_peer(given)
    limit = render_bench.limit(given)
    print("| | CPU s (min) | × limit | peak MB |")
    print("|---|---:|---:|---:|")
    show("libjpeg-turbo decode + encode (limit)", limit, limit)
    for name, parameters in EDITS:
        words = " ".join(f"{key[5:].lower()} {value:.3g}" for key, value in parameters.items())
        filters = [{"name": name, **parameters}]
        show(f"{name} {words}".strip(), render_bench.minilab(given, filters), limit)
    for radius in () if given.no_peer else PEER_RADII:
        row = render_bench.in_process(given, str(radius), __file__, "--peer")
        show(f"libvips gaussblur {radius}, encoded values", row, limit)


def show(name, row, limit):
    print(f"| {name} | {row['cpu_min']:.3f} | {row['cpu_min'] / limit['cpu_min']:.2f} "
          f"| {row['peak_bytes'] / 1e6:.0f} |", flush=True)


def measure_peer(given):
    import resource
    import pyvips
    pyvips.cache_set_max(0)
    cpu, wall = [], []
    for number in range(given.repetitions + 1):
        cpu_start, start = time.process_time(), time.monotonic()
        image = pyvips.Image.new_from_file(given.photo, access="sequential")
        image.gaussblur(float(given.peer), min_ampl=0.0002, precision="integer").jpegsave(
            os.path.join(given.folder, "bench-peer.jpg"), Q=90, subsample_mode="on")
        if number > 0:
            cpu.append(time.process_time() - cpu_start)
            wall.append(time.monotonic() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(render_bench.summary(cpu, wall, peak)))


if __name__ == "__main__":
    main()

"""Drives a warm minilab-render and its peers over one photo and prints a table.

Each contender runs in a process of its own: one warm-up, then N photos. Processor time counts all
threads, user and system. The edit is CISepiaTone 0.8 in linear light, JPEG quality 90, 4:2:0; a
contender that works on encoded values instead, and so makes another picture, is marked.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

from render_child import Child, Refused

INTENSITY = 0.8
QUALITY = 90
SEPIA_FILTER = [{"name": "CISepiaTone", "inputIntensity": INTENSITY}]


def main():
    arguments = argparse.ArgumentParser()
    for name in ("child", "limit", "photo", "folder", "one"):
        arguments.add_argument("--" + name)
    arguments.add_argument("--repetitions", type=int, default=7)
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    if given.one:
        return measure_here(given)

    rows = [("libjpeg-turbo decode + encode (limit)", limit(given)), ("minilab-render", minilab(given))]
    for name in () if given.no_peer else ("pyvips linear light", "pyvips encoded *", "Pillow encoded *"):
        rows.append((name, in_process(given, name)))
    if shutil.which("convert") and not given.no_peer:
        rows.append(("ImageMagick encoded *", imagemagick(given)))
    base = rows[0][1]
    print(f"{os.path.basename(given.photo)}, {os.path.getsize(given.photo)} bytes, "
          f"{given.repetitions} photos each\n")
    print("| | CPU s (min) | CPU s (median) | × limit | wall s (median) | × limit | peak MB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, row in rows:
        print(f"| {name} | {row['cpu_min']:.3f} | {row['cpu_median']:.3f} "
              f"| {row['cpu_min'] / base['cpu_min']:.2f} | {row['wall_median']:.3f} "
              f"| {row['wall_median'] / base['wall_median']:.2f} | {row['peak_bytes'] / 1e6:.0f} |")
    print("\n\\* on sRGB codes, a simpler edit than Core Image's.")


def summary(cpu, wall, peak):
    return {"cpu_min": min(cpu), "cpu_median": statistics.median(cpu),
            "wall_median": statistics.median(wall), "peak_bytes": peak}


def limit(given):
    text = subprocess.run([given.limit, given.photo, str(given.repetitions)],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def minilab(given, filters=SEPIA_FILTER):
    child = Child(given.child, given.folder)
    recipe = {"filters": filters, "output": {"format": "jpeg", "quality": QUALITY / 100}}
    try:
        uses = [child.render(given.photo, recipe) for _ in range(given.repetitions + 1)]
    except Refused as refused:
        sys.exit(f"render: {refused}")
    child.close()
    warm = uses[1:]
    return summary([use.cpu for use in warm], [use.wall for use in warm], max(use.peak_bytes for use in uses))


def in_process(given, name, script=__file__, option="--one"):
    """Runs one Python contender in a process of its own, so that its peak is its own."""
    command = [sys.executable, script, option, name, "--photo", given.photo,
               "--folder", given.folder, "--repetitions", str(given.repetitions)]
    text = subprocess.run(command, check=True, capture_output=True, text=True,
                          env=dict(os.environ, VIPS_CONCURRENCY="1")).stdout
    return json.loads(text)


def measure_here(given):
    output = os.path.join(given.folder, "bench-peer.jpg")
    edit = {"pyvips linear light": pyvips_linear, "pyvips encoded *": pyvips_encoded,
            "Pillow encoded *": pillow}[given.one]
    cpu, wall = [], []
    for number in range(given.repetitions + 1):
        cpu_start, start = time.process_time(), time.monotonic()
        edit(given.photo, output)
        if number > 0:
            cpu.append(time.process_time() - cpu_start)
            wall.append(time.monotonic() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(summary(cpu, wall, peak)))


def pyvips_linear(source, output):
    import pyvips
    pyvips.cache_set_max(0)
    image = pyvips.Image.new_from_file(source, access="sequential").colourspace("scrgb")
    light = image.recomb([[0.2125, 0.7154, 0.0721]])
    brown = (light ** 0.8).bandjoin([light ** 1.1, light ** 2])
    mixed = image * (1 - INTENSITY) + brown * INTENSITY
    mixed.copy(interpretation="scrgb").colourspace("srgb").jpegsave(
        output, Q=QUALITY, subsample_mode="on")


# The sepia matrix of W3C Filter Effects, mixed with the photo.
SEPIA = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
MIXED = [[INTENSITY * w + (1 - INTENSITY) * (row == column) for column, w in enumerate(line)]
         for row, line in enumerate(SEPIA)]


def pyvips_encoded(source, output):
    import pyvips
    pyvips.cache_set_max(0)
    image = pyvips.Image.new_from_file(source, access="sequential")
    image.recomb(MIXED).cast("uchar").jpegsave(output, Q=QUALITY, subsample_mode="on")


def pillow(source, output):
    from PIL import Image
    image = Image.open(source)
    flat = [number for line in MIXED for number in line + [0]]
    image.convert("RGB", flat).save(output, quality=QUALITY, subsampling="4:2:0")


def imagemagick(given):
    matrix = " ".join(" ".join(str(number) for number in line) for line in MIXED)
    command = ["convert", given.photo, "-color-matrix", matrix, "-quality", str(QUALITY),
               "-sampling-factor", "4:2:0", os.path.join(given.folder, "bench-peer.jpg")]
    cpu, wall, peak = [], [], 0
    for number in range(given.repetitions + 1):
        start = time.monotonic()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"render: convert ended with {status}")
        if number > 0:
            cpu.append(usage.ru_utime + usage.ru_stime)
            wall.append(time.monotonic() - start)
            peak = max(peak, usage.ru_maxrss * 1024)
    return summary(cpu, wall, peak)


if __name__ == "__main__":
    main()

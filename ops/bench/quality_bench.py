"""Encodes photos at many qualities and finds which of them are equally good by SSIM.

SSIM is that of Wang et al. 2004 on luma: a Gaussian window of sigma 1.5, K1 = 0.01, K2 = 0.03. Means are
taken of -10 log10(1 - SSIM), in which steps of quality are about equally long.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import pyvips
except ImportError:
    numpy = pyvips = None  # they come from PyPI, and a tile alone needs neither

# Qualities of JPEG that stand for `quality`; between them the table is read by straight lines.
KNOTS = (10, 30, 50, 60, 70, 80, 85, 90, 95, 98)
TRIED = (5, 10, 20, 30, 40, 50, 55, 60, 65, 70, 75, 80, 85, 90, 94, 97, 100)
SIDE_MAX = 1024
# As Sources/Codecs/Vips/Image+Savers.swift has them.
SAVERS = {
    "jpeg": ("jpegsave_buffer", {}),
    "webp": ("webpsave_buffer", {"effort": 2}),
    "avif": ("heifsave_buffer", {"compression": "av1", "effort": 0}),
    "jxl": ("jxlsave_buffer", {"effort": 3}),
}
# HEIC is coded by x265 in tiles as Sources/Codecs/HEIC does it (tiles.c): constant rate factors, less is better.
RATES = (51, 46, 42, 38, 35, 32, 29, 26, 23, 20, 17, 14, 10, 5)
PRESET = "ultrafast"
TILE = 512
# How hard encoders may try, compared at the SSIM of this quality of JPEG.
EFFORTS = {
    "webp": (0, 1, 2, 4), "avif": (0, 1, 2, 3), "jxl": (1, 2, 3, 4, 5, 7),
    "heic": ("ultrafast", "ultrafast aq-mode=1:aq-strength=0.5", "superfast ctu=16", "superfast", "veryfast", "medium"),
}
COMPARED = 90
NEAR = (75, 80, 85, 90, 94, 97)
NEAR_RATES = (26, 23, 20, 17, 14)
# WebP knows 4:2:0 only, JPEG XL 4:4:4 only; luma is compared.
SUBSAMPLED = ("jpeg", "avif")


def main():
    program, folder, *wanted = sys.argv[1:]
    if folder == "--tiles-alone":
        return tile_alone(program)
    encoders = [name for name in (*SAVERS, "heic") if name == "jpeg" or not wanted or name in wanted]
    TILES.append(program)
    names = sorted(os.path.join(folder, name) for folder, _, files in os.walk(folder) for name in files)
    photos = [photo for photo in map(load, names) if photo is not None]
    if not photos:
        sys.exit("quality: no photo of 1,600 pixels a side is there")
    print(f"{len(photos)} photos, SSIM as dB; seconds and bytes of all\n")
    qualities = {name: {"jpeg": KNOTS, "heic": RATES}.get(name, TRIED) for name in encoders}
    curves = {}
    print("| encoder | Q | dB | CPU s | bytes |\n|---|---:|---:|---:|---:|")
    for name, tried in qualities.items():
        curves[name] = [measure(name, quality, photos) for quality in tried]
        for quality, (decibels, seconds, count) in zip(tried, curves[name]):
            print(f"| {name} | {quality} | {decibels:.2f} | {seconds:.2f} | {count} |", flush=True)
    print("\n| quality | dB | " + " | ".join(encoders[1:]) + " |")
    print("|---:|---:|" + "---:|" * (len(encoders) - 1))
    for knot, (decibels, _, _) in zip(KNOTS, curves["jpeg"]):
        equal = [quality_of(decibels, qualities[name], curves[name]) for name in encoders[1:]]
        print(f"| {knot / 100} | {decibels:.2f} | " + " | ".join(f"{quality:.1f}" for quality in equal) + " |")
    efforts(curves["jpeg"][KNOTS.index(COMPARED)][0], photos, encoders)


TILES = []  # the program of tiles.c


def tile_alone(program):
    """One tile with edges and slopes at some rates: a lower rate takes more bytes, and what is decoded has its size."""
    luma = bytes((x ^ y) & 255 for y in range(TILE) for x in range(TILE))
    planes, sizes = luma + bytes([128]) * (TILE * TILE // 2), []
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "in.yuv"), os.path.join(folder, "out.yuv")
        with open(before, "wb") as file:
            file.write(planes)
        print("| encoder | rate | CPU s | bytes |\n|---|---:|---:|---:|")
        for rate in RATES[::4]:
            done = json.loads(subprocess.run(
                [program, PRESET, str(rate), "", before, after], check=True, capture_output=True).stdout)
            sizes.append(done["bytes"])
            print(f"| heic | {rate} | {done['encoding']:.3f} | {done['bytes']} |")
            if os.path.getsize(after) != len(planes):
                sys.exit(f"quality: {len(planes)} bytes became {os.path.getsize(after)}")
    if sizes != sorted(set(sizes)):
        sys.exit(f"quality: the bytes {sizes} do not rise while the rates {RATES[::4]} fall")


def efforts(decibels, photos, encoders):
    """What each effort costs at equal SSIM."""
    print(f"\n| at {decibels:.2f} dB | effort | Q | CPU s | bytes |\n|---|---:|---:|---:|---:|")
    for name, tried in EFFORTS.items():
        near = NEAR_RATES if name == "heic" else NEAR
        for effort in tried if name in encoders else ():
            curve = [measure(name, quality, photos, effort=effort) for quality in near]
            quality = quality_of(decibels, near, curve)
            seconds, count = (at(quality, near, [point[place] for point in curve]) for place in (1, 2))
            print(f"| {name} | {effort} | {quality:.1f} | {seconds:.2f} | {count:.0f} |", flush=True)


def at(quality, tried, numbers):
    """A number at a quality, by straight lines."""
    for low, high, first, second in zip(tried, tried[1:], numbers, numbers[1:]):
        if low <= quality <= high or high <= quality <= low:
            return first + (second - first) * (quality - low) / (high - low)
    return numbers[-1]


def load(path):
    """Luma and colour of a photo, halved; None for what is no photo or too small."""
    try:
        image = pyvips.Image.new_from_file(path).autorot()
    except pyvips.Error:
        return None
    if min(image.width, image.height) < 1200 or max(image.width, image.height) < 1600:
        return None
    if image.hasalpha():
        image = image.flatten()
    image = image.colourspace("srgb").cast("uchar").shrink(2, 2)
    width, height = min(SIDE_MAX, image.width), min(SIDE_MAX, image.height)
    part = image.crop((image.width - width) // 2, (image.height - height) // 2, width, height)
    return part.cast("uchar").copy_memory()


def measure(name, quality, photos, **more):
    """Mean decibels, and the seconds and bytes of all photos."""
    if name == "heic":
        return measure_tiles(quality, photos, **more)
    saver, options = SAVERS[name]
    options = {**options, **more}
    if name in SUBSAMPLED:
        options = {**options, "subsample_mode": "on"}
    decibels, seconds, count = 0, 0, 0
    for photo in photos:
        start = time.process_time()
        data = getattr(photo, saver)(Q=quality, strip=True, **options)
        seconds += time.process_time() - start
        count += len(data)
        decibels += -10 * math.log10(max(1e-9, 1 - ssim(luma(photo), luma(pyvips.Image.new_from_buffer(data, "")))))
    return decibels / len(photos), seconds, count


def measure_tiles(rate, photos, effort=PRESET):
    """The same of x265; luma is compared as it is decoded, without a way to colours and back."""
    preset, _, parameters = effort.partition(" ")
    decibels, seconds, count = 0, 0, 0
    for photo in photos:
        with tempfile.TemporaryDirectory() as folder:
            before, after = os.path.join(folder, "in.yuv"), os.path.join(folder, "out.yuv")
            planes = tiles_of(photo)
            with open(before, "wb") as file:
                file.write(b"".join(plane.tobytes() for tile in planes for plane in tile))
            done = json.loads(subprocess.run([TILES[0], preset, str(rate), parameters, before, after],
                                             check=True, capture_output=True).stdout)
            decoded = numpy.fromfile(after, "u1").reshape(len(planes), -1)[:, :TILE * TILE]
        seconds += done["encoding"]
        count += done["bytes"]
        decibels += -10 * math.log10(max(1e-9, 1 - ssim(luma(photo), joined(decoded, photo))))
    return decibels / len(photos), seconds, count


def tiles_of(photo):
    """Planes of 4:2:0, full range, of whole tiles: beyond the photo its last samples stand again."""
    pixels = photo.numpy().astype("f4")
    down, across = (-length % TILE for length in pixels.shape[:2])
    pixels = numpy.pad(pixels, ((0, down), (0, across), (0, 0)), "edge")
    light = pixels @ numpy.float32([0.299, 0.587, 0.114])
    half = [pixels[..., 2] - light, pixels[..., 0] - light]
    height, width = light.shape
    chroma = [plane.reshape(height // 2, 2, width // 2, 2).mean((1, 3)) / scale + 128
              for plane, scale in zip(half, (1.772, 1.402))]
    tiles = []
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            parts = [light[top:top + TILE, left:left + TILE]]
            parts += [plane[top // 2:(top + TILE) // 2, left // 2:(left + TILE) // 2] for plane in chroma]
            tiles.append([part.round().clip(0, 255).astype("u1") for part in parts])
    return tiles


def joined(tiles, photo):
    """Luma of tiles as a picture of the photo's size."""
    columns = -(-photo.width // TILE)
    rows = tiles.reshape(-1, columns, TILE, TILE).transpose(0, 2, 1, 3).reshape(-1, columns * TILE)
    return pyvips.Image.new_from_array(rows[:photo.height, :photo.width].astype("f4"))


def luma(image):
    return image.colourspace("srgb").extract_band(0, n=3).cast("float").recomb([[0.299, 0.587, 0.114]])


def ssim(a, b):
    blur = lambda image: image.gaussblur(1.5, precision="float", min_ampl=0.01)
    mean_a, mean_b = blur(a), blur(b)
    variance_a, variance_b = blur(a * a) - mean_a * mean_a, blur(b * b) - mean_b * mean_b
    both = blur(a * b) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    top = (mean_a * mean_b * 2 + c1) * (both * 2 + c2)
    bottom = (mean_a * mean_a + mean_b * mean_b + c1) * (variance_a + variance_b + c2)
    return (top / bottom).avg()


def quality_of(decibels, tried, curve):
    """The quality at which a curve reaches so many decibels, by straight lines; the last where it never does."""
    for (low, (under, _, _)), (high, (over, _, _)) in zip(zip(tried, curve), zip(tried[1:], curve[1:])):
        if decibels <= over:
            return max(1, low + (high - low) * (decibels - under) / (over - under))
    return tried[-1]


if __name__ == "__main__":
    main()

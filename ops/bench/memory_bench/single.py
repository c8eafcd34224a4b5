"""One photo each: the peak of its render child, and its processor time beside the limit's."""

import json
import os
import subprocess

import jpeg_bench
from estimate_photos import SAMPLE
from measure import render
from table import Goal, Row, megabytes

MB = 1 << 20
COLOUR = [{"name": "CISepiaTone", "inputIntensity": 0.8}]
CURVE_AND_SHARPEN = [{"name": "CIToneCurve", "inputPoint1": [0.25, 0.2]}, {"name": "CISharpenLuminance"}]


def eight(width, height):
    """The eight filters of ops/bench/render, whose vignette is in the middle of a photo of this size."""
    *seven, vignette = jpeg_bench.EIGHT
    middle = {"inputCenter": [width // 2, height // 2], "inputRadius": int(0.4 * width)}
    return seven + [{**vignette, **middle}]


def photo(given, photos):
    taken = render(given, photos.jpeg(6000, 4000), eight(6000, 4000), "photo.jpg")
    yield row("24 MP JPEG, 8 filters", taken, megabytes("RSS", taken.peak_rss, 56))


def sample(given, _):
    yield row("a small photo, a colour filter", render(given, SAMPLE, COLOUR, "sample.jpg"))


def gigapixel(given, photos):
    source = photos.gigapixel()
    cpu = limit_cpu(given, source)
    taken = render(given, source, eight(42000, 24000), "gigapixel.jpg")
    yield row("1 GP JPEG (42000 × 24000), 8 filters", taken, megabytes("RSS", taken.peak_rss, 96),
              Goal(f"CPU ÷ the limit's {cpu:.1f} s", taken.cpu / cpu, most=1.6))


def turn(given, photos):
    source = photos.gigapixel()
    unturned = render(given, source, COLOUR, "unturned.jpg")
    yield row("1 GP JPEG, a colour filter", unturned)
    turned = render(given, source, [{"name": "turn"}] + COLOUR, "turned.jpg", 256 * MB)
    yield row("the same turned by 90°, in a group of 256 MiB", turned,
              megabytes("with page cache", turned.peak_group, 160),
              Goal("CPU ÷ unturned", turned.cpu / unturned.cpu, most=2.5))


def tiff(given, photos):
    taken = render(given, photos.tiff_rgba16(), CURVE_AND_SHARPEN, "curve.tif", output={"format": "tiff"})
    yield row("256 MP TIFF, 16-bit RGBA, curve + sharpen", taken, megabytes("RSS", taken.peak_rss, 160))


def row(name, taken, *goals):
    return Row(name, taken, goals, [taken.end] if taken.end else [])


def limit_cpu(given, photo):
    """Processor time of libjpeg-turbo that decodes and encodes, and does nothing else."""
    text = subprocess.run([given.limit, os.path.abspath(photo), "1"], check=True, capture_output=True, text=True)
    return json.loads(text.stdout)["cpu_min"]

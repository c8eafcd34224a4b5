"""Renders shapes of jobs and compares their peaks with what their plans estimate; see ops/bench/estimate."""

import argparse
import json
import os
import re
import statistics
import sys

from estimate_photos import SIZES, NoRoom, Photos
from render_child import Child, Refused

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
COLOUR = [{"name": "CISepiaTone", "inputIntensity": 0.8}]


def perspective(width, height):
    return [{"name": "CIPerspectiveCorrection", "inputTopLeft": [0.1 * width, 0.97 * height],
             "inputTopRight": [0.95 * width, 0.9 * height], "inputBottomRight": [0.9 * width, 0.05 * height],
             "inputBottomLeft": [0.03 * width, 0.1 * height]}]


RECIPES = {
    "none": [],
    "colour": COLOUR,
    "8 filters": EIGHT,
    "blur 10": [{"name": "CIGaussianBlur", "inputRadius": 10}],
    "blur 60": [{"name": "CIGaussianBlur", "inputRadius": 60}],
    "curve, sharpen": [EIGHT[3], {"name": "CISharpenLuminance"}],
    "turn": [{"name": "turn", "degrees": 90}],
    "turn, colour": [{"name": "turn", "degrees": 90}] + COLOUR,
    "half turn, colour": [{"name": "turn", "degrees": 180}] + COLOUR,
    "straighten": [{"name": "CIStraightenFilter", "inputAngle": 0.02}],
    "straighten more": [{"name": "CIStraightenFilter", "inputAngle": 0.3}],
    "perspective": perspective,
    "half": [{"name": "CILanczosScaleTransform", "inputScale": 0.5}],
    "twentieth": [{"name": "CILanczosScaleTransform", "inputScale": 0.05}],
    "crop": lambda width, height: [
        {"name": "CICrop", "inputRectangle": [width // 4, height // 4, width // 2, height // 2]}],
    "all": lambda width, height: EIGHT + [
        {"name": "CIStraightenFilter", "inputAngle": 0.02}, {"name": "CIGaussianBlur", "inputRadius": 10}],
}
JPEG = {"format": "jpeg"}


def shapes():
    """Format, megapixels, recipe, wanted output and EXIF orientation of each shape."""
    def each(formats, sizes, recipes, outputs=({},), orientation=1):
        return [(format, size, recipe, output, orientation)
                for format in formats for size in sizes for recipe in recipes for output in outputs]
    return (
        each(["jpeg"], ["1", "24"], ["none", "colour", "8 filters", "turn", "turn, colour"])
        + each(["jpeg"], ["24"], ["blur 10", "blur 60", "curve, sharpen", "half turn, colour", "straighten",
                                  "straighten more", "perspective", "half", "twentieth", "crop", "all"])
        + each(["jpeg"], ["96"], ["8 filters", "turn, colour", "blur 10", "straighten", "perspective"])
        + each(["jpeg"], ["384"], ["none", "8 filters", "curve, sharpen", "twentieth"])
        + each(["jpeg"], ["24", "96"], ["8 filters"], orientation=6)
        + each(["jpeg 4:4:4"], ["24"], ["colour", "turn"])
        + each(["jpeg progressive"], ["24", "96"], ["colour", "turn", "blur 10"])
        + each(["jpeg progressive 4:4:4"], ["24"], ["colour"])
        + each(["jpeg grey", "jpeg cmyk"], ["24"], ["colour", "blur 10"])
        + each(["png", "png 16", "png rgba"], ["24"], ["colour", "blur 10"])
        + each(["png"], ["96"], ["curve, sharpen", "turn, colour"], [JPEG])
        + each(["png interlaced"], ["24", "96"], ["colour"], [JPEG])
        + each(["png interlaced 16"], ["24"], ["colour"], [JPEG])
        + each(["tiff strips", "tiff tiles", "tiff 16", "tiff tiles 512", "tiff jpeg", "tiff tall strips"], ["24"],
               ["colour"], [JPEG])
        + each(["tiff tiles", "tiff rgba 16"], ["96"], ["turn, colour", "blur 10"])
        + each(["tiff rgba 16"], ["256"], ["curve, sharpen"])
        + each(["webp", "webp lossless"], ["6", "24"], ["colour"], [JPEG])
        + each(["webp"], ["96"], ["colour"], [JPEG])
        + each(["heic"], ["6", "12"], ["colour", "blur 10"], [JPEG])
        + each(["heic tiles"], ["12", "48", "200"], ["colour", "turn, colour", "blur 10"], [JPEG])
        + each(["avif"], ["6", "24"], ["colour"], [JPEG])
        + each(["avif 12"], ["6", "24"], ["colour"], [JPEG])
        + each(["jxl", "jxl lossless"], ["6", "24"], ["colour"], [JPEG])
        + each(["jxl"], ["96"], ["colour"], [JPEG])
        + each(["gif"], ["1", "12"], ["colour"], [JPEG])
        + each(["raw"], ["6", "24"], ["colour"], [JPEG])
        + each(["jpeg"], ["24"], ["colour"], [
            {"format": "jpeg", "progressive": True}, {"format": "png"}, {"format": "png", "bitDepth": 16},
            {"format": "png", "progressive": True}, {"format": "tiff"}, {"format": "tiff", "bitDepth": 16}])
        + each(["jpeg"], ["6", "24"], ["colour"], [{"format": "webp"}])
        + each(["jpeg"], ["1", "6"], ["colour"], [{"format": "heic"}, {"format": "avif"}, {"format": "jxl"}])
        + each(["jpeg"], ["24"], ["colour"], [{"format": "jxl"}])
        + each(["tiff 16"], ["6"], ["colour"], [{"format": "avif", "bitDepth": 12}, {"format": "heic", "bitDepth": 10}])
    )


class Renderer:
    """A minilab-render as the worker starts it."""

    def __init__(self, given):
        self.child = Child(given.child, given.folder, given.environment)

    def render(self, photo, filters, output):
        """What the photo's header and plan say, and what the render took, as the worker asks for both."""
        recipe = {"filters": filters, "output": output}
        try:
            inspection, _ = self.child.inspect(photo, recipe)
            return inspection, self.child.render(photo, recipe)
        except Refused as refused:
            sys.exit(f"estimate: {photo}: {refused}")

    def close(self):
        self.child.close()


def alone(given, *job):
    renderer = Renderer(given)
    taken = renderer.render(*job)
    renderer.close()
    return taken


def name_of(shape):
    format, size, recipe, output, orientation = shape
    words = [word for key, word in (("format", output.get("format")), ("progressive", "progressive"),
                                    ("bitDepth", str(output.get("bitDepth")))) if output.get(key)]
    return (f"{format}{f' (EXIF {orientation})' if orientation != 1 else ''} {size} MP, {recipe}"
            + (f" → {' '.join(words)}" if words else ""))


def measure(given, photos):
    warm = None if given.no_warm else Renderer(given)
    for shape in shapes():
        format, size, recipe, output, orientation = shape
        name = name_of(shape)
        width, height = SIZES[size]
        if given.only and not re.search(given.only, name) or width * height > given.largest * 1e6:
            continue
        filters = RECIPES[recipe]
        job = (filters(width, height) if callable(filters) else filters, output)
        try:
            photo = photos.make(format, size, orientation)
        except NoRoom:
            print(f"estimate: {name}: left out, the disk is too full", file=sys.stderr)
            continue
        inspection, use = alone(given, photo, *job)
        row = {"name": name, "plan": inspection["plan"], "header": inspection["header"],
               "peak": use.peak_bytes, "cpu": use.cpu}
        if warm:
            _, use = warm.render(photo, *job)
            row["warm"] = use.peak_bytes
        photos.done(photo)
        estimate = row["plan"]["estimate"]["memoryBytes"]
        print(f"{row['peak'] / estimate:.2f} {row.get('warm', 0) / estimate:.2f} {name}: "
              f"{row['peak'] / 1e6:.1f} of {estimate / 1e6:.0f} MB, {row['cpu']:.2f} s", file=sys.stderr)
        if given.rows:
            with open(given.rows, "a") as file:
                file.write(json.dumps(row) + "\n")
        yield row
    if warm:
        warm.close()


RATIOS = (0.6, 1.0)
RATIO_MAX = 1.1
SHARE_MIN = 0.95


def ratios(row):
    """Of the peak to its estimate: in a fresh child, and in a warm one."""
    estimate = row["plan"]["estimate"]["memoryBytes"]
    return [row[key] / estimate for key in ("peak", "warm") if key in row]


def summary(rows):
    """Sentences on what was measured, and whether the goal is reached."""
    every = [ratio for row in rows for ratio in ratios(row)]
    good = sum(RATIOS[0] <= ratio <= RATIOS[1] for ratio in every)
    reached = good >= SHARE_MIN * len(every) and max(every) <= RATIO_MAX
    times = [row["cpu"] / row["plan"]["estimate"]["cpuSeconds"] for row in rows]
    within = sum(0.5 <= time <= 2 for time in times)
    return reached, [
        f"{len(rows)} shapes, {len(every)} renders: the peak lies within {RATIOS[0]} to {RATIOS[1]} of its estimate for "
        f"{100 * good / len(every):.0f} of 100 (goal {100 * SHARE_MIN:.0f}), at most {max(every):.2f} (goal {RATIO_MAX}), "
        f"at least {min(every):.2f}, in the middle {statistics.median(every):.2f}.",
        f"Processor time lies within half and twice its estimate for {within} of {len(times)} shapes.",
        "The goal is reached." if reached else "The goal is missed."]


def table(rows):
    lines = ["| shape | lane | estimate MB | fresh MB | ratio | warm MB | ratio | CPU s | of estimate |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        estimate = row["plan"]["estimate"]
        cells = [row["name"], row["plan"]["lane"], f"{estimate['memoryBytes'] / 1e6:.0f}"]
        for key in ("peak", "warm"):
            cells += [f"{row[key] / 1e6:.1f}", f"{row[key] / estimate['memoryBytes']:.2f}"] if key in row else ["", ""]
        cells += [f"{row['cpu']:.2f}", f"{row['cpu'] / estimate['cpuSeconds']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def write(rows, path):
    reached, sentences = summary(rows)
    with open(os.path.join(os.path.dirname(__file__), "ESTIMATE.head.md")) as head:
        text = head.read()
    with open(path, "w") as file:
        file.write(text + "\n## What was measured\n" + "\n".join(sentences) + "\n\n" + "\n".join(table(rows)) + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--child", required=True)
    arguments.add_argument("--folder", required=True)
    arguments.add_argument("--only", help="shapes whose name this regular expression finds")
    arguments.add_argument("--largest", type=float, default=400, help="megapixels")
    arguments.add_argument("--no-warm", action="store_true")
    arguments.add_argument("--keep", action="store_true")
    arguments.add_argument("--environment", type=json.loads, default={}, help="of the child, as JSON")
    arguments.add_argument("--rows", help="a file that gets a line of JSON for each shape")
    given = arguments.parse_args()
    rows = list(measure(given, Photos(given.folder, given.keep)))
    if not rows:
        sys.exit("estimate: no shape was measured")
    reached, sentences = summary(rows)
    print("\n".join(sentences))
    if not given.only:
        write(rows, os.path.join(os.path.dirname(__file__), "ESTIMATE.md"))
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()

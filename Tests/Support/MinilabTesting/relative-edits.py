#!/usr/bin/env python3
"""Makes random edits with relative units, and expands them to pixels: a second implementation of jobs/EDITS.md, "Units".

usage: relative-edits.py SEED EDITS SIZES

Prints one JSON object a line: the edit, the stored size and EXIF orientation of a photo, and either the filters that are
recorded or the code of the error. It shares no code with the first implementation, and computes sides and places of `crop`,
`resize` and `mark` by exact fractions. The sizes of the marks' pictures are `pictures`, by digest.
"""
import json
import math
import random
import sys
from fractions import Fraction

HALF = Fraction(1, 2)
PLACES = {
    "center": (HALF, HALF), "north": (HALF, 1), "northeast": (1, 1), "east": (1, HALF), "southeast": (1, 0),
    "south": (HALF, 0), "southwest": (0, 0), "west": (0, HALF), "northwest": (0, 1),
}
PICTURES = {"sha256:" + digit * 64: size for digit, size in {"1": (400, 100), "2": (333, 777), "3": (1, 1)}.items()}
BLENDS = {"sourceOver": "CISourceOverCompositing", "multiply": "CIMultiplyBlendMode", "softLight": "CISoftLightBlendMode"}
# Parameters with units: name, unit of each number, range in pixels. Others are as they are.
LENGTHS = {
    "CIVignetteEffect": [("inputCenter", "xy", (-1e7, 1e7)), ("inputRadius", "l", (0, 1e7))],
    "CIGaussianBlur": [("inputRadius", "l", (0, 500))],
    "CIBoxBlur": [("inputRadius", "l", (1, 500))],
    "CIUnsharpMask": [("inputRadius", "l", (0, 200))],
    "CIPixellate": [("inputCenter", "xy", (-1e7, 1e7)), ("inputScale", "l", (1, 10000))],
    "CICrop": [("inputRectangle", "xyxy", (-1e7, 1e7))],
    "CIRadialGradient": [
        ("inputCenter", "xy", (-1e7, 1e7)), ("inputRadius0", "l", (0, 1e7)), ("inputRadius1", "l", (0, 1e7)),
    ],
}
DEFAULTS = {
    "CIVignetteEffect": {"inputIntensity": 1, "inputFalloff": 0.5},
    "CIGaussianBlur": {"edge": "clamp"},
    "CIBoxBlur": {"edge": "clamp"},
    "CIUnsharpMask": {"inputIntensity": 0.5},
    "CISepiaTone": {"inputIntensity": 1},
    "CIRadialGradient": {"inputColor0": [1, 1, 1, 1], "inputColor1": [0, 0, 0, 1]},
    "CIBlendWithMask": {"maskSpace": "linear"},
}


class Refused(Exception):
    pass


def half_up(value):
    return math.floor(Fraction(value) + HALF)


def decimal(value):
    """The decimal number that was written, in whole millionths."""
    return Fraction(half_up(Fraction(repr(value)) * 1000000), 1000000)


def focus(step):
    if "at" in step:
        return PLACES[step["at"]]
    x, y = step.get("focus", [0.5, 0.5])
    return decimal(x), decimal(y)


def placed(length, side, point):
    return min(max(0, half_up(point * side - Fraction(length, 2))), side - length)


def cut(left, top, width, height, w, h):
    if (width, height) == (w, h):
        return []
    return [{"name": "CICrop", "inputRectangle": [left, h - top - height, width, height]}]


def largest(w, h, a, b):
    """The largest part of w x h with the aspect a : b."""
    if Fraction(a, b) * h <= w:
        return max(1, half_up(Fraction(a * h, b))), h
    return w, max(1, half_up(Fraction(b * w, a)))


def crop(step, w, h):
    a, b = step["aspect"]
    if step.get("turnable") and ((w > h and a < b) or (w < h and a > b)):
        a, b = b, a
    width, height = largest(w, h, a, b)
    zoom = decimal(float(step.get("zoom", 1)))
    width, height = max(1, half_up(width / zoom)), max(1, half_up(height / zoom))
    x, y = focus(step)
    return cut(placed(width, w, x), placed(height, h, 1 - y), width, height, w, h)


def resize(step, w, h):
    bw, bh = step["box"]
    fit, grow = step.get("fit", "inside"), step.get("enlarge", False)

    def other(side, ratio):
        return max(1, half_up(side * ratio))

    if bw is None:
        scaled = (other(bh, Fraction(w, h)), bh) if grow or bh <= h else (w, h)
        shown = scaled
    elif bh is None:
        scaled = (bw, other(bw, Fraction(h, w))) if grow or bw <= w else (w, h)
        shown = scaled
    elif fit == "stretch":
        scaled = (bw, bh) if grow or (bw <= w and bh <= h) else largest(w, h, bw, bh)
        shown = scaled
    else:
        first, second = Fraction(bw, w), Fraction(bh, h)
        by_width = first <= second if fit == "inside" else first >= second
        if by_width:
            scaled = (bw, other(bw, Fraction(h, w))) if grow or bw <= w else (w, h)
        else:
            scaled = (other(bh, Fraction(w, h)), bh) if grow or bh <= h else (w, h)
        shown = scaled
        if fit == "cover":
            shown = (bw, bh) if scaled[0] >= bw and scaled[1] >= bh else largest(w, h, bw, bh)
    filters = []
    if scaled != (w, h):
        scale, across = scaled[1] / h, scaled[0] / w
        aspect = across / scale
        if not (0.001 <= scale <= 100 and 0.01 <= aspect <= 100):
            raise Refused("parameterOutOfRange")
        filters.append({"name": "CILanczosScaleTransform", "inputScale": scale, "inputAspectRatio": aspect})
    x, y = focus(step)
    left, top = placed(shown[0], scaled[0], x), placed(shown[1], scaled[1], 1 - y)
    return filters + cut(left, top, *shown, *scaled)


def mark(step, w, h):
    picture = PICTURES[step["image"]]
    in_pixels = step.get("unit") == "px"
    wanted = max(1, half_up(decimal(step["width"]) * (1 if in_pixels else w)))
    margin = half_up(decimal(float(step.get("margin", 0))) * (1 if in_pixels else min(w, h)))

    def high(width):
        return max(1, half_up(Fraction(width * picture[1], picture[0])))

    width = next((side for side in range(min(wanted, w), 0, -1) if high(side) <= h), None)
    size = (width, high(width)) if width else (1, h)
    x, y = focus(step)

    def start(length, side, point):
        room = side - length
        if point == 0:
            first = margin
        elif point == 1:
            first = room - margin
        elif 2 * margin <= room:
            first = margin + half_up((room - 2 * margin) * point)
        else:
            first = half_up(room * point)
        return max(0, min(first, room))

    left, top = start(size[0], w, x), start(size[1], h, 1 - y)
    if step.get("opacity", 1) == 0:
        return []
    scales = [made / given for made, given in zip(size, picture)]

    def scaled(scale):
        return tuple(max(1, math.floor(side * scale + 0.5)) for side in picture)

    scale = next(scale for scale in scales + [scale * (1 + 1e-12) for scale in scales] if scaled(scale) == size)
    if not 0.001 <= scale <= 1000:
        raise Refused("parameterOutOfRange")
    return [{
        "name": BLENDS[step.get("blend", "sourceOver")], "inputImage": step["image"],
        "position": [left, h - top - size[1]], "scale": scale, "opacity": step.get("opacity", 1),
    }]


def pixels(step, units, w, h):
    """A filter in pixels, its defaults filled in."""
    units = step.get("units", units)
    name = step["name"]
    made = {"name": name, **DEFAULTS.get(name, {})}
    for key, value in step.items():
        if key == "units":
            continue
        if key == "filters":
            value = [pixels(inner, units, w, h) for inner in value]
        if key == "inputMaskImage":
            value = pixels(value, units, w, h)
        made[key] = value
    sides = {"x": w, "y": h, "l": min(w, h)}
    for key, kinds, (low, high) in LENGTHS.get(name, []):
        if units != "relative":
            continue
        numbers = made[key] if isinstance(made[key], list) else [made[key]]
        numbers = [number * float(sides[kind]) for number, kind in zip(numbers, kinds)]
        if not all(low <= number <= high for number in numbers):
            raise Refused("parameterOutOfRange")
        made[key] = numbers if isinstance(made[key], list) else numbers[0]
    return made


def edges(start, length):
    first, last = math.floor(start + 0.5), math.floor(start + length + 0.5)
    return (first, last) if last > first else (math.floor(start), math.floor(start) + 1)


def after(step, w, h):
    """The size of a filter's result."""
    name = step["name"]
    if name == "CICrop":
        x, y, width, height = step["inputRectangle"]
        if width <= 0 or height <= 0:
            raise Refused("invalidValue")
        left, right = edges(x, width)
        bottom, top = edges(y, height)
        if left < 0 or bottom < 0 or right > w or top > h:
            raise Refused("parameterOutOfRange")
        return right - left, top - bottom
    if name == "CILanczosScaleTransform":
        across, scale = step["inputScale"] * step["inputAspectRatio"], step["inputScale"]
        return max(1, math.ceil(across * w - 1e-6)), max(1, math.ceil(scale * h - 1e-6))
    if name == "turn":
        return (h, w) if step["degrees"] % 180 else (w, h)
    if name == "CIGaussianBlur" and step["edge"] == "transparent" and step["inputRadius"] > 0:
        grown = 2 * math.ceil(3 * step["inputRadius"])
        return w + grown, h + grown
    return w, h


def expand(edit, w, h):
    recorded = []
    for step in edit["filters"]:
        if step["name"] == "crop":
            made = crop(step, w, h)
        elif step["name"] == "resize":
            made = resize(step, w, h)
        elif step["name"] == "mark":
            made = mark(step, w, h)
        else:
            made = [pixels(step, edit.get("units", "pixels"), w, h)]
        for filter in made:
            w, h = after(filter, w, h)
        recorded += made
    return recorded


def number(low, high, digits=4):
    return round(random.uniform(low, high), digits)


def random_step():
    kind = random.randrange(14)
    place = random.choice([{}, {"at": random.choice(list(PLACES))}, {"focus": [number(0, 1), number(0, 1, 6)]}])
    if kind == 0:
        step = {"name": "crop", "aspect": [random.randint(1, 20), random.randint(1, 20)], **place}
        if random.random() < 0.3:
            step["turnable"] = True
        if random.random() < 0.3:
            step["zoom"] = number(1, 4)
        return step
    if kind == 1:
        box = [random.randint(1, 3000), random.randint(1, 3000)]
        fit = random.choice(["inside", "outside", "cover", "stretch"])
        if random.random() < 0.2 and fit != "stretch":
            box[random.randrange(2)] = None
        return {"name": "resize", "box": box, "fit": fit, "enlarge": random.random() < 0.4, **place}
    if kind == 2:
        return {"name": "CIVignetteEffect", "inputCenter": [number(-1, 2), number(-1, 2)], "inputRadius": number(0, 2)}
    if kind == 3:
        return {
            "name": "CIGaussianBlur", "inputRadius": number(0, 0.05),
            "edge": random.choice(["clamp", "clamp", "transparent"]),
        }
    if kind == 4:
        return {"name": "CIBoxBlur", "inputRadius": number(0, 0.1)}
    if kind == 5:
        return {"name": "CIPixellate", "inputCenter": [number(0, 1), number(0, 1)], "inputScale": number(0, 0.2)}
    if kind == 6:
        x, y = number(0, 0.5), number(0, 0.5)
        return {"name": "CICrop", "inputRectangle": [x, y, number(0.05, 1 - x), number(0.05, 1 - y)]}
    if kind == 7:
        return {"name": "turn", "degrees": random.choice([90, 180, 270, -90])}
    if kind == 8:
        gradient = {
            "name": "CIRadialGradient", "inputCenter": [number(0, 1), number(0, 1)], "inputRadius0": number(0, 0.3),
            "inputRadius1": number(0.3, 1),
        }
        if random.random() < 0.2:
            gradient["units"] = random.choice(["pixels", "relative"])
        return {
            "name": "CIBlendWithMask", "filters": [{"name": "CISepiaTone", "inputIntensity": number(0, 1)}],
            "inputMaskImage": gradient,
        }
    if kind == 9:
        return {"name": "CIUnsharpMask", "inputRadius": number(0, 0.02), "inputIntensity": number(0, 1)}
    if kind in (11, 12):
        step = {"name": "mark", "image": random.choice(list(PICTURES)), **place}
        if random.random() < 0.3:
            step.update(unit="px", width=number(0.1, 500), margin=random.randint(0, 30))
        else:
            step.update(width=number(0.0001, 1.2), margin=number(0, 0.3))
        step["opacity"] = random.choice([0, 0.5, 1])
        if random.random() < 0.5:
            step["blend"] = random.choice(list(BLENDS))
        return step
    if kind == 10:
        return {"name": "CICrop", "units": "pixels", "inputRectangle": [0, 0, random.randint(1, 50), random.randint(1, 50)]}
    return {"name": "CISepiaTone", "inputIntensity": number(0, 1)}


def main():
    random.seed(int(sys.argv[1]))
    edits = [
        {"units": "relative", "filters": [random_step() for _ in range(random.randint(1, 5))]}
        for _ in range(int(sys.argv[2]))
    ]
    common = [(6000, 4000), (4000, 3000), (1999, 1333), (101, 100), (800, 1200), (1, 1), (20000, 3)]
    sizes = [
        random.choice(common) if random.random() < 0.5 else (random.randint(1, 9000), random.randint(1, 9000))
        for _ in range(int(sys.argv[3]))
    ]
    for edit in edits:
        for stored in sizes:
            for orientation in range(1, 9):
                w, h = stored if orientation < 5 else stored[::-1]
                line = {"edit": edit, "stored": stored, "orientation": orientation, "pictures": PICTURES}
                try:
                    line["filters"] = expand(edit, w, h)
                except Refused as refused:
                    line["refused"] = str(refused)
                print(json.dumps(line))


main()

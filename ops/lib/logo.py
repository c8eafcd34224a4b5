#!/usr/bin/env python3
"""A logo that jobs name, and whether a picture has it: the checks of deployments put one into the folder of resources.

usage: ops/lib/logo.py make FOLDER [COLOUR]    writes a logo of one colour (magenta or green) there, and prints its digest, which is its name
       ops/lib/logo.py edit [COLOUR]           prints an edit that marks a photo with it, with a small PNG of the result as rendition `seen`
       ops/lib/logo.py judge FILE [COLOUR]     ends with 1 and a sentence unless this PNG shows it in the lower right corner alone
"""

import hashlib
import json
import pathlib
import sys

import png

COLOURS = {"magenta": (255, 0, 255), "green": (0, 255, 0)}
SIDE = 32  # of the logo, in pixels
SHARE = 0.25  # of the photo's width
SEEN = 64  # sides of the rendition, in pixels
# In from a corner, as a part of the logo's width in the rendition: beyond what a reduction blurs.
INSIDE = 0.5
NEAR = 24  # a channel's difference that rounding and reduction make at most; another logo differs by 255


def logo(colour):
    return png.write(SIDE, SIDE, [bytes(COLOURS[colour]) * SIDE] * SIDE)


def digest(colour="magenta"):
    return hashlib.sha256(logo(colour)).hexdigest()


def make(folder, colour="magenta"):
    """Writes the logo as a worker looks for it: under its digest, for all to read."""
    path = pathlib.Path(folder, digest(colour))
    path.write_bytes(logo(colour))
    path.chmod(0o644)
    return path


def edit(colour="magenta"):
    mark = {"name": "mark", "image": f"sha256:{digest(colour)}", "width": SHARE, "at": "southeast", "margin": 0}
    return {"filters": [mark], "renditions": {"seen": {"box": [SEEN, SEEN], "fit": "stretch", "format": "png"}}}


def missing(data, colour="magenta"):
    """What is wrong with a rendition `seen`, in a sentence; nothing if it shows the logo where it belongs."""
    rows = png.read(data)
    step = round(SHARE * len(rows[0]) * INSIDE)
    for name, pixel, expected in (("lower right", rows[-step][-step], True), ("upper left", rows[step][step], False)):
        is_logo = all(abs(seen - wanted) <= NEAR for seen, wanted in zip(pixel, COLOURS[colour]))
        if is_logo != expected:
            return f"{len(rows[0])} × {len(rows)} pixels, of which the {name} one is {pixel}, {'not' if expected else 'too'} the logo's {COLOURS[colour]}"
    return None


def main(words):
    known = {"make": (make, 1), "edit": (edit, 0), "judge": (missing, 1)}
    if not words or words[0] not in known or len(words) - 1 - known[words[0]][1] not in (0, 1) or (
            len(words) - 1 > known[words[0]][1] and words[-1] not in COLOURS):
        print(__doc__, file=sys.stderr)
        return 64
    if words[0] == "make":
        print(make(*words[1:]).name)
    elif words[0] == "edit":
        print(json.dumps(edit(*words[1:])))
    elif wrong := missing(pathlib.Path(words[1]).read_bytes(), *words[2:]):
        print(f"logo: {words[1]} does not show the logo: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

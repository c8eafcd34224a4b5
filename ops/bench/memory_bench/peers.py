"""The turn of the gigapixel by others, each once: they do less, for they only turn, without a filter."""

import os
import sys

from measure import render, run
from photos import make
from table import Row

SECONDS_MAX = 300


def peers(given, photos):
    photo = photos.gigapixel()
    output = os.path.join(given.folder, "peer.jpg")
    here = os.path.dirname(os.path.abspath(__file__))
    convert = ["convert", photo, "-rotate", "90", "-quality", "90", output]
    commands = {"jpegtran, lossless": ["jpegtran", "-copy", "all", "-rotate", "90", "-outfile", output, photo],
                "ImageMagick as Debian ships it": convert, "ImageMagick without its policy": convert}
    for name in ("pyvips copy_memory", "pyvips, spooled", "Pillow"):
        commands[name] = [sys.executable, os.path.join(here, "turn_peer.py"), name, photo, output]
    yield peer("Minilab: only turned, lossless", render(given, photo, [{"name": "turn"}], "turned.jpg"))
    for name, command in commands.items():
        environment = {"VIPS_CONCURRENCY": "2", "TMPDIR": given.folder}
        if "without" in name:
            environment["MAGICK_CONFIGURE_PATH"] = make(given.folder, "imagemagick", without_bounds)
        taken, _ = run(command, given.peer_memory, SECONDS_MAX, [photo], environment)
        yield peer(name, taken)
        if os.path.exists(output):
            os.remove(output)


def peer(name, taken):
    return Row(f"1 GP JPEG turned by 90°: {name}", taken, faults=[taken.end] if taken.end else [])


def without_bounds(folder):
    os.mkdir(folder)
    with open(os.path.join(folder, "policy.xml"), "w") as file:
        file.write("<policymap></policymap>\n")

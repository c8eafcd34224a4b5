"""The turn of the gigapixel by others, each once: they do less, for they only turn, without a filter."""

import os
import sys

from measure import render, run
from table import Row

SECONDS_MAX = 300


def peers(given, photos):
    photo = photos.gigapixel()
    output = os.path.join(given.folder, "peer.jpg")
    here = os.path.dirname(os.path.abspath(__file__))
    commands = {"jpegtran, lossless": ["jpegtran", "-copy", "all", "-rotate", "90", "-outfile", output, photo],
                "ImageMagick as Debian ships it": ["convert", photo, "-rotate", "90", "-quality", "90", output]}
    for name in ("pyvips copy_memory", "pyvips, spooled", "Pillow"):
        commands[name] = [sys.executable, os.path.join(here, "turn_peer.py"), name, photo, output]
    yield peer("Minilab: only turned, lossless", photo, render(given, photo, [{"name": "turn"}], "turned.jpg"))
    for name, command in commands.items():
        environment = {"VIPS_CONCURRENCY": "2", "TMPDIR": given.folder}
        taken, _ = run(command, given.peer_memory, SECONDS_MAX, [photo], environment)
        yield peer(name, photo, taken)
        if os.path.exists(output):
            os.remove(output)


def peer(name, photo, taken):
    # Without the folder of this machine.
    end = taken.end.replace(os.path.dirname(photo) + "/", "")
    return Row(f"1 GP JPEG turned by 90°: {name}", taken, faults=[end] if end else [])

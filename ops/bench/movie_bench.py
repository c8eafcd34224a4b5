"""Drives a warm minilab-render over movies, beside libavcodec alone and ffmpeg; see ops/bench/movie."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import movie_sources
from estimate_bench import COLOUR, EIGHT
from movie_sources import RATE
from render_child import Child, Refused

VIGNETTE = [{"name": "CIVignetteEffect", "inputCenter": [960, 540], "inputRadius": 900, "inputIntensity": 0.6}]
BLUR = [{"name": "CIGaussianBlur", "inputRadius": 8}]
TURN = [{"name": "turn", "degrees": 90}]
# Name, source, filters, and the most times the limit.
ROWS = [
    ("one colour", "h264", COLOUR, 1.10),
    ("seven colours", "h264", EIGHT[:7], 1.10),
    ("vignette", "h264", COLOUR + VIGNETTE, 1.25),
    ("10-bit HLG, one colour", "hlg", COLOUR, 1.05),
    ("Gaussian 8", "h264", BLUR, 1.5),
    ("10-bit HLG, Gaussian 8", "hlg", BLUR, None),
]
# As Sources/Codecs/AVCodec/VideoEncoder.swift has them of quality 0.9, and of 1, which is nearly without loss.
QUALITY = 0.9
ENCODERS = {
    "h264": ("libx264", "h264", 8, [
        "preset=veryfast", "forced-idr=1", "crf=15.9",
        "x264-params=threads=1:lookahead-threads=1:sliced-threads=0:sync-lookahead=0:open-gop=0:stitchable=1:"
        "cpu-independent=1"]),
    "hlg": ("libx265", "hevc", 10, [
        "preset=superfast", "forced-idr=1", "crf=14.8",
        "x265-params=pools=none:frame-threads=1:wpp=0:open-gop=0:opt-qp-pps=0:opt-ref-list-length-pps=0:info=0:"
        "log-level=none:repeat-headers=0"]),
}
TURN_SECONDS_MAX = 0.050
SPEED_UP_MIN = 1.9
PEER_MIN = 1.3


def main():
    arguments = argparse.ArgumentParser()
    for name in ("child", "limit", "folder"):
        arguments.add_argument("--" + name, required=True)
    arguments.add_argument("--seconds", type=int, default=8)
    arguments.add_argument("--size", choices=movie_sources.SIZES, default="1080p", help="filters are as for 1080p")
    arguments.add_argument("--repetitions", type=int, default=2)
    arguments.add_argument("--only", default="", help="rows whose name has this")
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    print(f"{given.size}, {given.seconds} s, {RATE} frames a second; CPU ms a frame, least of {given.repetitions}\n")
    print("| | lane | decode | encode | limit | ours | × limit | goal | peak MB | of estimate |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    rows = [row for row in ROWS if given.only in row[0]]
    ours = {name: measure(given, name, source, filters, goal) for name, source, filters, goal in rows}
    print()
    if given.only in "turn":
        turn(given)
    if given.only in "segments":
        segments(given)
    if given.only in "peers" and not given.no_peer:
        peers(given, ours)


def recipe_of(filters, quality=QUALITY):
    return {"filters": filters, "output": {"movie": {"quality": quality}}}


def rendered(given, path, filters, target, quality=QUALITY, repetitions=1):
    """Least CPU seconds of rendering by a warm child, the highest peak, and the plan."""
    child, recipe = Child(given.child, given.folder), recipe_of(filters, quality)
    try:
        plan = child.inspect(path, recipe)[0]["plan"]
        uses = [child.render_movie(path, recipe, target, plan["movie"]["segments"]) for _ in range(repetitions)]
    except Refused as refused:
        sys.exit(f"movie: {refused}")
    child.close()
    return min(sum(use.cpu for use in one) for one in uses), max(use.peak_bytes for one in uses for use in one), plan


def measure(given, name, source, filters, goal):
    path = movie_sources.made(given.folder, source, given.size, given.seconds)
    target = os.path.join(given.folder, "target.mov")
    decoding, encoding = limits(given, path, source, filters, target)
    cpu, peak, plan = rendered(given, path, filters, target, repetitions=given.repetitions)
    frames = given.seconds * RATE
    decode_ms, encode_ms, ms = (1000 * seconds / frames for seconds in (decoding, encoding, cpu))
    limit = decode_ms + encode_ms
    estimate = plan["movie"]["segment"]["memoryBytes"]
    print(f"| {name} | {plan['lane']} | {decode_ms:.1f} | {encode_ms:.1f} | {limit:.1f} | {ms:.1f} | {ms / limit:.3f} "
          f"| {goal or ''} | {peak / 1e6:.0f} | {peak / estimate:.2f} |", flush=True)
    return ms


def limits(given, path, source, filters, target):
    """CPU seconds of decoding the movie, and of encoding its frames as they are when they are edited, each alone."""
    encoder, decoder, bits, options = ENCODERS[source]
    stream, frames = (os.path.join(given.folder, name) for name in ("stream", "frames"))
    movie_sources.run("-i", path, "-c", "copy", "-bsf:v", f"{decoder}_mp4toannexb", "-f", decoder, stream)
    rendered(given, path, filters, target, quality=1)
    pixels = "yuv420p10le" if bits > 8 else "yuv420p"
    movie_sources.run("-noautorotate", "-i", target, "-fps_mode", "passthrough", "-pix_fmt", pixels, "-f", "rawvideo", frames)
    rate = 2 * 8 * os.path.getsize(stream) // given.seconds
    decoding = limit(given, "decode", decoder, stream, given.repetitions)
    size = "{}x{}".format(*movie_sources.SIZES[given.size])
    encoding = limit(given, "encode", encoder, frames, size, bits, RATE, 2 * RATE, rate, given.repetitions, *options)
    for file in (stream, frames):
        os.remove(file)
    assert decoding["frames"] == encoding["frames"] == given.seconds * RATE, (decoding, encoding)
    return decoding["cpu"], encoding["cpu"]


def limit(given, *arguments):
    done = subprocess.run([given.limit, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def turn(given):
    """A turn that no frame is coded for, beside a copy of the file; wall seconds."""
    path = movie_sources.made(given.folder, "h264", given.size, 2 * given.seconds)
    child, copy = Child(given.child, given.folder), os.path.join(given.folder, "copy")
    ours, theirs = [], []
    recipe = {"filters": TURN}
    for _ in range(max(5, given.repetitions)):
        ours.append(child.render(path, recipe).wall)
        start = time.monotonic()
        with open(path, "rb") as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        theirs.append(time.monotonic() - start)
    child.close()
    os.remove(copy)
    print(f"Turn alone, {os.path.getsize(path) / 1e6:.0f} MB: {1000 * min(ours):.0f} ms, a copy of the file "
          f"{1000 * min(theirs):.0f} ms (goal: at most {1000 * TURN_SECONDS_MAX:.0f} ms more).", flush=True)


def segments(given):
    """Two parts of a movie, one after the other and side by side; wall seconds."""
    path = movie_sources.made(given.folder, "h264", given.size, 2 * max(8, given.seconds))
    recipe = recipe_of(COLOUR)
    children = [Child(given.child, given.folder) for _ in range(2)]
    parts = [({"segment": number},) for number in range(2)]
    alone, together = [], []
    for _ in range(given.repetitions):
        alone.append(sum(child.render(path, recipe, part).wall for child, part in zip(children, parts)))
        start = time.monotonic()
        for child, part in zip(children, parts):
            child.ask_to_render(path, recipe, part)
        for child in children:
            child.answer()
        together.append(time.monotonic() - start)
    for child in children:
        child.close()
    print(f"Two parts: {min(alone):.2f} s one after the other, {min(together):.2f} s on two cores, "
          f"{min(alone) / min(together):.2f} times as fast (goal {SPEED_UP_MIN}).", flush=True)


def peers(given, ours):
    """ffmpeg with filters of the same kind and the same encoder, on one thread."""
    path = movie_sources.made(given.folder, "h264", given.size, given.seconds)
    cube = os.path.join(given.folder, "sepia.cube")
    with open(cube, "w") as file:
        file.write("LUT_3D_SIZE 33\n")
        for place in range(33 ** 3):
            red, green, blue = (place // 33 ** axis % 33 / 32 for axis in range(3))
            light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
            file.write(f"{light ** 0.8:.6f} {light ** 1.1:.6f} {light ** 2:.6f}\n")
    sepia = "colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131"
    options = [word for option in ENCODERS["h264"][3] for word in ("-" + option.split("=", 1)[0], option.split("=", 1)[1])]
    rate = 2 * 8 * os.path.getsize(path) // given.seconds
    best = ours.get("one colour") or rendered(
        given, path, COLOUR, os.path.join(given.folder, "target.mov"))[0] * 1000 / given.seconds / RATE
    for name, edit in (("lut3d", f"lut3d={cube}"), ("colorchannelmixer", sepia)):
        seconds = min(
            movie_sources.run(
                "-threads", 1, "-i", path, "-filter_threads", 1, "-vf", edit, "-pix_fmt", "yuv420p", "-c:v", "libx264",
                "-threads", 1, *options, "-g", 2 * RATE, "-maxrate", rate, "-bufsize", rate,
                os.path.join(given.folder, "peer.mov"))
            for _ in range(given.repetitions))
        ms = 1000 * seconds / given.seconds / RATE
        print(f"ffmpeg -vf {name}: {ms:.1f} ms a frame, {ms / best:.2f} times ours of one colour (goal {PEER_MIN}).", flush=True)


if __name__ == "__main__":
    main()

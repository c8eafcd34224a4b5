"""Makes the movies that movie_bench.py and estimate_bench.py render, by ffmpeg, of jobs/photos/dandelion.jpg.

A pan over the photo with noise of its own in each frame, made at twice the size and in luma alone: phones smooth chroma.
"""

import os
import subprocess

PHOTO = "jobs/photos/dandelion.jpg"
RATE = 30
# Width and height by name.
SIZES = {"360p": (640, 360), "720p": (1280, 720), "1080p": (1920, 1080), "4K": (3840, 2160)}
# The largest part of the photo that a frame is, and how far it moves with each frame; twice the size of most.
PART, STEP = (3840, 2160), (5, 3)
HLG = ["-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc"]
SDR = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"]
# Encoders with their options, pixels, colours, and bits a second for 1080p; rates are those of phones.
CODECS = {
    "h264": (["libx264", "-preset", "veryfast"], "yuv420p", SDR, 17e6),
    "hevc": (["libx265", "-preset", "superfast", "-tag:v", "hvc1", "-x265-params", "log-level=none:open-gop=0"],
             "yuv420p", SDR, 9e6),
    "hlg": (["libx265", "-preset", "superfast", "-tag:v", "hvc1", "-x265-params", "log-level=none:open-gop=0"],
            "yuv420p10le", HLG, 11e6),
}


def run(*arguments):
    """Runs ffmpeg; gives its processor seconds."""
    before = os.times()
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def made(folder, codec, size="1080p", seconds=8, turn=0):
    """The path of a movie that is shown turned by so many degrees."""
    path = os.path.join(folder, f"{codec}-{size}-{seconds}{f'-turned{turn}' if turn else ''}.mov")
    if os.path.exists(path):
        return path
    partial = os.path.join(folder, "partial.mov")
    if turn:
        run("-i", made(folder, codec, size, seconds), "-c", "copy", "-metadata:s:v:0", f"rotate={turn}", partial)
    else:
        (width, height), (encoder, pixels, colours, rate) = SIZES[size], CODECS[codec]
        across, down = min(PART[0], 2 * width), min(PART[1], 2 * height)
        part = (f"loop=-1:1,crop={across}:{down}:x='mod(n*{STEP[0]},1400)':y='mod(n*{STEP[1]},800)',format=yuv420p,noise=c0s=12:c0f=t,"
                f"scale={width}:{height}:flags=bicubic+accurate_rnd+full_chroma_int:out_color_matrix="
                f"{'bt2020' if codec == 'hlg' else 'bt709'},format={pixels}")
        run("-framerate", RATE, "-i", PHOTO, "-t", seconds, "-vf", part, "-c:v", *encoder, "-g", 2 * RATE,
            "-b:v", int(rate * width * height / 1920 / 1080), *colours, partial)
    os.rename(partial, path)
    return path

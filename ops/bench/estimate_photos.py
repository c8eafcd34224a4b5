"""Makes photos of any size and format from one real photo; called by estimate_bench.py."""

import os
import shutil
import struct
import subprocess

import heic_photos

SOURCE = "jobs/photos/dandelion.jpg"
# A JPEG that is not made, for who wants to see whether a benchmark works: the size `sample` of format `jpeg`.
SAMPLE = "jobs/photos/live.jpg"
# Width and height by name of size; the name is the megapixels.
SIZES = {"1": (1224, 816), "6": (3000, 2000), "12": (4000, 3000), "24": (6000, 4000), "96": (12000, 8000),
         "256": (16000, 16000), "384": (24000, 16000), "1008": (42000, 24000), "48": (8128, 6096), "200": (16320, 12240), "sample": (1071, 1428)}
# Tiles as a phone writes them, and how often a photo has them across and down.
TILES = "Tests/Fixtures/arrow.heic"
TIMES = {"12": 1, "48": 2, "200": 4}
# The photo is not enlarged beyond this: larger ones are tiles of it, as sharp as it is.
TILE = (6000, 4000)
DISK_LEFT_MIN = 5 << 30


class NoRoom(Exception):
    """The disk is too full for the photo."""


def vips(*arguments):
    subprocess.run(["vips", *map(str, arguments)], check=True, stderr=subprocess.PIPE)


def vips_field(photo, name):
    return subprocess.run(["vipsheader", "-f", name, photo], check=True, capture_output=True, text=True).stdout


def saving(suffix, *conversions):
    """A maker that runs vips operations, one after the other, and saves as the suffix says."""
    return suffix, conversions


DEEP = ("colourspace", "rgb16")
ALPHA = ("bandjoin_const", "255")
DEEP_ALPHA = ("bandjoin_const", "65535")
# How a photo of a format is made: what libvips' savers take behind the name, and what happens before.
FORMATS = {
    "jpeg": saving(".jpg[Q=90,subsample-mode=on]"),
    "jpeg 4:4:4": saving(".jpg[Q=90,subsample-mode=off]"),
    "jpeg progressive": saving(".jpg[Q=90,subsample-mode=on,interlace]"),
    "jpeg progressive 4:4:4": saving(".jpg[Q=90,subsample-mode=off,interlace]"),
    "jpeg grey": saving(".jpg[Q=90]", ("colourspace", "b-w")),
    "jpeg cmyk": saving(".jpg[Q=90]", ("icc_export", "--output-profile", "cmyk")),
    "png": saving(".png[compression=1]"),
    "png 16": saving(".png[compression=1]", DEEP),
    "png rgba": saving(".png[compression=1]", ALPHA),
    "png interlaced": saving(".png[compression=1,interlace]"),
    "png interlaced 16": saving(".png[compression=1,interlace]", DEEP),
    "tiff strips": saving(".tif[compression=lzw,predictor=horizontal]"),
    "tiff tiles": saving(".tif[compression=lzw,predictor=horizontal,tile,tile-width=256,tile-height=256]"),
    "tiff tiles 512": saving(".tif[compression=none,tile,tile-width=512,tile-height=512,bigtiff]", DEEP),
    "tiff 16": saving(".tif[compression=none,bigtiff]", DEEP),
    "tiff rgba 16": saving(".tif[compression=none,bigtiff]", DEEP, DEEP_ALPHA),
    "tiff jpeg": saving(".tif[compression=jpeg,Q=90,tile]"),
    "tiff tall strips": saving(".tif[compression=lzw,tile-height=4000]"),
    "webp": saving(".webp[Q=80,effort=0]"),
    "webp lossless": saving(".webp[lossless,effort=0]"),
    "heic": saving(".heic[Q=60,compression=hevc,effort=0]"),
    "avif": saving(".avif[Q=60,effort=0]"),
    "avif 12": saving(".avif[Q=60,effort=0,bitdepth=12]", DEEP),
    "jxl": saving(".jxl[effort=1]"),
    "jxl lossless": saving(".jxl[effort=1,lossless]"),
    "gif": saving(".gif[effort=1]"),
    "heic tiles": None,
    "raw": None,
}


def size_of(name):
    return SIZES[name]


class Photos:
    """Makes photos when they are asked for, and removes large ones.

    They are one photo enlarged; or another one as it is, side by side, which has detail from pixel to pixel as a camera's photo has.
    """

    def __init__(self, folder, keep, tiled=None):
        self.folder, self.keep, self.tiled = folder, keep, tiled
        if tiled:
            self.folder = os.path.join(folder, os.path.splitext(os.path.basename(tiled))[0])
            os.makedirs(self.folder, exist_ok=True)

    def path(self, format, size, orientation=1):
        suffix = {"raw": ".dng", "heic tiles": ".heic"}.get(format) or FORMATS[format][0].split("[")[0]
        name = f"{format} {size}" + (f" turned {orientation}" if orientation != 1 else "")
        return os.path.join(self.folder, name.replace(" ", "-").replace(":", "") + suffix)

    def make(self, format, size, orientation=1):
        if (format, size, orientation) == ("jpeg", "sample", 1):
            return SAMPLE
        path = self.path(format, size, orientation)
        if os.path.exists(path):
            return path
        width, height = SIZES[size]
        if shutil.disk_usage(self.folder).free < DISK_LEFT_MIN + 20 * width * height:
            raise NoRoom()
        partial = os.path.join(self.folder, "partial" + os.path.splitext(path)[1])
        if orientation != 1:
            self.tag(self.make(format, size), partial, orientation)
        elif format == "raw":
            self.raw(partial, width, height)
        elif format == "heic tiles":
            with open(partial, "wb") as file:
                file.write(heic_photos.enlarged(heic_photos.Grid(TILES), TIMES[size]))
        else:
            saver, conversions = FORMATS[format]
            self.save(width, height, conversions, partial + saver[saver.find("["):] if "[" in saver else partial)
        os.rename(partial, path)
        return path

    def done(self, path):
        if not self.keep and os.path.getsize(path) > 100 << 20:
            os.remove(path)

    def pixels(self, width, height):
        """A picture of libvips' own format, in a file that is read at any place; kept for the next format."""
        path = os.path.join(self.folder, f"pixels-{width}x{height}.v")
        if os.path.exists(path):
            return path
        side = (min(width, TILE[0]), min(height, TILE[1]))
        partial = os.path.join(self.folder, "partial.v")
        if self.tiled:
            sides = [int(vips_field(self.tiled, name)) for name in ("width", "height")]
            wide = os.path.join(self.folder, "wide.v")
            vips("replicate", self.tiled, wide, -(-width // sides[0]), -(-height // sides[1]))
            vips("crop", wide, partial, 0, 0, width, height)
            os.remove(wide)
        elif (width, height) == side:
            vips("thumbnail", SOURCE, partial, width, "--height", height, "--size", "force")
        else:
            wide = os.path.join(self.folder, "wide.v")
            vips("replicate", self.pixels(*TILE), wide, -(-width // TILE[0]), -(-height // TILE[1]))
            vips("crop", wide, partial, 0, 0, width, height)
            os.remove(wide)
        os.rename(partial, path)
        return path

    def save(self, width, height, conversions, target):
        picture = self.pixels(width, height)
        steps = []
        for number, (operation, *arguments) in enumerate(conversions):
            steps.append(os.path.join(self.folder, f"step{number}.v"))
            vips(operation, picture, steps[-1], *arguments)
            picture = steps[-1]
        vips("copy", picture, target)
        for step in steps:
            os.remove(step)

    def tag(self, source, target, orientation):
        """A copy of a JPEG with EXIF that says how it is to be turned: one directory of one entry."""
        tiff = b"MM\0\x2a\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x112, 3, 1, orientation, 0, 0)
        exif = b"Exif\0\0" + tiff
        with open(source, "rb") as photo, open(target, "wb") as tagged:
            tagged.write(photo.read(2) + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif)
            shutil.copyfileobj(photo, tagged)

    def raw(self, target, width, height):
        """A DNG (1.4) of 16 bits without compression; the sensor saw green only, which costs the same."""
        picture = self.pixels(width, height)
        band = os.path.join(self.folder, "band.v")
        deep = os.path.join(self.folder, "deep.v")
        samples = os.path.join(self.folder, "samples.raw")
        vips("extract_band", picture, band, 1)
        vips("cast", band, deep, "ushort", "--shift")
        vips("rawsave", deep, samples)
        for path in (band, deep):
            os.remove(path)
        rationals = b"".join(struct.pack("<ii", number, 10000) for number in (
            7171, -1986, -648, -8085, 15555, 2718, -2170, 2512, 7457))
        neutral = struct.pack("<IIIIII", 5, 10, 1, 1, 7, 10)
        entries = [
            (254, 4, 1, 0), (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 1),
            (262, 3, 1, 32803), (271, 2, 8, b"Minilab\0"), (272, 2, 8, b"Sensor1\0"), (273, 4, 1, "samples"),
            (274, 3, 1, 1), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, 2 * width * height), (284, 3, 1, 1),
            (33421, 3, 2, struct.pack("<HH", 2, 2)), (33422, 1, 4, bytes([0, 1, 1, 2])),
            (50706, 1, 4, bytes([1, 4, 0, 0])), (50708, 2, 8, b"Sensor1\0"), (50717, 4, 1, 65535),
            (50721, 10, 9, rationals), (50728, 5, 3, neutral), (50778, 3, 1, 21)]
        more, start = b"", 8 + 2 + 12 * len(entries) + 4
        for _, _, _, value in entries:
            if isinstance(value, bytes) and len(value) > 4:
                more += value
        directory, offset = struct.pack("<H", len(entries)), start
        for tag, kind, count, value in entries:
            if value == "samples":
                value = start + len(more)
            if isinstance(value, bytes):
                stored = value.ljust(4, b"\0") if len(value) <= 4 else struct.pack("<I", offset)
                offset += len(value) if len(value) > 4 else 0
            else:
                stored = struct.pack("<I", value)
            directory += struct.pack("<HHI", tag, kind, count) + stored
        with open(target, "wb") as file, open(samples, "rb") as data:
            file.write(b"II\x2a\0\x08\0\0\0" + directory + bytes(4) + more)
            shutil.copyfileobj(data, file)
        os.remove(samples)

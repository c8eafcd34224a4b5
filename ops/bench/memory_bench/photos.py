"""The photos of the memory bench, made of a real one and kept in .build-bench."""

import os

try:
    import pyvips
except ImportError:
    pyvips = None  # it comes from PyPI, and the case `sample` makes no photo

# Of this size is what repeats, each time mirrored otherwise, brighter or darker, under other grain.
PIECE = 6000, 4000
GRAIN = 4  # standard deviation, in codes: a camera's at ISO 800, which no encoder finds easy
BRIGHTNESS = [1, 0.85, 1.12, 0.7, 0.94, 1.2, 0.78]
QUALITY = 90
SEED = 7


class Photos:
    """Makes each photo once; a path is of a file that is there."""

    def __init__(self, folder, source):
        self.folder, self.source = folder, source

    def jpeg(self, width, height, name=None):
        return self.saved(name or f"photo-{width}x{height}.jpg", width, height, Q=QUALITY, subsample_mode="on")

    def gigapixel(self):
        return self.jpeg(42000, 24000, "gigapixel.jpg")

    def tiff_rgba16(self):
        """256 MP of 16 bits, whose alpha is a slope, without compression."""
        side = 16000
        alpha = pyvips.Image.xyz(side, side)[0] * (65535 / side)
        picture = self.picture(side, side) * 257
        deep = picture.bandjoin(alpha).cast("ushort").copy(interpretation="rgb16")
        return make(self.folder, "photo-256mp-rgba16.tif", lambda path: deep.tiffsave(path, compression="none"))

    def saved(self, name, width, height, deep=False, **options):
        """A photo in the format of the name's extension; `options` are those of libvips' saver.

        deep: 16 bits.
        """
        def build(path):
            picture = self.picture(width, height)
            if deep:
                picture = (picture * 257).cast("ushort").copy(interpretation="rgb16")
            picture.write_to_file(path, **options)

        return make(self.folder, name, build)

    def picture(self, width, height):
        """The real photo, repeated as often as its size asks for; the middle of it when that is less than once."""
        across, down = -(-width // PIECE[0]), -(-height // PIECE[1])
        light = [image * BRIGHTNESS[number % len(BRIGHTNESS)]
                 for number, image in enumerate(mirrored(self.piece(), across, across * down))]
        grain = mirrored(self.grain(), across + 1, across * down)
        whole = pyvips.Image.arrayjoin([a + b for a, b in zip(light, grain)], across=across)
        left, top = (whole.width - width) // 2, (whole.height - height) // 2
        return whole.crop(left, top, width, height).cast("uchar").copy(interpretation="srgb")

    # Both are files that libvips maps and reads in any order.

    def piece(self):
        return pyvips.Image.new_from_file(make(self.folder, "piece.v", lambda path: pyvips.Image.thumbnail(
            self.source, PIECE[0], height=PIECE[1], size="force").write_to_file(path)))

    def grain(self):
        return pyvips.Image.new_from_file(make(self.folder, "grain.v", lambda path: pyvips.Image.gaussnoise(
            *PIECE, mean=0, sigma=GRAIN, seed=SEED).write_to_file(path)))


def mirrored(image, period, count):
    """An image so many times, mirrored in one of four ways, which change along a row and from row to row."""
    ways = [image, image.fliphor(), image.flipver(), image.rot180()]
    return [ways[(number + number // period) % 4] for number in range(count)]


def make(folder, name, build):
    """Path of a file or folder of the cache; `build(path)` makes it when it is not there."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        part = os.path.join(folder, f"part-{name}")
        build(part)
        os.rename(part, path)
    return path

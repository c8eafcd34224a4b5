"""pyvips doing edits of the same kind; a program that takes one job a line and answers each with a line.

In linear light, floats, streaming where libvips can, one thread: as a careful user of pyvips would write it.
"""

import json
import math
import sys

import pyvips

LUMA = [[0.2125, 0.7154, 0.0721]]


def main():
    pyvips.cache_set_max(0)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            edit(job)
            print(json.dumps({}), flush=True)
        except pyvips.Error as error:
            print(json.dumps({"error": str(error)}), flush=True)


def edit(job):
    name = job["edit"]
    access = "random" if name in ("straighten", "perspective", "look") else "sequential"
    image = pyvips.Image.new_from_file(job["photo"], access=access)
    light = EDITS[name](image.colourspace("scrgb").copy(interpretation="scrgb"))
    light = light.copy(interpretation="scrgb")
    deep = job["format"] in ("png-16", "tiff-16")
    SAVERS[job["format"]](light.colourspace("rgb16" if deep else "srgb"), job["output"])


# Our settings, where the savers have them.
SAVERS = {
    "jpeg": lambda image, path: image.jpegsave(path, Q=90, subsample_mode="on"),
    "jpeg-444": lambda image, path: image.jpegsave(path, Q=90, subsample_mode="off"),
    "png-8": lambda image, path: image.pngsave(path, compression=1, filter=0x20),
    "png-16": lambda image, path: image.pngsave(path, compression=1, filter=0x20),
    "tiff-16": lambda image, path: image.tiffsave(path, compression="none"),
    "webp": lambda image, path: image.webpsave(path, Q=91, effort=2),
    "heic": lambda image, path: image.heifsave(path, Q=53, compression="hevc"),
}


def luma(image):
    return image.recomb(LUMA)


def sepia(image):
    light = luma(image).linear(1, 0)
    brown = (light ** 0.8).bandjoin([light ** 1.1, light ** 2])
    return image * 0.2 + brown * 0.8


def saturated(image, amount):
    matrix = [[(1 - amount) * weight + amount * (row == column) for column, weight in enumerate(LUMA[0])]
              for row in range(3)]
    return image.recomb(matrix)


def toned(image):
    """A curve of tones on encoded values: gamma, a cubic, and back."""
    codes = (image * (image > 0)) ** (1 / 2.2)
    return (codes + (codes - 0.5) * codes * (1 - codes) * 0.4) ** 2.2


def developed(image, count=7):
    image = image * 1.23
    image = image.recomb([[1.08, 0, 0], [0, 1, 0], [0, 0, 0.9]])
    image = saturated(image.linear(1.05, -0.015), 1.1)
    grey = image.bandmean()
    image = image + (image - grey) * 0.2
    if count > 4:
        image = image.recomb([[0.98, 0.03, -0.01], [-0.01, 1.0, 0.01], [0.02, -0.02, 1.0]])
        image = (toned(image) * (toned(image) > 0)) ** 0.95
    return image


def vignetted(image):
    width, height = image.width, image.height
    place = pyvips.Image.xyz(width, height) - [width / 2, height / 2]
    squares = place * place
    distance = (squares[0] + squares[1]) * (1 / (0.36 * max(width, height) ** 2))
    return image * (1 - 0.6 * distance / (1 + distance))


def straightened(image):
    width, height = image.width, image.height
    angle = 0.03
    scale = math.cos(angle) + max(width, height) / min(width, height) * math.sin(angle)
    turned = image.similarity(angle=math.degrees(angle), scale=scale, interpolate=pyvips.Interpolate.new("bicubic"))
    return turned.crop((turned.width - width) // 2, (turned.height - height) // 2, width, height)


def perspective(image):
    index = pyvips.Image.xyz(image.width, image.height)
    x, y = index[0], index[1]
    below = x * (0.02 / image.width) + y * (0.03 / image.height) + 1
    places = ((x * 0.94 + y * 0.01 + 0.03 * image.width) / below).bandjoin(
        (x * 0.01 + y * 0.94 + 0.03 * image.height) / below)
    return image.mapim(places, interpolate=pyvips.Interpolate.new("bicubic"))


def unsharp(image):
    return image + (image - image.gaussblur(2.5, precision="float")) * 0.5


def luminance(image):
    light = luma(image)
    return image + (light - light.gaussblur(1.69, precision="float")) * 0.4


def bloomed(image, radius=10, amount=0.5):
    glow = image.gaussblur(radius, precision="float")
    return image + ((glow > image).ifthenelse(glow, image) - image) * amount


def denoised(image):
    """A mean of 3 × 3 pixels where it differs little from the pixel, else sharpened."""
    mean = image.conv(pyvips.Image.new_from_array([[1, 1, 1], [1, 1, 1], [1, 1, 1]], scale=9), precision="float")
    difference = image - mean
    return (luma(difference).abs() < 0.02).ifthenelse(mean, image + difference * 0.4)


def shadowed(image):
    light = luma(image).gaussblur(20, precision="float")
    gain = (light * -8).exp() * 0.5 + 1
    return image * gain


def film(image):
    image = bloomed(toned(toned(image)), 6, 0.35)
    return image + pyvips.Image.gaussnoise(image.width, image.height, sigma=0.01, mean=0)


EDITS = {
    "sepia": sepia, "colours": developed,
    "vignette-first": lambda image: developed(vignetted(image)),
    "vignette-last": lambda image: vignetted(developed(image)),
    "straighten": straightened, "perspective": perspective,
    "half": lambda image: image.resize(0.5), "unsharp": unsharp, "luminance": luminance, "bloom": bloomed,
    "noise": denoised, "median": lambda image: image.median(3), "shadows": shadowed,
    "look": lambda image: vignetted(unsharp(toned(developed(straightened(image), 4)))), "film": film,
}


if __name__ == "__main__":
    main()

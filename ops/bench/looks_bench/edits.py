"""The edits, as recipes for a photo of a size, and the formats: what is read, how it is written."""

# Name: what estimate_photos calls the photo, and the output of the recipe beside the quality.
FORMATS = {
    "jpeg": ("jpeg", {"format": "jpeg", "chroma": "4:2:0"}),
    "jpeg-444": ("jpeg 4:4:4", {"format": "jpeg", "chroma": "4:4:4"}),
    "png-8": ("png", {"format": "png"}),
    "png-16": ("png 16", {"format": "png"}),
    "tiff-16": ("tiff 16", {"format": "tiff"}),
    "webp": ("webp", {"format": "webp"}),
    "heic": ("heic", {"format": "heic"}),
    "dng": ("raw", {"format": "jpeg", "chroma": "4:4:4"}),
}
QUALITY = 0.9
ANGLE = 0.03  # radians: 1.7 degrees, as a crooked horizon


def colours():
    return [
        {"name": "CIExposureAdjust", "inputEV": 0.3},
        {"name": "CITemperatureAndTint", "inputNeutral": [6500, 0], "inputTargetNeutral": [5800, 0]},
        {"name": "CIColorControls", "inputSaturation": 1.1, "inputBrightness": 0.01, "inputContrast": 1.05},
        {"name": "CIVibrance", "inputAmount": 0.3},
        {"name": "CIHueAdjust", "inputAngle": 0.05},
        tones(),
        {"name": "CIGammaAdjust", "inputPower": 0.95},
    ]


def tones():
    return {"name": "CIToneCurve", "inputPoint0": [0, 0], "inputPoint1": [0.25, 0.22],
            "inputPoint2": [0.5, 0.5], "inputPoint3": [0.75, 0.79], "inputPoint4": [1, 1]}


def vignette(width, height):
    return {"name": "CIVignetteEffect", "inputCenter": [width / 2, height / 2],
            "inputRadius": 0.6 * max(width, height), "inputIntensity": 0.6}


def edits(width, height):
    """Filters by name of edit."""
    inset = 0.04
    corners = {"inputTopLeft": [inset * width, (1 - inset / 2) * height],
               "inputTopRight": [(1 - inset) * width, (1 - inset) * height],
               "inputBottomRight": [(1 - inset / 2) * width, inset * height],
               "inputBottomLeft": [inset / 2 * width, inset / 2 * height]}
    straighten = {"name": "CIStraightenFilter", "inputAngle": ANGLE}
    unsharp = {"name": "CIUnsharpMask", "inputRadius": 2.5, "inputIntensity": 0.5}
    curves = {"name": "CIColorCurves", "inputCurvesDomain": [0, 1], "inputColorSpace": "sRGB", "inputCurvesData": [
        0.03, 0.02, 0.04, 0.24, 0.24, 0.27, 0.52, 0.51, 0.5, 0.78, 0.76, 0.71, 0.97, 0.96, 0.92]}
    return {
        "sepia": [{"name": "CISepiaTone", "inputIntensity": 0.8}],
        "colours": colours(),
        "vignette-first": [vignette(width, height), *colours()],
        "vignette-last": [*colours(), vignette(width, height)],
        "straighten": [straighten],
        "perspective": [{"name": "CIPerspectiveCorrection", **corners}],
        "half": [{"name": "CILanczosScaleTransform", "inputScale": 0.5}],
        "unsharp": [unsharp],
        "luminance": [{"name": "CISharpenLuminance"}],
        "bloom": [{"name": "CIBloom"}],
        "noise": [{"name": "CINoiseReduction"}],
        "median": [{"name": "CIMedianFilter"}],
        "shadows": [{"name": "CIHighlightShadowAdjust", "inputRadius": 20, "inputShadowAmount": 0.5}],
        # Made upright, developed, sharpened, darkened at the edges.
        "look": [straighten, *colours()[:4], tones(), unsharp, vignette(width, height)],
        # Curves, halation, grain.
        "film": [curves, tones(), {"name": "CIBloom", "inputRadius": 6, "inputIntensity": 0.35},
                 {"name": "CIDither", "inputIntensity": 0.5}],
    }


def codec(width, height):
    """Decoding and encoding alone: a column is cut off."""
    return [{"name": "CICrop", "inputRectangle": [0, 0, width - 1, height]}]

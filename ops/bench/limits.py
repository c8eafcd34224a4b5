"""What a render child is told to refuse: the worker's defaults, but for pixels."""

LIMITS = {
    "pixelsMax": 4 << 30, "bytesMax": 1 << 40, "framesMax": 3600, "pagesMax": 1000, "scansMax": 500,
    "profileMax": 8_000_000, "metadataMax": 16 << 20, "densityMax": 1032, "sideMax": 100_000, "filtersMax": 100,
    "radiusMax": 10_000, "spoolMax": 1 << 40,
    "movieFramesMax": 36_000, "movieSecondsMax": 3_600, "tracksMax": 32, "boxesMax": 20_000,
}

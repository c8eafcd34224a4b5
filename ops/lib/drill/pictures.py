"""Photos that are made here: small, because drills are not about pixels."""

import struct
import zlib

# Eight bits of red, green and blue.
DEPTH, RGB = 8, 2


def png(width, height, seed=0):
    """A PNG of a slope of colour; another seed is another picture."""
    # Every channel has a slope of its own; the seed shifts them.
    rows = b"".join(
        b"\0" + bytes((x * step + y + seed * 17) & 255 for x in range(width) for step in (1, 2, 3))
        for y in range(height))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in [
            (b"IHDR", struct.pack(">IIBBBBB", width, height, DEPTH, RGB, 0, 0, 0)),
            (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")])

"""PNGs of eight bits of red, green and blue: written for photos and logos that are made here, and read to judge renders."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
DEPTH, RGB = 8, 2
CHANNELS = 3


def write(width, height, rows, level=1):
    """The bytes of a PNG. rows: of each its pixels, three bytes a pixel."""
    plain = b"".join(b"\0" + row for row in rows)
    header = struct.pack(">IIBBBBB", width, height, DEPTH, RGB, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(plain, level)), (b"IEND", b"")]
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


def read(data):
    """The rows of a PNG, each a list of pixels (red, green, blue), the upper row first. Raises ValueError for a PNG of another kind."""
    if not data.startswith(SIGNATURE):
        raise ValueError(f"no PNG: it begins with {data[:8]!r}")
    chunks, at = {}, len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4:at + 8]
        chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + length]
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if (depth, colour, interlaced) != (DEPTH, RGB, 0):
        raise ValueError(f"a PNG of depth {depth}, colour type {colour}, interlacing {interlaced}; only {DEPTH}, {RGB}, 0 are read")
    plain, line = zlib.decompress(chunks[b"IDAT"]), CHANNELS * width
    rows, above = [], bytes(line)
    for start in range(0, height * (line + 1), line + 1):
        above = unfiltered(plain[start], plain[start + 1:start + 1 + line], above)
        rows.append([tuple(above[i:i + CHANNELS]) for i in range(0, line, CHANNELS)])
    return rows


def unfiltered(kind, row, above):
    """The bytes of a row, which was written as differences from what lies beside and above it (PNG, "Filtering")."""
    found = bytearray(row)
    for i in range(len(found)):
        left, corner = (found[i - CHANNELS], above[i - CHANNELS]) if i >= CHANNELS else (0, 0)
        guess = (0, left, above[i], (left + above[i]) // 2, nearest(left, above[i], corner))[kind]
        found[i] = (found[i] + guess) & 255
    return bytes(found)


def nearest(left, up, corner):
    """Which of the three is nearest to left + up - corner; PNG calls it Paeth's predictor."""
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))

"""Which pictures show the logo, and that PNGs are read as they were meant."""

import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import logo  # noqa: E402
import png  # noqa: E402

PHOTO, COLOUR = (90, 120, 60), logo.COLOURS["magenta"]
SIDE = logo.SEEN


def picture(at=None, colour=COLOUR):
    """A rendition with the logo between two columns and two rows; without `at`, with none."""
    left, top, right, bottom = at or (0, 0, 0, 0)
    return png.write(SIDE, SIDE, [
        b"".join(bytes(colour if left <= x < right and top <= y < bottom else PHOTO) for x in range(SIDE)) for y in range(SIDE)])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class Logos(unittest.TestCase):
    def test_a_picture_with_it_in_the_lower_right_corner_passes(self):
        self.assertIsNone(logo.missing(picture((48, 40, SIDE, SIDE))))

    def test_a_picture_without_it_is_told_apart(self):
        self.assertIn("lower right one is (90, 120, 60), not the logo's", logo.missing(picture()))

    def test_another_logo_is_told_apart(self):
        self.assertIn("not the logo's", logo.missing(picture((48, 40, SIDE, SIDE), logo.COLOURS["green"])))

    def test_it_in_another_corner_is_told_apart(self):
        self.assertIn("not the logo's", logo.missing(picture((0, 0, 16, 24))))

    def test_a_picture_that_is_all_logo_is_told_apart(self):
        self.assertIn("upper left one", logo.missing(picture((0, 0, SIDE, SIDE))))

    def test_the_name_of_the_file_is_what_the_edit_names(self):
        with tempfile.TemporaryDirectory() as folder:
            name = logo.make(folder).name
            self.assertEqual(logo.edit()["filters"][0]["image"], f"sha256:{name}")
            self.assertTrue(subprocess.run(["sha256sum", f"{folder}/{name}"], check=True, capture_output=True, text=True).stdout.startswith(name))


class PNGs(unittest.TestCase):
    def test_each_way_of_writing_a_row_is_read(self):
        """Four pixels a row, each row written in another of the five ways."""
        rows = [bytes((x * 37 + y * 91 + c * 53) % 256 for x in range(4) for c in range(3)) for y in range(5)]
        plain, above = b"", bytes(12)
        for kind, row in enumerate(rows):
            differences = bytearray()
            for i, value in enumerate(row):
                left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
                near = left + above[i] - corner
                paeth = min((abs(near - left), 0, left), (abs(near - above[i]), 1, above[i]), (abs(near - corner), 2, corner))[2]
                differences.append((value - (0, left, above[i], (left + above[i]) // 2, paeth)[kind]) % 256)
            plain, above = plain + bytes([kind]) + differences, row
        header = struct.pack(">IIBBBBB", 4, 5, png.DEPTH, png.RGB, 0, 0, 0)
        data = zlib.compress(plain)
        written = png.SIGNATURE + chunk(b"IHDR", header) + chunk(b"tEXt", b"a\0b") + chunk(b"IDAT", data[:9]) + chunk(b"IDAT", data[9:]) + chunk(b"IEND", b"")
        self.assertEqual([bytes(value for pixel in row for value in pixel) for row in png.read(written)], rows)

    def test_another_kind_is_refused_in_a_sentence(self):
        with self.assertRaisesRegex(ValueError, "depth 16, colour type 6, interlacing 0; only 8, 2, 0"):
            png.read(png.SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 5, 16, 6, 0, 0, 0)))
        with self.assertRaisesRegex(ValueError, "no PNG"):
            png.read(b"\xff\xd8\xff")


if __name__ == "__main__":
    sys.exit(unittest.main())

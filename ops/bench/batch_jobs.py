"""The job of the RQ side: W3C's sepia matrix, mixed 0.8, on encoded values."""

import pyvips

SEPIA = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
MIXED = [[0.8 * w + 0.2 * (row == column) for column, w in enumerate(line)]
         for row, line in enumerate(SEPIA)]


def sepia(source, output):
    image = pyvips.Image.new_from_file(source, access="sequential")
    image.recomb(MIXED).cast("uchar").jpegsave(output, Q=90, subsample_mode="on")

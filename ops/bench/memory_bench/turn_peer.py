"""Turns a JPEG by 90° with somebody else's library: turn_peer.py NAME IN OUT."""

import sys

QUALITY = 90


def pyvips_copy_memory(source, output):
    """What servers do: the whole picture in memory, since a turn cannot stream."""
    import pyvips
    pyvips.cache_set_max(0)
    image = pyvips.Image.new_from_file(source, access="sequential").copy_memory()
    image.rot90().jpegsave(output, Q=QUALITY, subsample_mode="on")


def pyvips_disc(source, output):
    """What libvips does when it is left to itself: pictures above 100 MB go to a file in $TMPDIR."""
    import pyvips
    pyvips.cache_set_max(0)
    pyvips.Image.new_from_file(source).rot90().jpegsave(output, Q=QUALITY, subsample_mode="on")


def pillow(source, output):
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None
    Image.open(source).transpose(Image.Transpose.ROTATE_270).save(
        output, quality=QUALITY, subsampling="4:2:0")


{"pyvips copy_memory": pyvips_copy_memory, "pyvips, spooled": pyvips_disc, "Pillow": pillow}[sys.argv[1]](*sys.argv[2:])

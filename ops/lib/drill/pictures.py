"""Photos that are made here: small, because drills are not about pixels."""

from png import write


def png(width, height, seed=0):
    """A PNG of a slope of colour; another seed is another picture."""
    # Every channel has a slope of its own; the seed shifts them.
    return write(width, height, (
        bytes((x * step + y + seed * 17) & 255 for x in range(width) for step in (1, 2, 3)) for y in range(height)))

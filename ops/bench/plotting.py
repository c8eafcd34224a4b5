"""Plots as SVG, without any library: panels of lines over time, and bars.

One file is right on a light page and on a dark one: its colours follow the reader's system. The same figures give the same bytes.
"""

from __future__ import annotations

import math
from html import escape

STYLE = """
  svg { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; background: var(--paper);
        --paper: #ffffff; --ink: #1f2328; --faint: #656d76; --grid: #d0d7de; --a: #0969da; --b: #bc4c00; --c: #8c959f; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --ink: #e6edf3; --faint: #8d96a0; --grid: #30363d; --a: #4493f8; --b: #f0883e; --c: #6e7681; } }
  text { fill: var(--ink); } .faint { fill: var(--faint); } .grid { stroke: var(--grid); }
  .title { font-weight: 600; } .big { font-size: 16px; font-weight: 600; } .end { text-anchor: end; } .mid { text-anchor: middle; }
  .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; } .a { stroke: var(--a); } .b { stroke: var(--b); } .c { stroke: var(--c); }
  .fa { fill: var(--a); } .fb { fill: var(--b); } .fc { fill: var(--c); } .area { opacity: 0.18; }
"""


def number(value: float) -> str:
    """A coordinate, or a figure of an axis: short, and without a sign for zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def without_flats(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points without those whose neighbours have the same height: the line stays as it is."""
    inner = (b for a, b, c in zip(points, points[1:], points[2:]) if not a[1] == b[1] == c[1])
    return [points[0], *inner, points[-1]]


def thousands(value: float) -> str:
    """A figure of an axis with its thousands apart."""
    return f"{value:,.0f}" if value >= 1000 else number(value)


def steps(top: float, count: int = 4) -> list[float]:
    """Round figures from 0 to at least `top`: 1, 2 or 5 times a power of ten apart."""
    if top <= 0:
        return [0, 1]
    rough = top / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [index * step for index in range(math.ceil(top / step - 1e-9) + 1)]


class Picture:
    """An SVG that is put together from the top down."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.parts = width, height, []
        self.title = title

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{escape(words)}</text>')

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" class="grid"/>'
        )

    def box(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" class="{kind}"/>'
        )

    def line(self, points: list[tuple[float, float]], kind: str) -> None:
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="line {kind}"/>')

    def area(self, points: list[tuple[float, float]], floor: float, kind: str) -> None:
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(
            f'<polygon points="{number(points[0][0])},{number(floor)} {path} {number(points[-1][0])},{number(floor)}" '
            f'class="area f{kind}"/>'
        )

    def svg(self) -> str:
        inside = "\n".join("  " + part for part in self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img">\n'
            f"  <title>{escape(self.title)}</title>\n  <style>{STYLE}  </style>\n"
            f'  <rect width="100%" height="100%" style="fill: var(--paper)"/>\n{inside}\n</svg>\n'
        )


def panel(
    picture: Picture, left: float, top: float, width: float, height: float, name: str,
    series: list[tuple[str, str, list[tuple[float, float]]]], x_top: float, x_name: str | None,
) -> None:
    """Lines over one axis; the first is filled. A series is its name, its colour (a, b, c) and its points."""
    ticks = steps(max(y for _, _, points in series for _, y in points))
    scale_x, scale_y = width / x_top, height / ticks[-1]
    for tick in ticks:
        y = top + height - tick * scale_y
        picture.rule(left, y, left + width, y)
        picture.text(left - 6, y + 4, thousands(tick), "faint end")
    picture.text(left, top - 8, name, "faint")
    after = left + width
    for label, colour, points in reversed(series):
        if label != name:
            picture.text(after, top - 8, label, "faint end")
            after -= 7 * len(label) + 8
            picture.box(after - 6, top - 16, 10, 9, f"f{colour}")
            after -= 18
    for index, (_, colour, points) in enumerate(series):
        placed = [(left + round(x * scale_x, 1), top + round(height - y * scale_y, 1)) for x, y in without_flats(points)]
        if index == 0:
            picture.area(placed, top + height, colour)
        picture.line(placed, colour)
    if x_name is not None:
        for tick in steps(x_top, 6):
            if tick <= x_top:
                picture.text(left + tick * scale_x, top + height + 17, number(tick), "faint mid")
        picture.text(left + width, top + height + 33, x_name, "faint end")


def bars(
    title: str, note: str, rows: list[tuple[str, list[tuple[str, float]]]], names: dict[str, str], unit: str,
    top: float | None = None,
) -> str:
    """Groups of bars, one a row. A row is its name and its bars: colour (a, b, c) and length. `names` says what colours stand for.

    A bar longer than `top` is cut there, and its figure says how long it is.
    """
    left, right, thick, gap, head = 150, 70, 14, 10, 78
    width = 860
    heights = [len(group) * thick + gap for _, group in rows]
    picture = Picture(width, head + sum(heights) + 12, title)
    longest = top or max(value for _, group in rows for _, value in group)
    scale = (width - left - right) / longest
    picture.text(12, 24, title, "big")
    picture.text(12, 44, note, "faint")
    x = left
    for colour, name in names.items():
        picture.box(x, 55, 10, 9, f"f{colour}")
        picture.text(x + 15, 64, name, "faint")
        x += 7.4 * len(name) + 36
    y = head
    for (name, group), height in zip(rows, heights):
        picture.text(left - 8, y + (height - gap) / 2 + 4, name, "end")
        for index, (colour, value) in enumerate(group):
            at = y + index * thick
            picture.box(left, at, min(value, longest) * scale, thick - 2, f"f{colour}")
            picture.text(left + min(value, longest) * scale + 5, at + thick - 2, number(value) + unit, "faint")
        y += height
    return picture.svg()


def columns(
    title: str, note: str, names: list[str], ours: str, left: int, quantities: list[tuple[str, list[float | None]]],
) -> str:
    """Bars of several quantities side by side, each with a scale of its own; a row for each name.

    A quantity is its name and a value for each row, or None. The row whose name contains `ours` has the colour of its own. `left` is the
    width of the names.
    """
    width, row_height, head, gap, figure_width = 860, 24, 84, 26, 52
    picture = Picture(width, head + len(names) * row_height + 12, title)
    picture.text(12, 24, title, "big")
    picture.text(12, 44, note, "faint")
    column = (width - left - 12) / len(quantities) - gap
    for row, name in enumerate(names):
        is_ours = ours in name
        picture.text(left - 8, head + row * row_height + 14, name.replace("`", ""), "end title" if is_ours else "end")
        for index, (_, values) in enumerate(quantities):
            x, y, value = left + index * (column + gap), head + row * row_height, values[row]
            if value is None:
                picture.text(x, y + 14, "–", "faint")
                continue
            length = value / max(other for other in values if other is not None) * (column - figure_width)
            picture.box(x, y + 3, length, 14, "fa" if is_ours else "fc")
            picture.text(x + length + 5, y + 14, thousands(value), "faint")
    for index, (name, _) in enumerate(quantities):
        picture.text(left + index * (column + gap), head - 10, name, "faint")
    return picture.svg()

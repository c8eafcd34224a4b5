"""Tables of Markdown pages, read for plots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Table(NamedTuple):
    """A table: the cells of its head and of its rows, without their spaces."""

    head: list[str]
    rows: list[list[str]]


def all_of(page: Path) -> list[Table]:
    """The tables of a page, the first one first."""
    found: list[Table] = []
    is_inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            is_inside = False
            continue
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")]
        if not is_inside:
            found.append(Table(cells, []))
            is_inside = True
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1].rows.append(cells)
    return found


def find(page: Path, *names: str) -> Table:
    """The first table with columns that begin with these names.

    Raises LookupError, with the page and the names, when there is none.
    """
    for table in all_of(page):
        if all(any(cell.startswith(name) for cell in table.head) for name in names):
            return table
    raise LookupError(f"{page} has no table with the columns {', '.join(names)}")


def figure(cell: str) -> float | None:
    """The number that a cell begins with, such as 6,050 or > 60; None for one without."""
    found = re.match(r"[*>≥ ]*(\d[\d,]*(?:\.\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def spread(rows: list[list[str]]) -> list[list[str]]:
    """The rows, with one of `a · b, words | 1 · 2` as two: `a, words | 1` and `b, words | 2`."""
    result = []
    for row in rows:
        name, *rest = row[0].split(", ", 1)
        parts = [name.split(" · "), *(cell.split(" · ") for cell in row[1:])]
        for index in range(len(parts[0])):
            cells = [part[index] if len(part) == len(parts[0]) else "" for part in parts]
            result.append([", ".join([cells[0], *rest]), *cells[1:]])
    return result


def looks(page: Path) -> dict[tuple[str, str, str], float]:
    """Times of the codec alone, by format, edit and who; of a cell that is there twice, the first.

    Read from tables with edits down and formats across, whose cells are `ours · pyvips`.
    """
    name = "× codec"
    result: dict[tuple[str, str, str], float] = {}
    for table in all_of(page):
        if not table.head[0].startswith(name):
            continue
        for edit, *cells in table.rows:
            for form, cell in zip(table.head[1:], cells):
                for who, text in zip(("ours", "pyvips"), cell.split(" · ")):
                    value = figure(text)
                    if value is not None:
                        result.setdefault((form, edit, who), value)
    if not result:
        raise LookupError(f"{page} has no table whose first column begins with {name}")
    return result

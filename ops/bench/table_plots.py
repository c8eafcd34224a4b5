#!/usr/bin/env python3
"""Draws the measured tables of ops/bench/*.md as ops/bench/plots/*.svg. Nothing is measured.

usage: ops/bench/table_plots.py [--check]

With --check it writes nothing, and fails when a plot is not what its table says.
"""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))
import plotting  # noqa: E402
import tables  # noqa: E402
from tables import figure  # noqa: E402

SCRIPT = "ops/bench/table_plots.py"


def looks() -> str:
    """Edits of a JPEG, beside pyvips."""
    measured = tables.looks(BENCH / "LOOKS.md")
    edits = list(dict.fromkeys(edit for form, edit, _ in measured if form == "jpeg"))
    rows = [(edit, beside_pyvips(measured, "jpeg", edit)) for edit in edits]
    return plotting.bars(
        "Processor time of usual edits, × the codec alone",
        "A JPEG 4:2:0 of 24 megapixels; 1 is decoding and encoding without an edit. Shorter is better. LOOKS.md", rows,
        {"a": "Minilab", "c": "pyvips"}, " ×",
    )


def formats() -> str:
    """One edit in each format, beside pyvips."""
    measured = tables.looks(BENCH / "LOOKS.md")
    rows = [
        (form, beside_pyvips(measured, form, "look"))
        for form in dict.fromkeys(form for form, edit, _ in measured if edit == "look")
    ]
    return plotting.bars(
        "Processor time of one look in each format, × the codec alone",
        "The edit look of LOOKS.md; 1 is decoding and encoding without an edit. Shorter is better.", rows,
        {"a": "Minilab", "c": "pyvips"}, " ×",
    )


def beside_pyvips(measured: dict, form: str, edit: str) -> list[tuple[str, float]]:
    """The bars of an edit: ours and, where it was measured, pyvips'."""
    pairs = (("a", measured.get((form, edit, "ours"))), ("c", measured.get((form, edit, "pyvips"))))
    return [(colour, value) for colour, value in pairs if value is not None]


def render() -> str:
    """One photo, beside the codec and other libraries."""
    rows = tables.spread(tables.find(BENCH / "README.md", "CPU s", "× limit", "peak MB").rows)
    seconds = [figure(row[1]) for row in rows]
    return plotting.columns(
        "A 24-megapixel JPEG in sepia", "Sepia 0.8, quality 90, warm. Shorter is better. README.md, Photos",
        [row[0] for row in rows], "minilab-render", 330,
        [
            ("processor time, ms", [None if value is None else value * 1000 for value in seconds]),
            ("peak memory, MB", [figure(row[3]) for row in rows]),
        ],
    )


def memory() -> str:
    """A gigapixel that is turned, beside other programs."""
    table = tables.find(BENCH / "MEMORY.md", "highest RSS of a process, MB")
    start = "1 GP JPEG turned by 90°: "
    # A program that refused the photo took next to nothing.
    rows = [row for row in table.rows if row[0].startswith(start) and "ended with" not in row[-1]]
    names = [row[0].removeprefix(start) + (" (killed)" if "killed" in row[-1] else "") for row in rows]
    return plotting.columns(
        "A photo of one gigapixel, turned by 90°", "42000 × 24000 pixels. Shorter is better. MEMORY.md",
        names, "Minilab", 245,
        [
            ("memory of the process, MB", [figure(row[1]) for row in rows]),
            ("with page cache, MB", [figure(row[2]) for row in rows]),
            ("processor time, s", [figure(row[3]) for row in rows]),
        ],
    )


def queue() -> str:
    """The queue, beside others."""
    table = tables.find(BENCH / "README.md", "Minilab", "Sidekiq")
    wanted = (
        ("no-op jobs/s", "jobs per second (longer is better)"),
        ("Redis µs per job", "µs of Redis per job"),
        ("bytes of Redis per waiting job", "bytes per waiting job"),
    )
    rows = [next(row for row in table.rows if row[0].startswith(start)) for start, _ in wanted]
    return plotting.columns(
        "The queue beside others", "Jobs that do nothing, one worker, one Redis that writes to disk. README.md, The queue",
        table.head[1:], "Minilab", 120,
        [(name, [figure(cell) for cell in row[1:]]) for (_, name), row in zip(wanted, rows)],
    )


def estimate() -> str:
    """How much of their estimates renders need."""
    table = tables.find(BENCH / "ESTIMATE.md", "shape", "estimate MB", "warm MB")
    ratios = [figure(row[column]) for row in table.rows for column, name in enumerate(table.head) if name == "ratio"]
    step = 0.05
    counts: dict[int, int] = {}
    for ratio in ratios:
        if ratio is not None:
            counts[int(ratio / step + 1e-9)] = counts.get(int(ratio / step + 1e-9), 0) + 1
    rows = [
        (f"{index * step:.2f} to {(index + 1) * step:.2f}", [("a" if index * step < 1 else "b", counts.get(index, 0))])
        for index in range(min(counts), max(counts) + 1)
    ]
    return plotting.bars(
        "Peak memory of renders, as a share of what was estimated",
        f"{sum(counts.values())} renders of photos in all formats; each was admitted by its estimate. ESTIMATE.md", rows,
        {"a": "within the estimate", "b": "at the estimate or above"}, "",
    )


PLOTS = {"looks": looks, "formats": formats, "render": render, "memory": memory, "queue": queue, "estimate": estimate}


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 64
    stale = []
    for name, draw in PLOTS.items():
        file = BENCH / "plots" / f"{name}.svg"
        drawn = draw()
        if sys.argv[1:] == []:
            file.write_text(drawn, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != drawn:
            stale.append(f"ops/bench/plots/{name}.svg")
    if stale:
        print(f"table_plots: not what the tables say: {', '.join(stale)}. Run {SCRIPT}.", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

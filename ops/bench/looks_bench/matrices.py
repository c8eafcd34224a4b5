"""All cells of a run as three tables, edits down and formats across, as LOOKS.md has them."""


def matrices(cells):
    """Markdown: processor time over the codec's, seconds and memory; ours first, then pyvips'.

    cells: the uses by contender, by format and edit.
    """
    formats = list(dict.fromkeys(form for form, _ in cells))
    edits = list(dict.fromkeys(edit for _, edit in cells))
    return "\n".join(
        table(head, formats, edits, cells, cell)
        for head, cell in (("× codec, CPU", over_codec), ("CPU s", seconds), ("peak MB", megabytes)))


def table(head, formats, edits, cells, cell):
    lines = [f"| {head} | {' | '.join(formats)} |", "|---|" + "---:|" * len(formats)]
    for edit in edits:
        row = (cell(cells.get((form, edit), {})) for form in formats)
        lines.append(f"| {edit} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def over_codec(uses):
    codec = least(uses, "codec")
    return pair(uses, lambda name: least(uses, name) / codec, 2) if codec else "–"


def seconds(uses):
    return pair(uses, lambda name: least(uses, name), 2)


def megabytes(uses):
    return pair(uses, lambda name: max(use.peak_bytes for use in uses[name]) / 1e6, 0)


def least(uses, name):
    return min((use.cpu for use in uses.get(name) or ()), default=None)


def pair(uses, value, digits):
    """`ours · pyvips`, or ours alone."""
    if not uses.get("ours"):
        return "–"
    names = ("ours", "pyvips") if uses.get("pyvips") else ("ours",)
    return " · ".join(f"{value(name):.{digits}f}" for name in names)

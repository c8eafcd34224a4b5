"""The results as Markdown."""

import collections

# One goal: what was measured, what is asked, what was seen, and whether that is enough.
Row = collections.namedtuple("Row", "name goal seen is_met")


def markdown(rows):
    lines = ["| | goal | seen | |", "|---|---|---|---|"]
    lines += [f"| {row.name} | {row.goal} | {row.seen} | {'met' if row.is_met else '**missed**'} |" for row in rows]
    return "\n".join(lines)


BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->"


def write(path, rows):
    """Puts rows into the table of a document, in place of those of the same name; the others stay."""
    before, _, rest = path.read_text().partition(BEGIN)
    old, _, after = rest.partition(END)
    kept = {line.split("|")[1].strip(): line for line in old.splitlines()[2:]}
    head, fresh = markdown(rows).splitlines()[:2], markdown(rows).splitlines()[2:]
    for line in fresh:
        kept[line.split("|")[1].strip()] = line
    path.write_text(before + BEGIN + "\n".join([*head, *kept.values()]) + "\n" + END + after)

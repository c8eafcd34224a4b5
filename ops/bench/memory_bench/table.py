"""The results as Markdown."""

import collections

# What a case took (measure.Taken), what is asked of it, and what went wrong.
Row = collections.namedtuple("Row", "name taken goals faults", defaults=[(), ()])


class Goal:
    """A number that may be so high at most, or has to be so high at least."""

    def __init__(self, what, value, most=None, least=None, unit=""):
        self.what, self.value, self.most, self.least, self.unit = what, value, most, least, unit

    @property
    def is_met(self):
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    def __str__(self):
        sign, bound = ("≤", self.most) if self.least is None else ("≥", self.least)
        verdict = "" if self.is_met else " **missed**"
        return f"{self.what} {number(self.value)} ({sign} {number(bound)}){self.unit}{verdict}"


def number(value):
    return f"{value:,.0f}" if value == int(value) or value >= 20 else f"{value:.2f}"


def megabytes(what, value, most):
    return Goal(what, value / 1e6, most=most, unit=" MB")


def is_met(row):
    return not row.faults and all(goal.is_met for goal in row.goals)


def markdown(rows):
    lines = ["| | highest RSS of a process, MB | of all, page cache included, MB | CPU s | wall s | goals |",
             "|---|---:|---:|---:|---:|---|"]
    for row in rows:
        taken = row.taken
        goals = "; ".join([str(goal) for goal in row.goals] + list(row.faults))
        lines.append(f"| {row.name} | {taken.peak_rss / 1e6:,.0f} | {taken.peak_group / 1e6:,.0f} "
                     f"| {taken.cpu:.1f} | {taken.wall:.1f} | {goals} |")
    return "\n".join(lines)

"""Places that break a rule, and today.txt: the list of those that were there when the check began, which may only shrink."""

from __future__ import annotations

from dataclasses import dataclass

LIST = "ops/lib/check/house/today.txt"
WRITE = "python3 -B ops/lib/check/house --list"
# Of these a line has a number, which may only fall.
COUNTED = ("ring", "lines", "function", "parameters", "try")
HEAD = f"""\
# Exceptions to the rules of the house that were there when its check began: each line is one, and the list may only shrink.
# `{WRITE}` writes it anew, after a change that took lines away. CONTRIBUTING.md, "Floors", says what each kind is.
"""


@dataclass(frozen=True)
class Finding:
    """A place where a rule is broken."""

    kind: str
    subject: str  # names it without a line, so that it stays the same when lines move
    place: str  # file:line
    says: str  # what is wrong, and what to do: sentences
    number: int = 1


def line(kind: str, number: int, subject: str) -> str:
    return f"{kind} {number} {subject}" if kind in COUNTED else f"{kind} {subject}"


def text(found: list[Finding]) -> str:
    """The list of what is found."""
    largest: dict[tuple[str, str], int] = {}
    for each in found:
        largest[each.kind, each.subject] = max(each.number, largest.get((each.kind, each.subject), 0))
    return HEAD + "".join(line(kind, number, subject) + "\n" for (kind, subject), number in sorted(largest.items()))


def listed(written: str) -> tuple[dict[tuple[str, str], tuple[int, int]], list[str]]:
    """Number and line of each exception by kind and subject; with the faults of the list's form."""
    lines, faults = {}, []
    for at, each in enumerate(written.splitlines(), 1):
        if not each or each.startswith("#"):
            continue
        kind, _, rest = each.partition(" ")
        number, subject = 1, rest
        if kind in COUNTED:
            digits, _, subject = rest.partition(" ")
            number = int(digits) if digits.isdecimal() else 0
        if not subject or not number:
            faults.append(f"{LIST}:{at}: `{each}` is not a line that `{WRITE}` writes.")
        elif (kind, subject) in lines:
            faults.append(f"{LIST}:{at}: remove this line; line {lines[kind, subject][1]} is about {subject}, too.")
        else:
            lines[kind, subject] = number, at
    return lines, faults


def compared(found: list[Finding], written: str) -> list[str]:
    """A sentence for each exception that is new or larger, and for each line that no longer holds."""
    lines, faults = listed(written)
    seen = {}
    for each in found:
        key = each.kind, each.subject
        if key not in lines:
            faults.append(f"{each.place}: {each.says}")
        elif each.number > lines[key][0] and key not in seen:
            faults.append(f"{each.place}: {each.says} {LIST}:{lines[key][1]} allows {lines[key][0]}.")
        seen[key] = max(each.number, seen.get(key, 0))
    for key, (number, at) in lines.items():
        kind, subject = key
        if key not in seen:
            faults.append(f"{LIST}:{at}: remove the line `{line(kind, number, subject)}`: it does not hold any more.")
        elif seen[key] < number:
            faults.append(
                f"{LIST}:{at}: write `{line(kind, seen[key], subject)}` in place of `{line(kind, number, subject)}`: it is less now."
            )
    return faults

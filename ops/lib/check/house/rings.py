"""Rings: files of a target each of which needs all others, through whatever files."""

from __future__ import annotations

from house.uses import Use


def largest(paths: list[str], uses: list[Use], by_types_alone: bool = False) -> list[str]:
    """The files of the largest ring; one file, where no two need each other.

    A file needs another one where it names its type, and by the strict rule where it names anything that may be of this file alone.
    """
    arrows: dict[str, set[str]] = {path: set() for path in paths}
    for use in uses:
        files = {place.path for place in use.places}
        if len(files) == 1 and (use.is_type or not by_types_alone):
            arrows[use.path] |= files
    return max(_rings(arrows), key=len, default=[])


def _rings(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts of a graph (Kosaraju's two walks, without recursion)."""
    back: dict[str, set[str]] = {node: set() for node in arrows}
    for node, others in arrows.items():
        for other in others:
            back[other].add(node)
    left: list[str] = []  # in the order in which a walk leaves them
    seen: set[str] = set()
    for node in arrows:
        _walk(node, arrows, seen, left)
    rings, seen = [], set()
    for node in reversed(left):
        ring: list[str] = []
        _walk(node, back, seen, ring)
        if ring:
            rings.append(sorted(ring))
    return rings


def _walk(begin: str, arrows: dict[str, set[str]], seen: set[str], left: list[str]) -> None:
    if begin in seen:
        return
    seen.add(begin)
    stack = [(begin, iter(sorted(arrows[begin])))]
    while stack:
        node, others = stack[-1]
        for other in others:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(sorted(arrows[other]))))
                break
        else:
            left.append(node)
            stack.pop()

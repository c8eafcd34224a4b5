"""The code of a Swift file without comments and texts, at the same lines and columns."""

from __future__ import annotations

import re

# A comment, a regular expression (a slash with a blank on one side only is no division), or a text with as many # as it has.
BEGIN = re.compile(r'''//[^\n]*|/\*|\#/.*?/\#|(?<=[(\[ ])/(?![\s/*=])(?:\\.|[^/\n\\])+/|(\#*)("""(?=\n)|")''')
COMMENT_EDGE = re.compile(r"/\*|\*/")
NOT_NEWLINE = re.compile(r"[^\n]")


class Unreadable(Exception):
    """A text or comment of a file has no end."""


def code(text: str) -> str:
    """The text of a file with blanks for comments and texts. The code within a text, `\\(…)`, stays. Throws Unreadable."""
    parts: list[str] = []
    end = _code(text, 0, parts, within_text=False)
    assert end == len(text)
    return "".join(parts)


def _blank(text: str) -> str:
    return " " * len(text) if "\n" not in text else NOT_NEWLINE.sub(" ", text)


def _code(text: str, at: int, parts: list[str], within_text: bool) -> int:
    """Reads to the end, or to the bracket that ends the code within a text; returns the place behind it."""
    depth = 0
    while True:
        begin = BEGIN.search(text, at)
        until = begin.start() if begin else len(text)
        if within_text:
            for place in range(at, until):
                depth += (text[place] == "(") - (text[place] == ")")
                if depth < 0:
                    parts.append(text[at : place + 1])
                    return place + 1
        parts.append(text[at:until])
        if not begin:
            if within_text:
                raise Unreadable("a text has no end")
            return until
        if begin[2]:
            parts.append(_blank(begin[0]))
            at = _literal(text, begin.end(), begin[1], begin[2], parts)
        else:
            at = _comment_end(text, begin.end()) if begin[0] == "/*" else begin.end()
            parts.append(_blank(text[until:at]))


def _comment_end(text: str, at: int) -> int:
    depth = 1
    while depth > 0:
        edge = COMMENT_EDGE.search(text, at)
        if not edge:
            raise Unreadable("a comment has no end")
        depth += 1 if edge[0] == "/*" else -1
        at = edge.end()
    return at


_ENDS: dict[tuple[str, str], re.Pattern] = {}


def _literal(text: str, at: int, hashes: str, quote: str, parts: list[str]) -> int:
    """Reads a text behind its first quote; returns the place behind its last one."""
    if (hashes, quote) not in _ENDS:
        _ENDS[hashes, quote] = re.compile(rf"\\{hashes}(\(|.)|{quote}{hashes}", re.DOTALL)
    ends = _ENDS[hashes, quote]
    while True:
        found = ends.search(text, at)
        if not found:
            raise Unreadable("a text has no end")
        parts.append(_blank(text[at : found.end()]))
        at = found.end()
        if found[1] is None:
            return at
        if found[1] == "(":
            # As a bracket of the code, so that the brackets of a file are in pairs.
            parts[-1] = parts[-1][:-1] + "("
            at = _code(text, at, parts, within_text=True)

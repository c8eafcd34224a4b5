#!/usr/bin/env python3
"""Compares the figures of documents with the receipts that they are from.

usage: ops/lib/check/figures.py [--write]

A figure that is measured stands before a comment with the name of a receipt and of a figure in it, `1.1 ×<!-- bench-render#colour -->`,
and has as many digits as the document wants. A receipt that is not there yet, or that failed, says nothing. --write puts the receipts'
figures into the documents.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MARK = re.compile(r"(?P<shown>\d[\d,]*(?:\.\d+)?)(?P<unit>[^\d<\n]*)<!-- (?P<receipt>[a-z0-9.-]+)#(?P<figure>[a-z_]+) -->")


class Unknown(Exception):
    """A comment that names no figure of any receipt."""


def measured(root: Path, receipt: str, figure: str, shown: str) -> str | None:
    """The figure with as many digits as are shown; None where nothing is measured. Throws Unknown."""
    try:
        said = json.loads((root / f"ops/receipts/{receipt}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if said["result"] != "passed":
        return None
    if figure not in said["figures"]:
        raise Unknown(f"{receipt} has no figure {figure}; it has {', '.join(said['figures']) or 'none'}")
    digits = len(shown.partition(".")[2])
    return f"{float(said['figures'][figure].replace(',', '')):,.{digits}f}"


def compared(root: Path, document: str) -> tuple[str, list[str]]:
    """The document with the figures that were measured, and a sentence for each that differs."""
    text = (root / document).read_text(encoding="utf-8")
    faults = []

    def put(found: re.Match) -> str:
        name = f"{found['receipt']}#{found['figure']}"
        try:
            new = measured(root, found["receipt"], found["figure"], found["shown"])
        except Unknown as unknown:
            faults.append(f"{document}: {unknown}.")
            return found[0]
        if new is None or new == found["shown"]:
            return found[0]
        faults.append(f"{document} says {found['shown']}, and the receipt {name} {new}: ops/lib/check/figures.py --write")
        return found[0].replace(found["shown"], new, 1)

    return MARK.sub(put, text), faults


def main(words: list[str]) -> int:
    if words not in ([], ["--write"]):
        print(__doc__)
        return 0 if words in (["-h"], ["--help"]) else 64
    documents = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], check=True, capture_output=True, text=True).stdout.splitlines()
    faults = []
    for document in documents:
        text, found = compared(ROOT, document)
        faults += found
        if words and found:
            (ROOT / document).write_text(text, encoding="utf-8")
    for fault in faults:
        print(f"figures: {fault}", file=sys.stderr)
    return 1 if faults and not words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

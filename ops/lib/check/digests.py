#!/usr/bin/env python3
"""Whether the digests of the engine's pictures are those that were committed with its number.

usage: ops/lib/check/digests.py

Tests/Fixtures/Renders/digests.json names its render, and has for each picture the digest by processor and libraries. Digests may be
added. One that was there when the number was committed first may change only with the number: whoever keeps pictures trusts it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FILE = "Tests/Fixtures/Renders/digests.json"
ENGINE = "Sources/Children/RenderProtocol/Engine.swift"


def engine_render(text: str) -> int:
    """`Engine.render` of a text of Engine.swift."""
    found = re.search(r"static let render = (\d+)$", text, re.MULTILINE)
    if not found:
        raise SystemExit(f"digests: {ENGINE} has no number of the render")
    return int(found[1])


def faults(known: dict, earlier: list[dict], render: int) -> list[str]:
    """A sentence for each digest that changed without the number; `earlier` are the committed files."""
    if known["render"] != render:
        return [f"{FILE} is of render {known['render']}, and Engine.render is {render}: write it anew, as its test says"]
    found = []
    for file in earlier:
        if file["render"] > render:
            found.append(f"Engine.render went back from {file['render']} to {render}")
        if file["render"] != render:
            continue
        for name, digests in file["digests"].items():
            for made, digest in digests.items():
                if known["digests"].get(name, {}).get(made) != digest:
                    found.append(f"{name} by {made} has another digest than was committed for render {render}: raise Engine.render")
    return sorted(set(found))


def history() -> list[dict]:
    """The committed files; none without git."""
    if not (ROOT / ".git").exists():
        return []

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    commits = git("log", "--format=%H", "--diff-filter=AM", "--", FILE).split()
    return [json.loads(git("show", f"{commit}:{FILE}")) for commit in commits]


def main() -> int:
    known = json.loads((ROOT / FILE).read_text(encoding="utf-8"))
    found = faults(known, history(), engine_render((ROOT / ENGINE).read_text(encoding="utf-8")))
    for fault in found:
        print(f"digests: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

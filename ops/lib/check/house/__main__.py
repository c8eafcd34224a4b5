"""Checks the order of the house: floors, dependencies, rings, lengths, dead declarations.

usage: python3 -B ops/lib/check/house [--list | --rings | --of FILE]

It reads the files that git knows below Sources and Tests, in a few seconds, and compiles nothing. Whatever breaks a rule and is no line of
today.txt beside it fails, and so does a line of today.txt that does not hold any more. --list writes today.txt anew and says which lines
came and went. --rings prints the largest ring of each target, by names of types and by the rule that also counts extensions and calls.
--of prints which files of its target a file needs, by which names, and which files need it: what holds a ring together.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house import findings  # noqa: E402
from house.house import House  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
FOLDERS = ("Sources", "Tests", "ops")


def paths(root: Path) -> list[str]:
    """The files that git knows, with those that are new, without those that are gone."""
    words = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *FOLDERS]
    names = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in names if name and (root / name).is_file()})


def main(words: list[str]) -> int:
    if words not in ([], ["--list"], ["--rings"]) and (len(words) != 2 or words[0] != "--of"):
        print(__doc__, file=sys.stderr)
        return 64
    house = House(ROOT, paths(ROOT))
    if len(house.sources) < 100:
        print(f"only {len(house.sources)} sources were found", file=sys.stderr)
        return 1
    if words == ["--rings"]:
        for name, files, by_types, by_all in house.rings():
            print(f"{name:16} {files:3} files: {by_types:3} by types, {by_all:3} with extensions and calls")
        return 0
    if words[:1] == ["--of"]:
        print(*house.neighbours(words[1]), sep="\n")
        return 0
    found = house.findings()
    today = ROOT / findings.LIST
    if words == ["--list"]:
        before, after = today.read_text(encoding="utf-8") if today.exists() else "", findings.text(found)
        today.write_text(after, encoding="utf-8")
        for line in sorted(set(before.splitlines()) ^ set(after.splitlines())):
            print("-" if line in before.splitlines() else "+", line)
    # After --list only what no list of exceptions can cover: a file without a floor, say.
    faults = house.faults() + findings.compared(found, today.read_text(encoding="utf-8"))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Raises the numbers of a release by one in a folder of sources.

usage: ops/lib/upgrade/raise_numbers.py FOLDER [--least]

Engine.render, the format of jobs with `fields`, and the latest format of a queue; with --least also the format of a queue that others
must know, so that programs without these changes are refused. ops/checks/upgrade builds such sources where no other release is given.
"""

import re
import sys
from pathlib import Path

# In each file: text before a number that is raised. Each must be there once.
PLACES = {
    "Sources/Children/RenderProtocol/Engine.swift": [r"public static let render = "],
    "Sources/Queue/JobQueue/JobRecord.swift": [r"public static let formatKnown = "],
    "Sources/Queue/JobQueue/Scripts/Shared/records.lua": [
        r"local FORMAT, WITH_FIELDS, KNOWN = '\d+', '",
        r"local FORMAT, WITH_FIELDS, KNOWN = '\d+', '\d+', ",
    ],
    "Sources/Queue/JobQueue/Server/QueueFormat.swift": [r"static let own = QueueFormat\(known: "],
}
LEAST = {"Sources/Queue/JobQueue/Server/QueueFormat.swift": [r"static let own = QueueFormat\(known: \d+, least: "]}


class Fault(Exception):
    """What is wrong, as a sentence."""


def raised(name, text, places):
    """The text of a file with its numbers raised."""
    for before in places:
        text, count = re.subn(rf"({before})(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", text)
        if count != 1:
            raise Fault(f"{name} has {count} places like {before!r}; expected is one: mend PLACES in ops/lib/upgrade/raise_numbers.py")
    return text


def raise_all(root, least=False):
    """Writes all files, or none if one of them is not as expected."""
    texts = {}
    for name, places in PLACES.items():
        more = LEAST.get(name, []) if least else []
        texts[name] = raised(name, (root / name).read_text(encoding="utf-8"), places + more)
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")


def main(words):
    folders = [word for word in words if not word.startswith("-")]
    if len(folders) != 1 or set(words) - {*folders, "--least"}:
        print(__doc__, file=sys.stderr)
        return 64
    try:
        raise_all(Path(folders[0]), "--least" in words)
    except Fault as fault:
        print(f"raise_numbers: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

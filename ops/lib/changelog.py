#!/usr/bin/env python3
"""Reads CHANGELOG.md: which version comes, what Debian's changelog says, and which changes have no line yet.

usage: ops/lib/changelog.py coming
       ops/lib/changelog.py date
       ops/lib/changelog.py debian VERSION CODENAME SECONDS
       ops/lib/changelog.py excepted
       ops/lib/changelog.py check

  coming   the version on top: of the packages that are built now
  date     its time in seconds: the begin of its day, and now if it is not released
  debian   Debian's changelog: the top entry under VERSION, of the time SECONDS, and each older release
  excepted the receipts that the version on top goes without: its lines "- Not checked: `NAME`: why", a name a line
  check    whether the page has the form that the others read, Engine.swift has the version on top, and each changed picture, schema
           or setting has a line
"""

from __future__ import annotations

import datetime
import email.utils
import re
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "CHANGELOG.md"
SECTIONS = ["Upgrade", "Pictures", "Added", "Changed", "Mended"]
HEADING = re.compile(r"## (?:Unreleased: (?P<coming>\d+\.\d+\.\d+)|(?P<version>\d+\.\d+\.\d+) \((?P<date>\d{4}-\d\d-\d\d)\))$")
NOT_CHECKED = re.compile(r"- Not checked: `([a-z0-9.-]+)`")
ENGINE = "Sources/Children/RenderProtocol/Engine.swift"
# What users notice and a commit may forget to tell: pictures, what producers may send and readers get, settings.
TOLD = ["jobs/*.schema.json", "jobs/quickstart.pictures.json", "ops/SETTINGS.md", "Tests/**/digests*.json"]
DEBIAN_COLUMNS = 78


class WrongPage(Exception):
    """A sentence about the page, for whoever wrote it."""


@dataclass
class Release:
    """One heading of the page and what stands below it."""

    version: str
    date: datetime.date | None  # none: it is coming
    sections: dict[str, list[str]] = field(default_factory=dict)

    def seconds(self) -> int:
        """When it was released, or now."""
        if not self.date:
            return int(time.time())
        return int(datetime.datetime.combine(self.date, datetime.time(), datetime.timezone.utc).timestamp())

    def not_checked(self) -> set[str]:
        """Names of receipts that this release goes without."""
        return {found[1] for lines in self.sections.values() for line in lines if (found := NOT_CHECKED.match(line))}


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def releases_in(text: str) -> list[Release]:
    """The releases of a page, the newest first. Throws WrongPage where the form is another one."""
    releases: list[Release] = []
    section = None
    for count, line in enumerate(text.splitlines(), 1):
        here = f"{PAGE}:{count}"
        if line.startswith("## "):
            found = HEADING.match(line)
            if not found:
                raise WrongPage(f"{here}: \"{line}\" is no heading such as \"## Unreleased: 0.6.0\" or \"## 0.5.0 (2026-11-29)\".")
            version = found["coming"] or found["version"]
            date = datetime.date.fromisoformat(found["date"]) if found["date"] else None
            if releases and (date is None or number(version) >= number(releases[-1].version)):
                raise WrongPage(f"{here}: {version} stands below {releases[-1].version}; the newest is on top, and it alone may be unreleased.")
            releases.append(Release(version, date))
            section = None
        elif line.startswith("### "):
            section = line[4:]
            order = [*(releases[-1].sections if releases else []), section]
            if not releases or order != [name for name in SECTIONS if name in order]:
                raise WrongPage(f"{here}: \"{section}\" is not one of {', '.join(SECTIONS)}, in this order, below a release.")
            releases[-1].sections[section] = []
        elif line.startswith("- ") and section:
            releases[-1].sections[section].append(line)
        elif line and section:
            raise WrongPage(f"{here}: each change is one line that begins with \"- \".")
    if not releases:
        raise WrongPage(f"{PAGE} has no release.")
    for release in releases:
        if release.date and "Upgrade" not in release.sections:
            raise WrongPage(f"{PAGE}: {release.version} has no section Upgrade. If there is nothing to do, it says so.")
    return releases


def debian(releases: list[Release], version: str, codename: str, seconds: int, maintainer: str) -> str:
    """Debian's changelog. version: of the top entry, such as 0.5.0~git20261129.a1b2c3d4+deb12; older ones get its last part."""
    suffix = f"+{version.partition('+')[2]}" if "+" in version else ""
    entries = []
    for release in releases:
        is_top = release is releases[0]
        name = version if is_top else release.version + suffix
        if not is_top:
            seconds = release.seconds()
        lines = [f"{section}: {plain(line[2:])}" for section, lines in release.sections.items() for line in lines]
        items = [wrapped(line) for line in lines or ["No change that users notice."]]
        when = email.utils.format_datetime(datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc))
        entries.append(f"minilab ({name}) {codename}; urgency=medium\n\n" + "\n".join(items) + f"\n\n -- {maintainer}  {when}\n")
    return "\n".join(entries)


def plain(text: str) -> str:
    """Text without the marks of Markdown: a link is its words, and one that stands alone in parentheses goes."""
    text = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", text)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def wrapped(text: str) -> str:
    return textwrap.fill(text, DEBIAN_COLUMNS, initial_indent="  * ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def engine_version() -> str:
    found = re.search(r'static let version = "([^"]+)"', (ROOT / ENGINE).read_text(encoding="utf-8"))
    return found[1] if found else ""


def untold(root: Path) -> list[str]:
    """The files of TOLD that changed after the page was changed last, committed or not; none where git cannot say."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout.strip()

    try:
        last = git("rev-list", "-1", "HEAD", "--", PAGE)
        is_changed = git("status", "--porcelain", "--", PAGE)
    except (OSError, subprocess.CalledProcessError):
        return []  # no clone: there is nothing to compare with
    if is_changed or not last:
        return []
    return git("diff", "--name-only", last, "--", *(f":(glob){pattern}" for pattern in TOLD)).splitlines()


def check(releases: list[Release]) -> list[str]:
    faults = []
    if engine_version() != releases[0].version:
        faults.append(f"{ENGINE} has version {engine_version()}, and {PAGE} has {releases[0].version} on top: a release changes both.")
    faults += [f"{file} changed after {PAGE}: say there what users notice of it." for file in untold(ROOT)]
    return faults


def main(words: list[str]) -> int:
    if words in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    try:
        releases = releases_in((ROOT / PAGE).read_text(encoding="utf-8"))
    except WrongPage as wrong:
        sys.exit(f"changelog: {wrong}")
    if words == ["coming"]:
        print(releases[0].version)
    elif words == ["date"]:
        print(releases[0].seconds())
    elif words == ["excepted"]:
        print("".join(f"{name}\n" for name in sorted(releases[0].not_checked())), end="")
    elif words == ["check"]:
        faults = check(releases)
        for fault in faults:
            print(f"changelog: {fault}", file=sys.stderr)
        return 1 if faults else 0
    elif len(words) == 4 and words[0] == "debian" and words[3].isdecimal():
        control = (ROOT / "ops/deploy/packaging/debian/control").read_text(encoding="utf-8")
        maintainer = re.search(r"^Maintainer: (.*)$", control, re.M)[1]
        print(debian(releases, words[1], words[2], int(words[3]), maintainer), end="")
    else:
        print(__doc__, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

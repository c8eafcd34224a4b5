"""One receipt: a file of JSON with a field a line, and what it is worth now."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass, field, fields
from pathlib import Path

from receipts.checks import Check
from receipts.repository import FOLDER, Repository

PASSED, FAILED = "passed", "failed"  # or "partial 7/9"
FRESH, STALE, MISSING = "fresh", "stale", "missing"  # or FAILED
# What decodes, encodes and draws, and speaks to Redis, by its Debian name on 12 or 13. Another version of one may make other bytes.
LIBRARIES = [
    "libvips42*", "libheif1", "libjpeg62-turbo", "libpng16-16*", "libtiff6", "libwebp7", "libaom3", "libde265-0", "libx265-*", "libx264-*",
    "libjxl0*", "libraw2*", "libavcodec*", "libpango-1.0-0*", "libharfbuzz0b", "libcairo2", "libhiredis*",
]  # fmt: skip


class WrongReceipt(Exception):
    """A file among the receipts that is none, with a sentence."""


@dataclass
class Receipt:
    """What came of a check, when, and of which files."""

    check: str
    result: str
    commit: str
    covers: str  # Repository.covers
    date: str  # UTC, ISO 8601
    seconds: int
    machine: str
    system: str  # the Debian that it ran on
    libraries: dict[str, str] = field(default_factory=dict)
    servers: str = ""
    programs: str = ""  # what minilab --version said, where the programs were given
    figures: dict[str, str] = field(default_factory=dict)

    def write(self, root: Path) -> Path:
        """Writes it over the last one of its check, whole or not at all."""
        path = root / FOLDER / f"{self.check}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"  {json.dumps(each.name)}: {json.dumps(getattr(self, each.name), ensure_ascii=False, sort_keys=True)}" for each in fields(self)]
        beside = path.with_name(f".{path.name}.new")
        beside.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        beside.replace(path)
        return path

    @staticmethod
    def read(root: Path, name: str) -> Receipt | None:
        """The last receipt of a check, if there is one. Throws WrongReceipt."""
        path = root / FOLDER / f"{name}.json"
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            receipt = Receipt(**said)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise WrongReceipt(f"{path.relative_to(root)} is no receipt ({error}): run the check again.") from error
        if receipt.check != name:
            raise WrongReceipt(f"{path.relative_to(root)} is a receipt of {receipt.check}: run {name} again.")
        return receipt


@dataclass(frozen=True)
class State:
    """What the last receipt of a check is worth."""

    check: Check
    kind: str
    why: str = ""
    receipt: Receipt | None = None

    def __str__(self) -> str:
        return f"{self.check.name}: {self.why}" if self.why else self.check.name


def state(check: Check, repository: Repository, libraries: dict[str, str], system: str) -> State:
    """libraries, system: of this machine; those of a receipt from another Debian are not compared. Throws WrongReceipt."""
    receipt = Receipt.read(repository.root, check.name)
    if receipt is None:
        return State(check, MISSING)
    if receipt.covers != repository.covers(check.covers):
        return State(check, STALE, repository.since(receipt.commit, check.covers), receipt)
    other = sorted(name for name in libraries.keys() | receipt.libraries.keys() if libraries.get(name) != receipt.libraries.get(name))
    if other and system == receipt.system:
        return State(check, STALE, f"other versions of {', '.join(other[:3])}{' and others' if len(other) > 3 else ''}", receipt)
    if receipt.result != PASSED:
        return State(check, FAILED, receipt.result, receipt)
    return State(check, FRESH, "", receipt)


def summary(states: list[State]) -> str:
    """One line: how many are fresh, and the others by name."""
    parts = []
    for kind in (FRESH, STALE, FAILED, MISSING):
        of_kind = [each for each in states if each.kind == kind]
        if of_kind or kind == FRESH:
            parts.append(f"{len(of_kind)} {kind}" + ("" if kind == FRESH else f" ({'; '.join(map(str, of_kind))})"))
    return ", ".join(parts)


def libraries_here() -> dict[str, str]:
    """Debian's versions of LIBRARIES; nothing where there is no dpkg."""
    try:
        said = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n", *LIBRARIES], capture_output=True, text=True, check=False
        ).stdout  # it fails where one of them is absent, and tells of the others
    except FileNotFoundError:
        return {}
    rows = [line.split() for line in said.splitlines()]
    return {row[1]: row[2] for row in rows if len(row) == 3 and row[0] == "installed" and not re.search(r"-(dev|bin|plugin.*|tools|doc)$", row[1])}


def system_here() -> str:
    about = platform.freedesktop_os_release()
    return f"{about.get('NAME', '?')} {about.get('VERSION_ID', '')}".strip()


def machine_here() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return f"{os.cpu_count()} cores of {found[1] if found else platform.machine()}, load {os.getloadavg()[0]:.0f}"


def servers_here() -> str:
    """The redis-server of PATH."""
    try:
        said = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    found = re.match(r"(\w+) server v=(\S+)", said)
    return " ".join(found.groups()) if found else ""

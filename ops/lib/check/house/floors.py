"""The floors of each room, and the arrows that point up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from house.findings import Finding
from house.package import TargetLine
from house.uses import Use

LIST = "ops/lib/check/house/floors.txt"
HOUSE = "Sources"  # the room whose floors are the rooms


@dataclass
class Room:
    """A target, or a folder of one, and its floors from bottom to top."""

    path: str
    line: int
    floors: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of each floor

    def floor(self, path: str) -> int | None:
        """The number of the floor that a file is on; the longest of several names that fit decides."""
        best, number = "", None
        for at, names in enumerate(self.floors):
            for name in names:
                if len(name) > len(best) and fits(f"{self.path}/{name}", path):
                    best, number = name, at
        return number

    def has(self, path: str) -> bool:
        return path.startswith(self.path + "/")

    def named(self, floor: int) -> str:
        return f"{self.lines[floor]} ({', '.join(self.floors[floor][:3])}{', …' if len(self.floors[floor]) > 3 else ''})"


def fits(name: str, path: str) -> bool:
    """Whether a file is the one of a name, one of its extensions, or in the folder of the name."""
    return path.startswith((name + "/", name + "+")) or path == name + ".swift"


def rooms(text: str) -> tuple[list[Room], list[str]]:
    """The rooms of a list, and the faults of its form."""
    found: list[Room] = []
    faults = []
    for at, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if not line.startswith(" "):
            found.append(Room(words[0], at))
            if len(words) > 1:
                faults.append(f"{LIST}:{at}: a room is one path; its floors stand below it, indented.")
        elif not found:
            faults.append(f"{LIST}:{at}: a floor stands below the path of its room.")
        else:
            found[-1].floors.append(words)
            found[-1].lines.append(at)
    return found, faults


def unplaced(all_rooms: list[Room], paths: list[str]) -> list[str]:
    """A sentence for each file without a floor."""
    faults = []
    for room in all_rooms:
        for path in paths:
            if room.has(path) and room.floor(path) is None:
                name = path.removeprefix(room.path + "/").removesuffix(".swift").split("/")[0]
                faults.append(f"{path}:1: is on no floor. Write `{name}` on one of the lines below `{room.path}`, {LIST}:{room.line}.")
    return faults


def unknown(all_rooms: list[Room], paths: list[str]) -> list[str]:
    """A sentence for each name of the list that is neither a file nor a folder."""
    faults = []
    for room in all_rooms:
        for names, at in zip(room.floors, room.lines):
            for name in names:
                if not any(fits(f"{room.path}/{name}", path) for path in paths):
                    faults.append(f"{LIST}:{at}: remove `{name}`: {room.path} has no such file or folder.")
    return faults


def without_room(all_rooms: list[Room], targets: list[TargetLine], files_min: int, paths: list[str]) -> list[str]:
    """A sentence for each target of several files that is no room of the list."""
    known = {room.path for room in all_rooms}
    faults = []
    for target in targets:
        count = sum(path.startswith(target.path + "/") for path in paths)
        if target.path.startswith(HOUSE + "/") and count >= files_min and target.path not in known:
            faults.append(f"Package.swift:{target.line}: {target.name} has {count} files and no floors. Give it some in {LIST}.")
    return faults


def arrows(room: Room, uses: list[Use]) -> list[Finding]:
    """The names of higher floors in the files of a room."""
    found = []
    for use in uses:
        if not room.has(use.path) or not room.has(use.home):
            continue
        floor = room.floor(use.home)
        floors = [room.floor(place.home) if room.has(place.home) else None for place in use.places]
        if floor is None or any(each is None or each <= floor for each in floors):
            continue
        place = min(use.places, key=lambda each: room.floor(each.home) or 0)
        above = room.floor(place.home) or 0
        title = use.name if use.is_type else place.declaration.title
        where = "" if use.home == use.path else f", within an extension of a type of {use.home}"
        found.append(
            Finding(
                "arrow",
                f"{use.path} {title}",
                f"{use.path}:{use.line}",
                f"names {title} of {place.path}{where}, which is on a higher floor of {room.path}: "
                f"line {room.named(above)} of {LIST}, above line {room.named(floor)}. "
                "Move what needs it up, or what is needed down; or change the floors.",
            )
        )
    return found


def arrows_of_targets(house: Room, targets: list[TargetLine]) -> list[Finding]:
    """The dependencies of targets on targets of higher rooms."""
    of_name = {target.name: target for target in targets}
    found = []
    for target in targets:
        for name, line in target.dependencies.items():
            other = of_name.get(name)
            if not other or not house.has(target.path) or not house.has(other.path):
                continue
            floor, above = house.floor(target.path + "/"), house.floor(other.path + "/")
            if floor is not None and above is not None and above > floor:
                found.append(
                    Finding(
                        "arrow",
                        f"Package.swift {target.name} {name}",
                        f"Package.swift:{line}",
                        f"{target.name} depends on {name}, which is in a higher room: {_room(other.path)} is above "
                        f"{_room(target.path)}. Move what it needs to a lower room, or change the order in {LIST}:{house.line}.",
                    )
                )
    return found


def _room(path: str) -> str:
    return re.match(r"[^/]+/[^/]+", path)[0]

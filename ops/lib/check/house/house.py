"""The house as it stands in a folder: its sources by target, and all that breaks a rule."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from house import counts, floors, package, rings, text
from house.findings import Finding
from house.swift import Source, read
from house.uses import Target, Use, of_libraries, uses

# Targets of fewer files need no floors.
FILES_OF_ROOM_MIN = 5
LINES_OF = (".swift", ".lua", ".c", ".h", ".py")
RINGS_FROM = 2


class House:
    def __init__(self, root: Path, paths: list[str]):
        self.root, self.paths = root, paths
        self.texts = {path: self._text(path) for path in paths if path.endswith((*LINES_OF, ".mustache"))}
        self.lines = package.targets(self._text("Package.swift"))
        self.rooms, self.form = floors.rooms(self._text(floors.LIST))
        self.codes: dict[str, str] = {}
        self.sources: dict[str, Source] = {}
        for path, written in self.texts.items():
            if path.endswith(".swift"):
                self._read(path, written)
        self.targets = self._targets()
        self.uses: dict[str, list[Use]] = {}
        outside = of_libraries(list(self.targets.values()))
        for name, target in self.targets.items():
            self.uses[name] = uses(target, outside)

    def _text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def _read(self, path: str, written: str) -> None:
        try:
            if path.startswith("Sources/"):
                self.sources[path] = read(path, written)
                self.codes[path] = self.sources[path].code
            else:
                self.codes[path] = text.code(written)
        except text.Unreadable as unreadable:
            self.form.append(f"{path}:1: cannot be read by this check: {unreadable}.")

    def _targets(self) -> dict[str, Target]:
        files: dict[str, list[Source]] = {}
        of_path = sorted(((line.path + "/", line.name) for line in self.lines), key=lambda each: -len(each[0]))
        for path, source in self.sources.items():
            name = next((name for folder, name in of_path if path.startswith(folder)), None)
            if name:
                files.setdefault(name, []).append(source)
        found: dict[str, Target] = {}
        of_name = {line.name: line for line in self.lines}

        def make(name: str) -> Target:
            if name not in found:
                below = [make(each) for each in of_name[name].dependencies if each in files]
                found[name] = Target(name, files[name], below)
            return found[name]

        for name in files:
            make(name)
        return found

    def faults(self) -> list[str]:
        """Faults of the lists of the check themselves, which allow no exceptions."""
        sources = list(self.sources)
        return (
            self.form
            + floors.unplaced(self.rooms, sources)
            + floors.unknown(self.rooms, self.paths)
            + floors.without_room(self.rooms, self.lines, FILES_OF_ROOM_MIN, sources)
        )

    def findings(self) -> list[Finding]:
        """All that breaks a rule, also where today.txt lists it."""
        found = []
        for room in self.rooms:
            if room.path == floors.HOUSE:
                found += floors.arrows_of_targets(room, self.lines)
                continue
            for name, target in self.targets.items():
                if any(room.has(source.path) for source in target.sources):
                    found += floors.arrows(room, self.uses[name])
        found += self._rings()
        found += package.dependencies(self.lines, self._imported(), self._modules())
        found += counts.files({path: written.count("\n") for path, written in self.texts.items() if path.endswith(LINES_OF)})
        used: Counter[str] = Counter()
        for path, code in self.codes.items():
            used.update(counts.words(code))
        for path, written in self.texts.items():
            if path.endswith(".mustache"):
                used.update(counts.words(written))
        for source in self.sources.values():
            found += counts.functions(source) + counts.tries(source)
        return found + counts.dead(list(self.sources.values()), used)

    def _rings(self) -> list[Finding]:
        found = []
        for name, target in self.targets.items():
            paths = [source.path for source in target.sources]
            ring = rings.largest(paths, self.uses[name])
            if len(ring) >= RINGS_FROM:
                says = (
                    f"{len(ring)} of the {len(paths)} files of {name} need each other, directly or through others: "
                    f"{', '.join(path.rsplit('/', 1)[-1] for path in ring[:8])}{', …' if len(ring) > 8 else ''}. "
                    "Take away an arrow that points back (--of FILE shows them)."
                )
                found.append(Finding("ring", name, f"{ring[0]}:1", says, len(ring)))
        return found

    def rings(self) -> list[tuple[str, int, int, int]]:
        """Of each target: its name, its files, and its largest ring by names of types and by the strict rule."""
        found = []
        for name, target in sorted(self.targets.items()):
            paths = [source.path for source in target.sources]
            both = (len(rings.largest(paths, self.uses[name], by_types_alone=each)) for each in (True, False))
            found.append((name, len(paths), *both))
        return found

    def neighbours(self, path: str) -> list[str]:
        """A line for each file of the target that a file needs, and for each that needs it, with the names."""
        names: dict[tuple[str, str], list[str]] = {}
        for use in (use for found in self.uses.values() for use in found):
            files = {place.path for place in use.places}
            if len(files) == 1 and files != {use.path}:
                if use.path == path:
                    names.setdefault(("needs", *files), []).append(use.name)
                elif files == {path}:
                    names.setdefault(("is needed by", use.path), []).append(use.name)
        return [f"{arrow} {other}: {', '.join(dict.fromkeys(found))}" for (arrow, other), found in sorted(names.items())]

    def _imported(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for line in self.lines:
            folder = (self.root / line.path).resolve()  # a link to another target's, which is compiled once more
            prefix = folder.relative_to(self.root.resolve()).as_posix() + "/" if folder.exists() else line.path + "/"
            for path, code in self.codes.items():
                if path.startswith(prefix):
                    names = found.setdefault(line.name, {})
                    for module, at in package.imports(code).items():
                        names.setdefault(module, f"{path}:{at}")
        return found

    def _modules(self) -> dict[str, set[str]]:
        found = {}
        for line in self.lines:
            names = set()
            for file in sorted((self.root / line.path).glob("module.modulemap")):
                names |= set(re.findall(package.MODULE, file.read_text(encoding="utf-8")))
            if names:
                found[line.name] = names
        return found

"""The files of a target that each file needs: by names of types, by calls of methods, and by what extensions add.

There is no type checker here. A name is held to be of the target where everything that may be meant is: nothing of that name and with
such labels is in a dependency, it is no name of Swift's own, and no target uses it without one in sight, which shows that a library has
it, too. Cases and properties in the body of a type do not count: many types have one of the same name, and who has a value names its type.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from house.swift import TYPE_WORDS, Declaration, Source, matching, split

WORD = re.compile(r"[A-Za-z_]\w*")
# Members of Swift's own types whose names a type here has, too, or may have soon.
STANDARD = frozenset(
    """
    add allCases append applying base bytes cancel capacity clamped combine components contains count debugDescription decode description
    difference distance drop dropFirst dropLast element elements encode enqueue exchange filter find finish first flatMap forEach get hash
    index indices insert intersection isCancelled isEmpty isLetter isNumber isSubset joined keys last load lowercased map matches max merge
    microseconds milliseconds min move nanoseconds next now offset peek popFirst prefix random range rawValue reduce release remove
    removeAll replace replacing resume reversed rounded run scalar second seconds send set shuffled size sleep sorted split start starts
    store stride subtract suffix sum swap take union update uppercased utf16 utf8 value values words write zero
    """.split()
)
DOTTED = re.compile(r"(?<!\.)\.([a-z_]\w*)")
# A variable, a parameter or a label; the parameters of a closure.
LOCAL = re.compile(r"\b(?:let|var) (\w+)|\b([a-z]\w*)(?:\s*:|,| in\b)")
LABEL = re.compile(r"\s*(\w+)\s*:(?!:)")


@dataclass(frozen=True)
class Place:
    """A declaration of a name: its file, and the type of this target that it belongs to."""

    path: str
    declaration: Declaration
    home: str  # the file of that type; of an extension of another target's type, the file itself

    def __hash__(self) -> int:
        return id(self.declaration)


@dataclass(frozen=True)
class Use:
    """A file names a type, or something of a type."""

    path: str
    line: int
    home: str  # the file whose floor the code is on: that of the extended type within an extension
    name: str
    is_type: bool
    places: tuple[Place, ...]  # all that may be meant


class Target:
    """The names that a target declares."""

    def __init__(self, name: str, sources: list[Source], dependencies: list[Target]):
        self.name, self.sources, self.dependencies = name, sources, dependencies
        self.types: dict[str, Place] = {}
        self.members: dict[str, list[Place]] = defaultdict(list)
        self.nested: dict[str, set[str]] = defaultdict(set)  # the types within a type
        self._collect()

    def _collect(self) -> None:
        several = set()
        for source in self.sources:
            for each in source.declarations:
                if each.owner and each.kind in (*TYPE_WORDS, "typealias"):
                    self.nested[self.root(each.owner)].add(each.name)
                if each.owner or each.is_private or each.kind not in (*TYPE_WORDS, "typealias"):
                    continue
                if each.name in self.types:
                    several.add(each.name)
                self.types[each.name] = Place(source.path, each, source.path)
        for name in several:
            del self.types[name]
        for source in self.sources:
            for each in source.declarations:
                if each.kind in ("init", "subscript") or not each.owner and each.kind in (*TYPE_WORDS, "typealias"):
                    continue
                self.members[each.name].append(Place(source.path, each, self.home(each.owner, source.path)))

    def root(self, written: str) -> str:
        """The outermost type of `A.B`, which may have its module's name before it."""
        parts = written.split(".")
        return parts[1] if len(parts) > 1 and parts[0] == self.name else parts[0]

    def home(self, owner: str, path: str) -> str:
        place = self.types.get(self.root(owner)) if owner else None
        return place.path if place else path


def of_libraries(targets: list[Target]) -> set[str]:
    """Names that some target uses and that neither it nor its dependencies declare."""
    found = set()
    for target in targets:
        seen = [target.members, *(each.members for each in target.dependencies)]
        words = {word for source in target.sources for word in DOTTED.findall(source.code)}
        found |= {word for word in words if not any(word in members for members in seen)}
    return found


def uses(target: Target, outside: set[str]) -> list[Use]:
    """The names that the files of a target use of each other; of each name the first use in each extension and in the rest of a file."""
    found = []
    below = [each.members for each in target.dependencies]
    own = {
        name
        for name, places in target.members.items()
        if name not in outside
        and name not in STANDARD
        and all(_counts(each.declaration) or each.declaration.is_private for each in places)
    }
    for source in target.sources:
        found += _Uses(target, source, own, below).found()
    return found


class _Uses:
    def __init__(self, target: Target, source: Source, own: set[str], below: list[dict[str, list[Place]]]):
        self.target, self.source, self.own, self.below = target, source, own, below
        self.here = {target.root(each.owner or each.name) for each in source.declarations if each.owner or each.kind in TYPE_WORDS}
        self.extensions = [
            (each.start, each.end, target.home(each.name, source.path), target.root(each.name)) for each in source.extensions
        ]
        # A type within a type hides one of the target with its name.
        self.hidden = {name for root in self.here for name in target.nested.get(root, ())}
        self.hidden |= {each.name for each in source.declarations if each.is_private and each.kind in TYPE_WORDS}

        self.local = {name for names in LOCAL.findall(source.code) for name in names}

    def found(self) -> list[Use]:
        text, types, result, seen = self.source.code, self.target.types, [], set()
        wanted = self.own | types.keys()
        for match in WORD.finditer(text):
            if (word := match[0]) not in wanted:
                continue
            at, is_type = match.start(), word in types
            before = text[at - 1] if at else ""
            home, root = self.around(at)
            if is_type and word not in self.hidden and (before != "." or self.names_module(at)):
                key, places = (home, word), (types[word],)
            elif word in self.own:
                places = self.meant(word, match.end(), before == ".", root)
                key = (home, word, places)
                is_type = False
            else:
                continue
            if places and key not in seen:
                seen.add(key)
                result.append(Use(self.source.path, self.source.line(at), home, word, is_type, places))
        return result

    def around(self, at: int) -> tuple[str, str]:
        """The file on whose floor the code is, and the extended type around it."""
        for start, end, home, root in self.extensions:
            if start <= at < end:
                return home, root
        return self.source.path, ""

    def names_module(self, at: int) -> bool:
        return self.source.code.endswith(self.target.name + ".", 0, at)

    def meant(self, word: str, end: int, is_dotted: bool, root: str) -> tuple[Place, ...]:
        """All that a word may mean, if all of it is of this target; else nothing."""
        text = self.source.code
        candidates = [
            each for each in self.target.members[word] if not each.declaration.is_private or each.path == self.source.path
        ]
        if all(each.path == self.source.path for each in candidates):
            return ()
        if not is_dotted:
            # Without a dot it is a function of the file, or something of the type around, unless a variable has its name.
            called = text.startswith("(", end)
            candidates = [each for each in candidates if self.is_near(each, root) and (called or word not in self.local)]
            if not candidates or any(self.is_at(each, end) for each in candidates):
                return ()
        labels = _labels(text, end) if text.startswith("(", end) else None
        below = [each for members in self.below for each in members.get(word, ()) if not each.declaration.is_private]
        if labels is not None:
            candidates = [each for each in candidates if _takes(each.declaration, labels)]
            below = [each for each in below if _takes(each.declaration, labels)]
        if below and is_dotted or not all(_counts(each.declaration) for each in candidates):
            return ()
        return tuple(candidates)

    def is_at(self, place: Place, at: int) -> bool:
        return place.path == self.source.path and place.declaration.start <= at <= place.declaration.end

    def is_near(self, place: Place, root: str) -> bool:
        owner = self.target.root(place.declaration.owner)
        return not owner or owner == root or owner in self.here


def _labels(text: str, at: int) -> tuple[list[str], bool]:
    """The labels of a call at its bracket, and whether a closure follows it."""
    end = matching(text, at)
    found = [LABEL.match(part) for part in split(text[at + 1 : end - 1])]
    return [label[1] if label else "_" for label in found], text.startswith(" {", end)


def _counts(declaration: Declaration) -> bool:
    return declaration.kind == "func" or declaration.in_extension and declaration.kind != "case" or not declaration.owner


def _takes(declaration: Declaration, call: tuple[list[str], bool]) -> bool:
    """Whether a call with such labels may be one of a declaration."""
    if declaration.labels is None:
        return True
    given, has_closure = call
    rest = iter(declaration.labels)
    if not all(label in rest for label in given):
        return False
    return has_closure or len(declaration.labels) - len(given) <= declaration.defaults

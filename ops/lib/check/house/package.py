"""The targets of Package.swift, and whether each declares what its files import."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from house.findings import Finding
from house.swift import matching, split

# Modules that come with the compiler and the system.
TOOLCHAIN = {
    *("Dispatch", "Foundation", "FoundationEssentials", "FoundationNetworking", "Glibc", "Musl", "PackageDescription"),
    *("Swift", "Synchronization", "Testing"),
}
# Linked and not imported: Edits gets the list of filters by a symbol, so a program or a test must link Filters.
LINKED = {"Commands": ("Filters",), "MinilabTesting": ("Filters",)}
PRODUCT = re.compile(r'let (\w+): Target\.Dependency = \.product\(\s*name: "([^"]+)"')
TARGET = re.compile(r"\.(systemLibrary|target|executableTarget|testTarget)\(")
IMPORT = re.compile(
    r"^(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)",
    re.MULTILINE,
)
MODULE = re.compile(r"^module (\w+)", re.MULTILINE)


@dataclass
class TargetLine:
    """A target as Package.swift has it."""

    name: str
    kind: str
    path: str
    line: int
    dependencies: dict[str, int] = field(default_factory=dict)  # modules, with the line of each


def targets(text: str) -> list[TargetLine]:
    """The targets of the text of Package.swift, without those that its code makes of others."""
    products = dict(PRODUCT.findall(text))
    found = []
    for match in TARGET.finditer(text):
        end = matching(text, match.end() - 1)
        body = text[match.end() : end - 1]
        name = re.match(r'\s*name: "([^"]+)"', body)
        if not name:
            continue
        folder = "Tests" if match[1] == "testTarget" else "Sources"
        path = re.search(r'path: "([^"]+)"', body)
        line = text.count("\n", 0, match.start()) + 1
        target = TargetLine(name[1], match[1], path[1] if path else f"{folder}/{name[1]}", line)
        if list_begin := re.search(r"dependencies: \[", body):
            begin = list_begin.end() - 1
            for part in split(body[begin + 1 : matching(body, begin) - 1]):
                word = part.strip()
                at = match.end() + body.index(word, begin)
                module = word.strip('"') if word.startswith('"') else products.get(word, word)
                target.dependencies[module] = text.count("\n", 0, at) + 1
        found.append(target)
    return found


def imports(code: str) -> dict[str, int]:
    """The modules that a file imports, with the line of the first import."""
    found: dict[str, int] = {}
    for match in IMPORT.finditer(code):
        found.setdefault(match[1], code.count("\n", 0, match.end()) + 1)
    return found


def dependencies(
    lines: list[TargetLine], imported: dict[str, dict[str, str]], modules: dict[str, set[str]]
) -> list[Finding]:
    """The differences between declared dependencies and imports.

    `imported` has the modules that a target's files import, each with the place of an import; a target without files of Swift is not in
    it. `modules` has the names of the modules of a target of C.
    """
    found = []
    for target in lines:
        if target.name not in imported:
            continue
        names = imported[target.name]
        used = set()
        for module, place in names.items():
            if module in TOOLCHAIN or module == target.name:
                continue
            owner = next((name for name in target.dependencies if module in modules.get(name, {name.removesuffix("V3")})), None)
            used.add(owner)
            if owner is None:
                says = f"{target.name} imports {module} and does not declare it: add it to the dependencies, Package.swift:{target.line}."
                found.append(Finding("dependency", f"{target.name} {module}", place, says))
        for name, line in target.dependencies.items():
            if name not in used and name not in LINKED.get(target.name, ()):
                says = f"{target.name} declares {name}, and no file of it imports that: remove it."
                found.append(Finding("dependency", f"{target.name} {name}", f"Package.swift:{line}", says))
    return found

"""Mistakes in Swift sources that are compiled in side by side and switched on by number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "MINILAB_MISTAKE"
HELPER = "Mistakes.swift"  # made in the folder of each target that has some

# What stands in the source, and what the mistake makes of it: another operator of the same types.
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+"}
NUMBER = re.compile(r"(?<![\w.\"$])(\d+)(?![\w.\"])")
TRUTH = re.compile(r"\b(true|false)\b")
# An operator with spaces around it; nil beside it is a comparison of another kind.
OPERATOR = re.compile(r" (<=|>=|==|!=|<|>|&&|\|\||\+|-|\*) (?!nil\b)")


@dataclass
class Mistake:
    number: int
    file: str
    line: int
    column: int
    was: str
    becomes: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.was} → {self.becomes}"


def spelled(operator: str, number: int) -> str:
    """An operator of its own: `<` and the number in binary, which operators can spell."""
    return operator + "^" + "".join("*" if bit == "1" else "%" for bit in f"{number:b}")


def is_code(line: str) -> bool:
    """Whether mistakes may be put into a line: not into comments, texts, ranges of patterns, declarations and conditions of the compiler."""
    stripped = line.strip()
    return not (
        stripped.startswith(("//", "#", "import ", "case ", "@", "func ", "static func", "package func", "public func"))
        or '"' in line
        or "..." in line
        or "..<" in line
        or "->" in line
    )


def helper(mistakes: list[Mistake]) -> str:
    """The Swift file that defines what the changed lines call."""
    text = f"""import Glibc

enum Mistake {{
    static let number: Int = getenv("{VARIABLE}").flatMap {{ Int(String(cString: $0)) }} ?? 0
    static func int(_ number: Int, _ value: Int) -> Int {{ number == Self.number ? value + 1 : value }}
    static func truth(_ number: Int, _ value: Bool) -> Bool {{ number == Self.number ? !value : value }}
}}
"""
    for mistake in mistakes:
        name = spelled(mistake.was, mistake.number)
        switch = f"Mistake.number == {mistake.number}"
        if mistake.was in COMPARISONS:
            kind = "Equatable" if mistake.was in ("==", "!=") else "Comparable"
            text += f"infix operator {name} : ComparisonPrecedence\n"
            text += f"func {name} <T: {kind}>(a: T, b: T) -> Bool {{ {switch} ? a {mistake.becomes} b : a {mistake.was} b }}\n"
        elif mistake.was in LOGIC:
            precedence = "LogicalConjunctionPrecedence" if mistake.was == "&&" else "LogicalDisjunctionPrecedence"
            text += f"infix operator {name} : {precedence}\n"
            text += (
                f"func {name} (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
                f"{{ {switch} ? try a {mistake.becomes} b() : try a {mistake.was} b() }}\n"
            )
        elif mistake.was in ARITHMETIC:
            precedence = "MultiplicationPrecedence" if mistake.was == "*" else "AdditionPrecedence"
            kind = "Numeric" if mistake.was == "*" else "AdditiveArithmetic"
            text += f"infix operator {name} : {precedence}\n"
            text += f"func {name} <T: {kind}>(a: T, b: T) -> T {{ {switch} ? a {mistake.becomes} b : a {mistake.was} b }}\n"
    return text


class Plan:
    """All mistakes of some files, written into them."""

    def __init__(self, root: Path, files: list[str]) -> None:
        self.root = root
        self.texts = {file: (root / file).read_text(encoding="utf-8") for file in files}
        self.mistakes: list[Mistake] = []
        for file, text in self.texts.items():
            for index, line in enumerate(text.split("\n")):
                if is_code(line):
                    self._find(file, index + 1, line)
        self.helpers: set[Path] = set()
        self.write()

    def _find(self, file: str, number: int, line: str) -> None:
        code = line.split("//")[0]
        everything = {**COMPARISONS, **LOGIC, **ARITHMETIC}
        for match in OPERATOR.finditer(code):
            self._add(file, number, match.start(1), match[1], everything[match[1]])
        for match in NUMBER.finditer(code):
            self._add(file, number, match.start(1), match[1], str(int(match[1]) + 1))
        for match in TRUTH.finditer(code):
            self._add(file, number, match.start(1), match[1], "true" if match[1] == "false" else "false")

    def _add(self, file: str, line: int, column: int, was: str, becomes: str) -> None:
        self.mistakes.append(Mistake(len(self.mistakes) + 1, file, line, column, was, becomes))

    def of(self, files: list[str]) -> list[Mistake]:
        return [mistake for mistake in self.mistakes if mistake.file in files]

    def write(self) -> None:
        by_target: dict[Path, list[Mistake]] = {}
        for file, text in self.texts.items():
            lines = text.split("\n")
            # From the right, so that columns stay true.
            for mistake in sorted(self.of([file]), key=lambda m: (m.line, -m.column)):
                line = lines[mistake.line - 1]
                if mistake.was.isdigit():
                    new = f"Mistake.int({mistake.number}, {mistake.was})"
                elif mistake.was in ("true", "false"):
                    new = f"Mistake.truth({mistake.number}, {mistake.was})"
                else:
                    new = spelled(mistake.was, mistake.number)
                lines[mistake.line - 1] = line[: mistake.column] + new + line[mistake.column + len(mistake.was) :]
            (self.root / file).write_text("\n".join(lines), encoding="utf-8")
            target = self.root.joinpath(*Path(file).parts[:2])
            by_target.setdefault(target, []).extend(self.of([file]))
        for target, mistakes in by_target.items():
            self.helpers.add(target / HELPER)
            (target / HELPER).write_text(helper(mistakes), encoding="utf-8")

    def leave_out(self, places: list[tuple[str, int]]) -> int:
        """Takes out the mistakes of lines with errors; how many they were."""
        bad = set(places)
        before = len(self.mistakes)
        self.mistakes = [mistake for mistake in self.mistakes if (mistake.file, mistake.line) not in bad]
        self.write()
        return before - len(self.mistakes)

    def put_back(self) -> None:
        for file, text in self.texts.items():
            (self.root / file).write_text(text, encoding="utf-8")
        for path in self.helpers:
            path.unlink(missing_ok=True)


def error_places(output: str, root: Path) -> list[tuple[str, int]]:
    """Files and lines of the compiler's errors."""
    places = []
    for match in re.finditer(r"^(/[^:\n]+\.swift):(\d+):\d+: error:", output, re.M):
        path = Path(match[1])
        if path.is_relative_to(root):
            places.append((str(path.relative_to(root)), int(match[2])))
    return places

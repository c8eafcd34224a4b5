"""Mistakes in Swift sources that are compiled in side by side and switched on by number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "MINILAB_MISTAKE"
HELPER = "Mistakes.swift"  # made in the folder of each target that has some

# The operator in the source, and the operator of the mistake.
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+"}
BINARY = {**COMPARISONS, **LOGIC, **ARITHMETIC}
EXTREMES = {"min": "max", "max": "min"}
WHOLE = re.compile(r"(?<![\w.\"$])(\d+)(?![\w.\"])")
FRACTION = re.compile(r"(?<![\w.\"$])(\d+\.\d+)(?![\w.\"])")
TRUTH = re.compile(r"\b(true|false)\b")
# An operator with spaces around it; nil beside it is a comparison of another kind.
OPERATOR = re.compile(r" (<=|>=|==|!=|<|>|&&|\|\||\+|-|\*) (?!nil\b)")
NEGATION = re.compile(r"(?<![^\s({,\[])!(?=[\w$(])")
EXTREME = re.compile(r"(?<![\w.])(min|max)\(")
CONDITION = re.compile(r"^\s*(?:\} else )?(?:if|guard) (.+?)(?: else)? \{")
# A clause of a condition that is no plain truth, or in which an operator is changed already.
NO_TRUTH = re.compile(r"^(let|var|case)\b|\b(try|await)\b|#|[{!]| (<=|>=|==|!=|<|>|&&|\|\||\?) ")
# The colon that ends the pattern of a case.
PATTERN_END = re.compile(r":\s")


@dataclass
class Mistake:
    number: int
    file: str
    line: int
    column: int
    end: int
    was: str
    becomes: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}: {self.was} → {self.becomes}"

    def edits(self) -> list[tuple[int, int, str]]:
        """The changes of its line: from column, to column, new text."""
        if self.becomes == f"!({self.was})":
            return [(self.column, self.column, f"Mistake.truth({self.number}, "), (self.end, self.end, ")")]
        if self.was in EXTREMES:
            new = f"Mistake.{self.was}({self.number}, "
            return [(self.column, self.end + 1, new)]  # with the parenthesis
        if self.was in ("true", "false"):
            new = f"Mistake.truth({self.number}, {self.was})"
        elif self.was[0].isdigit():
            new = f"Mistake.{'fraction' if '.' in self.was else 'whole'}({self.number}, {self.was})"
        else:
            new = operator_name(self.was, self.number)
        return [(self.column, self.end, new)]


def operator_name(operator: str, number: int) -> str:
    """An operator of its own: the operator, `^`, and the number in binary, of characters that operators may have."""
    return operator + "^" + "".join("*" if bit == "1" else "%" for bit in f"{number:b}")


def code_range(line: str) -> tuple[int, int]:
    """The columns that mistakes may be put into: no comment, string, range, pattern, declaration or compiler condition."""
    stripped = line.strip()
    if (
        stripped.startswith(("//", "#", "import ", "@", "func ", "static func", "package func", "public func", "infix "))
        or '"' in line
        or "..." in line
        or "..<" in line
        or "->" in line
    ):
        return (0, 0)
    end = line.find("//")
    start = 0
    if stripped.startswith("case "):
        start = next((match.end() for match in PATTERN_END.finditer(line) if is_flat(line[: match.start()])), len(line))
    return (start, end if end >= 0 else len(line))


def is_flat(text: str) -> bool:
    """Whether all parentheses of a text are closed."""
    return text.count("(") == text.count(")")


def clauses(condition: str) -> list[tuple[int, str]]:
    """The parts of a condition between its commas, with their offsets."""
    parts = []
    start = 0
    for match in re.finditer(r", |$", condition):
        if is_flat(condition[: match.start()]):
            parts.append((start, condition[start : match.start()]))
            start = match.end()
    return parts


def helper(mistakes: list[Mistake], uses_nio: bool) -> str:
    """The Swift file that defines what the changed lines call."""
    text = f"""import Glibc
{"import NIOCore" if uses_nio else ""}

enum Mistake {{
    static let number: Int = getenv("{VARIABLE}").flatMap {{ Int(String(cString: $0)) }} ?? 0
    static func whole<T: Numeric & ExpressibleByIntegerLiteral>(_ number: Int, _ value: T) -> T {{
        number == Self.number ? value + 1 : value
    }}
    static func fraction(_ number: Int, _ value: Double) -> Double {{ number == Self.number ? value * 1.5 : value }}
    static func truth(_ number: Int, _ value: Bool) -> Bool {{ number == Self.number ? !value : value }}
    static func min<T: Comparable>(_ number: Int, _ first: T, _ others: T...) -> T {{
        others.reduce(first) {{ number == Self.number ? Swift.max($0, $1) : Swift.min($0, $1) }}
    }}
    static func max<T: Comparable>(_ number: Int, _ first: T, _ others: T...) -> T {{
        others.reduce(first) {{ number == Self.number ? Swift.min($0, $1) : Swift.max($0, $1) }}
    }}
}}
"""
    for mistake in mistakes:
        name = operator_name(mistake.was, mistake.number)
        switch = f"Mistake.number == {mistake.number}"
        was, becomes = mistake.was, mistake.becomes
        if was in COMPARISONS:
            kind = "Equatable" if was in ("==", "!=") else "Comparable"
            text += f"infix operator {name} : ComparisonPrecedence\n"
            text += f"func {name} <T: {kind}>(a: T, b: T) -> Bool {{ {switch} ? a {becomes} b : a {was} b }}\n"
        elif was in LOGIC:
            precedence = "LogicalConjunctionPrecedence" if was == "&&" else "LogicalDisjunctionPrecedence"
            text += f"infix operator {name} : {precedence}\n"
            text += (
                f"func {name} (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
                f"{{ {switch} ? try a {becomes} b() : try a {was} b() }}\n"
            )
        elif was == "!":
            text += f"prefix operator {name}\n"
            text += f"prefix func {name} (a: Bool) -> Bool {{ {switch} ? a : !a }}\n"
        elif was == "*":
            text += f"infix operator {name} : MultiplicationPrecedence\n"
            text += f"func {name} <T: Numeric>(a: T, b: T) -> T {{ {switch} ? a + b : a * b }}\n"
            for factor in ("Int", "Double"):
                text += f"func {name} (a: Duration, b: {factor}) -> Duration {{ {switch} ? a : a * b }}\n"
        elif was in ("+", "-"):
            text += f"infix operator {name} : AdditionPrecedence\n"
            text += f"func {name} <T: AdditiveArithmetic>(a: T, b: T) -> T {{ {switch} ? a {becomes} b : a {was} b }}\n"
            text += sums(name, switch, was, uses_nio)
    return text


def sums(name: str, switch: str, was: str, uses_nio: bool) -> str:
    """Sums of other types than numbers: moments, and lists, of which the mistake loses the second."""
    instant = "ContinuousClock.Instant"
    if was == "-":
        return f"func {name} (a: {instant}, b: {instant}) -> Duration {{ {switch} ? .zero - (a - b) : a - b }}\n"
    text = f"func {name} (a: {instant}, b: Duration) -> {instant} {{ {switch} ? a - b : a + b }}\n"
    text += f"func {name} <T: RangeReplaceableCollection>(a: T, b: T) -> T {{ {switch} ? a : a + b }}\n"
    if uses_nio:
        text += f"func {name} (a: NIODeadline, b: TimeAmount) -> NIODeadline {{ {switch} ? a - b : a + b }}\n"
    return text


class Plan:
    """All mistakes of some files, and the files with the mistakes in them."""

    def __init__(self, root: Path, files: list[str]) -> None:
        self.root = root
        self.texts = {file: (root / file).read_text(encoding="utf-8") for file in files}
        self.mistakes: list[Mistake] = []
        for file, text in self.texts.items():
            for index, line in enumerate(text.split("\n")):
                self._find(file, index + 1, line)
        self.helpers: set[Path] = set()

    def _find(self, file: str, number: int, line: str) -> None:
        start, end = code_range(line)
        code = line[:end]

        def add(column: int, was: str, becomes: str) -> None:
            mistake = Mistake(len(self.mistakes) + 1, file, number, column, column + len(was), was, becomes)
            self.mistakes.append(mistake)

        for match in OPERATOR.finditer(code, start):
            add(match.start(1), match[1], BINARY[match[1]])
        for match in WHOLE.finditer(code, start):
            add(match.start(1), match[1], str(int(match[1]) + 1))
        for match in FRACTION.finditer(code, start):
            add(match.start(1), match[1], f"{float(match[1]) * 1.5:g}")
        for match in TRUTH.finditer(code, start):
            add(match.start(1), match[1], "true" if match[1] == "false" else "false")
        for match in NEGATION.finditer(code, start):
            add(match.start(), "!", "nothing")
        for match in EXTREME.finditer(code, start):
            add(match.start(1), match[1], EXTREMES[match[1]])
        if match := CONDITION.match(code):
            for offset, clause in clauses(match[1]):
                if not NO_TRUTH.search(clause):
                    add(match.start(1) + offset, clause, f"!({clause})")

    def of(self, files: list[str]) -> list[Mistake]:
        return [mistake for mistake in self.mistakes if mistake.file in files]

    def targets(self) -> list[str]:
        """The targets with mistakes, in the order of the files."""
        return list(dict.fromkeys(self.folder(file).name for file in self.texts))

    def folder(self, file: str) -> Path:
        """The folder of a file's target, which has the target's name: a room, or a folder in it that Package.swift names."""
        room, inner = Path(*Path(file).parts[:2]), Path(*Path(file).parts[:3])
        return inner if f'path: "{inner}"' in (self.root / "Package.swift").read_text() else room

    def write(self) -> None:
        by_target: dict[Path, list[Mistake]] = {}
        for file, text in self.texts.items():
            lines = text.split("\n")
            edits = [(mistake.line, *edit) for mistake in self.of([file]) for edit in mistake.edits()]
            # From the right, so that columns stay true; of two at one column, the replacement before what stands around it.
            for number, start, end, new in sorted(edits, key=lambda edit: (edit[1], edit[2]), reverse=True):
                line = lines[number - 1]
                lines[number - 1] = line[:start] + new + line[end:]
            write_if_changed(self.root / file, "\n".join(lines))
            target = self.root / self.folder(file)
            by_target.setdefault(target, []).extend(self.of([file]))
        for target, mistakes in by_target.items():
            uses_nio = any("import NIOCore" in self.texts[mistake.file] for mistake in mistakes)
            self.helpers.add(target / HELPER)
            write_if_changed(target / HELPER, helper(mistakes, uses_nio))

    def leave_out(self, lines: list[tuple[str, int]]) -> list[Mistake]:
        """Removes the mistakes of lines with errors, and returns them."""
        bad = set(lines)
        removed = [mistake for mistake in self.mistakes if (mistake.file, mistake.line) in bad]
        self.mistakes = [mistake for mistake in self.mistakes if mistake not in removed]
        self.write()
        return removed

    def put_back(self) -> None:
        for file, text in self.texts.items():
            write_if_changed(self.root / file, text)
        for path in self.helpers:
            path.unlink(missing_ok=True)


def write_if_changed(path: Path, text: str) -> None:
    """Writes a file, unless it has that text: the compiler then need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def error_lines(output: str, root: Path) -> list[tuple[str, int]]:
    """Files and lines of the compiler's errors."""
    lines = []
    for match in re.finditer(r"^(/[^:\n]+\.swift):(\d+):\d+: error:", output, re.M):
        path = Path(match[1])
        if path.is_relative_to(root):
            lines.append((str(path.relative_to(root)), int(match[2])))
    return lines

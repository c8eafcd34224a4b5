"""The declarations of a Swift file, found by words and brackets, without a parser of Swift.

It reads what swift-format leaves: a declaration begins a line, behind its attributes and modifiers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from house.text import code

TOKEN = re.compile(
    r"[{}()\[\]]|(?<![.\w`$])(?:struct|enum|class|actor|protocol|extension|func|init|subscript|var|let|case|typealias|associatedtype)\b"
)
BRACE = re.compile("[{}]")
TYPE_WORDS = ("struct", "enum", "class", "actor", "protocol")
ATTRIBUTES = re.compile(r"(?:\s*@\w+)+(?:\([^\n]*\))?\s*\Z")
NAME = re.compile(r"\s+(`[^`\n]+`|[\w.]+)")
CASE_NAME = re.compile(r"\s*(`\w+`|\w+)")
PARAMETER = re.compile(r"\s*(?:@\w+(?:\([^)]*\))?\s+)*(`?\w+`?)(?:\s+`?\w+`?)?\s*:")
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass
class Declaration:
    kind: str  # a word of TYPE_WORDS, func, init, subscript, property, case, typealias, associatedtype
    name: str
    start: int
    owner: str = ""  # the type that it is in, as it is written there; empty for a file
    in_extension: bool = False
    is_private: bool = False
    is_static: bool = False
    is_override: bool = False
    attributes: tuple[str, ...] = ()  # as `@Option`
    labels: tuple[str, ...] | None = None  # of what has parameters; `_` for one without a label
    defaults: int = 0  # how many parameters have a default
    body: tuple[int, int] | None = None  # between its brackets
    end: int = 0

    @property
    def title(self) -> str:
        """As messages name it: `Type.name(labels)`."""
        labels = "" if self.labels is None else "(" + "".join(label + ":" for label in self.labels) + ")"
        return (self.owner + "." if self.owner else "") + self.name + labels


@dataclass
class Source:
    """A file and what it declares."""

    path: str
    code: str
    lines: list[int] = field(default_factory=list)  # where each begins
    declarations: list[Declaration] = field(default_factory=list)
    extensions: list[Declaration] = field(default_factory=list)  # the name is that of the extended type

    def line(self, place: int) -> int:
        return bisect_right(self.lines, place)


@dataclass
class _Scope:
    kind: str  # file, type, extension, protocol, enum, body
    owner: str = ""
    declaration: Declaration | None = None


def read(path: str, text: str) -> Source:
    """The declarations of a file outside of bodies of functions. Throws text.Unreadable."""
    source = Source(path, code(text))
    source.lines = [0, *(found.end() for found in re.finditer("\n", source.code))]
    _Reader(source).run()
    return source


def matching(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`; of `<`, without comparisons."""
    opening, closing, depth = text[at], CLOSING[text[at]], 0
    for place in range(at, len(text)):
        if text[place] == opening:
            depth += 1
        elif text[place] == closing and not (closing == ">" and text[place - 1] == "-"):
            depth -= 1
            if depth == 0:
                return place + 1
    return len(text)


def split(text: str) -> list[str]:
    """The parts of a text between commas that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or letter == ">" and text[place - 1] != "-":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]


class _Reader:
    def __init__(self, source: Source):
        self.source = source
        self.scopes = [_Scope("file")]
        self.pending: _Scope | None = None
        self.skip_until = 0

    def run(self) -> None:
        text, round_depth = self.source.code, 0
        for token in TOKEN.finditer(text):
            word, at = token[0], token.start()
            if at < self.skip_until:
                continue
            if word == "{":
                self.open(at, self.pending if self.pending and round_depth == 0 else _Scope("body"))
            elif word == "}":
                self.close(at)
            elif word in "([":
                round_depth += 1
            elif word in ")]":
                round_depth -= 1
            elif round_depth == 0:
                self.declare(word, token)

    def open(self, at: int, scope: _Scope) -> None:
        if scope is self.pending:
            self.pending = None
        if scope.declaration:
            scope.declaration.body = (at + 1, at + 1)
        self.scopes.append(scope)
        if scope.kind == "body":
            # Other files do not see the declarations of a body.
            end = self.brace(at)
            self.close(end)
            self.skip_until = end + 1

    def brace(self, at: int) -> int:
        """The place of the brace that closes the one at `at`."""
        depth = 0
        for found in BRACE.finditer(self.source.code, at):
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                return found.start()
        return len(self.source.code)

    def close(self, at: int) -> None:
        scope = self.scopes.pop()
        self.pending = None
        if scope.declaration:
            scope.declaration.body = (scope.declaration.body[0], at)
            scope.declaration.end = at + 1

    def declare(self, word: str, token: re.Match) -> None:
        text, scope = self.source.code, self.scopes[-1]
        begin = text.rfind("\n", 0, token.start()) + 1
        words = re.sub(r"\([^()]*(?:\([^()]*\))?[^()]*\)", "", text[begin : token.start()]).split()
        if "import" in words:
            return
        # Attributes stand on a line of their own, too.
        above = ATTRIBUTES.search(text, max(0, text.rfind("\n", 0, begin - 1)), begin) if begin else None
        if word == "class" and text[token.end() :].lstrip().split(None, 1)[0] in ("func", "var", "let"):
            return
        name = NAME.match(text, token.end())
        declaration = Declaration(word, name[1].strip("`") if name else "", token.start(), scope.owner)
        declaration.in_extension = scope.kind == "extension"
        declaration.is_private = "private" in words or "fileprivate" in words
        declaration.is_static, declaration.is_override = "static" in words, "override" in words
        declaration.attributes = tuple(re.findall(r"@\w+", (above[0] if above else "") + " ".join(words)))
        declaration.end = token.end()
        if word == "extension":
            self.source.extensions.append(declaration)
            self.pending = _Scope("extension", declaration.name, declaration)
        elif word in TYPE_WORDS:
            self.source.declarations.append(declaration)
            owner = f"{scope.owner}.{declaration.name}" if scope.owner else declaration.name
            self.pending = _Scope(word if word in ("enum", "protocol") else "type", owner, declaration)
        elif word in ("func", "init", "subscript"):
            self.function(word, token, declaration)
        elif word == "case":
            if scope.kind in ("enum", "extension"):
                self.cases(token, declaration)
        elif name:
            declaration.kind = "property" if word in ("var", "let") else word
            self.source.declarations.append(declaration)
            self.pending = None

    def function(self, word: str, token: re.Match, declaration: Declaration) -> None:
        text = self.source.code
        at = text.find("(", token.end())
        if at < 0:
            return
        head = text[token.end() : at]
        if word != "func":
            declaration.name = word
        elif not declaration.name or "." in declaration.name or not re.match(r"\w|`", declaration.name):
            declaration.name = head.strip() or "()"  # an operator
        if "<" in head and word != "func" or re.match(r"\s*[\w`]+\s*<", head):
            at = text.find("(", matching(text, text.index("<", token.end())))
        end = matching(text, at)
        parameters = split(text[at + 1 : end - 1])
        labels = [PARAMETER.match(parameter) for parameter in parameters]
        declaration.labels = tuple(label[1] if label else "_" for label in labels)
        declaration.defaults = sum(1 for parameter in parameters if re.search(r"[^=!<>]=[^=]", parameter))
        declaration.end = end
        self.source.declarations.append(declaration)
        self.skip_until = end
        self.pending = None if self.scopes[-1].kind == "protocol" else _Scope("body", self.scopes[-1].owner, declaration)

    def cases(self, token: re.Match, declaration: Declaration) -> None:
        text, at = self.source.code, token.end()
        while name := CASE_NAME.match(text, at):
            self.source.declarations.append(
                Declaration("case", name[1].strip("`"), token.start(), declaration.owner, is_static=True, end=name.end())
            )
            at = name.end()
            if text[at : at + 1] == "(":
                at = matching(text, at)
            rest = re.compile(r"[^,\n{}]*").match(text, at)
            at = rest.end()
            if text[at : at + 1] != ",":
                break
            at += 1
        self.skip_until = at

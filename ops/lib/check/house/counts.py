"""The counts of the house: long files and functions, many parameters, dead declarations, errors that are thrown away."""

from __future__ import annotations

import re
from collections import Counter

from house.findings import Finding
from house.swift import TYPE_WORDS, Declaration, Source

LINES_MAX = 500
FUNCTION_LINES_MAX = 80
PARAMETERS_MAX = 6
# A test whether a value is of a type, which may fail.
TRY = re.compile(r"\btry\?(?!\s+(?:await\s+)?\w+\.decode\(\[?[\w.]+\]?\.self\))")
WORD = re.compile(r"[A-Za-z_]\w*")
SENTENCE = re.compile(r"`[^`\n]* [^`\n]*`")
# An initialiser with one of these does more than keep what it is given.
DOES = re.compile(r"\b(?:if|guard|for|while|switch|let|var|try|await|throw|return)\b")
# Frameworks call these, or read them of a type that conforms to a protocol of theirs.
CALLED_BY_LIBRARIES = frozenset(
    """
    callAsFunction customMirror
    InboundOut channelInactive channelReadComplete channelWritabilityChanged handlerAdded handlerRemoved userInboundEventTriggered
    addLink forceFlush nameOverride
    escapeText representation
    """.split()
)
# A flag of a command is read by its key; a function with a name for C is called by it.
READ_BY_LIBRARIES = {"@Option", "@Flag", "@Argument", "@c"}
ENCODED = re.compile(r"\b(?:Encodable|Codable)\b")


def files(lengths: dict[str, int]) -> list[Finding]:
    """The files with too many lines."""
    return [
        Finding("lines", path, f"{path}:{lines}", f"has {lines} lines, above {LINES_MAX}: move a subject into a file of its own.", lines)
        for path, lines in lengths.items()
        if lines > LINES_MAX
    ]


def functions(source: Source) -> list[Finding]:
    """The functions that are too long, or take too much."""
    found = []
    for each in source.declarations:
        if each.labels is None:
            continue
        place = f"{source.path}:{source.line(each.start)}"
        lines = source.line(each.end) - source.line(each.start) + 1
        subject = f"{source.path} {each.title}"
        if each.body and lines > FUNCTION_LINES_MAX:
            says = f"{each.title} has {lines} lines, above {FUNCTION_LINES_MAX}: give a part of it a name."
            found.append(Finding("function", subject, place, says, lines))
        is_record = each.name == "init" and each.body and not DOES.search(source.code, *each.body)
        if len(each.labels) > PARAMETERS_MAX and not is_record:
            says = f"{each.title} has {len(each.labels)} parameters, above {PARAMETERS_MAX}: give those that belong together a type."
            found.append(Finding("parameters", subject, place, says, len(each.labels)))
    return found


def tries(source: Source) -> list[Finding]:
    """The places where a file throws errors away."""
    places = [source.line(match.start()) for match in TRY.finditer(source.code)]
    says = f"has {len(places)} `try?` (lines {', '.join(map(str, places))}), which lose the reason: handle the error, or log it."
    return [Finding("try", source.path, f"{source.path}:{places[-1]}", says, len(places))] if places else []


def words(code: str) -> Counter[str]:
    """The words of a file's code with their numbers; the names of tests are sentences, and do not count."""
    return Counter(WORD.findall(SENTENCE.sub("", code)))


def dead(sources: list[Source], used: Counter[str]) -> list[Finding]:
    """The declarations whose name is nowhere but where it is declared; `used` counts the words of all files."""
    declared = Counter(each.name for source in sources for each in source.declarations)
    declared.update(each.name.split(".")[-1] for source in sources for each in source.extensions)
    found = []
    for source in sources:
        encoded = {_title(each) for each in source.declarations if each.body and ENCODED.search(source.code, each.start, each.body[0])}
        for each in source.declarations:
            name = each.name
            if used[name] > declared[name] or name in CALLED_BY_LIBRARIES or not READ_BY_LIBRARIES.isdisjoint(each.attributes):
                continue
            is_operator = not re.match(r"\w", name)
            if is_operator or name in ("init", "subscript") or each.is_override or each.kind == "property" and each.owner in encoded:
                continue
            place = f"{source.path}:{source.line(each.start)}"
            kind = "a type" if each.kind in TYPE_WORDS else f"a {each.kind}" if each.kind != "func" else "a function"
            says = f"{each.title} is {kind} that nothing names: remove it. If a library calls it, add its name to CALLED_BY_LIBRARIES of counts.py."
            found.append(Finding("dead", f"{source.path} {each.title}", place, says))
    return found


def _title(each: Declaration) -> str:
    return f"{each.owner}.{each.name}" if each.owner else each.name

#!/usr/bin/env python3
"""Checks that whatever a worker or a gateway keeps for several tenants has an owner in its key, or a reason why it needs none.

usage: ops/lib/check/kept.py

Both programs serve many tenants in one process. A result that was made for one tenant and is found by another is the worst
that can happen there, and each time it was a map whose key lacked its owner. kept.tsv lists every collection that lives as long
as an object: each stored property of a class or an actor, and of the structures that these keep, that can grow. A collection
that is not in the list fails this check, and so does a line whose collection is gone.

The sources are read line by line, as swift-format leaves them: by indentation, without a parser of Swift.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIST = "ops/lib/check/kept.tsv"
# What workers and gateways are made of. Render children serve one owner each and end with it.
FOLDERS = [
    "Sources/Children/RenderPool",
    "Sources/Commands/minilab-gateway",
    "Sources/Edits/Edits/Machines",
    "Sources/Gateway",
    "Sources/Library",
    "Sources/Operations",
    "Sources/Queue",
    "Sources/Telemetry",
    "Sources/Worker",
]
WORDS = r"(?:@\w+(?:\([^)]*\))? |public |package |private |fileprivate |internal |final |nonisolated |indirect |(?:private|package|fileprivate)\(set\) )*"
TYPE = re.compile(rf"^( *){WORDS}(class|actor|struct|enum|extension|protocol) (?!func\b|var\b|let\b)([\w.]+)")
BODY = re.compile(rf"^( *){WORDS}(?:static |mutating |override |required |convenience |consuming )*(func|init|deinit|subscript)\b")
STORED = re.compile(rf"^( *){WORDS}((?:static |lazy |weak |unowned )*)(var|let) (\w+)(.*)$")
# Types that hold many values, by their syntax or their name.
MANY = re.compile(r"\[(?![\"\d]|UInt8\])|\bSet<|\bDeque\b|\bDictionary<|\bArray<|Cache\b|Memo\b|Buffer\(\)|Task<(?!Void)")


def declarations(text):
    """(chain of types, is shared, keyword, name, rest) of each stored property of a source."""
    stack = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        if not code:
            continue
        depth = len(code) - len(code.lstrip())
        while stack and depth <= stack[-1][0] and not code.lstrip().startswith(("}", ")", "where ", "{")):
            stack.pop()
        if found := TYPE.match(code):
            stack.append((depth, found[2], found[3]))
            continue
        if found := BODY.match(code):
            stack.append((depth, found[2], ""))
            continue
        found = STORED.match(code)
        if not found or any(kind in ("func", "init", "deinit", "subscript", "protocol") for _, kind, _ in stack):
            continue
        rest = found[5]
        # A computed property, and not a value that a closure makes.
        if re.search(r"\{", rest) and "=" not in rest:
            stack.append((depth, "func", ""))
            continue
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if rest.rstrip().endswith(("=", ":", "(", "<")) or not rest.strip():
            rest += " " + following
        types = [(kind, name) for _, kind, name in stack]
        if types:
            yield types, "static" in found[2], found[3], found[4], rest.strip()


def collections(sources):
    """The collections that live as long as a shared object, as `path Type.property`, with their declaration."""
    structures, roots = {}, []
    for path, text in sources:
        for types, is_static, keyword, name, rest in declarations(text):
            kinds = [kind for kind, _ in types]
            chain = ".".join(part for _, part in types)
            one = (path, chain, keyword, name, rest)
            if "class" in kinds or "actor" in kinds or is_static and keyword == "var":
                roots.append(one)
            elif kinds[-1] == "extension" and not is_static:
                continue
            elif kinds[-1] == "struct" and not is_static:
                structures.setdefault(types[-1][1], []).append(one)
    found, queue, seen = {}, list(roots), set()
    while queue:
        path, chain, keyword, name, rest = queue.pop()
        if keyword == "var" or re.search(r"Mutex|Cache|Memo", rest):
            if MANY.search(rest) and not rest.startswith(": @Sendable"):
                found[f"{path} {chain}.{name}"] = rest
        # A structure that is kept keeps what it has.
        for word in set(re.findall(r"\b[A-Z]\w+", rest)) - seen:
            if word in structures:
                seen.add(word)
                queue += structures[word]
    return found


def listed(text):
    """The lines of the list: place, kind, reason; with the faults of its form."""
    lines, faults = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or fields[1] not in ("owner", "none") or len(fields[2]) < 10:
            faults.append(f"{LIST}:{number}: expected is a place, `owner` or `none`, and a reason of a few words, with tabs between")
        elif fields[0] in lines:
            faults.append(f"{LIST}:{number}: {fields[0]} is listed twice")
        else:
            lines[fields[0]] = fields[1:]
    return lines, faults


def judged(sources, text):
    """The faults of a list beside the sources."""
    found = collections(sources)
    lines, faults = listed(text)
    for place in sorted(set(found) - set(lines)):
        faults.append(
            f"{place} keeps several things and is not in {LIST}. Give its key an owner without a default, and list it as `owner`; "
            f"or list it as `none` with the reason why what one tenant leaves in it reaches no other."
        )
    faults += [f"{LIST} lists {place}, which is not there any more" for place in sorted(set(lines) - set(found))]
    return faults


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.swift")):
            yield str(path.relative_to(root)).removeprefix("Sources/"), path.read_text()


def main():
    read = list(sources(ROOT))
    if len(read) < 100:
        sys.exit(f"only {len(read)} sources were found")
    faults = judged(read, (ROOT / LIST).read_text())
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

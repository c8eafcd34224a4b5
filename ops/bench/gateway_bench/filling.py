"""Fills a queue with jobs as its own scripts make them."""

import pathlib
import re

from gateway import PREFIX

SOURCES = pathlib.Path(__file__).resolve().parents[3] / "Sources/Queue/JobQueue"
EDIT = '{"filters":[{"inputIntensity":0.8,"name":"CISepiaTone"}]}'
EVENTS_MAX, DONE_MAX = 100_000, 100_000  # as QueueSettings has them
STEP = 500  # jobs of one call: some 50 ms, so that others get their turn


def script():
    """Our script behind those declarations of Scripts/Shared that it needs, as ScriptLinker puts scripts together."""
    listed = (SOURCES / "RedisScripts.swift").read_text().split("static let shared", 1)[1].split("]\n", 1)[0]
    pieces = [piece for name in re.findall(r"PackageResources\.(\w+)_lua", listed)
              for piece in declarations((SOURCES / f"Scripts/Shared/{name}.lua").read_text())]
    body = pathlib.Path(__file__).with_name("fill.lua").read_text()
    needed, open_ = set(), [words(body)]
    while open_:
        wanted = open_.pop()
        for number, (names, text) in enumerate(pieces):
            if number not in needed and names & wanted:
                needed.add(number)
                open_.append(words(text))
    return "#!lua\n" + "".join(pieces[number][1] for number in sorted(needed)) + body


def declarations(text):
    """Each declaration of a shared file, which begins with `local` in the first column: the names, the text."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("--")]
    starts = [number for number, line in enumerate(lines) if line.startswith("local ")]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        declared = re.split(r"[(=]", lines[start].removeprefix("local ").removeprefix("function "))[0]
        yield words(declared), "".join(lines[start:end])


def words(lua):
    bare = re.sub(r"""--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\"""", "", lua)
    return set(re.findall(r"(?<![.\w])[A-Za-z_]\w*|(?<=\.\.)[A-Za-z_]\w*", bare))


class Filler:
    """Adds jobs to the queue of a Redis."""

    def __init__(self, redis):
        self.client = redis.client
        self.sha = self.client("SCRIPT", "LOAD", script())

    def add(self, kind, count, tenants=1, first=0):
        """So many `waiting` or `dead` jobs, numbered from `first` on, of so many tenants in turn."""
        for start in range(first, first + count, STEP):
            many = min(STEP, first + count - start)
            self.client("EVALSHA", self.sha, 1, PREFIX + "in", PREFIX, EVENTS_MAX, DONE_MAX, start, many, kind, tenants,
                        EDIT)

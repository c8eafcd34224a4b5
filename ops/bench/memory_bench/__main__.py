"""Runs the cases and prints a table; see ops/bench/memory."""

import argparse
import os
import subprocess
import sys

import memory_group
import tidy_end
from mixed import mixed
from peers import peers
from photos import Photos
from single import gigapixel, photo, sample, tiff, turn
from table import is_met, markdown

CASES = {case.__name__: case for case in (photo, gigapixel, turn, tiff, mixed, peers)}
EXTRA = {"sample": sample}
PREAMBLE = """\
# What renders take in memory
`{command}`, at commit {commit}, on {cores} cores with {memory:.0f} GB, load {load:.1f} before. What is measured and how: `ops/bench/memory --help`.
"""


def main():
    tidy_end.on_signals()
    given = arguments()
    if reason := memory_group.why_not():
        print(f"memory: skipped: {reason}")
        return 0
    photos, rows, load = Photos(given.folder, given.photo), [], os.getloadavg()[0]
    for name in given.only or CASES:
        for row in {**CASES, **EXTRA}[name](given, photos):
            rows.append(row)
            print(markdown([row]).splitlines()[-1], file=sys.stderr, flush=True)
    text = PREAMBLE.format(command=command(given), commit=commit(), cores=os.cpu_count(), load=load,
                           memory=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9)
    text += "\n" + markdown(rows) + "\n"
    print(text)
    if given.write:
        with open(given.write, "w") as file:
            file.write(text)
    # Peers have no goals: what they cannot do is a result.
    missed = [row.name for row in rows if row.goals and not is_met(row)]
    return 1 if missed else 0


def arguments():
    parser = argparse.ArgumentParser(prog="ops/bench/memory")
    for name in ("minilab", "limit", "photo", "folder"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--only", action="append", default=[], choices=[*CASES, *EXTRA])
    parser.add_argument("--write")
    parser.add_argument("--peer-memory", type=int, default=6 << 30)
    given = parser.parse_args()
    given.folder = os.path.abspath(given.folder)
    return given


def command(given):
    return " ".join(["ops/bench/memory"] + [word for name in given.only for word in ("--only", name)])


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()


sys.exit(main())

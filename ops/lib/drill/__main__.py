"""Plays the drills of the runbook; see ops/drill."""

import argparse
import os
import sys
import tempfile
import time
import traceback

import tidy_end
from drills import REASONS, Unable, load
from drill_site import Site
from runbook import Runbook

JOURNAL_LINES_MAX = 15


def main():
    tidy_end.on_signals()
    given = arguments()
    drills = load()
    unknown = set(given.names) - drills.keys()
    if unknown:
        print(f"drill: there is no drill {', '.join(sorted(unknown))}; --list names them", file=sys.stderr)
        return 64
    wanted = [drills[name] for name in given.names or drills]
    if given.short:
        wanted = [drill for drill in wanted if drill.SHORT]
    if given.list:
        for drill in wanted:
            print(f"{drill.NAME:24} {drill.SEE}\n{'':24} {drill.__doc__}")
        for see, reason in REASONS.items():
            print(f"{'no drill':24} {see}\n{'':24} {reason}")
        return 0
    began = time.monotonic()
    failed = [drill.NAME for drill in wanted if not passes(drill, given.bin)]
    print(f"{len(wanted)} drills in {time.monotonic() - began:.0f} s", flush=True)
    if failed:
        print(f"drill: failed: {' '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def passes(drill, binaries):
    print(f"== {drill.SEE} ({drill.NAME})\n  {drill.__doc__}", flush=True)
    book = Runbook()
    row = next(row for row in book.rows if row.see == drill.SEE)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="minilab-drill-", ignore_cleanup_errors=True) as folder:
        site = Site(binaries, folder, book.words_for(row, drill.ALSO))
        try:
            drill.drill(site)
        except Unable as reason:
            print(f"  left out here: {reason}", flush=True)
            return True
        except Exception as error:  # whatever it is, the other drills are worth playing
            tell(error, site)
            return False
        finally:
            site.end()
    print(f"  ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def tell(error, site):
    for frame in traceback.extract_tb(error.__traceback__):
        if "/symptoms/" in frame.filename:
            print(f"  {os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}", file=sys.stderr)
    print(f"  FAILED: {type(error).__name__}: {error}", file=sys.stderr)
    for name in sorted(os.listdir(site.journals)):
        with open(f"{site.journals}/{name}", errors="replace") as file:
            for line in file.readlines()[-JOURNAL_LINES_MAX:]:
                print(f"  {name}: {line.rstrip()[:400]}", file=sys.stderr)
    sys.stderr.flush()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--bin")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

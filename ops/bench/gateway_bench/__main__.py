"""Measures the gateway's load goals; called by ops/bench/gateway, which says what it prints."""

import argparse
import os
import pathlib
import time

import hostile
import looks
import members
import mixed
import posts
import streams
import table
import transfers

MEASUREMENTS = {
    "post": posts.measure,
    "members": members.measure,
    "streams": streams.measure,
    "transfers": transfers.measure,
    "mixed": mixed.measure,
    "looks": looks.measure,
    "hostile": hostile.measure,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", default=[], choices=list(MEASUREMENTS))
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--bare", help="the bare server, for the case post")
    given = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before.", flush=True)
    rows = []
    for name in given.only or MEASUREMENTS:
        start = time.monotonic()
        found = MEASUREMENTS[name](given)
        rows += found
        for row in found:
            print(f"{name} ({time.monotonic() - start:.0f} s): {row.name}: {row.seen}; goal {row.goal}", flush=True)
    print(f"\n{table.markdown(rows)}")
    if given.write:
        table.write(given.write, rows)


if __name__ == "__main__":
    main()

"""Runs the programs of two releases on one queue, in both orders; see ops/checks/upgrade."""

import argparse
import collections
import os
import secrets
import sys
import tempfile
import time

import tidy_end
from releases import Fault, Release, in_order
from steps import play
from upgrade_rig import UpgradeRig
from verdict import judged


def main():
    tidy_end.on_signals()
    options = read_options()
    try:
        here, other = Release("here", options.here), Release("other", options.other)
        older, newer = in_order(here, other)
    except Fault as fault:
        sys.exit(f"upgrade: {fault}")
    print(f"upgrade: {here}\nupgrade: {other}\nupgrade: seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="minilab-upgrade-")
    seen, failures = collections.Counter(), 0
    for first, second in ((older, newer), (newer, older)):
        rig = UpgradeRig(
            (first, second), first.minilab, f"{folder}/{first.name}-first", f"{options.seed}/{first.name}", lambda count: count)
        failures += not is_well(rig, options.raised, seen)
    if not os.listdir(folder):
        os.rmdir(folder)
    print(f"upgrade: 2 orders, {failures} failed: {', '.join(f'{number} {what}' for what, number in seen.items())}", flush=True)
    sys.exit(1 if failures else 0)


def is_well(rig, is_raised, seen):
    """Plays one order and judges it as chaos does; adds to what was seen."""
    first, second = rig.releases
    started = time.monotonic()
    found, numbers = judged(rig, lambda rig: play(rig, first, second))
    if is_raised and not found and rig.left == 0:
        found.append("no job was left to the later release, though it was built to write such jobs")
    if numbers:
        seen.update({"jobs": numbers["jobs"], "jobs left to the later release": rig.left, "programs refused": rig.refusals})
        seen.update({f"versions of render {number}": count for number, count in sorted(rig.made.items())})
    print(
        f"upgrade: {first.name}, {second.name}, {first.name}: {'failed' if found else 'ok'} ({time.monotonic() - started:.0f} s)", flush=True)
    for sentence in [*found, *rig.remarks]:
        print(f"upgrade:   {sentence}", file=sys.stderr, flush=True)
    if found:
        print(f"upgrade:   logs: {rig.folder}", file=sys.stderr, flush=True)
    return not found


def read_options():
    parser = argparse.ArgumentParser(prog="ops/checks/upgrade")
    parser.add_argument("--here", required=True)
    parser.add_argument("--other", required=True)
    parser.add_argument("--raised", action="store_true", help="the other set has numbers raised by raise_numbers.py")
    parser.add_argument("--seed", default=secrets.token_hex(4))
    return parser.parse_args()


main()

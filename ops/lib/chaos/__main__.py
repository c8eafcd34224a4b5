"""Runs scenarios and judges each; see ops/chaos."""

import argparse
import json
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import time

import tidy_end
from scenarios import SCENARIOS, Skipped, families
from table import FAILED, Row, markdown, merged, text_of
from verdict import judged

SHORT_PART = 0.3
RUNS = "runs.json"


def main():
    tidy_end.on_signals()
    options = read_options()
    folder = tempfile.mkdtemp(prefix="minilab-chaos-")
    print(f"chaos: seed {options.seed}", flush=True)
    rows, kept = [], []
    runs = os.path.join(os.path.dirname(options.write), RUNS) if options.write else None
    if runs and os.path.exists(runs):
        with open(runs) as file:
            kept = json.load(file)
    for scenario in options.scenarios:
        rows.append(run(scenario, options, folder))
        records = merged(rows, kept, [scenario.name for scenario in SCENARIOS])
        if options.write:
            # After each, so that a run that is cut short has something to show.
            for path, text in [(runs, text_of(records)), (options.write, markdown(records, families()))]:
                with open(path, "w") as file:
                    file.write(text)
    if not options.write and not options.short:
        print("\n" + text_of(records))
    if not os.listdir(folder):
        os.rmdir(folder)
    failures = sum(row.result == FAILED for row in rows)
    print(f"chaos: {len(rows)} scenarios, {failures} failed, "
          f"{sum(row.result.startswith('skipped') for row in rows)} skipped")
    sys.exit(1 if failures else 0)


def run(scenario, options, folder):
    started = time.monotonic()
    conditions = {"seed": options.seed, "commit": options.commit, "load": round(os.getloadavg()[0]), "machine": machine()}
    rig = scenario.rig(options.minilab, os.path.join(folder, scenario.name), f"{options.seed}/{scenario.name}",
                       lambda count: max(1, round(count * options.part)))
    found, numbers, result = [], None, "ok"
    try:
        found, numbers = judged(rig, scenario.run, scenario.server_may_lose)
    except Skipped as reason:
        result = f"skipped: {reason}"
    if found:
        result = FAILED
    seconds = time.monotonic() - started
    print(f"chaos: {scenario.name}: {result} ({seconds:.1f} s)", flush=True)
    for complaint in found:
        print(f"chaos:   {complaint}", file=sys.stderr)
    for remark in rig.remarks:
        print(f"chaos:   {remark}", flush=True)
    if found:
        print(f"chaos:   logs: {rig.folder}", file=sys.stderr, flush=True)
    return Row(scenario, result, found + rig.remarks, numbers, seconds, conditions)


def read_options():
    parser = argparse.ArgumentParser(prog="ops/chaos")
    parser.add_argument("--minilab", required=True)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--part", type=float)
    parser.add_argument("--write")
    options = parser.parse_args()
    names = [scenario.name for scenario in SCENARIOS]
    for name in options.only:
        if name not in names:
            parser.error(f"there is no scenario {name}; there are: {', '.join(names)}")
    options.commit = subprocess.run(["git", "log", "-1", "--format=%h"], capture_output=True, text=True, check=True).stdout.strip()
    options.part = options.part or (SHORT_PART if options.short else 1)
    options.scenarios = [
        scenario for scenario in SCENARIOS
        if (scenario.name in options.only if options.only else scenario.is_short or not options.short)]
    return options


def machine():
    server = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout
    version = next(word[2:] for word in server.split() if word.startswith("v="))
    return f"Redis {version}, {os.cpu_count()} cores, {platform.system()} {platform.release().partition('-')[0]}"


main()

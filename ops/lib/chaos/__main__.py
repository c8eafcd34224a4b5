"""Runs scenarios and judges each; see ops/chaos."""

import argparse
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import time

import tidy_end
from scenarios import SCENARIOS, Skipped
from table import Row, kept_lines, markdown
from verdict import complaints, settle

SHORT_PART = 0.3
FAILED = "**failed**"


def main():
    tidy_end.on_signals()
    options = read_options()
    folder = tempfile.mkdtemp(prefix="minilab-chaos-")
    print(f"chaos: seed {options.seed}", flush=True)
    rows, kept = [], {}
    if options.write and os.path.exists(options.write):
        with open(options.write) as file:
            kept = kept_lines(file.read())
    for scenario in options.scenarios:
        rows.append(run(scenario, options, folder))
        text = markdown(rows, facts(), kept, [scenario.name for scenario in SCENARIOS])
        if options.write:
            # After each, so that a run that is cut short has something to show.
            with open(options.write, "w") as file:
                file.write(text)
    if not options.write and not options.short:
        print("\n" + text)
    if not os.listdir(folder):
        os.rmdir(folder)
    failures = sum(row.result == FAILED for row in rows)
    print(f"chaos: {len(rows)} scenarios, {failures} failed, "
          f"{sum(row.result.startswith('skipped') for row in rows)} skipped")
    sys.exit(1 if failures else 0)


def run(scenario, options, folder):
    started, conditions = time.monotonic(), f"{options.seed}, {options.commit}, load {os.getloadavg()[0]:.0f}"
    rig = scenario.rig(options.minilab, os.path.join(folder, scenario.name), f"{options.seed}/{scenario.name}",
                       lambda count: max(1, round(count * options.part)))
    found, numbers, result = [], None, "ok"
    try:
        scenario.run(rig)
        status = settle(rig, scenario.server_may_lose)
        found = rig.end_workers()
        sentences, numbers = complaints(rig, status, scenario.server_may_lose)
        found += sentences
    except Skipped as reason:
        result = f"skipped: {reason}"
    except subprocess.CalledProcessError as error:
        found.append(f"{' '.join(error.cmd)} exited with {error.returncode}; {rig.folder}/commands.log")
    except Exception as error:  # whatever it is, it is this scenario's result
        found.append(f"{type(error).__name__}: {error}")
    finally:
        rig.close(keep=bool(found))
    if found:
        result = FAILED
    seconds = time.monotonic() - started
    print(f"chaos: {scenario.name}: {result.strip('*')} ({seconds:.1f} s)", flush=True)
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


def facts():
    server = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout
    version = next(word[2:] for word in server.split() if word.startswith("v="))
    return f"Redis {version}, {os.cpu_count()} cores, {platform.system()} {platform.release().partition('-')[0]}."


main()

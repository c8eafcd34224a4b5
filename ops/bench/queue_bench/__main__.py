"""Measures Minilab's queue and others side by side; called by ops/bench/queue, which says what it prints."""

import argparse
import os
import platform
import subprocess

import fleet
import life
import million
import pickup
import recovery
import shares
import waiting
from minilab import EVENTS_MAX, Minilab
from peer import peers

ROUNDS = 3
WAITING_JOBS = 100_000
PICKUPS = 200
RECOVERY_SECONDS_MAX = 60
MILLION = 1_000_000
WORKERS = 16


def job_count(text):
    if not text.isdecimal() or not 1 <= int(text) <= EVENTS_MAX:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {EVENTS_MAX}")
    return int(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=job_count, required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--minilab", required=True)
    parser.add_argument("--environments", help="the folder of the peers' environments; without it they are left out")
    given = parser.parse_args()

    ours = Minilab(given.minilab)
    systems = [ours, *(peers(given.environments) if given.environments else ())]
    wanted = [word.lower() for word in given.only]
    chosen = [system for system in systems if any(word in system.name.lower() for word in wanted)]
    with_peers = chosen or systems
    measurements = {
        "life": lambda: life.measure(with_peers, given.jobs, ROUNDS),
        "waiting": lambda: waiting.measure(with_peers, WAITING_JOBS, 1),
        "pickup": lambda: pickup.measure(with_peers, PICKUPS),
        "recovery": lambda: recovery.measure(with_peers, RECOVERY_SECONDS_MAX),
        "million": lambda: million.measure(ours, MILLION),
        "shares": lambda: shares.measure(ours, given.jobs, WORKERS),
        "fleet": lambda: fleet.measure(ours),
    }
    unknown = [word for word in wanted if word not in measurements and not any(word in s.name.lower() for s in systems)]
    if unknown:
        parser.error(f"--only {unknown[0]} is neither of {', '.join(measurements)} nor a system")
    named = [name for name in measurements if name in wanted] or list(measurements)
    version = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True)
    print(f"One worker process each; {version.stdout.split()[2]}, AOF everysec, unix socket; Python")
    print(f"{platform.python_version()}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before.")
    for name in named:
        measurements[name]()


if __name__ == "__main__":
    main()

"""Very many workers on one Redis: what they cost it when idle and when busy, and how soon one of them begins a job."""

import json
import resource
import subprocess

import server
import table

WORKERS = 1000
CONNECTIONS = 5  # of a worker; all of them are in one process
SECONDS_MAX = 300


def measure(minilab):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    workers = min(WORKERS, (most - 500) // CONNECTIONS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with server.Server() as redis:
        done = subprocess.run(
            [f"{minilab.program}-bench", "fleet", "--redis", f"unix://{redis.socket}", "--workers", str(workers)],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
    if done.returncode != 0:
        raise SystemExit(f"minilab-bench fleet: exit {done.returncode}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout)
    table.show(
        f"{workers:,} workers of 2 slots in one process, jobs of 2 s",
        [
            ("idle: Redis, % of a core", 1, None),
            ("busy: the same", 1, None),
            ("busy: jobs/s", 0, None),
            ("Redis µs/job", 0, None),
            ("XADD to start, p50 ms", 1, None),
            ("p99 ms", 1, None),
        ],
        {
            "Minilab": (
                100 * found["idleShare"],
                100 * found["busyShare"],
                found["busyJobsPerSecond"],
                1e6 * found["busyShare"] / found["busyJobsPerSecond"],
                found["pickupP50Milliseconds"],
                found["pickupP99Milliseconds"],
            )
        },
    )

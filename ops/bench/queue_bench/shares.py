"""Goal row 8: many workers on one Redis: is it Redis that limits them, and does each get its share."""

import collections
import time

import minilab as ours
import server
import table

SLOTS = 16
TAIL = 0.05  # left out at the beginning and the end, where not all work
CONNECT_SECONDS_MAX = 60


def measure(minilab, jobs, workers):
    with server.Server() as redis:
        with minilab.workers(redis, workers, SLOTS):
            wait_for_clients(redis, workers)
            before = redis.cpu_seconds()
            start = time.monotonic()
            minilab.enqueue(redis, jobs)
            ours.wait_until_done(redis, jobs)
            busy = (redis.cpu_seconds() - before) / (time.monotonic() - start)
        events = sorted(ours.completed(redis), key=lambda event: event["ended"])
    if len({event["job"] for event in events}) != jobs or len(events) != jobs:
        raise SystemExit(f"{workers} workers did not run {jobs} jobs once each: {len(events)} events")
    middle = events[int(jobs * TAIL) : int(jobs * (1 - TAIL))]
    done = collections.Counter(event["worker"] for event in middle)
    fair = len(middle) / workers
    rate = len(middle) / (middle[-1]["ended"] - middle[0]["ended"])
    table.show(
        f"{workers} workers of {SLOTS} slots on one Redis ({jobs:,} no-op jobs, enqueued while they work)",
        [("jobs/s", 0, None), ("Redis, % of a core", 0, None), ("least share %", 1, None), ("most share %", 1, None)],
        {"Minilab": (rate, 100 * busy, 100 * min(counts(done, workers)) / fair, 100 * max(done.values()) / fair)},
        "A share of 100 % is the same number of jobs for each worker.",
    )


def counts(done, workers):
    """Of all workers: one that got nothing is in no event."""
    return list(done.values()) + [0] * (workers - len(done))


def wait_for_clients(redis, workers):
    """Until each worker waits for work: its bell blocks."""
    deadline = time.monotonic() + CONNECT_SECONDS_MAX
    while redis.client.info("clients")["blocked_clients"] < workers:
        if time.monotonic() > deadline:
            raise SystemExit(f"not all of {workers} workers were waiting for work after {CONNECT_SECONDS_MAX} s")
        time.sleep(0.05)

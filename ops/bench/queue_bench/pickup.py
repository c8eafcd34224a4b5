"""Goal row 5: from a single enqueue in another process to the start of the job, when all is idle."""

import random
import time

import server
import table

WARM_UP = 3  # first jobs load scripts and code
PAUSE_SECONDS = 0.02


def measure(systems, count):
    rows = {}
    for system in systems:
        with server.Server() as redis, system.picker(redis) as pick:
            waits = sorted(one_at_a_time(pick, count, system.polls_seconds))
        rows[system.name] = (quantile(waits, 0.5), quantile(waits, 0.99), waits[-1])
    table.show(
        f"Pick-up when idle ({count} single enqueues; of Minilab's, to the event of the job's end)",
        [("p50 ms", 2, "less"), ("p99 ms", 2, "less"), ("most ms", 2, None)],
        rows,
    )


def one_at_a_time(pick, count, polls_seconds):
    """Milliseconds. The pause is random, so that it meets a poller at any moment of its round."""
    chance = random.Random(5)
    waits = []
    for _ in range(WARM_UP + count):
        time.sleep(chance.uniform(PAUSE_SECONDS / 2, PAUSE_SECONDS + polls_seconds))
        waits.append(pick() * 1e3)
    return waits[WARM_UP:]


def quantile(values, share):
    return values[min(len(values) - 1, round(share * (len(values) - 1)))]

"""Goal row 5: from a single enqueue in another process to the start of the job, when all is idle."""

import random
import time

import rounds
import server
import table

WARM_UP = 3  # first jobs load scripts and code
PAUSE_SECONDS = 0.02


def measure(systems, count):
    def once(system):
        with server.Server() as redis, system.picker(redis) as pick:
            waits = one_at_a_time(pick, count, system.polls_seconds)
        starts = sorted(wait[0] for wait in waits)
        ends = sorted(wait[1] for wait in waits if len(wait) > 1)
        return (
            quantile(starts, 0.5),
            quantile(starts, 0.99),
            starts[-1],
            quantile(ends, 0.99) if ends else "",
        )

    table.show(
        f"Pick-up when idle: from an enqueue to the job's start ({count} single enqueues)",
        [("p50 ms", 2, "less"), ("p99 ms", 2, "less"), ("most ms", 2, None), ("p99 ms to its last event", 2, None)],
        rounds.without_failures(systems, once),
    )


def one_at_a_time(pick, count, polls_seconds):
    """Milliseconds to the start, and to the last event where it is known. The pause is random, so that it meets a poller at any moment of its round."""
    chance = random.Random(5)
    waits = []
    for _ in range(WARM_UP + count):
        time.sleep(chance.uniform(PAUSE_SECONDS / 2, PAUSE_SECONDS + polls_seconds))
        waits.append([seconds * 1e3 for seconds in pick()])
    return waits[WARM_UP:]


def quantile(values, share):
    return values[min(len(values) - 1, round(share * (len(values) - 1)))]

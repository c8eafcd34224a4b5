"""Goal row 7: commands on a queue of a million jobs."""

import statistics

import server
import table

RUNS = 5
COMMANDS = [["status"], ["top", "--once"]]


def measure(minilab, jobs):
    with server.Server() as redis:
        minilab.enqueue(redis, jobs)
        per_job = redis.bytes_of_data() / jobs
        rows = {}
        for words in COMMANDS:
            times = [minilab.command(redis, *words)[1] * 1e3 for _ in range(RUNS)]
            rows["minilab " + " ".join(words)] = (statistics.median(times), max(times))
    table.show(
        f"Commands with {jobs:,} jobs queued, {per_job:.0f} bytes each ({RUNS} runs, start of the process included)",
        [("median ms", 0, None), ("most ms", 0, None)],
        rows,
    )

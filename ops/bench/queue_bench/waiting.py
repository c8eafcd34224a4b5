"""Goal rows 3 and 4: how fast jobs are enqueued in bulk, and what each holds in Redis while it waits."""

import rounds
import server
import table


def measure(systems, jobs, repeats):
    def once(system):
        with server.Server() as redis:
            before, cpu = redis.bytes_of_data(), redis.cpu_seconds()
            seconds = system.enqueue(redis, jobs)
            cpu = redis.cpu_seconds() - cpu
            return jobs / seconds, (redis.bytes_of_data() - before) / jobs, cpu / jobs * 1e6

    table.show(
        f"Bulk enqueue and memory while waiting ({jobs:,} jobs of a path and a recipe's name, median of {repeats})",
        [("jobs/s", 0, "more"), ("bytes/job", 0, "less"), ("Redis µs/job", 1, "less")],
        rounds.interleaved(systems, repeats, once),
    )

"""Goal rows 1 and 2: jobs that do nothing, from enqueueing to their end, in one worker process."""

import rounds
import server
import table


def measure(systems, jobs, repeats):
    def once(system):
        share = max(1, jobs // system.slowness)
        with server.Server() as redis:
            before = redis.cpu_seconds()
            system.enqueue(redis, share)
            enqueued = redis.cpu_seconds()
            seconds = system.work(redis, share)
            after = redis.cpu_seconds()
            return share / seconds, (after - before) / share * 1e6, (enqueued - before) / share * 1e6

    found = rounds.interleaved(systems, repeats, once)
    table.show(
        f"Full life of no-op jobs, one worker process ({jobs:,} jobs, median of {repeats}; each ran exactly once)",
        [("jobs/s", 0, "more"), ("Redis µs/job", 1, "less"), ("of it to enqueue", 1, None)],
        found,
        slower(systems),
    )


def slower(systems):
    names = [f"{system.name} 1/{system.slowness}" for system in systems if system.slowness > 1]
    return f"With a part of the jobs, to save time: {', '.join(names)}." if names else ""

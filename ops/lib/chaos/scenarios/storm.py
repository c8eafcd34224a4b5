"""All at once, for long."""

from scenarios.registry import scenario

JOBS = 100_000
LOST_PART = 0.05
WORKERS = 3


@scenario("storm", f"{JOBS:,} jobs; workers are killed at random times until {LOST_PART:.0%} of the jobs have lost "
          "theirs")
def storm(rig):
    rig.start_server()
    jobs = rig.size(JOBS)
    rig.send(jobs)
    workers = [rig.worker(slots=128, work_ms=100) for _ in range(WORKERS)]
    kills = 0
    # A claim that no heartbeat has confirmed yet is void, and no crash; many are, of jobs that take 100 ms.
    while sum(rig.status()["counters"].get(name, 0) for name in ("crashed", "voided")) < jobs * LOST_PART:
        rig.pause(0.1, 0.8)
        index = rig.random.randrange(WORKERS)
        rig.kill(workers[index])
        workers[index] = rig.worker(slots=128, work_ms=100)
        kills += 1
        if rig.published() >= jobs * 0.97:
            raise AssertionError(f"the batch was over after {kills} kills, too early")

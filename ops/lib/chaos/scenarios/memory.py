"""A Redis that is full."""

import signal

from resp import RedisError
from scenarios.registry import scenario


@scenario("memory-full", "Redis is at maxmemory: it refuses producers, and workers end all jobs that it has taken in")
def memory_full(rig):
    server = rig.start_server()
    rig.send(rig.size(1500))
    workers = [rig.worker(slots=4, work_ms=5) for _ in range(2)]
    rig.wait_for_effects(50)
    # Some entries are to be in the stream and not yet jobs when it is full.
    for worker in workers:
        worker.signal(signal.SIGSTOP)
    rig.send(rig.size(1500))
    server("CONFIG", "SET", "maxmemory", 1)
    for worker in workers:
        worker.signal(signal.SIGCONT)
    try:
        server("XADD", "minilab:{photos}:in", "*", "id", "refused", "asset", "a.jpg", "edit", "{}")
        raise AssertionError("a full Redis took a job")
    except RedisError as error:
        assert "OOM" in str(error), error
    rig.wait_until_drained(but="incoming")
    assert rig.status()["incoming"] > 0, "all entries were jobs before the server was full"
    server("CONFIG", "SET", "maxmemory", 0)

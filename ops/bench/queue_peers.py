"""Runs the same number of jobs that do nothing through Minilab's queue, RQ and arq.

Called by ops/bench/queue. Each queue gets a Redis of its own with the same settings, one after the
other, and one worker process. A peer's part runs in a process of its own (`--part`), so that what
it imports and keeps in memory is not in the next one's way.
"""

import argparse
import asyncio
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

SECONDS_MAX = 900  # longest a single queue may take
REDIS_STARTS_SECONDS_MAX = 10


class Server:
    """A Redis of its own in a temporary folder; gone at the end."""

    def __enter__(self):
        import redis

        self.folder = tempfile.TemporaryDirectory(prefix="minilab-bench-")
        self.socket = f"{self.folder.name}/redis.sock"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder.name]
            + ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""]
            + ["--maxmemory-policy", "noeviction"],
            stdout=subprocess.DEVNULL,
        )
        client = redis.Redis(unix_socket_path=self.socket)
        deadline = time.monotonic() + REDIS_STARTS_SECONDS_MAX
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    self.__exit__()
                    raise
                time.sleep(0.02)  # nothing announces that the socket is there
        self.client = client
        return self

    def cpu_seconds(self):
        cpu = self.client.info("cpu")
        return cpu["used_cpu_user"] + cpu["used_cpu_sys"]

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)
        self.folder.cleanup()


def run_rq(socket, jobs, worker_class):
    import logging

    import redis
    import rq

    logging.getLogger("rq").setLevel(logging.ERROR)
    connection = redis.Redis(unix_socket_path=socket)
    queue = rq.Queue(connection=connection)
    for _ in range(jobs):
        queue.enqueue("no_ops.nothing")
    worker = getattr(rq, worker_class)([queue], connection=connection)
    start = time.perf_counter()
    worker.work(burst=True, logging_level="ERROR")
    seconds = time.perf_counter() - start
    finished = queue.finished_job_registry.count
    if finished != jobs:
        sys.exit(f"RQ finished {finished} of {jobs} jobs")
    return seconds


def run_arq(socket, jobs, jobs_at_once):
    import logging

    import arq
    import no_ops
    from arq.connections import RedisSettings

    logging.getLogger("arq").setLevel(logging.ERROR)
    settings = RedisSettings(unix_socket_path=socket)

    async def enqueue():
        pool = await arq.create_pool(settings)
        for _ in range(jobs):
            await pool.enqueue_job("nothing_async")
        await pool.aclose()

    asyncio.run(enqueue())
    asyncio.set_event_loop(asyncio.new_event_loop())  # arq asks for the thread's
    worker = arq.Worker(
        [no_ops.nothing_async], redis_settings=settings, burst=True, max_jobs=jobs_at_once, poll_delay=0.01
    )
    start = time.perf_counter()
    worker.run()
    seconds = time.perf_counter() - start
    if worker.jobs_complete != jobs:
        sys.exit(f"arq finished {worker.jobs_complete} of {jobs} jobs")
    return seconds


PEERS = {
    # RQ's own default forks for each job; SimpleWorker does not, as ours and arq.
    "RQ 2.12.0, SimpleWorker": (run_rq, "SimpleWorker", 1),
    "RQ 2.12.0, default (a fork per job)": (run_rq, "Worker", 10),
    "arq 0.28.0, default (10 at once)": (run_arq, 10, 1),
    "arq 0.28.0, 100 at once": (run_arq, 100, 1),
}


def measure_peer(name, jobs):
    with Server() as server:
        before = server.cpu_seconds()
        done = subprocess.run(
            [sys.executable, __file__, "--part", name, "--socket", server.socket, "--jobs", str(jobs)],
            check=True,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        seconds = json.loads(done.stdout.splitlines()[-1])["seconds"]
        return jobs / seconds, (server.cpu_seconds() - before) / jobs * 1e6


def measure_minilab(program, jobs):
    with Server() as server:
        before = server.cpu_seconds()
        done = subprocess.run(
            [program, "bench", "queue", "--redis", f"unix://{server.socket}", "--jobs", str(jobs)],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        if done.returncode != 0:
            sys.exit(f"minilab bench queue failed: {done.stderr}{done.stdout}")
        report = json.loads(done.stdout)
        if report["completedEvents"] != jobs:
            sys.exit(f"minilab bench queue lost jobs: {done.stdout}")
        return report["jobsPerSecond"], (server.cpu_seconds() - before) / jobs * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--minilab")
    parser.add_argument("--part")
    parser.add_argument("--socket")
    given = parser.parse_args()
    if given.part:
        run, option, _ = PEERS[given.part]
        print(json.dumps({"seconds": run(given.socket, given.jobs, option)}))
        return

    version = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True)
    load = os.getloadavg()[0]
    print(f"{given.jobs} jobs that do nothing; one worker process; {version.stdout.split()[2]}, AOF everysec,")
    print(f"unix socket; Python {platform.python_version()} with hiredis; {os.cpu_count()} cores, load {load:.1f} before")
    rows = {"Minilab": measure_minilab(given.minilab, given.jobs)}
    for name, (_, _, divisor) in PEERS.items():
        rows[name] = measure_peer(name, given.jobs // divisor)
    ours = rows["Minilab"]
    print(f"\n{'':38}{'jobs/s':>9}{'ours is':>10}{'Redis µs/job':>14}{'ours is':>10}")
    for name, row in rows.items():
        rate, cost = row
        faster = f"{ours[0] / rate:.1f} ×"
        cheaper = f"{ours[1] / cost:.2f} ×"
        print(f"{name:38}{rate:>9.0f}{faster:>10}{cost:>14.1f}{cheaper:>10}")
    tenth = [name for name, (_, _, divisor) in PEERS.items() if divisor == 10]
    print(f"\n{', '.join(tenth)}: with a tenth of the jobs, to save time.")


if __name__ == "__main__":
    main()

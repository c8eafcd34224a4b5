"""Minilab's own part in each measurement; the methods are those of `peer.Peer`, and some more.

`minilab-bench worker` is a whole worker whose jobs do nothing. When a job was claimed is in its fence:
Redis' clock in microseconds. When it ended is in the id of its event, in milliseconds.
"""

import contextlib
import json
import random
import subprocess
import time

PREFIX = "minilab:{photos}:"
EDIT = '{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}'
CHUNK = 1000  # XADDs of one pipeline
SLOTS = 128  # the no-op jobs of one worker at the same time; the handlers of all of them wait for Redis
EVENTS_MAX = 100_000  # so many events stay in the stream, from which every run is checked
SECONDS_MAX = 900  # longest that one queue of jobs may take
STOPS_SECONDS_MAX = 30  # longest for a single job or a worker's end
RECOVERIES = 3


class Minilab:
    """One worker process, unless a measurement wants more."""

    name = "Minilab"
    slowness = 1
    polls_seconds = 0

    def __init__(self, program, lease_seconds=5):
        self.program = program
        self.lease_seconds = lease_seconds
        self.recovery = f"lease of {lease_seconds} s (default 30 s), looked at each 1 to 1.5 s"

    def enqueue(self, server, jobs):
        """Enqueues so many jobs in bulk, as a batch with one edit; the seconds.

        What any producer can do; `minilab enqueue --file` checks each line as well.
        """
        start = time.perf_counter()
        server.client.xadd(f"{PREFIX}in", {"batch": "bench", "edit": EDIT})
        for first in range(0, jobs, CHUNK):
            pipeline = server.client.pipeline(transaction=False)
            for number in range(first, min(first + CHUNK, jobs)):
                asset = f"2026/11/photo-{number:07}.jpg"
                pipeline.execute_command("XADD", f"{PREFIX}lane:bench", f"1-{number + 1}", "asset", asset)
            pipeline.execute()
        server.client.xadd(f"{PREFIX}in", {"batch": "bench", "seal": jobs})
        return time.perf_counter() - start

    def work(self, server, jobs):
        """Runs all of them in one worker; the seconds from the first claim to the last event."""
        with self.workers(server, 1):
            wait_until_done(server, jobs)
        events = completed(server)
        if len(events) != jobs or len({event["job"] for event in events}) != jobs:
            raise SystemExit(f"Minilab did not run {jobs} jobs once each: {len(events)} events")
        return max(event["ended"] for event in events) - min(event["claimed"] for event in events)

    @contextlib.contextmanager
    def picker(self, server):
        """A function that sends one XADD and gives the seconds until the job's claim, and until its last event."""
        with self.workers(server, 1):
            count, last = 0, "0"

            def pick():
                nonlocal count, last
                count += 1
                sent = time.time()
                server.client.xadd(f"{PREFIX}in", {"asset": f"photo-{count}.jpg", "edit": EDIT})
                answer = server.client.xread({f"{PREFIX}events": last}, block=STOPS_SECONDS_MAX * 1000)
                seen = time.time()
                if not answer:
                    raise SystemExit(f"Minilab did not end a job within {STOPS_SECONDS_MAX} s")
                [(last, fields)] = answer[0][1]  # an idle queue says one thing at a time
                return claimed(json.loads(fields[b"event"])["data"]) - sent, seen - sent

            yield pick

    def recover(self, server, seconds_max):
        """Seconds from the SIGKILL of a worker to the next claim of its job; the longest of some trials."""
        longest = 0
        for trial in range(1, RECOVERIES + 1):
            victim = self.worker(server, "victim", 1, "--work-ms", "3600000")
            server.client.xadd(f"{PREFIX}in", {"asset": f"photo-{trial}.jpg", "edit": EDIT})
            deadline = time.monotonic() + STOPS_SECONDS_MAX
            while not server.client.zcard(f"{PREFIX}lease"):
                if time.monotonic() > deadline:
                    raise SystemExit(f"Minilab did not claim a job within {STOPS_SECONDS_MAX} s")
                time.sleep(0.01)
            time.sleep(random.uniform(0, self.lease_seconds))  # anywhere between two heartbeats
            victim.kill()
            killed = time.time()
            victim.wait()
            with self.workers(server, 1):
                wait_until_done(server, trial, seconds_max)
            longest = max(longest, max(event["claimed"] for event in completed(server)) - killed)
        return longest

    @contextlib.contextmanager
    def workers(self, server, count, slots=SLOTS):
        """So many worker processes, stopped with SIGTERM at the end."""
        running = [self.worker(server, f"w{number}", slots) for number in range(count)]
        try:
            yield running
        finally:
            for worker in running:
                worker.terminate()
            for worker in running:
                worker.wait(timeout=STOPS_SECONDS_MAX)

    def worker(self, server, name, slots=SLOTS, *more):
        return subprocess.Popen(
            [f"{self.program}-bench", "worker", "--redis", f"unix://{server.socket}", "--log-level", "error"]
            + ["--worker-name", name, "--slots", str(slots), "--lease", f"{self.lease_seconds}s", *more],
            stdout=subprocess.DEVNULL,
        )

    def command(self, server, *words):
        """Runs `minilab WORDS`; its output as JSON and the seconds it took, start of the process included."""
        start = time.perf_counter()
        done = subprocess.run(
            [self.program, *words, "--redis", f"unix://{server.socket}", "--json"],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            raise SystemExit(f"minilab {' '.join(words)}: exit {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout), seconds


def wait_until_done(server, jobs, seconds_max=SECONDS_MAX):
    """Until so many jobs have ended well."""
    deadline = time.monotonic() + seconds_max
    while int(server.client.hget(f"{PREFIX}counters", "completed") or 0) < jobs:
        if time.monotonic() > deadline:
            raise SystemExit(f"Minilab did not run {jobs} jobs within {seconds_max} s")
        time.sleep(0.1)  # seldom enough to cost nothing; the times are taken from the events


def completed(server):
    """All `completed` events: job, worker, and the seconds by Redis' clock of its claim and its end."""
    found, since = [], "-"
    while entries := server.client.xrange(f"{PREFIX}events", since, count=10_000):
        for entry, fields in entries:
            event = json.loads(fields[b"event"])
            if event["type"] == "org.minilab.job.completed":
                data = event["data"]
                found.append(
                    {
                        "job": data["job"],
                        "worker": data["worker"],
                        "claimed": claimed(data),
                        "ended": int(entry.split(b"-")[0]) / 1e3,
                    }
                )
        since = b"(" + entries[-1][0]
    return found


def claimed(data):
    """When the job of a `completed` event was claimed, by Redis' clock: its version ends with the claim's fence."""
    return int(data["version"]["id"].split("-")[1]) / 1e6

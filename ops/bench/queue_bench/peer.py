"""Another queue: a program of its own, in its own language and with its own libraries."""

import contextlib
import dataclasses
import json
import pathlib
import select
import subprocess
import tempfile
import time

SECONDS_MAX = 900  # longest that one call of a peer's program may take
START_SECONDS_MAX = 30  # a single job that has not started by then is lost
PEERS = pathlib.Path(__file__).parent / "peers"


class PeerFailed(Exception):
    """A peer lost or doubled a job, or its program ended badly: it is told, and left out of the table."""


@dataclasses.dataclass
class Peer:
    """`peers/program.py` says what its program does.

    slowness        its share of the jobs is the jobs divided by this, to save time
    polls_seconds   how long it waits between two looks when it is idle; 0 when Redis wakes it
    recovery        its own words on a worker that is killed, with its defaults
    """

    name: str
    command: list
    slowness: int
    polls_seconds: float
    recovery: str

    def enqueue(self, server, jobs):
        """Enqueues so many jobs in bulk; the seconds."""
        return self._call(server, "enqueue", jobs)["seconds"]

    def work(self, server, jobs):
        """Runs all of them in one process; the seconds. Fails when one is lost or doubled."""
        report = self._call(server, "work", jobs)
        if report["effects"] != jobs or report["distinct"] != jobs:
            raise PeerFailed(f"{self.name} did not run {jobs} jobs once each: {report}")
        return report["seconds"]

    @contextlib.contextmanager
    def picker(self, server):
        """A function that enqueues one job and gives the seconds until it starts in an idle worker, alone in a tuple."""
        with self._worker(server) as worker, self._producer(server) as producer:

            def pick():
                say(producer, "stamp")
                ready, _, _ = select.select([worker.stdout], [], [], START_SECONDS_MAX)
                if not ready:
                    raise PeerFailed(f"{self.name} did not start a job within {START_SECONDS_MAX} s")
                return (json.loads(worker.stdout.readline())["waitedNanoseconds"] / 1e9,)

            yield pick

    def recover(self, server, seconds_max):
        """Seconds from the SIGKILL of a worker to the next start of its job; None when it never came."""
        with tempfile.TemporaryDirectory() as folder, self._producer(server) as producer:
            ledger = pathlib.Path(folder) / "starts"
            with self._worker(server):
                say(producer, f"hang {ledger}")
                if start_of(ledger, 1, START_SECONDS_MAX) is None:
                    raise PeerFailed(f"{self.name} did not start a job within {START_SECONDS_MAX} s")
            killed = time.monotonic()
            with self._worker(server):
                again = start_of(ledger, 2, seconds_max)
                return None if again is None else again - killed

    def _worker(self, server):
        """A worker until it is killed; it prints a line for each stamp."""
        return self._running(server, "stand", stdout=subprocess.PIPE)

    def _producer(self, server):
        """A producer: `stamp` or `hang FILE` on its input sends that job."""
        return self._running(server, "send", stdin=subprocess.PIPE)

    @contextlib.contextmanager
    def _running(self, server, action, **pipes):
        process = subprocess.Popen(
            [*self.command, server.socket, action], text=True, stderr=subprocess.DEVNULL, **pipes
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def _call(self, server, action, jobs):
        done = subprocess.run(
            [*self.command, server.socket, action, str(jobs)],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        if done.returncode != 0:
            raise PeerFailed(f"{self.name}, {action}: exit {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def start_of(ledger, number, seconds_max):
    """When the ledger's line of that number was written, by the monotonic clock; None when it never came."""
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        lines = ledger.read_text().splitlines() if ledger.exists() else []
        if len(lines) >= number:
            return float(lines[number - 1])
        time.sleep(0.05)
    return None


def peers(environments):
    """All of them; `environments` holds one Python environment for each Python peer."""

    def python(name):
        return [f"{environments}/{name}/bin/python", str(PEERS / f"{name}_peer.py")]

    return [
        Peer("Sidekiq 6.4.1", ["ruby", str(PEERS / "sidekiq_peer.rb")], 1, 0, "never: BRPOP took the job out of Redis"),
        Peer("arq 0.28.0", python("arq"), 2, 0.5, "after the job's timeout, 300 s + 10 s"),
        Peer("SAQ 0.26.4", python("saq"), 2, 0, "a sweep each 60 s finds jobs past their timeout of 10 s; only with retries"),
        Peer("BullMQ-py 3.4.4", python("bullmq"), 4, 0, "lock 30 s, looked at each 30 s"),
        Peer("RQ 2.12.0", python("rq"), 10, 0, "maintenance each 10 min, and then only with retries"),
    ]

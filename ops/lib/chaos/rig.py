"""What a scenario works with: a queue, a producer, workers, and the account of what they did."""

import collections
import json
import os
import random
import shutil
import signal
import subprocess
import time

from processes import Child, eventually
from resp import RedisError
from servers import Server

SEND_AT_ONCE = 500
SEND_SECONDS_MAX = 60
COMMAND_SECONDS_MAX = 600  # all events of a long run are many
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30
STATUS_TRIES_MAX = 5
DRAIN_SECONDS_MAX = 900
# The counts of `minilab status --json` that no worker goes on with.
AT_REST = ("dead", "stuck")


class Rig:
    # As short as the settings allow, so that many leases run out in little time.
    LEASE = "1s"
    # The storm is not about poison: a job may lose many workers here. The whole account of a scenario has to be
    # readable at its end: nothing is trimmed.
    SETTINGS = {"crashes.max": 100, "carries.max": 100, "retry.base": "10ms", "keep.events": 10_000_000, "keep.records": 10_000_000}

    def __init__(self, minilab, folder, seed, size):
        self.minilab, self.folder, self.size = minilab, folder, size
        self.random = random.Random(seed)
        self.server = None
        self.workers = []
        self.names = collections.Counter()
        self.assets = {}  # what was sent: job → asset
        self.resent = 0
        self.ends = []  # things to stop, last first
        # Jobs that remake files: where a worker dies between the last file and its commit, the next attempt finds none gone.
        self.may_be_unchanged = set()
        self.remarks = []  # sentences about what was seen, for below the table
        self.ledger = f"{folder}/ledger"
        os.makedirs(self.ledger)
        self.settings = self.settings_with({})

    def settings_with(self, more):
        """Writes the file of settings for workers that start from now on; gives its name."""
        path = f"{self.folder}/settings.json"
        with open(path, "w") as file:
            json.dump({**self.SETTINGS, **more}, file)
        return path

    # Servers

    def start_server(self, make=Server, *arguments, **options):
        self.server = make(f"{self.folder}/server", *arguments, **options)
        self.ends.append(self.server.end)
        return self.server

    # Workers

    def worker(self, name="w", slots=4, work_ms=5, stop_at=None, url=None, lease=None, prefix=()):
        """Starts a worker process; its name gets a number."""
        name = self.numbered(name)
        return self.started(
            name,
            [*prefix, f"{self.minilab}-bench", "worker", "--redis", url or self.server.url,
             "--settings", self.settings, "--lease", lease or self.LEASE, "--slots", str(slots),
             "--worker-name", name, "--ledger", self.ledger, "--work-ms", str(work_ms)],
            {**self.server.login("worker"), **({"MINILAB_TEST_STOP_AT": stop_at} if stop_at else {})})

    def numbered(self, name):
        self.names[name] += 1
        return f"{name}{self.names[name]}"

    def started(self, name, command, environment):
        child = Child(command, f"{self.folder}/{name}.log", environment)
        self.workers.append(child)
        return child

    def wait_for_workers(self):
        """Waits until each has found its server good: one that finds none at its start ends and says so."""
        for worker in self.workers:
            eventually(f"{worker.log}: worker starts", lambda: worker.has_said("worker starts"), START_SECONDS_MAX)

    def kill(self, worker):
        worker.kill()
        self.workers.remove(worker)

    def end_workers(self):
        """Stops them in good order; gives complaints about those that did not obey or died before."""
        complaints = []
        for worker in self.workers:
            if not worker.is_running:
                complaints.append(f"{worker.log}: ended by itself with {worker.process.returncode}")
            elif (code := worker.end(STOP_SECONDS_MAX)) not in (0, -signal.SIGTERM):
                complaints.append(f"{worker.log}: SIGTERM ended it with {code}")
        self.workers = []
        return complaints

    # Producer

    def send(self, count):
        """Sends new jobs: every seventh edits the asset of another one, every fiftieth fails until replayed."""
        first = len(self.assets)
        jobs = []
        for number in range(first, first + count):
            asset = f"photo-{number - 1 if number % 7 == 6 else number}.jpg"
            job = f"job-{number:06}"
            self.assets[job] = f"missing/{asset}" if number % 50 == 49 else asset
            jobs.append(job)
        self.deliver(jobs)

    def deliver(self, jobs):
        """Sends until the server has taken each, again under the same id whenever it is not known."""
        deadline = time.monotonic() + SEND_SECONDS_MAX
        for start in range(0, len(jobs), SEND_AT_ONCE):
            some = jobs[start:start + SEND_AT_ONCE]
            commands = [("XADD", "minilab:{photos}:in", "*", "id", job, "asset", self.assets[job], "edit",
                         self.edit_of(job), *self.words_of(job))
                        for job in some]
            while True:
                try:
                    refusals = [reply for reply in self.server.pipeline(commands, "producer") if isinstance(reply, RedisError)]
                    if not refusals:
                        break
                    problem = refusals[0]
                except (OSError, StopIteration) as error:
                    problem = error
                if time.monotonic() > deadline:
                    raise TimeoutError(f"the producer cannot send: {problem}")
                time.sleep(0.05)

    def edit_of(self, job):
        return '{"filters":[{"name":"CISepiaTone"}]}'

    def words_of(self, job):
        """Further fields of its entry, and their values."""
        return ()

    # Looking

    def command(self, *arguments):
        """What a command of minilab prints; CalledProcessError says its log otherwise."""
        with open(f"{self.folder}/commands.log", "a") as log:
            return subprocess.run(
                [self.minilab, *arguments, "--redis", self.server.control_url], check=True, stdout=subprocess.PIPE,
                stderr=log, text=True, timeout=COMMAND_SECONDS_MAX,
                env={**os.environ, **self.server.login("operator")}).stdout

    def status(self):
        for _ in range(STATUS_TRIES_MAX - 1):
            try:
                return json.loads(self.command("status", "--json"))
            except subprocess.CalledProcessError:
                continue  # a machine so busy that Redis did not answer in time; commands.log says so
        return json.loads(self.command("status", "--json"))

    def events(self):
        return [json.loads(line) for line in self.command("events").splitlines()]

    def effects(self):
        """What was published: (job, generation) → version."""
        effects = {}
        for entry in os.scandir(self.ledger):
            if entry.is_symlink():
                job, _, generation = entry.name.rpartition(".")
                effects[job, int(generation)] = os.readlink(entry.path)
        return effects

    def notes(self):
        """How often what was written into the ledger's log."""
        path = f"{self.ledger}/log"
        if not os.path.exists(path):
            return collections.Counter()
        with open(path) as log:
            return collections.Counter(line.split(" ", 1)[0] for line in log)

    def published(self):
        """How many effects there are by now, told cheaply."""
        path = f"{self.ledger}/log"
        if not os.path.exists(path):
            return 0
        with open(path, "rb") as log:
            return sum(line.startswith(b"published") for line in log)

    def generation_of(self, job):
        """The last generation that a job should come to."""
        return 2 if self.assets[job].startswith("missing/") else 1

    def complaints(self):
        """What is wrong beside jobs, events and effects."""
        return []

    def wait_for_effects(self, count, within=120):
        eventually(f"{count} effects", lambda: self.published() >= count, within)

    def wait_until_drained(self, within=DRAIN_SECONDS_MAX, but=None):
        """Waits until nothing waits and nobody works, whatever may be in the place `but`."""
        eventually("the queue is drained", lambda: self.in_flight(but) == 0, within, every=0.1)

    def in_flight(self, but=None):
        """How many jobs wait or are worked on, but for those in the place `but`."""
        return sum(number for place, number in self.status().items()
                   if isinstance(number, int) and place not in AT_REST and place != but)

    def drain(self):
        """Drains the queue; gives the status then."""
        self.wait_until_drained()
        # A status is several commands, and not all of one moment unless nothing happens any more.
        return self.status()

    def pause(self, shortest, longest):
        """Lets a random time pass, in seconds: what happens meanwhile is the point."""
        time.sleep(self.random.uniform(shortest, longest))

    def close(self, keep):
        for worker in self.workers:
            if worker.is_running:
                worker.kill()
        for end in reversed(self.ends):
            end()
        if not keep:
            shutil.rmtree(self.folder)

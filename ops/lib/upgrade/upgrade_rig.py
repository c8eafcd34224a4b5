"""A rig whose workers, gateway and commands are each of one of two releases, and change it while jobs come."""

import contextlib
import os
import subprocess

from scenarios.server_clock import PREFIX, SMALL, ClockRig  # first: scenarios and rigs import each other

from client import Client
from gateway_rig import GatewayRig
from processes import eventually
from releases import QueueFormat
from servers import free_port

WORKERS = 3
BATCH = "spring"
MEMBERS = 4  # that each load adds to it, until it is sealed
NEW = 12  # photos of a load, beside the edits of one
WITH_FIELDS = 4  # and others whose jobs have fields, for which a later release has a later format
ASIDE = 4
VERIFIED = 10  # assets whose pictures are made again at the end
DONE_SECONDS_MAX = 300
END_SECONDS_MAX = 60
# A worker asks once a minute, and one that died is counted as there for ten leases.
FORMAT_SECONDS_MAX = 180
REFUSED = 76
SENTENCE = "which a later release wrote"
LEFT = "jobs are left to newer workers"


class UpgradeRig(GatewayRig, ClockRig):
    LEASE = "2s"

    def __init__(self, releases, *arguments):
        super().__init__(*arguments)
        self.releases = releases
        self.fields = {}  # job → its fields
        self.aside = []  # jobs that only the newer release may do
        self.is_sealed = False  # the batch
        self.fleet = []  # (child, release) of each place
        self.hired = set()  # releases whose workers were accepted
        self.left = 0  # jobs that were seen to be left alone
        self.refusals = 0  # programs that were refused

    # Programs

    @contextlib.contextmanager
    def programs_of(self, release):
        before, self.minilab = self.minilab, release.minilab
        try:
            yield
        finally:
            self.minilab = before

    def numbered(self, name):
        """A worker keeps its name when its programs are replaced."""
        return name

    def started(self, name, command, environment):
        self.names[name] += 1
        return super().started(f"{name}.{self.names[name]}", command, environment)

    def hire(self, name, release, stop_at=None):
        """Starts a worker of a release and waits until it has found the queue good."""
        with self.programs_of(release):
            child = self.worker(name, slots=1, stop_at=stop_at)
        eventually(f"{child.log}: worker starts", lambda: child.has_said("worker starts"), END_SECONDS_MAX)
        self.hired.add(release)
        return child

    def end_place(self, place):
        """Ends the worker of a place as an upgrade does; what it holds goes on."""
        child, _ = self.fleet[place]
        code = child.end(END_SECONDS_MAX)
        self.workers.remove(child)
        assert code == 0, f"{child.log}: SIGTERM ended it with {code}"
        self.fleet[place] = None

    def fill_place(self, place, release):
        self.fleet[place] = self.hire(f"worker-{place}", release), release

    def fleet_is_of(self, release):
        return all(other is release for _, other in self.fleet)

    def open_gateway(self, release, ends_with=0):
        """Replaces the gateway by that of a release, at the same address."""
        code = self.gateway.end(END_SECONDS_MAX)
        assert code == ends_with, f"{self.gateway.log}: it ended with {code}, expected {ends_with}"
        with self.programs_of(release):
            self.gateway = self.gateway_at(self.port, f"gateway-{release.name}")
        self.wait_for_gateway()

    def ask(self, release, *words):
        """Runs a command of a release; gives its exit code and all that it says."""
        ran = subprocess.run(
            [release.minilab, *words, "--redis", self.server.control_url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=END_SECONDS_MAX, env={**os.environ, **self.server.login("operator")})
        return ran.returncode, ran.stdout

    # Work

    def start(self, first):
        """Starts all programs of a release, a client, and what a batch and a dead job of it leave to the next one."""
        self.start_server()
        self.minilab = first.minilab
        self.fleet = [None] * WORKERS
        for place in range(WORKERS):
            self.fill_place(place, first)
        self.start_gateway()
        self.late = self.accept_one_that_dies()
        before = len(self.assets)
        self.open_batch(BATCH, MEMBERS)
        self.members = list(self.assets)[before:]
        self.send(1, SMALL)
        self.diary = next(reversed(self.assets.values()))  # a photo that both releases edit in turn
        self.client = Client(self)
        self.client.start()

    def load(self):
        """New photos, some with fields, and edits of all modes upon what the other release has made. Gives the jobs."""
        before = len(self.assets)
        self.send(NEW, SMALL)
        self.send_with_fields(WITH_FIELDS)
        self.all_modes([self.diary])
        if not self.is_sealed:
            first = len(self.members)
            assets = [self.photo(f"{BATCH}-{number}") for number in range(first, first + MEMBERS)]
            names = self.promises.add_members(BATCH, first, assets)
            self.assets.update(zip(names, assets))
            self.members += names
        return list(self.assets)[before:]

    def seal_batch(self):
        """Ends a batch that the other release has opened."""
        self.promises.seal(BATCH, len(self.members))
        self.is_sealed = True

    def send_with_fields(self, count):
        first = len(self.assets)
        jobs = [f"job-{number:06}" for number in range(first, first + count)]
        self.fields.update((job, '{"name":"Ana"}') for job in jobs)
        self.send(count, SMALL)
        return jobs

    def words_of(self, job):
        return ("fields", self.fields[job]) if job in self.fields else ()

    def records(self, jobs, field):
        """A field of the records of jobs; None where there is none."""
        return dict(zip(jobs, self.server.pipeline([("HGET", f"{PREFIX}job:{job}", field) for job in jobs])))

    def left_by_all(self, jobs):
        """Those of these jobs that every worker of the fleet leaves to a later one."""
        formats = self.records(jobs, "format")
        there = [release.numbers for _, release in filter(None, self.fleet)]
        return [job for job in jobs if all(numbers.leaves(int(formats[job] or 1)) for numbers in there)]

    def wait_for(self, jobs):
        """Waits until jobs are done, but for those that no worker may do."""
        jobs = [job for job in jobs if job not in self.aside]

        def are_done():
            for child in self.workers:
                child.must_run()
            waiting = [job for job, state in self.records(jobs, "state").items() if state != "done"]
            return not waiting or not set(waiting) - set(self.left_by_all(waiting))
        eventually(f"{len(jobs)} jobs are done", are_done, DONE_SECONDS_MAX, every=0.2)

    def lose_worker(self, release, point, place):
        """A worker of a release dies at a point of its work in place of the one there; the others of the fleet go on with that."""
        victim = self.hire("victim", release, stop_at=point)
        self.end_place(place)
        self.edit_until_held([self.diary, *self.photos()[:2]], victim)
        self.kill(victim)

    def photos(self):
        """The assets that producers named."""
        return list(dict.fromkeys(asset for asset in self.assets.values() if "/" not in asset))

    def send_aside(self):
        """Sends jobs that the present workers admit, and do not do while the queue is paused."""
        self.aside = self.send_with_fields(ASIDE)
        eventually("they are admitted", lambda: all(self.records(self.aside, "state").values()), DONE_SECONDS_MAX)

    # Looking

    def queue_format(self):
        numbers = self.server("HMGET", f"{PREFIX}virtual", "format", "least")
        return QueueFormat(*(int(number or 1) for number in numbers))

    def must_have_format(self, before):
        """The queue has the format that follows from that which it had and from the workers that are there."""
        expected = before.after([release.numbers for _, release in self.fleet])

        def has_it():
            found = self.queue_format()
            assert found in (before, expected), f"the queue has {found}, and these workers make it {expected} of {before}"
            return found == expected
        eventually(f"the queue has {expected}", has_it, FORMAT_SECONDS_MAX, every=0.2)

    def look(self, releases):
        """The commands of each release understand the queue, whoever works."""
        for release in releases:
            if release.numbers.may_use(self.queue_format().least):
                for words in (["status", "--json"], ["top", "--once"], ["explain", next(iter(self.assets))]):
                    code, text = self.ask(release, *words)
                    assert code == 0, f"{release.name}: minilab {' '.join(words)} ended with {code}: {text}"

    def must_refuse(self, release):
        """Every program of a release refuses the queue with the sentence, ends with 76 and changes nothing."""
        def state():
            return self.queue_format(), self.server("HGETALL", f"{PREFIX}config"), self.server("ZSCORE", f"{PREFIX}workers", "refused")
        before = state()
        with self.programs_of(release):
            worker, gateway = self.worker("refused"), self.gateway_at(free_port(), f"gateway-{release.name}-refused")
        self.workers.remove(worker)
        for child in (worker, gateway):
            self.must_end_refused(child)
        for words in (["status"], ["pause", "no"], ["doctor", "--repair"], ["cancel", next(iter(self.assets))]):
            code, text = self.ask(release, *words)
            assert code == REFUSED and SENTENCE in text, f"{release.name}: minilab {' '.join(words)} ended with {code}: {text}"
            self.refusals += 1
        assert state() == before, f"a refused program of {release.name} changed {before} to {state()}"

    def must_end_refused(self, child):
        eventually(f"{child.log}: it ends", lambda: not child.is_running, FORMAT_SECONDS_MAX, every=0.1)
        with open(child.log, errors="replace") as log:
            text = log.read()
        assert child.process.returncode == REFUSED and SENTENCE in text, f"{child.log}: it ended with {child.process.returncode}: {text[-500:]}"
        self.refusals += 1

    def must_leave(self, older):
        """The older release names the jobs that were set aside and leaves them; without a later format it does them like any other."""
        formats = self.records(self.aside, "format")
        left = [job for job in self.aside if older.numbers.leaves(int(formats[job] or 1))]
        others, self.aside = [job for job in self.aside if job not in left], left
        self.wait_for(others + self.load())
        for job in left:
            assert self.records([job], "state")[job] == "ready", f"{job} is of a later format, and {self.records([job], 'state')}"
            for words, expected, sentence in (
                    (["explain", job], 0, f"is of format {formats[job]}, and this minilab reads up to {older.numbers.job}"),
                    (["cancel", job], 1, "its record is of a later format")):
                code, text = self.ask(older, *words)
                assert code == expected and sentence in text, f"{older.name}: minilab {' '.join(words)} ended with {code}: {text}"
        if left:
            eventually("a worker names them", lambda: any(child.has_said(LEFT) for child, _ in self.fleet))
        self.left += len(left)

    def renders(self):
        """How many versions have pictures of which `Engine.render`."""
        found = {}
        for made in self.provenances():
            if rendering := made["content"].get("rendering"):
                found[rendering.get("render")] = found.get(rendering.get("render"), 0) + 1
        return found

    def complaints(self):
        found = super().complaints()
        self.made = self.renders()
        for release in self.releases:
            found += self.verified_by(release)
            if release in self.hired and release.numbers.render not in self.made:
                found.append(f"no version of {release.name} is in the library")
        return found

    def verified_by(self, release):
        """What is wrong with the library to a release, which makes its own pictures again and names those of the other one."""
        assets = [self.diary, *self.photos()[-VERIFIED:]]
        ran = subprocess.run(
            [release.minilab, "verify", "--all-versions", "--library", self.library, "--originals", self.originals, *dict.fromkeys(assets)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DONE_SECONDS_MAX)
        if ran.returncode != 0:
            yield f"minilab verify of {release.name} ends with {ran.returncode}: {ran.stdout[-600:]}"
        for number in self.made.keys() - {release.numbers.render}:
            if f"render {number}: not rendered again" not in ran.stdout:
                yield f"minilab verify of {release.name} does not say that it leaves out pictures of render {number}"

"""A rig whose workers render photos into a library."""

import collections
import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import memory_group
from mounts import fill, mount_tmpfs
from processes import eventually
from rig import Rig
from scenarios.registry import Skipped
from servers import free_port

PHOTOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../jobs/photos")
LOOK_SECONDS_MAX = 10


class PhotoRig(Rig):
    # These are about memory and disks, not about leases, and a render is long on a busy machine.
    LEASE = "10s"
    # What passes may take long to pass here, and is tried again all the while.
    SETTINGS = {**Rig.SETTINGS, "retry.attempts": 100, "retry.cap": "1s"}

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.library, self.originals = f"{self.folder}/library", f"{self.folder}/originals"
        # With this folder it is a library that a person has prepared; workers refuse an empty one.
        os.makedirs(f"{self.library}/edits")
        os.makedirs(self.originals)
        # Codes for which a job may die here and be replayed.
        self.may_die_of = set()
        self.edits = {}  # job → its edit, where it has one of its own
        self.statuses = {}  # worker → its status port
        self.before_sending = None  # called with each asset of `send`

    # Workers

    def worker(self, name="w", slots=2, stop_at=None, prefix=lambda words: words, settings=None, server=None):
        """Starts a real worker; `prefix` makes its command another one."""
        name = self.numbered(name)
        port = free_port()
        words = [self.minilab, "worker", *self.place(name),
                 "--settings", self.settings, "--lease", self.LEASE,
                 "--slots", str(slots), "--worker-name", name, "--status-port", str(port),
                 # Few photos under many names: else one would be rendered and the rest linked.
                 "--render-reuse", "false"]
        environment = {**(server or self.server).login("worker"), **self.environment(), **({"MINILAB_TEST_STOP_AT": stop_at} if stop_at else {}),
                       **(settings or {})}
        child = self.started(name, prefix(words), environment)
        self.statuses[child] = port
        return child

    def place(self, name):
        """The words that tell a worker where the library is."""
        return ["--library", self.library, "--originals", self.originals]

    def environment(self):
        """What workers need to know to get there."""
        return {}

    def readiness(self, worker):
        """What /readyz of a worker says: status and text; 0 while nobody answers."""
        worker.must_run()
        try:
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{self.statuses[worker]}/readyz", timeout=LOOK_SECONDS_MAX) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def wait_until_away(self, worker, words, within=120):
        """Waits until a worker calls the store away for a reason that has these words; gives the sentence."""
        def sentence():
            status, text = self.readiness(worker)
            return text if status == 503 and words in text else None
        return eventually(f"{worker.log}: /readyz says {words!r}", sentence, within, every=0.1)

    def metric(self, worker, name):
        """The samples of a metric that a worker tells: text of its labels → number."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.statuses[worker]}/metrics", timeout=LOOK_SECONDS_MAX) as page:
            text = page.read().decode()
        return {labels: float(value) for labels, value in re.findall(rf"^{name}(\{{.*\}})? (\S+)$", text, re.M)}

    # Producer

    def send(self, count, photos=("chrysanthemum.jpg",), edit=None):
        """Sends jobs, each for a photo of its own name, with photos of `jobs/photos` in turn."""
        jobs = []
        for _ in range(count):
            number = len(self.assets)
            photo = photos[number % len(photos)]
            asset, job = f"{number:06}-{os.path.basename(photo)}", f"job-{number:06}"
            # A photo that a scenario has made is named by its path, which join leaves as it is.
            self.place_original(os.path.join(PHOTOS, photo), asset)
            if self.before_sending:
                self.before_sending(asset)
            self.assets[job] = asset
            if edit:
                self.edits[job] = json.dumps(edit)
            jobs.append(job)
        self.deliver(jobs)

    def place_original(self, source, asset):
        shutil.copyfile(source, os.path.join(self.originals, asset))

    def edit(self, asset, edit):
        """Sends a job for an asset that was sent before; gives its name."""
        job = self.add(asset, edit)
        self.deliver([job])
        return job

    def add(self, asset, edit):
        """Makes a job without sending it; gives its name."""
        job = f"job-{len(self.assets):06}"
        self.assets[job], self.edits[job] = asset, json.dumps(edit)
        return job

    def edit_of(self, job):
        return self.edits.get(job, super().edit_of(job))

    # Looking

    def completed(self):
        for worker in self.workers:
            worker.must_run()
        return self.counted("completed")

    def counted(self, *names):
        return sum(int(number or 0) for number in self.server("HMGET", "minilab:{photos}:counters", *names))

    def wait_for_completed(self, count, within=300):
        eventually(f"{count} jobs are completed", lambda: self.completed() >= count, within)

    def wait_for_ends(self, count, within=300):
        """Waits until so many jobs are completed or dead."""
        eventually(f"{count} jobs have ended", lambda: self.counted("completed", "failed") >= count, within)

    def wait_for_retries(self, count, code, within=120):
        """Waits until so many attempts have failed of a code and others follow."""
        def failed():
            return sum(event["data"]["error"]["code"] == code for event in self.events_of("retried"))
        eventually(f"{count} attempts fail of {code}", lambda: failed() >= count, within, every=0.2)

    def events_of(self, kind):
        return [event for event in self.events() if event["type"].endswith("." + kind)]

    def attempts_burnt(self):
        return (sum(event["data"]["attempt"] - 1 for event in self.events_of("completed"))
                + sum(event["data"]["attempt"] for event in self.events_of("failed")))

    def claims(self):
        """The state of each job and its fence: a claim gives a new one."""
        records = self.server.pipeline([("HMGET", f"minilab:{{photos}}:job:{job}", "state", "fence") for job in self.assets])
        return dict(zip(self.assets, map(tuple, records)))

    def claimed_since(self, before):
        """Jobs that were claimed since `claims`; one whose version is committed may be carried on."""
        now = self.claims()
        return [job for job, (state, fence) in before.items() if state != "committing" and now[job][1] != fence]

    def effects(self):
        """Versions that are in their place: (job, generation) → version."""
        return dict(self.versions())

    def authors(self):
        """The job and generation of each version that is in its place."""
        return [key for key, _ in self.versions()]

    def versions(self):
        for made in self.provenances():
            yield (made["author"]["job"], made["author"]["generation"]), made["version"]

    def provenances(self):
        for folder, _, files in os.walk(f"{self.library}/edits"):
            if "provenance.json" in files and "/versions/" in folder:
                with open(f"{folder}/provenance.json") as file:
                    yield json.load(file)

    def notes(self):
        return collections.Counter()

    def generation_of(self, job):
        """The last generation that a job should come to: each death that is allowed is followed by a replay."""
        if self.deaths is None:
            self.deaths = collections.Counter(
                event["data"]["job"] for event in self.events_of("failed")
                if event["data"]["error"]["code"] in self.may_die_of)
        return 1 + self.deaths[job]

    deaths = None

    def complaints(self):
        """What is wrong with the library: files that differ from what was recorded, and what is left over."""
        verify = subprocess.run(
            [self.minilab, "verify", "--library", self.library, "--originals", self.originals, "--no-render"],
            capture_output=True, text=True)
        found = []
        if verify.returncode != 0:
            lines = (verify.stdout + verify.stderr).splitlines()
            found.append(f"minilab verify ends with {verify.returncode}: {'; '.join(lines[:3])}")
        staged = [os.path.join(path, name) for path, folders, files in os.walk(f"{self.library}/staging/photos")
                  for name in folders + files]
        if staged:
            found.append(f"{len(staged)} files and folders are left in staging: {staged[0]}")
        return found

    # The machine

    def memory_group(self, name, limit):
        """A memory group with a limit, gone at the end of the scenario."""
        if reason := memory_group.why_not():
            raise Skipped(reason)
        group = memory_group.MemoryGroup(name, limit)
        group.__enter__()
        self.ends.append(lambda: group.__exit__(None, None, None))
        return group

    def small_library(self, size, files=10_000):
        """Makes the library a file system of its own: so many bytes, so many files."""
        self.small_folder(self.library, size, files)
        os.mkdir(f"{self.library}/edits")

    def small_folder(self, folder, size, files=10_000):
        """Makes a folder a file system of its own."""
        if reason := mount_tmpfs(folder, self.ends, size, files):
            raise Skipped(reason)

    def ballast(self, leave=0, folder=None):
        """Fills the library, or that folder, but for so many bytes; gives a function that takes it away."""
        path = f"{folder or self.library}/ballast"
        fill(path, leave)
        return lambda: os.remove(path)


class Late:
    """A rig whose photos come when a scenario says so; jobs that find none may die of it."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.may_die_of.add("missingAsset")
        self.late = []

    def place_original(self, source, asset):
        self.late.append((source, asset))

    def place_all(self):
        for source, asset in self.late:
            super().place_original(source, asset)

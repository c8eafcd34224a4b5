"""Whoever is away: Redis without room for dead jobs, no living worker, workers that cannot do a job, a library of another moment"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request

from bucket_rig import BucketRig
from edits_rig import EditsRig
from photo_rig import PHOTOS, Late, PhotoRig
from processes import Child, eventually
from scenarios.registry import scenario
from servers import free_port

SMALL = "sketch.png"
JOBS = 40
# As many dead jobs stay in Redis; the others go to the library.
KEPT = 5
WITHIN = 120
PREFIX = "minilab:{photos}:"
SEPIA = {"filters": [{"name": "CISepiaTone", "inputIntensity": 0.8}]}


def stop(rig, worker):
    """Stops a worker in good order."""
    code = worker.end(WITHIN)
    assert code in (0, -signal.SIGTERM), f"{worker.log}: SIGTERM ended it with {code}"
    rig.workers.remove(worker)


def moved(rig):
    """The places that dead jobs were moved to, each with the number of jobs."""
    fields = rig.server("HGETALL", f"{PREFIX}spilled")
    return dict(zip(fields[::2], map(int, fields[1::2])))


def lose_originals(rig, count):
    """Sends jobs whose photos come too late, and waits until all are dead and those beyond the limit are moved; gives the places."""
    rig.send(count, [SMALL])
    eventually("all have died", lambda: rig.counted("failed") >= count, WITHIN, every=0.1)
    eventually("those beyond the limit are moved", lambda: sum(moved(rig).values()) >= count - KEPT, WITHIN, every=0.1)
    return moved(rig)


class LateBucketRig(Late, BucketRig):
    """Photos are in the bucket when a scenario says so."""

    def replay(self, place):
        """Puts the dead jobs of a place back, as on a machine of its own."""
        said = self.look("replay", "--file", place, "--redis", self.server.control_url, logins=self.server.login("operator"))
        assert said.returncode == 0, said.stderr


@scenario("dead-in-a-bucket", "a library in a bucket: more jobs die than Redis keeps, and the only worker is lost with its scratch folder; "
          "another one gets them back from the bucket", rig=LateBucketRig)
def dead_in_a_bucket(rig):
    rig.start_server()
    rig.settings = rig.settings_with({"dead.records": KEPT})
    rig.store.put("originals/other.png", b"so that there are originals")
    worker = rig.ready_worker()
    places = lose_originals(rig, JOBS)
    assert all(place.startswith("s3://") for place in places), places
    scratch = rig.scratches[worker]
    rig.kill(worker)
    shutil.rmtree(scratch, ignore_errors=True)
    rig.place_all()
    rig.ready_worker()
    rig.command("replay", "--all")
    for place in places:
        rig.replay(place)
    eventually("all are done", lambda: rig.counted("completed") >= JOBS, WITHIN, every=0.1)


class LatePhotoRig(Late, PhotoRig):
    """Photos are there when a scenario says so."""


@scenario("dead-again", "jobs that were moved to a file are put back, and die again into the same file while it is read; then their photos "
          "are there", rig=LatePhotoRig)
def dead_again(rig):
    rig.start_server()
    rig.settings = rig.settings_with({"dead.records": 0})
    shutil.copyfile(os.path.join(PHOTOS, SMALL), f"{rig.originals}/other.png")
    rig.worker()
    rig.wait_for_workers()
    [place] = lose_originals(rig, JOBS)
    eventually("all are moved", lambda: moved(rig)[place] == JOBS, WITHIN, every=0.1)
    # Slowly, so that the first are back behind the reader before it has read the last.
    rig.command("replay", "--file", place, "--rate", "10")
    eventually("all died once more, and no more", lambda: moved(rig)[place] == 2 * JOBS, WITHIN, every=0.1)
    assert rig.counted("replayed") == JOBS, f"{rig.counted('replayed')} replays of {JOBS} jobs"
    rig.place_all()
    rig.command("replay", "--file", place)
    eventually("all are done", lambda: rig.counted("completed") >= JOBS, WITHIN, every=0.1)


class AskedRig(PhotoRig):
    LEASE = "2s"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.words = {}  # job → further fields of its entry

    def words_of(self, job):
        return self.words.get(job, ())

    def start_gateway(self):
        """Starts a gateway that is asked how many workers there should be."""
        self.port = free_port()
        gateway = Child(
            [f"{self.minilab}-gateway", "--library", self.library, "--originals", self.originals, "--port", str(self.port)],
            f"{self.folder}/gateway.log", self.server.login("gateway"))
        self.ends.append(gateway.kill)
        self.key = json.loads(self.command("key", "create", "--operator", "--scope", "operate", "--json"))["secret"]
        eventually("the gateway answers", self.advice, WITHIN)

    def advice(self):
        """What /v1/scale says; None while nobody answers."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/scale?min=0&within=1", headers={"Authorization": f"Bearer {self.key}"})
        try:
            with urllib.request.urlopen(request, timeout=WITHIN) as page:
                return json.load(page)
        except OSError:
            return None

    def until_asked(self, why):
        """Waits until a worker is asked for, and looks whether doctor and status tell of it, too."""
        def is_asked():
            found = self.advice()
            # The heartbeats of the dead count for two leases.
            return found if found and found["workers"] and not found["running"] else None
        advice = eventually(f"a worker is asked for, {why}", is_asked, WITHIN, every=0.2)
        # The advice is of the second to come.
        eventually(f"the doctor names it, {why}", lambda: "no worker" in self.command("doctor"), WITHIN, every=0.2)
        status = self.status()
        assert status["workers"] == [], f"{why}: dead workers are listed: {status['workers']}"
        return advice


@scenario("nobody-lives", "all workers die: beside a job that is due later, one that they held, another attempt, and a version that is being "
          "published under a pause; whoever is asked calls for a worker, and one is enough", rig=AskedRig)
def nobody_lives(rig):
    rig.start_server()
    rig.start_gateway()
    # One holds a job, one has committed a version.
    for point in ["before-commit", "after-commit"]:
        victim = rig.worker("victim", slots=1, stop_at=point)
        rig.wait_for_workers()
        rig.send(1, [SMALL])
        eventually(f"{victim.log}: it stands still", lambda: victim.is_stopped, WITHIN)
        if point == "before-commit":
            rig.kill(victim)
            rig.until_asked("for the job of a dead worker")
            heir = rig.worker("heir", slots=1)
            rig.wait_for_completed(1)
            stop(rig, heir)
        else:
            rig.command("pause", "nobody works")
            rig.kill(victim)
            assert rig.until_asked("for a version that is being published")["reason"] == "abandoned"
            heir = rig.worker("heir", slots=1)
            rig.wait_for_completed(2)
            rig.command("resume")
            stop(rig, heir)
    # Nothing waits, until the time of one comes.
    due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 6))
    rig.words = {"job-000002": ("notBefore", due)}
    admitting = rig.worker("admitting", slots=1)
    rig.send(1, [SMALL])
    eventually("it is admitted", lambda: rig.server("ZCARD", f"{PREFIX}delayed") == 1, WITHIN, every=0.05)
    rig.kill(admitting)
    rig.until_asked("for a job whose time has come")
    rig.worker("last", slots=1)
    rig.wait_for_completed(3)


@scenario("machines-differ", "three workers, of which one has little memory, one a lower limit of pixels and one no resources: what each cannot "
          "do is left to the fourth, and no attempt is counted", rig=PhotoRig)
def machines_differ(rig):
    rig.start_server()
    resources = f"{rig.folder}/resources"
    os.makedirs(resources)
    mark = f"{rig.folder}/mark.png"
    subprocess.run([rig.minilab, "preview", f"{PHOTOS}/{SMALL}", mark, "--max", "64", "--filter", "CISepiaTone"], check=True,
                   stdout=subprocess.DEVNULL)
    digest = subprocess.run(["sha256sum", mark], check=True, capture_output=True, text=True).stdout.split()[0]
    shutil.copyfile(mark, f"{resources}/{digest}")
    has = {"MINILAB_RESOURCES": resources}
    rig.worker("small", slots=1, settings={**has, "MINILAB_MEMORY": "100M"})
    rig.worker("narrow", slots=1, settings={**has, "MINILAB_RENDER_PIXELS": "100000"})
    rig.worker("bare", slots=1)
    rig.worker("able", slots=1, settings=has)
    rig.wait_for_workers()
    edit = {**SEPIA, "renditions": {
        f"r{side}": {"box": [side, side], "marks": [{"image": f"sha256:{digest}", "width": 0.2}]} for side in (2000, 1600, 1200, 800, 400, 100)}}
    rig.send(rig.size(JOBS), ["dandelion.jpg"], edit)
    rig.wait_for_ends(len(rig.assets))
    assert not rig.events_of("failed"), [event["data"]["error"] for event in rig.events_of("failed")][:3]
    attempts = [event["data"]["attempt"] for event in rig.events_of("completed")]
    assert set(attempts) == {1}, f"attempts were counted: {attempts}"
    said = rig.command("doctor")
    assert "differ" in said, f"the doctor names no difference: {said!r}"


class MomentsRig(EditsRig):
    """Its library was put back to an earlier moment: versions that were told then are lost."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lost = {}  # (job, generation) → version

    def effects(self):
        return {**self.lost, **super().effects()}

    def generation_of(self, job):
        return 2 if (job, 1) in self.lost else super().generation_of(job)

    def complaints(self):
        return super().complaints() + list(self.told_twice())

    def told_twice(self):
        """Where a number of an asset was told of two versions, or a later version has a lower one."""
        told = {}
        for event in self.events_of("completed"):
            told.setdefault(event["data"]["asset"], []).append(event["data"]["version"]["revision"])
        for asset, numbers in told.items():
            if numbers != sorted(set(numbers)):
                yield f"{asset}: its events tell of the versions {numbers}"

    def edit_all(self, rounds):
        """Edits that build on each other, in turn, of all assets."""
        for _ in range(rounds):
            for asset in sorted(set(self.assets.values())):
                number = round(self.random.uniform(0.1, 0.9), 6)
                self.edit(asset, {"mode": "append", "filters": [{"name": "CIVignette", "inputIntensity": number, "inputRadius": 1.5}]})


@scenario("library-set-back", "the library is put back to an earlier moment than Redis: what it lacks is named and done again in its order, and "
          "edits that came meanwhile follow it", rig=MomentsRig)
def library_set_back(rig):
    rig.start_server()
    worker = rig.worker()
    rig.wait_for_workers()
    rig.send(4, [SMALL])
    rig.edit_all(2)
    rig.wait_for_completed(12)
    stop(rig, worker)
    backup = f"{rig.folder}/backup"
    shutil.copytree(f"{rig.library}/edits", backup, symlinks=True)
    before = rig.effects()
    worker = rig.worker()
    rig.edit_all(3)
    rig.wait_for_completed(24)
    stop(rig, worker)
    rig.lost = {key: version for key, version in rig.effects().items() if key not in before}
    # They wait when the library goes back, and must follow those that it has lost.
    rig.edit_all(1)
    shutil.rmtree(f"{rig.library}/edits")
    shutil.copytree(backup, f"{rig.library}/edits", symlinks=True)
    said = rig.command("replay", "--lost", *rig.place("operator"))
    assert "12 jobs replayed" in said, said
    rig.worker()
    rig.wait_for_completed(24 + 12 + 4)
    named = rig.command("doctor", *rig.place("operator"))
    assert "has the versions of 4 assets" in named, named
    for asset in sorted(set(rig.assets.values())):
        shown = subprocess.run([rig.minilab, "show", asset, "--library", rig.library, "--originals", rig.originals], check=True,
                               capture_output=True, text=True).stdout
        filters = [line.split()[1] for line in shown.splitlines() if re.match(r"\d+  ", line)]
        assert filters == ["CISepiaTone"] + 6 * ["CIVignette"], f"{asset} came by {filters}"

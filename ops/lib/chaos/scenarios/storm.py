"""All at once, for long."""

import collections
import json
import os
import subprocess

from edits_rig import EditsRig, filters_expected
from photo_rig import PHOTOS
from processes import eventually
from scenarios.registry import Skipped, scenario
from scenarios.restarts import FileSizes
from servers import ClockedServer, compiler

JOBS = 100_000
LOST_PART = 0.05
WORKERS = 3
MORE_MAX = 3  # times the jobs, if the kills do not keep up


@scenario("storm", f"{JOBS:,} jobs; workers are killed at random times until {LOST_PART:.0%} of the jobs have lost "
          "theirs")
def storm(rig):
    rig.start_server()
    jobs = rig.size(JOBS)
    rig.send(jobs)
    workers = [rig.worker(slots=128, work_ms=100) for _ in range(WORKERS)]
    # A claim that no heartbeat has confirmed yet is void, and no crash; many are, of jobs that take 100 ms.
    while sum(rig.status()["counters"].get(name, 0) for name in ("crashed", "voided")) < jobs * LOST_PART:
        rig.pause(0.1, 0.8)
        index = rig.random.randrange(WORKERS)
        rig.kill(workers[index])
        workers[index] = rig.worker(slots=128, work_ms=100)
        if rig.published() >= len(rig.assets) * 0.9:
            # A busy machine kills workers more slowly than they work.
            assert len(rig.assets) < MORE_MAX * jobs, f"too few of {len(rig.assets)} jobs have lost their worker"
            rig.send(jobs // 10)


EDITS = int(os.environ.get("MINILAB_CHAOS_STORM_EDITS", "600"))
CUTS = 30 if EDITS >= 10_000 else 6
EDITS_OF_ONE = 40  # of one asset, about
SIDE = "160"
STEPS = [-60, -3600, 86_400]  # seconds; the clock goes back after each
UNDO_FROM = 10  # edits of an asset, so that there is something to undo though the last ones are lost and come later
HALF_SECONDS_MAX = 600


class StormRig(EditsRig):
    LEASE = "4s"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.depth = collections.Counter()  # asset → edits that can be undone
        self.delivered, self.delivered_again = set(), set()

    def worker_at(self, place):
        """Starts a worker; the last one can render none of the photos, and leaves them to the others."""
        return self.worker(settings={"MINILAB_RENDER_PIXELS": "100"} if place == WORKERS - 1 else None)

    def deliver(self, jobs):
        self.delivered_again |= self.delivered.intersection(jobs)
        self.delivered.update(jobs)
        super().deliver(jobs)

    def send_edits(self, count, assets):
        """Sends edits of assets that have one; each changes something."""
        jobs = []
        while len(jobs) < count:
            asset, number = self.random.choice(assets), round(self.random.uniform(0.1, 0.9), 6)
            edit = self.random.choice([
                {"filters": [{"name": "CISepiaTone", "inputIntensity": number}]},
                {"mode": "append", "filters": [{"name": "CIVignette", "inputIntensity": number, "inputRadius": 1.5}]},
                {"mode": "undo"}])
            is_undo = edit.get("mode") == "undo"
            if is_undo and self.depth[asset] < UNDO_FROM:
                continue
            self.depth[asset] += -1 if is_undo else 1
            jobs.append(self.add(asset, edit))
        self.deliver(jobs)

    def complaints(self):
        return super().complaints() + list(self.wrong_histories())

    def wrong_histories(self):
        """Where an asset's versions are not its edits, each once, one upon the other, in the order in which they were sent."""
        for (job, generation), count in collections.Counter(self.authors()).items():
            if count > 1:
                yield f"{job}, generation {generation}, has {count} versions"
        told = collections.defaultdict(list)
        for event in self.events_of("completed"):
            told[self.assets[event["data"]["job"]]].append((int(event["sequence"]), event["data"]))
        for asset, versions in told.items():
            versions.sort(key=lambda version: version[0])
            numbers = [number for number, _ in versions]
            if numbers != list(range(1, len(numbers) + 1)):
                yield f"{asset}: its events tell of the versions {numbers}"
            jobs = [data["job"] for _, data in versions]
            once = [job for job in jobs if job not in self.delivered_again]
            if once != sorted(once):
                yield f"{asset}: its edits came as {once}"
            seen = [len(data["filters"] or []) for _, data in versions]
            expected = filters_expected([json.loads(self.edit_of(job)) for job in jobs], [])
            if seen != expected:
                yield f"{asset} came by {seen} filters, expected {expected}"


@scenario("storm-cuts", f"{EDITS:,} edits that build on each other (MINILAB_CHAOS_STORM_EDITS); {CUTS} times redis-server is killed or loses "
          "up to two seconds as well, its clock is set a minute or an hour back or a day on, or back again, and a worker is killed; one of "
          f"the {WORKERS} can render no photo",
          server_may_lose=True, rig=StormRig)
def storm_with_cuts(rig):
    if not compiler():
        raise Skipped("no C compiler makes the clock that is preloaded into redis-server")
    server = rig.start_server(ClockedServer)
    workers = [rig.worker_at(place) for place in range(WORKERS)]
    rig.wait_for_workers()
    small, each = f"{rig.folder}/small.jpg", EDITS // CUTS
    subprocess.run([rig.minilab, "preview", f"{PHOTOS}/sketch.png", small, "--max", SIDE, "--filter", "CISepiaTone"],
                   check=True, stdout=subprocess.DEVNULL)
    rig.send(EDITS // EDITS_OF_ONE, [small])
    assets, clocks, counted = list(rig.assets.values()), [], collections.Counter()
    for _ in range(CUTS):
        sizes = FileSizes(server)
        rig.send_edits(each // 2, assets)
        eventually("half of them are done", lambda: rig.in_flight() <= each / 4, HALF_SECONDS_MAX, every=0.1)
        rig.send_edits(each - each // 2, assets)
        rig.pause(0, 1)
        clocks = clocks or [clock for step in rig.random.sample(STEPS, len(STEPS)) for clock in (step, 0)]
        clock = clocks.pop(0)
        if rig.random.random() < 0.5:  # a server that runs, or one that comes back with another clock
            server.set_clock(clock)
            rig.pause(0, 1)
        server.kill()
        sizes.stop()
        cut = rig.random.choice(["kills", "power cuts"])
        if cut == "power cuts":
            sizes.cut(rig.random.uniform(0.2, 2))
        counted[cut] += 1
        index = rig.random.randrange(WORKERS)
        rig.kill(workers[index])
        rig.pause(0.05, 1)
        server.set_clock(clock)
        server.start()
        workers[index] = rig.worker_at(index)
    rig.remarks.append(f"{counted['kills']} kills and {counted['power cuts']} power cuts of redis-server, each with a step of its clock and a "
                       "killed worker")

"""A Redis server whose own clock is set, amid edits of all modes and batches."""

import json
import os
import shutil
import signal

from edits_rig import EditsRig
from photo_rig import PHOTOS, Late
from processes import eventually
from scenarios.registry import Skipped, scenario
from servers import ClockedServer, compiler

SMALL = ["sketch.png"]
ASSETS = 6
ROUNDS = 3
MEMBERS = 8
MINUTE, HOUR, DAY = 60, 3600, 86_400
# Nothing may wait for a clock to be where it was: a crash costs a lease or two, the rest is work.
WITHIN = 240
PREFIX = "minilab:{photos}:"


class ClockRig(EditsRig):
    LEASE = "4s"

    def effects(self):
        """Versions in their place, and drafts that were made: a draft that was published or replaced is gone."""
        made = dict(self.versions())
        for event in self.events_of("drafted"):
            data = event["data"]
            made.setdefault((data["job"], data["generation"]), data["version"]["id"])
        return made

    def complaints(self):
        return super().complaints() + list(self.wrong_filters())

    def start(self, ahead):
        if not compiler():
            raise Skipped("no C compiler makes the clock that is preloaded into redis-server")
        return self.start_server(ClockedServer, ahead=ahead)

    def number(self):
        """A parameter that no other edit has: nobody is to find that nothing changes."""
        return round(self.random.uniform(0.1, 0.9), 6)

    def replace(self):
        return {"filters": [{"name": "CISepiaTone", "inputIntensity": self.number()}]}

    def append(self):
        # Applied twice it gives another picture than applied once.
        return {"mode": "append",
                "filters": [{"name": "CIVignette", "inputIntensity": self.number(), "inputRadius": 1.5}]}

    def all_modes(self, assets):
        """Edits each asset in all modes, through both ingress streams."""
        for asset in assets:
            for edit in [self.replace(), self.append(), {"mode": "undo"}, {"mode": "redo"}, self.append(),
                         {**self.append(), "draft": True}, {"mode": "publish"}, {"mode": "undo"}]:
                self.change(asset, edit)

    def urgent(self, asset):
        """An edit that a person waits for comes by another stream than all others, when those before it are jobs."""
        eventually("the edits before are jobs", lambda: self.server("XLEN", f"{PREFIX}in") == 0, WITHIN)
        job = f"job-{len(self.assets):06}"
        edit = self.replace()
        self.assets[job], self.edits[job] = asset, json.dumps(edit)
        self.edits_of[asset].append(edit)
        self.server("XADD", f"{PREFIX}in:interactive", "*", "id", job, "asset", asset, "edit", self.edits[job])

    def open_batch(self, batch):
        self.server("XADD", f"{PREFIX}in", "*", "batch", batch, "edit", json.dumps(self.replace()))

    def add_members(self, batch, first, count):
        """Adds members by plain XADD; each is of an asset of its own."""
        for number in range(first, first + count):
            asset = f"{batch}-{number}.png"
            self.place_original(os.path.join(PHOTOS, SMALL[0]), asset)
            self.assets[f"{batch}:{number}"] = asset
            self.server("XADD", f"{PREFIX}lane:{batch}", f"1-{number + 1}", "asset", asset)

    def seal(self, batch, jobs):
        self.server("XADD", f"{PREFIX}in", "*", "batch", batch, "seal", jobs)

    def wait_for_all(self):
        jobs = len(self.assets)
        eventually(f"{jobs} jobs have ended well", lambda: self.counted("completed", "drafted") >= jobs, WITHIN, every=0.1)

    def edit_until_held(self, assets, worker):
        """Edits in all modes until a worker stands still with a job; others may be faster."""
        def is_held():
            if self.server("ZCARD", f"{PREFIX}lease") + self.server("XLEN", f"{PREFIX}in") == 0:
                self.all_modes(assets)
            return worker.is_stopped
        eventually("the worker stands still", is_held, 60, every=0.2)


def step(rig, *clocks):
    """Work goes on while the server's clock is at each of these leads, in seconds; a worker dies at each step."""
    server = rig.start(clocks[0])
    for _ in range(2):
        rig.worker()
    rig.wait_for_workers()
    rig.send(ASSETS, SMALL)
    assets = list(rig.assets.values())
    rig.open_batch("slow")
    rounds = 0
    for number, ahead in enumerate(clocks):
        if number:
            # It holds a job when the clock is set, and never comes back.
            victim = rig.worker("victim", stop_at="before-commit")
            rig.wait_for_workers()
            rig.edit_until_held(assets, victim)
            rig.pause(1, 2)
            server.set_clock(ahead)
            rig.kill(victim)
        else:
            rig.all_modes(assets)
        for asset in assets:
            rig.urgent(asset)
        rig.add_members("slow", rounds * MEMBERS, MEMBERS)
        rounds += 1
        rig.pause(2, 4)
    rig.seal("slow", rounds * MEMBERS)
    rig.wait_for_all()
    [batch] = rig.events_of("batch.completed")
    assert batch["data"]["completed"] == rounds * MEMBERS, batch
    assert not rig.events_of("batch.sealed"), "the batch was sealed by its age"
    assert not rig.events_of("harmed"), rig.events_of("harmed")


@scenario("server-clock-minute", "the clock of redis-server is set back by a minute amid edits of all modes and a batch; "
          "a worker dies meanwhile", rig=ClockRig)
def back_by_a_minute(rig):
    step(rig, MINUTE, 0)


@scenario("server-clock-hour", "the same, back by an hour", rig=ClockRig)
def back_by_an_hour(rig):
    step(rig, HOUR, 0)


@scenario("server-clock-day", "the same, on by a day and back again", rig=ClockRig)
def on_by_a_day(rig):
    step(rig, 0, DAY, 0)


@scenario("server-clock-replica", "a replica takes over that is a minute and a half behind in time and some seconds in data; the "
          "edits that follow are the newest", server_may_lose=True, rig=ClockRig)
def replica_behind(rig):
    master = rig.start(90)
    replica = ClockedServer(f"{rig.folder}/replica", ["--repl-diskless-sync-delay", "0", "--replicaof", f"127.0.0.1 {master.port}"],
                            users=master.users)
    rig.ends.append(replica.end)
    eventually("the replica is in step", lambda: "master_link_status:up" in replica("INFO", "replication"), 60)
    for _ in range(2):
        rig.worker()
    rig.wait_for_workers()
    rig.send(ASSETS, SMALL)
    assets = list(rig.assets.values())
    rig.wait_for_completed(ASSETS)
    rig.pause(1, 2)
    # The replica never hears of the versions that are published from now on, and the library knows them.
    replica.child.signal(signal.SIGSTOP)
    for asset in assets:
        rig.edit(asset, rig.replace())
    rig.wait_for_completed(2 * ASSETS)
    master.kill()
    replica.child.signal(signal.SIGCONT)
    eventually("the replica has lost its master", lambda: "master_link_status:down" in replica("INFO", "replication"), 60)
    replica.promote(master.port)
    rig.server = replica
    newest = [rig.edit(asset, rig.replace()) for asset in assets]
    eventually("the newest edits are published", lambda: {event["data"]["job"] for event in rig.events_of("completed")}
               >= set(newest), WITHIN, every=0.2)


class LateClockRig(Late, ClockRig):
    pass


@scenario("server-clock-ago", "the clock of redis-server is a day behind that of the operator, who asks for what died within the last hour, "
          "and makes a key for an hour", rig=LateClockRig)
def an_hour_ago(rig):
    rig.start(-DAY)
    shutil.copyfile(os.path.join(PHOTOS, SMALL[0]), f"{rig.originals}/other.png")
    rig.worker()
    rig.wait_for_workers()
    rig.send(ASSETS, SMALL)
    eventually("all have died", lambda: rig.counted("failed") >= ASSETS, WITHIN, every=0.1)
    dead = json.loads(rig.command("dead", "--since", "1h", "--json"))
    assert len(dead) == ASSETS, f"{len(dead)} of {ASSETS} are listed"
    rig.place_all()
    said = rig.command("replay", "--code", "missingAsset", "--since", "1h")
    assert f"{ASSETS} jobs replayed" in said, said
    rig.wait_for_completed(ASSETS)
    # A key lasts as long as it is told, and is listed as it is judged.
    made = json.loads(rig.command("key", "create", "--operator", "--scope", "read", "--expires", "1h", "--json"))["key"]
    lasts = made["expiresAt"] / 1000 - int(rig.server("TIME")[0])
    assert 0 < lasts <= HOUR + 1, f"the key of an hour lasts {lasts:.0f} s"
    listed = rig.command("key", "list")
    assert f"{made['id']}  active" in listed, listed

"""A library in a bucket: workers without a disk in common, a store that dies and refuses, a network that cuts."""

import hashlib
import os
import signal
import threading
import time

from bucket_rig import BucketRig
from processes import eventually
from scenarios.kills import POINTS
from scenarios.registry import scenario

MB = 1 << 20
SMALL = ["sketch.png"]
ASSETS = 12
ROUNDS = 4
KILLS_MAX = 60
# The client takes a silence of 5 s for a lost request: SIGSTOP has to be longer for its write to land late.
SILENCE = 5
HEADS, FILES, ORIGINALS = ".*/current/.*", ".*/edits/.*/versions/.*", ".*/originals/.*"


def number(rig):
    """A parameter that no other edit has: nobody is to find that nothing changes."""
    return round(rig.random.uniform(0.1, 0.9), 6)


def replace(rig):
    return {"filters": [{"name": "CISepiaTone", "inputIntensity": number(rig)}]}


def append(rig):
    # Applied twice it gives another picture than applied once.
    return {"mode": "append", "filters": [{"name": "CIVignette", "inputIntensity": number(rig), "inputRadius": 1.5}]}


def mixed(rig, rounds, has_undo=True):
    """Sends rounds of edits of all assets: each is replaced, appended to, undone, or drafted and published."""
    depths = dict.fromkeys(dict.fromkeys(rig.assets.values()), 1)
    for _ in range(rounds):
        for asset in depths:
            kinds = ["replace", "append", "append", "publish"] + ["undo"] * (has_undo and depths[asset] > 1)
            kind = rig.random.choice(kinds)
            if kind == "undo":
                rig.change(asset, {"mode": "undo"})
            elif kind == "publish":
                rig.change(asset, {**append(rig), "draft": True})
                rig.change(asset, {"mode": "publish"})
            else:
                rig.change(asset, replace(rig) if kind == "replace" else append(rig))
            depths[asset] += -1 if kind == "undo" else 1


def begin(rig, rounds, **options):
    """Sends the photos and mixed edits of them."""
    rig.send(rig.size(ASSETS), SMALL)
    mixed(rig, rounds, **options)


def finish(rig, burnt=0):
    """Waits for all that was sent; no attempt may have been lost to what the store and the network did."""
    rig.wait_for_ended(len(rig.assets))
    assert rig.attempts_burnt() == burnt, f"{rig.attempts_burnt()} attempts burnt"


@scenario("bucket-kills", "a library in a bucket; workers are killed with SIGKILL all the time and come back with "
          "empty scratch folders, amid appends, undos, drafts and replacements", rig=BucketRig)
def bucket_kills(rig):
    rig.start_server()
    begin(rig, rounds=6)
    for _ in range(3):
        rig.worker("victim")
    kills = 0
    while (ended := rig.ends_now()) < len(rig.assets) and kills < KILLS_MAX:
        rig.pause(0.3, 2.5)
        rig.kill(rig.random.choice(rig.workers))
        rig.worker("victim")
        kills += 1
    rig.wait_for_ended(len(rig.assets))
    rig.remarks.append(f"{kills} workers killed, while {ended} of {len(rig.assets)} jobs ended")


@scenario("bucket-stop-points", "a worker is killed at each stop point of an append; one with an empty scratch folder "
          "carries on", rig=BucketRig)
def bucket_stop_points(rig):
    rig.start_server()
    rig.send(1, SMALL)
    [asset] = rig.assets.values()
    first = rig.worker("first")
    rig.wait_for_ended(1)
    rig.kill(first)
    for point in POINTS:
        rig.change(asset, append(rig))
        victim = rig.worker("victim", slots=1, stop_at=point)
        rig.wait_until_still(victim)
        rig.kill(victim)
        heir = rig.worker("heir")
        rig.wait_for_ended(len(rig.assets))
        rig.kill(heir)
    rig.worker("last")


@scenario("bucket-store-kill", "the object store is killed with SIGKILL amid jobs and started again",
          rig=BucketRig)
def bucket_store_kill(rig):
    rig.start_server()
    begin(rig, rounds=rig.size(ROUNDS))
    for worker in [rig.worker(), rig.worker()]:
        # One that finds no store when it starts ends, with the reason.
        eventually("the worker starts", lambda: worker.has_said("worker starts"))
    for _ in range(rig.size(3)):
        rig.wait_for_ended(rig.ends_now() + 3)
        rig.store.kill()
        rig.pause(1, 4)
        rig.store.start()
    finish(rig)


@scenario("bucket-store-stop", "the object store stands still for seconds amid writes of heads, which land when the "
          "client has given them up", rig=BucketRig)
def bucket_store_stop(rig):
    rig.start_server()
    rig.send(rig.size(ASSETS), SMALL)
    assets = list(rig.assets.values())
    heads = rig.proxy.begin("delay", "PUT", HEADS)  # by nothing: it counts
    for _ in range(rig.size(4)):
        # The only one, so that it is stopped for sure.
        victim = rig.worker("late", slots=2, stop_at="after-commit")
        for asset in assets:
            rig.change(asset, rig.random.choice([append, replace])(rig))
        rig.wait_until_still(victim)
        rig.store.child.signal(signal.SIGSTOP)
        before = heads.count
        victim.signal(signal.SIGCONT)
        eventually("a head is on its way", lambda: heads.count > before, 60)
        rig.pause(SILENCE + 1, SILENCE + 3)
        rig.store.child.signal(signal.SIGCONT)
        rig.wait_for_ended(len(rig.assets))
        rig.kill(victim)
    finish(rig)
    rig.remarks.append(f"{heads.count} writes of heads for {len(rig.assets)} jobs")
    rig.worker("last")


def cut(name, what, *fault, rounds=2, seconds=0):
    def run(rig):
        rig.start_server()
        faulty = rig.proxy.begin(*fault, once=True, seconds=seconds)
        begin(rig, rounds)
        for _ in range(2):
            rig.worker()
        finish(rig)
        assert faulty.count >= rig.size(ASSETS), f"it happened {faulty.count} times"
        answers = ", ".join(f"{status} {count} times" for status, count in sorted(faulty.answers.items()))
        rig.remarks.append(f"it happened {faulty.count} times in {len(rig.assets)} jobs"
                           + (f"; the store answered with {answers}" if answers else ""))
    scenario(name, what, rig=BucketRig)(run)


cut("bucket-head-replies", "each write of a head is carried out and its reply lost, once", "lose-reply", "PUT", HEADS)
cut("bucket-late-heads", "each write of a head arrives when the client has given it up and sent it again, once",
    "delay", "PUT", HEADS, rounds=1, seconds=SILENCE + 2)
cut("bucket-file-replies", "each write of a version's file is carried out and its reply lost, once",
    "lose-reply", "PUT", FILES)
cut("bucket-uploads-cut", "each upload of a version's file is reset in its middle, once", "cut-upload", "PUT", FILES)
cut("bucket-downloads-cut", "each download of an original is reset in its middle, once",
    "cut-download", "GET", ORIGINALS)
cut("bucket-slow-down-once", "each request to the store is told to slow down, once", 503)


def away(name, what, status, words, shortest, longest):
    def run(rig):
        rig.start_server()
        begin(rig, rounds=2)
        workers = [rig.ready_worker() for _ in range(2)]
        rig.wait_for_ended(rig.size(6))
        fault = rig.proxy.begin(status)
        for worker in workers:
            rig.wait_until_away(worker, words)
        # A job that was claimed before goes back, or waits with its version committed.
        rig.pause(2, 3)
        before, requests = rig.claims(), fault.count
        began = time.monotonic()
        rig.pause(rig.size(shortest), rig.size(longest))
        seconds = time.monotonic() - began
        assert not rig.claimed_since(before), f"claimed while the store was away: {rig.claimed_since(before)}"
        assert all(rig.readiness(worker)[0] == 503 for worker in workers), "a worker calls itself ready"
        asked = (fault.count - requests) / seconds
        rig.proxy.finish(fault)
        for worker in workers:
            eventually("the worker is ready again", lambda: rig.readiness(worker)[0] == 200, 60)
        finish(rig)
        rig.remarks.append(f"{fault.count} requests refused, {asked:.1f} a second once both workers knew")
    scenario(name, what, rig=BucketRig)(run)


away("bucket-slow-down", "the store tells every request to slow down for half a minute: no attempt burnt", 503, "",
     25, 30)
away("bucket-keys-revoked", "the store refuses the workers' keys for twenty seconds: no attempt burnt, no job claimed, "
     "/readyz says so, and work goes on by itself", 403, "403", 17, 20)


@scenario("bucket-gc", "minilab gc runs again and again beside workers and a reader of what is current", rig=BucketRig)
def bucket_gc(rig):
    rig.start_server()
    begin(rig, rounds=8, has_undo=False)
    for _ in range(2):
        rig.worker()
    rig.wait_for_ended(1)  # before that there may be no library
    done, problems, counts = threading.Event(), [], {"collections": 0, "versions": 0, "reads": 0}

    def collect():
        while not done.is_set():
            ended = rig.look("gc", "--keep", "2", "--days", "0", "--json")
            counts["collections"] += 1
            if ended.returncode != 0:
                problems.append(f"gc ends with {ended.returncode}: {ended.stderr.strip()[:400]}")

    def read():
        while not done.is_set():
            for asset in rig.store.names("current"):
                render = rig.head(asset).get("render")
                if render is None:
                    continue
                body = rig.store.get(render["key"].removeprefix("lab/"))
                counts["reads"] += 1
                if body is None or hashlib.sha256(body).hexdigest() != render["sha256"]:
                    problems.append(f"a reader of {asset} got {body and len(body)} bytes of {render['key']}")

    threads = [threading.Thread(target=guarded(work, problems)) for work in (collect, collect, read)]
    for thread in threads:
        thread.start()
    try:
        finish(rig)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not problems, f"{len(problems)} problems: {'; '.join(problems[:3])}"
    counts["versions"] = sum(len(rig.head(asset)["trash"]) for asset in rig.store.names("current"))
    rig.remarks.append(f"{counts['collections']} collections, {counts['versions']} versions in the trash, "
                       f"{counts['reads']} reads of what is current")


def guarded(work, problems):
    def run():
        try:
            work()
        except Exception as error:  # whatever it is, the scenario's own thread says it
            problems.append(f"{type(error).__name__}: {error}")
    return run


@scenario("bucket-two-workers", "two workers append to one asset; one of them sleeps past its lease before and after "
          "its commit and its write of the head, and wakes when the other one is ahead", rig=BucketRig)
def bucket_two_workers(rig):
    rig.start_server()
    rig.send(1, SMALL)
    [asset] = rig.assets.values()
    workers = [rig.worker("one")]
    rig.wait_for_ended(1)
    for point in ("before-commit", "after-commit", "after-pointer"):
        for worker in workers:
            rig.kill(worker)  # those of the last round would do the jobs before the sleeper has started
        sleeper = rig.worker("two", slots=1, stop_at=point)
        for _ in range(rig.size(6)):
            rig.change(asset, append(rig))
        rig.wait_until_still(sleeper)
        workers = [sleeper, rig.worker("one")]
        rig.wait_for_ended(len(rig.assets) - rig.random.randint(0, 2))
        sleeper.signal(signal.SIGCONT)
        rig.change(asset, append(rig))
        rig.wait_for_ended(len(rig.assets))
    rig.wait_for_ended(len(rig.assets))


@scenario("bucket-scratch-full", "a worker's scratch folder is full, and later emptied: no attempt burnt, no job "
          "claimed meanwhile", rig=BucketRig)
def bucket_scratch_full(rig):
    scratch = f"{rig.folder}/scratch-w1"
    os.makedirs(scratch)
    rig.small_folder(scratch, 160 * MB)
    rig.start_server()
    worker = rig.ready_worker()
    for leave in (0, 300_000):  # no room for an original; for one, but not for what is made of it
        make_room = rig.ballast(leave, scratch)
        rig.send(rig.size(6), SMALL)
        rig.wait_until_away(worker, "No space left")
        rig.pause(1, 2)
        before = rig.claims()
        rig.pause(3, 4)
        assert not rig.claimed_since(before), f"claimed while the folder was full: {rig.claimed_since(before)}"
        make_room()
        finish(rig)

"""Publications that a server forgets, that another server's workers could harm, and that can never succeed."""

import collections
import json
import os
import shutil
import signal
import subprocess

from photo_rig import PhotoRig
from processes import children, eventually
from scenarios.registry import scenario
from servers import Server

# Applied twice they give another picture than applied once.
APPEND = {"mode": "append", "filters": [{"name": "CIVignette", "inputIntensity": 0.6, "inputRadius": 1.5}]}
UNDO = {"mode": "undo"}
SMALL = ["sketch.png"]
CARRIES_MAX = 3


@scenario("redis-forgets-edits", "redis-server loses its last second, in which an append and an undo were published; "
          "each is published once", server_may_lose=True, rig=PhotoRig)
def redis_forgets_edits(rig):
    server = rig.start_server()
    worker = rig.worker()
    rig.send(1, SMALL)
    [asset] = rig.assets.values()
    rig.wait_for_completed(1)
    for edit in [APPEND, APPEND, UNDO, APPEND, UNDO][:max(2, rig.size(5))]:
        # Stopped, so that the copy of the file has the entry and nothing that came of it.
        worker.signal(signal.SIGSTOP)
        job = rig.edit(asset, edit)
        # Redis answers up to two seconds before it writes, while an fsync is under way.
        eventually("the file has the entry", lambda: has(server.append_only_file(), job))
        kept = f"{rig.folder}/kept"
        shutil.copytree(f"{server.folder}/appendonlydir", kept)
        before = ended(rig)
        worker.signal(signal.SIGCONT)
        eventually("the edit is published", lambda: ended(rig) > before, 120)
        server.kill()
        shutil.rmtree(f"{server.folder}/appendonlydir")
        os.rename(kept, f"{server.folder}/appendonlydir")
        server.start()
        # The queue believes that it was never done, and has it done again.
        eventually("the edit ends again", lambda: ended(rig) > before, 120)
    made = collections.Counter(rig.authors())
    again = [f"{job}, generation {generation}, {count} times" for (job, generation), count in made.items() if count > 1]
    assert not again, f"published more than once: {'; '.join(again)}"
    assert len(made) == len(rig.assets), f"{len(made)} versions of {len(rig.assets)} edits"


def has(path, words):
    with open(path, "rb") as file:
        return words.encode() in file.read()


def ended(rig):
    return rig.counted("completed", "unchanged")


@scenario("two-servers-one-library", "workers of two Redis servers with the same queue name share a library; neither "
          "removes what the other makes", rig=PhotoRig)
def two_servers_one_library(rig):
    rig.start_server()
    blue = rig.worker("blue", stop_at="mid-render")
    rig.send(1, SMALL)
    child = eventually("a render stands still", lambda: [pid for pid, state in children(blue).items() if state == "T"])
    green_server = Server(f"{rig.folder}/green-server")
    rig.ends.append(green_server.end)
    # A worker sweeps when it starts, and to this server the other one's job is unknown.
    green = rig.worker("green", server=green_server)
    eventually("the other worker starts", lambda: green.has_said("worker starts"))
    rig.pause(1, 2)
    assert not green.has_said("swept"), "the other server's worker removed what is being made"
    for pid in child:
        os.kill(pid, signal.SIGCONT)
    rig.wait_for_completed(1)
    assert rig.attempts_burnt() == 0, f"{rig.attempts_burnt()} attempts burnt"
    [job] = rig.assets
    assert not rig.server("HGET", f"minilab:{{photos}}:job:{job}", "rebases"), "it had to be rendered again"


@scenario("publication-stuck", "versions that can never be published are carried on so often, then stuck and told "
          "everywhere; replay, doctor and cancel end them", rig=PhotoRig)
def publication_stuck(rig):
    rig.settings = rig.settings_with({"carries.max": CARRIES_MAX, "retry.cap": "100ms"})
    rig.start_server()
    worker = rig.worker()
    eventually("the worker starts", lambda: worker.has_said("worker starts"))
    # A file where the folder of an asset's versions has to be: rendering does not meet it, publishing does.
    rig.before_sending = lambda asset: obstruct(rig, asset)
    rig.send(3, SMALL)
    rig.before_sending = None
    rig.send(1, SMALL)  # another asset: nobody holds it up
    first, second, third, free = rig.assets
    later = rig.edit(rig.assets[first], APPEND)
    eventually("three jobs are stuck", lambda: rig.status()["stuck"] == 3, 120)
    rig.wait_for_completed(1)

    # Told everywhere, and carried on no more than allowed.
    stuck = {event["data"]["job"]: event["data"] for event in rig.events_of("stuck")}
    assert stuck.keys() == {first, second, third}, f"events of {sorted(stuck)}"
    assert all(data["carries"] == CARRIES_MAX and data["error"]["code"] == "ioFailure" for data in stuck.values()), stuck
    history = json.loads(rig.command("status", first, "--json"))["history"]
    assert len(history) == 1 + CARRIES_MAX, history
    for arguments, words in [
            (["status"], f"STUCK {first}"), (["top", "--once"], "STUCK: 3 jobs"), (["explain", first], "stuck since"),
            (["explain", later], f"job {first}, which is stuck")]:
        said = rig.command(*arguments)
        assert words in said, f"{words!r} is not in what {arguments} says: {said}"
    gauges = rig.metric(worker, "minilab_queue_jobs")
    assert [number for labels, number in gauges.items() if '"stuck"' in labels] == [3], gauges
    assert "is stuck" in diagnosis(rig), diagnosis(rig)

    # One is replayed, one mended by the doctor, and one, which can still not be published, is cancelled.
    clear(rig, rig.assets[first])
    rig.command("replay", first)
    rig.wait_for_completed(3)  # it, and the later edit of its asset
    clear(rig, rig.assets[second])
    diagnosis(rig, "--repair")
    rig.wait_for_completed(4)
    eventually("the third is stuck again", lambda: rig.status()["stuck"] == 1, 120)
    rig.command("cancel", third, "--reason", "its folder is not repaired")
    [cancelled] = rig.events_of("cancelled")
    assert "could not be published" in cancelled["data"]["reason"], cancelled
    clear(rig, rig.assets.pop(third))
    # What was staged for it goes with the next sweep, such as that of a worker that starts.
    rig.worker()
    eventually("its version is swept", lambda: not os.listdir(f"{rig.library}/staging/photos"), 60)
    assert rig.effects().keys() == {(job, 1) for job in (first, second, free, later)}, rig.effects()


def obstruct(rig, asset):
    os.makedirs(f"{rig.library}/edits/{asset}")
    with open(f"{rig.library}/edits/{asset}/versions", "w"):
        pass


def clear(rig, asset):
    os.remove(f"{rig.library}/edits/{asset}/versions")


def diagnosis(rig, *options):
    """What `minilab doctor` prints, however it ends."""
    try:
        return rig.command("doctor", *options)
    except subprocess.CalledProcessError as error:
        return error.stdout

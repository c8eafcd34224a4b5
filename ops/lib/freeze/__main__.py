"""Makes the frozen state of a release; see ops/freeze."""

import json
import os
import shutil
import sys
import tempfile
import time

import tidy_end
from world import World

BYTES_MAX = 1_000_000


def main():
    tidy_end.on_signals()
    minilab, version, into = sys.argv[1:]
    folder = tempfile.mkdtemp(prefix="minilab-freeze-")
    world = World(minilab, folder)
    try:
        expected = live(world)
        made = f"{folder}/made"
        os.makedirs(made)
        world.pack_library(f"{made}/library.tar.gz")
        shutil.copy(world.dead_file(), f"{made}/dead.ndjson")
        expected = {"release": version, "made": time.strftime("%Y-%m-%d", time.gmtime()), "server": world.server_name(), **expected}
        with open(f"{made}/expected.json", "w") as file:
            json.dump(expected, file, indent=1, sort_keys=True)
            file.write("\n")
        world.pack_queue(f"{made}/queue.aof")
        size = sum(entry.stat().st_size for entry in os.scandir(made))
        if size > BYTES_MAX:
            raise SystemExit(f"freeze: {made} has {size} bytes; at most {BYTES_MAX} may be committed")
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(made, into)
        print(f"freeze: {into}: {size} bytes, {len(expected['jobs'])} jobs, {len(expected['files'])} files of versions")
    finally:
        world.end()
        shutil.rmtree(folder)


def live(world):
    """Lives through what queues have at a moment, and gives what is expected of it."""
    world.begin_library()
    for name in ("one", "two", "three", "four"):
        world.draw(f"{name}.png")

    # What has ended. The first worker keeps no dead job in Redis.
    world.send("gone", "gone.png")
    with world.worker("spills", {"dead.records": 0}):
        world.wait_for("the dead job is in a file", world.dead_file)
    world.send("sepia", "one.png", {"filters": [{"name": "CISepiaTone", "inputIntensity": 0.8}]})
    with world.worker("works"):
        world.wait_for_state("sepia", "done")
        # A second version on top of the first, a JPEG, a rendition, and two members of a batch.
        world.send("again", "one.png", {"filters": [{"name": "CIPhotoEffectMono"}], "output": {"format": "jpeg"}})
        world.send("sizes", "two.png", {
            "filters": [{"name": "CIColorInvert"}], "renditions": {"web": {"box": [32, 32], "format": "jpeg"}}})
        world.send("draft", "two.png", {"draft": True, "filters": [{"name": "CIPhotoEffectNoir"}]})
        world.batch("spring", ["three.png", "four.png"])
        for job in ("again", "sizes", "draft", "spring:0", "spring:1"):
            world.wait_for_state(job, "done")
        world.send("missing", "missing.png")
        world.wait_for_state("missing", "dead")

    # What workers held when they died: before any render, and between the pointer and the event.
    for job, asset, point in (("claimed", "three.png", "after-claim"), ("published", "four.png", "after-pointer")):
        world.send(job, asset, {"filters": [{"name": "CIColorInvert"}]})
        world.die_at(point, f"dies-{point}")

    # What waits: admitted and ready, parked behind it, for its time, in the stream of a batch, and not admitted.
    world.minilab("pause", "frozen")
    world.send("ready", "one.png", tenant="acme", priority="interactive")
    world.send("parked", "one.png", {"filters": [{"name": "CIPhotoEffectChrome"}]}, tenant="acme")
    world.send("fields", "two.png", {"filters": [{"name": "CISepiaTone"}]}, fields='{"name":"Ana"}')
    world.send("later", "four.png", notBefore=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60)))
    with world.worker("admits"):
        for job, state in (("ready", "ready"), ("parked", "parked"), ("fields", "ready"), ("later", "delayed")):
            world.wait_for_state(job, state)
    world.batch("summer", ["three.png", "two.png", "four.png"])
    world.send("new", "three.png")
    world.minilab("resume")

    keys = [
        world.key("--tenant", "acme", "--prefix", "acme/", "--scope", "enqueue,read", "--backlog", "500"),
        world.key("--operator", "--scope", "read,operate,admin"),
    ]
    jobs = {job: world.state(job) for job in world.sent}
    return {"queue": "photos", "jobs": jobs, "keys": keys, "files": world.files()}


main()

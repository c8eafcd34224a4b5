"""Workers that die while renditions are made, in all ways in which they are made."""

import os

from processes import eventually
from renditions_rig import RENDITIONS, RenditionsRig
from scenarios.registry import scenario

SMALL = ["sketch.png", "tulips.jpg"]
SEPIA = {"filters": [{"name": "CISepiaTone"}], "renditions": RENDITIONS}
INVERT = {"mode": "append", "filters": [{"name": "CIColorInvert"}]}
LATER = {"mode": "renditions", "renditions": {"thumb": {"box": [32, 32], "hash": "thumb"}}}


@scenario("renditions-kill", "workers are killed while they make renditions with their version, later, and again of files "
          "that are gone; each that an event tells is in its place with its digest", is_short=True, rig=RenditionsRig)
def renditions_kill(rig):
    rig.start_server()
    rig.send(rig.size(40), SMALL, SEPIA)
    storm(rig)
    first = list(rig.assets.values())

    # Another version hides them, some get more, and nobody's program removes some.
    rig.deliver([rig.add(asset, INVERT) for asset in first])
    rig.deliver([rig.add(asset, LATER) for asset in first[::2]])
    storm(rig)
    removed = [path for folder, paths in sorted(rig.sizes().items()) for path in paths if rig.random.random() < 0.5]
    for path in removed:
        os.remove(path)

    # An undo makes them again in its own version, and a job of its own in theirs.
    undo = {"mode": "undo", "remake": True}
    rig.deliver([rig.add(asset, undo) for asset in first])
    for folder in sorted({os.path.dirname(path) for path in removed}):
        asset, version = os.path.relpath(folder, f"{rig.library}/edits").split("/sizes/")
        remake = rig.add(asset, {"mode": "renditions", "remake": True, "version": version})
        rig.may_be_unchanged.add(remake)
        rig.deliver([remake])
    storm(rig)
    rig.remarks.append(f"{len(removed)} files of renditions were removed and made again")


def storm(rig):
    """Lets all jobs end while workers are killed."""
    def done():
        return rig.counted("completed", "rendered", "unchanged")
    worker = rig.workers[-1] if rig.workers else rig.worker()
    while (before := done()) < len(rig.assets):
        # The next one dies when some more jobs are done, not after some time: the machine may be slow.
        eventually("some more jobs are done", lambda: done() >= min(len(rig.assets), before + 5), 300)
        rig.pause(0, 0.3)
        rig.kill(worker)
        worker = rig.worker()
    rig.wait_until_drained()

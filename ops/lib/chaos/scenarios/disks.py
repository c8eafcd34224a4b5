"""A library whose disk is full, or is not there."""

import os
import signal
import subprocess

from mounts import unmount
from photo_rig import PhotoRig
from processes import eventually
from scenarios.registry import scenario

MB = 1 << 20
EDIT = {"filters": [{"name": "CISepiaTone"}]}
TURN = {"filters": [{"name": "turn"}, {"name": "CIVignetteEffect", "inputRadius": 500}]}


@scenario("disk-full-render", "the library's disk is full while renders are written; then there is room again",
          is_short=True, rig=PhotoRig)
def disk_full_render(rig):
    rig.small_library(64 * MB)
    rig.start_server()
    worker = rig.worker(slots=3)
    eventually("the worker starts", lambda: worker.has_said("worker starts"))
    for leave in (0, 40_000, 150_000):  # no folder, no sidecar, no render has room
        done = rig.completed()
        make_room = rig.ballast(leave)
        rig.send(rig.size(10), ["sketch.png"])
        rig.wait_for_retries(len(rig.events_of("retried")) + 5, "noSpace")
        make_room()
        rig.wait_for_completed(done + rig.size(10))
    remember(rig)


@scenario("disk-full-spool", "a turn finds no room for what it has to keep; then the disk grows", rig=PhotoRig)
def disk_full_spool(rig):
    rig.small_library(SMALLER_THAN_SPOOL)
    rig.start_server()
    large = f"{rig.folder}/large.jpg"
    subprocess.run([rig.minilab, "render", "--filter", "CILanczosScaleTransform:inputScale=4",
                    f"{os.path.dirname(__file__)}/../../../../jobs/photos/chrysanthemum.jpg", large], check=True,
                   stdout=subprocess.DEVNULL)
    rig.send(2, [large], TURN)
    rig.worker(slots=1)
    rig.wait_for_retries(2, "noSpace", within=300)
    subprocess.run(["mount", "-o", f"remount,size={1024 * MB}", rig.library], check=True)
    rig.wait_for_completed(2)
    remember(rig)


SMALLER_THAN_SPOOL = 48 * MB  # 55 MP of RGB take 165 MB


@scenario("disk-full-commit", "the disk is full, of bytes and of files, when versions are complete and not yet "
          "published", rig=PhotoRig)
def disk_full_commit(rig):
    rig.small_library(64 * MB, files=2000)
    rig.start_server()
    worker = None
    for point in ("before-commit", "after-commit"):
        if worker:
            rig.kill(worker)  # else it would do the next one's jobs before that one has started
        worker = rig.worker(slots=1, stop_at=point)
        rig.send(rig.size(10), ["sketch.png"])
        eventually("it stands still", lambda: worker.is_stopped, 120)
        make_room, remove_files = rig.ballast(), fill_with_files(rig.library)
        done, refused = rig.completed(), unpublished(rig)
        worker.signal(signal.SIGCONT)
        # Whoever has the job then keeps the version, and tries again when its lease is over.
        eventually("a version cannot be published", lambda: unpublished(rig) > refused, 120)
        assert rig.completed() == done, "an event tells of a version that had no room"
        remove_files()
        make_room()
        rig.wait_until_drained()
    remember(rig)


def unpublished(rig):
    """How often workers said that a version had no room in its place."""
    count = 0
    for worker in rig.workers:
        with open(worker.log) as log:
            count += log.read().count("the version could not be published")
    return count


def fill_with_files(folder):
    """Takes every inode; gives a function that gives them back."""
    numbers = []
    try:
        while True:
            os.close(os.open(f"{folder}/file-{len(numbers)}", os.O_CREAT | os.O_WRONLY))
            numbers.append(len(numbers))
    except OSError:
        pass  # that was the last one

    def remove():
        for number in numbers:
            os.remove(f"{folder}/file-{number}")
    return remove


@scenario("disk-unmounted", "the disk of the library, and then that of the originals, is unmounted beneath busy workers for more than a "
          "lease, and mounted again: no attempt burnt, no job claimed, nothing written beneath it", rig=PhotoRig)
def disk_unmounted(rig):
    rig.small_library(256 * MB)
    rig.small_folder(rig.originals, 256 * MB)
    rig.start_server()
    workers = [rig.worker() for _ in range(2)]
    rig.wait_for_workers()
    for folder, words in ((rig.library, "is not at"), (rig.originals, "there is no original left at")):
        done = rig.completed()
        rig.send(rig.size(60), ["sketch.png"])
        rig.wait_for_completed(done + 5)
        mount = unmount(folder, rig.ends)
        beneath = os.listdir(folder)
        for worker in workers:
            rig.wait_until_away(worker, words)
        rig.pause(2, 3)  # a job that was claimed before goes back, or waits with its version committed
        before = rig.claims()
        assert any(state == "ready" for state, _ in before.values()), "all jobs were done before the disk was away"
        rig.pause(12, 15)
        assert not rig.claimed_since(before), f"claimed while the disk was away: {rig.claimed_since(before)}"
        assert all(rig.readiness(worker)[0] == 503 for worker in workers), "a worker calls itself ready"
        assert os.listdir(folder) == beneath, f"written beneath the disk: {os.listdir(folder)}"
        mount()
        for worker in workers:
            eventually("the worker is ready again", lambda: rig.readiness(worker)[0] == 200, 60)
        rig.wait_until_drained()
    assert not rig.events_of("retried"), "attempts were burnt"


def remember(rig):
    codes = {}
    for event in rig.events_of("retried"):
        code = event["data"]["error"]["code"]
        codes[code] = codes.get(code, 0) + 1
    rig.wait_until_drained()
    rig.remarks.append(f"attempts that failed: {codes}")
    assert set(codes) <= {"noSpace"}, f"a full disk was called {codes}"

"""A long movie that several workers render part by part."""

import os
import shutil
import subprocess
import threading

from photo_rig import PhotoRig
from processes import children, eventually
from scenarios.registry import Skipped, scenario

MINUTES = int(os.environ.get("MINILAB_CHAOS_MOVIE_MINUTES", "4"))
FRAMES_PER_SECOND = 5
MINUTE_SECONDS = 60
SEPIA = {"filters": [{"name": "CISepiaTone"}]}
WATCH_SECONDS = 1.0
MB = 1_000_000


def make_movie(path, minutes):
    """A 1080p movie of so many equal minutes: one is coded, the others are copies of it."""
    if not shutil.which("ffmpeg"):
        raise Skipped("there is no ffmpeg; ops/setup test installs it")
    one, names = path + ".minute.mov", path + ".txt"
    quiet = ["ffmpeg", "-v", "error", "-y"]
    subprocess.run([*quiet, "-f", "lavfi", "-i", f"testsrc2=s=1920x1080:r={FRAMES_PER_SECOND}:d={MINUTE_SECONDS}",
                    "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(4 * FRAMES_PER_SECOND),
                    one], check=True)
    with open(names, "w") as file:
        file.write(f"file '{one}'\n" * minutes)
    subprocess.run([*quiet, "-f", "concat", "-safe", "0", "-i", names, "-c", "copy", path], check=True)
    os.unlink(one)
    os.unlink(names)


def frames_of(path):
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-count_packets", "-show_entries", "stream=nb_read_packets",
         "-of", "csv=p=0", path], check=True, capture_output=True, text=True).stdout
    return int(found.strip().strip(","))


class Peaks:
    """The most memory of a render child, and the most disk of the library, while the body runs."""

    def __init__(self, rig):
        self.rig, self.memory, self.disk = rig, 0, 0
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.end.wait(WATCH_SECONDS):
            for worker in list(self.rig.workers):
                for child in children(worker):
                    self.memory = max(self.memory, self.peak_of(child))
            self.disk = max(self.disk, sum(self.size(folder, name) for folder, _, names in os.walk(self.rig.library)
                                           for name in names))

    @staticmethod
    def peak_of(child):
        try:
            with open(f"/proc/{child}/status") as status:
                return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")), 0)
        except OSError:
            return 0  # it has ended meanwhile

    @staticmethod
    def size(folder, name):
        try:
            return os.stat(os.path.join(folder, name)).st_blocks * 512
        except OSError:
            return 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.end.set()
        self.thread.join()


@scenario("long-movie", "three workers render the parts of a long 1080p movie (MINILAB_CHAOS_MOVIE_MINUTES), one of them "
          "is killed", rig=PhotoRig)
def long_movie(rig):
    source = f"{rig.folder}/long.mov"
    make_movie(source, MINUTES)
    frames = frames_of(source)
    rig.start_server()
    workers = [rig.worker(slots=1) for _ in range(3)]
    rig.wait_for_workers()
    with Peaks(rig) as peaks:
        rig.send(1, [source], SEPIA)
        job = next(iter(rig.assets))

        def kept():
            return sorted(name for _, _, names in os.walk(f"{rig.library}/segments") for name in names
                          if not name.startswith("."))

        def holders():
            # A part is held like a job, and is none to `minilab status`.
            held = rig.server("ZRANGE", "minilab:{photos}:lease", 0, -1)
            workers = rig.server.pipeline([("HGET", f"minilab:{{photos}}:job:{name}", "worker") for name in held])
            return {name: worker for name, worker in zip(held, workers) if worker}

        def are_at_it():
            assert rig.completed() == 0, "the movie was done before all workers were at it"
            return len(kept()) >= 3 and len(set(holders().values())) == 3
        eventually("three parts are kept and all workers are at it", are_at_it, 600, every=0.2)
        # One that helps: what it has begun is done by another.
        holder = holders()[job]
        helper = next(name for name in holders().values() if name != holder)
        rig.kill(workers[int(helper.removeprefix("w")) - 1])
        rig.wait_for_completed(1, within=3600)
    rig.wait_until_drained()
    told = [event["data"]["framesDone"] for event in rig.events_of("progressed")]
    assert told == sorted(told) and len(told) <= 9, told
    ended = rig.events_of("completed")[0]["data"]
    result = os.path.join(rig.library, ended["render"].get("path") or ended["version"]["path"])
    assert frames_of(result) == frames, f"{frames_of(result)} frames of {frames}"
    assert not kept(), f"parts are left: {kept()}"
    rig.remarks.append(
        f"{MINUTES} min of 1080p, {frames} frames: {ended['timings']['renderMilliseconds'] / 1000:.0f} s, told {told}, "
        f"largest child {peaks.memory / MB:.0f} MB, library {peaks.disk / MB:.0f} MB at most, "
        f"source {os.path.getsize(source) / MB:.0f} MB, result {ended['render']['bytes'] / MB:.0f} MB")

"""200 photos of all formats and many sizes, with five edits in turn, through `minilab run` in a small group."""

import json
import math
import os
import shutil

import jpeg_bench
from measure import run
from table import Goal, Row

MB = 1 << 20
LIMIT = 512 * MB
SLOTS = 2
SECONDS_MAX = 1800
# Sizes that their decoders can take in the limit; baseline JPEG, PNG and TIFF stream at any size.
MIX = [  # how many, megapixels, extension, and how it is written
    (58, 12, "jpg", {}), (28, 24, "jpg", {}), (10, 48, "jpg", {}), (4, 108, "jpg", {}), (2, 400, "jpg", {}),
    (14, 12, "jpg", {"interlace": True}), (6, 24, "jpg", {"interlace": True}), (2, 50, "jpg", {"interlace": True}),
    (20, 12, "heic", {"Q": 60, "effort": 0}), (6, 4, "avif", {"Q": 60, "effort": 0}),
    (8, 2, "png", {"compression": 1}), (3, 12, "png", {"compression": 1}), (1, 50, "png", {"compression": 1}),
    (2, 4, "png", {"compression": 1, "interlace": True}),
    (6, 24, "tif", {}), (4, 24, "tif", {"deep": True}), (1, 100, "tif", {"deep": True}),
    (8, 4, "webp", {}), (2, 16, "webp", {}),
    (6, 4, "jxl", {"effort": 3}), (1, 12, "jxl", {"effort": 1}),
    (8, 1, "gif", {"effort": 1}),
]
# Whose decoders need more than the limit, whatever is done: they have to be refused, with the figure.
TOO_LARGE = [(1, 400, "jpg", {"interlace": True}), (1, 64, "jxl", {"effort": 3})]
EDITS = [
    [{"name": "CISepiaTone", "inputIntensity": 0.8}],
    jpeg_bench.EIGHT[:7],
    [{"name": "turn"}, {"name": "CIVibrance", "inputAmount": 0.4}],
    [{"name": "CIGaussianBlur", "inputRadius": 8}, {"name": "CISharpenLuminance"}],
    [{"name": "CIStraightenFilter", "inputAngle": 0.05}, {"name": "CIExposureAdjust", "inputEV": 0.3}],
]


def mixed(given, photos):
    folder = os.path.join(given.folder, "mixed")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    try:
        jobs = [job for size in MIX for job in put(size, photos, folder)]
        refused = [job for size in TOO_LARGE for job in put(size, photos, folder)]
        pixels = sum(count * megapixels for count, megapixels, *_ in MIX)
        free, free_report = work(given, folder, jobs)
        yield Row(f"{len(jobs)} mixed photos, {pixels:,} MP, {SLOTS} slots, no limit", free,
                  faults=faults(free, free_report))
        bound, report = work(given, folder, jobs, LIMIT)
        yield Row("the same in a group of 512 MiB, Redis included", bound,
                  [Goal("done", len(report.get("completed", [])), least=len(jobs)),
                   Goal("throughput ÷ without limit", free.wall / bound.wall, least=0.85)],
                  faults(bound, report))
        taken, report = work(given, folder, refused, LIMIT)
        codes = [job["error"]["code"] for job in report.get("failed", [])]
        yield Row(f"{len(refused)} photos that cannot be done in 512 MiB", taken,
                  [Goal("refused as exceedsMemoryBudget", codes.count("exceedsMemoryBudget"), least=len(refused))],
                  faults(taken, {}))
    finally:
        shutil.rmtree(folder)


def put(size, photos, folder):
    """Puts photos of a size into the folder, which share the bytes of one; gives their jobs."""
    count, megapixels, extension, options = size
    width = round(math.sqrt(megapixels * 1e6 * 4 / 3))
    words = [f"{megapixels}mp"] + sorted(name for name in options if name in ("interlace", "deep"))
    name = "-".join(words)
    settings = {"jpg": {"Q": 90, "subsample_mode": "on"}}.get(extension, {})
    original = photos.saved(f"{name}.{extension}", width, width * 3 // 4, **settings, **options)
    jobs = []
    for number in range(count):
        asset = f"{name}-{number}.{extension}"
        os.link(original, os.path.join(folder, asset))
        jobs.append({"id": asset, "asset": asset, "edit": {}})
    return jobs


def work(given, folder, jobs, limit=None):
    """Gives what a run of the jobs took, and its report."""
    manifest, state = os.path.join(folder, "jobs.ndjson"), os.path.join(folder, "state")
    with open(manifest, "w") as file:
        # In the order of a stream that everybody fills: large and small ones, of all formats, side by side.
        for place, job in enumerate(sorted(jobs, key=lambda job: hash_of(job["id"]))):
            file.write(json.dumps({**job, "edit": {"filters": EDITS[place % len(EDITS)]}}) + "\n")
    words = [given.minilab, "run", manifest, "--state", state, "--slots", SLOTS, "--json"]
    # They are a few files under many names: else the second of a kind would only be linked.
    environment = {"MINILAB_RENDER_REUSE": "false"}
    originals = [os.path.join(folder, job["asset"]) for job in jobs]
    try:
        taken, text = run(words, limit, SECONDS_MAX, originals, environment)
    finally:
        shutil.rmtree(state, ignore_errors=True)
    return taken, json.loads(text) if text else {}


def hash_of(text):
    """The same in every process, as Python's own is not."""
    number = 2166136261  # FNV-1a
    for byte in text.encode():
        number = (number ^ byte) * 16777619 & 0xFFFFFFFF
    return number


def faults(taken, report):
    found = [f"{len(report['failed'])} failed: {job['asset']}: {job['error']['code']}"
             for job in report.get("failed", [])[:1]]
    burnt = sum(job["attempt"] - 1 for job in report.get("completed", []))
    if burnt:
        found.append(f"{burnt} attempts burnt")
    # A run ends with 1 when a job failed; that is told by its report.
    if taken.end and not taken.end.startswith("ended with 1:"):
        found.append(taken.end)
    return found

"""The library's disk is full; old versions that nobody reads make room."""

import os

from drills import Unable
from mounts import fill, mount_tmpfs

SEE = "`noSpace` as the reason"
ALSO = ["jobs-fail"]
MB = 1 << 20
# A disk of this size; versions of a photo of this size take about 0.4 MB each.
DISK, SIDE = 24 * MB, 360
VERSIONS = 10


def drill(site):
    if reason := mount_tmpfs(site.library, site.ends, DISK):
        raise Unable(reason)
    os.makedirs(f"{site.library}/originals")
    site.worker()
    asset = site.photo("often.png", SIDE, SIDE)
    for number in range(VERSIONS):
        site.send(f"often-{number}", asset, {"filters": [{"name": "CISepiaTone", "inputIntensity": number / VERSIONS}]})
        site.wait_for_counter("completed", number + 1)
    site.photo("late.png", SIDE, SIDE)
    fill(f"{site.library}/neighbour")
    site.send("late", "late.png")

    site.see("minilab dead", "noSpace")
    site.run("df -h", site.library)
    site.run("df -i", site.library)
    site.see("minilab gc --dry-run --keep 5 --days 0", "often.png|version")
    site.does("without `--dry-run` they go", "minilab gc --keep 5 --days 0")
    code, said = site.minilab("gc", "--keep", "5", "--days", "0")
    assert code == 0, said
    site.run("minilab replay --all")
    site.is_well(completed=VERSIONS + 1)

"""The library's disk is unmounted beneath a worker; jobs wait unburnt, and are done when it is mounted again."""

import os

from drills import Unable
from mounts import mount_tmpfs, unmount

SEE = "`/readyz` says that the library is not at its place"
DISK = 64 << 20
PHOTOS = 20


def drill(site):
    if reason := mount_tmpfs(site.library, site.ends, DISK):
        raise Unable(reason)
    os.makedirs(f"{site.library}/originals")
    site.worker()
    site.send("first", site.photo("first.png"))
    site.wait_for_counter("completed", 1)
    for number in range(PHOTOS):
        site.photo(f"later-{number}.png", seed=number)

    mount = unmount(site.library, site.ends)
    for number in range(PHOTOS):
        site.send(f"later-{number}", f"later-{number}.png")
    text = site.until("/readyz says it", lambda: away(site))
    print(f"  /readyz says: {text[:300]}")
    site.see("journalctl -u minilab -n 50", "is not at")
    site.run("findmnt --target LIBRARY", LIBRARY=site.library)
    site.run("ls LIBRARY", LIBRARY=site.library)
    late = site.worker("late", ready=False)
    late.wait_for_end()
    assert late.has_said("Is the right disk mounted?"), "a worker that starts without the disk does not say why it ends"
    assert len(site.events("completed")) == 1, "jobs were done without the disk"

    site.does("Mount it.", "mount")
    mount()
    site.is_well(completed=1 + PHOTOS)
    assert not site.events("retried") and not site.events("failed"), "attempts were burnt"


def away(site):
    status, text = site.page("minilab", "/readyz")
    return text if status == 503 and "is not at" in text else None

"""Two rendered photos cannot be published, because their folders are not as Minilab made them."""

import os

SEE = "stuck is not 0"


def drill(site):
    site.configure({"carries.max": 1, "retry.cap": "100ms"})
    site.worker()
    stuck = ["photo-0", "photo-1"]
    for job in stuck:
        obstruct(site, f"{job}.png")
    jobs = site.send_photos(3)

    site.see("minilab status", r"stuck +2")
    site.see("minilab status", "STUCK photo-0")
    site.see("minilab explain JOB", "stuck", JOB=stuck[0])
    site.run("ls -la LIBRARY/edits/ASSET", LIBRARY=site.library, ASSET=f"{stuck[0]}.png")

    for job in stuck:
        os.remove(f"{site.library}/edits/{job}.png/versions")
    site.run("minilab replay JOB", JOB=stuck[0])
    site.run("minilab doctor --repair")
    site.is_well(completed=len(jobs))


def obstruct(site, asset):
    """A file where the folder of an asset's versions has to be: rendering does not meet it, publishing does."""
    os.makedirs(f"{site.library}/edits/{asset}")
    with open(f"{site.library}/edits/{asset}/versions", "w"):
        pass

"""A hand in redis-cli has taken a job out of its place, so that no worker finds it."""

SEE = "`minilab doctor` ends with 1"


def drill(site):
    site.minilab("pause", "so that the job stays where it is")
    site.worker()
    [job] = site.send_photos(1)
    site.wait_for_counter("admitted", 1)
    assert site.redis("ZREM", "minilab:{photos}:ready:normal:default", job) == 1
    site.minilab("resume")

    site.see("minilab doctor", f"wrong: job {job} is not in")
    site.run("minilab doctor", fails=1)
    site.run("minilab doctor --repair")
    site.is_well(completed=1)

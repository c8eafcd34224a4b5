"""Somebody misses photos: some are done and their events were missed, another one was never sent."""

SEE = "all is 0 and somebody misses a photo"


def drill(site):
    site.worker()
    site.send("done", site.photo("done.png"))
    nameless = site.send(None, site.photo("nameless.png", seed=1))
    site.wait_for_counter("completed", 2)

    site.see("minilab status", r"incoming +0")
    site.see("minilab explain JOB", "version", JOB="done")
    site.run("minilab explain JOB", JOB=nameless)
    site.see("minilab events --json | grep JOB", "completed", JOB="done")
    site.see("minilab explain JOB", "^unknown", JOB="never-sent")

    site.photo("never-sent.png")
    for _ in range(2):
        site.does("it sends again, with the same `id`", "never-sent")
        site.send("never-sent", "never-sent.png")
    site.is_well(completed=3)

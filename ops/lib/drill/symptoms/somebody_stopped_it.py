"""Somebody has paused the queue, and set a tenant's cap to nothing to speak of."""

SEE = "`top` says PAUSED, or a tenant is at its cap"


def drill(site):
    worker = site.worker(settings={"MINILAB_TEST_STOP_AT": "mid-render"}, slots=3)
    site.run('minilab pause "library is being moved"')
    site.see("minilab top", "PAUSED: .*library is being moved", "--once")
    jobs = site.send_photos(3)
    site.wait_for_counter("admitted", 3)
    assert site.state()["active"] == 0, "a job began in a queue that is paused"

    site.run("minilab limit --tenant acme --cap 8", acme="default", **{"8": "1"})
    site.run("minilab resume")
    site.child_stands_still(worker)
    site.see("minilab top", "at its cap", "--once")
    assert site.state()["active"] == 1, site.state()

    site.run("minilab limit --tenant acme --cap 8", acme="default")
    site.let_renders_go_on([worker], len(jobs))
    site.is_well(completed=len(jobs))

"""More jobs come than one worker of one slot renders; a second worker takes its share at once."""

SEE = "ready grows, active is not 0"
JOBS = 12
# Some tenths of a second each.
SLOW = {"filters": [{"name": "CIMotionBlur", "inputRadius": 60}, {"name": "CIGaussianBlur", "inputRadius": 30}]}


def drill(site):
    site.worker(slots=1)
    site.send_photos(JOBS, SLOW, width=600, height=400)

    site.see("minilab top", r"ready [1-9]\d*,.*active [1-9]", "--once")
    site.run("minilab status")
    site.does("Start workers on this machine or another", "a worker more, with the same Redis and library")
    second = site.worker("second", slots=2)

    site.is_well(completed=JOBS)
    done = [event["worker"] for event in site.events("completed")]
    assert set(done) == {"minilab", "second"}, f"done by {set(done)}"
    print(f"  ✓ the second worker has done {done.count('second')} of {JOBS}")
    site.does("Stop them again at any time with SIGTERM", "systemctl stop second")
    second.stop()

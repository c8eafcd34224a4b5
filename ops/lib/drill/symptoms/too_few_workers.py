"""More jobs come than one worker of one slot renders; a second worker takes its share at once."""

import os
import signal

from processes import children

SEE = "ready grows, active is not 0"
JOBS = 12


def drill(site):
    # Its render stands still: a worker that is slow, whatever the machine.
    first = site.worker(slots=1, settings={"MINILAB_TEST_STOP_AT": "mid-render"})
    site.send_photos(JOBS)
    site.child_stands_still(first)

    site.see("minilab top", r"ready [1-9]\d*,.*active [1-9]", "--once")
    site.run("minilab status")
    site.does("Start workers on this machine or another", "a worker more, with the same Redis and library")
    second = site.worker("second", slots=2)

    site.wait_for_counter("completed", JOBS - 1)
    for child in children(first.child):
        os.kill(child, signal.SIGCONT)
    site.is_well(completed=JOBS)
    done = [event["worker"] for event in site.events("completed")]
    assert set(done) == {"minilab", "second"}, f"done by {set(done)}"
    print(f"  ✓ the second worker has done {done.count('second')} of {JOBS}")
    site.does("Stop them again at any time with SIGTERM", "systemctl stop second")
    second.stop()

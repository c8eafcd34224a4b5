"""A worker may use so little memory that one render at a time fits into it; the others wait."""

import os
import signal

from processes import children

SEE = "`top` says that jobs `wait` for memory"
JOBS = 3


def drill(site):
    worker = site.worker(slots=JOBS, settings={"MINILAB_MEMORY": "76M", "MINILAB_TEST_STOP_AT": "mid-render"})
    site.send_photos(JOBS)
    site.child_stands_still(worker)

    site.see("minilab top", r"of 80 MB, \d wait", "--once")
    site.see("journalctl -u minilab -n 50", "memory=80 MB for render children")

    del worker.settings["MINILAB_TEST_STOP_AT"]
    site.does("`MINILAB_MEMORY=2G` in `/etc/minilab/minilab.env`, restart", "systemctl restart minilab")
    worker.settings["MINILAB_MEMORY"] = "2G"
    for child in children(worker.child):
        os.kill(child, signal.SIGCONT)
    worker.restart()
    worker.wait_for("memory=2147 MB")
    site.is_well(completed=JOBS)

"""A worker has a wrong setting and ends at once; the sentence in its journal names it."""

SEE = "incoming or ready grows, active is 0"


def drill(site):
    worker = site.worker(settings={"MINILAB_SLOTS": "many"}, ready=False)
    worker.wait_for_end()
    jobs = site.send_photos(2)

    said = site.see("minilab status", r"incoming +2")
    assert "active    0" in said, said
    site.see("minilab top", "no worker runs", "--once")

    site.run("systemctl status minilab")
    site.see("journalctl -u minilab -n 20", "MINILAB_SLOTS.*many|many.*MINILAB_SLOTS")
    site.does("Repair `/etc/minilab/minilab.env`", "MINILAB_SLOTS=1")
    worker.settings["MINILAB_SLOTS"] = "1"
    site.run("systemctl restart minilab")

    site.is_well(completed=len(jobs))

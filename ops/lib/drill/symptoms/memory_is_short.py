"""A neighbour takes the machine's memory; the worker gives its younger job back, and works on when the memory is back."""

import os

from processes import children

SEE = "`top` says MEMORY IS SHORT"


def drill(site):
    kernel = f"{site.folder}/kernel"
    os.makedirs(f"{kernel}/proc")
    leave(kernel, 800)
    worker = site.worker(
        slots=2, settings={"MINILAB_TEST_STOP_AT": "mid-render"},
        flags=["--memory-root", kernel, "--pressure-quiet", "100ms"])
    jobs = site.send_photos(2)
    site.until("both renders stand still", lambda: list(children(worker.child).values()).count("T") == 2)

    leave(kernel, 5)
    site.see("minilab top", "MEMORY IS SHORT at 1 of 1 workers", "--once")
    site.see("journalctl -u minilab | grep -i memory", "memory is short")
    status, text = site.page("minilab", "/readyz")
    assert status == 503 and "memory is short" in text, (status, text)
    site.wait_for_counter("requeued", 1)
    site.run("ps aux --sort -rss | head")

    site.does("A neighbour: move it", "the kernel's files say that 800 MB are free again")
    leave(kernel, 800)
    site.let_renders_go_on([worker], len(jobs))
    site.until("the worker is ready", lambda: site.page("minilab", "/readyz")[0] == 200)
    site.is_well(completed=len(jobs))
    assert site.state()["counters"]["requeued"] == 1 and not site.events("retried"), "an attempt was burnt"


def leave(kernel, megabytes):
    """So many megabytes of 1 GB are left; a file that is half written would be no kernel's."""
    path = f"{kernel}/proc/meminfo"
    with open(path + ".part", "w") as file:
        file.write(f"MemTotal: 1048576 kB\nMemAvailable: {megabytes << 10} kB\n")
    os.rename(path + ".part", path)

"""A library in a bucket whose store dies; its worker gives the job back unburnt and goes on when the store is back."""

from drills import Unable
from object_store import ObjectStore, weed
from pictures import png

SEE = "`/readyz` says that the store cannot be used"


def drill(site):
    program = weed()
    if program is None:
        raise Unable("there is no SeaweedFS; ops/setup s3 installs it")
    store = ObjectStore(f"{site.folder}/store", program)
    site.ends.append(store.end)
    site.console.environment.update(store.environment, MINILAB_LIBRARY=store.url())
    for name in ("first", "second"):
        store.put(f"originals/{name}.png", png(64, 48))  # first: workers refuse a bucket that has neither library nor originals
    worker = site.worker(library=store.url(), settings=store.environment, flags=["--scratch", f"{site.folder}/scratch"])
    site.send("first", "first.png")
    site.wait_for_counter("completed", 1)

    store.kill()
    site.send("second", "second.png")
    text = site.until("/readyz says it", lambda: away(site))
    print(f"  /readyz says: {text[:300]}")
    site.see("journalctl -u minilab -n 50", "store")
    site.run("minilab library check --library URL", fails=1, URL=store.url())

    site.does("Work goes on by itself", "the store is started")
    store.start()
    site.run("minilab library check --library URL", URL=store.url())
    site.is_well(completed=2)
    assert not site.events("retried"), "attempts were burnt"
    assert worker.is_running


def away(site):
    status, text = site.page("minilab", "/readyz")
    return text if status == 503 and "store" in text else None

"""Redis loses its disk and comes back older than the library, then the library older than Redis; nothing is done twice, nothing stays lost."""

import json
import os
import re
import shutil

SEE = "the disk of Redis or of the library is lost, or a backup was put back"
ALSO = ("stop-update-move",)
LIBRARY = ("originals", "edits", "dead", "queues", "library.json")
STOCK = "minilab doctor --library LIBRARY"
AGAIN = "minilab replay --lost --library LIBRARY"
# Above 1 KiB: of a done job that asked for it, Redis keeps the digest alone.
LONG = {"filters": [{"inputIntensity": 0.5, "name": "CISepiaTone"}] * 24}


def drill(site):
    site.worker()
    site.gateway()
    site.send_photos(2, name="before")
    site.wait_for_counter("completed", 2)
    leaked = json.loads(site.said("key", "create", "--operator", "--scope", "read", "--label", "leaked", "--json"))["key"]["id"]
    site.said("pause", "so that jobs wait at the moment of the backup")
    site.send_photos(2, name="waiting")
    site.until("they are admitted", lambda: site.state()["incoming"] == 0)

    backup = back_up(site)

    site.said("resume")
    site.wait_for_counter("completed", 4)
    site.send_photos(2, name="since")
    site.send("long", site.photo("long.png"), LONG)
    site.wait_for_counter("completed", 7)
    site.said("key", "revoke", leaked)
    versions = versions_of(site)

    # Redis is lost; the library has all.
    stop(site)
    site.redis.kill()
    shutil.rmtree(f"{site.redis.folder}/appendonlydir")
    site.does("put `appendonlydir` of the backup in the place of the present one", "the folder of the backup")
    shutil.copytree(f"{backup}/appendonlydir", f"{site.redis.folder}/appendonlydir")
    site.run("systemctl start redis-server")
    site.run('minilab pause "restored"')
    keys = site.run("minilab key list")
    assert [line for line in keys.splitlines() if leaked in line and "active" in line], "the key that was revoked is not valid again"
    site.run("minilab key revoke ID", ID=leaked)
    site.run("minilab doctor --repair")
    go_on(site)
    site.does("send all jobs since the backup again, under the same ids", "three jobs")
    site.send_photos(2, name="since")
    site.send("long", site.photo("long.png"), LONG)
    site.until("all have ended", lambda: len(site.events("completed") + site.events("unchanged")) == 7)
    assert versions_of(site) == versions, "a job was done twice"
    print(f"  ✓ {len(versions)} versions, as before Redis was lost", flush=True)
    site.run("minilab doctor")

    # The library is lost; the queue knows of more than its backup has.
    stop(site)
    for name in LIBRARY:
        path = f"{site.library}/{name}"
        if os.path.exists(path):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    site.does("Put `originals/`, `edits/`, `dead/`, `queues/` and `library.json` of the backup in the place of the present ones", "the copies")
    copy(backup, site.library)
    site.does("bring the originals that came since the backup again", "three photos")
    for number in range(2):
        site.photo(f"since-{number}.png", seed=number)
    site.photo("long.png")
    site.run("minilab verify --no-render")
    lost = jobs_lost(site)
    done_since = sorted({event["asset"] for event in site.events("completed")} - {"before-0.png", "before-1.png"})
    assert sorted(lost.values()) == done_since and done_since, f"the doctor names {lost}, and missing are {done_since}"
    site.run(AGAIN, "--dry-run", LIBRARY=site.library)
    said = site.run(AGAIN, fails=1, LIBRARY=site.library)
    assert re.search(r"^long: is done, and what it asked for is not kept any more", said, re.M), said
    site.does("4. `systemctl start minilab`", "the worker and the gateway")
    go_on(site)
    site.until("they are done again", lambda: sorted(jobs_lost(site)) == ["long"])
    site.does("under new ids", "the producer")
    site.send("again", site.photo("long.png"), LONG)
    site.until("it is done", lambda: any(event["job"] == "again" for event in site.events("completed")))
    told = {}
    for event in site.events("completed"):
        told.setdefault(event["asset"], []).append(event["version"]["revision"])
    assert all(numbers == sorted(set(numbers)) for numbers in told.values()), f"a revision is told of two versions: {told}"
    assert all(len(told[asset]) == 2 for asset in done_since), f"not done again: {told}"
    print(f"  ✓ revisions that were told: {told}", flush=True)
    assert sorted(jobs_lost(site)) == ["long"], "another job is lost than the one that was sent again"
    site.run("minilab doctor")
    site.run("minilab verify --no-render")


def jobs_lost(site):
    """The jobs that the doctor names, each with its asset."""
    said = site.run(STOCK, fails=1, LIBRARY=site.library)
    return dict(re.findall(r"^lost: job (\S+) published version \S+ of (\S+)$", said, re.M))


def back_up(site):
    """The backup of the runbook, with the worker running."""
    backup = f"{site.folder}/backup"
    os.makedirs(backup)
    site.run("redis-cli --user admin --askpass config set auto-aof-rewrite-percentage 0")
    site.see("redis-cli --user admin --askpass info persistence", "aof_rewrite_in_progress:0")
    site.until("its file has all", site.redis.has_written)
    site.does("Copy the folder `appendonlydir` of Redis", "cp")
    shutil.copytree(f"{site.redis.folder}/appendonlydir", f"{backup}/appendonlydir")
    site.run("redis-cli --user admin --askpass config set auto-aof-rewrite-percentage 100")
    site.does("Copy `originals/`, `edits/`, `dead/`, `queues/` and `library.json` of the library", "cp")
    copy(site.library, backup)
    return backup


def copy(source, target):
    for name in LIBRARY:
        path = f"{source}/{name}"
        if os.path.isdir(path):
            shutil.copytree(path, f"{target}/{name}", symlinks=True)
        elif os.path.exists(path):
            shutil.copy2(path, f"{target}/{name}")


def stop(site):
    site.run("systemctl stop minilab")
    site.run("systemctl stop minilab-gateway")


def go_on(site):
    site.run("systemctl start minilab")
    site.run("systemctl start minilab-gateway")
    site.run("minilab resume")


def versions_of(site):
    """The names of all versions of all assets."""
    assets = [json.loads(line)["asset"] for line in site.said("assets", "--json").splitlines()]
    return sorted((asset, name) for asset in assets for name in os.listdir(f"{site.library}/edits/{asset}/versions"))

"""Redis dies under a worker, a gateway and their clients, then is stopped; each time it comes back with its file, and all of it goes on."""

from promises import TENANT, Promises
from resp import RedisError

SEE = "no PONG"
PING = 'REDISCLI_AUTH=$(cat "$MINILAB_REDIS_PASSWORD_FILE") redis-cli -u "$MINILAB_REDIS" --user "$MINILAB_REDIS_USER" ping'


def drill(site):
    worker = site.worker()
    site.gateway()
    jobs = site.send_photos(3)
    site.wait_for_counter("completed", 3)
    promises = Promises(site.said, site.address)
    late = promises.send("late", f"{TENANT}/late.png")
    site.until("a job is dead", lambda: site.state()["dead"] == 1)
    promises.pause()
    promised = [promises.send(name, site.photo(f"{TENANT}/{name}.png", seed=9)) for name in ("first", "second")]
    members = promises.open_batch("spring", [site.photo(f"{TENANT}/member.png", seed=8)])
    site.until("all are admitted", lambda: site.state()["incoming"] == 0)
    site.until("its file has all", site.redis.has_written)
    before = promises.known([late, *promised, *members])
    site.redis.kill()

    said = site.run(PING, fails=1)
    assert "PONG" not in said, said
    try:
        site.send("refused", site.photo("refused.png"))
        raise AssertionError("a producer was told that Redis took its job")
    except (OSError, RedisError):
        pass  # it sends again under the same id

    site.run("systemctl status redis-server")
    site.run("journalctl -u redis-server -n 50")
    site.does("start it", "systemctl start redis-server")
    site.units["redis-server"].start()

    site.see(PING, "PONG")
    knows(site, promises, before)
    site.redis.stop()
    site.units["redis-server"].start()
    knows(site, promises, before)

    site.send("refused", "refused.png")
    site.said("resume")
    promises.seal("spring", len(members))
    site.photo(f"{TENANT}/late.png")
    site.said("replay", late)
    site.is_well(completed=len(jobs) + len(promised) + len(members) + 2)
    assert worker.is_running, "the worker did not go on by itself"


def knows(site, promises, before):
    """Proves that nothing is forgotten: jobs of the gateway, the batch, the key, the limit, the pause, the dead job."""
    site.until("the gateway is ready", lambda: site.get(f"{site.address}/readyz")[0] == 200)
    jobs = before["jobs"]
    site.until(f"it knows what it knew: {before}", lambda: promises.known(jobs) == before)
    print(f"  ✓ {len(jobs)} jobs of the gateway, key, limit, pause, batch and dead job are there", flush=True)

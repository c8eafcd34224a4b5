"""Redis dies under a worker and its producers; it comes back with its file, and all of it goes on."""

from resp import RedisError

SEE = "no PONG"
PING = 'REDISCLI_AUTH=$(cat "$MINILAB_REDIS_PASSWORD_FILE") redis-cli -u "$MINILAB_REDIS" --user "$MINILAB_REDIS_USER" ping'


def drill(site):
    worker = site.worker()
    jobs = site.send_photos(3)
    site.wait_for_counter("completed", 1)
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
    site.send("refused", "refused.png")
    site.is_well(completed=len(jobs) + 1)
    assert worker.is_running, "the worker did not go on by itself"

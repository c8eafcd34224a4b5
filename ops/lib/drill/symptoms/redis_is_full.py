"""Redis is at its maxmemory and refuses a producer; an operator sees how full it is and gives it more."""

from resp import RedisError

SEE = "`OOM command not allowed` in a log"


def drill(site):
    site.worker()
    jobs = site.send_photos(2)
    site.wait_for_counter("completed", len(jobs))
    site.redis("CONFIG", "SET", "maxmemory", 1)
    try:
        site.send("refused", site.photo("refused.png"))
        raise AssertionError("a full Redis took a job")
    except RedisError as error:
        assert "OOM command not allowed" in str(error), error
        print(f"  a producer is told: {error}")

    site.see("redis-cli … info memory", "used_memory_human")
    site.run("redis-cli --user admin --askpass --bigkeys")
    site.run("redis-cli --user admin --askpass config set maxmemory 4gb")

    site.send("refused", "refused.png")
    site.is_well(completed=len(jobs) + 1)

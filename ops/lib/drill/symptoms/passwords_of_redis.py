"""Passwords of Redis are replaced while jobs run: one in good order, one that leaked; the old ones are refused, and no job is lost."""

from resp import Redis, RedisError

SEE = "a password of Redis leaked, or is old"
ACL_LOAD = "redis-cli --user admin --askpass acl load"


def drill(site):
    worker = site.worker()
    site.gateway()
    users = site.redis.users
    site.send_photos(2, name="before")
    site.wait_for_counter("completed", 2)

    # In good order: the worker is never without a valid password.
    old = users.login("worker")
    site.run("ops/deploy/secrets --rotate USER FOLDER", USER="worker", FOLDER=users.folder)
    assert users.login("worker") != old, "the password is the same"
    site.run(ACL_LOAD)
    assert is_let_in(site, old) and is_let_in(site, users.login("worker")), "not both passwords are valid"
    site.send_photos(2, name="between")
    site.wait_for_counter("completed", 4)
    assert worker.is_running, "the worker ended"
    site.run("systemctl restart minilab")
    worker.wait_for("worker starts")
    site.run("ops/deploy/secrets --retire USER FOLDER", USER="worker", FOLDER=users.folder)
    site.run(ACL_LOAD)
    assert not is_let_in(site, old), "the old password of the worker is still valid"
    site.send_photos(2, name="after")
    site.wait_for_counter("completed", 6)

    # One that leaked is refused at once; the gateway gets the new one afterwards.
    leaked = users.login("gateway")
    site.run("ops/deploy/secrets --rotate USER FOLDER", USER="gateway", FOLDER=users.folder)
    site.run("ops/deploy/secrets --retire USER FOLDER", USER="gateway", FOLDER=users.folder)
    site.run(ACL_LOAD)
    assert not is_let_in(site, leaked), "the leaked password is still valid"
    site.run("systemctl restart minilab-gateway")
    site.until("the gateway is ready", lambda: site.get(f"{site.address}/readyz")[0] == 200)
    site.is_well(completed=6)


def is_let_in(site, login):
    try:
        with Redis(site.redis.socket, login) as redis:
            return redis("PING") == "PONG"
    except RedisError as error:
        assert "WRONGPASS" in str(error), error
        return False

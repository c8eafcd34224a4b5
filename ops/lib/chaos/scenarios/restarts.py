"""A Redis that dies and comes back with its append-only file."""

import os
import re
import threading
import time

from gateway_rig import GatewayRig
from processes import eventually
from scenarios.registry import scenario
from servers import OPS, Users

ROUNDS = 6
JOBS_PER_ROUND = 250
PROMISED = 30
MEMBERS = 10
LIVE = 1000
REWRITE_SECONDS_MAX = 120


@scenario("redis-killed", "redis-server is killed with SIGKILL under load and started again with its file",
          server_may_lose=True, is_short=True)
def redis_killed(rig):
    server = rig.start_server()
    begin(rig)
    for _ in range(rig.size(ROUNDS)):
        rig.send(JOBS_PER_ROUND)
        rig.pause(0.1, 0.6)
        server.kill()
        rig.pause(0.05, 1.5)
        server.start()


@scenario("redis-power-loss", "up to two seconds of its append-only file are gone as well, as after a power cut",
          server_may_lose=True)
def redis_power_loss(rig):
    server = rig.start_server()
    begin(rig)
    for _ in range(rig.size(ROUNDS)):
        sizes = FileSizes(server)
        rig.pause(0, 0.5)
        rig.send(JOBS_PER_ROUND)
        rig.pause(0, 1)
        server.kill()
        sizes.stop()
        sizes.cut(rig.random.uniform(0.2, 2))
        server.start()


@scenario("redis-restarts", "redis-server is stopped in good order and killed between the gateway's answer and the end of a job: jobs, a "
          "batch, a key, a limit, a pause and a dead job are there, and all is done once", is_short=True, rig=GatewayRig)
def redis_restarts(rig):
    server = rig.start_server()
    rig.start_gateway()
    worker = rig.worker()
    rig.wait_for_workers()
    late = rig.accept_one_that_dies()
    rig.promises.pause()
    rig.accept(rig.size(PROMISED))
    rig.open_batch("spring", MEMBERS)
    eventually("the first are admitted", lambda: rig.status()["incoming"] == 0)
    rig.end_worker(worker)
    # Nobody admits these: Redis has them from the gateway alone.
    rig.accept(rig.size(PROMISED), "second")
    before = rig.known()
    assert before["status"]["paused"] and before["status"]["dead"] == 1, before["status"]
    for end in (server.stop, server.kill, server.stop):
        eventually("its file has all", server.has_written)
        end()
        server.start()
        rig.must_know(before)
    rig.worker()
    rig.command("resume")
    for part in (3, 1.5):
        rig.wait_for_completed(len(rig.assets) / part / 2)
        server.stop()
        server.start()
    rig.wait_for_gateway()
    rig.promises.seal("spring", MEMBERS)
    rig.photo("late")
    rig.command("replay", late)
    eventually("the batch has ended", lambda: rig.promises.ask("GET", "/batches/acme.spring")["record"].get("ended"), 300)


class OlderUsers(Users):
    """The users of 0.4.0, with which Redis forgets at a restart what scripts did."""

    def __init__(self, folder):
        super().__init__(folder)
        self.change(r"user default .*", "user default off")

    def change(self, line, by):
        """Replaces a line of the ACL file, as sed does."""
        path = f"{self.folder}/users.acl"
        with open(path) as file:
            text = re.sub(f"^{line}$", by, file.read(), flags=re.M)
        os.remove(path)
        with open(path, "w") as file:
            file.write(text)


@scenario("redis-older-users", f"{LIVE:,} jobs of the gateway run on a Redis with the users of 0.4.0, which are changed as INSTALL.md says; then it is "
          "restarted", rig=GatewayRig)
def redis_older_users(rig):
    server = rig.start_server(users=OlderUsers(f"{rig.folder}/users"))
    # Programs of today refuse to start with these users; those of 0.4.0 did not ask.
    server("ACL", "SETUSER", "default", "+@all", "~*", "&*")
    rig.start_gateway()
    rig.worker()
    rig.wait_for_workers()
    server("ACL", "SETUSER", "default", "reset")
    late = rig.accept_one_that_dies()
    rig.open_batch("spring", MEMBERS)
    rig.accept(rig.size(LIVE))
    with open(f"{OPS}/INSTALL.md") as file:
        page = file.read()
    for step in ("ACL SETUSER default +@all '~*' '&*'", "s/^user default off.*/user default off +@all ~* \\&*/", "BGREWRITEAOF",
                 "aof_rewrite_in_progress:0", "aof_last_bgrewrite_status:ok"):
        assert step in page, f"INSTALL.md no longer says {step}"
    server("ACL", "SETUSER", "default", "+@all", "~*", "&*")
    server.users.change("user default off.*", "user default off +@all ~* &*")
    server("BGREWRITEAOF")
    eventually("the file is written anew", lambda: {"aof_rewrite_in_progress:0", "aof_last_bgrewrite_status:ok"}
               <= set(server("INFO", "persistence").split()), REWRITE_SECONDS_MAX)
    done, keys = rig.counted("completed"), server("DBSIZE")
    server.stop()
    server.start()
    rig.remarks.append(f"restarted after {done} of {len(rig.assets)} jobs: {keys} keys before, {server('DBSIZE')} after")
    with open(f"{server.folder}/redis.log") as log:
        assert "ACLs rules changed" not in log.read(), "Redis refused a part of its own file"
    rig.wait_for_gateway()
    rig.promises.seal("spring", MEMBERS)
    rig.photo("late")
    rig.command("replay", late)
    eventually("the batch has ended", lambda: rig.promises.ask("GET", "/batches/acme.spring")["record"].get("ended"), 600)


def begin(rig):
    for _ in range(2):
        rig.worker(slots=4, work_ms=10)
    rig.wait_for_workers()


class FileSizes:
    """Looks at the size of a growing append-only file, to cut it back later to what it was some time ago."""

    def __init__(self, server):
        self.server, self.seen, self.is_over = server, [], False
        self.look()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def look(self):
        file = self.server.append_only_file()
        self.seen.append((time.monotonic(), file, os.path.getsize(file)))

    def watch(self):
        while not self.is_over:
            self.look()
            time.sleep(0.02)

    def stop(self):
        self.is_over = True
        self.thread.join()

    def cut(self, seconds_ago):
        """Cuts the file back; one that was not there yet, because the server has written the last one anew, has nothing left."""
        then, last = time.monotonic() - seconds_ago, self.server.append_only_file()
        sizes = [size for at, file, size in self.seen if file == last and at <= then]
        os.truncate(last, max(sizes, default=0 if self.seen[0][1] != last else self.seen[0][2]))

"""A Redis that dies and comes back with its append-only file."""

import os
import threading
import time

from scenarios.registry import scenario

ROUNDS = 6
JOBS_PER_ROUND = 250


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

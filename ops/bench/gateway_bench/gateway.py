"""A gateway with a Redis, a library and keys of its own."""

import contextlib
import json
import os
import subprocess
import tempfile

from processes import Server
from redis_server import Redis

PORT = 8194
STATUS_PORT = 8195
COUNT_MAX = 10_000_000  # the highest number that a key's quota takes
PREFIX = "minilab:{photos}:"
TENANT = "bench"


class Gateway:
    """What a measurement talks to."""

    def __init__(self, programs, redis, server, library):
        self.programs, self.redis, self.server, self.library = programs, redis, server, library
        self.port, self.status_port = PORT, STATUS_PORT

    def key(self, *terms):
        """The secret of a new key; its rate and backlog are no limit here."""
        words = ["key", "create", "--redis", self.redis.url, "--json"]
        words += ["--rate", str(COUNT_MAX), "--backlog", str(COUNT_MAX), *terms]
        return json.loads(run(self.programs, *words))["secret"]

    def tenant_key(self, tenant=TENANT, scopes="enqueue,read,operate"):
        return self.key("--tenant", tenant, "--prefix", f"{tenant}/", "--scope", scopes)

    def operator_key(self):
        return self.key("--operator", "--scope", "enqueue,read,operate,admin")


def run(programs, *words):
    done = subprocess.run([f"{programs}/minilab", *words], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"gateway: minilab {' '.join(words)}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def running(programs, processor=None, others=None, redis=None):
    """A gateway on processor `processor`, its Redis on `others`; None leaves it to the kernel."""
    with contextlib.ExitStack() as stack:
        redis = redis or stack.enter_context(Redis(others))
        library = stack.enter_context(tempfile.TemporaryDirectory(prefix="minilab-bench-"))
        os.mkdir(f"{library}/originals")
        command = [f"{programs}/minilab-gateway", "--redis", redis.url, "--library", library]
        command += ["--port", str(PORT), "--status-port", str(STATUS_PORT), "--log-level", "error"]
        server = stack.enter_context(Server(command, PORT, "/readyz", processor))
        yield Gateway(programs, redis, server, library)

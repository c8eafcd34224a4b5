"""Redis, library, jobs and what came of them."""

import collections
import json
import pathlib
import shutil
import time
import urllib.request

import logo
from pods import mountpoint, podman
from resp import Redis, RedisError

VOLUME = "minilab-library"
REDIS, REDIS_VOLUME = "kube-test-redis", "kube-test-redis"
USER = 10001
STREAM, EVENTS = "minilab:{photos}:in", "minilab:{photos}:events"
PHOTOS = ("dandelion.jpg", "tulips.jpg", "waterfall.jpg", "chrysanthemum.jpg")
EVENTS_MAX = 10_000


def wait_for(what, seconds_max, met):
    until = time.monotonic() + seconds_max
    while not (found := met()):
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds_max} s in vain: {what}")
        time.sleep(0.05)  # nothing out here is told of it
    return found


class Lab:
    def __init__(self, port, secrets):
        self.port, self.secrets = port, secrets
        self.connection = None

    def password(self, user):
        return (self.secrets / f"redis-{user}").read_text()

    def start_redis(self):
        """As ops/INSTALL.md tells those who bring their own: the settings of ops/redis.conf, and the users of ops/deploy/secrets."""
        podman(
            "run", "--detach", "--name", REDIS, "--network", "host", "--user", "999:999", "--volume", f"{REDIS_VOLUME}:/data",
            "--volume", f"{pathlib.Path('ops/redis.conf').resolve()}:/redis.conf:ro", "--volume", f"{self.secrets.resolve()}/users.acl:/users.acl:ro",
            "localhost/redis:7-bookworm", "redis-server", "/redis.conf", "--aclfile", "/users.acl", "--dir", "/data",
            "--port", str(self.port), "--bind", "127.0.0.1",
        )  # fmt: skip
        wait_for("Redis", 20, self.connects)

    def restart_redis(self):
        podman("restart", REDIS)

    def connects(self):
        try:
            self.connection = Redis(self.port)
            return self.connection("AUTH", "admin", self.password("admin")) == "OK"
        except (OSError, RedisError):
            return False

    def fill_library(self, assets):
        podman("volume", "create", VOLUME)
        self.library = pathlib.Path(mountpoint(VOLUME))
        folder = self.library / "originals" / "acme"
        folder.mkdir(parents=True)
        resources = self.library / "resources"
        resources.mkdir()
        logo.make(resources, "magenta")
        for number, asset in enumerate(assets):
            shutil.copy(pathlib.Path("jobs/photos", PHOTOS[number % len(PHOTOS)]), self.library / "originals" / asset)
        for path in (self.library, *self.library.rglob("*")):
            shutil.chown(path, USER, USER)

    def send(self, jobs):
        """By XADD, as a producer."""
        with Redis(self.port) as producer:
            producer("AUTH", "producer", self.password("producer"))
            replies = producer.pipeline([("XADD", STREAM, "*", "asset", j["asset"], "edit", json.dumps(j["edit"]), "id", j["id"]) for j in jobs])
        assert not any(isinstance(reply, RedisError) for reply in replies), replies

    def claims(self):
        """How many jobs are held at this moment."""
        return self.connection("ZCARD", "minilab:{photos}:lease")

    def events(self):
        return [json.loads(dict(zip(f[::2], f[1::2]))["event"]) for _, f in self.connection("XRANGE", EVENTS, "-", "+", "COUNT", EVENTS_MAX)]

    def completed(self):
        return [e["data"] for e in self.events() if e["type"] == "org.minilab.job.completed"]

    def ended(self):
        return sum(e["type"].startswith("org.minilab.job.") and e["type"].endswith(("completed", "failed")) for e in self.events())

    def verdict(self, ids):
        """Jobs that were lost and those that were done twice, by events and by the library; and what else was told."""
        events = self.events()
        ends = collections.Counter(e["data"]["job"] for e in events if e["type"] == "org.minilab.job.completed")
        said = collections.Counter(e["id"] for e in events)
        versions = [sum(1 for _ in folder.iterdir()) for folder in (self.library / "edits").rglob("versions")]
        lost = [job for job in ids if job not in ends]
        twice = [job for job, count in ends.items() if count > 1 or said.most_common(1)[0][1] > 1]
        other = collections.Counter(e["type"] for e in events if e["type"] != "org.minilab.job.completed")
        return lost, twice, sum(versions), other


def send_over_http(port, key, jobs):
    for job in jobs:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/jobs", json.dumps(job).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status in (200, 201, 202), answer.status

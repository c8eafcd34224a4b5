#!/usr/bin/env python3
"""Restarts the Redis of a deployment while it has work, and judges whether all that was accepted is still there.

For ops/checks/container-test, package-test and kube-test, whose Redis has the users of ops/deploy/secrets and an AOF, as operators
are told. What counts as accepted: jobs to which the gateway said 202, entries that XADD took, a key, a limit, a pause, a dead job,
and the events of the jobs that were done before.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

from resp import Redis, RedisError

QUEUE = "minilab:{photos}"
TENANT = "survivor"
PAUSE = "Redis is restarted"
START_SECONDS_MAX, DEAD_SECONDS_MAX, JOBS_SECONDS_MAX = 60, 60, 600
EVENTS_MAX = 10_000


class Lost(Exception):
    """What is not as it was, in sentences for a person."""


def wait_for(what, seconds_max, met):
    until = time.monotonic() + seconds_max
    while not (found := met()):
        if time.monotonic() > until:
            raise Lost(f"waited {seconds_max} s in vain: {what}")
        time.sleep(0.1)  # nothing out here is told of it
    return found


class RedisRestart:
    """One restart. All talk is with Redis and the gateway at ports of the loopback, so it may run in any network namespace."""

    def __init__(self, redis, gateway, passwords, key, restart, run=None):
        """passwords: a function of a user's name; key: an operator's with all scopes; restart: a function that restarts Redis and
        returns when that is done or under way; run: what keeps the names of this run's jobs apart from others'."""
        self.redis_port, self.gateway_port, self.passwords, self.operator, self.restart = redis, gateway, passwords, key, restart
        self.run = run or f"{time.time_ns():x}"

    def play(self, assets, count):
        """assets: originals that are in the library, each of which gets jobs in turn; count: jobs of each way in."""
        self.before(assets, count)
        began = time.monotonic()
        self.restart()
        # Another process than before: an answer of the old one says nothing.
        wait_for("Redis answers again", START_SECONDS_MAX, lambda: self.run_id() not in (None, self.process))
        wait_for("the gateway answers again", START_SECONDS_MAX, lambda: self.ask("GET", "/v1/queue", self.operator)[0] not in (None, 503))
        away = time.monotonic() - began
        if complaints := self.missing():
            raise Lost(f"after a restart of Redis, with {self.keys} keys before it and {self.admin('DBSIZE')} after: " + "; ".join(complaints))
        self.must("DELETE", "/v1/pause", 204)
        wait_for("all jobs are done", JOBS_SECONDS_MAX, lambda: len(self.ends()) == 2 * count)
        if twice := [job for job, ends in self.ends().items() if ends > 1]:
            raise Lost(f"after a restart of Redis: done twice: {twice[:5]} and {len(twice)} in all")
        if again := [d["job"] for d in self.completed() if d["attempt"] > 1]:
            raise Lost(f"after a restart of Redis: {len(again)} jobs needed another attempt, among them {again[:5]}")
        return (
            f"Redis restarted in {away:.1f} s with {self.open} of {2 * count} jobs open, {self.held} of them in the hands of workers: "
            f"{count} of the gateway and {count} of XADD done once each at the first attempt; "
            f"key, limit, pause, dead job and {self.done_before} events as before"
        )

    def before(self, assets, count):
        """Has the deployment accept what must be there afterwards, and sees that it is there now."""
        self.must("PUT", f"/v1/tenants/{TENANT}/limits", 200, {"cap": 7, "weight": 3})
        terms = {"tenant": TENANT, "assetPrefix": "", "scopes": ["enqueue", "read"]}
        self.key = self.must("POST", "/v1/keys", 201, terms)["secret"]
        self.dead = f"dead-{self.run}"
        self.send_plain([(self.dead, f"nowhere/{self.run}.jpg", 0)])
        wait_for("the job without an original is dead", DEAD_SECONDS_MAX, self.lists_the_dead)
        # Each is an edit of its own, so that each makes a version.
        jobs = [(f"{self.run}-{n}", assets[n % len(assets)], n) for n in range(2 * count)]
        self.plain = {name for name, _, _ in jobs[:count]}
        # The queue knows the jobs of a tenant's key by the tenant's name, too.
        self.sent = {f"{TENANT}.{name}" for name, _, _ in jobs[count:]}
        self.send_plain(jobs[:count])
        for name, asset, n in jobs[count:]:
            self.must("POST", "/v1/jobs", 202, {"id": name, "asset": asset, "edit": self.edit(n)}, key=self.key)
        wait_for("the first jobs are done", JOBS_SECONDS_MAX, lambda: len(self.ends()) >= 3)
        # A pause is one thing more that must survive, and the jobs cannot all be done before the restart.
        self.must("PUT", "/v1/pause", 200, {"reason": PAUSE})
        self.rules = self.admin("HGETALL", f"{QUEUE}:config")
        assert PAUSE in self.rules and any(TENANT in word for word in self.rules), self.rules
        self.process, self.keys, self.held = self.run_id(), self.admin("DBSIZE"), self.admin("ZCARD", f"{QUEUE}:lease")
        self.events_before = self.event_ids()
        ended = self.ends()
        self.done_before, self.open = len(self.events_before), 2 * count - len(ended)
        if not self.sent - ended.keys() or not self.plain - ended.keys():
            raise Lost("all jobs of one way in were done before Redis was restarted: give the check more jobs")

    def missing(self):
        """What Redis does not have any more, before any worker starts a job again."""
        complaints = []
        if (status := self.ask("GET", "/v1/queue", self.operator)[0]) != 200:
            complaints.append(f"the operator's key is answered {status}")
        unknown = [job for job in sorted(self.sent) if self.ask("GET", f"/v1/jobs/{job.partition('.')[2]}", self.key)[0] != 200]
        if unknown:
            complaints.append(f"{len(unknown)} of the {len(self.sent)} jobs that the gateway answered 202 are unknown to it")
        if not self.lists_the_dead():
            complaints.append("the dead job is not listed")
        if (rules := self.admin("HGETALL", f"{QUEUE}:config")) != self.rules:
            complaints.append(f"limit and pause were {self.rules} and are {rules}")
        if gone := set(self.events_before) - set(self.event_ids()):
            complaints.append(f"{len(gone)} of {len(self.events_before)} events are gone")
        return complaints

    def send_plain(self, jobs):
        with self.connection("producer") as producer:
            words = [
                ("XADD", f"{QUEUE}:in", "*", "id", name, "asset", asset, "edit", json.dumps(self.edit(n))) for name, asset, n in jobs
            ]
            for reply in producer.pipeline(words):
                if isinstance(reply, RedisError):
                    raise reply

    @staticmethod
    def edit(n):
        return {"filters": [{"name": "CIExposureAdjust", "inputEV": 0.1 + n / 10_000}]}

    def lists_the_dead(self):
        status, page = self.ask("GET", "/v1/dead", self.operator)
        return status == 200 and any(job["job"] == self.dead for job in page["dead"])

    def completed(self):
        """The events of this run's jobs."""
        events = [json.loads(dict(zip(f[::2], f[1::2]))["event"]) for _, f in self.admin("XRANGE", f"{QUEUE}:events", "-", "+", "COUNT", EVENTS_MAX)]
        mine = self.plain | self.sent
        return [e["data"] for e in events if e["type"] == "org.minilab.job.completed" and e["data"]["job"] in mine]

    def ends(self):
        return collections.Counter(data["job"] for data in self.completed())

    def event_ids(self):
        return [entry for entry, _ in self.admin("XRANGE", f"{QUEUE}:events", "-", "+", "COUNT", EVENTS_MAX)]

    def run_id(self):
        """The process of Redis that answers, once it has loaded its data; nothing while none does."""
        try:
            fields = dict(line.split(":", 1) for line in self.admin("INFO").splitlines() if ":" in line)
        except (OSError, RedisError):
            return None
        return fields["run_id"] if fields["loading"] == "0" else None

    def admin(self, *words):
        with self.connection("admin") as redis:
            return redis(*words)

    def connection(self, user):
        connection = Redis(self.redis_port)
        connection("AUTH", user, self.passwords(user))
        return connection

    def must(self, method, path, expected, body=None, key=None):
        status, answer = self.ask(method, path, key or self.operator, body)
        if status != expected:
            raise Lost(f"{method} {path} was answered {status} and not {expected}: {answer}")
        return answer

    def ask(self, method, path, key, body=None):
        """The status, or None while nothing answers; and the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.gateway_port}{path}", None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}, method=method,
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError as error:
            return None, str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--redis", type=int, required=True, help="its port of the loopback")
    parser.add_argument("--gateway", type=int, required=True, help="its port of the loopback")
    parser.add_argument("--secrets", type=pathlib.Path, required=True, help="the folder that ops/deploy/secrets made")
    parser.add_argument("--key", required=True, help="an operator's, with all scopes")
    parser.add_argument("--jobs", type=int, default=60, help="of each way in")
    parser.add_argument("--asset", action="append", required=True, help="an original that is in the library; may be given again")
    parser.add_argument("restart", nargs="+", help="the command that restarts Redis")
    options = parser.parse_args()
    restart = RedisRestart(
        options.redis, options.gateway, lambda user: (options.secrets / f"redis-{user}").read_text(), options.key,
        lambda: subprocess.run(options.restart, check=True, stdout=subprocess.DEVNULL),
    )  # fmt: skip
    try:
        print(restart.play(options.asset, options.jobs))
    except Lost as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()

"""The story: pods start cold, are killed with jobs in hand, are rolled to another image and lose their Redis while jobs run."""

import datetime
import json
import pathlib
import subprocess
import sys
import time

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "lib"))

import logo
from lab import Lab, REDIS, REDIS_VOLUME, VOLUME, send_over_http, wait_for
from pods import LABEL, Manifests, Pod, podman
from redis_restart import Lost, RedisRestart

REDIS_PORT, GATEWAY_PORT, STATUS_PORT = 16390, 18090, 19110
WORKERS, KILLS = 3, 3
LOGOS = ("magenta", "green")
JOBS_SLOW, JOBS_BEFORE, JOBS_DURING, JOBS_OVER_HTTP, JOBS_AT_RESTART = 2 * WORKERS, 40, 240, 20, 60
MEDIANS_SLOW = 30  # an edit has 32 filters at most
READY_SECONDS_MAX, JOBS_SECONDS_MAX = 60, 900
LOG_LINES_MAX = 10


class Story:
    def __init__(self, first, second, work):
        self.first, self.second = first, second
        self.lab = Lab(REDIS_PORT, work / "secrets")
        passwords = {f"minilab-{user}": self.lab.password(user) for user in ("worker", "gateway")}
        self.manifests = Manifests(work / "manifests.yaml", {"MINILAB_REDIS": f"redis://127.0.0.1:{REDIS_PORT}"}, passwords)
        with open(work / "resources.yaml") as file:
            logos = yaml.safe_load(file)
        bucket = Manifests(work / "bucket.yaml", {}, {})
        self.second_workers = self.manifests.with_resources_of(bucket, "minilab-worker", logos)
        self.pods, self.number = [], 0

    def pod(self, component, image):
        self.number += 1
        name, port = f"{component}-{self.number}", STATUS_PORT + self.number
        environment = {"MINILAB_WORKER_NAME": name, "MINILAB_STATUS_PORT": str(port), "MINILAB_STATUS_ADDRESS": "127.0.0.1"}
        if component == "gateway":
            self.gateway_port = GATEWAY_PORT + self.number
            environment = {
                "MINILAB_GATEWAY_PORT": str(self.gateway_port), "MINILAB_GATEWAY_ADDRESS": "127.0.0.1",
                "MINILAB_GATEWAY_STATUS_PORT": str(port), "MINILAB_GATEWAY_STATUS_ADDRESS": "127.0.0.1",
            }  # fmt: skip
        deployment = f"minilab-{component}"
        manifests = self.second_workers if component == "worker" and image == self.second else self.manifests
        grace = manifests.template(deployment)["spec"]["terminationGracePeriodSeconds"]
        pod = Pod(name, manifests.pod(deployment, name, image, environment), port, grace)
        self.pods.append(pod)
        return pod.start()

    def ready(self, pod):
        wait_for(f"{pod.name} is alive and ready", READY_SECONDS_MAX, lambda: pod.asks("/healthz") and pod.asks("/readyz"))
        return pod

    def minilab(self, *words):
        """A command in the gateway's pod, whose Redis and library it then has."""
        return podman("exec", self.gateway.container, "minilab", *words)

    def jobs(self, count, prefix, tenant="", medians=1):
        """Each is its own edit of its own asset. The queue knows those of a tenant's key by the tenant's name, too."""
        start = len(self.ids)
        made = []
        for number in range(start, start + count):
            exposure = {"name": "CIExposureAdjust", "inputEV": 0.1 + number / 1000}
            edit = {"filters": [exposure, *[{"name": "CIMedianFilter"}] * medians, {"name": "CIGaussianBlur", "inputRadius": 20}]}
            made.append({"id": f"{prefix}{number}", "asset": self.assets[number], "edit": edit})
        self.ids += [tenant + job["id"] for job in made]
        return made

    def cold_start(self):
        """Seconds from the start of a worker's container to its first claim of a job that waits."""
        self.lab.send(self.jobs(1, "cold-"))
        pod = self.pod("worker", self.first)
        wait_for("the first claim", READY_SECONDS_MAX, lambda: self.lab.claims() or self.lab.completed())
        claimed = time.time()
        started = datetime.datetime.fromisoformat(pod.inspect()["State"]["StartedAt"][:26].rstrip("Z") + "+00:00").timestamp()
        return pod, claimed - started

    def kill(self, worker):
        """Kills it in the middle of a render, as its heartbeat tells; gives the ids of the jobs in its hands."""
        rendering = lambda: any(job.get("stage") == "rendering" for job in self.held(worker))
        wait_for(f"{worker.name} renders", READY_SECONDS_MAX, rendering)
        worker.kill()
        return [job["job"] for job in self.held(worker)]

    def held(self, worker):
        status = json.loads(self.minilab("status", "--json"))
        return [job for job in status["held"] if job.get("worker") == worker.name]

    def play(self):
        began = time.monotonic()
        count = 1 + KILLS * (JOBS_SLOW + JOBS_BEFORE) + JOBS_DURING + JOBS_OVER_HTTP + len(LOGOS)
        self.ids, self.assets = [], [f"acme/{number}.jpg" for number in range(count)]
        self.lab.start_redis()
        self.lab.fill_library(self.assets)
        first, cold = self.cold_start()
        print(f"kube-test: a job was claimed {cold:.2f} s after the first worker's container had started")
        workers = [self.ready(first)] + [self.ready(self.pod("worker", self.first)) for _ in range(WORKERS - 1)]
        told = workers[0].log()
        assert '"slots":"2"' in told and "the control group's limit is" in told, "a worker did not read the limits of its pod"
        self.originals_are_read_only(first)
        self.gateway = self.ready(self.pod("gateway", self.first))
        self.key = self.key_of("--tenant", "acme", "--prefix", "acme/", "--scope", "enqueue,read")
        self.mark("magenta", "the volume")

        in_hand = []  # one that was taken back may be in the hands of the next
        for _ in range(KILLS):
            worker = workers.pop(0)
            # A job for each slot, long enough to be told of by a heartbeat.
            self.lab.send(self.jobs(JOBS_SLOW, "slow-", medians=MEDIANS_SLOW) + self.jobs(JOBS_BEFORE, "before-"))
            in_hand += self.kill(worker)
            workers.append(self.pod("worker", self.first))
        print(f"kube-test: killed {KILLS} workers with {len(in_hand)} jobs in hand")

        self.lab.send(self.jobs(JOBS_DURING, "during-"))
        send_over_http(self.gateway_port, self.key, self.jobs(JOBS_OVER_HTTP, "http-", "acme."))
        done_before, codes = len(self.lab.completed()), []
        for worker in workers:
            self.ready(self.pod("worker", self.second))
            codes.append(worker.stop())
        old, self.gateway = self.gateway, self.ready(self.pod("gateway", self.second))
        codes.append(old.stop())
        open_then = len(self.ids) - len(self.lab.completed())
        print(f"kube-test: rolled {len(codes)} pods, {len(self.ids) - done_before} jobs open before and {open_then} after; exit codes {codes}")
        if open_then == 0 or set(codes) != {0}:
            raise AssertionError("all jobs were done before the rollout was, or a pod did not end well")
        wait_for("all jobs are done", JOBS_SECONDS_MAX, lambda: self.lab.ended() >= len(self.ids))
        self.mark("green", "a ConfigMap")
        self.report(in_hand, cold, time.monotonic() - began)
        operator = self.key_of("--operator", "--scope", "enqueue,read,operate,admin")
        restart = RedisRestart(REDIS_PORT, self.gateway_port, self.lab.password, operator, self.lab.restart_redis)
        print(f"kube-test: {restart.play(self.assets[:JOBS_AT_RESTART], JOBS_AT_RESTART)}")
        self.is_right()

    def mark(self, colour, where):
        """Has a job done that names the logo of this colour, which only the workers of this moment have, and looks for it in the picture."""
        asset, job = self.assets[len(self.ids)], f"logo-{colour}"
        self.lab.send([{"id": job, "asset": asset, "edit": logo.edit(colour)}])
        self.ids.append(job)
        wait_for(f"{job}, whose logo lies in {where}, is done", READY_SECONDS_MAX, lambda: any(d["job"] == job for d in self.lab.completed()))
        if wrong := logo.missing((self.lab.library / "edits" / asset / "current/sizes/seen.png").read_bytes(), colour):
            raise AssertionError(f"the picture of {job} does not show its logo: {wrong}")
        print(f"kube-test: a picture shows the logo from {where}")

    def key_of(self, *terms):
        words = self.minilab("key", "create", *terms).split()
        return next(word for word in words if word.startswith("mlk_"))

    @staticmethod
    def originals_are_read_only(worker):
        """An original is where a worker looks for it, and cannot be written there."""
        try:
            podman("exec", worker.container, "touch", "/library/originals/acme/0.jpg")
        except RuntimeError as error:
            assert "Read-only file system" in str(error), error
        else:
            raise AssertionError("a worker may write the originals")

    def is_right(self):
        # The user gateway may not repair, so the doctor refuses it: an operator asks, from outside of the pods.
        podman(
            "run", "--rm", "--network", "host", "--volume", f"{self.lab.secrets.resolve()}/redis-operator:/password:ro",
            "--env", f"MINILAB_REDIS=redis://127.0.0.1:{REDIS_PORT}", "--env", "MINILAB_REDIS_USER=operator",
            "--env", "MINILAB_REDIS_PASSWORD_FILE=/password", self.second, "doctor",
        )  # fmt: skip
        self.minilab("verify", "--no-render")

    def report(self, held, cold, seconds):
        lost, twice, versions, other = self.lab.verdict(self.ids)
        data, in_hand = self.lab.completed(), len(held)
        by_second = sum(1 for d in data if int(d["worker"].rpartition("-")[2]) >= self.number - WORKERS)
        # Leases of workers that are gone: `voided` where the render had not begun.
        counters = json.loads(self.minilab("status", "--json"))["counters"]
        again = counters.get("crashed", 0) + counters.get("voided", 0)
        print("| pods | jobs | killed | jobs in their hands | rolled | done by new pods | taken back | lost | twice | versions | cold start s | s |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        print(
            f"| {len(self.pods)} | {len(self.ids)} | {KILLS} | {in_hand} | {WORKERS + 1} | {by_second} | {again} | {len(lost)} | {len(twice)} "
            f"| {versions} | {cold:.2f} | {seconds:.0f} |"
        )
        assert not lost and not twice and versions == len(self.ids), (lost, twice, versions)
        # What was taken back is what the killed ones held: the rollout cut off nothing.
        assert in_hand == again > 0 and by_second > 0, (counters, in_hand, by_second)
        assert counters.get("crashed", 0) > 0, f"no worker was killed in a render: {counters}"
        burnt = [(d["job"], d["attempt"], d["worker"]) for d in data if d["attempt"] > 1 and d["job"] not in held]
        assert not burnt, f"attempts were burnt of jobs that no killed worker had: {burnt}; {other}"
        assert not {kind for kind in other if kind.endswith(("failed", "stuck", "conflict"))}, other
        self.is_right()
        print(f"kube-test: {sum(d['attempt'] > 1 for d in data)} of the jobs in their hands at a later attempt; the queue and the library are right; other events: {dict(other)}")


def clean():
    """Ends what this run or one that was killed left, and nothing else; raises when something of it is left."""
    attempt = lambda *words: subprocess.run(["podman", *words], capture_output=True, check=False)
    for pod in podman("pod", "ps", "--quiet", "--filter", f"label={'='.join(LABEL)}").split():
        attempt("pod", "rm", "--force", "--time", "5", pod)
    attempt("rm", "--force", "--time", "5", REDIS)
    for name in ("minilab-worker", "minilab-gateway"):
        attempt("secret", "rm", name)
    # Podman keeps what a secret or a ConfigMap mounts as a volume of its name, and does not write it anew.
    for name in (VOLUME, REDIS_VOLUME, "minilab-worker", "minilab-gateway", "minilab-resources"):
        attempt("volume", "rm", "--force", name)
    left = podman("pod", "ps", "--filter", f"label={'='.join(LABEL)}", "--format", "{{.Name}}")
    if left := (left + " " + podman("ps", "--all", "--filter", f"name=^{REDIS}$", "--format", "{{.Names}}")).split():
        raise RuntimeError(f"this could not be removed: {', '.join(left)}")


def main():
    first, second, work = sys.argv[1:]
    began = time.monotonic()
    clean()
    story = Story(first, second, pathlib.Path(work))
    try:
        story.play()
    except BaseException:
        for pod in story.pods:
            print(f"-- {pod.name}\n{pod.log(LOG_LINES_MAX)}", file=sys.stderr)
        raise
    finally:
        clean()
    print(f"kube-test: passed in {time.monotonic() - began:.0f} s")


try:
    main()
except Lost as error:
    sys.exit(f"kube-test: {error}")

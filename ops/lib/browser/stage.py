"""What the flows play on: a Redis, a library, a gateway and a worker of their own, new for each flow."""

import http.client
import json
import os
import signal
import subprocess
import urllib.parse

from PIL import Image
from processes import Child, eventually
from servers import Server, free_port

START_SECONDS_MAX = 60
JOB_SECONDS_MAX = 60
END_SECONDS_MAX = 20
PHOTOS = "jobs/photos"
# Small: a flow is about pages, and waits for renders.
SIDE = 480


class Stage:
    """A queue with its gateway; a worker only when a flow asks for one.

    binaries: the folder of `minilab`, `minilab-gateway` and `minilab-render`; folder: new and for this alone.
    """

    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        self.library = f"{folder}/library"
        os.makedirs(f"{self.library}/originals")
        # Over its Unix socket alone.
        self.redis = Server(f"{folder}/redis", ["--port", "0"])
        self.port = free_port()
        self.worker = self.gateway = None
        self.operator = self.key("--operator", "--label", "Ana", "--scope", "enqueue,read,operate,admin")
        self.start_gateway()

    @property
    def url(self):
        return f"http://localhost:{self.port}"

    def login(self, user):
        return {**self.redis.login(user), "MINILAB_REDIS": self.redis.control_url}

    def key(self, *terms):
        """Makes a key on the command line; gives its text."""
        made = subprocess.run(
            [f"{self.binaries}/minilab", "key", "create", "--json", *terms], check=True, capture_output=True, text=True,
            env={**os.environ, **self.login("operator")})
        return json.loads(made.stdout)["secret"]

    def tenant_key(self, tenant, scopes="enqueue,read"):
        return self.key("--tenant", tenant, "--prefix", f"{tenant}/", "--scope", scopes, "--label", f"shop of {tenant}")

    def start_gateway(self, *options):
        """Starts the gateway; options: flags of it, kept as gateway_options."""
        self.gateway_options = options
        self.gateway = Child(
            [f"{self.binaries}/minilab-gateway", "--library", self.library, "--port", str(self.port), *options],
            f"{self.folder}/gateway.log", self.login("gateway"))
        eventually("the gateway is ready", self.is_ready, START_SECONDS_MAX)

    def is_ready(self):
        if not self.gateway.is_running:
            raise ChildProcessError(f"the gateway ended: {open(self.gateway.log).read()}")
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False  # it does not listen yet

    def end_gateway(self):
        self.gateway.end(END_SECONDS_MAX)

    def start_worker(self, *options):
        self.worker = Child(
            [f"{self.binaries}/minilab", "worker", "--library", self.library, *(options or ("--slots", "1"))],
            f"{self.folder}/worker.log", self.login("worker"))

    def end(self):
        for child in (self.worker, self.gateway):
            if child and child.is_running:
                child.signal(signal.SIGCONT)  # a flow may have stopped it
                child.end(END_SECONDS_MAX)
        self.redis.end()

    # MARK: What clients do

    def call(self, method, path, body=None, key=None, headers=()):
        """One request of a client; gives the status and the answer's JSON, or its text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=JOB_SECONDS_MAX)
        fields = {"Authorization": f"Bearer {key}"} if key else {}
        if body is not None:
            body = json.dumps(body)
            fields["Content-Type"] = "application/json"
        try:
            connection.request(method, path, body, {**fields, **dict(headers)})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(text) if is_json and text else text

    def ask(self, method, path, body=None, key=None):
        """The same; anything but success is an error."""
        status, answer = self.call(method, path, body, key or self.operator)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def photo(self, asset, photo="tulips.jpg", side=SIDE):
        """Puts an original into the library; gives its asset."""
        target = f"{self.library}/originals/{asset}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with Image.open(f"{PHOTOS}/{photo}") as image:
            image.thumbnail((side, side))
            image.save(target + ".part", "JPEG", quality=85)
        os.rename(target + ".part", target)
        return asset

    def enqueue(self, asset, edit=None, job=None, key=None):
        """Sends a job; gives its id as the queue knows it."""
        body = {"asset": asset, "edit": edit or sepia(0.8)}
        if job:
            body["id"] = job
        return self.ask("POST", "/v1/jobs", body, key)["job"]

    def state(self, job):
        return self.ask("GET", f"/v1/jobs/{job}")["state"]

    def until(self, what, condition):
        return eventually(what, condition, JOB_SECONDS_MAX)

    def wait_for(self, job, state):
        self.until(f"{job} is {state}", lambda: self.state(job) == state)

    def edit(self, asset, edit):
        """Has an asset edited; gives the job when that is done."""
        job = self.enqueue(asset, edit)
        self.wait_for(job, "done")
        return job

    def versions(self, asset):
        """The versions of an asset, the newest first."""
        return self.ask("GET", "/v1/history/" + urllib.parse.quote(asset))["versions"]

    def marked(self, asset, mark):
        """The version of an asset that is `current` or the `draft`; None when there is none."""
        return next((one["version"] for one in self.versions(asset) if mark in one["marks"]), None)

    def pause(self, reason="stocktaking"):
        self.ask("PUT", "/v1/pause", {"reason": reason})

    def resume(self):
        self.ask("DELETE", "/v1/pause")


def sepia(intensity):
    return {"filters": [{"name": "CISepiaTone", "inputIntensity": intensity}]}

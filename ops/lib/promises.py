"""What a queue promises to clients of the gateway and to operators, and must still know when Redis comes back."""

import http.client
import json
import urllib.parse

TENANT = "acme"
ANSWER_SECONDS_MAX = 60
EDIT = {"filters": [{"name": "CISepiaTone", "inputIntensity": 0.8}]}
REASON = "the library is being moved"
CAP = 3
# What another look may find changed although nobody did anything.
VOLATILE = {"workers"}


class Promises:
    """A key, jobs, a batch, a limit and a pause, each made as people make them.

    minilab: runs a command of the operator, and gives what it prints; address: the URL of a gateway.
    """

    def __init__(self, minilab, address):
        self.minilab, self.address = minilab, urllib.parse.urlsplit(address)
        made = json.loads(minilab(
            "key", "create", "--tenant", TENANT, "--prefix", f"{TENANT}/", "--scope", "enqueue,read", "--rate", "1000000", "--json"))
        self.key = made["secret"]
        minilab("limit", "--tenant", TENANT, "--cap", str(CAP))

    def call(self, method, path, body=None, kind="application/json"):
        """One request of the client; gives the status and the answer."""
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=ANSWER_SECONDS_MAX)
        try:
            connection.request(method, f"/v1{path}", body, {"Authorization": f"Bearer {self.key}", "Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or "null")
        finally:
            connection.close()

    def ask(self, method, path, body=None, kind="application/json"):
        """The same; anything but success is an error."""
        status, answer = self.call(method, path, body, kind)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def send(self, job, asset):
        """Sends a job; gives its name in the queue once the gateway has accepted it."""
        return self.ask("POST", "/jobs", json.dumps({"id": job, "asset": asset, "edit": EDIT}))["job"]

    def open_batch(self, batch, assets):
        """Opens a batch with these members; gives their names in the queue."""
        self.ask("POST", "/batches", json.dumps({"id": batch, "edit": EDIT}))
        return self.add_members(batch, 0, assets)

    def add_members(self, batch, first, assets):
        """Adds members, the first of them with this number; gives their names in the queue."""
        lines = "".join(json.dumps({"asset": asset}) + "\n" for asset in assets)
        self.ask("PUT", f"/batches/{batch}/members?from={first}", lines, "application/x-ndjson")
        return [f"{TENANT}.{batch}:{first + number}" for number in range(len(assets))]

    def seal(self, batch, jobs):
        self.ask("POST", f"/batches/{batch}/seal", json.dumps({"jobs": jobs}))

    def pause(self):
        self.minilab("pause", REASON)

    def known(self, jobs):
        """What is known of all this: it must be the same before and after Redis was away, if nobody works meanwhile."""
        status = json.loads(self.minilab("status", "--json"))
        return {
            "jobs": {job: self.call("GET", f"/jobs/{job}")[1].get("state") for job in jobs},
            "batches": [{**batch["record"], "now": None} for batch in self.call("GET", "/batches")[1].get("batches", [])],
            "keys": self.minilab("key", "list"),
            "dead": self.minilab("dead"),
            "status": {name: value for name, value in status.items() if name not in VOLATILE},
        }

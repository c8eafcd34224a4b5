"""A rig with a gateway, whose clients and operators have promises that a restart of Redis must keep."""

import os
import time
import urllib.error
import urllib.request

from photo_rig import PHOTOS, PhotoRig
from processes import Child, eventually
from promises import TENANT, Promises
from servers import free_port

READY_SECONDS_MAX = 60
BACK_SECONDS_MAX = 120


class GatewayRig(PhotoRig):
    def start_gateway(self):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.gateway = self.gateway_at(self.port)
        self.wait_for_gateway()
        self.promises = Promises(self.command, self.address)

    def gateway_at(self, port, log="gateway"):
        gateway = Child(
            [f"{self.minilab}-gateway", "--library", self.library, "--originals", self.originals, "--port", str(port)],
            f"{self.folder}/{log}.log", self.server.login("gateway"))
        self.ends.append(gateway.kill)
        return gateway

    def wait_for_gateway(self):
        def is_ready():
            try:
                with urllib.request.urlopen(f"{self.address}/readyz", timeout=READY_SECONDS_MAX) as page:
                    return page.status == 200
            except urllib.error.HTTPError:
                return False  # Redis is away
            except OSError:
                return False  # it does not listen yet
        eventually("the gateway is ready", is_ready, READY_SECONDS_MAX)

    def photo(self, name):
        """Puts a photo of the client's into the originals; gives its asset."""
        os.makedirs(f"{self.originals}/{TENANT}", exist_ok=True)
        self.place_original(f"{PHOTOS}/sketch.png", f"{TENANT}/{name}.png")
        return f"{TENANT}/{name}.png"

    def accept(self, count, name="order"):
        """Sends jobs for photos of their own, each until the gateway has accepted it."""
        for number in range(count):
            asset = self.photo(f"{name}-{number}")
            self.assets[self.promises.send(f"{name}-{number}", asset)] = asset

    def accept_one_that_dies(self):
        """Sends a job whose photo comes too late; gives its name when it is dead."""
        self.may_die_of.add("missingAsset")
        job = self.promises.send("late", f"{TENANT}/late.png")
        self.assets[job] = f"{TENANT}/late.png"
        eventually("a job has died", lambda: self.status()["dead"] == 1, BACK_SECONDS_MAX)
        return job

    def open_batch(self, batch, count):
        assets = [self.photo(f"{batch}-{number}") for number in range(count)]
        self.assets.update(zip(self.promises.open_batch(batch, assets), assets))

    def known(self):
        return self.promises.known(self.assets)

    def must_know(self, before):
        """Complains when anything differs from what was known before; a gateway may first hear that Redis is back."""
        self.wait_for_gateway()
        deadline = time.monotonic() + BACK_SECONDS_MAX
        while (now := self.known()) != before:
            if time.monotonic() > deadline:
                raise AssertionError("; ".join(
                    f"{what} was {before[what]!r:.300} and is {now[what]!r:.300}" for what in before if now[what] != before[what]))
            time.sleep(0.2)

    def end_worker(self, worker):
        worker.end(READY_SECONDS_MAX)
        self.workers.remove(worker)

"""A rig whose workers share nothing but Redis and a bucket."""

import collections
import json
import os
import signal
import subprocess

from edits_rig import EditsRig
from http_proxy import HttpProxy
from object_store import ObjectStore, weed
from processes import children, eventually, reach
from scenarios.registry import Skipped

VERIFY_SECONDS_MAX = 600


class BucketRig(EditsRig):
    # Long enough for a busy machine, short enough for workers that are killed by the dozen.
    LEASE = "4s"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.store = self.proxy = None
        self.ended_well = {}  # worker that was ended in good order → its scratch folder
        self.scratches = {}

    # Servers

    def start_server(self, **options):
        """Starts Redis, the object store with a library, and the proxy between it and the workers."""
        program = weed()
        if program is None:
            raise Skipped("there is no weed; run ops/setup s3, or set MINILAB_WEED")
        server = super().start_server(**options)
        self.store = ObjectStore(f"{self.folder}/store", program)
        self.ends.append(self.store.end)
        self.proxy = HttpProxy(self.store.port)
        self.ends.append(self.proxy.end)
        # The explicit first use: workers refuse a bucket that has neither library nor originals.
        created = self.look("library", "create")
        if created.returncode != 0:
            raise ChildProcessError(f"minilab library create ends with {created.returncode}: {created.stderr.strip()}")
        return server

    # Workers

    def place(self, name):
        return ["--library", self.store.url(self.proxy.port), "--scratch", f"{self.folder}/scratch-{name}"]

    def environment(self):
        return self.store.environment

    def started(self, name, command, environment):
        child = super().started(name, command, environment)
        self.scratches[child] = f"{self.folder}/scratch-{name}"
        return child

    def ready_worker(self, *arguments, **options):
        """A worker that has found Redis and the store."""
        worker = self.worker(*arguments, **options)
        eventually(f"{worker.log}: the worker is ready", lambda: self.readiness(worker)[0] == 200, 60)
        return worker

    def kill(self, worker):
        """Kills it and the renders that stand still, which nobody would ever wake."""
        still = [pid for pid, state in children(worker).items() if state == "T"]
        super().kill(worker)
        for pid in still:
            reach(pid, signal.SIGKILL)  # it may have noticed

    def wait_until_still(self, worker, within=120):
        """Waits until a worker, or a render of it, stands at its stop point."""
        eventually(f"{worker.log}: it stands still",
                   lambda: worker.is_stopped or "T" in children(worker).values(), within)

    def end_workers(self):
        running = [worker for worker in self.workers if worker.is_running]
        complaints = super().end_workers()
        self.ended_well = {worker: self.scratches[worker] for worker in running if worker.process.returncode == 0}
        return complaints

    # Producer

    def place_original(self, source, asset):
        with open(source, "rb") as file:
            self.store.put(f"originals/{asset}", file.read())

    # Looking

    def look(self, *words, timeout=VERIFY_SECONDS_MAX, logins=None):
        """Runs a command of minilab on the bucket, past the proxy, as on a machine of its own."""
        return subprocess.run(
            [self.minilab, *words, "--library", self.store.url()], capture_output=True, text=True, timeout=timeout,
            env={**os.environ, **self.store.environment, **(logins or {}), "MINILAB_SCRATCH": f"{self.folder}/scratch-looking"})

    def ends_now(self):
        """How many generations have ended well by now, told cheaply."""
        self.completed()  # as long as all workers run
        return self.counted("completed", "drafted")

    def wait_for_ended(self, count, within=300):
        eventually(f"{count} jobs have ended well", lambda: self.ends_now() >= count, within, every=0.05)

    def head(self, asset):
        body = self.store.get(f"current/{asset}")
        return json.loads(body) if body else None

    def versions(self):
        """Versions that a head names or named: what was sealed and never published is nobody's."""
        for asset in self.store.names("current"):
            head = self.head(asset)
            entries = head["history"] + ([head["draft"]] if head.get("draft") else [])
            named = {entry["version"] for entry in entries + head["trash"]}
            # A draft that was published, and whose publication is in the trash by now, is named by that alone.
            linked = [self.links(asset, version) for version in named]
            for version in sorted(named.union(*linked)):
                body = self.store.get(f"edits/{asset}/versions/{version}/provenance.json")
                if body is None:
                    raise FileNotFoundError(f"{asset} {version} is in the head and has no provenance")
                made = json.loads(body)
                yield (made["author"]["job"], made["author"]["generation"]), made["version"]

    def links(self, asset, version):
        """The versions whose files a version shows."""
        body = self.store.get(f"edits/{asset}/versions/{version}/links.json")
        return {target.partition("/")[0] for target in json.loads(body)["files"].values()} if body else set()

    def complaints(self):
        """What is wrong with the bucket: what verify finds, edits done twice, lost or in another order, left-overs."""
        verify = self.look("verify", "--all-versions", "--no-render")
        found = []
        if verify.returncode != 0:
            lines = (verify.stdout + verify.stderr).splitlines()
            found.append(f"minilab verify ends with {verify.returncode}: {'; '.join(lines[:3])}")
        sound = sum(": sound" in line for line in verify.stdout.splitlines())
        if sound != len(set(self.assets.values())):
            found.append(f"minilab verify finds {sound} sound assets of {len(set(self.assets.values()))}")
        for key, count in collections.Counter(self.authors()).items():
            if count > 1:
                found.append(f"{key} has {count} versions")
        found += self.wrong_filters()
        for worker, scratch in self.ended_well.items():
            staged = [os.path.join(path, name) for path, _, files in os.walk(f"{scratch}/staging") for name in files]
            if staged:
                found.append(f"{worker.log}: {len(staged)} files are left in its scratch folder: {staged[0]}")
        return found

"""A Redis, a library and workers of one release, driven as users drive them."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import tarfile

import png
from processes import Child, eventually
from servers import Server

EDIT = {"filters": [{"name": "CISepiaTone"}]}
LEASE = "1s"
# Of a worker that dies: longer than what comes after it here, so that no other one takes its job.
LAST_LEASE = "60s"
SECONDS_MAX = 120


class World:
    def __init__(self, minilab, folder):
        self.program, self.folder, self.library = minilab, folder, f"{folder}/library"
        # As commands: no server reads the binary form of a newer one, or of one of the other family.
        self.server = Server(f"{folder}/server", ["--aof-use-rdb-preamble", "no"])
        self.sent = []

    def end(self):
        self.server.end()

    def minilab(self, *words, user="operator"):
        """Runs a command; gives what it prints."""
        ran = subprocess.run(
            [self.program, *words], env={**os.environ, **self.server.login(user)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            check=True, text=True)
        return ran.stdout

    # Photos

    def begin_library(self):
        subprocess.run([self.program, "library", "create", "--library", self.library], check=True, stdout=subprocess.DEVNULL)

    def draw(self, name, width=48, height=32):
        """Draws an original: colours that run across it, others for each name."""
        shift = hashlib.sha256(name.encode()).digest()
        rows = (
            bytes(
                value for x in range(width)
                for value in ((x * 5 + shift[0]) % 256, (y * 7 + shift[1]) % 256, (x * y + shift[2]) % 256))
            for y in range(height))
        with open(f"{self.library}/originals/{name}", "wb") as file:
            file.write(png.write(width, height, rows, level=9))

    def files(self):
        """The files of each asset's current version with their digests, by their paths in the library."""
        found = {}
        for asset in sorted(os.listdir(f"{self.library}/edits")):
            link = f"{self.library}/edits/{asset}/current"
            if not os.path.islink(link):
                continue
            version = f"edits/{asset}/{os.readlink(link)}"
            for folder, _, names in os.walk(f"{self.library}/{version}"):
                for name in names:
                    path = f"{folder}/{name}"
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.library)] = hashlib.sha256(file.read()).hexdigest()
        return found

    # Jobs

    def send(self, job, asset, edit=None, **fields):
        """What a producer in any language does."""
        words = [word for pair in fields.items() for word in pair]
        self.server("XADD", "minilab:{photos}:in", "*", "id", job, "asset", asset, "edit", json.dumps(edit or EDIT), *words, user="admin")
        self.sent.append(job)

    def batch(self, name, assets):
        path = f"{self.folder}/{name}.ndjson"
        with open(path, "w") as file:
            file.writelines(json.dumps({"asset": asset, "edit": EDIT}) + "\n" for asset in assets)
        self.minilab("enqueue", "--file", path, "--batch", name)
        self.sent += [f"{name}:{number}" for number in range(len(assets))]

    def state(self, job):
        """The state in a job's record; None while it is an entry of a stream."""
        return self.server("HGET", f"minilab:{{photos}}:job:{job}", "state")

    def wait_for(self, what, condition):
        return eventually(what, condition, SECONDS_MAX)

    def wait_for_state(self, job, state):
        def is_there():
            now = self.state(job)
            if now == "dead" and state != "dead":
                raise ValueError(f"{job} is dead: {self.minilab('explain', job)}")
            return now == state
        eventually(f"{job} is {state}", is_there, SECONDS_MAX)

    def dead_file(self):
        folder = f"{self.library}/dead"
        return next((f"{folder}/{name}" for name in sorted(os.listdir(folder))), None) if os.path.isdir(folder) else None

    def key(self, *terms):
        made = json.loads(self.minilab("key", "create", "--json", *terms))
        return {"id": made["key"]["id"], "secret": made["secret"], "scopes": made["key"]["scopes"]}

    # Workers

    def start(self, name, settings=None, environment=None, lease=LEASE):
        path = f"{self.folder}/{name}.json"
        with open(path, "w") as file:
            json.dump(settings or {}, file)
        return Child(
            [self.program, "worker", "--library", self.library, "--lease", lease, "--slots", "1", "--worker-name", name, "--settings", path],
            f"{self.folder}/{name}.log", {**self.server.login("worker"), **(environment or {})})

    @contextlib.contextmanager
    def worker(self, name, settings=None):
        child = self.start(name, settings)
        try:
            yield child
        finally:
            code = child.end(SECONDS_MAX)
        if code != 0:
            raise ChildProcessError(f"{child.log}: SIGTERM ended it with {code}")

    def die_at(self, point, name):
        """Runs a worker that is killed at a point of its first job."""
        child = self.start(name, environment={"MINILAB_TEST_STOP_AT": point}, lease=LAST_LEASE)
        eventually(f"{name} stops itself", lambda: child.is_stopped, SECONDS_MAX)
        child.signal(signal.SIGKILL)
        child.kill()

    # What stays

    def server_name(self):
        info = self.server("INFO", "server")
        facts = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
        if "valkey_version" in facts:
            return f"Valkey {facts['valkey_version']}"
        return f"Redis {facts['redis_version']}"

    def pack_queue(self, path):
        """Writes the commands that make the queue, as few as there may be."""
        self.server("BGREWRITEAOF")
        self.wait_for("the file is rewritten", lambda: "aof_rewrite_in_progress:0\r" in self.server("INFO", "persistence"))
        self.server.stop()
        folder = f"{self.server.folder}/appendonlydir"
        names = sorted((name for name in os.listdir(folder) if name.endswith(".aof")), key=lambda name: ".incr." in name)
        with open(path, "wb") as file:
            for name in names:
                with open(f"{folder}/{name}", "rb") as part:
                    file.write(part.read())

    def pack_library(self, path):
        with tarfile.open(path, "w:gz", compresslevel=9) as tar:
            tar.add(self.library, "library", filter=anonymous)


def anonymous(entry):
    """The entry of nobody in particular: the test unpacks it as whoever runs it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry

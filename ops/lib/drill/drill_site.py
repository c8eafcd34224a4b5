"""What a drill plays on: a Redis with the runbook's users, a library, and the services, new for each drill."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

from console import Console
from pictures import png
from processes import children, eventually
from servers import Server, free_port
from units import Unit

IN = "minilab:{photos}:in"
SEPIA = {"filters": [{"name": "CISepiaTone"}]}
JOB_SECONDS_MAX = 120
# Redis may be too slow to answer in time on a busy machine.
STATUS_TRIES_MAX = 5
READY_SECONDS_MAX = 60
ANSWER_SECONDS_MAX = 10
# Attempts follow each other at once, so that a drill takes seconds; the numbers of attempts are the defaults.
SETTINGS = {"retry.base": "10ms", "retry.cap": "200ms"}
LEASE = "5s"


class RedisUnit:
    """redis-server as a unit."""

    name = "redis-server"

    def __init__(self, server):
        self.server = server

    @property
    def is_running(self):
        return self.server.child.is_running

    def start(self):
        self.server.start()

    def stop(self):
        self.server.stop()

    def restart(self):
        self.stop()
        self.start()

    def status(self):
        return "redis-server: active (running)" if self.is_running else "redis-server: inactive (dead)"


class Site:
    """binaries: the folder of `minilab`, `minilab-gateway` and `minilab-render`; folder: new and for this alone."""

    def __init__(self, binaries, folder, words):
        self.binaries, self.folder = binaries, folder
        self.library, self.journals = f"{folder}/library", f"{folder}/journals"
        for path in (f"{self.library}/originals", self.journals):
            os.makedirs(path)
        self.redis = Server(f"{folder}/redis")
        os.symlink(f"{folder}/redis/redis.log", f"{self.journals}/redis-server.log")
        self.units = {"redis-server": RedisUnit(self.redis)}
        self.ends = []  # things to undo, last first
        self.status_ports = {}
        self.settings = f"{folder}/settings.json"
        self.configure({})
        self.console = Console(
            folder, words, self.units,
            {**self.redis.login("operator"), "MINILAB_LIBRARY": self.library, "DRILL_JOURNALS": self.journals,
             "DRILL_REDIS_PORT": str(self.redis.port), "PATH": f"{binaries}:{os.environ['PATH']}"},
            self.redis.users.password("admin"))
        self.run, self.see, self.does = self.console.run, self.console.see, self.console.does

    def end(self):
        for unit in self.units.values():
            if unit.name != "redis-server":
                unit.kill()
        for end in reversed(self.ends):
            end()
        self.redis.end()

    # Services

    def configure(self, more):
        """Changes the settings of workers that start from now on."""
        with open(self.settings, "w") as file:
            json.dump({**SETTINGS, **more}, file)

    def worker(self, name="minilab", slots=1, library=None, settings=(), flags=(), ready=True):
        """Starts a worker, and waits until it works; settings: MINILAB_… of its file of settings."""
        port = self.status_ports[name] = free_port()
        unit = self.units[name] = Unit(
            name, [f"{self.binaries}/minilab", "worker", "--settings", self.settings, "--lease", LEASE,
                   "--worker-name", name, "--status-port", str(port), *flags],
            {**self.redis.login("worker"), "MINILAB_LIBRARY": library or self.library, "MINILAB_SLOTS": str(slots),
             # Few pictures under many names: else one would be rendered and the rest linked.
             "MINILAB_RENDER_REUSE": "false", **dict(settings)},
            f"{self.journals}/{name}.log")
        unit.start()
        if ready:
            unit.wait_for("worker starts", READY_SECONDS_MAX)
        return unit

    def gateway(self, flags=(), settings=(), ready=True):
        """Starts a gateway; its address is `self.address`."""
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        unit = self.units["minilab-gateway"] = Unit(
            "minilab-gateway", [f"{self.binaries}/minilab-gateway", "--port", str(port), "--origin", self.address, *flags],
            {**self.redis.login("gateway"), "MINILAB_LIBRARY": self.library, **dict(settings)},
            f"{self.journals}/minilab-gateway.log")
        unit.start()
        if ready:
            self.until("the gateway is ready", lambda: self.get(f"{self.address}/readyz")[0] == 200)
        return unit

    def page(self, name, path):
        """A page of a worker's status port."""
        return self.get(f"http://127.0.0.1:{self.status_ports[name]}{path}")

    def get(self, url):
        """Status and text of a page; 0 while nobody answers."""
        try:
            with urllib.request.urlopen(url, timeout=ANSWER_SECONDS_MAX) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def child_stands_still(self, unit):
        """The render child of a worker that was told to stop somewhere, as its process number."""
        return self.until("a render stands still", lambda: next(
            (pid for pid, state in children(unit.child).items() if state == "T"), None))

    def let_renders_go_on(self, units, completed):
        """Wakes each render that was told to stop somewhere, until so many jobs are done."""
        def is_done():
            for unit in units:
                for pid, state in children(unit.child).items():
                    if state == "T":
                        os.kill(pid, signal.SIGCONT)
            return len(self.events("completed")) >= completed
        self.until(f"{completed} jobs are done", is_done)

    # Producers

    def photo(self, asset, width=64, height=48, seed=0):
        """Puts an original into the library; gives its asset."""
        path = f"{self.library}/originals/{asset}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "wb") as file:
            file.write(png(width, height, seed))
        os.rename(path + ".part", path)
        return asset

    def send(self, job, asset, edit=SEPIA, user="producer", trim=()):
        """Sends a job, as a producer does; gives its entry's id; RedisError when Redis refuses it."""
        name = ("id", job) if job else ()
        return self.redis("XADD", IN, *trim, "*", *name, "asset", asset, "edit", json.dumps(edit), user=user)

    def send_photos(self, count, edit=SEPIA, name="photo", **size):
        """Sends jobs for photos of their own; gives the jobs' names."""
        jobs = [f"{name}-{number}" for number in range(count)]
        for number, job in enumerate(jobs):
            self.send(job, self.photo(f"{job}.png", seed=number, **size), edit)
        return jobs

    # Looking

    def state(self):
        """What `minilab status --json` says, past the operator's eyes."""
        for _ in range(STATUS_TRIES_MAX):
            code, said = self.minilab("status", "--json")
            if code == 0:
                return json.loads(said)
        raise RuntimeError(f"minilab status ends with {code}: {said}")

    def until(self, what, condition, within=JOB_SECONDS_MAX):
        return eventually(what, condition, within, every=0.05)

    def wait_for_counter(self, name, count):
        self.until(f"{name} is {count}", lambda: self.state()["counters"].get(name, 0) >= count)

    def events(self, kind):
        """What events of jobs tell that are of a kind, in their order."""
        entries = self.redis("XRANGE", "minilab:{photos}:events", "-", "+")
        found = [json.loads(dict(zip(fields[::2], fields[1::2]))["event"]) for _, fields in entries]
        return [event["data"] for event in found if event["type"].endswith(".job." + kind)]

    def is_well(self, completed, dead=0):
        """Proves that all is well: so many jobs have been done, each once; nothing waits; queue and library are sound."""
        def is_drained():
            counts = {place: number for place, number in self.state().items() if isinstance(number, int)}
            return all(number == 0 for place, number in counts.items() if place != "dead")
        self.until("nothing waits", is_drained)
        state = self.state()
        done = [event["job"] for event in self.events("completed")]
        assert len(done) == len(set(done)) == completed, f"{completed} jobs were to be done once: {sorted(done)}"
        assert state["dead"] == dead, f"{state['dead']} jobs are dead, not {dead}"
        for words in (["doctor"], ["verify", "--no-render"]):
            code, said = self.minilab(*words)
            assert code == 0, f"minilab {' '.join(words)} ends with {code}: {said}"
        print(f"  ✓ {completed} done, each once; minilab doctor and minilab verify find nothing", flush=True)

    def said(self, *words):
        """What a command of an operator prints; RuntimeError when it fails."""
        code, said = self.minilab(*words)
        if code != 0:
            raise RuntimeError(f"minilab {' '.join(words)} ends with {code}: {said}")
        return said

    def minilab(self, *words):
        """Exit code and text of a command that the runbook need not have."""
        done = subprocess.run(
            [f"{self.binaries}/minilab", *words], env=self.console.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=JOB_SECONDS_MAX)
        return done.returncode, done.stdout

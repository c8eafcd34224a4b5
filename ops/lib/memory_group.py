"""A memory control group of its own (cgroup v1) for some processes; used by ops/bench/memory and ops/chaos."""

import os
import pathlib
import shutil
import signal
import time

ROOT = pathlib.Path("/sys/fs/cgroup/memory")
EMPTY_SECONDS_MAX = 20


def why_not():
    """Why this machine gives no such group; None when it does."""
    if os.geteuid() != 0:
        return "memory groups need root"
    if not (ROOT / "memory.limit_in_bytes").exists():
        return f"there is no cgroup v1 memory controller at {ROOT}"
    return None


class MemoryGroup:
    """Made by `with`, gone at its end with every process that is left in it.

    limit: most bytes of its processes and of the pages of files that they read and write; None for no limit.
    """

    def __init__(self, name, limit=None):
        self.path = ROOT / f"minilab-{name}-{os.getpid()}"
        self.limit = limit

    def __enter__(self):
        self.path.mkdir()
        if self.limit:
            self.set_limit(self.limit)
        return self

    def __exit__(self, *_):
        deadline = time.monotonic() + EMPTY_SECONDS_MAX
        while True:
            for pid in self.pids():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it ended by itself meanwhile
            try:
                return self.path.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)  # a killed process leaves its group when the kernel comes to it

    def command(self, arguments):
        """The words that run a command in the group: the shell moves itself and becomes the command."""
        script = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
        return [shutil.which("sh"), "-c", script, str(self.path), *map(str, arguments)]

    def set_limit(self, limit):
        """Raises or lowers the limit; OSError when what is used cannot be brought below it."""
        self.limit = limit
        (self.path / "memory.limit_in_bytes").write_text(str(limit))

    def number(self, name):
        return int((self.path / name).read_text())

    @property
    def used(self):
        return self.number("memory.usage_in_bytes")

    @property
    def peak(self):
        """The most that was used so far, page cache included."""
        return self.number("memory.max_usage_in_bytes")

    @property
    def oom_kills(self):
        """How many processes of the group the kernel has killed for memory."""
        fields = dict(line.split() for line in (self.path / "memory.oom_control").read_text().splitlines())
        return int(fields["oom_kill"])

    def pids(self):
        return [int(line) for line in (self.path / "cgroup.procs").read_text().split()]

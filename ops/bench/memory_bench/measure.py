"""Runs one program in a memory group and says what it took."""

import collections
import json
import os
import subprocess
import tempfile
import threading
import time

from memory_group import MemoryGroup

SAMPLES_EVERY = 0.02  # seconds; VmHWM never falls, so only growth in a process' last moments is missed
# peak_rss: highest resident set of any one of its processes. peak_group: the most that they used together, page
# cache included. Both in bytes; cpu and wall in seconds. end: "" when all went well, else why not.
Taken = collections.namedtuple("Taken", "peak_rss peak_group cpu wall end")


def run(command, limit=None, seconds_max=900, reads=(), environment=None):
    """Runs a command to its end in a group of its own; gives what it took and what it printed.

    reads: files of which nothing shall be in the page cache, so that who reads them is charged for them.
    """
    for path in reads:
        forget(path)
    with MemoryGroup("bench", limit) as group, tempfile.TemporaryFile() as output, \
            tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        process = subprocess.Popen(group.command(command), stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=errors, env={**os.environ, **(environment or {})})
        watch = Watch(group)
        clock = threading.Timer(seconds_max, lambda: [os.kill(pid, 9) for pid in group.pids()])
        clock.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        clock.cancel()
        wall = time.monotonic() - started
        watch.end()
        for file in (output, errors):
            file.seek(0)
        words = errors.read().decode(errors="replace").strip().splitlines()
        if group.oom_kills:
            end = f"killed at {group.limit / 1e9:.1f} GB"
        elif wall >= seconds_max:
            end = f"not done in {seconds_max} s"
        elif process.returncode != 0:
            end = f"ended with {process.returncode}: {words[0][:160] if words else 'without a word'}"
        else:
            end = ""
        taken = Taken(watch.peak_rss, group.peak, usage.ru_utime + usage.ru_stime, wall, end)
        return taken, output.read().decode(errors="replace")


def render(given, photo, filters, name, limit=None, output=None):
    """One photo by `minilab render`, into the bench's folder."""
    edit = os.path.join(given.folder, "edit.json")
    with open(edit, "w") as file:
        json.dump({"filters": filters, "output": output or {"quality": 0.9}}, file)
    result = os.path.join(given.folder, name)
    try:
        taken, _ = run([given.minilab, "render", photo, result, "--edit", edit, "--render-pixels", 1 << 31,
                        "--render-timeout", "15m"], limit, reads=[photo])
        return taken
    finally:
        if os.path.exists(result):
            os.remove(result)


class Watch:
    """Looks at the processes of a group until told to end."""

    def __init__(self, group):
        self.group, self.peak_rss, self.is_over = group, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.is_over.wait(SAMPLES_EVERY):
            for pid in self.group.pids():
                self.peak_rss = max(self.peak_rss, highest_resident_set(pid))

    def end(self):
        self.is_over.set()
        self.thread.join()


def highest_resident_set(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended meanwhile


def forget(path):
    """Drops a file's pages from the page cache."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)

"""Child processes that can be killed, stopped and looked at, and that never outlive this one."""

import ctypes
import os
import signal
import subprocess
import time

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def reach(pid, number):
    """Sends a signal to a process that may end by itself; returns whether it was still there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


class Child:
    """A running program; its output goes to a file."""

    def __init__(self, arguments, log, environment=None):
        self.log = log
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**os.environ, **(environment or {})}, preexec_fn=die_with_parent)

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process.poll() is None

    def must_run(self):
        """Raises, with its last words, when it has ended."""
        if not self.is_running:
            with open(self.log, errors="replace") as log:
                words = log.read().splitlines()[-1:]
            raise ChildProcessError(f"{self.log}: it ended with {self.process.returncode}: {' '.join(words)}")

    @property
    def is_stopped(self):
        self.must_run()
        with open(f"/proc/{self.pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"

    def has_said(self, words):
        """Whether it has said these words; raises when it has ended without them."""
        with open(self.log) as log:
            is_there = words in log.read()
        if not is_there:
            self.must_run()
        return is_there

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Ends it at once; nothing of it is left afterwards."""
        self.process.kill()
        self.process.wait()

    def end(self, within):
        """Asks it to end; gives its exit code, or None when it had to be killed."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def eventually(what, condition, within=30, every=0.02):
    """Waits until `condition()` gives something true, which it returns."""
    deadline = time.monotonic() + within
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {within} s still not: {what}")
        time.sleep(every)


def children(worker):
    """The processes that a worker has started: pid → state."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    state, parent = stat.read().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
            if int(parent) == worker.pid:
                found[int(name)] = state
    return found

"""Services of a site, as systemd has them on a real one: a command line, a file of settings, a journal."""

import os
import signal
import time

from processes import Child

END_SECONDS_MAX = 20
ENDED_SECONDS_MAX = 30


class Unit:
    """One service. `settings` is its file of settings; a change counts from the next start."""

    def __init__(self, name, arguments, settings, journal):
        self.name, self.arguments, self.settings, self.journal = name, arguments, settings, journal
        self.child = None

    @property
    def is_running(self):
        return self.child is not None and self.child.is_running

    def start(self):
        # What the last process has said must not be taken for what this one says.
        self.said_before = os.path.getsize(self.journal) if os.path.exists(self.journal) else 0
        self.child = Child(self.arguments, self.journal, self.settings)

    def stop(self):
        if self.is_running:
            self.child.signal(signal.SIGCONT)  # a drill may have stopped it
            self.child.end(END_SECONDS_MAX)

    def restart(self):
        self.stop()
        self.start()

    def kill(self):
        if self.is_running:
            self.child.kill()

    def status(self):
        if self.child is None:
            return f"{self.name}: inactive (dead)"
        if self.is_running:
            return f"{self.name}: active (running), process {self.child.pid}"
        return f"{self.name}: failed, ended with {self.child.process.returncode}"

    def wait_for_end(self):
        self.child.process.wait(ENDED_SECONDS_MAX)

    def has_said(self, words):
        """Whether these words are in the journal since the last start."""
        with open(self.journal, errors="replace") as file:
            file.seek(self.said_before)
            return words in file.read()

    def wait_for(self, words, within=30):
        deadline = time.monotonic() + within
        while not self.has_said(words):
            if not self.is_running:
                raise ChildProcessError(f"{self.status()} before it said {words!r}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name} has not said {words!r} within {within} s")
            time.sleep(0.02)

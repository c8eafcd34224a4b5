"""The servers that are measured, and what they take, as the kernel counts it."""

import contextlib
import http.client
import os
import subprocess
import time

from redis_server import pinned

STARTS_SECONDS_MAX = 30
ENDS_SECONDS_MAX = 60


class Server:
    """A server on a port of this machine; ended at the end of `with`."""

    def __init__(self, command, port, ready, processor=None, log=None):
        self.command, self.port, self.ready, self.processor, self.log = command, port, ready, processor, log

    def __enter__(self):
        out = open(self.log, "ab") if self.log else subprocess.DEVNULL
        self.process = subprocess.Popen(
            self.command, stdout=out, stderr=out, preexec_fn=pinned(self.processor),
            # SwiftNIO counts the machine's processors, not those that it may use.
            env={**os.environ, **({} if self.processor is None else {"NIO_SINGLETON_GROUP_LOOP_COUNT": "1"})}
        )
        deadline = time.monotonic() + STARTS_SECONDS_MAX
        while not self.answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.process.kill()
                raise SystemExit(f"gateway: {self.command[0]} did not come up within {STARTS_SECONDS_MAX} s")
            time.sleep(0.05)  # nothing announces that the port is open
        return self

    def answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", self.ready)
            return connection.getresponse().status in (200, 404)
        except OSError:
            return False

    def cpu_seconds(self):
        """Processor time of its threads so far; threads that ended are not in it, and few end."""
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{self.process.pid}/task/{thread}/schedstat") as file:
                    total += int(file.read().split()[0])
        return total / 1e9

    def forget_peak(self):
        """Sets the highest resident size back to the present one."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def peak_bytes(self):
        return self.status("VmHWM")

    def status(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        raise SystemExit(f"gateway: /proc does not know {name}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=ENDS_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

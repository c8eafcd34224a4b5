"""A Redis of its own for one measurement, and the few commands that a bench sends to it."""

import os
import socket
import subprocess
import tempfile
import time

STARTS_SECONDS_MAX = 10
REPLY_SECONDS_MAX = 600  # a script of the bench may write for long


class Redis:
    """A server in a temporary folder, on a unix socket; gone at the end of `with`.

    processor   on which it runs, so that the gateway has the other for itself; None leaves it to the kernel
    """

    def __init__(self, processor=None):
        self.processor = processor

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="minilab-bench-")
        self.socket = f"{self.folder.name}/redis.sock"
        self.url = f"unix://{self.socket}"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder.name]
            + ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""]
            + ["--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction"],
            stdout=subprocess.DEVNULL,
            preexec_fn=pinned(self.processor),
        )
        deadline = time.monotonic() + STARTS_SECONDS_MAX
        while True:
            try:
                self.client = Client(self.socket)
                return self
            except OSError:
                if time.monotonic() > deadline:
                    self.__exit__()
                    raise
                time.sleep(0.02)  # nothing announces that the socket is there

    def cpu_seconds(self):
        """Processor time so far."""
        fields = self.info("cpu")
        return float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"])

    def memory(self):
        return int(self.info("memory")["used_memory"])

    def info(self, section):
        lines = self.client("INFO", section).decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.folder.cleanup()


def pinned(processor):
    """What a child does before it runs, so that it stays on one processor."""
    return None if processor is None else lambda: os.sched_setaffinity(0, {processor})


class Client:
    """One connection; call it with the words of a command."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(REPLY_SECONDS_MAX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self("PING")

    def __call__(self, *words):
        return self.many([words])[0]

    def many(self, commands):
        """The replies to commands that are sent together; an error of one is raised when all were read."""
        self.socket.sendall(b"".join(map(encoded, commands)))
        replies = [self.reply() for _ in commands]
        for reply in replies:
            if isinstance(reply, RuntimeError):
                raise reply
        return replies

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        raise EOFError(f"Redis said {line[:80]!r}")


def encoded(words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)

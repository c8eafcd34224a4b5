"""A Redis of its own for one measurement."""

import subprocess
import tempfile
import time

import redis

STARTS_SECONDS_MAX = 10


class Server:
    """Runs in a temporary folder, on a unix socket; gone at the end of `with`."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="minilab-bench-")
        self.socket = f"{self.folder.name}/redis.sock"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder.name]
            + ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""]
            + ["--maxmemory-policy", "noeviction"],
            stdout=subprocess.DEVNULL,
        )
        self.client = redis.Redis(unix_socket_path=self.socket)
        deadline = time.monotonic() + STARTS_SECONDS_MAX
        while True:
            try:
                self.client.ping()
                return self
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    self.__exit__()
                    raise
                time.sleep(0.02)  # nothing announces that the socket is there

    def cpu_seconds(self):
        """Processor time so far, without the child that rewrites the AOF now and then."""
        cpu = self.client.info("cpu")
        return cpu["used_cpu_user"] + cpu["used_cpu_sys"]

    def bytes_of_data(self):
        """Memory, without what the log and the connections hold for the moment."""
        memory = self.client.info("memory")
        return memory["used_memory"] - memory["mem_aof_buffer"] - memory["mem_clients_normal"]

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)
        self.folder.cleanup()

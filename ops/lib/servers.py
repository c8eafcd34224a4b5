"""Real Redis servers with the settings and users that INSTALL.md names: one alone, a master with sentinels, a cluster."""

import os
import shlex
import shutil
import socket
import struct
import subprocess

from processes import Child, eventually
from resp import Redis, RedisError

OPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 30


def settings():
    """ops/redis.conf as arguments: a sentinel would rewrite the file with which a server was started."""
    with open(f"{OPS}/redis.conf") as file:
        lines = [shlex.split(line, comments=True) for line in file]
    return [word for name, *values in filter(None, lines) for word in (f"--{name}", *values)]


class Users:
    """The users of ops/redis-users.conf, with the passwords of `ops/deploy/secrets`."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([f"{OPS}/deploy/secrets", folder], check=True, stdout=subprocess.DEVNULL)

    def password_file(self, user):
        return f"{self.folder}/redis-{user}"

    def password(self, user):
        with open(self.password_file(user)) as file:
            return file.read()

    def login(self, user):
        return user, self.password(user)

    def arguments(self):
        """Those of a server; a replica logs in at its master."""
        return ["--aclfile", f"{self.folder}/users.acl", "--masteruser", "admin", "--masterauth", self.password("admin")]

    def environment(self, user):
        """What a program of Minilab needs to come as this user."""
        return {"MINILAB_REDIS_USER": user, "MINILAB_REDIS_PASSWORD_FILE": self.password_file(user)}


def free_port():
    """A port that nobody listens at, nor at the one 10,000 above, which a cluster uses as well."""
    while True:
        with socket.socket() as probe, socket.socket() as bus:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            if port + 10_000 > 65_535:
                continue
            try:
                bus.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            return port


class Server:
    """One redis-server with a folder of its own: a port of the loopback for workers, a socket for us.

    prefix: words in front of the command, such as those that enter a network namespace.
    users: those of another server, of which it is a replica.
    """

    def __init__(self, folder, arguments=(), prefix=(), users=None):
        self.folder, self.arguments, self.prefix = folder, list(arguments), list(prefix)
        self.users = users or Users(f"{folder}-users")
        self.port, self.socket = free_port(), f"{folder}/redis.sock"
        os.makedirs(folder)
        self.start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    @property
    def control_url(self):
        """The way past every fault."""
        return f"unix://{self.socket}"

    def start(self):
        self.child = Child(
            [*self.prefix, "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.socket, "--dir", self.folder,
             "--daemonize", "no", "--logfile", f"{self.folder}/redis.log", *settings(), *self.users.arguments(), *self.arguments],
            f"{self.folder}/output", self.environment())
        self.wait_until_ready()

    def environment(self):
        return {}

    def wait_until_ready(self):
        eventually("Redis answers", self.answers, START_SECONDS_MAX)

    def answers(self):
        try:
            return self("PING") == "PONG"
        except (OSError, RedisError):
            return False  # it is not there yet, or reads its file

    def __call__(self, *command, user="admin"):
        """One command of a user; RedisError when Redis refuses it."""
        with Redis(self.socket, self.users.login(user)) as redis:
            return redis(*command)

    def pipeline(self, commands, user="admin"):
        with Redis(self.socket, self.users.login(user)) as redis:
            return redis.pipeline(commands)

    def login(self, user):
        """The settings of a program of Minilab that comes as this user."""
        return {"MINILAB_REDIS": self.url, **self.users.environment(user)}

    def has_written(self):
        """Whether all that it has answered is in its file; a kill then takes nothing."""
        return "aof_buffer_length:0\r" in self("INFO", "persistence")

    def stop(self):
        """Ends it in good order: it writes all that it has."""
        self.child.end(STOP_SECONDS_MAX)

    def kill(self):
        self.child.kill()

    def restart(self):
        """Dies without a warning and comes back with its file."""
        self.kill()
        self.start()

    def end(self):
        if self.child.is_running:
            self.child.kill()

    def append_only_file(self):
        """The file that it appends to."""
        folder = f"{self.folder}/appendonlydir"
        names = [name for name in os.listdir(folder) if name.endswith(".incr.aof")]
        return f"{folder}/{max(names, key=lambda name: int(name.split('.')[-3]))}"


class ClockedServer(Server):
    """One redis-server whose wall clock a scenario sets."""

    LIBRARY = "server_clock.c"

    def __init__(self, folder, arguments=(), ahead=0, users=None):
        self.clock, self.preload = f"{folder}.clock", f"{folder}.clock.so"
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), self.LIBRARY)
        subprocess.run([compiler(), "-O1", "-shared", "-fPIC", "-o", self.preload, source], check=True)
        self.set_clock(ahead)
        super().__init__(folder, arguments, users=users)

    def environment(self):
        return {"LD_PRELOAD": self.preload, "SERVER_CLOCK": self.clock}

    def set_clock(self, ahead):
        """Sets the clock to so many seconds ahead of the machine's."""
        # In place: the server has the file mapped.
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "wb") as file:
            file.write(struct.pack("=q", ahead))

    def promote(self, port):
        """Takes the place of a master that has died, at the address that workers know."""
        self("REPLICAOF", "NO", "ONE")
        self("CONFIG", "SET", "port", port)
        self.port = port


def compiler():
    """The C compiler that there is, or None."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


class WatchedServer:
    """A master with a replica and three sentinels."""

    NAME = "minilab"

    def __init__(self, folder):
        self.users = Users(f"{folder}/users")
        self.nodes = [Server(f"{folder}/redis-0", ["--repl-diskless-sync-delay", "0"], users=self.users)]
        self.nodes.append(Server(f"{folder}/redis-1", [
            "--repl-diskless-sync-delay", "0", "--replicaof", f"127.0.0.1 {self.nodes[0].port}"], users=self.users))
        self.sentinels = []
        for number in range(3):
            self.sentinels.append(self.sentinel(f"{folder}/sentinel-{number}"))
        eventually("the sentinels know each other and the replica", self.is_complete, 60)

    def sentinel(self, folder):
        os.makedirs(folder)
        port, settings = free_port(), f"{folder}/sentinel.conf"
        with open(settings, "w") as file:
            file.write(
                f"port {port}\nbind 127.0.0.1\ndir {folder}\nlogfile {folder}/sentinel.log\n"
                f"sentinel monitor {self.NAME} 127.0.0.1 {self.nodes[0].port} 2\n"
                f"sentinel down-after-milliseconds {self.NAME} 2000\n"
                f"sentinel failover-timeout {self.NAME} 5000\n"
                f"sentinel auth-user {self.NAME} admin\n"
                f"sentinel auth-pass {self.NAME} {self.users.password('admin')}\n")
        child = Child(["redis-server", settings, "--sentinel"], f"{folder}/output")
        return port, child

    @property
    def control_url(self):
        return self.url

    @property
    def url(self):
        return f"redis+sentinel://{','.join(f'127.0.0.1:{port}' for port, _ in self.sentinels)}/{self.NAME}"

    def ask(self, *command):
        with Redis(self.sentinels[0][0]) as redis:
            return redis(*command)

    def is_complete(self):
        try:
            fields = self.ask("SENTINEL", "MASTER", self.NAME)
        except (OSError, RedisError):
            return False  # it starts
        master = dict(zip(fields[::2], fields[1::2]))
        replica = self.nodes[1]("INFO", "replication")
        return (master["num-other-sentinels"] == "2" and master["num-slaves"] == "1"
                and "master_link_status:up" in replica)

    def master(self):
        """The master as the sentinels see it."""
        port = int(self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.NAME)[1])
        return next(node for node in self.nodes if node.port == port)

    def __call__(self, *command, user="admin"):
        return self.master()(*command, user=user)

    def pipeline(self, commands, user="admin"):
        return self.master().pipeline(commands, user)

    def login(self, user):
        return {"MINILAB_REDIS": self.url, **self.users.environment(user)}

    def fail_over(self):
        """The master dies; the replica takes its place; the dead one comes back as its replica."""
        old = self.master()
        old.kill()
        eventually("another master", lambda: self.master() is not old, 60)
        eventually("it takes writes", lambda: "role:master" in self.master()("INFO", "replication"), 60)
        old.start()
        # On a busy machine the sentinels may have changed their minds meanwhile: either may be the master.
        eventually("one of the two has become a replica that is in step",
                   lambda: any("master_link_status:up" in node("INFO", "replication") for node in self.nodes), 60)

    def end(self):
        for _, child in self.sentinels:
            child.kill()
        for node in self.nodes:
            node.end()


class Cluster:
    """Three masters with a replica each."""

    KEY = "minilab:{photos}:in"

    def __init__(self, folder):
        self.users = Users(f"{folder}/users")
        self.nodes = [
            Server(f"{folder}/redis-{number}", [
                "--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
                "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"], users=self.users)
            for number in range(6)]
        subprocess.run(
            [shutil.which("redis-cli"), "--user", "admin", "--cluster", "create", *(f"127.0.0.1:{node.port}" for node in self.nodes),
             "--cluster-replicas", "1", "--cluster-yes"], check=True, capture_output=True, timeout=60,
            env={**os.environ, "REDISCLI_AUTH": self.users.password("admin")})
        eventually("the cluster is whole", self.is_complete, 60)

    @property
    def control_url(self):
        return self.url

    @property
    def url(self):
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def is_complete(self):
        states = [node("CLUSTER", "INFO") for node in self.nodes]
        links = [node("INFO", "replication") for node in self.nodes]
        return (all("cluster_state:ok" in state for state in states)
                and sum("master_link_status:up" in link for link in links) == 3)

    def master(self):
        """The master of the queue's slot."""
        for node in self.nodes:
            try:
                node("XLEN", self.KEY)
                if "role:master" in node("INFO", "replication"):
                    return node
            except (OSError, RedisError):
                continue  # dead, or it sends us elsewhere
        raise ConnectionError("no node of the cluster has the queue at the moment")

    def __call__(self, *command, user="admin"):
        return self.master()(*command, user=user)

    def pipeline(self, commands, user="admin"):
        return self.master().pipeline(commands, user)

    def login(self, user):
        return {"MINILAB_REDIS": self.url, **self.users.environment(user)}

    def fail_over(self):
        """The queue's master dies; its replica takes its place; the dead one comes back."""
        old = self.master()
        old.kill()
        eventually("another master", self.has_master, 60)
        old.start()
        eventually("the cluster is whole", self.is_complete, 60)

    def has_master(self):
        try:
            return self.master()
        except ConnectionError:
            return None  # the others have not agreed yet

    def end(self):
        for node in self.nodes:
            node.end()

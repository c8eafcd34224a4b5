"""Just enough of a Redis client: commands, pipelines, replies. No packages are needed for it."""

import socket


class RedisError(Exception):
    """What Redis answered instead of a result."""


class Redis:
    """One connection. Any failure of it is an OSError; make a new one then."""

    def __init__(self, address, login=(), timeout=10):
        """address: the path of a Unix socket, or a port of the loopback; login: user and password."""
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(("127.0.0.1", address), timeout=timeout)
        self.reader = self.socket.makefile("rb")
        if login:
            self("AUTH", *login)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def __call__(self, *arguments):
        """Sends one command and gives its reply; raises RedisError."""
        reply = self.pipeline([arguments])[0]
        if isinstance(reply, RedisError):
            raise reply
        return reply

    def pipeline(self, commands):
        """Sends commands at once; errors are among the replies."""
        self.socket.sendall(b"".join(map(encoded, commands)))
        return [self.reply() for _ in commands]

    def reply(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"+":
            return rest
        if kind == b"-":
            return RedisError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self.reader.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return None if rest == "-1" else [self.reply() for _ in range(int(rest))]
        raise ConnectionError(f"not a reply: {line!r}")


def encoded(arguments):
    parts = [str(argument).encode() for argument in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)

"""An HTTP proxy on the loopback that does to single requests what networks and stores do."""

import asyncio
import collections
import re

from proxy import CHUNK, Proxy, abort

HEAD_BYTES_MAX = 64 * 1024
REFUSALS = {
    403: ("Forbidden", "InvalidAccessKeyId", "The access key ID you provided does not exist in our records."),
    503: ("Slow Down", "SlowDown", "Please reduce your request rate."),
}


class Fault:
    """What happens to the requests that it fits; `count` is how often it happened.

    action: `lose-reply` (carried out, and the connection reset in place of the answer), `cut-upload` and
    `cut-download` (reset in the middle of the body), `delay` (by `seconds`), or a status of REFUSALS.
    once: only to the first of the requests that have the same method, path and body: the next is passed on.
    """

    def __init__(self, action, method=".*", path=".*", once=False, seconds=0):
        self.action, self.method, self.path = action, re.compile(method), re.compile(path)
        self.once, self.seconds = once, seconds
        self.count = 0
        self.answers = collections.Counter()  # status → how many of them the store answered so
        self.seen = set()

    def fits(self, head):
        if not (self.method.fullmatch(head.method) and self.path.fullmatch(head.path)):
            return False
        # Not the range: whoever was cut off goes on where it was.
        key = head.method, head.path, head.fields.get("x-amz-content-sha256")
        if self.once and key in self.seen:
            return False
        self.seen.add(key)
        self.count += 1
        return True


class HttpProxy(Proxy):
    """Passes requests to a target until one fits a fault. The list of faults is changed from any thread."""

    def __init__(self, target_port):
        self.faults = []
        self.requests = collections.Counter()  # method → how many came
        super().__init__(target_port)

    def begin(self, *arguments, **options):
        """Puts a fault in force; gives it."""
        fault = Fault(*arguments, **options)
        self.faults = [*self.faults, fault]
        return fault

    def finish(self, fault):
        """Takes a fault back."""
        self.faults = [other for other in self.faults if other is not fault]

    async def connected(self, reader, writer):
        pair = {writer}
        self.writers |= pair
        try:
            far = await asyncio.open_connection("127.0.0.1", self.target_port)
            pair.add(far[1])
            self.writers |= pair
            while await self.exchanged(reader, writer, *far):
                pass
            for each in pair:
                each.close()  # in good order: what was written arrives
        except (OSError, EOFError, ValueError):
            pass  # one side went away, or it was cut: the other goes too
            for each in pair:
                abort(each)
        self.writers -= pair

    async def exchanged(self, reader, writer, far_reader, far_writer):
        """One request and its answer; False when the connection was to be closed after it."""
        request = await read_head(reader)
        if request is None:
            return False
        self.requests[request.method] += 1
        fault = next((fault for fault in self.faults if fault.fits(request)), None)
        action = fault.action if fault else None
        if action == "delay":
            await asyncio.sleep(fault.seconds)
        if action in REFUSALS:
            await passed_on(reader, None, request.body_bytes)
            writer.write(refusal(action, request.method))
            await writer.drain()
            return True
        far_writer.write(request.raw)
        if action == "cut-upload":
            await passed_on(reader, far_writer, (request.body_bytes or 0) // 2)
            raise EOFError
        await passed_on(reader, far_writer, request.body_bytes)
        while True:
            answer = await read_head(far_reader)
            if answer is None:
                return False
            if answer.status >= 200:
                break
            writer.write(answer.raw)  # 100 Continue
        if fault:
            fault.answers[answer.status] += 1
        has_body = request.method != "HEAD" and answer.status not in (204, 304)
        length = answer.body_bytes if has_body else 0
        if action == "lose-reply":
            await passed_on(far_reader, None, length)
            raise EOFError
        writer.write(answer.raw)
        if action == "cut-download":
            await passed_on(far_reader, writer, (length or 0) // 2)
            # Bytes that were let through have to arrive: the cut is behind it, not before.
            await asyncio.sleep(0.005)
            raise EOFError
        await passed_on(far_reader, writer, length)
        return "close" not in answer.fields.get("connection", "").lower()


class Head:
    """The first line and the fields of a request or an answer."""

    def __init__(self, raw):
        self.raw = raw
        first, *lines = raw.decode("latin-1").split("\r\n")
        words = first.split(" ")
        self.method, self.path = words[0], words[1].partition("?")[0]
        self.status = int(words[1]) if first.startswith("HTTP/") else None
        self.fields = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if colon:
                self.fields[name.strip().lower()] = value.strip()

    @property
    def body_bytes(self):
        """How long the body is; None when it comes in chunks."""
        if "chunked" in self.fields.get("transfer-encoding", "").lower():
            return None
        return int(self.fields.get("content-length", 0))


async def read_head(reader):
    """None when the connection has ended instead."""
    try:
        return Head(await reader.readuntil(b"\r\n\r\n"))
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise ValueError(f"a head of more than {HEAD_BYTES_MAX} bytes") from error


async def passed_on(reader, writer, count):
    """Reads a body and writes it there, or nowhere; count: None for one in chunks."""
    if count is None:
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            put(writer, line)
            await passed_on(reader, writer, size)
            put(writer, await reader.readexactly(2))
            if size == 0:
                return
    while count > 0:
        data = await reader.read(min(CHUNK, count))
        if not data:
            raise EOFError
        count -= len(data)
        put(writer, data)
        if writer:
            await writer.drain()


def put(writer, data):
    if writer:
        writer.write(data)


def refusal(status, method):
    words, code, sentence = REFUSALS[status]
    body = f"<Error><Code>{code}</Code><Message>{sentence}</Message><RequestId>chaos</RequestId></Error>"
    head = (f"HTTP/1.1 {status} {words}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n"
            "x-amz-request-id: chaos\r\n\r\n")
    return (head + ("" if method == "HEAD" else body)).encode()

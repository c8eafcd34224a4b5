"""A TCP proxy on the loopback that does to connections what networks do."""

import asyncio
import socket
import struct
import threading

CHUNK = 64 * 1024


class Proxy:
    """Passes bytes between its own port and a target until it is told to misbehave.

    Faults are set from any thread; they hold for old and new connections alike.
    """

    def __init__(self, target_port):
        self.target_port = target_port
        self.delay = 0  # seconds, each way
        self.is_black_hole = False  # nothing passes, nothing is refused
        self.cut_after = None  # a function: bytes that a direction of a new connection lets through before RST
        self.writers = set()
        self.cuts = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        server = self.call(asyncio.start_server(self.connected, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def reset(self):
        """Ends all connections with RST: what was on the way is lost on both sides."""
        async def reset_all():
            for writer in list(self.writers):
                abort(writer)
        self.call(reset_all())

    def end(self):
        self.reset()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)

    async def connected(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            return abort(writer)  # the target is down: so is what stands for it
        pair = {writer, far_writer}
        self.writers |= pair
        await asyncio.gather(
            self.pass_on(reader, far_writer, pair), self.pass_on(far_reader, writer, pair))
        self.writers -= pair

    async def pass_on(self, reader, writer, pair):
        left = self.cut_after() if self.cut_after else None
        try:
            while data := await reader.read(CHUNK):
                if self.delay:
                    await asyncio.sleep(self.delay)
                while self.is_black_hole:
                    await asyncio.sleep(0.02)
                if left is not None:
                    data, left = data[:left], left - len(data)
                writer.write(data)
                await writer.drain()
                if left is not None and left <= 0:
                    # What was let through has to arrive: the cut is behind it, not before.
                    await asyncio.sleep(0.005)
                    self.cuts += 1
                    break
        except OSError:
            pass  # one side went away; so does the other
        for each in pair:
            abort(each)


def abort(writer):
    """RST instead of FIN, as from a router that forgot the connection."""
    raw = writer.get_extra_info("socket")
    try:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass  # closed already
    writer.transport.abort()

"""An object store of one process that costs little processor time: slow as a network is, and no slower."""

import itertools
import ssl
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

CHUNK = 256 << 10
# Longer bodies are counted and not kept: nobody reads renders back.
KEPT = 1 << 20
NO_KEY = b"<Error><Code>NoSuchKey</Code><Message>There is no such key.</Message></Error>"
FAILED = b"<Error><Code>PreconditionFailed</Code><Message>It is another one.</Message></Error>"


class Pace:
    """Bounds the bytes of one body a second."""

    def __init__(self, rate):
        self.rate, self.start, self.bytes = rate, time.monotonic(), 0

    def wait(self, count):
        self.bytes += count
        late = self.start + self.bytes / self.rate - time.monotonic()
        if late > 0.001:
            time.sleep(late)


class Objects:
    """Objects by key; each write has a tag of its own."""

    def __init__(self):
        self.lock = threading.Lock()
        self.all = {}
        self.tags = itertools.count(1)
        self.requests = 0
        self.uploads = {}

    def put(self, key, body, size, absent=False, tag=None):
        with self.lock:
            old = self.all.get(key)
            if (absent and old) or (tag and (not old or old[0].strip('"') != tag.strip('"'))):
                return None
            self.all[key] = (f'"{next(self.tags):032x}"', body, size)
            return self.all[key][0]


def handler(objects, latency, rate):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def key(self):
            path = urllib.parse.urlsplit(self.path)
            query = urllib.parse.parse_qs(path.query, keep_blank_values=True)
            objects.requests += 1
            return urllib.parse.unquote(path.path).lstrip("/").partition("/")[2], query

        def answer(self, status, body=b"", headers=(), length=None):
            time.sleep(latency)
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            if self.command == "HEAD":
                return
            pace, body = Pace(rate), memoryview(body)
            for start in range(0, len(body), CHUNK):
                piece = body[start:start + CHUNK]
                pace.wait(len(piece))
                self.wfile.write(piece)

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            key, query = self.key()
            if not key:
                return self.answer(200, self.listing(query))
            found = objects.all.get(key)
            if not found:
                return self.answer(404, NO_KEY)
            tag, body, size = found
            headers, status = [("ETag", tag), ("Last-Modified", self.date_time_string())], 200
            asked = self.headers.get("Range")
            if asked:
                first, _, last = asked.removeprefix("bytes=").partition("-")
                first, end = int(first), min(int(last) + 1 if last else size, size)
                headers.append(("Content-Range", f"bytes {first}-{end - 1}/{size}"))
                body, status, size = memoryview(body)[first:end], 206, end - first
            self.answer(status, body, headers, length=size)

        def listing(self, query):
            prefix = query.get("prefix", [""])[0]
            keys = sorted(key for key in objects.all if key.startswith(prefix))[:1000]
            entries = "".join(
                f"<Contents><Key>{escape(key)}</Key><Size>{objects.all[key][2]}</Size>"
                f"<ETag>{escape(objects.all[key][0])}</ETag></Contents>" for key in keys)
            return (f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}"
                    f"</ListBucketResult>").encode()

        def do_PUT(self):
            key, query = self.key()
            left = size = int(self.headers["Content-Length"])
            pace, buffer, kept = Pace(rate), memoryview(bytearray(CHUNK)), bytearray()
            while left:
                count = self.rfile.readinto(buffer[:min(left, CHUNK)])
                if not count:
                    self.close_connection = True
                    return None
                if size <= KEPT:
                    kept += buffer[:count]
                left -= count
                pace.wait(count)
            if "uploadId" in query:
                # Parts are counted by upload; the object gets their length.
                upload = query["uploadId"][0]
                with objects.lock:
                    objects.uploads[upload] = objects.uploads.get(upload, 0) + size
                return self.answer(200, headers=[("ETag", f'"{query["partNumber"][0]:0>32}"')])
            tag = objects.put(key, bytes(kept), size, self.headers.get("If-None-Match") == "*",
                              self.headers.get("If-Match"))
            if not tag:
                return self.answer(412, FAILED)
            return self.answer(200, headers=[("ETag", tag)])

        def do_POST(self):
            key, query = self.key()
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "uploads" in query:
                return self.answer(200, f"<InitiateMultipartUploadResult><UploadId>"
                                        f"{next(objects.tags)}</UploadId>"
                                        f"</InitiateMultipartUploadResult>".encode())
            tag = objects.put(key, b"", objects.uploads.pop(query["uploadId"][0]))
            return self.answer(200, f"<CompleteMultipartUploadResult><ETag>{escape(tag)}</ETag>"
                                    f"</CompleteMultipartUploadResult>".encode())

        def do_DELETE(self):
            objects.all.pop(self.key()[0], None)
            self.answer(204)

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(objects, latency, rate, certificate=None):
    """Starts a server on a free port of this machine and returns it."""
    server = Server(("127.0.0.1", 0), handler(objects, latency, rate))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server

"""A real SeaweedFS, and the way past its S3 side, by which scenarios look and put originals there."""

import glob
import json
import os
import secrets
import shutil
import urllib.error
import urllib.parse
import urllib.request

from processes import Child, eventually
from servers import free_port

BUCKET = "photos"
PREFIX = "lab"
START_SECONDS_MAX = 60
LIST_MAX = 10_000
HERE = os.path.dirname(os.path.abspath(__file__))


def weed():
    """The program, as tests find it: MINILAB_WEED, PATH, or where ops/setup s3 puts it; None when there is none."""
    installed = glob.glob(f"{HERE}/../../.build-test/weed-*/bin/weed")
    return os.environ.get("MINILAB_WEED") or shutil.which("weed") or next(iter(sorted(installed)), None)


class ObjectStore:
    """One `weed mini` with a folder of its own and a bucket."""

    PORTS = ["s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
             "filer.port", "filer.port.grpc", "admin.port", "admin.port.grpc"]

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        os.makedirs(f"{folder}/data")
        self.environment = {"AWS_ACCESS_KEY_ID": "minilab", "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20)}
        with open(f"{folder}/keys.json", "w") as file:
            json.dump({"identities": [{
                "name": "minilab", "actions": ["Admin", "Read", "Write", "List", "Tagging"],
                "credentials": [{"accessKey": self.environment["AWS_ACCESS_KEY_ID"],
                                 "secretKey": self.environment["AWS_SECRET_ACCESS_KEY"]}]}]}, file)
        self.ports = {}
        while len(set(self.ports.values())) < len(self.PORTS):
            self.ports = {name: free_port() for name in self.PORTS}
        self.start()
        self.request("POST", f"/buckets/{BUCKET}/")

    @property
    def port(self):
        return self.ports["s3.port"]

    def url(self, port=None):
        """The library, as `--library` takes it; port: of a proxy in front of the store."""
        return f"s3://{BUCKET}/{PREFIX}?endpoint=http://127.0.0.1:{port or self.port}&region=us-east-1"

    def start(self):
        self.child = Child(
            [self.program, "-logtostderr", "mini", f"-dir={self.folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
             "-master.telemetry=false", "-admin.ui=false", "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
             f"-s3.config={self.folder}/keys.json", "-s3.autoCreateBucket=false", "-volume.max=0",
             "-master.volumeSizeLimitMB=64", f"-filer.localSocket={self.folder}/filer.sock",
             f"-s3.localSocket={self.folder}/s3.sock",
             *(f"-{name}={port}" for name, port in self.ports.items())],
            f"{self.folder}/log",
            # Go keeps what it once had; a limit makes it give memory back.
            {"GOMEMLIMIT": "160MiB", "GOGC": "50"})
        eventually("SeaweedFS answers", self.answers, START_SECONDS_MAX)

    def answers(self):
        if not self.child.is_running:
            raise ChildProcessError(f"{self.child.log}: it ended with {self.child.process.returncode}")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5).close()
            return True
        except OSError:
            return False  # it starts

    def kill(self):
        self.child.kill()

    def end(self):
        if self.child.is_running:
            self.child.kill()

    # Past the S3 side and every fault

    def request(self, method, path, data=None, headers=None):
        """What the filer answers. One that was just started says 500 until it has found its volumes: it is asked again."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports['filer.port']}{path}", data=data, method=method, headers=headers or {})

        def answer():
            try:
                with urllib.request.urlopen(request, timeout=60) as page:
                    return (page.read(),)
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise
                return None
        return eventually(f"{method} {path} is answered without a fault of the filer's own", answer, START_SECONDS_MAX, 0.2)[0]

    def path(self, key):
        return urllib.parse.quote(f"/buckets/{BUCKET}/{PREFIX}/{key}")

    def put(self, key, data):
        self.request("PUT", self.path(key), data, {"Content-Type": "application/octet-stream"})

    def get(self, key):
        """The bytes of an object; None when there is none."""
        try:
            return self.request("GET", self.path(key))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def names(self, folder):
        """What is in a folder."""
        try:
            page = json.loads(self.request(
                "GET", self.path(folder) + f"/?limit={LIST_MAX}", headers={"Accept": "application/json"}))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return []
            raise
        assert not page["ShouldDisplayLoadMore"], f"more than {LIST_MAX} names in {folder}"
        return [entry["FullPath"].rpartition("/")[2] for entry in page["Entries"] or []]

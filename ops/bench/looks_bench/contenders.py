"""Who renders: a child of a release, pyvips, libjpeg-turbo alone. Each is a process of its own."""

import json
import os
import subprocess
import sys

from render_child import Child, Meter, Refused, Use

from .edits import QUALITY


class Ours:
    """A minilab-render, warm; `render` gives what it took."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.child = Child(program, folder, {"VIPS_CONCURRENCY": "1"})

    def render(self, photo, filters, output):
        recipe = {"filters": filters, "output": {"quality": QUALITY, **output}}
        try:
            return self.child.render(photo, recipe)
        except Refused as refused:
            self.child = Child(self.program, self.folder, {"VIPS_CONCURRENCY": "1"})
            print(f"looks: {refused}", file=sys.stderr)
            return None

    def close(self):
        self.child.close()


class Peer:
    """pyvips in a process that lives as long."""

    def __init__(self, folder):
        self.output = os.path.join(folder, "peer-output")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "looks_bench.peer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "VIPS_CONCURRENCY": "1", "MALLOC_ARENA_MAX": "2"})

    def render(self, photo, format, edit):
        meter = Meter(self.process.pid)
        job = {"photo": photo, "format": format, "edit": edit, "output": self.output}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "it ended"}')
        use = meter.use
        if "error" in answer:
            print(f"looks: pyvips: {answer['error'].strip()}", file=sys.stderr)
            return None
        return use

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        if os.path.exists(self.output):
            os.remove(self.output)


def jpeg_limit(program, photo):
    """libjpeg-turbo alone, sampled as the photo."""
    text = subprocess.run([program, photo, "1"], check=True, capture_output=True, text=True).stdout
    row = json.loads(text)
    return Use(row["wall_median"], row["cpu_min"], row["peak_bytes"])

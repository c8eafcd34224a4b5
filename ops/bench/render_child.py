"""A minilab-render as the worker starts it, asked over its socket and measured from outside.

Sources/Children/RenderProtocol has the protocol: a request is a line of JSON over the socket that is the child's standard
input, with the open files that it names in their order; replies are lines on its standard output. The fields of a request
are those of render_request.json, which RenderRequestTests compares with what Swift encodes.
"""

import collections
import json
import os
import random
import socket
import subprocess
import time

# A request of this version, with every field that one must have; each call puts its own edit, outputs and files into a copy.
with open(os.path.join(os.path.dirname(__file__), "render_request.json")) as file:
    EXAMPLE = json.load(file)
PHOTO = EXAMPLE["work"]["render"]["_0"]
# What a child is told to refuse: the worker's defaults, but for what no benchmark means to be refused.
LIMITS = {**PHOTO["limits"], "pixelsMax": 4 << 30, "bytesMax": 1 << 40, "spoolMax": 1 << 40}
NUMBER_MAX = 1 << 53
BAD_REQUEST = 64  # RenderExit.badRequest
# The worker's (Sources/Children/RenderPool/RenderProcess.swift).
ENVIRONMENT = {"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "SWIFT_BACKTRACE": "enable=no"}
FULL = {}  # the output at full size, as the recipe says

# What a request took: wall and cpu in seconds, of all threads; peak_bytes is the highest resident set meanwhile.
Use = collections.namedtuple("Use", "wall cpu peak_bytes")


class Refused(Exception):
    """The child answered that it failed, or died before it had answered."""


class Child:
    """Lives until `close`; works on one request at a time.

    folder: where nameless files for results and spools are made.
    """

    def __init__(self, program, folder, environment=None):
        self.folder = folder
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [program], stdin=theirs, stdout=subprocess.PIPE,
                env={**ENVIRONMENT, "LD_LIBRARY_PATH": unused(program), **(environment or {})})
        self.pending = None

    def confinement(self):
        """The measures that are not in force, each with its reason."""
        self.ask({"confinement": {}})
        content, _ = self.answer()
        return content["confined"]["_0"]["gaps"]

    def inspect(self, photo, recipe, outputs=(FULL,)):
        """Header, recipe, plan, words and memoryBytes of a photo, and what it took to tell."""
        self.ask_for_photo("inspect", photo, recipe, outputs)
        content, use = self.answer()
        return content["inspected"]["_0"], use

    def render(self, photo, recipe, outputs=(FULL,)):
        """Renders the outputs and throws them away; gives what it took."""
        self.ask_to_render(photo, recipe, outputs)
        _, use = self.answer()
        return use

    def ask_to_render(self, photo, recipe, outputs=(FULL,)):
        """As `render`, but does not wait: `answer` does."""
        self.ask_for_photo("render", photo, recipe, outputs)

    def render_movie(self, movie, recipe, target, segments):
        """Renders a movie's parts and joins them in a file, as the worker does; gives what each of these took."""
        parts, uses = [nameless(self.folder) for _ in range(segments)], []
        for number, part in enumerate(parts):
            self.ask_for_photo("render", movie, recipe, ({"segment": number},), targets=(part,))
            uses.append(self.answer()[1])
        with open(target, "wb") as whole:
            self.ask_for_photo("render", movie, recipe, (FULL,), parts, (whole.fileno(),))
            uses.append(self.answer()[1])
        for part in parts:
            os.close(part)
        return uses

    def ask_for_photo(self, work, photo, recipe, outputs, segments=(), targets=None):
        """Segments are descriptors of a movie's parts, and targets of what is made; None: files that are thrown away."""
        outputs = [{**PHOTO["outputs"][0], **output} for output in outputs]
        request = {**PHOTO, "recipe": recipe, "limits": LIMITS, "outputs": outputs}
        files = [({"source": {"name": os.path.basename(photo)}}, os.open(photo, os.O_RDONLY))]
        files += [({"segment": {}}, os.dup(segment)) for segment in segments]
        if work == "render":
            places = [nameless(self.folder) for _ in outputs] if targets is None else map(os.dup, targets)
            files += [({"output": {}}, place) for place in places]
            files.append(({"spool": {}}, nameless(self.folder)))
        self.ask({work: {"_0": request}}, files)

    def ask(self, work, files=()):
        """Sends a request; takes the files, pairs of role and descriptor, over."""
        number = random.randrange(1, NUMBER_MAX)
        request = {**EXAMPLE, "number": number, "work": work, "files": [role for role, _ in files]}
        line = (json.dumps(request) + "\n").encode()
        descriptors = [descriptor for _, descriptor in files]
        self.pending = number, Meter(self.process.pid)
        try:
            sent = socket.send_fds(self.socket, [line], descriptors)
            self.socket.sendall(line[sent:])
        except BrokenPipeError:
            pass  # it is dead, and `answer` says how
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def answer(self):
        """The content of the answer to the last request, and what it took."""
        number, meter = self.pending
        while True:
            line = self.process.stdout.readline()
            use = meter.use
            if not line:
                status = self.process.wait()
                raise Refused(f"the child ended with {status}" + (
                    f": it does not take requests of version {EXAMPLE['version']}" if status == BAD_REQUEST else ""))
            reply = json.loads(line)
            if reply["number"] != number:
                raise Refused(f"a reply to another request: {reply}")
            content = reply["content"]
            if "failed" in content:
                raise Refused(content["failed"]["_0"]["message"])
            if "progress" not in content:
                return content, use

    def close(self):
        """Lets the child end; gives the processor time of its whole life in seconds, its start included."""
        self.socket.close()
        self.process.stdout.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime


class Meter:
    """What a process takes from now on; Sources/Children/RenderPool/RenderUse.swift does the same."""

    def __init__(self, pid):
        self.pid = pid
        self.clock = (~pid << 3) | 2  # clock_getcpuclockid(3): the process', by the scheduler's clock
        self.forget_peak()
        self.wall_start, self.cpu_start = time.monotonic(), self.cpu()

    @property
    def use(self):
        return Use(time.monotonic() - self.wall_start, self.cpu() - self.cpu_start, self.peak())

    def cpu(self):
        try:
            return time.clock_gettime(self.clock)
        except OSError:
            return 0.0  # it is dead; the answer says so

    def peak(self):
        try:
            with open(f"/proc/{self.pid}/status") as status:
                return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), 0)
        except (FileNotFoundError, ProcessLookupError):
            return 0  # likewise

    def forget_peak(self):
        """Has the kernel forget the highest resident set so far; without root the peak is that of the child's life."""
        try:
            with open(f"/proc/{self.pid}/clear_refs", "w") as file:
                file.write("5")
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            pass


def unused(program):
    """The folder of stand-ins for libraries that a child does not need; the worker also asks whether they are of this machine."""
    return os.path.join(os.path.dirname(os.path.abspath(program)), "minilab-render.unused")


def nameless(folder):
    """The descriptor of an empty file without a name."""
    return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)

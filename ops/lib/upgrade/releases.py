"""The programs of a release, the integers that they report, and what follows from these for two releases on one queue."""

import json
import subprocess
from dataclasses import astuple, dataclass

ASK_SECONDS_MAX = 60
FIELDS = {"render": "render", "jobFormat": "job", "queueFormat": "queue", "queueLeast": "least"}  # of `minilab version --json`


class Fault(Exception):
    """Why two folders of programs cannot be compared, as a sentence."""


@dataclass(frozen=True)
class Numbers:
    """The integers by which a release tells what it may read of another one; CONTRIBUTING.md, "Numbers"."""

    render: int
    job: int  # the latest format of a job that its workers know
    queue: int  # the latest format of a queue that it knows, and writes
    least: int  # the lowest format that others must know from then on

    @staticmethod
    def read(said):
        """Reads what `minilab version --json` prints."""
        found = json.loads(said)
        lacking = [field for field in FIELDS if not isinstance(found.get(field), int)]
        if lacking:
            raise Fault(f"`minilab version --json` of {found.get('version')} does not say {', '.join(lacking)}: these programs are too old")
        return Numbers(**{name: found[field] for field, name in FIELDS.items()})

    def __str__(self):
        return f"render {self.render}, job format {self.job}, queue format {self.queue} (least {self.least})"

    def may_use(self, least):
        """Whether its programs may use a queue for which they must know this format."""
        return self.queue >= least

    def leaves(self, job_format):
        """Whether its workers leave a job of this format to others."""
        return job_format > self.job


@dataclass(frozen=True)
class QueueFormat:
    """What hash `virtual` of a queue has; both are 1 where it has nothing."""

    format: int = 1
    least: int = 1

    def after(self, workers):
        """What a queue has when these workers, by their Numbers, have asked it: the lowest format that all of them know."""
        known = min(workers, key=lambda numbers: numbers.queue)
        if known.queue <= self.format:
            return self
        return QueueFormat(known.queue, max(known.least, self.least))


class Release:
    """A folder of programs."""

    def __init__(self, name, folder):
        self.name, self.minilab = name, f"{folder}/minilab"
        try:
            self.version = self.said("--version").strip()
            self.numbers = Numbers.read(self.said("version", "--json"))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise Fault(f"{name}: {folder} has no minilab that tells its numbers: {error}") from error

    def said(self, *words):
        return subprocess.run([self.minilab, *words], check=True, capture_output=True, text=True, timeout=ASK_SECONDS_MAX).stdout

    def __str__(self):
        return f"{self.name} is {self.version}, {self.numbers}"


def in_order(here, other):
    """The older release, then the newer one."""
    if here.numbers == other.numbers:
        raise Fault(
            f"both folders report {here.numbers}: with the same numbers nothing of an upgrade is tried. Give --other the programs of "
            "the last release, or none, and the check raises the numbers of its own")

    def age(release):
        return astuple(release.numbers)[::-1]  # the queue's first: it decides who may run at all

    older, newer = sorted((here, other), key=age)
    if older.numbers.render > newer.numbers.render or older.numbers.job > newer.numbers.job:
        raise Fault(f"neither is the later one: {here}; {other}. A number of a later release is never lower")
    return older, newer

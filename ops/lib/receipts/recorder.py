"""Runs a check and leaves its receipt."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import tidy_end
from receipts.checks import Check
from receipts.receipt import FAILED, PASSED, Receipt, libraries_here, machine_here, servers_here, system_here
from receipts.repository import Repository

WITHIN = "MINILAB_RECEIPT"  # the check that is being recorded; what it starts leaves no receipt of its own
NOT_INSTALLED = 69  # as the scripts of ops say it
END_SECONDS_MAX = 60  # from SIGTERM to SIGKILL: whoever started servers, or changed files, ends that first
DRAIN_SECONDS_MAX = 5  # for the rest of the output, which a program that a check left behind might hold open
LINE_CHARACTERS_MAX = 200
PROGRAMS = re.compile(r"^[a-z-]+: programs (.+)$")  # what a check says of programs that are not those of MINILAB_BIN
SAID = re.compile(r"\((?:commit )?([0-9a-f]{7,40})(\+dirty)?\)")  # the commit in what minilab --version says


def below(root: Path, text: str) -> str:
    """The text with paths of this clone as they are below it: a receipt is committed, and no other machine has them."""
    return text.replace(f"{root}/", "")


@dataclass
class Run:
    """What came of a command."""

    status: int
    seconds: float
    is_late: bool
    last_line: str
    receipt: Receipt | None
    why_none: str = ""

    @property
    def result(self) -> str:
        if self.receipt:
            return self.receipt.result
        return "left out" if self.status == NOT_INSTALLED else PASSED if self.status == 0 else FAILED


class Listener:
    """Hands the output of a check on, and notes the lines that its figures and parts are in."""

    def __init__(self, check: Check, sink: BinaryIO):
        self.sink = sink
        self.patterns = {name: re.compile(pattern) for name, pattern in check.figures.items()}
        self.parts = re.compile(check.parts) if check.parts else None
        self.figures: dict[str, str] = {}
        self.left_out = self.all = 0
        self.last_line = self.programs = ""

    def listen(self, output: BinaryIO) -> None:
        for raw in output:
            self.sink.write(raw)
            self.sink.flush()
            if line := raw.decode(errors="replace").strip():
                self.last_line = line[:LINE_CHARACTERS_MAX]
                self._note(line)

    def _note(self, line: str) -> None:
        if found := PROGRAMS.match(line):
            self.programs = found[1][:LINE_CHARACTERS_MAX]
        for name, pattern in self.patterns.items():
            if found := pattern.search(line):
                self.figures[name] = found[1][:LINE_CHARACTERS_MAX]
        if self.parts and (found := self.parts.search(line)):
            self.all, self.left_out = int(found["all"]), int(found["left_out"])

    def result(self, status: int) -> str:
        if status != 0:
            return FAILED
        return f"partial {self.all - self.left_out}/{self.all}" if self.left_out else PASSED


def record(check: Check, command: list[str], root: Path, log: BinaryIO | None = None, seconds_max: float | None = None) -> Run:
    """Runs a command and writes the receipt of its check, also when it fails.

    No receipt is left of files that are not committed, that changed meanwhile, or that the given programs were not made of; nor when a
    tool is missing (69), or when this process is told to end: the last one stays.
    """
    before = Repository(root)
    changed = before.changed(check.covers)
    covers, commit = before.covers(check.covers), before.commit
    if changed:
        print(f"receipts: {check.name} will leave no receipt: {changed[0]} is not as committed", file=sys.stderr, flush=True)
    listener = Listener(check, log or sys.stdout.buffer)
    began = time.monotonic()
    status, is_late = run(command, root, check.name, listener, seconds_max, log is not None)
    seconds = time.monotonic() - began
    why_none = ""
    programs = "" if status == NOT_INSTALLED else listener.programs or given_programs()
    if status == NOT_INSTALLED:
        why_none = "something that it needs is not installed"
    elif changed:
        why_none = f"{changed[0]} was not as committed"
    elif Repository(root).covers(check.covers) != covers or Repository(root).changed(check.covers):
        why_none = "files that it judges changed meanwhile"
    elif are_of_other_files(programs, before, check.covers):
        why_none = f"the programs are of other files: {programs}"
    if why_none:
        print(f"receipts: {check.name} leaves no receipt: {why_none}", file=sys.stderr, flush=True)
        return Run(status, seconds, is_late, listener.last_line, None, why_none)
    receipt = Receipt(
        check.name, listener.result(status), commit, covers, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), round(seconds), machine_here(),
        system_here(), libraries_here(), servers_here(), programs, {name: below(root, seen) for name, seen in listener.figures.items()},
    )  # fmt: skip
    path = receipt.write(root)
    print(f"receipts: {check.name} {receipt.result}: {path.relative_to(root)}", file=sys.stderr, flush=True)
    return Run(status, seconds, is_late, listener.last_line, receipt)


def run(command: list[str], root: Path, name: str, listener: Listener, seconds_max: float | None, with_errors: bool) -> tuple[int, bool]:
    """Runs a command in a session of its own, so that what it started ends with it. Returns its status, and whether it was ended for
    taking too long."""
    process, is_late = None, False
    try:
        with tidy_end.later():
            process = subprocess.Popen(
                command, cwd=root, env={**os.environ, WITHIN: name}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if with_errors else None, start_new_session=True,
            )  # fmt: skip
        listening = threading.Thread(target=listener.listen, args=[process.stdout], daemon=True)
        listening.start()
        status = process.wait(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        end(process)
        status, is_late = 128 + signal.SIGTERM, True
    except BaseException:
        if process:
            end(process)
        raise
    listening.join(DRAIN_SECONDS_MAX)
    return status if status >= 0 else 128 - status, is_late


def end(process: subprocess.Popen) -> None:
    """Ends a command and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=END_SECONDS_MAX)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass  # it has ended by itself, or does not want to
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # nothing was left
    process.wait()


def given_programs() -> str:
    """What the programs of MINILAB_BIN say that they are, if any are given."""
    folder = os.environ.get("MINILAB_BIN")
    if not folder:
        return ""
    try:
        said = subprocess.run([Path(folder) / "minilab", "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "of a folder without a minilab that runs"
    return said.strip()[:LINE_CHARACTERS_MAX]


def are_of_other_files(programs: str, repository: Repository, paths: list[str]) -> bool:
    """Whether programs name a commit whose sources are not those of the receipt. Programs that name none are taken as they are."""
    found = SAID.search(programs)
    if not found:
        return False
    if found[2]:
        return True
    sources = [path for path in paths if path.split("/")[0] in ("Sources", "Package.swift")]
    if not sources:
        return False
    try:
        return bool(repository.git("diff", "--name-only", found[1], "HEAD", "--", *sources).strip())
    except subprocess.CalledProcessError:
        return True  # a commit that this clone does not have

"""What git says of the files that a check judges."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cached_property
from pathlib import Path

FOLDER = "ops/receipts"
# What is written from what checks saw: a receipt would be stale as soon as its figures stand where people read them.
RESULTS = [FOLDER, "ops/bench/README.md", "ops/bench/plots"]


class Repository:
    """A clone, as it is when it is asked first. Another state needs another value."""

    def __init__(self, root: Path):
        self.root = root

    def git(self, *words: str) -> str:
        return subprocess.run(["git", "-C", str(self.root), *words], check=True, capture_output=True, text=True).stdout

    @cached_property
    def commit(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    @cached_property
    def tree(self) -> list[tuple[str, str]]:
        """The path of each committed file and its line of `git ls-tree -r HEAD`. Receipts are none of them."""
        lines = self.git("ls-tree", "-r", "HEAD").splitlines()
        return [(path, line) for line in lines if (path := line.partition("\t")[2]) and not is_below(path, RESULTS)]

    @cached_property
    def changes(self) -> list[str]:
        """The files that are not as committed, new ones included."""
        lines = self.git("status", "--porcelain", "--untracked-files=all", "--no-renames").splitlines()
        return [line[3:] for line in lines if not is_below(line[3:], RESULTS)]

    def covers(self, paths: list[str]) -> str:
        """SHA-256 of `git ls-tree -r HEAD -- PATHS`: it stays what it is for any other commit, and for the same files after a rebase."""
        digest = hashlib.sha256()
        for path, line in self.tree:
            if is_below(path, paths):
                digest.update(f"{line}\n".encode())
        return digest.hexdigest()

    def changed(self, paths: list[str]) -> list[str]:
        return [path for path in self.changes if is_below(path, paths)]

    def since(self, commit: str, paths: list[str]) -> str:
        """What changed after a commit, for people: the paths, and by how many commits."""
        try:
            files = self._changed_since(commit)
            count = self.git("rev-list", "--count", f"{commit}..HEAD", "--", *paths).strip()
        except subprocess.CalledProcessError:
            return f"its commit {commit[:8]} is not in this clone"
        folders = sorted({folder(path) for path in files if is_below(path, paths)})
        shown = ", ".join(folders[:3]) + (f" and {len(folders) - 3} more" if len(folders) > 3 else "")
        return f"{shown}, {count} commit{'' if count == '1' else 's'}"

    def _changed_since(self, commit: str) -> list[str]:
        if commit not in self._since:
            self._since[commit] = self.git("diff", "--name-only", "--no-renames", commit, "HEAD").splitlines()
        return self._since[commit]

    @cached_property
    def _since(self) -> dict[str, list[str]]:
        return {}


def is_below(path: str, paths: list[str]) -> bool:
    return any(path == above or path.startswith(above.rstrip("/") + "/") for above in paths)


def folder(path: str) -> str:
    """The first two parts of a path, as people name a part of the sources."""
    return "/".join(path.split("/")[:2])

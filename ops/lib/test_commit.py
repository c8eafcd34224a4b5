"""How a commit gets into a program that is linked already."""

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("commit", str(Path(__file__).parent / "commit"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(tool)

DIGITS = "0123456789abcdef0123456789abcdef01234567"
MAIN = r"""
#include <stdio.h>
#include "Commit.h"
int main(int count, char **words) {
    char text[MINILAB_COMMIT_DIGITS + 2];
    minilab_commit_copy(text);
    puts(text);
    fflush(stdout);
    if (count > 1) getchar();
}
"""


class Commit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        (cls.folder / "main.c").write_text(MAIN, encoding="utf-8")
        parts = tool.ROOT / "Sources/C/CMinilab"
        compiler = shutil.which("clang") or shutil.which("cc")
        words = ["-O2", "-D_Nonnull=", "-I", parts / "include", cls.folder / "main.c", parts / "Commit/Commit.c"]
        subprocess.run([compiler, *words, "-o", cls.folder / "linked"], check=True, timeout=60)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.program = self.folder / "program"
        shutil.copy2(self.folder / "linked", self.program)

    def said(self):
        return subprocess.run([self.program], check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    def test_a_program_that_was_only_linked_says_nothing(self):
        self.assertEqual(self.said(), "")

    def test_only_the_section_changes_and_the_time_stays(self):
        before, times = self.program.read_bytes(), self.program.stat()
        tool.write(self.program, (DIGITS + "+").encode())
        self.assertEqual(self.said(), DIGITS + "+")
        after = self.program.read_bytes()
        places = [index for index, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
        self.assertEqual(len(places), tool.LENGTH)
        self.assertEqual(places[-1] - places[0], tool.LENGTH - 1)
        self.assertEqual((self.program.stat().st_mtime_ns, self.program.stat().st_ino), (times.st_mtime_ns, times.st_ino))
        tool.write(self.program, tool.LENGTH * b"\0")
        self.assertEqual(self.program.read_bytes(), before)

    def test_a_program_that_runs_is_replaced(self):
        with subprocess.Popen([self.program, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
            assert running.stdin and running.stdout
            running.stdout.readline()  # It has started, and waits for its input.
            tool.write(self.program, DIGITS.encode().ljust(tool.LENGTH, b"\0"))
            self.assertEqual(self.said(), DIGITS)
            running.stdin.close()
            self.assertEqual(running.wait(timeout=60), 0)

    def test_another_file_is_refused_by_name(self):
        other = self.folder / "main.c"
        with self.assertRaisesRegex(tool.Fault, "main.c is not a program"):
            tool.write(other, b"")
        with self.assertRaisesRegex(tool.Fault, "has 0 sections"):
            tool.write(Path(sys.executable).resolve(), b"")

    def test_a_commit_that_is_none_is_refused(self):
        for given in ("main", DIGITS[:39], DIGITS + "++"):
            os.environ["MINILAB_COMMIT"] = given
            try:
                with self.assertRaisesRegex(tool.Fault, "expected are 40 digits"):
                    tool.commit()
            finally:
                del os.environ["MINILAB_COMMIT"]


if __name__ == "__main__":
    unittest.main()

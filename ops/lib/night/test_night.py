"""A night that is stopped goes on where it was, and its receipts are all that it leaves."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# In place of the real things: one that passes, one that says that it runs and then waits for a file, one that fails.
THINGS = '''

THINGS = [
    Thing("first", "passes", "echo ran >>{log}; echo 7 passed", 1, ("one",)),
    Thing("second", "waits", "echo waits >{pipe}; while [[ ! -e {go} ]]; do sleep 0.05; done; echo done", 1, ("two",)),
    Thing("third", "fails", "echo no such thing; exit 3", 1, ("three",)),
]
'''


class Nights(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside = Path(folder.name)
        self.root = self.outside / "clone"
        for name in ("ops/night", "ops/lib/tidy_end.py", "ops/lib/night/things.py", *(str(p.relative_to(ROOT)) for p in (ROOT / "ops/lib/receipts").glob("*.py"))):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        things = self.root / "ops/lib/night/things.py"
        places = {name: self.outside / name for name in ("log", "pipe", "go")}
        things.write_text(things.read_text() + THINGS.format(**places))
        for name in ("one", "two", "three"):
            (self.root / name).write_text("1")
        (self.root / ".gitignore").write_text(".build-night/\n")
        subprocess.run(["mkfifo", str(places["pipe"])], check=True)
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", "-C", str(self.root), *identity, *words], check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "change")

    def night(self, *words):
        program = [sys.executable, "-B", "ops/night", "--bin", str(self.outside), *words]
        return subprocess.Popen(program, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def results(self):
        return {file.stem: json.loads(file.read_text())["result"] for file in (self.root / "ops/receipts").glob("*.json")}

    def test_it_goes_on_where_it_was_stopped(self):
        stopped = self.night()
        self.assertEqual((self.outside / "pipe").read_text(), "waits\n")  # opening it waits until the second thing runs
        stopped.send_signal(signal.SIGTERM)
        stopped.communicate()
        self.assertEqual(stopped.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.results(), {"night-first": "passed"})
        self.assertEqual(self.git("status", "--porcelain", "--", ":(exclude)ops/receipts"), "")

        (self.outside / "go").write_text("")
        again = self.night()
        self.assertEqual((self.outside / "pipe").read_text(), "waits\n")
        said, _ = again.communicate()
        self.assertEqual(again.returncode, 1, said)
        self.assertIn("| first | passes | fresh: not run again |", said)
        self.assertRegex(said, r"\| second \| waits \| passed \| \d+ \| done \|")
        self.assertRegex(said, r"\| third \| fails \| failed \| \d+ \| no such thing \|")
        self.assertEqual(self.results(), {"night-first": "passed", "night-second": "passed", "night-third": "failed"})
        self.assertEqual((self.outside / "log").read_text(), "ran\n")

    def test_a_change_of_what_a_thing_judges_and_again_run_it(self):
        said, _ = self.night("--only", "first").communicate()
        self.assertRegex(said, r"\| first \| passes \| passed \| \d+ \| 7 passed \|")
        (self.root / "one").write_text("2")
        self.commit()
        self.night("--only", "first").communicate()
        self.night("--only", "first", "--again").communicate()
        self.assertEqual((self.outside / "log").read_text(), "ran\n" * 3)

    def test_what_does_not_fit_into_the_hours_is_not_begun(self):
        night = self.night("--only", "first", "--hours", "0.01")
        said, _ = night.communicate()
        self.assertEqual(night.returncode, 1)
        self.assertIn("not run: 1 minutes were not left", said)
        self.assertFalse((self.outside / "log").exists())


if __name__ == "__main__":
    unittest.main()

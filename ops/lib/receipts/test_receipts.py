"""What a receipt covers, when one is left, and what it is worth later."""

import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from receipts import recorder  # noqa: E402
from receipts.checks import Check, checks  # noqa: E402
from receipts.receipt import FAILED, FRESH, MISSING, STALE, Receipt, WrongReceipt, libraries_here, state, summary, system_here  # noqa: E402
from receipts.repository import Repository  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
QUEUE = Check("queue-short", "ops/queue", ["Sources/Queue", "ops/queue"], {"seen": r"seen (.*)"}, r"(?P<all>\d+) in all, (?P<left_out>\d+) left out")


def runs(process):
    """Whether a process is there and no zombie that its parent has yet to look at."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class InAClone(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("MINILAB_BIN", None)
        self.git("init", "--quiet")
        self.commit({"Sources/Queue/a.swift": "one", "Sources/Queuebis/a.swift": "one", "ops/queue": "one", "README.md": "one"})

    def git(self, *words):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", "-C", str(self.root), *identity, *words], check=True, capture_output=True, text=True).stdout

    def write(self, files):
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def commit(self, files):
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")

    def record(self, line="true", **more):
        with mock.patch("sys.stderr", io.StringIO()):
            return recorder.record(QUEUE, ["bash", "-c", line], self.root, io.BytesIO(), **more)

    def state(self, libraries=None):
        return state(QUEUE, Repository(self.root), libraries_here() if libraries is None else libraries, system_here())


class Covering(InAClone):
    def test_covers_is_the_digest_of_what_git_lists(self):
        listed = self.git("ls-tree", "-r", "HEAD", "--", *QUEUE.covers)
        self.assertEqual(len(listed.splitlines()), 2)
        self.assertEqual(Repository(self.root).covers(QUEUE.covers), hashlib.sha256(listed.encode()).hexdigest())

    def test_other_commits_and_receipts_leave_a_receipt_fresh(self):
        self.assertEqual(self.state().kind, MISSING)
        self.assertEqual(self.record().result, "passed")
        self.commit({"README.md": "two", "Sources/Queuebis/a.swift": "two"})
        self.assertEqual(self.state().kind, FRESH)
        self.git("commit", "--quiet", "--amend", "-m", "another name: the commit of the receipt is gone")
        self.assertEqual(self.state().kind, FRESH)

    def test_a_change_makes_it_stale_by_name_and_a_change_back_fresh(self):
        self.record()
        self.commit({"Sources/Queue/a.swift": "two"})
        self.commit({"ops/queue": "two"})
        found = self.state()
        self.assertEqual((found.kind, found.why), (STALE, "Sources/Queue, ops/queue, 2 commits"))
        self.assertEqual(summary([found]), "0 fresh, 1 stale (queue-short: Sources/Queue, ops/queue, 2 commits)")
        self.commit({"Sources/Queue/a.swift": "one", "ops/queue": "one"})
        self.assertEqual(self.state().kind, FRESH)

    def test_another_version_of_a_library_makes_it_stale(self):
        self.record()
        found = self.state({**libraries_here(), "libvips42": "9.0"})
        self.assertEqual((found.kind, found.why), (STALE, "other versions of libvips42"))

    def test_a_commit_that_is_gone_is_said(self):
        self.record()
        receipt = Receipt.read(self.root, "queue-short")
        receipt.commit = "1" * 40
        receipt.write(self.root)
        self.commit({"ops/queue": "two"})
        self.assertEqual(self.state().why, "its commit 11111111 is not in this clone")


class Recording(InAClone):
    def test_a_receipt_has_a_field_a_line_and_is_read_back(self):
        self.record("echo seen 5 of them; echo seen 7 of them")
        text = (self.root / "ops/receipts/queue-short.json").read_text()
        receipt = Receipt.read(self.root, "queue-short")
        self.assertEqual(len(text.splitlines()), 2 + len(receipt.__dataclass_fields__))
        self.assertEqual((receipt.result, receipt.figures, receipt.commit), ("passed", {"seen": "7 of them"}, self.git("rev-parse", "HEAD").strip()))

    def test_no_figure_has_a_path_of_this_machine(self):
        self.record("echo seen $PWD/a/sheet.jpg")
        self.assertEqual(Receipt.read(self.root, "queue-short").figures, {"seen": "a/sheet.jpg"})

    def test_a_check_that_fails_leaves_one_too(self):
        self.assertEqual(self.record("exit 3").status, 3)
        found = self.state()
        self.assertEqual((found.kind, found.why), (FAILED, "failed"))
        self.assertEqual(summary([found]), "0 fresh, 1 failed (queue-short: failed)")

    def test_what_takes_too_long_is_ended_with_all_that_it_started_and_failed(self):
        run = self.record("sleep 600 & echo seen $!; wait", seconds_max=0.5)
        self.assertTrue(run.is_late)
        self.assertEqual(self.state().kind, FAILED)
        child = int(Receipt.read(self.root, "queue-short").figures["seen"])
        self.assertFalse(runs(child))

    def test_what_was_left_out_makes_it_partial(self):
        self.record("echo 9 in all, 2 left out")
        self.assertEqual((self.state().kind, self.state().why), (FAILED, "partial 7/9"))

    def test_a_missing_tool_leaves_the_last_one(self):
        self.record()
        run = self.record("exit 69")
        self.assertEqual((run.status, run.result, run.receipt), (69, "left out", None))
        self.assertEqual(self.state().kind, FRESH)

    def test_files_that_are_not_committed_get_none(self):
        self.write({"Sources/Queue/new.swift": "one"})
        self.assertEqual(self.record().why_none, "Sources/Queue/new.swift was not as committed")
        self.assertEqual(self.state().kind, MISSING)
        (self.root / "Sources/Queue/new.swift").unlink()
        self.write({"README.md": "two"})
        self.assertEqual(self.record().why_none, "")

    def test_files_that_change_meanwhile_get_none(self):
        self.assertEqual(self.record("echo two >ops/queue").why_none, "files that it judges changed meanwhile")
        self.git("checkout", "--quiet", "ops/queue")
        line = "echo two >ops/queue && git -c user.name=A -c user.email=a@example.org commit --quiet -a -m two"
        self.assertEqual(self.record(line).why_none, "files that it judges changed meanwhile")

    def test_programs_of_other_sources_get_none(self):
        commit = self.git("rev-parse", "HEAD").strip()
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "minilab"
            program.write_text(f'#!/bin/sh\necho "0.5.0 ({commit})"\n')
            program.chmod(0o755)
            os.environ["MINILAB_BIN"] = folder
            self.commit({"ops/queue": "two"})
            self.assertEqual(self.record().receipt.programs, f"0.5.0 ({commit})")
            self.commit({"Sources/Queue/a.swift": "two"})
            self.assertIn("the programs are of other files", self.record().why_none)
            program.write_text(f'#!/bin/sh\necho "0.5.0 ({"1" * 40})"\n')
            self.assertIn("the programs are of other files", self.record().why_none)

    def test_a_check_says_which_programs_it_tests(self):
        os.environ["MINILAB_BIN"] = str(self.root)
        self.assertIn("the programs are of other files", self.record("echo package-test: programs 0.5.0 '(1111111)'").why_none)
        self.assertEqual(self.record("echo package-test: programs 0.5.0").receipt.programs, "0.5.0")

    def test_a_check_within_a_check_leaves_none_of_its_own(self):
        script = f'cd {ROOT}; source ops/lib/receipts/record; recorded night-soak false; echo seen $MINILAB_RECEIPT'
        self.record(script)
        self.assertEqual(Receipt.read(self.root, "queue-short").figures, {"seen": "queue-short"})

    def test_one_that_is_told_to_end_leaves_the_last_one_and_nothing_running(self):
        self.record("echo seen first")
        program = f"""
import sys
sys.path.insert(0, {str(ROOT / 'ops/lib')!r})
import tidy_end
from pathlib import Path
from receipts import recorder
from receipts.test_receipts import QUEUE
tidy_end.on_signals()
recorder.record(QUEUE, ["bash", "-c", "echo $$ && exec sleep 600"], Path({str(self.root)!r}))
"""
        process = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, text=True)
        child = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        process.stdout.close()
        self.assertFalse(runs(child))
        self.assertEqual(Receipt.read(self.root, "queue-short").figures, {"seen": "first"})

    def test_a_file_that_is_no_receipt_is_refused_by_name(self):
        self.write({"ops/receipts/queue-short.json": "{}"})
        with self.assertRaisesRegex(WrongReceipt, "ops/receipts/queue-short.json is no receipt"):
            self.state()
        self.record()
        (self.root / "ops/receipts/other.json").write_bytes((self.root / "ops/receipts/queue-short.json").read_bytes())
        with self.assertRaisesRegex(WrongReceipt, "is a receipt of queue-short"):
            Receipt.read(self.root, "other")


class TheChecks(unittest.TestCase):
    def test_each_path_that_a_check_judges_is_there(self):
        for check in checks().values():
            for path in check.covers:
                with self.subTest(check=check.name, path=path):
                    self.assertTrue((ROOT / path).exists())

    def test_each_receipt_is_of_a_check(self):
        files = (ROOT / "ops/receipts").glob("*.json")
        self.assertEqual({file.stem for file in files} - checks().keys(), set())

    def test_each_check_leaves_its_receipt(self):
        for check in checks().values():
            script = check.command.split()[0]
            with self.subTest(check=check.name):
                self.assertTrue(re.search(r"\brecord(ed)?\b", (ROOT / script).read_text()), script)


if __name__ == "__main__":
    unittest.main()

"""What ops/release --tag refuses before it builds anything."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(cls.root)], check=True)
        # What is tested is this tree, committed or not.
        changed = subprocess.run(["git", "-C", str(ROOT), "diff", "--binary", "HEAD"], check=True, capture_output=True).stdout
        if changed:
            subprocess.run(["git", "-C", str(cls.root), "apply", "--index"], input=changed, check=True)
            cls.commit()
        cls.git("branch", "--force", "as-it-was")

    def setUp(self):
        self.git("reset", "--quiet", "--hard", "as-it-was")

    @classmethod
    def git(cls, *words):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(cls.root), *identity, *words], check=True, capture_output=True)

    @classmethod
    def commit(cls):
        cls.git("commit", "--quiet", "--all", "-m", "change")

    def refused(self):
        made = subprocess.run(["ops/release", "--tag", str(self.root.parent / "made")], cwd=self.root, capture_output=True, text=True)
        self.assertEqual(made.returncode, 65, made.stdout + made.stderr)
        return made.stderr

    def edit(self, pattern, text):
        page = self.root / "CHANGELOG.md"
        page.write_text(re.sub(pattern, text, page.read_text(), count=1, flags=re.M))

    def test_each_receipt_that_is_not_fresh_by_name(self):
        (self.root / "ops/receipts").mkdir(exist_ok=True)
        for file in (self.root / "ops/receipts").glob("night-soak.json"):
            file.unlink()
        # In the place of what is not released yet, or above what is.
        self.edit(r"^## Unreleased(?s:.*?)^(?=## )", "")
        self.edit(r"^## .*\n", "## 9.9.9 (2026-12-31)\n### Upgrade\n- Nothing.\n- Not checked: `night-hostile`: a test.\n\n\\g<0>")
        engine = self.root / "Sources/Children/RenderProtocol/Engine.swift"
        engine.write_text(re.sub(r'version = "[^"]+"', 'version = "9.9.9"', engine.read_text()))
        self.commit()
        said = self.refused()
        self.assertIn("night-soak is missing: ops/night --only soak", said)
        self.assertNotIn("night-hostile", said)

    def test_files_that_are_not_committed(self):
        (self.root / "README.md").write_text("other")
        self.assertIn("not as committed: README.md", self.refused())

    def test_a_version_without_a_date_and_one_that_is_tagged(self):
        version = subprocess.run(["ops/lib/changelog.py", "coming"], cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()
        self.git("tag", "--force", f"v{version}")
        self.addCleanup(self.git, "tag", "--delete", f"v{version}")
        self.edit(r"^## .*$", f"## {version} (2026-12-31)")
        self.commit()
        self.assertIn(f"v{version} is tagged already", self.refused())
        self.edit(r"^## .*$", f"## Unreleased: {version}")
        self.commit()
        self.assertIn("has no date", self.refused())


if __name__ == "__main__":
    sys.exit(unittest.main())

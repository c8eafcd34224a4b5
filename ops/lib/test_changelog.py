"""What changelog.py takes for a page, what it makes of one, and which changes it misses a line for."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import changelog  # noqa: E402

RELEASE = "## 0.5.0 (2026-11-29)\n### Upgrade\n- Nothing.\n### Mended\n- A [word](page.md) of `code` ([how](page.md#x)).\n"
COMING = "## Unreleased: 0.6.0\n### Added\n- Much.\n- Not checked: `bench-queue`: no quiet machine.\n"


class Pages(unittest.TestCase):
    def refused(self, text, words):
        with self.assertRaisesRegex(changelog.WrongPage, words):
            changelog.releases_in(text)

    def test_a_page_has_its_newest_release_on_top(self):
        releases = changelog.releases_in(f"# Changes\n\nWords.\n\n{COMING}\n{RELEASE}")
        self.assertEqual([release.version for release in releases], ["0.6.0", "0.5.0"])
        self.assertIsNone(releases[0].date)
        self.assertEqual(releases[0].not_checked(), {"bench-queue"})
        self.refused(RELEASE + COMING, "0.6.0 stands below 0.5.0")
        self.refused(RELEASE + RELEASE, "0.5.0 stands below 0.5.0")

    def test_other_forms_are_refused_with_their_line(self):
        self.refused("## 0.5\n", 'CHANGELOG.md:1: "## 0.5" is no heading')
        self.refused("## 0.5.0 (2026-11-29)\n### Fixed\n", '"Fixed" is not one of')
        self.refused("## 0.5.0 (2026-11-29)\n### Added\n### Upgrade\n", "in this order")
        self.refused("## 0.5.0 (2026-11-29)\n### Upgrade\nNothing.\n", "begins with")
        self.refused("## 0.5.0 (2026-11-29)\n### Added\n- Much.\n", "no section Upgrade")
        self.refused("# Changes\n", "no release")

    def test_debian_gets_the_top_entry_under_the_version_of_the_build(self):
        releases = changelog.releases_in(COMING + RELEASE)
        made = changelog.debian(releases, "0.6.0~git1.ab+deb12", "bookworm", 1764374400, "A Person <a@example.org>")
        self.assertTrue(made.startswith("minilab (0.6.0~git1.ab+deb12) bookworm; urgency=medium\n\n  * Added: Much.\n"), made)
        self.assertIn("minilab (0.5.0+deb12) bookworm", made)
        self.assertIn("  * Mended: A word of code.\n\n -- A Person <a@example.org>  Sun, 29 Nov 2026 00:00:00 +0000\n", made)
        said = subprocess.run(["dpkg-parsechangelog", "-l-", "-S", "Version"], input=made, capture_output=True, text=True, check=True)
        self.assertEqual((said.stdout.strip(), said.stderr), ("0.6.0~git1.ab+deb12", ""))

    def test_snapshots_sort_between_the_releases(self):
        order = ["0.5.0+deb12", "0.5.0+deb13", "0.6.0~git20261201.ab+deb12", "0.6.0~git20261201.ab.dirty20261202+deb12",
                 "0.6.0~git20261203.cd+deb12", "0.6.0+deb12"]
        for lower, higher in zip(order, order[1:]):
            subprocess.run(["dpkg", "--compare-versions", lower, "lt", higher], check=True)


class Telling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "--quiet")
        self.commit({"CHANGELOG.md": RELEASE, "ops/SETTINGS.md": "one", "README.md": "one"})

    def git(self, *words):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(self.root), *identity, *words], check=True, capture_output=True)

    def write(self, files):
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def commit(self, files):
        self.write(files)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "change")

    def test_a_setting_needs_a_line_and_a_document_none(self):
        self.commit({"README.md": "two"})
        self.assertEqual(changelog.untold(self.root), [])
        self.commit({"ops/SETTINGS.md": "two"})
        self.assertEqual(changelog.untold(self.root), ["ops/SETTINGS.md"])
        self.write({"CHANGELOG.md": COMING + RELEASE})
        self.assertEqual(changelog.untold(self.root), [])
        self.commit({})
        self.assertEqual(changelog.untold(self.root), [])
        self.write({"ops/SETTINGS.md": "three"})
        self.assertEqual(changelog.untold(self.root), ["ops/SETTINGS.md"])

    def test_schemas_and_digests_need_a_line(self):
        files = ["jobs/edit.schema.json", "jobs/quickstart.pictures.json", "Tests/RenderingTests/Digests/digests.json"]
        self.commit({file: "one" for file in files})
        self.assertEqual(sorted(changelog.untold(self.root)), sorted(files))


if __name__ == "__main__":
    unittest.main()

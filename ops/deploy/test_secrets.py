"""What ops/deploy/secrets leaves when it is killed before any of its steps: each file is as it was or new, and the same command goes on."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SECRETS = Path(__file__).resolve().parent / "secrets"
# The programs with which it changes files. It dies before each of these calls: what it leaves after one is what it has before the next.
PROGRAMS = ("cat", "chmod", "mkdir", "mktemp", "mv", "rm", "sync")
# More moments than a run has.
MOMENTS_MAX = 1000
# Two programs of a pipe may come at once, and each is a moment of its own.
STAND_IN = """#!/bin/sh
exec 9<>"$MOMENTS"
{flock} 9
read -r count <&9
count=$((count + 1))
echo $count >"$MOMENTS"
exec 9>&-
if [ $count = "$KILL" ]; then kill -KILL 0; fi
exec {program} "$@"
"""
USER = "worker"


class Secrets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.bin = Path(cls.place.name) / "bin"
        cls.bin.mkdir()
        for name in PROGRAMS:
            stand_in = cls.bin / name
            stand_in.write_text(STAND_IN.format(program=shutil.which(name), flock=shutil.which("flock")))
            stand_in.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=self.place.name)) / "secrets"

    def run_it(self, *words, folder=None, fails=0):
        """Runs it to its end, and returns what it says."""
        ended = subprocess.run([SECRETS, *words, folder or self.folder], capture_output=True, text=True)
        self.assertEqual(ended.returncode, fails, ended.stderr)
        return ended.stdout + ended.stderr

    def deaths(self, *words):
        """A copy of the folder for each moment at which the command dies, and which that was."""
        for moment in range(1, MOMENTS_MAX):
            copy = Path(tempfile.mkdtemp(dir=self.place.name)) / "copy"
            if self.folder.exists():
                shutil.copytree(self.folder, copy)
            if not self.is_killed(copy, *words, moment=moment):
                self.assertGreater(moment, 5, "hardly a call was seen")
                return
            yield copy, moment
        self.fail("it never ends")

    def is_killed(self, folder, *words, moment):
        moments = Path(self.place.name) / "moments"
        moments.write_text("0\n")
        ended = subprocess.run(
            [SECRETS, *words, folder], capture_output=True, start_new_session=True,
            env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "MOMENTS": str(moments), "KILL": str(moment)})
        self.assertIn(ended.returncode, (0, -signal.SIGKILL), ended.stderr)
        return ended.returncode != 0

    def password(self, folder, user=USER, suffix=""):
        return (folder / f"redis-{user}{suffix}").read_text()

    def digests(self, folder, user=USER):
        """The digests of a user in the ACL file."""
        lines = [line.split() for line in (folder / "users.acl").read_text().splitlines()]
        return [{word[1:] for word in words if word[0] == "#"} for words in lines if words[1] == user][0]

    def check(self, folder, rotated):
        """All is whole: passwords, the ACL file, the keys of the store; nothing else is there."""
        users = ("admin", "gateway", "operator", "producer", "reader", "worker")
        for user in users:
            self.assertRegex(self.password(folder, user), "^[0-9a-f]{64}$")
            valid = [self.password(folder, user)] + ([self.password(folder, user, ".old")] if user == rotated else [])
            self.assertEqual(self.digests(folder, user), {hashlib.sha256(one.encode()).hexdigest() for one in valid})
        store = json.loads((folder / "store-users.json").read_text())["identities"]
        for one in store:
            secret = one["credentials"][0]["secretKey"]
            self.assertIn(f"aws_secret_access_key = {secret}\n", (folder / f"store-{one['name']}").read_text())
        names = {f"redis-{user}" for user in users} | {"users.acl", "store-worker", "store-gateway", "store-users.json"}
        if rotated:
            names.add(f"redis-{rotated}.old")
        self.assertEqual({path.name for path in folder.iterdir()}, names)
        for path in folder.iterdir():
            self.assertEqual(path.stat().st_mode & 0o777, 0o444, path.name)

    def test_the_first_run_goes_on_wherever_it_died(self):
        for folder, moment in self.deaths():
            with self.subTest(moment=moment):
                self.run_it(folder=folder)
                self.check(folder, None)

    def test_a_rotation_goes_on_wherever_it_died_and_the_old_password_is_valid_all_the_time(self):
        self.run_it()
        old = self.password(self.folder)
        store = (self.folder / "store-users.json").read_text()
        for folder, moment in self.deaths("--rotate", USER):
            with self.subTest(moment=moment):
                self.assertIn(hashlib.sha256(old.encode()).hexdigest(), self.digests(folder))
                # It may be given up, too, or the folder only be made whole.
                for words in (["--retire", USER], []):
                    copy = folder.parent / f"after{words}"
                    shutil.copytree(folder, copy)
                    self.run_it(*words, folder=copy)
                    self.check(copy, USER if (copy / f"redis-{USER}.old").exists() else None)
                ended = subprocess.run([SECRETS, "--rotate", USER, folder], capture_output=True, text=True)
                if ended.returncode != 0:
                    self.assertIn(f"the rotation of {USER} is done", ended.stderr)
                self.check(folder, USER)
                self.assertEqual(self.password(folder, suffix=".old"), old)
                self.assertNotEqual(self.password(folder), old)
                self.assertEqual((folder / "store-users.json").read_text(), store)
                new = self.password(folder)
                # What the refusal advises, and the next step of the runbook.
                self.run_it("--retire", USER, folder=folder)
                self.check(folder, None)
                self.assertEqual(self.password(folder), new)

    def test_a_retirement_goes_on_wherever_it_died(self):
        self.run_it()
        self.run_it("--rotate", USER)
        new = self.password(self.folder)
        for folder, moment in self.deaths("--retire", USER):
            with self.subTest(moment=moment):
                self.run_it("--retire", USER, folder=folder)
                self.check(folder, None)
                self.assertEqual(self.password(folder), new)

    def test_what_a_rotation_of_0_5_0_left_without_a_new_password_goes_on(self):
        self.run_it()
        old = self.password(self.folder)
        (self.folder / f"redis-{USER}").rename(self.folder / f"redis-{USER}.old")
        said = self.run_it("--retire", USER, fails=1)
        self.assertIn(f"run secrets --rotate {USER} first", said)
        self.run_it("--rotate", USER)
        self.check(self.folder, USER)
        self.assertEqual(self.password(self.folder, suffix=".old"), old)

    def test_two_passwords_are_not_rotated_and_a_strange_folder_is_none(self):
        self.run_it()
        self.run_it("--rotate", USER)
        valid = self.digests(self.folder)
        self.assertIn(f"run secrets --retire {USER}", self.run_it("--rotate", USER, fails=1))
        self.assertEqual(self.digests(self.folder), valid)
        for mode in ("--rotate", "--retire"):
            strange = Path(tempfile.mkdtemp(dir=self.place.name))
            self.assertIn("this is not the folder of its passwords", self.run_it(mode, USER, folder=strange, fails=1))

    def test_two_runs_do_not_work_in_one_folder(self):
        self.run_it()
        other = subprocess.Popen(["flock", self.folder, "-c", "echo held; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(other.stdout.close)
        other.stdout.readline()
        self.assertIn("another secrets works", self.run_it(fails=1))
        other.communicate(b"\n")
        self.run_it()


if __name__ == "__main__":
    unittest.main(argv=sys.argv)

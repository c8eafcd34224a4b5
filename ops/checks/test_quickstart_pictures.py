"""What ops/checks/quickstart-pictures lets pass and what not."""

import importlib.machinery
import importlib.util
import json
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("quickstart_pictures", str(Path(__file__).parent / "quickstart-pictures"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(tool)

MEANS = bytes(range(192))
HERE = tool.machine()


def picture(digest="aa", means=MEANS, size="4x3", machine=HERE):
    return {"size": size, "means": means.hex(), "sha256": {machine: digest}}


def moved(by):
    """Means of which one block is another by so much."""
    return bytes([MEANS[0] + by, *MEANS[1:]])


class Pictures(unittest.TestCase):
    def test_a_job_that_is_not_done_is_a_fault(self):
        with self.assertRaisesRegex(tool.Fault, "^0 of [0-9]+ jobs are done; not: dandelion-sepia "):
            tool.checked(Path("/nowhere"), {"completed": []}, write=False)

    def test_a_job_that_was_tried_again_is_a_fault(self):
        jobs = [json.loads(line)["id"] for line in tool.MANIFEST.read_text(encoding="utf-8").splitlines()]
        report = {"completed": [{"job": job, "attempt": 1 + (job == jobs[3])} for job in jobs]}
        with self.assertRaisesRegex(tool.Fault, f"tried again: {jobs[3]};"):
            tool.checked(Path("/nowhere"), report, write=False)

    def test_the_same_bytes_pass(self):
        self.assertIsNone(tool.fault_of("a", picture(), picture()))

    def test_other_bytes_on_a_known_machine_are_a_fault_even_if_they_look_alike(self):
        self.assertIn("byte for byte", tool.fault_of("a", picture("bb"), picture("aa")))

    def test_other_bytes_on_an_unknown_machine_pass_within_the_bound(self):
        known = picture("aa", machine="another release")
        within = picture("bb", moved(tool.MEAN_DIFFERENCE_MAX))
        beyond = picture("bb", moved(tool.MEAN_DIFFERENCE_MAX + 1))
        self.assertIsNone(tool.fault_of("a", within, known))
        self.assertIn("differs by 4 of 255", tool.fault_of("a", beyond, known))
        self.assertIn("is 3x4, and not 4x3", tool.fault_of("a", picture(size="3x4"), known))

    def test_a_picture_that_is_not_known_is_a_fault(self):
        self.assertIn("--write adds it", tool.fault_of("a", picture(), None))

    def test_other_bytes_are_written_only_under_another_number_or_because_of_a_library(self):
        known = {"render": 1, "pictures": {"a": picture("aa")}}
        for other in (picture("bb"), picture("bb", moved(40))):
            with self.assertRaisesRegex(tool.Fault, "only with another Engine.render"):
                tool.written({"a": other}, known, 1, library=False)
            self.assertEqual(tool.written({"a": other}, known, 2, library=False)["pictures"]["a"]["sha256"], {HERE: "bb"})
            self.assertEqual(tool.written({"a": other}, known, 1, library=True)["pictures"]["a"]["sha256"], {HERE: "bb"})
        same = tool.written({"a": picture("aa"), "b": picture("cc")}, known, 1, library=False)
        self.assertEqual((same["render"], sorted(same["pictures"])), (1, ["a", "b"]))

    def test_writing_keeps_digests_of_other_machines_while_it_looks_alike(self):
        known = picture("aa", machine="another release")
        self.assertEqual(tool.merged(picture("bb"), known)["sha256"], {"another release": "aa", HERE: "bb"})
        self.assertEqual(tool.merged(picture("bb", moved(40)), known)["sha256"], {HERE: "bb"})


if __name__ == "__main__":
    unittest.main()

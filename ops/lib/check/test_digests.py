"""What ops/lib/check/digests.py lets pass and what not."""

import unittest

import digests as tool


def file(render=1, **pictures):
    return {"render": render, "digests": {name: {"here": digest} for name, digest in pictures.items()}}


class Digests(unittest.TestCase):
    def test_another_digest_under_the_same_number_is_a_fault(self):
        found = tool.faults(file(a="2"), [file(a="1")], 1)
        self.assertEqual(len(found), 1)
        self.assertIn("raise Engine.render", found[0])

    def test_a_digest_that_is_gone_is_a_fault(self):
        self.assertTrue(tool.faults(file(b="1"), [file(a="1")], 1))

    def test_another_digest_under_another_number_passes(self):
        self.assertEqual(tool.faults(file(2, a="2"), [file(a="1")], 2), [])

    def test_digests_that_are_added_pass(self):
        self.assertEqual(tool.faults(file(a="1", b="2"), [file(a="1"), file()], 1), [])

    def test_a_file_of_another_number_than_the_engine_is_a_fault(self):
        self.assertIn("Engine.render is 2", tool.faults(file(a="1"), [file(a="1")], 2)[0])

    def test_a_number_that_goes_back_is_a_fault(self):
        self.assertIn("went back from 2", tool.faults(file(a="1"), [file(2, a="2")], 1)[0])


if __name__ == "__main__":
    unittest.main()

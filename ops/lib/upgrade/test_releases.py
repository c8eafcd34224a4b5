"""What follows from the numbers of two releases, and that the numbers are where they are raised."""

import re
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import raise_numbers  # noqa: E402
from releases import Fault, Numbers, QueueFormat, in_order  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
OLD, NEXT, STRICT = Numbers(1, 4, 1, 1), Numbers(2, 5, 2, 1), Numbers(2, 5, 2, 2)


def release(name, numbers):
    return types.SimpleNamespace(name=name, numbers=numbers)


class Reading(unittest.TestCase):
    def test_all_numbers_must_be_said(self):
        said = '{"version":"0.5.0","render":1,"jobFormat":4,"queueFormat":1,"queueLeast":1,"commit":"3f"}'
        self.assertEqual(Numbers.read(said), OLD)
        with self.assertRaisesRegex(Fault, "of 0.5.0 does not say queueLeast"):
            Numbers.read(said.replace("queueLeast", "other"))


class Order(unittest.TestCase):
    def test_the_later_one_has_the_higher_numbers_whichever_is_here(self):
        for here, other in ((OLD, NEXT), (NEXT, OLD)):
            older, newer = in_order(release("here", here), release("other", other))
            self.assertEqual((older.numbers, newer.numbers), (OLD, NEXT))
        older, newer = in_order(release("here", Numbers(2, 4, 1, 1)), release("other", OLD))
        self.assertEqual(newer.name, "here")

    def test_two_that_report_the_same_are_refused(self):
        with self.assertRaisesRegex(Fault, "both folders report render 1, job format 4"):
            in_order(release("here", OLD), release("other", OLD))

    def test_numbers_that_go_both_ways_are_refused(self):
        with self.assertRaisesRegex(Fault, "neither is the later one"):
            in_order(release("here", Numbers(3, 4, 1, 1)), release("other", NEXT))


class Queue(unittest.TestCase):
    def test_the_format_is_raised_when_no_earlier_worker_is_left(self):
        queue = QueueFormat()
        self.assertEqual(queue.after([OLD, NEXT, NEXT]), QueueFormat(1, 1))
        self.assertEqual(queue.after([NEXT, NEXT]), QueueFormat(2, 1))
        self.assertEqual(queue.after([STRICT]), QueueFormat(2, 2))

    def test_it_never_falls(self):
        self.assertEqual(QueueFormat(2, 2).after([OLD]), QueueFormat(2, 2))
        self.assertEqual(QueueFormat(3, 2).after([NEXT]), QueueFormat(3, 2))

    def test_who_may_use_it_and_who_leaves_a_job(self):
        self.assertTrue(OLD.may_use(1) and NEXT.may_use(2))
        self.assertFalse(OLD.may_use(2))
        self.assertTrue(OLD.leaves(5))
        self.assertFalse(NEXT.leaves(5) or OLD.leaves(4))


class Raising(unittest.TestCase):
    def copy(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for name in raise_numbers.PLACES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text((ROOT / name).read_text())
        return root

    def numbers(self, root):
        """Every number of the lines that changed."""
        found = {}
        for name in raise_numbers.PLACES:
            before, after = (ROOT / name).read_text().splitlines(), (root / name).read_text().splitlines()
            self.assertEqual(len(before), len(after))
            found[Path(name).name] = [
                [int(number) - int(old) for old, number in zip(re.findall(r"\d+", one), re.findall(r"\d+", other))]
                for one, other in zip(before, after) if one != other]
        return found

    def test_the_present_sources_have_each_number_at_one_place(self):
        root = self.copy()
        raise_numbers.raise_all(root)
        expected = {"Engine.swift": [[1]], "JobRecord.swift": [[1]], "records.lua": [[0, 1, 1]], "QueueFormat.swift": [[1, 0]]}
        self.assertEqual(self.numbers(root), expected)
        root = self.copy()
        raise_numbers.raise_all(root, least=True)
        self.assertEqual(self.numbers(root), {**expected, "QueueFormat.swift": [[1, 1]]})

    def test_sources_of_another_form_are_left_as_they_are(self):
        root = self.copy()
        last = root / list(raise_numbers.PLACES)[-1]
        last.write_text("struct QueueFormat {}")
        with self.assertRaisesRegex(raise_numbers.Fault, "QueueFormat.swift has 0 places"):
            raise_numbers.raise_all(root)
        first = list(raise_numbers.PLACES)[0]
        self.assertEqual((root / first).read_text(), (ROOT / first).read_text())


if __name__ == "__main__":
    unittest.main()

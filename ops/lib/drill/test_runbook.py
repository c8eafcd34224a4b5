"""Every row of the runbook's table has a drill or a reason, and leads to chapters that are there."""

import ast
import os
import re
import unittest

from console import Console, Refused
from drills import REASONS, load
from runbook import HEAD, PATH, Runbook

FAILURE_CODES = os.path.join(os.path.dirname(PATH), "../Sources/Edits/Edits/Failure.swift")


class Table(unittest.TestCase):
    def test_every_row_has_a_drill_or_a_reason_and_not_both(self):
        self.assertEqual(disagreements(Runbook(), load(), REASONS), [])

    def test_a_row_that_nobody_drills_is_told(self):
        book = Runbook(f"# Runbook\n\n{HEAD}\n|---|---|---|\n| smoke | [fire](#fire) | |\n\n## Look first\n## Fire\nrun\n")
        self.assertEqual(disagreements(book, {}, {}), ["'smoke' has neither a drill nor a reason"])
        self.assertEqual(disagreements(book, {}, {"smoke": "nothing burns"}), [])
        self.assertEqual(disagreements(book, {}, {"smoke": "nothing burns", "ash": "nothing burns"}),
                         ["'ash' is drilled or has a reason, and is no row of the runbook's table"])

    def test_a_chapter_that_is_not_there_is_told(self):
        book = Runbook(f"{HEAD}\n|---|---|---|\n| smoke | [fire](#fire) | |\n\n## Look first\n")
        self.assertEqual(disagreements(book, {}, {"smoke": "nothing burns"}), ["'smoke' leads to #fire, which is no chapter"])

    def test_the_table_is_read_whole(self):
        self.assertGreater(len(Runbook().rows), 15)

    def test_drills_may_use_the_words_of_their_chapters_alone(self):
        book = Runbook()
        row = next(row for row in book.rows if row.see == "stuck is not 0")
        words = book.words_for(row)
        console = Console.__new__(Console)
        console.words = " ".join(words.split())
        console.check("minilab replay JOB")
        with self.assertRaises(Refused):
            console.check("minilab gc --dry-run --keep 5 --days 0")

    def test_every_phrase_of_a_drill_is_in_its_chapters(self):
        book = Runbook()
        rows = {row.see: row for row in book.rows}
        phrases = [(name, phrase, " ".join(book.words_for(rows[drill.SEE], drill.ALSO).split()))
                   for name, drill in load().items() for phrase in phrases_of(drill)]
        self.assertGreater(len(phrases), 60)
        self.assertEqual([f"{name}: {phrase}" for name, phrase, words in phrases if phrase not in words], [])

    def test_every_code_of_a_failure_has_a_row(self):
        with open(FAILURE_CODES) as file:
            codes = re.findall(r"^    case (\w+)$", file.read(), re.M)
        self.assertGreater(len(codes), 40)
        rows = [line.split("|")[1] for line in Runbook().chapters["jobs-fail"].splitlines() if line.startswith("| `")]
        self.assertEqual([code for code in codes if not any(f"`{code}`" in row for row in rows)], [])


def phrases_of(drill):
    """The texts that a drill looks up in the runbook, as far as they are written out where they are used."""
    with open(drill.__file__) as file:
        tree = ast.parse(file.read())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    first = [call.args[0] for call in calls if call.func.attr in ("run", "see", "does", "check") and call.args]
    return [" ".join(node.value.split()) for node in first if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def disagreements(book, drills, reasons):
    """What is wrong between the runbook's table and the drills, a sentence each."""
    told = [drill.SEE for drill in drills.values()] + list(reasons)
    wrong = [f"{row.see!r} has neither a drill nor a reason" for row in book.rows if row.see not in told]
    wrong += [f"{row.see!r} leads to #{chapter}, which is no chapter"
              for row in book.rows for chapter in row.chapters if chapter not in book.chapters]
    wrong += [f"{see!r} is drilled or has a reason, and is no row of the runbook's table"
              for see in told if see not in {row.see for row in book.rows}]
    wrong += [f"{see!r} is there {told.count(see)} times" for see in sorted(set(told)) if told.count(see) > 1]
    return wrong


if __name__ == "__main__":
    unittest.main()

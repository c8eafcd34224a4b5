"""Tables of pages are read as they stand, and the same figures give the same plot."""

import tempfile
import unittest
from pathlib import Path

import plotting
import tables


def page(text: str) -> Path:
    file = tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8", delete=False)
    with file:
        file.write(text)
    return Path(file.name)


class Reading(unittest.TestCase):
    def setUp(self):
        self.page = page(
            "# A page\n| a | b |\n|---|---:|\n| x | 1 |\n\n"
            "| × codec, CPU | jpeg | dng |\n|---|---:|---:|\n| sepia | 1.30 · 14.6 | 0.9 |\n| look | – | |\n\n"
            "| × codec | jpeg |\n|---|---:|\n| sepia | 9 |\n"
        )
        self.addCleanup(self.page.unlink)

    def test_each_table_is_told_from_the_one_before(self):
        self.assertEqual([table.head[0] for table in tables.all_of(self.page)], ["a", "× codec, CPU", "× codec"])
        self.assertEqual(tables.find(self.page, "b").rows, [["x", "1"]])

    def test_a_table_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(LookupError, "no table with the columns c"):
            tables.find(self.page, "c")

    def test_of_a_cell_that_is_there_twice_the_first_counts_and_an_empty_cell_is_none(self):
        self.assertEqual(
            tables.looks(self.page),
            {("jpeg", "sepia", "ours"): 1.3, ("jpeg", "sepia", "pyvips"): 14.6, ("dng", "sepia", "ours"): 0.9})

    def test_figures_are_read_with_what_stands_around_them(self):
        seen = [tables.figure(cell) for cell in ("6,050", "**1.06**", "> 60 s", "0.8 · 2.6", "never", "")]
        self.assertEqual(seen, [6050, 1.06, 60, 0.8, None, None])

    def test_a_row_of_several_is_spread(self):
        self.assertEqual(
            tables.spread([["a · b, alike", "1 · 2", "3"], ["c", "4", "5"]]),
            [["a, alike", "1", ""], ["b, alike", "2", ""], ["c", "4", "5"]],
        )


class Drawing(unittest.TestCase):
    def test_a_bar_is_as_long_as_its_share_and_a_missing_one_is_a_dash(self):
        drawn = plotting.columns("t", "n", ["ours", "other", "third"], "ours", 100, [("s", [1.0, 2.0, None])])
        widths = [float(part.split('width="')[1].split('"')[0]) for part in drawn.splitlines() if 'class="fa"' in part or 'class="fc"' in part]
        self.assertAlmostEqual(widths[0] * 2, widths[1], places=1)
        self.assertIn(">–<", drawn)


if __name__ == "__main__":
    unittest.main()

"""Which figures of documents differ from their receipts."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import figures  # noqa: E402


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "ops/receipts").mkdir(parents=True)

    def compared(self, text, result="passed", **measured):
        if measured:
            said = {"result": result, "figures": measured}
            (self.root / "ops/receipts/bench-render.json").write_text(json.dumps(said))
        (self.root / "README.md").write_text(text)
        return figures.compared(self.root, "README.md")

    def test_a_figure_has_the_digits_of_the_document(self):
        text = "24 MP in 1.1 ×<!-- bench-render#colour --> and 1,250 MB<!-- bench-render#megabytes -->, 3 times"
        self.assertEqual(self.compared(text, colour="1.13", megabytes="1250.4"), (text, []))
        written, faults = self.compared(text, colour="1.27", megabytes="1250.4")
        self.assertEqual(written, text.replace("1.1 ×", "1.3 ×"))
        self.assertEqual(faults, ["README.md says 1.1, and the receipt bench-render#colour 1.3: ops/lib/check/figures.py --write"])

    def test_what_was_not_measured_says_nothing(self):
        text = "1.1 ×<!-- bench-render#colour -->"
        self.assertEqual(self.compared(text), (text, []))
        self.assertEqual(self.compared(text, result="failed", colour="9"), (text, []))

    def test_a_figure_that_no_receipt_has_is_a_fault(self):
        _, faults = self.compared("1.1 ×<!-- bench-render#color -->", colour="1.1")
        self.assertEqual(faults, ["README.md: bench-render has no figure color; it has colour."])


if __name__ == "__main__":
    unittest.main()

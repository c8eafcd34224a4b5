"""What ops/lib/check/kept.py finds in sources and what it asks of its list."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import kept  # noqa: E402

POOL = """
public actor Pool {
    /// The texts [of all].
    var texts = TextCache()
    private let names: [String: Int]
    static let table: [String: Int] = [:]
    private var count = 0
    var isBusy: Bool { !waiting.isEmpty }
    func draw() {
        var local: [Int] = []
        local.append(1)
    }
}

struct TextCache {
    private var kept: [Request: Text] = [:]
    static let bytesMax = 16 << 20
}

struct Parser {
    private var lines: [String] = []
}

final class Ring: Sendable {
    private struct State {
        var keys: [String: Key] = [:]
    }

    private let state = Mutex(State())
    private let flights = Mutex<
        [String: Flight]
    >([:])
}
"""


class Kept(unittest.TestCase):
    def found(self, text):
        return sorted(kept.collections([("A.swift", text)]))

    def test_collections_of_shared_objects_and_of_what_they_keep_are_found(self):
        self.assertEqual(
            self.found(POOL), ["A.swift Pool.texts", "A.swift Ring.State.keys", "A.swift Ring.flights", "A.swift TextCache.kept"]
        )

    def test_a_global_that_changes_is_found(self):
        self.assertEqual(self.found("enum Names {\n    static var all: [String] = []\n}\n"), ["A.swift Names.all"])

    def test_a_memo_of_one_result_is_found(self):
        text = "actor Desk {\n    private var making: Task<Snapshot, Never>?\n    private var run: Task<Void, Never>?\n}\n"
        self.assertEqual(self.found(text), ["A.swift Desk.making"])

    def test_a_new_map_needs_a_line_and_a_line_needs_its_map(self):
        sources = [("A.swift", "actor A {\n    var names: [String: Int] = [:]\n}\n")]
        faults = kept.judged(sources, "")
        self.assertEqual(len(faults), 1)
        self.assertTrue(faults[0].startswith("A.swift A.names keeps several things and is not in ops/lib/check/kept.tsv."))
        line = "A.swift A.names\towner\tby tenant, which has no default\n"
        self.assertEqual(kept.judged(sources, "# head\n" + line), [])
        self.assertEqual(
            kept.judged([], line), ["ops/lib/check/kept.tsv lists A.swift A.names, which is not there any more"]
        )

    def test_a_line_says_why(self):
        for line in ["A.swift A.names\towner\n", "A.swift A.names\tmine\tby its tenant's name\n", "A.swift A.names\tnone\tno\n"]:
            _, faults = kept.listed(line)
            self.assertEqual(len(faults), 1, line)
        _, faults = kept.listed(2 * "A.swift A.names\tnone\tfacts about this machine\n")
        self.assertEqual(faults, ["ops/lib/check/kept.tsv:2: A.swift A.names is listed twice"])

    def test_the_cache_of_texts_of_all_tenants_would_have_been_found(self):
        read = list(kept.sources(kept.ROOT))
        text = (kept.ROOT / kept.LIST).read_text()
        place = "Children/RenderPool/RenderPool+Texts.swift TextCache.texts"
        without = "".join(line for line in text.splitlines(True) if not line.startswith(place))
        self.assertTrue(any(fault.startswith(place) for fault in kept.judged(read, without)))


if __name__ == "__main__":
    unittest.main()

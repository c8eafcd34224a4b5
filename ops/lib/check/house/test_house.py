"""The check of the house: faults that it finds in small houses, and faults of its lists."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house import findings, floors, text  # noqa: E402
from house.house import House  # noqa: E402
from house.swift import read  # noqa: E402

PACKAGE = """
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let package = Package(
    targets: [
        .systemLibrary(name: "CPress", path: "Sources/C/CPress"),
        .target(name: "Values", dependencies: [VALUES], path: "Sources/Values"),
        .target(name: "Shop", dependencies: [SHOP], path: "Sources/Shop"),
    ]
)
"""
FLOORS = """
Sources
    C
    Values
    Shop
Sources/Shop
    Paper Counter   # the ground
    Kitchen
    Roof
"""
# Files that break no rule.
SOURCES = {
    "Sources/C/CPress/module.modulemap": "module CInk [system] {\n}\n",
    "Sources/Values/Money.swift": "struct Money {\n    let cents: Int\n    init(cents: Int) { self.cents = cents }\n}\n",
    "Sources/Shop/Paper/Sheet.swift": "struct Sheet {\n    func folded() -> Sheet { folded() }\n}\n",
    "Sources/Shop/Counter.swift": "struct Counter {\n    let sheet: Sheet\n    func sell() { _ = sheet.folded(); sell() }\n}\n",
    "Sources/Shop/Kitchen/Stove.swift": "struct Stove {\n    let counter: Counter\n    func cook() { counter.sell(); cook() }\n}\n",
    "Sources/Shop/Roof.swift": "protocol Weather {}\nstruct Roof: Weather {\n    let stove: Stove\n    init() { stove.cook() }\n}\n",
    "Tests/ShopTests/RoofTests.swift": "let cents = Money(cents: 1).cents\nlet roof: any Weather = Roof()\n",
}


class World(unittest.TestCase):
    """Each test builds a house of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.files = Path(folder.name), dict(SOURCES)
        self.floors, self.values, self.shop = FLOORS, "", ""

    def house(self):
        files = {
            **self.files,
            "Package.swift": PACKAGE.replace("VALUES", self.values).replace("SHOP", self.shop),
            floors.LIST: self.floors,
        }
        for path, written in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(written, encoding="utf-8")
        return House(self.root, sorted(self.files))

    def found(self, kind):
        house = self.house()
        self.assertEqual(house.faults(), [])
        return [each for each in house.findings() if each.kind == kind]

    def subjects(self, kind):
        return [each.subject for each in self.found(kind)]


class Arrows(World):
    def test_a_house_in_order_passes(self):
        house = self.house()
        self.assertEqual([*house.faults(), *house.findings()], [])

    def test_a_type_of_a_higher_floor(self):
        self.files["Sources/Shop/Counter.swift"] += "extension Counter {\n    static let all: [Roof] = all\n}\n"
        (arrow,) = self.found("arrow")
        self.assertEqual((arrow.subject, arrow.place), ("Sources/Shop/Counter.swift Roof", "Sources/Shop/Counter.swift:6"))
        self.assertEqual(
            arrow.says,
            "names Roof of Sources/Shop/Roof.swift, which is on a higher floor of Sources/Shop: line 9 (Roof) of "
            f"{floors.LIST}, above line 7 (Paper, Counter). Move what needs it up, or what is needed down; or change the floors.",
        )

    def test_a_method_of_an_extension_on_a_higher_floor(self):
        self.files["Sources/Shop/Roof.swift"] += "extension String {\n    func tiled(by count: Int) -> String { self }\n}\n"
        self.files["Sources/Shop/Paper/Sheet.swift"] += 'let name = "".tiled(by: 2)\nlet again = name\nlet last = again\n'
        self.assertEqual(self.subjects("arrow"), ["Sources/Shop/Paper/Sheet.swift String.tiled(by:)"])

    def test_an_extension_is_on_the_floor_of_its_type_wherever_its_file_is(self):
        self.files["Sources/Shop/Roof.swift"] += "extension Sheet {\n    func covered() -> Roof { covered() }\n}\n"
        (arrow,) = self.found("arrow")
        self.assertEqual((arrow.subject, arrow.place), ("Sources/Shop/Roof.swift Roof", "Sources/Shop/Roof.swift:7"))
        self.assertIn("within an extension of a type of Sources/Shop/Paper/Sheet.swift", arrow.says)

    def test_a_protocol_of_a_higher_floor(self):
        self.files["Sources/Shop/Kitchen/Stove.swift"] += "func warm(_ sky: any Weather) { warm(sky) }\n"
        self.assertEqual(self.subjects("arrow"), ["Sources/Shop/Kitchen/Stove.swift Weather"])

    def test_a_conformance_that_a_higher_file_gives_to_a_lower_type(self):
        self.files["Sources/Shop/Roof.swift"] += "extension Stove: Weather {}\n"
        self.assertEqual(self.subjects("arrow"), ["Sources/Shop/Roof.swift Weather"])

    def test_a_method_of_a_protocol_on_a_higher_floor(self):
        self.files["Sources/Shop/Roof.swift"] += "extension Weather {\n    func drips() -> Bool { true }\n}\n"
        self.files["Sources/Shop/Counter.swift"] += "func leaks(_ sky: some Any) -> Bool { sky.drips() || leaks(sky) }\n"
        self.assertEqual(self.subjects("arrow"), ["Sources/Shop/Counter.swift Weather.drips()"])

    def test_what_may_be_something_else_is_no_arrow(self):
        # A nested type of the same name, words in comments and texts, a library's method, and another signature.
        self.files["Sources/Shop/Counter.swift"] += (
            "enum Shelf {\n    struct Roof {}\n    // Stove\n    static let text = \"Stove\"\n    static let roof = Roof()\n}\n"
            "let shelf = Shelf.roof\nlet words = Shelf.text.sorted()\nlet other = shelf.tiled(of: words)\nlet end = other\nlet two = end\n"
        )
        self.files["Sources/Shop/Roof.swift"] += (
            "extension Array {\n    func sorted() -> Self { self }\n    func tiled(by count: Int) -> Self { tiled(by: 1) }\n}\n"
        )
        self.assertEqual(self.subjects("arrow"), [])

    def test_a_target_of_a_lower_room_depends_on_a_higher_one(self):
        self.values = '"Shop"'
        self.files["Sources/Values/Money.swift"] = "import Shop\n" + self.files["Sources/Values/Money.swift"]
        (arrow,) = self.found("arrow")
        self.assertEqual((arrow.subject, arrow.place), ("Package.swift Values Shop", "Package.swift:6"))


class Lists(World):
    def test_a_file_without_a_floor_a_floor_without_a_file_and_a_target_without_floors(self):
        self.files["Sources/Shop/Cellar/Wine.swift"] = ""
        self.floors = FLOORS.replace("Kitchen", "Kitchen Attic")
        for name in "abcde":
            self.files[f"Sources/Values/{name}.swift"] = ""
        self.assertEqual(
            self.house().faults(),
            [
                f"Sources/Shop/Cellar/Wine.swift:1: is on no floor. Write `Cellar` on one of the lines below `Sources/Shop`, {floors.LIST}:6.",
                f"{floors.LIST}:8: remove `Attic`: Sources/Shop has no such file or folder.",
                f"Package.swift:6: Values has 6 files and no floors. Give it some in {floors.LIST}.",
            ],
        )

    def test_the_longest_name_that_fits_decides(self):
        (room,), _ = floors.rooms("Sources/Shop\n    Paper/Sheet\n    Paper\n    Roof\n")
        paths = ["Sheet.swift", "Sheet+Folding.swift", "Roll.swift", "Sheets.swift"]
        self.assertEqual([room.floor("Sources/Shop/Paper/" + path) for path in paths], [0, 0, 1, 1])
        self.assertEqual([room.floor("Sources/Shop/" + path) for path in ["Roof+Tiles.swift", "Roofs.swift"]], [2, None])

    def exception(self, number):
        return findings.Finding("try", "A.swift", "A.swift:7", "has `try?`.", number)

    def test_what_is_listed_passes_and_what_is_new_or_more_fails(self):
        written = findings.text([self.exception(2)])
        self.assertEqual(findings.compared([self.exception(2)], written), [])
        self.assertEqual(findings.compared([self.exception(2)], ""), ["A.swift:7: has `try?`."])
        self.assertEqual(
            findings.compared([self.exception(3)], written), [f"A.swift:7: has `try?`. {findings.LIST}:3 allows 2."]
        )

    def test_a_line_that_no_longer_holds_fails_with_what_to_do(self):
        written = findings.text([self.exception(2)])
        self.assertEqual(
            findings.compared([], written), [f"{findings.LIST}:3: remove the line `try 2 A.swift`: it does not hold any more."]
        )
        self.assertEqual(
            findings.compared([self.exception(1)], written),
            [f"{findings.LIST}:3: write `try 1 A.swift` in place of `try 2 A.swift`: it is less now."],
        )

    def test_a_line_that_nobody_wrote_fails(self):
        for line in ["try A.swift", "arrow", "try 2 A.swift\ntry 3 A.swift"]:
            self.assertEqual(len(findings.listed(line)[1]), 1, line)


class Dependencies(World):
    def test_what_is_declared_is_what_is_imported(self):
        self.shop = '"CPress", "Values", logging'
        self.files["Sources/Shop/Counter.swift"] += (
            "@testable import Values\npublic import Logging\nimport struct CInk.Drop\nimport Foundation\n"
        )
        self.assertEqual(self.subjects("dependency"), [])

    def test_what_is_declared_and_not_imported(self):
        self.shop = '"CPress", "Values", logging'
        self.files["Sources/Shop/Counter.swift"] += "import Logging\n// import Values\n"
        self.assertEqual([each.says for each in self.found("dependency")], [
            "Shop declares CPress, and no file of it imports that: remove it.",
            "Shop declares Values, and no file of it imports that: remove it.",
        ])

    def test_what_is_imported_and_not_declared(self):
        self.files["Sources/Shop/Counter.swift"] += "import Values\n"
        (fault,) = self.found("dependency")
        self.assertEqual(fault.place, "Sources/Shop/Counter.swift:5")
        self.assertEqual(fault.says, "Shop imports Values and does not declare it: add it to the dependencies, Package.swift:7.")


class Counts(World):
    def test_a_long_file(self):
        self.files["Tests/ShopTests/LongTests.swift"] = "\n" * 501
        self.files["Tests/ShopTests/ShortTests.swift"] = "\n" * 500
        self.assertEqual([(each.subject, each.number) for each in self.found("lines")], [("Tests/ShopTests/LongTests.swift", 501)])

    def test_a_long_function(self):
        for lines, count in ((80, 0), (81, 1)):
            self.files["Sources/Shop/Counter.swift"] = SOURCES["Sources/Shop/Counter.swift"] + (
                "func wait() {\n" + "    wait()\n" * (lines - 2) + "}\n"
            )
            self.assertEqual(len(self.found("function")), count)

    def test_many_parameters_where_an_initialiser_does_more_than_keep_them(self):
        names = "a: Int, b: Int, c: (Int, Int) -> Int, d: [Int: Int], e: Int = 2, f: Int"
        more = names + ", g h: Int"
        record, does = "self.a = a", "if a > b { self.a = a }"
        self.files["Sources/Shop/Counter.swift"] += (
            f"struct One {{\n    init({more}) {{ {record} }}\n    init({names}) {{ {does} }}\n}}\nlet one = One(one)\n"
        )
        self.assertEqual(self.subjects("parameters"), [])
        self.files["Sources/Shop/Counter.swift"] += f"struct Two {{\n    init({more}) {{ {does} }}\n}}\nlet two = Two(two)\n"
        self.assertEqual(self.subjects("parameters"), ["Sources/Shop/Counter.swift Two.init(a:b:c:d:e:f:g:)"])

    def test_an_error_that_is_thrown_away_is_no_test_of_a_type(self):
        self.files["Sources/Shop/Counter.swift"] += (
            "func look() { let a = try? container.decode([Money].self); let b: Entry? = try? open(); look(a, b) }\n"
        )
        self.assertEqual([(each.subject, each.number) for each in self.found("try")], [("Sources/Shop/Counter.swift", 1)])

    def test_what_nothing_names_is_dead(self):
        self.files["Sources/Shop/Counter.swift"] += (
            "struct Coin {\n    let face: Int\n    func toss() {}\n    func handlerAdded() {}\n    enum Side { case head, tail }\n}\n"
            "struct Page: Encodable {\n    let title: String\n}\nlet coin: [Any] = [coin, Coin.Side.head, Page.self]\n"
        )
        self.files["Sources/Shop/page.mustache"] = "{{face}}"
        self.assertEqual([each.split()[1] for each in self.subjects("dead")], ["Coin.toss()", "Coin.Side.tail"])

    def test_a_ring_is_larger_with_extensions_and_calls(self):
        self.files["Sources/Shop/Counter.swift"] += "extension Counter {\n    func stove() -> Stove { stove() }\n}\n"
        self.files["Sources/Shop/Roof.swift"] += "extension String {\n    func tiled(by count: Int) -> String { self }\n}\n"
        self.files["Sources/Shop/Counter.swift"] += 'let name = "".tiled(by: 2)\nlet again = name\nlet last = again\n'
        self.assertIn(("Shop", 4, 2, 3), self.house().rings())
        self.assertEqual([(each.subject, each.number) for each in self.found("ring")], [("Shop", 3)])


class Reading(unittest.TestCase):
    def test_comments_and_texts_are_blank_and_the_code_in_texts_stays(self):
        for written, code in [
            ('a // b\nc', "a     \nc"),
            ("a /* /* b */ */ c", "a" + 15 * " " + "c"),
            ('f("x\\(g("y"))z")', "f(   (g(   ))  )"),
            ('#"a\\(b)"# + c', "          + c"),
            ('"""\n  "a" \\(b)\n  """', "   \n       (b)\n     "),
            ('#""a""# b', "        b"),
            ('x.contains(/"[^"]/) / 2', "x.contains(       ) / 2"),
        ]:
            self.assertEqual(text.code(written), code, written)
        with self.assertRaises(text.Unreadable):
            text.code('let a = "')

    def test_declarations_have_their_type_labels_and_end(self):
        source = read(
            "A.swift",
            "public struct A<B> {\n    @Option var c = 1\n"
            "    static func d<E: F>(_ g: E, h i: () -> Int = { 1 }) throws -> Int where E: G {\n"
            "        let local = { 2 }\n        return local()\n    }\n    init?(_: Int) {}\n}\nextension A.B where C == D {\n    class func `in`() {}\n"
            "    private enum K { case l(m: Int), n\n    case o }\n}\nprotocol P { func q(r: Int)\n    var s: Int { get } }\n",
        )
        self.assertEqual(
            [(each.title, source.line(each.end)) for each in source.declarations],
            [
                ("A", 8), ("A.c", 2), ("A.d(_:h:)", 6), ("A.init(_:)", 7), ("A.B.in()", 10), ("A.B.K", 12),
                ("A.B.K.l", 11), ("A.B.K.n", 11), ("A.B.K.o", 12), ("P", 15), ("P.q(r:)", 14), ("P.s", 15),
            ],
        )  # fmt: skip
        self.assertEqual(source.declarations[1].attributes, ("@Option",))
        self.assertEqual([each.name for each in source.extensions], ["A.B"])


if __name__ == "__main__":
    unittest.main()

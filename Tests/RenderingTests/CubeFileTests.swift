import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Filters

@Suite("Files of .cube") struct CubeFileTests {
    private func read(_ text: String) throws -> CubeFile {
        try CubeFile(Array(text.utf8), named: "look.cube")
    }

    /// The third line is the first row.
    private static let identity = """
        TITLE "nothing"
        LUT_3D_SIZE 2
        0 0 0
        1 0 0
        0 1 0
        1 1 0
        0 0 1
        1 0 1
        0 1 1
        1 1 1
        """

    @Test func `a table is read with red varying fastest`() throws {
        let table = try #require(try read(Self.identity).table)
        #expect(table.size == 2 && table.low == [0, 0, 0] && table.high == [1, 1, 1])
        #expect(table.numbers.prefix(6) == [0, 0, 0, 1, 0, 0])
    }

    @Test
    func `comments, blank lines, tabs, line ends of Windows and unknown keywords are passed over`()
        throws
    {
        let text =
            "# made by hand\r\n"
            + Self.identity.replacingOccurrences(of: "\n", with: "\r\n")
            .replacingOccurrences(of: " ", with: "\t")
            .replacingOccurrences(of: "LUT_3D", with: "CAMERA X\r\n\r\n  # more\r\n LUT_3D")
        #expect(try read(text + "\r\n\r\n").table?.numbers == read(Self.identity).table?.numbers)
    }

    @Test func `curves of IRIDAS have a domain for each channel`() throws {
        let curves = try #require(
            try read(
                """
                LUT_1D_SIZE 3
                DOMAIN_MIN -2.0 1.0 0.0
                DOMAIN_MAX 2.0 2.0 1.0

                -1.0 -2.0 -3.0
                 0.4  .5  6e-1
                 1.0  2.1  3.2
                """
            ).curves)
        #expect(curves.low == [-2, 1, 0] && curves.high == [2, 2, 1])
        #expect(curves.numbers == [-1, -2, -3, 0.4, 0.5, 0.6, 1, 2.1, 3.2])
    }

    @Test func `curves before a table have a range of their own, as Resolve writes them`() throws {
        let body = Self.identity.split(separator: "\n").dropFirst(2).joined(separator: "\n")
        let file = try read(
            """
            LUT_1D_SIZE 2
            LUT_1D_INPUT_RANGE -0.1 3.0
            LUT_3D_SIZE 2
            LUT_3D_INPUT_RANGE 0.0 2.0
            0 0 0
            2 2 2
            \(body)
            """)
        #expect(file.curves?.low == [-0.1, -0.1, -0.1] && file.curves?.high == [3, 3, 3])
        #expect(file.table?.high == [2, 2, 2] && file.table?.numbers.count == 24)
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let what: String
        let line: Int
        let text: String
        var testDescription: String { what }
    }

    @Test(arguments: [
        Broken(what: "nothing", line: 0, text: ""),
        Broken(what: "no size", line: 1, text: "0 0 0\n1 1 1"),
        Broken(what: "a size of one", line: 1, text: "LUT_3D_SIZE 1\n0 0 0"),
        Broken(what: "a size that is a bomb", line: 2, text: "\nLUT_3D_SIZE 100000\n0 0 0"),
        Broken(what: "curves that are a bomb", line: 1, text: "LUT_1D_SIZE 70000\n0 0 0"),
        Broken(what: "a size that overflows", line: 1, text: "LUT_3D_SIZE 99999999999999999999"),
        Broken(what: "a size in words", line: 1, text: "LUT_3D_SIZE two"),
        Broken(what: "a row too few", line: 9, text: identity.replacing("\n1 1 1", with: "")),
        Broken(what: "a row too many", line: 11, text: identity + "\n1 1 1"),
        Broken(what: "two numbers", line: 5, text: identity.replacing("0 1 0", with: "0 1")),
        Broken(what: "four numbers", line: 5, text: identity.replacing("0 1 0", with: "0 1 0 1")),
        Broken(what: "no number", line: 5, text: identity.replacing("0 1 0", with: "0 nan 0")),
        Broken(what: "infinity", line: 5, text: identity.replacing("0 1 0", with: "0 inf 0")),
        Broken(
            what: "more than any look", line: 5, text: identity.replacing("0 1 0", with: "0 1e9 0")),
        Broken(what: "a comma", line: 5, text: identity.replacing("0 1 0", with: "0,5 1 0")),
        Broken(
            what: "a keyword in the rows", line: 10,
            text: identity.replacing("1 1 1", with: "LUT_3D_SIZE 2")),
        Broken(
            what: "an empty domain", line: 3,
            text: "DOMAIN_MIN 1 0 0\n" + identity.replacing("TITLE \"nothing\"\n", with: "")),
        Broken(what: "a domain of two", line: 1, text: "DOMAIN_MAX 1 1\n" + identity),
        Broken(
            what: "a table of Adobe's that is binary", line: 1, text: "LUT_3D_SIZE 2\u{0}\n0 0 0"),
    ])
    func `a broken file is refused with the number of its line`(_ broken: Broken) {
        let failure = #expect(throws: Failure.self) { try read(broken.text) }
        #expect(failure?.code == .badResource)
        #expect(failure?.message.contains("line \(broken.line) ") == true, "\(failure as Any)")
    }

    @Test(.enabled(if: Studio.corpus != nil))
    func `every .cube file of the corpus is read`() throws {
        let folder = (Studio.corpus ?? "") + "/photos/luts/"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let file = try CubeFile(at: folder + name)
            #expect(file.curves != nil || file.table != nil, "\(name)")
        }
    }

    @Test func `random bytes never crash`() {
        var random = SeededGenerator()
        random.printSeed()
        let tokens = [
            "LUT_3D_SIZE 2", "LUT_1D_SIZE 2", "0 0 0", "1 1 1", "\n", "#", "-", "1e99",
            "DOMAIN_MIN", "\u{0}", "é", "\r",
        ]
        for _ in 0..<500 {
            let text = (0..<30).map { _ in tokens.randomElement(using: &random) ?? "" }.joined(
                separator: Bool.random(using: &random) ? "\n" : " ")
            do { _ = try read(text) } catch { #expect(error is Failure) }
        }
    }

    @Test func `a file of 64³ nodes, the most there may be, is read whole`() throws {
        var text = "LUT_3D_SIZE 64\n"
        for node in 0..<64 * 64 * 64 {
            text += "0.\(node % 64)1234 0.\(node / 64 % 64)5678 0.\(node / 4096)9012\n"
        }
        let bytes = Array(text.utf8)
        let table = try CubeFile(bytes, named: "look.cube").table
        #expect(table?.numbers.count == 3 * 64 * 64 * 64)
    }
}

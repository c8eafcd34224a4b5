import Edits
import Editors
import Foundation
import MinilabTesting
import Testing

@Suite(".AAE file") struct AAESidecarTests {
    private static let fixtures = Repository.fixture("AAE")

    private let adjustment = AdjustmentData(
        formatIdentifier: "com.example.editor", formatVersion: "1.11", data: Data([0, 1, 0xff]))

    /// Python's expression of a file, with some values in place of good ones; an empty one leaves its key out.
    private func file(_ changes: [String: String] = [:], format: String = "XML") throws -> Data {
        var values = [
            "adjustmentBaseVersion": "0", "adjustmentData": #"b"\x00\x01\xff""#,
            "adjustmentEditorBundleID": #""com.apple.mobileslideshow""#,
            "adjustmentFormatIdentifier": #""com.example.editor""#,
            "adjustmentFormatVersion": #""1.11""#,
            "adjustmentRenderTypes": "24578",
            "adjustmentTimestamp": "datetime.datetime(2019, 12, 1, 15, 27, 48)",
        ]
        values.merge(changes) { $1 }
        let pairs = values.filter { !$0.value.isEmpty }.map { "\"\($0.key)\": \($0.value)" }
        let program = """
            import datetime, plistlib, sys
            sys.stdout.buffer.write(
                plistlib.dumps({\(pairs.joined(separator: ", "))}, fmt=plistlib.FMT_\(format)))
            """
        return try Tool.run("/usr/bin/python3", ["-c", program])
    }

    // MARK: Reading

    @Test(arguments: ["XML", "BINARY"]) func `every key is read, in both forms`(form: String) throws
    {
        let sidecar = try AAESidecar(bytes: file(format: form))
        #expect(sidecar.adjustmentBaseVersion == 0)
        #expect(sidecar.adjustment == adjustment)
        #expect(sidecar.adjustmentEditorBundleID == "com.apple.mobileslideshow")
        #expect(sidecar.adjustmentRenderTypes == 24578)
        #expect(sidecar.adjustmentTimestamp == Date(timeIntervalSince1970: 1_575_214_068))
    }

    @Test func `editor, render types and timestamp may be missing`() throws {
        let sidecar = try AAESidecar(
            bytes: file([
                "adjustmentEditorBundleID": "", "adjustmentRenderTypes": "",
                "adjustmentTimestamp": "",
            ]))
        #expect(sidecar.adjustmentEditorBundleID.isEmpty)
        #expect(sidecar.adjustmentRenderTypes == nil && sidecar.adjustmentTimestamp == nil)
    }

    @Test func `keys that are not ours are read over`() throws {
        let more = try file(["adjustmentSomething": #"{"a": [1, 2]}"#])
        #expect(try AAESidecar(bytes: more) == AAESidecar(bytes: file()))
    }

    @Test(arguments: [
        ("adjustmentBaseVersion", "", "missing"), ("adjustmentBaseVersion", "2", "2"),
        ("adjustmentBaseVersion", "-1", "-1"),
        ("adjustmentBaseVersion", "True", "a boolean (true)"),
        ("adjustmentBaseVersion", #""0""#, #"text ("0")"#), ("adjustmentData", "", "missing"),
        ("adjustmentData", #""text""#, "expected data"), ("adjustmentData", #"b"""#, "0 bytes"),
        ("adjustmentData", "bytes(2 * 2**20 + 1)", "2097153 bytes"),
        ("adjustmentFormatIdentifier", "", "missing"),
        ("adjustmentFormatIdentifier", #""""#, "empty"),
        ("adjustmentFormatIdentifier", "7", "a whole number (7)"),
        ("adjustmentFormatIdentifier", #""x" * 256"#, "256 bytes"),
        ("adjustmentFormatIdentifier", #""a\nb""#, "control characters"),
        ("adjustmentFormatIdentifier", #""a\uffff""#, "noncharacters"),
        ("adjustmentFormatVersion", "", "missing"),
        ("adjustmentFormatVersion", "1.4", "a real number (1.4)"),
        ("adjustmentEditorBundleID", "[]", "an array (0 values)"),
        ("adjustmentRenderTypes", "{}", "a dictionary (0 keys)"),
        ("adjustmentRenderTypes", "0.5", "0.5"),
        ("adjustmentTimestamp", "b\"1\"", "data (1 bytes)"), ("adjustmentTimestamp", "0", "a date"),
    ])
    func `an error names the key, the value and what was expected`(
        key: String, value: String, words: String
    ) throws {
        let bytes = try file([key: value])
        expect(.badSidecar, naming: key, words, "expected") { try AAESidecar(bytes: bytes) }
    }

    @Test(arguments: ["", "CISepiaTone", "bplist00", "<plist><array/></plist>", "\u{0}"])
    func `what is no dictionary of a property list is refused`(text: String) {
        expect(.badSidecar) { try AAESidecar(bytes: Data(text.utf8)) }
    }

    // MARK: Writing

    @Test(arguments: [AAESidecar.Base.original, .adjusted])
    func `what is written is read as equal`(base: AAESidecar.Base) throws {
        let now = Date(timeIntervalSince1970: 1_763_701_200.75)
        let sidecar = AAESidecar(adjustment, on: base, timestamp: now)
        #expect(sidecar.adjustmentBaseVersion == base.rawValue)
        #expect(sidecar.adjustmentEditorBundleID == "org.minilab.worker")
        #expect(try AAESidecar(bytes: sidecar.encoded()) == sidecar)
    }

    @Test func `the most data that are allowed are written and read`() throws {
        let adjustment = AdjustmentData(
            formatIdentifier: "a", formatVersion: "1", data: Data(count: AdjustmentData.bytesMax))
        let sidecar = AAESidecar(adjustment, timestamp: .now)
        #expect(try AAESidecar(bytes: sidecar.encoded()) == sidecar)
    }

    @Test func `an identifier that XML cannot spell is not written`() {
        let adjustment = AdjustmentData(
            formatIdentifier: "a\u{1}", formatVersion: "1", data: Data([1]))
        expect(.badSidecar, naming: "cannot be written") {
            try AAESidecar(adjustment, timestamp: .now).encoded()
        }
    }

    @Test(arguments: [
        "datetime.datetime(1, 1, 1)", "datetime.datetime(1010, 5, 29, 3, 39, 38)",
        "datetime.datetime(1582, 10, 4)", "datetime.datetime(1900, 2, 28, 23, 59, 59)",
        "datetime.datetime(2000, 2, 29)", "datetime.datetime(9999, 12, 31, 23, 59, 59)",
    ])
    func `any timestamp is written as it was read, also before the calendar of today`(
        timestamp: String
    ) throws {
        let sidecar = try AAESidecar(bytes: file(["adjustmentTimestamp": timestamp]))
        let written = try sidecar.encoded()
        #expect(try AAESidecar(bytes: written) == sidecar)
        let program = """
            import datetime, plistlib, sys
            print(plistlib.load(sys.stdin.buffer)["adjustmentTimestamp"] == \(timestamp))
            """
        let answer = try Tool.run("/usr/bin/python3", ["-c", program], input: written)
        #expect(String(decoding: answer, as: UTF8.self) == "True\n")
    }

    // MARK: Real files

    @Test func `sidecars of Apple's Photos are read, and written with the same meaning`() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.fixtures, includingPropertiesForKeys: nil
        ).filter { $0.pathExtension.lowercased() == "aae" }
        #expect(files.count >= 3)
        for file in files { try expectReadAndWritten(file) }
    }

    @Test(.enabled(if: Self.corpus != nil)) func `every sidecar of the corpus is read`() throws {
        let folder = URL(filePath: try #require(Self.corpus)).appending(path: "photos/aae")
        let paths = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        let files = paths.compactMap { $0 as? URL }.filter {
            ["aae", "plist"].contains($0.pathExtension.lowercased())
        }
        #expect(files.count >= 12)
        for file in files { try expectReadAndWritten(file) }
    }

    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    private func expectReadAndWritten(_ file: URL) throws {
        let sidecar = try AAESidecar(bytes: Data(contentsOf: file))
        #expect(!sidecar.adjustmentData.isEmpty, "\(file.lastPathComponent)")
        #expect(try AAESidecar(bytes: sidecar.encoded()) == sidecar, "\(file.lastPathComponent)")
    }
}

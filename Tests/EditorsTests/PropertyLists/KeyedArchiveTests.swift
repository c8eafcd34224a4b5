import Foundation
import Editors
import Testing

@Suite("Keyed archive") struct KeyedArchiveTests {
    /// NSKeyedArchiver's archive of "CISepiaTone", its keys in the order of Python's `plistlib`.
    private static let sepia =
        "62706c6973743030d4010203040506090c5924617263686976657258246f626a656374735424746f7058247665727369"
        + "6f6e5f100f4e534b657965644172636869766572a2070855246e756c6c5b43495365706961546f6e65d10a0b54726f6f"
        + "74800112000186a008111b24293244474d595c61630000000000000101000000000000000d0000000000000000000000"
        + "0000000068"

    private static func hex(_ text: String) -> Data {
        let digits = Array(text.utf8).map { UInt8(hexDigit: $0) }
        return Data(
            stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// Python's expression of an archive with these objects behind `$null`.
    private func archive(
        _ objects: String, top: String = #"{"root": UID(1)}"#, archiver: String = "NSKeyedArchiver",
        version: Int = 100_000, format: String = "BINARY"
    ) throws -> Data {
        let uid =
            format == "BINARY" ? "plistlib.UID" : #"(lambda place: {"CF$UID": place})"#
        return try plistlib(
            """
            (lambda UID: {"$archiver": "\(archiver)", "$version": \(version), "$top": \(top), \
            "$objects": ["$null", \(objects)]})(\(uid))
            """, format)
    }

    private func expectRefused(
        _ reason: String, _ bytes: Data, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: PropertyListError.self, sourceLocation: sourceLocation) {
            try KeyedArchive.root(of: bytes)
        }
        #expect(
            error?.message.contains(reason) ?? true, "\(error?.message ?? "")",
            sourceLocation: sourceLocation)
    }

    @Test func `the archive of a text is read and written to the byte`() throws {
        #expect(try KeyedArchive.root(of: Self.hex(Self.sepia)) == .string("CISepiaTone"))
        #expect(KeyedArchive.bytes(ofRoot: "CISepiaTone") == Self.hex(Self.sepia))
    }

    @Test(arguments: ["", "a", "红色", "😀", String(repeating: "é", count: 70_000)])
    func `any text is read as it was written`(text: String) throws {
        #expect(try KeyedArchive.root(of: KeyedArchive.bytes(ofRoot: text)) == .string(text))
    }

    @Test(arguments: ["CISepiaTone", "红色"])
    func `Foundation reads what we write and we read what it writes`(text: String) throws {
        let ours = KeyedArchive.bytes(ofRoot: text)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSString.self, from: ours)
        #expect(read.map { "\($0)" } == text)
        let theirs = try NSKeyedArchiver.archivedData(
            withRootObject: NSString(string: text), requiringSecureCoding: true)
        #expect(try KeyedArchive.root(of: theirs) == .string(text))
    }

    @Test(arguments: ["BINARY", "XML"])
    func `a mutable text is an object of its class`(format: String) throws {
        let bytes = try archive(
            #"{"$class": UID(2), "NS.string": "红色"}, {"$classname": "NSMutableString"}"#,
            format: format)
        #expect(try KeyedArchive.root(of: bytes) == .string("红色"))
    }

    @Test func `the root of an old archive is called $0`() throws {
        #expect(
            try KeyedArchive.root(of: archive(#""a""#, top: #"{"$0": UID(1)}"#)) == .string("a"))
    }

    @Test(arguments: ["BINARY", "XML"])
    func `arrays and dictionaries of plain values are read`(format: String) throws {
        let bytes = try archive(
            """
            {"$class": UID(2), "NS.keys": [UID(3), UID(4)], "NS.objects": [UID(5), UID(9)]}, \
            {"$classname": "NSDictionary"}, "list", "bytes", \
            {"$class": UID(6), "NS.objects": [UID(7), UID(8), UID(10), UID(7)]}, \
            {"$classname": "NSMutableArray"}, 7, 0.5, {"$class": UID(11), "NS.data": b"xy"}, True, \
            {"$classname": "NSMutableData"}
            """, format: format)
        #expect(
            try KeyedArchive.root(of: bytes)
                == .dictionary([
                    "list": .array([.integer(7), .real(0.5), .boolean(true), .integer(7)]),
                    "bytes": .data(Data("xy".utf8)),
                ]))
    }

    @Test func `what Foundation writes of a dictionary is read`() throws {
        let root: NSDictionary = ["name": "CISepiaTone", "levels": [1, 2] as NSArray]
        let bytes = try NSKeyedArchiver.archivedData(
            withRootObject: root, requiringSecureCoding: true)
        #expect(
            try KeyedArchive.root(of: bytes)
                == .dictionary([
                    "name": .string("CISepiaTone"), "levels": .array([.integer(1), .integer(2)]),
                ]))
    }

    @Test func `what is no keyed archive is refused`() throws {
        expectRefused("expected bplist00 or XML", Data("CISepiaTone".utf8))
        expectRefused("no keyed archive", xml("<string>CISepiaTone</string>"))
        expectRefused("no keyed archive", try archive(#""a""#, archiver: "NSArchiver"))
        expectRefused("100000", try archive(#""a""#, version: 99))
        expectRefused("neither root nor $0", try archive(#""a""#, top: "{}"))
        expectRefused("where a reference should be", try archive(#""a""#, top: #"{"root": 1}"#))
        expectRefused("refers to object 9", try archive(#""a""#, top: #"{"root": UID(9)}"#))
        expectRefused("nil", try archive(#""a""#, top: #"{"root": UID(0)}"#))
        expectRefused(
            "refers to object -1",
            xml(
                """
                <dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$version</key>
                <integer>100000</integer><key>$objects</key><array/><key>$top</key><dict><key>root</key>
                <dict><key>CF$UID</key><integer>-1</integer></dict></dict></dict>
                """))
    }

    @Test func `an object of a class that we do not know is refused by its name`() throws {
        expectRefused(
            "UIColor", try archive(#"{"$class": UID(2), "UIRed": 0.5}, {"$classname": "UIColor"}"#))
        expectRefused("no class", try archive(#"{"NS.string": "a"}"#))
        expectRefused("no class", try archive(#"{"$class": UID(1)}"#))
        expectRefused("no text", try archive(#"{"$class": UID(2)}, {"$classname": "NSString"}"#))
        expectRefused("no data", try archive(#"{"$class": UID(2)}, {"$classname": "NSData"}"#))
        expectRefused("no array", try archive(#"{"$class": UID(2)}, {"$classname": "NSArray"}"#))
        expectRefused(
            "1 keys and 0 values",
            try archive(
                #"{"$class": UID(2), "NS.keys": [UID(3)], "NS.objects": []}, {"$classname": "NSDictionary"}, "k""#
            ))
        expectRefused("an array where an object", try archive("[UID(1)]"))
    }

    @Test func `an array that contains itself is refused`() throws {
        expectRefused(
            "deeper",
            try archive(#"{"$class": UID(2), "NS.objects": [UID(1)]}, {"$classname": "NSArray"}"#))
    }

    @Test func `twenty levels of two references each to the next are refused`() throws {
        let levels = (3..<23).map {
            #"{"$class": UID(2), "NS.objects": [UID(\#($0)), UID(\#($0))]}"#
        }
        expectRefused(
            "values",
            try archive(
                #"\#(levels[0]), {"$classname": "NSArray"}, \#(levels.dropFirst().joined(separator: ", ")), 7"#
            ))
    }

    @Test func `a long text that is referred to often is refused`() throws {
        expectRefused(
            "bytes, shared",
            try archive(
                """
                {"$class": UID(2), "NS.objects": [UID(3)] * 100}, {"$classname": "NSArray"}, "x" * 65536
                """))
    }

    @Test func `cut off anywhere it is refused`() {
        let bytes = Self.hex(Self.sepia)
        for count in 0..<bytes.count {
            #expect(throws: PropertyListError.self) {
                try KeyedArchive.root(of: bytes.prefix(count))
            }
        }
    }
}

extension UInt8 {
    fileprivate init(hexDigit: UInt8) {
        self = hexDigit <= UInt8(ascii: "9") ? hexDigit - UInt8(ascii: "0") : hexDigit - 87
    }
}

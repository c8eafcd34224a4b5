import Foundation
import MinilabTesting
import Editors
import Testing

@Suite("XML property list, written") struct XMLWriterTests {
    private let list = PropertyList.dictionary([
        "text": .string("a <b> & \"c\" 'd' héron 红色 😀\r\n\t"), "empty": .string(""),
        "key & <>": .integer(.min),
        "most": .integer(.max), "half": .real(0.1), "tiny": .real(.leastNonzeroMagnitude),
        "yes": .boolean(true),
        "no": .boolean(false), "bytes": .data(Data((0..<200).map { UInt8($0) })),
        "none": .data(Data()),
        "when": .date(Date(timeIntervalSince1970: 1_575_214_068)),
        "first": .date(Date(timeIntervalSince1970: -62_135_596_800)),
        "last": .date(Date(timeIntervalSince1970: 253_402_300_799)),
        "list": .array([.array([]), .dictionary([:]), .string("x")]),
    ])

    @Test func `it is read as what was written`() throws {
        #expect(try PropertyList(bytes: list.xml()) == list)
    }

    @Test func `Python reads the same from it`() throws {
        let program = """
            import plistlib, sys
            list = plistlib.load(sys.stdin.buffer, fmt=plistlib.FMT_XML)
            sys.stdout.buffer.write(plistlib.dumps(list, fmt=plistlib.FMT_BINARY))
            """
        let again = try Tool.run("/usr/bin/python3", ["-c", program], input: list.xml())
        #expect(try PropertyList(bytes: again) == list)
    }

    @Test(arguments: [
        PropertyList.string("\u{1}"), .string("\u{ffff}"), .dictionary(["\u{0}": .boolean(true)]),
        .uid(1),
    ])
    func `what XML cannot spell is refused`(list: PropertyList) {
        #expect(throws: PropertyListError.self) { try list.xml() }
    }
}

import Foundation
import Editors
import Testing

@Suite("Binary property list") struct BinaryPropertyListTests {
    private func read(_ objects: [UInt8]...) throws -> PropertyList {
        try PropertyList(bytes: BinaryList(objects: objects).bytes)
    }

    @Test(arguments: ["BINARY", "XML"])
    func `what Python writes is read with its types`(format: String) throws {
        let expression = """
            {"text": "plain", "accents": "héron 红色 \u{1F600}", "empty": "", "yes": True, "no": False, \
            "small": 7, "byte": 255, "word": 65535, "long": 4294967295, "most": 2**63 - 1, \
            "least": -2**63, "minus": -1, "half": 0.5, "bytes": b"\\x00\\xff" * 40, "none": b"", \
            "when": datetime.datetime(2019, 12, 1, 15, 27, 48), "before": datetime.datetime(1, 1, 1), \
            "after": datetime.datetime(9999, 12, 31, 23, 59, 59), \
            "leap": datetime.datetime(2000, 2, 29, 12, 0, 0), \
            "list": ["x" * 300, [], {}, [1, [2]]], "dict": {"a": {"b": "c"}}}
            """
        let list = try PropertyList(bytes: plistlib(expression, format))
        let seconds = { (seconds: Double) in
            PropertyList.date(Date(timeIntervalSince1970: seconds))
        }
        #expect(
            list
                == .dictionary([
                    "text": .string("plain"), "accents": .string("héron 红色 😀"),
                    "empty": .string(""),
                    "yes": .boolean(true), "no": .boolean(false), "small": .integer(7),
                    "byte": .integer(255), "word": .integer(65535), "long": .integer(4_294_967_295),
                    "most": .integer(.max), "least": .integer(.min), "minus": .integer(-1),
                    "half": .real(0.5), "none": .data(Data()),
                    "bytes": .data(Data((0..<80).map { $0 % 2 == 0 ? 0 : 0xff })),
                    "when": seconds(1_575_214_068), "before": seconds(-62_135_596_800),
                    "after": seconds(253_402_300_799), "leap": seconds(951_825_600),
                    "list": .array([
                        .string(String(repeating: "x", count: 300)), .array([]), .dictionary([:]),
                        .array([.integer(1), .array([.integer(2)])]),
                    ]),
                    "dict": .dictionary(["a": .dictionary(["b": .string("c")])]),
                ]))
    }

    @Test(arguments: [
        ([0x10, 0xff], 255), ([0x11, 0xff, 0xff], 65535),
        ([0x12, 0xff, 0xff, 0xff, 0xff], 4_294_967_295),
        ([0x13] + [UInt8](repeating: 0xff, count: 8), -1),
        ([0x14] + [UInt8](repeating: 0xff, count: 16), -1),
        ([0x14] + [UInt8](repeating: 0, count: 15) + [5], 5),
    ])
    func `whole numbers are unsigned up to 4 bytes and signed above`(
        bytes: [UInt8], value: Int
    ) throws {
        #expect(try read(bytes) == .integer(value))
    }

    @Test func `whole numbers of more than 64 bits, or 32 bytes, are refused`() {
        let unsignedMax = [0x14] + BinaryList.bigEndian(0, 8) + BinaryList.bigEndian(.max, 8)
        expectRefused("more than 64 bits", BinaryList(objects: [unsignedMax]).bytes)
        let negative = [0x14] + BinaryList.bigEndian(.max, 8) + BinaryList.bigEndian(5, 8)
        expectRefused("more than 64 bits", BinaryList(objects: [negative]).bytes)
        let wide = [0x15] + [UInt8](repeating: 0, count: 32)
        expectRefused("1 to 16 bytes", BinaryList(objects: [wide]).bytes)
    }

    @Test func `real numbers have 4 or 8 bytes and are finite`() throws {
        #expect(try read([0x22, 0x3f, 0, 0, 0]) == .real(0.5))
        #expect(try read([0x23] + BinaryList.bigEndian((-2.5).bitPattern, 8)) == .real(-2.5))
        for bad in [Double.nan, .infinity] {
            let object = [0x23] + BinaryList.bigEndian(bad.bitPattern, 8)
            expectRefused("finite", BinaryList(objects: [object]).bytes)
        }
    }

    @Test(arguments: [Double.nan, .infinity, 1e300, -1e300, 252_455_616_000, -63_114_076_801])
    func `a date outside of the years 1 to 9999 is refused`(seconds: Double) {
        let object = [0x33] + BinaryList.bigEndian(seconds.bitPattern, 8)
        expectRefused("expected", BinaryList(objects: [object]).bytes)
    }

    @Test func `a reference of a keyed archive is not a number`() throws {
        #expect(try read([0x80, 5]) == .uid(5))
        #expect(try read([0x81, 1, 0]) == .uid(256))
        expectRefused(
            "too large", BinaryList(objects: [[0x87] + BinaryList.bigEndian(.max, 8)]).bytes)
    }

    @Test(arguments: [
        [0x00], [0x01], [0x0f], [0x20, 0], [0x30], [0x71, 0x41], [0x88], [0x90], [0xb0], [0xc0],
        [0xe0],
        [0xf0],
    ])
    func `null, sets and kinds that nobody writes are refused`(object: [UInt8]) {
        expectRefused("none that we read", BinaryList(objects: [object]).bytes)
    }

    @Test func `text must be what its marker says`() {
        expectRefused("ASCII", BinaryList(objects: [[0x51, 0xe9]]).bytes)
        expectRefused("UTF-16", BinaryList(objects: [[0x61, 0xd8, 0x00]]).bytes)
    }

    @Test func `the same key twice is refused`() {
        let list = BinaryList(objects: [[0xd2, 1, 2, 3, 3], [0x51, 0x61], [0x51, 0x61], [0x09]])
        expectRefused("twice", list.bytes)
    }

    @Test func `a key that is no text is refused`() {
        expectRefused("expected text", BinaryList(objects: [[0xd1, 1, 1], [0x09]]).bytes)
    }

    // MARK: Bytes that lie

    @Test(arguments: [(0, 1), (1, 0), (9, 1), (1, 9), (255, 255)])
    func `sizes of offsets and references outside of 1 to 8 bytes are refused`(
        offsetBytes: Int, referenceBytes: Int
    ) {
        let list = BinaryList(
            objects: [[0x09]], offsetBytes: offsetBytes, referenceBytes: referenceBytes)
        expectRefused("each is 1 to 8", list.bytes)
    }

    @Test(arguments: [1, 2, 3, 8]) func `offsets and references of any size are read`(size: Int)
        throws
    {
        let references = BinaryList.bigEndian(1, size)
        let list = BinaryList(
            objects: [[0xa1] + references, [0x09]], offsetBytes: size, referenceBytes: size)
        #expect(try PropertyList(bytes: list.bytes) == .array([.boolean(true)]))
    }

    @Test(arguments: [0, 2, 1 << 32, UInt64.max])
    func `a count of objects that do not fit is refused`(count: UInt64) {
        expectRefused(
            "does not fit", BinaryList(objects: [[0x09]], offsetBytes: 1, count: count).bytes)
    }

    @Test(arguments: [0, 8, 11, 1 << 40, UInt64.max])
    func `a table outside of the bytes is refused`(table: UInt64) {
        expectRefused(
            "does not fit", BinaryList(objects: [[0x09]], offsetBytes: 1, table: table).bytes)
    }

    @Test(arguments: [0, 7, 9, UInt64(UInt32.max)])
    func `an offset outside of the objects is refused`(offset: UInt64) {
        let list = BinaryList(objects: [[0x09]], offsetBytes: 4, offsets: [offset])
        expectRefused("outside of the objects", list.bytes)
    }

    @Test func `a reference to an object that is not there is refused`() {
        expectRefused("refers to object 7", BinaryList(objects: [[0xa1, 7]]).bytes)
        expectRefused("refers to object", BinaryList(objects: [[0x09]], top: .max).bytes)
    }

    @Test(arguments: [UInt8(0x40), 0x50, 0x60, 0xa0, 0xd0])
    func `a length beyond the objects is refused before memory is taken`(marker: UInt8) {
        for count in [16, 1 << 32, UInt64(Int.max), UInt64.max] {
            let object = [marker | 0x0f, 0x13] + BinaryList.bigEndian(count, 8)
            expectRefused("reaches beyond", BinaryList(objects: [object]).bytes)
        }
        expectRefused("reaches beyond", BinaryList(objects: [[marker | 3]]).bytes)
        expectRefused("reaches beyond", BinaryList(objects: [[marker | 0x0f]]).bytes)
        expectRefused("whole number", BinaryList(objects: [[marker | 0x0f, 0x51]]).bytes)
    }

    // MARK: Bytes that multiply

    @Test func `forty levels of two references each to the next are refused at once`() {
        let levels = (0..<40).map { [0xa2, UInt8($0 + 1), UInt8($0 + 1)] }
        expectRefused("values", BinaryList(objects: levels.prefix(20) + [[0x09]]).bytes)
        expectRefused("deeper", BinaryList(objects: levels + [[0x09]]).bytes)
    }

    @Test func `an array that contains itself is refused`() {
        expectRefused("deeper", BinaryList(objects: [[0xa1, 0]]).bytes)
        expectRefused(
            "values",
            BinaryList(objects: [
                [0xa2, 1, 0],
                [0xaf, 0x11, 0x27, 0x10]
                    + [UInt8](repeating: 2, count: 10_000), [0x09],
            ]).bytes)
    }

    @Test func `a long text that is referred to often is refused`() {
        let text = [0x5f, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 0x61, count: 65536)
        let list = [0xaf, 0x10, 100] + [UInt8](repeating: 1, count: 100)
        expectRefused("bytes, shared", BinaryList(objects: [list, text], offsetBytes: 4).bytes)
    }

    @Test func `cut off anywhere it is refused`() throws {
        let bytes = try plistlib(#"{"a": [1, 2.5, "é", b"x", {"b": True}]}"#, "BINARY")
        for count in 0..<bytes.count {
            #expect(throws: PropertyListError.self) { try PropertyList(bytes: bytes.prefix(count)) }
        }
    }
}

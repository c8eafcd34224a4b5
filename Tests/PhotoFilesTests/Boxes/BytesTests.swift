import Testing

@testable import PhotoFiles

@Suite("Bytes") struct BytesTests {
    @Test func `numbers are read one after the other, and are missing after the end`() {
        var cursor = ByteCursor([0, 1, 2, 3, 0xFF, 0xFF, 0x80, 0, 9], at: 2)
        #expect(cursor.number(2) == 0x0203)
        #expect(cursor.fixed() == -0.5)
        #expect(cursor.number(2) == nil)
        #expect(cursor.number(1) == 9)
        #expect(cursor.isAtEnd)
        #expect(cursor.number(0) == 0)
    }

    @Test(arguments: [-1, 4, 100]) func `there is nothing to read outside of the bytes`(
        _ offset: Int
    ) {
        var cursor = ByteCursor([1, 2, 3], at: offset)
        #expect(cursor.isAtEnd)
        #expect(cursor.number(1) == nil)
    }

    @Test func `a number that exceeds an Int is missing`() {
        var cursor = ByteCursor([UInt8](repeating: 0xFF, count: 8))
        #expect(cursor.number(8) == nil)
        var file = FileWindow([UInt8](repeating: 0xFF, count: 8))
        #expect(file.big(0, 8) == nil)
        #expect(file.little(0, 7) == 0xFF_FFFF_FFFF_FFFF)
    }

    @Test func `bits begin at either end of a byte`() {
        var lowest = BitReader([0b1010_0110, 0b1])
        #expect([lowest.read(3), lowest.read(5), lowest.read(4)] == [0b110, 0b10100, 1])
        #expect(!lowest.isAtEnd)
        lowest.skip(4)
        #expect(lowest.isAtEnd)
        #expect(lowest.read(8) == 0)
        var highest = BitReader([0b1010_0000], highestFirst: true)
        #expect((0..<4).map { _ in highest.bit() } == [1, 0, 1, 0])
        highest.skip(4)
        #expect(highest.bit() == nil)
    }

    @Test func `a segment of a JPEG is found behind fill bytes, and only whole`() {
        var file = FileWindow([0xFF, 0xFF, 0xFF, 0xE1, 0, 4, 7, 8, 0xFF, 0xE2, 0, 1, 0xFF])
        let segment = file.jpegSegment(at: 0)
        #expect(segment?.code == 0xE1)
        #expect(segment?.content == 6..<8)
        #expect(file.jpegSegment(at: 8) == nil)
        #expect(file.jpegSegment(at: 12) == nil)
        #expect(file.jpegSegment(at: 6) == nil)
    }
}

import PhotoFiles
import MinilabTesting
import Testing

@Suite("Boxes") struct BoxTests {
    private func boxes(_ bytes: [UInt8]) -> [Box] {
        var file = FileWindow(bytes)
        return file.boxes(in: 0..<bytes.count)
    }

    @Test func `follow each other, with lengths of four bytes or eight, or to the end`() {
        let long = Bytes.big(1) + Bytes.text("long") + Bytes.big(18, 8) + [7, 7]
        let rest = Bytes.big(0) + Bytes.text("rest") + [1, 2, 3]
        let found = boxes(Bytes.box("free", [0]) + long + rest)
        #expect(found.map(\.type) == ["free", "long", "rest"])
        #expect(found.map(\.content) == [8..<9, 25..<27, 35..<38])
        #expect(found.map(\.range) == [0..<9, 9..<27, 27..<38])
        #expect(found.map(\.isCutOff) == [false, false, false])
    }

    @Test func `that go beyond the end are cut off there, and the last`() {
        let found = boxes(Bytes.box("free", []) + Bytes.big(1_000) + Bytes.text("mdat") + [1])
        #expect(found.map(\.type) == ["free", "mdat"])
        #expect(found.map(\.isCutOff) == [false, true])
        #expect(found.last?.content == 16..<17)
    }

    @Test(arguments: [[0, 0, 0, 7], [0, 0, 0, 2], [0, 0, 0, 1]] as [[UInt8]])
    func `of a length that is none end the list`(length: [UInt8]) {
        let found = boxes(Bytes.box("free", []) + length + Bytes.text("none") + [0, 0])
        #expect(found.map(\.type) == ["free"])
    }

    @Test func `are looked at up to a limit`() {
        let many = (0..<50).flatMap { _ in Bytes.box("free", []) }
        var file = FileWindow(many + Bytes.box("meta", []))
        #expect(file.boxes(in: 0..<file.length, atMost: 10).count == 10)
        #expect(file.firstBox("meta", in: 0..<file.length, atMost: 50) == nil)
        #expect(file.firstBox("meta", in: 0..<file.length, atMost: 51) != nil)
    }
}

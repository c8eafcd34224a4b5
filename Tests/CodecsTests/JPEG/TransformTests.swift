import Foundation
import Codecs
import MinilabTesting
import Testing

@Suite struct TransformTests {
    private typealias Sampling = JPEGLayout.Sampling

    static let samplings = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)].map(TestPhoto.sampled)

    @Test(arguments: samplings, [JPEGTurn.right, .left, .half, .mirrored, .transversed])
    func `turning until it is upright again gives the same file to the last byte`(
        sampling: [JPEGLayout.Sampling], turn: JPEGTurn
    ) throws {
        let photo = try TestPhoto(96, 64, sampling)
        let same = try photo.transformed(JPEGTransform(), as: "same.jpg")
        var path = photo.path
        for step in 0..<(turn == .right || turn == .left ? 4 : 2) {
            let next = photo.folder.file("\(step).jpg")
            try JPEGTransform(turn: turn).write(JPEGReader(path), to: next, markers: [])
            if step == 0 {
                #expect(try Data(contentsOf: URL(filePath: next)) != Data(photo.bytes))
            }
            path = next
        }
        let files = try [path, same].map { try Data(contentsOf: URL(filePath: $0)) }
        #expect(files[0] == files[1])
        #expect(try TestPhoto.samples(path) == TestPhoto.samples(photo.path))
    }

    /// The samples turned one by one.
    static func turned(_ plane: [[UInt8]], _ turn: JPEGTurn) -> [[UInt8]] {
        var rows = plane
        if turn.transposes {
            rows = plane[0].indices.map { x in plane.map { $0[x] } }
        }
        if turn.mirrors { rows = rows.map { $0.reversed() } }
        return turn.flips ? rows.reversed() : rows
    }

    @Test(arguments: JPEGTurn.allCases, [false, true])
    func `a turned photo has the photo's pixels, turned`(turn: JPEGTurn, isProgressive: Bool) throws
    {
        let photo = try TestPhoto(
            64, 96, TestPhoto.sampled(2, 1), quality: 95, isProgressive: isProgressive)
        let transform = JPEGTransform(turn: turn)
        let result = try photo.transformed(transform, as: "turned.jpg")
        let header = try JPEGReader(result).header
        #expect(try header.layout == transform.layout(of: JPEGReader(photo.path).header.layout))
        #expect(header.layout.chroma == (turn.transposes ? "4:4:0" : "4:2:2"))
        #expect(header.isProgressive == isProgressive)
        for (before, after) in zip(try TestPhoto.samples(photo.path), try TestPhoto.samples(result))
        {
            // The inverse transform rounds after the columns and after the rows.
            let pairs = zip(Self.turned(before, turn).joined(), after.joined())
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }
    }

    @Test func `a part of a photo keeps the part's pixels, edge blocks that stay included`() throws
    {
        let photo = try TestPhoto(90, 70, TestPhoto.sampled(2, 2))
        // 43 columns are no multiple of 16: they stay an edge, now the bottom one.
        let part = JPEGTransform.Part(left: 32, top: 16, width: 43, height: 48)
        let result = try photo.transformed(
            JPEGTransform(part: part, turn: .right), as: "part.jpg")
        let (before, after) = (try TestPhoto.samples(photo.path), try TestPhoto.samples(result))
        for (plane, scale) in zip(before.indices, [1, 2, 2]) {
            let rows = before[plane][16 / scale..<64 / scale].map {
                Array($0[32 / scale..<(75 + scale - 1) / scale])
            }
            let pairs = zip(Self.turned(rows, .right).joined(), after[plane].joined())
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 1 })
            #expect(after[plane].joined().count == rows.joined().count)
        }
    }

    @Test func `all four components of a CMYK photo turn`() throws {
        let photo = try TestPhoto(
            32, 16, colour: .cmyk, [JPEGLayout.Sampling](repeating: .init(1, 1), count: 4))
        let result = try photo.transformed(JPEGTransform(turn: .half), as: "turned.jpg")
        #expect(try JPEGReader(result).header.layout.colour == .cmyk)
        let (before, after) = (try TestPhoto.samples(photo.path), try TestPhoto.samples(result))
        #expect(before.count == 4)
        for (one, other) in zip(before, after) {
            let pairs = zip(Self.turned(one, .half).joined(), other.joined())
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }
    }

    @Test func `what would lose pixels is told before anything is written`() throws {
        let photo = JPEGLayout(
            width: 90, height: 70, colour: .ycbcr, sampling: TestPhoto.sampled(2, 2))
        func obstacle(_ part: JPEGTransform.Part?, _ turn: JPEGTurn) -> JPEGTransform.Obstacle? {
            JPEGTransform(part: part, turn: turn).obstacle(for: photo)
        }
        #expect(obstacle(nil, .transposed) == nil)
        #expect(obstacle(nil, .mirrored) == .columnsLeftOver(10, mcuWidth: 16))
        #expect(obstacle(nil, .flipped) == .rowsLeftOver(6, mcuHeight: 16))
        #expect(obstacle(nil, .right) == .rowsLeftOver(6, mcuHeight: 16))
        #expect(obstacle(nil, .left) == .columnsLeftOver(10, mcuWidth: 16))
        let inside = JPEGTransform.Part(left: 16, top: 0, width: 17, height: 32)
        #expect(obstacle(inside, .right) == nil)
        #expect(obstacle(inside, .left) == .columnsLeftOver(1, mcuWidth: 16))
        let unaligned = JPEGTransform.Part(left: 8, top: 0, width: 16, height: 16)
        #expect(obstacle(unaligned, .none) == .unaligned(mcuWidth: 16, mcuHeight: 16))
        for part in [(0, 0, 91, 70), (-16, 0, 32, 32), (80, 0, 11, 1), (0, 0, 0, 1)] {
            let outside = JPEGTransform.Part(
                left: part.0, top: part.1, width: part.2, height: part.3)
            #expect(obstacle(outside, .none) == .outside(photo))
        }
    }

    @Test func `markers go over as the caller says`() throws {
        let exif = JPEGMarker(code: 0xE1, bytes: Array("Exif\0\0new".utf8))
        let photo = try TestPhoto(32, 32)
        let result = try photo.transformed(
            JPEGTransform(turn: .right), as: "turned.jpg", markers: [exif])
        #expect(try JPEGReader(result).header.markers.contains(exif))
    }
}

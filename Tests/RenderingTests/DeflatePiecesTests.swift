import Foundation
import MinilabTesting
import Testing

@testable import Editors
@testable import Rendering

/// zlib reads what is written.
@Suite("Deflate in pieces") struct DeflatePiecesTests {
    /// Bytes of a kind, by chance.
    private enum Kind: CaseIterable {
        case noise, zeros, one, fewValues, gaussian, text, mixed

        func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
            switch self {
            case .noise: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            case .zeros: [UInt8](repeating: 0, count: count)
            case .one:
                [UInt8](repeating: 0, count: count).enumerated().map { $0 == count / 2 ? 9 : $1 }
            case .fewValues: (0..<count).map { _ in UInt8.random(in: 0...2, using: &random) }
            case .gaussian:
                // Like differences of neighbours: small, of either sign.
                (0..<count).map { _ in
                    let sum = (0..<6).reduce(0) { sum, _ in
                        sum + Int.random(in: -5...5, using: &random)
                    }
                    return UInt8(truncatingIfNeeded: sum)
                }
            case .text:
                Array(
                    String(repeating: "a strip of rows, ", count: count / 17 + 1).utf8.prefix(count)
                )
            case .mixed:
                stride(from: 0, to: count, by: 3_000).flatMap { start in
                    let kind = Kind.allCases.dropLast().randomElement(using: &random) ?? .zeros
                    return kind.bytes(min(3_000, count - start), &random)
                }
            }
        }
    }

    @Test(arguments: [0, 1, 2, 100, 1 << 15, 1 << 15 + 1, 200_000])
    func `pieces of any content become one stream that zlib reads`(count: Int) throws {
        var random = SeededGenerator()
        random.printSeed()
        for kind in Kind.allCases {
            let bytes = kind.bytes(count, &random)
            let pieces = try DeflatePieces()
            var stream = DeflatePieces.head
            try bytes.withUnsafeBytes { bytes in
                var start = 0
                while start < bytes.count {
                    // Shorter ones too, as the last one is.
                    let most = min(DeflatePieces.pieceBytes, bytes.count - start)
                    let length =
                        Bool.random(using: &random)
                        ? most : Int.random(in: 1...most, using: &random)
                    try pieces.append(
                        UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]), to: &stream
                    )
                    start += length
                }
            }
            stream += pieces.end()
            let read = try Deflate.inflate(Data(stream), .zlib)
            #expect([UInt8](read) == bytes, "\(kind), \(count) bytes")
        }
    }

    @Test func `pieces of differences are as small as the whole, within two hundredths`() throws {
        var random = SeededGenerator()
        random.printSeed()
        let bytes = Kind.gaussian.bytes(300_000, &random)
        let whole = try DeflateCompressor(level: 1, blockBytesMax: bytes.count)
        let pieces = try DeflatePieces()
        var stream: [UInt8] = []
        let wholeCount = try bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: DeflatePieces.pieceBytes) {
                let end = min(bytes.count, start + DeflatePieces.pieceBytes)
                try pieces.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), to: &stream)
            }
            return whole.bare(bytes).count
        }
        #expect(Double(stream.count) < 1.02 * Double(wholeCount))
    }

    @Test func `the end is told of one block alone`() throws {
        var random = SeededGenerator(seed: 1)
        let compressor = try DeflateCompressor(level: 1, blockBytesMax: 1 << 20)
        func end(_ bytes: [UInt8]) -> DeflateBlockEnd? {
            bytes.withUnsafeBytes { DeflateBlockEnd(of: compressor.bare($0)) }
        }
        #expect(end(Kind.noise.bytes(20_000, &random)) == .lastByte)
        #expect(end(Kind.gaussian.bytes(1 << 20, &random)) == nil, "it has many blocks")
        #expect(
            end(Array(String(repeating: "ab", count: 50).utf8)) == nil,
            "its code for the end is seven zeros")
        guard case .bits = end(Kind.gaussian.bytes(1 << 15, &random)) else {
            Issue.record("a piece of differences is one block")
            return
        }
    }
}

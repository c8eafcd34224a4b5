import PhotoFiles
import Codecs
import Foundation
import MinilabTesting
import Testing

/// Bytes of strangers: what a decoder makes of them is frames or an error, and the next one decodes as before.
@Suite("Movies with bytes changed at random") struct MovieMutationTests {
    /// Of all movies together.
    private static let mutants = Volume.trials(byDay: 200, byNight: 20_000)

    /// Samples of a mutant that are decoded: the group's first one and those that refer to it.
    private static let samples = 4

    @Test func `give frames or an error`() throws {
        let folder = try TemporaryFolder()
        let movies =
            try MovieFiles.own.map { try DecodedMovie(path: $0) }
            + MadeMovie.all.map { try DecodedMovie(path: try $0.made(in: folder, frames: 4)) }
        var random = SeededGenerator()
        random.printSeed()
        var (frames, errors) = (0, 0)
        for mutant in 0..<Self.mutants {
            let movie = movies[mutant % movies.count]
            let byteRanges = movie.movie.samples.byteRanges
            var samples = byteRanges.prefix(Self.samples).map { Array(movie.bytes[$0]) }
            var configuration = movie.codec.configuration
            let count = samples.count
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0...count, using: &random)
                if index == count {
                    Self.change(&configuration, &random)
                } else {
                    Self.change(&samples[index], &random)
                }
            }
            do {
                let decoder = try movie.decoder(configuration: configuration)
                for (rank, sample) in samples.enumerated() {
                    try decoder.send(sample, rank: rank)
                    while let frame = try decoder.receive() { frames += Self.readCodes(at: frame) }
                }
                try decoder.finish()
                while let frame = try decoder.receive() { frames += Self.readCodes(at: frame) }
            } catch is CodecError {
                errors += 1
            }
        }
        #expect(frames > 0 && errors > 0, "seed \(random.seed)")
        print("\(Self.mutants) mutants: \(frames) frames, \(errors) errors")
    }

    /// Reads each row's ends, so that planes that are not there would be found.
    private static func readCodes(at frame: DecodedFrame) -> Int {
        var sum = 0
        for plane in frame.planes where plane.width > 0 {
            for row in 0..<plane.height {
                let start = plane.start + row * plane.stride
                let last = plane.width * frame.layout.sampleBytes - 1
                sum &+= Int(start.load(as: UInt8.self))
                sum &+= Int(start.load(fromByteOffset: last, as: UInt8.self))
            }
        }
        return sum >= 0 ? 1 : 0
    }

    private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: bytes.removeSubrange(index...)
        case 1:
            let end = min(bytes.count, index + Int.random(in: 1...64, using: &random))
            bytes.removeSubrange(index..<end)
        case 2:
            let end = min(bytes.count, index + Int.random(in: 1...64, using: &random))
            bytes.insert(contentsOf: bytes[index..<end], at: index)
        case 3:
            // What heads a sample says most.
            bytes[min(index, Int.random(in: 0..<24, using: &random))] = .random(
                in: 0...255, using: &random)
        case 4: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        // Nothing at all cannot be a sample.
        if bytes.isEmpty { bytes = [0] }
    }
}

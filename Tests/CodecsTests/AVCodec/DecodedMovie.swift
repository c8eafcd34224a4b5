import PhotoFiles
import CZlib
import Codecs
import Foundation

/// A movie in memory with the means to decode it.
struct DecodedMovie {
    let bytes: [UInt8]
    let movie: Movie
    let codec: MovieCodec
    /// The rank of each sample in the order in which they are shown.
    let ranks: [Int]

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        var file = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        movie = try Movie(&file)
        codec = try MovieCodec(movie.video)
        let times = movie.samples.times
        let order = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
        var ranks = [Int](repeating: 0, count: order.count)
        for (rank, sample) in order.enumerated() { ranks[sample] = rank }
        self.ranks = ranks
    }

    init(path: String) throws { try self.init(Array(Data(contentsOf: URL(filePath: path)))) }

    func decoder(
        configuration: [UInt8]? = nil, firstRank: Int = .min,
        limits: VideoDecoder.Limits = VideoDecoder.Limits()
    ) throws -> VideoDecoder {
        var container = VideoDecoder.Container()
        container.format = Array(codec.format.description.unicodeScalars.map { UInt8($0.value) })
        (container.width, container.height) = (codec.width, codec.height)
        container.reorderDepth = movie.samples.reorderDepth
        guard let name = VideoDecoder.Codec(rawValue: codec.kind.decoderName) else {
            throw CodecError(kind: .unsupported, step: "open \(codec.kind)")
        }
        return try VideoDecoder(
            name, configuration: configuration ?? codec.configuration, container: container,
            firstRank: firstRank, limits: limits)
    }

    /// Decodes samples, in the order of the file's tables.
    ///
    /// - Parameters:
    ///   - change: what is sent instead of a sample's bytes.
    ///   - body: gets each frame, in the order in which they are shown.
    func decode(
        _ samples: Range<Int>? = nil, firstRank: Int = .min,
        limits: VideoDecoder.Limits = VideoDecoder.Limits(),
        change: (Int, [UInt8]) -> [UInt8] = { $1 },
        _ body: (DecodedFrame) throws -> Void
    ) throws {
        let decoder = try decoder(firstRank: firstRank, limits: limits)
        let byteRanges = movie.samples.byteRanges
        for sample in samples ?? byteRanges.indices {
            try decoder.send(change(sample, Array(bytes[byteRanges[sample]])), rank: ranks[sample])
            while let frame = try decoder.receive() { try body(frame) }
        }
        try decoder.finish()
        while let frame = try decoder.receive() { try body(frame) }
    }

    /// The rank and CRC-32 of each frame.
    func checksums(_ samples: Range<Int>? = nil, firstRank: Int = .min) throws -> [(
        rank: Int, sum: UInt32
    )] {
        var sums: [(rank: Int, sum: UInt32)] = []
        try decode(samples, firstRank: firstRank) { sums.append(($0.rank, $0.checksum)) }
        return sums
    }
}

extension DecodedFrame {
    /// The CRC-32 of all planes' rows, one behind the other.
    var checksum: UInt32 {
        var sum = crc32(0, nil, 0)
        for plane in planes {
            for row in 0..<plane.height {
                let start = plane.start + row * plane.stride
                sum = crc32(
                    sum, start.assumingMemoryBound(to: UInt8.self),
                    UInt32(plane.width * layout.sampleBytes))
            }
        }
        return UInt32(truncatingIfNeeded: sum)
    }
}

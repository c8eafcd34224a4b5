import PhotoFiles
import Codecs
import Foundation
import MinilabTesting

/// Frames, coded anew.
struct EncodedMovie: Equatable {
    var samples: [[UInt8]] = []
    /// Ranks of the samples, in the order in which they are decoded.
    var ranks: [Int] = []
    var syncSamples: [Int] = []
    let parameterSets: [[UInt8]]

    /// Codes frames of a pattern.
    ///
    /// - Parameters:
    ///   - times: of each, in units of time.
    ///   - keys: ranks of frames that have to be key frames.
    ///   - fill: writes the planes of the frame of a rank.
    init(
        _ codec: VideoEncoder.Codec, _ settings: VideoEncoder.Settings, times: [Int],
        keys: Set<Int> = [], _ fill: (Int, [VideoEncoder.Plane]) -> Void
    ) throws {
        let encoder = try VideoEncoder(codec, settings)
        parameterSets = encoder.parameterSets
        for (rank, time) in times.enumerated() {
            try encoder.send(rank: rank, time: time, isKey: keys.contains(rank)) { fill(rank, $0) }
            while let packet = try encoder.receive() { append(packet) }
        }
        try encoder.finish()
        while let packet = try encoder.receive() { append(packet) }
    }

    private mutating func append(_ packet: VideoEncoder.Packet) {
        if packet.isKey { syncSamples.append(packet.order) }
        samples.append(packet.sample)
        ranks.append(packet.rank)
    }

    /// The file of a movie with these samples instead of its own.
    func transplanted(into source: DecodedMovie, _ entry: SampleEntry) throws -> [UInt8] {
        let transplant = try Transplant(
            source.movie,
            samples: .init(sizes: samples.map(\.count), ranks: ranks, syncSamples: syncSamples),
            entry: entry)
        return transplant.pieces.reduce(into: []) { result, piece in
            switch piece {
            case .bytes(let bytes): result += bytes
            case .source(let range): result += source.bytes[range]
            case .samples(let range): for sample in samples[range] { result += sample }
            }
        }
    }
}

/// Samples of a frame, without gaps.
struct Planes {
    let layout: FrameLayout
    private var planes: [[UInt8]]

    init(_ frame: DecodedFrame) {
        layout = frame.layout
        planes = frame.planes.map { plane in
            var bytes: [UInt8] = []
            for row in 0..<plane.height {
                bytes += UnsafeRawBufferPointer(
                    start: plane.start + row * plane.stride,
                    count: plane.width * frame.layout.sampleBytes)
            }
            return bytes
        }
    }

    /// The same with other bits: codes move up or down.
    func with(bits: Int) -> Planes {
        guard bits != layout.bits else { return self }
        var changed = self
        changed = Planes(
            FrameLayout(
                width: layout.width, height: layout.height, bits: bits,
                hasChroma: layout.hasChroma, chromaShift: layout.chromaShift,
                primaries: layout.primaries, transfer: layout.transfer, matrix: layout.matrix,
                isFullRange: layout.isFullRange),
            planes.map { bytes in
                bytes.flatMap { byte -> [UInt8] in
                    // Low bits of the noise, too.
                    let code = Int(byte) << (bits - 8) | Int(byte) & (1 << (bits - 8) - 1)
                    return [UInt8(code & 0xFF), UInt8(code >> 8)]
                }
            })
        return changed
    }

    private init(_ layout: FrameLayout, _ planes: [[UInt8]]) {
        (self.layout, self.planes) = (layout, planes)
    }

    func fill(_ targets: [VideoEncoder.Plane]) {
        for (target, bytes) in zip(targets, planes) {
            let count = target.width * layout.sampleBytes
            for row in 0..<target.height {
                bytes.withUnsafeBytes {
                    (target.start + row * target.stride).copyMemory(
                        from: $0.baseAddress! + row * count, byteCount: count)
                }
            }
        }
    }

    /// Whether a frame has the same samples.
    func isSame(as frame: DecodedFrame) -> Bool { Planes(frame).planes == planes }
}

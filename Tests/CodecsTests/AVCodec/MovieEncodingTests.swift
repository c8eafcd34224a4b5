import PhotoFiles
import Codecs
import Foundation
import MinilabTesting
import Testing

@Suite("Movies, encoded") struct MovieEncodingTests {
    private static func source(_ name: String) throws -> DecodedMovie {
        try DecodedMovie(path: try #require(MovieFiles.own.first { $0.hasSuffix(name) }))
    }

    private static func frames(of source: DecodedMovie, bits: Int) throws -> [Planes] {
        var frames: [Planes] = []
        try source.decode { frames.append(Planes($0).with(bits: bits)) }
        return frames
    }

    private static func settings(
        _ coding: MovieCoding, _ source: DecodedMovie, _ layout: FrameLayout, keyDistance: Int = 12
    ) -> VideoEncoder.Settings {
        coding.settings(
            layout, unitsPerSecond: .init(source.movie.video.timeScale),
            framesPerSecond: .init(30), keyDistance: keyDistance)
    }

    static let kinds: [(VideoEncoder.Codec, Int)] = [
        (.h264, 8), (.h264, 10), (.hevc, 8), (.hevc, 10),
    ]

    @Test(arguments: kinds)
    func `without loss come back as they were, from a file that ffmpeg reads as we do`(
        codec: VideoEncoder.Codec, bits: Int
    ) throws {
        // One of both shows frames in another order than they are decoded in.
        let name = bits == 8 ? "h265_bframes.mp4" : "bt601.mp4"
        let source = try Self.source(name)
        let frames = try Self.frames(of: source, bits: bits)
        let times = source.movie.samples.times.sorted()
        let settings = Self.settings(MovieCoding(codec, .lossless), source, frames[0].layout)
        let coded = try EncodedMovie(codec, settings, times: times) { frames[$0].fill($1) }
        #expect(coded.ranks.sorted() == Array(frames.indices))

        let entry = SampleEntry(
            codec == .h264 ? .h264 : .hevc, parameterSets: coded.parameterSets, chromaFormat: 1,
            bits: bits)
        let bytes = try coded.transplanted(into: source, try #require(entry))
        let made = try DecodedMovie(bytes)
        var rank = 0
        try made.decode { frame in
            #expect(frame.rank == rank && frame.layout.bits == bits)
            let isSame = frames[rank].isSame(as: frame)
            #expect(isSame, "frame \(rank)")
            rank += 1
        }
        #expect(rank == frames.count)

        let folder = try TemporaryFolder()
        let path = folder.file("made.mp4")
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try FFmpeg.frames(of: path) == made.checksums().map(\.sum))
        #expect(try FFmpeg.times(of: path) == times)
    }

    @Test(arguments: kinds)
    func `have the same bytes each time, closed groups, and frames that refer to later ones`(
        codec: VideoEncoder.Codec, bits: Int
    ) throws {
        let source = try Self.source("bt601.mp4")
        let frames = try Self.frames(of: source, bits: bits)
        let settings = Self.settings(MovieCoding(codec, quality: 0.7), source, frames[0].layout)
        let times = source.movie.samples.times.sorted()
        let coded = try (0..<2).map { _ in
            try EncodedMovie(codec, settings, times: times, keys: [17]) { frames[$0].fill($1) }
        }
        #expect(coded[0] == coded[1])
        let ranks = coded[0].ranks
        #expect(ranks != ranks.sorted() && ranks.sorted() == Array(frames.indices))
        let keys = coded[0].syncSamples
        #expect(keys.first == 0 && keys.map { ranks[$0] }.contains(17))
        for (key, next) in zip(keys, keys.dropFirst() + [ranks.count]) {
            // All that is decoded before a key frame is shown before it.
            #expect(ranks[key] == key && next - key <= 12)
        }
        // Parameter sets are in the description, and nothing tells of the encoder.
        for sample in coded[0].samples {
            #expect(sample.firstRange(of: Array("x264".utf8)) == nil)
            #expect(sample.firstRange(of: Array("x265".utf8)) == nil)
        }
        #expect(coded[0].parameterSets.count == (codec == .h264 ? 2 : 3))
    }

    /// Frames that move, of a size that is no whole number of the eight macroblocks that AVX-512 handles at a time.
    private static func moving(
        _ codec: VideoEncoder.Codec, bits: Int, parameters: String = ""
    ) throws -> EncodedMovie {
        let layout = FrameLayout(width: 320, height: 180, bits: bits)
        var settings = MovieCoding(codec, quality: 0.7).settings(
            layout, unitsPerSecond: .init(600), framesPerSecond: .init(30), keyDistance: 60)
        for index in settings.options.indices
        where settings.options[index].name.hasSuffix("-params") {
            settings.options[index].value += parameters
        }
        let times = (0..<24).map { 20 * $0 }
        return try EncodedMovie(codec, settings, times: times) { rank, planes in
            for (plane, isLuma) in zip(planes, [true, false, false]) {
                for row in 0..<plane.height {
                    for column in 0..<plane.width {
                        let (x, y) = (column + rank, row + 2 * rank)
                        let texture = ((x * x + 3 * y * y) / 64 + x / 7 * (y / 5) * 29) & 255
                        let code = isLuma ? texture : 128
                        let start = plane.start + row * plane.stride
                        if bits == 8 {
                            start.storeBytes(of: UInt8(code), toByteOffset: column, as: UInt8.self)
                        } else {
                            start.storeBytes(
                                of: UInt16(code << (bits - 8)), toByteOffset: 2 * column,
                                as: UInt16.self)
                        }
                    }
                }
            }
        }
    }

    /// Sets the byte with which malloc() fills memory; 0 for none.
    ///
    /// Both belong to a header that Swift does not import: `malloc.h`.
    private static func fillMemory(_ byte: Int32) throws {
        let perturb: Int32 = -6
        let mallopt = unsafeBitCast(
            try #require(dlsym(nil, "mallopt")),
            to: (@convention(c) (Int32, Int32) -> Int32).self)
        try #require(mallopt(perturb, byte) == 1)
    }

    /// A child has rendered other photos before, so new memory of an encoder is not empty. On a processor without AVX-512 the fault that
    /// `cpu-independent` prevents does not show here, but below.
    @Test(.serialized, arguments: kinds)
    func `have the same bytes whatever is left in memory`(
        codec: VideoEncoder.Codec, bits: Int
    ) throws {
        defer { try? Self.fillMemory(0) }  // the call before it has not failed
        let coded = try [Int32(1), 85, 170, 255].map { byte in
            try Self.fillMemory(byte)
            return try Self.moving(codec, bits: bits)
        }
        for other in coded.dropFirst() {
            let isSame = other == coded[0]
            #expect(isSame)
        }
    }

    @Test(arguments: [8, 10]) func `of H.264 have the same bytes on another processor`(
        bits: Int
    ) throws {
        let isSame = try [":asm=0", ":asm=sse2", ":asm=avx2"].map {
            try Self.moving(.h264, bits: bits, parameters: $0) == Self.moving(.h264, bits: bits)
        }
        #expect(isSame == [true, true, true])
    }

    @Test(arguments: kinds)
    func `of other pictures have the same parameter sets, and say their colours`(
        codec: VideoEncoder.Codec, bits: Int
    ) throws {
        let layout = FrameLayout(
            width: 96, height: 80, bits: bits, primaries: 12, transfer: 1, matrix: 6,
            isFullRange: true)
        let times = [0, 20, 71, 91, 111, 131]
        let coded = try [40, 200].map { level in
            let settings = MovieCoding(codec, quality: 0.8).settings(
                layout, unitsPerSecond: .init(600), framesPerSecond: .init(2_880, of: 100),
                keyDistance: 60)
            return try EncodedMovie(codec, settings, times: times) { rank, planes in
                for plane in planes {
                    for row in 0..<plane.height {
                        let count = plane.width * layout.sampleBytes
                        for column in 0..<count {
                            let code =
                                bits > 8 && column % 2 == 1
                                ? 1 : UInt8((level + rank * 3 + column * row % 31) & 0xFF)
                            plane.start.storeBytes(
                                of: code, toByteOffset: row * plane.stride + column, as: UInt8.self)
                        }
                    }
                }
            }
        }
        #expect(coded[0].parameterSets == coded[1].parameterSets)
        #expect(coded[0].samples != coded[1].samples)

        let entry = SampleEntry(
            codec == .h264 ? .h264 : .hevc, parameterSets: coded[0].parameterSets, chromaFormat: 1,
            bits: bits)
        let decoder = try VideoDecoder(
            codec == .h264 ? .h264 : .hevc,
            configuration: try #require(entry).configuration.content)
        var layouts: [FrameLayout] = []
        for (sample, rank) in zip(coded[0].samples, coded[0].ranks) {
            try decoder.send(sample, rank: rank)
            while let frame = try decoder.receive() { layouts.append(frame.layout) }
        }
        try decoder.finish()
        while let frame = try decoder.receive() { layouts.append(frame.layout) }
        #expect(layouts == times.map { _ in layout })
    }

    /// Frames of noise that repeats, in any layout.
    private static func noise(_ layout: FrameLayout) -> (Int, [VideoEncoder.Plane]) -> Void {
        { rank, planes in
            for plane in planes {
                for row in 0..<plane.height {
                    for column in 0..<plane.width {
                        let code = (column * 37 + row * 91 + rank * 13) % 251
                        let start = plane.start + row * plane.stride
                        if layout.bits == 8 {
                            start.storeBytes(of: UInt8(code), toByteOffset: column, as: UInt8.self)
                        } else {
                            start.storeBytes(
                                of: UInt16(code * 4 + 1), toByteOffset: 2 * column, as: UInt16.self)
                        }
                    }
                }
            }
        }
    }

    private static func checksums(
        _ coded: EncodedMovie, _ codec: VideoEncoder.Codec, _ layout: FrameLayout, chromaFormat: Int
    ) throws -> [UInt32] {
        let entry = SampleEntry(
            codec == .h264 ? .h264 : .hevc, parameterSets: coded.parameterSets,
            chromaFormat: chromaFormat, bits: layout.bits)
        let decoder = try VideoDecoder(
            codec == .h264 ? .h264 : .hevc,
            configuration: try #require(entry).configuration.content)
        var sums: [UInt32] = []
        for (sample, rank) in zip(coded.samples, coded.ranks) {
            try decoder.send(sample, rank: rank)
            while let frame = try decoder.receive() { sums.append(frame.checksum) }
        }
        try decoder.finish()
        while let frame = try decoder.receive() { sums.append(frame.checksum) }
        return sums
    }

    @Test(arguments: kinds)
    func `keep half of the colour's columns as well, at times that stand still`(
        codec: VideoEncoder.Codec, bits: Int
    ) throws {
        let layout = FrameLayout(width: 64, height: 48, bits: bits, chromaShift: (1, 0))
        let settings = MovieCoding(codec, .lossless).settings(
            layout, unitsPerSecond: .init(600), framesPerSecond: .init(30), keyDistance: 30)
        let times = [0, 20, 20, 19, 80, 100]
        let coded = try EncodedMovie(codec, settings, times: times, Self.noise(layout))
        let other = try EncodedMovie(codec, settings, times: Array(0..<6), Self.noise(layout))
        #expect(coded.ranks.sorted() == Array(0..<6))
        let sums = try Self.checksums(coded, codec, layout, chromaFormat: 2)
        #expect(Set(sums).count == 6)
        #expect(sums == (try Self.checksums(other, codec, layout, chromaFormat: 2)))
    }

    @Test(arguments: kinds)
    func `take no more bits than are allowed`(codec: VideoEncoder.Codec, bits: Int) throws {
        let layout = FrameLayout(width: 160, height: 96, bits: bits)
        var settings = MovieCoding(codec, quality: 0.95).settings(
            layout, unitsPerSecond: .init(30), framesPerSecond: .init(30), keyDistance: 60)
        let free = try EncodedMovie(codec, settings, times: Array(0..<60), Self.noise(layout))
        settings.rate = (max: 400_000, buffer: 200_000)
        let bound = try EncodedMovie(codec, settings, times: Array(0..<60), Self.noise(layout))
        let (most, least) = (free.samples.joined().count, bound.samples.joined().count)
        // Two seconds, and what the buffer holds.
        #expect(least < most && least * 8 < 2 * 400_000 + 200_000, "\(most), \(least)")
    }

    @Test(arguments: [VideoEncoder.Codec.h264, .hevc])
    func `are refused with settings that no encoder takes`(codec: VideoEncoder.Codec) {
        func open(_ change: (inout VideoEncoder.Settings) -> Void) throws(CodecError) {
            var settings = MovieCoding(codec, quality: 0.8).settings(
                FrameLayout(width: 64, height: 48), unitsPerSecond: .init(30),
                framesPerSecond: .init(30), keyDistance: 60)
            change(&settings)
            _ = try VideoEncoder(codec, settings)
        }
        let changes: [(inout VideoEncoder.Settings) -> Void] = [
            { $0.layout = FrameLayout(width: 0, height: 48) },
            { $0.layout = FrameLayout(width: 64, height: 48, bits: 9) },
            { $0.unitsPerSecond = .init(0) }, { $0.framesPerSecond = .init(30, of: 0) },
            { $0.unitsPerSecond = .init(Int.max) }, { $0.options.append(("no-such-option", "1")) },
            { $0.pixelsMax = 64 * 48 - 1 },
        ]
        for (index, change) in changes.enumerated() {
            let error = #expect(throws: CodecError.self, "\(index)") { try open(change) }
            #expect(error?.kind == .unsupported, "\(index)")
        }
    }
}

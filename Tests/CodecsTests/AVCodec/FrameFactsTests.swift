import Codecs
import MinilabTesting
import Testing

@Suite("Frames of a movie") struct FrameFactsTests {
    private static func made(_ name: String) throws -> MadeMovie {
        try #require(MadeMovie.all.first { $0.name == name })
    }

    @Test(arguments: [
        ("H.264 full range", FrameLayout(width: 208, height: 120, isFullRange: true)),
        ("H.264 4:2:2 10 bit", FrameLayout(width: 208, height: 120, bits: 10, chromaShift: (1, 0))),
        ("H.264 4:4:4, odd size", FrameLayout(width: 207, height: 119, chromaShift: (0, 0))),
        (
            "HEVC 4:4:4 12 bit, odd size",
            FrameLayout(width: 207, height: 119, bits: 12, chromaShift: (0, 0))
        ),
        (
            "HEVC grey 10 bit",
            FrameLayout(width: 208, height: 120, bits: 10, hasChroma: false, chromaShift: (0, 0))
        ),
        (
            "Motion JPEG 4:2:2",
            FrameLayout(width: 208, height: 120, chromaShift: (1, 0), matrix: 5, isFullRange: true)
        ),
        ("ProRes 4444", FrameLayout(width: 208, height: 120, bits: 12, chromaShift: (0, 0))),
        ("AV1 10 bit with film grain", FrameLayout(width: 208, height: 120, bits: 10)),
    ])
    func `say bits, chroma and range`(name: String, expected: FrameLayout) throws {
        let folder = try TemporaryFolder()
        let movie = try DecodedMovie(path: try Self.made(name).made(in: folder, frames: 2))
        try movie.decode { frame in
            let found = frame.layout
            #expect((found.width, found.height) == (expected.width, expected.height))
            #expect(found.bits == expected.bits && found.hasChroma == expected.hasChroma)
            #expect(found.chromaShift == expected.chromaShift)
            if let isFullRange = expected.isFullRange { #expect(found.isFullRange == isFullRange) }
            if let matrix = expected.matrix { #expect(found.matrix == matrix) }
            #expect(frame.planes.count == (expected.hasChroma ? 3 : 1) && !frame.hasAlpha)
            #expect(!frame.isInterlaced)
        }
    }

    @Test func `say where alpha was left out, and where rows are those of fields`() throws {
        let folder = try TemporaryFolder()
        let alpha = try Self.made("ProRes 4444 with alpha").made(in: folder, frames: 1)
        try DecodedMovie(path: alpha).decode { #expect($0.hasAlpha && $0.planes.count == 3) }
        for name in ["H.264 of fields", "MPEG-4 of fields", "ProRes 422 HQ of fields"] {
            let path = try Self.made(name).made(in: folder, frames: 2)
            try DecodedMovie(path: path).decode { #expect($0.isInterlaced, "\(name)") }
        }
    }

    @Test func `of green, blue and red say so`() throws {
        let folder = try TemporaryFolder()
        for name in ["HEVC of green, blue and red", "H.264 lossless RGB"] {
            let path = try Self.made(name).made(in: folder, frames: 1)
            try DecodedMovie(path: path).decode { #expect($0.layout.matrix == 0, "\(name)") }
        }
    }

    @Test func `say their colours where the stream does`() throws {
        let folder = try TemporaryFolder()
        let made = MadeMovie(
            "HLG",
            MadeMovie.hevc
                // Of the frames: ffmpeg 7 does not hand the options of the same names to an encoder.
                + " -pix_fmt yuv420p10le -vf setparams=color_primaries=bt2020:color_trc=arib-std-b67:colorspace=bt2020nc:range=tv"
        )
        try DecodedMovie(path: try made.made(in: folder, frames: 1)).decode { frame in
            let layout = frame.layout
            #expect([layout.primaries, layout.transfer, layout.matrix] == [9, 18, 9])
            #expect(layout.isFullRange == false)
        }
    }

    @Test(arguments: MadeMovie.all)
    func `beyond the limit are refused`(made: MadeMovie) throws {
        let folder = try TemporaryFolder()
        let movie = try DecodedMovie(path: try made.made(in: folder, frames: 2))
        #expect(throws: CodecError.self) {
            try movie.decode(limits: .init(pixelsMax: 200 * 100)) { _ in }
        }
    }
}

import Codecs
import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("The codec of a movie") struct MovieCodecTests {
    /// A sample description with boxes.
    private static func entry(
        _ format: String, width: Int = 640, height: Int = 360, _ boxes: [UInt8] = []
    ) -> [UInt8] {
        var entry = Bytes.big(86 + boxes.count) + Array(format.utf8)
        entry += [UInt8](repeating: 0, count: 24) + Bytes.big(width, 2) + Bytes.big(height, 2)
        entry += [UInt8](repeating: 0, count: 86 - entry.count)
        return entry + boxes
    }

    @Test(arguments: [
        ("bt601.mp4", MovieCodec.Kind.h264, 360, 240), ("h265_bframes.mp4", .hevc, 854, 480),
        ("edit_list_positive_shift.mp4", .h264, 1920, 1080),
    ])
    func `is read with its parameter sets, which are written alike`(
        name: String, kind: MovieCodec.Kind, width: Int, height: Int
    ) throws {
        let path = try #require(MovieFiles.own.first { $0.hasSuffix(name) })
        let codec = try DecodedMovie(path: path).codec
        #expect(codec.kind == kind && codec.isInterlaced != true)
        #expect((codec.width, codec.height) == (width, height))
        guard kind == .h264 else { return }
        // One set of each kind, behind their lengths.
        let bytes = codec.configuration
        let first = 8 + bytes.number(at: 6, 2)
        let second = first + 3 + bytes.number(at: first + 1, 2)
        let sets = [Array(bytes[8..<first]), Array(bytes[(first + 3)..<second])]
        let written = try #require(AVCConfiguration(parameterSets: sets)).bytes
        // The reserved bits and the extension may be missing where others write.
        #expect(written.prefix(second).elementsEqual(bytes.prefix(second)))
        if bytes.count > second { #expect(written == bytes) }
    }

    @Test func `says its colours, fields, pixels and what of them is meant to be seen`() throws {
        let numbers = Bytes.big(9, 2) + Bytes.big(18, 2) + Bytes.big(2, 2)
        let boxes =
            Bytes.box("colr", Array("prof".utf8) + [1, 2, 3])
            + Bytes.box("colr", Array("nclx".utf8) + numbers + [0x80])
            + Bytes.box("fiel", [2, 9]) + Bytes.box("pasp", Bytes.big(4) + Bytes.big(3))
            + Bytes.box("clap", [600, 1, 300, 1, -8, 2, 0, 1].flatMap { Bytes.big($0) })
        let codec = try MovieCodec(entry: Self.entry("apch", boxes + [0, 0, 0, 0]))
        #expect(codec.kind == .prores && codec.configuration.isEmpty)
        #expect(
            codec.colour
                == MovieColour(primaries: 9, transfer: 18, matrix: nil, isFullRange: true))
        #expect(codec.isInterlaced == true)
        #expect(codec.pixelAspect == .init(horizontal: 4, vertical: 3))
        #expect(codec.cleanAperture?.width == 600 && codec.cleanAperture?.horizontalOffset == -4)
    }

    @Test func `says no range where QuickTime does not`() throws {
        let numbers = Bytes.big(1, 2) + Bytes.big(1, 2) + Bytes.big(6, 2)
        for kind in ["nclc", "nclx"] {
            let codec = try MovieCodec(
                entry: Self.entry("apcn", Bytes.box("colr", Array(kind.utf8) + numbers)))
            #expect(
                codec.colour
                    == MovieColour(primaries: 1, transfer: 1, matrix: 6, isFullRange: nil))
            #expect(codec.isInterlaced == nil && codec.pixelAspect == nil)
        }
    }

    @Test func `of MPEG-4 is in a tree of descriptors`() throws {
        func esds(_ type: UInt8) -> [UInt8] {
            let specific: [UInt8] = [5, 0x80, 0x80, 3, 7, 8, 9]
            let decoder = [4, UInt8(13 + specific.count), type] + [UInt8](repeating: 0, count: 12)
            let content = [0, 1, 0] + decoder + specific
            return Bytes.box("esds", [0, 0, 0, 0, 3, UInt8(content.count)] + content + [6, 1, 2])
        }
        let codec = try MovieCodec(entry: Self.entry("mp4v", esds(0x20)))
        #expect(codec.kind == .mpeg4 && codec.configuration == [7, 8, 9])
        #expect(try MovieCodec(entry: Self.entry("mp4v", esds(0x6C))).kind == .mjpeg)
        let problem = #expect(throws: MovieProblem.self) {
            try MovieCodec(entry: Self.entry("mp4v", esds(0x61)))
        }
        #expect(problem?.kind == .unsupported && problem?.description.contains("97") == true)
    }

    @Test(arguments: ["dvh1", "dvhe"])
    func `may be HEVC with Dolby Vision, but for the profile whose colours are its own`(
        format: String
    ) throws {
        func boxes(profile: UInt8) -> [UInt8] {
            Bytes.box("hvcC", [UInt8](repeating: 1, count: 23))
                + Bytes.box("dvcC", [1, 0, profile << 1, 0x25, 0x40])
        }
        let codec = try MovieCodec(entry: Self.entry(format, boxes(profile: 8)))
        #expect(codec.kind == .hevc && codec.extras == [.dolbyVision])
        let problem = #expect(throws: MovieProblem.self) {
            try MovieCodec(entry: Self.entry(format, boxes(profile: 5)))
        }
        #expect(problem?.kind == .unsupported && problem?.description.contains("profile 5") == true)
    }

    @Test func `that is not read here is named`() {
        let problem = #expect(throws: MovieProblem.self) {
            try MovieCodec(entry: Self.entry("SVQ3"))
        }
        #expect(problem?.kind == .unsupported && problem?.description.contains("SVQ3") == true)
    }

    @Test(arguments: ["avc1", "hvc1", "av01", "mp4v"])
    func `without its configuration is damaged, and so is one that is cut off`(format: String) {
        let name = ["avc1": "avcC", "hvc1": "hvcC", "av01": "av1C", "mp4v": "esds"][format] ?? ""
        for boxes in [[], Bytes.box(name, [1, 2, 3])] {
            let problem = #expect(throws: MovieProblem.self) {
                try MovieCodec(entry: Self.entry(format, boxes))
            }
            #expect(problem?.kind == .damaged && problem?.description.contains(name) == true)
        }
    }

    @Test func `holds frames back where they are shown in another order`() {
        func depth(_ times: [Int]) -> Int {
            SampleTable(
                sizes: times.map { _ in 1 }, chunks: [], decodeTimes: Array(times.indices),
                times: times, lastDuration: 1, syncSamples: [0]
            ).reorderDepth
        }
        #expect(depth([0, 1, 2, 3]) == 0)
        #expect(depth([0, 3, 1, 2, 6, 4, 5]) == 1)
        #expect(depth([0, 4, 2, 1, 3]) == 2)
        #expect(depth((0..<100).reversed()) == 16)
    }

    @Test func `has no parameter sets where units are none, or contradict themselves`() {
        let picture: [UInt8] = [0x68, 0xEE]
        for sequence: [UInt8] in [
            [], [0x67], [0x67, 100, 0], [0x67, 100, 0, 40], [0x67, 100, 0, 40, 0, 0, 0, 0, 0],
            [0x65, 66, 0, 30],
        ] {
            #expect(AVCConfiguration(parameterSets: [sequence, picture]) == nil)
        }
        #expect(AVCConfiguration(parameterSets: [[0x67, 66, 0, 30, 1]]) == nil)
        let plain = AVCConfiguration(parameterSets: [[0x67, 66, 0, 30, 1], picture])
        #expect(
            plain?.bytes == [
                1, 66, 0, 30, 0xFF, 0xE1, 0, 5, 0x67, 66, 0, 30, 1, 1, 0, 2, 0x68, 0xEE,
            ])
    }

    @Test func `tells of Dolby Vision and of a second view`() throws {
        let plain = Bytes.box("pasp", Bytes.big(1) + Bytes.big(1))
        #expect(try MovieCodec(entry: Self.entry("vp09", plain)).extras.isEmpty)
        let dolby = Bytes.box("dvvC", [1])
        #expect(try MovieCodec(entry: Self.entry("vp09", plain + dolby)).extras == [.dolbyVision])
        let both = dolby + Bytes.box("vexu", [])
        #expect(
            try MovieCodec(entry: Self.entry("vp09", both)).extras == [.dolbyVision, .secondView])
    }

    @Test func `has a decoder in this build, whichever it is`() throws {
        let folder = try TemporaryFolder()
        for kind in MovieCodec.Kind.allCases {
            #expect(VideoDecoder.Codec(rawValue: kind.decoderName) != nil, "\(kind)")
        }
        let kinds = try MadeMovie.all.map { try DecodedMovie(path: $0.made(in: folder, frames: 1)) }
            .map(\.codec.kind)
        #expect(Set(kinds) == Set(MovieCodec.Kind.allCases))
    }
}

import Edits
import PhotoFiles
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// The colours of a movie, as ffprobe reads them from its decoded frames: players believe the stream, and not only the container.
@Suite("Colours of movies") struct MovieColourTests {
    /// How a source is coded.
    struct Source: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let options: String
        /// The colours that frames state, in ffprobe's words; nil for none.
        var colours: Colours?
        /// Size, frames a second and seconds.
        var picture = "208x120:rate=25:duration=0.2"
        /// Whether the stream states a mastering display.
        var light = false

        func make(in folder: TemporaryFolder) throws -> String {
            let path = folder.file("in.mp4")
            try TestMovie.make(path, of: picture, options + (colours.map { " " + $0.filter } ?? ""))
            return path
        }
    }

    struct Colours: Sendable {
        var primaries = "bt2020"
        let transfer: String
        var space = "bt2020nc"
        var range = "tv"

        /// An encoder takes them from its frames: ffmpeg 7 leaves the options of the same names aside.
        var filter: String {
            "-vf setparams=color_primaries=\(primaries):color_trc=\(transfer):colorspace=\(space):range=\(range)"
        }

        var stated: [String: String] {
            [
                "color_primaries": primaries, "color_transfer": transfer, "color_space": space,
                "color_range": range,
            ]
        }
    }

    /// Options of an encoder, and what an edit leaves out.
    private static let streams: [(options: String, leftOut: [Companion]?)] = [
        ("-c:v libx264 -pix_fmt yuv420p -flags +ilme+ildct -x264-params tff=1", [.fields]),
        ("-c:v mpeg4 -flags +ilme+ildct -top 1", [.fields]),
        ("-c:v libx264 -pix_fmt yuv420p", nil),
        ("-c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le -f mov", [.alpha]),
        ("-c:v prores_ks -profile:v 4444 -pix_fmt yuv444p10le -f mov", nil),
    ]

    @Test(arguments: streams)
    func `fields and alpha of which only the stream tells are left out by name`(
        options: String, leftOut: [Companion]?
    ) throws {
        let folder = try TemporaryFolder()
        let source = Source(
            testDescription: options, options: options,
            picture: "208x120:rate=25:duration=0.08")
        let path = try source.make(in: folder)
        let photo = try OpenedPhoto(
            PhotoFile(at: path),
            recipe: Recipe(filters: [Filter("CISepiaTone")], output: .init(format: nil)),
            limits: .init(), resources: Resources(folder: nil))
        #expect(try Photo(photo).plan.leftOut == leftOut)
    }

    private static let light =
        "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400"
    private static let sources = [
        Source(
            testDescription: "HEVC in PQ with its light, in two parts",
            options:
                "-c:v libx265 -tag:v hvc1 -pix_fmt yuv420p10le -g 2 -x265-params log-level=none:pools=none:hdr10=1:repeat-headers=1:\(light)",
            colours: Colours(transfer: "smpte2084"),
            picture: "208x120:rate=2:duration=17", light: true),
        Source(
            testDescription: "HEVC in HLG",
            options:
                "-c:v libx265 -tag:v hvc1 -pix_fmt yuv420p10le -x265-params log-level=none:pools=none",
            colours: Colours(transfer: "arib-std-b67")),
        Source(
            testDescription: "H.264 of a phone",
            options: "-c:v libx264 -pix_fmt yuvj420p",
            colours: Colours(
                primaries: "smpte432", transfer: "bt709", space: "smpte170m", range: "pc")),
        Source(
            testDescription: "H.264 of 8 bits in PQ",
            options: "-c:v libx264 -pix_fmt yuv420p", colours: Colours(transfer: "smpte2084")),
        Source(
            testDescription: "AV1 in PQ",
            options: "-c:v libaom-av1 -cpu-used 8 -pix_fmt yuv420p10le",
            colours: Colours(transfer: "smpte2084")),
        Source(
            testDescription: "VP9 whose container alone states the colours",
            options: "-c:v libvpx-vp9 -pix_fmt yuv420p10le",
            colours: Colours(transfer: "arib-std-b67")),
        Source(testDescription: "nothing stated", options: "-c:v libx264 -pix_fmt yuv420p"),
    ]

    /// The stated colours and light of each frame, as ffprobe names them; the container's words where the stream says nothing.
    private func stated(_ path: String) throws -> [[String: String]] {
        let text = try Tool.run(
            "ffprobe",
            [
                "-v", "quiet", "-select_streams", "v", "-show_frames", "-show_streams", "-of",
                "json", path,
            ])
        let found = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
        let stream = (found["streams"] as? [[String: Any]])?.first ?? [:]
        return (found["frames"] as? [[String: Any]] ?? []).map { frame in
            var words: [String: String] = [:]
            for name in ["color_primaries", "color_transfer", "color_space", "color_range"] {
                let facts = [frame[name], stream[name]].compactMap { $0 as? String }
                words[name] = facts.first { $0 != "unknown" }
            }
            for side in frame["side_data_list"] as? [[String: Any]] ?? [] {
                guard let type = side["side_data_type"] as? String,
                    type.hasPrefix("Mastering") || type.hasPrefix("Content")
                else { continue }
                words[type] = side.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: ", ")
            }
            return words
        }
    }

    @Test(arguments: sources)
    func `are stated by each frame as by the source's`(_ source: Source) throws {
        let folder = try TemporaryFolder()
        let path = try source.make(in: folder)
        let made = try RenderedMovie(path, [try Filter("CIExposureAdjust", ["inputEV": 0.01])])
        let result = folder.file("out.mp4")
        try Data(made.bytes).write(to: URL(filePath: result))
        let (before, after) = (try stated(path), try stated(result))
        #expect(!before.isEmpty && after.count == before.count)
        let words = before.first?.filter { $0.key.hasPrefix("color_") }
        if let colours = source.colours { #expect(words == colours.stated) }
        #expect((before.first?["Mastering display metadata"] != nil) == source.light)
        for (old, new) in zip(before, after) {
            // The matrix and the range are stated also where the source states none.
            for (name, fact) in new where old[name] == nil {
                #expect(
                    (name == "color_space" && fact == "smpte170m")
                        || (name == "color_range" && fact == "tv"), "\(name) is \(fact)")
            }
            for (name, fact) in old { #expect(new[name] == fact, "\(name)") }
        }
    }

    /// 601 is the default up to 576 lines, and 709 beyond.
    @Test func `keep their matrix when frames become larger than the size that implies it`() throws
    {
        let folder = try TemporaryFolder()
        let path = try #require(Self.sources.last).make(in: folder)
        let made = try RenderedMovie(
            path, [try Filter("CILanczosScaleTransform", ["scale": 6])])
        let result = folder.file("out.mp4")
        try Data(made.bytes).write(to: URL(filePath: result))
        #expect(made.movie.video.frameSize.height == 720)
        for frame in try stated(result) { #expect(frame["color_space"] == "smpte170m") }
    }

    /// The boxes `mdcv` and `clli` are the container's words for both SEI messages.
    @Test(arguments: [("AV1 in PQ", "av01"), ("H.264 of 8 bits in PQ", "avc1")])
    func `light that the container alone states is stated by each key frame`(
        name: String, entry: String
    ) throws {
        let folder = try TemporaryFolder()
        let path = try #require(Self.sources.first { $0.testDescription == name })
            .make(in: folder)
        let boxed = folder.file("boxed.mp4")
        let display: [UInt8] = [
            0x33, 0xC2, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x84, 0xD0, 0x3E, 0x80, 0x3D, 0x13,
            0x40, 0x42, 0, 0x98, 0x96, 0x80, 0, 0, 0, 1,
        ]
        let boxes =
            [0, 0, 0, 32] + Array("mdcv".utf8) + display + [0, 0, 0, 12] + Array("clli".utf8)
            + [3, 232, 1, 144]
        let original = [UInt8](try Data(contentsOf: URL(filePath: path)))
        try Data(Self.adding(boxes, to: entry, of: original)).write(to: URL(filePath: boxed))
        let made = try RenderedMovie(boxed, [try Filter("CISepiaTone")])
        let result = folder.file("out.mp4")
        try Data(made.bytes).write(to: URL(filePath: result))
        // ffprobe 5.1 shows these messages of H.265 alone; ffmpeg reads those of both codecs.
        let read = try Tool.run(
            "sh",
            [
                "-c",
                "ffmpeg -nostdin -v trace -i '\(result)' -c copy -bsf:v trace_headers -f null - 2>&1",
            ])
        let numbers = String(decoding: read, as: UTF8.self).split(separator: "\n")
            .filter {
                $0.contains(" = ") && ($0.contains("_luminance") || $0.contains("_light_level"))
            }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
        #expect(Set(numbers) == ["10000000", "1", "1000", "400"], "\(numbers)")
    }

    /// Adds boxes to the sample description of the only track of a movie whose `moov` is last, so that no offset changes.
    private static func adding(
        _ boxes: [UInt8], to entry: String, of movie: [UInt8]
    ) -> [UInt8] {
        var movie = movie
        var at: [Int] = []
        func find(_ type: String, in range: Range<Int>) -> Range<Int>? {
            var offset = range.lowerBound
            while offset + 8 <= range.upperBound {
                let length = movie[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
                guard length >= 8 else { return nil }
                if Array(movie[offset + 4..<offset + 8]) == Array(type.utf8) {
                    at.append(offset)
                    return offset + 8..<offset + length
                }
                offset += length
            }
            return nil
        }
        var range = 0..<movie.count
        for (type, skipped) in [
            ("moov", 0), ("trak", 0), ("mdia", 0), ("minf", 0), ("stbl", 0), ("stsd", 8),
            (entry, 78),
        ] {
            guard let found = find(type, in: range) else { return movie }
            range = found.lowerBound + skipped..<found.upperBound
        }
        movie.insert(contentsOf: boxes, at: range.upperBound)
        for offset in at {
            let length = movie[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } + boxes.count
            for index in 0..<4 {
                movie[offset + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
            }
        }
        return movie
    }
}

import Edits
import PhotoFiles
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// Movies of all codecs that are read, made by ffmpeg: what a plan says of samples has to be what frames have.
@Suite("Codecs of movies") struct MovieDepthTests {
    /// A coding, and what is planned for it.
    struct Coding: Sendable, CustomTestStringConvertible {
        let name: String
        let options: String
        var size = "208:120"
        var planned: Recipe.Movie.Codec = .h264
        var testDescription: String { name + " " + size }
    }

    private static func h264(
        _ name: String, _ format: String, _ size: String = "208:120",
        _ planned: Recipe.Movie.Codec = .h264
    ) -> Coding {
        Coding(
            name: name, options: "-c:v libx264 -preset veryfast -pix_fmt " + format, size: size,
            planned: planned)
    }

    private static func hevc(
        _ name: String, _ format: String, _ size: String = "208:120"
    ) -> Coding {
        let options = "-c:v libx265 -tag:v hvc1 -x265-params log-level=none:pools=none -pix_fmt "
        return Coding(name: name, options: options + format, size: size, planned: .hevc)
    }

    private static let deepAV1 = Coding(
        name: "AV1 of 10 bits", options: "-c:v libaom-av1 -cpu-used 8 -pix_fmt yuv420p10le",
        planned: .hevc)

    private static let codings: [Coding] = [
        h264("H.264", "yuv420p"),
        h264("H.264 4:4:4 of 8 bits", "yuv444p", "207:119"),
        h264("H.264 4:2:2 of 8 bits", "yuv422p", "206:119"),
        h264("H.264 of 10 bits", "yuv422p10le", "208:120", .hevc),
        hevc("HEVC", "yuv420p"),
        hevc("HEVC 4:4:4", "yuv444p", "207:119"),
        hevc("HEVC of 10 bits", "yuv420p10le"),
        Coding(name: "MPEG-4", options: "-c:v mpeg4 -q:v 4"),
        Coding(
            name: "Motion JPEG", options: "-c:v mjpeg -q:v 4 -pix_fmt yuvj444p", size: "207:119"),
        Coding(
            name: "ProRes", options: "-c:v prores_ks -profile:v 0 -pix_fmt yuv422p10le",
            planned: .hevc),
        Coding(
            name: "ProRes 4444", options: "-c:v prores_ks -profile:v 4444 -pix_fmt yuv444p10le",
            planned: .hevc),
        Coding(name: "VP9", options: "-c:v libvpx-vp9 -pix_fmt yuv420p"),
        Coding(
            name: "VP9 of 10 bits", options: "-c:v libvpx-vp9 -pix_fmt yuv420p10le",
            planned: .hevc),
        Coding(name: "AV1", options: "-c:v libaom-av1 -cpu-used 8 -pix_fmt yuv420p"),
        deepAV1,
    ]

    private func made(_ coding: Coding, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("in.mp4")
        try TestMovie.make(
            path, of: "208x120:rate=25,format=yuv444p,crop=\(coding.size):0:0:exact=1",
            "-frames:v 4 \(coding.options) -f "
                + (coding.name.hasPrefix("ProRes") ? "mov" : "mp4"))
        return path
    }

    /// A confined child has the calls that decoders and encoders make; those of x264 and x265 for several threads are not needed.
    @Test(arguments: codings)
    func `are read and written by a confined child as they are planned`(_ coding: Coding) throws {
        let folder = try TemporaryFolder()
        let path = try made(coding, in: folder)
        let child = try Child()
        for filter in [
            try Filter("CISepiaTone"), try Filter("CIGaussianBlur", ["inputRadius": 2]),
        ] {
            var files = RenderFiles(sources: [try OpenFile(reading: path)])
            let recipe = try Recipe(filters: [filter])
            func ask(_ work: RenderRequest.Work) throws -> RenderReply.Content? {
                try child.ask(Order(work: work, files: files))
            }
            let inspected = try ask(.inspect(PhotoRequest(recipe: recipe, limits: .init())))
            guard case .inspected(let found) = inspected else {
                Issue.record("\(String(describing: inspected))")
                return
            }
            #expect(found.plan.movie?.codec == coding.planned)
            let part = try OpenFile.inMemory(name: "a part")
            let result = try OpenFile.inMemory(name: "the movie")
            files.outputs = [part]
            let rendered = try ask(
                .render(
                    PhotoRequest(
                        recipe: recipe, limits: .init(), outputs: [.init(segment: 0)])))
            guard case .rendered = rendered else {
                Issue.record("\(String(describing: rendered))")
                return
            }
            (files.segments, files.outputs) = ([part], [result])
            let joined = try ask(.render(PhotoRequest(recipe: recipe, limits: .init())))
            guard case .rendered = joined else {
                Issue.record("\(String(describing: joined))")
                return
            }
            let movie = try #require(try MovieFile(PhotoFile(result), limits: RenderLimits()))
            let size = movie.movie.video.frameSize
            #expect(found.plan.resultSize == PixelSize(width: size.width, height: size.height))
            #expect(size.width.isMultiple(of: 2) && size.height.isMultiple(of: 2))
            #expect((movie.codec.kind == .hevc) == (coding.planned == .hevc))
            let written = movie.sampling()
            #expect(found.plan.output.chroma == written.chroma)
            #expect(found.plan.output.bitDepth == written.bits)
        }
    }

    /// The plan counts on what the tables say: memory, time and codec.
    @Test func `whose tables say other bits than frames have are damaged`() throws {
        let folder = try TemporaryFolder()
        let path = try made(Self.deepAV1, in: folder)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let at = try #require(bytes.firstRange(of: Array("av1C".utf8))?.upperBound)
        #expect(bytes[at + 2] & 0x40 != 0)
        bytes[at + 2] &= ~0x40
        try Data(bytes).write(to: URL(filePath: path))
        let failure = #expect(throws: Failure.self) {
            try RenderedMovie(path, [try Filter("CISepiaTone")])
        }
        #expect(failure?.code == .damagedVideo)
        #expect(failure?.message.contains("10 bits") == true)
    }
}

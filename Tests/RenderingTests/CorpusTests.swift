import Edits
import Foundation
import RenderProtocol
import Testing

@testable import Rendering

/// A folder of real photos, when the environment names one: `MINILAB_CORPUS=/folder` with `photos/` in it.
@Suite("Corpus", .enabled(if: Studio.corpus != nil)) struct CorpusTests {
    private static let folders = [
        "avif", "gif", "heic", "jpeg", "jxl", "orientation", "png", "raw", "tiff", "webp",
    ]

    /// Files that are meant to fail, and how. All others are meant to render.
    private static let failing: [String: FailureCode] = [
        // A ProRAW that was cut down to its metadata.
        "raw/IMG_1361.dng": .damagedPhoto
    ]

    /// Files that only newer libraries than those of Debian 12 read, and how the older ones refuse them.
    private static let refusedByOlder: [String: FailureCode] = [
        // Floats of 32 bits without compression, which LibRaw 0.20 does not know.
        "raw/14_hdr_sdr_profiles.dng": .unsupportedFormat
    ]

    private static let files: [String] = {
        guard let corpus = Studio.corpus else { return [] }
        return folders.flatMap { folder in
            // A corpus may have fewer folders.
            let names =
                (try? FileManager.default.contentsOfDirectory(atPath: corpus + "/photos/" + folder))
                ?? []
            return names.sorted().map { folder + "/" + $0 }
        }
    }()

    @Test(arguments: files)
    func `every photo renders upright, or fails as it is known to`(_ file: String) throws {
        let studio = try Studio()
        let path = try #require(Studio.corpus) + "/photos/" + file
        let filters = [try Filter("CISepiaTone", ["intensity": 0.5])]
        if let code = Self.failing[file] {
            let failure = #expect(throws: Failure.self) { try studio.render(path, filters) }
            #expect(failure?.code == code)
            return
        }
        let report: TestRender
        do {
            report = try studio.render(path, filters, format: .jpeg)
        } catch let failure as Failure where failure.code == Self.refusedByOlder[file] {
            return
        }
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.width == report.output.size.width)
        #expect(picture.height == report.output.size.height)
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-n", "-G1")
        #expect(tags["IFD0:Orientation"].map { $0 == "1" } ?? true)
        #expect(
            tags["ExifIFD:ExifImageWidth"].map { $0 == "\(report.output.size.width)" } ?? true)
        #expect(tags.keys.allSatisfy { !$0.hasPrefix("IFD1") })
        let original = try Exiftool.tags(of: path, "-n", "-G1")
        // What the camera is must survive, from whatever container.
        if let model = original["IFD0:Model"] { #expect(tags["IFD0:Model"] == model) }
    }
}

import Edits
import PhotoFiles
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("What a movie says of itself") struct MovieStripTests {
    /// Names of exiftool's tags, each once.
    private func tags(_ movie: RenderedMovie) throws -> Set<String> {
        let folder = try TemporaryFolder()
        let path = folder.file("movie.mov")
        try Data(movie.bytes).write(to: URL(filePath: path))
        let text = try Tool.run("exiftool", ["-ee", "-a", "-s", path])
        return Set(
            String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap {
                $0.split(separator: " ").first.map(String.init)
            })
    }

    private func locations(_ tags: Set<String>) -> Set<String> {
        tags.filter { tag in ["GPS", "Location", "Direction"].contains { tag.contains($0) } }
    }

    /// The fixture has one, in user data as 3GPP has it; of the corpus whatever has one.
    @Test func `has no location after strip gps, and all else`() throws {
        var paths = [RenderedMovie.fixture("bt601.mp4")]
        if let corpus = Studio.corpus {
            paths += [
                "video/Jellyfish.mov", "video/hlg10-color-test.mp4",
                "video/sample_with_color_info.mp4", "photos/aae/IMG_3582/IMG_3582.mov",
            ].map { corpus + "/" + $0 }
        }
        for path in paths {
            let before = try tags(RenderedMovie(path, []))
            #expect(!locations(before).isEmpty, "\(path)")
            for filters in [[], [try Filter("CIExposureAdjust")]] {
                let movie = try RenderedMovie(path, filters, Recipe.Output(strip: .gps))
                let after = try tags(movie)
                #expect(locations(after).isEmpty, "\(path): \(locations(after))")
                let gone = before.subtracting(after).subtracting(locations(before))
                #expect(
                    gone.isSubset(of: [
                        "CompressorName", "ColorProfiles", "AverageBitrate", "MaxBitrate",
                        "BufferSize",
                    ]),
                    "\(path): \(gone)")
                #expect(movie.movie.tracks.count == movie.original.tracks.count, "\(path)")
            }
        }
    }

    @Test func `is left out whole after strip all, but for what holds a Live Photo together`()
        throws
    {
        let path = RenderedMovie.fixture("bt601.mp4")
        let kept = try tags(RenderedMovie(path, [], Recipe.Output(strip: .all)))
        #expect(locations(kept).isEmpty)
        #expect(try tags(RenderedMovie(path, [])).contains("Encoder") && !kept.contains("Encoder"))
        guard let corpus = Studio.corpus else { return }
        let live = try RenderedMovie(
            corpus + "/photos/aae/IMG_3582/IMG_3582.mov", [], Recipe.Output(strip: .all))
        let tags = try tags(live)
        #expect(tags.contains("ContentIdentifier") && tags.contains("StillImageTime"))
        #expect(!tags.contains("Make") && !tags.contains("Model") && locations(tags).isEmpty)
    }
}

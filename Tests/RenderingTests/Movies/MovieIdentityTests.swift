import Edits
import PhotoFiles
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// Movies whose frames are coded anew and not edited: all that is not a frame has to be as it was.
@Suite("Movies coded anew") struct MovieIdentityTests {
    /// Movies of the repository, and of the corpus where it is named.
    private static let files = Volume.inputs(
        MovieCorpus.files(
            and: ["bt601.mp4", "h265_bframes.mp4", "edit_list_positive_shift.mp4"]), byDay: 12)

    /// Those of the corpus that are refused, and how.
    private static let refused: [String: FailureCode] = [
        "sample_fragmented.mp4": .unsupportedFormat,
        "sample_partially_fragmented.mp4": .unsupportedFormat,
        "mp4parse-bipbop_cbcs_video_init.mp4": .unsupportedFormat,
        "sample_malformed_free_box.mp4": .damagedVideo,
        "sample_missing_stsd.mp4": .damagedVideo,
        "sample_with_invalid_nalu.mp4": .damagedVideo,
        "mp4ff-init_truncated.mp4": .damagedVideo,
        // Without pictures, and cut off within them.
        "IMG_3582_edited.moov.mov": .damagedVideo,
        "mp4parse-invalid_userdata.mp4": .damagedVideo,
        "go-mp4-sample_qt.mp4": .damagedVideo,
        // Tables of 12 × 10 around frames of 10 × 12.
        "sample_with_fake_auxiliary_tracks.mp4": .damagedVideo,
    ]

    /// Tags of exiftool that state codec, offsets, sizes and rates of bits.
    private static let changing: Set<String> = [
        "CompressorID", "CompressorName", "MediaDataOffset", "MediaDataSize", "AvgBitrate",
        "AverageBitrate", "MaxBitrate", "BufferSize",
    ]

    @Test(arguments: files)
    func `keep times, packets of other tracks, and what they say of themselves`(
        path: String
    ) throws {
        var output = Recipe.Output()
        output.movie.quality = 0.3
        let name = URL(filePath: path).lastPathComponent
        if let code = Self.refused[name] {
            let failure = #expect(throws: Failure.self) { try RenderedMovie(path, [], output) }
            #expect(failure?.code == code)
            return
        }
        let result = try RenderedMovie(path, [], output)
        #expect(result.inspection.plan.movie?.codec != nil)
        let folder = try TemporaryFolder()
        let made = folder.file(name)
        try Data(result.bytes).write(to: URL(filePath: made))

        let (old, new) = (try MovieJudges.tracks(of: path), try MovieJudges.tracks(of: made))
        #expect(new.map(\.kind) == old.map(\.kind))
        var coded = 0
        for (old, new) in zip(old, new) where old != new {
            #expect(old.kind == "video", "a track of \(old.kind) has other packets")
            #expect(new.times == old.times)
            coded += 1
        }
        #expect(coded == 1)
        let grid = (result.original.samples.decodeTimes, result.movie.samples.decodeTimes)
        #expect(grid.0 == grid.1)

        let (before, after) = (
            try MovieJudges.sayings(of: path), try MovieJudges.sayings(of: made)
        )
        let others = Set(before).symmetricDifference(after).filter {
            !Self.changing.contains(MovieJudges.tag($0))
        }
        #expect(others.sorted() == [])
    }
}

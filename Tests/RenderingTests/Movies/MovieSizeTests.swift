import Edits
import PhotoFiles
import Files
import Foundation
import RenderProtocol
import Testing

@testable import Rendering

/// Frames that become larger than the source's.
@Suite("Movies of other sizes") struct MovieSizeTests {
    private static func plan(
        _ filters: [Filter], of name: String = "bt601.mp4"
    ) throws -> RenderPlan {
        try Renderer().inspect(
            PhotoRequest(recipe: Recipe(filters: filters), limits: RenderLimits()),
            RenderFiles(sources: [try OpenFile(reading: RenderedMovie.fixture(name))])
        ).plan
    }

    private static func scale(_ factor: Double) throws -> [Filter] {
        [try Filter("CILanczosScaleTransform", ["scale": .number(factor)])]
    }

    @Test func `are planned by the frames that an encoder holds back`() throws {
        let same = try #require(try Self.plan(Self.scale(1.01)).movie).segment
        let large = try #require(try Self.plan(Self.scale(8)).movie).segment
        // 52 frames of 2880 × 1920, and decoded ones as before.
        let frame = 2880 * 1920 * 3 / 2
        #expect(large.memoryBytes - same.memoryBytes > 50 * frame)
        #expect(large.cpuSeconds > 50 * same.cpuSeconds)
        let small = try #require(try Self.plan(Self.scale(0.25)).movie).segment
        #expect(small.memoryBytes < same.memoryBytes)
    }

    @Test(arguments: [(62, 48), (64, 14)])
    func `are refused where x265 has no memory for them`(width: Double, height: Double) throws {
        let crop = try Filter("CICrop", ["inputRectangle": .vector([0, 0, width, height])])
        let failure = #expect(throws: Failure.self) {
            try Self.plan([crop], of: "h265_bframes.mp4")
        }
        #expect(failure?.code == .invalidValue)
        #expect(try Self.plan([crop]).movie?.codec == .h264)
    }

    @Test func `are written by x265 from its least size on`() throws {
        let crop = try Filter("CICrop", ["inputRectangle": [0, 0, 64, 16]])
        let made = try RenderedMovie(RenderedMovie.fixture("h265_bframes.mp4"), [crop])
        #expect(made.movie.video.frameSize == (64, 16))
    }

    @Test(arguments: [50.0, 26]) func `are refused where no encoder takes them`(factor: Double) {
        let failure = #expect(throws: Failure.self) { try Self.plan(Self.scale(factor)) }
        #expect(failure?.code == .tooManyPixels)
    }
}

import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

@Suite("A motion photo") struct MotionPhotoEditTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[64]}}"#

    private func fixture(_ name: String) throws -> [UInt8] {
        return [UInt8](try Data(contentsOf: Repository.fixture(name)))
    }

    @Test func `is one asset, whose versions have an edited video, and can be undone`() async throws
    {
        let bench = try Workbench()
        let photo = SyntheticMotionPhoto(try fixture("Movies/bt601.mp4"))
        let original = Data(photo.file(of: try fixture("clouds.jpg")))
        let asset = try bench.put("PXL_1.MP.jpg", original)
        _ = try await bench.edit(asset, Self.sepia)
        let content = try #require(try await bench.current(asset)?.content)
        let rendering = try #require(content.rendering)
        #expect(rendering.motionVideo == .edited && rendering.companions.leftOut == nil)
        #expect(rendering.plan.contains("motion video: edited"))
        #expect(content.pairedVideo == nil)
        let shown = [UInt8](try await bench.shown(asset))
        let movie = try #require(shown.firstRange(of: photo.movie[4..<12]))
        #expect(movie.lowerBound > 0)

        // Another asset of the same bytes takes the render over, video and all.
        let other = try bench.put("PXL_2.MP.jpg", original)
        _ = try await bench.edit(other, Self.sepia)
        let taken = try #require(try await bench.current(other)?.content)
        #expect(taken.reusedFrom != nil && taken.rendering?.motionVideo == .edited)
        #expect(taken.render.sha256 == content.render.sha256)

        for mode in ["undo", "redo", "revert"] {
            guard case .made = try await bench.edit(asset, #"{"mode":"\#(mode)"}"#) else {
                Issue.record("\(mode) found nothing to do")
                return
            }
        }
        #expect(try await bench.shown(asset) == original)
        await bench.pool.close()
    }

    @Test func `whose frames are damaged is published without them, which its version says`()
        async throws
    {
        let bench = try Workbench()
        var photo = SyntheticMotionPhoto(try fixture("Movies/bt601.mp4"))
        // Behind the box of samples' header.
        let media = try #require(photo.movie.firstRange(of: Array("mdat".utf8))).upperBound
        photo.movie.replaceSubrange(
            media + 8..<media + 4_000, with: [UInt8](repeating: 0xFF, count: 3_992))
        let asset = try bench.put("a.jpg", Data(photo.file(of: try fixture("clouds.jpg"))))
        _ = try await bench.edit(asset, Self.sepia)
        let rendering = try #require(try await bench.current(asset)?.content?.rendering)
        #expect(rendering.companions.leftOut == [.motionVideo])
        #expect(rendering.motionVideo?.reason?.contains("cannot be decoded") == true)
        #expect(rendering.plan.contains { $0.hasPrefix("motion video: left out: ") })
        #expect(
            try await [UInt8](bench.shown(asset)).firstRange(of: Array("MotionPhoto".utf8)) == nil)
        await bench.pool.close()
    }
}

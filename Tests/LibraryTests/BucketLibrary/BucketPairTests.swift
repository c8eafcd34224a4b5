import Edits
import FoundationEssentials
import Library
import MinilabTesting
import Testing

@testable import BucketLibrary

@Suite("Pairs in a bucket") struct BucketPairTests {
    @Test func `videos of the still's name are found by one list`() async throws {
        let f = try BucketFixture(asset: "a/IMG_1.HEIC")
        for name in ["IMG_1.MOV", "IMG_1_HEVC.mov", "IMG_1.txt", "IMG_12.MOV", "IMG_1.MOV.bak"] {
            try f.memory.set("no movie", at: "originals/a/\(name)")
        }
        f.memory.resetCalls()
        let videos = try await f.library.pairedVideos(of: f.asset)
        #expect(videos.map(\.path.string) == ["a/IMG_1.MOV", "a/IMG_1_HEVC.mov"])
        #expect(videos.allSatisfy { $0.contentIdentifier == nil })
        #expect(f.memory.calls.count { $0.kind == .list } == 1)
        #expect(f.memory.calls.count { $0.kind == .get } == 2)
    }

    @Test func `the identifier of a movie is read in small ranges`() async throws {
        let f = try BucketFixture(asset: "a/IMG_1.HEIC")
        let movie = [UInt8](SyntheticLivePhoto.movie())
        try f.memory.set(bytes: movie, at: "originals/a/IMG_1.MOV")
        let videos = try await f.library.pairedVideos(of: f.asset)
        #expect(videos.map(\.contentIdentifier) == [SyntheticLivePhoto.identifier])
    }
}

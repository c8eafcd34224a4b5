import Edits
import FoundationEssentials
import MinilabTesting
import SystemPackage
import Testing

@testable import Library

@Suite("Videos beside a still") struct PairTests {
    private func put(_ f: LibraryFixture, _ name: String, _ data: Data) throws {
        try data.write(to: URL(filePath: f.library.originals.pushing(FilePath(name)).string))
    }

    @Test(arguments: [".MOV", ".mov", ".MP4", "_HEVC.MOV"])
    func `one of the same name is found, with its mark`(ending: String) async throws {
        let f = try LibraryFixture()
        try put(f, "2024/IMG_0001" + ending, SyntheticLivePhoto.movie())
        #expect(
            try await f.library.pairedVideos(of: f.asset) == [
                PairedVideo(
                    path: AssetPath("2024/IMG_0001" + ending),
                    contentIdentifier: SyntheticLivePhoto.identifier)
            ])
    }

    @Test func `one of another name, of another folder or a folder is none`() async throws {
        let f = try LibraryFixture()
        try put(f, "2024/IMG_0002.MOV", SyntheticLivePhoto.movie())
        try put(f, "IMG_0001.MOV", SyntheticLivePhoto.movie())
        try FileManager.default.createDirectory(
            atPath: f.library.originals.pushing("2024/IMG_0001.mov").string,
            withIntermediateDirectories: false)
        #expect(try await f.library.pairedVideos(of: f.asset) == [])
    }

    @Test func `a link that leads out of the library is none`() async throws {
        let f = try LibraryFixture()
        let outside = f.folder.file("outside.mov")
        try SyntheticLivePhoto.movie().write(to: URL(filePath: outside))
        try FileManager.default.createSymbolicLink(
            atPath: f.library.originals.pushing("2024/IMG_0001.MOV").string,
            withDestinationPath: outside)
        #expect(try await f.library.pairedVideos(of: f.asset) == [])
    }

    @Test func `a file that is no movie has no mark`() async throws {
        let f = try LibraryFixture()
        try put(f, "2024/IMG_0001.MOV", Data("not a movie".utf8))
        #expect(try await f.library.pairedVideos(of: f.asset).map(\.contentIdentifier) == [nil])
    }

    @Test func `a name that is too long with its ending is no error`() async throws {
        let f = try LibraryFixture(asset: String(repeating: "x", count: 255))
        #expect(try await f.library.pairedVideos(of: f.asset) == [])
    }
}

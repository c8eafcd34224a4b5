import Edits
import Foundation
import Library
import MinilabTesting
import Testing

@testable import Editing
@testable import RenderPool

@Suite("Media types") struct MediaTypeTests {
    private static let mark = SyntheticLivePhoto.identifier
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}]}"#

    @Test(arguments: [
        (nil, [], true), (nil, ["mark"], true), (nil, ["unreadable"], true),
        ("mark", [], true), ("mark", ["mark"], false), ("mark", ["unreadable"], false),
        ("mark", ["other"], true), ("mark", ["other", "mark"], false),
    ])
    func `a still is half of a Live Photo when a video has its name and not another's mark`(
        mark: String?, videos: [String], isPhoto: Bool
    ) throws {
        let videos = try videos.map { mark in
            PairedVideo(
                path: try AssetPath(mark + ".MOV"),
                contentIdentifier: mark == "unreadable" ? nil : mark)
        }
        let type = MediaType(contentIdentifier: mark, videos: videos)
        if isPhoto {
            #expect(type == .photo)
        } else {
            #expect(type == .livePhoto(video: try #require(videos.last).path))
        }
    }

    /// A library with a still, perhaps its video, and a video alone.
    private func bench(video: Data?) throws -> (Workbench, AssetPath) {
        let bench = try Workbench()
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        let asset = try bench.put("IMG_1.JPG", SyntheticLivePhoto.still(of: photo))
        if let video { try bench.put("IMG_1.MOV", video) }
        return (bench, asset)
    }

    @Test func `a still whose video is not there, or is another's, is a photo`() async throws {
        for video in [nil, SyntheticLivePhoto.movie(identifier: "other")] {
            let (bench, asset) = try bench(video: video)
            _ = try await bench.edit(asset, Self.sepia)
            #expect(try await bench.current(asset) != nil)
            await bench.pool.close()
        }
    }
}

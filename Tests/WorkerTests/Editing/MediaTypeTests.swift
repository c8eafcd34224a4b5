import Adjustments
import Foundation
import Library
import MinilabTesting
import Testing

@testable import Worker

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

    private func failure(_ bench: Workbench, _ asset: AssetPath, _ json: String) async -> Failure? {
        await #expect(throws: Failure.self) { try await bench.edit(asset, json) }
    }

    @Test func `the still of a Live Photo is not edited alone`() async throws {
        let (bench, asset) = try bench(video: SyntheticLivePhoto.movie())
        for json in [
            Self.sepia,
            #"{"mode":"append","filters":[{"name":"CISepiaTone"}]}"#,
            #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[64]}}"#,
        ] {
            let failure = await failure(bench, asset, json)
            #expect(failure?.code == .unsupportedMediaType, "\(json)")
            #expect(failure?.message.contains("IMG_1.MOV") == true)
        }
        #expect(try bench.current(asset) == nil)
        await bench.pool.close()
    }

    @Test func `a still whose video is not there, or is another's, is a photo`() async throws {
        for video in [nil, SyntheticLivePhoto.movie(identifier: "other")] {
            let (bench, asset) = try bench(video: video)
            _ = try await bench.edit(asset, Self.sepia)
            #expect(try bench.current(asset) != nil)
            await bench.pool.close()
        }
    }

    @Test func `an edit of before the video came can be taken back`() async throws {
        let (bench, asset) = try bench(video: nil)
        _ = try await bench.edit(asset, Self.sepia)
        try bench.put("IMG_1.MOV", SyntheticLivePhoto.movie())
        #expect(
            await failure(bench, asset, #"{"filters":[{"name":"CIColorInvert"}]}"#)?.code
                == .unsupportedMediaType)
        for mode in ["undo", "redo", "revert"] {
            guard case .made = try await bench.edit(asset, #"{"mode":"\#(mode)"}"#) else {
                Issue.record("\(mode) found nothing to do")
                return
            }
        }
        await bench.pool.close()
    }

    @Test func `a video is told from what cannot be read`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("IMG_2.MOV", SyntheticLivePhoto.movie())
        #expect(await failure(bench, asset, Self.sepia)?.code == .unsupportedMediaType)
        await bench.pool.close()
    }

    @Test(arguments: ["com.apple.video", "com.apple.video.slomo", "com.apple.video.new"])
    func `an edit of a video is not imported`(format: String) async throws {
        let (bench, asset) = try bench(video: nil)
        let json = """
            {"mode":"import","adjustmentData":{"formatIdentifier":"\(format)","formatVersion":"1.0",\
            "data":"AAAA"}}
            """
        let failure = await failure(bench, asset, json)
        #expect(failure?.code == .unsupportedMediaType, "\(failure?.message ?? "")")
        await bench.pool.close()
    }
}

import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import Library

/// Pictures of every lane and encoder, compared with committed digests.
///
/// The file of the digests names its `Engine.render`. A digest is found by the processor and the versions of the libraries that made the
/// picture, so a library's update is not taken for a change of ours. `ops/check` refuses another digest in the file under the same number.
@Suite("Digests of the engine's pictures") struct RenderDigestTests {
    private struct Known: Codable {
        var render: Int
        /// By case, then by processor and libraries.
        var digests: [String: [String: String]]
    }

    private static let file = Repository.fixture("Renders/digests.json")
    /// Set to write digests that are not known yet; all, if `Engine.render` is another one than the file's.
    private static let writes = ProcessInfo.processInfo.environment["MINILAB_WRITE_DIGESTS"] != nil

    private struct Case {
        let name: String
        var lane: String?
        let photo, edit: String
    }

    private static let cases: [Case] =
        [
            Case(
                name: "metadata", lane: "metadata", photo: "tulips.jpg",
                edit: #"{"filters":[],"output":{"metadata":{"creator":["Ada"]}}}"#),
            Case(
                name: "lossless", lane: "lossless", photo: "chrysanthemum.jpg",
                edit: #"{"filters":[{"name":"CICrop","rectangle":[0,0,1600,1512]}]}"#),
            Case(
                name: "planes of a Live Photo", lane: "planes", photo: "live.jpg",
                edit: #"{"filters":[{"name":"CISepiaTone"}]}"#),
            Case(
                name: "stream", lane: "stream", photo: "live.jpg",
                edit:
                    #"{"filters":[{"name":"CIGaussianBlur","inputRadius":3},{"name":"CIVibrance","inputAmount":0.5}]}"#
            ),
            Case(
                name: "spool", lane: "spool", photo: "live.jpg",
                edit: #"{"filters":[{"name":"turn","degrees":90}]}"#),
            Case(
                name: "movie", photo: "jellyfish.mov",
                edit: #"{"filters":[{"name":"CIColorInvert"}]}"#),
        ]
        + ["png", "tiff", "webp", "heic", "avif", "jxl"].map { format in
            Case(
                name: "to \(format)", photo: "sketch.png",
                edit:
                    #"{"filters":[{"name":"CISepiaTone"}],"output":{"format":"\#(format)"}}"#)
        }

    @Test func `a picture has other bytes only under another number of the render`()
        async throws
    {
        var known = try JSONDecoder().decode(Known.self, from: Data(contentsOf: Self.file))
        if Self.writes, known.render != Engine.render {
            known = Known(render: Engine.render, digests: [:])
        }
        #expect(
            known.render == Engine.render,
            "the committed digests are of render \(known.render), and Engine.render is \(Engine.render): MINILAB_WRITE_DIGESTS=1 writes them anew"
        )
        let bench = try Workbench()
        for name in Set(Self.cases.map(\.photo) + ["live.mov"]).sorted() {
            try bench.put(name, Data(contentsOf: Contract.folder.appending(path: "photos/\(name)")))
        }
        var compared = 0
        for each in Self.cases {
            let (digest, libraries) = try await picture(each, bench)
            let made = ([Self.processor] + libraries).joined(separator: ", ")
            switch known.digests[each.name]?[made] {
            case nil where Self.writes: known.digests[each.name, default: [:]][made] = digest
            case nil: print("\(each.name): no digest of \(made) is committed; it is \(digest) here")
            case digest: compared += 1
            case let other?:
                Issue.record(
                    "\(each.name): SHA-256 \(digest), committed is \(other). If these bytes are right, raise Engine.render and run this test with MINILAB_WRITE_DIGESTS=1"
                )
            }
        }
        if Self.writes {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try (encoder.encode(known) + Data("\n".utf8)).write(to: Self.file)
        } else {
            // What no library has a part in is the same everywhere.
            #expect(compared >= 2, "no picture of this machine is among the committed ones")
        }
    }

    private static var processor: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "another processor"
        #endif
    }

    /// Edits a photo from its original, and returns the digests of what is published, and the libraries that made it.
    private func picture(_ each: Case, _ bench: Workbench) async throws -> (String, [String]) {
        let asset = try AssetPath(each.photo)
        _ = try await bench.edit(asset, each.edit)
        let content = try #require(try await bench.current(asset)?.content, "\(each.name)")
        let plan = content.rendering?.plan ?? []
        if let lane = each.lane {
            #expect(plan.contains { $0.hasPrefix("lane: \(lane) ") }, "\(each.name): \(plan)")
        }
        let digests = [content.render.sha256] + (content.pairedVideo.map { [$0.sha256] } ?? [])
        let libraries = try #require(content.rendering?.libraries, "\(each.name)")
        return (
            digests.joined(separator: " "),
            libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        )
    }
}

import Edits
import Editors
import FoundationEssentials
import RenderProtocol

@testable import Editing
@testable import Library
@testable import RenderPool

/// Assets in states of all kinds, made of values alone.
enum PlanFixture {
    static let size = PixelSize(width: 400, height: 300)
    static let asset: AssetPath = {
        do { return try AssetPath("IMG_0001.JPG") } catch { preconditionFailure("\(error)") }
    }()

    static func sepia(_ intensity: Double = 0.8) throws -> Recipe {
        try Recipe(filters: [Filter("CISepiaTone", ["intensity": .number(intensity)])])
    }

    static func edit(_ json: String) throws -> Edit { try Edit(json: json) }

    static func content(
        _ recipe: Recipe?, hasBase: Bool = false, engine: String? = Engine.name,
        format: String = AdjustmentData.minilabFormatIdentifier, digest: String = "other",
        rendered: PixelSize = size
    ) -> Content {
        let input = Content.Input(sha256: "aa", format: "jpeg", size: size, orientation: 1)
        let data = AdjustmentData(formatIdentifier: format, formatVersion: "1.0", data: Data([1]))
        return Content(
            source: input,
            base: hasBase ? Content.Layer(name: "base/b.jpg", version: "1-1", input: input) : nil,
            adjustment: Content.Adjustment(
                sidecar: "IMG_0001.AAE", sidecarSHA256: "00", data), opened: nil,
            recipe: recipe, editDigest: digest,
            rendering: engine.map {
                Content.Rendering(
                    by: RenderOrigin(
                        engine: $0, render: $0 == Engine.name ? Engine.render : nil),
                    at: "2026-01-01T00:00:00Z", plan: [], wallMilliseconds: 1, cpuMilliseconds: 1,
                    peakMemoryBytes: 1)
            },
            render: Content.Image(
                name: "IMG_0001.jpg",
                MadeFile(
                    mediaType: "image/jpeg", size: rendered, bytes: 1,
                    sha256: "bb")))
    }

    static func version(
        _ name: String, mode: Edit.Name = .replace, isDraft: Bool = false,
        timeline: Timeline = .start, parent: String? = nil, _ content: Content?
    ) -> Provenance {
        Provenance(
            version: VersionName(name)!, parent: parent.flatMap { VersionName($0) },
            isDraft: isDraft, mode: mode,
            author: Provenance.Author(
                queue: "photos", job: "job", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"),
            timeline: timeline, content: content)
    }

    /// An asset that nobody edited.
    static let unedited = OpenAsset(asset: asset)

    /// An asset that shows a recipe of ours.
    static func edited(
        _ recipe: Recipe, hasBase: Bool = false, engine: String? = Engine.name,
        digest: String = "other", rendered: PixelSize = size
    ) -> OpenAsset {
        let content = content(
            recipe, hasBase: hasBase, engine: engine, digest: digest, rendered: rendered)
        return OpenAsset(
            asset: asset,
            state: AssetState(
                current: version(
                    "2-2", timeline: Timeline(state: "2-2", before: "1-1", redo: []), content)),
            answer: .canHandle(recipe))
    }

    /// An asset that shows an edit of somebody else.
    static func foreign(_ answer: EditorAnswer) -> OpenAsset {
        OpenAsset(
            asset: asset,
            state: AssetState(
                current: version("1-1", content(nil, engine: nil, format: "com.example.other"))),
            answer: answer)
    }
}

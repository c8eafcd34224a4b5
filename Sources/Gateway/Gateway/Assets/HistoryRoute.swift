import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import Library
import Operations

/// `GET /v1/history/{asset…}`.
enum HistoryRoute {
    /// A history as a key may see it: without workers, queue, and jobs of other tenants.
    private struct Answer: Encodable {
        let asset: AssetPath
        let versions: [Version]
        let undo, redo: History.Move
    }

    private struct Version: Encodable {
        let version: String
        let revision: Int
        let marks: [History.Mark]
        let mode: Edit.Name
        let at: String
        let job: String?
        let engine: String
        let render: Picture?
        let previews: [Preview]

        init(_ entry: History.Entry, _ key: AccessKey) {
            let provenance = entry.version
            version = provenance.version
            revision = provenance.revision
            marks = entry.marks
            mode = provenance.mode
            at = provenance.author.at
            job = key.shownID(of: provenance.author.job)
            engine = provenance.engineText
            render = (provenance.content?.render).map { Picture($0) }
            previews = (provenance.content?.previews ?? []).map {
                Preview(side: $0.longestSide, picture: Picture($0.image))
            }
        }
    }

    private struct Picture: Encodable {
        let mediaType: String
        let size: PixelSize
        let bytes: Int
        let sha256: String

        init(_ image: Content.Image) {
            (mediaType, size, bytes, sha256) =
                (image.mediaType, image.size, image.bytes, image.sha256)
        }
    }

    private struct Preview: Encodable {
        let side: Int
        let picture: Picture
    }

    static func get(_ call: Call) async throws -> Response {
        let (asset, key) = (try call.asset, try call.key)
        let history = try await call.hidingPaths(of: asset) {
            try await call.parts.library.versions(of: asset)
        }
        return try .json(
            Answer(
                asset: asset, versions: history.entries.map { Version($0, key) },
                undo: history.undo, redo: history.redo))
    }
}

/// `GET /v1/diff/{asset…}`.
enum DiffRoute {
    private struct Answer: Encodable {
        let asset: AssetPath
        let from, to: String
        /// The comparison of the edits; nil if no codec here can read one of them.
        let comparison: RecipeComparison?
        let isSamePhoto: Bool
    }

    static func get(_ call: Call) async throws -> Response {
        let asset = try call.asset
        guard let from = call.query("from") else {
            throw Problem(
                .badParameter,
                "from is missing; it must be the id or revision of a version, or draft or original."
            )
        }
        let library = call.parts.library
        let found = try await call.hidingPaths(of: asset) {
            var to = call.query("to")
            if to == nil { to = try await library.state(of: asset).current?.version }
            if to == nil || from == "original" || to == "original" {
                try await library.checkOriginal(of: asset)
            }
            return try await VersionComparison(from, to ?? "original", of: asset, in: library)
        }
        return try .json(
            Answer(
                asset: asset, from: found.before.label, to: found.after.label,
                comparison: found.comparison, isSamePhoto: found.before.base == found.after.base))
    }
}

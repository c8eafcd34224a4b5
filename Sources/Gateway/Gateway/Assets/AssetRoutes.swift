import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import Library
import Operations

enum AssetRoutes {
    static let routes: [Route] =
        [
            Route(
                .put, "/v1/originals/{asset...}", .key(.enqueue), name: "sendOriginal",
                group: "assets",
                "Adds an original. An original is never replaced. The same bytes sent again, with their Content-Digest, are accepted.",
                parameters: [
                    asset,
                    .header(
                        .contentDigest, "SHA-256 of the body (RFC 9530), compared as it arrives.",
                        schema: .text(
                            10...1024, pattern: "^sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:$")),
                    .header(
                        .ifNoneMatch, "May be *, which is the default.", schema: .choice(["*"])),
                ], body: .file,
                answers: [
                    .init(.ok, "The same bytes were there.", received, headers: ["Location"]),
                    .init(.created, "It is an original now.", received, headers: ["Location"]),
                ],
                problems: [
                    .lengthRequired, .preconditionFailed, .contentTooLarge,
                    .unprocessableContent, ProblemCode.noSpace.status,
                ], handle: OriginalUpload.put),
            Route(
                .get, "/v1/history/{asset...}", .key(.read), name: "readHistory", group: "assets",
                "The versions of an asset, the newest first, and where undo and redo would go.",
                parameters: [asset], answers: [.init(.ok, "The versions.", .schema("History"))],
                handle: HistoryRoute.get),
            Route(
                .get, "/v1/diff/{asset...}", .key(.read), name: "compareVersions", group: "assets",
                "The changes from the edit of one version to the edit of another.",
                parameters: [
                    asset,
                    .query(
                        "from", "A version's id or revision, draft, or original.",
                        schema: .text(1...200), isRequired: true),
                    .query("to", "The other; the current one where none is given."),
                ], answers: [.init(.ok, "The comparison.", .schema("Diff"))], handle: DiffRoute.get),
        ]
        + reading(
            "/v1/originals/{asset...}", "Original", "An original, as it came in.", [asset],
            AssetDownload.original)
        + reading(
            "/v1/renders/{asset...}", "Render", "What readers of an asset see.",
            [asset, version], AssetDownload.render)
        + reading(
            "/v1/previews/{asset...}", "Preview", "A small picture of a version.",
            [
                asset, version,
                .query(
                    "side", "The longest side in pixels that was asked for; the smallest one's.",
                    schema: .integer(ContractLimits.previewSideRange)),
            ], AssetDownload.preview)
        + reading(
            "/v1/renditions/{name}/{asset...}", "Rendition", "A rendition of a version, by name.",
            [
                .path("name", "The name that the edit gave it.", schema: .text(1...32)), asset,
                version,
            ], AssetDownload.rendition)

    private static let asset = Route.Parameter.path(
        "asset", "The asset: a photo's path below the originals. Slashes stay as they are.",
        schema: .schema("AssetPath"))
    private static let version = Route.Parameter.query(
        "version",
        "A version's id or revision, draft, or original; the current one where none is given.")
    private static let received = JSONValue.schema("OriginalTaken")

    /// Returns the route that serves a file by GET and HEAD.
    private static func reading(
        _ path: String, _ name: String, _ summary: String, _ parameters: [Route.Parameter],
        _ find: @escaping @Sendable (Call, AssetPath) async throws -> AssetDownload
    ) -> [Route] {
        let fields = ["ETag", "Cache-Control", "Accept-Ranges"]
        return [(HTTPRequest.Method.get, "read"), (.head, "look at")].map { method, verb in
            Route(
                method, path, .key(.read),
                name: (method == .get ? "read" : "lookAt") + name, group: "assets",
                method == .get ? summary : "The same, without the body.",
                parameters: parameters + [
                    .header(.range, "One range of bytes."),
                    .header(.ifRange, "The tag that the range is of."),
                    .header(.ifNoneMatch, "Tags that the client has."),
                ],
                answers: [
                    .init(.ok, "The file.", contentType: "*/*", headers: fields),
                    .init(
                        .partialContent, "The range.", contentType: "*/*",
                        headers: fields + ["Content-Range"]),
                    .empty(.notModified, "The client has it.", headers: ["ETag"]),
                ], problems: [.preconditionFailed, .rangeNotSatisfiable]
            ) { call in
                let asset = try call.asset
                return try await call.hidingPaths(of: asset) {
                    try await find(call, asset).response(to: call)
                }
            }
        }
    }
}

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
            try await call.parts.permits.walking(of: key) {
                try await call.parts.library.versions(of: asset)
            }
        }
        return try .json(
            Answer(
                asset: asset, versions: history.entries.map { Version($0, key) },
                undo: history.undo, redo: history.redo))
    }
}

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
            return try await call.parts.permits.walking(of: call.key) { [to] in
                try await VersionComparison(from, to ?? "original", of: asset, in: library)
            }
        }
        return try .json(
            Answer(
                asset: asset, from: found.before.label, to: found.after.label,
                comparison: found.comparison, isSamePhoto: found.before.base == found.after.base))
    }
}

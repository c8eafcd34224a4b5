public import Edits
public import Files
import PhotoFiles
public import RenderPool
public import RenderProtocol
public import SystemPackage

/// Renders one photo to a file, without a library.
public struct FileRenderer: Sendable {
    private let pool: RenderPool
    private let settings: EditingSettings

    /// Creates a renderer that uses a pool's children.
    public init(pool: RenderPool, settings: EditingSettings) {
        self.pool = pool
        self.settings = settings
    }

    /// The result of a render and the resources that it used.
    public struct Report: Sendable, Codable {
        /// The photo's header.
        public let header: PhotoHeader
        /// The recipe, in full-size pixels.
        public let recipe: Recipe
        /// The plan of the render.
        public let plan: RenderPlan
        /// The written file.
        public let output: Output
        /// The resources that the render used.
        public let use: RenderUse

        /// A written file.
        public struct Output: Sendable, Codable {
            /// Its IANA media type.
            public let mediaType: String
            /// Its size after its orientation is applied.
            public let size: PixelSize
            /// Its length in bytes.
            public let bytes: Int
            /// SHA-256 of its bytes, in hex.
            public let digest: String
        }
    }

    /// Renders a photo.
    ///
    /// - Parameters:
    ///   - borrower: the owner of the photo.
    ///   - longestSide: the longest side of a reduced result; nil: full size.
    ///   - progress: called with the finished share of a movie.
    ///   - contentIdentifier: the content identifier to write into this half of a Live Photo; nil: keep the present
    ///     one.
    ///   - path: the path of the result, a new file. Scratch files are in its folder during the render.
    /// - Throws: a `Failure`, or `CancellationError`. In both cases a file may exist at `path`.
    public func render(
        _ source: OpenFile, _ recipe: Recipe, for borrower: Borrower, longestSide: Int? = nil,
        to path: FilePath,
        contentIdentifier: String? = nil,
        progress: @escaping @Sendable (MovieProgress) -> Void = { _ in }
    ) async throws -> Report {
        let request = PhotoRequest(
            recipe: recipe, limits: settings.limits, outputs: [.init(longestSide: longestSide)],
            memoryMax: pool.budgetBytes, threads: pool.slots.share,
            contentIdentifier: contentIdentifier)
        let folder = path.removingLastComponent().string
        let resources = settings.resources
        let files = try await offPool { () throws(Failure) in
            RenderFiles(
                sources: [source],
                resources: try .opened(for: recipe, of: borrower.owner, in: resources),
                outputs: [try .nameless(in: folder, name: "the result")],
                spool: try .nameless(in: folder, name: "the spool"))
        }
        let makeFile: @Sendable () throws(Failure) -> OpenFile = { () throws(Failure) in
            try .nameless(in: folder, name: "a part of the movie")
        }
        if longestSide == nil { try Self.check(recipe.output.format, source) }
        return try await pool.render(
            request, files, for: borrower, parts: makeFile, progress: progress
        ) { inspection, use in
            try await offPool { () throws(Failure) in
                let plan = inspection.plan
                let result = RenderedResult(
                    format: plan.output.format, size: .exactly(plan.resultSize),
                    limits: settings.limits)
                let most = result.bytesMax(source: try source.length())
                let digest = try FileCopy.copy(
                    files.outputs[0], toNew: path.string, bytesMax: most)
                if plan.lane != .copy { try result.check(OpenFile(reading: path.string)) }
                return Report(
                    header: inspection.header, recipe: inspection.recipe, plan: plan,
                    output: Report.Output(
                        mediaType: plan.output.format.mediaType, size: plan.resultSize,
                        bytes: digest.bytes, digest: digest.hex),
                    use: use)
            }
        }
    }

    /// Rejects a picture format for a movie before any frame is rendered.
    private static func check(_ asked: Recipe.Format?, _ source: OpenFile) throws(Failure) {
        guard let asked, !asked.isMovie,
            PhotoFormat(
                sniffing: source.bytes(from: 0, count: PhotoFormat.sniffedBytes)) == .movie
        else { return }
        throw Failure(
            .invalidValue,
            "\(source.name) is a movie, which becomes no \(asked.rawValue). Name the result as the movie is named, or have one "
                + "frame of it drawn by `minilab preview --at`.")
    }
}

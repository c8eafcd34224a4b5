public import Edits
public import Files
import FoundationEssentials
import Library
import PhotoFiles
public import RenderPool
public import RenderProtocol
public import SystemPackage

/// Renders one photo to a file, without a library.
public struct FileRenderer: Sendable {
    private let pool: RenderPool
    private let settings: EditingSettings

    public init(pool: RenderPool, settings: EditingSettings) {
        self.pool = pool
        self.settings = settings
    }

    /// The result of a render and the resources that it used.
    public struct Report: Sendable, Codable {
        public let header: PhotoHeader
        /// The recipe, in full-size pixels.
        public let recipe: Recipe
        public let plan: RenderPlan
        public let output: Output
        public let use: RenderUse

        public struct Output: Sendable, Codable {
            public let mediaType: String
            /// Its size after its orientation is applied.
            public let size: PixelSize
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
        var request = PhotoRequest(
            recipe: recipe, limits: settings.limits,
            pictures: try await pool.sizes(
                of: recipe.sizedPictures, in: files.resources, for: borrower),
            outputs: [.init(longestSide: longestSide)], memoryMax: pool.budgetBytes,
            threads: pool.slots.share, contentIdentifier: contentIdentifier)
        // A name that no asset can have gives no value.
        let asset = FilePath(source.name).lastComponent.flatMap { try? AssetPath($0.string) }
        var values = try await pool.completed(
            PlaceholderValues(asset: asset),
            for: request, files, for: borrower)
        try request.fill(by: &values, at: nil)
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

/// The expected properties of a result. The worker checks them itself, on a copy that no child can write.
struct RenderedResult: Sendable {
    let format: Recipe.Format
    let size: Size
    /// The limits of photos: their metadata also appear in the results.
    var limits = RenderLimits()
    /// The most bytes that were asked for.
    var wantedMax = Int.max

    enum Size: Sendable, Equatable {
        case exactly(PixelSize)
        /// No side is longer than this.
        case within(Int)
        /// A copy of the photo itself, with this digest. Its header may state the size in another way.
        case copy(sha256: String, PixelSize)
    }

    /// Returns the most bytes of a result. For a picture: 16 bytes a pixel, the widest format, plus the parts
    /// around the pixels. For a movie: four times the original, whose bit rate also bounds its encoder.
    func bytesMax(source: Int) -> Int {
        let most =
            switch size {
            case .exactly where format.isMovie: Self.movieFactor * source + Self.reserve
            case .exactly(let size): 16 * size.pixels + source + Self.reserve
            case .within(let side): 16 * side * side + Self.reserve
            case .copy: source
            }
        return min(most, wantedMax)
    }

    private static let movieFactor = 4
    private static let reserve = 64 << 20
    /// The most pixels by which a cut may grow: edges between pixels of a small copy are moved outwards, one at
    /// each end.
    private static let movedOutwards = 2

    /// Checks the header of a copied result.
    ///
    /// - Returns: the size of the result in pixels.
    /// - Throws: `untrustedRender` if the result does not match the plan.
    @discardableResult
    func check(_ file: OpenFile) throws(Failure) -> PixelSize {
        try check(FileWindow(length: file.length()) { file.bytes(from: $0, count: $1) })
    }

    /// Checks the header of a result that is in memory.
    @discardableResult
    func check(_ bytes: [UInt8]) throws(Failure) -> PixelSize {
        try check(FileWindow(bytes))
    }

    private func check(_ bytes: FileWindow) throws(Failure) -> PixelSize {
        let found = PhotoFormat(sniffing: bytes.head(of: PhotoFormat.sniffedBytes))
        guard found == PhotoFormat(format) else {
            throw Self.refusal(
                "is no \(format.rawValue) but \(found?.rawValue ?? "nothing that is known")")
        }
        var room = limits
        // Written metadata are about as long as the photo's, or somewhat longer in another encoding.
        room.metadataMax *= 2
        room.profileMax *= 2
        let survey = PhotoSurvey(PhotoFormat(format), bytes, limits: room)
        guard let size = survey.size else { throw Self.refusal("has no size in its header") }
        switch self.size {
        case .exactly(let planned) where size != planned:
            throw Self.refusal("is \(size) pixels where \(planned) were planned")
        case .within(let side) where max(size.width, size.height) > side + Self.movedOutwards:
            throw Self.refusal("is \(size) pixels where at most \(side) were asked for")
        case .exactly, .within, .copy: return size
        }
    }

    static func refusal(_ what: String) -> Failure {
        Failure(
            .untrustedRender,
            "the result of the render child \(what). It is not published; the job is retried in another child. "
                + "Keep the photo for a report.")
    }
}

/// The kind of an asset, in PhotoKit's terms. A movie alone is recognised by its content, before this decision.
enum MediaType: Sendable, Equatable {
    case photo
    /// A still and this video, which form one asset and are edited together.
    case livePhoto(video: AssetPath)

    /// Decides the kind of an asset by this table, where "marked" means that the file has a content identifier.
    ///
    /// | still is marked | video of its name | video is marked | the asset is |
    /// |---|---|---|---|
    /// | no | any | any | a photo |
    /// | yes | none | | a photo: its video is missing |
    /// | yes | yes | as the still | a Live Photo |
    /// | yes | yes | cannot be read | a Live Photo |
    /// | yes | yes | otherwise | a photo: the video is of another one |
    ///
    /// - Parameter contentIdentifier: the content identifier of the still.
    init(contentIdentifier: String?, videos: [PairedVideo]) {
        let half = videos.first { video in
            video.contentIdentifier == nil || video.contentIdentifier == contentIdentifier
        }
        if contentIdentifier != nil, let half {
            self = .livePhoto(video: half.path)
        } else {
            self = .photo
        }
    }
}

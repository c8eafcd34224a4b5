public import Adjustments
import FoundationEssentials

/// Where a version comes from: `provenance.json` in its folder.
public struct Provenance: Sendable, Codable, Equatable {
    /// The version's own name.
    public let version: String
    /// Its number.
    public let revision: Int
    /// The name of the version that was current when the render started; nil for the original.
    public let base: String?
    /// The queue, or nil when there was none.
    public let queue: String?
    /// The job.
    public let job: String
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// Which attempt of the generation it was.
    public let attempt: Int
    /// Who rendered it.
    public let worker: String
    /// What rendered it.
    public let engine: String
    /// When, RFC 3339, by the worker's clock.
    public let renderedAt: String
    /// The original.
    public let source: Source
    /// The edit in full-size pixels, as the adjustment data records it.
    public let recipe: Recipe
    /// SHA-256 of the recipe's canonical JSON, in hex.
    public let recipeDigest: String
    /// How it was rendered, one step per line.
    public let plan: [String]
    /// The render.
    public let render: Render
    /// Processor time in milliseconds.
    public let cpuMilliseconds: Double
    /// Highest resident set of the render child, in bytes.
    public let peakMemoryBytes: Int

    /// The file in a version's folder.
    public static let fileName = "provenance.json"
    /// Most bytes of that file.
    static let fileBytesMax = 1 << 20

    /// The original of a version.
    public struct Source: Sendable, Codable, Equatable {
        /// The asset.
        public let asset: String
        /// SHA-256 of its bytes, in hex.
        public let sha256: String
        /// What its content is.
        public let format: String
        /// Its size as stored.
        public let size: PixelSize
        /// Its EXIF orientation.
        public let orientation: Int

        /// Makes a source.
        public init(
            asset: String, sha256: String, format: String, size: PixelSize, orientation: Int
        ) {
            self.asset = asset
            self.sha256 = sha256
            self.format = format
            self.size = size
            self.orientation = orientation
        }
    }

    /// The render of a version.
    public struct Render: Sendable, Codable, Equatable {
        /// Its file name in the version's folder.
        public let name: String
        /// Its IANA media type.
        public let mediaType: String
        /// Its upright size.
        public let size: PixelSize
        /// Its length.
        public let bytes: Int
        /// SHA-256 of its bytes, in hex.
        public let sha256: String

        /// Makes a render.
        public init(name: String, mediaType: String, size: PixelSize, bytes: Int, sha256: String) {
            self.name = name
            self.mediaType = mediaType
            self.size = size
            self.bytes = bytes
            self.sha256 = sha256
        }
    }

    /// Makes a provenance.
    public init(
        version: VersionName, base: VersionName?, queue: String?, job: String, generation: Int,
        attempt: Int, worker: String, engine: String, renderedAt: String, source: Source,
        recipe: Recipe, plan: [String], render: Render, cpuMilliseconds: Double,
        peakMemoryBytes: Int
    ) {
        self.version = version.description
        self.revision = version.revision
        self.base = base?.description
        self.queue = queue
        self.job = job
        self.generation = generation
        self.attempt = attempt
        self.worker = worker
        self.engine = engine
        self.renderedAt = renderedAt
        self.source = source
        self.recipe = recipe
        self.recipeDigest = recipe.digest
        self.plan = plan
        self.render = render
        self.cpuMilliseconds = cpuMilliseconds
        self.peakMemoryBytes = peakMemoryBytes
    }

    func encoded() throws(Failure) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self)
        } catch {
            throw Failure(.internalError, "the provenance of \(version) does not encode: \(error)")
        }
    }
}

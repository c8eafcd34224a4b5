/// Two values as one. In JSON, their fields stand side by side.
@dynamicMemberLookup
public struct Joined<Base, More>: Sendable, Codable, Equatable
where Base: Sendable & Codable & Equatable, More: Sendable & Codable & Equatable {
    public var base: Base
    public var more: More

    public init(_ base: Base, _ more: More) {
        self.base = base
        self.more = more
    }

    public init(from decoder: any Decoder) throws {
        base = try Base(from: decoder)
        more = try More(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try base.encode(to: encoder)
        try more.encode(to: encoder)
    }

    public subscript<Value>(dynamicMember field: KeyPath<Base, Value>) -> Value {
        base[keyPath: field]
    }

    public subscript<Value>(dynamicMember field: KeyPath<More, Value>) -> Value {
        more[keyPath: field]
    }
}

/// A picture or movie that an edit made, wherever it lies.
///
/// In JSON: `mediaType`, `width`, `height`, `bytes`, `sha256`.
public struct MadeFile: Sendable, Codable, Equatable {
    public let mediaType: String
    /// Upright.
    public let size: PixelSize
    public let bytes: Int
    /// In hex.
    public let sha256: String

    private enum CodingKeys: String, CodingKey { case mediaType, bytes, sha256 }

    public init(mediaType: String, size: PixelSize, bytes: Int, sha256: String) {
        self.mediaType = mediaType
        self.size = size
        self.bytes = bytes
        self.sha256 = sha256
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        mediaType = try fields.decode(String.self, forKey: .mediaType)
        size = try PixelSize(from: decoder)
        bytes = try fields.decode(Int.self, forKey: .bytes)
        sha256 = try fields.decode(String.self, forKey: .sha256)
    }

    public func encode(to encoder: any Encoder) throws {
        try size.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(mediaType, forKey: .mediaType)
        try fields.encode(bytes, forKey: .bytes)
        try fields.encode(sha256, forKey: .sha256)
    }
}

extension JobEvent {
    public struct Attempt: Sendable, Codable, Equatable {
        public let job: String
        /// The job's asset, if the request named one.
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1; 0 if no attempt was started.
        public let attempt: Int
        /// The worker of the attempt; nil if no attempt was started.
        public let worker: String?

        public init(job: String, asset: String, generation: Int, attempt: Int, worker: String?) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
        }
    }

    /// A version was published, or a draft prepared.
    public typealias Completed = Joined<Attempt, Completion>
    /// Renditions of a version were made, or found.
    public typealias Rendered = Joined<Attempt, MadeRenditions>
    /// There was nothing to do.
    public typealias Unchanged = Joined<Attempt, NoChange>
    /// A newer edit of the asset was published before this one was processed. Nothing was rendered.
    public typealias Superseded = Joined<Attempt, Supersession>
    /// The render has started.
    public typealias Previewed = Joined<Attempt, Placeholder>
    /// The progress of a movie's render. Redis writes it, from the worker's heartbeat.
    public typealias Progressed = Joined<Attempt, Progress>
    public typealias Failed = Joined<Attempt, Death>
    /// An attempt failed and another one will follow.
    public typealias Retried = Joined<Attempt, Retry>

    /// The result of a job that made a version.
    public struct Completion: Sendable, Codable, Equatable {
        public let mode: Edit.Name
        /// The current version, or the draft.
        public let version: Version
        /// The rendered photo; nil if the original is current.
        public let render: Render?
        /// The movie of a Live Photo, edited like the render; nil for a single photo or movie.
        public let pairedVideo: PairedVideo?
        public let previews: [Preview]
        /// The renditions of the version, by name; nil if it has none.
        public let renditions: [String: RenditionOutcome]?
        /// The names of those that the shown version had, and whose files are gone, ascending; nil if there are none.
        public let missingSizes: [String]?
        /// A tiny JPEG of the render as a `data:` URI; nil if no previews were requested.
        public let placeholder: String?
        /// The recorded filters, in full-size pixels. Nil if the original is current, if only the editor that made the edit can
        /// read it, or if they are longer than ``filtersBytesMax``.
        public let filters: [Filter]?
        /// The `asset@version` whose render this is, because photo and edit are the same; nil if it was rendered for this job.
        public let reusedFrom: String?
        public let timings: Timings
        /// Peak resident set of the render child, in bytes.
        public let peakMemoryBytes: Int
        /// Earlier versions of the asset since the last one that an event told, the newest first; nil if there are none.
        ///
        /// A handler states all that it knows, and the queue keeps those that it has not told.
        public var untold: [Untold]?

        /// The maximum length of filters as JSON. Redis keeps 100,000 events and as many results, whatever a tenant's quota is, and
        /// a table of colours has 60 KB. The version has them all.
        public static let filtersBytesMax = 1024

        private static func told(_ filters: [Filter]?) -> [Filter]? {
            guard let filters,
                JSONValue.array(filters.map(\.json)).canonical.utf8.count <= filtersBytesMax
            else { return nil }
            return filters
        }

        /// - Parameter filters: The recorded filters; left out if they are too long.
        public init(
            mode: Edit.Name, version: Version, render: Render?, pairedVideo: PairedVideo? = nil,
            previews: [Preview] = [], renditions: [String: RenditionOutcome] = [:],
            missingSizes: [String] = [], placeholder: String? = nil, filters: [Filter]?,
            reusedFrom: String? = nil, timings: Timings = Timings(), peakMemoryBytes: Int = 0,
            untold: [Untold]? = nil
        ) {
            self.mode = mode
            self.version = version
            self.render = render
            self.pairedVideo = pairedVideo
            self.previews = previews
            self.renditions = renditions.isEmpty ? nil : renditions
            self.missingSizes = missingSizes.isEmpty ? nil : missingSizes
            self.placeholder = placeholder
            self.filters = Self.told(filters)
            self.reusedFrom = reusedFrom
            self.timings = timings
            self.peakMemoryBytes = peakMemoryBytes
            self.untold = untold
        }
    }

    /// The renditions that a job has made for a version, without making a version.
    public struct MadeRenditions: Sendable, Codable, Equatable {
        public let mode: Edit.Name
        /// The version whose renditions they are.
        public let version: Version
        /// All renditions that were asked for, by name, also those that were there before.
        public let renditions: [String: RenditionOutcome]
        /// Why the edit made no version; nil in the mode `renditions`.
        public let reason: String?
        public let timings: Timings
        /// Peak resident set of the render child, in bytes; 0 if nothing was rendered.
        public let peakMemoryBytes: Int

        public init(
            mode: Edit.Name, version: Version, renditions: [String: RenditionOutcome],
            reason: String? = nil, timings: Timings = Timings(), peakMemoryBytes: Int = 0
        ) {
            (self.mode, self.version, self.renditions) = (mode, version, renditions)
            (self.reason, self.timings) = (reason, timings)
            self.peakMemoryBytes = peakMemoryBytes
        }
    }

    /// The outcome of a rendition.
    public enum RenditionOutcome: Sendable, Equatable {
        /// A file of the version has it.
        case made(MadeRendition)
        /// It could not be made, and the edit does not require it.
        case failed(RenditionError)
    }

    /// A rendition: its place, the file, and how it was made.
    public typealias MadeRendition = Joined<Joined<Place, MadeFile>, Encoding>

    /// How a rendition was encoded, as in ``RenditionResult``.
    public struct Encoding: Sendable, Codable, Equatable {
        public let quality: Double?
        public let encodes: Int
        public let hash: [String: String]?

        public init(quality: Double?, encodes: Int, hash: [String: String]?) {
            (self.quality, self.encodes, self.hash) = (quality, encodes, hash)
        }
    }

    /// The reason why a rendition was not made.
    public struct RenditionError: Sendable, Codable, Equatable {
        public let code: FailureCode
        public let message: String

        public init(_ failure: Failure) {
            (code, message) = (failure.code, PublicMessage.of(failure.message))
        }
    }

    /// A version that became current, and of which no event tells: its job ended otherwise after Redis had lost the publication.
    public struct Untold: Sendable, Codable, Equatable {
        /// Its name.
        public let version: String
        /// The job that made it; nil if the reader may not see that job.
        public let job: String?

        public init(version: String, job: String?) {
            self.version = version
            self.job = job
        }
    }

    /// The result of a job that had nothing to do.
    public struct NoChange: Sendable, Codable, Equatable {
        public let mode: Edit.Name
        /// The current version, which is unchanged; nil if the asset has no edit.
        public let version: Version?
        public let reason: String

        public init(mode: Edit.Name, version: Version?, reason: String) {
            self.mode = mode
            self.version = version
            self.reason = reason
        }
    }

    /// The later edit by which a job is superseded.
    public struct Supersession: Sendable, Codable, Equatable {
        public let mode: Edit.Name
        /// The version or draft of the later edit, which stays.
        public let version: Version
        /// The job that made that version.
        public let by: String
        public let reason: String

        public init(mode: Edit.Name, version: Version, by: String, reason: String) {
            self.mode = mode
            self.version = version
            self.by = by
            self.reason = reason
        }
    }

    /// A rough preview of a result.
    public struct Placeholder: Sendable, Codable, Equatable {
        /// A tiny JPEG of the result as a `data:` URI.
        public let placeholder: String

        public init(placeholder: String) { self.placeholder = placeholder }
    }

    /// The rendered share of a movie.
    public struct Progress: Sendable, Codable, Equatable {
        public let framesDone: Int
        public let frames: Int
    }

    public struct Version: Sendable, Codable, Equatable {
        /// Its name, unique for the asset forever.
        public let id: String
        /// Its number; the original is 0.
        public let revision: Int
        /// The path of the current file, below the library: the render, or the original.
        public let path: String
        /// A URL of the file; nil unless workers are configured to issue links.
        public let link: Link?

        public init(id: String, revision: Int, at place: Place) {
            (self.id, self.revision) = (id, revision)
            (path, link) = (place.path, place.link)
        }
    }

    /// Where a file is.
    public struct Place: Sendable, Codable, Equatable {
        /// The path below the library.
        public let path: String
        /// A URL of the file; nil unless workers are configured to issue links.
        public let link: Link?

        public init(path: String, link: Link? = nil) {
            self.path = path
            self.link = link
        }
    }

    /// A URL that grants anyone read access to a file for some time.
    public struct Link: Sendable, Codable, Equatable {
        /// The URL. It is as secret as a password for its file.
        public let url: String
        /// The time at which it expires; RFC 3339 in UTC.
        public let expires: String

        public init(url: String, expires: String) {
            self.url = url
            self.expires = expires
        }
    }

    /// A rendered photo, with what became of the things beside its picture.
    public typealias Render = Joined<MadeFile, Companions>
    /// The movie of a Live Photo.
    public typealias PairedVideo = Joined<Place, MadeFile>

    /// A small picture of a render.
    public struct Preview: Sendable, Codable, Equatable {
        public let longestSide: Int
        /// The preview's path below the library.
        public let path: String
        /// A URL of the preview; nil unless workers are configured to issue links.
        public let link: Link?
        /// Pixels from left to right.
        public let width: Int
        /// Pixels from top to bottom.
        public let height: Int

        public init(longestSide: Int, at place: Place, _ size: PixelSize) {
            self.longestSide = longestSide
            (path, link) = (place.path, place.link)
            (width, height) = (size.width, size.height)
        }
    }

    /// The times that a job took.
    public struct Timings: Sendable, Codable, Equatable {
        /// From admission to this attempt's claim.
        public let queuedMilliseconds: Double
        /// The time of the render itself; 0 if nothing was rendered.
        public let renderMilliseconds: Double
        /// Processor time of the render.
        public let cpuMilliseconds: Double

        public init(
            queuedMilliseconds: Double = 0, renderMilliseconds: Double = 0,
            cpuMilliseconds: Double = 0
        ) {
            self.queuedMilliseconds = queuedMilliseconds
            self.renderMilliseconds = renderMilliseconds
            self.cpuMilliseconds = cpuMilliseconds
        }
    }

    /// The failure of which a job died.
    public struct Death: Sendable, Codable, Equatable {
        public let error: Reason

        public init(_ failure: Failure) { error = Reason(failure) }

        public init(_ reason: Reason) { error = reason }
    }

    /// The failure of an attempt, and the next one.
    public struct Retry: Sendable, Codable, Equatable {
        public let error: Reason
        /// The delay until the next attempt may start.
        public let delayMilliseconds: Int

        public init(after failure: Failure, delayMilliseconds: Int) {
            error = Reason(failure)
            self.delayMilliseconds = delayMilliseconds
        }
    }

    /// A version could not be published. A replay tries again, which may end in this event again.
    public struct Stuck: Sendable, Codable, Equatable {
        public let job: String
        /// Its asset, whose later edits wait.
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The version, or nil if its name is lost.
        public let version: String?
        /// The number of times its publication was retried.
        public let carries: Int
        /// The worker that tried last, or nil if its name is lost.
        public let worker: String?
        /// The reason of the last failure.
        public let error: Reason
    }

    /// The reason why an attempt failed, as everybody may read it.
    public struct Reason: Sendable, Codable, Equatable {
        public let code: FailureCode
        public let message: String
        /// Whether the same job would fail on every attempt.
        public let permanent: Bool

        public init(_ failure: Failure) {
            code = failure.code
            message = PublicMessage.of(failure.message)
            permanent = failure.code.isPermanent
        }
    }

    /// An id was enqueued again with another asset or edit.
    public struct Conflict: Sendable, Codable, Equatable {
        public let job: String
        /// The asset of the rejected entry.
        public let asset: String
        /// The entry's id in the ingress stream, which `XADD` returned.
        public let entry: String
        /// The sentence for people.
        public let message: String
    }
}

extension JobEvent.RenditionOutcome: Codable {
    private enum CodingKeys: String, CodingKey { case error }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        if let error = try fields.decodeIfPresent(JobEvent.RenditionError.self, forKey: .error) {
            self = .failed(error)
        } else {
            self = .made(try JobEvent.MadeRendition(from: decoder))
        }
    }

    /// Encodes the rendition itself, or `{"error": …}`.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .made(let rendition): try rendition.encode(to: encoder)
        case .failed(let error):
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(error, forKey: .error)
        }
    }
}

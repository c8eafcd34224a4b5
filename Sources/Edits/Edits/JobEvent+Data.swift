extension JobEvent {
    /// A version was published.
    public struct Completed: Sendable, Codable, Equatable {
        public let job: String
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1.
        public let attempt: Int
        /// The worker that rendered it.
        public let worker: String
        /// The requested mode.
        public let mode: Edit.Name
        /// The current version, or the draft.
        public let version: Version
        /// The rendered photo; nil if the original is current.
        public let render: Render?
        /// The movie of a Live Photo, edited like the render; nil for a single photo or movie.
        public let pairedVideo: PairedVideo?
        /// The requested previews.
        public let previews: [Preview]
        /// A tiny JPEG of the render as a `data:` URI; nil if no previews were requested.
        public let placeholder: String?
        /// The recorded filters, in full-size pixels. Nil if the original is current, if only the editor that made the edit can
        /// read it, or if they are longer than ``filtersBytesMax``.
        public let filters: [Filter]?
        /// The `asset@version` whose render this is, because photo and edit are the same; nil if it was rendered for this job.
        public let reusedFrom: String?
        /// The times that the job took.
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

        /// Makes the data of an event.
        ///
        /// - Parameter filters: The recorded filters; left out if they are too long.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            mode: Edit.Name, version: Version, render: Render?,
            pairedVideo: PairedVideo? = nil, previews: [Preview] = [],
            placeholder: String? = nil, filters: [Filter]?, reusedFrom: String? = nil,
            timings: Timings, peakMemoryBytes: Int, untold: [Untold]? = nil
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.mode = mode
            self.version = version
            self.render = render
            self.pairedVideo = pairedVideo
            self.previews = previews
            self.placeholder = placeholder
            self.filters = Self.told(filters)
            self.reusedFrom = reusedFrom
            self.timings = timings
            self.peakMemoryBytes = peakMemoryBytes
            self.untold = untold
        }
    }

    /// A version that became current, and of which no event tells: its job ended otherwise after Redis had lost the publication.
    public struct Untold: Sendable, Codable, Equatable {
        /// Its name.
        public let version: String
        /// The job that made it; nil if the reader may not see that job.
        public let job: String?

        /// Makes the note of a version.
        public init(version: String, job: String?) {
            self.version = version
            self.job = job
        }
    }

    /// There was nothing to do.
    public struct Unchanged: Sendable, Codable, Equatable {
        public let job: String
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1.
        public let attempt: Int
        /// The worker that handled the job.
        public let worker: String
        /// The requested mode.
        public let mode: Edit.Name
        /// The current version, which is unchanged; nil if the asset has no edit.
        public let version: Version?
        /// The reason, for people.
        public let reason: String

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            mode: Edit.Name, version: Version?, reason: String
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.mode = mode
            self.version = version
            self.reason = reason
        }
    }

    /// The render has started.
    public struct Previewed: Sendable, Codable, Equatable {
        public let job: String
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1.
        public let attempt: Int
        /// The worker that renders.
        public let worker: String
        /// A tiny JPEG of the result as a `data:` URI.
        public let placeholder: String

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            placeholder: String
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.placeholder = placeholder
        }
    }

    /// The progress of a movie's render. Redis writes it, from the worker's heartbeat.
    public struct Progressed: Sendable, Codable, Equatable {
        public let job: String
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1.
        public let attempt: Int
        /// The worker that renders.
        public let worker: String
        /// Rendered frames.
        public let framesDone: Int
        /// Frames of the movie.
        public let frames: Int
    }

    /// A published version.
    public struct Version: Sendable, Codable, Equatable {
        /// Its name, unique for the asset forever.
        public let id: String
        /// Its number; the original is 0.
        public let revision: Int
        /// The path of the current file, below the library: the render, or the original.
        public let path: String
        /// A URL of the file; nil unless workers are configured to issue links.
        public let link: Link?

        /// Makes a version.
        public init(id: String, revision: Int, path: String, link: Link? = nil) {
            self.id = id
            self.revision = revision
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

        /// Makes a link.
        public init(url: String, expires: String) {
            self.url = url
            self.expires = expires
        }
    }

    /// A rendered photo.
    public struct Render: Sendable, Codable, Equatable {
        /// IANA media type.
        public let mediaType: String
        /// Pixels from left to right, upright.
        public let width: Int
        /// Pixels from top to bottom, upright.
        public let height: Int
        /// Length of the file.
        public let bytes: Int
        /// SHA-256 of the file in hex.
        public let sha256: String

        /// The outcome for the photo's gain map; nil if it has none.
        public let gainMap: GainMapOutcome?
        /// The outcome for the video of a motion photo; nil if it has none.
        public let motionVideo: MotionVideoOutcome?
        /// Other contents of the photo's file that the render omits; nil for none.
        public let leftOut: [Companion]?

        /// Makes a render.
        public init(
            mediaType: String, width: Int, height: Int, bytes: Int, sha256: String,
            gainMap: GainMapOutcome? = nil, motionVideo: MotionVideoOutcome? = nil,
            leftOut: [Companion]? = nil
        ) {
            self.mediaType = mediaType
            self.width = width
            self.height = height
            self.bytes = bytes
            self.sha256 = sha256
            self.gainMap = gainMap
            self.motionVideo = motionVideo
            self.leftOut = leftOut
        }
    }

    /// The movie of a Live Photo.
    public struct PairedVideo: Sendable, Codable, Equatable {
        /// The movie's path below the library.
        public let path: String
        /// A URL of the movie; nil unless workers are configured to issue links.
        public let link: Link?
        /// IANA media type.
        public let mediaType: String
        /// Pixels from left to right, upright.
        public let width: Int
        /// Pixels from top to bottom, upright.
        public let height: Int
        /// Length of the file.
        public let bytes: Int
        /// SHA-256 of the file in hex.
        public let sha256: String

        /// Makes a movie.
        public init(
            path: String, link: Link? = nil, mediaType: String, width: Int, height: Int,
            bytes: Int, sha256: String
        ) {
            self.path = path
            self.link = link
            self.mediaType = mediaType
            self.width = width
            self.height = height
            self.bytes = bytes
            self.sha256 = sha256
        }
    }

    /// A small picture of a render.
    public struct Preview: Sendable, Codable, Equatable {
        /// The requested longest side.
        public let longestSide: Int
        /// The preview's path below the library.
        public let path: String
        /// A URL of the preview; nil unless workers are configured to issue links.
        public let link: Link?
        /// Pixels from left to right.
        public let width: Int
        /// Pixels from top to bottom.
        public let height: Int

        /// Makes a preview.
        public init(
            longestSide: Int, path: String, link: Link? = nil, width: Int, height: Int
        ) {
            self.longestSide = longestSide
            self.path = path
            self.link = link
            self.width = width
            self.height = height
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

        /// Makes timings.
        public init(
            queuedMilliseconds: Double, renderMilliseconds: Double, cpuMilliseconds: Double
        ) {
            self.queuedMilliseconds = queuedMilliseconds
            self.renderMilliseconds = renderMilliseconds
            self.cpuMilliseconds = cpuMilliseconds
        }
    }

    /// The job is dead.
    public struct Failed: Sendable, Codable, Equatable {
        public let job: String
        /// Its asset, if the request named one.
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1; 0 if no attempt was started.
        public let attempt: Int
        /// The worker of the attempt, or nil if no attempt was started.
        public let worker: String?
        public let error: Reason

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String?,
            error: Reason
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.error = error
        }
    }

    /// An attempt failed and another one will follow.
    public struct Retried: Sendable, Codable, Equatable {
        public let job: String
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of the failed attempt in the generation, from 1.
        public let attempt: Int
        /// The worker of the attempt.
        public let worker: String
        /// The reason for the failure.
        public let error: Reason
        /// The delay until the next attempt may start.
        public let delayMilliseconds: Int

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            error: Reason, delayMilliseconds: Int
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.error = error
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

    /// The reason why an attempt failed.
    public struct Reason: Sendable, Codable, Equatable {
        /// The code for programs.
        public let code: FailureCode
        /// The message for people.
        public let message: String
        /// Whether the same job would fail on every attempt.
        public let permanent: Bool

        public init(_ failure: Failure) {
            code = failure.code
            message = failure.message
            permanent = failure.code.isPermanent
        }
    }

    /// An id was enqueued again with another asset or edit.
    public struct Conflict: Sendable, Codable, Equatable {
        /// The id.
        public let job: String
        /// The asset of the rejected entry.
        public let asset: String
        /// The entry's id in the ingress stream, which `XADD` returned.
        public let entry: String
        /// The sentence for people.
        public let message: String
    }
}

extension JobEvent {
    /// A version was published.
    public struct Completed: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of this generation it was, from 1.
        public let attempt: Int
        /// Who rendered it.
        public let worker: String
        /// What was asked for.
        public let mode: Edit.Name
        /// What is current now, or the draft.
        public let version: Version
        /// The rendered photo; nil when the original is current.
        public let render: Render?
        /// The movie of a Live Photo, edited as the render is; nil for a photo or movie alone.
        public let pairedVideo: PairedVideo?
        /// The previews that were asked for.
        public let previews: [Preview]
        /// A tiny JPEG of the render as a `data:` URI; nil when no previews were asked for.
        public let placeholder: String?
        /// The filters, as recorded: in full-size pixels. Nil when the original is current, or when only the
        /// editor that made the edit can read it.
        public let filters: [Filter]?
        /// `asset@version` whose render this is, since photo and edit are the same; nil when it was rendered for
        /// this job.
        public let reusedFrom: String?
        /// What it took.
        public let timings: Timings
        /// Highest resident set of the render child, in bytes.
        public let peakMemoryBytes: Int

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            mode: Edit.Name, version: Version, render: Render?,
            pairedVideo: PairedVideo? = nil, previews: [Preview] = [],
            placeholder: String? = nil, filters: [Filter]?, reusedFrom: String? = nil,
            timings: Timings, peakMemoryBytes: Int
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
            self.filters = filters
            self.reusedFrom = reusedFrom
            self.timings = timings
            self.peakMemoryBytes = peakMemoryBytes
        }
    }

    /// There was nothing to do.
    public struct Unchanged: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of this generation it was, from 1.
        public let attempt: Int
        /// Who found out.
        public let worker: String
        /// What was asked for.
        public let mode: Edit.Name
        /// What is current, now as before; nil when nobody has edited the asset.
        public let version: Version?
        /// Why, for people.
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

    /// The render has begun.
    public struct Previewed: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of this generation it is, from 1.
        public let attempt: Int
        /// Who renders.
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

    /// How much of a movie is rendered. Redis writes it, from what a worker says with its heartbeat.
    public struct Progressed: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of this generation it is, from 1.
        public let attempt: Int
        /// The worker that renders.
        public let worker: String
        /// Frames that are done.
        public let framesDone: Int
        /// Frames of the movie.
        public let frames: Int
    }

    /// A published version.
    public struct Version: Sendable, Codable, Equatable {
        /// Its name: unique for the asset, for ever.
        public let id: String
        /// Its number; the original is 0.
        public let revision: Int
        /// The path of what is current, below the library: of the render, or of the original.
        public let path: String
        /// A URL of the same; nil unless workers were told to give some.
        public let link: Link?

        /// Makes a version.
        public init(id: String, revision: Int, path: String, link: Link? = nil) {
            self.id = id
            self.revision = revision
            self.path = path
            self.link = link
        }
    }

    /// A URL from which anybody may read a file for some time.
    public struct Link: Sendable, Codable, Equatable {
        /// The URL; as good as a password for its file.
        public let url: String
        /// When it ends; RFC 3339 in UTC.
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

        /// The fate of the photo's gain map; nil when it has none.
        public let gainMap: GainMapOutcome?
        /// The fate of the video of a motion photo; nil when it has none.
        public let motionVideo: MotionVideoOutcome?
        /// Other things of the photo's file that are not in it; nil for none.
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
        /// A URL of the same; nil unless workers were told to give some.
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
        /// The longest side that was asked for.
        public let longestSide: Int
        /// The preview's path below the library.
        public let path: String
        /// A URL of the same; nil unless workers were told to give some.
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

    /// What a job took.
    public struct Timings: Sendable, Codable, Equatable {
        /// From admission to this attempt's claim.
        public let queuedMilliseconds: Double
        /// The render itself; 0 when nothing was rendered.
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
        /// The job.
        public let job: String
        /// Its asset, as far as it was given.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of this generation it was, from 1; 0 when it never got that far.
        public let attempt: Int
        /// Who tried, or nil when it never got that far.
        public let worker: String?
        /// Why.
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
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of this generation failed, from 1.
        public let attempt: Int
        /// Who tried.
        public let worker: String
        /// Why it failed.
        public let error: Reason
        /// When the next attempt may start, from now.
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

    /// A version could not be published. A replay tries it again, which may end in this event once more.
    public struct Stuck: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset: later edits of it wait.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// The version, or nil when its name is lost.
        public let version: String?
        /// How often its publication was carried on.
        public let carries: Int
        /// The worker that tried last, or nil when that is lost.
        public let worker: String?
        /// Why it failed the last time.
        public let error: Reason
    }

    /// Why an attempt failed.
    public struct Reason: Sendable, Codable, Equatable {
        /// For programs.
        public let code: FailureCode
        /// For people.
        public let message: String
        /// Whether the same job would fail again however often it is tried.
        public let permanent: Bool

        /// The reason that a failure is.
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
        /// The asset of the entry that was not taken.
        public let asset: String
        /// The entry's id in the ingress stream: what `XADD` answered.
        public let entry: String
        /// The sentence for people.
        public let message: String
    }
}

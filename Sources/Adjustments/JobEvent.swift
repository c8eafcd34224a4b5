/// What happened to a job, as readers of the event stream get it: a CloudEvents 1.0 envelope around
/// one of four kinds of data (`jobs/event.schema.json`).
///
/// `id` is made of queue, job and generation alone, so an event that is sent or read twice can be
/// recognised.
public struct JobEvent: Sendable, Decodable {
    /// `<queue>/<job>/<generation>/<name>` and the like; unique per `source`.
    public let id: String
    /// `minilab/<queue>`.
    public let source: String
    /// `org.minilab.job.` and the name of the kind.
    public let type: String
    /// The asset; nil when the job named none.
    public let subject: String?
    /// When the job's state changed: Redis' own time, RFC 3339 in UTC.
    public let time: String
    /// What happened.
    public let data: Kind

    /// What happened.
    public enum Kind: Sendable {
        /// A version was published. Ends the job.
        case completed(Completed)
        /// The job is dead. Ends the job's generation; a replay starts the next.
        case failed(Failed)
        /// An attempt failed and another one will follow.
        case retried(Retried)
        /// An id was enqueued again with another asset or edit; that entry was not taken.
        case conflict(Conflict)
    }

    private enum CodingKeys: String, CodingKey { case id, source, type, subject, time, data }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        source = try container.decode(String.self, forKey: .source)
        type = try container.decode(String.self, forKey: .type)
        subject = try container.decodeIfPresent(String.self, forKey: .subject)
        time = try container.decode(String.self, forKey: .time)
        data =
            switch type {
            case "org.minilab.job.completed":
                .completed(try container.decode(Completed.self, forKey: .data))
            case "org.minilab.job.failed":
                .failed(try container.decode(Failed.self, forKey: .data))
            case "org.minilab.job.retried":
                .retried(try container.decode(Retried.self, forKey: .data))
            case "org.minilab.job.conflict":
                .conflict(try container.decode(Conflict.self, forKey: .data))
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: container,
                    debugDescription: "\(type.debugDescription) is not a type of job event")
            }
    }
}

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
        /// What is current now.
        public let version: Version
        /// The rendered photo.
        public let render: Render
        /// The filters, as recorded: in full-size pixels.
        public let filters: [Filter]
        /// What it took.
        public let timings: Timings
        /// Highest resident set of the render child, in bytes.
        public let peakMemoryBytes: Int

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            version: Version, render: Render, filters: [Filter], timings: Timings,
            peakMemoryBytes: Int
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.version = version
            self.render = render
            self.filters = filters
            self.timings = timings
            self.peakMemoryBytes = peakMemoryBytes
        }
    }

    /// A published version.
    public struct Version: Sendable, Codable, Equatable {
        /// Its name: unique for the asset, for ever.
        public let id: String
        /// Its number; the original is 0.
        public let revision: Int
        /// The render's path below the library.
        public let path: String

        /// Makes a version.
        public init(id: String, revision: Int, path: String) {
            self.id = id
            self.revision = revision
            self.path = path
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

        /// Makes a render.
        public init(mediaType: String, width: Int, height: Int, bytes: Int, sha256: String) {
            self.mediaType = mediaType
            self.width = width
            self.height = height
            self.bytes = bytes
            self.sha256 = sha256
        }
    }

    /// What a job took.
    public struct Timings: Sendable, Codable, Equatable {
        /// From admission to this attempt's claim.
        public let queuedMilliseconds: Double
        /// The render itself.
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

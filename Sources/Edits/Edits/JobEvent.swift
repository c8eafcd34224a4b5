/// An event of a job or a batch, as the event stream delivers it: a CloudEvents 1.0 envelope around one of these kinds of data
/// (`jobs/event.schema.json`).
///
/// `id` is made only of queue, job and generation, so that readers can recognise an event that is sent or read twice.
public struct JobEvent: Sendable, Decodable {
    /// `<queue>/<job>/<generation>/<name>` or similar; unique per `source`.
    public let id: String
    /// `minilab/<queue>`.
    public let source: String
    /// `org.minilab.job.`, `org.minilab.batch.` or `org.minilab.stream.`, followed by the name of the kind.
    public let type: String
    /// The asset; nil if the job named none.
    public let subject: String?
    /// The format of `data`: ``schema``, or nil for events from before the format had a name.
    public let dataSchema: String?
    /// The time at which the job's state changed: Redis' clock, RFC 3339 in UTC.
    public let time: String
    /// The asset's revision as text of ten digits, if a version became current. It rises by one each time.
    public let sequence: String?
    /// The tenant of the job or the batch; nil for an event of a stream, and for events of earlier releases.
    public let tenant: String?
    /// The folder of the key that opened the batch; nil for other events, and for batches that no key opened.
    public let folder: String?
    /// The trace that the job's producer made it a part of; nil without one. CloudEvents' extension of that name.
    public let traceparent: Traceparent?
    public let data: Kind

    public enum Kind: Sendable {
        /// A version was published. Final event of the job.
        case completed(Completed)
        /// A version was prepared, to be published or discarded. Final event of the job.
        case drafted(Completed)
        /// Renditions of a version were made, and no version. Final event of the job.
        case rendered(Rendered)
        /// There was nothing to do. Final event of the job.
        case unchanged(Unchanged)
        /// A newer edit was published before. Final event of the job.
        case superseded(Superseded)
        /// The render has started; the data contain an approximation of its result.
        case previewed(Previewed)
        /// A movie is being rendered; the data contain the number of rendered frames.
        case progressed(Progressed)
        /// The job is dead. Final event of the job's generation; a replay starts the next one.
        case failed(Failed)
        /// An attempt failed and another one will follow.
        case retried(Retried)
        /// An id was enqueued again with another asset or edit. The entry was rejected.
        case conflict(Conflict)
        /// The job's version could not be published within the allowed retries: an operator must intervene.
        case stuck(Stuck)
        /// The job was cancelled. Final event of the job.
        case cancelled(Cancelled)
        /// All jobs of a batch have finished. Sent once per generation of the batch.
        case batchCompleted(BatchCompleted)
        /// A batch was opened again with another edit, or sealed again at another number of jobs.
        case batchConflict(BatchConflict)
        /// A worker sealed an unsealed batch at its present number of jobs.
        case batchSealed(BatchSealed)
        /// A producer's XADD harmed a stream; the stream was repaired.
        case streamHarmed(StreamHarmed)
    }

    private enum CodingKeys: String, CodingKey {
        case id, source, type, subject, time, sequence, tenant, folder, traceparent, data
        case dataSchema = "dataschema"
    }

    /// The format of events that this version of Minilab writes and reads.
    public static let schema = "urn:minilab:event:1"

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        source = try container.decode(String.self, forKey: .source)
        type = try container.decode(String.self, forKey: .type)
        subject = try container.decodeIfPresent(String.self, forKey: .subject)
        time = try container.decode(String.self, forKey: .time)
        sequence = try container.decodeIfPresent(String.self, forKey: .sequence)
        tenant = try container.decodeIfPresent(String.self, forKey: .tenant)
        folder = try container.decodeIfPresent(String.self, forKey: .folder)
        traceparent = try container.decodeIfPresent(String.self, forKey: .traceparent)
            .flatMap { Traceparent($0) }
        dataSchema = try container.decodeIfPresent(String.self, forKey: .dataSchema)
        guard dataSchema == nil || dataSchema == Self.schema else {
            throw DecodingError.dataCorruptedError(
                forKey: .dataSchema, in: container,
                debugDescription:
                    "the event is of format \(dataSchema.debugDescription), and this minilab reads "
                    + "\(Self.schema); use a newer one")
        }
        func data<Data: Decodable>() throws -> Data {
            try container.decode(Data.self, forKey: .data)
        }
        self.data =
            switch type {
            case "org.minilab.job.completed": .completed(try data())
            case "org.minilab.job.drafted": .drafted(try data())
            case "org.minilab.job.rendered": .rendered(try data())
            case "org.minilab.job.unchanged": .unchanged(try data())
            case "org.minilab.job.superseded": .superseded(try data())
            case "org.minilab.job.previewed": .previewed(try data())
            case "org.minilab.job.progressed": .progressed(try data())
            case "org.minilab.job.failed": .failed(try data())
            case "org.minilab.job.retried": .retried(try data())
            case "org.minilab.job.stuck": .stuck(try data())
            case "org.minilab.job.conflict": .conflict(try data())
            case "org.minilab.job.cancelled": .cancelled(try data())
            case "org.minilab.batch.completed": .batchCompleted(try data())
            case "org.minilab.batch.conflict": .batchConflict(try data())
            case "org.minilab.batch.sealed": .batchSealed(try data())
            case "org.minilab.stream.harmed": .streamHarmed(try data())
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: container,
                    debugDescription: "\(type.debugDescription) is not a type of job event")
            }
    }
}

extension JobEvent {
    /// A job was cancelled: by hand, with its batch, or because a newer edit replaced it.
    public struct Cancelled: Sendable, Codable, Equatable {
        public let job: String
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        public let reason: String
    }

    public struct BatchCompleted: Sendable, Codable, Equatable {
        public let batch: String
        public let tenant: String
        /// The number of times the batch was completed, including this one: a replay of its dead jobs opens it again.
        public let generation: Int
        public let jobs: Int
        /// The number of jobs that succeeded.
        public let completed: Int
        /// The number of dead jobs.
        public let failed: Int
        public let cancelled: Int
        /// The total time for which workers held its jobs.
        public let milliseconds: Int
    }

    /// A worker sealed an unsealed batch, because nothing was added for a long time.
    public struct BatchSealed: Sendable, Codable, Equatable {
        public let batch: String
        public let jobs: Int
        /// The sentence for people.
        public let message: String
    }

    /// A batch was opened again with another edit, or after it had finished and been dropped, or sealed again at another number of
    /// jobs. The entry was rejected.
    public struct BatchConflict: Sendable, Codable, Equatable {
        public let batch: String
        /// The entry's id in the ingress stream.
        public let entry: String
        /// The number of entries removed from the batch's stream, if its name is that of a finished batch.
        public let dropped: Int?
        /// The sentence for people.
        public let message: String
    }

    /// A client with the right to add to a stream used it to drop entries or to end the stream.
    public struct StreamHarmed: Sendable, Codable, Equatable {
        /// `in`, the ingress stream, or `lane:` and a batch.
        public let stream: String
        public let kind: Kind
        /// The number of affected entries.
        public let entries: Int
        /// The sentence for people.
        public let message: String

        public enum Kind: String, Sendable, Codable {
            /// Entries were dropped before a worker read them.
            case trimmed
            /// An id in the far future had ended the stream. The stream accepts entries again.
            case renewed
            /// The stream of a batch that was never opened was removed.
            case unopened
        }
    }
}

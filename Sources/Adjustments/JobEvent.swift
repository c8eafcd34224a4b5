/// What happened to a job or a batch, as readers of the event stream get it: a CloudEvents 1.0 envelope around
/// one of these kinds of data (`jobs/event.schema.json`).
///
/// `id` is made of queue, job and generation alone, so an event that is sent or read twice can be
/// recognised.
public struct JobEvent: Sendable, Decodable {
    /// `<queue>/<job>/<generation>/<name>` and the like; unique per `source`.
    public let id: String
    /// `minilab/<queue>`.
    public let source: String
    /// `org.minilab.job.`, `org.minilab.batch.` or `org.minilab.stream.` and the name of the kind.
    public let type: String
    /// The asset; nil when the job named none.
    public let subject: String?
    /// Which format `data` has: ``schema``, or nil from before there were several.
    public let dataSchema: String?
    /// When the job's state changed: Redis' own time, RFC 3339 in UTC.
    public let time: String
    /// The asset's revision as text of ten digits, when a version became current: rises by one each time.
    public let sequence: String?
    /// The trace that the job's producer made it a part of; nil without one. CloudEvents' extension of that name.
    public let traceparent: Traceparent?
    /// What happened.
    public let data: Kind

    /// What happened.
    public enum Kind: Sendable {
        /// A version was published. Ends the job.
        case completed(Completed)
        /// A version was prepared, to be published or discarded. Ends the job.
        case drafted(Completed)
        /// There was nothing to do. Ends the job.
        case unchanged(Unchanged)
        /// A newer edit was published before. Ends the job.
        case superseded(Superseded)
        /// The render has begun; this is roughly what it will look like.
        case previewed(Previewed)
        /// A movie is being rendered: so many of its frames are done.
        case progressed(Progressed)
        /// The job is dead. Ends the job's generation; a replay starts the next.
        case failed(Failed)
        /// An attempt failed and another one will follow.
        case retried(Retried)
        /// An id was enqueued again with another asset or edit; that entry was not taken.
        case conflict(Conflict)
        /// The job's version could not be published however often that was tried: somebody has to look.
        case stuck(Stuck)
        /// Nobody wants the job any more. Ends the job.
        case cancelled(Cancelled)
        /// All jobs of a batch have ended. Said once per generation of the batch.
        case batchCompleted(BatchCompleted)
        /// A batch was opened again with another edit, or sealed again at another number.
        case batchConflict(BatchConflict)
        /// A batch that nobody sealed was sealed at what it has.
        case batchSealed(BatchSealed)
        /// A producer's XADD did harm to a stream; it goes on.
        case streamHarmed(StreamHarmed)
    }

    private enum CodingKeys: String, CodingKey {
        case id, source, type, subject, time, sequence, traceparent, data
        case dataSchema = "dataschema"
    }

    /// The format of events that this version of minilab writes and reads.
    public static let schema = "urn:minilab:event:1"

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        source = try container.decode(String.self, forKey: .source)
        type = try container.decode(String.self, forKey: .type)
        subject = try container.decodeIfPresent(String.self, forKey: .subject)
        time = try container.decode(String.self, forKey: .time)
        sequence = try container.decodeIfPresent(String.self, forKey: .sequence)
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
        data =
            switch type {
            case "org.minilab.job.completed":
                .completed(try container.decode(Completed.self, forKey: .data))
            case "org.minilab.job.drafted":
                .drafted(try container.decode(Completed.self, forKey: .data))
            case "org.minilab.job.unchanged":
                .unchanged(try container.decode(Unchanged.self, forKey: .data))
            case "org.minilab.job.superseded":
                .superseded(try container.decode(Superseded.self, forKey: .data))
            case "org.minilab.job.previewed":
                .previewed(try container.decode(Previewed.self, forKey: .data))
            case "org.minilab.job.progressed":
                .progressed(try container.decode(Progressed.self, forKey: .data))
            case "org.minilab.job.failed":
                .failed(try container.decode(Failed.self, forKey: .data))
            case "org.minilab.job.retried":
                .retried(try container.decode(Retried.self, forKey: .data))
            case "org.minilab.job.stuck":
                .stuck(try container.decode(Stuck.self, forKey: .data))
            case "org.minilab.job.conflict":
                .conflict(try container.decode(Conflict.self, forKey: .data))
            case "org.minilab.job.cancelled":
                .cancelled(try container.decode(Cancelled.self, forKey: .data))
            case "org.minilab.batch.completed":
                .batchCompleted(try container.decode(BatchCompleted.self, forKey: .data))
            case "org.minilab.batch.conflict":
                .batchConflict(try container.decode(BatchConflict.self, forKey: .data))
            case "org.minilab.batch.sealed":
                .batchSealed(try container.decode(BatchSealed.self, forKey: .data))
            case "org.minilab.stream.harmed":
                .streamHarmed(try container.decode(StreamHarmed.self, forKey: .data))
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: container,
                    debugDescription: "\(type.debugDescription) is not a type of job event")
            }
    }
}

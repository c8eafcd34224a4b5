/// A dead job as it is written to a file: one line of JSON with all that is needed to explain its death and to restore it.
public struct SpilledJob: Sendable, Codable, Equatable {
    /// The job.
    public let job: String
    /// The number of replays of the job, plus one.
    public let generation: Int
    /// The asset.
    public let asset: String
    /// The edit as the producer sent it, its own or its batch's. Nil if the request was malformed and never had one.
    public let edit: String?
    /// The tenant that sent it.
    public let tenant: String
    /// The priority of the job before it was put into quarantine.
    public let priority: String
    /// The job's batch, or nil.
    public let batch: String?
    /// The cost that the producer stated, in milliseconds of one slot.
    public let cost: Int?
    /// Whether the producer chose the id of the job.
    public let isNamed: Bool
    /// The reason of its death, for programs.
    public let code: String?
    /// The reason of its death, for people.
    public let message: String?
    /// The time of its death, ms since 1970.
    public let died: Int
    /// The failures of its attempts, the newest first, each a line of JSON.
    public let history: [String]

    /// The maximum length of a line. An edit may need six bytes for each of its own.
    public static let lineBytesMax = 512 << 10

    /// The name of a line. A job dies once in each generation, so a second line with the same name is a repeat.
    public struct Name: Hashable, Sendable {
        let job: String
        let generation: Int
    }

    /// The name of this line.
    public var name: Name { Name(job: job, generation: generation) }
}

extension SpilledJob {
    /// Decodes the hash of a job. Returns nil if the job is not dead.
    init?(_ job: String, _ fields: [String: String], edit: String?, history: [String]) {
        func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
        guard fields["state"] == "dead", number("format") ?? 1 <= JobRecord.formatKnown else {
            return nil
        }
        self.init(
            job: job, generation: number("generation") ?? 1, asset: fields["asset"] ?? "",
            edit: edit, tenant: fields["tenant"] ?? "default",
            priority: fields["was"] ?? fields["priority"] ?? "normal", batch: fields["batch"],
            cost: number("cost"), isNamed: fields["named"] != nil, code: fields["code"],
            message: fields["message"], died: number("ended") ?? 0, history: history)
    }
}

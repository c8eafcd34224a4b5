/// A dead job as it is written to a file: one line of JSON, all that is needed to see why it died and to put it back.
public struct SpilledJob: Sendable, Codable, Equatable {
    /// The job.
    public let job: String
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// The asset.
    public let asset: String
    /// The edit as it was sent, its own or its batch's; nil when it never had one, since what was sent was wrong.
    public let edit: String?
    /// The tenant that sent it.
    public let tenant: String
    /// How urgent it was before it came into quarantine.
    public let priority: String
    /// Its batch, or nil.
    public let batch: String?
    /// The cost that its producer gave, in milliseconds of one slot.
    public let cost: Int?
    /// Whether its producer gave it its id.
    public let isNamed: Bool
    /// Why it died, for programs.
    public let code: String?
    /// Why it died, for people.
    public let message: String?
    /// When it died, ms since 1970.
    public let died: Int
    /// Why its attempts ended, the newest first, each a line of JSON.
    public let history: [String]

    /// Longest line: an edit may need six bytes for each of its own.
    public static let lineBytesMax = 512 << 10

    /// A line's name. A job dies once in each generation, so a line with a name that was read before is a repeat.
    public struct Name: Hashable, Sendable {
        let job: String
        let generation: Int
    }

    /// Its name among the lines of a file.
    public var name: Name { Name(job: job, generation: generation) }
}

extension SpilledJob {
    /// Reads the hash of a job; nil when it is not that of a dead one.
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

public import Adjustments

/// The name of a queue: the hash tag that all its Redis keys share.
public struct QueueName: Sendable, Hashable, CustomStringConvertible {
    /// The text: 1 to 64 letters, digits, `.`, `_`, `-`.
    public let string: String

    /// The queue when nobody names one.
    public static let photos = QueueName(checked: "photos")

    private init(checked string: String) { self.string = string }

    /// Checks a name; the rules are those of a job id.
    public init(_ string: String) throws(Failure) {
        do {
            self.string = try JobID(string).string
        } catch {
            throw Failure(
                .invalidValue,
                "queue name \(string.debugDescription) is not allowed: 1 to "
                    + "\(ContractLimits.jobIDLengthMax) letters, digits, '.', '_' or '-', "
                    + "starting with a letter or digit.")
        }
    }

    /// What every key of the queue starts with. The braces make it one slot of a Redis cluster.
    var keyPrefix: String { "minilab:{\(string)}:" }

    /// The stream that producers add to.
    public var ingressKey: String { keyPrefix + "in" }
    /// The stream that producers add to what somebody waits for: it is admitted first.
    public var urgentIngressKey: String { keyPrefix + "in:interactive" }
    /// What the name of an entry of that stream ends with: `Scripts/Shared/doors.lua`.
    static let urgentSuffix = "-i"
    /// The stream that readers of events read.
    public var eventsKey: String { keyPrefix + "events" }

    public var description: String { string }
}

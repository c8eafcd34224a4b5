/// The outcome for something that a photo's file contains beside its picture and that is edited with it.
///
/// In JSON: `outcome`, and `reason` if it was dropped.
public protocol CompanionOutcome: Sendable, Codable, CustomStringConvertible {
    /// All outcomes without a reason, by their names in JSON.
    static var keeping: [String: Self] { get }
    /// The outcome of leaving it out, for a reason that is a readable clause.
    static func dropped(reason: String) -> Self

    /// The name in JSON.
    var name: String { get }
    /// The reason why it was dropped; nil if it was kept.
    var reason: String? { get }
}

private enum Key: String, CodingKey { case outcome, reason }

extension CompanionOutcome {
    /// A text for people.
    public var description: String { reason.map { "left out: \($0)" } ?? name }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let name = try fields.decode(String.self, forKey: .outcome)
        if let outcome = Self.keeping[name] {
            self = outcome
        } else if name == "dropped" {
            self = .dropped(reason: try fields.decode(String.self, forKey: .reason))
        } else {
            throw DecodingError.dataCorruptedError(
                forKey: .outcome, in: fields, debugDescription: "no outcome \(name)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(name, forKey: .outcome)
        try fields.encodeIfPresent(reason, forKey: .reason)
    }
}

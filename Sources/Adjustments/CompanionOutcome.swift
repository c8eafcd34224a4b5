/// The fate of something that lies in a photo's file beside its picture, and is edited with it.
///
/// In JSON: `outcome`, and `reason` where it was dropped.
public protocol CompanionOutcome: Sendable, Codable, CustomStringConvertible {
    /// All outcomes without a reason, by their names in JSON.
    static var keeping: [String: Self] { get }
    /// It is left out, for a reason that is a clause for people.
    static func dropped(reason: String) -> Self

    /// The name in JSON.
    var name: String { get }
    /// Why it was dropped; nil when it was not.
    var reason: String? { get }
}

private enum Key: String, CodingKey { case outcome, reason }

extension CompanionOutcome {
    /// For people.
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

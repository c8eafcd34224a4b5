/// The fate of the video that a motion photo has behind its picture.
public enum MotionVideoOutcome: Sendable, Equatable {
    /// It is the same bytes as before, since nothing of its frames changes.
    case carried
    /// Its frames are edited as the photo is.
    case edited
    /// It is left out, for a reason that is a clause for people: the result is a photo alone.
    case dropped(reason: String)

    /// The name in JSON.
    public var name: String {
        switch self {
        case .carried: "carried"
        case .edited: "edited"
        case .dropped: "dropped"
        }
    }

    /// Why it was dropped.
    public var reason: String? { if case .dropped(let reason) = self { reason } else { nil } }
}

extension MotionVideoOutcome: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .dropped(let reason): "left out: \(reason)"
        default: name
        }
    }
}

extension MotionVideoOutcome: Codable {
    private enum Key: String, CodingKey { case outcome, reason }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let name = try fields.decode(String.self, forKey: .outcome)
        switch name {
        case "carried": self = .carried
        case "edited": self = .edited
        case "dropped": self = .dropped(reason: try fields.decode(String.self, forKey: .reason))
        default:
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

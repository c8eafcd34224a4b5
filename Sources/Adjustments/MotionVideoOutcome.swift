/// The fate of the video that a motion photo has behind its picture.
public enum MotionVideoOutcome: CompanionOutcome, Equatable {
    /// It is the same bytes as before, since nothing of its frames changes.
    case carried
    /// Its frames are edited as the photo is.
    case edited
    /// It is left out, for a reason that is a clause for people: the result is a photo alone.
    case dropped(reason: String)

    public static let keeping: [String: Self] = [
        "carried": .carried, "edited": .edited,
    ]

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

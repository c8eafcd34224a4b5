/// The outcome for the video that a motion photo has behind its picture.
public enum MotionVideoOutcome: CompanionOutcome, Equatable {
    /// The bytes are unchanged, because no edit affects its frames.
    case carried
    /// Its frames are edited like the photo.
    case edited
    /// The video is dropped, for a reason that is a readable clause. The result is a plain photo.
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

    /// The reason why it was dropped.
    public var reason: String? { if case .dropped(let reason) = self { reason } else { nil } }
}
